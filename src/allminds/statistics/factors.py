"""Factors of a crossed design: main effects and two-way interactions as shares of variance.

The design must be fully crossed. The mean score of every cell is split into the contributions of
each factor and each pair of factors (they are orthogonal, the design being balanced). What chance
adds to each is taken off it (as in ω²): an effect of d contrasts, each of which varies from
exercise to exercise, is Σ mean² - Σ variance/n over its contrasts. What is left, interactions of
three and more and all chance, makes up the whole. Exercises of the same number share their random
words in all cells, so the contrasts are taken within exercises.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_NONE = 1e-12  # of the variance of all cell means: what is below is rounding


@dataclass(frozen=True)
class Effect:
    """The share of the variance of cell means that a factor, or a pair of factors, explains."""

    factors: tuple[str, ...]  # () for what is left
    share: float
    interval: tuple[float, float] | None  # 95 %; None for what is left


@dataclass(frozen=True)
class _Part:
    """The sum of squares of one effect in the cell means, chance taken off, with its interval."""

    squares: float  # below 0 if it is less than chance makes it on average
    noise: float  # what chance adds to it, on average
    low: float
    high: float

    @property
    def there(self) -> float:
        """The estimate, which cannot be below 0."""
        return max(0.0, self.squares)


def variance_shares(scores: Values, names: Sequence[str]) -> list[Effect]:
    """Estimate the effects on scores[level of factor 1, level of factor 2, …, exercise].

    The largest comes first. Only exercises that have a score in every cell count (NaN is none);
    with fewer than two of them chance is not known, and there are no shares: []. Where all cells
    are alike there is nothing to share out, and every share is 0. The interval of an effect is by
    the noncentral F, the effect against its own variation over exercises, degrees of freedom by
    Greenhouse and Geisser; so it begins at 0 unless p < .025. What all other effects may be is
    added in quadrature (after Donner and Zou 2012) on the scale of log odds.
    """
    complete = scores[..., ~np.isnan(scores).any(axis=tuple(range(scores.ndim - 1)))]
    if complete.shape[-1] < 2:
        return []
    kept = [n for n in range(len(names)) if scores.shape[n] > 1]
    sizes = range(1, len(kept) + 1)
    effects = [of for size in sizes for of in itertools.combinations(kept, size)]
    parts = {of: _part(complete, of) for of in effects}
    means = complete.mean(axis=-1)
    total = float(((means - means.mean()) ** 2).sum())
    named = [of for of in effects if len(of) < 3]
    made = [
        Effect(tuple(names[n] for n in of), _share(parts[of], total), _interval(parts, of))
        for of in named
    ]
    left = max(0.0, 1.0 - sum(effect.share for effect in made)) if total else 0.0
    return [*sorted(made, key=lambda effect: -effect.share), Effect((), left, None)]


def _share(part: _Part, total: float) -> float:
    return part.there / total if total > 0 else 0.0


def _contrasts(scores: Values, of: tuple[int, ...]) -> Values:
    """Compute orthonormal contrasts [exercise, contrast] of an effect within each exercise."""
    from scipy.linalg import helmert

    left = scores
    for n in range(scores.ndim - 1):
        levels = scores.shape[n]
        rows = helmert(levels) if n in of else np.full((1, levels), levels**-0.5)
        left = np.moveaxis(np.tensordot(rows, left, axes=(1, n)), 0, n)
    made: Values = left.reshape(-1, scores.shape[-1]).T
    return made


def _part(scores: Values, of: tuple[int, ...]) -> _Part:
    """Compute Σ mean² of the effect's contrasts, less chance, and its 95 % interval."""
    contrasts = _contrasts(scores, of)
    exercises, count = contrasts.shape
    mean = contrasts.mean(axis=0)
    spread = np.atleast_2d(np.cov(contrasts, rowvar=False))
    trace, squared = float(np.trace(spread)), float((spread * spread).sum())
    found, noise = float(mean @ mean), trace / exercises
    if noise <= _NONE * (found + _NONE):
        return _Part(found, 0.0, found, found)
    epsilon = trace**2 / (count * squared)
    one, two = epsilon * count, epsilon * count * (exercises - 1)
    low, high = _noncentral(found / noise, one, two)
    scale = noise / one  # λ has the effect over the chance of one degree of freedom
    return _Part(found - noise, noise, low * scale, high * scale)


def _noncentral(f: float, one: float, two: float) -> tuple[float, float]:
    """Compute the 95 % interval of λ of a noncentral F; it begins at 0 unless p < .025."""
    from scipy.special import fdtrc, ncfdtrinc

    far = one * f
    if far > 5000:  # where the inverse ends, λ is as good as normal
        reach = 1.96 * math.sqrt(4 * far + 2 * one + 2 * far**2 / two)
        return max(0.0, far - one - reach), far - one + reach
    p = float(fdtrc(one, two, f))
    low = float(ncfdtrinc(one, two, 0.975, f)) if p < 0.025 else 0.0
    high = float(ncfdtrinc(one, two, 0.025, f)) if p < 0.975 else 0.0
    return low, high


def _interval(
    parts: dict[tuple[int, ...], _Part], of: tuple[int, ...]
) -> tuple[float, float] | None:
    """Compute the interval of an effect's share, all others and chance being the rest."""
    part = parts[of]
    others = [other for key, other in parts.items() if key != of]
    chance = sum(one.noise for one in parts.values())
    rest = chance + sum(one.squares for one in others)
    down = math.sqrt(sum(max(0.0, one.squares - one.low) ** 2 for one in others))
    up = math.sqrt(sum(max(0.0, one.high - one.squares) ** 2 for one in others))
    rest = max(rest, part.noise)
    return _odds(part, rest, (max(rest - down, part.noise), rest + up))


def _odds(part: _Part, rest: float, ends: tuple[float, float]) -> tuple[float, float]:
    if rest <= 0:
        return (1.0, 1.0) if part.there else (0.0, 0.0)
    middle = part.there or part.high / 4 or _NONE * rest

    def end(squares: float, other: float, sign: int) -> float:
        if squares <= 0:
            return 0.0
        reach = math.hypot(math.log(squares / middle), math.log(other / rest))
        return 1 / (1 + rest / middle * math.exp(-sign * reach))

    return end(min(part.low, middle), max(ends[1], rest), -1), end(
        max(part.high, middle), min(ends[0], rest), +1
    )
