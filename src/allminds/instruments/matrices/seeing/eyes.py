"""Recover the panels of a problem from pictures of 160 x 160 pixels.

Pictures are turned into numbers of the nearest shade. The rim is looked at first, then glyphs in
each of the three layouts, and the layout is taken that explains all pictures best. A glyph is
found by its silhouette among all glyphs there may be; its colours are those of its halves; a
second size is the ring that explains what is left over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from allminds.instruments.matrices.drawing.geometry import centres, mark_elements, radius
from allminds.instruments.matrices.drawing.raster import PALETTE, Pixels, paint
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    COLOURS,
    COUNTS,
    INVENTORIES,
    PLACES,
    SIDE,
    Figure,
    Layout,
    Marks,
    Panel,
)
from allminds.instruments.matrices.making.panel import PALETTE as NAMED
from allminds.instruments.matrices.making.rules import LAYOUTS
from allminds.instruments.matrices.seeing.templates import (
    INKED,
    Mask,
    bank,
    box,
    half_width,
    parts,
    picture,
    silhouette,
)
from allminds.instruments.matrices.seeing.visibility import changes

NEARLY = 3  # pixels by which a box may differ
FEW = 12  # pixels that may be left unexplained
CANDIDATES = 4  # silhouettes that are looked at closely
RIM = 59  # beyond this distance from the middle, along either axis, there are only marks
STEP = 8  # red, green and blue are read in steps of so many
LEVELS = 256 // STEP


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
    found = []
    for n in range(INVENTORIES[inventory]):
        canvas = np.zeros((SIDE, SIDE), np.uint8)
        for element in mark_elements(Marks(inventory, (n,), "black")):
            paint(canvas, element)
        found.append(INKED[canvas])
    return found


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
        for x, y in centres(where, within):
            crop = padded[int(y) : int(y) + 2 * half, int(x) : int(x) + 2 * half]
            crop = _own(crop, layout, within)
            found = glyph_of(crop.tobytes(), layout, within)
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
    if layout == "slots":
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
def glyph_of(crop: bytes, layout: Layout, within: bool) -> Seen:
    """Recover the glyph in a square picture, as a figure of one copy in the middle."""
    side = 2 * half_width(layout, within)
    shades = np.frombuffer(crop, np.uint8).reshape(side, side)
    shape = silhouette(INKED[shades])
    known = bank(layout, within)
    near = np.flatnonzero(np.abs(known.boxes - box(shape)).max(axis=1) <= NEARLY)
    unlike = [np.count_nonzero(known.filled[n] ^ shape) for n in near]
    best = Seen(None, int(np.count_nonzero(shape)))
    for n in near[np.argsort(unlike, kind="stable")][:CANDIDATES]:
        found = _looked_at(known.figures[n], shades, within)
        if found.wrong < best.wrong:
            best = found
        if best.wrong == 0:
            break
    return best


def _looked_at(outline: Figure, shades: Pixels, within: bool) -> Seen:
    """Determine the colours of a glyph, and its second size if it has one."""
    halves = parts(outline, within)
    if not all(half.any() for half in halves):
        return Seen(None, shades.size)
    first, second = (_colour(shades, half) for half in halves)
    coloured = replace(outline, colour=(first,) if first == second else (first, second))
    best = Seen(coloured, changes(picture(coloured, within), shades))
    if best.wrong > FEW:
        for size in range(outline.size[0]):
            rings = replace(coloured, size=(size, *outline.size))
            wrong = changes(picture(rings, within), shades)
            if wrong < best.wrong:
                best = Seen(rings, wrong)
    return best
