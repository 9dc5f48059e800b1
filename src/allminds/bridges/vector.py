"""Many copies of Λ* as one Gymnasium vector environment: all of them are one step of arrays.

    envs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=4096)
    envs = LambdaStarVectorEnv(num_envs=4096, rows=20, cols=20)

Good's and Evil's ways through all copies come from the compiled core when a round begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from allminds.bridges.gymnasium_series import exercise_number
from allminds.bridges.gymnasium_spaces import Vector, action_space, fields, observation_space
from allminds.core.errors import Error
from allminds.instruments.lambda_star.fast.forms import make_worlds
from allminds.instruments.lambda_star.fast.lockstep import Sights, Stage
from allminds.instruments.lambda_star.instrument import LambdaStar

Flags = NDArray[np.bool_]


class LambdaStarVectorEnv(VectorEnv[Vector, Any, NDArray[Any]]):  # type: ignore[misc] # not read
    """`num_envs` copies of Λ* for one mind each, its settings as keywords.

    ``reset(seed=s, options={"exercise": i})`` puts exercise i + j of seed s before copy j, and the
    round after it begins with exercise i + num_envs. All episodes end together, by their time
    (`truncations`); the next step then begins a new round, whatever the actions
    (``AutoresetMode.NEXT_STEP``), and ``infos["score"]`` has the scores of the one that ended.
    """

    def __init__(
        self,
        num_envs: int = 1,
        instrument: str = "lambda-star",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        if render_mode is not None:
            raise Error(f"{num_envs} copies cannot be rendered; make one with gymnasium.make")
        self.tool = LambdaStar(**settings)
        if self.tool.slots != 1:
            raise Error(f"{instrument}: a vector environment has one mind a copy; set agents=1")
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = observation_space(self.tool)
        self.single_action_space = action_space(self.tool, 0)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space: MultiDiscrete = batch_space(self.single_action_space, num_envs)
        self.fields = fields(self.tool)
        self._sights = Sights(self.tool)
        self._seed, self._first = 0, 0
        self._stage: Stage | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin a round: the exercises that are asked for, or the next."""
        super().reset(seed=seed)
        wanted = exercise_number(options)
        if seed is not None:
            self._seed, self._first = seed, 0
        self._begin(self._first if wanted is None else wanted)
        return self._seen(), {}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Vector, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """One step of all copies."""
        stage, steps = self._stage, self.tool.settings.iterations
        if stage is None:
            raise Error("lambda-star: nothing was begun; call reset first")
        nobody = np.zeros(self.num_envs, bool)
        if stage.step == steps:
            self._begin(self._first)
            return self._seen(), np.zeros(self.num_envs), nobody, nobody.copy(), {}
        stage.actions[0, stage.step] = self._checked(actions)
        stage.advance(stage.step)
        rewards = stage.rewards[0, stage.step - 1] * 0.5
        over = np.full(self.num_envs, stage.step == steps)
        return self._seen(), rewards, nobody, over, self._info(stage) if over.all() else {}

    def _begin(self, first: int) -> None:
        here = make_worlds(self.tool, self._seed, first, first + self.num_envs)
        self._stage = Stage(self.tool, here, self._sights)
        self._first = first + self.num_envs

    def _seen(self) -> Vector:
        assert self._stage is not None
        return np.concatenate(self._stage.observe(0), axis=1, dtype=np.float32)

    def _info(self, stage: Stage) -> dict[str, Any]:
        score = stage.rewards[0].sum(axis=0) * 0.5 / stage.step
        return {"score": score, "_score": np.ones(self.num_envs, bool)}

    def _checked(self, actions: Any) -> NDArray[np.integer[Any]]:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise Error(
                f"lambda-star: {self.num_envs} actions are awaited, whole numbers, "
                f"not {given.dtype}{given.shape}"
            )
        wrong = np.flatnonzero((given < 1) | (given > 9))
        if len(wrong):
            raise Error(
                f"lambda-star: action {given[wrong[0]]} of copy {wrong[0]} is not one of 1..9"
            )
        return given
