"""Action dependency from samples: how far the others' actions shift with who is in a slot.

Total variation of the joint actions of the others at a step, averaged over steps. Noise alone makes
it positive, so half of the episodes say which actions are more frequent, and the other half by how
much: without dependency that is 0 on average. Less the mean under permuted labels, as SOCIAL has
it, is given beside it: where two minds are quite different that takes off too much.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.testbed.crossing import Crossing
from allminds.statistics.testbed.interaction import mean_over, pairs
from allminds.statistics.testbed.weights import Floats

PERMUTED = 20  # times that labels are exchanged
DRAWS = 200  # of the bootstrap
Codes = NDArray[np.int64]
Places = NDArray[np.int64]


class SampledActs(NamedTuple):
    """AD, graded by steps; NaN if there are no pairs of minds."""

    value: float
    draws: Floats  # the same when episodes are drawn anew
    less_permuted: float


def sampled_action_dependency(
    crossing: Crossing, w_s: Floats, rng: np.random.Generator
) -> SampledActs:
    """AD over all slots."""
    each = [_of_slot(crossing, i, rng) for i in crossing.results.slots]
    value = mean_over([one.value for one in each], w_s)
    draws = np.array([mean_over([one.draws[n] for one in each], w_s) for n in range(DRAWS)])
    permuted = mean_over([one.less_permuted for one in each], w_s)
    return SampledActs(float(np.maximum(value, 0.0)), np.maximum(draws, 0.0), permuted)


def _of_slot(crossing: Crossing, i: int, rng: np.random.Generator) -> SampledActs:
    mine, others = crossing.weights.mind(i), crossing.weights.others(i).ravel()
    if np.isnan(pairs(mine)):
        return SampledActs(float("nan"), np.full(DRAWS, np.nan), float("nan"))
    codes = _codes(crossing, i)
    repeats = np.arange(codes.shape[2])
    halves = np.array_split(repeats, 2)
    value = _judged(codes, halves, mine, others)
    draws = np.array([
        _judged(codes, [rng.choice(half, len(half)) for half in halves], mine, others)
        for _ in range(DRAWS)
    ])  # fmt: skip
    raw = _apart(_shares(codes, repeats), mine, others)
    permuted = raw - _by_chance(codes, mine, others, rng)
    return SampledActs(value, draws - draws.mean() + value, permuted)


def _codes(crossing: Crossing, i: int) -> Codes:
    """What the others did, as a number: [mind in slot i, company, repeat, step]."""
    n, slots = len(crossing.weights.minds), crossing.weights.slots
    rows = [row for row, line_up in enumerate(crossing.line_ups) if n not in line_up]
    actions = np.delete(crossing.actions[rows], i, axis=3)
    _, codes = np.unique(actions.reshape(-1, slots - 1), axis=0, return_inverse=True)
    table = codes.reshape((n,) * slots + actions.shape[1:3])
    return np.moveaxis(table, i, 0).reshape(n, -1, *actions.shape[1:3])


def _shares(codes: Codes, chosen: Places) -> Floats:
    """How often each joint action was seen in the chosen repeats: [mind, company, step, action]."""
    minds, companies, _, steps = codes.shape
    kinds = int(codes.max()) + 1
    place = np.arange(minds * companies).reshape(minds, companies, 1, 1) * steps
    place = (place + np.arange(steps)) * kinds
    counts = np.bincount(
        (place + codes[:, :, chosen]).ravel(), minlength=minds * companies * steps * kinds
    )
    return counts.reshape(minds, companies, steps, kinds) / len(chosen)


# ---------------------------------------------------------------- distances


def _judged(codes: Codes, halves: list[Places], mine: Floats, others: Floats) -> float:
    """Total variation by two halves, each judging what the other chose."""
    one, other = (_shares(codes, half) for half in halves)
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        gap, check = one[a] - one[b], other[a] - other[b]
        judged = (np.sign(gap) * check + np.sign(check) * gap).sum(axis=2).mean(axis=1) / 4
        total += 2 * mine[a] * mine[b] * float(judged @ others)
    return total / pairs(mine)


def _apart(shares: Floats, mine: Floats, others: Floats) -> float:
    """Total variation as it is."""
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        total += 2 * mine[a] * mine[b] * _variation(shares[a], shares[b], others)
    return total / pairs(mine)


def _by_chance(codes: Codes, mine: Floats, others: Floats, rng: np.random.Generator) -> float:
    """The same with the episodes of each pair of minds shuffled together."""
    repeats, total = codes.shape[2], 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        both = np.concatenate([codes[a], codes[b]], axis=1)
        for _ in range(PERMUTED):
            order = rng.permutation(2 * repeats)
            halves = np.stack([both[:, order[:repeats]], both[:, order[repeats:]]])
            shares = _shares(halves, np.arange(repeats))
            total += 2 * mine[a] * mine[b] * _variation(shares[0], shares[1], others)
    return total / PERMUTED / pairs(mine)


def _variation(p: Floats, q: Floats, others: Floats) -> float:
    """The mean over companies of total variation, averaged over steps."""
    return float((np.abs(p - q).sum(axis=2).mean(axis=1) / 2) @ others)
