"""Drawings of what runs: a space of cells, a torus with ways, a loop, a tree of classes.

They are drawn by hand with `report.charts.ink`, from the objects that are played.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from allminds.report.charts import ink

GOOD, EVIL, MIND, FAINT = "#00704f", "#b34700", "#0072b2", "#f3f3f1"
Point = tuple[float, float]


def disc(at: Point, radius: float, fill: str, edge: str = ink.INK, width: float = 1.2) -> str:
    """Draw a circle."""
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}" fill="{fill}" '
        f'stroke="{edge}" stroke-width="{width:g}"/>'
    )


def square(left: float, top: float, width: float, height: float, fill: str, edge: str) -> str:
    """Draw a rectangle."""
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" stroke="{edge}"/>'
    )


def arrow(
    start: Point, end: Point, colour: str, bend: float = 0.0, dash: str = "", width: float = 1.6
) -> str:
    """Draw an arrow; `bend` is how far its middle lies to the left of the straight way."""
    (x, y), (to_x, to_y) = start, end
    length = math.hypot(to_x - x, to_y - y) or 1.0
    middle = (
        (x + to_x) / 2 + 2 * bend * (to_y - y) / length,
        (y + to_y) / 2 - 2 * bend * (to_x - x) / length,
    )
    turn = math.atan2(to_y - middle[1], to_x - middle[0])
    wings = [(to_x - 9 * math.cos(turn + by), to_y - 9 * math.sin(turn + by)) for by in (0.4, -0.4)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    head = " ".join(f"{a:.1f},{b:.1f}" for a, b in [(to_x, to_y), *wings])
    return (
        f'<path d="M{x:.1f} {y:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {to_x:.1f} {to_y:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{width:g}"{dashes}/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def label(x: float, y: float, words: str, colour: str = "", size: float = 13) -> str:
    """Write words centred on a place, on a white ground that keeps them apart from lines."""
    wide = 0.56 * size * len(words) + 4
    ground = f'<rect x="{x - wide / 2:.1f}" y="{y - 0.6 * size:.1f}" width="{wide:.1f}" height="{1.2 * size:.1f}" fill="#fff"/>'  # noqa: E501 - one element
    fill = f' fill="{colour}"' if colour else ""
    said = html.escape(words)
    return (
        f'{ground}<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" text-anchor="middle" '
        f'font-size="{size:g}"{fill}>{said}</text>'
    )


# ---------------------------------------------------------------- a space of cells


def graph(to: Sequence[Sequence[int | None]]) -> str:
    """Draw a space: cells c1, c2, … in a ring, and an arrow for every action but the first.

    Actions that lead from one cell to the same other cell share an arrow. `to[cell][action]` is
    the cell that an action leads to, None where it is disabled.
    """
    count, centre, ring = len(to), (205.0, 175.0), 120.0
    places = [
        (centre[0] + ring * math.sin(2 * math.pi * n / count),
         centre[1] - ring * math.cos(2 * math.pi * n / count))
        for n in range(count)
    ]  # fmt: skip
    parts = []
    for cell, arrows in enumerate(to):
        ways: dict[int, list[str]] = {}
        for action, goal in enumerate(arrows):
            if action and goal is not None:
                ways.setdefault(goal, []).append(f"a{action}")
        for goal, names in ways.items():
            parts.append(_way(places, centre, cell, goal, ", ".join(names)))
    for cell, place in enumerate(places):
        parts += [disc(place, 18, "#fff"), ink.text(*place, f"c{cell + 1}", "middle")]
    return ink.picture(410, 350, parts)


def _way(places: Sequence[Point], centre: Point, cell: int, goal: int, names: str) -> str:
    """Draw the arrow from one cell to another, or the loop of a cell to itself."""
    (x, y), (to_x, to_y) = places[cell], places[goal]
    if cell == goal:
        out = math.atan2(y - centre[1], x - centre[0])
        ends = [(x + 18 * math.cos(out + by), y + 18 * math.sin(out + by)) for by in (-0.6, 0.6)]
        far = (x + 48 * math.cos(out), y + 48 * math.sin(out))
        loop = arrow(ends[0], ends[1], ink.SOFT, 30)
        return loop + label(*far, names, MIND)
    turn = math.atan2(to_y - y, to_x - x)
    start = (x + 18 * math.cos(turn - 0.35), y + 18 * math.sin(turn - 0.35))
    end = (to_x - 18 * math.cos(turn + 0.35), to_y - 18 * math.sin(turn + 0.35))
    bend = 14.0
    length = math.hypot(to_x - x, to_y - y)
    share = 0.38
    at = (
        x + share * (to_x - x) + (bend + 3) * (to_y - y) / length,
        y + share * (to_y - y) - (bend + 3) * (to_x - x) / length,
    )
    return arrow(start, end, ink.SOFT, bend) + label(*at, names, MIND)


# ---------------------------------------------------------------- a grid


def grid(
    rows: int,
    cols: int,
    fills: Mapping[int, str],
    words: Mapping[int, str],
    ways: Iterable[tuple[Sequence[int], str, str]] = (),
    marks: Mapping[int, tuple[str, str]] | None = None,
) -> str:
    """Draw cells 1, 2, … in reading order: their grounds and words, ways through them, and marks.

    A way is (cells, colour, dash); where it leaves the grid on one side and enters on the other,
    it is broken. A mark is a sign in a disc of a colour.
    """
    side = 400 / max(rows, cols)

    def middle(cell: int) -> Point:
        row, col = divmod(cell - 1, cols)
        return 5 + (col + 0.5) * side, 5 + (row + 0.5) * side

    parts = []
    for cell in range(1, rows * cols + 1):
        x, y = middle(cell)
        fill = fills.get(cell, "#fff")
        parts.append(square(x - side / 2, y - side / 2, side, side, fill, "#bbb"))
        if cell in words:
            low = y + 0.3 * side if side < 60 else y
            parts.append(
                f'<text x="{x:.1f}" y="{low + 4:.1f}" text-anchor="middle" '
                f'font-size="{11 if side < 60 else 15}">{html.escape(words[cell])}</text>'
            )
    for cells, colour, dash in ways:
        near = 0.18 * side if side >= 60 else 0.0  # beside the number of a cell
        for before, after in itertools.pairwise(cells):
            (x, y), (to_x, to_y) = middle(before), middle(after)
            if before != after and math.hypot(to_x - x, to_y - y) < 1.6 * side:
                shift = (near, near)
                parts.append(arrow((x + shift[0], y + shift[1]), (to_x + shift[0], to_y + shift[1]),
                                   colour, 3, dash, 2))  # fmt: skip
    for cell, (sign, colour) in (marks or {}).items():
        x, y = middle(cell)
        parts.append(disc((x, y), 0.3 * side, colour, "#fff", 1.5))
        parts.append(
            f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" font-weight="bold" '
            f'fill="#fff">{html.escape(sign)}</text>'
        )
    return ink.picture(cols * side + 10, rows * side + 10, parts)


# ---------------------------------------------------------------- a loop and a tree


def loop(observation: str, action: str, reward: str) -> str:
    """Draw the loop of agent and environment, with what goes round in it at one step."""
    parts = [
        square(20, 95, 110, 60, FAINT, ink.SOFT), ink.text(75, 125, "agent π", "middle"),
        square(280, 95, 110, 60, FAINT, ink.SOFT), ink.text(335, 125, "environment μ", "middle"),
        arrow((335, 93), (75, 93), MIND, -55), label(205, 38, f"observation o₁: {observation}"),
        arrow((280, 125), (132, 125), GOOD), label(205, 113, f"reward r₁: {reward}"),
        arrow((75, 157), (335, 157), EVIL, -55), label(205, 212, f"action a₁: {action}"),
    ]  # fmt: skip
    return ink.picture(410, 245, parts)


def tree(below: Mapping[str, Sequence[str]], root: str, notes: Mapping[str, str]) -> str:
    """Draw classes under the class that they derive from, indented; a note stands behind a name."""
    parts: list[str] = []
    height = 22

    def put(name: str, depth: int, row: int) -> int:
        x, y = 12 + 22 * depth, 16 + height * row
        parts.append(ink.text(x, y, name))
        if name in notes:
            parts.append(ink.text(x + 7.6 * len(name) + 12, y, notes[name], colour=MIND))
        after = row + 1
        for child in below.get(name, ()):
            child_y = 16 + height * after
            parts.append(ink.line([(x + 4, y + 9), (x + 4, child_y), (x + 18, child_y)], ink.SOFT))
            after = put(child, depth + 1, after)
        return after

    rows = put(root, 0, 0)
    return ink.picture(410, 20 + height * rows, parts)
