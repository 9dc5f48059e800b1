"""Effect sizes: a difference in units of standard deviation, with exact intervals.

Two of them, for they answer different questions. d_z is the mean difference in standard deviations
*of the difference*: how sure a paired test is to find it. Hedges' g is the mean difference in
standard deviations *of the scores*, without the upward bias of small samples: how big it is.
Intervals come from the noncentral t distribution (for paired g as Algina and Keselman 2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allminds.statistics.comparison.table import Values


@dataclass(frozen=True)
class Size:
    """An effect size with its 95 % interval."""

    value: float
    interval: tuple[float, float]


def paired_dz(first: Values, second: Values) -> Size | None:
    """d_z: the mean of the differences over their standard deviation; None if they are alike."""
    differences = first - second
    count = len(differences)
    spread = _sd(differences)
    if count < 2 or spread == 0:
        return None
    size = float(differences.mean()) / spread
    low, high = noncentralities(size * np.sqrt(count), count - 1)
    return Size(size, (low / np.sqrt(count), high / np.sqrt(count)))


def paired_g(first: Values, second: Values) -> Size | None:
    """Hedges' g of pairs: over the root of the mean of both variances."""
    count = len(first)
    pooled = np.sqrt((_sd(first) ** 2 + _sd(second) ** 2) / 2)
    spread = _sd(first - second)
    if count < 2 or pooled == 0 or spread == 0:
        return None
    stderr = spread / np.sqrt(count)
    difference = float((first - second).mean())
    low, high = noncentralities(difference / stderr, count - 1)
    size = small_sample(count - 1) * difference / pooled
    return Size(size, (low * stderr / pooled, high * stderr / pooled))


def unpaired_g(first: Values, second: Values) -> Size | None:
    """Hedges' g of two samples: over their pooled standard deviation."""
    n, m = len(first), len(second)
    freedom = n + m - 2
    if min(n, m) < 2:
        return None
    pooled = np.sqrt(((n - 1) * _sd(first) ** 2 + (m - 1) * _sd(second) ** 2) / freedom)
    if pooled == 0:
        return None
    root = np.sqrt(1 / n + 1 / m)
    difference = float(first.mean() - second.mean()) / pooled
    low, high = noncentralities(difference / root, freedom)
    return Size(small_sample(freedom) * difference, (low * root, high * root))


def noncentralities(t: float, freedom: float) -> tuple[float, float]:
    """The 95 % interval of the noncentrality of a t statistic."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(freedom, 0.975, t)), float(nctdtrinc(freedom, 0.025, t))


def small_sample(freedom: float) -> float:
    """Hedges' factor J: times a standardised mean difference, it is right on average."""
    from scipy.special import gammaln

    log = gammaln(freedom / 2) - gammaln((freedom - 1) / 2)
    return float(np.exp(log) * np.sqrt(2 / freedom)) if freedom > 1 else 1.0


def _sd(values: Values) -> float:
    """The standard deviation; exactly 0 for values that are all the same."""
    if len(values) < 2 or np.ptp(values) == 0:
        return 0.0
    return float(values.std(ddof=1))
