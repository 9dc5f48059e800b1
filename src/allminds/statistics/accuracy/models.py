"""The family of curves that predict accuracy, and their fit by maximum likelihood.

A curve is P = f + (1 - f) h(u); `Likelihood` is that of one curve, `climb` finds its top by damped
scoring, and `fit_curve` fits the curve of a name in `CURVES`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, xlogy

from allminds.core.errors import Error, nearest
from allminds.statistics.accuracy.curve import Values, numbers
from allminds.statistics.accuracy.fit import Counts

SURE = 30.0  # |a| at most: beyond it h is 0 or 1 to the last bit
_STEEP = 4.0  # |ln s| at most; s of a logistic is per standard deviation of difficulty
_FLOOR = (-10.0, 6.0)  # of the logit of a free floor
_TINY = 1e-13  # keeps logarithms and quotients finite
_LONGEST = 3.0  # step of any parameter


@dataclass(frozen=True)
class Curve:
    """One member of the family: P = f + (1 - f) h(u), u = a_j + s (z - z_0)."""

    name: str
    exponential: bool  # E1 and E2; the others are logistic
    slope: Literal["one", "shared", "own", "none"]
    floor: Literal["chance", "free", "none"]

    def height(self, u: Values) -> tuple[Values, Values, Values]:
        """Compute h(u), 1 - h(u) and the derivative of h."""
        if self.exponential:
            x = np.exp(np.minimum(u, 600.0))
            h = np.exp(-x)
            return h, -np.expm1(-x), -x * h
        h, not_h = expit(-u), expit(u)
        return h, not_h, -h * not_h


class Parameters(NamedTuple):
    """A point: each mind's (a, and ln s if its own), and the shared (ln s, logit f)."""

    own: Values  # [mind, 1 or 2]
    shared: Values  # [0, 1 or 2]


class Slopes(NamedTuple):
    """First derivatives and Fisher information at a point, in blocks."""

    own: Values  # [mind, own]
    shared: Values  # [shared]
    own_own: Values  # [mind, own, own]
    own_shared: Values  # [mind, own, shared]
    shared_shared: Values  # [shared, shared]


@dataclass(frozen=True)
class Likelihood:
    """The likelihood ℓ of one curve given counts, whose items lie at z - z_0 = `z`."""

    curve: Curve
    counts: Counts
    z: Values

    def starts(self) -> list[Parameters]:
        """List the starting points: each mind's own rate, on a flat and on a steep curve."""
        floor = self.counts.chance if self.curve.floor == "chance" else 0.0
        hits, trials = self.counts.hits.sum(axis=1), self.counts.trials.sum(axis=1)
        rate = np.clip(((hits + 0.5) / (trials + 1) - floor) / (1 - floor), 0.02, 0.98)
        a = np.log(-np.log(rate)) if self.curve.exponential else -logit(rate)
        steepnesses = [0.0, 1.4] if self.curve.slope in ("shared", "own") else [0.0]
        return [
            self.pack(a, np.full(len(a), np.exp(steep)), max(self.counts.chance, 0.02))
            for steep in steepnesses
        ]

    def pack(self, a: Values, s: Values, floor: float) -> Parameters:
        """Build a point from intercepts, slopes and floor."""
        own = np.column_stack([a, np.log(s)]) if self.curve.slope == "own" else a[:, None]
        shared = [float(np.log(s[0]))] if self.curve.slope == "shared" else []
        shared += [float(logit(floor))] if self.curve.floor == "free" else []
        return Parameters(own, np.array(shared))

    def unpack(self, point: Parameters) -> tuple[Values, Values, float]:
        """Split a point into intercepts, slopes and floor."""
        slope = np.full(self.counts.minds, 0.0 if self.curve.slope == "none" else 1.0)
        if self.curve.slope == "shared":
            slope *= np.exp(point.shared[0])
        if self.curve.slope == "own":
            slope = np.exp(point.own[:, 1])
        floor = self.counts.chance if self.curve.floor == "chance" else 0.0
        if self.curve.floor == "free":
            floor = float(expit(point.shared[-1]))
        return point.own[:, 0], slope, floor

    def at(self, point: Parameters) -> float:
        """Compute ℓ at a point, without the binomial coefficients."""
        right, wrong = self._chances(point)
        hits, trials = self.counts.hits, self.counts.trials
        return float((xlogy(hits, right) + xlogy(trials - hits, wrong)).sum())

    def dispersion(self, point: Parameters) -> float:
        """Compute Pearson's χ² per degree of freedom."""
        right, wrong = self._chances(point)
        n = self.counts.trials
        tried = n > 0
        chi = ((self.counts.hits - n * right)[tried] ** 2 / (n * right * wrong)[tried]).sum()
        return float(chi) / max(int(tried.sum()) - point.own.size - point.shared.size, 1)

    def slopes(self, point: Parameters) -> Slopes:
        """Compute the first derivatives of ℓ and the Fisher information."""
        a, s, floor = self.unpack(point)
        _, not_h, dh = self.curve.height(a[:, None] + s[:, None] * self.z)
        right, wrong = self._chances(point)
        n, hits = self.counts.trials, self.counts.hits
        by_a = (1 - floor) * dh
        by_slope = by_a * s[:, None] * self.z
        own = [by_a, by_slope] if self.curve.slope == "own" else [by_a]
        shared = [by_slope] if self.curve.slope == "shared" else []
        shared += [not_h * floor * (1 - floor)] if self.curve.floor == "free" else []
        mine = np.stack(own)
        ours = np.stack(shared) if shared else np.zeros((0, *by_a.shape))
        score, weight = hits / right - (n - hits) / wrong, n / (right * wrong)
        return Slopes(
            np.einsum("bji,ji->jb", mine, score),
            np.einsum("kji,ji->k", ours, score),
            np.einsum("bji,cji,ji->jbc", mine, mine, weight),
            np.einsum("bji,kji,ji->jbk", mine, ours, weight),
            np.einsum("kji,lji,ji->kl", ours, ours, weight),
        )

    def _chances(self, point: Parameters) -> tuple[Values, Values]:
        """Compute P and 1 - P at a point."""
        a, s, floor = self.unpack(point)
        h, not_h, _ = self.curve.height(a[:, None] + s[:, None] * self.z)
        right, wrong = floor + (1 - floor) * h, (1 - floor) * not_h
        return np.maximum(right, _TINY), np.maximum(wrong, _TINY)


def climb(
    likelihood: Likelihood, start: Parameters, sure: float = SURE, pinned: int | None = None
) -> Parameters:
    """Climb to the top of the likelihood from a start; a `pinned` mind keeps its intercept."""
    low, high = _box(likelihood.curve, start, sure)
    here, height, damping = start, likelihood.at(start), 1e-3
    for _ in range(200):
        step = _step(likelihood.slopes(here), here, low, high, damping, pinned)
        there = Parameters(*(
            np.clip(p + np.clip(d, -_LONGEST, _LONGEST), a, b)
            for p, d, a, b in zip(here, step, low, high, strict=True)
        ))  # fmt: skip
        gain = likelihood.at(there) - height
        if gain > 0:
            here, height, damping = there, height + gain, damping / 10
        else:
            damping *= 10
        if abs(gain) < 1e-9 or damping > 1e8:
            break
    return here


def _box(curve: Curve, point: Parameters, sure: float) -> tuple[Parameters, Parameters]:
    own = [sure, _STEEP][: point.own.shape[1]]
    slope = [_STEEP] if curve.slope == "shared" else []
    free = curve.floor == "free"
    low = Parameters(-np.array(own), np.array([-s for s in slope] + [_FLOOR[0]] * free))
    return low, Parameters(np.array(own), np.array(slope + [_FLOOR[1]] * free))


def _step(
    slopes: Slopes,
    here: Parameters,
    low: Parameters,
    high: Parameters,
    damping: float,
    pinned: int | None,
) -> Parameters:
    """Compute the damped scoring step; parameters held by a bound, or pinned, stay."""
    fast_own = _held(here.own, slopes.own, low.own, high.own)
    if pinned is not None:
        fast_own[pinned, 0] = True
    fast_shared = _held(here.shared, slopes.shared, low.shared, high.shared)
    g, q = np.where(fast_own, 0.0, slopes.own), np.where(fast_shared, 0.0, slopes.shared)
    border = np.where(fast_own[:, :, None] | fast_shared, 0.0, slopes.own_shared)
    inverse = np.linalg.inv(_damped(slopes.own_own, fast_own, damping))
    through = np.einsum("jbc,jck->jbk", inverse, border)
    corner = _damped(slopes.shared_shared, fast_shared, damping)
    corner = corner - np.einsum("jbk,jbl->kl", border, through)
    shared = np.linalg.solve(corner, q - np.einsum("jbk,jb->k", through, g))
    own = np.einsum("jbc,jc->jb", inverse, g) - through @ shared
    return Parameters(own, shared)


def _held(point: Values, slope: Values, low: Values, high: Values) -> NDArray[np.bool_]:
    return np.asarray(((point <= low) & (slope < 0)) | ((point >= high) & (slope > 0)))


def _damped(matrix: Values, fast: NDArray[np.bool_], damping: float) -> Values:
    """Raise the diagonal of a matrix, and make the rows of parameters that are held idle."""
    free = ~fast
    eye = np.eye(matrix.shape[-1])
    kept = matrix * free[..., :, None] * free[..., None, :]
    return np.asarray(kept * (1 + damping * eye) + eye * (1e-9 + fast[..., None, :]))


# ---------------------------------------------------------------- curves and fits


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
        """Compute the accuracy P[mind, difficulty]."""
        d = np.atleast_1d(numbers(difficulty, "difficulty (D)"))
        if not (d > 0).all():
            raise Error("difficulty (D) must be above 0 for a fitted curve")
        z = _position(self.curve, d, self.at, self.unit)
        u = self.intercepts[:, None] + self.slopes[:, None] * z
        return np.asarray(self.floor + (1 - self.floor) * self.curve.height(u)[0])

    def seen_from(self, at: float) -> Fit:
        """Move the intercepts of the fit to another difficulty."""
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
    """Find the curve of that name."""
    if name not in CURVES:
        raise Error(f"there is no curve '{name}': {nearest(name, CURVES)}")
    return CURVES[name]


def fit_curve(counts: Counts, curve: str) -> Fit:
    """Fit the curve of that name, with intercepts at the mean (of the logarithm) of D."""
    shape = find_curve(curve)
    centre = float(np.exp(np.log(counts.difficulty).mean()))
    unit = 1.0 if shape.exponential else float(counts.difficulty.std()) or 1.0
    likelihood = Likelihood(shape, counts, _position(shape, counts.difficulty, centre, unit))
    tops = [climb(likelihood, point) for point in likelihood.starts()]
    return _fit(likelihood, max(tops, key=likelihood.at), centre, unit)


def refit(counts: Counts, fit: Fit, mind: int, intercept: float) -> Fit:
    """Fit again from a fit nearby, with one mind's u at `fit.at` held fixed."""
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
    """Compute z - z_0 of a curve at a difficulty."""
    if curve.exponential:
        return np.asarray(np.log(difficulty / at))
    return np.asarray((difficulty - at) / unit)
