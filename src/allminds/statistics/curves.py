"""Difficulty curves, and the capability and generality that they give; scores at unseen levels.

ψ(h) is the score of a mind on exercises of difficulty h, from 0 (as good as chance) to 1 (the most
possible). Read as P(X > h), the chance that the mind's reach X goes beyond h, its area is the
mean of X, and how slowly it falls is the spread of X:

- **capability** = h_0 + A, A = ∫ψ from h_0, where difficulty begins;
- **spread**² = 2∫(h - h_0)ψ - A² = Var X;
- **generality** = 1/spread: a mind that does all exercises up to its capability and none beyond
  is as general as can be. spread/capability is the same without a scale.

A curve that has not come down to .05 at the highest difficulty is cut off: the figures are then
bounds. Under Eq. 1 of Chmait et al. (2017), ψ = e^(-h/α), capability and spread are both α,
whatever α is: take these figures from measured curves, for Eq. 1 cannot tell generality from
capability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error

Values = NDArray[np.float64]
CUT_OFF = 0.05  # ψ at the highest difficulty above which the curve is cut off
ABOVE_FLOOR = 1.85  # z beyond which a run of levels is above the floor
PERHAPS_ABOVE = 0.0  # the same for the upper end of the spread: a thin tail may be there
LEAST_ITEMS = 20  # a difficulty, from which on the spread has an interval that covers
_ROUNDING = 1e-9


@dataclass(frozen=True)
class DifficultyCurve:
    """The curve ψ at the difficulties measured, joined by straight lines."""

    difficulties: Values
    psi: Values
    counts: NDArray[np.intp]  # exercises at each
    start: float  # h_0

    @property
    def cut_off(self) -> bool:
        """True if the curve is still above .05 where the measuring ends."""
        return bool(self.psi[-1] > CUT_OFF + _ROUNDING)

    @property
    def capability(self) -> float:
        """Capability h_0 + A; a lower bound if the curve is cut off."""
        return self.start + self._area()

    @property
    def spread(self) -> float:
        """The standard deviation of X; a lower bound if the curve is cut off."""
        h, psi = self._points()
        weighted = (h - self.start) * psi
        middle = (h[1:] + h[:-1] - 2 * self.start) * (psi[1:] + psi[:-1]) / 4
        moment = float((np.diff(h) * (weighted[1:] + 4 * middle + weighted[:-1])).sum()) / 6
        return float(np.sqrt(max(0.0, 2 * moment - self._area() ** 2)))

    @property
    def generality(self) -> float | None:
        """Generality 1/spread; None without spread, an upper bound if the curve is cut off."""
        return 1 / self.spread if self.spread > 0 else None

    @property
    def relative_spread(self) -> float | None:
        """Relative spread, spread/capability; None if the curve is cut off."""
        capability = self.capability
        return None if self.cut_off or capability <= 0 else self.spread / capability

    def text(self) -> dict[str, str]:
        """Write the figures as they are printed, marked where they are bounds."""
        low, high = (">= ", "<= ") if self.cut_off else ("", "")
        whole, ratio = self.generality, self.relative_spread
        return {
            "capability": f"{low}{self.capability:.2f}",
            "spread": f"{low}{self.spread:.2f}",
            "generality": "–" if whole is None else f"{high}{whole:.3f}",
            "spread/capability": "–" if ratio is None else f"{ratio:.3f}",
        }

    def _points(self) -> tuple[Values, Values]:
        """Return the curve from h_0 on; where h_0 lies below what was measured, ψ is 1 there."""
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
    """Estimate ψ(h) = (mean score at h - floor) / (ceiling - floor) as a curve that only falls.

    The means of levels are pooled where they rise (isotonic regression, weighted by exercises), cut
    to [0, 1], and 0 from the first level on where no run of levels is above the floor (one-sided
    z > 1.85): cutting the noise of each level to [0, 1] by itself would leave a tail that is
    not there. For answers that are right or wrong the floor is the chance c of guessing, the
    ceiling 1. h_0 is `start`, the lowest difficulty measured if none is given. A NaN is left out.
    """
    return _study(difficulties, scores, floor, ceiling, start).curve()


@dataclass(frozen=True)
class _Study:
    """Scores in the order of their levels, and the ends of the scale."""

    levels: Values
    score: Values
    counts: NDArray[np.intp]
    floor: float
    ceiling: float
    start: float

    @property
    def hits(self) -> bool:
        """True if answers are right (1) or wrong (0), and the floor is a chance."""
        return 0 <= self.floor < 1 and bool(np.isin(self.score, (0, 1)).all())

    def curve(self) -> DifficultyCurve:
        """Compute the curve of the scores as they are."""
        psi = self.psi(self.score[None])[0]
        return DifficultyCurve(self.levels, psi, self.counts, self.start)

    def psi(self, scores: Values, above: float = ABOVE_FLOOR) -> Values:
        """Compute ψ[draw, level] of scores[draw, exercise], in the order of levels."""
        first = np.cumsum(self.counts) - self.counts
        means = np.add.reduceat(scores - self.floor, first, axis=1) / self.counts
        squares = np.add.reduceat((scores - self.floor) ** 2, first, axis=1)
        within = np.maximum(squares - self.counts * means**2, 0.0)
        known = self.floor * (1 - self.floor) if self.hits else None
        fitted = falling(means, self.counts.astype(float), within, known, above)
        scaled: Values = np.clip(fitted / (self.ceiling - self.floor), 0.0, 1.0)
        return scaled

    def redrawn(self, rng: np.random.Generator, draws: int) -> Values:
        """Draw the exercises of each level again from that level: [draw, exercise]."""
        base = np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        size = np.repeat(self.counts, self.counts)
        chosen = base + (rng.random((draws, len(self.score))) * size).astype(np.intp)
        drawn: Values = self.score[chosen]
        return drawn


def _study(
    difficulties: ArrayLike, scores: ArrayLike, floor: float, ceiling: float, start: float | None
) -> _Study:
    h, score = _given(difficulties, scores)
    if not ceiling > floor:
        raise Error(f"the ceiling {ceiling:g} must lie above the floor {floor:g}")
    levels, counts = np.unique(h, return_counts=True)
    begin = float(levels[0]) if start is None else start
    if not begin <= levels[0]:
        raise Error(f"difficulty cannot begin at {begin:g}, above the lowest, {levels[0]:g}")
    return _Study(levels, score[np.argsort(h, kind="stable")], counts, floor, ceiling, begin)


def falling(
    means: Values, counts: Values, within: Values, known: float | None, above: float = ABOVE_FLOOR
) -> Values:
    """Fit the falling curve [draw, level] nearest to means[draw, level]; 0 where nothing is left.

    Means are above the floor, `within` the sums of squares about them, `known` the variance of one
    exercise at the floor if that is known; nothing is left where no run has z > `above`. Isotonic
    regression by its minimax formula: at i the least over a <= i of the greatest over b >= i of the
    mean from a to b.
    """
    levels = means.shape[1]
    total = np.concatenate([[0.0], np.cumsum(counts)])
    summed = np.cumsum(np.pad(means * counts, ((0, 0), (1, 0))), axis=1)
    freedom = np.maximum(np.cumsum((counts - 1)[::-1])[::-1], 1.0)
    left = np.cumsum(within[:, ::-1], axis=1)[:, ::-1] / freedom
    fitted = np.full(means.shape, np.inf)
    nothing = np.zeros(means.shape, bool)
    for a in range(levels):
        runs = summed[:, a + 1 :] - summed[:, a : a + 1]
        size = total[a + 1 :] - total[a]
        highest = np.maximum.accumulate((runs / size)[:, ::-1], axis=1)[:, ::-1]
        fitted[:, a:] = np.minimum(fitted[:, a:], highest)
        variance = left[:, a] if known is None else np.full(len(means), known)
        surest = (runs / np.sqrt(size)).max(axis=1)
        nothing[:, a] = surest <= above * np.sqrt(variance) + _ROUNDING
    return np.where(np.logical_or.accumulate(nothing, axis=1), 0.0, fitted)


@dataclass(frozen=True)
class Intervals:
    """The 95 % intervals of a curve's figures; None where the exercises are too few."""

    capability: tuple[float, float] | None
    spread: tuple[float, float] | None

    def text(self) -> dict[str, str]:
        """Write the intervals as they are printed."""
        pairs = {"capability": self.capability, "spread": self.spread}
        return {
            name: "–" if pair is None else f"[{pair[0]:.2f}, {pair[1]:.2f}]"
            for name, pair in pairs.items()
        }


def curve_intervals(
    difficulties: ArrayLike,
    scores: ArrayLike,
    rng: np.random.Generator,
    floor: float,
    ceiling: float = 1.0,
    start: float | None = None,
    draws: int = 1000,
) -> Intervals:
    """Compute 95 % intervals of capability and spread.

    Capability: by t from the area under the level means as they are, which has no bias, cut at h_0.
    Spread: by resampling the exercises of each difficulty, the wider of the percentile and the
    reflected interval at either end; from `LEAST_ITEMS` exercises a difficulty on, and only if some
    difficulty has both good and bad ones. Of a curve that is cut off these hold for its bounds.
    """
    study = _study(difficulties, scores, floor, ceiling, start)
    plain = study.curve()
    return Intervals(_capability_interval(study, plain), _spread_interval(study, plain, rng, draws))


def _capability_interval(study: _Study, plain: DifficultyCurve) -> tuple[float, float] | None:
    """Compute the interval by t over exercises within levels; hits get one of each kind added."""
    from scipy.special import stdtrit

    n, first = study.counts, np.cumsum(study.counts) - study.counts
    means = np.add.reduceat(study.score, first) / n
    freedom = len(study.score) - len(n)
    if study.hits:
        likely = (n * means + 1) / (n + 2)
        variance, freedom = likely * (1 - likely), max(freedom, 1)
    else:
        within = float(((study.score - np.repeat(means, n)) ** 2).sum())
        if freedom < 1 or within <= _ROUNDING:
            return None
        variance = np.full(len(n), within / freedom)
    begun = study.start < study.levels[0]
    h = np.r_[study.start, study.levels] if begun else study.levels
    weight = (np.diff(h, prepend=h[0]) + np.diff(h, append=h[-1])) / 2
    area = float(weight[0]) if begun else 0.0  # below the lowest difficulty ψ counts from 1
    weight = weight[1:] if begun else weight
    scale = study.ceiling - study.floor
    middle = study.start + area + float((weight * (means - study.floor)).sum()) / scale
    error = float(np.sqrt((weight**2 * variance / n).sum())) / scale
    reach = float(stdtrit(freedom, 0.975)) * error
    low, high = max(study.start, middle - reach), min(float(h[-1]), middle + reach)
    return min(low, plain.capability), max(high, plain.capability)


def _spread_interval(
    study: _Study, plain: DifficultyCurve, rng: np.random.Generator, draws: int
) -> tuple[float, float] | None:
    if study.counts.mean() < LEAST_ITEMS:
        return None
    drawn = study.redrawn(rng, draws)
    low, high = (
        float(np.quantile([replace(plain, psi=psi).spread for psi in study.psi(drawn, above)], q))
        for above, q in ((ABOVE_FLOOR, 0.025), (PERHAPS_ABOVE, 0.975))
    )
    if high - low <= _ROUNDING:
        return None
    mirrored = 2 * plain.spread - high, 2 * plain.spread - low
    return max(0.0, min(low, mirrored[0])), max(high, mirrored[1])


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
    """Mean scores at difficulties left out of the fit, as a line for each mind predicted them."""

    line: str
    scheme: Scheme
    difficulties: Values  # left out
    predicted: Values  # [mind, difficulty]
    observed: Values  # NaN where a mind has no score
    weights: Values  # exercises

    @property
    def absolute_error(self) -> float:
        """The mean |predicted - observed|, each mind and difficulty weighing as its exercises."""
        return self._mean(np.abs(self.predicted - self.observed))

    @property
    def squared_error(self) -> float:
        """The mean squared error, by which the better line is chosen."""
        return self._mean((self.predicted - self.observed) ** 2)

    def _mean(self, values: Values) -> float:
        there = self.weights > 0
        return float((values[there] * self.weights[there]).sum() / self.weights[there].sum())


def foresee_scores(
    difficulties: ArrayLike, means: ArrayLike, exercises: ArrayLike, scheme: Scheme = "items"
) -> tuple[ForeseenScores, ...]:
    """Predict scores at difficulties that were left out: each in turn, or the upper half at once.

    The input is means[mind, difficulty] over so many exercises each (0 where a mind has none). A
    straight line and a constant are fitted to every mind; the one with the smaller squared error is
    first.
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
    """Predict by weighted least squares over what was not left out; NaN if that is too little."""
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
