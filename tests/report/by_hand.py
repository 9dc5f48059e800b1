"""Intervals and verdicts worked out anew, the slow way, to hold those of the report against."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

BETS = [(n + 0.5) / 24 for n in range(24)]
DELTA = 0.05


@dataclass
class Found:
    """A mean, its interval, and the p-values of no difference and of one of δ or more."""

    mean: float
    interval: tuple[float, float]
    p: float
    p_same: float
    differs: bool
    student: bool


def about_mean(values, strata=None, low=-1.0, high=1.0, difference=False) -> Found:
    """The mean over strata of equal weight, each of two exercises or more, by the school formulas.

    Student's t with Satterthwaite's degrees of freedom, or the bets of Waudby-Smith and Ramdas.
    """
    values = np.asarray(values, float)
    strata = np.zeros(len(values)) if strata is None else np.asarray(strata)
    levels, n = np.unique(strata), len(values)
    lots = [values[strata == level] for level in levels]
    if len(levels) > 1:
        assert min(map(len, lots)) > 1
    mean = np.mean([lot.mean() for lot in lots])
    weight = np.array([1 / len(levels) / (strata == one).sum() for one in strata])
    differ = np.count_nonzero(values)
    error = freedom = None
    if n > 1 and np.ptp(values) > 0:
        error = math.sqrt(sum(lot.var(ddof=1) / len(lot) for lot in lots)) / len(levels)
        parts = [1 / len(lot) for lot in lots]
        squares = [a * a / (len(lot) - 1) for a, lot in zip(parts, lots, strict=True)]
        freedom = sum(parts) ** 2 / sum(squares)
    centre = np.array([values[strata == one].mean() for one in strata])
    student = (
        bool(error)
        and n >= 8
        and (differ >= 8 or not difference)
        and _bears_t(weight * (values - centre), error, n, (mean - low) / (high - low), high - low)
    )
    if student:
        reach = stats.t.ppf(0.975, freedom) * error
        ends = max(mean - reach, low), min(mean + reach, high)

        def tails(at):
            t = (mean - at) / error
            return stats.t.sf(t, freedom), stats.t.cdf(t, freedom)
    else:
        y = (values - low) / (high - low)
        lower = _refused(y, weight)
        upper = 1 - _refused(1 - y, weight)
        ends = low + (high - low) * lower, low + (high - low) * upper

        def tails(at):
            m = (at - low) / (high - low)
            capitals = _capital(y, weight, m), _capital(1 - y, weight, 1 - m)
            return tuple(1 / max(1.0, capital) for capital in capitals)

    p = min(1.0, 2 * min(tails(0.0))) if difference else 1.0
    if difference and differ <= 12:
        p = max(p, _flipped(weight * values)) if differ else 1.0
    same = max(tails(-DELTA)[0], tails(DELTA)[1])
    return Found(float(mean), ends, p, same, differ > 0, student)


def paired(together, alone, strata=None) -> Found:
    """What two minds differ by, whose scores are from -1 to 1."""
    return about_mean(np.asarray(together) - alone, strata, -2.0, 2.0, difference=True)


def _bears_t(pulls, error, n, place, width):
    """Not too near an end, not nearly constant, not resting on a few exercises."""
    inside = min(place, 1 - place)
    if inside < 0.25 and n * inside < 8:
        return False
    if error * math.sqrt(n) < (0.02 if n < 20 else 0.005) * width:
        return False
    return n >= 8 * stats.skew(pulls) ** 2


def _capital(y, weight, m):
    """What a gambler has in the end, on average over her ways to bet."""
    with np.errstate(over="ignore"):
        return np.mean([np.prod(1 - c + c * len(y) * weight * y / m) for c in BETS])


def _refused(y, weight):
    """Below which means she has forty times what she began with."""
    mean = float((weight * y).sum())
    if mean <= 0 or _capital(y, weight, mean * 1e-9) < 40:
        return 0.0
    return optimize.bisect(lambda m: _capital(y, weight, m) - 40, mean * 1e-9, mean, xtol=1e-9)


def _flipped(pulls):
    pulls = pulls[np.abs(pulls) > 1e-15]
    sums = [abs(np.dot(signs, pulls)) for signs in itertools.product((1, -1), repeat=len(pulls))]
    return np.mean([one >= abs(pulls.sum()) * (1 - 1e-12) for one in sums])


def holm(values):
    """Holm's correction, one p-value after the other."""
    made, least = [0.0] * len(values), 0.0
    for rank, n in enumerate(sorted(range(len(values)), key=lambda n: values[n])):
        least = max(least, min(1.0, (len(values) - rank) * values[n]))
        made[n] = least
    return made


def verdicts(found) -> list[str]:
    """What may be said of each, corrected for all of them."""
    said = []
    both = zip(holm([one.p for one in found]), holm([one.p_same for one in found]), strict=True)
    for one, (p, same) in zip(found, both, strict=True):
        word = "gains" if one.mean > 0 else "loses"
        if not one.differs or (p >= 0.05 and same >= 0.05):
            said.append("undecided")
        elif p < 0.05:
            said.append(f"{word}, but less than 0.05" if same < 0.05 else word)
        else:
            said.append("equivalent")
    return said
