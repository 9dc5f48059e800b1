"""A mind that sees pictures only: it recovers what is drawn, then reasons like the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from allminds.contracts import MindBase, Traits
from allminds.core.seeding import Random
from allminds.instruments.matrices.dataset import shortcuts
from allminds.instruments.matrices.environment import Item
from allminds.instruments.matrices.making import rules as codes
from allminds.registry import mind

if TYPE_CHECKING:
    from allminds.instruments.matrices.drawing.raster import Pixels


@mind("pixel-solver", "matrices")
class PixelSolver(MindBase):
    """Recovers the attributes of every panel from its pixels, then finds the rules."""

    traits = Traits(deterministic=True)

    def act(self, observation: Item, random: Random) -> int:  # noqa: ARG002
        """Render the observation first, and look only at the pictures."""
        from allminds.instruments.matrices.drawing.raster import panel_rgb

        cells, options = (
            [panel_rgb(panel) for panel in panels]
            for panels in (observation.cells, observation.options)
        )
        return solved(cells, options)


def solved(cells: Sequence[Pixels], options: Sequence[Pixels]) -> int:
    """Find the option that belongs in the ninth cell, from 160 x 160 pictures [row, column, 3]."""
    from allminds.instruments.matrices.seeing.eyes import seen

    coded = [codes.encoded(panel) for panel in seen([*cells, *options])]
    scores = shortcuts.rule_induction(coded[: len(cells)], coded[len(cells) :])
    return scores.index(max(scores))
