"""Where the screens of participants come from, and the questions that go with each board.

An instrument's face names its board (``told()["kind"]``). A board has templates in `screens` and
comprehension questions here, which ask for nothing but what the instructions tell; a wrong answer
is explained.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from allminds.contracts import Instrument
from allminds.presentation import Face


class CheckQuestion(NamedTuple):
    """A question with its answers by name, the right one among them, and why it is right."""

    name: str
    text: str
    answers: Mapping[str, str]
    right: str
    why: str


def N_(text: str) -> str:  # gettext's customary name: translated where it is shown
    """Mark a text for the catalogues."""
    return text


_AIM = CheckQuestion(
    "aim",
    N_("What should you try to do?"),
    {
        "quick": N_("Finish as fast as possible"),
        "reward": N_("Get as many positive rewards as possible"),
        "visit": N_("Visit every cell"),
    },
    "reward",
    N_("Only rewards count."),
)
_CELLS = (
    CheckQuestion(
        "you",
        N_("Which sign stands for you?"),
        {
            "any": N_("A different shape in every exercise"),
            "ring": N_("The ring"),
            "none": N_("I am not on the board"),
        },
        "ring",
        N_("The ring is you, in every exercise."),
    ),
    CheckQuestion(
        "where",
        N_("Where can you go on a move?"),
        {
            "open": N_("To any cell with a thick border"),
            "all": N_("To any cell at all"),
            "empty": N_("Only to cells with nothing in them"),
        },
        "open",
        N_("You can go to cells with a thick border. Your own cell is one of them: you may stay."),
    ),
    _AIM,
)
_TORUS = (
    CheckQuestion(
        "you",
        N_("Where are you on the board that you see?"),
        {
            "corner": N_("In the cell at the top left"),
            "middle": N_("Always in the cell in the middle"),
            "best": N_("In the cell with the best reward"),
        },
        "middle",
        N_("You see the cells round you, so you are always in the middle."),
    ),
    CheckQuestion(
        "edge",
        N_("What happens at the edge of the whole board?"),
        {
            "round": N_("I come in again on the opposite side"),
            "stop": N_("I cannot go on"),
            "end": N_("The exercise ends"),
        },
        "round",
        N_("The edges are joined: who leaves on one side comes in on the other."),
    ),
    _AIM,
)
_AFTER_Z = CheckQuestion(
    "after",
    N_("Which letter comes after z?"),
    {"none": N_("None"), "y": "y", "a": "a"},
    "a",
    N_("The alphabet goes round: after z comes a, and before a comes z."),
)
_ONE_LETTER = CheckQuestion(
    "how",
    N_("What do you do in each exercise?"),
    {
        "write": N_("Write a word with the letters"),
        "one": N_("Find the one letter that is left out"),
        "sort": N_("Put the letters in order"),
    },
    "one",
    N_("One letter of the series is left out. You choose that letter."),
)
_COSTS = CheckQuestion(
    "costs",
    N_("What does a wrong letter cost?"),
    {
        "nothing": N_("Nothing"),
        "quarter": N_("A quarter of a point; no answer costs nothing"),
        "all": N_("All points so far"),
    },
    "quarter",
    N_("A wrong letter costs a quarter of a point. If you have no idea, give no answer."),
)
_MATRIX = (
    CheckQuestion(
        "rows",
        N_("Where do you look for the rules?"),
        {
            "options": N_("In the figures to choose from"),
            "rows": N_("Along the rows of the large square"),
            "sizes": N_("Only in the last row"),
        },
        "rows",
        N_("The same rules hold along each of the three rows."),
    ),
    CheckQuestion(
        "one",
        N_("How many of the figures to choose from are right?"),
        {"one": N_("Exactly one"), "some": N_("One or more"), "perhaps": N_("Perhaps none")},
        "one",
        N_("Exactly one figure fits all rules."),
    ),
)
_ROUNDS = (
    CheckQuestion(
        "when",
        N_("When do you see what the other has chosen?"),
        {
            "before": N_("Before I choose"),
            "after": N_("After both have chosen"),
            "never": N_("Never"),
        },
        "after",
        N_("Both choose at the same time. Then both see what the other chose."),
    ),
    CheckQuestion(
        "score",
        N_("What is your score made of?"),
        {
            "both": N_("Of the rewards of both"),
            "most": N_("Only of whether I get more than the other"),
            "own": N_("Of my own rewards"),
        },
        "own",
        N_("Your score is made of your own rewards."),
    ),
)
_NOUGHTS = (
    CheckQuestion(
        "win",
        N_("How do you win?"),
        {
            "three": N_("By having three marks in a row first"),
            "most": N_("By having more marks than the other"),
            "middle": N_("By having the cell in the middle"),
        },
        "three",
        N_("Three in a row win: across, down or from corner to corner."),
    ),
    CheckQuestion(
        "begins",
        N_("Who begins?"),
        {
            "x": N_("Whoever has the crosses"),
            "o": N_("Whoever has the noughts"),
            "fast": N_("Whoever is quicker"),
        },
        "x",
        N_("Whoever has the crosses begins; then you take turns."),
    ),
)


@lru_cache(maxsize=256)
def face(tool: Instrument, slot: int = 0) -> Face:
    """Return the screen of the participant in a slot of an instrument."""
    return tool.presentation.face(slot)


def checks(shown: Face) -> tuple[CheckQuestion, ...]:
    """Return the comprehension questions about a test; () if there are none."""
    return questions(shown.told())


def questions(told: Mapping[str, Any]) -> tuple[CheckQuestion, ...]:
    """Return the questions about what a face says of its test."""
    if told["kind"] == "letters":
        return (_ONE_LETTER, _AFTER_Z, *([_COSTS] if told["costs"] else []))
    kinds = {
        "cells": _CELLS,
        "torus": _TORUS,
        "matrix": _MATRIX,
        "rounds": _ROUNDS,
        "noughts": _NOUGHTS,
    }
    return kinds.get(told["kind"], ())
