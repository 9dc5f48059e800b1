"""Λ* as a land to be watched: the share of cells that a group has seen (Chmait et al. 2016)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from allminds import registry
from allminds.contracts import Environment, Fast, MindBase, Task, Traits
from allminds.core.bases import Wrapper
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Subject
from allminds.core.seeding import Random
from allminds.core.watch import Watch
from allminds.instruments.lambda_star.extensions.coordination import GroupSettings, Values, mixed
from allminds.instruments.lambda_star.grid import Torus, action_of
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.instruments.lambda_star.minds import STAY, reveal, sight, torus_of
from allminds.instruments.lambda_star.patterns import Pattern
from allminds.instruments.lambda_star.world import State, View, World
from allminds.presentation import Presentation
from allminds.registry import group, mind

ALL = tuple(f"lambda-star-{which}" for which in ("coordination", "responsive", "coverage"))
RIGHT, DOWN = action_of(0, 1), action_of(1, 0)


class Watched(NamedTuple):
    """The state of Λ*, and the cells that any mind has seen so far."""

    world: State
    seen: int  # bit `cell` is set if it was seen

    @property
    def good(self) -> int:
        """The cell of Good."""
        return self.world.good

    @property
    def evil(self) -> int:
        """The cell of Evil."""
        return self.world.evil

    @property
    def minds(self) -> tuple[int, ...]:
        """The cells of the minds."""
        return self.world.minds


@dataclass(frozen=True)
class Coverage(Wrapper):
    """Λ* in which a group is paid for what it has seen, and for nothing else.

    The reward of a step, the same for all, is the share of all cells that have been in any mind's
    sight by then, the start included. Good and Evil are on the map as ever, but only tempt.
    """

    inner: World

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """One team of all minds."""
        return (tuple(range(self.inner.agents)),)

    def reset(self, random: Random) -> Watched:
        """Begin as Λ* does; the minds have seen what is round them."""
        state = self.inner.reset(random)
        return Watched(state, self._sight(state))

    def awaited(self, state: Watched) -> tuple[int, ...]:
        """Await every mind until ϑ steps are made."""
        return self.inner.awaited(state.world)

    def observe(self, state: Watched, slot: int) -> View:
        """Show the neighbourhood of a mind, as in Λ*."""
        return self.inner.observe(state.world, slot)

    def step(
        self, state: Watched, actions: Mapping[int, int], random: Random
    ) -> tuple[Watched, Sequence[float]]:
        """Make the step of Λ*; then reward every mind by the share of cells seen so far."""
        after, _ = self.inner.step(state.world, actions, random)
        seen = state.seen | self._sight(after)
        share = seen.bit_count() / self.inner.torus.cells
        return Watched(after, seen), [share] * self.inner.agents

    def secret(self, state: Watched, slot: int, random: Random) -> None:
        """Return None: what is seen depends on the minds alone."""

    def _sight(self, state: State) -> int:
        seen = 0
        for cell in state.minds:
            seen |= sight(self.inner.torus, cell, self.inner.reach)
        return seen


class CoverageSettings(GroupSettings):
    """Settings of coverage, on a larger torus: a small one is soon seen by anybody."""

    rows: int = Field(20, ge=2, le=50, description="rows m of the torus")
    cols: int = Field(20, ge=2, le=50, description="columns n of the torus")


@registry.instrument
class LambdaStarCoverage(LambdaStar):
    """Λ* as a land to be watched: the share of cells that the group has seen, over time.

    The torus, its minds and what they see are those of `lambda-star`; Good and Evil are on the
    map, but only tempt. All minds are one team (Chmait et al. 2016, §6.1). The reward of a
    step is the share of all cells that have been in anybody's sight by then, the start included:
    it lies in (0, 1] and never falls. The score is the mean over the steps, the area under that
    curve; the reward of the last step is what was covered in the end.

    **Actions**, **Observation**, **Episode end**: as in `lambda-star`. **Rewards** as said. Whoever
    stays gets one neighbourhood, 9 of the cells; the expectation of random minds is exact.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "lambda-star-coverage"
    version = 2
    ceiling_mind = "scouts"
    Settings = CoverageSettings

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        given = self.settings
        self.chance = coverage_chance(self.torus, given.iterations, given.agents, given.range)

    def world(self, pattern: Pattern, columns: Mapping[str, float]) -> Environment:
        """Build the world of Λ*, in which only sight counts."""
        return Coverage(self.built(World, pattern, columns))

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.lambda_star.present import CoveragePresentation

        return CoveragePresentation(self)

    def show_state(self, environment: Coverage, state: Watched) -> str:  # type: ignore[override] # its own
        """Draw the whole torus as in Λ*, and tell how much of it has been seen."""
        shown = super().show_state(environment.inner, state.world)
        return f"{shown}\n{state.seen.bit_count()} of {self.torus.cells} cells have been seen"

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the ways if every mind has a kernel, and settle them by what was seen."""
        from allminds.instruments.lambda_star.fast.extensions import coverage_rewards, resettled

        return resettled(self, line_up, coverage_rewards)


# ---------------------------------------------------------------- what random minds can expect


@lru_cache(maxsize=32)
def coverage_chance(torus: Torus, steps: int, agents: int, reach: int) -> float:
    """Compute the expected share of cells seen by random minds, over the steps."""
    away = ~_square(torus, reach)  # where a mind does not see the cell 1
    unseen, found = away.astype(float), []
    for _ in range(steps):
        unseen = away * mixed(unseen)
        found.append(unseen.reshape(-1))
    return 1 - float(_all_of(np.stack(found), agents).mean())


def _square(torus: Torus, reach: int) -> NDArray[np.bool_]:
    """Mark the cells from which cell 1 is seen."""
    seen = np.zeros(torus.cells, bool)
    seen[np.array(torus.around(1, reach)) - 1] = True
    return seen.reshape(torus.rows, torus.cols)


def _all_of(chances: Values, draws: int) -> Values:
    """Compute the chance that all of some cells drawn without replacement meet a condition: [step].

    `chances` is [step, cell]. The cells are gone through one by one: of i cells, each is among j
    drawn ones with chance j/i.
    """
    steps, cells = chances.shape
    table = np.zeros((steps, draws + 1))
    table[:, 0] = 1.0
    for i in range(1, cells + 1):
        drawn = np.arange(1, draws + 1) / i
        table[:, 1:] = (1 - drawn) * table[:, 1:] + drawn * chances[:, i - 1, None] * table[:, :-1]
    found: Values = table[:, draws]
    return found


# ---------------------------------------------------------------- minds


@mind("stay", ALL)
class Stay(MindBase):
    """Stays where it is."""

    traits = Traits(deterministic=True)

    def act(self, observation: View, random: Random) -> int:
        """Stay in the same cell."""
        return STAY


@mind("sweep", ALL)
class Sweep(MindBase):
    """Sweeps the torus as one mows a lawn: along a band as wide as it sees, then the next."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Compute how far it is along a band and across it."""
        self.across = min(2 * task.facts["range"] + 1, task.facts["cols"])
        self.along = task.facts["cols"] - self.across
        self.step = 0

    def act(self, observation: View, random: Random) -> int:
        """Go right until the band is seen, then down to the next."""
        place = self.step % (self.along + self.across)
        self.step += 1
        return RIGHT if place < self.along else DOWN


@mind("explorer", ALL)
class Explorer(MindBase):
    """Goes where it sees most that it has not seen yet; it remembers all that it saw."""

    def begin(self, task: Task) -> None:
        """Begin with nothing seen."""
        self.torus, self.reach, self.seen = torus_of(task), task.facts["range"], 0

    def act(self, observation: View, random: Random) -> int:
        """Move to where most is new."""
        self.seen |= sight(self.torus, observation.cell, self.reach)
        return reveal(self.torus, self.reach, observation.cell, self.seen, random)


@dataclass
@group("scouts", ALL)
class Scouts:
    """Explorers with one memory: in slot order each goes where most is new to all of them."""

    members: Sequence[Subject] = ()

    is_group = True
    alone = "explorer"

    def __post_init__(self) -> None:
        """Reject members: all scouts are explorers."""
        if self.members:
            raise Error("scouts are explorers all of them; leave out the members")

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin with nothing seen."""
        self.torus, self.reach, self.seen = torus_of(tasks[0]), tasks[0].facts["range"], 0

    def act(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move one after the other, each knowing what those before it are about to see."""
        for view in observations:
            self.seen |= sight(self.torus, view.cell, self.reach)
        actions = []
        for view, words in zip(observations, random, strict=True):
            actions.append(reveal(self.torus, self.reach, view.cell, self.seen, words))
            self.seen |= sight(self.torus, self.torus.moved(view.cell, actions[-1]), self.reach)
        return actions
