"""Adaptive tests in Λ: the anytime test and the staircase, and the error of a staircase's level."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from allminds import registry
from allminds.contracts import FAILURES, Exercise, Record
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key
from allminds.core.settings import checked
from allminds.inference import Rule
from allminds.inference.estimates import over_figures
from allminds.inference.intervals import mostly_alike
from allminds.inference.units import Values
from allminds.instruments.lambda_.instrument import CellsInstrument, SpaceSettings
from allminds.instruments.lambda_.world import (
    FEWEST,
    MOST,
    Space,
    draw_cells,
    draw_pattern_of,
    draw_space,
)

BATCHES = 5  # that the second half of a staircase is cut into
LEAST_HALF = 500  # exercises in it, from which on batch means are as good as independent


def level(xi: Values, reward: Values) -> float:  # noqa: ARG001
    """Average ξ over the second half."""
    return float(second_half(xi).mean())


def level_error(xi: Values, reward: Values) -> tuple[float, float] | None:  # noqa: ARG001
    """Estimate the standard error and degrees of freedom by batch means, if long enough.

    ξ is a walk: neighbours are alike, for a model-based mind over some twenty exercises, and a
    short path cannot know how far (simulated: with the 50 exercises of the usual second half, ten
    batches gave errors that were 20 to 58 % too small). Five batches of 100 or more hold, by t on
    4 degrees of freedom.
    """
    later = second_half(xi)
    if len(later) < LEAST_HALF or mostly_alike(later):
        return None
    return over_figures(np.array([batch.mean() for batch in np.array_split(later, BATCHES)]))


def second_half(path: Values) -> Values:
    """Return the later half of a path, the middle one included."""
    return path[len(path) // 2 :]


# ---------------------------------------------------------------- adaptive tests in Λ


PATIENCE = 100  # draws in a row that were all used before: no unused environment is left
TOP = 40.0  # ξ goes no higher


class AdaptiveSettings(SpaceSettings):
    """Settings of the adaptive tests."""

    time: int = Field(10_000, ge=1, le=10_000_000, description="steps of one administration")
    cells: int | None = Field(
        None, ge=FEWEST, le=MOST, description="n_c; by default drawn, 2^-n on 2..9"
    )


class StaircaseSettings(AdaptiveSettings):
    """Settings of the staircase."""

    steps: int = Field(100, ge=1, le=100_000, description="steps τ of every exercise")


class Adaptive(CellsInstrument):
    """What the adaptive tests share; they differ in how long exercises are and how ξ moves."""

    adaptive = True
    strata = "xi"
    settings: Any
    durations: tuple[int, ...]  # steps τ of each exercise of an administration

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make number i % sitting of administration i // sitting, after the records before it."""
        place = i % self.sitting
        if len(history) != place:
            raise Error(
                f"exercise {i} of {self.name} is number {place} of its administration and needs "
                f"the {place} records before it, not {len(history)}"
            )
        used = {record.complexity["identity"] for record in history}
        making = Random(key(seed, i, MAKING))
        xi, space, pattern = self._unused(self._level(history), used, making)
        world = self.world(space, pattern, self.durations[place], making)
        more = {"xi": xi, "identity": _identity(space, pattern)} | self._readings(history)
        placed = replace(world, complexity={**world.complexity, **more})
        return self.in_place(seed, i, placed)

    def _unused(self, xi: float, used: set[float], making: Random) -> tuple[float, Space, str]:
        """Draw an environment of complexity ⌊ξ⌋; raise ξ by 1 where none is unused."""
        attempt = 0
        while True:
            for _ in range(PATIENCE):
                attempt += 1
                space, pattern = self._drawn(math.floor(xi), making.part(attempt))
                if _identity(space, pattern) not in used:
                    return xi, space, pattern
            xi += 1

    def _drawn(self, phrases: int, random: Random) -> tuple[Space, str]:
        cells = self.settings.cells or draw_cells(random)
        space = draw_space(cells, None, self.settings.disabled, random)
        return space, draw_pattern_of(phrases, space.actions, random.part(1))

    def _level(self, history: Sequence[Record]) -> float:
        """Return ξ after these records."""
        if not history:
            return 1.0
        return self.moved(history[-1].complexity["xi"], self._reward(history[-1]))

    def _reward(self, record: Record) -> float:
        """Compute R, the mean over slots and steps; a failure counts as `failed_score` says.

        Steps that were not made for another reason, such as a time that is over, count 0.
        """
        failed = [
            score or 0.0
            for score, status in zip(record.score, record.status, strict=True)
            if status in FAILURES
        ]
        if failed:
            return math.fsum(failed) / len(failed)
        made = math.fsum(reward for rewards in record.rewards for reward in rewards)
        return made / len(record.score) / self.durations[record.index % self.sitting]

    @abstractmethod
    def moved(self, xi: float, reward: float) -> float:
        """Return ξ after an exercise that was given at ξ and brought R."""

    def _readings(self, history: Sequence[Record]) -> dict[str, float]:
        """Return what else is read off before an exercise."""
        return {}


def _identity(space: Space, pattern: str) -> float:
    """Compute a number that identifies an environment."""
    digest = hashlib.sha256(f"{space} {pattern}".encode()).digest()
    return float(int.from_bytes(digest[:6], "big"))


@registry.instrument
class Anytime(Adaptive):
    """The anytime test: harder as long as a mind gains, longer and longer, read at any moment.

    After Hernández-Orallo and Dowe (2010). It begins with ξ = 1 and τ = 20 steps; after an exercise
    that brought R, Υ += ξ·R, ξ <- min(40, max(1, ξ + ξ·R/2)) and τ <- min(2000, 1.5 τ). The score
    is Υ divided by the environments used; column `upsilon` is Υ before an exercise, so that the
    test can be stopped and read anywhere.

    **What may be compared**: scores at equal `time` only, for they grow with it; with the same
    settings; and never with the scores of `lambda`, which are mean rewards. The interval is over
    administrations, so it takes several of them: exercises 0..sitting-1 are the first, and so on.

    **Actions**, **observation** as in `lambda`.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "lambda-anytime"
    caution = (
        "Scores grow with time: compare them at equal time and settings only, and never with mean "
        "rewards."
    )
    Settings = AdaptiveSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(AdaptiveSettings, settings, self.name)
        self.begin()
        self.durations = tuple(_durations(self.settings.time))
        self.sitting = len(self.durations)

    def moved(self, xi: float, reward: float) -> float:
        """Move ξ up by half of ξ·R, within 1..40."""
        return min(TOP, max(1.0, xi + xi * reward / 2))

    def _readings(self, history: Sequence[Record]) -> dict[str, float]:
        gained = [record.complexity["xi"] * self._reward(record) for record in history]
        return {"upsilon": math.fsum(gained)}

    def rule(self) -> Rule:
        """Score Υ / environments used, the mean of ξ·R; a single administration has no error."""
        return replace(super().rule(), figure=lambda xi, reward: float((xi * reward).mean()))


def _durations(time: int) -> list[int]:
    """List 20, 30, 45, … steps, at most 2,000, until the time is over."""
    durations, tau = [], 20.0
    while time > 0:
        durations.append(min(time, int(tau)))
        time -= durations[-1]
        tau = min(2000.0, 1.5 * tau)
    return durations


@registry.instrument
class Staircase(Adaptive):
    """The staircase: complexity goes up and down until a mind gets half of what can be got.

    The stable form of the anytime test. Every exercise has τ steps (`steps`); after one that
    brought R, ξ <- max(1, ξ + 2(R̃ - ½)), R̃ being R from floor (a random mind, 0) to ceiling (1).
    A mind's level is the mean ξ of the second half of an administration.

    **What may be compared**: levels of minds with the same settings, also at different `time` once
    they have settled. A mind that gets more than half of everything climbs for ever, so ξ stops at
    40 (ours): its level says "at least", and depends on the time until it is there. Levels count
    LZ76 phrases of a pattern; they are no mean rewards and do not go beside the scores of `lambda`.

    **Actions**, **observation** as in `lambda`.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "lambda-staircase"
    caution = (
        "Levels are complexities, not mean rewards: compare them with the same settings only. A "
        'level of 40 says "at least".'
    )
    levels = tuple(map(float, range(1, math.floor(TOP) + 1)))
    Settings = StaircaseSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(StaircaseSettings, settings, self.name)
        self.begin()
        given = self.settings
        if given.time < given.steps:
            raise Error(f"{self.name}: time={given.time} is shorter than one exercise; set more")
        self.sitting = given.time // given.steps
        self.durations = (given.steps,) * self.sitting

    def at_level(self, seed: int, level: float, n: int) -> Exercise:
        """Draw environment number n of those of complexity ξ; one may come again."""
        i = n * len(self.levels) + self.levels.index(level)
        making = Random(key(seed, i, MAKING))
        space, pattern = self._drawn(math.floor(level), making.part(1))
        world = self.world(space, pattern, self.settings.steps, making)
        more = {"xi": level, "identity": _identity(space, pattern)}
        return self.in_place(seed, i, replace(world, complexity={**world.complexity, **more}))

    def moved(self, xi: float, reward: float) -> float:
        """Move ξ up by 2(R̃ - ½), within 1..40."""
        share = (reward - self.chance) / (self.ceiling - self.chance)
        return min(TOP, max(1.0, xi + 2 * (share - 0.5)))

    def rule(self) -> Rule:
        """Score by the mean ξ of the second half."""
        return replace(super().rule(), figure=level, error=level_error)
