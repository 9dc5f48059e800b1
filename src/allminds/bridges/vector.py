"""Many copies of an instrument as one Gymnasium vector environment: one step of arrays for all.

    envs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=4096)
    envs = AllmindsVectorEnv(4096, "lambda-star", rows=20, cols=20)

It is for instruments whose presentation has `copies`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from allminds import registry
from allminds.bridges.gymnasium_series import exercise_number
from allminds.bridges.gymnasium_spaces import Vector, action_space, fields, observation_space
from allminds.core.errors import Error

Flags = NDArray[np.bool_]


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
