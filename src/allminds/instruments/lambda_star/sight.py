"""What has been seen of a torus, as bits, and where there is most left to see."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import Torus, action_of
from allminds.instruments.lambda_star.minds import uniform_best

STAY = action_of(0, 0)


@lru_cache(maxsize=1 << 12)
def sight(torus: Torus, cell: int, reach: int) -> int:
    """The cells that a mind sees from a cell: bit `c` is set for cell c."""
    seen = 0
    for other in torus.around(cell, reach):
        seen |= 1 << other
    return seen


@lru_cache(maxsize=1 << 12)
def _sights(torus: Torus, cell: int, reach: int) -> tuple[int, ...]:
    """`sight` after each of the nine moves from a cell."""
    return tuple(sight(torus, torus.moved(cell, action), reach) for action in range(1, 10))


def cells_of(bits: int) -> Iterator[int]:
    """The cells whose bits are set, in reading order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def reveal(torus: Torus, reach: int, cell: int, seen: int, random: Random) -> int:
    """The move that shows most cells not yet seen, by lot among equals.

    If none shows any, a step toward the nearest cell not yet seen, the first of several.
    """
    fresh = [(shown & ~seen).bit_count() for shown in _sights(torus, cell, reach)]
    if max(fresh) > 0:
        return 1 + uniform_best(fresh, random)
    unseen = list(cells_of(((2 << torus.cells) - 2) & ~seen))
    if not unseen:
        return STAY
    return torus.toward(cell, min(unseen, key=lambda other: torus.distance(cell, other)))
