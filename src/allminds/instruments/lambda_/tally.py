"""The level of a staircase, and its error from within one administration."""

from __future__ import annotations

import numpy as np

from allminds.inference.estimates import over_figures
from allminds.inference.intervals import Values, mostly_alike

BATCHES = 5  # that the second half of a staircase is cut into
LEAST_HALF = 500  # exercises in it, from which on batch means are as good as independent


def level(xi: Values, reward: Values) -> float:  # noqa: ARG001
    """The mean ξ of the second half."""
    return float(second_half(xi).mean())


def level_error(xi: Values, reward: Values) -> tuple[float, float] | None:  # noqa: ARG001
    """Standard error and degrees of freedom by batch means, for a long administration only.

    ξ is a walk: neighbours are alike, for a model-based mind over some twenty exercises, and a
    short path cannot know how far (simulated: with the 50 exercises of the usual second half, ten
    batches gave errors that were 20 to 58 % too small). Five batches of 100 or more hold, by t on
    4 degrees of freedom.
    """
    later = second_half(xi)
    if len(later) < LEAST_HALF or mostly_alike(later):
        return None
    return over_figures(np.array([batch.mean() for batch in np.array_split(later, BATCHES)]))


def second_half(path: Values) -> Values:
    """The later half of a path, the middle one included."""
    return path[len(path) // 2 :]
