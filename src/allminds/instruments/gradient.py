"""A mind that learns by policy gradient: it makes likelier what was followed by more than usual.

What the features of an action are differs from world to world; how they are learnt is the same.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Discrete, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random

Features = NDArray[np.float64]  # [action, feature]


@dataclass
class PolicyGradient(MindBase):
    """Policy gradient with eligibility traces (Williams 1992; Baxter and Bartlett 2001).

    Every action has features, and the chance of an action is in proportion to exp(w·features), with
    one weight w for each feature. After a step with reward r, w grows by `rate` · (r - b) · e. The
    trace e is the gradient of the logarithm of the chance of the action taken, plus `trace` times
    the trace before; b is the mean reward so far. With `carry` it keeps w and b for the exercises
    that follow.
    """

    rate: float = 0.2
    trace: float = 0.5
    carry: bool = False

    name: ClassVar[str] = "policy-gradient"
    count: ClassVar[int]  # features of an action

    def __post_init__(self) -> None:
        """Check the parameters, and begin with all weights 0."""
        if not 0 < self.rate <= 10:
            raise Error(f"{self.name}: rate must be in (0, 10], not {self.rate:g}")
        if not 0 <= self.trace < 1:
            raise Error(f"{self.name}: trace must be in [0, 1), not {self.trace:g}")
        self.traits = Traits(learns=True, carries=self.carry)
        self._forget()

    @abstractmethod
    def features(self, observation: Any) -> Features:
        """Describe every action, in their order, by `count` numbers."""

    def begin(self, task: Task) -> None:
        """Begin without traces, and with weights 0 unless it carries them."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"{self.name} cannot choose an action of {task.instrument}")
        if not self.carry:
            self._forget()
        self.first, self.eligible = task.actions.start, np.zeros(self.count)

    def act(self, observation: Any, random: Random) -> int:
        """Draw an action by its chance."""
        features = self.features(observation)
        chances = softmax(features @ self.weights)
        place = int(np.searchsorted(chances.cumsum(), random.unit(), "right"))
        action = min(place, len(chances) - 1)
        self.gradient = features[action] - chances @ features
        return self.first + action

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Follow the gradient of the expected reward, as far as one step shows it."""
        self.eligible = self.trace * self.eligible + self.gradient
        self.weights += self.rate * (reward - self.usual) * self.eligible
        self.seen += 1
        self.usual += (reward - self.usual) / self.seen

    def _forget(self) -> None:
        self.weights: NDArray[np.float64] = np.zeros(self.count)
        self.usual: float = 0.0  # the mean reward so far
        self.seen: int = 0  # steps


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chances in proportion to exp(score)."""
    powers = np.exp(scores - scores.max())
    result: NDArray[np.float64] = powers / powers.sum()
    return result
