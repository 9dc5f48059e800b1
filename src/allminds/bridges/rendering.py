"""An exercise as it stands, as text (`ansi`) or as pixels (`rgb_array`)."""

from __future__ import annotations

import io
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.episode import Episode
from allminds.errors import Error

MODES = ("ansi", "rgb_array")

Pixels = NDArray[np.uint8]  # [row, column, red green blue]
LETTER, LINE, EDGE = 9, 18, 12  # size of a letter's place, and of the margin
SQUARE = 32  # a cell of the torus
GOOD, EVIL, MIND, GRID = "#009e73", "#d55e00", "#0072b2", "#c8c8c8"


def rendered(tool: Instrument, episode: Episode, mode: str | None) -> str | Pixels | None:
    """What a render mode asks for; nothing if there is none."""
    if mode is None:
        return None
    if mode not in MODES:
        raise Error(f"{tool.name} cannot be rendered as '{mode}'; choose {' or '.join(MODES)}")
    return as_text(tool, episode) if mode == "ansi" else pixels(as_svg(tool, episode))


def as_text(tool: Instrument, episode: Episode) -> str:
    """The whole state where an instrument draws it, else what the first mind sees."""
    if type(tool).show_state is not Instrument.show_state:
        return tool.show_state(episode.environment, episode.state)
    return str(tool.show(episode.observe(0), "text"))


def as_svg(tool: Instrument, episode: Episode) -> str:
    """A picture: the torus, the matrix, or the text."""
    torus = getattr(getattr(tool, "alone", tool), "torus", None)  # of a game of teams, alone
    if torus is not None:
        return torus_svg(torus, episode.state)
    if tool.name == "matrices":
        return str(tool.show(episode.observe(0), "svg"))
    return text_svg(as_text(tool, episode))


class _Piece(NamedTuple):
    cell: int
    colour: str
    mark: str


def torus_svg(torus: Any, state: Any) -> str:
    """Good (+) and Evil (-) as squares, the minds as discs with the number of their slot."""
    width, height = torus.cols * SQUARE, torus.rows * SQUARE
    lines = [f"M{x} 0V{height}" for x in range(0, width + 1, SQUARE)]
    lines += [f"M0 {y}H{width}" for y in range(0, height + 1, SQUARE)]
    parts = [f'<path d="{"".join(lines)}" stroke="{GRID}" fill="none"/>']
    for piece in (_Piece(state.good, GOOD, "+"), _Piece(state.evil, EVIL, "−")):
        left, top = _place(torus, piece.cell)
        parts.append(
            f'<rect x="{left}" y="{top}" width="{SQUARE}" height="{SQUARE}" fill="{piece.colour}"/>'
            f'<text x="{left + 3}" y="{top + 12}" font-size="13" fill="white">{piece.mark}</text>'
        )
    for slot, cell in enumerate(state.minds):
        left, top = _place(torus, cell)
        x, y = left + SQUARE / 2, top + SQUARE / 2
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{SQUARE * 0.3}" fill="{MIND}" stroke="white"/>'
            f'<text x="{x}" y="{y + 4}" font-size="12" text-anchor="middle" '
            f'fill="white">{slot}</text>'
        )
    return _svg(width + 1, height + 1, "".join(parts))


def _place(torus: Any, cell: int) -> tuple[int, int]:
    row, col = divmod(cell - 1, torus.cols)
    return col * SQUARE, row * SQUARE


def text_svg(text: str) -> str:
    """Lines of text, every letter in a place of its own, whatever fonts there are."""
    lines = text.split("\n")
    width = max(len(line) for line in lines) * LETTER + 2 * EDGE
    parts = []
    for number, line in enumerate(lines):
        y = EDGE + LINE * number + 13
        for at, letter in enumerate(line):
            if letter != " ":
                x = EDGE + LETTER * (at + 0.5)
                parts.append(f'<text x="{x}" y="{y}" text-anchor="middle">{escape(letter)}</text>')
    style = f'<g font-size="14" font-family="DejaVu Sans Mono, monospace">{"".join(parts)}</g>'
    return _svg(width, len(lines) * LINE + 2 * EDGE, style)


def _svg(width: int, height: int, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{inside}</svg>'
    )


def pixels(svg: str) -> Pixels:
    """A picture as pixels."""
    import vl_convert

    try:
        from PIL import Image
    except ImportError:
        raise Error("Pillow is not installed; get it with: pip install 'allminds[rl]'") from None
    with Image.open(io.BytesIO(vl_convert.svg_to_png(svg))) as image:
        return np.array(image.convert("RGB"))
