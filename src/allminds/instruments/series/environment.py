"""A question about a series of letters: an environment of one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete
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
class Question:
    """One item of the C-test. The reward is the hit, or the points as given to people."""

    shown: str
    answer: str
    options: str
    complexity: Mapping[str, float]
    scoring: Scoring = "weighted"

    teams = ((0,),)
    steps = 1
    score: Literal["mean", "total"] = "mean"

    @property
    def actions(self) -> Sequence[Discrete]:
        """The options, one of which is the action."""
        return (Answers(len(self.options), labels=tuple(self.options)),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Nothing beyond what is shown."""
        return {}

    def reset(self, random: Random) -> int | None:  # noqa: ARG002
        """Begin with the state None: not answered yet."""
        return None

    def awaited(self, state: int | None) -> tuple[int, ...]:
        """Await the mind until it has answered."""
        return (0,) if state is None else ()

    def observe(self, state: int | None, slot: int) -> Item:  # noqa: ARG002
        """Show the series and the options."""
        return Item(self.shown, self.options)

    def step(
        self,
        state: int | None,  # noqa: ARG002
        actions: Mapping[int, int],
        random: Random,  # noqa: ARG002
    ) -> tuple[int, Sequence[float]]:
        """Reward a hit by 1; as administered, -1/4 for a wrong one of five, 0 for none."""
        action = int(actions[0])
        if action != NO_ANSWER and self.options[action] == self.answer:
            return action, [1.0]
        wrong = action != NO_ANSWER and self.scoring == "administered"
        return action, [-1 / (len(self.options) - 1) if wrong else 0.0]

    def secret(self, state: int | None, slot: int, random: Random) -> str:  # noqa: ARG002
        """Return the letter that is right."""
        return self.answer
