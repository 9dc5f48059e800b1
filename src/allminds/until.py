"""Tests that end when the ability is known as exactly as asked: ``until width=1``.

Every instrument that can make an exercise of a wanted level of complexity (`Instrument.levels`)
can be given so, one of the user's too. Exercises come in rounds of a fixed size. Which levels a
round has depends on the answers of earlier rounds only, and the n-th exercise of a level is the
same for every mind: so neither the number of jobs nor the order of replies changes anything.
The score is the ability, in units of the complexity; `inference.ability` says how it is estimated,
why its interval holds whenever one stops, and how levels are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import Field

from allminds import registry
from allminds.contracts import STATUSES, Environment, Exercise, Failure, Instrument, Record
from allminds.core.errors import Error
from allminds.core.settings import Settings, checked
from allminds.inference import Rule
from allminds.inference.ability import Ability, Ladder
from allminds.inference.estimates import play_scores
from allminds.inference.units import Values
from allminds.presentation import Presentation

ROUND, MOST = 5, 1000  # exercises in a round, and in all, if nothing is said


class Until(Settings):
    """When a test ends."""

    width: float = Field(gt=0, le=1000, description="of the interval, in units of complexity")
    most: int = Field(MOST, ge=1, le=100_000, description="exercises at most")
    round: int = Field(ROUND, ge=1, le=1000, description="exercises that are chosen together")

    @classmethod
    def of(cls, given: Any) -> Until:
        """Read what a user writes: text such as width=1,most=300, a mapping, or a width."""
        if isinstance(given, Until):
            return given
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            given = {"width": given}
        if isinstance(given, str):
            pairs = [word.partition("=") for word in given.split(",")]
            if not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
                raise Error(f"until: '{given}' is not understood; write width=1.0,most=300")
            given = {name.strip(): value.strip() for name, _, value in pairs}
        if not isinstance(given, Mapping):
            raise Error(f"until must be text such as width=1.0,most=300, not {given!r}")
        return checked(cls, given, "until")

    def plain(self) -> str:
        """Write it in its one form: text without what is said by default."""
        made = self.model_dump(exclude_defaults=True)
        return ",".join(f"{name}={value:g}" for name, value in made.items())


class UntilSettings:
    """The settings of an instrument, and when the test ends."""

    def __init__(self, inner: Any, until: Until) -> None:
        self.inner, self.until = inner, until

    def model_dump(self, mode: str = "python", exclude_defaults: bool = False) -> dict[str, Any]:
        """Convert the settings to a plain value."""
        own = self.inner.model_dump(mode=mode, exclude_defaults=exclude_defaults)
        return {**own, "until": self.until.plain()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "inner" not in vars(self):
            raise AttributeError(name)
        return getattr(self.inner, name)


FORWARDED = (
    "name", "version", "chance", "ceiling", "lowest", "highest", "scored", "floor_mind", "items",
    "ceiling_mind", "ceiling_reached", "slots",
)  # fmt: skip


class UntilInstrument(Instrument):
    """An instrument whose exercises are chosen by the answers, until the ability is known.

    One administration has at most `most` exercises. It ends after the first round at which the
    interval of the ability is as narrow as asked; failed exercises count as the lowest score.
    """

    adaptive = True

    def __init__(self, inner: Instrument, given: Any) -> None:
        self.inner, self.until = inner, Until.of(given)
        self.inner_levels = tuple(float(level) for level in inner.levels)
        column = inner.rule().strata
        if len(self.inner_levels) < 2 or column is None:
            raise Error(
                f"{inner.name} cannot be asked level by level with these settings, so it has no "
                "until; it needs exercises of two levels of complexity or more"
            )
        for name in FORWARDED:
            setattr(self, name, getattr(inner, name))
        self.strata = column
        self.settings = UntilSettings(inner.settings, self.until)
        self.sitting, self.together = self.until.most, self.until.round

    @property
    def kind(self) -> type[Instrument]:
        """The class of the instrument inside."""
        return self.inner.kind

    # ------------------------------------------------------------ exercises

    @cached_property
    def ladder(self) -> Ladder:
        """The choice of levels, and the estimate."""
        chance = float(self._share(np.array(self.chance, float)))
        pairs = tuple((level, chance) for level in sorted(self.inner_levels))
        return Ladder(pairs, self.until.width, self.until.round)

    def _share(self, score: Values) -> Values:
        """Convert scores to shares of a hit, from the lowest score there can be to the highest."""
        return np.asarray((score - self.lowest) / (self.highest - self.lowest))

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make number i % sitting of administration i // sitting, after the records before it."""
        place = i % self.sitting
        if len(history) < place - place % self.together:
            raise Error(
                f"exercise {i} of {self.name} is chosen by the answers to those before it, and "
                f"needs the {place} records of these, not {len(history)}"
            )
        return self.placed(seed, i, *self.asked(i, history))

    def asked(self, i: int, history: Sequence[Record]) -> tuple[float, int]:
        """Choose the level of exercise i, and which of this level it is, counted from 0."""
        place = i % self.sitting
        start = place - place % self.together
        before = [record.complexity[self.strata or ""] for record in history[:start]]
        here = _next_levels(self.ladder, *self._answers(history[:start]))[: place - start + 1]
        nth = [*before, *here[:-1]].count(here[-1])
        return here[-1], nth + i // self.sitting * self.sitting

    def placed(self, seed: int, i: int, level: float, nth: int) -> Exercise:
        """Make exercise i of the test: number `nth` of a level of the instrument inside."""
        made = self.inner.at_level(seed, level, nth)
        return replace(made, id=f"{registry.exercise_prefix(self, seed)}{i}", tool=self, index=i)

    def is_over(self, history: Sequence[Record]) -> bool:
        """Return True after a round if the interval is as narrow as asked.

        A round in which every exercise is missing, since no provider answers, is the last, too.
        """
        if not history or len(history) % self.together:
            return False
        if all("missing" in one.status for one in history[-self.together :]):
            return True
        return _is_done(self.ladder, *self._answers(history))

    def _answers(self, history: Sequence[Record]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return levels and shares of hits of the records that are not missing."""
        if not history:
            return (), ()
        slots = list(self.scored_slots)
        score = np.array([[np.nan if x is None else x for x in one.score] for one in history])
        status = np.array([[STATUSES.index(x) for x in one.status] for one in history], np.int8)
        level = np.array([one.complexity[self.strata or ""] for one in history])
        played, _ = play_scores(score[:, slots], status[:, slots])
        there = ~np.isnan(played)
        return tuple(level[there].tolist()), tuple(self._share(played[there]).tolist())

    # ------------------------------------------------------------ the score

    def ability(self, level: Values, score: Values) -> Ability:
        """Estimate the ability from all exercises of an administration; NaN is a missing one."""
        there = ~np.isnan(score)
        return self.ladder.priced(level[there], self._share(score[there]))

    def rule(self) -> Rule:
        """Score by the ability, in units of complexity."""
        return replace(
            super().rule(),
            figure=lambda level, score: self.ability(level, score).value,
            ability=self.ability,
        )

    def cautioned(self, exercises: int) -> str:
        """State what the score is, and what the instrument inside has to say."""
        low, high = self.ladder.curves.scale
        said = (
            f"The score is the ability: the {self.strata} at which scores pass halfway between "
            f"chance and the best, on a scale from {low:g} (or less) to {high:g} (or more). Its "
            "interval holds at whatever time one stops, if rates follow an S-shaped curve."
        )
        return f"{said} {self.inner.caution}".strip()

    # ------------------------------------------------------------ what stays as it is

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        return self.inner.show(observation, form)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        return self.inner.read(answer, observation)

    def show_state(self, environment: Any, state: Any) -> str:
        return self.inner.show_state(environment, state)

    def failed_score(self, environment: Environment, slot: int, rewards: Sequence[float]) -> float:
        return self.inner.failed_score(environment, slot, rewards)

    @property
    def presentation(self) -> Presentation:
        return self.inner.presentation


def exercise_of(tool: Instrument, about: Mapping[str, Any]) -> Exercise:
    """Make an exercise again, of seed, index and, if it was chosen, what was chosen: `asked`."""
    if isinstance(tool, UntilInstrument):
        return tool.placed(about["seed"], about["index"], *about["chosen"])
    return tool.exercise(about["seed"], about["index"])


Answers = tuple[float, ...]


@lru_cache(maxsize=4096)
def _next_levels(ladder: Ladder, level: Answers, hits: Answers) -> list[float]:
    return ladder.next_levels(np.array(level), np.array(hits))


@lru_cache(maxsize=4096)
def _is_done(ladder: Ladder, level: Answers, hits: Answers) -> bool:
    return ladder.is_done(np.array(level), np.array(hits))
