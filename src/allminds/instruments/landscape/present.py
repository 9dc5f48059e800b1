"""How a fitness landscape is put to people, language models and libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from allminds.contracts import Task
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.present import (
    EVIL,
    GOOD,
    MOVES_IN_WORDS,
    OnTorus,
    Square,
    mixed,
)
from allminds.instruments.sentences import joined, lasts
from allminds.presentation import Column, Rules


class LandscapePresentation(OnTorus):
    """A land of hills on a torus."""

    columns: ClassVar[Mapping[str, Column]] = {
        "optima": Column("local optima of the landscape", "1, 2, …"),
        "basin": Column("share of cells from which a climber comes to the highest top", "0 to 1"),
        "autocorrelation": Column("of the fitness of neighbouring cells", "−1 to 1"),
        "H": Column("log₂ of the places where what is sought may be", "bits"),
        "drift": Column("chance that a hill moves in a step", "0 to 1"),
    }

    @property
    def torus(self) -> Torus:
        torus: Torus = self.tool.ground
        return torus

    def rules(self, task: Task) -> Rules:
        drift = self.tool.settings.drift
        text = joined(
            self.field(task),
            "It is a land of hills, whose heights go from -1 at its lowest to 1 on top of the "
            "highest hill; their mean is 0. Each step you see the heights of "
            f"{self.sight}, and make one move.",
            f"In a step every hill moves by a cell with chance {drift:g}." if drift else "",
            "After the step you get the height of your cell. Collect as much as you can.",
            lasts(task),
            MOVES_IN_WORDS,
        )
        return Rules(text, "<number>")

    def squares(self, environment: Any, state: Any) -> Iterator[Square]:
        """Colour the land by its heights, and mark the highest top."""
        for cell, height in enumerate(environment.field(state), 1):
            yield Square(cell, mixed(GOOD if height > 0 else EVIL, abs(height)))
        yield Square(state.tops[0], GOOD, "^")
