"""A question about a series of letters: an environment of one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete, Question
from allminds.core.seeding import Random

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BLANK = "_"
NO_ANSWER = -1

Scoring = Literal["weighted", "administered"]


class Item(NamedTuple):
    """What a mind sees: the series with `_` at the blank, and the letters it may answer."""

    shown: str
    options: str

    @property
    def blank(self) -> int:
        """The place of the blank, from 0."""
        return self.shown.index(BLANK)


@dataclass(frozen=True)
class Answers(Discrete):
    """The options, numbered from 0, or `NO_ANSWER`."""

    def contains(self, action: Any) -> bool:
        """Return whether an answer is an option, or the choice to give none."""
        return super().contains(action) or (type(action) is int and action == NO_ANSWER)


@dataclass(frozen=True)
class SeriesQuestion(Question):
    """One item of the C-test. The reward is the hit, or the points as given to people."""

    shown: str
    answer: str
    options: str
    complexity: Mapping[str, float]
    scoring: Scoring = "weighted"

    @property
    def actions(self) -> Sequence[Discrete]:
        """The options, one of which is the action."""
        return (Answers(len(self.options), labels=tuple(self.options)),)

    def observe(self, state: int | None, slot: int) -> Item:
        """Show the series and the options."""
        return Item(self.shown, self.options)

    def reward(self, answer: int) -> float:
        """Reward a hit by 1; as administered, -1/4 for a wrong one of five, 0 for none."""
        if answer != NO_ANSWER and self.options[answer] == self.answer:
            return 1.0
        wrong = answer != NO_ANSWER and self.scoring == "administered"
        return -1 / (len(self.options) - 1) if wrong else 0.0

    def secret(self, state: int | None, slot: int, random: Random) -> str:
        """Return the letter that is right."""
        return self.answer
