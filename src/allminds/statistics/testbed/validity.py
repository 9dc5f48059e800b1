"""Whether a testbed measures all of social intelligence, and nothing else (P1 §4.1).

Specificity: how much of a score is social, and not what the same minds do alone. Generality: how
far a score in one environment speaks for others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from allminds.core.errors import Error
from allminds.statistics.testbed.interaction import NOTHING, mean_over
from allminds.statistics.testbed.property import Property
from allminds.statistics.testbed.weights import Floats

LEAST_MINDS = 20  # of one declared population, for a correlation over minds
DRAWS = 1000


def specificity(scores: ArrayLike, alone: ArrayLike, seed: int = 1) -> Property:
    """1 - R² of Υ(π) on the same minds' scores alone; the interval resamples minds."""
    social, solo = np.asarray(scores, float), np.asarray(alone, float)
    if social.shape != solo.shape or social.ndim != 1:
        raise Error(f"{social.size} scores and {solo.size} scores alone; give one of each a mind")
    if len(social) < LEAST_MINDS:
        return Property(
            None, reason=f"not estimable: {len(social)} minds, and {LEAST_MINDS} are the least"
        )
    value = _unexplained(social, solo)
    if value is None:
        return Property(None, reason="not estimable: all scores are alike")
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(social), size=(DRAWS, len(social)))
    drawn = [_unexplained(social[rows], solo[rows]) for rows in chosen]
    low, high = np.quantile([one for one in drawn if one is not None], [0.025, 0.975])
    return Property(value, ci95=(float(low), float(high)))


def _unexplained(social: Floats, solo: Floats) -> float | None:
    if social.var() <= NOTHING or solo.var() <= NOTHING:
        return None
    return 1.0 - float(np.corrcoef(social, solo)[0, 1]) ** 2


@dataclass(frozen=True)
class Generality:
    """How far scores in one environment speak for others."""

    correlation: float | None  # mean rank correlation between environments
    fall: float | None  # what the best mind of one environment lacks to the best of another
    reason: str = ""


def generality(scores: Floats, weights: Sequence[float] | None = None) -> Generality:
    """From Υ(π, μ) as [mind, environment]; pairs of environments weigh w_M(μ) w_M(ν)."""
    minds, environments = scores.shape
    if environments < 2 or minds < 2:
        return Generality(None, None, "it takes two environments and two minds")
    w = np.full(environments, 1 / environments) if weights is None else np.asarray(weights, float)
    ranks = [_ranks(column) for column in scores.T]
    pairs = list(itertools.combinations(range(environments), 2))
    alike = mean_over(
        (_correlation(ranks[a], ranks[b]) for a, b in pairs), (w[a] * w[b] for a, b in pairs)
    )
    ways = list(itertools.permutations(range(environments), 2))
    falls = (_fall(scores[:, a], scores[:, b]) for a, b in ways)
    fall = mean_over(falls, (w[a] * w[b] for a, b in ways))
    if np.isnan(alike):
        return Generality(None, fall, "no two environments rank the minds at all")
    return Generality(alike, fall)


def _ranks(values: Floats) -> Floats:
    """Places in order, from below; equals share theirs."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values), np.searchsorted(order, values, "right")
    return (low + high) / 2


def _correlation(a: Floats, b: Floats) -> float:
    if a.var() <= NOTHING or b.var() <= NOTHING:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _fall(here: Floats, there: Floats) -> float:
    """What the best minds of one environment lack in another, on average if several are best."""
    best = here >= here.max() - 1e-9
    return float(there.max() - there[best].mean())
