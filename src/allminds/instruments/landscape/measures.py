"""What became of a walk on a landscape: exploitation, exploration, regret, time to the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass

from allminds.contracts import Exercise, Record
from allminds.core.errors import Error
from allminds.core.seeding import WORLD, Random, key
from allminds.instruments.landscape.environment import Place


@dataclass(frozen=True)
class Measures:
    """Of all minds on a landscape together (P4 §6.2)."""

    exploitation: float  # mean reward
    exploration: float  # distinct cells stood on after a move / min(cells, minds · steps)
    regret: float  # the global maximum, which is 1, less the mean reward
    steps_to_optimum: int | None  # the first step after which a mind stood on it, from 0; if any


def measures(exercise: Exercise, record: Record) -> Measures:
    """Of a record of an exercise, every action of which was kept."""
    states = ways(exercise, record)
    rewards = [reward for step in record.rewards for reward in step]
    mean = math.fsum(rewards) / len(rewards)
    visited = {cell for state in states[1:] for cell in state.minds}
    cells = exercise.environment.facts["rows"] * exercise.environment.facts["cols"]
    found = (state.step for state in states if state.tops[0] in state.minds)
    return Measures(
        exploitation=mean,
        exploration=len(visited) / min(cells, len(rewards)),
        regret=1.0 - mean,
        steps_to_optimum=next(found, None),
    )


def ways(exercise: Exercise, record: Record) -> list[Place]:
    """The states of an exercise before the first step and after every one."""
    if set(record.status) != {"ok"} or len(record.actions) != record.steps:
        raise Error(f"exercise {record.index}: only a whole record can be measured")
    world, random = exercise.environment, Random(key(exercise.seed, exercise.index, WORLD))
    states = [world.reset(random)]
    for step, actions in enumerate(record.actions, start=1):
        states.append(world.step(states[-1], actions, random.at_step(step))[0])
    return states
