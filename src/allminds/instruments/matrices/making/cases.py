"""Which values may go together in one matrix so that they can be seen, and all cases of a plan.

The one place that knows how small a glyph may be for its values to be told apart, in pixels of a
panel of 160 (every two values in one attribute differ in 120 pixels or more). A larger panel is
this one enlarged. A case is a plan of rules with a bank of arrays for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices.making import arrays
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.arrays import Bank
from allminds.instruments.matrices.making.panel import (
    CENTRE,
    COLOURS,
    INVENTORIES,
    OPEN,
    ORIENTATIONS,
    PLACES,
    POLYGONS,
    ROOM,
    ROOM_WITHIN_MARKS,
    SHAPES,
    SIDE_BY_SIDE,
    SIZES,
    Attribute,
    Kind,
    scale,
)
from allminds.instruments.matrices.making.rules import Carrier, Plan, layout_of, union
from allminds.instruments.matrices.making.solver import scale_of

# The least radius at which one value is told from another.
LEAST = {
    "shape": 17.0,  # up to six sides, circles and ellipses
    "many sides": 30.0,  # seven to nine sides, and open shapes among closed ones
    "size": 11.0,  # the smaller of two neighbouring levels
    "rings": 18.0,  # two sizes at once
    "colour": 13.0,
    "halves": 17.5,  # two colours at once
    "coloured strokes": 15.0,
    "crossing lines": 15.0,
    "count": 8.0,
    "position": 8.0,
}
LEAST_TURNED = {"3": 12.0, "4": 15.0, "5": 18.0, "ellipse": 16.0, "line": 20.0, "arc": 24.0}
LARGE = (2, 3, 4)  # sizes of figures whose size no rule governs

CLOSED = tuple(name for name in SHAPES if name not in OPEN)
FEW_SIDES = (*POLYGONS[:4], "circle", "ellipse")
QUINCUNX, PLUS = (0, 2, 4, 6, 8), (1, 3, 4, 5, 7)  # places where sets of glyphs are


def shapes_code(names: tuple[str, ...]) -> int:
    """Encode some shapes as one code."""
    return union([SHAPES.index(name) for name in names])


ALL_COLOURS = (1 << len(COLOURS)) - 1
WHITE = 1 << COLOURS.index("white")
STROKE_COLOURS = ALL_COLOURS & ~WHITE  # marks are strokes too
DARK = union([COLOURS.index(name) for name in ("black", "blue")])


def has(plan: Plan, attribute: str, many: bool | None = None) -> bool:
    """Return whether a plan governs an attribute of the figure, with one value per cell or many."""
    return any(
        carrier.layer == "figure"
        and carrier.attribute == attribute
        and many in (None, carrier.many)
        for carrier in plan
    )


def within_marks(plan: Plan) -> bool:
    """Return whether a plan has marks on the rim."""
    return any(carrier.layer == "marks" for carrier in plan)


def room(plan: Plan) -> float:
    """Return the radius of the largest glyph."""
    largest = (ROOM_WITHIN_MARKS if within_marks(plan) else ROOM)[layout_of(plan)]
    return largest * SIDE_BY_SIDE if has(plan, "shape", many=True) else largest


def least_radius(plan: Plan, shape: str | None) -> float:
    """Return how large a figure must be for all its rules; `shape` is the one that turns."""
    needs = [LEAST["count"]]
    if has(plan, "shape"):
        needs.append(LEAST["many sides" if _many_sides(plan) else "shape"])
    if has(plan, "size"):
        needs.append(LEAST["rings" if has(plan, "size", many=True) else "size"])
    if has(plan, "colour"):
        open_shape = "coloured strokes" if shape in OPEN else "colour"
        needs.append(LEAST["halves" if has(plan, "colour", many=True) else open_shape])
    if has(plan, "orientation", many=True):
        needs.append(LEAST["crossing lines"])
    elif shape is not None:
        needs.append(LEAST_TURNED[shape])
    return max(needs)


def _many_sides(plan: Plan) -> bool:
    """Return whether there is room for seven to nine sides."""
    alone = layout_of(plan) == "whole" and not has(plan, "size")
    return alone and not has(plan, "shape", many=True)


# ---------------------------------------------------------------- values, as codes


def turning_shapes(plan: Plan) -> tuple[str, ...]:
    """List the shapes on which a rule of orientation can be seen."""
    if has(plan, "orientation", many=True):
        return ("line",)
    if has(plan, "colour", many=True) or has(plan, "size"):  # strokes have no halves and no area
        return tuple(name for name in ORIENTATIONS if name not in OPEN)
    return tuple(ORIENTATIONS)


def shapes(plan: Plan) -> int:
    """Return the shapes of a figure that does not turn: of its rule, or for the whole matrix."""
    if not has(plan, "shape"):
        return shapes_code(CLOSED)
    if not _many_sides(plan):
        return shapes_code(FEW_SIDES)
    return shapes_code(CLOSED if has(plan, "colour") else SHAPES)


def sizes(plan: Plan, shape: str | None) -> int:
    """Return the levels of size that are large enough: of its rule, or for the whole matrix."""
    least, largest = least_radius(plan, shape), room(plan)
    levels = range(SIZES) if has(plan, "size") else LARGE
    return union([level for level in levels if largest * scale(level) >= least])


def colours(plan: Plan, shape: str | None) -> int:
    """Return the colours to use: strokes are never white, and rings are not drawn on dark ones."""
    strokes = shape in OPEN or (has(plan, "shape") and shapes(plan) & shapes_code(OPEN))
    rings = has(plan, "size", many=True)
    return ALL_COLOURS & ~(WHITE if strokes else 0) & ~(DARK if rings else 0)


def places(carrier: Carrier) -> tuple[int, ...]:
    """List the sets of places of which a rule of position has one, as codes."""
    if carrier.kind == "addition-subtraction":
        return union(QUINCUNX), union(PLUS)
    return ((1 << PLACES) - 1,)


def elements(inventory: str) -> int:
    """Return all elements of an inventory."""
    return (1 << INVENTORIES[inventory]) - 1


# ---------------------------------------------------------------- cases


WAYS: dict[Kind, tuple[str, ...]] = {
    "constant": ("constant",),
    "progression": ("progression",),
    "distribution-of-three": ("three",),
    "addition-subtraction": ("union", "remainder"),
    "distribution-of-two": ("same pairs", "other pairs"),
}


class Case(NamedTuple):
    """A plan, the values that the ungoverned fields may have, and a bank for each rule."""

    plan: Plan
    base: tuple[int, ...]  # a code for each field, of which one value is drawn; 0 for none
    ways: tuple[str, ...]
    banks: tuple[Bank, ...]

    @property
    def size(self) -> int:
        """The number of different matrices, the few ambiguous ones of sets included."""
        result = 1
        for code in self.base:
            result *= max(1, code.bit_count())
        for bank in self.banks:
            result *= bank.size
        return result


@dataclass(frozen=True, eq=False)
class Cases:
    """All cases for one number of rules: [group of kinds][plan][case]."""

    C: int
    groups: tuple[tuple[tuple[Case, ...], ...], ...]


def of_plan(plan: Plan) -> Iterator[Case]:
    """Yield the cases of a plan in which every rule has answers enough for the options."""
    turning = turning_shapes(plan) if has(plan, "orientation") else (None,)
    rims = tuple(INVENTORIES) if within_marks(plan) else (None,)
    for shape, rim in product(turning, rims):
        if not sizes(plan, shape):
            continue
        base = _base(plan, shape, rim)
        for variant in product(*(_variants(plan, carrier, shape, rim) for carrier in plan)):
            banks = tuple(
                _bank(*way, carrier, shape) for way, carrier in zip(variant, plan, strict=True)
            )
            if all(bank.quadruples if len(plan) == 1 else bank.pairs for bank in banks):
                yield Case(plan, base, tuple(way for way, _ in variant), banks)


def _variants(
    plan: Plan, carrier: Carrier, shape: str | None, rim: str | None
) -> list[tuple[str, int]]:
    """List the ways to make arrays for a rule, each with its domain."""
    ways = WAYS[carrier.kind]
    if carrier.kind == "addition-subtraction" and carrier.attribute == "count":
        ways = ("sums",)
    return list(product(ways, _domains(plan, carrier, shape, rim)))


def _domains(plan: Plan, carrier: Carrier, shape: str | None, rim: str | None) -> tuple[int, ...]:
    if carrier.layer == "marks":
        return (elements(rim or "") if carrier.attribute == "shape" else STROKE_COLOURS,)
    if carrier.attribute == "position":
        return places(carrier)
    return (
        {
            "shape": shapes(plan),
            "size": sizes(plan, shape),
            "count": 0b1111,
            "colour": colours(plan, shape),
            "orientation": (1 << ORIENTATIONS.get(shape or "", 1)) - 1,
        }[carrier.attribute],
    )


def _bank(way: str, domain: int, carrier: Carrier, shape: str | None) -> Bank:
    code = 0 if shape is None else 1 << SHAPES.index(shape)
    return arrays.bank(way, domain, scale_of(carrier.field, code))


def _base(plan: Plan, shape: str | None, rim: str | None) -> tuple[int, ...]:
    """List what the fields that no rule governs may be."""
    base = [0] * codes.FIELDS
    if any(carrier.layer == "figure" for carrier in plan):
        base[codes.SHAPE] = shapes_code((shape,)) if shape else shapes(plan)
        base[codes.SIZE] = sizes(plan, shape)
        base[codes.COUNT] = base[codes.ANGLE] = 1
        base[codes.COLOUR] = colours(plan, shape)
        base[codes.PLACE] = 1 << CENTRE
        base[codes.LAYOUT] = 1 << codes.LAYOUTS.index(layout_of(plan))
    if rim is not None:
        base[codes.INVENTORY] = 1 << codes.RIMS.index(rim)
        base[codes.MARK_COLOUR] = STROKE_COLOURS
    for carrier in plan:
        base[carrier.field] = 0
    return tuple(base)


@cache
def cases(count: int, kinds: tuple[Kind, ...], attributes: tuple[Attribute, ...]) -> Cases:
    """Collect all cases with so many rules of these kinds on these attributes."""
    groups = []
    for multiset in codes.multisets(kinds, count):
        wanted = [
            plan
            for plan in codes.plans(multiset)
            if all(carrier.attribute in attributes for carrier in plan)
        ]
        found = tuple(made for plan in wanted if (made := tuple(of_plan(plan))))
        if found:
            groups.append(found)
    if not groups:
        raise Error(
            f"matrices: no {count} rules of {', '.join(kinds)} on {', '.join(attributes)} go "
            "together in one matrix; ask for fewer rules, or allow more kinds or attributes"
        )
    return Cases(count, tuple(groups))
