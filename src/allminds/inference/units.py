"""Independent units, and the standard error of their mean.

Repeats of an item are one unit. Units may lie in strata, whose means are weighted, and in clusters,
whose errors are alike: the standard error is CR2 of Bell and McCaffrey (2002), with Satterthwaite's
degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]

EXPECTED = 8.0  # rare hits, or units far from the others, that a variance may be trusted from


@dataclass(frozen=True)
class Units:
    """Independent units of one mind, or of the difference of two: what intervals are made from.

    `score` is a unit's mean over its repeats; `stratum` numbers its stratum and `cluster` what
    makes errors alike, 0, 1, … without gaps; `share` is the weight W_h of each stratum in the mean
    and sums to 1. With a `count`, a row stands for so many units that are alike, each of them a
    cluster of its own.
    """

    score: Values
    stratum: Numbers
    cluster: Numbers
    share: Values
    low: float
    high: float
    count: Values | None = None

    def times(self, values: Values) -> Values:
        """Multiply the values of rows by the number of units that each stands for."""
        return values if self.count is None else values * self.count

    @property
    def number(self) -> int:
        """The number of units."""
        return len(self.score) if self.count is None else int(self.count.sum())

    @property
    def weights(self) -> Values:
        """The weight of a unit of every row in the mean; over all units they sum to 1."""
        size = np.bincount(self.stratum, self.count, minlength=len(self.share))
        return np.asarray(self.share[self.stratum] / size[self.stratum])

    @property
    def mean(self) -> float:
        """Σ_h W_h · (mean of stratum h), summed exactly."""
        return math.fsum(self.times(self.weights * self.score).data)

    @property
    def clusters(self) -> int:
        """The number of clusters, numbered 0, 1, … without gaps."""
        return int(self.cluster.max()) + 1 if self.count is None else self.number


def differing(units: Units) -> int:
    """Count the clusters with a difference other than 0."""
    return int((sums(units.cluster, np.abs(units.score)) > 0).sum())


def sums(code: Numbers, values: Values, least: int = 0) -> Values:
    """Sum the values that have each code 0, 1, …"""
    return np.asarray(np.bincount(code, values, minlength=least), float)


def skewed(units: Units) -> bool:
    """Check whether the variance rests on a few clusters far from all others.

    The square of the skewness of what clusters add to the mean is about n / c for c rare hits.
    """
    stratum, weights = collapsed(units), units.weights
    total = sums(stratum, units.times(weights))
    centre = sums(stratum, units.times(weights * units.score)) / total
    pulls = sums(units.cluster, weights * (units.score - centre[stratum]))
    squares = float(units.times(pulls**2).sum())
    if squares <= 1e-24:
        return False
    skewness = units.clusters**0.5 * float(units.times(pulls**3).sum()) / squares**1.5
    return bool(units.clusters < EXPECTED * skewness**2)


def standard_error(units: Units) -> float | None:
    """Compute the standard error of the mean; None where no variance, or one cluster, is seen."""
    stderr = clustered_error(units)[0] if units.clusters > 1 else 0.0
    return stderr if stderr > 1e-12 else None


def clustered_error(units: Units) -> tuple[float, float]:
    """Compute the CR2 standard error of the mean, and Satterthwaite's degrees of freedom.

    A stratum of a single cluster says nothing of its own variance, so it is put together with its
    neighbour for this purpose (collapsed strata, which errs on the wide side); if all are such,
    there may be others that were not drawn, and strata are left out of account. The residual e of
    unit i in stratum h and cluster g counts w_i e_i / √(1 - n_gh/n_h).
    """
    stratum = collapsed(units)
    weights, strata = units.weights, int(stratum.max()) + 1
    total = sums(stratum, units.times(weights))
    centre = sums(stratum, units.times(weights * units.score)) / total
    part, where, whose = _parts(units.cluster, stratum, strata)
    mass = sums(part, weights)
    scale = 1 / np.sqrt(np.maximum(1 - mass / total[where], 1e-9))
    pull = scale * sums(part, weights * (units.score - centre[stratum]))
    variance = math.fsum(units.times(sums(whose, pull) ** 2).data)
    own = sums(part, weights**2)
    del weights, pull, part  # of a million units, they are felt
    return math.sqrt(variance), _freedom(where, whose, scale, mass, own, total, units.times)


def _freedom(
    where: Numbers, whose: Numbers, scale: Values, mass: Values, own: Values, total: Values,
    times: Callable[[Values], Values],
) -> float:  # fmt: skip
    """Compute (tr E)² / tr E², E the covariance of the clusters' pulls under equal variances.

    With m = scale · mass and a = scale · own / total of the parts, a stratum's E is the diagonal of
    scale² · own, less a mᵀ + m aᵀ, plus e m mᵀ; so traces need sums over parts only.
    """
    strata, m = len(total), scale * mass
    a, d = scale * own / total[where], scale**2 * own
    e = sums(where, times(own), strata) / total**2
    if len(where) == int(whose.max()) + 1:  # every cluster lies in one stratum

        def by_stratum(values: Values) -> Values:
            return sums(where, times(values), strata)

        aa, mm, am = by_stratum(a * a), by_stratum(m * m), by_stratum(a * m)
        rest = 2 * aa * mm + 2 * am**2 + e**2 * mm**2 - 4 * e * am * mm
        diagonal = d - 2 * a * m
        del a
        diagonal += e[where] * m * m
        squares = 2 * times(d * diagonal).sum() - times(d * d).sum() + rest.sum()
        return float(times(diagonal).sum() ** 2 / squares)
    A, M = np.zeros((2, int(whose.max()) + 1, strata))
    A[whose, where], M[whose, where] = a, m
    d = sums(whose, d)
    left, right = np.hstack([-A, -M, M * e]), np.hstack([M, A, M])  # E = diag(d) + left rightᵀ
    off = (left * right).sum(axis=1)
    squares = (d * d + 2 * d * off).sum() + ((left.T @ left) * (right.T @ right)).sum()
    return float((d + off).sum() ** 2 / squares)


def _parts(cluster: Numbers, stratum: Numbers, strata: int) -> tuple[Numbers, Numbers, Numbers]:
    """Find the part of every unit, and the stratum and the cluster of every part.

    A part is what a cluster has in one stratum; mostly a cluster is a single unit.
    """
    if int(cluster.max()) + 1 == len(cluster):
        where = np.empty_like(stratum)
        where[cluster] = stratum
        return cluster, where, np.arange(len(cluster))
    codes, part = np.unique(cluster * strata + stratum, return_inverse=True)
    return part, codes % strata, codes // strata


def collapsed(units: Units) -> Numbers:
    """Merge each stratum of a single cluster with its neighbour."""
    strata = len(units.share)
    _, where, _ = _parts(units.cluster, units.stratum, strata)
    clusters = np.bincount(where, units.count, minlength=strata)
    if clusters.sum() == strata:  # one each: there may be strata that none was drawn from
        return np.zeros_like(units.stratum)
    pool, number, held = np.zeros(strata, np.int64), 0, 0
    for h in range(strata):
        pool[h] = number
        held += int(clusters[h])
        if held >= 2 and clusters[h + 1 :].sum() >= 2:
            number, held = number + 1, 0
    return pool[units.stratum]
