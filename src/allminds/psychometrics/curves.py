"""Difficulty curves, and what they come to: capability and generality.

ψ(h) is what a mind makes of exercises of difficulty h, from 0 (as good as chance) to 1 (all that
can be had). Read as P(X > h), the chance that the mind's reach X goes beyond h, its area is the
mean of X, and how slowly it falls is the spread of X:

- **capability** = h_0 + A, A = ∫ψ from h_0, where difficulty begins;
- **spread**² = 2∫(h - h_0)ψ - A² = Var X;
- **generality** = 1/spread: a mind that does all exercises up to its capability and none beyond
  is as general as can be. spread/capability is the same without a scale.

A curve that has not come down to .05 at the highest difficulty is cut off: the figures are then
bounds. Under Eq. 1 of P0, ψ = e^(-h/α), capability and spread are both α, whatever α is: take these
figures from measured curves, for Eq. 1 cannot tell generality from capability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.errors import Error

Values = NDArray[np.float64]
CUT_OFF = 0.05  # ψ at the highest difficulty above which the curve is cut off


@dataclass(frozen=True)
class DifficultyCurve:
    """ψ at the difficulties measured, joined by straight lines."""

    difficulties: Values
    psi: Values
    counts: NDArray[np.intp]  # exercises at each
    start: float  # h_0

    @property
    def cut_off(self) -> bool:
        """Whether the curve is still above .05 where the measuring ends."""
        return bool(self.psi[-1] > CUT_OFF)

    @property
    def capability(self) -> float:
        """h_0 + A; at least this, if the curve is cut off."""
        return self.start + self._area()

    @property
    def spread(self) -> float:
        """The standard deviation of X; at least this, if the curve is cut off."""
        h, psi = self._points()
        weighted = (h - self.start) * psi
        middle = (h[1:] + h[:-1] - 2 * self.start) * (psi[1:] + psi[:-1]) / 4
        moment = float((np.diff(h) * (weighted[1:] + 4 * middle + weighted[:-1])).sum()) / 6
        return float(np.sqrt(max(0.0, 2 * moment - self._area() ** 2)))

    @property
    def generality(self) -> float | None:
        """1/spread; at most this, if the curve is cut off. None if there is no spread."""
        return 1 / self.spread if self.spread > 0 else None

    @property
    def relative_spread(self) -> float | None:
        """spread/capability; None if the curve is cut off, for then it is not even a bound."""
        capability = self.capability
        return None if self.cut_off or capability <= 0 else self.spread / capability

    def text(self) -> dict[str, str]:
        """The figures as they are to be printed, with the bounds that they are."""
        low, high = (">= ", "<= ") if self.cut_off else ("", "")
        whole, ratio = self.generality, self.relative_spread
        return {
            "capability": f"{low}{self.capability:.2f}",
            "spread": f"{low}{self.spread:.2f}",
            "generality": "–" if whole is None else f"{high}{whole:.3f}",
            "spread/capability": "–" if ratio is None else f"{ratio:.3f}",
        }

    def _points(self) -> tuple[Values, Values]:
        """The curve from h_0 on; where h_0 lies below what was measured, ψ is 1 there."""
        if self.start == self.difficulties[0]:
            return self.difficulties, self.psi
        return np.r_[self.start, self.difficulties], np.r_[1.0, self.psi]

    def _area(self) -> float:
        h, psi = self._points()
        return float((np.diff(h) * (psi[1:] + psi[:-1])).sum()) / 2


def difficulty_curve(
    difficulties: ArrayLike,
    scores: ArrayLike,
    floor: float,
    ceiling: float = 1.0,
    start: float | None = None,
) -> DifficultyCurve:
    """ψ(h) = (mean score at h - floor) / (ceiling - floor), cut to [0, 1] after averaging.

    For answers that are right or wrong the floor is the chance c of guessing, the ceiling 1. h_0 is
    `start`, the lowest difficulty measured if none is given. NaN is an exercise that failed.
    """
    h, score = _given(difficulties, scores)
    if not ceiling > floor:
        raise Error(f"the ceiling {ceiling:g} must lie above the floor {floor:g}")
    levels, codes = np.unique(h, return_inverse=True)
    begin = float(levels[0]) if start is None else start
    if not begin <= levels[0]:
        raise Error(f"difficulty cannot begin at {begin:g}, above the lowest, {levels[0]:g}")
    counts = np.bincount(codes)
    means = np.bincount(codes, weights=score) / counts
    return DifficultyCurve(levels, _psi(means, floor, ceiling), counts, begin)


def _psi(means: Values, floor: float, ceiling: float) -> Values:
    return np.clip((means - floor) / (ceiling - floor), 0.0, 1.0)


@dataclass(frozen=True)
class Intervals:
    """95 % intervals of a curve's figures, by resampling the exercises of each difficulty."""

    capability: tuple[float, float]
    spread: tuple[float, float]


def curve_intervals(
    difficulties: ArrayLike,
    scores: ArrayLike,
    rng: np.random.Generator,
    floor: float,
    ceiling: float = 1.0,
    start: float | None = None,
    draws: int = 1000,
) -> Intervals:
    """How far capability and spread may be off, having been taken from so many exercises."""
    plain = difficulty_curve(difficulties, scores, floor, ceiling, start)
    h, score = _given(difficulties, scores)
    score = score[np.argsort(h, kind="stable")]
    counts = plain.counts
    first = np.cumsum(counts) - counts  # of each difficulty, in the order of difficulties
    base, size = np.repeat(first, counts), np.repeat(counts, counts)
    found = []
    for _ in range(draws):
        drawn = score[base + (rng.random(len(score)) * size).astype(np.intp)]
        psi = _psi(np.add.reduceat(drawn, first) / counts, floor, ceiling)
        curve = replace(plain, psi=psi)
        found.append((curve.capability, curve.spread))
    (a, b), (c, d) = np.quantile(np.array(found), [0.025, 0.975], axis=0).T
    return Intervals((float(a), float(b)), (float(c), float(d)))


def _given(difficulties: ArrayLike, scores: ArrayLike) -> tuple[Values, Values]:
    h, score = np.asarray(difficulties, float), np.asarray(scores, float)
    if h.shape != score.shape or h.ndim != 1:
        raise Error("a difficulty curve needs one difficulty for every score")
    there = ~np.isnan(score)
    h, score = h[there], score[there]
    if not np.isfinite(h).all():
        raise Error("a difficulty is missing or not finite")
    if len(np.unique(h)) < 2:
        raise Error("a difficulty curve needs scores at two or more difficulties")
    return h, score


# ---------------------------------------------------------------- scores at unseen difficulties

Scheme = Literal["items", "upper"]
LINES = ("straight line", "constant")


@dataclass(frozen=True)
class ForeseenScores:
    """Mean scores at difficulties left out of the fit, as a line per mind foresaw them."""

    line: str
    scheme: Scheme
    difficulties: Values  # left out
    predicted: Values  # [mind, difficulty]
    observed: Values  # NaN where a mind has no score
    weights: Values  # exercises

    @property
    def absolute_error(self) -> float:
        """Mean |predicted - observed|, each difficulty of each mind weighing as its exercises."""
        return self._mean(np.abs(self.predicted - self.observed))

    @property
    def squared_error(self) -> float:
        """The same, squared: what the better line is chosen by."""
        return self._mean((self.predicted - self.observed) ** 2)

    def _mean(self, values: Values) -> float:
        there = self.weights > 0
        return float((values[there] * self.weights[there]).sum() / self.weights[there].sum())


def foresee_scores(
    difficulties: ArrayLike, means: ArrayLike, exercises: ArrayLike, scheme: Scheme = "items"
) -> tuple[ForeseenScores, ...]:
    """Scores at difficulties that were left out: each in turn, or the upper half at once.

    From means[mind, difficulty] over so many exercises each (0 where a mind has none). A straight
    line and a constant are fitted to every mind; the one with the smaller squared error is first.
    """
    h = np.asarray(difficulties, float)
    n = np.asarray(exercises, float)
    mean = np.where(n > 0, np.asarray(means, float), np.nan)
    if h.ndim != 1 or mean.ndim != 2 or mean.shape != n.shape or mean.shape[1] != len(h):
        raise Error("scores to foresee are means[mind, difficulty], with as many exercises")
    if len(np.unique(h)) < 4:
        raise Error("four difficulties or more are needed to foresee one of them")
    parts = [h == level for level in np.unique(h)]
    if scheme == "upper":
        parts = [h >= np.median(h)]
    out = np.any(parts, axis=0)
    found = []
    for line in LINES:
        predicted = np.full(mean.shape, np.nan)
        for part in parts:
            for mind in range(len(mean)):
                predicted[mind, part] = _foreseen(line, h, mean[mind], n[mind], part)
        kept = np.where(np.isnan(predicted), 0.0, n)[:, out]
        found.append(ForeseenScores(line, scheme, h[out], predicted[:, out], mean[:, out], kept))
    return tuple(sorted(found, key=lambda one: one.squared_error))


def _foreseen(
    line: str, h: Values, mean: Values, n: Values, out: NDArray[np.bool_]
) -> Values | float:
    """By weighted least squares over what was not left out; NaN where that is too little."""
    rest = ~out & (n > 0)
    if len(np.unique(h[rest])) < 2:
        return np.nan
    centre = float(np.average(h[rest], weights=n[rest]))
    level = float(np.average(mean[rest], weights=n[rest]))
    if line == "constant":
        return level
    across = h[rest] - centre
    slope = float((n[rest] * across * mean[rest]).sum() / (n[rest] * across**2).sum())
    return np.asarray(level + slope * (h[out] - centre))
