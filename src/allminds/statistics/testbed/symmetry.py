"""Team symmetry (P1 §4.5): whether a result depends on the place it was made from.

σ(l, τ) are the line-ups that permute the slots and map teams onto teams. A place is a slot in a
line-up. Permutations form a group, so all places that a permutation takes to each other make one
orbit, and the greatest difference in an orbit is its highest less its lowest result. An orbit is
named by sorting within teams, then teams, so no permutation need be enumerated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import numpy as np

from allminds.statistics.testbed.games import LineUp, Teams
from allminds.statistics.testbed.results import Results

Part = Literal["all", "intra", "inter"]
Place = tuple[LineUp, int]  # a line-up, and a slot in it


def permutations(teams: Teams) -> Iterator[tuple[int, ...]]:
    """All s that map teams onto teams; s[i] is where slot i goes. T!(q!)^T of them."""
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
    """σ(l, τ): all line-ups of the same minds with the teams kept together."""
    found = set()
    for s in permutations(teams):
        after = [0] * len(line_up)
        for slot, goal in enumerate(s):
            after[goal] = line_up[slot]
        found.add(tuple(after))
    return found


def equal_teams(teams: Teams) -> bool:
    """Whether all teams have as many slots."""
    return len({len(team) for team in teams}) == 1


def orbit(line_up: LineUp, slot: int, teams: Teams, part: Part) -> tuple[object, ...]:
    """A name that two places share if and only if a permutation takes one to the other."""
    marked = [[(line_up[s], s == slot) for s in team] for team in teams]
    if part != "inter":
        marked = [sorted(team) for team in marked]
    if part != "intra":
        marked = sorted(marked, key=lambda team: (len(team), team))
    return tuple(tuple(team) for team in marked)


def orbits(table: Results, part: Part) -> dict[tuple[object, ...], list[Place]]:
    """All places by their orbit."""
    found: dict[tuple[object, ...], list[Place]] = {}
    for line_up in np.ndindex(table.of_minds.shape[:-1]):
        for slot in table.slots:
            found.setdefault(orbit(line_up, slot, table.teams, part), []).append((line_up, slot))
    return found


def asymmetry(table: Results, part: Part) -> float:
    """max |R_i(μ[l]) - R_s(i)(μ[l∘s⁻¹])|; s may fix every team, move teams whole, or both."""
    low: dict[tuple[object, ...], float] = {}
    high: dict[tuple[object, ...], float] = {}
    for line_up in np.ndindex(table.of_minds.shape[:-1]):
        for slot in table.slots:
            name = orbit(line_up, slot, table.teams, part)
            reward = float(table.rewards[(*line_up, slot)])
            low[name] = min(low.get(name, reward), reward)
            high[name] = max(high.get(name, reward), reward)
    return max(high[name] - low[name] for name in low)
