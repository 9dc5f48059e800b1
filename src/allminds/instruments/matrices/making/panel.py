"""What a matrix is made of: panels, their attributes, and problems of nine of them.

A panel has at most two layers that never overlap. The *figure* is in the centre: `count` copies of
one glyph. The *marks* are on the rim: elements with fixed places, each present or absent.
Everything here is a plain value with a record of JSON values, and knows nothing of rules or ink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Layer = Literal["figure", "marks"]
Layout = Literal["whole", "slots", "grid"]
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

SIZES = 5  # levels 0..4
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
ROOM: dict[Layout, float] = {"whole": 58.0, "slots": 30.0, "grid": 24.0}
ROOM_WITHIN_MARKS: dict[Layout, float] = {"whole": 46.0, "slots": 24.0, "grid": 17.0}
SIDE_BY_SIDE = 0.5  # two shapes have half the radius each


def scale(level: int) -> float:
    """Return the radius of a size level as a share of the largest: 1.5^((k - 4) / 2)."""
    return float(1.5 ** ((level - 4) / 2))


def orientations(shape: str) -> tuple[float, ...]:
    """List the angles in degrees at which a shape may stand."""
    steps = ORIENTATIONS.get(shape, 1)
    return tuple(PERIODS.get(shape, 0.0) * step / steps for step in range(steps))


# ---------------------------------------------------------------- panels


@dataclass(frozen=True)
class Figure:
    """`count` copies of a glyph, alike.

    An attribute with several values shows all of them, in every combination with the others: two
    shapes stand side by side, two sizes are concentric, two colours are halves, several
    orientations (of a line) cross each other, and the glyph is drawn at each of several places.
    Values are in ascending order. The layout is the same in all panels of a problem: "slots" where
    a rule counts and "grid" where a rule moves, so that neither drags the size along.
    """

    shape: tuple[str, ...]
    size: tuple[int, ...]
    count: int
    colour: tuple[str, ...]
    angle: tuple[float, ...]  # degrees, clockwise, below the shape's period
    place: tuple[int, ...]
    layout: Layout = "whole"

    def to_record(self) -> dict[str, Any]:
        """Convert the figure to plain JSON values."""
        return {
            "shape": list(self.shape),
            "size": list(self.size),
            "count": self.count,
            "colour": list(self.colour),
            "angle": list(self.angle),
            "place": list(self.place),
            "layout": self.layout,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Figure:
        """Restore a figure from its record."""
        return cls(
            shape=tuple(record["shape"]),
            size=tuple(record["size"]),
            count=record["count"],
            colour=tuple(record["colour"]),
            angle=tuple(float(angle) for angle in record["angle"]),
            place=tuple(record["place"]),
            layout=record["layout"],
        )


@dataclass(frozen=True)
class Marks:
    """Elements of an inventory, by their numbers from 0, in ascending order and one colour."""

    inventory: str
    present: tuple[int, ...]
    colour: str

    def to_record(self) -> dict[str, Any]:
        """Convert the marks to plain JSON values."""
        return {
            "inventory": self.inventory,
            "present": list(self.present),
            "colour": self.colour,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Marks:
        """Restore marks from their record."""
        return cls(record["inventory"], tuple(record["present"]), record["colour"])


@dataclass(frozen=True)
class Panel:
    """One cell of a matrix, or an option."""

    figure: Figure | None
    marks: Marks | None

    def to_record(self) -> dict[str, Any]:
        """Convert the panel to plain JSON values; a layer that is absent is None."""
        return {
            "figure": self.figure.to_record() if self.figure else None,
            "marks": self.marks.to_record() if self.marks else None,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Panel:
        """Restore a panel from its record."""
        figure, marks = record["figure"], record["marks"]
        return cls(
            Figure.from_record(figure) if figure else None,
            Marks.from_record(marks) if marks else None,
        )


# ---------------------------------------------------------------- problems


@dataclass(frozen=True)
class Rule:
    """What one attribute of a layer does along the rows."""

    kind: Kind
    layer: Layer
    attribute: Attribute
    parameters: Mapping[str, Any]  # such as the step of a progression
    bound: bool  # of two distributions of three that turn alike, the second is bound to the first

    def to_record(self) -> dict[str, Any]:
        """Convert the rule to plain JSON values."""
        return {
            "kind": self.kind,
            "layer": self.layer,
            "attribute": self.attribute,
            "parameters": dict(self.parameters),
            "bound": self.bound,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Rule:
        """Restore a rule from its record."""
        return cls(**record)


@dataclass(frozen=True)
class Problem:
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
        """Convert the problem to plain JSON values."""
        return {
            "seed": self.seed,
            "index": self.index,
            "hash": self.hash,
            "C": self.C,
            "cells": [cell.to_record() for cell in self.cells],
            "options": [option.to_record() for option in self.options],
            "answer": self.answer,
            "letter": self.letter,
            "rules": [rule.to_record() for rule in self.rules],
            "measures": dict(self.measures),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Problem:
        """Restore a problem from its record."""
        return cls(
            seed=record["seed"],
            index=record["index"],
            cells=tuple(Panel.from_record(cell) for cell in record["cells"]),
            options=tuple(Panel.from_record(option) for option in record["options"]),
            answer=record["answer"],
            rules=tuple(Rule.from_record(rule) for rule in record["rules"]),
            measures=dict(record["measures"]),
        )
