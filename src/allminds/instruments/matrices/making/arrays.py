"""Banks of 3 x 3 arrays for one field: all that a rule allows and no rival hypothesis upsets.

Where a domain is small enough, all arrays are enumerated once and the ambiguous ones left out; an
`ArrayTable` has the rest, by their ninth value. Rules over sets have too many: their rows are
tabled, `Rows`, and an array is three of them, drawn until it is unambiguous.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, compress, cycle, islice, permutations, product
from typing import NamedTuple

from allminds.instruments.matrices.making import solver as hypotheses
from allminds.instruments.matrices.making.rules import bits, union
from allminds.instruments.matrices.making.solver import Scale

Array = tuple[int, ...]  # nine codes, row by row
Row = tuple[int, int, int]
End = tuple[int, int]  # the last value of a line, and the step it was reached by
CYCLES = (3, 4)  # colours that follow each other in a progression; longer ones are seldom deducible
LARGEST_FACTOR = 2  # levels of size from one cell to the next: a factor of 1.5


class Offer(NamedTuple):
    """A value among the options, and the lines by which it would be the answer."""

    value: int
    first: int
    last: int  # the line after the last


@dataclass(frozen=True, eq=False)
class Bank:
    """What can be drawn for one rule on one field."""

    scale: Scale
    lines: tuple[tuple[int, ...], ...]  # whole arrays or single rows, by their ends
    ends: tuple[End, ...]  # of every line; steps are 0 where they need not be evened out

    @cached_property
    def spans(self) -> dict[End, tuple[int, int]]:
        """The lines with each end: the first, and the one after the last."""
        found: dict[End, tuple[int, int]] = {}
        for place, end in enumerate(self.ends):
            found[end] = (found.get(end, (place, place))[0], place + 1)
        return found

    @cached_property
    def quadruples(self) -> tuple[tuple[Offer, ...], ...]:
        """The sets of four answers that may be options together."""
        return tuple(self._offers(4))

    @cached_property
    def pairs(self) -> tuple[tuple[Offer, ...], ...]:
        """The sets of two answers that may be options together."""
        return tuple(self._offers(2))

    def _offers(self, count: int) -> Iterator[tuple[Offer, ...]]:
        stepless = all(step == 0 for _, step in self.spans)
        for some in (_alternatives if stepless else _dealt)(self.spans, count):
            yield tuple(Offer(end[0], *self.spans[end]) for end in some)

    @property
    def size(self) -> int:
        """The number of arrays; of rows, with the few that are ambiguous."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ArrayTable(Bank):
    """All unambiguous arrays of a rule."""

    @property
    def size(self) -> int:
        """The number of arrays, one for each line."""
        return len(self.lines)


@dataclass(frozen=True, eq=False)
class Rows(Bank):
    """All rows of a rule over sets: any three make an array, but for ambiguous ones."""

    @property
    def size(self) -> int:
        """The number of arrays: any three rows make one."""
        return len(self.lines) ** 3


def unambiguous(array: Sequence[int], scale: Scale) -> bool:
    """Return whether all hypotheses that fit the first eight values predict the ninth."""
    found = False
    for value in hypotheses.every(array[:8], scale):
        if value is not None:
            if value != array[8]:
                return False
            found = True
    return found and not hypotheses.contradicted(array[:8], array[8])


# ---------------------------------------------------------------- which answers go together


def _alternatives(ends: Iterable[End], count: int) -> Iterator[Sequence[End]]:
    """Yield sets of answers alike: any values, or sets that differ in one or two elements.

    Four sets are a square {S, S+a, S+b, S+a+b}, or for pairs {xz, xw, yz, yw}; two are its edge.
    """
    known = sorted(value for value, _ in ends)
    if not any(code & (code - 1) for code in known):
        yield from combinations([(value, 0) for value in known], count)
        return
    elements = bits(union([n for code in known for n in bits(code)]))
    changes = _exchanges if {code.bit_count() for code in known} == {2} else _flips
    found, among = set(), set(known)
    for first in known:
        for some in combinations(changes(first, elements), count // 2):
            one, other = some[0], some[-1]
            square = {first, first ^ one, first ^ other, first ^ one ^ other}
            if len(some) == 1:
                square = {first, first ^ one}
            if len(square) == count and square <= among:
                found.add(tuple((value, 0) for value in sorted(square)))
    yield from sorted(found)


def _flips(code: int, elements: Sequence[int]) -> list[int]:  # noqa: ARG001
    """List each element that may be put into a set or taken out of it."""
    return [1 << n for n in elements]


def _exchanges(code: int, elements: Sequence[int]) -> list[int]:
    """List each exchange of one element of a pair for another."""
    return [1 << out | 1 << into for out in bits(code) for into in elements if not code >> into & 1]


ARRANGEMENTS = 24  # orders of the values in which sets are dealt


def _dealt(ends: Iterable[End], count: int) -> Iterator[Sequence[End]]:
    """Yield sets of answers with different values, in which all steps are equally frequent.

    Each step has as many cards as others, shared by the values that it ends in; the cards lie in
    the order of their values and are dealt to so many sets that no value comes twice. Where a
    value has too many cards for that, because a step ends in hardly another, it loses some.
    """
    of_step: dict[int, list[int]] = {}
    for value, step in sorted(ends):
        of_step.setdefault(step, []).append(value)
    often = count * math.lcm(*map(len, of_step.values()))
    cards = {(v, step): often // len(some) for step, some in of_step.items() for v in some}
    values = sorted({value for value, _ in cards})
    if len(values) < count:
        return
    while len(most := _most(cards)) * count > sum(cards.values()):
        cards[Counter(most).most_common(1)[0][0]] -= 1
    fewer = math.gcd(sum(cards.values()), *(number * count for number in cards.values()))
    deck = [end for end, number in cards.items() for _ in range(number * count // fewer)]
    rounds = len(deck) // count
    apart = -(-math.factorial(len(values)) // ARRANGEMENTS)
    for order in islice(permutations(values), 0, None, apart):
        rank = {value: n for n, value in enumerate(order)}
        dealt = sorted(deck, key=lambda end: (rank[end[0]], end))
        yield from (dealt[n::rounds] for n in range(rounds))


def _most(cards: dict[End, int]) -> list[End]:
    """List the cards of the value that has most of them."""
    by_value: dict[int, list[End]] = {}
    for end, number in sorted(cards.items()):
        by_value.setdefault(end[0], []).extend([end] * number)
    return max(by_value.values(), key=len)


# ---------------------------------------------------------------- the rows and arrays of a rule


def _constant(domain: Sequence[int], scale: Scale) -> Iterator[Array]:  # noqa: ARG001
    for a, b, c in permutations(domain, 3):
        yield (a, a, a, b, b, b, c, c, c)


def _three(domain: Sequence[int], scale: Scale) -> Iterator[Array]:  # noqa: ARG001
    """Yield Latin squares: rows and columns have the same three values."""
    for a, b, c in permutations(domain, 3):
        yield (a, b, c, b, c, a, c, a, b)
        yield (a, b, c, c, a, b, b, c, a)


def _progression(domain: Sequence[int], scale: Scale) -> Iterator[Array]:
    if scale.order == "names":
        yield from _cycles(domain)
        return
    for step in _steps(scale):
        for rows in product(_runs(domain, scale, step), repeat=3):
            yield tuple(code for row in rows for code in row)


def _steps(scale: Scale) -> list[int]:
    """List the steps of a progression, as differences of numbers."""
    if scale.order == "grid":
        moves = (hypotheses.ROW * down + right for down in (-1, 0, 1) for right in (-1, 0, 1))
        return [move for move in moves if move]
    if scale.order == "ring":
        return list(range(1, scale.length))
    largest = LARGEST_FACTOR if scale.order == "levels" else scale.length // 2
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


def _runs(domain: Sequence[int], scale: Scale, step: int) -> list[Array]:
    """List the rows of three values a step apart."""
    numbers = [n for n in (hypotheses.number(code, scale) for code in domain) if n is not None]
    steps = [[hypotheses.value(n + step * k, scale) for k in range(3)] for n in numbers]
    rows = [tuple(code for code in row if code in domain and code) for row in steps]
    return [row for row in rows if len(row) == 3]


def _cycles(domain: Sequence[int]) -> Iterator[Array]:
    """Yield arrays in which each value is followed by the next of a cycle; rows begin anywhere."""
    for length in CYCLES:
        for round_ in permutations(domain, length):
            if round_[0] != min(round_):
                continue
            rows = [tuple(round_[(n + k) % length] for k in range(3)) for n in range(length)]
            for first, second, third in product(rows, repeat=3):
                yield (*first, *second, *third)


def _sums(domain: Sequence[int], scale: Scale) -> Iterator[Array]:  # noqa: ARG001
    """Yield counts that are added in all rows, or subtracted in all."""
    added = [(p, q, p * q << 1) for p in domain for q in domain if p * q << 1 in domain]
    for rows in (added, [(third, p, q) for p, q, third in added]):
        for first, second, third in product(rows, repeat=3):
            yield (*first, *second, *third)


ALIKE = 216  # arrays of pairs of three values; those of other three are ambiguous where these are


def _same_pairs(domain: Sequence[int], scale: Scale) -> Iterator[Array]:  # noqa: ARG001
    """Yield arrays whose rows have the three pairs of the same three values."""
    for a, b, c in combinations(domain, 3):
        for first, second, third in product(permutations((a | b, b | c, a | c)), repeat=3):
            yield (*first, *second, *third)


def _pair_rows(domain: Sequence[int]) -> Iterator[Row]:
    for a, b, c in combinations(domain, 3):
        yield from permutations((a | b, b | c, a | c))


def _union_rows(domain: Sequence[int]) -> Iterator[Row]:
    """Yield two sets, each with something that the other lacks, and their union."""
    sets = _subsets(domain)
    return ((p, q, p | q) for p in sets for q in sets if p & ~q and q & ~p)


def _remainder_rows(domain: Sequence[int]) -> Iterator[Row]:
    """Yield a set, a part of it, and what is left."""
    sets = _subsets(domain)
    return ((p, q, p & ~q) for p in sets for q in sets if p != q and not q & ~p)


def _subsets(domain: Sequence[int]) -> list[int]:
    """List all subsets but the empty one."""
    return [sum(chosen) for n in range(1, len(domain) + 1) for chosen in combinations(domain, n)]


ARRAYS: dict[str, Callable[[Sequence[int], Scale], Iterator[Array]]] = {
    "constant": _constant,
    "progression": _progression,
    "three": _three,
    "sums": _sums,
    "same pairs": _same_pairs,
}
ROWS: dict[str, Callable[[Sequence[int]], Iterator[Row]]] = {
    "union": _union_rows,
    "remainder": _remainder_rows,
    "other pairs": _pair_rows,
}


@cache
def enumerated(way: str, domain: int, scale: Scale) -> tuple[Array, ...]:
    """List every array that a way of making them allows, ambiguous ones included."""
    return tuple(dict.fromkeys(ARRAYS[way]([1 << n for n in bits(domain)], scale)))


@cache
def bank(way: str, domain: int, scale: Scale) -> Bank:
    """Build the bank of a way of making arrays, for a domain given as a code."""
    lines: Iterable[tuple[int, ...]]
    if way in ROWS:
        lines = ROWS[way]([1 << n for n in bits(domain)])
    else:
        every = enumerated(way, domain, scale)
        some = every[:ALIKE] if way == "same pairs" else every
        lines = compress(every, cycle([unambiguous(array, scale) for array in some]))
    by_end = sorted(((line[-1], step_of(way, line, scale)), line) for line in lines)
    ends = tuple(end for end, _ in by_end)
    return (Rows if way in ROWS else ArrayTable)(scale, tuple(line for _, line in by_end), ends)


def step_of(way: str, line: Sequence[int], scale: Scale) -> int:
    """Return how far a progression goes at a time, or the sign of a sum; 0 of all other lines."""
    if way == "sums":
        return 1 if line[2] > line[0] else -1
    if way != "progression" or scale.order in ("names", "ring"):  # whose steps are all alike
        return 0
    one, other = (hypotheses.number(code, scale) or 0 for code in line[:2])
    return other - one
