"""The level of a staircase, and its error from within one administration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BATCHES = 10  # that the second half of a staircase is cut into

Values = NDArray[np.float64]


def level(xi: Values, reward: Values) -> float:  # noqa: ARG001
    """The mean ξ of the second half."""
    return float(second_half(xi).mean())


def level_error(xi: Values, reward: Values) -> tuple[float, float] | None:  # noqa: ARG001
    """Standard error and degrees of freedom from batch means, if there are exercises enough."""
    later = second_half(xi)
    if len(later) < 2 * BATCHES:
        return None
    means = [batch.mean() for batch in np.array_split(later, BATCHES)]
    return float(np.std(means, ddof=1)) / BATCHES**0.5, BATCHES - 1


def second_half(path: Values) -> Values:
    """The later half of a path, the middle one included."""
    return path[len(path) // 2 :]
