"""A mind as a machine: the states of its memory as numbers, its answers kept.

Works for a mind with a `policy` whose memory (its attributes) is a function of what it was shown.
"""

from __future__ import annotations

import math
import pickle
from typing import Any, Protocol

from allminds.contracts import Discrete, MindBase, Subject, Task
from allminds.core.errors import Error

DRAWN = -1  # in tables, instead of an action: one by the chances of its place
BY_LOT = -2  # any action alike, as `random` draws it

Choices = tuple[tuple[int, float], ...]  # (action numbered from 0, probability)


class Player(Protocol):
    """A player that can be followed through all that it may do."""

    start: int
    learns: bool

    def answer(self, memory: int, seen: Any) -> tuple[Choices, int]:
        """Return all that the player may do, and its memory after it has looked."""
        ...

    def told(self, memory: int, reward: float, seen: Any, done: bool) -> int:
        """Return its memory after it knows its reward."""
        ...


class Machine:
    """A mind in a slot, met in every state of memory that histories lead to."""

    def __init__(self, subject: Subject, task: Task) -> None:
        self.name = subject.name
        if subject.group or subject.traits.practice:
            why = "is a group" if subject.group else "rehearses before it counts"
            raise Error(f"{self.name} {why}, so its outcome cannot be exact; sample it instead")
        mind = subject.make()
        if not hasattr(mind, "policy"):
            raise Error(
                f"{self.name} gives no action distribution, so its outcome cannot be exact; "
                "give it a method 'policy', or sample it instead"
            )
        if not isinstance(task.actions, Discrete):
            raise Error(f"{task.instrument}: only discrete actions can be enumerated")
        self.actions = task.actions.n
        self.learns = getattr(type(mind), "learn", MindBase.learn) is not MindBase.learn
        self._memories: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._answers: dict[tuple[int, Any], tuple[Choices, int]] = {}
        self._told: dict[tuple[int, float, Any, bool], int] = {}
        if hasattr(mind, "begin"):
            mind.begin(task)
        self.start = self._number(mind)

    def answer(self, memory: int, seen: Any) -> tuple[Choices, int]:
        """Return all that the mind may do, and its memory after it has looked."""
        key = (memory, seen)
        if key not in self._answers:
            mind = self._mind(memory)
            chances = self._checked(mind.policy(seen))
            likely = tuple((action, chance) for action, chance in enumerate(chances) if chance > 0)
            self._answers[key] = likely, self._number(mind)
        return self._answers[key]

    def told(self, memory: int, reward: float, seen: Any, done: bool) -> int:
        """Return its memory after it knows its reward."""
        if not self.learns:
            return memory
        key = (memory, reward, seen, done)
        if key not in self._told:
            mind = self._mind(memory)
            mind.learn(reward, seen, done)
            self._told[key] = self._number(mind)
        return self._told[key]

    def _checked(self, given: Any) -> list[float]:
        chances = [float(chance) for chance in given]
        fair = len(chances) == self.actions and min(chances) >= 0
        if not fair or not math.isclose(sum(chances), 1.0, abs_tol=1e-9):
            raise Error(
                f"{self.name}: its policy gave {chances}, which are not {self.actions} "
                "probabilities that sum to 1"
            )
        return chances

    def _mind(self, memory: int) -> Any:
        return pickle.loads(self._memories[memory])

    def _number(self, mind: Any) -> int:
        try:
            text = pickle.dumps(mind)
        except Exception as error:  # a mind may be made of anything
            raise Error(
                f"{self.name} cannot be copied, so it cannot be followed: {error}"
            ) from None
        if text not in self._numbers:
            self._numbers[text] = len(self._memories)
            self._memories.append(text)
        return self._numbers[text]
