"""The solver: which hypotheses hold of eight values, and which ninth value each predicts.

The values of one field are read along the rows, and then along the columns. A hypothesis holds if
it fits two whole rows and the beginning of the third; then it predicts the ninth value. The solver
is not told which rule was used. A matrix is unambiguous if all hypotheses that hold predict one
and the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from allminds.core.errors import Error
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.panel import COUNTS, PLACES, POLYGONS, SIZES
from allminds.instruments.matrices.making.rules import Code

Order = Literal["names", "line", "count", "ring", "transitions", "grid"]


class Scale(NamedTuple):
    """How the values of a field are ordered, and how many take part in that order."""

    order: Order
    length: int = 0


NAMES_ONLY = Scale("names")
_SCALES = {
    codes.SHAPE: Scale("line", len(POLYGONS)),  # by their sides; other shapes have no order
    codes.SIZE: Scale("line", SIZES),
    codes.COUNT: Scale("count", len(COUNTS)),
    codes.COLOUR: Scale("transitions"),
    codes.MARK_COLOUR: Scale("transitions"),
    codes.PLACE: Scale("grid", PLACES),
}


def scale_of(field: int, shape: int = 0) -> Scale:
    """Return the scale of a field; that of angles depends on the shape, given as a code."""
    if field == codes.ANGLE:
        return Scale("ring", codes.turns_of(shape))
    return _SCALES.get(field, NAMES_ONLY)


# ---------------------------------------------------------------- hypotheses of any values

Row = Sequence[int]


def constant(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict the ninth value if each row has one value."""
    alike = first[0] == first[1] == first[2] and second[0] == second[1] == second[2]
    return a if alike and a == b else None


def repeated(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict the ninth value if all rows are the same."""
    same = tuple(first) == tuple(second) and (first[0], first[1]) == (a, b)
    return first[2] if same else None


def three(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict the ninth value if each row has the same three values in some order."""
    values = set(first)
    if len(values) != 3 or set(second) != values or a == b or not {a, b} < values:
        return None
    return (values - {a, b}).pop()


# ---------------------------------------------------------------- hypotheses of ordered values


def _steps(first: Row, second: Row, a: int, b: int) -> Iterator[tuple[int, int]]:
    """Yield the five steps from a cell to its neighbour that are shown."""
    for row in (first, second):
        yield row[0], row[1]
        yield row[1], row[2]
    yield a, b


def progression(first: Row, second: Row, a: int, b: int, scale: Scale) -> int | None:
    """Predict by a constant step that is not zero: along a line, round a ring, across a grid."""
    before = after = None
    for left, right in _steps(first, second, a, b):
        before, after = after, _step(codes.index(left), codes.index(right), scale)
        if after is None or (before is not None and before != after):
            return None
    if after is None or after == (0, 0):
        return None
    return moved(b, after, scale)


def _step(left: int, right: int, scale: Scale) -> tuple[int, int] | None:
    """Return the step between two values as (down, along); None for values outside the order."""
    if scale.order == "grid":
        return right // 3 - left // 3, right % 3 - left % 3
    if left >= scale.length or right >= scale.length:
        return None
    return 0, (right - left) % scale.length if scale.order == "ring" else right - left


def moved(code: int, step: tuple[int, int], scale: Scale) -> int | None:
    """Return the value a step further; None outside the order."""
    (down, right), value = step, codes.index(code)
    if scale.order == "grid":
        row, column = value // 3 + down, value % 3 + right
        return 1 << (3 * row + column) if 0 <= row < 3 and 0 <= column < 3 else None
    further = value + right
    if scale.order == "ring":
        return 1 << further % scale.length
    return 1 << further if 0 <= further < scale.length else None


def transition(first: Row, second: Row, a: int, b: int) -> int | None:
    """Predict what follows the eighth value, if each is always followed by the same one."""
    follows: dict[int, int] = {}
    for left, right in _steps(first, second, a, b):
        if follows.setdefault(left, right) != right:
            return None
    return follows.get(b)


def sums(first: Row, second: Row, a: int, b: int, sign: int) -> int | None:
    """Predict the third count as the sum, or the difference, of the others."""
    for left, right, third in (first, second):
        if codes.index(left) + 1 + sign * (codes.index(right) + 1) != codes.index(third) + 1:
            return None
    count = codes.index(a) + 1 + sign * (codes.index(b) + 1)
    return 1 << (count - 1) if count in COUNTS else None


# ---------------------------------------------------------------- hypotheses of sets

OPERATIONS: tuple[Callable[[int, int], int], ...] = (
    lambda p, q: p | q,
    lambda p, q: p & ~q,
    lambda p, q: p ^ q,
    lambda p, q: p & q,
)


def operation(
    first: Row, second: Row, a: int, b: int, made: Callable[[int, int], int]
) -> int | None:
    """Predict the third set by an operation: union, remainder, difference or intersection."""
    if made(first[0], first[1]) != first[2] or made(second[0], second[1]) != second[2]:
        return None
    return made(a, b)


# ---------------------------------------------------------------- all of them


def along(first: Row, second: Row, a: int, b: int, scale: Scale) -> Iterator[int | None]:
    """Yield what each hypothesis predicts along one direction, None for those that do not hold."""
    yield constant(first, second, a, b)
    yield repeated(first, second, a, b)
    yield three(first, second, a, b)
    if any(code & (code - 1) for code in (*first, *second, a, b)):
        for made in OPERATIONS:
            yield operation(first, second, a, b, made)
    elif scale.order == "transitions":
        yield transition(first, second, a, b)
    elif scale.order != "names":
        yield progression(first, second, a, b, scale)
        if scale.order == "count":
            yield sums(first, second, a, b, 1)
            yield sums(first, second, a, b, -1)


def predictions(eight: Sequence[int], scale: Scale) -> set[int]:
    """Collect the ninth values predicted by all that holds, along rows or columns."""
    a, b, c, d, e, f, g, h = eight
    found = {*along((a, b, c), (d, e, f), g, h, scale), *along((a, d, g), (b, e, h), c, f, scale)}
    return {value for value in found if value is not None}


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
    if any(len(values) != 1 for values in wanted):
        raise Error("a matrix is ambiguous: more or less than one value is predicted for a field")
    found = matching(wanted, options)
    if found != [answer]:
        raise Error(f"a matrix has options {found} that satisfy its rules, and not only {answer}")
