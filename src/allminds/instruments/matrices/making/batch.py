"""Problems by the thousand, made and verified in compiled code and read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core import seeding
from allminds.core.errors import Error
from allminds.instruments.matrices.environment import DEFAULT, MatricesSettings
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.arrays import Bank, Rows
from allminds.instruments.matrices.making.cases import Case, Cases, cases
from allminds.instruments.matrices.making.generator import Coded, supply
from allminds.instruments.matrices.making.panel import SHAPES, Problem
from allminds.instruments.matrices.making.problems import DESIGNS, problem
from allminds.instruments.matrices.making.solver import scale_of

if TYPE_CHECKING:
    from allminds.instruments.matrices.fast.kernels import Tables

Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]
CHUNK = 4096
PATIENCE = 12  # times as many repetitions as there are matrices before no more are expected


@dataclass(frozen=True)
class Batch:
    """Verified problems as arrays; ``batch[n]`` is the n-th, the same as `generate` makes it."""

    seed: int
    settings: MatricesSettings
    indices: Ints
    cells: Codes  # [problem, 9, field]
    options: Codes  # [problem, option, field]
    answers: Ints
    cases: Ints  # numbers among all cases with as many rules

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, n: int) -> Problem:
        return problem(self.seed, int(self.indices[n]), self.coded(n))

    def __iter__(self) -> Iterator[Problem]:
        return (self[n] for n in range(len(self)))

    def coded(self, n: int) -> Coded:
        """Return the n-th problem in codes."""
        return Coded(
            self.case(n),
            tuple(map(tuple, self.cells[n].tolist())),
            tuple(map(tuple, self.options[n].tolist())),
            int(self.answers[n]),
        )

    def case(self, n: int) -> Case:
        """Return the plan, and what else is fixed, of the n-th problem."""
        counts = self.settings.counts
        count = counts[seeding.stratum(self.seed, int(self.indices[n]), len(counts))]
        return _in_order(_cases(count, self.settings))[int(self.cases[n])]

    def hash(self, n: int) -> str:
        """Return the canonical hash of the n-th problem."""
        return codes.canonical_hash(self.cells[n].tolist())


def batch(seed: int, indices: Sequence[int] | Ints, settings: MatricesSettings = DEFAULT) -> Batch:
    """Make problems of a seed by their numbers, and verify all of them."""
    from allminds.core import compiled
    from allminds.instruments.matrices.fast import kernels

    numbers = np.asarray(indices, np.int64)
    if numbers.size and numbers.min() < 0:
        raise Error(f"matrices: problems are numbered from 0, not {numbers.min()}")
    keys = compiled.keys(seed, numbers, seeding.MAKING)
    rules = compiled.strata(seed, numbers, len(settings.counts))
    total, options = len(numbers), settings.candidates
    found = Batch(
        seed,
        settings,
        numbers,
        np.zeros((total, 9, codes.FIELDS), np.uint16),
        np.zeros((total, options, codes.FIELDS), np.uint16),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
    )
    parts: tuple[NDArray[Any], ...] = (found.cells, found.options, found.answers, found.cases)
    for n, count in enumerate(settings.counts):
        here = rules == n
        design = np.array(DESIGNS[count, options], np.int64)
        made = kernels.make(keys[here], _tables(_cases(count, settings)), design)
        for part, some in zip(parts, made, strict=True):
            part[here] = some
    good = kernels.verified(*parts[:3], *_field_scales())
    if not good.all():
        raise Error(f"matrices: problem {numbers[~good][0]} of seed {seed} cannot be verified")
    return found


def problems(
    seed: int, first: int, last: int, settings: MatricesSettings = DEFAULT
) -> Iterator[Problem]:
    """Yield problems first..last-1 of a seed, made some thousands at a time."""
    for start in range(first, last, CHUNK):
        yield from batch(seed, range(start, min(start + CHUNK, last)), settings)


def distinct(seed: int, count: int, settings: MatricesSettings = DEFAULT) -> list[int]:
    """Find the first indices of a seed with new matrices; raise an error if there are too few."""
    most = supply(settings)
    if count > most:
        raise _too_few(count, most)
    found: dict[str, int] = {}
    start = last_new = 0
    while len(found) < count:
        some = batch(seed, range(start, start + CHUNK), settings)
        for n in range(CHUNK):
            if found.setdefault(some.hash(n), start + n) == start + n:
                last_new = start + n
        start += CHUNK
        if start - last_new > PATIENCE * max(len(found), CHUNK):
            raise _too_few(count, len(found))
    return sorted(found.values())[:count]


def _too_few(asked: int, there: int) -> Error:
    return Error(
        f"matrices: there are at most {there:,} different ones with these settings, not {asked:,}; "
        "ask for fewer, or allow more rules, kinds or attributes"
    )


def _cases(count: int, settings: MatricesSettings) -> Cases:
    return cases(count, settings.kinds, settings.attributes)


# ---------------------------------------------------------------- tables as arrays


@cache
def _in_order(all_cases: Cases) -> tuple[Case, ...]:
    """List the cases by their numbers."""
    return tuple(case for group in all_cases.groups for plan in group for case in plan)


@cache
def _field_scales() -> tuple[Ints, Ints, Ints]:
    """Return each field's order and length, and each shape's number of turns."""
    from allminds.instruments.matrices.fast.kernels import ORDERS

    scales = [scale_of(field) for field in range(codes.FIELDS)]
    return (
        np.array([ORDERS.index(scale.order) for scale in scales]),
        np.array([scale.length for scale in scales]),
        np.array([codes.turns_of(1 << n) for n in range(len(SHAPES))]),
    )


@cache
def _tables(all_cases: Cases) -> Tables:
    """Build the arrays that the kernel needs for one number of rules."""
    from allminds.instruments.matrices.fast.kernels import ORDERS, Tables

    plans = [plan for group in all_cases.groups for plan in group]
    listed = _in_order(all_cases)
    banks: dict[Bank, int] = {}
    for case in listed:
        for bank in case.banks:
            banks.setdefault(bank, len(banks))
    starts = np.cumsum([0, *(len(bank.lines) for bank in banks)])
    sets = [_sets(bank, all_cases.C, start) for bank, start in zip(banks, starts, strict=False)]
    ends = np.cumsum([0, *(len(some) for some in sets)])
    return Tables(
        groups=np.cumsum([0, *(len(group) for group in all_cases.groups)]),
        plans=np.cumsum([0, *(len(plan) for plan in plans)]),
        base=np.array([case.base for case in listed], np.uint16),
        fields=np.array([[carrier.field for carrier in case.plan] for case in listed]),
        banks=np.array([[banks[bank] for bank in case.banks] for case in listed]),
        orders=np.array([ORDERS.index(bank.scale.order) for bank in banks]),
        lengths=np.array([bank.scale.length for bank in banks]),
        lines=np.concatenate([_padded(bank) for bank in banks]),
        spans=np.column_stack([starts[:-1], starts[1:]]),
        rows=np.array([isinstance(bank, Rows) for bank in banks]),
        sets=np.concatenate(sets),
        choices=np.column_stack([ends[:-1], ends[1:]]),
    )


def _padded(bank: Bank) -> Codes:
    """Pad the lines of a bank to a width of nine."""
    lines = np.array(bank.lines, np.uint16)
    return np.pad(lines, ((0, 0), (0, 9 - lines.shape[1])))


def _sets(bank: Bank, count: int, start: int) -> Ints:
    """List the sets of answers, each with where its lines are."""
    chosen = bank.quadruples if count == 1 else bank.pairs
    return np.array(
        [
            [
                (answer, start + bank.spans[answer][0], start + bank.spans[answer][1])
                for answer in some
            ]
            for some in chosen
        ],
        np.int64,
    )
