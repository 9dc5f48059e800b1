"""The instrument `landscape`: settings, and exercises spread over the number of hills."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, field_validator

from allminds import registry
from allminds.contracts import Exercise, Failure, Fast, Instrument, Record
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, Random, key, stratum
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.world import View, read_move, show_view
from allminds.instruments.landscape.world import (
    Hills,
    Landscape,
    Standpoint,
    autocorrelation,
    basin,
    draw,
    most_hills,
    optima,
)
from allminds.presentation import Presentation

DEFAULT_PEAKS = "2..16"  # cut to what there is room for; any other range must be there whole


class LandscapeSettings(Settings):
    """Settings of a fitness landscape; `peaks` is a value or a range such as 2..16."""

    rows: int = Field(20, ge=5, le=100, description="rows of the torus")
    cols: int = Field(20, ge=5, le=100, description="columns of the torus")
    iterations: int = Field(100, ge=1, le=10_000, description="steps ϑ of an episode")
    agents: int = Field(1, ge=1, description="minds on the landscape at once")
    range: int = Field(1, ge=1, le=10, description="how far a mind sees")
    peaks: str = Field(DEFAULT_PEAKS, description="local optima: a value, or low..high")
    drift: float = Field(0.0, ge=0, le=1, description="chance that a hill moves in a step")

    @field_validator("peaks", mode="before")
    @classmethod
    def _peaks_are_a_range(cls, value: Any) -> str:
        text = str(value).strip()
        low, dots, high = text.partition("..")
        if low.isdigit() and (high.isdigit() if dots else True):
            if 1 <= int(low) <= int(high or low):
                return text
            raise ValueError(f"'{text}' is empty: peaks run from 1 up, the lower number first")
        raise ValueError(f"'{text}' is not a value or a range such as 2..16")


@registry.instrument
class FitnessLandscape(Instrument):
    """Fitness landscape: find the highest of many hills, and stay on it.

    A field of fitness in [-1, 1] lies over a torus, with many local optima and one global one, of
    fitness 1 (Chmait et al. 2016, §6.2). A mind sees the cells round it and their fitness, makes
    one king move a step and gets the fitness of its cell: to go on looking costs, and to stop may
    mean a lesser hill. With `drift` the hills wander, each a king move with that chance a step.

    **Actions** 1..9 as in `lambda-star`. **Observation** `View`: cells and fitness of the Moore
    neighbourhood in reading order. **Rewards** the fitness of the mind's cell, whose mean over all
    cells is 0 at every step: that is what a random mind expects. **Episode end** after
    `iterations` steps. Exploration, regret and steps to the optimum: `landscape.measures`.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "landscape"
    version = 2
    chance = 0.0
    ceiling = 1.0
    ceiling_mind = "optimum"
    ceiling_reached = False  # it takes some steps to reach the highest hill
    strata = "optima"
    Settings = LandscapeSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(LandscapeSettings, settings, self.name)
        given = self.settings
        self.ground = Torus(given.rows, given.cols)
        self.slots = given.agents
        if given.agents > self.ground.cells:
            raise Error(
                f"{self.name}: {given.agents} minds do not fit on {given.rows}x{given.cols} "
                f"= {self.ground.cells} cells; set agents to at most {self.ground.cells}"
            )
        self.peaks = self._peaks()

    def _peaks(self) -> tuple[int, ...]:
        """List the numbers of hills that exercises run through."""
        low, _, high = self.settings.peaks.partition("..")
        wanted, room = range(int(low), int(high or low) + 1), most_hills(self.ground)
        if self.settings.peaks == DEFAULT_PEAKS:
            return tuple(n for n in wanted if n <= room) or (room,)
        if wanted[-1] > room:
            raise Error(
                f"{self.name}: {wanted[-1]} hills do not fit on {self.ground.rows}x"
                f"{self.ground.cols} cells; set peaks to at most {room}"
            )
        return tuple(wanted)

    # ------------------------------------------------------------ exercises

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make exercise i; every S exercises have each of the S numbers of hills once, by lot."""
        given = self.settings
        peaks = self.peaks[stratum(seed, i, len(self.peaks))]
        hills, of_hills = _made(self.ground, peaks, key(seed, i, MAKING))
        columns = {**of_hills, "drift": given.drift}
        world = Landscape(hills, given.iterations, given.agents, given.range, given.drift, columns)
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, world)

    # ------------------------------------------------------------ for people and models

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.landscape.present import LandscapePresentation

        return LandscapePresentation(self)

    def show(self, observation: View, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show the neighbourhood as a small table of fitness."""
        return show_view(observation, form, self.name, digits=3)

    def read(self, answer: str, observation: View) -> int | Failure:
        """Parse an action by its number 1..9 or its name."""
        return read_move(answer)

    def show_state(self, environment: Landscape, state: Standpoint) -> str:
        """Draw the land in tenths, ^ the global optimum, digits in brackets the minds."""
        field, ground = environment.field(state), self.ground
        lines = []
        for row in range(ground.rows):
            cells = [ground.cell(row, col) for col in range(ground.cols)]
            lines.append("".join(_marked(cell, field[cell - 1], state) for cell in cells))
        return "\n".join(line.rstrip() for line in lines)

    # ------------------------------------------------------------ the quick form

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if every mind has a kernel."""
        from allminds.instruments.landscape.fast import fast_form

        return fast_form(self, line_up)


@lru_cache(maxsize=1 << 10)
def _made(ground: Torus, peaks: int, making: int) -> tuple[Hills, Mapping[str, float]]:
    """Make hills and their complexity columns; the last are remembered for the other minds."""
    hills = draw(ground, peaks, Random(making))
    field = hills.field
    columns = {
        "optima": float(len(optima(field))),
        "basin": basin(field),
        "autocorrelation": autocorrelation(field),
        "H": math.log2(ground.cells),
    }
    return hills, columns


def _marked(cell: int, value: float, state: Standpoint) -> str:
    text = "^" if cell == state.tops[0] else f"{10 * value:.0f}"
    here = [slot for slot, mind in enumerate(state.minds) if mind == cell]
    mark = ("*" if len(here) > 1 else str(here[0] % 10)) if here else ""
    return f"{text:>3}{f'[{mark}]' if mark else '   '}"
