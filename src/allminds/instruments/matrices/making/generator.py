"""Problems from (seed, index): one at a time in plain Python, or by the thousand in compiled code.

The options come first. For each rule an unordered set of values is drawn among those that its
arrays can end in, then which of them is the answer, and only then an array that ends in it. So
a mind that sees the options alone knows nothing of the answer. `coded` is the specification;
`batch` makes the same by the thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key, stratum
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making import solver
from allminds.instruments.matrices.making.arrays import (
    Array,
    ArrayTable,
    Bank,
    Offer,
    Rows,
    unambiguous,
)
from allminds.instruments.matrices.making.cases import Case, Cases, cases
from allminds.instruments.matrices.making.panel import SHAPES, Problem
from allminds.instruments.matrices.making.problems import DESIGNS, problem
from allminds.instruments.matrices.making.rules import DEFAULT, MatricesSettings
from allminds.instruments.matrices.making.solver import ORDERS, Scale

if TYPE_CHECKING:
    from allminds.instruments.matrices.fast import Tables

# Steps of the making stream: the case, then a step for each rule, then the order of the options.
CASE, RULES, ORDER = 0, 1, 4
VALUES, ANSWER, LINE, TRIES = 0, 1, 2, 3  # words of a rule; two a try for rows 1 and 2 of sets
GROUP, PLAN, VARIANT, BASE = 0, 1, 2, 3  # words of the case; then one for each field
MOST_TRIES = 200


class Coded(NamedTuple):
    """A problem in codes."""

    case: Case
    cells: tuple[tuple[int, ...], ...]
    options: tuple[tuple[int, ...], ...]
    answer: int


def generate(seed: int, index: int, settings: MatricesSettings = DEFAULT) -> Problem:
    """Make problem `index` of a seed; it depends on nothing else."""
    made = coded(seed, index, settings)
    solver.verify(made.cells[:8], made.options, made.answer)
    return problem(seed, index, made)


def coded(seed: int, index: int, settings: MatricesSettings) -> Coded:
    """Make problem `index` of a seed in codes, not yet verified."""
    if index < 0:
        raise Error(f"matrices: problems are numbered from 0, not {index}")
    count = settings.counts[stratum(seed, index, len(settings.counts))]
    random = Random(key(seed, index, MAKING))
    case = drawn_case(cases(count, settings.kinds, settings.attributes), random.at_step(CASE))
    base = [
        _nth_bit(code, random.at_step(CASE).below_at(code.bit_count(), BASE + field)) if code else 0
        for field, code in enumerate(case.base)
    ]
    values, arrays = [], []
    for number, bank in enumerate(case.banks):
        chosen, answer = drawn_values(bank, count, random.at_step(RULES + number))
        offered = [offer.value for offer in chosen]
        values.append((offered.pop(answer), *offered))
        arrays.append(drawn_array(bank, chosen[answer], random.at_step(RULES + number)))
    fields = [carrier.field for carrier in case.plan]
    cells = tuple(_with(base, fields, [array[n] for array in arrays]) for n in range(9))
    design = DESIGNS[count, settings.candidates]
    order = shuffled(len(design), random.at_step(ORDER))
    options = tuple(
        _with(
            base, fields, [some[level] for some, level in zip(values, design[place], strict=True)]
        )
        for place in order
    )
    return Coded(case, cells, options, order.index(0))


def drawn_case(all_cases: Cases, random: Random) -> Case:
    """Draw a group of kinds, a plan of it, and a case of that."""
    group = all_cases.groups[random.below_at(len(all_cases.groups), GROUP)]
    plan = group[random.below_at(len(group), PLAN)]
    return plan[random.below_at(len(plan), VARIANT)]


def drawn_values(bank: Bank, count: int, random: Random) -> tuple[tuple[Offer, ...], int]:
    """Draw the values of a rule among the options, and which of them is the answer."""
    sets = bank.quadruples if count == 1 else bank.pairs
    chosen = sets[random.below_at(len(sets), VALUES)]
    return chosen, random.below_at(len(chosen), ANSWER)


def drawn_array(bank: Bank, answer: Offer, random: Random) -> Array:
    """Draw an unambiguous array that ends in the answer."""
    line = bank.lines[answer.first + random.below_at(answer.last - answer.first, LINE)]
    if isinstance(bank, ArrayTable):
        return line
    for j in range(TRIES, TRIES + 2 * MOST_TRIES, 2):
        rows = [bank.lines[random.below_at(len(bank.lines), j + n)] for n in (0, 1)]
        array = (*rows[0], *rows[1], *line)
        if unambiguous(array, bank.scale):
            break
    return array


def shuffled(count: int, random: Random) -> list[int]:
    """Shuffle the numbers below a count, by words 1..count-1."""
    order = list(range(count))
    for place in range(count - 1, 0, -1):
        other = random.below_at(place + 1, place)
        order[place], order[other] = order[other], order[place]
    return order


def supply(settings: MatricesSettings) -> int:
    """Count how many different matrices there may be at most.

    It is exact where no two rules make the same matrix and no rule works on sets.
    """
    return sum(
        case.size for count in settings.counts for case in _in_order(_cases(count, settings))
    )


def _nth_bit(code: int, n: int) -> int:
    return 1 << codes.bits(code)[n]


def _with(base: list[int], fields: list[int], values: list[int]) -> tuple[int, ...]:
    """Copy the base and put in the values of governed fields."""
    panel = list(base)
    for field, value in zip(fields, values, strict=True):
        panel[field] = value
    return tuple(panel)


# ---------------------------------------------------------------- by the thousand


Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]
CHUNK = 4096


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
        count = counts[stratum(self.seed, int(self.indices[n]), len(counts))]
        return _in_order(_cases(count, self.settings))[int(self.cases[n])]

    def hash(self, n: int) -> str:
        """Return the canonical hash of the n-th problem."""
        return codes.canonical_hash(self.cells[n].tolist())


def batch(seed: int, indices: Sequence[int] | Ints, settings: MatricesSettings = DEFAULT) -> Batch:
    """Make problems of a seed by their numbers, and verify all of them."""
    from allminds.core import compiled
    from allminds.instruments.matrices import fast

    numbers = np.asarray(indices, np.int64)
    if numbers.size and numbers.min() < 0:
        raise Error(f"matrices: problems are numbered from 0, not {numbers.min()}")
    keys = compiled.keys(seed, numbers, MAKING)
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
        made = fast.make(keys[here], _tables(_cases(count, settings)), design)
        for part, some in zip(parts, made, strict=True):
            part[here] = some
    good = fast.verified(*parts[:3], *_field_scales())
    if not good.all():
        raise Error(f"matrices: problem {numbers[~good][0]} of seed {seed} cannot be verified")
    return found


def problems(
    seed: int, first: int, last: int, settings: MatricesSettings = DEFAULT
) -> Iterator[Problem]:
    """Yield problems first..last-1 of a seed, made some thousands at a time."""
    for start in range(first, last, CHUNK):
        yield from batch(seed, range(start, min(start + CHUNK, last)), settings)


def _cases(count: int, settings: MatricesSettings) -> Cases:
    return cases(count, settings.kinds, settings.attributes)


# ---------------------------------------------------------------- tables as arrays


@cache
def _in_order(all_cases: Cases) -> tuple[Case, ...]:
    """List the cases by their numbers."""
    return tuple(case for group in all_cases.groups for plan in group for case in plan)


@cache
def _field_scales() -> tuple[Ints, Ints]:
    """Return each field's scale in numbers, and each shape's number of turns."""
    scales = [_in_numbers(solver.scale_of(field)) for field in range(codes.FIELDS)]
    return np.array(scales), np.array([codes.turns_of(1 << n) for n in range(len(SHAPES))])


def _in_numbers(scale: Scale) -> tuple[int, int, int]:
    """Return a scale with the number of its order."""
    return ORDERS.index(scale.order), scale.length, scale.first


@cache
def _tables(all_cases: Cases) -> Tables:
    """Build the arrays that the kernel needs for one number of rules."""
    from allminds.instruments.matrices.fast import Tables

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
        scales=np.array([_in_numbers(bank.scale) for bank in banks]),
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
    chosen: Ints = np.array(bank.quadruples if count == 1 else bank.pairs, np.int64)
    chosen[:, :, 1:] += start
    return chosen
