"""Effect sizes, the analysis of variance with repeated measures, and correlation with complexity.

Hedges' g is the mean difference in standard deviations of the scores, without the upward bias of
small samples; its interval comes from the noncentral t distribution (Algina and Keselman 2003).
`repeated_measures` tests what factors within subjects do to the score, with the correction of
Greenhouse and Geisser. `correlations` are Pearson's r, overall and at each value of a factor, with
an interval on Fisher's scale, z = artanh r. The error of z is that of the jackknife, which leaves
out one unit after the other: an exercise, or the test that exercises come in, since the exercises
of one test were taken by one person. Where exercises are the units it is at least 1/√(n - 3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error
from allminds.statistics.comparison.table import ScoreTable, Values, column

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Size:
    """An effect size with its 95 % interval."""

    value: float
    interval: tuple[float, float]


def paired_g(first: Values, second: Values) -> Size | None:
    """Compute Hedges' g of pairs: over the root of the mean of both variances."""
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


def noncentralities(t: float, freedom: float) -> tuple[float, float]:
    """Compute the 95 % interval of the noncentrality of a t statistic."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(freedom, 0.975, t)), float(nctdtrinc(freedom, 0.025, t))


def small_sample(freedom: float) -> float:
    """Compute Hedges' factor J, which makes a standardised mean difference right on average."""
    from scipy.special import gammaln

    log = gammaln(freedom / 2) - gammaln((freedom - 1) / 2)
    return float(np.exp(log) * np.sqrt(2 / freedom)) if freedom > 1 else 1.0


def _sd(values: Values) -> float:
    """Compute the standard deviation; exactly 0 for values that are all the same."""
    if len(values) < 2 or np.ptp(values) == 0:
        return 0.0
    return float(values.std(ddof=1))


# ---------------------------------------------------------------- repeated measures


@dataclass(frozen=True)
class Effect:
    """The effect of a factor, or of some together, on the score; None where nothing varies."""

    factors: tuple[str, ...]
    f: float | None
    freedom: tuple[float, float]  # of the effect and of its error
    p: float | None
    epsilon: float | None  # Greenhouse-Geisser ε
    p_corrected: float | None  # p with both degrees of freedom times ε
    eta: float | None  # partial η²


@dataclass(frozen=True)
class Anova:
    """The effects of some factors, and of their interactions."""

    subject: str
    subjects: int
    effects: tuple[Effect, ...]


def repeated_measures(
    frame: pd.DataFrame, subject: str, within: Sequence[str], score: str = "score"
) -> Anova:
    """Test the effects of the factors `within` on the scores of subjects that took all levels.

    Every subject must have a score at every combination of levels; several there are averaged.
    """
    table = _crossed(frame, subject, within, score)
    places = range(len(within))
    sets = [of for size in places for of in itertools.combinations(places, size + 1)]
    tests = _f_tests(table, sets)
    effects = tuple(
        _effect(tuple(within[n] for n in of), tests[of], greenhouse_geisser(table, of))
        for of in sets
    )
    return Anova(subject, len(table), effects)


def greenhouse_geisser(table: Values, factors: Sequence[int]) -> float | None:
    """Compute ε = (tr S)² / (d tr S²) of an effect in table[subject, level, level, …].

    S is the covariance over subjects of the d orthonormal contrasts that make up the effect.
    """
    from scipy.linalg import helmert

    contrasts: Values = np.ones((1, 1))
    for number, levels in enumerate(table.shape[1:]):
        part = helmert(levels).T if number in factors else np.full((levels, 1), levels**-0.5)
        contrasts = np.asarray(np.kron(contrasts, part), float)
    spread = np.atleast_2d(np.cov(table.reshape(len(table), -1) @ contrasts, rowvar=False))
    trace, squares = float(np.trace(spread)), float((spread * spread).sum())
    return trace**2 / (contrasts.shape[1] * squares) if squares > 0 else None


def _f_tests(
    table: Values, sets: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], tuple[float, float, float]]:
    """Compute F and its two degrees of freedom for every set of factors."""
    import pandas as pd
    from statsmodels.stats.anova import AnovaRM  # type: ignore[import-untyped] # theirs

    # The names go into a formula that also sees Python's, so they are plain ones of our own.
    names = [f"factor{number}" for number in range(table.ndim - 1)]
    places = np.indices(table.shape).reshape(table.ndim, -1)
    frame = pd.DataFrame(dict(zip(["subject", *names], places, strict=True)))
    frame["score"] = table.reshape(-1)
    with np.errstate(all="ignore"):
        found = AnovaRM(frame, "score", "subject", within=names).fit().anova_table
    rows = {of: found.loc[":".join(names[n] for n in of)] for of in sets}
    return {
        of: (float(row["F Value"]), float(row["Num DF"]), float(row["Den DF"]))
        for of, row in rows.items()
    }


def _effect(
    factors: tuple[str, ...], test: tuple[float, float, float], epsilon: float | None
) -> Effect:
    from scipy.special import fdtrc

    f, one, two = test
    if epsilon is None or not np.isfinite(f):
        return Effect(factors, None, (one, two), None, epsilon, None, None)
    return Effect(
        factors, f, (one, two), float(fdtrc(one, two, f)), epsilon,
        float(fdtrc(epsilon * one, epsilon * two, f)), f * one / (f * one + two),
    )  # fmt: skip


def _crossed(frame: pd.DataFrame, subject: str, within: Sequence[str], score: str) -> Values:
    """Build the complete table [subject, level of the first factor, of the second, …]."""
    names = [subject, *within]
    for name in [*names, score]:
        column(frame, name)
    if not within or len(set(names)) < len(names):
        raise Error("name a column of subjects and one or more other columns as factors")
    frame = frame[frame[score].notna()]
    means = frame.groupby(names, observed=True)[score].mean()
    levels = [sorted(frame[name].unique()) for name in names]
    for name, found in zip(names, levels, strict=True):
        if len(found) < 2:
            raise Error(f"an analysis of variance needs two or more values of '{name}'")
    for place in itertools.product(*levels):
        key = place if len(names) > 1 else place[0]
        if key not in means.index:
            where = ", ".join(f"{n} {v}" for n, v in zip(names, place, strict=True))
            raise Error(
                f"an analysis of variance needs a score for every combination: none at {where}"
            )
    shape = tuple(len(found) for found in levels)
    made: Values = means.sort_index().to_numpy(dtype=float).reshape(shape)
    return made


# ---------------------------------------------------------------- correlation


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
