"""Λ before a person, as its paper describes it (P3 §4.2).

Cells are coloured squares with numbers, the two travellers are neutral shapes, drawn anew for
every exercise, and the person is a ring. Which shape is which, and in what order the instrument
lists them, does not show: all that is in a cell is sorted by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.core.seeding import Random
from allminds.instruments.lambda_.instrument import CellsInstrument
from allminds.instruments.lambda_.world import HIDDEN, View
from allminds.web.faces import FaceBase
from allminds.web.sessions import Step

SHAPES = (
    "crescent", "diamond", "drop", "half-disc", "hexagon", "pentagon", "star", "trefoil"
)  # fmt: skip
YOU, OTHER = "you", "other"
HUES = 9
COLUMNS = {2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 7: 4, 8: 4, 9: 3}  # cells in a row


class CellsFace(FaceBase):
    """A board of cells; a choice is the number of the cell to go to, from 1."""

    def __init__(self, tool: CellsInstrument) -> None:
        self.tool = tool

    def told(self) -> dict[str, Any]:
        """How much of the board is seen, and whether there are other minds."""
        given = self.tool.settings
        return {
            "kind": "cells",
            "adjacent": given.observation == "adjacent",
            "others": given.agents - 1,
        }

    def view(self, observation: View, before: Step | None, shuffle: Random) -> dict[str, Any]:
        """The cells and what is in them; in `places`, cell 0 is out of sight."""
        shapes, hues = _shapes(shuffle.at_step(0)), _order(HUES, shuffle.at_step(0).part(1))
        now = _places(observation, shapes)
        earlier = _places(before.observation, shapes) if before else {}
        return self.told() | {
            "cells": [
                {
                    "number": cell + 1,
                    "hue": hues[cell],
                    "open": cell in observation.reachable,
                    "here": _sorted([shape for shape, at in now.items() if cell in at]),
                    "others": now.get(OTHER, []).count(cell),
                }
                for cell in range(observation.cells)
            ],
            "columns": COLUMNS[observation.cells],
            "shapes": sorted(shapes),
            "places": [
                {"shape": shape, "cell": cell + 1, "from": _came(shape, cell, earlier)}
                for shape in _sorted(now)
                for cell in now[shape]
            ],
        }

    def choices(self, observation: View) -> Sequence[str]:
        """The cells that some action leads to."""
        return [str(cell + 1) for cell in sorted(set(observation.reachable))]

    def chosen(self, choice: str, observation: View) -> int:
        """The lowest of the actions that lead to the cell."""
        return observation.reachable.index(int(choice) - 1)


def _places(seen: View, shapes: Sequence[str]) -> dict[str, list[int]]:
    """The cells of everybody, by the name of the shape they are drawn as."""
    places = {YOU: [seen.cell]}
    places |= {shape: [cell] for shape, cell in zip(shapes, seen.symbols, strict=True)}
    if seen.others:
        places[OTHER] = list(seen.others)
    return places


def _came(shape: str, cell: int, earlier: dict[str, list[int]]) -> int | None:
    """The cell that a shape came from, if it moved and was seen there; for those who only hear."""
    before = earlier.get(shape, [HIDDEN])
    return None if shape == OTHER or before[0] in (HIDDEN, cell) else before[0] + 1


def _sorted(shapes: Any) -> list[str]:
    """By name, the person first."""
    return sorted(shapes, key=lambda shape: (shape != YOU, shape))


def _shapes(shuffle: Random) -> tuple[str, str]:
    """Two different shapes, for the two symbols in the instrument's order."""
    order = _order(len(SHAPES), shuffle)
    return SHAPES[order[0]], SHAPES[order[1]]


def _order(count: int, shuffle: Random) -> list[int]:
    """0..count-1 in random order, by words 1..count-1."""
    order = list(range(count))
    for place in range(count - 1, 0, -1):
        other = shuffle.below_at(place + 1, place)
        order[place], order[other] = order[other], order[place]
    return order
