"""MC-AIXI on the small worlds of its paper: how much of what can be gained it gains, and its price.

    .venv/bin/python benchmarks/aixi.py              # all seeds, in a few minutes
    .venv/bin/python benchmarks/aixi.py --seeds 1

A mind learns for some cycles, in which it also acts by lot, and then plays on with its own choices
alone, learning as before. The share is (average reward of that second part - random) / (best -
random), with the best by policy iteration over beliefs; see `domains`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from domains import (
    Domain,
    World,
    biased_rock_paper_scissors,
    chance,
    cheese_maze,
    one_dimensional_maze,
    optimum,
)

from allminds.contracts import Task
from allminds.core.seeding import MINDS, WORLD, Random, key
from allminds.instruments.aixi.mind import Aixi
from allminds.instruments.aixi.tree import Code


@dataclass
class DomainAixi(Aixi):
    """MC-AIXI in a domain: an observation is the number that it has."""

    def code(self, task: Task) -> Code:
        """Read the code off the facts."""
        actions: int = task.actions.n  # type: ignore[attr-defined] # all have Discrete actions
        return Code(actions, task.facts["bits"], task.facts["rewards"])

    def bits(self, observation: int) -> int:
        """Take the observation as it is."""
        return observation


class Budget(NamedTuple):
    """A domain, the mind for it, the cycles of learning, and those that count."""

    domain: Domain
    settings: dict[str, Any]
    cycles: int
    counted: int


BUDGETS = (
    Budget(
        one_dimensional_maze(),
        {"depth": 32, "horizon": 10, "simulations": 100, "explore": 0.9, "decay": 0.99},
        1000,
        1000,
    ),
    Budget(
        cheese_maze(),
        {"depth": 16, "horizon": 8, "simulations": 500, "bound": 0.5, "explore": 0.9},
        4000,
        500,
    ),
    Budget(
        biased_rock_paper_scissors(),
        {
            "depth": 12, "horizon": 3, "simulations": 500, "bound": 1.0,
            "explore": 0.999, "decay": 0.998,
        },
        2000,
        2000,
    ),
)  # fmt: skip


class Outcome(NamedTuple):
    """The average reward of the part that counts, and the seconds a cycle that it took."""

    average: float
    seconds: float


def played(budget: Budget, seed: int) -> Outcome:
    """Let a mind learn in a domain, and then play."""
    mind, world = (
        DomainAixi(**budget.settings),
        World(budget.domain, budget.cycles + budget.counted),
    )
    moves, words = Random(key(seed, 0, WORLD)), Random(key(seed, 0, MINDS))
    state, gains = world.reset(moves), []
    mind.begin(Task("domain", 0, 1, (0,), world.actions[0], world.steps, world.facts))
    begun = time.perf_counter()
    for cycle in range(world.steps):
        if cycle == budget.cycles:
            mind.share, begun = 0.0, time.perf_counter()
        action = mind.act(world.observe(state, 0), words.at_step(cycle))
        state, (reward,) = world.step(state, {0: action}, moves.at_step(cycle + 1))
        mind.learn(reward, world.observe(state, 0), False)
        gains.append(reward * world.scale)
    took = (time.perf_counter() - begun) / budget.counted
    return Outcome(fmean(gains[budget.cycles :]), took)


def shares(budget: Budget, seeds: Sequence[int]) -> list[tuple[float, Outcome]]:
    """Play with every seed, and compute the share of what can be gained."""
    low, high = chance(budget.domain), optimum(budget.domain)
    outcomes = [played(budget, seed) for seed in seeds]
    return [((outcome.average - low) / (high - low), outcome) for outcome in outcomes]


def main() -> None:
    """Print a row for every domain."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    print("| world | random | best | MC-AIXI | share | worst seed | cycles | depth, horizon, "
          "simulations | ms a cycle |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    for budget in BUDGETS:
        found = shares(budget, seeds)
        parts = [share for share, _ in found]
        spread = f" ± {2.776 * stdev(parts) / 5**0.5:.2f}" if len(parts) == 5 else ""
        settings = budget.settings
        print(
            f"| {budget.domain.name} | {chance(budget.domain):.3f} | {optimum(budget.domain):.3f} "
            f"| {fmean(outcome.average for _, outcome in found):.3f} "
            f"| {fmean(parts):.2f}{spread} | {min(parts):.2f} "
            f"| {budget.cycles:,} + {budget.counted:,} "
            f"| {settings['depth']}, {settings['horizon']}, {settings['simulations']} "
            f"| {1000 * fmean(outcome.seconds for _, outcome in found):.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
