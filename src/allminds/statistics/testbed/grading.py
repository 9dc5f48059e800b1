"""Margins between minds, their grading and ratings; and the symmetry of teams.

A margin m(a, b) is what a gets more than b when they meet in two slots of different teams, with the
slots exchanged, so that the advantage of a slot cancels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from allminds.statistics.testbed.bed import SAME, Floats, LineUp, Teams
from allminds.statistics.testbed.results import RewardTable


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


def triples(n: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """List all x < y < z below n, as three columns."""
    every = np.array(list(itertools.combinations(range(n), 3)), int).reshape(-1, 3)
    return every[:, 0], every[:, 1], every[:, 2]  # type: ignore[return-value]


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
Place = tuple[LineUp, int]  # a line-up, and a slot in it


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


def orbits(table: RewardTable, part: Part) -> dict[tuple[object, ...], list[Place]]:
    """Group all places by their orbit."""
    found: dict[tuple[object, ...], list[Place]] = {}
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
