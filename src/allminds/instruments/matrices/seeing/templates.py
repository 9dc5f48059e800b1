"""Every glyph there may be in one room, to match pictures against."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.matrices.drawing.geometry import MIDDLE, Element, glyph, radius
from allminds.instruments.matrices.drawing.raster import PALETTE, RAMPS, Floats, Pixels, paint
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    OPEN,
    SHAPES,
    SIDE,
    SIZES,
    Figure,
    Layout,
    orientations,
)
from allminds.instruments.matrices.seeing.visibility import CHANGE

Mask = NDArray[np.bool_]
INKED: Mask = PALETTE.min(axis=1) < 255 - CHANGE  # [number]: whether it is not white


class Bank(NamedTuple):
    """Glyphs of one room in black, and where they are inked."""

    figures: list[Figure]
    filled: NDArray[np.bool_]  # [glyph, row, column]: rows filled from the first ink to the last
    boxes: NDArray[np.int64]  # [glyph, 4]: top, bottom, left, right of the ink


@lru_cache(maxsize=6)
def bank(layout: Layout, within: bool) -> Bank:
    """Make the bank of all glyphs of one size: one shape, two side by side, or crossing lines."""
    figures = list(_figures(layout))
    filled = np.stack([silhouette(INKED[picture(figure, within)]) for figure in figures])
    return Bank(figures, filled, np.array([box(mask) for mask in filled]))


def _figures(layout: Layout) -> Iterator[Figure]:
    shapes: list[tuple[str, ...]] = [(shape,) for shape in SHAPES]
    if layout == "whole":
        shapes += combinations(SHAPES, 2)
    for shape in shapes:
        for angles in _angles(shape):
            for size in range(SIZES):
                yield Figure(shape, (size,), 1, ("black",), angles, (CENTRE,), layout)


def _angles(shape: tuple[str, ...]) -> Iterator[tuple[float, ...]]:
    if len(shape) > 1:
        yield (0.0,)
        return
    found = orientations(shape[0])
    for several in range(1, len(found) + 1 if shape == ("line",) else 2):
        yield from combinations(found, several)


# ---------------------------------------------------------------- pictures of one glyph


def half_width(layout: Layout, within: bool) -> int:
    """Return half the side of the square in which one glyph fits."""
    return int(radius(layout, within)) + 6


def picture(figure: Figure, within: bool) -> Pixels:
    """Draw one glyph in the middle of its square, as numbers into the palette."""
    half = half_width(figure.layout, within)
    canvas = np.zeros((SIDE, SIDE), np.uint8)
    for element in glyph(figure, within):
        paint(canvas, _moved(element, MIDDLE))
    middle = SIDE // 2
    return canvas[middle - half : middle + half, middle - half : middle + half]


def _moved(element: Element, by: float) -> Element:
    return element._replace(x=element.x + by, y=element.y + by)


def silhouette(ink: Mask) -> Mask:
    """Fill each row from its first ink to its last, so that what is inside does not matter."""
    from_left = np.logical_or.accumulate(ink, axis=1)
    from_right = np.logical_or.accumulate(ink[:, ::-1], axis=1)[:, ::-1]
    filled: Mask = from_left & from_right
    return filled


def box(mask: Mask) -> tuple[int, int, int, int]:
    """Return the first and last row and column that are inked; all 0 if none is."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


@lru_cache(maxsize=2_000)
def parts(figure: Figure, within: bool) -> tuple[Mask, Mask]:
    """Mark where the first and the second half of a glyph have their colour, well inside."""
    half = half_width(figure.layout, within)
    first, second = (np.zeros((2 * half, 2 * half), bool) for _ in range(2))
    along: Floats = np.arange(2 * half, dtype=np.float64) - half + 0.5
    for element in (_moved(one, float(half)) for one in glyph(figure, within)):
        x, y = along[None, :] + half - element.x, along[:, None] + half - element.y
        inside = _inside(element, 2 * half)
        across = _across(element, x, y)
        first |= inside & (across < -1.5)
        second |= inside & (across > 1.5)
    return first, second


def _inside(element: Element, size: int) -> Mask:
    """Mark where an element has its own colour and not that of its outline."""
    canvas = np.zeros((size, size), np.uint8)
    paint(canvas, element._replace(colour="red", edge="red" if element.shape in OPEN else "black"))
    inside: Mask = canvas == RAMPS["white", "red"][-1]
    return inside


def _across(element: Element, x: Floats, y: Floats) -> Floats:
    """Measure how far points are beyond the line between the halves of an element."""
    turn = math.radians(element.angle)
    cos, sin = math.cos(turn), math.sin(turn)
    return y * cos - x * sin if element.shape == "line" else x * cos + y * sin
