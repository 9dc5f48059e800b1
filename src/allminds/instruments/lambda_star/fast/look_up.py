"""What a mind sees, as a table over where Good and Evil lie from it.

Rewards in sight depend only on the displacement of Good and of Evil from the mind. Rows and
columns apart, displacements fall into classes: each at which something can be seen, and "far".
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LookUp(NamedTuple):
    """Tables by a class, or by both, which is the class of Good * classes + the class of Evil."""

    row_class: NDArray[np.uint32]  # [displacement + rows], times the number of column classes
    col_class: NDArray[np.uint32]
    classes: int
    gains: NDArray[np.int8]  # [class, cell in sight]: what Good gives there, in half units
    best: NDArray[np.int8]  # [both]: the largest reward in sight, in half units
    choices: NDArray[np.uint8]  # [both]: how many cells have it
    moves: NDArray[np.uint8]  # [both, pick]: the move 0..8 toward each of them


@lru_cache(maxsize=8)
def look_up(rows: int, cols: int, reach: int) -> LookUp:
    """Build the table for a torus and a range of sight."""
    row_class, row_seen = _axis(rows, reach)
    col_class, col_seen = _axis(cols, reach)
    offsets = np.arange(-reach, reach + 1)
    near_row = np.abs(offsets[None, :] - row_seen[:, None])  # [class, offset]
    near_col = np.abs(offsets[None, :] - col_seen[:, None])
    near_row, near_col = (
        np.minimum(near_row, rows - near_row),
        np.minimum(near_col, cols - near_col),
    )
    far = np.maximum(near_row[:, None, :, None], near_col[None, :, None, :])
    classes = len(row_seen) * len(col_seen)
    gains = np.maximum(0, 2 - far).reshape(classes, -1)
    rewards = gains[:, None, :] - gains[None, :, :]  # [good, evil, cell in sight]
    best = (rewards == rewards.max(axis=2, keepdims=True)).reshape(classes * classes, -1)
    by_row, by_col = np.sign(offsets)[:, None], np.sign(offsets)[None, :]
    move = (3 * (by_row + 1) + by_col + 1).reshape(-1)
    count = best.sum(axis=1)
    moves = np.zeros(best.shape, np.uint8)
    order = np.argsort(~best, axis=1, kind="stable")  # best cells first, in reading order
    moves[:] = move[order]
    return LookUp(
        (row_class * len(col_seen)).astype(np.uint32),
        col_class.astype(np.uint32),
        classes,
        gains.astype(np.int8),
        rewards.max(axis=2).reshape(-1).astype(np.int8),
        count.astype(np.uint8 if count.max() < 256 else np.uint16),
        moves,
    )


def _axis(size: int, reach: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the class of each displacement -size..size, and a displacement of each class."""
    shift = np.arange(-size, size + 1) % size
    shift = np.where(shift > size // 2, shift - size, shift)
    shift = np.where(np.abs(shift) > reach + 1, size // 2, shift)  # all that is far, alike
    seen, of = np.unique(shift, return_inverse=True)
    return of, seen
