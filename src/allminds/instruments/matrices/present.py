"""How matrices are put to people, language models and libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from allminds.contracts import Discrete, Failure, Space, Task
from allminds.core.seeding import Random
from allminds.disguise import Skin
from allminds.instruments.matrices.instrument import Item
from allminds.instruments.matrices.making.panel import COLOURS, NAMES, SIDE, Panel
from allminds.instruments.matrices.making.rules import FIELD_OF, encoded
from allminds.presentation import Column, Face, Field, Generator, Move, Presentation, Rules

LARGEST_CODE = 2**16 - 1  # of a panel


class MatricesPresentation(Presentation):
    """Eight panels, a blank and some options."""

    pictured = True
    columns: ClassVar[Mapping[str, Column]] = {
        "C": Column("rules of the matrix", "1, 2, …"),
        "I_context": Column("of the answer, what rows 1 and 2 must supply", "bits"),
        "I_answer": Column("information in the answer", "bits"),
        "L_rules": Column("description length of the rules", "bits"),
        "H_rule_row1": Column("doubt about the kinds of the rules after row 1", "bits"),
        "needed_rules": Column(
            "rules one must know to tell the answer from other options", "1, 2, …"
        ),
        "option_distance": Column("attributes in which a wrong option differs, on average"),
        "elements": Column("things drawn in the nine cells", "1, 2, …"),
    }

    meanings: ClassVar[Mapping[str, str]] = {
        "cells": "the first eight panels of the matrix, row by row; the ninth is missing",
        "options": "the panels to choose from: action n chooses `options[n]`",
        "Panel.figure": "what is in the centre, or None; an attribute with several values shows "
        "all of them",
        "Panel.marks": "what is on the rim, or None",
        "Figure.shape": "circle, ellipse, line, arc, or a polygon by its sides, 3 to 9",
        "Figure.size": "levels 0 to 6",
        "Figure.count": "how many copies, 1 to 4",
        "Figure.colour": ", ".join(COLOURS),
        "Figure.angle": "the attribute orientation: degrees, clockwise",
        "Figure.place": "the attribute position: places of a 3 x 3 grid, 0 to 8 row by row; 4 is "
        "the centre",
        "Figure.layout": "whole, slots, grid or similar: where copies stand, as in all panels",
        "Marks.inventory": "lines, corners or dots",
        "Marks.present": "which of them are there, numbered from 0; a rule on the shape of marks "
        "governs this",
        "Marks.colour": "as of a figure",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "settings": "the kinds of rules and the attributes that there may be"
    }
    moves = "The label is the letter of the option."
    unseen = "Not shown: the rules of the matrix, and how many there are."
    pay = "1 for the right option, 0 for another."

    def rules(self, task: Task) -> Rules:
        return Rules(
            "A 3 x 3 matrix follows rules along its rows; its last panel is missing. Choose the "
            "option that belongs there.",
            "<letter of the option>",
        )

    def picture(self, environment: Any, state: Any) -> str:
        return str(self.tool.show(environment.observe(state, 0), "svg"))

    def remark(self, environment: Any, before: Any, after: Any, slot: int, action: Any) -> str:
        """Name the rules that a wrong option breaks, by what it has other than the answer."""
        problem = environment.problem
        chosen, right = (encoded(problem.options[n]) for n in (action, problem.answer))
        broken = [
            f"{rule.attribute} of the {rule.layer} ({rule.kind.replace('-', ' ')})"
            for rule in problem.rules
            if chosen[FIELD_OF[rule.layer, rule.attribute]]
            != right[FIELD_OF[rule.layer, rule.attribute]]
        ]
        if not broken:
            return ""
        rules = len(problem.rules)
        how = "the only rule" if rules == 1 else f"{len(broken)} of {rules} rules"
        return f"it breaks {how}, {', '.join(broken)}"

    def image(self, observation: Item) -> bytes:
        from allminds.instruments.matrices.drawing.raster import composite_png

        return composite_png(observation)

    def fields(self) -> Sequence[Field]:
        panels = 8 + self.tool.settings.candidates
        seen = self.tool.exercise(0, 0).environment.observe(None, 0)
        width = self.tool.show(seen, "array").shape[1]
        return (Field("panels", panels * width, 0, LARGEST_CODE),)

    def vector(self, observation: Item, slots: int) -> Iterable[float]:
        panels = (*observation.cells, *observation.options)
        return [code for panel in panels for code in encoded(panel)]

    def skin(self, n: int) -> Skin:
        return MatricesSkin(self.tool, n)

    def face(self, slot: int) -> Face:
        return MatricesFace(self.tool)

    def generators(self) -> Mapping[str, Generator]:
        from allminds.instruments.matrices.dataset.writing import MatricesGenerator

        return {"matrices": MatricesGenerator()}


class MatricesFace(Face):
    """The drawing that machines are given too, panel by panel; a choice is an option's letter."""

    def told(self) -> dict[str, Any]:
        """Say how many options there are."""
        return {"kind": "matrix", "options": self.tool.settings.candidates}

    def parity(self, numbers: bool) -> Sequence[str]:
        return ("People saw the panels drawn; programs are given the shapes in them as values.",)

    def view(self, observation: Item, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return what is drawn in each panel, as the inside of an SVG of `field` by `field`."""
        from allminds.instruments.matrices.drawing.svg import drawn

        return self.told() | {
            "field": SIDE,
            "panels": [drawn(panel) for panel in observation.cells],
            "candidates": [
                {"name": name, "panel": drawn(panel)}
                for name, panel in zip(NAMES, observation.options, strict=False)
            ],
        }

    def choices(self, observation: Item) -> Sequence[str]:
        return list(NAMES[: len(observation.options)])

    def chosen(self, choice: str, observation: Item) -> int:
        return NAMES.index(choice)


# ---------------------------------------------------------------- other colours and options

# Colours have no order, so that they may change places. White stays, for strokes are never white;
# dark ones stay dark, for rings are not drawn on them.
EXCHANGED = (("black", "blue"), ("red", "green", "yellow"))


class MatricesSkin(Skin):
    """Colours that change places in all panels, and options in another order."""

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """The colour in disguise of every colour."""
        worn = {colour: colour for colour in COLOURS}
        for part, some in enumerate(EXCHANGED, 1):
            worn |= {some[n]: some[m] for n, m in enumerate(self.order(len(some), part))}
        return worn

    def task(self, task: Task) -> Task:
        """Return the task: the letters of the options are those of their new places."""
        return task

    def observation(self, observation: Item, space: Space) -> Item:
        cells = tuple(map(self._coloured, observation.cells))
        order = self.order(len(observation.options))
        return Item(cells, tuple(self._coloured(observation.options[n]) for n in order))

    def _coloured(self, panel: Panel) -> Panel:
        figure, marks = panel.figure, panel.marks
        if figure:
            worn = sorted((self.colours[one] for one in figure.colour), key=COLOURS.index)
            figure = replace(figure, colour=tuple(worn))
        if marks:
            marks = replace(marks, colour=self.colours[marks.colour])
        return Panel(figure, marks)

    def rules(self, task: Task) -> Rules:
        return self.presentation.rules(task)

    def words(self, observation: Item) -> str:
        return self.presentation.words(self.observation(observation, Discrete(1)))

    def image(self, observation: Item) -> bytes:
        return self.presentation.image(self.observation(observation, Discrete(1)))

    def target(self, right: str) -> str:
        space = Discrete(self.tool.settings.candidates)
        return NAMES[self.worn(NAMES.index(right), space)]

    def read(self, answer: str, observation: Item) -> Any | Failure:
        found = self.tool.read(answer, observation)
        count = len(observation.options)
        return found if isinstance(found, Failure) else self.action(found, Discrete(count))
