"""Banks of 3 x 3 arrays for one field: all that a rule allows and no rival hypothesis upsets.

Where a domain is small enough, all arrays are enumerated once and the ambiguous ones left out; an
`ArrayTable` has the rest, by their ninth value. Rules over sets have too many: their rows are
tabled, `Rows`, and an array is three of them, drawn until it is unambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, permutations, product

from allminds.instruments.matrices.making import solver as hypotheses
from allminds.instruments.matrices.making.rules import bits, union
from allminds.instruments.matrices.making.solver import Scale

Array = tuple[int, ...]  # nine codes, row by row
Row = tuple[int, int, int]
CYCLES = (3, 4)  # colours that follow each other in a progression; longer ones are seldom deducible


@dataclass(frozen=True, eq=False)
class Bank:
    """What can be drawn for one rule on one field."""

    scale: Scale
    lines: tuple[tuple[int, ...], ...]  # whole arrays or single rows, by their last value

    @cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """The lines that end in each value: the first, and the one after the last."""
        found: dict[int, tuple[int, int]] = {}
        for place, line in enumerate(self.lines):
            found[line[-1]] = (found.get(line[-1], (place, place))[0], place + 1)
        return found

    @cached_property
    def quadruples(self) -> tuple[tuple[int, ...], ...]:
        """The sets of four answers that may be options together."""
        return tuple(_alternatives(self.spans, 4))

    @cached_property
    def pairs(self) -> tuple[tuple[int, ...], ...]:
        """The sets of two answers that may be options together."""
        return tuple(_alternatives(self.spans, 2))

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
    return hypotheses.predictions(array[:8], scale) == {array[8]}


# ---------------------------------------------------------------- which answers go together


def _alternatives(answers: Iterable[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of answers alike: any values, or sets that differ in one or two elements.

    Four sets are a square {S, S+a, S+b, S+a+b}, or for pairs {xz, xw, yz, yw}; two are its edge.
    """
    known = sorted(answers)
    if not any(code & (code - 1) for code in known):
        yield from combinations(known, count)
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
                found.add(tuple(sorted(square)))
    yield from sorted(found)


def _flips(code: int, elements: Sequence[int]) -> list[int]:  # noqa: ARG001
    """List each element that may be put into a set or taken out of it."""
    return [1 << n for n in elements]


def _exchanges(code: int, elements: Sequence[int]) -> list[int]:
    """List each exchange of one element of a pair for another."""
    return [1 << out | 1 << into for out in bits(code) for into in elements if not code >> into & 1]


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
    if scale.order == "transitions":
        yield from _cycles(domain)
        return
    rows: dict[tuple[int, int], list[Row]] = {}
    for step, row in _runs(domain, scale):
        rows.setdefault(step, []).append(row)
    for alike in rows.values():
        for first, second, third in product(alike, repeat=3):
            yield (*first, *second, *third)


def _runs(domain: Sequence[int], scale: Scale) -> Iterator[tuple[tuple[int, int], Row]]:
    """Yield rows of three values a step apart, each with its step."""
    steps = [(0, n) for n in range(1 - scale.length, scale.length) if n]
    if scale.order == "ring":
        steps = [(0, n) for n in range(1, scale.length)]
    elif scale.order == "grid":
        steps = [(down, along) for down in (-1, 0, 1) for along in (-1, 0, 1) if down or along]
    elif scale.order == "count":
        steps = [(0, -1), (0, 1)]
    for step in steps:
        for first in domain:
            second = hypotheses.moved(first, step, scale)
            third = None if second is None else hypotheses.moved(second, step, scale)
            if second in domain and third in domain:
                yield step, (first, second, third)  # type: ignore[misc]


def _cycles(domain: Sequence[int]) -> Iterator[Array]:
    """Yield arrays in which each value is followed by the next of a cycle; rows begin anywhere."""
    for length in CYCLES:
        for cycle in permutations(domain, length):
            if cycle[0] != min(cycle):
                continue
            rows = [tuple(cycle[(n + k) % length] for k in range(3)) for n in range(length)]
            for first, second, third in product(rows, repeat=3):
                yield (*first, *second, *third)


def _sums(domain: Sequence[int], scale: Scale) -> Iterator[Array]:  # noqa: ARG001
    """Yield counts that are added in all rows, or subtracted in all."""
    added = [(p, q, p * q << 1) for p in domain for q in domain if p * q << 1 in domain]
    for rows in (added, [(third, p, q) for p, q, third in added]):
        for first, second, third in product(rows, repeat=3):
            yield (*first, *second, *third)


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
    if way in ROWS:
        rows = ROWS[way]([1 << n for n in bits(domain)])
        return Rows(scale, tuple(sorted(rows, key=lambda row: (row[-1], row))))
    arrays = [array for array in enumerated(way, domain, scale) if unambiguous(array, scale)]
    return ArrayTable(scale, tuple(sorted(arrays, key=lambda array: (array[-1], array))))
