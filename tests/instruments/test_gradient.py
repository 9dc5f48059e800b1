"""Policy gradient: on problems whose best policy is known, and what it carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from allminds.contracts import Discrete, Task
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.gradient import PolicyGradient, softmax

TASK = Task("toy", 0, 1, (0,), Discrete(3, start=1), 500, {})


@dataclass
class Toy(PolicyGradient):
    """Three actions in two situations, with a feature for each pair of them."""

    count = 6

    def features(self, observation):
        features = np.zeros((3, 6))
        for action in range(3):
            features[action, 3 * observation + action] = 1.0
        return features


def bandit(mind: Toy, key: int, steps: int = 500) -> float:
    """The mean reward where the best action is 1 in one situation and 3 in the other."""
    random, total = Random(key), 0.0
    mind.begin(TASK)
    for step in range(steps):
        words = random.at_step(step)
        seen = words.below_at(2, 9)
        action = mind.act(seen, words)
        reward = 1.0 if action == (1, 3)[seen] else -0.5
        mind.learn(reward, seen, False)
        total += reward
    return total / steps


def test_the_best_policy_of_two_bandits_is_found():
    """The best there is gets 1 a step, and who acts by lot 0."""
    mind = Toy(carry=True)
    first = bandit(mind, 1, 100)
    for key in range(2, 6):
        bandit(mind, key)
    assert first < 0.9 < bandit(mind, 9)
    chances = [softmax(mind.features(seen) @ mind.weights) for seen in (0, 1)]
    assert [int(chance.argmax()) for chance in chances] == [0, 2]
    assert min(chance.max() for chance in chances) > 0.9


@dataclass
class Switch(PolicyGradient):
    """Two actions, with a feature for each in each of two situations."""

    count = 4

    def features(self, observation):
        return np.eye(4)[[2 * observation, 2 * observation + 1]]


def test_a_reward_that_comes_a_step_late_is_learnt_by_the_trace():
    """In situation 0, action 1 gives nothing but leads to situation 1, which gives 1; 0 gives 0.2.

    Best is action 1, for 0.5 a step; action 0 gives 0.2 a step. Without traces, 0.2 is preferred.
    """
    found = {}
    for trace in (0.0, 0.8):
        mind = Switch(rate=0.1, trace=trace)
        mind.begin(Task("toy", 0, 1, (0,), Discrete(2), 6000, {}))
        seen = 0
        for step in range(6000):
            action = mind.act(seen, Random(3, step))
            if seen == 0:
                reward, seen = (0.2, 0) if action == 0 else (0.0, 1)
            else:
                reward, seen = 1.0, 0
            mind.learn(reward, seen, False)
        found[trace] = float(softmax(mind.weights[:2])[1])
    assert found[0.8] > 0.9
    assert found[0.0] < 0.1


def test_chances_are_those_of_the_policy():
    """Each count within five standard deviations of what its chance says."""
    mind, draws = Toy(), 4000
    mind.begin(TASK)
    mind.weights = np.log([1.0, 2.0, 5.0, 1.0, 1.0, 1.0])
    drawn = [mind.act(0, Random(5, step)) for step in range(draws)]
    for action, chance in zip((1, 2, 3), (0.125, 0.25, 0.625), strict=True):
        error = 5 * (chance * (1 - chance) * draws) ** 0.5
        assert abs(drawn.count(action) - chance * draws) < error


def test_weights_are_carried_only_if_it_is_asked_for():
    fresh, carrying = Toy(), Toy(carry=True)
    assert (fresh.traits.carries, carrying.traits.carries) == (False, True)
    first = bandit(fresh, 1, 100)
    assert bandit(carrying, 1, 100) == first
    for key in range(2, 8):
        bandit(carrying, key)
        bandit(fresh, key)
    assert bandit(fresh, 1, 100) == first
    assert bandit(carrying, 1, 100) > first + 0.2


@pytest.mark.parametrize(("settings", "said"), [({"rate": 0}, "rate"), ({"trace": 1}, "trace")])
def test_impossible_settings_of_the_gradient_are_refused(settings, said):
    with pytest.raises(Error, match=f"policy-gradient: {said} must be in"):
        Toy(**settings)
