"""Simulations with the truth known: how often a figure's interval or sentence is wrong.

Every function takes a generator and a number of repeats, and returns (wrong, total).
"""

from __future__ import annotations

import numpy as np
from allminds.estimate import t_interval
from scipy import stats

from allminds.instruments.cells.tally import StaircaseLevel
from allminds.psychometrics.comparison.correlation import correlate
from allminds.psychometrics.comparison.ranks import rank_intervals
from allminds.psychometrics.curves import DifficultyCurve, curve_intervals
from allminds.psychometrics.factors import variance_shares
from allminds.psychometrics.pilot import Spread
from allminds.psychometrics.reliability import reliability

SHAPES = {
    "guesser": lambda h: np.zeros(len(h)),
    "logistic": lambda h: 1 / (1 + np.exp(h - 8)),  # spread 1.85, as joined by lines
    "gradual": lambda h: np.exp(-(h - h[0]) / 4),
    "step": lambda h: (h < h.mean()).astype(float),
    "line": lambda h: 1 - (h - h[0]) / (h[-1] - h[0]),
}


def curve_truth(shape, levels):
    """The exact curve of a shape at difficulties 1, 2, …"""
    h = np.arange(1.0, levels + 1)
    return DifficultyCurve(h, SHAPES[shape](h), np.ones(levels, np.intp), 1.0)


def _hits(rng, truth, chance, items):
    right = chance + (1 - chance) * truth.psi
    h = np.repeat(truth.difficulties, items)
    return h, (rng.random(len(h)) < np.repeat(right, items)).astype(float)


def _misses(interval, value):
    return not interval[0] - 1e-9 <= value <= interval[1] + 1e-9


def simulate_capability(rng, repeats, *, shape, chance, items, levels=20):
    """Count the 95 % intervals of capability that miss it."""
    truth, wrong = curve_truth(shape, levels), 0
    for _ in range(repeats):
        found = curve_intervals(*_hits(rng, truth, chance, items), rng, floor=chance, draws=2)
        wrong += _misses(found.capability, truth.capability)
    return wrong, repeats


def simulate_spread(rng, repeats, *, shape, chance, items, levels=20, draws=300):
    """Count the 95 % intervals of spread that miss it, of those that are given."""
    truth, wrong, total = curve_truth(shape, levels), 0, 0
    for _ in range(repeats):
        found = curve_intervals(*_hits(rng, truth, chance, items), rng, floor=chance, draws=draws)
        if found.spread is not None:
            wrong, total = wrong + _misses(found.spread, truth.spread), total + 1
    return wrong, total


def crossed_scores(rng, truth, exercises, noise="normal", alike=0.5):
    """Scores[cells…, exercise] with an effect of the exercise that all cells share."""
    shared = np.sqrt(alike) * rng.normal(size=exercises)
    if noise == "hits":
        chance = 1 / (1 + np.exp(-(truth[..., None] + shared)))
        return (rng.random((*truth.shape, exercises)) < chance).astype(float)
    own = rng.normal(size=(*truth.shape, exercises))
    if noise == "uneven":  # cells differ in how much they vary
        own *= np.linspace(0.2, 2, truth.size).reshape(truth.shape)[..., None]
    return truth[..., None] + shared + own


def simulate_null_shares(rng, repeats, *, shape, exercises, noise="normal"):
    """Count the intervals that exclude 0 where no factor does anything."""
    wrong = total = 0
    for _ in range(repeats):
        found = variance_shares(
            crossed_scores(rng, np.zeros(shape), exercises, noise), "abcd"[: len(shape)]
        )
        wrong += sum(one.interval[0] > 0 for one in found[:-1])
        total += len(found) - 1
    return wrong, total


def true_share(truth, of, exercises, alike_noise=1.0):
    """The share that an estimate aims at: the effect in the means over cell means with chance."""
    means = truth - truth.mean()
    others = tuple(n for n in range(truth.ndim) if n not in of)
    part = means.mean(axis=others, keepdims=True)
    if len(of) == 2:
        for one in of:
            rest = tuple(n for n in range(truth.ndim) if n != one)
            part = part - means.mean(axis=rest, keepdims=True)
    squares = (np.broadcast_to(part, truth.shape) ** 2).sum()
    return squares / ((means**2).sum() + alike_noise * (truth.size - 1) / exercises)


def simulate_shares(rng, repeats, *, truth, of, exercises):
    """Count the 95 % intervals of one effect's share that miss it."""
    names, wrong = "abcd"[: truth.ndim], 0
    value = true_share(truth, of, exercises)
    for _ in range(repeats):
        found = variance_shares(crossed_scores(rng, truth, exercises), names)
        interval = next(one.interval for one in found if one.factors == tuple(names[n] for n in of))
        wrong += _misses(interval, value)
    return wrong, repeats


DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "even": lambda rng, n: rng.random(n),
    "hits": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "tailed": lambda rng, n: rng.laplace(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
}


def simulate_assurance(rng, repeats, *, kind, pilot, width=0.2, assurance=0.8):
    """Count the studies whose interval is longer than planned for; at most 1 - assurance may be."""
    wrong = total = 0
    scale = DRAWS[kind](np.random.default_rng(0), 10**6).std()
    for _ in range(repeats):
        values = DRAWS[kind](rng, pilot)
        if not np.ptp(values):
            continue
        spread = Spread.of_residuals(values - values.mean(), pilot - 1.0)
        n = spread.exercises_for(width * scale, assurance)
        final = DRAWS[kind](rng, n)
        reach = stats.t.ppf(0.975, n - 1) * final.std(ddof=1) / np.sqrt(n)
        wrong, total = wrong + int(reach > width * scale), total + 1
    return wrong, total


def simulate_generalisability(rng, repeats, *, minds, exercises, kind="normal"):
    """Count the 95 % intervals of Eρ² that miss it; `minds` has the true scores."""
    means, wrong, total = np.asarray(minds, float), 0, 0
    noise = (means * (1 - means)).mean() if kind == "hits" else 0.25
    truth = means.var() / (means.var() + noise / exercises)
    for _ in range(repeats):
        if kind == "hits":
            values = (rng.random((exercises, len(means))) < means).astype(float)
        else:
            own = rng.normal(0, 0.5, (exercises, len(means)))
            values = means + rng.normal(size=(exercises, 1)) + own
        found = reliability(values[..., None]).interval
        if found is not None:
            wrong, total = wrong + _misses(found, truth), total + 1
    return wrong, total


def correlated(rng, n, kind):
    """x, y, cluster and the true r."""
    if kind == "normal":
        x = rng.normal(size=n)
        return x, 0.6 * x + 0.8 * rng.normal(size=n), None, 0.6
    if kind == "none":
        return rng.integers(1, 6, n).astype(float), rng.random(n), None, 0.0
    if kind == "hits":  # of a complexity of five values
        x = rng.integers(1, 6, n).astype(float)
        p = np.array([0.95, 0.8, 0.5, 0.2, 0.05])
        cov = (p * np.arange(1, 6)).mean() - p.mean() * 3
        y = (rng.random(n) < p[x.astype(int) - 1]).astype(float)
        return x, y, None, cov / np.sqrt(2 * p.mean() * (1 - p.mean()))
    tests = np.repeat(np.arange(n // 5), 5)  # five exercises a test, x and y shifted by it
    shift = rng.normal(size=(n // 5, 2))
    x = shift[tests, 0] + rng.normal(size=len(tests))
    y = 0.8 * shift[tests, 0] + 0.6 * shift[tests, 1] + rng.normal(size=len(tests))
    return x, y, tests, 0.4


def simulate_correlation(rng, repeats, *, kind, exercises):
    """Count the 95 % intervals of r that miss it, of those that are given."""
    wrong = total = 0
    for _ in range(repeats):
        x, y, cluster, truth = correlated(rng, exercises, kind)
        interval = correlate(x, y, cluster)[2]
        if interval is not None:
            wrong, total = wrong + _misses(interval, truth), total + 1
    return wrong, total


def simulate_ranks(rng, repeats, *, scores, units, kind="normal", draws=300):
    """Count the studies in which some mind's interval lacks a place that is truly its own.

    Minds that are equal share all places of their tie; one of them at least must be inside.
    """
    means, wrong = np.asarray(scores, float), 0
    first = 1 + (means[None] > means[:, None]).sum(axis=1)
    last = (means[None] >= means[:, None]).sum(axis=1)
    for _ in range(repeats):
        if kind == "hits":
            values = (rng.random((units, len(means))) < means).astype(float)
        else:
            values = means + rng.normal(size=(units, 1)) + rng.normal(size=(units, len(means)))
        low, high = rank_intervals(values, rng, draws)
        wrong += bool(((low > first) | (high < last)).any())
    return wrong, repeats


def simulate_staircase(rng, repeats, *, exercises, memory):
    """Count the 95 % intervals of the level that miss it, within one administration.

    ξ walks around 10 with an integrated autocorrelation time of `memory` exercises; 5 is that of
    Q-learning and SARSA, 20 that of the model-based mind.
    """
    from scipy.signal import lfilter

    keep = (memory - 1) / (memory + 1)
    tally, wrong, total = StaircaseLevel(exercises), 0, 0
    for _ in range(repeats):
        steps = rng.normal(size=exercises + 200) * np.sqrt(1 - keep**2)
        xi = 10 + lfilter([1.0], [1.0, -keep], steps)[200:]
        error = tally.error(xi, xi)
        if error is not None:
            interval = t_interval(tally.figure(xi, xi), *error)
            wrong, total = wrong + _misses(interval, 10.0), total + 1
    return wrong, total
