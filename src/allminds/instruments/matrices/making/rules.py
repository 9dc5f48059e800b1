"""Panels as codes, and the rules: what an attribute can carry, which go together, the settings.

Each field of a panel is a set of values, with a bit for each of them. A cell with one size has
one bit in that field, a cell with a pair of sizes two, and a layer that is absent none at all.
So all rules, all hypotheses and all options are operations on sets, and a problem is an array of
unsigned numbers, [panel, field].
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from allminds.core.errors import Error, nearest
from allminds.core.settings import Settings, checked
from allminds.instruments.matrices.making.panel import (
    ATTRIBUTES,
    COLOURS,
    INVENTORIES,
    KINDS,
    ORIENTATIONS,
    PERIODS,
    SHAPES,
    Attribute,
    Figure,
    Kind,
    Layer,
    Layout,
    Marks,
    Panel,
)

SHAPE, SIZE, COUNT, COLOUR, ANGLE, PLACE, LAYOUT, INVENTORY, PRESENT, MARK_COLOUR = range(10)
FIELDS = 10
LAYOUTS: tuple[Layout, ...] = ("whole", "slots", "grid", "similar")
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
    """List the numbers of the bits that are set, in ascending order."""
    return tuple(n for n in range(code.bit_length()) if code >> n & 1)


def union(numbers: Sequence[int]) -> int:
    """Encode a set of numbers as a code."""
    code = 0
    for number in numbers:
        code |= 1 << number
    return code


def index(code: int) -> int:
    """Return the number of the only bit."""
    return code.bit_length() - 1


def step_of(shape: int) -> float:
    """Return the degrees between two orientations of a shape, given by its number."""
    name = SHAPES[shape]
    return PERIODS.get(name, 0.0) / ORIENTATIONS.get(name, 1)


def turns_of(shape: int) -> int:
    """Count the orientations of the only shape of a code; one if there are several shapes."""
    if shape == 0 or shape & (shape - 1):
        return 1
    return ORIENTATIONS.get(SHAPES[index(shape)], 1)


# ---------------------------------------------------------------- from codes to panels and back


def decoded(code: Code) -> Panel:
    """Convert a code to its panel."""
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
    """Convert a panel to its code."""
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
    """Hash nine cells to sixteen hex digits, the same for the same cells."""
    numbers = [number for cell in cells for number in cell]
    return hashlib.sha256(struct.pack(f"<{len(numbers)}H", *numbers)).hexdigest()[:16]


def named(field: int, number: int, shape: int = 0) -> Any:
    """Name a value of a field: a name, a level, a count, degrees or a place."""
    if field == SHAPE:
        return SHAPES[number]
    if field in (COLOUR, MARK_COLOUR):
        return COLOURS[number]
    if field == COUNT:
        return number + 1
    if field == ANGLE:
        return step_of(shape) * number
    return number


# ---------------------------------------------------------------- rules


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
        """The layer and attribute that the rule governs."""
        return self.layer, self.attribute

    @property
    def field(self) -> int:
        """The number of its field in a code."""
        return FIELD_OF[self.slot]

    @property
    def many(self) -> bool:
        """True if a cell shows several values of the attribute."""
        if self.kind == "distribution-of-two":
            return True
        return self.kind == "addition-subtraction" and self.attribute != "count"


Plan = tuple[Carrier, ...]  # in the order of their fields


def layout_of(plan: Plan) -> Layout:
    """Choose slots where a rule counts, the grid where a rule moves, else one large glyph."""
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
    """Return whether the rules of a plan can be seen apart in one figure and its marks."""
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
    """List the plans for a multiset of kinds."""
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
    """List all multisets of so many kinds: 5, 15 and 35 of all five."""
    ordered = [kind for kind in KINDS if kind in kinds]
    return tuple(combinations_with_replacement(ordered, count))


def able(kinds: tuple[Kind, ...]) -> tuple[Attribute, ...]:
    """List the attributes that can carry some of these kinds."""
    names = {attribute for kind in kinds for _, attribute in CARRIED[kind]}
    return tuple(attribute for attribute in ATTRIBUTES if attribute in names)


def fitting(attributes: tuple[Attribute, ...]) -> tuple[Kind, ...]:
    """List the kinds that some of these attributes can carry."""
    return tuple(kind for kind in KINDS if set(able((kind,))) & set(attributes))


def check(kinds: tuple[Kind, ...], attributes: tuple[Attribute, ...]) -> None:
    """Require that each kind has an attribute to carry it, and each attribute a kind."""
    for kind in kinds:
        if not set(able((kind,))) & set(attributes):
            unable = " or ".join(attributes)
            raise Error(f"matrices: {unable} cannot carry {kind}; {', '.join(able((kind,)))} can")
    for attribute in attributes:
        fit = fitting((attribute,))
        if not set(fit) & set(kinds):
            unable = " or ".join(kinds)
            raise Error(f"matrices: {attribute} cannot carry {unable}, but {', '.join(fit)}")


# ---------------------------------------------------------------- the settings


class MatricesSettings(Settings):
    """Settings of the instrument matrices."""

    rules: Literal[1, 2, 3, "any"] = Field(
        "any", description="C, the rules of a matrix: 1, 2, 3, or any of these in turn"
    )
    candidates: Literal[4, 8] = Field(4, description="options: 4, or 8 with three rules")
    kinds: tuple[Kind, ...] = Field(KINDS, description="kinds of rules, with commas between")
    attributes: tuple[Attribute, ...] = Field(
        ATTRIBUTES, description="attributes that rules may govern, with commas between"
    )

    @model_validator(mode="before")
    @classmethod
    def _what_fits(cls, values: Any) -> Any:
        """Restrict kinds to the named attributes, or attributes to the named kinds."""
        if not isinstance(values, dict) or ("kinds" in values) == ("attributes" in values):
            return values
        if "kinds" in values:
            kinds = _chosen(values["kinds"], KINDS)
            return values | {"attributes": able(kinds)}
        attributes = _chosen(values["attributes"], ATTRIBUTES)
        return values | {"kinds": fitting(attributes)}

    @field_validator("rules", "candidates", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return int(value) if isinstance(value, str) and value.strip().isdigit() else value

    @field_validator("kinds", "attributes", mode="before")
    @classmethod
    def _known(cls, value: Any, info: ValidationInfo) -> Any:
        return _chosen(value, KINDS if info.field_name == "kinds" else ATTRIBUTES)

    @model_validator(mode="after")
    def _can_be_made(self) -> MatricesSettings:
        if self.candidates == 8 and self.rules != 3:
            raise ValueError("candidates=8 needs three rules; set rules=3")
        check(self.kinds, self.attributes)
        return self

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of rules that matrices have in turn."""
        return (1, 2, 3) if self.rules == "any" else (self.rules,)


def made(**values: Any) -> MatricesSettings:
    """Build settings of matrices from keyword values and check them."""
    return checked(MatricesSettings, values, "matrices")


def _chosen(value: Any, known: tuple[str, ...]) -> Any:
    """Parse names from a list or from words with commas: in canonical order, each once."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"{value!r} will not do; choose from {', '.join(known)}")
    names = [str(name).strip() for name in given]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no '{name}'; {nearest(name, known)}")
    if not names:
        raise ValueError(f"choose from {', '.join(known)}")
    return tuple(name for name in known if name in names)


DEFAULT = made()
