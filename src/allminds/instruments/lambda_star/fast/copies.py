"""Many exercises of Λ* for one mind each, played as one step of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.instruments.lambda_star.fast.forms import make_worlds
from allminds.instruments.lambda_star.fast.lockstep import Sights, Stage
from allminds.instruments.lambda_star.instrument import LambdaStar


class LambdaStarCopies:
    """See `contracts.Copies`; Good's and Evil's ways come from the compiled core at the start."""

    def __init__(self, tool: LambdaStar) -> None:
        self.tool, self._sights = tool, Sights(tool)
        self._stage: Stage | None = None

    def begin(self, seed: int, first: int, last: int) -> None:
        self._stage = Stage(self.tool, make_worlds(self.tool, seed, first, last), self._sights)

    @property
    def stage(self) -> Stage:
        """The exercises that were begun."""
        assert self._stage is not None
        return self._stage

    @property
    def step(self) -> int:
        return self.stage.step

    def observe(self) -> NDArray[np.float32]:
        return np.concatenate(self.stage.observe(0), axis=1, dtype=np.float32)

    def play(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        stage = self.stage
        stage.actions[0, stage.step] = actions
        stage.advance(stage.step)
        rewards: NDArray[np.float64] = stage.rewards[0, stage.step - 1] * 0.5
        return rewards

    def scores(self) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = self.stage.rewards[0].sum(axis=0) * 0.5 / self.stage.step
        return scores
