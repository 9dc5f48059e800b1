"""Which panels a person tells apart: a table of pixels that change, made once by rendering.

Two panels are *visibly different* if at least 120 pixels of a panel of 160 x 160 change by more
than 96 of 255 in red, green or blue. The table has every glyph of one shape, size, orientation and
kind of fill against the others; it is made when it is first asked for, a room at a time, in a
fraction of a second. What it does not have (pairs of values) is rendered once and remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.matrices.drawing.geometry import figure_elements, mark_elements, radius
from allminds.instruments.matrices.drawing.raster import (
    PALETTE,
    SHADES,
    Pixels,
    painted,
    panel_numbers,
)
from allminds.instruments.matrices.drawing.raster import stamp as stamped
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    OPEN,
    SHAPES,
    SIDE,
    SIZES,
    Figure,
    Layout,
    Marks,
    Panel,
    orientations,
)

CHANGE = 96  # of 255, in one of red, green and blue
ENOUGH = 120  # pixels of a panel of 160 x 160

# Kinds of fill two glyphs may have; those next in darkness stand for all colours.
SAME, DIFFERENT, WHITE, WHITE_AND_OTHER = range(4)
_BLUE = 112  # the channel that tells blue from black

Counts = NDArray[np.int32]


def visible(a: Panel, b: Panel) -> bool:
    """Return whether two panels are visibly different, by the table."""
    return pixels(a, b) >= ENOUGH


def pixels(a: Panel, b: Panel) -> int:
    """Count the pixels in which two panels of the same layout differ, by the table."""
    within = a.marks is not None
    return figure_pixels(a.figure, b.figure, within) + mark_pixels(a.marks, b.marks)


def rendered_pixels(a: Panel, b: Panel) -> int:
    """Count the pixels in which two panels differ, by rendering both: slower, and exact."""
    return changes(panel_numbers(a), panel_numbers(b))


_COLOURS = PALETTE.astype(np.int16)
_FAR = np.abs(_COLOURS[:, None] - _COLOURS[None]).max(axis=2) > CHANGE  # [number, number]


def changes(one: Pixels, other: Pixels) -> int:
    """Count the pixels that differ enough between two pictures of palette numbers."""
    return int(np.count_nonzero(_FAR.ravel()[one * np.intp(len(_FAR)) + other]))


# ---------------------------------------------------------------- figures


def figure_pixels(a: Figure | None, b: Figure | None, within: bool) -> int:
    """Count the pixels in which two figures of one layout differ, with marks or without."""
    if a == b:
        return 0
    if a is None or b is None or a.layout == "similar":
        return _rendered(a, b, within)
    apart = glyph_pixels(a, b, within)
    if a.count != b.count:
        return abs(a.count - b.count) * ink(a if a.count > b.count else b, within)
    if a.place == b.place:
        return a.count * apart
    here, there = set(a.place), set(b.place)
    return (
        len(here & there) * apart
        + len(here - there) * ink(a, within)
        + len(there - here) * ink(b, within)
    )


def glyph_pixels(a: Figure, b: Figure, within: bool) -> int:
    """Count the pixels in which one glyph of each differs, if they stand at the same place."""
    if is_plain(a) and is_plain(b):
        table = room_table(a.layout, within)
        one, other = glyph_number(a), glyph_number(b)
        if one == other:
            return 0 if a.colour == b.colour else int(table.inside[one])
        kind = fills(a.colour[0], b.colour[0])
        if kind == WHITE_AND_OTHER and b.colour[0] == "white":
            one, other = other, one
        found = int(table.apart[kind, one, other])
        if found >= 0:
            return found
    return _rendered_glyphs(_alone(a), _alone(b), within)


def ink(figure: Figure, within: bool) -> int:
    """Count the pixels that one glyph changes where there was none."""
    if is_plain(figure):
        table = room_table(figure.layout, within)
        return int(table.ink[int(figure.colour[0] == "white"), glyph_number(figure)])
    return _rendered_glyphs(_alone(figure), None, within)


def is_plain(figure: Figure) -> bool:
    """Return whether a glyph has one value of every attribute."""
    return len(figure.shape) == len(figure.size) == len(figure.colour) == len(figure.angle) == 1


def fills(one: str, other: str) -> int:
    """Return the kind of fill that two glyphs have together."""
    if one == other:
        return WHITE if one == "white" else SAME
    return WHITE_AND_OTHER if "white" in (one, other) else DIFFERENT


def _alone(figure: Figure) -> Figure:
    """Put one of a figure's glyphs in the middle."""
    return replace(figure, count=1, place=(CENTRE,))


@lru_cache(maxsize=50_000)
def _rendered(a: Figure | None, b: Figure | None, within: bool) -> int:
    """Count the pixels in which two whole figures differ, by rendering both."""
    return changes(*(painted(figure_elements(one, within) if one else ()) for one in (a, b)))


@lru_cache(maxsize=200_000)
def _rendered_glyphs(a: Figure, b: Figure | None, within: bool) -> int:
    one = _picture(a, within)
    return changes(one, np.zeros_like(one) if b is None else _picture(b, within))


@lru_cache(maxsize=2_000)
def _picture(figure: Figure, within: bool) -> Pixels:
    """Draw a glyph in the middle, without the margin that surely is white."""
    margin = int(SIDE / 2 - radius(figure.layout, within)) - 6
    return painted(figure_elements(figure, within))[margin:-margin, margin:-margin]


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class RoomTable:
    """Pixels of glyphs in one room, by their numbers."""

    apart: Counts  # [fill, glyph, glyph]: how many differ; -1 where nobody ever asks
    ink: Counts  # [filled or white, glyph]: how many are not white
    inside: Counts  # [glyph]: how many another colour changes


_FIRST: dict[str, int] = {}  # the number of the first glyph of a shape
_ANGLES = {shape: orientations(shape) for shape in SHAPES}
GLYPHS: list[tuple[str, float, int]] = []  # shape, angle, size: the number of a glyph is its place
for _shape in SHAPES:
    _FIRST[_shape] = len(GLYPHS)
    GLYPHS += [(_shape, angle, size) for angle in _ANGLES[_shape] for size in range(SIZES)]


def glyph_number(figure: Figure) -> int:
    """Return the place of a plain figure's glyph in the table."""
    shape = figure.shape[0]
    return _FIRST[shape] + SIZES * _ANGLES[shape].index(figure.angle[0]) + figure.size[0]


@lru_cache(maxsize=6)
def room_table(layout: Layout, within: bool) -> RoomTable:
    """Build the table of one room: one of the layouts, with or without marks about it."""
    filled, white, other = _planes(layout, within)
    kinds = ((filled, filled), (filled, other), (white, white), (white, filled))
    apart = np.full((len(kinds), len(GLYPHS), len(GLYPHS)), -1, np.int32)
    for family in _families():
        for kind, (ones, others) in enumerate(kinds):
            these = others[family]
            for one in family:
                apart[kind, one, family] = _changed(ones[one], these)
    apart[DIFFERENT] = np.minimum(apart[DIFFERENT], apart[DIFFERENT].T)  # whichever is darker
    blank = np.full_like(filled[:1], 255)
    inks = np.stack([_changed(blank[0], filled), _changed(blank[0], white)])
    return RoomTable(apart, inks, np.diagonal(apart[DIFFERENT]).copy())


def _families() -> list[NDArray[np.intp]]:
    """List glyphs that may meet: all upright ones, and each shape in all its orientations."""
    upright = [n for n, (_, angle, _) in enumerate(GLYPHS) if angle == 0]
    turned = [[n for n, glyph in enumerate(GLYPHS) if glyph[0] == shape] for shape in SHAPES]
    return [np.array(numbers) for numbers in (upright, *turned)]


def _changed(one: NDArray[np.uint8], others: NDArray[np.uint8]) -> Counts:
    """Count the pixels in which a picture differs from each of others."""
    changed = np.maximum(one, others) - np.minimum(one, others) > CHANGE
    return np.array([np.count_nonzero(picture) for picture in changed], np.int32)


def _planes(layout: Layout, within: bool) -> list[NDArray[np.uint8]]:
    """Draw every glyph filled with black, with white, and with the colour nearest to black."""
    half = int(radius(layout, within)) + 4
    shades = np.zeros((len(GLYPHS), 2 * half, 2 * half), np.uint8)
    is_open = np.array([shape in OPEN for shape, _, _ in GLYPHS])
    for n, (shape, angle, size) in enumerate(GLYPHS):
        figure = Figure((shape,), (size,), 1, ("black",), (angle,), (CENTRE,), layout)
        (element,) = figure_elements(figure, within)
        found, left, top = stamped(shape, 0, element.r, angle, element.width, 0.0, 0.0)
        height, width = found.shape
        shades[n, half + top : half + top + height, half + left : half + left + width] = found
    ramp = np.arange(SHADES + 1) / SHADES
    planes = []
    for inside in (0, 255, _BLUE):
        closed = np.concatenate([255 * (1 - ramp), inside * ramp[1:]])
        plane = np.rint(closed).astype(np.uint8)[shades]
        stroke = np.rint(255 + (inside - 255) * ramp).astype(np.uint8)
        plane[is_open] = stroke[shades[is_open]]
        planes.append(plane)
    return planes


# ---------------------------------------------------------------- marks


def mark_pixels(a: Marks | None, b: Marks | None) -> int:
    """Count the pixels in which two sets of marks differ."""
    return 0 if a == b else _rendered_marks(a, b)


@lru_cache(maxsize=50_000)
def _rendered_marks(a: Marks | None, b: Marks | None) -> int:
    return changes(*(painted(mark_elements(marks) if marks else ()) for marks in (a, b)))
