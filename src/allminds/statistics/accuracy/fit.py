"""Counts of hits, and a mind's ability from them: by the paper, consistently, and likeliest.

Chmait et al. (2017) take α = ω r̃, r̃ the score weighted by difficulty and ω one number for a set
of minds. That contradicts Eq. 1 (r̃ = .8 gives α = 22.4, which predicts r̃ = .63), so there are
also the α whose predicted r̃ is the one observed (`consistent`) and the likeliest α
(`maximum_likelihood`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, ndtri, xlogy

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values, chance_level, item_information, numbers

DISCRIMINATIVE = (
    6.0,
    16.0,
)  # the C-test's difficulties; condition (i) on α ln 2
_ROUNDING = 1e-13  # a predicted score this near the observed one is equal to it
_FAR = (np.log(1 / 600), np.log(1e7))  # ln(α/D) where the curve has long reached its limits


@dataclass(frozen=True)
class Counts:
    """Hits and trials of each mind on each item (or level of difficulty), at one chance level.

    Make it with `Counts.of`, which checks it once. Hits need not be whole: a mind that guesses may
    be entered with the hits it is expected to have.
    """

    difficulty: Values  # D (the C-test's k), [item]
    hits: Values  # [mind, item]
    trials: Values  # [mind, item]
    chance: float  # c

    @classmethod
    def of(
        cls,
        difficulty: ArrayLike,
        hits: ArrayLike,
        trials: ArrayLike = 1,
        *,
        options: float | None = None,
        chance: float | None = None,
    ) -> Counts:
        """Build counts from hits[mind, item], or hits[item]; trials may be one number."""
        d = np.atleast_1d(numbers(difficulty, "difficulty (D)"))
        x = np.atleast_2d(numbers(hits, "hits"))
        if d.ndim != 1 or x.ndim != 2 or x.shape[1] != len(d) or not len(d):
            raise Error(
                f"hits of shape {x.shape} do not fit {d.size} difficulties: give hits[mind, item]"
            )
        try:
            n = np.broadcast_to(numbers(trials, "trials"), x.shape)
        except ValueError:
            raise Error(
                f"trials of shape {np.shape(trials)} do not fit hits of shape {x.shape}"
            ) from None
        if not ((d > 0) & np.isfinite(d)).all():
            raise Error(
                "a difficulty is not above 0: items of no difficulty tell nothing, drop them"
            )
        if not ((x >= 0) & (x <= n) & np.isfinite(n)).all():
            raise Error("there are hits below 0 or above their trials: give 0 <= hits <= trials")
        c = float(chance_level(options, chance))
        if c >= 1:
            raise Error("with one option every answer is right: abilities need a chance below 1")
        return cls(d, x, n, c)

    @property
    def minds(self) -> int:
        """The number of minds."""
        return len(self.hits)

    def mind(self, index: int) -> Counts:
        """Select the counts of one mind."""
        if not 0 <= index < self.minds:
            raise Error(f"there is no mind {index}: they are numbered 0 to {self.minds - 1}")
        rows = slice(index, index + 1)
        return Counts(self.difficulty, self.hits[rows], self.trials[rows], self.chance)

    def items(self, chosen: NDArray[np.bool_]) -> Counts:
        """Select the counts of some items."""
        hits, trials = self.hits[:, chosen], self.trials[:, chosen]
        return Counts(self.difficulty[chosen], hits, trials, self.chance)

    def by_level(self) -> Counts:
        """Pool items of equal difficulty into levels, easiest first."""
        levels, of = np.unique(self.difficulty, return_inverse=True)
        to_level = (of[:, None] == np.arange(len(levels))).astype(np.float64)
        return Counts(levels, self.hits @ to_level, self.trials @ to_level, self.chance)


@dataclass(frozen=True)
class Ability:
    """An estimate of α with its interval; 0 is "like chance", ∞ "no failure seen"."""

    alpha: float
    interval: tuple[float, float]
    stderr: float | None  # of α, from the expected information; None at an edge
    method: Literal["consistent", "maximum likelihood"]


@dataclass(frozen=True)
class Omega:
    """The fit of Chmait et al. (2017): one ω for a set of minds, α = ω r̃ each."""

    omega: float
    mean_squared_error: float  # over minds and levels
    scores: Values  # r̃ by mind
    alphas: Values  # ω r̃
    discriminative: NDArray[np.bool_]  # condition (i): 6 <= α ln 2 <= 16


def scores(counts: Counts) -> Values:
    """Compute r̃ = Σ k hit / Σ k of each mind."""
    weights = _tried(counts).trials @ counts.difficulty
    return np.asarray(counts.hits @ counts.difficulty / weights)


def omega(counts: Counts) -> Omega:
    """Fit ω: least Σ_minds Σ_levels (P(D, ω r̃, m) - hit rate)², over levels that were tried."""
    level, r = counts.by_level(), scores(counts)
    tried = level.trials > 0
    rate = level.hits / np.where(tried, level.trials, 1)
    if not (r > 0).any():
        raise Error("no mind has a single hit, so any ω fits: give at least one that has")

    def error(log_omega: ArrayLike) -> Values:
        alphas = np.asarray(np.exp(log_omega))[..., None, None] * r[:, None]
        p = _accuracy(level.difficulty, alphas, level.chance)
        return np.asarray(((p - rate)[..., tried] ** 2).mean(axis=-1))

    far = np.log(level.difficulty.max()) - np.log(r[r > 0].min())
    best = _minimum(error, np.linspace(far - 12, far + 8, 400))
    alphas = np.exp(best) * r
    low, high = DISCRIMINATIVE
    half = np.log(2) * alphas
    return Omega(float(np.exp(best)), float(error(best)), r, alphas, (low <= half) & (half <= high))


def consistent(counts: Counts, *, beta: float = 1.0, confidence: float = 0.95) -> list[Ability]:
    """Fit the α of each mind whose predicted r̃ is the observed: Σ k n P(k, α, m) = Σ k hit.

    The interval holds every α under which the observed r̃ is not surprising: no further from the
    predicted than its standard error *at that α* allows (as Wilson's interval does for a rate).
    """
    reach = float(ndtri(0.5 + _checked(confidence) / 2))
    found = zip(scores(counts), range(counts.minds), strict=True)
    return [_consistent(counts.mind(mind), float(score), beta, reach) for score, mind in found]


def maximum_likelihood(
    counts: Counts, *, beta: float = 1.0, confidence: float = 0.95
) -> list[Ability]:
    """Fit the likeliest α of each mind, over ln α, with the profile interval 2(ℓ̂ - ℓ) <= 3.84.

    It is one-sided at an edge: a mind that was always right has α = ∞ and a lower bound only; one
    that looks like chance has α = 0 and an upper bound only.
    """
    drop = float(chdtri(1, 1 - _checked(confidence))) / 2
    return [_likeliest(_tried(counts).mind(mind), beta, drop) for mind in range(counts.minds)]


def log_likelihood(counts: Counts, alpha: ArrayLike, *, beta: float = 1.0) -> Values:
    """Compute ℓ of one mind at each α (0 and ∞ are its limits), without binomial coefficients."""
    a = np.asarray(alpha, dtype=np.float64)[..., None]
    p = _accuracy(counts.difficulty, a, counts.chance, beta)
    hits, misses = counts.hits[0], counts.trials[0] - counts.hits[0]
    return np.asarray((xlogy(hits, p) + xlogy(misses, 1 - p)).sum(axis=-1))


def _likeliest(counts: Counts, beta: float, drop: float) -> Ability:
    """Fit the likeliest α of one mind, and the outermost α whose ℓ is within `drop` of the best."""

    def loss(log_alpha: ArrayLike) -> Values:
        return -log_likelihood(counts, np.exp(log_alpha), beta=beta)

    grid = _grid(counts.difficulty, beta)
    best = _minimum(loss, grid)
    points = np.sort(np.append(grid, best))
    candidates = np.array([0.0, np.inf, np.exp(best)])  # an edge wins a tie
    losses = np.array([float(loss(-np.inf)), float(loss(np.inf)), float(loss(best)) + 1e-9])
    alpha, least = float(candidates[np.argmin(losses)]), float(losses.min())
    kept = np.flatnonzero(loss(points) <= least + drop)

    def end(outside: int, within: int) -> float:
        between = points[outside], points[within]
        return float(np.exp(brentq(lambda t: float(loss(t)) - least - drop, *between)))

    low = end(kept[0] - 1, kept[0]) if losses[0] > least + drop else 0.0
    seen_to_fall = losses[1] > least + drop and kept[-1] + 1 < len(points)
    high = end(kept[-1] + 1, kept[-1]) if seen_to_fall else np.inf
    told = _information(counts, alpha, beta) if 0 < alpha < np.inf else 0.0
    stderr = float(alpha / np.sqrt(told)) if told > 0 else None
    return Ability(alpha, (low, high), stderr, "maximum likelihood")


def _consistent(counts: Counts, score: float, beta: float, reach: float) -> Ability:
    """Fit the α of one mind that predicts its score, and the outermost within reach of it."""
    n, k, c = counts.trials[0], counts.difficulty, counts.chance

    def excess(log_alpha: ArrayLike, errors: float = 0.0) -> Values:
        """Compute how far the predicted r̃, plus `errors` standard errors, is above the score."""
        p = _accuracy(k, np.exp(np.asarray(log_alpha, dtype=np.float64))[..., None], c, beta)
        stderr = np.sqrt((p * (1 - p)) @ (n * k * k)) / (n @ k)
        return np.asarray(p @ (n * k) / (n @ k) + errors * stderr - score)

    grid = _grid(k, beta)
    low = _crossing(lambda t: excess(t, reach), grid)
    high = _crossing(lambda t: excess(t, -reach), grid[::-1])
    alpha = _crossing(excess, grid)
    stderr = None
    if 0 < alpha < np.inf:
        x = (k / alpha) ** beta
        slope = float((n * k) @ ((1 - c) * beta * x * np.exp(-x)) / (n @ k))  # of r̃ in ln α
        error = float(excess(np.log(alpha), 1.0) - excess(np.log(alpha)))
        stderr = alpha * error / slope if slope > 0 else None
    return Ability(alpha, (low, high), stderr, "consistent")


def _crossing(excess: Callable[[ArrayLike], Values], grid: Values) -> float:
    """Find the first α along a grid of ln α, up or down, where a rising function crosses 0.

    If it has crossed before the grid begins, the result is that end's limit: 0 going up, ∞ going
    down.
    """
    up = bool(grid[0] < grid[-1])
    above = excess(grid) >= -_ROUNDING
    changes = np.flatnonzero(above[1:] != above[:-1])
    if above[0] == up:
        return 0.0 if up else np.inf
    if not changes.size:
        return np.inf if up else 0.0
    between = grid[changes[0]], grid[changes[0] + 1]
    return float(np.exp(brentq(lambda t: float(excess(t)) + _ROUNDING, *between, xtol=1e-14)))


def _grid(difficulty: Values, beta: float) -> Values:
    """Build a grid of ln α from where all items are at chance to where all are sure."""
    low, high = np.log(difficulty.min()), np.log(difficulty.max())
    return np.linspace(low + _FAR[0] / beta, high + _FAR[1] / beta, 600)


def _information(counts: Counts, alpha: float, beta: float) -> float:
    """Sum the information I about ln α over all answers."""
    each = item_information(counts.difficulty, alpha, chance=counts.chance, beta=beta)
    return float((counts.trials * each).sum())


def _accuracy(difficulty: Values, alpha: Values, chance: float, beta: float = 1.0) -> Values:
    """Compute the curve with its limits: α = 0 and α = ∞ are allowed here."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(chance + (1 - chance) * np.exp(-((difficulty / alpha) ** beta)))


def _minimum(loss: Callable[[ArrayLike], Values], grid: Values) -> float:
    """Minimise a function of one number: take the best of a grid, then refine it."""
    losses = loss(grid)
    at = int(np.argmin(losses))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    refined = minimize_scalar(
        lambda t: float(loss(t)), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return float(refined.x) if refined.fun <= losses[at] else float(grid[at])


def _tried(counts: Counts) -> Counts:
    if not (counts.trials.sum(axis=1) > 0).all():
        raise Error("a mind was never tried: leave it out")
    return counts


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise Error(f"confidence cannot be {confidence}: it lies between 0 and 1")
    return confidence
