"""Interaction of minds: discrimination, dependency, social shares; specificity and generality.

Reconstructed from Insa-Cabrera and Hernández-Orallo (2015), who name most of them only: a property
of a game is the w_S-mean over its slots. NaN stands for a slot in which a property has no meaning.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.core.errors import Error
from allminds.statistics.testbed.bed import (
    SAME,
    ActionSequence,
    Exact,
    Floats,
    LineUp,
    LineUpWeights,
)
from allminds.statistics.testbed.results import Property, RewardTable

if TYPE_CHECKING:
    from allminds.statistics.testbed.sampled import Crossing

NOTHING = SAME**2  # a variance no larger than this is none


def mean_over(values: Iterable[float], weights: Iterable[float]) -> float:
    """Average values by weights, without those that are NaN."""
    x, w = np.array(list(values), float), np.array(list(weights), float)
    there = ~np.isnan(x) & (w > 0)
    return float(x[there] @ w[there] / w[there].sum()) if there.any() else float("nan")


def pairs(weights: Floats) -> float:
    """Compute 1/η: the weight of all pairs of different ones; NaN if there are none."""
    left = 1.0 - float((weights**2).sum())
    return left if left > SAME else float("nan")


# ---------------------------------------------------------------- binary, on exact results


def differing(values: Floats, weights: Floats) -> float:
    """Compute Σ_{a≠b} w_a w_b Δ(x_a, x_b), by sorting."""
    order = np.argsort(values)
    x, heaped = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    near = heaped[np.searchsorted(x, x + SAME, "right")] - heaped[np.searchsorted(x, x - SAME)]
    return float(weights[order] @ (heaped[-1] - near))


def reward_dependency(table: RewardTable, i: int) -> float:
    """Compute RD_i: how often other partners give a mind another result."""
    mine, others = table.weights.mind(i), table.weights.others(i).ravel()
    each = [differing(row, others) for row in table.slot(i)]
    return float(mine @ each) / pairs(others)


def fine_discrimination(table: RewardTable, i: int) -> float:
    """Compute FD_i: how often two minds get different results in the same company."""
    mine, others, rewards = table.weights.mind(i), table.weights.others(i).ravel(), table.slot(i)
    found = sum(
        2 * mine[a] * mine[b] * float((abs(rewards[a] - rewards[b]) > SAME) @ others)
        for a, b in itertools.combinations(range(table.minds), 2)
    )
    return float(found) / pairs(mine)


def coarse_discrimination(table: RewardTable, i: int) -> float:
    """Compute CD_i: how often two minds have different scores Υ_i."""
    mine = table.weights.mind(i)
    return differing(table.slot(i) @ table.weights.others(i).ravel(), mine) / pairs(mine)


# ---------------------------------------------------------------- graded, from variances


class Split(NamedTuple):
    """The variance of R_i over (π, l̇): by the mind, by its company, by the match of both."""

    me: float
    them: float
    match: float

    @property
    def total(self) -> float:
        """The whole variance: all three parts."""
        return self.me + self.them + self.match


def split(table: RewardTable, i: int) -> Split:
    """Compute V_me, V_them and V_match of a slot; without noise, so sampled ones can be below 0."""
    mine, others, rewards = table.weights.mind(i), table.weights.others(i).ravel(), table.slot(i)
    by_mind, by_company = rewards @ others, mine @ rewards
    centre = float(by_mind @ mine)
    me, them = float((by_mind - centre) ** 2 @ mine), float((by_company - centre) ** 2 @ others)
    total = float(mine @ (rewards - centre) ** 2 @ others)
    if table.noise is not None:
        noise = table.noise_of(i)
        me -= float((mine * (1 - mine)) @ noise @ others**2)
        them -= float(mine**2 @ noise @ (others * (1 - others)))
        total -= float(mine @ noise @ others) - float(mine**2 @ noise @ others**2)
    return Split(me, them, total - me - them)


def graded(table: RewardTable, i: int) -> dict[str, float]:
    """Compute RD², FD² and CD²: mean squares of half the difference over unequal pairs."""
    part = split(table, i)
    mine, others = pairs(table.weights.mind(i)), pairs(table.weights.others(i).ravel())
    return {
        "reward_dependency": (part.them + part.match) / 2 / others,
        "fine_discrimination": (part.me + part.match) / 2 / mine,
        "coarse_discrimination": part.me / 2 / mine,
    }


def shares(table: RewardTable, i: int) -> tuple[float, float]:
    """Compute the social and the strategic share: (V_them + V_match) and V_match of the whole."""
    part = split(table, i)
    if part.total <= NOTHING:
        return float("nan"), float("nan")
    social, strategic = (part.them + part.match) / part.total, part.match / part.total
    return min(1.0, max(0.0, social)), min(1.0, max(0.0, strategic))


# ---------------------------------------------------------------- action dependency


class Acts(NamedTuple):
    """Action dependency AD_i: binary, graded, and graded step by step, as it is sampled."""

    binary: float
    graded: float
    by_step: float


def action_dependency(game: Exact, weights: LineUpWeights, i: int) -> Acts:
    """Compute AD_i: whether the others act differently when another mind is in slot i.

    All companies of slot i are streamed; of each, only the action sequences that its line-ups can
    lead to are held.
    """
    mine, others = weights.mind(i), weights.others(i)
    binary = total = steps = 0.0
    for company in np.ndindex(others.shape):
        if others[company] == 0:
            continue
        minds = np.flatnonzero(mine).tolist()
        acts = {mind: game.others(_filled(company, i, mind), i) for mind in minds}
        for a, b in itertools.combinations(minds, 2):
            apart = total_variation(acts[a], acts[b])
            weight = 2 * mine[a] * mine[b] * others[company]
            binary += weight * (apart > SAME)
            total += weight * apart
            steps += weight * (step_variation(acts[a], acts[b]) if apart > SAME else 0.0)
    whole = pairs(mine)
    return Acts(float(binary / whole), float(total / whole), float(steps / whole))


def _filled(company: LineUp, i: int, mind: int) -> LineUp:
    """Put a mind into slot i of a company: l̇ ←_i π."""
    return (*company[:i], mind, *company[i:])


def total_variation(p: Mapping[ActionSequence, float], q: Mapping[ActionSequence, float]) -> float:
    """Compute half the summed difference of two distributions."""
    return sum(abs(p.get(key, 0.0) - q.get(key, 0.0)) for key in p.keys() | q.keys()) / 2


def step_variation(p: Mapping[ActionSequence, float], q: Mapping[ActionSequence, float]) -> float:
    """Compute the total variation of the actions at a step, averaged over steps."""
    steps = max(len(sequence) for sequence in itertools.chain(p, q))
    apart: list[dict[tuple[int, ...], float]] = [{} for _ in range(steps)]
    for chances, sign in ((p, 1.0), (q, -1.0)):
        for sequence, chance in chances.items():
            for step, gap in enumerate(apart):
                done = sequence[step] if step < len(sequence) else ()
                gap[done] = gap.get(done, 0.0) + sign * chance
    return sum(abs(x) for gap in apart for x in gap.values()) / 2 / steps


# ---------------------------------------------------------------- action dependency from samples


PERMUTED = 20  # times that labels are exchanged
ACT_DRAWS = 200  # of the bootstrap
Codes = NDArray[np.int64]
Places = NDArray[np.int64]


class SampledActs(NamedTuple):
    """Action dependency AD, graded by steps; NaN if there are no pairs of minds."""

    value: float
    draws: Floats  # the same when episodes are drawn anew
    less_permuted: float


def sampled_action_dependency(
    crossing: Crossing, w_s: Floats, rng: np.random.Generator
) -> SampledActs:
    """Estimate AD over all slots."""
    each = [_of_slot(crossing, i, rng) for i in crossing.results.slots]
    value = mean_over([one.value for one in each], w_s)
    draws = np.array([mean_over([one.draws[n] for one in each], w_s) for n in range(ACT_DRAWS)])
    permuted = mean_over([one.less_permuted for one in each], w_s)
    return SampledActs(float(np.maximum(value, 0.0)), np.maximum(draws, 0.0), permuted)


def _of_slot(crossing: Crossing, i: int, rng: np.random.Generator) -> SampledActs:
    mine, others = crossing.weights.mind(i), crossing.weights.others(i).ravel()
    if np.isnan(pairs(mine)):
        return SampledActs(float("nan"), np.full(ACT_DRAWS, np.nan), float("nan"))
    codes = _codes(crossing, i)
    repeats = np.arange(codes.shape[2])
    halves = np.array_split(repeats, 2)
    value = _judged(codes, halves, mine, others)
    draws = np.array([
        _judged(codes, [rng.choice(half, len(half)) for half in halves], mine, others)
        for _ in range(ACT_DRAWS)
    ])  # fmt: skip
    raw = _apart(_shares(codes, repeats), mine, others)
    permuted = raw - _by_chance(codes, mine, others, rng)
    return SampledActs(value, draws - draws.mean() + value, permuted)


def _codes(crossing: Crossing, i: int) -> Codes:
    """Encode what the others did as a number: [mind in slot i, company, repeat, step]."""
    n, slots = len(crossing.weights.minds), crossing.weights.slots
    rows = [row for row, line_up in enumerate(crossing.line_ups) if n not in line_up]
    actions = np.delete(crossing.actions[rows], i, axis=3)
    _, codes = np.unique(actions.reshape(-1, slots - 1), axis=0, return_inverse=True)
    table = codes.reshape((n,) * slots + actions.shape[1:3])
    return np.moveaxis(table, i, 0).reshape(n, -1, *actions.shape[1:3])


def _shares(codes: Codes, chosen: Places) -> Floats:
    """Compute shares of each joint action in the chosen repeats: [mind, company, step, action]."""
    minds, companies, _, steps = codes.shape
    kinds = int(codes.max()) + 1
    place = np.arange(minds * companies).reshape(minds, companies, 1, 1) * steps
    place = (place + np.arange(steps)) * kinds
    counts = np.bincount(
        (place + codes[:, :, chosen]).ravel(), minlength=minds * companies * steps * kinds
    )
    return counts.reshape(minds, companies, steps, kinds) / len(chosen)


def _judged(codes: Codes, halves: list[Places], mine: Floats, others: Floats) -> float:
    """Compute total variation by two halves, each judging what the other chose."""
    one, other = (_shares(codes, half) for half in halves)
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        gap, check = one[a] - one[b], other[a] - other[b]
        judged = (np.sign(gap) * check + np.sign(check) * gap).sum(axis=2).mean(axis=1) / 4
        total += 2 * mine[a] * mine[b] * float(judged @ others)
    return total / pairs(mine)


def _apart(shares: Floats, mine: Floats, others: Floats) -> float:
    """Compute total variation as it is, noise included."""
    total = 0.0
    for a, b in itertools.combinations(range(len(mine)), 2):
        total += 2 * mine[a] * mine[b] * _variation(shares[a], shares[b], others)
    return total / pairs(mine)


def _by_chance(codes: Codes, mine: Floats, others: Floats, rng: np.random.Generator) -> float:
    """Compute total variation with the episodes of each pair of minds shuffled together."""
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
    """Average total variation over companies and steps."""
    return float((np.abs(p - q).sum(axis=2).mean(axis=1) / 2) @ others)


# ---------------------------------------------------------------- slot against slot


def slot_reward_dependency(table: RewardTable) -> Floats:
    """Compute the matrix SRD_ij: correlations of R_i and R_j over line-ups, or NaN."""
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


def anticipation(table: RewardTable, i: int, j: int) -> float:
    """Compute AComp_ij or ACoop_ij: half of what slot i gains if the mind in j is not random."""
    if table.random is None:
        return float("nan")
    n, mine, theirs = table.minds, table.weights.mind(i), table.weights.mind(j)
    rewards = _means(table, table.rewards, i, j)
    gain = rewards[:n, :n] - rewards[:n, table.random, None]
    return float(mine @ gain @ theirs) / 2


def potential(table: RewardTable, i: int, j: int) -> float:
    """Compute what knowing the partner in slot j can gain slot i beyond both main effects.

    Sampled, the best answer to a partner is chosen by one half of the episodes and judged by the
    other, for the best of noisy means is biased upwards.
    """
    if table.random is None:
        return float("nan")
    chosen, judged = table.halves or (table.rewards, table.rewards)
    return (_potential(table, i, j, chosen, judged) + _potential(table, i, j, judged, chosen)) / 2


def _potential(table: RewardTable, i: int, j: int, chosen: Floats, judged: Floats) -> float:
    best = _matched(table, i, j, chosen).argmax(axis=0)
    gains = _matched(table, i, j, judged)[best, range(table.minds)]
    return float(gains @ table.weights.mind(j))


def _matched(table: RewardTable, i: int, j: int, rewards: Floats) -> Floats:
    """Compute ¼[R_i(π1,π2) - R_i(π1,π_r) - R_i(π_r,π2) + R_i(π_r,π_r)] as [π1, π2]."""
    n, r = table.minds, table.random
    means = _means(table, rewards, i, j)
    both = means[:n, :n] - means[:n, r, None] - means[None, r, :n] + means[r, r]
    quarter: Floats = both / 4
    return quarter


def _means(table: RewardTable, rewards: Floats, i: int, j: int) -> Floats:
    """Average R_i over the companies w_{-ij}: [mind in i, mind in j]."""
    found: Floats = table.pair(rewards[..., i], i, j) @ table.weights.others(i, j).ravel()
    return found


# ---------------------------------------------------------------- specificity and generality


LEAST_MINDS = 20  # of one declared population, for a correlation over minds
DRAWS = 1000


def specificity(scores: ArrayLike, alone: ArrayLike, seed: int = 1) -> Property:
    """Compute 1 - R² of Υ(π) on the same minds' scores alone; the interval resamples minds."""
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
    """How far scores in one environment generalise to others."""

    correlation: float | None  # mean rank correlation between environments
    fall: float | None  # what the best mind of one environment lacks to the best of another
    reason: str = ""


def generality(scores: Floats, weights: Sequence[float] | None = None) -> Generality:
    """Compute generality from Υ(π, μ) as [mind, environment]; pairs weigh w_M(μ) w_M(ν)."""
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
    """Rank values from below; equal values share their place."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values), np.searchsorted(order, values, "right")
    return (low + high) / 2


def _correlation(a: Floats, b: Floats) -> float:
    if a.var() <= NOTHING or b.var() <= NOTHING:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _fall(here: Floats, there: Floats) -> float:
    """Compute what the best minds of one environment lack in another, on average."""
    best = here >= here.max() - 1e-9
    return float(there.max() - there[best].mean())
