"""Λ* with coordination: Good pays only when enough minds are near it at once (Chmait et al. 2016).

Beside the world and the instrument stand the settings for groups, and the chance level, which is
exact: the minds start in different cells, each set of cells as likely as any other, and then move
on their own. So what is expected of random minds together is what is expected of as many cells
drawn without replacement, each with what is expected of a walk from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from allminds import registry
from allminds.contracts import Environment, Fast
from allminds.core.line_up import LineUp
from allminds.core.watch import Watch
from allminds.instruments.lambda_star.grid import MOVES, Torus
from allminds.instruments.lambda_star.instrument import LambdaStar, TorusSettings
from allminds.instruments.lambda_star.patterns import Pattern
from allminds.instruments.lambda_star.world import State, World
from allminds.presentation import Presentation


@dataclass(frozen=True)
class Coordination(World):
    """Λ* in which Good pays only when at least `needed` minds (c) are in its neighbourhood.

    What is seen does not change: Good lies on the map whether or not it pays now. Evil takes from
    any mind, as ever.
    """

    needed: int = 2  # c

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts of Λ*, and how many minds it takes."""
        return {**super().facts, "needed": self.needed}

    def rewards(self, state: State) -> Sequence[float]:
        """Return the reward of each mind's cell, without Good's part if too few are near it."""
        if self.together(state) >= self.needed:
            return super().rewards(state)
        return [0.0 - self.torus.worth(cell, state.evil) for cell in state.minds]

    def together(self, state: State) -> int:
        """Count the minds in Good's neighbourhood."""
        return sum(self.torus.distance(cell, state.good) < 2 for cell in state.minds)


class GroupSettings(TorusSettings):
    """Settings of Λ* for several minds, in bounds for which the chance level is computed."""

    rows: int = Field(10, ge=2, le=50, description="rows m of the torus")
    cols: int = Field(10, ge=2, le=50, description="columns n of the torus")
    iterations: int = Field(50, ge=1, le=500, description="steps ϑ of an episode")
    agents: int = Field(5, ge=1, le=20, description="minds on the torus at once")


class CoordinationSettings(GroupSettings):
    """Settings of Λ* with coordination."""

    needed: int = Field(2, ge=1, description="minds c near Good for it to pay")

    @model_validator(mode="after")
    def _enough_minds(self) -> CoordinationSettings:
        if self.needed > self.agents:
            raise ValueError(f"needed must be at most the {self.agents} agents, or Good never pays")
        return self


@registry.instrument
class LambdaStarCoordination(LambdaStar):
    """Λ* with coordination: Good pays only when enough minds are near it at once.

    As `lambda-star`, but what Good gives, +1 in its cell and +0.5 next to it, it gives only at a
    step at which at least `needed` minds are in its neighbourhood; Evil takes from anybody as
    ever. The map shows Good whether or not it pays, so that minds can wait for each other
    (Chmait et al. 2016, §6.1). With needed=1 it is `lambda-star`, step by step.

    **Actions**, **Observation**, **Episode end**: as in `lambda-star`. **Rewards** as said. A
    random mind's expectation, which is exact, is below 0: Good withholds, Evil does not.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "lambda-star-coordination"
    version = 2
    Settings = CoordinationSettings

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        given = self.settings
        self.chance = coordination_chance(self.torus, given.iterations, given.agents, given.needed)

    def world(self, pattern: Pattern, columns: Mapping[str, float]) -> Environment:
        return self.built(Coordination, pattern, columns, needed=self.settings.needed)

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.lambda_star.present import CoordinationPresentation

        return CoordinationPresentation(self)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the ways if every mind has a kernel, and settle them by this rule."""
        from allminds.instruments.lambda_star.fast.extensions import resettled, together_rewards

        return resettled(self, line_up, together_rewards)


# ---------------------------------------------------------------- what random minds can expect


Values = NDArray[np.float64]


@lru_cache(maxsize=32)
def coordination_chance(torus: Torus, steps: int, agents: int, needed: int) -> float:
    """Compute the expected reward of random minds when Good pays only `needed` at once.

    Good would give what Evil takes; what is missing is what Good withholds from too few.
    """
    gain = gains(torus)
    near, worth = walked(gain > 0, steps), walked(gain, steps)
    withheld = _worth_of_few(near, worth, agents, needed)
    return 0.0 - float(withheld.mean()) / agents


def gains(torus: Torus) -> Values:
    """Compute what Good in cell 1 gives in every cell."""
    worth = [torus.worth(cell, 1) for cell in range(1, torus.cells + 1)]
    return np.array(worth).reshape(torus.rows, torus.cols)


def walked(values: NDArray[np.generic], steps: int) -> Values:
    """Compute the expected value of the cell after 1, 2, … random moves: [step, cell]."""
    field, found = values.astype(float), []
    for _ in range(steps):
        field = mixed(field)
        found.append(field.reshape(-1))
    return np.stack(found)


def mixed(field: Values) -> Values:
    """Average over the nine cells that a move leads to."""
    mean: Values = np.mean([np.roll(field, move, (0, 1)) for move in MOVES], axis=0)
    return mean


def _one_more(table: Values, hit: Values) -> Values:
    """Update the chances of so many near ones for one mind more."""
    after = (1 - hit) * table
    after[..., 1:] += hit * table[..., :-1]
    return after


def _worth_of_few(near: Values, worth: Values, agents: int, needed: int) -> Values:
    """Compute what Good would give while fewer than `needed` minds are near it: [step].

    As `_all_of`, by how many of the drawn cells are near; beside it a table in which one of the
    near ones is weighed by what Good gives it.
    """
    steps, cells = near.shape
    plain = np.zeros((steps, agents + 1, needed))
    plain[:, 0, 0] = 1.0
    weighed = np.zeros_like(plain)
    for i in range(1, cells + 1):
        hit, gain = near[:, i - 1, None, None], worth[:, i - 1, None, None]
        drawn = np.arange(1, agents + 1)[None, :, None] / i
        more = _one_more(weighed[:, :-1], hit)
        more[..., 1:] += gain * plain[:, :-1, :-1]
        weighed[:, 1:] = (1 - drawn) * weighed[:, 1:] + drawn * more
        plain[:, 1:] = (1 - drawn) * plain[:, 1:] + drawn * _one_more(plain[:, :-1], hit)
    found: Values = weighed[:, agents].sum(axis=1)
    return found
