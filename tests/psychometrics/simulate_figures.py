"""Simulations with the truth known: how often a figure's interval or sentence is wrong.

Every function takes a generator and a number of repeats, and returns (wrong, total).
"""

from __future__ import annotations

import numpy as np

from allminds.psychometrics.curves import DifficultyCurve, curve_intervals
from allminds.psychometrics.factors import variance_shares

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
        interval = next(
            one.interval for one in found if one.factors == tuple(names[n] for n in of)
        )
        wrong += _misses(interval, value)
    return wrong, repeats
