"""MC-AIXI on the small worlds of its paper, and what is best there by dynamic programming."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from aixi import BUDGETS, Budget, DomainAixi, played, shares
from domains import DOMAINS, World, _reachable, chance, cheese_maze, optimum

from allminds.contracts import Task
from allminds.core.errors import Error
from allminds.core.seeding import Random


def test_the_best_of_each_domain_is_what_can_be_computed_by_hand():
    maze, cheese, rps = DOMAINS
    # right, right, left: from cells 1, 2 and 4 the goal is 2, 1 and 3 steps away
    assert optimum(maze) == pytest.approx(1 / 2)
    # a scissors that loses to a rock (1 in 3) is followed by a paper that wins: 1/3 in 4/3 rounds
    assert optimum(rps) == pytest.approx(1 / 4)
    assert chance(rps) == pytest.approx(0)
    assert chance(maze) == pytest.approx(1 / 4)
    assert chance(cheese) == pytest.approx(-5.75)
    assert optimum(cheese) == pytest.approx(1.558140, abs=1e-6)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_the_best_average_is_what_backward_induction_tends_to(domain):
    """The value of n more steps grows by the best average a step: another computation of it."""
    beliefs, options = _reachable(domain)
    value, values = np.zeros(len(beliefs)), []
    for _ in range(400):
        value = np.array([max(gain + go @ value for go, gain in choices) for choices in options])
        values.append(value[0])
    assert (values[399] - values[199]) / 200 == pytest.approx(optimum(domain), abs=1e-3)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_who_acts_by_lot_gets_what_chance_says(domain):
    """Within four standard errors of the mean of 20 lives."""
    means = []
    for life in range(20):
        world, random = World(domain, 500), Random(life)
        state, gains = world.reset(random), []
        for step in range(world.steps):
            action = Random(1000 + life, step).below(domain.actions)
            state, (reward,) = world.step(state, {0: action}, random.at_step(step + 1))
            gains.append(reward * world.scale)
        means.append(np.mean(gains))
    error = np.std(means, ddof=1) / 20**0.5
    assert abs(np.mean(means) - chance(domain)) < 4 * error


def test_walls_are_what_is_seen_of_the_cheese_maze():
    maze = cheese_maze()
    seen = {step[2] for steps in maze.steps.values() for step in steps}
    # the corners, the corridor, the crossing, the way down, and the ends of two ways
    assert len(seen) == 6
    assert len(maze.start) == 10


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: budget.domain.name)
def test_mc_aixi_gains_most_of_what_can_be_gained(budget):
    """Four fifths of what lies between random and the best.

    `benchmarks/aixi.py` has more seeds, and counts twice as many cycles.
    """
    ((share, _),) = shares(budget._replace(counted=budget.counted // 2), [1])
    assert share >= 0.8


def test_the_plain_form_gives_the_same_bits(monkeypatch):
    settings = {"depth": 6, "horizon": 3, "simulations": 10, "explore": 0.3, "decay": 0.9}
    budget = Budget(DOMAINS[2], settings, 20, 20)
    fast = played(budget, 1).average
    monkeypatch.setattr(DomainAixi, "plain", True)
    assert played(budget, 1).average == fast


def begun(mind: DomainAixi) -> DomainAixi:
    world = World(DOMAINS[2], 10)
    mind.begin(Task("domain", 0, 1, (0,), world.actions[0], world.steps, world.facts))
    return mind


def life(mind: DomainAixi, key: int) -> list[int]:
    """Ten steps against one who always plays rock."""
    begun(mind)
    seen, actions = 0, []
    for step in range(10):
        actions.append(mind.act(seen, Random(key, step)))
        mind.learn((0.0, 1.0, -1.0)[actions[-1] % 3], 0, False)
    return actions


def test_what_was_learnt_is_carried_only_if_it_is_asked_for():
    settings = {"depth": 8, "horizon": 2, "simulations": 60}
    fresh, carrying = DomainAixi(**settings), DomainAixi(**settings, carry=True)
    first = life(fresh, 1)
    assert life(carrying, 1) == first
    for n in range(20):
        life(carrying, 2 + n)
        life(fresh, 2 + n)
    assert life(fresh, 1) == first, "it began anew"
    assert life(carrying, 1) == [1] * 10, "paper beats rock, as it knows by now"


def test_an_exercise_begins_with_an_empty_history():
    mind = DomainAixi(depth=8, simulations=5, carry=True)
    life(mind, 1)
    begun(mind)
    assert mind.agent.t == mind.agent.deepest
    assert not mind.agent.bits.any()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"depth": -1}, "depth must be in 0..200, not -1"),
        ({"horizon": 0}, "horizon must be in 1..100, not 0"),
        ({"simulations": 0}, "simulations must be in 1..1000000, not 0"),
        ({"explore": 2}, "explore must be in .0, 1., not 2"),
        ({"bound": -1.0}, "bound must be 0 or more"),
    ],
)
def test_impossible_settings_are_refused(settings, said):
    with pytest.raises(Error, match=said):
        DomainAixi(**settings)
