"""Small tables of a torus that both baselines may use: made once and never timed."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.lambda_star.grid import Torus


class Tables(NamedTuple):
    """Everything about cells, here numbered from 0."""

    moved: NDArray[np.int64]  # [cell, action from 0]: the cell it leads to, so also what is seen
    gain: NDArray[np.int8]  # [cell, place]: reward of a cell with Good in that place, half units
    toward: NDArray[np.int64]  # [cell, target]: the cell after one step toward the target


@lru_cache(maxsize=4)
def tables(torus: Torus) -> Tables:
    """The tables of a torus, from the functions of the specification."""
    cells = range(1, torus.cells + 1)
    return Tables(
        np.array([[torus.moved(c, a) - 1 for a in range(1, 10)] for c in cells]),
        np.array([[max(0, 2 - torus.distance(c, p)) for p in cells] for c in cells], np.int8),
        np.array([[torus.moved(c, torus.toward(c, p)) - 1 for p in cells] for c in cells]),
    )
