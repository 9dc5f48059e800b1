"""What comes of adaptive tests: one figure an administration, and an interval over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allminds.blocks import Block
from allminds.estimate import Estimate, t_interval

BATCHES = 10  # that the second half of a staircase is cut into

Values = NDArray[np.float64]


class Administrations:
    """Takes exercises in order, and makes one figure of every administration that is whole.

    While none is whole, the figure is read off the exercises so far. An exercise that failed
    counts 0. There is nothing to normalise by, for these figures have no ceiling.
    """

    def __init__(self, sitting: int) -> None:
        self.sitting = sitting
        self.episodes = self.failed = 0
        self._figures: list[float] = []
        self._learning: list[float] = []
        self._whole: Values = np.zeros((0, 2))  # the last whole administration: ξ, R
        self._begun: list[list[float]] = []  # the one in hand

    def add(self, block: Block) -> None:
        """Take the next exercises."""
        ok = (block.status == 0).all(axis=1)
        self.episodes += len(ok)
        self.failed += int((~ok).sum())
        rewards = np.where(ok, block.score.mean(axis=1), 0.0)
        learning = block.learning.mean(axis=1)
        self._learning += learning[~np.isnan(learning)].tolist()
        for row in np.column_stack([block.complexity["xi"], rewards]).tolist():
            self._begun.append(row)
            if len(self._begun) == self.sitting:
                self._whole, self._begun = np.array(self._begun), []
                self._figures.append(self.figure(*self._whole.T))

    def estimate(self) -> Estimate:
        """The mean over administrations; its error from them, or from within a single one."""
        if not self.episodes:
            return Estimate(None, None, None, None, None, 0, 0)
        single = self._whole if self._figures else np.array(self._begun)
        figures = self._figures or [self.figure(*single.T)]
        score, error = float(np.mean(figures)), self.error(*single.T)
        if len(figures) > 1:
            error = float(np.std(figures, ddof=1)) / len(figures) ** 0.5, len(figures) - 1
        return Estimate(
            score=score,
            stderr=error[0] if error else None,
            ci95=t_interval(score, *error) if error else None,
            normalised=None,
            learning=float(np.mean(self._learning)) if self._learning else None,
            episodes=self.episodes,
            failed=self.failed,
        )

    def figure(self, xi: Values, reward: Values) -> float:
        """What comes of one administration."""
        raise NotImplementedError

    def error(self, xi: Values, reward: Values) -> tuple[float, int] | None:
        """Standard error and degrees of freedom from within one administration, if it has any."""
        raise NotImplementedError


class AnytimeScore(Administrations):
    """Υ / environments used; a single administration says nothing of its error."""

    def figure(self, xi: Values, reward: Values) -> float:
        """The mean of ξ·R."""
        return float((xi * reward).mean())

    def error(self, xi: Values, reward: Values) -> None:
        """None."""


class StaircaseLevel(Administrations):
    """The mean ξ of the second half; of a single administration, with batch means for its error.

    The second half is cut into ten batches, whose means are taken to be independent.
    """

    def figure(self, xi: Values, reward: Values) -> float:  # noqa: ARG002
        """The level."""
        return float(second_half(xi).mean())

    def error(self, xi: Values, reward: Values) -> tuple[float, int] | None:  # noqa: ARG002
        """From the batch means, if there are exercises enough."""
        later = second_half(xi)
        if len(later) < 2 * BATCHES:
            return None
        means = [batch.mean() for batch in np.array_split(later, BATCHES)]
        return float(np.std(means, ddof=1)) / BATCHES**0.5, BATCHES - 1


def second_half(path: Values) -> Values:
    """The later half of a path, the middle one included."""
    return path[len(path) // 2 :]
