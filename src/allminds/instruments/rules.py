"""Rules of numbers that several worlds and forms share, each written once.

The plain Python calls them as they stand; `fast` beside this file compiles the same functions. So
this module imports nothing, and its functions use only what Numba knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class OnRing(NamedTuple):
    """The rules of a torus; rows and columns count from 0, rewards in half units."""

    wrapped: Callable[..., Any]  # (place, size) -> place, which may have left by up to a size
    apart: Callable[..., Any]  # (here, there, size) -> steps between two rows, or columns
    shorter: Callable[..., Any]  # (here, there, size) -> -1, 0 or 1
    distance: Callable[..., Any]  # (rows, cols, row, col, to_row, to_col) -> king moves
    worth: Callable[..., Any]  # distance to Good -> reward
    reward: Callable[..., Any]  # (rows, cols, row, col, good row, good col, evil row, evil col)


def on_ring(whole: Callable[[Any], Any], compiled: Callable[[Any], Any]) -> OnRing:
    """Build the rules of a torus from one source: for `int`, or for Numba in numbers of a width."""
    none, two = whole(0), whole(2)

    @compiled
    def wrapped(place, size):  # type: ignore[no-untyped-def]
        back = whole(place + size) if place < none else place
        return whole(back - size) if back >= size else back

    @compiled
    def apart(here, there, size):  # type: ignore[no-untyped-def]
        ahead = abs(whole(there - here))
        return min(ahead, whole(size - ahead))

    @compiled
    def shorter(here, there, size):  # type: ignore[no-untyped-def]
        # the shorter way round; exactly half-way, the way that does not wrap
        ahead = whole(there - here)
        sign = whole(ahead > none) - whole(ahead < none)
        return whole(sign if two * abs(ahead) <= size else -sign)

    @compiled
    def distance(rows, cols, row, col, to_row, to_col):  # type: ignore[no-untyped-def]
        return max(apart(row, to_row, rows), apart(col, to_col, cols))

    @compiled
    def worth(far):  # type: ignore[no-untyped-def]
        # twice 1/(d + 1) if d < 2, else 0
        return max(none, whole(two - far))

    @compiled
    def reward(rows, cols, row, col, good_row, good_col, evil_row, evil_col):  # type: ignore[no-untyped-def]
        good = worth(distance(rows, cols, row, col, good_row, good_col))
        return whole(good - worth(distance(rows, cols, row, col, evil_row, evil_col)))

    return OnRing(wrapped, apart, shorter, distance, worth, reward)


def parted(good: int, evil: int, to_good: int, to_evil: int, lot: int) -> tuple[int, int]:
    """Put Good and Evil in the cells they want to go to; they never share one.

    If both would, the one already there keeps it and the other its old cell; if neither is, the
    lot (0 for Good, 1 for Evil) says who moves, and the other keeps its old cell.
    """
    if to_good != to_evil:
        return to_good, to_evil
    if to_good == good or (to_evil != evil and lot == 0):
        return to_good, evil
    return good, to_evil


def missing(value: float, gain: float, ahead: float, gamma: float) -> float:
    """Compute how much Q(s,a) is short of what came of it: R + γ·(the value ahead) - Q(s,a)."""
    return gain + gamma * ahead - value


def period(items: Sequence[Any], length: int) -> int:
    """Return the length of the shortest part that, repeated, gives the first `length` items."""
    for size in range(1, length):
        if length % size == 0:
            same = True
            for place in range(size, length):
                if items[place] != items[place - size]:
                    same = False
                    break
            if same:
                return size
    return length


def weighted(weights: Sequence[float], unit: float) -> int:
    """Return the index drawn by a number in [0, 1), with chances proportional to the weights."""
    total = 0.0
    for weight in weights:
        total += weight
    aim, reached, last = unit * total, 0.0, 0
    for index in range(len(weights)):
        reached += weights[index]
        if weights[index] > 0.0:
            last = index
            if aim < reached:
                break
    return last
