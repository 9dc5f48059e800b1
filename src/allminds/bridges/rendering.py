"""An exercise as it stands, as text (`ansi`) or as pixels (`rgb_array`)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.episode import Episode
from allminds.instruments.lambda_star.grid import Torus

MODES = ("ansi", "rgb_array")

Pixels = NDArray[np.uint8]  # [row, column, red green blue]
LETTER, LINE, EDGE = 9, 18, 12  # size of a letter's place, and of the margin
SQUARE = 32  # a cell of the torus
GOOD, EVIL, MIND, GRID = "#009e73", "#d55e00", "#0072b2", "#c8c8c8"
SEEN = "#dceaf5"  # a cell that somebody has seen


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
    """A picture: the torus or the land, the matrix, or the text."""
    inner: Any = getattr(tool, "alone", tool)  # of a game of teams, what its minds play alone
    torus = getattr(inner, "torus", None) or getattr(inner, "ground", None)
    if torus is not None:
        return torus_svg(torus, _squares(episode), episode.state.minds)
    if tool.name == "matrices":
        return str(tool.show(episode.observe(0), "svg"))
    return text_svg(as_text(tool, episode))


class _Square(NamedTuple):
    cell: int
    colour: str
    mark: str = ""


def _squares(episode: Episode) -> Iterator[_Square]:
    """What lies on a torus: what was seen of it, Good (+) and Evil (-), or the land's heights."""
    state, world = episode.state, episode.environment
    if hasattr(world, "field"):
        for cell, height in enumerate(world.field(state), 1):
            yield _Square(cell, _mixed(GOOD if height > 0 else EVIL, abs(height)))
        yield _Square(state.tops[0], GOOD, "^")
        return
    seen = bin(getattr(state, "seen", 0))[:1:-1]
    yield from (_Square(cell, SEEN) for cell, bit in enumerate(seen) if bit == "1")
    yield _Square(state.good, GOOD, "+")
    yield _Square(state.evil, EVIL, "−")


def _mixed(colour: str, share: float) -> str:
    """So much of a colour in white."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)


def torus_svg(torus: Torus, squares: Iterable[_Square], minds: Sequence[int]) -> str:
    """Squares, and on them the minds as discs with the number of their slot."""
    width, height = torus.cols * SQUARE, torus.rows * SQUARE
    parts = []
    for cell, colour, mark in squares:
        left, top = _place(torus, cell)
        parts.append(
            f'<rect x="{left}" y="{top}" width="{SQUARE}" height="{SQUARE}" fill="{colour}"/>'
            f'<text x="{left + 3}" y="{top + 12}" font-size="13" fill="white">{mark}</text>'
        )
    lines = [f"M{x} 0V{height}" for x in range(0, width + 1, SQUARE)]
    lines += [f"M0 {y}H{width}" for y in range(0, height + 1, SQUARE)]
    parts.append(f'<path d="{"".join(lines)}" stroke="{GRID}" fill="none"/>')
    for slot, cell in enumerate(minds):
        left, top = _place(torus, cell)
        x, y = left + SQUARE / 2, top + SQUARE / 2
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{SQUARE * 0.3}" fill="{MIND}" stroke="white"/>'
            f'<text x="{x}" y="{y + 4}" font-size="12" text-anchor="middle" '
            f'fill="white">{slot}</text>'
        )
    return _svg(width + 1, height + 1, "".join(parts))


def _place(torus: Torus, cell: int) -> tuple[int, int]:
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
