"""What a data set holds out from minds that learn from it.

The split of an item is its canonical hash mod 10: 0 to 5 train, 6 and 7 validation, 8 and 9 test.
A regime other than `neutral` also holds something out: train and validation show nothing of it
anywhere, and every item of the test split is about it. Items that are neither are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.generator import Coded
from allminds.instruments.matrices.making.panel import COLOURS, SHAPES
from allminds.instruments.matrices.making.rules import Code, union

SPLITS = ("train", "validation", "test")
_OF_TEN = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2)


class Regime(NamedTuple):
    """What is held out: whether a problem shows any of it, and whether its answer is about it."""

    told: str
    shows: Callable[[Coded], bool]
    asks: Callable[[Coded], bool]


def split_of(hash_: str) -> str:
    """Return the split of a canonical hash."""
    return SPLITS[_OF_TEN[int(hash_, 16) % 10]]


def placed(problem: Coded, hash_: str, regime: Regime) -> str | None:
    """Return the split of a problem, or None if it belongs to none."""
    split = split_of(hash_)
    if regime is NEUTRAL:
        return split
    fits = regime.asks(problem) if split == "test" else not regime.shows(problem)
    return split if fits else None


# ---------------------------------------------------------------- values


def _values(told: str, held: Mapping[int, int]) -> Regime:
    """Hold out some values of some fields, given as codes."""

    def shows(problem: Coded) -> bool:
        panels = (*problem.cells, *problem.options)
        return any(panel[field] & code for panel in panels for field, code in held.items())

    def asks(problem: Coded) -> bool:
        governed = {carrier.field for carrier in problem.case.plan}
        return any(problem.cells[8][field] & held[field] for field in governed & set(held))

    return Regime(told, shows, asks)


def _shapes(*names: str) -> int:
    return union([SHAPES.index(name) for name in names])


# For each shape the colours that it does not have in train: a third of all pairs.
_APART = [
    union([colour for colour in range(len(COLOURS)) if (shape + colour) % 3 == 0])
    for shape in range(len(SHAPES))
]


def _has_pair(panel: Code) -> bool:
    return any(panel[codes.COLOUR] & _APART[shape] for shape in codes.bits(panel[codes.SHAPE]))


# ---------------------------------------------------------------- rules


def _rules(told: str, about: Callable[[Coded], bool]) -> Regime:
    return Regime(told, about, about)


HELD_OUT_RULES = (
    ("constant", "colour"), ("progression", "size"), ("distribution-of-three", "shape"),
    ("addition-subtraction", "count"), ("distribution-of-two", "position"),
)  # fmt: skip
HELD_OUT_SLOTS = ({"shape", "colour"}, {"size", "count"}, {"orientation", "position"})


def _has_held_out_rule(problem: Coded) -> bool:
    return any((one.kind, one.attribute) in HELD_OUT_RULES for one in problem.case.plan)


def _has_held_out_slots(problem: Coded) -> bool:
    governed = {carrier.attribute for carrier in problem.case.plan if carrier.layer == "figure"}
    return any(pair <= governed for pair in HELD_OUT_SLOTS)


NEUTRAL = Regime("nothing is held out", lambda _: False, lambda _: True)
REGIMES = {
    "neutral": NEUTRAL,
    "interpolation": _values(
        "sizes 1 and 3 of 0 to 4, and five and seven sides, are held out",
        {codes.SIZE: union([1, 3]), codes.SHAPE: _shapes("5", "7")},
    ),
    "extrapolation": _values(
        "sizes 3 and 4 of 0 to 4, and seven to nine sides, are held out",
        {codes.SIZE: union([3, 4]), codes.SHAPE: _shapes("7", "8", "9")},
    ),
    "held-out-pairs": Regime(
        "a third of all pairs of a shape and a colour are held out",
        lambda problem: any(map(_has_pair, (*problem.cells, *problem.options))),
        lambda problem: _has_pair(problem.cells[8]),
    ),
    "held-out-rules": _rules(
        "some rules on some attributes are held out: "
        + ", ".join(f"{kind} on {attribute}" for kind, attribute in HELD_OUT_RULES),
        _has_held_out_rule,
    ),
    "held-out-slots": _rules(
        "rules on shape and colour, on size and count, or on orientation and position of the "
        "figure together are held out",
        _has_held_out_slots,
    ),
    "held-out-attribute": _rules(
        "rules on colour are held out",
        lambda problem: any(carrier.attribute == "colour" for carrier in problem.case.plan),
    ),
    "held-out-kind": _rules(
        "distributions of two are held out",
        lambda problem: any(one.kind == "distribution-of-two" for one in problem.case.plan),
    ),
    "held-out-C": _rules(
        "matrices of three rules are held out", lambda problem: len(problem.case.plan) == 3
    ),
}
