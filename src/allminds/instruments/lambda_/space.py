"""The space of Λ: a graph of cells, in which actions lead from cell to cell (P3 §3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_.rows import read_space

FEWEST, MOST = 2, 9  # cells n_c; as many actions n_a at most, so that an action is one digit
ATTEMPTS = 1_000_000  # spaces drawn before it is given up that any is connected

Arrows = tuple[tuple[int | None, ...], ...]  # [cell][action] -> cell, or None if disabled


@dataclass(frozen=True)
class Space:
    """n_c cells and n_a actions, both numbered from 0; action 0 stays where it is.

    ``to[cell][action]`` is the cell that an action leads to, None where it is disabled. Every
    cell can be reached from every other.
    """

    to: Arrows

    def __post_init__(self) -> None:
        """Refuse what is no space of this class."""
        cells = len(self.to)
        if not FEWEST <= cells <= MOST:
            raise Error(f"a space has {FEWEST} to {MOST} cells, not {cells}")
        for cell, arrows in enumerate(self.to):
            if len(arrows) != self.actions or not 2 <= self.actions <= cells:
                raise Error(
                    f"cell {cell} has {len(arrows)} actions; all cells have the same number, "
                    f"2 to {cells}"
                )
            if arrows[0] != cell:
                raise Error(f"action 0 leads from cell {cell} to {arrows[0]}; it has to stay")
            for action, goal in enumerate(arrows):
                if goal is not None and not 0 <= goal < cells:
                    raise Error(
                        f"action {action} leads from cell {cell} to {goal}; cells are "
                        f"0..{cells - 1}"
                    )
        if not connected(self.to):
            raise Error(
                f"the space {self} is not connected: some cell cannot be reached from another"
            )

    @property
    def cells(self) -> int:
        """n_c."""
        return len(self.to)

    @property
    def actions(self) -> int:
        """n_a, action 0 included."""
        return len(self.to[0])

    def moved(self, cell: int, action: int) -> int:
        """Where an action leads; one that is not allowed leads nowhere else."""
        goal = self.to[cell][action]
        return cell if goal is None else goal

    def reachable(self, cell: int) -> tuple[int, ...]:
        """Where each action leads from a cell."""
        return tuple(self.moved(cell, action) for action in range(self.actions))

    def distances(self, goal: int) -> tuple[int, ...]:
        """The least number of actions from every cell to one."""
        far = {goal: 0}
        while len(far) < self.cells:
            far |= {
                cell: 1 + min(far[next_] for next_ in self.reachable(cell) if next_ in far)
                for cell in range(self.cells)
                if cell not in far and any(next_ in far for next_ in self.reachable(cell))
            }
        return tuple(far[cell] for cell in range(self.cells))

    @classmethod
    def parse(cls, text: str) -> Space:
        """A space as the authors write it, such as `12-|1-2--|1++2--`; see `rows`.

        An action that a cell leaves out is disabled there.
        """
        text = text.strip()
        actions = 1 + max((int(digit) for digit in re.findall(r"\d", text)), default=0)
        return cls(read_space(text, text.count("|") + 1, actions))

    def __str__(self) -> str:
        return "|".join(
            "".join(
                f"{action}{'+' * (goal - cell)}{'-' * (cell - goal)}"
                for action, goal in enumerate(arrows)
                if action and goal is not None
            )
            for cell, arrows in enumerate(self.to)
        )


def connected(to: Arrows) -> bool:
    """Whether every cell can be reached from every other."""
    ahead = {cell: set(arrows) for cell, arrows in enumerate(to)}
    back = {cell: {c for c in ahead if cell in ahead[c]} for cell in ahead}
    return _found(ahead) == _found(back) == set(ahead)


def _found(ways: dict[int, set[int | None]] | dict[int, set[int]]) -> set[int]:
    """The cells that can be reached from cell 0."""
    found: set[int] = set()
    waiting = {0}
    while waiting:
        found |= waiting
        waiting = {to for cell in waiting for to in ways[cell] if to is not None} - found
    return found


# ---------------------------------------------------------------- drawing


def draw_cells(random: Random) -> int:
    """n_c with chances 2^-n on 2..9, normalised: word 0."""
    aim = random.below_at(2**MOST - 2, 0)  # 2^8 parts in 2^9 - 2 are 2 cells, 2^7 are 3, …
    cells = FEWEST
    while aim >= 2 ** (MOST + 1 - cells):
        aim -= 2 ** (MOST + 1 - cells)
        cells += 1
    return cells


def draw_space(cells: int, actions: int | None, disabled: float, random: Random) -> Space:
    """A connected space: n_a ~ U{2..n_c} unless given, and every arrow to a uniform cell.

    One that is not connected is thrown away whole, its n_a too. Attempt 1, 2, … draws at that
    step: word 0 for n_a, then one for every arrow, then, if any may be, one for its being
    disabled.
    """
    for attempt in range(1, ATTEMPTS + 1):
        to = _draw_arrows(cells, actions, disabled, random.at_step(attempt))
        if connected(to):
            return Space(to)
    raise unlikely(cells, actions, disabled)


def unlikely(cells: int, actions: int | None, disabled: float) -> Error:
    """What is said when no space was connected."""
    return Error(
        f"none of {ATTEMPTS:,} spaces of {cells} cells, {actions or 'any number of'} actions and "
        f"disabled={disabled:g} was connected; take fewer cells, more actions or disabled=0"
    )


def _draw_arrows(cells: int, actions: int | None, disabled: float, random: Random) -> Arrows:
    chosen = 2 + random.below_at(cells - 1, 0) if actions is None else actions
    arrows: list[tuple[int | None, ...]] = []
    for cell in range(cells):
        goals: list[int | None] = [cell]
        for action in range(1, chosen):
            place = cell * (chosen - 1) + action  # from 1
            barred = disabled > 0 and random.unit_at(cells * (chosen - 1) + place) < disabled
            goals.append(None if barred else random.below_at(cells, place))
        arrows.append(tuple(goals))
    return tuple(arrows)
