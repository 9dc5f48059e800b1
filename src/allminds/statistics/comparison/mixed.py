"""Linear mixed models: random intercepts and slopes of several crossed factors, by REML.

`LinearMixed` is fitted by restricted maximum likelihood with Satterthwaite's degrees of freedom, as
lme4 and lmerTest do it; `crossed` and `reaction` decide what is concluded from it. `mixed_model`
asks whether the score depends on the kind of mind, on complexity, or on both together: score ~ kind
× K + (1 | person) + (1 | environment). Persons differ among themselves and so do environments,
beyond what kind and complexity explain; the model keeps that apart, so that 280 scores do not count
as 280 independent ones. A row without a person (a program) has no person effect. K is centred, so
that the effect of kind is that at a mean complexity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.statistics.comparison.table import column

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]
Codes = NDArray[np.intp]

NOTHING = 1e-7  # a share of the total sum of squares below this is rounding
EDGE = 1e-4  # a variance component below this share of the residual is at its edge, 0


@dataclass(frozen=True)
class Contrast:
    """A linear function of the fixed effects, with Satterthwaite's degrees of freedom."""

    estimate: float
    stderr: float
    df: float

    @property
    def p(self) -> float:
        """The two-sided p of a t-test against 0."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.df, -abs(self.estimate) / self.stderr))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the t-interval at `level`."""
        reach = reach_of(self.stderr, self.df, level)
        return self.estimate - reach, self.estimate + reach


class LinearMixed:
    """A linear mixed model with independent random intercepts and slopes, fitted by REML.

    score = X β + Σ Z_k u_k + e with u_k ~ N(0, σ² θ_k²), e ~ N(0, σ²). `factors` hold the level of
    every row, or -1 where a row has none (a program has no person). `loads` hold what a row takes
    of its level's effect: 1 for an intercept, as by default, or the values of a column for its
    slope. β and σ² are profiled out; the ratios θ are searched. The block of the largest factor is
    diagonal and is eliminated, so that the matrix to factor has the size of the other levels.
    """

    def __init__(
        self, score: Values, design: Values, factors: Sequence[Codes],
        loads: Sequence[Values] | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.columns = design.shape
        self.freedom = self.rows - self.columns
        rough, *_ = np.linalg.lstsq(design, score, rcond=None)
        both = np.column_stack(
            [design, score - design @ rough]
        )  # [X, y]; small numbers cancel less
        self._moments = both.T @ both
        sizes = [int(factor.max()) + 1 for factor in factors]
        self._effects = parts = [
            _Part(factor, np.ones(self.rows) if loads is None else loads[k], sizes[k])
            for k, factor in enumerate(factors)
        ]
        self._large = int(np.argmax(sizes)) if sizes else 0
        rest = [k for k in range(len(factors)) if k != self._large]
        self._sizes = np.array(sizes, int)
        self._of = np.repeat(rest, [sizes[k] for k in rest]).astype(int)  # the factor of a level
        if sizes:
            large = parts[self._large]
            self._diagonal = large.sums(large.loads[:, None])[:, 0]
            self._large_sums = large.sums(both)
        if rest:
            others = [parts[k] for k in rest]
            self._sums = np.vstack([one.sums(both) for one in others])
            self._inner = np.vstack([np.hstack([a.meet(b) for b in others]) for a in others])
            self._cross = np.vstack([one.meet(large) for one in others])
        total, ceiling = float(self._moments[-1, -1]), np.full(len(sizes), 1e4)
        rest_of_it = self._parts(ceiling)[1]  # with effects that are as good as free
        self.exact = rest_of_it <= NOTHING * total or total <= NOTHING**2  # nothing is left over
        self.theta = np.zeros(len(sizes)) if self.exact else self._search()
        _, self.rss, information, corner, _ = self._parts(self.theta)
        self.residual = self.rss / self.freedom  # σ²
        self.components = tuple(float(t * t) * self.residual for t in self.theta)
        self.effects = rough + np.linalg.solve(information, corner)

    def _parts(
        self, theta: Values, slopes: bool = False
    ) -> tuple[float, float, Values, Values, Values]:
        """Compute the parts of the profiled deviance, and its slopes in θ.

        They are log|V| + log|X'V⁻¹X|, y'P y, X'V⁻¹X, X'V⁻¹y for V = I + Σ θ_k² Z_k Z_k'; and the
        slopes.
        """
        from scipy.linalg.lapack import dtrtrs  # `solve_triangular` takes ten times as long here

        left, logs = self._moments, 0.0
        lost = np.zeros(len(theta))  # q_k - tr(M⁻¹)_k, where M = I + ΛZ'ZΛ
        predicted: list[tuple[int, Values]] = []  # M⁻¹ΛZ'[X, y], by factor
        if len(theta):
            big = theta[self._large]
            d = 1 + big**2 * self._diagonal
            logs = float(np.log(d).sum())
            B = big * self._large_sums
            left = left - B.T @ (B / d[:, None])
            U = B / d[:, None]
            trace = float((1 / d).sum())
            if len(self._of):
                scale = theta[self._of]
                C = (scale[:, None] * self._cross) * (big / d)
                S = scale[:, None] * self._inner * scale - (C * d) @ C.T
                S[np.diag_indices_from(S)] += 1
                L = np.linalg.cholesky(S)
                logs += 2 * float(np.log(np.diag(L)).sum())
                R = dtrtrs(L, scale[:, None] * self._sums - C @ B, lower=1)[0]
                left = left - R.T @ R
                if slopes:
                    inverse = dtrtrs(L, np.eye(len(L)), lower=1)[0]
                    trace += float(((inverse @ C) ** 2).sum())
                    traces = (inverse**2).sum(axis=0)
                    other = inverse.T @ R
                    U = U - C.T @ other
                    for k in np.unique(self._of):
                        lost[k] = float((1 - traces[self._of == k]).sum())
                        predicted.append((int(k), other[self._of == k]))
            lost[self._large] = len(d) - trace
            predicted.append((self._large, U))
        information, corner = left[:-1, :-1], left[:-1, -1]
        sign, log = np.linalg.slogdet(information)
        if sign <= 0:
            raise Error("the fixed effects of the mixed model cannot be told apart")
        beta = np.linalg.solve(information, corner)
        rss = max(float(left[-1, -1] - corner @ beta), 1e-300)
        slope = np.zeros(len(theta))
        if slopes:
            inverse = np.linalg.inv(information)
            for k, u in predicted:
                e = u[:, -1] - u[:, :-1] @ beta
                fixed = float(np.einsum("ij,jk,ik->", u[:, :-1], inverse, u[:, :-1]))
                gain = lost[k] - fixed - self.freedom / rss * float(e @ e)
                slope[k] = 2 * gain / theta[k] if theta[k] > 0 else 0.0
        return logs + float(log), rss, information, corner, slope

    def deviance(self, theta: Values) -> float:
        """Compute -2 restricted log-likelihood, profiled over β and σ²."""
        return self._value(theta, False)[0]

    def _value(self, theta: Values, slopes: bool = True) -> tuple[float, Values]:
        log, rss, _, _, slope = self._parts(theta, slopes)
        return log + self.freedom * (1 + math.log(2 * math.pi * rss / self.freedom)), slope

    def _search(self) -> Values:
        from scipy.optimize import minimize

        count = len(self._sizes)
        theta = np.full(count, 0.5)
        for _ in range(2 + count):
            if not count:
                break
            theta = minimize(
                self._value, theta, jac=True, method="L-BFGS-B", bounds=[(0, 1e4)] * count,
                options={"ftol": 1e-14, "gtol": 1e-8},
            ).x  # fmt: skip
            least, stuck = self.deviance(theta), False
            for k in np.flatnonzero(theta**2 < EDGE):
                # The slope at 0 is always 0: look on both sides whether 0 is a valley or a ridge.
                zero, near = theta.copy(), theta.copy()
                zero[k], near[k] = 0.0, 0.02
                if self.deviance(zero) <= least + 1e-7:
                    theta = zero
                if self.deviance(near) < least - 1e-9:
                    theta, stuck = near, True
            if not stuck:
                break
        return theta

    def contrast(self, weights: ArrayLike) -> Contrast:
        """Estimate weights · β by generalised least squares, as lmer does."""
        c = np.asarray(weights, float)
        estimate = float(c @ self.effects)
        return self._judged(estimate, lambda _, left: float(c @ np.linalg.solve(left, c)))

    def weighted(self, score: Values, weights: Values) -> Contrast:
        """Estimate Σ w · score, with the error that the fitted variances give such a sum.

        For balanced rows of equal weight this is the intercept of `contrast`; for others it is the
        mean that was asked for, while generalised least squares would weigh rows by their variance.
        """
        squares = np.array([float((e.sums(weights[:, None]) ** 2).sum()) for e in self._effects])
        own = float(weights @ weights)
        return self._judged(
            float(weights @ score), lambda theta, _: own + float(theta**2 @ squares)
        )

    def _judged(self, estimate: float, spread: Callable[[Values, Values], float]) -> Contrast:
        """Find Satterthwaite's degrees of freedom of an estimate whose variance is σ² · spread.

        df = 2 v² / (g' A g): v the variance of the estimate, g its gradient in (θ, σ), A twice the
        inverse Hessian of the deviance in them (by differences, as lmerTest does).
        """

        def at(theta: Values) -> Values:  # deviance with σ held fixed, y'P y, variance over σ²
            log, rss, information, *_ = self._parts(theta)
            return np.array([log + rss / self.residual, rss, spread(theta, information)])

        middle, first, second = differences(at, self.theta)
        s, k = math.sqrt(self.residual), len(self.theta)
        hessian, gradient = np.empty((k + 1, k + 1)), np.empty(k + 1)
        hessian[:k, :k] = second[..., 0]
        hessian[:k, k] = hessian[k, :k] = -2 * first[:, 1] / s**3
        hessian[k, k] = 4 * self.freedom / s**2
        gradient[:k], gradient[k] = self.residual * first[:, 2], 2 * s * middle[2]
        values, vectors = np.linalg.eigh(hessian)
        kept = values > 1e-8
        along = vectors[:, kept].T @ gradient
        variance = float(middle[2]) * self.residual
        df = variance**2 / float((along**2 / values[kept]).sum())
        return Contrast(estimate, math.sqrt(variance), df)


@dataclass(frozen=True)
class _Part:
    """A random effect: the level of every row (-1: none), and what the row takes of it."""

    codes: Codes
    loads: Values
    size: int

    def sums(self, both: Values) -> Values:
        """Sum the columns of `both` by level: Z'[X, y]."""
        there = self.codes >= 0
        codes, loads = self.codes[there], self.loads[there]
        return np.column_stack([
            np.bincount(codes, loads * column[there], self.size) for column in both.T
        ])  # fmt: skip

    def meet(self, other: _Part) -> Values:
        """Sum up how far the levels of two effects meet: Z_k'Z_m."""
        there = (self.codes >= 0) & (other.codes >= 0)
        flat = self.codes[there] * other.size + other.codes[there]
        loads = self.loads[there] * other.loads[there]
        met = np.bincount(flat, loads, self.size * other.size)
        return np.asarray(met.reshape(self.size, other.size), float)


def separable(factors: Mapping[str, Codes]) -> dict[str, Codes]:
    """Keep the factors whose variance can be told from the residual and from each other's."""
    kept: dict[str, Codes] = {}
    for name, codes in factors.items():
        there = codes >= 0
        _, place = np.unique(codes[there], return_inverse=True)
        dense = np.full(len(codes), -1, np.intp)
        dense[there] = place
        twin = any(  # the same groups of rows under another name
            len(np.unique(dense * (one.max() + 1) + one)) == dense.max() + 1 == one.max() + 1
            for one in kept.values()
            if (dense >= 0).all() and (one >= 0).all()
        )
        if dense.max() + 1 < there.sum() and not twin:  # one row a level is the residual itself
            kept[name] = dense
    return kept


def differences(function: Callable[[Values], Values], at: Values) -> tuple[Values, Values, Values]:
    """Compute the value, gradient and Hessian of a vector function, by central differences.

    The function is even in each θ, so that a step below 0 does no harm.
    """
    count, steps = len(at), 1e-3 * np.maximum(np.abs(at), 0.1)
    E = np.diag(steps)
    middle = function(at)
    first = np.zeros((count, len(middle)))
    second = np.zeros((count, count, len(middle)))
    for k in range(count):
        up, down = function(at + E[k]), function(at - E[k])
        first[k] = (up - down) / (2 * steps[k])
        second[k, k] = (up - 2 * middle + down) / steps[k] ** 2
        for m in range(k):
            a, b = function(at + E[k] + E[m]), function(at + E[k] - E[m])
            c, d = function(at - E[k] + E[m]), function(at - E[k] - E[m])
            second[k, m] = second[m, k] = (a - b - c + d) / (4 * steps[k] * steps[m])
    return middle, first, second


def reach_of(stderr: float, df: float, level: float) -> float:
    """Compute half the width of a t-interval."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2)) * stderr


# ---------------------------------------------------------------- kinds of minds


MOST_CELLS = 25_000_000  # persons × environments, whose table is held in memory


@dataclass(frozen=True)
class Term:
    """A fixed effect, with its 95 % interval and test by t."""

    name: str
    estimate: float
    stderr: float
    df: float  # Satterthwaite's; of persons or environments where their variance is at its edge
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True)
class Mixed:
    """The fitted model: its terms and variance components."""

    rows: int
    reference: str  # the kind that the others are compared with
    terms: tuple[Term, ...]
    persons: float  # the variance between persons
    environments: float  # the variance between environments
    residual: float
    log_likelihood: float  # restricted
    trouble: tuple[str, ...]  # what to bear in mind, in sentences


def mixed_model(
    frame: pd.DataFrame,
    complexity: str,
    kind: str = "kind",
    person: str = "person",
    environment: str = "exercise",
    score: str = "score",
) -> Mixed:
    """Fit score ~ kind × complexity + (1 | person) + (1 | environment).

    Rows whose person is missing or empty are those of programs, and have no person effect.
    """
    import pandas as pd

    names = {
        "score": score, "K": complexity, "kind": kind, "person": person,
        "environment": environment,
    }  # fmt: skip
    rows = pd.DataFrame({role: column(frame, name) for role, name in names.items()})
    rows = rows.dropna(subset=[role for role in names if role != "person"])
    rows["person"] = rows["person"].where(rows["person"].astype(str) != "")
    _check(rows, names)
    kinds = sorted(rows["kind"].astype(str).unique())
    design, terms = _design(rows, kinds, names)
    roles = ("person", "environment")
    factors = [pd.factorize(rows[role])[0].astype(np.intp) for role in roles]
    fitted = LinearMixed(rows["score"].to_numpy(float), design, factors)
    if fitted.exact:
        raise Error("nothing is left over: persons and environments explain every score exactly")
    edges = [part < EDGE * fitted.residual for part in fitted.components]
    most = _most(factors, edges)
    return Mixed(
        rows=len(rows),
        reference=kinds[0],
        terms=tuple(_term(fitted, n, name, most) for n, name in enumerate(terms)),
        persons=fitted.components[0],
        environments=fitted.components[1],
        residual=fitted.residual,
        log_likelihood=-fitted.deviance(fitted.theta) / 2,
        trouble=tuple(_at_edge(names[role]) for role, at in zip(roles, edges, strict=True) if at),
    )


def _check(rows: pd.DataFrame, names: dict[str, str]) -> None:
    for role in ("kind", "person", "environment", "K"):
        if rows[role].nunique() < 2:
            raise Error(f"a mixed model needs two or more values of '{names[role]}'")
    for role in ("person", "environment"):
        if rows[role].nunique() == rows[role].count():
            raise Error(
                f"every score has a '{names[role]}' of its own, so that the variance between them "
                "cannot be told from chance"
            )
    persons, environments = rows["person"].nunique(), rows["environment"].nunique()
    if persons * environments > MOST_CELLS:
        raise Error(
            f"{persons} persons × {environments} environments are too many for a mixed model; "
            f"at most {MOST_CELLS:,} pairs of them"
        )


def _design(
    rows: pd.DataFrame, kinds: list[str], names: dict[str, str]
) -> tuple[Values, list[str]]:
    """Build the fixed effects: kind (against the first), K (centred), and both together."""
    K = rows["K"].to_numpy(float)
    K = K - K.mean()
    is_kind = [(rows["kind"].astype(str) == kind).to_numpy(float) for kind in kinds[1:]]
    columns = [np.ones(len(K)), *is_kind, K, *(one * K for one in is_kind)]
    design = np.column_stack(columns)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise Error(f"some kind has a single value of '{names['K']}'; the model needs more")
    named = [f"{names['kind']} {kind}" for kind in kinds[1:]]
    together = [f"{name} × {names['K']}" for name in named]
    return design, ["intercept", *named, names["K"], *together]


def _most(factors: list[Codes], edges: list[bool]) -> float:
    """Compute the most degrees of freedom that a term may have.

    A variance estimated at 0 is not known to be 0, and Satterthwaite's rule would then count rows.
    """
    levels = [float(codes.max()) for codes, edge in zip(factors, edges, strict=True) if edge]
    return max(1.0, min(levels, default=np.inf))  # one fewer than the levels


def _term(fitted: LinearMixed, place: int, name: str, most: float) -> Term:
    found = fitted.contrast(np.eye(fitted.columns)[place])
    found = replace(found, df=min(found.df, most))
    return Term(name, found.estimate, found.stderr, found.df, found.interval(0.95), found.p)


def _at_edge(name: str) -> str:
    return (
        f"The variance between values of '{name}' is estimated at 0, the edge of what it can be: "
        "the data show no differences of that kind beyond chance. With few of them that is often "
        "chance itself, so that the degrees of freedom are at most their number less one."
    )
