"""A group against its members: the same exercises and slots, with and without the protocol."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allminds.estimate import t_interval

Scores = NDArray[np.float64]  # [exercise, slot], NaN where the exercise failed


@dataclass(frozen=True)
class Gain:
    """What being in the group is worth: the mean difference on common exercises."""

    exercises: int
    difference: float
    interval: tuple[float, float] | None  # 95 %, t over exercises

    @property
    def verdict(self) -> str:
        """What the interval allows to be said."""
        if self.interval == (0.0, 0.0):
            return "the same"
        if self.interval is None or self.interval[0] <= 0 <= self.interval[1]:
            return "undecided"
        return "gains" if self.difference > 0 else "loses"


def gain(together: Scores, alone: Scores) -> Gain | None:
    """The paired difference of a group's slots and the same minds alone in the same slots.

    A slot's mind has the same starting cell and the same random words in both, so the pair
    differs by the protocol only. All slots of an exercise are one value.
    """
    differences = (together - alone).mean(axis=1)
    differences = differences[~np.isnan(differences)]
    count = len(differences)
    if count == 0:
        return None
    mean = float(differences.mean())
    if count == 1:
        return Gain(1, mean, None)
    stderr = float(differences.std(ddof=1) / np.sqrt(count))
    return Gain(count, mean, t_interval(mean, stderr, count - 1))
