"""Ranks of minds with simultaneous intervals, and the resampling of units that they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from allminds.inference import Difference, Plays, Rule, Units, verdict
from allminds.inference.units import Values, sums

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


def ranks(
    plays: Mapping[str, Plays], rule: Rule, rng: np.random.Generator, draws: int = DRAWS
) -> list[Rank]:
    """Rank all minds by their score on the items that they all have; [] where there are none.

    Minds that tie share the better place, and the interval of each holds all places of the tie.
    """
    there = {name: own.where(~np.isnan(own.score)) for name, own in plays.items()}
    common = reduce(np.intersect1d, [own.item for own in there.values()])
    if not len(common):
        return []
    found = [own.where(np.isin(own.item, common)).units(rule) for own in there.values()]
    units = [one for one in found if one is not None]
    first = units[0]
    values = np.stack([sums(first.cluster, first.weights * one.score) for one in units], axis=1)
    values = values * first.clusters  # their mean over clusters is the score
    now = _places(values.mean(axis=0))
    better = surely_better(values, rng, draws)
    for one, other in np.argwhere(better):
        better[one, other] = _differ(units[one], units[other], rule)
    low, high = _ends(better)
    return [Rank(name, int(now[n]), (int(low[n]), int(high[n]))) for n, name in enumerate(there)]


def _differ(one: Units, other: Units, rule: Rule) -> bool:
    """Check that a comparison of these two alone would find a difference.

    Where scores hardly vary the greatest t finds more than the evidence of a verdict bears.
    """
    low, high = rule.range
    hits = bool(np.isin([one.score, other.score], (0.0, 1.0)).all())
    gap = replace(one, score=one.score - other.score, low=low, high=high)
    p = verdict.paired(gap, hits, ("", "")).p
    return p is not None and p < verdict.ALPHA


def by_verdicts(scores: Mapping[str, float], differences: Sequence[Difference]) -> dict[str, Rank]:
    """Rank minds and people by score; only a verdict says that one is surely better.

    Verdicts on all pairs are false in at most 5 % of studies together, by Holm's correction.
    """
    now = _places(np.array(list(scores.values())))
    better: dict[str, int] = dict.fromkeys(scores, 0)
    worse = dict(better)
    for one in differences:
        if one.sign and one.first in scores and one.second in scores:
            first, second = (one.first, one.second)[:: one.sign]
            worse[first] += 1
            better[second] += 1
    return {
        name: Rank(name, int(now[n]), (1 + better[name], len(scores) - worse[name]))
        for n, name in enumerate(scores)
    }


def _places(scores: Values) -> NDArray[np.intp]:
    """Count the minds that are better than each, plus one."""
    return np.asarray(1 + (scores[None] > scores[:, None] + _ROUNDING).sum(axis=1))


def rank_intervals(
    values: Values, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first and last place that each mind may have, from values[unit, mind].

    A mind's places run from 1 + those surely better to the number of minds less those surely worse.
    """
    return _ends(surely_better(values, rng, draws))


def _ends(better: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def surely_better(
    values: Values, rng: np.random.Generator, draws: int = DRAWS
) -> NDArray[np.bool_]:
    """Find which mind is surely better than which, [mind, mind], from values[unit, mind].

    A mind is surely better than another if the difference of their means exceeds c standard errors,
    c being such that no pair of equal minds does in 95 of 100 studies: the .95 quantile of the
    greatest |t| over all pairs among resampled, centred units, and not below that of t for one pair
    (below eight units, Bonferroni's t over all pairs); where a difference is the same in all units,
    if a sign test says so.
    """
    units, minds = values.shape
    if units < 2 or minds < 2:
        return np.zeros((minds, minds), bool)
    centred = values - values.mean(axis=0)
    means = values.mean(axis=0)
    difference = means[:, None] - means[None, :]
    error = _errors(centred.T @ centred, units)
    varies = error > _ROUNDING * max(1.0, float(np.abs(values).max()))
    t = np.where(varies, difference / np.where(varies, error, 1.0), 0.0)
    better = t > _critical(centred, rng, draws)
    if minds * (minds - 1) * 0.5**units <= 0.05:  # the sign test, over all pairs
        better |= ~varies & (difference > _ROUNDING)
    return np.asarray(better)


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
    for n, drawn_sums in enumerate(drawn):
        mean = drawn_sums[:minds] / units
        products = np.zeros((minds, minds))
        products[one, other] = products[other, one] = drawn_sums[minds:]
        error = _errors(products - units * np.outer(mean, mean), units)
        apart = np.abs(mean[:, None] - mean[None, :])
        with np.errstate(all="ignore"):
            t = np.where(error > 0, apart / error, np.where(apart > 0, np.inf, 0.0))
        greatest[n] = t.max()
    least = float(stdtrit(units - 1, 0.975))
    return min(bonferroni, max(least, float(np.quantile(greatest, 0.95, method="inverted_cdf"))))
