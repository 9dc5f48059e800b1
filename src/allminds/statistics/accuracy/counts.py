"""Right answers by mind and difficulty: what every fit in this folder starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values, chance_level, numbers


@dataclass(frozen=True)
class Counts:
    """Hits and trials of each mind on each item (or level of difficulty), at one chance level.

    Make it with `Counts.of`, which checks it once. Hits need not be whole: a mind that guesses may
    be entered with the hits it is expected to have.
    """

    difficulty: Values  # D (the C-test's k), [item]
    hits: Values  # [mind, item]
    trials: Values  # [mind, item]
    chance: float  # c

    @classmethod
    def of(
        cls,
        difficulty: ArrayLike,
        hits: ArrayLike,
        trials: ArrayLike = 1,
        *,
        options: float | None = None,
        chance: float | None = None,
    ) -> Counts:
        """Counts from hits[mind, item], or hits[item] for one mind; trials may be one number."""
        d = np.atleast_1d(numbers(difficulty, "difficulty (D)"))
        x = np.atleast_2d(numbers(hits, "hits"))
        if d.ndim != 1 or x.ndim != 2 or x.shape[1] != len(d) or not len(d):
            raise Error(
                f"hits of shape {x.shape} do not fit {d.size} difficulties: give hits[mind, item]"
            )
        try:
            n = np.broadcast_to(numbers(trials, "trials"), x.shape)
        except ValueError:
            raise Error(
                f"trials of shape {np.shape(trials)} do not fit hits of shape {x.shape}"
            ) from None
        if not ((d > 0) & np.isfinite(d)).all():
            raise Error(
                "a difficulty is not above 0: items of no difficulty tell nothing, drop them"
            )
        if not ((x >= 0) & (x <= n) & np.isfinite(n)).all():
            raise Error("there are hits below 0 or above their trials: give 0 <= hits <= trials")
        c = float(chance_level(options, chance))
        if c >= 1:
            raise Error("with one option every answer is right: abilities need a chance below 1")
        return cls(d, x, n, c)

    @property
    def minds(self) -> int:
        """How many minds there are."""
        return len(self.hits)

    def mind(self, index: int) -> Counts:
        """One mind alone."""
        if not 0 <= index < self.minds:
            raise Error(f"there is no mind {index}: they are numbered 0 to {self.minds - 1}")
        rows = slice(index, index + 1)
        return Counts(self.difficulty, self.hits[rows], self.trials[rows], self.chance)

    def items(self, chosen: NDArray[np.bool_]) -> Counts:
        """The chosen items alone."""
        hits, trials = self.hits[:, chosen], self.trials[:, chosen]
        return Counts(self.difficulty[chosen], hits, trials, self.chance)

    def by_level(self) -> Counts:
        """Items of equal difficulty pooled into levels, easiest first."""
        levels, of = np.unique(self.difficulty, return_inverse=True)
        to_level = (of[:, None] == np.arange(len(levels))).astype(np.float64)
        return Counts(levels, self.hits @ to_level, self.trials @ to_level, self.chance)
