"""Recover the panels of a problem from pictures of 160 x 160 pixels.

Pictures are turned into numbers of the nearest shade. The rim is looked at first, then glyphs in
each of the four layouts, and the layout is taken that explains all pictures best. A glyph is
found by its silhouette among all glyphs there may be; its colours are those of its halves; a
second size is the ring that explains what is left over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.matrices.dataset.battery import rule_induction
from allminds.instruments.matrices.drawing.geometry import (
    MIDDLE,
    Element,
    centres,
    glyph,
    mark_elements,
    radius,
)
from allminds.instruments.matrices.drawing.raster import (
    PALETTE,
    RAMPS,
    Floats,
    Pixels,
    paint,
    painted,
)
from allminds.instruments.matrices.drawing.visibility import CHANGE, changes
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    COLOURS,
    COUNTS,
    INVENTORIES,
    OPEN,
    PLACES,
    SHAPES,
    SIDE,
    SIZES,
    Figure,
    Layout,
    Marks,
    Panel,
    orientations,
)
from allminds.instruments.matrices.making.panel import PALETTE as NAMED
from allminds.instruments.matrices.making.rules import LAYOUTS, encoded

NEARLY = 3  # pixels by which a box may differ
FEW = 12  # pixels that may be left unexplained
CANDIDATES = 4  # silhouettes that are looked at closely
RIM = 59  # beyond this distance from the middle, along either axis, there are only marks
STEP = 8  # red, green and blue are read in steps of so many
LEVELS = 256 // STEP

Mask = NDArray[np.bool_]
INKED: Mask = PALETTE.min(axis=1) < 255 - CHANGE  # [number]: whether it is not white


# ---------------------------------------------------------------- all pictures of a problem


@dataclass(frozen=True)
class Seen:
    """A figure, and how many pixels it leaves unexplained."""

    figure: Figure | None
    wrong: int


def seen(pictures: Sequence[Pixels]) -> list[Panel]:
    """Recover the panels of one problem from RGB pictures; they share layout and inventory."""
    shades = [read(rgb) for rgb in pictures]
    marks = marks_of(shades)
    within = marks is not None
    inner = [np.where(_RIM, np.uint8(0), one) for one in shades] if within else shades
    best: list[Seen] = []
    for layout in LAYOUTS:
        found = [figure_of(one, layout, within) for one in inner]
        if not best or _wrong(found) < _wrong(best):
            best = found
        if _wrong(best) <= FEW:
            break
    around: Sequence[Marks | None] = marks or [None] * len(pictures)
    return [Panel(one.figure, mark) for one, mark in zip(best, around, strict=True)]


def solved(cells: Sequence[Pixels], options: Sequence[Pixels]) -> int:
    """Find the option that belongs in the ninth cell, from 160 x 160 pictures [row, column, 3]."""
    coded = [encoded(panel) for panel in seen([*cells, *options])]
    scores = rule_induction(coded[: len(cells)], coded[len(cells) :])
    return scores.index(max(scores))


def _wrong(found: Sequence[Seen]) -> int:
    return sum(one.wrong for one in found)


def read(rgb: Pixels) -> Pixels:
    """Convert a picture to the numbers of the nearest shades in the palette."""
    levels = (rgb // STEP).astype(np.intp)
    flat = (levels[:, :, 0] * LEVELS + levels[:, :, 1]) * LEVELS + levels[:, :, 2]
    return _nearest_shades().ravel().take(flat)


@lru_cache(maxsize=1)
def _nearest_shades() -> Pixels:
    levels = np.arange(STEP // 2, 256, STEP).astype(np.int16)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1)
    found = np.zeros(grid.shape[:3], np.uint8)
    best = np.full(grid.shape[:3], np.iinfo(np.int16).max, np.int16)
    for number, shade in enumerate(PALETTE.astype(np.int16)):
        far = np.abs(grid - shade).sum(axis=3, dtype=np.int16)
        found[far < best] = number
        np.minimum(best, far, out=best)
    return found


def _nearest_names() -> Pixels:
    """Find for each shade the number of the colour nearest to it."""
    names = np.array([[int(text[n : n + 2], 16) for n in (1, 3, 5)] for text in NAMED.values()])
    far = np.abs(PALETTE[:, None, :].astype(int) - names[None]).sum(axis=2)
    names_of: Pixels = far.argmin(axis=1).astype(np.uint8)
    return names_of


_NAMES = _nearest_names()


# ---------------------------------------------------------------- the rim


def marks_of(shades: Sequence[Pixels]) -> list[Marks] | None:
    """Recover the marks by the inventory that explains all rims; None if none does."""
    rims = [INKED[one] & _RIM for one in shades]
    if not any(rim.any() for rim in rims):
        return None
    for inventory in INVENTORIES:
        found = [_marks(one, rim, inventory) for one, rim in zip(shades, rims, strict=True)]
        marks = [one for one in found if one is not None]
        if len(marks) == len(found) and any(one.present for one in marks):
            return marks
    return None


def _marks(shades: Pixels, rim: Mask, inventory: str) -> Marks | None:
    places = _mark_places(inventory)
    present = [n for n, place in enumerate(places) if rim[place].mean() > 0.5]
    known = np.any([places[n] for n in present], axis=0) if present else np.zeros_like(rim)
    if np.count_nonzero(rim ^ known) > FEW:
        return None
    colour = _colour(shades, known) if present else "black"
    return Marks(inventory, tuple(present), colour)


@lru_cache
def _mark_places(inventory: str) -> list[Mask]:
    """Mark for each element of an inventory the pixels where it is inked."""
    alone = (Marks(inventory, (n,), "black") for n in range(INVENTORIES[inventory]))
    return [INKED[painted(mark_elements(marks))] for marks in alone]


def _rim() -> Mask:
    far = np.abs(np.arange(SIDE) + 0.5 - SIDE / 2) > RIM
    rim: Mask = far[:, None] | far[None, :]
    return rim


_RIM = _rim()


def _colour(shades: Pixels, where: Mask) -> str:
    """Name the colour that most pixels are nearest to."""
    return COLOURS[int(np.bincount(_NAMES[shades[where]]).argmax())]


# ---------------------------------------------------------------- figures


def figure_of(shades: Pixels, layout: Layout, within: bool) -> Seen:
    """Find the glyphs of a layout, and where they stand."""
    ink = INKED[shades]
    if not ink.any():
        return Seen(None, 0)
    half = half_width(layout, within)
    padded = np.pad(shades, half)
    middle = Figure((), (), 1, (), (), (CENTRE,), layout)
    best = Seen(None, int(np.count_nonzero(ink)))
    for standing in _standing(ink, layout, within):
        where = replace(middle, count=standing.count, place=standing.place)
        wrong, glyph = 0, None
        for slot, (x, y) in enumerate(centres(where, within)):
            crop = padded[int(y) : int(y) + 2 * half, int(x) : int(x) + 2 * half]
            crop = _own(crop, layout, within)
            found = glyph_of(crop.tobytes(), layout, within, slot if layout == "similar" else 0)
            wrong += found.wrong
            glyph = glyph or found.figure
        if glyph is not None and wrong < best.wrong:
            best = Seen(replace(glyph, count=where.count, place=where.place), wrong)
    return best


def _own(crop: Pixels, layout: Layout, within: bool) -> Pixels:
    """Blank out what belongs to the neighbours."""
    if layout == "whole":
        return crop
    reach = int(radius(layout, within)) + 2
    half = len(crop) // 2
    kept = np.zeros_like(crop)
    own = slice(half - reach, half + reach)
    kept[own, own] = crop[own, own]
    return kept


def _standing(ink: Mask, layout: Layout, within: bool) -> list[Figure]:
    """List where glyphs may stand so that all ink is near one of them and each has some."""
    blank = Figure((), (), 1, (), (), (CENTRE,), layout)
    if layout == "whole":
        return [blank]
    reach = int(radius(layout, within)) + 3
    if layout != "grid":
        asked = [replace(blank, count=count) for count in COUNTS]
        return [figure for figure in asked if _covered(ink, figure, within, reach)]
    inked_places = [
        place
        for place in range(PLACES)
        if _square(ink, centres(replace(blank, place=(place,)), within)[0], reach).sum() > FEW
    ]
    figure = replace(blank, place=tuple(inked_places))
    return [figure] if inked_places and _covered(ink, figure, within, reach) else []


def _covered(ink: Mask, figure: Figure, within: bool, reach: int) -> bool:
    left = ink.copy()
    for centre in centres(figure, within):
        square = _square(left, centre, reach)
        if not square.any():
            return False
        square[...] = False
    return int(np.count_nonzero(left)) <= FEW


def _square(mask: Mask, centre: tuple[float, float], reach: int) -> Mask:
    x, y = (int(part) for part in centre)
    return mask[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach]


# ---------------------------------------------------------------- glyphs


@lru_cache(maxsize=20_000)
def glyph_of(crop: bytes, layout: Layout, within: bool, slot: int) -> Seen:
    """Recover the glyph in a square picture, as a figure of one copy in the middle."""
    side = 2 * half_width(layout, within)
    shades = np.frombuffer(crop, np.uint8).reshape(side, side)
    shape = silhouette(INKED[shades])
    known = bank(layout, within, slot)
    near = np.flatnonzero(np.abs(known.boxes - box(shape)).max(axis=1) <= NEARLY)
    unlike = [np.count_nonzero(known.filled[n] ^ shape) for n in near]
    best = Seen(None, int(np.count_nonzero(shape)))
    for n in near[np.argsort(unlike, kind="stable")][:CANDIDATES]:
        found = _looked_at(known.figures[n], shades, within, slot)
        if found.wrong < best.wrong:
            best = found
        if best.wrong == 0:
            break
    return best


def _looked_at(outline: Figure, shades: Pixels, within: bool, slot: int) -> Seen:
    """Determine the colours of a glyph, and its second size if it has one."""
    halves = parts(outline, within, slot)
    if not all(half.any() for half in halves):
        return Seen(None, shades.size)
    first, second = (_colour(shades, half) for half in halves)
    coloured = replace(outline, colour=(first,) if first == second else (first, second))
    best = Seen(coloured, changes(picture(coloured, within, slot), shades))
    if best.wrong > FEW:
        for size in range(outline.size[0]):
            rings = replace(coloured, size=(size, *outline.size))
            wrong = changes(picture(rings, within, slot), shades)
            if wrong < best.wrong:
                best = Seen(rings, wrong)
    return best


# ---------------------------------------------------------------- every glyph of one room


class Bank(NamedTuple):
    """Glyphs of one room in black, and where they are inked."""

    figures: list[Figure]
    filled: NDArray[np.bool_]  # [glyph, row, column]: rows filled from the first ink to the last
    boxes: NDArray[np.int64]  # [glyph, 4]: top, bottom, left, right of the ink


@lru_cache(maxsize=14)
def bank(layout: Layout, within: bool, slot: int) -> Bank:
    """Make the bank of all glyphs of one room: one shape, two side by side, or crossing lines."""
    figures = list(_figures(layout))
    filled = np.stack([silhouette(INKED[picture(figure, within, slot)]) for figure in figures])
    return Bank(figures, filled, np.array([box(mask) for mask in filled]))


def _figures(layout: Layout) -> Iterator[Figure]:
    shapes: list[tuple[str, ...]] = [(shape,) for shape in SHAPES]
    if layout == "whole":
        shapes += combinations(SHAPES, 2)
    for shape in shapes:
        for angles in [(0.0,)] if layout == "similar" else _angles(shape):
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


def picture(figure: Figure, within: bool, slot: int) -> Pixels:
    """Draw one glyph in the middle of its square, as numbers into the palette."""
    half, middle = half_width(figure.layout, within), SIDE // 2
    canvas = painted(_moved(element, MIDDLE) for element in glyph(figure, within, slot))
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
def parts(figure: Figure, within: bool, slot: int) -> tuple[Mask, Mask]:
    """Mark where the first and the second half of a glyph have their colour, well inside."""
    half = half_width(figure.layout, within)
    first, second = (np.zeros((2 * half, 2 * half), bool) for _ in range(2))
    along: Floats = np.arange(2 * half, dtype=np.float64) - half + 0.5
    for element in (_moved(one, float(half)) for one in glyph(figure, within, slot)):
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
