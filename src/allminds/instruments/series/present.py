"""How the C-test is put to people, language models and libraries."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from allminds.contracts import Discrete, Failure, Space, Task
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.disguise import Skin
from allminds.instruments.series.items import BLANK, LETTERS, NO_ANSWER, Item
from allminds.presentation import (
    Column,
    Face,
    Field,
    Generator,
    Move,
    Presentation,
    Rules,
    joined,
    labels,
)

LONGEST = 16  # letters of a series
CODES = f" {LETTERS}{BLANK}"  # 0 is nothing, 1..26 the letters, 27 the blank
NONE = "none"


class SeriesPresentation(Presentation):
    """A series of letters with one left out."""

    fresh: ClassVar[Mapping[str, Any]] = {"form": "fresh"}
    columns: ClassVar[Mapping[str, Column]] = {
        "k": Column("Levin complexity of the series", "7 to 15"),
        "letters": Column("letters of the series that are shown", "1, 2, …"),
    }

    meanings: ClassVar[Mapping[str, str]] = {
        "shown": "the series, with `_` at the blank",
        "options": "the letters that may be answered: action n answers `options[n]`",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "alphabet": "the letters in their order, which is a circle; in disguise, other signs"
    }
    moves = f"The label is the letter that is answered. {NO_ANSWER} gives no answer."
    unseen = "Not shown: the rule of the series, and its complexity."
    example = "random.below(len(observation.options))"

    @property
    def pay(self) -> str:  # type: ignore[override] # by a setting
        costs = self.tool.settings.scoring == "administered"
        wrong = "-1/4 for a wrong one and 0 for none" if costs else "0 for any other or none"
        return f"1 for the right letter, {wrong}."

    def rules(self, task: Task) -> Rules:
        names = labels(task)
        choice = f"Choose from: {', '.join(names)}." if len(names) < len(LETTERS) else ""
        text = joined(
            "A series of letters follows a rule; the alphabet is a circle, so that a comes after "
            "z. One letter is missing, marked _. Find the letter that belongs there.",
            choice,
            "If you do not know, answer none.",
        )
        return Rules(text, "<letter>")

    def words(self, observation: Item) -> str:
        """Return the series alone: the letters on offer are part of the rules."""
        return super().words(observation._replace(options=LETTERS))

    def fields(self) -> Sequence[Field]:
        letters = len(LETTERS)
        return (
            Field("shown", LONGEST, 0, letters + 1),
            Field("options", self.tool.settings.options, 1, letters),
        )

    def vector(self, observation: Item, slots: int) -> Iterable[float]:
        """Return the numbers of the letters; 0 fills up the series."""
        shown, name = observation.shown, self.tool.name
        if len(shown) > LONGEST:
            raise Error(f"{name}: '{shown}' is longer than the {LONGEST} letters of a vector")
        return [CODES.index(letter) for letter in shown.ljust(LONGEST) + observation.options]

    def remark(self, environment: Any, before: Any, after: Any, slot: int, action: Any) -> str:
        """Write the series as the answer completes it."""
        if action == NO_ANSWER:
            return ""
        return f"it makes {environment.shown.replace(BLANK, environment.options[action])}"

    def skin(self, n: int) -> Skin:
        return SeriesSkin(self.tool, n)

    def face(self, slot: int) -> Face:
        return SeriesFace(self.tool)

    def generators(self) -> Mapping[str, Generator]:
        from allminds.instruments.series.datasets import SeriesGenerator

        return {"series": SeriesGenerator()}


class SeriesFace(Face):
    """A keypad of letters; a choice is a letter, or `none`."""

    def told(self) -> dict[str, Any]:
        """Say whether the letter is free, and whether a wrong one costs anything."""
        given = self.tool.settings
        return {
            "kind": "letters",
            "free": given.options == len(LETTERS),
            "options": given.options,
            "task": given.task,
            "costs": given.scoring == "administered",
        }

    def parity(self, numbers: bool) -> Sequence[str]:
        return ("People read the series and pressed a letter; programs are given the letters.",)

    def view(self, observation: Item, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return the series, with nothing at the blank, and the letters in the given order."""
        return self.told() | {
            "series": [None if letter == BLANK else letter for letter in observation.shown],
            "next": observation.blank == len(observation.shown) - 1,
            "letters": list(observation.options),
            "alphabet": LETTERS,
            "none": NONE,
        }

    def choices(self, observation: Item) -> Sequence[str]:
        return [*observation.options, NONE]

    def chosen(self, choice: str, observation: Item) -> int:
        return NO_ANSWER if choice == NONE else observation.options.index(choice)


# ---------------------------------------------------------------- other glyphs

# the second has no letter that looks like one of the first
SCRIPTS = (LETTERS, "бвгджзийклмнптфцчшщъыьэюяё")


class SeriesSkin(Skin):
    """Other glyphs for the letters, in an order of their own that is told.

    The n-th glyph of the order stands for the n-th letter, so that the item is the same. Glyphs are
    the letters themselves in another order, or letters of another script, in turn.
    """

    @cached_property
    def alphabet(self) -> str:
        """The glyphs in their order."""
        script = SCRIPTS[(self.n - 1) % len(SCRIPTS)]
        return "".join(script[n] for n in self.order(len(script)))

    def task(self, task: Task) -> Task:
        space: Any = task.actions
        worn = replace(space, labels=tuple(map(self._renamed, space.labels)))
        return replace(task, actions=worn, facts={**task.facts, "alphabet": self.alphabet})

    def observation(self, observation: Item, space: Space) -> Item:
        return Item(self._renamed(observation.shown), self._renamed(observation.options))

    def action(self, action: Any, space: Space) -> Any:
        """Return the action: it is the place of an option, and options keep their places."""
        return action

    worn = action

    def _renamed(self, text: str) -> str:
        return text.translate(str.maketrans(LETTERS, self.alphabet))

    def rules(self, task: Task) -> Rules:
        names = labels(self.task(task))
        choice = f"Choose from: {', '.join(names)}." if len(names) < len(LETTERS) else ""
        text = joined(
            "A series of signs follows a rule. The signs have an order of their own, not that of "
            f"any alphabet: {' '.join(self.alphabet)}. The order is a circle, so that "
            f"{self.alphabet[0]} comes after {self.alphabet[-1]}. One sign of the series is "
            "missing, marked _. Find the sign that belongs there.",
            choice,
            "If you do not know, answer none.",
        )
        return Rules(text, "<sign>")

    def words(self, observation: Item) -> str:
        return self.presentation.words(self.observation(observation, Discrete(1)))

    def target(self, right: str) -> str:
        return self._renamed(right)

    def read(self, answer: str, observation: Item) -> Any | Failure:
        """Parse one of the signs on offer, or "none"."""
        text = unicodedata.normalize("NFC", answer.strip()).lower()
        if len(text) == 1 and text in self.alphabet:
            return self.tool.read(LETTERS[self.alphabet.index(text)], observation)
        if text == NONE:
            return NO_ANSWER
        return Failure("malformed", f"'{answer[:60]}' is not one of the signs on offer")
