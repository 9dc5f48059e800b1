"""Which values may go together in one matrix so that they can be seen, and all cases of a plan.

The one place that knows how small a glyph may be for its values to be told apart, in pixels of a
panel of 160 (every two values in one attribute differ in 120 pixels or more). A larger panel is
this one enlarged. A case is a plan of rules with a bank of arrays for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    Layout,
    scale,
)
from allminds.instruments.matrices.making.rules import Carrier, Plan, layout_of, union
from allminds.instruments.matrices.making.solver import scale_of

# The least radius at which one value is told from another.
LEAST = {
    "shape": 17.0,  # up to six sides, circles and ellipses
    "many sides": 30.0,  # seven to nine sides, and open shapes among closed ones
    "size": 11.0,  # the smaller of two neighbouring levels
    "rings": 17.0,  # two sizes at once
    "colour": 13.0,
    "halves": 17.5,  # two colours at once
    "strokes": 11.0,
    "coloured strokes": 15.0,
    "crossing lines": 15.0,
    "count": 8.0,
    "position": 8.0,
}
LEAST_TURNED = {"3": 12.0, "4": 15.0, "5": 18.0, "ellipse": 16.0, "line": 20.0, "arc": 24.0}
# The largest radius at which lines one above the other do not look like one: alone, within marks.
LINES: dict[Layout, tuple[float, float]] = {"slots": (31.0, 21.0), "grid": (21.0, 14.5)}
LARGE = range(SIZES - 3, SIZES)  # sizes of figures whose size no rule governs
RINGS = range(0, SIZES, 2)  # sizes of which two are shown at once: one 1.5 times the other or more

CLOSED = tuple(name for name in SHAPES if name not in OPEN)
SLENDER = ("ellipse", *OPEN)
FEW_SIDES = (*POLYGONS[:4], "circle", "ellipse")
QUINCUNX, PLUS = (0, 2, 4, 6, 8), (1, 3, 4, 5, 7)  # places where sets of glyphs are


def shapes_code(names: Sequence[str]) -> int:
    """Encode some shapes as one code."""
    return union([SHAPES.index(name) for name in names])


ALL_COLOURS = (1 << len(COLOURS)) - 1
WHITE = 1 << COLOURS.index("white")
STROKE_COLOURS = ALL_COLOURS & ~WHITE  # marks are strokes too
DARK = union([COLOURS.index(name) for name in ("black", "blue")])


@cache
def _governed(plan: Plan) -> dict[str, bool]:
    """Return the attributes of the figure that a plan governs, and if cells show several values."""
    return {one.attribute: one.many for one in plan if one.layer == "figure"}


def has(plan: Plan, attribute: str, many: bool | None = None) -> bool:
    """Return whether a plan governs an attribute of the figure, with one value per cell or many."""
    found = _governed(plan).get(attribute)
    return found is not None and many in (None, found)


def within_marks(plan: Plan) -> bool:
    """Return whether a plan has marks on the rim."""
    return any(carrier.layer == "marks" for carrier in plan)


def room(plan: Plan) -> float:
    """Return the radius of the largest glyph."""
    largest = (ROOM_WITHIN_MARKS if within_marks(plan) else ROOM)[layout_of(plan)]
    return largest * SIDE_BY_SIDE if has(plan, "shape", many=True) else largest


def least_radius(plan: Plan, drawn: Sequence[str]) -> float:
    """Return how large a figure must be for all its rules, if it is one of the shapes `drawn`."""
    strokes = any(name in OPEN for name in drawn)
    needs = [LEAST["strokes" if strokes else "count"]]
    if has(plan, "shape"):
        needs.append(LEAST["many sides" if _many_sides(plan) else "shape"])
    if has(plan, "size"):
        needs.append(LEAST["rings" if has(plan, "size", many=True) else "size"])
    if has(plan, "colour"):
        single = "coloured strokes" if strokes else "colour"
        needs.append(LEAST["halves" if has(plan, "colour", many=True) else single])
    if has(plan, "orientation", many=True):
        needs.append(LEAST["crossing lines"])
    elif has(plan, "orientation"):
        needs.append(max(LEAST_TURNED[name] for name in drawn))
    return max(needs)


def most_radius(plan: Plan, drawn: Sequence[str]) -> float:
    """Return how large a figure may be, if it is one of the shapes `drawn`."""
    several = has(plan, "count") or has(plan, "position", many=True)
    if several and "line" in drawn:
        return LINES[layout_of(plan)][within_marks(plan)]
    return room(plan)


def _many_sides(plan: Plan) -> bool:
    """Return whether there is room for seven to nine sides."""
    return not has(plan, "size") and room(plan) >= LEAST["many sides"]


# ---------------------------------------------------------------- values, as codes


def families(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """List the shapes of which a matrix has one, in groups that are equally likely; () for a rule.

    A shape on which a rule of orientation can be seen is a group by itself. Ellipses, lines and
    arcs are half of all others, where strokes will do: they have no halves and hardly an area.
    """
    if has(plan, "shape"):
        return ((),)
    if has(plan, "orientation", many=True):
        return (("line",),)
    no_strokes = has(plan, "colour", many=True) or has(plan, "size")
    if has(plan, "orientation"):
        return tuple((name,) for name in ORIENTATIONS if not (no_strokes and name in OPEN))
    if no_strokes:
        return (CLOSED,)
    return tuple(name for name in CLOSED if name not in SLENDER), SLENDER


def shapes(plan: Plan) -> int:
    """Return the shapes that a rule may show."""
    if not _many_sides(plan):
        return shapes_code(FEW_SIDES)
    return shapes_code(CLOSED if has(plan, "colour") else SHAPES)


def sizes(plan: Plan, drawn: Sequence[str]) -> int:
    """Return the levels of size that are large enough: of its rule, or for the whole matrix."""
    least, most, largest = least_radius(plan, drawn), most_radius(plan, drawn), room(plan)
    levels = LARGE if not has(plan, "size") else range(SIZES)
    levels = RINGS if has(plan, "size", many=True) else levels
    return union([level for level in levels if least <= largest * scale(level) <= most])


def colours(plan: Plan, drawn: Sequence[str]) -> int:
    """Return the colours to use: strokes are never white, and rings are not drawn on dark ones."""
    shown = shapes(plan) if has(plan, "shape") else shapes_code(drawn)
    rings = has(plan, "size", many=True)
    return ALL_COLOURS & ~(WHITE if shown & shapes_code(OPEN) else 0) & ~(DARK if rings else 0)


def layouts(plan: Plan) -> int:
    """Return the layouts to use: copies may be only similar if no rule turns or scales them."""
    found = 1 << codes.LAYOUTS.index(layout_of(plan))
    if has(plan, "count") and not has(plan, "size") and not has(plan, "orientation"):
        found |= 1 << codes.LAYOUTS.index("similar")
    return found


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
    rims = tuple(INVENTORIES) if within_marks(plan) else (None,)
    for drawn, rim in product(families(plan), rims):
        if not sizes(plan, drawn):
            continue
        base = _base(plan, drawn, rim)
        for variant in product(*(_variants(plan, carrier, drawn, rim) for carrier in plan)):
            banks = tuple(
                _bank(*way, carrier, drawn) for way, carrier in zip(variant, plan, strict=True)
            )
            if all(bank.quadruples if len(plan) == 1 else bank.pairs for bank in banks):
                yield Case(plan, base, tuple(way for way, _ in variant), banks)


def _variants(
    plan: Plan, carrier: Carrier, drawn: Sequence[str], rim: str | None
) -> list[tuple[str, int]]:
    """List the ways to make arrays for a rule, each with its domain."""
    ways = WAYS[carrier.kind]
    if carrier.kind == "addition-subtraction" and carrier.attribute == "count":
        ways = ("sums",)
    return list(product(ways, _domains(plan, carrier, drawn, rim)))


def _domains(
    plan: Plan, carrier: Carrier, drawn: Sequence[str], rim: str | None
) -> tuple[int, ...]:
    if carrier.layer == "marks":
        return (elements(rim or "") if carrier.attribute == "shape" else STROKE_COLOURS,)
    if carrier.attribute == "position":
        return places(carrier)
    if carrier.attribute == "orientation":
        return ((1 << ORIENTATIONS[drawn[0]]) - 1,)
    if carrier.attribute == "shape":
        return (shapes(plan),)
    if carrier.attribute == "count":
        return (0b1111,)
    return ((sizes if carrier.attribute == "size" else colours)(plan, drawn),)


def _bank(way: str, domain: int, carrier: Carrier, drawn: Sequence[str]) -> Bank:
    code = shapes_code(drawn) if carrier.attribute == "orientation" else 0
    return arrays.bank(way, domain, scale_of(carrier.field, code))


def _base(plan: Plan, drawn: Sequence[str], rim: str | None) -> tuple[int, ...]:
    """List what the fields that no rule governs may be."""
    base = [0] * codes.FIELDS
    if any(carrier.layer == "figure" for carrier in plan):
        base[codes.SHAPE] = shapes_code(drawn)
        base[codes.SIZE] = sizes(plan, drawn)
        base[codes.COUNT] = base[codes.ANGLE] = 1
        base[codes.COLOUR] = colours(plan, drawn)
        base[codes.PLACE] = 1 << CENTRE
        base[codes.LAYOUT] = layouts(plan)
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
