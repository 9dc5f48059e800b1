"""Λ* in which slots differ: each has rewards, moves and a range of sight of its own.

Where all slots have the plain ones, this world equals the plain world bit for bit. It is played by
the plain loop: the compiled forms are for slots that are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from allminds.contracts import Discrete
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import ACTIONS, KING, Torus
from allminds.instruments.lambda_star.world import MOVE, Foresight, State, World
from allminds.instruments.unequal import (
    PLAIN,
    Some,
    Weights,
    mean,
    weights_of,
    weights_text,
)

FARTHEST = 10  # that a mind can see
PIECES = {"king": KING, "rook": (2, 4, 5, 6, 8), "bishop": (1, 3, 5, 7, 9)}  # names of moves


class Own(NamedTuple):
    """What a slot has for its own."""

    weights: Weights = PLAIN
    moves: tuple[int, ...] = KING
    reach: int = 1  # how far it sees


def reach_text(value: Any) -> str:
    """Check and write how far a mind sees."""
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < 4):
        raise ValueError(f"'{text}' is not a whole number from 1 to {FARTHEST}")
    if not 1 <= int(text) <= FARTHEST:
        raise ValueError(f"{text} is not in 1..{FARTHEST}")
    return str(int(text))


def moves_text(value: Any) -> str:
    """Check and write a set of moves: by a name if it has one, else by digits in their order."""
    text = str(value).strip()
    found = PIECES.get(text) or tuple(sorted(int(digit) for digit in text if digit in "123456789"))
    if text not in PIECES and (not text or len(set(found)) != len(text)):
        raise ValueError(
            f"'{text}' is not {', '.join(PIECES)}, or different digits of 1..9 such as 2468"
        )
    return next((name for name, moves in PIECES.items() if moves == found), "") or "".join(
        map(str, found)
    )


def bounded_weights(value: Any) -> str:
    """Check and write weights that keep all rewards in [-1, 1]."""
    text = weights_text(value)
    if _most(weights_of(text)) > 1 or _most((-weights_of(text)[0], -weights_of(text)[1])) > 1:
        raise ValueError(
            f"the weights {text} would reward a cell near both with more than 1 or less than -1; "
            "of weights with the same sign, the larger and half of the smaller may be 1 together"
        )
    return text


def own_of(weights: str, moves: str, reach: str) -> Own:
    """Read what one slot has, from texts that were checked."""
    chosen = PIECES.get(moves) or tuple(map(int, moves))
    return Own(weights_of(weights), chosen, int(reach))


def digits_of(own: Sequence[Own]) -> int:
    """Count the decimals that show all rewards of these slots as they are, six at most."""
    halves = {weight / 2 for one in own for weight in one.weights}
    return next((n for n in range(1, 6) if all(round(one, n) == one for one in halves)), 6)


# ---------------------------------------------------------------- what can be expected


def _most(weights: Weights) -> float:
    """Compute the most that a cell can give: on one of the two and next to the other, or far."""
    good, evil = weights
    return max(0.0, good, evil, good + evil / 2, evil + good / 2)


def ceiling_of(own: Sequence[Own]) -> float:
    """Compute a bound that no mean score of these slots exceeds."""
    return mean(_most(one.weights) for one in own)


def chance_of(torus: Torus, own: Own) -> float:
    """Compute exactly what a random mind expects in a slot: 0 where the weights are opposite.

    It begins in a uniform cell, and its moves, by lot among its own, are the same everywhere on the
    torus, so that it is in a uniform cell at every step, wherever Good and Evil are. So it gets
    each weight times the mean of 1 on a cell and 0.5 next to it.
    """
    worth = sum(torus.worth(cell, 1) for cell in range(1, torus.cells + 1)) / torus.cells
    return (own.weights[0] + own.weights[1]) * worth


# ---------------------------------------------------------------- the world


@lru_cache(maxsize=64)
def space_of(moves: tuple[int, ...]) -> Discrete:
    """Return the space of a slot's moves; numbers mean what they mean for all."""
    return MOVE if moves == KING else Some(len(ACTIONS), 1, ACTIONS, moves)


@dataclass(frozen=True)
class Unequal(World):
    """A Λ* environment whose slots have weights, moves and ranges of sight of their own."""

    own: tuple[Own, ...] = ()

    @cached_property
    def actions(self) -> Sequence[Discrete]:
        return tuple(space_of(one.moves) for one in self.own)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts that are the same for all minds: the size of the torus."""
        return {"rows": self.torus.rows, "cols": self.torus.cols}

    def told(self, slot: int) -> Mapping[str, Any]:
        """Tell the mind in a slot how far it sees and what it is rewarded for."""
        return {**self.facts, "range": self.sees(slot), "weights": self.own[slot].weights}

    def sees(self, slot: int) -> int:
        return self.own[slot].reach

    def reward(self, cell: int, state: State, slot: int = 0) -> float:
        """Compute what Good and Evil give in a cell to the mind in a slot."""
        good, evil = self.own[slot].weights
        paid = good * self.torus.worth(cell, state.good) + evil * self.torus.worth(cell, state.evil)
        return paid + 0.0  # never -0.0

    def secret(self, state: State, slot: int, random: Random) -> Foresight:
        """Return the way of Good and Evil, and the slot's weights."""
        return super().secret(state, slot, random)._replace(weights=self.own[slot].weights)
