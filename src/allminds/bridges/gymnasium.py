"""Instruments as Gymnasium environments: importing this registers all for one mind.

    import gymnasium
    import allminds.bridges.gymnasium

    env = gymnasium.make("allminds/LambdaStar-v1", rows=5, cols=5)
    observation, info = env.reset(seed=1, options={"exercise": 7})

    env = gymnasium.make("allminds/Any-v0", instrument="mine.py:NextSymbol")

Rewards are those of the runner for the same (seed, exercise) and the same actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.bridges import environment_id, rendering
from allminds.bridges.gymnasium_series import Series
from allminds.bridges.gymnasium_spaces import Vector, fields, observation_space
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.presentation import Presentation

try:
    import gymnasium
except ImportError:
    raise Error("Gymnasium is not installed; get it with: pip install 'allminds[rl]'") from None


ANY = "allminds/Any-v0"  # any instrument: its name or file.py:Class is a keyword


class AllmindsEnv(gymnasium.Env[Vector, Any]):  # type: ignore[misc] # their types are not read
    """An instrument for one mind, with its settings as keyword arguments.

    **Observation**: a vector of numbers; ``fields`` says where each field of the instrument's own
    observation is in it. **Action**: numbered as the instrument numbers it. An action that
    does not exist ends the exercise with the status `malformed`, as in the runner, and its reward
    is the lowest for every step not played (for a game, down to the lowest result). Where actions
    differ between exercises or moves, ``info["action_mask"]`` lists those that are allowed.

    ``reset(seed=s, options={"exercise": i})`` plays exercise i of seed s; without options
    exercises follow in order: 0, 1, 2, … An episode that ends because its steps are used up is
    truncated; one that ends by itself, such as an answered question, is terminated.
    """

    metadata = {"render_modes": list(rendering.MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        instrument: str | type[Instrument],
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.series = Series(instrument, settings)
        tool = self.series.tool
        if tool.slots != 1:
            raise Error(
                f"{tool.name} has {tool.slots} slots here, and a Gymnasium environment has one; "
                "take allminds.bridges.pettingzoo"
            )
        self.render_mode = render_mode
        self.fields = fields(tool)
        self.observation_space = observation_space(tool)
        self.action_space = self.series.action_spaces[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin an exercise: that of ``options={"exercise": i}``, or the next."""
        super().reset(seed=seed)
        self.series.begin(seed, options)
        return self.series.vector(0), self.series.info(0)

    def step(self, action: Any) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Play one step with the action of the mind."""
        (reward,) = self.series.play({0: action})
        return self.series.vector(0), reward, *self.series.ended(), self.series.info(0)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return True for each action that is allowed now; sb3-contrib calls this method."""
        return self.series.mask(0).astype(bool)

    def render(self) -> Any:
        """Render the whole state, as text or as a picture."""
        return rendering.rendered(self.series.tool, self.series.playing(), self.render_mode)


class FromZero(gymnasium.ActionWrapper[Vector, Any, Any]):  # type: ignore[misc] # as above
    """A wrapper that numbers actions from 0, for libraries that require it."""

    def __init__(self, env: gymnasium.Env[Vector, Any]) -> None:
        super().__init__(env)
        self.action_space = gymnasium.spaces.Discrete(env.action_space.n)

    def action(self, action: Any) -> Any:
        """Translate an action that is counted from 0 into the instrument's own number."""
        return action + self.env.action_space.start


def register() -> tuple[str, ...]:
    """Register every instrument for one mind, unless it is registered already."""
    ids = []
    if ANY not in gymnasium.registry:
        gymnasium.register(ANY, entry_point="allminds.bridges.gymnasium:AllmindsEnv")
    for name, cls in registry.instruments().items():
        tool = registry.make_instrument(name)
        if tool.slots != 1:
            continue
        ids.append(environment_id(cls))
        if ids[-1] not in gymnasium.registry:
            several = type(tool.presentation).copies is not Presentation.copies
            quick = "allminds.bridges.vector:AllmindsVectorEnv" if several else None
            gymnasium.register(
                ids[-1],
                entry_point="allminds.bridges.gymnasium:AllmindsEnv",
                vector_entry_point=quick,
                kwargs={"instrument": name},
            )
    return tuple(ids)


IDS = register()
