"""The solver: which hypotheses hold of eight values, and which ninth value each predicts.

The values of one field are read along the rows, and then along the columns. A hypothesis says how
the third cell of a row follows from the first two. If it fits two whole rows, it predicts the
ninth value; it need not be a rule that matrices are made with. The solver is not told which rule
was used. A matrix is unambiguous if all hypotheses that hold predict one and the same value.

- Of any values (`any_values`): the third cell is the first, or the second, or always the same; the
  same values stand in every row, in some order; a value is always followed by the same one.
- Of values in an order (`of_numbers`): even steps, also from one row to another; the third cell is
  the first, or the second, and a constant. Where larger and smaller mean something: the larger or
  the smaller of the two, the value midway, or as far on the other side.
- Of numbers, which counts and sides are: the sum or a difference of two cells and a constant, which
  may be nought, a total that is the same in every row, the difference without its sign, product
  and quotients, the double or the half of one cell.
- Of sets (`of_sets`): union, either remainder, symmetric difference, intersection; every element
  occurs as often in every row.
- Of how many elements a set has (`amounts`): sum, remainder, even steps, the same numbers in some
  order, and along the rows the same number in every third cell. These predict no value, but a
  matrix is ambiguous if they contradict the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.panel import COUNTS, PLACES, POLYGONS, SIZES
from allminds.instruments.matrices.making.rules import Code

Order = Literal["names", "levels", "numbers", "ring", "grid"]
ORDERS: tuple[Order, ...] = ("names", "levels", "numbers", "ring", "grid")


class Scale(NamedTuple):
    """How the values of a field are ordered, how many are, and the number that the first is."""

    order: Order
    length: int = 0
    first: int = 0


NAMES_ONLY = Scale("names")
_SCALES = {
    codes.SHAPE: Scale("numbers", len(POLYGONS), int(POLYGONS[0])),  # of sides; others have none
    codes.SIZE: Scale("levels", SIZES),
    codes.COUNT: Scale("numbers", len(COUNTS), COUNTS[0]),
    codes.PLACE: Scale("grid", PLACES),
}


def scale_of(field: int, shape: int = 0) -> Scale:
    """Return the scale of a field; that of angles depends on the shape, given as a code."""
    if field == codes.ANGLE:
        return Scale("ring", codes.turns_of(shape))
    return _SCALES.get(field, NAMES_ONLY)


# ---------------------------------------------------------------- values as numbers

ROW = 16  # a step down on the grid; steps to the right are shorter than half of it


def number(code: int, scale: Scale) -> int | None:
    """Return the number that a value is; None for a value outside the order, and for none."""
    n = codes.index(code)
    if not 0 <= n < scale.length:
        return None
    return ROW * (n // 3) + n % 3 if scale.order == "grid" else n + scale.first


def value(n: int | None, scale: Scale) -> int | None:
    """Return the value that a number is; None outside the order."""
    if n is None:
        return None
    if scale.order == "grid":
        row, column = divmod(n + ROW // 2, ROW)
        column -= ROW // 2
        return 1 << (3 * row + column) if 0 <= row < 3 and 0 <= column < 3 else None
    n = n % scale.length if scale.order == "ring" else n - scale.first
    return 1 << n if 0 <= n < scale.length else None


# ---------------------------------------------------------------- hypotheses

Row = Sequence[int]
Third = Callable[[int, int, Row], int | None]  # the third number, of two and of the first row


def any_values(first: Row, second: Row, a: int, b: int) -> Iterator[int | None]:
    """Yield what hypotheses about any values predict, None for those that do not hold."""
    yield a if first[0] == first[2] and second[0] == second[2] else None
    yield b if first[1] == first[2] and second[1] == second[2] else None
    yield first[2] if first[2] == second[2] else None
    yield same_values(first, second, a, b)
    yield followed(first, second, a, b)


def same_values(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict the ninth value if each row has the same three values in some order."""
    left = list(first)
    if sorted(second) != sorted(first) or a not in left:
        return None
    left.remove(a)
    if b not in left:
        return None
    left.remove(b)
    return left[0]


def followed(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict what follows the eighth value, if each is always followed by the same one."""
    follows: dict[int, int] = {}
    for row in (first, second, (a, b)):
        for left, right in pairwise(row):
            if follows.setdefault(left, right) != right:
                return None
    return follows.get(b)


def _divided(p: int, q: int) -> int | None:
    return p // q if p % q == 0 else None


STEPS: dict[str, Third] = {
    "even steps": lambda p, q, _: 2 * q - p,
    "the first and a constant": lambda p, _, row: p + row[2] - row[0],
    "the second and a constant": lambda _, q, row: q + row[2] - row[1],
}
LEVELS: dict[str, Third] = STEPS | {
    "the larger": lambda p, q, _: max(p, q),
    "the smaller": lambda p, q, _: min(p, q),
    "midway": lambda p, q, _: _divided(p + q, 2),
    "as far on the other side": lambda p, q, _: 2 * p - q,
}
NUMBERS: dict[str, Third] = LEVELS | {
    "sum and a constant": lambda p, q, row: p + q + row[2] - row[0] - row[1],
    "first less second and a constant": lambda p, q, row: p - q + row[2] - row[0] + row[1],
    "second less first and a constant": lambda p, q, row: q - p + row[2] + row[0] - row[1],
    "the same total": lambda p, q, row: sum(row) - p - q,
    "difference": lambda p, q, _: abs(p - q),
    "double the first": lambda p, _q, _: 2 * p,
    "double the second": lambda _p, q, _: 2 * q,
    "half the first": lambda p, _q, _: _divided(p, 2),
    "half the second": lambda _p, q, _: _divided(q, 2),
    "product": lambda p, q, _: p * q,
    "first by second": lambda p, q, _: _divided(p, q),
    "second by first": lambda p, q, _: _divided(q, p),
}
THIRDS: dict[Order, dict[str, Third]] = {
    "names": {}, "levels": LEVELS, "numbers": NUMBERS, "ring": STEPS, "grid": STEPS
}  # fmt: skip


def of_numbers(first: Row, second: Row, a: int, b: int, scale: Scale) -> Iterator[int | None]:
    """Yield what hypotheses about values in an order predict, None for those that do not hold."""
    shown = [n for n in (number(code, scale) for code in (*first, *second, a, b)) if n is not None]
    if len(shown) < 8:
        return
    row = shown[:3]
    for third in THIRDS[scale.order].values():
        if value(third(row[0], row[1], row), scale) != first[2]:
            continue
        if value(third(shown[3], shown[4], row), scale) == second[2]:
            yield value(third(shown[6], shown[7], row), scale)


OPERATIONS: tuple[Callable[[int, int], int], ...] = (
    lambda p, q: p | q,
    lambda p, q: p & ~q,
    lambda p, q: q & ~p,
    lambda p, q: p ^ q,
    lambda p, q: p & q,
)


def of_sets(first: Row, second: Row, a: int, b: int) -> Iterator[int | None]:
    """Yield what hypotheses about sets predict, None for those that do not hold."""
    for made in OPERATIONS:
        if made(first[0], first[1]) == first[2] and made(second[0], second[1]) == second[2]:
            yield made(a, b)
    odd, twice = _often(*first)
    left = odd ^ a ^ b
    yield left if _often(*second) == (odd, twice) == _often(a, b, left) else None


def _often(p: int, q: int, r: int) -> tuple[int, int]:
    """Return which elements are in one or three of three sets, and which in two or three."""
    return p ^ q ^ r, (p & q) | (p & r) | (q & r)


AMOUNTS: tuple[Callable[[int, int], int], ...] = (
    lambda p, q: p + q,
    lambda p, q: p - q,
    lambda p, q: 2 * q - p,
)


def amounts(eight: Sequence[int]) -> Iterator[int]:
    """Yield how many elements hypotheses about their number predict, where cells are sets."""
    a, b, c, d, e, f, g, h = (code.bit_count() for code in eight)
    if not any(code & (code - 1) for code in eight):
        return
    if c == f:
        yield c
    for first, second, p, q in (((a, b, c), (d, e, f), g, h), ((a, d, g), (b, e, h), c, f)):
        found = same_values(first, second, p, q)
        if found is not None:
            yield found
        for third in AMOUNTS:
            if third(first[0], first[1]) == first[2] and third(second[0], second[1]) == second[2]:
                yield third(p, q)


# ---------------------------------------------------------------- all of them


def along(first: Row, second: Row, a: int, b: int, scale: Scale) -> Iterator[int | None]:
    """Yield what each hypothesis predicts along one direction, None for those that do not hold."""
    yield from any_values(first, second, a, b)
    if any(code & (code - 1) for code in (*first, *second, a, b)):
        yield from of_sets(first, second, a, b)
    elif scale.order != "names":
        yield from of_numbers(first, second, a, b, scale)


def every(eight: Sequence[int], scale: Scale) -> Iterator[int | None]:
    """Yield what each hypothesis predicts along the rows, and along the columns."""
    a, b, c, d, e, f, g, h = eight
    yield from along((a, b, c), (d, e, f), g, h, scale)
    yield from along((a, d, g), (b, e, h), c, f, scale)


def predictions(eight: Sequence[int], scale: Scale) -> set[int]:
    """Collect the ninth values predicted by all that holds, along rows or columns."""
    return {value for value in every(eight, scale) if value is not None}


def contradicted(eight: Sequence[int], ninth: int) -> bool:
    """Return whether a number of elements is predicted that a ninth value does not have."""
    return any(number >= 0 and number != ninth.bit_count() for number in amounts(eight))


# ---------------------------------------------------------------- solver


def predicted(cells: Sequence[Code]) -> list[set[int]]:
    """List for each field the ninth values that hypotheses about the first eight predict."""
    shape = cells[0][codes.SHAPE]
    if any(cell[codes.SHAPE] != shape for cell in cells):
        shape = 0
    return [
        predictions([cell[field] for cell in cells], scale_of(field, shape))
        for field in range(codes.FIELDS)
    ]


def matching(wanted: Sequence[set[int]], options: Sequence[Code]) -> list[int]:
    """List the options all of whose values are predicted."""
    return [
        number
        for number, option in enumerate(options)
        if all(value in values for value, values in zip(option, wanted, strict=True))
    ]


def verify(cells: Sequence[Code], options: Sequence[Code], answer: int) -> None:
    """Require one predicted value for each field, and that only the answer has them all."""
    wanted = predicted(cells)
    columns = zip(*cells, strict=True)
    if any(
        len(values) != 1 or contradicted(eight, *values)
        for values, eight in zip(wanted, columns, strict=True)
    ):
        raise Error("a matrix is ambiguous: more or less than one value is predicted for a field")
    found = matching(wanted, options)
    if found != [answer]:
        raise Error(f"a matrix has options {found} that satisfy its rules, and not only {answer}")
