"""Ranks of minds with simultaneous intervals, and the resampling of units that they need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.comparison.table import ScoreTable, Values

DRAWS = 2000
MOST_LOTS = 2000  # more units than these are resampled in lots, which says the same and is quick
_AT_ONCE = 8_000_000  # numbers held in memory


def lots(unit: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Assign each exercise to the lot that is resampled whole: its unit, or several units."""
    found, codes = np.unique(unit, return_inverse=True)
    if len(found) > MOST_LOTS:
        codes = (rng.permutation(len(found)) % MOST_LOTS)[codes]
    return codes.astype(np.intp)


def lot_sums(values: Values, lot: NDArray[np.intp]) -> Values:
    """Sum values[exercise, …] by lot: [lot, …]."""
    sums = np.zeros((int(lot.max()) + 1, *values.shape[1:]))
    np.add.at(sums, lot, values)
    return sums


def resampled_sums(sums: Values, rng: np.random.Generator, draws: int) -> Values:
    """Sum sums[lot, variant, column] over lots drawn with replacement: [draw, column]."""
    count, variants, columns = sums.shape
    flat = sums.reshape(count * variants, columns)
    drawn = []
    for start in range(0, draws, step := max(1, _AT_ONCE // len(flat))):
        chosen = rng.integers(len(flat), size=(min(step, draws - start), count))
        times = np.array([np.bincount(one, minlength=len(flat)) for one in chosen], float)
        drawn.append(times @ flat)
    return np.concatenate(drawn)


# ---------------------------------------------------------------- ranks


_ROUNDING = 1e-12
LEAST_UNITS = 8  # for a bootstrap; below, Bonferroni's t over pairs


@dataclass(frozen=True)
class Rank:
    """A mind's place, 1 for the best, and the places it may have: 95 % for all minds together."""

    mind: str
    rank: int
    interval: tuple[int, int]


def ranks(scores: ScoreTable, rng: np.random.Generator, draws: int = DRAWS) -> list[Rank]:
    """Rank all minds on the exercises that they all have; [] where there are none.

    Minds that tie share the better place, and the interval of each holds all places of the tie.
    """
    units = scores.by_unit(range(len(scores.minds)))
    if not len(units):
        return []
    now = 1 + (units.mean(axis=0)[None] > units.mean(axis=0)[:, None] + _ROUNDING).sum(axis=1)
    low, high = rank_intervals(units, rng, draws)
    return [
        Rank(name, int(now[n]), (int(low[n]), int(high[n]))) for n, name in enumerate(scores.minds)
    ]


def rank_intervals(
    values: Values, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first and last place that each mind may have, from values[unit, mind].

    A mind is surely better than another if the difference of their means exceeds c standard errors,
    c being such that no pair of equal minds does in 95 of 100 studies: the .95 quantile of the
    greatest |t| over all pairs among resampled, centred units, and not below that of t for one pair
    (below eight units, Bonferroni's t over all pairs); where a difference is the same in all units,
    if a sign test says so. A mind's places run from 1 + those surely better to the number of minds
    less those surely worse.
    """
    units, minds = values.shape
    if units < 2 or minds < 2:
        return np.ones(minds, np.intp), np.full(minds, minds, np.intp)
    centred = values - values.mean(axis=0)
    means = values.mean(axis=0)
    difference = means[:, None] - means[None, :]
    error = _errors(centred.T @ centred, units)
    varies = error > _ROUNDING * max(1.0, float(np.abs(values).max()))
    t = np.where(varies, difference / np.where(varies, error, 1.0), 0.0)
    better = t > _critical(centred, rng, draws)
    if minds * (minds - 1) * 0.5**units <= 0.05:  # the sign test, over all pairs
        better |= ~varies & (difference > _ROUNDING)
    return 1 + better.sum(axis=0), minds - better.sum(axis=1)


def _errors(products: Values, units: int) -> Values:
    """Compute the standard errors [mind, mind] of differences of means, from sums of products."""
    own = np.einsum("...ii->...i", products)
    squares = own[..., :, None] + own[..., None, :] - 2 * products
    errors: Values = np.sqrt(np.maximum(squares, 0.0) / (units - 1) / units)
    return errors


def _critical(centred: Values, rng: np.random.Generator, draws: int) -> float:
    """Find the greatest |t| over all pairs that chance reaches in 5 of 100 studies."""
    from scipy.special import stdtrit

    units, minds = centred.shape
    pairs = minds * (minds - 1) / 2
    bonferroni = float(stdtrit(units - 1, 1 - 0.025 / pairs))
    if units < LEAST_UNITS:
        return bonferroni
    lot = lots(np.arange(units), rng)
    one, other = np.triu_indices(minds)
    columns = np.concatenate([centred, centred[:, one] * centred[:, other]], axis=1)
    drawn = resampled_sums(lot_sums(columns[:, None], lot), rng, draws)
    greatest = np.empty(draws)
    for n, sums in enumerate(drawn):
        mean = sums[:minds] / units
        products = np.zeros((minds, minds))
        products[one, other] = products[other, one] = sums[minds:]
        error = _errors(products - units * np.outer(mean, mean), units)
        apart = np.abs(mean[:, None] - mean[None, :])
        with np.errstate(all="ignore"):
            t = np.where(error > 0, apart / error, np.where(apart > 0, np.inf, 0.0))
        greatest[n] = t.max()
    least = float(stdtrit(units - 1, 0.975))
    return min(bonferroni, max(least, float(np.quantile(greatest, 0.95, method="inverted_cdf"))))
