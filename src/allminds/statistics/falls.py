"""The complexity at which a mind's score falls, with a stated error rate.

All ways of cutting the complexities into lower and higher ones are looked at. The cut is the one
that explains most of the variance (least squares, as for a change point), and the claim is that the
mean score of the higher ones is lower: one-sided p at that cut times the number of cuts, so that
the choice of the cut is paid for (Bonferroni). A flat curve is said to fall in at most 5 % of
cases. The claim holds for gradual declines too, of which the cut is about the middle; where exactly
a fall begins is an estimate and no claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allminds.inference import Units
from allminds.inference.intervals import FEWEST, Student, of_mean
from allminds.inference.units import Numbers, Values, sums
from allminds.inference.verdict import Apart

MOST_LEVELS = 24  # more complexities than this are put together
GROUPS = 12  # of about as many units each


@dataclass(frozen=True)
class Fall:
    """A cut through the complexities, the mean scores on its two sides, and p of no fall."""

    last: float  # the highest complexity of the lower ones
    at: float  # the lowest complexity of the higher ones
    before: float
    after: float
    units: tuple[int, int]
    p: float  # one-sided, corrected for the choice of the cut
    p_holm: float | None = None  # corrected for all falls that were asked for
    column: str = ""  # the name of the complexity

    @property
    def drop(self) -> float:
        """The loss in mean score from the lower to the higher complexities."""
        return self.before - self.after


def fall(
    complexity: Values, score: Values, item: Numbers, cluster: Numbers, scale: tuple[float, float]
) -> Fall | None:
    """Find where the score falls with complexity; None if no cut has a lower mean above it.

    `item` and `cluster` number the plays' items and what makes errors alike; `scale` has the lowest
    and the highest score there can be. Plays without a score or a complexity are left out.
    """
    there = np.isfinite(complexity) & np.isfinite(score)
    if there.sum() < 2:
        return None
    complexity, score, item, cluster = (
        complexity[there], score[there], item[there], cluster[there]
    )  # fmt: skip
    _, first, code = np.unique(item, return_index=True, return_inverse=True)
    score = np.bincount(code, score) / np.bincount(code)  # repeats of an item are one unit
    complexity = complexity[first]
    _, cluster = np.unique(cluster[first], return_inverse=True)
    starts = _levels(complexity)
    level = np.searchsorted(starts, complexity, side="right") - 1
    cut = _steepest(level, score, len(starts))
    if cut is None:
        return None
    high = level >= cut
    p = _p_of_none(score, high, cluster, scale)
    return Fall(
        last=float(complexity[~high].max()),
        at=float(starts[cut]),
        before=math.fsum(score[~high]) / int((~high).sum()),  # in whichever order they come
        after=math.fsum(score[high]) / int(high.sum()),
        units=(int((~high).sum()), int(high.sum())),
        p=min(1.0, p * (len(starts) - 1)),
    )


def _levels(complexity: Values) -> Values:
    """Return the lowest complexity of every level; levels are put together if there are many."""
    values, counts = np.unique(complexity, return_counts=True)
    if len(values) <= MOST_LEVELS:
        return np.asarray(values)
    before = np.concatenate([[0], np.cumsum(counts)[:-1]])
    group = before * GROUPS // counts.sum()
    return np.asarray(values[np.unique(group, return_index=True)[1]])


def _steepest(level: NDArray[np.intp], score: Values, levels: int) -> int | None:
    """Find the cut that explains most variance, of those with a lower mean above them."""
    counts, totals = (np.bincount(level, w, levels) for w in (None, score))
    n, total = np.cumsum(counts)[:-1], np.cumsum(totals)[:-1]
    rest, above = counts.sum() - n, totals.sum() - total
    drop = total / n - above / rest
    gain = np.where(drop > 1e-12, n * rest * drop**2, 0.0)
    return int(np.argmax(gain)) + 1 if len(gain) and gain.max() > 0 else None


def _p_of_none(
    score: Values, high: NDArray[np.bool_], cluster: Numbers, scale: tuple[float, float]
) -> float:
    """Compute the one-sided p of a mean that is not lower on the higher side of the cut."""
    if np.intersect1d(cluster[high], cluster[~high]).size:
        return _p_within(score, high, cluster)
    sides = []
    for rows in (~high, high):
        own = np.unique(cluster[rows], return_inverse=True)[1]
        zeros = np.zeros(int(rows.sum()), np.int64)
        units = Units(score[rows], zeros, own, np.ones(1), *scale)
        if units.clusters < 2:
            return 1.0
        sides.append((of_mean(units), units.mean))
    (one, before), (other, after) = sides
    return Apart(one, other, before, after).tails(0.0)[0]


def _p_within(score: Values, high: NDArray[np.bool_], cluster: Numbers) -> float:
    """Compute p by Student's t over clusters, for clusters that lie on both sides of the cut."""
    clusters = int(cluster.max()) + 1
    if clusters < FEWEST:
        return 1.0
    pull = np.zeros(clusters)
    for rows, sign in ((~high, 1.0), (high, -1.0)):
        weight = sign / rows.sum()
        pull += sums(cluster[rows], weight * (score[rows] - score[rows].mean()), clusters)
    stderr = math.sqrt(float((pull**2).sum()) * clusters / (clusters - 1))
    drop = float(score[~high].mean() - score[high].mean())
    return Student(drop, stderr, clusters - 1).tails(0.0)[0] if stderr > 1e-12 else 1.0
