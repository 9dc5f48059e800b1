"""From codes to problems: what an ideal observer believes, the measures, and the records.

The observer knows the vocabulary, but not the rule. An attribute that varies follows with equal
probability one of the kinds of rules it can carry; every step of a progression is as likely as
another, and so is every array.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from allminds.instruments.matrices.making import arrays
from allminds.instruments.matrices.making import cases as limits
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.cases import Case
from allminds.instruments.matrices.making.panel import (
    COLOURS,
    COUNTS,
    KINDS,
    PLACES,
    SHAPES,
    SIZES,
    Kind,
    Problem,
    Rule,
)
from allminds.instruments.matrices.making.rules import Carrier, Code
from allminds.instruments.matrices.making.solver import Scale, scale_of

if TYPE_CHECKING:
    from allminds.instruments.matrices.making.generator import Coded

Row = tuple[int, ...]
Weights = Mapping[int, float]
Variants = Mapping[Kind, Sequence[tuple[str, int]]]  # the ways of a kind, each with its domain


def entropy(weights: Iterable[float]) -> float:
    """Compute the entropy in bits of weights that need not sum to one."""
    some = [weight for weight in weights if weight > 0]
    total = sum(some)
    return -sum(weight / total * math.log2(weight / total) for weight in some)


@dataclass(frozen=True, eq=False)
class Belief:
    """The probability of each row of three, for each kind of rule: as first row, and as third."""

    first: Mapping[Kind, Mapping[Row, float]]
    rows: Mapping[Kind, Mapping[Row, float]]

    @cached_property
    def answers(self) -> Mapping[tuple[int, int], Weights]:
        """The chance of each third value after the first two."""
        found: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for rows in self.rows.values():
            for (a, b, c), weight in rows.items():
                found[a, b][c] += weight
        return dict(found)

    @cached_property
    def left(self) -> Mapping[tuple[int, int], float]:
        """The entropy H(answer | the two cells before it): bits that the other rows must supply."""
        return {start: entropy(weights.values()) for start, weights in self.answers.items()}

    @cached_property
    def doubt(self) -> Mapping[Row, float]:
        """The entropy H(kind of rule | the first row)."""
        found: dict[Row, list[float]] = defaultdict(list)
        for rows in self.first.values():
            for row, weight in rows.items():
                found[row].append(weight)
        return {row: entropy(weights) for row, weights in found.items()}

    @cached_property
    def free(self) -> float:
        """The entropy H(answer) with nothing to go by."""
        found: dict[int, float] = defaultdict(float)
        for rows in self.rows.values():
            for row, weight in rows.items():
                found[row[-1]] += weight
        return entropy(found.values())

    def left_by(self, kind: Kind) -> float:
        """Average H(answer | the two cells before it) over the arrays of a kind."""
        return sum(weight * self.left[row[0], row[1]] for row, weight in self.rows[kind].items())


def made(variants: Variants, scale: Scale) -> Belief:
    """Compute the belief that goes with some ways of making arrays."""
    first: dict[Kind, Mapping[Row, float]] = {}
    third: dict[Kind, Mapping[Row, float]] = {}
    for kind, ways in variants.items():
        for rows, part in ((first, slice(3)), (third, slice(-3, None))):
            found: dict[Row, float] = defaultdict(float)
            for way, domain in ways:
                bank = arrays.bank(way, domain, scale)
                alike = Counter(
                    (line[part], step)
                    for line, (_, step) in zip(bank.lines, bank.ends, strict=True)
                )
                steps = Counter(step for _, step in bank.ends)
                for (row, step), count in alike.items():
                    found[row] += count / steps[step] / len(steps) / len(ways)
            rows[kind] = dict(found)
    return Belief(first, third)


def of_cells(cells: Sequence[Code], field: int) -> Belief:
    """Compute the belief about a field, given whether cells have one value of it or several."""
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
    """Return all values of a field."""
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


# ---------------------------------------------------------------- options


Design = tuple[tuple[int, ...], ...]  # options, the right one first: a level for each rule

_HALF: Design = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))

DESIGNS: dict[tuple[int, int], Design] = {
    (1, 4): ((0,), (1,), (2,), (3,)),
    (2, 4): tuple(product((0, 1), repeat=2)),
    (3, 4): _HALF,
    (3, 8): tuple(product((0, 1), repeat=3)),
}


def needed_rules(count: int, candidates: int) -> int:
    """Count the rules one must know at least to tell the answer from all other options."""
    design = DESIGNS[count, candidates]
    return next(
        size
        for size in range(1, count + 1)
        if all(sum(level == 0 for level in option[:size]) < size for option in design[1:])
    )


def distance(count: int, candidates: int) -> float:
    """Average the number of attributes in which a wrong option differs from the answer."""
    wrong = DESIGNS[count, candidates][1:]
    return sum(level != 0 for option in wrong for level in option) / len(wrong)


# ---------------------------------------------------------------- how much there is to find out


SLOTS = len(codes.FIELD_OF)


def measures(
    case: Case, cells: Sequence[Code], bound: Sequence[bool], candidates: int
) -> dict[str, float]:
    """Compute all measures; the rules of `bound` add nothing to the bits of the answer.

    ``I_context``: bits of the answer that rows 1 and 2 must supply. ``I_answer``: bits of the
    answer. ``L_rules``: bits that describe the rules and their arrays. ``H_rule_row1``: doubt
    about the kinds of the rules after row 1. ``needed_rules``: rules one must know at least to
    tell the answer from the other options. ``option_distance``: attributes in which a wrong option
    differs from it, on average. ``elements``: things drawn in the nine cells.
    """
    context = answer = doubt = length = 0.0
    for carrier, bank, is_bound in zip(case.plan, case.banks, bound, strict=True):
        values = [cell[carrier.field] for cell in cells]
        belief = of_cells(cells, carrier.field)
        length += math.log2(len(KINDS)) + math.log2(SLOTS) + math.log2(bank.size)
        if not is_bound:
            context += belief.left[values[6], values[7]]
            answer += belief.free
            doubt += belief.doubt[values[0], values[1], values[2]]
    return {
        "I_context": context,
        "I_answer": answer,
        "L_rules": length,
        "H_rule_row1": doubt,
        "needed_rules": float(needed_rules(len(case.plan), candidates)),
        "option_distance": distance(len(case.plan), candidates),
        "elements": float(sum(map(elements, cells))),
    }


def elements(cell: Code) -> int:
    """Count what is drawn in a panel: every glyph with all its shapes, sizes and lines."""
    glyph = [cell[field].bit_count() for field in (codes.SHAPE, codes.SIZE, codes.ANGLE)]
    copies = (codes.index(cell[codes.COUNT]) + 1) * cell[codes.PLACE].bit_count()
    return math.prod(glyph) * copies + cell[codes.PRESENT].bit_count()


# ---------------------------------------------------------------- problems


def problem(seed: int, index: int, made: Coded) -> Problem:
    """Decode a problem, and add its rules and measures."""
    rules = _rules(made)
    bound = [rule.bound for rule in rules]
    return Problem(
        seed=seed,
        index=index,
        cells=tuple(map(codes.decoded, made.cells)),
        options=tuple(map(codes.decoded, made.options)),
        answer=made.answer,
        rules=rules,
        measures=measures(made.case, made.cells, bound, len(made.options)),
    )


def _rules(made: Coded) -> tuple[Rule, ...]:
    """List the rules; a distribution of three that turns as an earlier one is bound to it."""
    found: list[Rule] = []
    turns: set[str] = set()
    for carrier, way in zip(made.case.plan, made.case.ways, strict=True):
        values = [cell[carrier.field] for cell in made.cells]
        parameters = _parameters(carrier, way, values, made.cells[0][codes.SHAPE])
        turn = parameters.get("turn", "")
        found.append(
            Rule(carrier.kind, carrier.layer, carrier.attribute, parameters, turn in turns)
        )
        turns |= {turn} - {""}
    return tuple(found)


def _parameters(carrier: Carrier, way: str, values: Sequence[int], shape: int) -> dict[str, Any]:
    def names(some: Sequence[int]) -> list[Any]:
        kind = codes.index(shape)
        return [codes.named(carrier.field, codes.index(code), kind) for code in some]

    if way == "constant":
        return {"values": names(values[::3])}
    if way == "three":
        turn = "left" if values[3] == values[1] else "right"
        return {"values": names(values[:3]), "turn": turn}
    if way == "progression":
        return _step(carrier, values, shape) or {
            "sequences": [names(values[n : n + 3]) for n in (0, 3, 6)]
        }
    if way == "sums":
        added = codes.index(values[0]) < codes.index(values[2])
        return {"operation": "addition" if added else "subtraction"}
    operations = {"union": "addition", "remainder": "subtraction"}
    if way in operations:
        return {"operation": operations[way]}
    return {"sets": "same" if way == "same pairs" else "different"}


def _step(carrier: Carrier, values: Sequence[int], shape: int) -> dict[str, Any]:
    """Describe the step of a progression; nothing for colours, which have no order."""
    a, b = codes.index(values[0]), codes.index(values[1])
    if carrier.attribute == "colour":
        return {}
    if carrier.attribute == "position":
        return {"step": [b % 3 - a % 3, b // 3 - a // 3]}  # to the right, down
    if carrier.attribute == "orientation":
        degrees = codes.step_of(codes.index(shape))
        turn = (b - a) % codes.turns_of(shape)
        return {"step": degrees * turn}
    return {"step": b - a}
