"""Problems from (seed, index), one at a time, in plain Python: the specification of all others.

The options come first. For each rule an unordered set of values is drawn among those that its
arrays can end in, then which of them is the answer, and only then an array that ends in it. So
a mind that sees the options alone knows nothing of the answer. `batch` makes the same by the
thousand.
"""

from __future__ import annotations

from typing import NamedTuple

from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key, stratum
from allminds.instruments.matrices.environment import DEFAULT, MatricesSettings
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making import solver
from allminds.instruments.matrices.making.arrays import Array, ArrayTable, Bank, unambiguous
from allminds.instruments.matrices.making.cases import Case, Cases, cases
from allminds.instruments.matrices.making.panel import Problem
from allminds.instruments.matrices.making.problems import DESIGNS, problem

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
        values.append((chosen[answer], *chosen[:answer], *chosen[answer + 1 :]))
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


def drawn_values(bank: Bank, count: int, random: Random) -> tuple[tuple[int, ...], int]:
    """Draw the values of a rule among the options, and which of them is the answer."""
    sets = bank.quadruples if count == 1 else bank.pairs
    chosen = sets[random.below_at(len(sets), VALUES)]
    return chosen, random.below_at(len(chosen), ANSWER)


def drawn_array(bank: Bank, answer: int, random: Random) -> Array:
    """Draw an unambiguous array that ends in the answer."""
    first, last = bank.spans[answer]
    line = bank.lines[first + random.below_at(last - first, LINE)]
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
        case.size
        for count in settings.counts
        for group in cases(count, settings.kinds, settings.attributes).groups
        for plan in group
        for case in plan
    )


def _nth_bit(code: int, n: int) -> int:
    return 1 << codes.bits(code)[n]


def _with(base: list[int], fields: list[int], values: list[int]) -> tuple[int, ...]:
    """Copy the base and put in the values of governed fields."""
    panel = list(base)
    for field, value in zip(fields, values, strict=True):
        panel[field] = value
    return tuple(panel)
