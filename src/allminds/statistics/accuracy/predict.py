"""Prediction of accuracy: which curve predicts unseen answers, and what data support.

Two ways of holding answers out, because two uses differ: *items* left out in turn (is the curve
right between the difficulties tested?) and the *upper* levels left out at once (is it right beyond
them?). Each has its winner; a constant rate stands beside the curves as the floor.

A *prediction* at a difficulty is what the curve that wins held-out says, with its interval, and E1
beside it; beyond all that was tried it is what the stacked curves of `beyond` say. It is
*supported* (Chmait et al. 2017 say "guaranteed") only as far as both a one-sided lower bound of the
curve (for E1 and E2: of α) and answers given at that very difficulty reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtri, ndtri, xlogy

from allminds.core.errors import Error
from allminds.inference import intervals
from allminds.statistics.accuracy.beyond import predict_beyond
from allminds.statistics.accuracy.curve import Values, chance_level
from allminds.statistics.accuracy.curve import difficulty as difficulty_of
from allminds.statistics.accuracy.fit import Counts
from allminds.statistics.accuracy.models import CURVES, Fit, fit_curve, refit

if TYPE_CHECKING:
    import pandas as pd


TIE = 1e-6  # of log-likelihood: what fits differ by that end in the same curve
SUREST = 0.999  # no curve may claim more when it is scored, so that one surprise is not all

Scheme = Literal["items", "upper"]


@dataclass(frozen=True)
class HeldOut:
    """How well one curve predicted answers left out of its fit."""

    curve: str
    scheme: Scheme
    log_likelihood: float  # of the left-out answers, without the binomial coefficients
    per_trial: float
    behind: float  # the winner's minus this one's
    behind_stderr: float  # over the left-out items
    predicted: float  # mean over left-out answers
    observed: float
    wins: bool


@dataclass(frozen=True)
class Comparison:
    """All curves under both schemes, the best first in each."""

    rows: tuple[HeldOut, ...]
    upper_from: float  # the least difficulty left out in the scheme "upper"

    def winner(self, scheme: Scheme = "items") -> str:
        """Name the curve that wins under a scheme."""
        return next(row.curve for row in self.rows if row.scheme == scheme and row.wins)

    def table(self) -> pd.DataFrame:
        """Build a table with a row for each curve and scheme, the best first."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])


def compare(
    counts: Counts,
    curves: Sequence[str] = tuple(CURVES),
    *,
    folds: int = 10,
    upper_from: float | None = None,
) -> Comparison:
    """Compare curves by held-out log-likelihood.

    Items are left out in `folds` parts, dealt in order of difficulty (as many parts as items leaves
    one out at a time); then D >= `upper_from` is left out at once, by default from the median
    difficulty. A tie goes to the curve named first.
    """
    parts, cut = _left_out(counts, folds, upper_from)
    rows = [row for scheme in parts for row in _scheme(counts, curves, scheme, parts[scheme])]
    return Comparison(tuple(rows), cut)


@dataclass(frozen=True)
class Foreseen:
    """Predictions of one curve for answers left out of its fit, beside the answers."""

    curve: str
    scheme: Scheme
    counts: Counts  # of the items that were left out
    predicted: Values  # [mind, item]

    @property
    def observed(self) -> Values:
        """The observed rate of hits [mind, item]; NaN where there were no trials."""
        trials = self.counts.trials
        return np.where(trials > 0, self.counts.hits / np.maximum(trials, 1), np.nan)

    @property
    def absolute_error(self) -> float:
        """The mean |predicted - observed|, each mind and item weighing as its trials."""
        return self._mean(np.abs(self.predicted - np.nan_to_num(self.observed)))

    @property
    def chance_error(self) -> float:
        """The absolute error that chance alone would make if the predictions were exactly right."""
        p, trials = self.predicted, np.maximum(self.counts.trials, 1)
        return self._mean(np.sqrt(2 * p * (1 - p) / (np.pi * trials)))

    @property
    def brier(self) -> float:
        """The mean squared distance of predicted accuracies from answers, right 1 and wrong 0."""
        p, trials = self.predicted, np.maximum(self.counts.trials, 1)
        rate = self.counts.hits / trials
        return self._mean(rate * (1 - p) ** 2 + (1 - rate) * p**2)

    @property
    def log_loss(self) -> float:
        """The mean of -ln of the probability given to the answers."""
        return float(-_likelihood(self.counts, self.predicted).sum() / self.counts.trials.sum())

    def mind(self, index: int) -> Foreseen:
        """Select the predictions for one mind."""
        rows = slice(index, index + 1)
        return Foreseen(self.curve, self.scheme, self.counts.mind(index), self.predicted[rows])

    def _mean(self, values: Values) -> float:
        return float((values * self.counts.trials).sum() / self.counts.trials.sum())


def foresee(
    counts: Counts,
    curve: str,
    scheme: Scheme = "items",
    *,
    folds: int = 10,
    upper_from: float | None = None,
) -> Foreseen:
    """Predict by one curve the answers that `compare` leaves out under a scheme."""
    parts = _left_out(counts, folds, upper_from)[0][scheme]
    out = np.any(parts, axis=0)
    return Foreseen(curve, scheme, counts.items(out), _foreseen(counts, curve, parts)[0][:, out])


def _left_out(
    counts: Counts, folds: int, upper_from: float | None
) -> tuple[dict[Scheme, list[NDArray[np.bool_]]], float]:
    """List the parts that each scheme leaves out, and where the upper levels begin."""
    levels = np.unique(counts.difficulty)
    if len(levels) < 3:
        raise Error(f"{len(levels)} difficulties cannot tell curves apart: give three or more")
    if folds < 2:
        raise Error(f"{folds} parts leave nothing to fit: give two or more")
    part = np.empty(len(counts.difficulty), dtype=np.int64)
    part[np.argsort(counts.difficulty, kind="stable")] = np.arange(len(part)) % folds
    cut = float(np.median(counts.difficulty)) if upper_from is None else upper_from
    upper = counts.difficulty >= cut
    if upper.all() or not upper.any():
        raise Error(
            f"leaving out D >= {cut:g} leaves nothing to fit or to predict: move upper_from"
        )
    parts = [part == n for n in range(min(folds, len(part)))]
    return {"items": parts, "upper": [upper]}, cut


def _foreseen(
    counts: Counts, curve: str, parts: Sequence[NDArray[np.bool_]]
) -> tuple[Values, Values]:
    """Predict each part by a fit to the rest; return accuracy and its ℓ, both [mind, item]."""
    foreseen = np.full(counts.hits.shape, np.nan)
    for out in parts:
        foreseen[:, out] = fit_curve(counts.items(~out), curve).accuracy(counts.difficulty[out])
    return foreseen, _likelihood(counts, foreseen)


def _likelihood(counts: Counts, predicted: Values) -> Values:
    """Compute ℓ of the answers, [mind, item]; no curve may be surer than `SUREST`."""
    p = np.clip(predicted, 1 - SUREST, SUREST)
    return np.asarray(xlogy(counts.hits, p) + xlogy(counts.trials - counts.hits, 1 - p))


def _scheme(
    counts: Counts, curves: Sequence[str], scheme: Scheme, parts: Sequence[NDArray[np.bool_]]
) -> list[HeldOut]:
    left_out = np.any(parts, axis=0)
    n = counts.trials[:, left_out]
    by_item, predicted = {}, {}
    for curve in curves:
        foreseen, likelihood = _foreseen(counts, curve, parts)
        by_item[curve] = likelihood[:, left_out].sum(axis=0)
        predicted[curve] = float((n * foreseen[:, left_out]).sum() / n.sum())
    totals = {curve: float(values.sum()) for curve, values in by_item.items()}
    best = next(curve for curve in totals if totals[curve] >= max(totals.values()) - TIE)
    rows = []
    for curve, values in by_item.items():
        gap = by_item[best] - values
        stderr = float(np.sqrt(len(gap)) * gap.std(ddof=1)) if len(gap) > 1 else np.nan
        rows.append(
            HeldOut(
                curve=curve,
                scheme=scheme,
                log_likelihood=float(values.sum()),
                per_trial=float(values.sum() / n.sum()),
                behind=float(gap.sum()),
                behind_stderr=stderr,
                predicted=predicted[curve],
                observed=float(counts.hits[:, left_out].sum() / n.sum()),
                wins=curve == best,
            )
        )
    return sorted(rows, key=lambda row: (not row.wins, row.behind))


# ---------------------------------------------------------------- prediction and support


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
    return intervals.clopper_pearson(hits, trials, tail)


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
