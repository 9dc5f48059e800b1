"""Λ* in a world that responds: Good shuns the minds and Evil seeks them (Chmait et al. 2016)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from pydantic import Field

from allminds import registry
from allminds.contracts import Environment, Fast, Instrument, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import Random
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.instruments.lambda_star.instrument import LambdaStar, TorusSettings
from allminds.instruments.lambda_star.patterns import Pattern
from allminds.instruments.lambda_star.world import State, View, World
from allminds.instruments.rules import parted
from allminds.presentation import Presentation
from allminds.registry import mind

GOOD_RESPONDS, EVIL_RESPONDS, WHERE_TO = 1, 2, 3  # words of a step; 0 parts Good and Evil
ESTIMATED_STEPS = 22_000  # of random minds
SEED = 0xC0FFEE  # of the exercises that an estimate is made of


class Unfolding(NamedTuple):
    """What a mind that sees the future is told of a world that responds: how it goes on.

    Where Good and Evil will be depends on what the minds do, so there is no list of cells; the
    world itself, its first state and its random words tell all.
    """

    world: Responsive
    state: State
    random: Random


@dataclass(frozen=True)
class Responsive(World):
    """Λ* in which Good shuns the minds and Evil seeks them, each with chance `responsive` (q).

    At a step at which Good or Evil responds, it makes a move of its own instead of its pattern's:
    Good one of those that take it farthest from the mind nearest to it, drawn by lot among equals;
    Evil one step toward the mind nearest to it. They respond to where the minds stand before the
    step: all move at once, and none moves second. Of minds equally near the first slot's counts.
    """

    responsive: float = 0.25  # q

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts of Λ*, and how often the world responds."""
        return {**super().facts, "responsive": self.responsive}

    def travel(self, state: State, random: Random) -> tuple[int, int]:
        """Move Good away from the minds and Evil toward them, or as the patterns say."""
        good, evil = self.pattern.intended(self.torus, state.step + 1, state.good, state.evil)
        if random.unit_at(GOOD_RESPONDS) < self.responsive:
            good = self._away(state.good, self._nearest(state.good, state.minds), random)
        if random.unit_at(EVIL_RESPONDS) < self.responsive:
            nearest = self._nearest(state.evil, state.minds)
            evil = self.torus.moved(state.evil, self.torus.toward(state.evil, nearest))
        return parted(state.good, state.evil, good, evil, random.below_at(2, 0))

    def _nearest(self, cell: int, minds: Sequence[int]) -> int:
        return min(minds, key=lambda mind: self.torus.distance(cell, mind))

    def _away(self, cell: int, mind: int, random: Random) -> int:
        reached = [self.torus.moved(cell, action) for action in range(1, 10)]
        far = [self.torus.distance(to, mind) for to in reached]
        best = [to for to, distance in zip(reached, far, strict=True) if distance == max(far)]
        return best[random.below_at(len(best), WHERE_TO)]

    def secret(self, state: State, slot: int, random: Random) -> Any:
        """Return the world itself, whose way depends on the minds."""
        return Unfolding(self, state, random)


class ResponsiveSettings(TorusSettings):
    """Settings of Λ* in a world that responds."""

    responsive: float = Field(0.25, ge=0, le=1, description="chance q that Good, or Evil, responds")


@registry.instrument
class LambdaStarResponsive(LambdaStar):
    """Λ* in a world that responds: Good shuns the minds and Evil seeks them.

    As `lambda-star`, but at every step Good with chance `responsive` makes a move away from the
    mind nearest to it instead of its pattern's, and so does Evil toward the mind nearest to it
    (Chmait et al. 2016, §6.1). They respond to where the minds stand before the step: all move at
    once. With responsive=0 it is `lambda-star`, step by step.

    **Actions**, **Observation**, **Rewards**, **Episode end**: as in `lambda-star`. K is that of
    the pattern, which Good follows only when it does not respond.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "lambda-star-responsive"
    version = 2
    ceiling_mind = None
    caution_by_settings = True
    Settings = ResponsiveSettings

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.settings.agents == 1:
            self.ceiling_mind = "expert"
        if self.settings.responsive:
            self.caution = "The chance level is an estimate, from random minds on other exercises."

    @cached_property
    def chance(self) -> float:  # type: ignore[override] # worked out when it is asked for
        """The score of a random mind: 0 if nothing responds, else less."""
        return _responsive_chance(self.settings) if self.settings.responsive else 0.0

    def world(self, pattern: Pattern, columns: Mapping[str, float]) -> Environment:
        return self.built(Responsive, pattern, columns, responsive=self.settings.responsive)

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.lambda_star.present import ResponsivePresentation

        return ResponsivePresentation(self)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if it is one mind with a kernel."""
        from allminds.instruments.lambda_star.fast.extensions import fast_form

        return fast_form(self, line_up)


@lru_cache(maxsize=32)
def _responsive_chance(settings: ResponsiveSettings) -> float:
    """Estimate the chance level in about half a second, with as many steps of every K."""
    tool = LambdaStarResponsive(**settings.model_dump())
    levels = len(tool.complexities) or 1
    steps = settings.iterations * settings.agents * levels
    return played_chance(tool, levels * max(1, ESTIMATED_STEPS // steps))


def played_chance(tool: Instrument, exercises: int) -> float:
    """Estimate the chance level: the mean score of random minds on exercises of its own seed."""
    way = form(tool, registry.line_up("random", tool), Watch())
    return float(way.play(SEED, 0, exercises, 0).score.mean())


@mind("expert", "lambda-star-responsive")
class RespondingExpert(MindBase):
    """Knows where Good and Evil will be next, and goes where that pays most; alone on the torus.

    They respond to where it stands and not to where it goes, so that one step ahead it can be
    certain. Among moves that pay the same it takes the one that ends nearest to Good. It looks one
    step ahead and no farther, so it is no ceiling.
    """

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task: Task) -> None:
        """Learn how the world goes on."""
        if task.slots > 1:
            raise Error(f"expert foresees one mind's world, not that of {task.slots}; set agents=1")
        told: Unfolding = task.secret
        self.world, self.state, self.random = told

    def act(self, observation: View, random: Random) -> int:
        """Move to the best of nine cells at the next step."""
        step = self.state.step + 1
        good, evil = self.world.travel(self.state, self.random.at_step(step))
        torus = self.world.torus
        after = [
            State(step, good, evil, (torus.moved(observation.cell, action),))
            for action in range(1, 10)
        ]
        worth = [
            (self.world.rewards(state)[0], -torus.distance(state.minds[0], good)) for state in after
        ]
        best = worth.index(max(worth))
        self.state = after[best]
        return best + 1
