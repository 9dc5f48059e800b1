"""Matrices before a person: the same drawing that machines are given, panel by panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.seeding import Random
from allminds.instruments.matrices.drawing.svg import drawn
from allminds.instruments.matrices.environment import Item
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making.panel import NAMES, SIDE
from allminds.web.faces import FaceBase
from allminds.web.sessions import Step


class MatricesFace(FaceBase):
    """Eight panels and a blank; a choice is the letter of an option."""

    def __init__(self, tool: Matrices) -> None:
        self.tool = tool

    def told(self) -> dict[str, Any]:
        """How many options there are."""
        return {"kind": "matrix", "options": self.tool.settings.candidates}

    def view(self, observation: Item, before: Step | None, shuffle: Random) -> dict[str, Any]:  # noqa: ARG002
        """What is drawn in each panel, as the inside of an SVG of `field` by `field`."""
        return self.told() | {
            "field": SIDE,
            "panels": [drawn(panel) for panel in observation.cells],
            "candidates": [
                {"name": name, "panel": drawn(panel)}
                for name, panel in zip(NAMES, observation.options, strict=False)
            ],
        }

    def choices(self, observation: Item) -> Sequence[str]:
        """The letters of the options."""
        return list(NAMES[: len(observation.options)])

    def chosen(self, choice: str, observation: Item) -> int:  # noqa: ARG002
        """The number of the option."""
        return NAMES.index(choice)
