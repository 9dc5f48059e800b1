"""How a fitness landscape is put to people, language models and libraries, and drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from allminds.contracts import Exercise, Record, Task
from allminds.core.errors import Error
from allminds.disguise import Skin
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.present import (
    EVIL,
    GOOD,
    MOVES_IN_WORDS,
    OnTorus,
    Square,
    mixed,
)
from allminds.instruments.lambda_star.skins import HillsSkin
from allminds.instruments.landscape.world import Fitness, Landscape, Standpoint, ways
from allminds.presentation import Column, Rules, joined, lasts


class LandscapePresentation(OnTorus):
    """A land of hills on a torus."""

    legend = (
        "Green is high and orange low, ^ is the highest top, and a disc a mind with the number of "
        "its slot. The edges are joined."
    )
    columns: ClassVar[Mapping[str, Column]] = {
        "optima": Column("local optima of the landscape", "1, 2, …"),
        "basin": Column("share of cells from which a climber comes to the highest top", "0 to 1"),
        "autocorrelation": Column("of the fitness of neighbouring cells", "−1 to 1"),
        "H": Column("log₂ of the places where what is sought may be", "bits"),
        "drift": Column("chance that a hill moves in a step", "0 to 1"),
    }

    unseen = "Not shown: the land beyond its sight, and other minds."
    pay = "The height of the mind's own cell after the step."

    @property
    def torus(self) -> Torus:
        torus: Torus = self.tool.ground
        return torus

    def rules(self, task: Task) -> Rules:
        drift = self.tool.settings.drift
        text = joined(
            self.field(task),
            "It is a land of hills, whose heights go from -1 at its lowest to 1 on top of the "
            "highest hill; their mean is 0. Each step you see the heights of "
            f"{self.sight(task)}, and make one move.",
            f"In a step every hill moves by a cell with chance {drift:g}." if drift else "",
            "After the step you get the height of your cell. Collect as much as you can.",
            lasts(task),
            MOVES_IN_WORDS,
        )
        return Rules(text, "<number>")

    def skin(self, n: int) -> Skin:
        return HillsSkin(self.tool, n)

    def squares(self, environment: Any, state: Any) -> Iterator[Square]:
        """Colour the land by its heights, and mark the highest top."""
        for cell, height in enumerate(environment.field(state), 1):
            yield Square(cell, mixed(GOOD if height > 0 else EVIL, abs(height)))
        yield Square(state.tops[0], GOOD, "^")


# ---------------------------------------------------------------- a walk as a picture


CELL = 16  # pixels
BAR, GAP, LABELS, EDGE = 14, 14, 34, 4  # the colour bar, the space before it, its figures, a margin
# from -1 to 1: blue, white, orange, which colour-blind people can tell apart
COLOURS = ((33, 84, 148), (122, 168, 212), (246, 246, 244), (246, 178, 94), (178, 76, 6))
TRAILS = ("#111", "#4b2e83", "#0b5d3b", "#7a0c2e", "#444")


def picture(exercise: Exercise, record: Record, step: int | None = None) -> str:
    """Draw an SVG of a landscape after a step of a record, or after the last."""
    world, states = exercise.environment, ways(exercise, record)
    if not isinstance(world, Landscape):
        raise Error(
            f"{exercise.instrument} is not a landscape; only landscapes can be drawn like this"
        )
    shown = states if step is None else states[: step + 1]
    torus = world.hills.torus
    width, height = CELL * torus.cols, CELL * torus.rows
    whole = (width + GAP + BAR + LABELS + 2 * EDGE, height + 2 * EDGE)
    said = f"Fitness landscape after step {shown[-1].step}: {len(shown[-1].minds)} minds"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" '
        f'width="{whole[0]}" height="{whole[1]}" role="img" font-family="sans-serif">',
        f"<title>{said}</title>",
        f'<g transform="translate({EDGE} {EDGE})">',
        *_ground(torus, world.field(shown[-1])),
        *_optimum(torus, shown[-1].tops[0]),
        *_trails(torus, shown),
        *_stars(torus, shown[-1].minds),
        *_bar(width + GAP, height),
        "</g>",
        "</svg>",
    ])  # fmt: skip


def colour(value: float) -> str:
    """Return the colour of a fitness in [-1, 1]."""
    place = (min(1.0, max(-1.0, value)) + 1) / 2 * (len(COLOURS) - 1)
    low = min(int(place), len(COLOURS) - 2)
    mixed = [
        round(a + (b - a) * (place - low))
        for a, b in zip(COLOURS[low], COLOURS[low + 1], strict=True)
    ]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _middle(torus: Torus, cell: int) -> tuple[float, float]:
    row, col = torus.place(cell)
    return CELL * (col + 0.5), CELL * (row + 0.5)


def _ground(torus: Torus, field: Fitness) -> Iterator[str]:
    for cell, value in enumerate(field, start=1):
        row, col = torus.place(cell)
        # a little larger than a cell, so that no light shows between two
        yield (
            f'<rect x="{CELL * col}" y="{CELL * row}" width="{CELL + 0.5}" '
            f'height="{CELL + 0.5}" fill="{colour(value)}"/>'
        )


def _optimum(torus: Torus, cell: int) -> Iterator[str]:
    x, y = _middle(torus, cell)
    for width, stroke in ((4, "#fff"), (2, "#000")):
        yield (
            f'<circle cx="{x:g}" cy="{y:g}" r="{0.75 * CELL:g}" fill="none" '
            f'stroke="{stroke}" stroke-width="{width}"/>'
        )


def _trails(torus: Torus, states: Sequence[Standpoint]) -> Iterator[str]:
    """Draw the way of every mind, broken where it goes round the torus; a dot where it began."""
    for slot in range(len(states[0].minds)):
        line = ""
        for before, after in pairwise(states):
            here, there = (_middle(torus, state.minds[slot]) for state in (before, after))
            if max(abs(here[0] - there[0]), abs(here[1] - there[1])) <= CELL:
                line += f"M{here[0]:g} {here[1]:g}L{there[0]:g} {there[1]:g}"
        ink = TRAILS[slot % len(TRAILS)]
        x, y = _middle(torus, states[0].minds[slot])
        yield f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="#fff" stroke="{ink}" stroke-width="1.5"/>'
        if line:
            yield (
                f'<path d="{line}" fill="none" stroke="{ink}" stroke-width="1.8" '
                'stroke-linecap="round" opacity="0.8"/>'
            )


def _stars(torus: Torus, minds: Sequence[int]) -> Iterator[str]:
    for cell in minds:
        x, y = _middle(torus, cell)
        corners = [
            (
                x + size * CELL * math.sin(math.pi * n / 5),
                y - size * CELL * math.cos(math.pi * n / 5),
            )
            for n, size in enumerate((0.5, 0.2) * 5)
        ]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
        yield f'<polygon points="{points}" fill="#000" stroke="#fff" stroke-width="0.8"/>'


def _bar(left: float, height: float) -> Iterator[str]:
    """Draw the scale of colours, from 1 at the top to -1."""
    parts = 100
    for n in range(parts):
        yield (
            f'<rect x="{left:g}" y="{height * n / parts:g}" width="{BAR}" '
            f'height="{height / parts + 0.5:g}" fill="{colour(1 - 2 * (n + 0.5) / parts)}"/>'
        )
    for value in (1.0, 0.5, 0.0, -0.5, -1.0):
        y = min(max(height * (1 - value) / 2, 6), height - 4)
        text = f"{value:g}".replace("-", "−")
        yield f'<text x="{left + BAR + 5:g}" y="{y + 4:g}" font-size="11">{text}</text>'
