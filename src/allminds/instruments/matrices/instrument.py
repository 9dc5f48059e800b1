"""The instrument `matrices`: one matrix with a blank and its options, and how it is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from allminds import registry
from allminds.contracts import Discrete, Exercise, Failure, Instrument, Record
from allminds.core.bases import Question
from allminds.core.seeding import Random, fingerprint
from allminds.core.settings import checked
from allminds.instruments.matrices.making.cases import cases
from allminds.instruments.matrices.making.generator import generate
from allminds.instruments.matrices.making.panel import NAMES, Panel, Problem
from allminds.instruments.matrices.making.rules import DEFAULT, MatricesSettings, encoded
from allminds.presentation import Presentation


class Item(NamedTuple):
    """What a mind sees: eight cells, row by row, and the options for the ninth."""

    cells: tuple[Panel, ...]
    options: tuple[Panel, ...]


@dataclass(frozen=True)
class MatrixQuestion(Question):
    """One problem. The reward is 1 for the right option and 0 for another."""

    problem: Problem
    settings: MatricesSettings

    @property
    def actions(self) -> Sequence[Discrete]:
        """The options, numbered from 0."""
        count = len(self.problem.options)
        return (Discrete(count, labels=tuple(NAMES[:count])),)

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of rules, and the measures."""
        return {"C": float(self.problem.C), **self.problem.measures}

    @property
    def facts(self) -> Mapping[str, Any]:
        """The kinds of rules there may be: a mind may have seen other such problems."""
        return {"settings": self.settings}

    def observe(self, state: int | None, slot: int) -> Item:
        """Show the matrix without its ninth cell, and the options."""
        return Item(self.problem.cells[:8], self.problem.options)

    def reward(self, answer: int) -> float:
        """Reward the right option with 1 and any other with 0."""
        return float(answer == self.problem.answer)

    def secret(self, state: int | None, slot: int, random: Random) -> int:
        """Return the number of the right option."""
        return self.problem.answer


@registry.instrument
class Matrices(Instrument):
    """Matrices: find the ninth panel of a 3 x 3 matrix whose rows follow C rules.

    After Hilton, Liao and Poggio, "Spatial IQ Test for AI", in the style of Raven's progressive
    matrices. The five rules of Carpenter, Just and Shell (1990) govern six attributes; what no rule
    governs stays the same. A solver that is not told the rules, and knows simple rules besides
    these, finds exactly one answer; one that sees the options alone is at chance. All that can be
    drawn can be told apart, in grey too.

    **Actions**: an option by its number from 0.
    **Observation** `Item`: eight panels row by row, and the options.
    **Complexity**: C, the number of rules, and measures in bits of what an ideal observer must
    find out (`measures`).

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly; 3, no second answer by simple rules that matrices are not
    made with, all steps of progressions equally frequent, seven sizes instead of five, copies that
    are only similar, more ellipses, lines and arcs, and room between panels.
    """

    name = "matrices"
    version = 3
    slots = 1
    ceiling = 1.0
    lowest = 0.0
    ceiling_mind = "rule-induction"
    strata = "C"
    levels: tuple[float, ...] = (1.0, 2.0, 3.0)
    Settings = MatricesSettings

    def __init__(self, **settings: Any) -> None:
        self.settings: MatricesSettings = checked(MatricesSettings, settings, self.name)
        self.chance = 1 / self.settings.candidates
        self.levels = tuple(map(float, self.settings.counts))
        if (self.settings.kinds, self.settings.attributes) != (DEFAULT.kinds, DEFAULT.attributes):
            for count in self.settings.counts:  # rules that do not go together are found here
                cases(count, self.settings.kinds, self.settings.attributes)

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make problem i of a seed."""
        question = MatrixQuestion(generate(seed, i, self.settings), self.settings)
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, question, fingerprint(question.problem.cells[:8]))

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.matrices.present import MatricesPresentation

        return MatricesPresentation(self)

    def show(self, observation: Item, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show the problem in words, as a picture, or as codes [panel, field]."""
        if form == "text":
            from allminds.instruments.matrices.making.text import prose

            return prose(observation)
        if form == "array":
            import numpy as np

            panels = (*observation.cells, *observation.options)
            return np.array([encoded(panel) for panel in panels], np.uint16)
        from allminds.instruments.matrices.drawing.svg import composite_svg

        # what is drawn of a problem is what is seen of it
        picture = composite_svg(cast("Problem", observation))
        return f"<figure>{picture}</figure>" if form == "html" else picture

    def read(self, answer: str, observation: Item) -> int | Failure:
        """Parse an answer: the letter of an option, or its number from 1."""
        count = len(observation.options)
        said = re.fullmatch(r"\W*(?:(?:answer|option)\W+)*([A-H1-8])[^\w?]*", answer.strip(), re.I)
        if said:
            name = said[1].upper()
            number = NAMES.index(name) if name in NAMES else int(name) - 1
            if number < count:
                return number
        return Failure(
            "malformed", f"'{answer[:60]}' is not one of the options A to {NAMES[count - 1]}"
        )
