"""Panels as simple shapes on a plane, from which both SVG and pixels are drawn.

A panel is 160 wide and high, y runs downwards, angles are clockwise. At angle 0 a polygon has a
corner on top, an ellipse and a line stand upright, and an arc has its gap below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from allminds.instruments.matrices.making.panel import (
    CENTRE,
    OPEN,
    POLYGONS,
    ROOM,
    ROOM_WITHIN_MARKS,
    SIDE,
    SIDE_BY_SIDE,
    Figure,
    Layout,
    Marks,
    Panel,
    scale,
)

MIDDLE = SIDE / 2
BLANK = "#e6e6e6"  # where the ninth cell is missing
RIGHT = "#0072b2"  # the frame of the right option
OUTLINE = 2.0  # width of the black outline of a closed shape
STROKES = {"line": (0.2, 6.0), "arc": (0.14, 4.0)}  # width as a share of the radius; and at least
DARK = ("black", "blue", "red")  # on which a ring is white, to be seen in grey too
FLAT = 0.55  # the short radius of an ellipse
ARC = 240.0  # degrees of a circle that an arc is
WHOLE, FIRST, SECOND = 0, 1, 2  # parts of a glyph: its left and right halves, a line's upper, lower

# How far from the middle glyphs stand, alone and within marks.
SLOTS, GRID = (36.0, 26.0), (52.0, 39.0)
BESIDE = 3.0  # half of the space between two shapes side by side
RIM, MARK = 70.0, 8.0  # marks: how far out, and the width of a stroke
DOT, DOTS = 8.0, 69.0  # the radius of a dot, and how far out dots are
ARM = 27.0  # of a corner
SIDE_MARK = 34.0  # half of a line along a side


class Element(NamedTuple):
    """One shape: a polygon, ellipse or circle with an outline, or a line or an arc."""

    shape: str
    part: int
    x: float
    y: float
    r: float
    angle: float
    width: float  # of the outline, or of a line or an arc itself
    colour: str
    edge: str  # the colour of the outline, or of a line or an arc itself
    under: str  # what it lies on


def elements(panel: Panel) -> tuple[Element, ...]:
    """List all elements to be drawn, in order."""
    figure, marks = panel.figure, panel.marks
    drawn = () if figure is None else figure_elements(figure, marks is not None)
    return drawn if marks is None else drawn + mark_elements(marks)


# ---------------------------------------------------------------- the figure


@lru_cache(maxsize=50_000)
def figure_elements(figure: Figure, within: bool) -> tuple[Element, ...]:
    """List the glyphs of a figure; `within` marks there is less room."""
    return tuple(
        element._replace(x=element.x + x, y=element.y + y)
        for slot, (x, y) in enumerate(centres(figure, within))
        for element in glyph(figure, within, slot)
    )


def radius(layout: Layout, within: bool) -> float:
    """Return the radius of the largest size."""
    return (ROOM_WITHIN_MARKS if within else ROOM)[layout]


def centres(figure: Figure, within: bool) -> list[tuple[float, float]]:
    """List where the glyphs of a figure stand: some in slots, or one at every place."""
    if figure.layout in ("slots", "similar"):
        far = SLOTS[within]
        return [(MIDDLE + far * x, MIDDLE + far * y) for x, y in _SLOTS[figure.count]]
    far = GRID[within]
    return [
        (MIDDLE + far * (place % 3 - 1), MIDDLE + far * (place // 3 - 1))
        for place in (figure.place if figure.layout == "grid" else (CENTRE,))
    ]


_SLOTS = {
    1: [(0, 0)],
    2: [(-1, 0), (1, 0)],
    3: [(0, -1), (-1, 1), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
}


# What is done to copies that are only similar, slot by slot: turned by degrees, and scaled.
SIMILAR = ((9.0, 1.0), (-10.0, 0.93), (-7.0, 0.97), (11.0, 0.92))


def glyph(figure: Figure, within: bool, slot: int = 0) -> tuple[Element, ...]:
    """List the elements of one glyph of a figure, about the point (0, 0); copies may differ."""
    room, angles = radius(figure.layout, within), figure.angle
    if figure.layout == "similar":
        turn, factor = SIMILAR[slot]
        room, angles = room * factor, tuple(angle + turn for angle in angles)
    return _glyph(figure.shape, figure.size, angles, figure.colour, room)


@lru_cache(maxsize=50_000)
def _glyph(
    shapes: tuple[str, ...],
    sizes: tuple[int, ...],
    angles: tuple[float, ...],
    colours: tuple[str, ...],
    room: float,
) -> tuple[Element, ...]:
    """List shapes side by side, each in its sizes from the largest, its angles and its halves."""
    found: list[Element] = []
    largest = room * SIDE_BY_SIDE if len(shapes) > 1 else room
    for n, shape in enumerate(shapes):
        x = (2 * n - len(shapes) + 1) * (room * SIDE_BY_SIDE + BESIDE)
        for level in sorted(sizes, reverse=True):
            outermost = level == max(sizes)
            for angle in angles:
                found += _halves(shape, x, largest * scale(level), angle, colours, outermost)
    return tuple(found)


def _halves(
    shape: str, x: float, r: float, angle: float, colours: tuple[str, ...], outermost: bool
) -> Iterator[Element]:
    width = OUTLINE
    if shape in OPEN:
        share, least = STROKES[shape]
        width = max(share * r, least)
    parts = (FIRST, SECOND) if len(colours) > 1 else (WHOLE,)
    for part, colour in zip(parts, colours, strict=True):
        if shape in OPEN:
            edge, under = colour, "white"
        elif outermost:
            edge, under = "black", "white"
        else:
            edge, under = "white" if colour in DARK else "black", colour
        yield Element(shape, part, x, 0.0, r, angle, width, colour, edge, under)


# ---------------------------------------------------------------- the marks


@lru_cache(maxsize=50_000)
def mark_elements(marks: Marks) -> tuple[Element, ...]:
    """List the elements of the marks that are present."""
    draw = {"lines": _side, "corners": _corner, "dots": _dot}[marks.inventory]
    return tuple(element for n in marks.present for element in draw(n, marks.colour))


def _side(n: int, colour: str) -> list[Element]:
    """Draw line n of top, right, bottom, left."""
    x, y = ((0, -1), (1, 0), (0, 1), (-1, 0))[n]
    angle = 90.0 if x == 0 else 0.0
    return [_stroke(MIDDLE + RIM * x, MIDDLE + RIM * y, SIDE_MARK, angle, colour)]


def _corner(n: int, colour: str) -> list[Element]:
    """Draw corner n, clockwise from the top left: two strokes that meet."""
    x, y = ((-1, -1), (1, -1), (1, 1), (-1, 1))[n]
    half = ARM / 2
    far = RIM + MARK / 2 - half
    return [
        _stroke(MIDDLE + far * x, MIDDLE + RIM * y, half, 90.0, colour),
        _stroke(MIDDLE + RIM * x, MIDDLE + far * y, half, 0.0, colour),
    ]


def _stroke(x: float, y: float, half: float, angle: float, colour: str) -> Element:
    return Element("line", WHOLE, x, y, half, angle, MARK, colour, colour, "white")


def _dot(n: int, colour: str) -> list[Element]:
    """Draw dot n: three on top from the left, then three below."""
    x, y = MIDDLE + DOTS * (n % 3 - 1), MIDDLE + DOTS * (2 * (n // 3) - 1)
    return [Element("circle", WHOLE, x, y, DOT, 0.0, OUTLINE, colour, "black", "white")]


# ---------------------------------------------------------------- outlines


def corners(element: Element) -> list[tuple[float, float]]:
    """List the corners of a polygon, or of a half of one, in the panel."""
    sides = int(element.shape)
    turn = 2 * math.pi / sides
    points = [
        (element.r * math.sin(k * turn), -element.r * math.cos(k * turn)) for k in range(sides)
    ]
    if element.part != WHOLE:
        points = _right(points) if element.part == SECOND else _left(points)
    return [turned(element, *point) for point in points]


def _right(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the half to the right of the middle; the first corner is on top."""
    bottom = (0.0, max(y for _, y in points))
    inner = [point for point in points[1:] if point[0] > 1e-9]
    return [points[0], *inner, bottom]


def _left(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(-x, y) for x, y in _right(points)]


def turned(element: Element, x: float, y: float) -> tuple[float, float]:
    """Convert a point given from the middle of an upright element to a point in the panel."""
    cos, sin = math.cos(math.radians(element.angle)), math.sin(math.radians(element.angle))
    return element.x + x * cos - y * sin, element.y + x * sin + y * cos


def is_polygon(element: Element) -> bool:
    """Return whether an element has corners."""
    return element.shape in POLYGONS
