"""From scores to one figure with its interval, exercise by exercise, in flat memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allminds.blocks import Block

_ALIGNED = 1 << 14  # exercises summed together, whatever the chunks they came in


@dataclass(frozen=True)
class Estimate:
    """A score with its standard error and 95 % interval; what cannot be estimated is None."""

    score: float | None
    stderr: float | None
    ci95: tuple[float, float] | None
    normalised: float | None  # (score - chance) / (ceiling - chance)
    learning: float | None  # mean of the second half of the steps minus the first
    episodes: int
    failed: int


class Tally(Protocol):
    """Takes blocks in the order of their exercises; can be read at any moment."""

    def add(self, block: Block) -> None: ...
    def estimate(self) -> Estimate: ...


def t_interval(mean: float, stderr: float, freedom: float) -> tuple[float, float]:
    """The 95 % interval of a mean by Student's t."""
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, 0.975)) * stderr
    return mean - reach, mean + reach


class StratifiedMean:
    """Υ: the mean of the strata means; all slots of an exercise are one value.

    se² = (1/S²) Σ s_h²/n_h over the S strata, with a t interval on n - S degrees of freedom.
    While some stratum has fewer than two exercises the plain standard error stands in, which
    errs on the wide side. Sums are made over aligned runs of exercises, so that the figures are
    the same bits whatever chunks the exercises were played in.
    """

    def __init__(self, strata: str | None, chance: float, ceiling: float) -> None:
        self.strata, self.chance, self.ceiling = strata, chance, ceiling
        self.episodes = self.failed = 0
        self._waiting: list[NDArray[np.float64]] = []  # rows of (stratum, score, learning)
        self._held = 0
        self._sums: dict[float, NDArray[np.float64]] = {}  # n, Σ score, Σ score², n, Σ learning

    def add(self, block: Block) -> None:
        """Take the next exercises."""
        ok = (block.status == 0).all(axis=1)
        stratum = block.complexity[self.strata] if self.strata else np.zeros(len(ok))
        learning = block.learning.mean(axis=1)
        self.episodes += len(ok)
        self.failed += int((~ok).sum())
        rows = np.column_stack([stratum, block.score.mean(axis=1), learning])
        rows[~ok, 1:] = np.nan
        self._waiting.append(rows)
        self._held += len(rows)
        if self._held >= _ALIGNED:
            rows = np.concatenate(self._waiting)
            whole = len(rows) - len(rows) % _ALIGNED
            for start in range(0, whole, _ALIGNED):
                _sum_into(self._sums, rows[start : start + _ALIGNED])
            self._waiting, self._held = [rows[whole:]], len(rows) - whole

    def estimate(self) -> Estimate:
        """The figures so far."""
        sums = {key: value.copy() for key, value in self._sums.items()}
        if self._held:
            _sum_into(sums, np.concatenate(self._waiting))
        table = np.array([sums[key] for key in sorted(sums)])
        table = table[table[:, 0] > 0] if len(table) else table
        if not len(table):
            return Estimate(None, None, None, None, None, self.episodes, self.failed)
        n, total, squares, learnt, learning = table.T
        score = float((total / n).mean())
        stderr, freedom = _standard_error(n, total, squares)
        return Estimate(
            score=score,
            stderr=stderr,
            ci95=None if stderr is None else t_interval(score, stderr, freedom),
            normalised=(score - self.chance) / (self.ceiling - self.chance),
            learning=float((learning / learnt).mean()) if learnt.all() else None,
            episodes=self.episodes,
            failed=self.failed,
        )


def _sum_into(sums: dict[float, NDArray[np.float64]], rows: NDArray[np.float64]) -> None:
    rows = rows[~np.isnan(rows[:, 1])]
    for stratum in np.unique(rows[:, 0]):
        here = rows[rows[:, 0] == stratum]
        learning = here[~np.isnan(here[:, 2]), 2]
        score = here[:, 1]
        new = [len(score), score.sum(), (score * score).sum(), len(learning), learning.sum()]
        sums[float(stratum)] = sums.get(float(stratum), np.zeros(5)) + np.array(new)


def _standard_error(
    n: NDArray[np.float64], total: NDArray[np.float64], squares: NDArray[np.float64]
) -> tuple[float | None, float]:
    """Standard error of the mean of strata means, and its degrees of freedom."""
    count = float(n.sum())
    if n.min() >= 2:
        variance = np.maximum(squares - total * total / n, 0.0) / (n - 1)
        return float(np.sqrt((variance / n).sum()) / len(n)), count - len(n)
    if count < 2:
        return None, 0.0
    mean = total.sum() / count
    variance_of_all = max(float(squares.sum()) - count * mean * mean, 0.0) / (count - 1)
    return float(np.sqrt(variance_of_all / count)), count - 1


class FirstSlot(StratifiedMean):
    """The mean score of slot 0: in a game the others' gain is not one's own."""

    def add(self, block: Block) -> None:
        """Take the next exercises."""
        super().add(replace(block, score=block.score[:, :1], learning=block.learning[:, :1]))
