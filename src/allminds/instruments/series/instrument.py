"""The instrument `c-test`: the published items as a fixed form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator

from allminds import registry
from allminds.contracts import Exercise, Failure, Instrument, Record
from allminds.errors import Error
from allminds.estimate import StratifiedMean, Tally
from allminds.instruments.series.environment import (
    LETTERS,
    NO_ANSWER,
    Item,
    Question,
    Scoring,
)
from allminds.instruments.series.options import five_options
from allminds.instruments.series.published import ABDUCTION, INDUCTION
from allminds.instruments.series.tally import WeightedHits
from allminds.seeding import MAKING, Random, key
from allminds.settings import Settings, checked


class CTestSettings(Settings):
    """Settings of the C-test."""

    form: Literal["published"] = Field("published", description="which items")
    task: Literal["induction", "abduction", "both"] = Field(
        "induction", description="the next letter, a missing one, or both"
    )
    options: int = Field(26, description="26 for a free answer, or 5")
    scoring: Scoring = Field("weighted", description="r̃, or points as given to people")

    @field_validator("options")
    @classmethod
    def _free_or_five(cls, value: int) -> int:
        if value not in (5, 26):
            raise ValueError(f"{value} will not do; choose 26 for a free answer, or 5")
        return value


@registry.instrument
class CTest(Instrument):
    """C-test: complete a series of letters whose simplest explanation has a known complexity k.

    After Hernández-Orallo (2000). An exercise is one question: the next letter (induction) or a
    missing one (abduction), with the k that the author gives. The score r̃ weighs every hit by k.
    The items are public: a language model may have met them.

    **Actions**: an option by its number from 0, or -1 for no answer.
    **Observation** `Item`: the series with `_` at the blank, and the letters to choose from.

    Version history: 1, first version.
    """

    name = "c-test"
    version = 1
    slots = 1
    ceiling = 1.0
    strata = None
    Settings = CTestSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(CTestSettings, settings, self.name)
        given = self.settings
        self.chance = 0.0 if given.scoring == "administered" else 1 / given.options
        if given.scoring == "administered" and given.options != 5:
            raise Error(f"{self.name}: scoring=administered needs five options; set options=5")
        self.length = len(self.published)

    @cached_property
    def published(self) -> tuple[Any, ...]:
        """The published items asked for."""
        chosen = {"induction": INDUCTION, "abduction": ABDUCTION, "both": INDUCTION + ABDUCTION}
        return chosen[self.settings.task]

    # ------------------------------------------------------------ exercises

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:  # noqa: ARG002
        """Item i of the form, in order; after the last comes the first again."""
        item = self.published[i % len(self.published)]
        options = LETTERS
        if self.settings.options == 5:
            options = five_options(item.shown, item.answer, "", Random(key(seed, i, MAKING)))
        columns = {"k": float(item.k), "letters": float(len(item.shown) - 1)}
        asked = Question(item.shown, item.answer, options, columns, self.settings.scoring)
        prefix = registry.exercise_prefix(self, seed)
        return Exercise(f"{prefix}{i}", self.name, seed, i, asked)

    def tally(self) -> Tally:
        """r̃, or the mean of the points."""
        if self.settings.scoring == "administered":
            return StratifiedMean(None, self.chance, self.ceiling)
        return WeightedHits(self.chance, self.ceiling)

    # ------------------------------------------------------------ for people and models

    def show(self, observation: Item, form: Literal["text", "html", "svg", "array"]) -> Any:
        """The series, and the options if they are not all letters."""
        if form not in ("text", "html"):
            raise Error(f"{self.name} cannot be shown as {form}; choose text or html")
        series = " ".join(observation.shown)
        given = "" if observation.options == LETTERS else " ".join(observation.options)
        return (
            f"<p>{series}</p>{f'<p>{given.strip()}</p>' if given else ''}"
            if form == "html"
            else (series + given)
        )

    def read(self, answer: str, observation: Item) -> int | Failure:
        """One of the letters on offer, or "none"."""
        text = answer.strip().lower()
        if text == "none":
            return NO_ANSWER
        if len(text) == 1 and text in observation.options:
            return observation.options.index(text)
        return Failure("malformed", f"'{answer[:60]}' is not one of the letters on offer")
