"""Instruments as PettingZoo environments: importing this registers all that several minds play.

    import pettingzoo
    import allminds.bridges.pettingzoo

    env = pettingzoo.make("parallel", "allminds/PredatorPrey-v1")
    env = pettingzoo.make("aec", "allminds/LambdaStar-v1", agents=3)
    env = allminds.bridges.pettingzoo.parallel_env("mine.py:Game")

Slots are agents ``player_0``, ``player_1``, …; who is in a team with whom is in
``env.metadata["teams"]``. Rewards are those of the runner for the same (seed, exercise).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allminds import registry
from allminds.bridges import agent_name, environment_id
from allminds.bridges.vectors import MODES, Series, Vector, fields, observation_space
from allminds.contracts import Instrument
from allminds.core.errors import Error

try:
    import pettingzoo
except ImportError:
    raise Error("PettingZoo is not installed; get it with: pip install 'allminds[rl]'") from None


class _Table:
    """What both kinds of environment share: agents, spaces, teams, pictures."""

    metadata: dict[str, Any]

    def __init__(
        self,
        instrument: str | type[Instrument],
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.series = Series(instrument, settings)
        tool = self.series.tool
        self.render_mode = render_mode
        self.possible_agents = [agent_name(slot) for slot in range(tool.slots)]
        self.agents: list[str] = []
        self.slots = {name: slot for slot, name in enumerate(self.possible_agents)}
        self.fields = fields(tool)  # of the first agent, and of all that see as far
        self.fields_of = {name: fields(tool, slot) for name, slot in self.slots.items()}
        # a space each, for a space is seeded
        self.observation_spaces = {
            name: observation_space(tool, slot) for name, slot in self.slots.items()
        }
        self.action_spaces = dict(zip(self.possible_agents, self.series.action_spaces, strict=True))
        teams = tool.exercise(0, 0).environment.teams
        self.metadata = {
            "name": f"{tool.name.replace('-', '_')}_v{tool.version - 1}",
            "render_modes": list(MODES),
            "render_fps": 4,
            "is_parallelizable": True,
            "teams": tuple(tuple(agent_name(slot) for slot in team) for team in teams),
        }

    def observation_space(self, agent: str) -> Any:
        """Return the box in which an agent's vectors lie."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return an agent's actions, numbered as the instrument numbers them."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """Draw the whole state, as text or as a picture."""
        return self.series.rendered(self.render_mode)

    def close(self) -> None:
        """There is nothing to release."""

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {name: self.series.info(self.slots[name]) for name in self.agents}


class AllmindsParallelEnv(_Table, pettingzoo.ParallelEnv):  # type: ignore[misc] # types not read
    """An instrument for several minds that act at once, its settings as keywords.

    Where they move by turns (``info["action_mask"]`` is empty for who is not to move), the
    actions of the others are not looked at. An action that there is not ends the exercise for
    all, as in the runner: whoever took it gets the lowest reward for every step not made, the
    others get 0.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, dict[str, Any]]]:
        """Begin an exercise: that of ``options={"exercise": i}``, or the next."""
        self.series.begin(seed, options)
        self.agents = list(self.possible_agents)
        return self._seen(), self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Everybody acts."""
        waiting = self.series.playing().waiting
        for slot in waiting:
            if agent_name(slot) not in actions:
                raise Error(f"{self.series.tool.name}: an action of {agent_name(slot)} is awaited")
        rewards = self.series.play({slot: actions[agent_name(slot)] for slot in waiting})
        terminated, truncated = self.series.ended()
        told = (
            self._seen(),
            {name: rewards[self.slots[name]] for name in self.agents},
            dict.fromkeys(self.agents, terminated),
            dict.fromkeys(self.agents, truncated),
            self._infos(),
        )
        if terminated or truncated:
            self.agents = []
        return told

    def _seen(self) -> dict[str, Vector]:
        return {name: self.series.vector(self.slots[name]) for name in self.agents}


class AllmindsAECEnv(_Table, pettingzoo.AECEnv):  # type: ignore[misc] # types not read
    """An instrument for several minds that are asked one after the other.

    Where they act at once, nothing is played until the last of them has said what it does, and
    none sees what the others have said.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an exercise: that of ``options={"exercise": i}``, or the next."""
        self.series.begin(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._infos()
        self._said: dict[int, Any] = {}
        self._skip_agent_selection = None
        self._ask()

    def observe(self, agent: str) -> Vector:
        """Return the vector of what an agent sees."""
        return self.series.vector(self.slots[agent])

    def step(self, action: Any) -> None:
        """Play the action of the agent whose turn it is."""
        name = self.agent_selection
        if self.terminations[name] or self.truncations[name]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[name] = 0.0
        self._clear_rewards()
        self._said[self.slots[name]] = action
        if set(self._said) == set(self.series.playing().waiting):
            self._play()
        self._accumulate_rewards()
        self._ask()

    def _play(self) -> None:
        rewards = self.series.play(self._said)
        self._said = {}
        terminated, truncated = self.series.ended()
        for name in self.agents:
            self.rewards[name] = rewards[self.slots[name]]
            self.terminations[name], self.truncations[name] = terminated, truncated
        self.infos = self._infos()

    def _ask(self) -> None:
        """Whose turn it is: when all is over, everybody once more, to hear of it."""
        asked = (slot for slot in self.series.playing().waiting if slot not in self._said)
        self.agent_selection = agent_name(next(asked, 0))


def parallel_env(instrument: str | type[Instrument], **settings: Any) -> AllmindsParallelEnv:
    """Make any instrument, by its name or ``file.py:Class``, whose minds act at once."""
    return AllmindsParallelEnv(instrument, **settings)


def env(instrument: str | type[Instrument], **settings: Any) -> AllmindsAECEnv:
    """Make any instrument, by its name or ``file.py:Class``, whose minds are asked in turn."""
    return AllmindsAECEnv(instrument, **settings)


def register() -> tuple[str, ...]:
    """Register every instrument that several minds can play; two, where it is up to the user."""
    ids = []
    kinds = (
        ("parallel", pettingzoo.parallel_registry, "AllmindsParallelEnv"),
        ("aec", pettingzoo.aec_registry, "AllmindsAECEnv"),
    )
    for name, cls in registry.instruments().items():
        several = registry.make_instrument(name).slots > 1
        settings = cls.Settings.model_fields
        if not (several or "agents" in settings):
            continue
        ids.append(environment_id(cls))
        kwargs: dict[str, Any] = {"instrument": name} | ({} if several else {"agents": 2})
        for kind, known, entry in kinds:
            if ids[-1] not in known:
                where = f"allminds.bridges.pettingzoo:{entry}"
                pettingzoo.register(kind, ids[-1], entry_point=where, kwargs=kwargs)
    return tuple(ids)


IDS = register()
