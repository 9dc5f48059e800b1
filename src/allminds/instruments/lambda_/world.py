"""Λ in plain Python, the specification that the kernels must equal bit for bit.

The space is a graph of cells (Insa-Cabrera et al. 2011, §3) on which Good and Evil repeat a pattern
of actions; its complexity, the pattern's and the world of one exercise follow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from allminds.complexity import lz76, zlib_length
from allminds.contracts import Discrete, Environment
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments import rules
from allminds.instruments.lambda_.rows import read_space
from allminds.instruments.unequal import PLAIN, Weights

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
        """Reject what is no space of this class."""
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
        """The number of cells, n_c."""
        return len(self.to)

    @property
    def actions(self) -> int:
        """The number of actions, n_a, action 0 included."""
        return len(self.to[0])

    def moved(self, cell: int, action: int) -> int:
        """Return the cell that an action leads to; one that is disabled stays."""
        goal = self.to[cell][action]
        return cell if goal is None else goal

    def reachable(self, cell: int) -> tuple[int, ...]:
        """List where each action leads from a cell."""
        return tuple(self.moved(cell, action) for action in range(self.actions))

    def distances(self, goal: int) -> tuple[int, ...]:
        """Compute the least number of actions from every cell to one."""
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
        """Parse a space as the authors write it, such as `12-|1-2--|1++2--`; see `rows`.

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
    """Return whether every cell can be reached from every other."""
    ahead = {cell: set(arrows) for cell, arrows in enumerate(to)}
    back = {cell: {c for c in ahead if cell in ahead[c]} for cell in ahead}
    return _found(ahead) == _found(back) == set(ahead)


def _found(ways: dict[int, set[int | None]] | dict[int, set[int]]) -> set[int]:
    """Collect the cells that can be reached from cell 0."""
    found: set[int] = set()
    waiting = {0}
    while waiting:
        found |= waiting
        waiting = {to for cell in waiting for to in ways[cell] if to is not None} - found
    return found


# ---------------------------------------------------------------- drawing


def draw_cells(random: Random) -> int:
    """Draw n_c with chances 2^-n on 2..9, normalised: word 0."""
    aim = random.below_at(2**MOST - 2, 0)  # 2^8 parts in 2^9 - 2 are 2 cells, 2^7 are 3, …
    cells = FEWEST
    while aim >= 2 ** (MOST + 1 - cells):
        aim -= 2 ** (MOST + 1 - cells)
        cells += 1
    return cells


def draw_space(cells: int, actions: int | None, disabled: float, random: Random) -> Space:
    """Draw a connected space: n_a ~ U{2..n_c} unless given, every arrow to a uniform cell.

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
    """Make the error for the case that no space was connected."""
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


# ---------------------------------------------------------------- how Good and Evil move


LONGEST = 4096  # digits; at p_stop = 1/9 one in 10^200 patterns would be longer


def draw_pattern(actions: int, stop: float, random: Random) -> str:
    """Draw digits uniform over the actions; after each, stop with probability p_stop."""
    digits = ""
    while True:
        place = 2 * len(digits)
        digits += str(random.below_at(actions, place))
        if random.unit_at(place + 1) < stop or len(digits) == LONGEST:
            return digits


def check_pattern(pattern: str, space: Space) -> None:
    """Reject a pattern without digits, or with an action that the space does not have."""
    if not pattern:
        raise Error("the pattern is empty; write the actions of Good and Evil, such as 2210")
    for digit in pattern:
        if not ("0" <= digit <= "9" and int(digit) < space.actions):
            raise Error(
                f"the pattern '{pattern}' has an action '{digit}'; this space has the actions "
                f"0..{space.actions - 1}"
            )


def period(pattern: str) -> str:
    """Return the shortest pattern that, repeated, is the same."""
    return pattern[: rules.period(pattern, len(pattern))]


def travel(space: Space, action: int, good: int, evil: int, random: Random) -> tuple[int, int]:
    """Move Good and Evil by the same action; they never share a cell, see `rules.parted`."""
    to_good, to_evil = space.moved(good, action), space.moved(evil, action)
    return rules.parted(good, evil, to_good, to_evil, random.below_at(2, 0))


def draw_pattern_of(phrases: int, actions: int, random: Random) -> str:
    """Draw a pattern whose period has just this many phrases by LZ76.

    Digits are uniform over the actions and go on until there are so many phrases; it stops there,
    or at any later digit of the same phrase, with probability ½ each. What repeats a shorter
    pattern is drawn again.
    """
    attempt = 0
    while True:
        attempt += 1
        digits = _digits_of(phrases, actions, random.at_step(attempt))
        if digits and period(digits) == digits:
            return digits


def _digits_of(phrases: int, actions: int, random: Random) -> str:
    """Draw the digits; empty if the pattern went on into the next phrase."""
    digits, begun, complete = "", 0, 0  # where the phrase in hand began, and phrases before it
    while complete < phrases:
        place = 2 * len(digits)
        digits += str(random.below_at(actions, place))
        counted = complete + 1
        if digits[begun:] not in digits[:-1]:
            begun, complete = len(digits), complete + 1
        if counted == phrases and random.unit_at(place + 1) < 0.5:
            return digits
    return ""


# ---------------------------------------------------------------- complexity


PREFIX = "p"  # before the digits in the authors' own files, and so in their K_approx


def space_bits(cells: int, actions: int, barred: int, disabled: float) -> float:
    """Compute the description length of a space: the bits that a code for it would need.

    n_c in unary, n_a among 2..n_c, and for every arrow whether it is disabled and where it leads.
    """
    arrows = cells * (actions - 1)
    bits = cells - 1 + math.log2(cells - 1) + (arrows - barred) * math.log2(cells)
    if disabled > 0:
        bits -= (arrows - barred) * math.log2(1 - disabled) + barred * math.log2(disabled)
    return bits


def columns(space: Space, pattern: str, disabled: float) -> dict[str, float]:
    """Compute the complexity columns of the results.

    cells n_c and actions n_a; K is K_approx, the bytes of the pattern after zlib, and K_prefix
    the same with the letter p before it, as in the authors' figures; LZ is the number of LZ76
    phrases in one period; bits the description length of the space; pattern the digits.
    """
    barred = sum(goal is None for arrows in space.to for goal in arrows)
    return {
        "cells": float(space.cells),
        "actions": float(space.actions),
        "K": float(zlib_length(pattern)),
        "K_prefix": float(zlib_length(PREFIX + pattern)),
        "LZ": float(lz76(period(pattern))),
        "bits": space_bits(space.cells, space.actions, barred, disabled),
        "pattern": float(len(pattern)),
    }


HIDDEN = -1  # the cell of somebody who is out of sight

Rewards = Literal["position", "trail"]
Sight = Literal["full", "adjacent"]


class View(NamedTuple):
    """What a mind sees; of the two symbols one is Good and one Evil, and it is not told which."""

    symbols: tuple[int, int]  # their cells
    cell: int  # its own
    reachable: tuple[int, ...]  # where each action leads
    others: tuple[int, ...]  # the cells of the other minds, in slot order
    cells: int  # how many there are


class State(NamedTuple):
    """The state of the world after `step` steps."""

    step: int
    good: int
    evil: int
    minds: tuple[int, ...]
    trail: tuple[float, ...]  # the reward lying in each cell, if there are trails


class Foresight(NamedTuple):
    """What a mind that sees the future is told."""

    space: Space
    good_symbol: int  # which of the two symbols is Good
    good: tuple[int, ...]  # its cells at steps 0, 1, 2, …
    evil: tuple[int, ...]
    rewards: Rewards
    weights: Weights = PLAIN  # of Good and Evil, in the mind's own slot


@dataclass(frozen=True)
class World(Environment):
    """One environment μ of Λ: a space in which Good and Evil repeat a pattern of actions."""

    space: Space
    pattern: str
    steps: int
    agents: int
    teams: tuple[tuple[int, ...], ...]
    good_symbol: int  # 0 or 1: which of the two symbols is Good
    rewards: Rewards
    sight: Sight
    complexity: Mapping[str, float]

    def __post_init__(self) -> None:
        """Reject a pattern with actions that the space does not have."""
        check_pattern(self.pattern, self.space)

    @property
    def actions(self) -> Sequence[Discrete]:
        """The actions of the space, for everyone."""
        return (Discrete(self.space.actions),) * self.agents

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that every mind is told: the number of cells, and what it will see of them."""
        return {"cells": self.space.cells, "observation": self.sight, "rewards": self.rewards}

    @property
    def known_by(self) -> Any:
        """The space and all moves of the pattern; which symbol is Good tells no worlds apart."""
        times = -(-self.steps // len(self.pattern))
        return self.space, (self.pattern * times)[: self.steps]

    def reset(self, random: Random) -> State:
        """Place Good and Evil in two different cells (words 0, 1), each mind in any (2, 3, …)."""
        cells = self.space.cells
        good, evil = random.below_at(cells, 0), random.below_at(cells - 1, 1)
        evil = evil if evil < good else evil + 1
        minds = tuple(random.below_at(cells, 2 + slot) for slot in range(self.agents))
        return State(0, good, evil, minds, self._left((0.0,) * cells, good, evil))

    def observe(self, state: State, slot: int) -> View:
        """Show both symbols, the own cell, where actions lead, and the other minds."""
        cell, sight = state.minds[slot], self.sees(slot)
        reachable = self.space.reachable(cell)[: self.actions[slot].n]

        def seen(other: int) -> int:
            return other if sight == "full" or other in (cell, *reachable) else HIDDEN

        good, evil = seen(state.good), seen(state.evil)
        symbols = (evil, good) if self.good_symbol else (good, evil)
        others = (*state.minds[:slot], *state.minds[slot + 1 :])
        shown = tuple(seen(other) for other in others)
        return View(symbols, cell, reachable, shown, self.space.cells)

    def step(
        self, state: State, actions: Mapping[int, int], random: Random
    ) -> tuple[State, Sequence[float]]:
        """Move minds, Good and Evil at the same time; then reward every mind."""
        minds = tuple(
            self.space.moved(cell, int(actions[slot])) for slot, cell in enumerate(state.minds)
        )
        step = state.step + 1
        good, evil = self._travel(step, state.good, state.evil, random)
        if self.rewards == "position":
            lying = {good: 1.0, evil: -1.0}
            gains = [self.gain(slot, lying.get(cell, 0.0)) for slot, cell in enumerate(minds)]
            return State(step, good, evil, minds, ()), self._shared(gains)
        trail = self._left(tuple(left / 2 for left in state.trail), good, evil)
        gains = [
            self.gain(slot, trail[cell]) / minds.count(cell) for slot, cell in enumerate(minds)
        ]
        trail = tuple(0.0 if cell in minds else left for cell, left in enumerate(trail))
        return State(step, good, evil, minds, trail), self._shared(gains)

    def sees(self, slot: int) -> Sight:
        """Return how much the mind in a slot sees."""
        return self.sight

    def gain(self, slot: int, lying: float) -> float:
        """Return what the mind in a slot gets of what lies in a cell: of Good if above 0."""
        return lying

    def secret(self, state: State, slot: int, random: Random) -> Foresight:
        """Return the way of Good and Evil, which no mind can change."""
        good, evil = [state.good], [state.evil]
        for step in range(1, self.steps + 1):
            after = self._travel(step, good[-1], evil[-1], random.at_step(step))
            good.append(after[0])
            evil.append(after[1])
        return Foresight(self.space, self.good_symbol, tuple(good), tuple(evil), self.rewards)

    def _travel(self, step: int, good: int, evil: int, random: Random) -> tuple[int, int]:
        action = int(self.pattern[(step - 1) % len(self.pattern)])
        return travel(self.space, action, good, evil, random)

    def _left(self, trail: tuple[float, ...], good: int, evil: int) -> tuple[float, ...]:
        """Let Good and Evil leave 1 and -1 where they are, in place of what lay there."""
        if self.rewards == "position":
            return ()
        fresh = {good: 1.0, evil: -1.0}
        return tuple(fresh.get(cell, left) for cell, left in enumerate(trail))

    def _shared(self, gains: Sequence[float]) -> Sequence[float]:
        """Give all members of a team the mean of what they gained."""
        shared = list(gains)
        for team in self.teams:
            mean = math.fsum(gains[slot] for slot in team) / len(team)
            for slot in team:
                shared[slot] = mean
        return shared
