"""From codes to problems that can be read: panels, rules with their parameters, measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from allminds.instruments.matrices import codes
from allminds.instruments.matrices.measures import measures
from allminds.instruments.matrices.panel import Problem, Rule
from allminds.instruments.matrices.rules import Carrier

if TYPE_CHECKING:
    from allminds.instruments.matrices.generator import Coded


def problem(seed: int, index: int, made: Coded) -> Problem:
    """The problem of its codes."""
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
    """The rules; a distribution of three that turns as an earlier one does is bound to it."""
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
    """How far a progression goes from cell to cell; nothing for colours, which have no order."""
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
