"""The correlation of the score with complexity, overall and at each value of a factor.

This is Pearson's r, with an interval on Fisher's scale, z = artanh r. The error of z is that of the
jackknife, which leaves out one unit after the other: an exercise, or the test that exercises come
in, since the exercises of one test were taken by one person. Where exercises are the units it is at
least Fisher's 1/√(n - 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.comparison.table import ScoreTable, Values, column

LEAST_UNITS = 4
_VARIES = 1e-12  # of the sum of squares: what is below is rounding


@dataclass(frozen=True)
class Correlation:
    """The correlation r of a mind's scores with a complexity; None where it cannot be estimated."""

    mind: str
    complexity: str
    level: Any  # the value of the factor; None for all exercises
    exercises: int
    r: float | None
    interval: tuple[float, float] | None  # 95 %


def correlations(
    scores: ScoreTable, complexities: Sequence[str], by: str | None = None
) -> list[Correlation]:
    """Correlate every mind's scores with each complexity.

    This is done overall, then at the values of the factor `by`.
    """
    found = []
    for level, rows in _levels(scores, by):
        for name in complexities if rows.any() else ():
            x = column(scores.exercises, name).to_numpy(dtype=float, na_value=np.nan)[rows]
            for n, mind in enumerate(scores.minds):
                count, r, interval = correlate(x, scores.means[rows, n], scores.unit[rows])
                found.append(Correlation(mind, name, level, count, r, interval))
    return found


def correlate(
    x: Values, y: Values, cluster: NDArray[np.intp] | None = None
) -> tuple[int, float | None, tuple[float, float] | None]:
    """Compute the number of pairs without NaN, Pearson's r and its 95 % interval.

    r is None where x or y does not vary. There is no interval of r = ±1, with fewer than four
    clusters (each pair is one by itself if none are given), nor where all the variation of x or y
    depends on one of them.
    """
    there = ~np.isnan(x) & ~np.isnan(y)
    count = int(there.sum())
    if count < 3:
        return count, None, None
    own = np.arange(len(x)) if cluster is None else cluster
    _, codes = np.unique(own[there], return_inverse=True)
    sums = _cluster_sums(x[there], y[there], codes)
    whole = sums.sum(axis=0)
    r = float(_r(whole))
    if not np.isfinite(r):
        return count, None, None
    z = _fisher(np.r_[r, _r(whole - sums)])
    if len(sums) < LEAST_UNITS or not np.isfinite(z).all():
        return count, r, None
    return count, r, _interval(z[0], z[1:], count)


def _interval(z: float, left: Values, count: int) -> tuple[float, float]:
    from scipy.special import stdtrit

    units = len(left)
    error = math.sqrt((units - 1) * float(np.var(left)))
    reach = float(stdtrit(units - 1, 0.975)) * error
    if units == count:  # each pair by itself
        reach = max(reach, 1.959964 / math.sqrt(count - 3))
    return math.tanh(z - reach), math.tanh(z + reach)


def _levels(scores: ScoreTable, by: str | None) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Yield all exercises, and those at each value of the factor."""
    yield None, np.ones(len(scores.exercises), bool)
    if by is not None:
        values = column(scores.exercises, by)
        for level in sorted(values.dropna().unique().tolist()):
            yield level, (values == level).to_numpy(dtype=bool)


def _cluster_sums(x: Values, y: Values, codes: NDArray[np.intp]) -> Values:
    """Sum 1, x, y, x², y², xy as [cluster, 6], centred first so that they keep their digits."""
    x, y = x - x.mean(), y - y.mean()
    moments = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)
    sums = np.zeros((int(codes.max()) + 1, 6))
    np.add.at(sums, codes, moments)
    return sums


def _r(sums: Values) -> Values:
    """Compute Pearson's r from sums of moments [..., 6]; NaN where x or y does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        spread_x, spread_y = xx - x * x / n, yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(spread_x * spread_y)
    varies = (n > 2) & (spread_x > _VARIES * xx) & (spread_y > _VARIES * yy)
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


def _fisher(r: Values) -> Values:
    """Compute Fisher's z; NaN for r = ±1, where it is infinite."""
    inside = np.abs(r) < 1 - _VARIES
    return np.where(inside, np.arctanh(np.where(inside, r, 0.0)), np.nan)
