"""The logistic crossed model of hits, which stands beside the linear one of `crossed`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.statistics.comparison.mixed import Codes, Values, differences


@dataclass(frozen=True)
class Logistic:
    """The log odds ratio of `first` against `second`; None where it is not estimable."""

    estimate: float | None
    stderr: float | None
    interval: tuple[float, float] | None  # 95 %, Wald
    p: float | None
    person: float | None  # variances, on the logit scale
    item: float | None
    trouble: str = ""


def logistic(
    hit: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object],
    first: str,
    second: str,
) -> Logistic:
    """Fit logit P(hit) = who + (1 | person) + (1 | item) by Laplace's approximation.

    This is as lme4's glmer with nAGQ = 1, with standard errors from the Hessian of the deviance. It
    stands beside `crossed`, which decides: where all are right or all wrong there is no log odds
    ratio, and with few people Wald's interval is too narrow.
    """
    from scipy.special import ndtr, ndtri

    y, kinds = np.asarray(hit, float), np.array([str(one) for one in who])
    used = ~np.isnan(y) & np.isin(kinds, (first, second))
    y, is_first = y[used], (kinds[used] == first).astype(float)
    if not np.isin(y, (0, 1)).all():
        raise Error("a logistic model is for hits: every score must be 0 or 1")
    for name, rows in ((first, is_first == 1), (second, is_first == 0)):
        if not rows.any():
            raise Error(f"{name} has no score, so that there is nothing to compare")
        if np.ptp(y[rows]) == 0:
            which = "right" if y[rows][0] else "wrong"
            return Logistic(None, None, None, None, None, None,
                            f"Not estimable (separation): {name} is always {which}.")  # fmt: skip
    people = [None] * len(used) if person is None else [name_of(one) for one in person]
    factors = [numbers_of(people, used), numbers_of([name_of(one) for one in item], used)]
    named = [k for k, codes in enumerate(factors) if len(np.unique(codes[codes >= 0])) > 1]
    design = np.column_stack([np.ones(len(y)), is_first])
    theta, estimate, stderr = LaplaceLogit(y, design, [factors[k] for k in named]).fitted()
    variances = {k: float(value) ** 2 for k, value in zip(named, theta, strict=True)}
    parts = variances.get(0), variances.get(1)
    if stderr is None:
        return Logistic(None, None, None, None, *parts,
                        "Not estimable: the likelihood has no clear maximum.")  # fmt: skip
    reach = float(ndtri(0.975)) * stderr
    p = float(2 * ndtr(-abs(estimate) / stderr))
    return Logistic(estimate, stderr, (estimate - reach, estimate + reach), p, *parts)


def name_of(value: object) -> str | None:
    """Return the name of a person or item, None if there is none."""
    return None if value is None or value != value or value == "" else str(value)


def numbers_of(values: Sequence[str | None], used: NDArray[np.bool_]) -> Codes:
    """Assign numbers to the values of the rows that are used; None is -1."""
    chosen = [value for value, use in zip(values, used, strict=True) if use]
    order = {value: n for n, value in enumerate(sorted({v for v in chosen if v is not None}))}
    return np.array([-1 if value is None else order[value] for value in chosen], np.intp)


class LaplaceLogit:
    """The -2 log-likelihood of a logistic mixed model in (θ, β), random effects at their mode."""

    def __init__(self, y: Values, design: Values, factors: Sequence[Codes]) -> None:
        self.y, self.X, self.factors = y, design, list(factors)
        self.sizes = [int(codes.max()) + 1 for codes in factors]
        self.ends = np.cumsum([0, *self.sizes])
        self.u = np.zeros(self.ends[-1])

    def _spread(self, theta: Values, u: Values) -> Values:
        """Compute Λ u by row, summed over factors."""
        eta = np.zeros(len(self.y))
        for k, codes in enumerate(self.factors):
            there = codes >= 0
            eta[there] += theta[k] * u[self.ends[k] : self.ends[k + 1]][codes[there]]
        return eta

    def _gather(self, theta: Values, values: Values) -> Values:
        """Compute ΛZ' values, by level."""
        return np.concatenate([
            theta[k] * np.bincount(codes[codes >= 0], values[codes >= 0], self.sizes[k])
            for k, codes in enumerate(self.factors)
        ])  # fmt: skip

    def _matrix(self, theta: Values, weight: Values) -> Values:
        """Compute I + ΛZ'WZΛ, whose determinant is Laplace's correction."""
        made = np.eye(self.ends[-1])
        for k, one in enumerate(self.factors):
            for m, other in enumerate(self.factors):
                there = (one >= 0) & (other >= 0)
                flat = one[there] * self.sizes[m] + other[there]
                table = np.bincount(flat, weight[there], self.sizes[k] * self.sizes[m])
                block = theta[k] * theta[m] * table.reshape(self.sizes[k], self.sizes[m])
                made[self.ends[k] : self.ends[k + 1], self.ends[m] : self.ends[m + 1]] += block
        return made

    def deviance(self, values: Values) -> float:
        """Find the mode of the random effects by Newton's steps, and approximate around it."""
        from scipy.special import expit

        count = len(self.factors)
        theta, fixed = values[:count], self.X @ values[count:]

        def penalised(u: Values) -> tuple[float, Values]:
            eta = fixed + self._spread(theta, u)
            log = np.logaddexp(0, eta) - self.y * eta
            return 2 * float(log.sum()) + float(u @ u), eta

        u = self.u
        least, eta = penalised(u)
        for _ in range(100):
            mu = expit(eta)
            M = self._matrix(theta, mu * (1 - mu))
            step = np.linalg.solve(M, self._gather(theta, self.y - mu) - u)
            size = 1.0
            value, eta = penalised(u + step)
            while value > least + 1e-9 and size > 1e-6:
                size /= 2
                value, eta = penalised(u + size * step)
            u, gain, least = u + size * step, least - value, value
            if abs(gain) < 1e-11 * (1 + abs(least)):
                break
        self.u = u
        mu = expit(eta)
        _, log = np.linalg.slogdet(self._matrix(theta, mu * (1 - mu)))
        return least + float(log)

    def fitted(self) -> tuple[Values, float, float | None]:
        """Search (θ, β); return θ, the last effect and its standard error.

        The error is from the Hessian of the deviance; None if the maximum is not a clear one.
        """
        from scipy.optimize import minimize

        count = len(self.factors)
        shares = [float(self.y[self.X[:, -1] == k].mean()) for k in (0, 1)]
        odds = [math.log(one / (1 - one)) for one in shares]
        at = np.array([*[0.7] * count, odds[0], odds[1] - odds[0]])
        bounds = [(0.0, 50.0)] * count + [(None, None)] * 2
        for _ in range(1 + count):
            at = minimize(
                self.deviance, at, method="L-BFGS-B", jac="3-point", bounds=bounds,
                options={"ftol": 1e-13, "gtol": 1e-6},
            ).x  # fmt: skip
            zeros = [k for k in range(count) if at[k] < 1e-3]
            near = [np.where(np.arange(len(at)) == k, 0.05, at) for k in zeros]
            better = [one for one in near if self.deviance(one) < self.deviance(at) - 1e-9]
            if not better:  # the slope at 0 is always 0, so that a search can get stuck there
                break
            at = better[0]
        hessian = differences(lambda point: np.array([self.deviance(point)]), at)[2][..., 0]
        kept = [k for k in range(len(at)) if k not in zeros]
        values, vectors = np.linalg.eigh(hessian[np.ix_(kept, kept)])
        clear = values[0] > 1e-6 and abs(at[-1]) < 15
        stderr = math.sqrt(2 * float((vectors[-1] ** 2 / values).sum())) if clear else None
        return at[:count], float(at[-1]), stderr
