"""Panels as small numbers: each field of a panel is a set of values, a bit for each of them.

A cell with one size has one bit in that field, a cell with a pair of sizes two, and a layer that
is not there none at all. So all rules, all hypotheses and all options are sums over sets, and a
problem is an array of unsigned numbers, [panel, field].
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any

from allminds.instruments.matrices.panel import (
    COLOURS,
    INVENTORIES,
    ORIENTATIONS,
    PERIODS,
    SHAPES,
    Attribute,
    Figure,
    Layer,
    Layout,
    Marks,
    Panel,
)

SHAPE, SIZE, COUNT, COLOUR, ANGLE, PLACE, LAYOUT, INVENTORY, PRESENT, MARK_COLOUR = range(10)
FIELDS = 10
LAYOUTS: tuple[Layout, ...] = ("whole", "slots", "grid")
RIMS = tuple(INVENTORIES)

FIELD_OF: dict[tuple[Layer, Attribute], int] = {
    ("figure", "shape"): SHAPE,
    ("figure", "size"): SIZE,
    ("figure", "count"): COUNT,
    ("figure", "colour"): COLOUR,
    ("figure", "orientation"): ANGLE,
    ("figure", "position"): PLACE,
    ("marks", "shape"): PRESENT,
    ("marks", "colour"): MARK_COLOUR,
}

Code = Sequence[int]  # a panel: a number for each field


def bits(code: int) -> tuple[int, ...]:
    """The numbers of the bits that are set, in ascending order."""
    return tuple(n for n in range(code.bit_length()) if code >> n & 1)


def union(numbers: Sequence[int]) -> int:
    """The code of a set of numbers."""
    code = 0
    for number in numbers:
        code |= 1 << number
    return code


def index(code: int) -> int:
    """The number of the only bit."""
    return code.bit_length() - 1


def step_of(shape: int) -> float:
    """The degrees between two orientations of a shape, by its number."""
    name = SHAPES[shape]
    return PERIODS.get(name, 0.0) / ORIENTATIONS.get(name, 1)


def turns_of(shape: int) -> int:
    """How many orientations the only shape of a code has; one if there are several shapes."""
    if shape == 0 or shape & (shape - 1):
        return 1
    return ORIENTATIONS.get(SHAPES[index(shape)], 1)


# ---------------------------------------------------------------- from codes to panels and back


def decoded(code: Code) -> Panel:
    """The panel of a code."""
    figure = marks = None
    if code[SHAPE]:
        shapes = bits(code[SHAPE])
        step = step_of(shapes[0])
        figure = Figure(
            shape=tuple(SHAPES[n] for n in shapes),
            size=bits(code[SIZE]),
            count=index(code[COUNT]) + 1,
            colour=tuple(COLOURS[n] for n in bits(code[COLOUR])),
            angle=tuple(step * n for n in bits(code[ANGLE])),
            place=bits(code[PLACE]),
            layout=LAYOUTS[index(code[LAYOUT])],
        )
    if code[INVENTORY]:
        marks = Marks(
            inventory=RIMS[index(code[INVENTORY])],
            present=bits(code[PRESENT]),
            colour=COLOURS[index(code[MARK_COLOUR])],
        )
    return Panel(figure, marks)


def encoded(panel: Panel) -> tuple[int, ...]:
    """The code of a panel."""
    code = [0] * FIELDS
    figure, marks = panel.figure, panel.marks
    if figure:
        shapes = [SHAPES.index(name) for name in figure.shape]
        step = step_of(min(shapes))
        code[SHAPE] = union(shapes)
        code[SIZE] = union(figure.size)
        code[COUNT] = 1 << (figure.count - 1)
        code[COLOUR] = union([COLOURS.index(name) for name in figure.colour])
        code[ANGLE] = union([round(angle / step) if step else 0 for angle in figure.angle])
        code[PLACE] = union(figure.place)
        code[LAYOUT] = 1 << LAYOUTS.index(figure.layout)
    if marks:
        code[INVENTORY] = 1 << RIMS.index(marks.inventory)
        code[PRESENT] = union(marks.present)
        code[MARK_COLOUR] = 1 << COLOURS.index(marks.colour)
    return tuple(code)


def canonical_hash(cells: Sequence[Code]) -> str:
    """Sixteen hex digits that are the same for the same nine cells."""
    numbers = [number for cell in cells for number in cell]
    return hashlib.sha256(struct.pack(f"<{len(numbers)}H", *numbers)).hexdigest()[:16]


def named(field: int, number: int, shape: int = 0) -> Any:
    """A value of a field in words: a name, a level, a count, degrees or a place."""
    if field == SHAPE:
        return SHAPES[number]
    if field in (COLOUR, MARK_COLOUR):
        return COLOURS[number]
    if field == COUNT:
        return number + 1
    if field == ANGLE:
        return step_of(shape) * number
    return number
