"""The m-by-n torus: cells 1..mn in reading order, king moves 1..9, Chebyshev distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.seeding import Random
from allminds.instruments.rules import on_ring

ACTIONS = (
    "up-left", "up", "up-right",
    "left", "stay", "right",
    "down-left", "down", "down-right",
)  # fmt: skip

MOVES = tuple((row, col) for row in (-1, 0, 1) for col in (-1, 0, 1))  # of actions 1..9
KING = tuple(range(1, 10))  # all actions
Cells = NDArray[np.int64]  # or moves, of many episodes
_plain = on_ring(int, lambda function: function)


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
        return int(_plain.distance(self.rows, self.cols, *self.place(a), *self.place(b)))

    def distances(self, a: Cells, b: Cells) -> Cells:
        """Count the king moves between many cells."""
        (row, col), (to_row, to_col) = (np.divmod(of - 1, self.cols) for of in (a, b))
        return king_moves(self.rows, self.cols, row, col, to_row, to_col)

    def walk(self, a: int, b: int) -> int:
        """Count the moves between two cells along rows and columns only."""
        (row, col), (to_row, to_col) = self.place(a), self.place(b)
        return int(_plain.apart(row, to_row, self.rows) + _plain.apart(col, to_col, self.cols))

    def worth(self, cell: int, good: int) -> float:
        """Compute the reward that Good, in its cell, gives in another: 1/(d+1) if d < 2, else 0."""
        return float(_plain.worth(self.distance(cell, good)) / 2)

    def toward(self, cell: int, target: int, moves: tuple[int, ...] = KING) -> int:
        """Return the action of one king step toward a target, rows and columns apart.

        It goes the shorter way round; exactly half-way, the way that does not wrap. With fewer
        `moves`, take one that leads nearest, counted in such moves: that action, or else the first.
        """
        action = _toward(self.rows, self.cols, cell, target)
        if moves is KING or moves == KING:
            return action
        far = _walks(self, moves)
        to_row, to_col = self.place(target)

        def left(move: int) -> tuple[int, int, bool]:
            here = self.moved(cell, move)
            row, col = self.place(here)
            away = far[self.cell(to_row - row, to_col - col) - 1]
            return away, self.distance(here, target), move != action

        return min(moves, key=left)

    def toward_many(
        self, cells: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Compute `toward` with all king moves, for many cells at once."""
        (row, col), (to_row, to_col) = (np.divmod(of - 1, self.cols) for of in (cells, targets))
        by_row, by_col = to_row - row, to_col - col
        up = np.sign(by_row) * np.where(2 * np.abs(by_row) <= self.rows, 1, -1)
        along = np.sign(by_col) * np.where(2 * np.abs(by_col) <= self.cols, 1, -1)
        return np.asarray(3 * (up + 1) + along + 2)

    def starts(self, count: int, random: Random, j: int) -> tuple[int, ...]:
        """Draw different cells, the first of a random permutation, by words j, j + 1, …"""
        cells = list(range(1, self.cells + 1))
        for place in range(count):
            other = place + random.below_at(len(cells) - place, j + place)
            cells[place], cells[other] = cells[other], cells[place]
        return tuple(cells[:count])


def king_moves(rows: int, cols: int, row: Any, col: Any, to_row: Any, to_col: Any) -> NDArray[Any]:
    """Count the king moves between cells, as arrays of rows and columns from 0."""
    by_row, by_col = np.abs(to_row - row), np.abs(to_col - col)
    found = np.maximum(np.minimum(by_row, rows - by_row), np.minimum(by_col, cols - by_col))
    return np.asarray(found)


def half_worths(far: NDArray[Any]) -> NDArray[Any]:
    """Compute what Good gives at distances, in half units."""
    return np.asarray(np.maximum(0, 2 - far))


@lru_cache(maxsize=8)
def half_worths_of(torus: Torus) -> NDArray[np.int8]:
    """Compute what Good gives in all cells, in half units: [cell, Good's cell], from 0."""
    cells = np.arange(1, torus.cells + 1)
    rows = (torus.distances(cells[n : n + 1], cells) for n in range(torus.cells))
    return np.stack([half_worths(far).astype(np.int8) for far in rows])


@lru_cache(maxsize=8)
def neighbours(torus: Torus) -> NDArray[np.int64]:
    """List the cells, from 0, that each move leads to: [move, cell]."""
    row, col = np.divmod(np.arange(torus.cells), torus.cols)
    return np.stack([
        (row + by_row) % torus.rows * torus.cols + (col + by_col) % torus.cols
        for by_row, by_col in MOVES
    ])  # fmt: skip


@lru_cache(maxsize=64)
def _walks(torus: Torus, moves: tuple[int, ...]) -> tuple[int, ...]:
    """Count the least moves of a set to every cell from cell 1; more than all cells for never."""
    far, edge, steps = {1: 0}, {1}, 0
    while edge:
        steps += 1
        edge = {torus.moved(cell, move) for cell in edge for move in moves} - far.keys()
        far |= dict.fromkeys(edge, steps)
    return tuple(far.get(cell, torus.cells + 1) for cell in range(1, torus.cells + 1))


@lru_cache(maxsize=1 << 12)
def _around(torus: Torus, cell: int, reach: int) -> tuple[int, ...]:
    row, col = torus.place(cell)
    span = range(-reach, reach + 1)
    return tuple(torus.cell(row + i, col + j) for i in span for j in span)


@lru_cache(maxsize=1 << 16)
def _toward(rows: int, cols: int, cell: int, target: int) -> int:
    """Return the action of one king step; kept, for a mind asks the same again and again."""
    (row, col), (to_row, to_col) = divmod(cell - 1, cols), divmod(target - 1, cols)
    return action_of(_plain.shorter(row, to_row, rows), _plain.shorter(col, to_col, cols))
