"""What a score depends on: main effects and two-way interactions as shares of variance.

For a fully crossed design. The mean score of every cell is split into the contributions of each
factor and each pair of factors (they are orthogonal, the design being balanced); what is left is
interactions of three and more, and chance. Intervals come from resampling exercises, the same
numbers in every cell, since exercises of the same number share their random words.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """The share of the variance of cell means that a factor, or a pair of them, accounts for."""

    factors: tuple[str, ...]  # () for what is left
    share: float
    interval: tuple[float, float]  # 95 %


def variance_shares(
    scores: Scores, names: Sequence[str], rng: np.random.Generator, draws: int = 400
) -> list[Effect]:
    """The effects on scores[level of factor 1, level of factor 2, …, exercise], largest first.

    A NaN is an exercise that failed. Where all cells are alike there is nothing to share out, and
    every share is 0.
    """
    kept = [n for n in range(len(names)) if scores.shape[n] > 1]
    pairs = list(itertools.combinations(kept, 2))
    effects = [(n,) for n in kept] + pairs
    found = np.array(_shares(np.nanmean(scores, axis=-1), effects))
    drawn = np.array([_shares(means, effects) for means in _resampled(scores, rng, draws)])
    drawn -= drawn.mean(axis=0) - found  # resampling adds chance of its own, and so a bias
    low, high = np.clip(np.quantile(drawn, [0.025, 0.975], axis=0), 0.0, 1.0)
    made = [
        Effect(tuple(names[n] for n in of), float(share), (float(a), float(b)))
        for of, share, a, b in zip([*effects, ()], found, low, high, strict=True)
    ]
    return sorted(made[:-1], key=lambda effect: -effect.share) + made[-1:]


def _resampled(scores: Scores, rng: np.random.Generator, draws: int) -> Scores:
    """Cell means over resampled exercises, [draw, cells…]; failures alone leave it as it was."""
    exercises = scores.shape[-1]
    counts = rng.multinomial(exercises, np.full(exercises, 1 / exercises), size=draws)
    there = ~np.isnan(scores)
    sums = np.where(there, scores, 0.0) @ counts.T
    numbers = there @ counts.T
    plain = np.nanmean(scores, axis=-1)[..., None]
    means = np.where(numbers > 0, sums / np.maximum(numbers, 1), plain)
    resampled: Scores = np.moveaxis(means, -1, 0)
    return resampled


def _shares(means: Scores, effects: Sequence[tuple[int, ...]]) -> list[float]:
    """The share of each effect, and of the rest."""
    total = float(((means - means.mean()) ** 2).sum())
    if total == 0:
        return [0.0] * (len(effects) + 1)
    parts = {(n,): _margin(means, (n,)) - means.mean() for n in range(means.ndim)}
    shares = []
    for of in effects:
        part = parts[of] if len(of) == 1 else _margin(means, of) - means.mean()
        if len(of) == 2:
            part = part - parts[(of[0],)] - parts[(of[1],)]
        shares.append(float((np.broadcast_to(part, means.shape) ** 2).sum()) / total)
    return [*shares, max(0.0, 1.0 - sum(shares))]


def _margin(means: Scores, of: tuple[int, ...]) -> Scores:
    """Means over all other factors, kept in shape."""
    others = tuple(n for n in range(means.ndim) if n not in of)
    margin: Scores = means.mean(axis=others, keepdims=True)
    return margin
