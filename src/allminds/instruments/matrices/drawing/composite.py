"""Whole problems as pixels: the matrix with its blank, and the same with its options below."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from allminds.instruments.matrices.drawing.geometry import OUTLINE, WHOLE, Element
from allminds.instruments.matrices.drawing.raster import (
    PALETTE,
    RAMPS,
    Pixels,
    paint,
    palette_png,
    panel_numbers,
)
from allminds.instruments.matrices.drawing.svg import (
    BROAD,
    FRAME,
    LABEL,
    LETTER,
    QUESTION,
    STROKES,
    layout,
)
from allminds.instruments.matrices.making.panel import NAMES, SIDE, Panel
from allminds.instruments.matrices.making.text import Asked

BLACK = RAMPS["white", "black"][-1]


def matrix_png(asked: Asked, size: int = SIDE) -> bytes:
    """Draw the matrix with its blank as a PNG file; `size` is that of a panel."""
    return palette_png(matrix_numbers(asked, size), PALETTE)


def composite_png(asked: Asked, size: int = SIDE) -> bytes:
    """Draw the matrix and its options as a PNG file; `size` is that of a panel."""
    return palette_png(composite_numbers(asked, size), PALETTE)


def matrix_numbers(asked: Asked, size: int = SIDE) -> Pixels:
    """Draw the matrix with its blank, as numbers into the palette."""
    frame = _frame(size)
    step = size + frame
    canvas = np.full((3 * step + frame, 3 * step + frame), BLACK, np.uint8)
    for n, cell in enumerate([*asked.cells[:8], None]):
        top, left = frame + n // 3 * step, frame + n % 3 * step
        shown = panel_numbers(cell, size) if cell else _blank(size)
        canvas[top : top + size, left : left + size] = shown
    return canvas


def composite_numbers(asked: Asked, size: int = SIDE) -> Pixels:
    """Draw the matrix, and its options below with their letters, as palette numbers."""
    zoom = size / SIDE
    place = layout(len(asked.options))
    canvas = np.zeros((math.ceil(place.height * zoom), math.ceil(place.width * zoom)), np.uint8)
    _put(canvas, matrix_numbers(asked, size), *place.matrix, zoom)
    for name, option, (x, y) in zip(NAMES, asked.options, place.options, strict=False):
        _put(canvas, _framed(option, size), x - FRAME, y - FRAME, zoom)
        _put(canvas, _letter(name, size), x, y + SIDE + FRAME, zoom)
    return canvas


def _put(canvas: Pixels, picture: Pixels, x: float, y: float, zoom: float) -> None:
    left, top = round(x * zoom), round(y * zoom)
    height, width = picture.shape
    canvas[top : top + height, left : left + width] = picture


def _frame(size: int) -> int:
    return max(1, round(FRAME * size / SIDE))


def _framed(panel: Panel, size: int) -> Pixels:
    return np.pad(panel_numbers(panel, size), _frame(size), constant_values=BLACK)


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
