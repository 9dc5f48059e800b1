"""What comes of adaptive tests: one figure an administration, and an interval over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from allminds.blocks import Block
from allminds.estimate import Estimate, t_interval

BATCHES = 5  # that the second half of a staircase is cut into
LEAST_HALF = 500  # exercises in it, from which on batch means are as good as independent
MOST_ALIKE = 0.5  # share of equal values, above which a spread says nothing of the error

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
        score, error = float(np.mean(figures)), over(figures)
        if len(figures) == 1:
            error = self.error(*single.T)
        return Estimate(
            score=score,
            stderr=error[0] if error else None,
            ci95=t_interval(score, *error) if error else None,
            normalised=None,
            learning=float(np.mean(self._learning)) if self._learning else None,
            episodes=self.episodes,
            failed=self.failed,
        )

    @property
    def why(self) -> str:
        """The sentence that says why there is no interval; empty if there is one."""
        if not self.episodes or self.estimate().stderr is not None:
            return ""
        if len(self._figures) > 1:
            return "most administrations gave the same figure, which says nothing of their error"
        return (
            "one administration cannot tell its own error; give two or more "
            f"({2 * self.sitting} exercises)"
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
    """The mean ξ of the second half; of a long single administration, with an error by batch means.

    ξ is a walk: neighbours are alike, for a model-based mind over some twenty exercises. Batches
    are told apart by their length, not by the autocorrelation in the path, which a short path
    cannot know (simulated: with the 50 exercises of the usual second half, ten batches gave errors
    that were 20 to 58 % too small). Five batches of 100 or more hold, by t on 4 degrees of
    freedom.
    """

    def figure(self, xi: Values, reward: Values) -> float:  # noqa: ARG002
        """The level."""
        return float(second_half(xi).mean())

    def error(self, xi: Values, reward: Values) -> tuple[float, int] | None:  # noqa: ARG002
        """From the batch means, if there are exercises enough and the path moves."""
        later = second_half(xi)
        if len(later) < LEAST_HALF or _alike(later):
            return None
        return over([float(batch.mean()) for batch in np.array_split(later, BATCHES)])


def over(figures: Sequence[float]) -> tuple[float, int] | None:
    """Standard error of the mean of independent figures, and its degrees of freedom.

    None if more than half of them are one value, as at either end of the scale.
    """
    values = np.asarray(figures)
    if len(values) < 2 or _alike(values):
        return None
    return float(values.std(ddof=1)) / len(values) ** 0.5, len(values) - 1


def _alike(values: Values) -> bool:
    """True if more than half of the values are the same."""
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() > MOST_ALIKE * len(values))


def second_half(path: Values) -> Values:
    """The later half of a path, the middle one included."""
    return path[len(path) // 2 :]
