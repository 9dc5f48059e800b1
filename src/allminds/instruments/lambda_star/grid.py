"""The m-by-n torus: cells 1..mn in reading order, king moves 1..9, Chebyshev distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

ACTIONS = (
    "up-left", "up", "up-right",
    "left", "stay", "right",
    "down-left", "down", "down-right",
)  # fmt: skip

MOVES = tuple((row, col) for row in (-1, 0, 1) for col in (-1, 0, 1))  # of actions 1..9


def action_of(row: int, col: int) -> int:
    """Return the action that moves by (row, col), each -1, 0 or 1."""
    return 3 * (row + 1) + (col + 1) + 1


@dataclass(frozen=True)
class Torus:
    """A grid whose borders are joined: a mind that leaves on one side enters on the other."""

    rows: int
    cols: int

    @property
    def cells(self) -> int:
        """The number of cells; they are numbered 1..cells."""
        return self.rows * self.cols

    def place(self, cell: int) -> tuple[int, int]:
        """Return the row and column of a cell, from 0."""
        return divmod(cell - 1, self.cols)

    def cell(self, row: int, col: int) -> int:
        """Return the cell at a row and column, which may lie beyond the border."""
        return row % self.rows * self.cols + col % self.cols + 1

    def moved(self, cell: int, action: int) -> int:
        """Return the cell that an action leads to."""
        row, col = self.place(cell)
        by_row, by_col = MOVES[action - 1]
        return self.cell(row + by_row, col + by_col)

    def around(self, cell: int, reach: int) -> tuple[int, ...]:
        """List the (2·reach + 1)² Moore neighbours in reading order, the cell itself in the middle.

        On a small torus, where the neighbourhood meets itself, a cell is listed as often as it
        is seen.
        """
        return _around(self, cell, reach)

    def distance(self, a: int, b: int) -> int:
        """Count the king moves between two cells."""
        (row_a, col_a), (row_b, col_b) = self.place(a), self.place(b)
        rows, cols = abs(row_a - row_b), abs(col_a - col_b)
        return max(min(rows, self.rows - rows), min(cols, self.cols - cols))

    def toward(self, cell: int, target: int) -> int:
        """Return the action of one king step toward a target, rows and columns apart."""
        (row, col), (to_row, to_col) = self.place(cell), self.place(target)
        return action_of(_shorter(row, to_row, self.rows), _shorter(col, to_col, self.cols))


@lru_cache(maxsize=1 << 12)
def _around(torus: Torus, cell: int, reach: int) -> tuple[int, ...]:
    row, col = torus.place(cell)
    span = range(-reach, reach + 1)
    return tuple(torus.cell(row + i, col + j) for i in span for j in span)


def _shorter(here: int, there: int, size: int) -> int:
    """Return -1, 0 or 1: the shorter way round; exactly half-way, the way that does not wrap."""
    ahead = there - here
    if ahead == 0:
        return 0
    sign = 1 if ahead > 0 else -1
    return sign if 2 * abs(ahead) <= size else -sign
