"""Trained policies as minds: what was learnt on vectors is asked about observations.

    allminds evaluate lambda-star --mind "policy(model.zip)"            # Stable-Baselines3
    am.evaluate("lambda-star", [subject(model), subject(my_function)])  # anything that predicts
    am.evaluate("predator-prey", [agents_subject(policy)])              # PettingZoo's way

A policy is shown the vectors of `gymnasium_spaces`, those that the Gymnasium and PettingZoo
environments show. If it says what its action and observation spaces are, they must fit.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.bridges import agent_name
from allminds.bridges.vectors import Vector, actions, mask, presentation, vector
from allminds.contracts import MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.seeding import Random


class Moment(NamedTuple):
    """All that a policy may be told when it is to act."""

    vector: Vector
    agent: str
    random: Random
    mask: NDArray[np.int8]  # 1 for each action that may be taken now


Ask = Callable[[Moment], Any]
Way = Callable[[Any], Ask]  # of asking a policy, with a memory of its own


class TrainedMind(MindBase):
    """A policy in a slot, or a policy for each of them by the names of agents."""

    def __init__(self, policy: Any, way: Way, traits: Traits) -> None:
        self.policy, self.way, self.traits = policy, way, traits

    def begin(self, task: Task) -> None:
        """Choose who is to be asked in this slot, and see whether its actions fit."""
        self.task, self.agent = task, agent_name(task.slot)
        self.shown = presentation(task.instrument)
        own = _of_agent(self.policy, self.agent)
        self.shift = _shift(own, task)
        self.size = getattr(getattr(own, "observation_space", None), "shape", None)
        self.ask = self.way(own)

    def act(self, observation: Any, random: Random) -> Any:
        """Ask the policy what it does with the vector of what is seen."""
        seen = vector(self.shown, observation, self.task.slots)
        if self.size not in (None, seen.shape):
            raise Error(
                f"a policy for observations of shape {self.size} cannot be asked about "
                f"{self.task.instrument}, whose vectors have {len(seen)} numbers; train it with "
                "the same settings"
            )
        legal = mask(self.shown, self.task.actions, observation)
        action = self.ask(Moment(seen, self.agent, random, legal))
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.item()
        return action + self.shift if self.shift else action


def _of_agent(policy: Any, agent: str) -> Any:
    """Find the policy of an agent, if every agent has one of its own."""
    if not isinstance(policy, Mapping):
        return policy
    if agent not in policy:
        raise Error(f"there is no policy for {agent}; there are some for {', '.join(policy)}")
    return policy[agent]


def _shift(policy: Any, task: Task) -> int:
    """Find what to add to a policy's actions, if it says what they are; they must be as many."""
    space = getattr(policy, "action_space", None)
    if space is None:
        return 0
    own = actions(presentation(task.instrument), task.actions)
    if getattr(space, "n", None) != own.n:
        raise Error(
            f"a policy with actions {space} does not fit {task.instrument}, which has "
            f"{own.n}; train it on the environment of this instrument"
        )
    return own.start - int(getattr(space, "start", 0))


# ---------------------------------------------------------------- ways of asking


def _predicting(policy: Any) -> Ask:
    """By `predict`, with what it remembers if it does, and always the same way if it can."""
    takes = inspect.signature(policy.predict).parameters
    fixed = {"deterministic": True} if "deterministic" in takes else {}
    remembers = "state" in takes and "episode_start" in takes
    state, start = None, True

    def ask(now: Moment) -> Any:
        nonlocal state, start
        memory = {"state": state, "episode_start": np.array([start])} if remembers else {}
        masks = {"action_masks": now.mask.astype(bool)} if "action_masks" in takes else {}
        answer = policy.predict(now.vector, **memory, **masks, **fixed)
        if not isinstance(answer, tuple):
            return answer
        start, state = False, answer[1]
        return answer[0]

    return ask


def _asking(policy: Any) -> Ask:
    """By `predict`, or as a function of the vector, and of `random` if it takes two."""
    if hasattr(policy, "predict"):
        return _predicting(policy)
    if len(inspect.signature(policy).parameters) > 1:
        return lambda now: policy(now.vector, now.random)
    return lambda now: policy(now.vector)


def _naming(policy: Any) -> Ask:
    """PettingZoo's way: a function of the vector and the agent's name, if it takes two."""
    if not hasattr(policy, "predict") and len(inspect.signature(policy).parameters) > 1:
        return lambda now: policy(now.vector, now.agent)
    return _asking(policy)


# ---------------------------------------------------------------- policies as subjects


def subject(policy: Any, name: str = "policy", traits: Traits | None = None) -> Subject:
    """Make a subject of a policy: an object with `predict`, or a function of the vector.

    The function may take a second argument, the `Random` to draw from. Say in `traits` if it is
    deterministic.
    """
    return _subject(policy, _asking, name, traits)


def agents_subject(policy: Any, name: str = "policy", traits: Traits | None = None) -> Subject:
    """Make a subject of a function of (vector, agent), or of one policy for each agent.

    Agents are called ``player_0``, ``player_1``, …; a mapping from these names may have functions
    of the vector, or objects with `predict`.
    """
    return _subject(policy, _naming, name, traits)


def _subject(policy: Any, way: Way, name: str, traits: Traits | None) -> Subject:
    for one in policy.values() if isinstance(policy, Mapping) else [policy]:
        if not callable(getattr(one, "predict", one)):
            raise Error(
                f"{one!r} is not a policy: it is not a function and has no method 'predict'"
            )
    known = traits or Traits()
    return Subject(name, functools.partial(TrainedMind, policy, way, known), known)


# ---------------------------------------------------------------- Stable-Baselines3


@registry.mind("policy")
class Policy(TrainedMind):
    """A Stable-Baselines3 model by its file: policy(model.zip) or policy(FILE,algorithm=DQN).

    It is always asked for its best action. `algorithm` is the class that made it: PPO, A2C, DQN, …,
    or ``module:Class`` of another package with the same interface, such as
    ``sb3_contrib:RecurrentPPO``.
    """

    runs_code = True  # a model is unpickled

    def __init__(self, file: str = "", algorithm: str = "PPO") -> None:
        if not file:
            raise Error("policy needs the file of a model: policy(model.zip)")
        where = Path(file)
        if not where.is_file():
            raise Error(f"policy({file}): there is no file '{file}'")
        model = _loaded(file, algorithm, where.stat().st_mtime_ns)
        super().__init__(model, _predicting, Traits(deterministic=True))


@functools.lru_cache(maxsize=8)
def _loaded(file: str, algorithm: str, changed: int) -> Any:  # noqa: ARG001 - loaded again if so
    module, _, name = algorithm.rpartition(":")
    module = module or "stable_baselines3"
    try:
        maker = getattr(importlib.import_module(module), name)
    except ImportError:
        raise Error(
            f"policy({file}) needs {module}, which is not installed; get it with: "
            f"pip install {module.replace('_', '-')}"
        ) from None
    except AttributeError:
        raise Error(f"policy({file}): {module} has no algorithm '{name}'") from None
    try:
        return maker.load(file, device="cpu")
    except Exception as error:
        raise Error(f"policy({file}) is not a model of {algorithm}: {error}") from None
