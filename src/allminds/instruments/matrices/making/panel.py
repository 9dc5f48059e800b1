"""What a matrix is made of: panels, their attributes, and problems of nine of them.

A panel has at most two layers that never overlap. The *figure* is in the centre: `count` copies of
one glyph. The *marks* are on the rim: elements with fixed places, each present or absent.
Everything here is a plain value with a record of JSON values, and knows nothing of rules or ink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self

Layer = Literal["figure", "marks"]
Layout = Literal["whole", "slots", "grid", "similar"]
Attribute = Literal["shape", "size", "count", "colour", "orientation", "position"]
Kind = Literal[
    "constant", "progression", "distribution-of-three", "addition-subtraction",
    "distribution-of-two",
]  # fmt: skip

ATTRIBUTES: tuple[Attribute, ...] = (
    "shape", "size", "count", "colour", "orientation", "position"
)  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "constant", "progression", "distribution-of-three", "addition-subtraction",
    "distribution-of-two",
)  # fmt: skip
NAMES = "ABCDEFGH"  # of the options

POLYGONS = ("3", "4", "5", "6", "7", "8", "9")  # by their sides
SHAPES = (*POLYGONS, "circle", "ellipse", "line", "arc")
OPEN = ("line", "arc")  # colour is that of the stroke, and never white

PALETTE = {
    "black": "#000000",
    "white": "#ffffff",
    "blue": "#052070",
    "red": "#af1019",
    "green": "#0eaf6f",
    "yellow": "#ded312",
}  # readable in greyscale and for dichromats
COLOURS = tuple(PALETTE)

SIZES = 7  # levels 0..6
COUNTS = (1, 2, 3, 4)
PLACES = 9  # anchors of a 3 x 3 grid, row by row; 4 is the centre
CENTRE = 4

# The turn in degrees after which a shape looks the same; a circle always does.
PERIODS = {name: 360.0 / int(name) for name in POLYGONS} | {
    "ellipse": 180.0,
    "line": 180.0,
    "arc": 360.0,
}
# How many orientations of a shape are told apart, 0, period / m, …; others stand upright, at 0.
ORIENTATIONS = {"3": 4, "4": 4, "5": 3, "ellipse": 6, "line": 4, "arc": 8}

# Elements on the rim: four sides, four corners, six dots round about.
INVENTORIES = {"lines": 4, "corners": 4, "dots": 6}

# The radius of the largest size in a panel of 160 pixels: of one glyph that fills the centre, of
# one to four in slots, of those on the grid of places; and the same with marks on the rim.
SIDE = 160
ROOM: dict[Layout, float] = {"whole": 58.0, "slots": 30.0, "grid": 24.0, "similar": 30.0}
ROOM_WITHIN_MARKS: dict[Layout, float] = {
    "whole": 46.0, "slots": 24.0, "grid": 17.0, "similar": 24.0
}  # fmt: skip
SIDE_BY_SIDE = 0.5  # two shapes have half the radius each


def scale(level: int) -> float:
    """Return the radius of a size level as a share of the largest: 1.5^((k - 6) / 2)."""
    return float(1.5 ** ((level - SIZES + 1) / 2))


def orientations(shape: str) -> tuple[float, ...]:
    """List the angles in degrees at which a shape may stand."""
    steps = ORIENTATIONS.get(shape, 1)
    return tuple(PERIODS.get(shape, 0.0) * step / steps for step in range(steps))


# ---------------------------------------------------------------- panels


class Recorded:
    """A dataclass that can be converted to plain JSON values and restored from them."""

    def to_record(self) -> dict[str, Any]:
        """Convert it to plain JSON values; a layer that is absent is None."""
        named = [field.name for field in fields(self)]  # type: ignore[arg-type]  # a dataclass
        return {name: _plain(getattr(self, name)) for name in named}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Restore it from its record."""
        return cls(**{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in record.items()
        })  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, Recorded):
        return value.to_record()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class Figure(Recorded):
    """`count` copies of a glyph, alike or, in the layout "similar", slightly turned and scaled.

    An attribute with several values shows all of them, in every combination with the others: two
    shapes stand side by side, two sizes are concentric, two colours are halves, several
    orientations (of a line) cross each other, and the glyph is drawn at each of several places.
    Values are in ascending order. The layout is the same in all panels of a problem: "slots" or
    "similar" where a rule counts and "grid" where a rule moves, so that neither drags the size
    along.
    """

    shape: tuple[str, ...]
    size: tuple[int, ...]
    count: int
    colour: tuple[str, ...]
    angle: tuple[float, ...]  # degrees, clockwise, below the shape's period
    place: tuple[int, ...]
    layout: Layout = "whole"


@dataclass(frozen=True)
class Marks(Recorded):
    """Elements of an inventory, by their numbers from 0, in ascending order and one colour."""

    inventory: str
    present: tuple[int, ...]
    colour: str


@dataclass(frozen=True)
class Panel(Recorded):
    """One cell of a matrix, or an option."""

    figure: Figure | None
    marks: Marks | None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Restore a panel from its record."""
        figure, marks = record["figure"], record["marks"]
        return cls(
            Figure.from_record(figure) if figure else None,
            Marks.from_record(marks) if marks else None,
        )


# ---------------------------------------------------------------- problems


@dataclass(frozen=True)
class Rule(Recorded):
    """What one attribute of a layer does along the rows."""

    kind: Kind
    layer: Layer
    attribute: Attribute
    parameters: Mapping[str, Any]  # such as the step of a progression
    bound: bool  # of two distributions of three that turn alike, the second is bound to the first


@dataclass(frozen=True)
class Problem(Recorded):
    """A matrix of nine panels, the ninth to be found among the options."""

    seed: int
    index: int
    cells: tuple[Panel, ...]  # row by row; the ninth is the answer
    options: tuple[Panel, ...]
    answer: int  # which option
    rules: tuple[Rule, ...]
    measures: Mapping[str, float]

    @property
    def C(self) -> int:
        """The number of rules (the paper's symbol)."""
        return len(self.rules)

    @property
    def letter(self) -> str:
        """The name of the right option."""
        return NAMES[self.answer]

    @cached_property
    def hash(self) -> str:
        """The canonical hash, sixteen hex digits: the same for the same nine cells.

        Options do not enter, so that a matrix with other wrong options is no new item.
        """
        from allminds.instruments.matrices.making.rules import canonical_hash, encoded

        return canonical_hash([encoded(cell) for cell in self.cells])

    def to_record(self) -> dict[str, Any]:
        """Convert the problem to plain JSON values, with its hash, C and letter."""
        own = super().to_record() | {"hash": self.hash, "C": self.C, "letter": self.letter}
        return {name: own[name] for name in _PROBLEM}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Restore a problem from its record."""
        made = {field.name: record[field.name] for field in fields(cls)}
        for name, kind in (("cells", Panel), ("options", Panel), ("rules", Rule)):
            made[name] = tuple(kind.from_record(one) for one in record[name])
        return cls(**made)


_PROBLEM = ("seed", "index", "hash", "C", "cells", "options", "answer", "letter", "rules",
            "measures")  # fmt: skip
