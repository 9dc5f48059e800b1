"""Λ* itself, in plain Python: the specification that the kernels must equal bit for bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from allminds.contracts import Discrete, Environment, Failure
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import ACTIONS, Torus
from allminds.instruments.lambda_star.patterns import Pattern
from allminds.instruments.rules import parted
from allminds.instruments.unequal import PLAIN, Weights

MOVE = Discrete(9, start=1, labels=ACTIONS)


class View(NamedTuple):
    """What a mind sees: its Moore neighbourhood in reading order, and the reward in each cell."""

    cells: tuple[int, ...]
    rewards: tuple[float, ...]

    @property
    def cell(self) -> int:
        """The cell of the mind itself."""
        return self.cells[len(self.cells) // 2]


class State(NamedTuple):
    """The state of the world after `step` steps."""

    step: int
    good: int
    evil: int
    minds: tuple[int, ...]


class Foresight(NamedTuple):
    """What a mind that sees the future is told: the cells of Good and Evil at steps 0..ϑ."""

    good: tuple[int, ...]
    evil: tuple[int, ...]
    weights: Weights = PLAIN  # of Good and Evil, in the mind's own slot

    @property
    def sought(self) -> tuple[int, ...]:
        """The cells of the one that weighs more: Good's, unless Evil does."""
        good, evil = self.weights
        return self.good if good >= evil else self.evil


class TorusWorld(Environment):
    """A world of king moves on a torus, of which minds see the cells round them."""

    torus: Torus
    agents: int
    reach: int  # of a mind's sight

    @property
    def actions(self) -> Sequence[Discrete]:
        return (MOVE,) * self.agents

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts that every mind is told: the size of the torus and how far it sees."""
        return {"rows": self.torus.rows, "cols": self.torus.cols, "range": self.reach}


@dataclass(frozen=True)
class World(TorusWorld):
    """One Λ* environment μ: a torus on which Good and Evil move in patterns."""

    torus: Torus
    steps: int  # ϑ
    agents: int
    reach: int  # of a mind's sight
    pattern: Pattern
    complexity: Mapping[str, float]

    def reset(self, random: Random) -> State:
        """Place Good and Evil (words 0, 1), and minds on a random permutation's first cells."""
        good, evil = self.pattern.start(self.torus, random)
        return State(0, good, evil, self.torus.starts(self.agents, random, 2))

    def observe(self, state: State, slot: int) -> View:
        """Show the neighbourhood of a mind: cells and rewards, never other minds."""
        here = state.minds[slot]
        reach = self.sees(slot)
        cells = self.torus.around(here, reach)
        nearest = min(self.torus.distance(here, state.good), self.torus.distance(here, state.evil))
        if nearest > reach + 1:  # most often so, and quickly told
            return View(cells, (0.0,) * len(cells))
        return View(cells, tuple(self.reward(cell, state, slot) for cell in cells))

    def sees(self, slot: int) -> int:
        """Return how far the mind in a slot sees."""
        return self.reach

    def reward(self, cell: int, state: State, slot: int = 0) -> float:
        """Compute what Good gives in a cell, less what Evil takes there."""
        return self.torus.worth(cell, state.good) - self.torus.worth(cell, state.evil)

    def step(
        self, state: State, actions: Mapping[int, int], random: Random
    ) -> tuple[State, Sequence[float]]:
        """Move the minds, then Good and Evil; reward each mind by its own cell."""
        minds = tuple(
            self.torus.moved(cell, int(actions[slot])) for slot, cell in enumerate(state.minds)
        )
        good, evil = self.travel(state, random)
        after = State(state.step + 1, good, evil, minds)
        return after, self.rewards(after)

    def rewards(self, state: State) -> Sequence[float]:
        """Return what every mind gets: the reward of its own cell."""
        return [self.reward(cell, state, slot) for slot, cell in enumerate(state.minds)]

    def travel(self, state: State, random: Random) -> tuple[int, int]:
        """Move Good and Evil from a state as their patterns say."""
        return self._travel(state.step + 1, state.good, state.evil, random)

    def secret(self, state: State, slot: int, random: Random) -> Foresight:
        """Return the way of Good and Evil, which no mind can change."""
        good, evil = [state.good], [state.evil]
        for step in range(1, self.steps + 1):
            after = self._travel(step, good[-1], evil[-1], random.at_step(step))
            good.append(after[0])
            evil.append(after[1])
        return Foresight(tuple(good), tuple(evil))

    def _travel(self, step: int, good: int, evil: int, random: Random) -> tuple[int, int]:
        """Make the next move of the patterns of Good and Evil."""
        wanted = self.pattern.intended(self.torus, step, good, evil)
        return parted(good, evil, *wanted, random.below_at(2, 0))


# ---------------------------------------------------------------- in words


def show_view(
    view: View, form: Literal["text", "html", "svg", "array"], name: str, digits: int = 1
) -> Any:
    """Draw the neighbourhood as a small table of rewards."""
    side = math.isqrt(len(view.rewards))
    if form == "array":
        import numpy as np

        return np.array(view.rewards).reshape(side, side)
    lines = [view.rewards[side * row : side * (row + 1)] for row in range(side)]
    if form == "text":
        return "\n".join(" ".join(f"{value:+.{digits}f}" for value in line) for line in lines)
    if form == "html":
        cells = "".join(
            f"<tr>{''.join(f'<td>{value:+.{digits}f}</td>' for value in line)}</tr>"
            for line in lines
        )
        return f"<table>{cells}</table>"
    raise Error(f"{name} cannot be shown as {form}; choose text, html or array")


def read_move(answer: str) -> int | Failure:
    """Read an action by its number 1..9 or its name."""
    text = answer.strip().lower()
    if text in ACTIONS:
        return ACTIONS.index(text) + 1
    if text.isascii() and text.isdigit() and MOVE.contains(int(text)):
        return int(text)
    return Failure("malformed", f"'{answer[:60]}' is neither 1..9 nor a direction")
