"""Scores of a testbed: Υ (eq. 1) and Υ(π), margins with their grading, ratings and symmetry.

Υ of eq. 1 describes the testbed: it is 0 in every zero-sum game with equal slot weights, whatever
minds play. A mind's own score is Υ(π), the mean of what it gets over slots and the line-ups of
others. A margin m(a, b) is what a gets more than b when they meet in two slots of different teams,
with the slots exchanged, so that the advantage of a slot cancels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allminds.statistics.testbed import interaction
from allminds.statistics.testbed.bed import (
    SAME,
    Exact,
    Floats,
    Game,
    LineUp,
    Teams,
    Testbed,
    line_ups,
    slots,
)
from allminds.statistics.testbed.interaction import mean_over
from allminds.statistics.testbed.results import RewardTable, streamed


@dataclass(frozen=True, eq=False)
class TestbedScores:
    """The scores Υ, Υ(π) and Υ_i(π, μ)."""

    upsilon: float
    minds: Floats  # Υ(π)
    slots: list[Floats]  # of every environment: Υ_i(π, μ) as [mind, slot]

    def environments(self, w_s: list[Floats]) -> Floats:
        """Compute Υ(π, μ) as [mind, environment]: the mean over slots."""
        return np.stack([each @ w for each, w in zip(self.slots, w_s, strict=True)], axis=1)


def upsilon(testbed: Testbed[Exact]) -> TestbedScores:
    """Compute Υ exactly, in one pass over the line-ups, of which none is kept."""
    total, by_slot = 0.0, []
    for game, w_m, w_s, w_l in zip(
        testbed.games, testbed.w_m, testbed.w_s, testbed.w_l, strict=True
    ):
        scores = np.zeros((len(game.minds), slots(game)))
        for line_up, outcome in streamed(game, line_ups(game)):
            rewards = outcome.rewards
            total += w_m * w_l.of(line_up) * float(np.dot(w_s, rewards))
            for slot, mind in enumerate(line_up):
                scores[mind, slot] += w_l.of_others(line_up, slot) * rewards[slot]
        by_slot.append(scores)
    return _scores(testbed, total, by_slot)


def slot_scores(table: RewardTable) -> Floats:
    """Compute Υ_i(π) of one environment as [mind, slot]."""
    return np.stack([table.slot(i) @ table.weights.others(i).ravel() for i in table.slots], axis=1)


def _scores(testbed: Testbed[Exact], total: float, by_slot: list[Floats]) -> TestbedScores:
    minds = sum(
        w_m * (scores @ w_s)
        for w_m, scores, w_s in zip(testbed.w_m, by_slot, testbed.w_s, strict=True)
    )
    constant = testbed.weights.constant
    return TestbedScores(constant * total, constant * np.asarray(minds, float), by_slot)


# ---------------------------------------------------------------- figures of a table


GRADED = ("reward_dependency", "fine_discrimination", "coarse_discrimination")
FIGURES = (  # that are properties as they are
    "upsilon", *GRADED, "variance.me", "variance.them", "variance.match", "social_share",
    "strategic_share", "slot_reward_dependency", "competitive_anticipation",
    "cooperative_anticipation", "anticipation_potential",
)  # fmt: skip
Pair = tuple[int, int]
Places = NDArray[np.intp]


def statistics(table: RewardTable, w_s: Floats) -> dict[str, float]:
    """Compute every figure by its name; those of minds by their number."""
    return (
        _scores_of_minds(table, w_s)
        | _variances(table, w_s)
        | _slots(table, w_s)
        | _ratings(table, w_s)
    )


def _scores_of_minds(table: RewardTable, w_s: Floats) -> dict[str, float]:
    means = (table.weights.all[..., None] * table.of_minds).sum(axis=tuple(table.slots))
    each = slot_scores(table) @ w_s
    return {"upsilon": float(means @ w_s)} | {f"upsilon[{n}]": float(s) for n, s in enumerate(each)}


def _variances(table: RewardTable, w_s: Floats) -> dict[str, float]:
    squares = [interaction.graded(table, i) for i in table.slots]
    splits = [interaction.split(table, i) for i in table.slots]
    shares = [interaction.shares(table, i) for i in table.slots]
    found = {name: mean_over([_root(each[name]) for each in squares], w_s) for name in GRADED}
    found |= {
        f"variance.{part}": mean_over([getattr(split, part) for split in splits], w_s)
        for part in ("me", "them", "match")
    }
    found["social_share"] = mean_over([social for social, _ in shares], w_s)
    found["strategic_share"] = mean_over([strategic for _, strategic in shares], w_s)
    return found


def _root(square: float) -> float:
    """Compute the root; of an estimate below 0 it is 0, and NaN stays."""
    return math.sqrt(max(square, 0.0)) if not math.isnan(square) else square


def _slots(table: RewardTable, w_s: Floats) -> dict[str, float]:
    apart, together = table.different_teams(), table.same_team()
    matrix = interaction.slot_reward_dependency(table)

    def over(pairs: Sequence[Pair], of: Callable[[RewardTable, int, int], float]) -> float:
        ordered = [*pairs, *((j, i) for i, j in pairs)]
        values = (of(table, i, j) for i, j in ordered)
        return mean_over(values, (w_s[i] * w_s[j] for i, j in ordered))

    return {
        "slot_reward_dependency": mean_over(
            (matrix[pair] for pair in apart), (w_s[i] * w_s[j] for i, j in apart)
        ),
        "competitive_anticipation": over(apart, interaction.anticipation),
        "cooperative_anticipation": over(together, interaction.anticipation),
        "anticipation_potential": over([*apart, *together], interaction.potential),
    }


def _ratings(table: RewardTable, w_s: Floats) -> dict[str, float]:
    margins = mean_margins(table, w_s)
    rest, whole = cyclic(margins)
    each = {f"rating[{n}]": float(r) for n, r in enumerate(ratings(margins))}
    return each | {"cyclic.rest": rest, "cyclic.whole": whole}


def reason(name: str, game: Game, weighty: int) -> str:
    """Say why a figure has no value; `weighty` is how many minds have any weight."""
    one_team = "all slots are one team"
    if name in ("strict_total_grading", "partial_grading"):
        return one_team if len(game.teams) == 1 else "grading takes three minds"
    if name == "cyclic_share":
        return one_team if len(game.teams) == 1 else "all margins are 0"
    if name in ("competitive_anticipation", "cooperative_anticipation", "anticipation_potential"):
        if name == "cooperative_anticipation" and max(map(len, game.teams)) == 1:
            return "no team of two"
        if name == "competitive_anticipation" and len(game.teams) == 1:
            return one_team
        return "there is no random mind to compare with" if game.random is None else "one slot"
    if name == "slot_reward_dependency":
        return one_team if len(game.teams) == 1 else "rewards do not vary"
    if name in ("social_share", "strategic_share"):
        return "rewards do not vary"
    if name == "reward_dependency" and weighty >= 2:
        return "there are no others"
    return "it takes two minds" if weighty < 2 else "not estimable"


# ---------------------------------------------------------------- margins


def margins(table: RewardTable, i: int, j: int) -> Floats:
    """Compute m(a, b) as [a, b, line-up of the others], for slots i and j."""
    n = table.minds
    rewards = table.pair(table.rewards, i, j)[:n, :n]
    gap = rewards[..., i] - rewards[..., j]
    half: Floats = (gap - gap.swapaxes(0, 1)) / 2
    return half


def margin_variances(table: RewardTable, i: int, j: int) -> Floats:
    """Compute the variance of the errors of `margins`; the two meetings are played apart."""
    assert table.noise is not None
    n = table.minds
    noise = table.pair(table.noise, i, j)[:n, :n]
    gap = noise[..., i, i] + noise[..., j, j] - 2 * noise[..., i, j]
    half: Floats = (gap + gap.swapaxes(0, 1)) / 4
    half[range(n), range(n)] = 0.0  # against oneself it is 0 whatever comes
    return half


def signs(values: Floats, reach: float | Floats = SAME) -> Floats:
    """Compute signs of margins: 1, -1, or 0 where a margin is within reach of 0."""
    found: Floats = np.sign(values) * (np.abs(values) > reach)
    return found


# ---------------------------------------------------------------- grading


def graded_triples(sign: Floats) -> tuple[Floats, Floats]:
    """Check whether each triple of minds x < y < z is in a strict order, and in one with ties.

    Three margins are in no order at all only if they make a cycle; they are in a strict one if none
    is 0 and there is no cycle.
    """
    x, y, z = triples(sign.shape[0])
    xy, yz, zx = sign[x, y], sign[y, z], sign[z, x]
    cycle = (xy == yz) & (yz == zx) & (xy != 0)
    strict = (xy * yz * zx != 0) & ~cycle
    return strict.astype(float), (~cycle).astype(float)


def triples(n: int) -> tuple[Places, Places, Places]:
    """List all x < y < z below n, as three columns."""
    every = np.array(list(itertools.combinations(range(n), 3)), int).reshape(-1, 3)
    return every[:, 0], every[:, 1], every[:, 2]


def triple_weights(table: RewardTable, i: int, j: int) -> Floats:
    """Compute the weight of every triple in every company, [triple, line-up of the others].

    A mind weighs the mean of its weights in the two slots.
    """
    mine = (table.weights.mind(i) + table.weights.mind(j)) / 2
    x, y, z = triples(table.minds)
    return np.outer(mine[x] * mine[y] * mine[z], table.weights.others(i, j).ravel())


def grading(table: RewardTable, i: int, j: int) -> tuple[float, float]:
    """Compute STG and PG of a pair of slots: shares of triples in a strict order, and with ties."""
    weights = triple_weights(table, i, j)
    total = weights.sum()
    if total <= 0:
        return float("nan"), float("nan")
    strict, partial = graded_triples(signs(margins(table, i, j)))
    return float((strict * weights).sum() / total), float((partial * weights).sum() / total)


# ---------------------------------------------------------------- ratings


def mean_margins(table: RewardTable, w_s: Floats) -> Floats:
    """Average m(a, b) over all companies and pairs of slots of different teams; NaN if none."""
    found = table.different_teams()
    weights = [w_s[i] * w_s[j] for i, j in found]
    each = [margins(table, i, j) @ table.weights.others(i, j).ravel() for i, j in found]
    if not sum(weights):
        return np.full((table.minds, table.minds), np.nan)
    made: Floats = np.average(each, axis=0, weights=weights)
    return made


@dataclass(frozen=True)
class Cycle:
    """Three minds, each of which beats the next, and the last the first."""

    minds: tuple[int, int, int]
    margins: tuple[float, float, float]


def ratings(margin: Floats) -> Floats:
    """Compute r(a) = mean_b m(a, b): the differences r(a) - r(b) nearest to the margins."""
    found: Floats = margin.mean(axis=1)
    return found


def cyclic(margin: Floats) -> tuple[float, float]:
    """Compute Σ(m - (r_a - r_b))², which no rating can express, and Σ m²."""
    rating = ratings(margin)
    rest = margin - (rating[:, None] - rating[None, :])
    return float((rest**2).sum()), float((margin**2).sum())


def cycles(margin: Floats, sign: Floats) -> list[Cycle]:
    """Find all 3-cycles, the widest first: by their smallest margin."""
    found = []
    for x, y, z in itertools.combinations(range(len(margin)), 3):
        if sign[x, y] == sign[y, z] == sign[z, x] != 0:
            order = (x, y, z) if sign[x, y] > 0 else (x, z, y)
            steps = zip(order, order[1:] + order[:1], strict=True)
            a, b, c = (float(margin[step]) for step in steps)
            found.append(Cycle(order, (a, b, c)))
    return sorted(found, key=lambda cycle: -min(cycle.margins))


# ---------------------------------------------------------------- symmetry of teams


Part = Literal["all", "intra", "inter"]
Seat = tuple[LineUp, int]  # a line-up, and a slot in it


def permutations(teams: Teams) -> Iterator[tuple[int, ...]]:
    """Yield all T!(q!)^T permutations s that map teams onto teams; s[i] is where slot i goes."""
    for order in itertools.permutations(range(len(teams))):
        if any(len(teams[t]) != len(teams[to]) for t, to in enumerate(order)):
            continue
        for within in itertools.product(*(itertools.permutations(teams[to]) for to in order)):
            moved = {
                slot: goal
                for team, goals in zip(teams, within, strict=True)
                for slot, goal in zip(team, goals, strict=True)
            }
            yield tuple(moved[slot] for slot in range(len(moved)))


def sigma(line_up: tuple[int, ...], teams: Teams) -> set[tuple[int, ...]]:
    """Compute σ(l, τ): all line-ups of the same minds with the teams kept together."""
    found = set()
    for s in permutations(teams):
        after = [0] * len(line_up)
        for slot, goal in enumerate(s):
            after[goal] = line_up[slot]
        found.add(tuple(after))
    return found


def equal_teams(teams: Teams) -> bool:
    """Check whether all teams have equally many slots."""
    return len({len(team) for team in teams}) == 1


def orbit(line_up: LineUp, slot: int, teams: Teams, part: Part) -> tuple[object, ...]:
    """Name the orbit of a place: equal for two places if a permutation takes one to the other."""
    marked = [[(line_up[s], s == slot) for s in team] for team in teams]
    if part != "inter":
        marked = [sorted(team) for team in marked]
    if part != "intra":
        marked = sorted(marked, key=lambda team: (len(team), team))
    return tuple(tuple(team) for team in marked)


def orbits(table: RewardTable, part: Part) -> dict[tuple[object, ...], list[Seat]]:
    """Group all places by their orbit."""
    found: dict[tuple[object, ...], list[Seat]] = {}
    for line_up in np.ndindex(table.of_minds.shape[:-1]):
        for slot in table.slots:
            found.setdefault(orbit(line_up, slot, table.teams, part), []).append((line_up, slot))
    return found


def asymmetry(table: RewardTable, part: Part) -> float:
    """Compute max |R_i(μ[l]) - R_s(i)(μ[l∘s⁻¹])|.

    By `part`, s may fix every team ("intra"), move teams whole ("inter"), or both ("all").
    """
    low: dict[tuple[object, ...], float] = {}
    high: dict[tuple[object, ...], float] = {}
    for line_up in np.ndindex(table.of_minds.shape[:-1]):
        for slot in table.slots:
            name = orbit(line_up, slot, table.teams, part)
            reward = float(table.rewards[(*line_up, slot)])
            low[name] = min(low.get(name, reward), reward)
            high[name] = max(high.get(name, reward), reward)
    return max(high[name] - low[name] for name in low)
