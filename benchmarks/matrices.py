"""Matrices: symbolic problems a second, made and verified, against the plain reference."""

from __future__ import annotations

from functools import partial

from measure import Contender, Effort, Table, costs, micro, times
from ratios import Unequal

from allminds.instruments.matrices.making import rules as settings
from allminds.instruments.matrices.making.generator import batch, coded
from allminds.instruments.matrices.making.rules import MatricesSettings
from allminds.instruments.matrices.making.solver import verify

SEED = 1
TARGET = 20_000  # problems a second
MANY, FEW = 4096, 32  # problems at a time
ASKED = {
    "one to three rules, 4 options": settings.made(),
    "one rule": settings.made(rules=1),
    "two rules": settings.made(rules=2),
    "three rules": settings.made(rules=3),
    "three rules, 8 options": settings.made(rules=3, candidates=8),
}


def compiled(asked: MatricesSettings, first: int, last: int) -> None:
    """By the thousand."""
    batch(SEED, range(first, last), asked)


def plain(asked: MatricesSettings, first: int, last: int) -> None:
    """One at a time, in plain Python."""
    for index in range(first, last):
        made = coded(SEED, index, asked)
        verify(made.cells[:8], made.options, made.answer)


def symbolic(effort: Effort) -> Table:
    """Problems in codes with their options, each verified by the solver that is told no rules."""
    rows = []
    for name, asked in ASKED.items():
        many = batch(SEED, range(FEW), asked)
        if any(many.coded(n) != coded(SEED, n, asked) for n in range(FEW)):
            raise Unequal(f"matrices, {name}: the compiled problems are not the plain ones")
        spent = costs(
            {
                "compiled": Contender(partial(compiled, asked), MANY),
                "plain": Contender(partial(plain, asked), FEW),
            },
            effort,
        )
        speed = 1 / spent["compiled"]
        rows.append(
            [
                name,
                f"{speed:,.0f}",
                micro(spent["compiled"]),
                micro(spent["plain"]),
                times(spent["plain"] / spent["compiled"]),
                "met" if speed >= TARGET else "MISSED",
            ]
        )
    return Table(
        "Matrices",
        "Problems in codes with their options, made and verified, one core; the plain reference is "
        f"`generator.coded` with `solver.verify`. Target: {TARGET:,} a second.",
        ("problems", "a second", "µs", "plain µs", "x plain", f"{TARGET:,} a second"),
        rows,
    )
