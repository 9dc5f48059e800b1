"""Everything that can be drawn for some settings, tabled: groups of kinds, plans, cases, banks.

A case is a plan with all that its banks of arrays depend on: the shape that turns, the elements
on the rim, whether sets are added or subtracted. Problems are drawn group by group, then plan by
plan, then case by case, so that kinds of rules are even.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices import arrays, codes, limits, rules
from allminds.instruments.matrices.arrays import Bank
from allminds.instruments.matrices.hypotheses import scale_of
from allminds.instruments.matrices.panel import INVENTORIES, ORIENTATIONS, SHAPES, Attribute, Kind
from allminds.instruments.matrices.rules import Carrier, Plan

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
        """How many different matrices there are, the few ambiguous ones of sets among them."""
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
    """The cases of a plan in which every rule has answers enough for the options."""
    turning = limits.turning_shapes(plan) if limits.has(plan, "orientation") else (None,)
    rims = tuple(INVENTORIES) if limits.within_marks(plan) else (None,)
    for shape, rim in product(turning, rims):
        if not limits.sizes(plan, shape):
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
    """The ways to make arrays for a rule, each with its domain."""
    ways = WAYS[carrier.kind]
    if carrier.kind == "addition-subtraction" and carrier.attribute == "count":
        ways = ("sums",)
    return list(product(ways, _domains(plan, carrier, shape, rim)))


def _domains(plan: Plan, carrier: Carrier, shape: str | None, rim: str | None) -> tuple[int, ...]:
    if carrier.layer == "marks":
        return (
            limits.elements(rim or "") if carrier.attribute == "shape" else limits.mark_colours(),
        )
    if carrier.attribute == "position":
        return limits.places(carrier)
    return (
        {
            "shape": limits.shapes(plan),
            "size": limits.sizes(plan, shape),
            "count": 0b1111,
            "colour": limits.colours(plan, shape),
            "orientation": (1 << ORIENTATIONS.get(shape or "", 1)) - 1,
        }[carrier.attribute],
    )


def _bank(way: str, domain: int, carrier: Carrier, shape: str | None) -> Bank:
    code = 0 if shape is None else 1 << SHAPES.index(shape)
    return arrays.bank(way, domain, scale_of(carrier.field, code))


def _base(plan: Plan, shape: str | None, rim: str | None) -> tuple[int, ...]:
    """What the fields that no rule governs may be."""
    base = [0] * codes.FIELDS
    if any(carrier.layer == "figure" for carrier in plan):
        base[codes.SHAPE] = limits.shapes_code((shape,)) if shape else limits.shapes(plan)
        base[codes.SIZE] = limits.sizes(plan, shape)
        base[codes.COUNT] = base[codes.ANGLE] = 1
        base[codes.COLOUR] = limits.colours(plan, shape)
        base[codes.PLACE] = limits.centre()
        base[codes.LAYOUT] = 1 << codes.LAYOUTS.index(rules.layout_of(plan))
    if rim is not None:
        base[codes.INVENTORY] = 1 << codes.RIMS.index(rim)
        base[codes.MARK_COLOUR] = limits.mark_colours()
    for carrier in plan:
        base[carrier.field] = 0
    return tuple(base)


@cache
def cases(count: int, kinds: tuple[Kind, ...], attributes: tuple[Attribute, ...]) -> Cases:
    """All cases with so many rules of these kinds on these attributes."""
    groups = []
    for multiset in rules.multisets(kinds, count):
        wanted = [
            plan
            for plan in rules.plans(multiset)
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
