"""Curves of accuracy against difficulty, fitted by maximum likelihood to hits and trials.

All are one family: P = f + (1 - f) h(u), u = a_j + s (z - z_0), with an intercept a_j for each mind
j, a slope s that is fixed, shared by the minds (all of one kind) or each mind's own, and a floor f
that is the chance level, free, or none:

| name               | h(u)             | z    | slope         | floor      |
| ------------------ | ---------------- | ---- | ------------- | ---------- |
| E1                 | e^(-e^u)         | ln D | 1             | chance     |
| E2                 | e^(-e^u)         | ln D | β, shared     | chance     |
| logistic           | 1/(1 + e^u)      | D    | shared        | chance     |
| logistic own slope | 1/(1 + e^u)      | D    | each its own  | chance     |
| logistic free floor| 1/(1 + e^u)      | D    | shared        | one, free  |
| constant           | 1/(1 + e^u)      | -    | 0             | none       |

With z = ln D and s = β, e^u = (D/α)^β. Curves with parameters for each *item* (2PL, 3PL) are not
here: they are for 200 minds and more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error, nearest
from allminds.statistics.accuracy.counts import Counts
from allminds.statistics.accuracy.curve import Values, numbers
from allminds.statistics.accuracy.likelihood import SURE, Curve, Likelihood, Parameters, climb

CURVES = {
    curve.name: curve
    for curve in (
        Curve("E1", True, "one", "chance"),
        Curve("E2", True, "shared", "chance"),
        Curve("logistic", False, "shared", "chance"),
        Curve("logistic own slope", False, "own", "chance"),
        Curve("logistic free floor", False, "shared", "free"),
        Curve("constant", False, "none", "none"),
    )
}


@dataclass(frozen=True)
class Fit:
    """A curve fitted to minds; `intercepts` are u at the difficulty `at`."""

    curve: Curve
    at: float  # the D where z = z_0
    unit: float  # what z is divided by: 1 for ln D, the spread of difficulties for D
    intercepts: Values  # a_j
    slopes: Values  # s_j (β for E2)
    floor: float
    log_likelihood: float  # without the binomial coefficients
    parameters: int
    dispersion: float  # Pearson's χ² per degree of freedom; far above 1 is misfit

    def accuracy(self, difficulty: ArrayLike) -> Values:
        """P[mind, difficulty]."""
        d = np.atleast_1d(numbers(difficulty, "difficulty (D)"))
        if not (d > 0).all():
            raise Error("difficulty (D) must be above 0 for a fitted curve")
        z = _position(self.curve, d, self.at, self.unit)
        u = self.intercepts[:, None] + self.slopes[:, None] * z
        return np.asarray(self.floor + (1 - self.floor) * self.curve.height(u)[0])

    def seen_from(self, at: float) -> Fit:
        """The same fit with its intercepts at another difficulty."""
        z = float(_position(self.curve, np.asarray(at), self.at, self.unit))
        return replace(self, at=at, intercepts=self.intercepts + self.slopes * z)

    @property
    def abilities(self) -> Values | None:
        """α of each mind where the curve has one (E1, E2), else None."""
        if not self.curve.exponential:
            return None
        return np.asarray(self.at * np.exp(-self.intercepts / self.slopes))

    @property
    def beta(self) -> float | None:
        """β where the curve has one (1 for E1), else None."""
        return float(self.slopes[0]) if self.curve.exponential else None


def find_curve(name: str) -> Curve:
    """The curve of that name."""
    if name not in CURVES:
        raise Error(f"there is no curve '{name}': {nearest(name, CURVES)}")
    return CURVES[name]


def fit_curve(counts: Counts, curve: str) -> Fit:
    """The likeliest curve of that name, its intercepts at the mean (of the logarithm) of D."""
    shape = find_curve(curve)
    centre = float(np.exp(np.log(counts.difficulty).mean()))
    unit = 1.0 if shape.exponential else float(counts.difficulty.std()) or 1.0
    likelihood = Likelihood(shape, counts, _position(shape, counts.difficulty, centre, unit))
    tops = [climb(likelihood, point) for point in likelihood.starts()]
    return _fit(likelihood, max(tops, key=likelihood.at), centre, unit)


def refit(counts: Counts, fit: Fit, mind: int, intercept: float) -> Fit:
    """The likeliest curve with one mind's u at `fit.at` held fast, found from a fit nearby."""
    z = _position(fit.curve, counts.difficulty, fit.at, fit.unit)
    likelihood = Likelihood(fit.curve, counts, z)
    a = fit.intercepts.copy()
    a[mind] = intercept
    start = likelihood.pack(a, fit.slopes, fit.floor)
    return _fit(likelihood, climb(likelihood, start, 10 * SURE, mind), fit.at, fit.unit)


def _fit(likelihood: Likelihood, top: Parameters, at: float, unit: float) -> Fit:
    a, s, floor = likelihood.unpack(top)
    return Fit(
        curve=likelihood.curve,
        at=at,
        unit=unit,
        intercepts=a,
        slopes=s,
        floor=floor,
        log_likelihood=likelihood.at(top),
        parameters=top.own.size + top.shared.size,
        dispersion=likelihood.dispersion(top),
    )


def _position(curve: Curve, difficulty: Values, at: float, unit: float) -> Values:
    """z - z_0."""
    if curve.exponential:
        return np.asarray(np.log(difficulty / at))
    return np.asarray((difficulty - at) / unit)
