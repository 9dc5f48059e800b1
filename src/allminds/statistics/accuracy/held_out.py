"""Held-out log-likelihood: which curve predicts answers it has not seen.

Two ways of holding out, because two uses differ: *items* left out in turn (is the curve right
between the difficulties tested?) and the *upper* levels left out at once (is it right beyond
them?). Each has its winner; a constant rate stands beside the curves as the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Counts, Values
from allminds.statistics.accuracy.models import CURVES, fit_curve

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
