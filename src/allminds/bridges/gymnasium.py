"""Instruments as Gymnasium environments: importing this registers all for one mind.

    import gymnasium
    import allminds.bridges.gymnasium

    env = gymnasium.make("allminds/LambdaStar-v1", rows=5, cols=5)
    observation, info = env.reset(seed=1, options={"exercise": 7})

    env = gymnasium.make("allminds/Any-v0", instrument="mine.py:NextSymbol")

    envs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=4096)
    envs = AllmindsVectorEnv(4096, "lambda-star", rows=20, cols=20)

Rewards are those of the runner for the same (seed, exercise) and the same actions. Many copies as
one environment are for instruments whose presentation has `copies`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.bridges import environment_id
from allminds.bridges.vectors import (
    MODES,
    Series,
    Vector,
    action_space,
    exercise_number,
    fields,
    observation_space,
)
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.presentation import Presentation

try:
    import gymnasium
    from gymnasium.spaces import MultiDiscrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise Error("Gymnasium is not installed; get it with: pip install 'allminds[rl]'") from None

Flags = NDArray[np.bool_]
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

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012

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
        return self.series.rendered(self.render_mode)


class FromZero(gymnasium.ActionWrapper[Vector, Any, Any]):  # type: ignore[misc] # as above
    """A wrapper that numbers actions from 0, for libraries that require it."""

    def __init__(self, env: gymnasium.Env[Vector, Any]) -> None:
        super().__init__(env)
        self.action_space = gymnasium.spaces.Discrete(env.action_space.n)

    def action(self, action: Any) -> Any:
        """Translate an action that is counted from 0 into the instrument's own number."""
        return action + self.env.action_space.start


# ---------------------------------------------------------------- many copies


class AllmindsVectorEnv(VectorEnv[Vector, Any, NDArray[Any]]):  # type: ignore[misc] # not read
    """A vector of `num_envs` copies of an instrument for one mind, with its settings as keywords.

    ``reset(seed=s, options={"exercise": i})`` puts exercise i + j of seed s before copy j, and the
    round after it begins with exercise i + num_envs. All episodes end together, by their time
    (`truncations`); the next step then begins a new round, whatever the actions
    (``AutoresetMode.NEXT_STEP``), and ``infos["score"]`` has the scores of the one that ended.
    """

    def __init__(
        self,
        num_envs: int,
        instrument: str,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        if render_mode is not None:
            raise Error(f"{num_envs} copies cannot be rendered; make one with gymnasium.make")
        self.tool = registry.make_instrument(instrument, settings)
        if self.tool.slots != 1:
            raise Error(f"{instrument}: a vector environment has one mind a copy; set agents=1")
        copies = self.tool.presentation.copies()
        if copies is None:
            raise Error(f"{instrument} has no form of many copies; use gymnasium.make_vec")
        self.copies = copies
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = observation_space(self.tool)
        self.single_action_space = action_space(self.tool, 0)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space: MultiDiscrete = batch_space(self.single_action_space, num_envs)
        self.fields = fields(self.tool)
        self._steps = self.tool.exercise(0, 0).environment.steps
        self._seed, self._first, self._begun = 0, 0, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin a round with the exercises that are asked for, or with the next ones."""
        super().reset(seed=seed)
        wanted = exercise_number(options)
        if seed is not None:
            self._seed, self._first = seed, 0
        self._begin(self._first if wanted is None else wanted)
        return self.copies.observe(), {}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Vector, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Play one step in all copies."""
        if not self._begun:
            raise Error(f"{self.tool.name}: nothing was begun; call reset first")
        nobody = np.zeros(self.num_envs, bool)
        if self.copies.step == self._steps:
            self._begin(self._first)
            return self.copies.observe(), np.zeros(self.num_envs), nobody, nobody.copy(), {}
        rewards = self.copies.play(self._checked(actions))
        over = np.full(self.num_envs, self.copies.step == self._steps)
        return self.copies.observe(), rewards, nobody, over, self._info() if over.all() else {}

    def _begin(self, first: int) -> None:
        self.copies.begin(self._seed, first, first + self.num_envs)
        self._first, self._begun = first + self.num_envs, True

    def _info(self) -> dict[str, Any]:
        return {"score": self.copies.scores(), "_score": np.ones(self.num_envs, bool)}

    def _checked(self, actions: Any) -> NDArray[np.integer[Any]]:
        given, name = np.asarray(actions), self.tool.name
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise Error(
                f"{name}: {self.num_envs} actions are awaited, whole numbers, "
                f"not {given.dtype}{given.shape}"
            )
        first = int(self.single_action_space.start)
        last = first + int(self.single_action_space.n) - 1
        wrong = np.flatnonzero((given < first) | (given > last))
        if len(wrong):
            raise Error(
                f"{name}: action {given[wrong[0]]} of copy {wrong[0]} is not one of {first}..{last}"
            )
        return given


# ---------------------------------------------------------------- names


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
            quick = "allminds.bridges.gymnasium:AllmindsVectorEnv" if several else None
            gymnasium.register(
                ids[-1],
                entry_point="allminds.bridges.gymnasium:AllmindsEnv",
                vector_entry_point=quick,
                kwargs={"instrument": name},
            )
    return tuple(ids)


IDS = register()
