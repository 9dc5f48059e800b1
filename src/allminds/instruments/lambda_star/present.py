"""How Λ* and other tests on a torus are put to people, language models and libraries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from allminds.contracts import Task
from allminds.core.seeding import Random
from allminds.disguise import Skin
from allminds.instruments.lambda_star.grid import ACTIONS, KING, MOVES, Torus, action_of
from allminds.instruments.lambda_star.world import View
from allminds.instruments.unequal import PLAIN, Some, signed
from allminds.presentation import (
    Column,
    Copies,
    Face,
    Field,
    Move,
    Presentation,
    Rules,
    joined,
    lasts,
    sheet,
)

MOVES_IN_WORDS = (
    "Moves: 1 up-left, 2 up, 3 up-right, 4 left, 5 stay, 6 right, 7 down-left, 8 down, "
    "9 down-right."
)
PLAIN_REWARDS = (
    "In Good's cell lies the reward +1.0 and next to it +0.5; with Evil they are negative, and "
    "near both they add up."
)
OWN_CELL = "After the step you get the reward of your cell. Collect as much as you can."
STAY = 1 + MOVES.index((0, 0))
SQUARE = 32  # pixels along a cell
GOOD, EVIL, MIND, GRID = "#009e73", "#d55e00", "#0072b2", "#c8c8c8"
GOOD_AND_EVIL = "+ is Good, − is Evil, and a disc a mind with the number of its slot."
SEEN = "#dceaf5"  # a cell that a mind has seen


class Square(NamedTuple):
    """A cell of the torus with its colour, and the sign in it."""

    cell: int
    colour: str
    mark: str = ""


class OnTorus(Presentation):
    """What all tests share whose minds walk on a torus and see the cells round them."""

    meanings: ClassVar[Mapping[str, str]] = {
        "cells": "the numbers of the cells in sight, row by row, its own in the middle",
        "rewards": "what lies in each of these cells now, in the same order",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "rows": "rows of the torus, whose cells are numbered row by row from 1",
        "cols": "columns of the torus",
        "range": "how many cells a mind sees to every side",
        "needed": "minds that must be near Good for it to pay",
        "responsive": "chance a step that Good flees, and that Evil follows",
        "weights": "what Good and Evil give it in their own cells; next to them, half of it",
    }

    default_action = STAY

    @property
    def moves(self) -> str:  # type: ignore[override] # by a setting
        to = " Action n leads to `cells[n - 1]`." if self.near else ""
        return f"Each moves by one cell; the edges are joined, so that no move is blocked.{to}"

    @property
    def example(self) -> str:  # type: ignore[override] # a wider sight has cells no move leads to
        return "1 + observation.rewards.index(max(observation.rewards))" if self.near else ""

    @property
    def ground(self) -> Any:
        """The instrument that has the torus: this one, or the one that is played by teams."""
        return self.tool

    @property
    def torus(self) -> Torus:
        """The torus that the minds walk on."""
        torus: Torus = self.ground.torus
        return torus

    @property
    def near(self) -> bool:
        """True if every mind sees just the cells that its nine moves lead to."""
        return all(self.reach(slot) == 1 for slot in range(self.tool.slots))

    def reach(self, slot: int) -> int:
        """Return how far the mind in a slot sees."""
        return int(self.tool.settings.range)

    def field(self, task: Task) -> str:
        """Describe the torus, and the others on it, whom a mind is not shown."""
        given, others = self.tool.settings, task.slots - 1
        who = "Another player is" if others == 1 else f"{others} other players are"
        return joined(
            f"You are on a grid of {given.rows} x {given.cols} cells whose edges are joined, like "
            "a torus.",
            f"{who} on it too, and you do not see where." if others else "",
        )

    def sight(self, task: Task) -> str:
        """Say which cells a mind sees."""
        reach = self.reach(task.slot)
        away = "next to you" if reach == 1 else f"up to {reach} away from you"
        return f"the cells {away}, with your own in the middle"

    def fields(self) -> Sequence[Field]:
        return self.fields_of(0)

    def fields_of(self, slot: int) -> Sequence[Field]:
        sight = (2 * self.reach(slot) + 1) ** 2
        return Field("cells", sight, 1, self.torus.cells), Field("rewards", sight, -1, 1)

    def vector(self, observation: View, slots: int) -> Iterable[float]:
        return *observation.cells, *observation.rewards

    def skin(self, n: int) -> Skin:
        from allminds.instruments.lambda_star.skins import GoodAndEvilSkin

        return GoodAndEvilSkin(self.tool, n)

    def squares(self, environment: Any, state: Any) -> Iterator[Square]:
        """Colour what was seen of the torus, Good (+) and Evil (−)."""
        seen = bin(getattr(state, "seen", 0))[:1:-1]
        yield from (Square(cell, SEEN) for cell, bit in enumerate(seen) if bit == "1")
        yield Square(state.good, GOOD, "+")
        yield Square(state.evil, EVIL, "−")

    def picture(self, environment: Any, state: Any) -> str:
        """Draw the squares, and on them the minds as discs with the number of their slot."""
        return torus_svg(self.torus, self.squares(environment, state), state.minds)


class GoodAndEvil(OnTorus):
    """Λ* and the tests that are made of it."""

    legend = GOOD_AND_EVIL + " The edges are joined."
    asked = 22  # one of each complexity of the paper
    unseen = "Not shown: Good and Evil themselves, other minds, and what lies beyond its sight."
    pay = (
        "The reward of the mind's own cell after all have moved: 1 on Good, 0.5 next to it, the "
        "negatives for Evil, and their sum near both."
    )
    columns: ClassVar[Mapping[str, Column]] = {
        "K": Column("complexity of the pattern: LZ76 phrases", "1, 2, …"),
        "H": Column("log₂ of the places where what is sought may be", "bits"),
        "bits": Column("description length of H and K", "bits"),
        "segment": Column("length of the segment that Good and Evil repeat", "cells"),
        "cells": Column("different cells that the pattern visits", "1, 2, …"),
    }

    def rules(self, task: Task) -> Rules:
        text = joined(
            self.field(task),
            "Good and Evil wander over it, each in a pattern that repeats itself. "
            f"{self.lying(task)} Each step you see the rewards that lie in {self.sight(task)}. "
            "Then everybody makes one move at once, Good and Evil too.",
            *self.special(task),
            lasts(task),
            self.own_moves(task),
        )
        return Rules(text, "<number>")

    def reach(self, slot: int) -> int:
        return int(self.ground.reach(slot))

    @property
    def example(self) -> str:  # type: ignore[override] # not every slot may have that move
        kings = all(one.moves == KING for one in self.ground.own)
        return super().example if kings else ""

    def lying(self, task: Task) -> str:
        """Say what rewards lie round Good and Evil for the mind in a slot."""
        weights = task.facts.get("weights", PLAIN)
        if weights == PLAIN:
            return PLAIN_REWARDS
        good, evil = map(signed, weights)
        others = " What lies there for the others may differ." if task.slots > 1 else ""
        return (
            f"For you the reward {good} lies in Good's cell and {evil} in Evil's, half as much "
            f"next to them, and near both they add up.{others}"
        )

    def own_moves(self, task: Task) -> str:
        """List the moves of the mind in a slot."""
        space = task.actions
        if not isinstance(space, Some):
            return MOVES_IN_WORDS
        return f"Moves: {space.listed()}. You have no others."

    def special(self, task: Task) -> Sequence[str]:
        """Say what a mind gets."""
        return (OWN_CELL,)

    def remark(self, environment: Any, before: Any, after: Any, slot: int, action: Any) -> str:
        """Say how far Good and Evil were before and after a move, and whether they were seen."""
        reach, torus = self.reach(slot), self.torus
        said = []
        for name in ("good", "evil"):
            far, then = (
                torus.distance(state.minds[slot], getattr(state, name)) for state in (before, after)
            )
            seen = "in sight" if far <= reach else "out of sight"
            seen = "at the edge of sight" if far == reach + 1 else seen
            said.append(f"{name.capitalize()} {away(far)} ({seen}), then {away(then)}")
        return "; ".join(said)

    def face(self, slot: int) -> Face:
        return Presentation.face(self, slot) if self.tool.own else TorusFace(self.tool)


class LambdaStarPresentation(GoodAndEvil):
    """Λ* itself, which can be played as many copies at once."""

    @property
    def pay(self) -> str:  # type: ignore[override] # by a setting
        if not self.tool.own:
            return GoodAndEvil.pay
        return "The reward of the mind's own cell after all have moved, by its slot's weights."

    def copies(self) -> Copies | None:
        from allminds.instruments.lambda_star.fast.lockstep import LambdaStarCopies

        if self.tool.own:
            return None
        return LambdaStarCopies(self.tool)


class CoordinationPresentation(GoodAndEvil):
    """Good gives only to several at once."""

    pay = f"{GoodAndEvil.pay} Good's part is paid only while enough minds are near it."

    def special(self, task: Task) -> Sequence[str]:
        return (
            OWN_CELL,
            f"Good gives its reward only at a step after which at least "
            f"{self.tool.settings.needed} players are in its cell or next to it; Evil takes from "
            "anybody.",
        )


class ResponsivePresentation(GoodAndEvil):
    """Good flees and Evil follows."""

    def special(self, task: Task) -> Sequence[str]:
        return (
            f"At every step, with chance {self.tool.settings.responsive:g}, Good leaves its "
            "pattern and moves away from the player nearest to it, and with the same chance Evil "
            "leaves its own and moves toward the player nearest to it.",
            OWN_CELL,
        )


class CoveragePresentation(GoodAndEvil):
    """What is seen counts."""

    pay = "The share of all cells that any mind has seen so far, the same for every slot."

    def special(self, task: Task) -> Sequence[str]:
        who, whose = ("all of you", "any of you has") if task.slots > 1 else ("you", "you have")
        return (
            f"But Good and Evil do not count here: after a step {who} get the share of all cells "
            f"that {whose} seen so far. Get as much as you can.",
        )


# ---------------------------------------------------------------- the picture


def away(cells: int) -> str:
    """Write a distance in cells."""
    return "in the same cell" if not cells else f"{cells} cell{'s' * (cells > 1)} away"


def mixed(colour: str, share: float) -> str:
    """Mix a share of a colour into white."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)


def torus_svg(
    torus: Torus, squares: Iterable[Square], minds: Sequence[int], numbers: bool = False
) -> str:
    """Draw squares, and on them the minds as discs with the number of their slot.

    With `numbers`, the cells are numbered from 0 below the picture, which must be one row.
    """
    width, height = torus.cols * SQUARE, torus.rows * SQUARE
    parts = []
    for cell, colour, mark in squares:
        left, top = _corner(torus, cell)
        parts.append(
            f'<rect x="{left}" y="{top}" width="{SQUARE}" height="{SQUARE}" fill="{colour}"/>'
        )
        if mark:
            parts.append(
                f'<text x="{left + 2}" y="{top + 15}" font-size="20" font-weight="bold" '
                f'fill="white">{mark}</text>'
            )
    lines = [f"M{x} 0V{height}" for x in range(0, width + 1, SQUARE)]
    lines += [f"M0 {y}H{width}" for y in range(0, height + 1, SQUARE)]
    parts.append(f'<path d="{"".join(lines)}" stroke="{GRID}" fill="none"/>')
    for cell in dict.fromkeys(minds):
        left, top = _corner(torus, cell)
        x, y = left + 0.62 * SQUARE, top + 0.62 * SQUARE
        here = [str(slot) for slot, at in enumerate(minds) if at == cell]
        label = "".join(here) if len(here) < 4 else f"×{len(here)}"
        size = 12 if len(here) == 1 else 9
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{SQUARE * 0.3}" fill="{MIND}" stroke="white"/>'
            f'<text x="{x}" y="{y + size / 3}" font-size="{size}" text-anchor="middle" '
            f'fill="white">{label}</text>'
        )
    if numbers:
        parts += [
            f'<text x="{(n + 0.5) * SQUARE}" y="{height + 14}" font-size="13" '
            f'text-anchor="middle" fill="#555">{n}</text>'
            for n in range(torus.cols)
        ]
    return sheet(width + 1, height + 1 + (18 if numbers else 0), "".join(parts))


def _corner(torus: Torus, cell: int) -> tuple[int, int]:
    row, col = divmod(cell - 1, torus.cols)
    return col * SQUARE, row * SQUARE


# ---------------------------------------------------------------- the screen of a participant

CHOICES = tuple(str(action) for action in range(1, 10))


class TorusFace(Face):
    """The neighbourhood as a square of cells; a choice is an action 1..9.

    Actions run in reading order, and the digit stands in the cell. A mind is told the number of
    every cell it sees, so the participant is told row and column.
    """

    def told(self) -> dict[str, Any]:
        """Say how large the torus is, and how much of it is seen."""
        given = self.tool.settings
        return {
            "kind": "torus",
            "rows": given.rows,
            "cols": given.cols,
            "side": 2 * given.range + 1,
            "others": given.agents - 1,
        }

    def parity(self, numbers: bool) -> Sequence[str]:
        seen = "People saw the cells round them drawn, with the number of each reward"
        last = "" if numbers else ", but of the last reward its sign only; programs get its number"
        return (f"{seen}{last}.",)

    def view(self, observation: View, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Return the rewards round about, the digits of the moves, and the place on the torus."""
        side = math.isqrt(len(observation.cells))
        row, col = self.tool.torus.place(observation.cell)
        return self.told() | {
            "side": side,
            "cells": [_cell(n, side, reward) for n, reward in enumerate(observation.rewards)],
            "row": row + 1,
            "col": col + 1,
            "moved": list(MOVES[before.action - 1]) if before else [0, 0],  # down, to the right
        }

    def choices(self, observation: View) -> Sequence[str]:
        return CHOICES

    def chosen(self, choice: str, observation: View) -> int:
        return int(choice)


def _cell(n: int, side: int, reward: float) -> dict[str, Any]:
    """Cell n in reading order; beyond the nine in the middle no move leads."""
    row, col = n // side - side // 2, n % side - side // 2
    action = action_of(row, col) if max(abs(row), abs(col)) <= 1 else 0
    return {
        "reward": float(reward),
        "sign": (reward > 0) - (reward < 0),
        "digit": str(action) if action else "",
        "direction": ACTIONS[action - 1] if action else "",
    }
