"""Prediction of accuracy, and what data support, kept apart; and difficulty from scores.

A *prediction* at a difficulty is what the curve that wins held-out says, with its interval, and E1
beside it; beyond all that was tried it is what the stacked curves of `beyond` say. It is
*supported* (Chmait et al. 2017 say "guaranteed") only as far as both a one-sided lower bound of the
curve (for E1 and E2: of α) and answers given at that very difficulty reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, chdtri, ndtri

from allminds.core.errors import Error
from allminds.statistics.accuracy.beyond import predict_beyond
from allminds.statistics.accuracy.curve import Counts, chance_level
from allminds.statistics.accuracy.curve import difficulty as difficulty_of
from allminds.statistics.accuracy.held_out import Comparison, compare
from allminds.statistics.accuracy.models import Fit, fit_curve, refit


@dataclass(frozen=True)
class Predicted:
    """The accuracy of a mind at a difficulty by one curve, or several stacked; no promise."""

    curve: str
    accuracy: float | None  # None where nothing can be said
    interval: tuple[float, float] | None
    coverage: float | None = None  # what such intervals covered in simulations, beyond the data
    why_not: str = ""  # why nothing can be said


@dataclass(frozen=True)
class Supported:
    """The accuracy that data support at a difficulty: the lower of two one-sided lower bounds."""

    by_curve: float  # the winning curve at its lower bound (for E1 and E2: of α)
    by_data: float  # Clopper-Pearson on the answers at that difficulty
    hits: float
    trials: float
    confidence: float

    @property
    def at_least(self) -> float:
        """The accuracy that is supported: the lower of both bounds."""
        return min(self.by_curve, self.by_data)


@dataclass(frozen=True)
class Prediction:
    """The prediction and the supported accuracy of a mind at one difficulty."""

    difficulty: float
    predicted: Predicted  # by the curve that wins held-out; beyond the data, by stacked curves
    e1: Predicted  # Eq. 1 beside it; its interval supposes that Eq. 1 is right
    supported: Supported | None  # None without answers at that difficulty
    beyond: bool  # whether the difficulty is above all that were tried


def prediction(
    counts: Counts,
    difficulty: float,
    mind: int = 0,
    *,
    comparison: Comparison | None = None,
    confidence: float = 0.95,
) -> Prediction:
    """Predict the accuracy of one mind of `counts` at a difficulty.

    Up to the hardest level this mind was tried at, the curve is the one that wins with items left
    out; beyond it curves are stacked (`predict_beyond`), by this mind's own answers. `comparison`
    saves comparing again for every difficulty.
    """
    own = counts.mind(mind)
    tried = own.difficulty[own.trials[0] > 0]
    if not tried.size:
        raise Error(f"mind {mind} was never tried, so nothing can be predicted: leave it out")
    if not 0 < difficulty < np.inf:
        raise Error(f"difficulty (D) cannot be {difficulty} here: it is finite and above 0")
    _check(confidence)
    if difficulty > float(tried.max()):
        e1 = _predicted(counts, "E1", mind, difficulty, confidence)[0]
        return Prediction(difficulty, _beyond(counts, mind, difficulty, confidence), e1, None, True)
    name = (comparison or compare(counts)).winner("items")
    winner, lower = _predicted(counts, name, mind, difficulty, confidence)
    beside = winner if name == "E1" else _predicted(counts, "E1", mind, difficulty, confidence)[0]
    supported = _supported(own, difficulty, lower, confidence)
    return Prediction(difficulty, winner, beside, supported, False)


def _beyond(counts: Counts, mind: int, difficulty: float, confidence: float) -> Predicted:
    found = predict_beyond(counts, difficulty, mind, confidence=confidence)
    coverage = found.coverage if confidence == 0.95 else None
    return Predicted("stacked", found.accuracy, found.interval, coverage, found.why_not)


def clopper_pearson(hits: float, trials: float, tail: float) -> tuple[float, float]:
    """Compute exact bounds of a rate, each wrong with probability `tail` at most."""
    if not 0 <= hits <= trials:
        raise Error(f"{hits:g} hits in {trials:g} trials cannot be: give 0 <= hits <= trials")
    low = float(betaincinv(hits, trials - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - tail)) if hits < trials else 1.0
    return low, high


@dataclass(frozen=True)
class InferredDifficulty:
    """The difficulty at which a mind of known ability would score so; effective, if tasks mix."""

    difficulty: float
    stderr: float | None  # None at an edge (always right, or not above chance)
    interval: tuple[float, float]


def infer_difficulty(
    hits: float,
    trials: float,
    alpha: float,
    alpha_stderr: float = 0.0,
    *,
    options: float | None = None,
    chance: float | None = None,
    confidence: float = 0.95,
) -> InferredDifficulty:
    """Infer D̂ from a score, by E1, with se² = α² p(1-p)/(n(p-c)²) + (D̂ se(α)/α)².

    At an edge the formula gives nothing; the interval is then one-sided, from exact bounds of p.
    """
    c = float(chance_level(options, chance))
    tail = (1 - _check(confidence)) / 2
    if trials <= 0 or alpha_stderr < 0:
        raise Error("difficulty needs at least one trial and an error of ability of 0 or more")
    difficulty_of(1.0, alpha, chance=c)  # α and c can be inverted, or an error says why not
    low_p, high_p = clopper_pearson(hits, trials, tail)
    if high_p <= c:
        raise Error(
            f"{hits:g} hits in {trials:g} trials are surely below chance ({c:g}): check the chance"
        )
    p = hits / trials
    if not c < p < 1:
        near = float(difficulty_of(min(high_p, 1.0), alpha, chance=c))
        far = float(difficulty_of(low_p, alpha, chance=c)) if low_p > c else np.inf
        return InferredDifficulty(0.0 if p == 1 else np.inf, None, (near, far))
    d = float(difficulty_of(p, alpha, chance=c))
    of_score = alpha**2 * p * (1 - p) / (trials * (p - c) ** 2)
    stderr = float(np.sqrt(of_score + (d * alpha_stderr / alpha) ** 2))
    reach = float(ndtri(1 - tail)) * stderr
    return InferredDifficulty(d, stderr, (max(0.0, d - reach), d + reach))


def _predicted(
    counts: Counts, curve: str, mind: int, difficulty: float, confidence: float
) -> tuple[Predicted, float]:
    """Compute a curve's accuracy at a difficulty, its profile interval and one-sided lower bound.

    All parameters, shared ones too, are refitted along the profile. Where answers scatter more than
    binomially round the curve (items differ), 2(ℓ̂ - ℓ) is divided by the dispersion.
    """
    best = fit_curve(counts, curve).seen_from(difficulty)
    two, one = (
        float(chdtri(1, 1 - level)) / 2 * max(1.0, best.dispersion)
        for level in (confidence, 2 * confidence - 1)
    )
    value = _at(best, mind)
    interval = (
        _end(counts, best, mind, two, harder=True),
        _end(counts, best, mind, two, harder=False),
    )
    lower = _end(counts, best, mind, one, harder=True)
    return Predicted(curve, value, (min(interval[0], value), max(interval[1], value))), lower


def _end(counts: Counts, best: Fit, mind: int, drop: float, *, harder: bool) -> float:
    """Find the accuracy where the profile of the mind's intercept has fallen by `drop`."""
    at_best = float(best.intercepts[mind])

    def refitted(intercept: float) -> Fit:
        return refit(counts, best, mind, intercept)

    def fallen(intercept: float) -> float:
        return best.log_likelihood - refitted(intercept).log_likelihood - drop

    step = 0.5 if harder else -0.5
    inner, outer = at_best, at_best + step
    while fallen(outer) < 0:
        if abs(outer - at_best) > 60:  # no accuracy on this side can be ruled out
            return _at(refitted(outer), mind)
        inner, step = outer, 2 * step
        outer += step
    return _at(refitted(float(brentq(fallen, inner, outer, xtol=1e-3))), mind)


def _at(fit: Fit, mind: int) -> float:
    return float(fit.accuracy(fit.at)[mind, 0])


def _supported(
    own: Counts, difficulty: float, by_curve: float, confidence: float
) -> Supported | None:
    here = np.isclose(own.difficulty, difficulty, rtol=1e-9, atol=0)
    hits, trials = float(own.hits[0, here].sum()), float(own.trials[0, here].sum())
    if trials == 0:
        return None
    by_data = clopper_pearson(hits, trials, 1 - confidence)[0]
    return Supported(by_curve, by_data, hits, trials, confidence)


def _check(confidence: float) -> float:
    if not 0.5 < confidence < 1:
        raise Error(f"confidence cannot be {confidence}: it lies between 0.5 and 1")
    return confidence
