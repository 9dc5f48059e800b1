"""A live PettingZoo environment that can be set to any state. Imports PettingZoo late."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from allminds.contracts import Discrete
from allminds.core.errors import Error, nearest


class ForeignState(Protocol):
    """A state that a live environment can be set to."""

    seed: int
    log: list[dict[int, int]]
    length: int


# ---------------------------------------------------------------- making one


def made(name: str, options: str) -> Any:
    """Make a PettingZoo environment by its registered name or module; parallel if possible."""
    try:
        import pettingzoo
    except ImportError:
        raise Error(
            "PettingZoo is not installed; get it with: pip install 'allminds[games]'"
        ) from None
    keywords = made_with(options)
    wanted = _registered(name)
    try:
        if wanted in pettingzoo.parallel_registry:
            return _bare(pettingzoo.make("parallel", wanted, **keywords))
        if wanted in pettingzoo.aec_registry:
            return _bare(pettingzoo.make("aec", wanted, **keywords))
        module = _module(name, {*pettingzoo.aec_registry, *pettingzoo.parallel_registry})
        if hasattr(module, "parallel_env"):
            return _bare(module.parallel_env(**keywords))
        return _bare(module.env(**keywords))
    except Error:
        raise
    except Exception as error:  # a missing library of its own, or a wrong option
        raise Error(f"PettingZoo cannot make '{name}': {error}") from None


def made_with(options: str) -> dict[str, Any]:
    """Parse ``max_cycles=25,local_ratio=0.5`` into keywords."""
    keywords: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in options.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"'{part}' is not NAME=VALUE")
        try:
            keywords[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            keywords[key] = value
    return keywords


def _registered(name: str) -> str:
    """Convert ``family/name_v3`` to the name PettingZoo registers: ``family/name-v3``."""
    start, underscore, version = name.rpartition("_v")
    return f"{start}-v{version}" if underscore and version.isdigit() else name


def _module(name: str, known: set[str]) -> Any:
    """Import the module of an unregistered environment, such as ``mpe2/simple_spread_v3``."""
    path = name.replace("/", ".")
    try:
        module = importlib.import_module(path)
    except Exception:
        module = None
    if module is None or not (hasattr(module, "parallel_env") or hasattr(module, "env")):
        there = [one.replace("-v", "_v") for one in known]
        raise Error(f"PettingZoo has no environment '{name}'; {nearest(name, there)}")
    return module


def _bare(env: Any) -> Any:
    """Remove PettingZoo's own checks of order and legality, which are made here already."""
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.conversions import aec_to_parallel_wrapper

    if type(env) is aec_to_parallel_wrapper:
        env.aec_env = _bare(env.aec_env)
        return env
    checks = (
        wrappers.OrderEnforcingWrapper,
        wrappers.AssertOutOfBoundsWrapper,
        wrappers.TerminateIllegalWrapper,
    )
    while type(env) in checks:
        env = env.env
    return env


def spaces(name: str, env: Any) -> tuple[Discrete, ...]:
    """List the actions of all agents, which must be discrete."""
    found = []
    for agent in env.possible_agents:
        space = env.action_space(agent)
        if type(space).__name__ != "Discrete":
            raise Error(
                f"{name}: the actions of {agent} are {space}; only discrete actions are supported"
            )
        found.append(Discrete(int(space.n), int(space.start)))
    return tuple(found)


# ---------------------------------------------------------------- keeping it alive


class Live:
    """One environment, standing at one state; `at` sets it to another."""

    score: Literal["mean", "total"]

    def __init__(self, env: Any) -> None:
        self.env = env
        self.agents: list[Any] = list(env.possible_agents)
        self.slots = {agent: slot for slot, agent in enumerate(self.agents)}
        self.first = [int(env.action_space(agent).start) for agent in self.agents]
        self.awaited: tuple[int, ...] = ()
        self.totals = [0.0] * len(self.agents)
        self._log: list[dict[int, int]] | None = None
        self._length = -1

    def at(self, state: ForeignState) -> Live:
        """Set this environment to a state: as it is, or played again from the start."""
        if state.log is not self._log or state.length != self._length:
            self.restart(state)
            for actions in state.log[: state.length]:
                self._play(actions)
            self._length = state.length
        return self

    def restart(self, state: ForeignState) -> None:
        """Go to the beginning of the game that this state belongs to."""
        self._log, self._length = state.log, 0
        self.totals = [0.0] * len(self.agents)
        self._reset(state.seed)

    def advance(self, after: ForeignState) -> Sequence[float]:
        """Play the last actions of this state, one step on; return the rewards by slot."""
        self._log, self._length = after.log, after.length
        return self._play(after.log[after.length - 1])

    def _play(self, actions: dict[int, int]) -> Sequence[float]:
        rewards = self._step(actions)
        for slot, reward in enumerate(rewards):
            self.totals[slot] += reward
        return rewards

    def observe(self, slot: int) -> tuple[Any, tuple[int, ...] | None]:
        """Return what a slot sees, and what is legal if not everything is."""
        seen, info = self._observed(slot)
        mask = None
        if isinstance(seen, dict):
            mask = seen.get("action_mask")
        if mask is None and info:
            mask = info.get("action_mask")
        if mask is None:
            return seen, None
        return seen, tuple((mask.nonzero()[0] + self.first[slot]).tolist())

    def _reset(self, seed: int) -> None:
        raise NotImplementedError

    def _step(self, actions: dict[int, int]) -> list[float]:
        raise NotImplementedError

    def _observed(self, slot: int) -> tuple[Any, Any]:
        raise NotImplementedError


class Turns(Live):
    """PettingZoo's AEC environments: one agent after the other."""

    score: Literal["mean", "total"] = "total"

    def _reset(self, seed: int) -> None:
        self.env.reset(seed=seed)
        self._look()

    def _step(self, actions: dict[int, int]) -> list[float]:
        (action,) = actions.values()
        self.env.step(action)
        rewards = self.env.rewards
        got = [float(rewards.get(agent, 0.0)) for agent in self.agents]
        self._look()
        return got

    def _look(self) -> None:
        """Find the next agent; agents that are out make the empty moves PettingZoo asks of them."""
        env = self.env
        while env.agents:
            agent = env.agent_selection
            if not (env.terminations[agent] or env.truncations[agent]):
                self.awaited = (self.slots[agent],)
                return
            env.step(None)
        self.awaited = ()

    def _observed(self, slot: int) -> tuple[Any, Any]:
        agent = self.agents[slot]
        return self.env.observe(agent), self.env.infos.get(agent)


class Together(Live):
    """PettingZoo's parallel environments: all at once."""

    score: Literal["mean", "total"] = "mean"

    def _reset(self, seed: int) -> None:
        self.seen, self.infos = self.env.reset(seed=seed)
        self._look()

    def _step(self, actions: dict[int, int]) -> list[float]:
        named = {self.agents[slot]: action for slot, action in actions.items()}
        seen, rewards, _, _, infos = self.env.step(named)
        self.seen, self.infos = {**self.seen, **seen}, infos
        self._look()
        return [float(rewards.get(agent, 0.0)) for agent in self.agents]

    def _look(self) -> None:
        self.awaited = tuple(self.slots[agent] for agent in self.env.agents)

    def _observed(self, slot: int) -> tuple[Any, Any]:
        agent = self.agents[slot]
        return self.seen.get(agent), self.infos.get(agent)


def live(env: Any) -> Live:
    """Wrap an environment of either kind, so that it can be set to any state."""
    from pettingzoo import ParallelEnv

    return Together(env) if isinstance(env, ParallelEnv) else Turns(env)
