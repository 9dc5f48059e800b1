"""What an ideal observer believes of one field: it knows the vocabulary, but not the rule.

An attribute that varies follows with equal probability one of the kinds of rules it can carry, and
every array of that kind is as likely as another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from allminds.instruments.matrices import arrays, codes, limits
from allminds.instruments.matrices.codes import Code
from allminds.instruments.matrices.hypotheses import Scale, scale_of
from allminds.instruments.matrices.panel import COLOURS, COUNTS, PLACES, SHAPES, SIZES, Kind

Row = tuple[int, ...]
Weights = Mapping[int, float]
Variants = Mapping[Kind, Sequence[tuple[str, int]]]  # the ways of a kind, each with its domain


def entropy(weights: Iterable[float]) -> float:
    """In bits, of weights that need not sum to one."""
    some = [weight for weight in weights if weight > 0]
    total = sum(some)
    return -sum(weight / total * math.log2(weight / total) for weight in some)


@dataclass(frozen=True, eq=False)
class Belief:
    """The probability of each row of three, for each kind of rule."""

    rows: Mapping[Kind, Mapping[Row, float]]

    @cached_property
    def answers(self) -> Mapping[tuple[int, int], Weights]:
        """How likely each third value is after the first two."""
        found: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for rows in self.rows.values():
            for (a, b, c), weight in rows.items():
                found[a, b][c] += weight
        return dict(found)

    @cached_property
    def left(self) -> Mapping[tuple[int, int], float]:
        """H(answer | the two cells before it): the bits that the other rows must supply."""
        return {start: entropy(weights.values()) for start, weights in self.answers.items()}

    @cached_property
    def doubt(self) -> Mapping[Row, float]:
        """H(kind of rule | one row)."""
        found: dict[Row, list[float]] = defaultdict(list)
        for rows in self.rows.values():
            for row, weight in rows.items():
                found[row].append(weight)
        return {row: entropy(weights) for row, weights in found.items()}

    @cached_property
    def free(self) -> float:
        """H(answer) with nothing to go by."""
        found: dict[int, float] = defaultdict(float)
        for rows in self.rows.values():
            for row, weight in rows.items():
                found[row[-1]] += weight
        return entropy(found.values())

    def left_by(self, kind: Kind) -> float:
        """H(answer | the two cells before it) on average over the arrays of a kind."""
        return sum(weight * self.left[row[0], row[1]] for row, weight in self.rows[kind].items())


def made(variants: Variants, scale: Scale) -> Belief:
    """The belief that goes with some ways of making arrays."""
    rows: dict[Kind, Mapping[Row, float]] = {}
    for kind, ways in variants.items():
        found: dict[Row, float] = defaultdict(float)
        for way, domain in ways:
            counts = Counter(line[-3:] for line in arrays.bank(way, domain, scale).lines)
            for row, count in counts.items():
                found[row] += count / counts.total() / len(ways)
        rows[kind] = dict(found)
    return Belief(rows)


def of_cells(cells: Sequence[Code], field: int) -> Belief:
    """What is believed of a field, given whether cells have one value of it each or several."""
    several = any(cell[field] & (cell[field] - 1) for cell in cells)
    shape = cells[0][codes.SHAPE] if field == codes.ANGLE else 0
    inventory = cells[0][codes.INVENTORY] if field == codes.PRESENT else 0
    return _of_field(field, several, shape, inventory)


@cache
def _of_field(field: int, several: bool, shape: int, inventory: int) -> Belief:
    scale = scale_of(field, shape)
    domain = _domain(field, scale, inventory)
    if several:
        variants: dict[Kind, list[tuple[str, int]]] = {
            "distribution-of-two": [("other pairs", domain)]
        }
        if field in (codes.ANGLE, codes.PLACE, codes.PRESENT):
            anchors = [codes.union(places) for places in (limits.QUINCUNX, limits.PLUS)]
            variants["addition-subtraction"] = [
                (way, elements)
                for way in ("union", "remainder")
                for elements in (anchors if field == codes.PLACE else [domain])
            ]
    else:
        variants = {
            "constant": [("constant", domain)],
            "progression": [("progression", domain)],
            "distribution-of-three": [("three", domain)],
        }
        if field == codes.COUNT:
            variants["addition-subtraction"] = [("sums", domain)]
    return made(variants, scale)


def _domain(field: int, scale: Scale, inventory: int) -> int:
    """All values of a field."""
    if field == codes.PRESENT:
        return limits.elements(codes.RIMS[codes.index(inventory)])
    lengths = {
        codes.SHAPE: len(SHAPES),
        codes.SIZE: SIZES,
        codes.COUNT: len(COUNTS),
        codes.PLACE: PLACES,
        codes.ANGLE: scale.length,
    }
    return (1 << lengths.get(field, len(COLOURS))) - 1
