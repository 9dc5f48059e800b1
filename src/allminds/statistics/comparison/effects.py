"""Effects: their sizes, tests, shares of variance, and the correlation of scores with complexity.

Hedges' g is the mean difference in standard deviations of the scores, without the upward bias of
small samples; its interval comes from the noncentral t distribution (Algina and Keselman 2003).
`repeated_measures` tests what factors within subjects do to the score, with the correction of
Greenhouse and Geisser. `correlations` are Pearson's r, overall and at each value of a factor, with
an interval on Fisher's scale, z = artanh r. The error of z is that of the jackknife, which leaves
out one unit after the other: an exercise, or the test that exercises come in, since the exercises
of one test were taken by one person. Where exercises are the units it is at least 1/√(n - 3).

`variance_shares` needs a fully crossed design. The mean score of every cell is split into the
contributions of each factor and each pair of factors (they are orthogonal, the design being
balanced). What chance adds to each is taken off it (as in ω²): an effect of d contrasts, each of
which varies from exercise to exercise, is Σ mean² - Σ variance/n over its contrasts. What is left,
interactions of three and more and all chance, makes up the whole. Exercises of the same number
share their random words in all cells, so the contrasts are taken within exercises.
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
    effects = tuple(
        _effect(tuple(within[n] for n in of), f_test(table, of), greenhouse_geisser(table, of))
        for of in sets
    )
    return Anova(subject, len(table), effects)


def contrasts_of(table: Values, factors: Sequence[int]) -> Values:
    """Compute the d orthonormal contrasts of an effect in table[subject, level, level, …].

    The result is [subject, contrast].
    """
    from scipy.linalg import helmert

    contrasts: Values = np.ones((1, 1))
    for number, levels in enumerate(table.shape[1:]):
        part = helmert(levels).T if number in factors else np.full((levels, 1), levels**-0.5)
        contrasts = np.asarray(np.kron(contrasts, part), float)
    return np.asarray(table.reshape(len(table), -1) @ contrasts)


def greenhouse_geisser(table: Values, factors: Sequence[int]) -> float | None:
    """Compute ε = (tr S)² / (d tr S²) of an effect in table[subject, level, level, …].

    S is the covariance over subjects of the d orthonormal contrasts that make up the effect.
    """
    found = contrasts_of(table, factors)
    spread = np.atleast_2d(np.cov(found, rowvar=False))
    trace, squares = float(np.trace(spread)), float((spread * spread).sum())
    return trace**2 / (found.shape[1] * squares) if squares > 0 else None


def f_test(table: Values, factors: Sequence[int]) -> tuple[float, float, float]:
    """Compute F of an effect and its two degrees of freedom: its contrasts against their spread.

    Every subject has every combination of levels, so the contrasts of an effect hold nothing of
    the others, and their spread over subjects is its error.
    """
    found = contrasts_of(table, factors)
    subjects, d = found.shape
    mean = found.mean(axis=0)
    error = float(((found - mean) ** 2).sum()) / ((subjects - 1) * d)
    effect = subjects * float((mean**2).sum()) / d
    f = effect / error if error > 0 else math.inf if effect > 0 else math.nan
    return f, float(d), float((subjects - 1) * d)


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


# ---------------------------------------------------------------- shares of variance


_NONE = 1e-12  # of the variance of all cell means: what is below is rounding


@dataclass(frozen=True)
class Share:
    """The share of the variance of cell means that a factor, or a pair of factors, explains."""

    factors: tuple[str, ...]  # () for what is left
    share: float
    interval: tuple[float, float] | None  # 95 %; None for what is left


@dataclass(frozen=True)
class _Part:
    """The sum of squares of one effect in the cell means, chance taken off, with its interval."""

    squares: float  # below 0 if it is less than chance makes it on average
    noise: float  # what chance adds to it, on average
    low: float
    high: float

    @property
    def there(self) -> float:
        """The estimate, which cannot be below 0."""
        return max(0.0, self.squares)


def variance_shares(scores: Values, names: Sequence[str]) -> list[Share]:
    """Estimate the effects on scores[level of factor 1, level of factor 2, …, exercise].

    The largest comes first. Only exercises that have a score in every cell count (NaN is none);
    with fewer than two of them chance is not known, and there are no shares: []. Where all cells
    are alike there is nothing to share out, and every share is 0. The interval of an effect is by
    the noncentral F, the effect against its own variation over exercises, degrees of freedom by
    Greenhouse and Geisser; so it begins at 0 unless p < .025. What all other effects may be is
    added in quadrature (after Donner and Zou 2012) on the scale of log odds.
    """
    complete = scores[..., ~np.isnan(scores).any(axis=tuple(range(scores.ndim - 1)))]
    if complete.shape[-1] < 2:
        return []
    kept = [n for n in range(len(names)) if scores.shape[n] > 1]
    sizes = range(1, len(kept) + 1)
    effects = [of for size in sizes for of in itertools.combinations(kept, size)]
    parts = {of: _part(complete, of) for of in effects}
    means = complete.mean(axis=-1)
    total = float(((means - means.mean()) ** 2).sum())
    named = [of for of in effects if len(of) < 3]
    made = [
        Share(tuple(names[n] for n in of), _share(parts[of], total), _share_interval(parts, of))
        for of in named
    ]
    left = max(0.0, 1.0 - sum(effect.share for effect in made)) if total else 0.0
    return [*sorted(made, key=lambda effect: -effect.share), Share((), left, None)]


def _share(part: _Part, total: float) -> float:
    return part.there / total if total > 0 else 0.0


def _contrasts(scores: Values, of: tuple[int, ...]) -> Values:
    """Compute orthonormal contrasts [exercise, contrast] of an effect within each exercise."""
    from scipy.linalg import helmert

    left = scores
    for n in range(scores.ndim - 1):
        levels = scores.shape[n]
        rows = helmert(levels) if n in of else np.full((1, levels), levels**-0.5)
        left = np.moveaxis(np.tensordot(rows, left, axes=(1, n)), 0, n)
    made: Values = left.reshape(-1, scores.shape[-1]).T
    return made


def _part(scores: Values, of: tuple[int, ...]) -> _Part:
    """Compute Σ mean² of the effect's contrasts, less chance, and its 95 % interval."""
    contrasts = _contrasts(scores, of)
    exercises, count = contrasts.shape
    mean = contrasts.mean(axis=0)
    spread = np.atleast_2d(np.cov(contrasts, rowvar=False))
    trace, squared = float(np.trace(spread)), float((spread * spread).sum())
    found, noise = float(mean @ mean), trace / exercises
    if noise <= _NONE * (found + _NONE):
        return _Part(found, 0.0, found, found)
    epsilon = trace**2 / (count * squared)
    one, two = epsilon * count, epsilon * count * (exercises - 1)
    low, high = _noncentral(found / noise, one, two)
    scale = noise / one  # λ has the effect over the chance of one degree of freedom
    return _Part(found - noise, noise, low * scale, high * scale)


def _noncentral(f: float, one: float, two: float) -> tuple[float, float]:
    """Compute the 95 % interval of λ of a noncentral F; it begins at 0 unless p < .025."""
    from scipy.special import fdtrc, ncfdtrinc

    far = one * f
    if far > 5000:  # where the inverse ends, λ is as good as normal
        reach = 1.96 * math.sqrt(4 * far + 2 * one + 2 * far**2 / two)
        return max(0.0, far - one - reach), far - one + reach
    p = float(fdtrc(one, two, f))
    low = float(ncfdtrinc(one, two, 0.975, f)) if p < 0.025 else 0.0
    high = float(ncfdtrinc(one, two, 0.025, f)) if p < 0.975 else 0.0
    return low, high


def _share_interval(
    parts: dict[tuple[int, ...], _Part], of: tuple[int, ...]
) -> tuple[float, float] | None:
    """Compute the interval of an effect's share, all others and chance being the rest."""
    part = parts[of]
    others = [other for key, other in parts.items() if key != of]
    chance = sum(one.noise for one in parts.values())
    rest = chance + sum(one.squares for one in others)
    down = math.sqrt(sum(max(0.0, one.squares - one.low) ** 2 for one in others))
    up = math.sqrt(sum(max(0.0, one.high - one.squares) ** 2 for one in others))
    rest = max(rest, part.noise)
    return _odds(part, rest, (max(rest - down, part.noise), rest + up))


def _odds(part: _Part, rest: float, ends: tuple[float, float]) -> tuple[float, float]:
    if rest <= 0:
        return (1.0, 1.0) if part.there else (0.0, 0.0)
    middle = part.there or part.high / 4 or _NONE * rest

    def end(squares: float, other: float, sign: int) -> float:
        if squares <= 0:
            return 0.0
        reach = math.hypot(math.log(squares / middle), math.log(other / rest))
        return 1 / (1 + rest / middle * math.exp(-sign * reach))

    return end(min(part.low, middle), max(ends[1], rest), -1), end(
        max(part.high, middle), min(ends[0], rest), +1
    )
