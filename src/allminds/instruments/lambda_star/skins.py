"""Skins of worlds on a torus: it is turned, mirrored and shifted, and its story is another one.

The symmetries of the torus keep what observations mean: cells are seen in reading order with one's
own in the middle, and every move leads where its name says. So any mind for these worlds can act
through a skin. A mind that reads is told other numbers for the moves, and other names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar

from allminds.contracts import Space, Task
from allminds.disguise import Isomorph, retold
from allminds.instruments.lambda_star.grid import ACTIONS, KING, MOVES, Torus, action_of
from allminds.presentation import Rules

_NUMBERED = re.compile(rf"\b([1-9]) ({'|'.join(sorted(ACTIONS, key=len, reverse=True))})\b")


class Symmetry:
    """A symmetry of the torus: the axes change places or not, each is reversed or not, a shift."""

    def __init__(self, torus: Torus, flips: tuple[bool, bool, bool], shift: int) -> None:
        self.torus = torus
        self.swaps, self.up, self.along = flips
        self.shift = divmod(shift, torus.cols)

    def turned(self, row: int, col: int) -> tuple[int, int]:
        """Turn a direction as the skin turns the torus."""
        if self.swaps:
            row, col = col, row
        return (-row if self.up else row), (-col if self.along else col)

    def cell(self, cell: int) -> int:
        """Return the cell that stands for a plain one."""
        row, col = self.turned(*self.torus.place(cell))
        return self.torus.cell(row + self.shift[0], col + self.shift[1])

    @cached_property
    def moves(self) -> Mapping[int, int]:
        """The move, 1..9, that each move becomes."""
        return {move: action_of(*self.turned(*MOVES[move - 1])) for move in KING}

    @cached_property
    def back(self) -> Mapping[int, int]:
        """The move that becomes each move."""
        return {new: old for old, new in self.moves.items()}

    @cached_property
    def cells(self) -> Sequence[int]:
        """The number that each cell gets, in their order."""
        return [self.cell(cell) for cell in range(1, self.torus.cells + 1)]

    @cache  # noqa: B019 - a few sides, and a skin has one symmetry
    def square(self, side: int) -> list[int]:
        """List, for each place of a square of cells in reading order, the place it comes from."""
        reach, found = side // 2, [0] * side * side
        for place in range(side * side):
            row, col = self.turned(place // side - reach, place % side - reach)
            found[(row + reach) * side + col + reach] = place
        return found


class TorusSkin(Isomorph):
    """A torus that is turned, mirrored and shifted."""

    numbered: ClassVar[bool] = True  # readers answer by the numbers of moves

    @property
    def torus(self) -> Torus:
        """The torus that minds walk on."""
        presentation: Any = self.presentation
        torus: Torus = presentation.torus
        return torus

    def move_sets(self) -> Sequence[Sequence[int]]:
        """List the moves that slots have; they must be the same ones when turned."""
        presentation: Any = self.presentation
        return [one.moves for one in getattr(presentation.ground, "own", ())]

    @cached_property
    def symmetry(self) -> Symmetry:
        """The symmetry of this skin: never one that leaves all as it is."""
        torus, random = self.torus, self.drawn(0)
        while True:
            swaps, up, along = (random.below(2) == 1 for _ in range(3))
            shift = random.below(torus.cells)
            found = Symmetry(torus, (swaps and torus.rows == torus.cols, up, along), shift)
            if any({found.moves[one] for one in own} != set(own) for own in self.move_sets()):
                found = Symmetry(torus, (False, False, False), shift)
            if any(new != old for old, new in enumerate(found.cells, 1)):
                return found

    def task(self, task: Task) -> Task:
        """Return the task: moves are called as they lead, and a square torus stays one."""
        return task

    def observation(self, observation: Any, space: Space) -> Any:
        order = self.symmetry.square(math.isqrt(len(observation.cells)))
        return observation._replace(
            cells=tuple(self.symmetry.cells[observation.cells[n] - 1] for n in order),
            rewards=tuple(observation.rewards[n] for n in order),
        )

    def action(self, action: Any, space: Space) -> Any:
        return self.symmetry.back[int(action)] if space.contains(action) else action

    def worn(self, action: Any, space: Space) -> Any:
        return self.symmetry.moves[int(action)] if space.contains(action) else action

    # ------------------------------------------------------------ words

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """The number that a reader is told for each move, by the plain one."""
        return {str(n): str(m + 1) for n, m in enumerate(self.order(len(KING), 1), 1)}

    def rules(self, task: Task) -> Rules:
        text, answer = super().rules(task)
        if self.numbered:
            text = _NUMBERED.sub(lambda found: f"{self.numbers[found[1]]} {found[2]}", text)
        return Rules(text, answer)

    def meant(self, answer: str) -> str:
        plain = super().meant(answer)
        back = {new: old for old, new in self.numbers.items()}
        return retold(plain.strip(), back) if self.numbered else plain


class GoodAndEvilSkin(TorusSkin):
    """Λ* and its kin, in which Good and Evil have other names."""

    stories = (
        {"Good": "Ember", "Evil": "Frost"},
        {"Good": "Basil", "Evil": "Nettle"},
        {"Good": "Quill", "Evil": "Thorn"},
        {"Good": "Dune", "Evil": "Mire"},
    )


class HillsSkin(TorusSkin):
    """A landscape whose hills are something else."""

    stories = (
        {
            "land of hills": "hall of warm spots", "heights": "temperatures",
            "height": "temperature", "its lowest": "its coldest",
            "on top of the highest hill": "in the warmest spot", "every hill": "every warm spot",
        },
        {
            "land of hills": "sky of lamps", "heights": "brightnesses", "height": "brightness",
            "its lowest": "its darkest", "on top of the highest hill": "under the brightest lamp",
            "every hill": "every lamp",
        },
        {
            "land of hills": "marsh with wells", "heights": "yields", "height": "yield",
            "its lowest": "its poorest", "on top of the highest hill": "at the richest well",
            "every hill": "every well",
        },
    )  # fmt: skip
