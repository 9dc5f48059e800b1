"""Who depends on whom: discrimination, dependency, and the shares of what is social.

After the report behind P1, reconstructed (SOCIAL): a property of a game is the w_S-mean over its
slots. NaN stands for a slot in which a property has no meaning.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from allminds.statistics.testbed.games import SAME, Exact, LineUp, Sequence
from allminds.statistics.testbed.results import Results
from allminds.statistics.testbed.weights import Floats, LineUpWeights

NOTHING = SAME**2  # a variance no larger than this is none


def mean_over(values: Iterable[float], weights: Iterable[float]) -> float:
    """The weighted mean of what there is: NaN are left out, and the weights of the rest count."""
    x, w = np.array(list(values), float), np.array(list(weights), float)
    there = ~np.isnan(x) & (w > 0)
    return float(x[there] @ w[there] / w[there].sum()) if there.any() else float("nan")


def pairs(weights: Floats) -> float:
    """1/η: the weight of all pairs of different ones; NaN if there are none."""
    left = 1.0 - float((weights**2).sum())
    return left if left > SAME else float("nan")


# ---------------------------------------------------------------- binary, on exact results


def differing(values: Floats, weights: Floats) -> float:
    """Σ_{a≠b} w_a w_b Δ(x_a, x_b), by sorting."""
    order = np.argsort(values)
    x, heaped = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    near = heaped[np.searchsorted(x, x + SAME, "right")] - heaped[np.searchsorted(x, x - SAME)]
    return float(weights[order] @ (heaped[-1] - near))


def reward_dependency(table: Results, i: int) -> float:
    """RD_i: how often other partners give a mind another result."""
    mine, others = table.weights.mind(i), table.weights.others(i).ravel()
    each = [differing(row, others) for row in table.slot(i)]
    return float(mine @ each) / pairs(others)


def fine_discrimination(table: Results, i: int) -> float:
    """FD_i: how often two minds get different results in the same company."""
    mine, others, rewards = table.weights.mind(i), table.weights.others(i).ravel(), table.slot(i)
    found = sum(
        2 * mine[a] * mine[b] * float((abs(rewards[a] - rewards[b]) > SAME) @ others)
        for a, b in itertools.combinations(range(table.minds), 2)
    )
    return float(found) / pairs(mine)


def coarse_discrimination(table: Results, i: int) -> float:
    """CD_i: how often two minds have different scores Υ_i."""
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
        """All of it."""
        return self.me + self.them + self.match


def split(table: Results, i: int) -> Split:
    """V_me, V_them and V_match of a slot; noise is taken out, so a sampled one can be below 0."""
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


def graded(table: Results, i: int) -> dict[str, float]:
    """RD², FD² and CD²: mean squares of half the difference over unequal pairs."""
    part = split(table, i)
    mine, others = pairs(table.weights.mind(i)), pairs(table.weights.others(i).ravel())
    return {
        "reward_dependency": (part.them + part.match) / 2 / others,
        "fine_discrimination": (part.me + part.match) / 2 / mine,
        "coarse_discrimination": part.me / 2 / mine,
    }


def shares(table: Results, i: int) -> tuple[float, float]:
    """The social and the strategic share: (V_them + V_match) and V_match of the whole."""
    part = split(table, i)
    if part.total <= NOTHING:
        return float("nan"), float("nan")
    social, strategic = (part.them + part.match) / part.total, part.match / part.total
    return min(1.0, max(0.0, social)), min(1.0, max(0.0, strategic))


# ---------------------------------------------------------------- action dependency


class Acts(NamedTuple):
    """AD_i: binary, graded, and graded by the steps taken one by one, as it is sampled."""

    binary: float
    graded: float
    by_step: float


def action_dependency(game: Exact, weights: LineUpWeights, i: int) -> Acts:
    """AD_i: whether the others act differently when another mind is in slot i.

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
    """l̇ ←_i π."""
    return (*company[:i], mind, *company[i:])


def total_variation(p: Mapping[Sequence, float], q: Mapping[Sequence, float]) -> float:
    """Half the summed difference of two distributions."""
    return sum(abs(p.get(key, 0.0) - q.get(key, 0.0)) for key in p.keys() | q.keys()) / 2


def step_variation(p: Mapping[Sequence, float], q: Mapping[Sequence, float]) -> float:
    """The total variation of what is done at a step, averaged over steps."""
    steps = max(len(sequence) for sequence in itertools.chain(p, q))
    apart: list[dict[tuple[int, ...], float]] = [{} for _ in range(steps)]
    for chances, sign in ((p, 1.0), (q, -1.0)):
        for sequence, chance in chances.items():
            for step, gap in enumerate(apart):
                done = sequence[step] if step < len(sequence) else ()
                gap[done] = gap.get(done, 0.0) + sign * chance
    return sum(abs(x) for gap in apart for x in gap.values()) / 2 / steps
