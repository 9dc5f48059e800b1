"""The instruments `lambda-star-coordination`, `lambda-star-responsive`, `lambda-star-coverage`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from pydantic import Field, model_validator

from allminds import registry
from allminds.contracts import Environment, Fast, LineUp
from allminds.core.watch import Watch
from allminds.instruments.lambda_star.extensions.environment import (
    Coordination,
    Coverage,
    Responsive,
    Watched,
)
from allminds.instruments.lambda_star.extensions.odds import (
    coordination_chance,
    coverage_chance,
    played_chance,
)
from allminds.instruments.lambda_star.instrument import LambdaStar, LambdaStarSettings
from allminds.instruments.lambda_star.patterns import Pattern
from allminds.instruments.lambda_star.world import World
from allminds.presentation import Presentation

ESTIMATED_STEPS = 22_000  # of random minds


class GroupSettings(LambdaStarSettings):
    """Settings of Λ* for several minds, in bounds for which the chance level is computed."""

    rows: int = Field(10, ge=2, le=50, description="rows m of the torus")
    cols: int = Field(10, ge=2, le=50, description="columns n of the torus")
    iterations: int = Field(50, ge=1, le=500, description="steps ϑ of an episode")
    agents: int = Field(5, ge=1, le=20, description="minds on the torus at once")


# ---------------------------------------------------------------- coordination


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
    ever. The map shows Good whether or not it pays, so that minds can wait for each other (P4
    §6.1). With needed=1 it is `lambda-star`, step by step.

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
        """Build the world of Λ* with the rule of coordination."""
        given = self.settings
        return Coordination(
            self.torus, given.iterations, given.agents, given.range, pattern, columns,
            needed=given.needed,
        )  # fmt: skip

    @property
    def presentation(self) -> Presentation:
        """How it is put to people, language models and libraries."""
        from allminds.instruments.lambda_star.extensions.present import CoordinationPresentation

        return CoordinationPresentation(self)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the ways if every mind has a kernel, and settle them by this rule."""
        from allminds.instruments.lambda_star.extensions.fast import resettled, together_rewards

        return resettled(self, line_up, together_rewards)


# ---------------------------------------------------------------- the responsive world


class ResponsiveSettings(LambdaStarSettings):
    """Settings of Λ* in a world that responds."""

    responsive: float = Field(0.25, ge=0, le=1, description="chance q that Good, or Evil, responds")


@registry.instrument
class LambdaStarResponsive(LambdaStar):
    """Λ* in a world that responds: Good shuns the minds and Evil seeks them.

    As `lambda-star`, but at every step Good with chance `responsive` makes a move away from the
    mind nearest to it instead of its pattern's, and so does Evil toward the mind nearest to it
    (P4 §6.1). They respond to where the minds stand before the step: all move at once. With
    responsive=0 it is `lambda-star`, step by step.

    **Actions**, **Observation**, **Rewards**, **Episode end**: as in `lambda-star`. K is that of
    the pattern, which Good follows only when it does not respond.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "lambda-star-responsive"
    version = 2
    ceiling_mind = None
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
        """Build the world of Λ* that responds."""
        given = self.settings
        return Responsive(
            self.torus, given.iterations, given.agents, given.range, pattern, columns,
            responsive=given.responsive,
        )  # fmt: skip

    @property
    def presentation(self) -> Presentation:
        """How it is put to people, language models and libraries."""
        from allminds.instruments.lambda_star.extensions.present import ResponsivePresentation

        return ResponsivePresentation(self)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if it is one mind with a kernel."""
        from allminds.instruments.lambda_star.extensions.fast import fast_form

        return fast_form(self, line_up)


@lru_cache(maxsize=32)
def _responsive_chance(settings: ResponsiveSettings) -> float:
    """Estimate the chance level in about half a second, with as many steps of every K."""
    tool = LambdaStarResponsive(**settings.model_dump())
    levels = len(tool.complexities) or 1
    steps = settings.iterations * settings.agents * levels
    return played_chance(tool, levels * max(1, ESTIMATED_STEPS // steps))


# ---------------------------------------------------------------- coverage


class CoverageSettings(GroupSettings):
    """Settings of coverage, on a larger torus: a small one is soon seen by anybody."""

    rows: int = Field(20, ge=2, le=50, description="rows m of the torus")
    cols: int = Field(20, ge=2, le=50, description="columns n of the torus")


@registry.instrument
class LambdaStarCoverage(LambdaStar):
    """Λ* as a land to be watched: the share of cells that the group has seen, over time.

    The torus, its minds and what they see are those of `lambda-star`; Good and Evil are on the
    map, but only tempt. All minds are one team (P4 §6.1). The reward of a step is the share of all
    cells that have been in anybody's sight by then, the start included: it lies in (0, 1] and
    never falls. The score is the mean over the steps, the area under that curve; the reward of the
    last step is what was covered in the end.

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
        given = self.settings
        return Coverage(
            World(self.torus, given.iterations, given.agents, given.range, pattern, columns)
        )

    @property
    def presentation(self) -> Presentation:
        """How it is put to people, language models and libraries."""
        from allminds.instruments.lambda_star.extensions.present import CoveragePresentation

        return CoveragePresentation(self)

    def show_state(self, environment: Coverage, state: Watched) -> str:  # type: ignore[override]
        """Draw the whole torus as in Λ*, and tell how much of it has been seen."""
        shown = super().show_state(environment.inner, state.world)
        return f"{shown}\n{state.seen.bit_count()} of {self.torus.cells} cells have been seen"

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the ways if every mind has a kernel, and settle them by what was seen."""
        from allminds.instruments.lambda_star.extensions.fast import coverage_rewards, resettled

        return resettled(self, line_up, coverage_rewards)
