"""Bases that spare the authors of minds and environments some work; the contract needs none.

`PolicyMind` states chances instead of drawing, `BatchMind` acts in many exercises at once,
`Question` is an environment of one step, and `Wrapper` changes another environment.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from allminds.contracts import Discrete, Environment, MindBase, Space, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PolicyMind(MindBase):
    """A mind that says how likely it is to take each action: override `policy`.

    What such minds do in games can be computed exactly, without sampling (see
    `allminds.exact.outcome`). `policy` is called once at every turn, in order, and may
    remember what it is shown; the attributes of a mind are its memory. It learns of its own last
    action by being shown it, not by having drawn it, so that all that it may do can be followed.

    Attributes
    ----------
    first, n : int
        The number of the first action and of all actions, from `begin` on.

    Examples
    --------
    >>> from allminds import PolicyMind, evaluate
    >>> class MostlyHeads(PolicyMind):
    ...     def policy(self, observation):
    ...         return [0.75, 0.25]
    >>> evaluate("matching-pennies", [MostlyHeads], episodes=8)["results"][0]["failed"]
    0
    """

    first: int  # the number of the first action
    n: int  # how many actions there are

    def begin(self, task: Task) -> None:
        """Look up the actions to choose from."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"{type(self).__name__} cannot choose an action of {task.instrument}")
        self.first, self.n = task.actions.start, task.actions.n

    def policy(self, observation: Any) -> Sequence[float]:
        """Return the probability of every action, in their order."""
        raise NotImplementedError

    def certain(self, action: int) -> list[float]:
        """Return the policy that takes one action, counted from 0, for certain."""
        return [float(other == action) for other in range(self.n)]

    def act(self, observation: Any, random: Random) -> int:
        """Draw an action by the policy; what is certain needs no random word."""
        chances = self.policy(observation)
        if 1.0 in chances:
            return self.first + chances.index(1.0)
        place, total, last = random.unit(), 0.0, 0
        for action, chance in enumerate(chances):
            total += chance
            if chance > 0:
                last = action
                if place < total:
                    break
        return self.first + last


class BatchMind(MindBase):
    """A mind that acts in many episodes at once: override `act_many`.

    Every field of the observation has one more axis in front, [episode, …]. One instance plays
    all episodes of a block, so it must store whatever it remembers for each episode separately.

    Attributes
    ----------
    words : int
        The random words that it needs at every step.

    Examples
    --------
    >>> import numpy as np
    >>> from allminds import BatchMind, evaluate
    >>> class Greedy(BatchMind):
    ...     def act_many(self, observations, words):
    ...         return 1 + np.argmax(observations.rewards, axis=1)
    >>> evaluate("lambda-star", [Greedy], episodes=22)["results"][0]["failed"]
    0
    """

    words = 1  # random words a step

    def begin_many(self, tasks: Sequence[Task]) -> None:
        """Begin all episodes of a block, each with its own task.

        A mind that sees the future overrides this, as the futures differ; to others the tasks are
        all the same.
        """
        self.begin(tasks[0])

    def act_many(self, observations: Any, words: Words) -> NDArray[np.integer[Any]]:
        """Choose one action for each episode; the array `words` is [episode, `self.words`]."""
        raise NotImplementedError

    def act(self, observation: Any, random: Random) -> int:
        """Act in a single episode, as a batch of one."""
        import numpy as np

        one = type(observation)(*(np.asarray(part)[None] for part in observation))
        words = np.array([[random.word_at(j) for j in range(self.words)]], np.uint64)
        return int(self.act_many(one, words)[0])


NO_TRAITS = Traits()


class FunctionMind(MindBase):
    """A plain function of the observation (and of `random`, if it takes two) as a mind."""

    def __init__(self, function: Callable[..., Any], traits: Traits = NO_TRAITS) -> None:
        self.function = function
        self.traits = traits
        self._takes_random = len(inspect.signature(function).parameters) > 1

    def act(self, observation: Any, random: Any) -> Any:
        """Call the function with the observation, and with `random` if it takes two arguments."""
        return (
            self.function(observation, random) if self._takes_random else self.function(observation)
        )


class Question(Environment):
    """An environment of one step for one mind, whose state is the answer, or None before it.

    Subclasses must have `actions`, `observe` (what is asked) and `reward`.

    Attributes
    ----------
    actions : sequence of Space
        The answers that there are: one space, for the only slot.

    Examples
    --------
    >>> from allminds import Discrete, Question
    >>> class Sum(Question):
    ...     actions = (Discrete(10),)
    ...     def observe(self, state, slot):
    ...         return "3 + 4 = ?"
    ...     def reward(self, answer):
    ...         return float(answer == 7)
    >>> Sum().step(None, {0: 7}, None)
    (7, [1.0])
    """

    def reset(self, random: Random) -> Any:
        """Begin with the state None: not answered yet."""
        return None

    def awaited(self, state: Any) -> tuple[int, ...]:
        """Await the mind until it has answered."""
        return (0,) if state is None else ()

    def step(
        self, state: Any, actions: Mapping[int, Any], random: Random
    ) -> tuple[Any, Sequence[float]]:
        """Reward the answer, which is the last state."""
        return actions[0], [self.reward(actions[0])]

    @abstractmethod
    def reward(self, answer: Any) -> float:
        """Return the reward in [-1, 1] of an answer."""


@dataclass(frozen=True)
class Wrapper(Environment):
    """An environment around another, which does all that the wrapper does not do otherwise.

    A subclass overrides what shall differ, and calls `super()` or `inner` for the rest.

    Parameters
    ----------
    inner : Environment
        The environment inside.

    Examples
    --------
    A world with half its rewards:

    >>> from allminds import Wrapper, registry
    >>> class Halved(Wrapper):
    ...     def step(self, state, actions, random):
    ...         state, rewards = super().step(state, actions, random)
    ...         return state, [reward / 2 for reward in rewards]
    >>> world = registry.make_instrument("lambda-star", {}).exercise(1, 0).environment
    >>> Halved(world).steps == world.steps
    True
    """

    inner: Environment

    @property
    def actions(self) -> Sequence[Space]:
        return self.inner.actions

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        return self.inner.teams

    @property
    def steps(self) -> int:
        return self.inner.steps

    @property
    def score(self) -> Literal["mean", "total"]:
        return self.inner.score

    @property
    def known_by(self) -> Any:
        return self.inner.known_by

    @property
    def complexity(self) -> Mapping[str, float]:
        return self.inner.complexity

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.inner.facts

    def told(self, slot: int) -> Mapping[str, Any]:
        if type(self).facts is not Wrapper.facts:  # a subclass has facts of its own
            return self.facts
        return self.inner.told(slot)

    def reset(self, random: Random) -> Any:
        return self.inner.reset(random)

    def awaited(self, state: Any) -> tuple[int, ...]:
        return self.inner.awaited(state)

    def observe(self, state: Any, slot: int) -> Any:
        return self.inner.observe(state, slot)

    def step(
        self, state: Any, actions: Mapping[int, Any], random: Random
    ) -> tuple[Any, Sequence[float]]:
        return self.inner.step(state, actions, random)

    def secret(self, state: Any, slot: int, random: Random) -> Any:
        return self.inner.secret(state, slot, random)
