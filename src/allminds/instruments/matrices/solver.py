"""The solver that is not told the rules: what holds of eight cells, field by field."""

from __future__ import annotations

from collections.abc import Sequence

from allminds.core.errors import Error
from allminds.instruments.matrices import codes
from allminds.instruments.matrices.codes import Code
from allminds.instruments.matrices.hypotheses import predictions, scale_of


def predicted(cells: Sequence[Code]) -> list[set[int]]:
    """For each field what its ninth value may be by all that holds of the first eight."""
    shape = cells[0][codes.SHAPE]
    if any(cell[codes.SHAPE] != shape for cell in cells):
        shape = 0
    return [
        predictions([cell[field] for cell in cells], scale_of(field, shape))
        for field in range(codes.FIELDS)
    ]


def matching(wanted: Sequence[set[int]], options: Sequence[Code]) -> list[int]:
    """The options all whose values are predicted."""
    return [
        number
        for number, option in enumerate(options)
        if all(value in values for value, values in zip(option, wanted, strict=True))
    ]


def verify(cells: Sequence[Code], options: Sequence[Code], answer: int) -> None:
    """An error unless one value is predicted for each field, and only the answer has them all."""
    wanted = predicted(cells)
    if any(len(values) != 1 for values in wanted):
        raise Error("a matrix is ambiguous: more or less than one value is predicted for a field")
    found = matching(wanted, options)
    if found != [answer]:
        raise Error(f"a matrix has options {found} that satisfy its rules, and not only {answer}")
