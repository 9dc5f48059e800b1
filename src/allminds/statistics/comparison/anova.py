"""Effect sizes with exact intervals, and the analysis of variance with repeated measures.

Hedges' g is the mean difference in standard deviations of the scores, without the upward bias of
small samples; its interval comes from the noncentral t distribution (Algina and Keselman 2003).

`repeated_measures` tests what factors within subjects do to the score, with the correction of
Greenhouse and Geisser.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from allminds.core.errors import Error
from allminds.statistics.comparison.table import Values, column

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
