"""Panels and whole problems as pixels: a small PNG writer, the palette, stamps of every shape.

PNG files are packed with zlib at its quickest level and no filter, which suits pictures with few
colours.
"""

from __future__ import annotations

import itertools
import math
import struct
import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.matrices.drawing.geometry import (
    ARC,
    BLANK,
    FIRST,
    FLAT,
    OUTLINE,
    RIGHT,
    WHOLE,
    Element,
    elements,
)
from allminds.instruments.matrices.drawing.svg import (
    BROAD,
    FRAME,
    LABEL,
    LETTER,
    MATRIX,
    QUESTION,
    STEP,
    STROKES,
    THICK,
    layout,
)
from allminds.instruments.matrices.making.panel import NAMES, OPEN, SIDE, Panel, Problem
from allminds.instruments.matrices.making.panel import PALETTE as NAMED
from allminds.instruments.matrices.making.text import Asked

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE = 3  # a colour type of the format
_LEVEL = 1  # a panel takes a quarter of the time of the default level, for half as many bytes more

Pixels = NDArray[np.uint8]


def palette_png(indices: Pixels, palette: Pixels) -> bytes:
    """Write numbers into a palette [colour, 3] as a PNG file, without unused last colours."""
    height, width = indices.shape
    raw = np.zeros((height, width + 1), np.uint8)  # every line begins with its filter: 0, none
    raw[:, 1:] = indices
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, _PALETTE, 0, 0, 0),
        b"PLTE": palette[: int(indices.max()) + 1].tobytes(),
        b"IDAT": zlib.compress(raw.tobytes(), _LEVEL),
        b"IEND": b"",
    }
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks.items())


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


SAMPLES = 8  # along either side of a pixel at a border
SHADES = 20  # from one colour to the next
THIN = 1.5  # no outline is thinner than this, in pixels

Floats = NDArray[np.float64]


# ---------------------------------------------------------------- colours


def _rgb(name: str) -> Floats:
    text = {"blank": BLANK, "right": RIGHT}.get(name) or NAMED[name]
    return np.array([int(text[n : n + 2], 16) for n in (1, 3, 5)], float)


def _palette() -> tuple[Pixels, dict[tuple[str, str], Pixels]]:
    """List all shades, and for every two colours that meet the numbers from one to the other."""
    rows, ramps = [_rgb("white")], {}
    inks = [name for name in NAMED if name not in ("black", "white")]
    number = {"white": 0}
    pairs = [("white", "black"), *((paper, ink) for ink in inks for paper in ("white", "black"))]
    for one, other in [*pairs, ("black", "blank")]:
        between = [_rgb(one) + (_rgb(other) - _rgb(one)) * n / SHADES for n in range(1, SHADES)]
        first = len(rows)
        rows += between
        if other not in number:
            number[other] = len(rows)
            rows.append(_rgb(other))
        shades = [number[one], *range(first, first + SHADES - 1), number[other]]
        ramps[one, other] = np.array(shades, np.uint8)
        ramps[other, one] = ramps[one, other][::-1].copy()
    rows.append(_rgb("right"))
    number["right"] = len(rows) - 1
    for name in (*NAMED, "right"):
        ramps[name, name] = np.full(SHADES + 1, number[name], np.uint8)
    return np.rint(rows).astype(np.uint8), ramps


PALETTE, RAMPS = _palette()
GREYS: Pixels = np.rint(PALETTE @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)


@lru_cache(maxsize=512)
def _shades(element_colours: tuple[str, str, str]) -> Pixels:
    """List what each shade of a stamp becomes in the colours under, edge and inside."""
    under, edge, inside = element_colours
    return np.concatenate([RAMPS[under, edge], RAMPS[edge, inside][1:]])


# ---------------------------------------------------------------- panels


def panel_numbers(panel: Panel, size: int = SIDE) -> Pixels:
    """Draw a panel as numbers into `PALETTE`, [row, column]."""
    return painted(elements(panel), size)


def painted(some: Iterable[Element], size: int = SIDE) -> Pixels:
    """Draw elements on a white panel, as numbers into `PALETTE`."""
    canvas = np.zeros((size, size), np.uint8)
    for element in some:
        paint(canvas, element, size / SIDE)
    return canvas


def panel_rgb(panel: Panel, size: int = SIDE) -> Pixels:
    """Draw a panel as red, green and blue, [row, column, 3]."""
    return PALETTE.take(panel_numbers(panel, size), axis=0)


def panel_grey(panel: Panel, size: int = SIDE) -> Pixels:
    """Draw a panel as brightness, [row, column]."""
    return GREYS[panel_numbers(panel, size)]


def panel_png(panel: Panel, size: int = SIDE) -> bytes:
    """Draw a panel as a PNG file."""
    return palette_png(panel_numbers(panel, size), PALETTE)


def paint(canvas: Pixels, element: Element, zoom: float = 1.0) -> None:
    """Draw an element on a picture of numbers."""
    x, y = element.x * zoom, element.y * zoom
    left, top = math.floor(x), math.floor(y)
    shades, dx, dy = stamp(
        element.shape, element.part, element.r * zoom, element.angle, element.width * zoom,
        x - left, y - top,
    )  # fmt: skip
    left, top = left + dx, top + dy
    if left < 0 or top < 0:  # in tiny pictures outlines are too thick to fit
        shades = shades[max(0, -top) :, max(0, -left) :]
        left, top = max(0, left), max(0, top)
    part = canvas[top : top + shades.shape[0], left : left + shades.shape[1]]
    shades = shades[: part.shape[0], : part.shape[1]]
    ink = _shades((element.under, element.edge, element.colour))[shades]
    if element.under == "white":  # what is there already has a higher number, or is as good
        np.maximum(part, ink, out=part)
    else:
        np.copyto(part, ink, where=shades > 0)


# ---------------------------------------------------------------- stamps


@lru_cache(maxsize=20_000)
def stamp(
    shape: str, part: int, r: float, angle: float, width: float, x: float, y: float
) -> tuple[Pixels, int, int]:
    """Compute the shades of a shape with its middle at (x, y), and where the first of them lies."""
    width = width if shape in OPEN else max(width, THIN)
    reach = math.ceil(r + 4 * width) + 1
    middles: Floats = np.arange(-reach, reach + 1, dtype=np.float64) + 0.5
    away = _distance(shape, part, r, angle, width, middles[None, :] - x, middles[:, None] - y)
    edge = 0.0 if shape in OPEN else width / 2
    shades = np.where(away <= edge, SHADES, 0)
    if shape not in OPEN:
        shades[away <= -edge] = 2 * SHADES
    rows, columns = np.nonzero(np.abs(np.abs(away) - edge) < 0.72)  # half a diagonal
    fine = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    near = _distance(
        shape, part, r, angle, width,
        middles[columns][:, None, None] + fine[None, None, :] - x,
        middles[rows][:, None, None] + fine[None, :, None] - y,
    )  # fmt: skip
    outside = (near > edge).mean(axis=(1, 2))
    inside = (near <= -edge).mean(axis=(1, 2)) if shape not in OPEN else np.zeros(len(rows))
    shades[rows, columns] = np.where(
        outside >= inside, np.rint(SHADES * (1 - outside)), SHADES + np.rint(SHADES * inside)
    )
    inked = np.nonzero(shades)
    top, left = (int(axis.min()) for axis in inked)
    bottom, right = (int(axis.max()) + 1 for axis in inked)
    cut = shades[top:bottom, left:right].astype(np.uint8)
    return cut, left - reach, top - reach


def _distance(
    shape: str, part: int, r: float, angle: float, width: float, x: Floats, y: Floats
) -> Floats:
    """Measure how far points are outside a shape (negative inside); corners are mitred."""
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = x * cos + y * sin, y * cos - x * sin  # as if it stood upright
    if shape == "circle":
        away = np.hypot(x, y) - r
    elif shape == "ellipse":
        away = _from_ellipse(x, y, FLAT * r, r)
    elif shape == "line":
        away = np.maximum(np.abs(x) - width / 2, np.abs(y) - r)
    elif shape == "arc":
        gap = math.radians((360 - ARC) / 2)
        ring = np.abs(np.hypot(x, y) - (r - width / 2)) - width / 2
        away = np.maximum(ring, y * math.sin(gap) - np.abs(x) * math.cos(gap))
    else:
        away = _from_polygon(x, y, int(shape), r)
    if part == WHOLE:
        return away
    across = y if shape == "line" else x
    return np.maximum(away, across if part == FIRST else -across)


def _from_polygon(x: Floats, y: Floats, sides: int, r: float) -> Floats:
    """Measure the distance from a polygon: that from the farthest of its sides."""
    away = np.full(np.broadcast_shapes(x.shape, y.shape), -np.inf)
    for k in range(sides):
        normal = math.pi * (2 * k + 1) / sides
        np.maximum(away, x * math.sin(normal) - y * math.cos(normal), out=away)
    return away - r * math.cos(math.pi / sides)


def _from_ellipse(x: Floats, y: Floats, a: float, b: float) -> Floats:
    """Estimate the distance from an ellipse to first order, enough for an outline's width."""
    value, slope = np.hypot(x / a, y / b), np.hypot(x / a**2, y / b**2)
    away: Floats = np.divide(
        value * (value - 1), slope, out=np.full_like(value, -min(a, b)), where=slope > 0
    )
    return away


# ---------------------------------------------------------------- whole problems


BLACK, MARKED = RAMPS["black", "black"][0], RAMPS["right", "right"][0]


def matrix_png(asked: Asked, size: int = SIDE) -> bytes:
    """Draw the matrix with its blank as a PNG file; `size` is that of a panel."""
    return palette_png(matrix_numbers(asked, size), PALETTE)


def composite_png(asked: Asked, size: int = SIDE) -> bytes:
    """Draw the matrix and its options as a PNG file; `size` is that of a panel."""
    return palette_png(composite_numbers(asked, size), PALETTE)


def key_png(problem: Problem, size: int = SIDE) -> bytes:
    """Draw the answer key as a PNG file; `size` is that of a panel."""
    return palette_png(composite_numbers(problem, size, problem.answer), PALETTE)


def matrix_numbers(asked: Asked, size: int = SIDE) -> Pixels:
    """Draw the matrix with its blank, as numbers into the palette."""
    canvas = np.zeros((math.ceil(MATRIX * size / SIDE),) * 2, np.uint8)
    for n, cell in enumerate([*asked.cells[:8], None]):
        shown = _blank(size) if cell is None else panel_numbers(cell, size)
        _put(canvas, shown, FRAME + n % 3 * STEP, FRAME + n // 3 * STEP)
    return canvas


def composite_numbers(asked: Asked, size: int = SIDE, answer: int | None = None) -> Pixels:
    """Draw the matrix, and its options below with their letters, as palette numbers.

    For a key `answer` is the right option: it is put in its place, and marked.
    """
    zoom = size / SIDE
    place = layout(len(asked.options))
    canvas = np.zeros((math.ceil(place.height * zoom), math.ceil(place.width * zoom)), np.uint8)
    _paste(canvas, matrix_numbers(asked, size), *place.matrix, zoom)
    for n, (option, (x, y)) in enumerate(zip(asked.options, place.options, strict=True)):
        _paste(canvas, _letter(NAMES[n], size), x, y + SIDE + FRAME, zoom)
        _put(canvas, panel_numbers(option, size), x, y, n == answer)
    if answer is not None:
        ninth = panel_numbers(asked.options[answer], size)
        x, y = (at + FRAME + 2 * STEP for at in place.matrix)
        _put(canvas, ninth, x, y, marked=True)
    return canvas


def _put(canvas: Pixels, panel: Pixels, x: float, y: float, marked: bool = False) -> None:
    """Put a panel in its place, with a frame round it, and a thick one if it is marked."""
    zoom = len(panel) / SIDE
    frames = ((THICK, MARKED), (FRAME, BLACK)) if marked else ((FRAME, BLACK),)
    for width, number in frames:
        far = max(1, round(width * zoom))
        _paste(
            canvas, np.full_like(panel, number, shape=(len(panel) + 2 * far,) * 2), x, y, zoom, far
        )
    _paste(canvas, panel, x, y, zoom)


def _paste(
    canvas: Pixels, picture: Pixels, x: float, y: float, zoom: float, before: int = 0
) -> None:
    """Copy a picture to its place, or so many pixels before it."""
    left, top = round(x * zoom) - before, round(y * zoom) - before
    height, width = picture.shape
    part = canvas[top : top + height, left : left + width]
    part[...] = picture[: part.shape[0], : part.shape[1]]  # rounding may take a pixel of a frame


# ---------------------------------------------------------------- signs


@lru_cache(maxsize=64)
def _blank(size: int) -> Pixels:
    """Draw the ninth cell with its question mark."""
    canvas = np.full((size, size), RAMPS["black", "blank"][-1], np.uint8)
    _write(canvas, "?", SIDE / 2, SIDE / 2, QUESTION, "blank")
    return canvas


@lru_cache(maxsize=64)
def _letter(name: str, size: int) -> Pixels:
    """Draw the line below an option, with its letter."""
    canvas = np.zeros((round((LABEL - FRAME) * size / SIDE), size), np.uint8)
    _write(canvas, name, SIDE / 2, LABEL / 2, LETTER, "white")
    return canvas


def _write(canvas: Pixels, name: str, x: float, y: float, unit: float, under: str) -> None:
    """Draw a sign: lines with round ends."""
    zoom, width = canvas.shape[1] / SIDE, unit * BROAD
    for line in STROKES[name]:
        points = [(x + unit * (px - 2), y + unit * (py - 3)) for px, py in line]
        for px, py in points:
            r = width / 2 - OUTLINE / 2
            _black(canvas, Element("circle", WHOLE, px, py, r, 0.0, OUTLINE, "", "", under), zoom)
        for (ax, ay), (bx, by) in itertools.pairwise(points):
            angle = math.degrees(math.atan2(ay - by, ax - bx)) + 90
            half, mx, my = math.hypot(bx - ax, by - ay) / 2, (ax + bx) / 2, (ay + by) / 2
            _black(canvas, Element("line", WHOLE, mx, my, half, angle, width, "", "", under), zoom)


def _black(canvas: Pixels, element: Element, zoom: float) -> None:
    """Paint in black, but never make a pixel lighter than it is."""
    before = canvas.copy()
    paint(canvas, element._replace(colour="black", edge="black"), zoom)
    lighter = PALETTE[canvas][:, :, 0] > PALETTE[before][:, :, 0]
    canvas[lighter] = before[lighter]
