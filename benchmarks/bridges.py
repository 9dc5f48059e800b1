"""What the bridges cost, and what many copies at once gain: python benchmarks/bridges.py"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from measure import Effort, Table, best_of, micro, times, verdict
from ratios import Unequal
from rich.console import Console

import allminds.bridges.gymnasium  # noqa: F401 - registers the ids
from allminds import registry
from allminds.episode import Episode

ID = "allminds/LambdaStar-v1"
SEED = 1
COPIES = 4096
TARGET = 20.0
STEPS = 50  # of one episode


def copies(effort: Effort, counts: tuple[int, ...] = (64, COPIES)) -> Table:
    """The vector environment beside Gymnasium's SyncVectorEnv over the single one."""
    return Table(
        "Many copies of Λ* in Gymnasium",
        f"Microseconds a step of one copy, 10 x 10, random actions, the quickest of "
        f"{effort.repeats}; `reset` is one round's exercises made and begun, a copy. Rewards of "
        "both were equal.",
        ["copies", "ours", "SyncVectorEnv", "ratio", "reset, ours", "reset, theirs", "target"],
        [_copies_row(count, effort) for count in counts],
    )


def _copies_row(count: int, effort: Effort) -> list[str]:
    ours = gymnasium.make_vec(ID, num_envs=count)
    theirs = gymnasium.make_vec(ID, num_envs=count, vectorization_mode="sync")
    actions = np.random.default_rng(0).integers(1, 10, (STEPS, count))
    ours.reset(seed=SEED)  # compiles
    begun = [
        best_of(ours.reset, effort.repeats),  # the next exercises, for worlds are remembered
        best_of(lambda: theirs.reset(seed=[SEED] * count), 1),
    ]
    ours.reset(seed=SEED)
    for number, env in enumerate(theirs.envs):  # copy j at exercise j, as ours are
        env.reset(seed=SEED, options={"exercise": number})
    steps = max(2, min(STEPS - 1, math.ceil(effort.seconds / (count * 1e-4))))
    best, paid = [math.inf, math.inf], [np.empty(0), np.empty(0)]
    for at in range(0, min(STEPS - 1, steps * effort.repeats), steps):  # by turns
        for n, envs in enumerate((ours, theirs)):
            made = actions[at : at + steps]
            start = time.perf_counter()
            rewards = [envs.step(action)[1].copy() for action in made]
            best[n] = min(best[n], (time.perf_counter() - start) / len(made))
            paid[n] = np.stack(rewards)
        if not np.array_equal(*paid):
            raise Unequal(f"{count} copies: rewards differ at step {at}")
    ratio = best[1] / best[0]
    each = [micro(seconds / count) for seconds in (*best, *begun)]
    told = verdict(ratio, TARGET) if count == COPIES else ""
    return [f"{count:,}", each[0], each[1], times(ratio), each[2], each[3], told]


def single(effort: Effort) -> Table:
    """What a step through Gymnasium costs over a step of the episode itself."""
    tool = registry.make_instrument("lambda-star")
    actions = np.random.default_rng(0).integers(1, 10, STEPS).tolist()

    def bare() -> float:
        episode = Episode(tool.exercise(SEED, 0))
        for action in actions:
            episode.play({0: action})
        return sum(rewards[0] for rewards in episode.rewards)

    def through(env: Any) -> Callable[[], float]:
        def play() -> float:
            env.reset(seed=SEED, options={"exercise": 0})
            return sum(env.step(action)[1] for action in actions)

        return play

    ways = {
        "Episode": bare,
        "AllmindsEnv": through(gymnasium.make(ID).unwrapped),
        "gymnasium.make": through(gymnasium.make(ID)),
    }
    if len({way() for way in ways.values()}) > 1:
        raise Unequal("the single environment is paid differently")
    cost = {name: best_of(way, 20 * effort.repeats) / STEPS for name, way in ways.items()}
    rows = [[name, micro(cost[name]), times(cost[name] / cost["Episode"])] for name in ways]
    return Table(
        "One step of Λ* through Gymnasium",
        "Microseconds a step of one episode of 50 steps, its making included.",
        ["way", "a step", "over Episode"],
        rows,
    )


if __name__ == "__main__":
    for table in (copies(Effort(1.0, 3)), single(Effort(0.2, 4))):
        table.show(Console())
