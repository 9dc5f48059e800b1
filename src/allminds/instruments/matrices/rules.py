"""Which rule an attribute can carry, and which rules go together in one matrix.

A carrier is a kind of rule on an attribute of a layer; a plan is one, two or three of them on
different attributes. The kind may repeat.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, combinations_with_replacement, permutations
from typing import NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices.codes import FIELD_OF
from allminds.instruments.matrices.panel import ATTRIBUTES, KINDS, Attribute, Kind, Layer, Layout

Slot = tuple[Layer, Attribute]

_FIGURE: tuple[Slot, ...] = tuple(("figure", attribute) for attribute in ATTRIBUTES)
_VALUES: tuple[Slot, ...] = (*_FIGURE, ("marks", "colour"))

# The table of what is meaningful. Marks are what addition does to shapes: sets of elements.
CARRIED: dict[Kind, tuple[Slot, ...]] = {
    "constant": _VALUES,
    "progression": _VALUES,
    "distribution-of-three": _VALUES,
    "addition-subtraction": (
        ("marks", "shape"),
        ("figure", "count"),
        ("figure", "orientation"),
        ("figure", "position"),
    ),
    "distribution-of-two": (
        ("figure", "shape"),
        ("figure", "size"),
        ("figure", "colour"),
        ("figure", "orientation"),
        ("figure", "position"),
        ("marks", "shape"),
    ),
}


class Carrier(NamedTuple):
    """A kind of rule on an attribute of a layer."""

    kind: Kind
    layer: Layer
    attribute: Attribute

    @property
    def slot(self) -> Slot:
        """What it governs."""
        return self.layer, self.attribute

    @property
    def field(self) -> int:
        """Its field in a code."""
        return FIELD_OF[self.slot]

    @property
    def many(self) -> bool:
        """Whether a cell shows several values of the attribute."""
        if self.kind == "distribution-of-two":
            return True
        return self.kind == "addition-subtraction" and self.attribute != "count"


Plan = tuple[Carrier, ...]  # in the order of their fields


def layout_of(plan: Plan) -> Layout:
    """Slots where a rule counts, the grid where a rule moves, else one glyph that fills it all."""
    governed = {carrier.slot for carrier in plan}
    if ("figure", "count") in governed:
        return "slots"
    return "grid" if ("figure", "position") in governed else "whole"


# ---------------------------------------------------------------- what goes together

_APART: tuple[tuple[Slot, Slot], ...] = (
    (("figure", "orientation"), ("figure", "shape")),  # another shape has another period
    (("figure", "position"), ("figure", "count")),  # copies have places of their own
)
# Attributes of which a cell may show several values at once: two shapes with two colours each,
# glyphs in two colours or crossing lines at several places.
_TOGETHER = (
    {"shape", "colour"},
    {"colour", "position"},
    {"orientation", "position"},
)


def goes_together(plan: Plan) -> bool:
    """Whether the rules of a plan can be seen apart in one figure and its marks."""
    governed = {carrier.slot for carrier in plan}
    if len(governed) < len(plan) or any(set(pair) <= governed for pair in _APART):
        return False
    if ("marks", "colour") in governed and ("marks", "shape") not in governed:
        return False
    many = {carrier.attribute for carrier in plan if carrier.many and carrier.layer == "figure"}
    if len(many) > 1 and many not in _TOGETHER:
        return False
    if "orientation" in many and ("figure", "size") in governed:  # lines differ little in length
        return False
    return layout_of(plan) == "whole" or not many & {"shape", "size"}  # too small in a slot


@cache
def plans(kinds: tuple[Kind, ...]) -> tuple[Plan, ...]:
    """The plans for a multiset of kinds."""
    found: dict[Plan, None] = {}
    slots = list(FIELD_OF)
    for chosen in combinations(slots, len(kinds)):
        for ordered in sorted(
            set(permutations(kinds)), key=lambda some: [KINDS.index(k) for k in some]
        ):
            plan = tuple(Carrier(kind, *slot) for kind, slot in zip(ordered, chosen, strict=True))
            carried = all(carrier.slot in CARRIED[carrier.kind] for carrier in plan)
            if carried and goes_together(plan):
                found[plan] = None
    return tuple(found)


def multisets(kinds: tuple[Kind, ...], count: int) -> tuple[tuple[Kind, ...], ...]:
    """So many kinds, which may repeat: 5, 15 and 35 of all five."""
    ordered = [kind for kind in KINDS if kind in kinds]
    return tuple(combinations_with_replacement(ordered, count))


def able(kinds: tuple[Kind, ...]) -> tuple[Attribute, ...]:
    """The attributes that can carry some of these kinds."""
    names = {attribute for kind in kinds for _, attribute in CARRIED[kind]}
    return tuple(attribute for attribute in ATTRIBUTES if attribute in names)


def fitting(attributes: tuple[Attribute, ...]) -> tuple[Kind, ...]:
    """The kinds that some of these attributes can carry."""
    return tuple(kind for kind in KINDS if set(able((kind,))) & set(attributes))


def check(kinds: tuple[Kind, ...], attributes: tuple[Attribute, ...]) -> None:
    """An error if some kind can be carried by none of the attributes, or the other way round."""
    for kind in kinds:
        if not set(able((kind,))) & set(attributes):
            unable = " or ".join(attributes)
            raise Error(f"matrices: {unable} cannot carry {kind}; {', '.join(able((kind,)))} can")
    for attribute in attributes:
        fit = fitting((attribute,))
        if not set(fit) & set(kinds):
            unable = " or ".join(kinds)
            raise Error(f"matrices: {attribute} cannot carry {unable}, but {', '.join(fit)}")
