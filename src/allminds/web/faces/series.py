"""The C-test before a person: a series of letters, and letters to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.seeding import Random
from allminds.instruments.series.environment import BLANK, LETTERS, NO_ANSWER, Item
from allminds.instruments.series.instrument import CTest
from allminds.web.faces import FaceBase
from allminds.web.sessions import Step

NONE = "none"


class SeriesFace(FaceBase):
    """A keypad of letters; a choice is a letter, or `none`."""

    def __init__(self, tool: CTest) -> None:
        self.tool = tool

    def told(self) -> dict[str, Any]:
        """Whether the letter is free, and whether a wrong one costs anything."""
        given = self.tool.settings
        return {
            "kind": "letters",
            "free": given.options == len(LETTERS),
            "options": given.options,
            "task": given.task,
            "costs": given.scoring == "administered",
        }

    def view(self, observation: Item, before: Step | None, shuffle: Random) -> dict[str, Any]:  # noqa: ARG002
        """The series, with nothing at the blank, and the letters in the instrument's order."""
        return self.told() | {
            "series": [None if letter == BLANK else letter for letter in observation.shown],
            "next": observation.blank == len(observation.shown) - 1,
            "letters": list(observation.options),
            "alphabet": LETTERS,
            "none": NONE,
        }

    def choices(self, observation: Item) -> Sequence[str]:
        """The letters on offer, and none of them."""
        return [*observation.options, NONE]

    def chosen(self, choice: str, observation: Item) -> int:
        """The number of the letter among the options."""
        return NO_ANSWER if choice == NONE else observation.options.index(choice)
