"""Slot against slot: how rewards go together, and what anticipating another can gain."""

from __future__ import annotations

import numpy as np

from allminds.statistics.testbed.interaction import NOTHING
from allminds.statistics.testbed.results import Results
from allminds.statistics.testbed.weights import Floats


def slot_reward_dependency(table: Results) -> Floats:
    """SRD_ij: the correlation of R_i and R_j over line-ups, as a matrix; NaN without variance."""
    n = len(table.slots)
    rewards, weights = table.of_minds.reshape(-1, n), table.weights.all.ravel()
    apart = rewards - weights @ rewards
    covariance = (apart * weights[:, None]).T @ apart
    if table.noise is not None:
        noise = table.noise_of_minds.reshape(-1, n, n)
        covariance = covariance - np.tensordot(weights * (1 - weights), noise, 1)
    spread = np.diag(covariance).copy()
    spread[spread <= NOTHING] = np.nan
    found: Floats = np.clip(covariance / np.sqrt(np.outer(spread, spread)), -1.0, 1.0)
    return found


def anticipation(table: Results, i: int, j: int) -> float:
    """AComp_ij or ACoop_ij: half of what slot i gains from the mind in j not being random."""
    if table.random is None:
        return float("nan")
    n, mine, theirs = table.minds, table.weights.mind(i), table.weights.mind(j)
    rewards = _means(table, table.rewards, i, j)
    gain = rewards[:n, :n] - rewards[:n, table.random, None]
    return float(mine @ gain @ theirs) / 2


def potential(table: Results, i: int, j: int) -> float:
    """What knowing the partner in slot j can gain slot i beyond both main effects.

    Sampled, the best answer to a partner is chosen by one half of the episodes and judged by the
    other, for the best of noisy means is too good to be true.
    """
    if table.random is None:
        return float("nan")
    chosen, judged = table.halves or (table.rewards, table.rewards)
    return (_potential(table, i, j, chosen, judged) + _potential(table, i, j, judged, chosen)) / 2


def _potential(table: Results, i: int, j: int, chosen: Floats, judged: Floats) -> float:
    best = _matched(table, i, j, chosen).argmax(axis=0)
    gains = _matched(table, i, j, judged)[best, range(table.minds)]
    return float(gains @ table.weights.mind(j))


def _matched(table: Results, i: int, j: int, rewards: Floats) -> Floats:
    """¼[R_i(π1,π2) - R_i(π1,π_r) - R_i(π_r,π2) + R_i(π_r,π_r)] as [π1, π2]."""
    n, r = table.minds, table.random
    means = _means(table, rewards, i, j)
    both = means[:n, :n] - means[:n, r, None] - means[None, r, :n] + means[r, r]
    quarter: Floats = both / 4
    return quarter


def _means(table: Results, rewards: Floats, i: int, j: int) -> Floats:
    """R_i as [mind in i, mind in j], the mean over the companies w_{-ij}."""
    found: Floats = table.pair(rewards[..., i], i, j) @ table.weights.others(i, j).ravel()
    return found
