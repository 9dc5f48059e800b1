"""The lean baseline: one episode after the other in plain Python, without our contract.

What somebody who knows Python would write for this one experiment: whole numbers, lists, tables
made beforehand, random words by one function. It has no observations, records, checks or
time limits, so it is quicker than our reference loop, and its scores are equal to ours to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tables import tables

from allminds.core.seeding import MAKING, MINDS, WORLD, key, stratum
from allminds.instruments.lambda_star import LambdaStar

MASK = 0xFFFFFFFFFFFFFFFF
Way = list[int]


class Lists(NamedTuple):
    """What does not change from episode to episode."""

    steps: int
    agents: int
    cells: int
    complexities: tuple[int, ...]
    segments: dict[int, list[tuple[int, ...]]]  # K -> segments, actions from 0
    moved: list[list[int]]
    gain: list[list[int]]
    toward: list[list[int]]


class Route(NamedTuple):
    """One episode's world: Good and Evil at steps 0..ϑ, and where the minds start."""

    good: Way
    evil: Way
    starts: list[int]


@lru_cache(maxsize=4)
def lists(tool: LambdaStar) -> Lists:
    """The catalogue and the tables as lists: made once, not timed."""
    shelves, of_torus = tool.catalogue, tables(tool.torus)
    segments = {
        k: [tuple(a - 1 for a in shelves.segment(k, n)) for n in range(shelves.size(k))]
        for k in tool.complexities
    }
    return Lists(
        tool.settings.iterations,
        tool.settings.agents,
        tool.torus.cells,
        tool.complexities,
        segments,
        of_torus.moved.tolist(),
        of_torus.gain.tolist(),
        of_torus.toward.tolist(),
    )


def draw(stream: int, n: int, step: int, j: int = 0) -> int:
    """`Random(stream, step).below_at(n, j)` in one function."""
    z = (stream + 0x9E3779B97F4A7C15 * ((step << 32 | j) + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 32) * n >> 32


def route(of: Lists, seed: int, i: int) -> Route:
    """The world of exercise i."""
    making, world = key(seed, i, MAKING), key(seed, i, WORLD)
    k = of.complexities[stratum(seed, i, len(of.complexities))]
    shelf = of.segments[k]
    good_segment = shelf[draw(making, len(shelf), 0, 0)]
    j = 1
    evil_segment = shelf[draw(making, len(shelf), 0, j)]
    while k >= 3 and evil_segment == good_segment:
        j += 1
        evil_segment = shelf[draw(making, len(shelf), 0, j)]
    good, evil = draw(world, of.cells, 0, 0), draw(world, of.cells - 1, 0, 1)
    evil += evil >= good
    deck = list(range(of.cells))
    for place in range(of.agents):
        other = place + draw(world, of.cells - place, 0, 2 + place)
        deck[place], deck[other] = deck[other], deck[place]
    good_way, evil_way, moved = [good], [evil], of.moved
    good_length, evil_length = len(good_segment), len(evil_segment)
    for t in range(of.steps):
        to_good = moved[good][good_segment[t % good_length]]
        to_evil = moved[evil][evil_segment[t % evil_length]]
        if to_good != to_evil:
            good, evil = to_good, to_evil
        elif to_good == good or (to_evil != evil and draw(world, 2, t + 1) == 0):
            good = to_good
        else:
            evil = to_evil
        good_way.append(good)
        evil_way.append(evil)
    return Route(good_way, evil_way, deck[: of.agents])


def random(of: Lists, way: Route, stream: int, cell: int) -> int:
    """The sum of rewards, in half units, of a random mind."""
    total, moved, gain = 0, of.moved, of.gain
    for t in range(of.steps):
        cell = moved[cell][draw(stream, 9, t)]
        near = gain[cell]
        total += near[way.good[t + 1]] - near[way.evil[t + 1]]
    return total


def local_search(of: Lists, way: Route, stream: int, cell: int) -> int:
    """The same of local search."""
    total, moved, gain = 0, of.moved, of.gain
    for t in range(of.steps):
        good, evil, around = gain[way.good[t]], gain[way.evil[t]], moved[cell]
        seen = [good[c] - evil[c] for c in around]
        best = max(seen)
        ties = [c for c, value in zip(around, seen, strict=True) if value == best]
        cell = ties[draw(stream, len(ties), t)] if len(ties) > 1 else ties[0]
        near = gain[cell]
        total += near[way.good[t + 1]] - near[way.evil[t + 1]]
    return total


def expert(of: Lists, way: Route, stream: int, cell: int) -> int:  # noqa: ARG001
    """The same of the expert that does not intercept."""
    total, toward, gain = 0, of.toward, of.gain
    for t in range(1, of.steps + 1):
        cell = toward[cell][way.good[t]]
        near = gain[cell]
        total += near[way.good[t]] - near[way.evil[t]]
    return total


def q_learning(of: Lists, way: Route, stream: int, start: int) -> int:
    """The same of Q-learning with its defaults: 100 sessions, then the test."""
    alpha, gamma, scale, sessions = 0.3, 0.3, 10.0, 100
    steps, moved, gain = of.steps, of.moved, of.gain
    table: list[dict[int, list[float]]] = [{} for _ in range(steps)]
    total = 0
    for play in [*range(1, sessions + 1), 0]:
        cell, clock = start, play * steps
        row = table[0].setdefault(cell, [2.0] * 9)
        best = max(row)
        for t in range(steps):
            count = row.count(best)
            action = row.index(best)
            if count > 1:
                action = [a for a in range(9) if row[a] == best][draw(stream, count, clock + t)]
            cell = moved[cell][action]
            near = gain[cell]
            reward = near[way.good[t + 1]] - near[way.evil[t + 1]]
            following, best = row, 0.0
            if t + 1 < steps:
                following = table[t + 1].setdefault(cell, [2.0] * 9)
                best = max(following)
            if play:
                row[action] += alpha * (scale * (reward / 2) + gamma * best - row[action])
            else:
                total += reward
            row = following
    return total


MINDS_HERE: dict[str, Callable[[Lists, Route, int, int], int]] = {
    "random": random,
    "local-search": local_search,
    "expert(intercept=false)": expert,
    "q-learning": q_learning,
}


def play(tool: LambdaStar, who: str, seed: int, first: int, last: int) -> NDArray[np.float64]:
    """Scores [exercise, slot]."""
    of, mind, scores = lists(tool), MINDS_HERE[who], []
    for i in range(first, last):
        way = route(of, seed, i)
        scores.append(
            [
                mind(of, way, key(seed, i, MINDS + slot), cell) * 0.5 / of.steps
                for slot, cell in enumerate(way.starts)
            ]
        )
    return np.array(scores)
