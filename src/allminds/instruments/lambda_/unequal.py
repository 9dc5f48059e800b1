"""Λ in which slots differ: each has rewards, actions and sight of its own.

Where all slots have the plain ones, this world equals the plain world bit for bit. It is played by
the plain loop: the compiled forms are for slots that are alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Discrete
from allminds.core.seeding import Random
from allminds.instruments.lambda_.world import MOST, Foresight, Sight, Space, State, World
from allminds.instruments.rules import parted
from allminds.instruments.unequal import PLAIN, Weights, mean, weights_of

ALL = "all"  # actions of the space
SIGHTS = ("full", "adjacent")
EXERCISES = 700  # over which the chance level is averaged, where it has no closed form
SEED = 2_011  # of these exercises

Chances = NDArray[np.float64]


class Own(NamedTuple):
    """What a slot has for its own."""

    weights: Weights = PLAIN
    actions: int = MOST  # at most so many of those of the space, action 0 first
    sight: Sight = "full"


def actions_text(value: Any) -> str:
    """Check and write how many actions a slot has."""
    text = str(value).strip()
    if text != ALL and not (text in "123456789" and len(text) == 1):
        raise ValueError(f"'{text}' is neither {ALL} nor a number of actions from 1 to {MOST}")
    return text


def sight_text(value: Any) -> str:
    """Check and write what a slot sees."""
    text = str(value).strip()
    if text not in SIGHTS:
        raise ValueError(f"'{text}' is neither full nor adjacent")
    return text


def own_of(weights: str, actions: str, sight: str) -> Own:
    """Read what one slot has, from texts that were checked."""
    return Own(weights_of(weights), MOST if actions == ALL else int(actions), cast(Sight, sight))


def ceiling_of(own: Iterable[Own]) -> float:
    """Compute a bound that no mean score of these slots exceeds."""
    return mean(max(0.0, *one.weights) for one in own)


# ---------------------------------------------------------------- the world


@dataclass(frozen=True)
class Unequal(World):
    """An environment of Λ whose slots have weights, actions and sight of their own."""

    own: tuple[Own, ...] = ()

    @cached_property
    def actions(self) -> Sequence[Discrete]:
        return tuple(Discrete(min(one.actions, self.space.actions)) for one in self.own)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that are the same for all: of cells and actions, and of rewards."""
        return {
            "cells": self.space.cells, "actions": self.space.actions, "rewards": self.rewards
        }  # fmt: skip

    def told(self, slot: int) -> Mapping[str, Any]:
        """Tell the mind in a slot what it will see and what it is rewarded for."""
        return {**self.facts, "observation": self.sees(slot), "weights": self.own[slot].weights}

    def sees(self, slot: int) -> Sight:
        return self.own[slot].sight

    def gain(self, slot: int, lying: float) -> float:
        """Weigh what lies in a cell: Good's is above 0, Evil's below."""
        good, evil = self.own[slot].weights
        return lying * (good if lying > 0 else -evil) + 0.0  # never -0.0

    def secret(self, state: State, slot: int, random: Random) -> Foresight:
        """Return the way of Good and Evil, and the slot's weights."""
        return super().secret(state, slot, random)._replace(weights=self.own[slot].weights)


# ---------------------------------------------------------------- what a random mind expects


def expected(world: Unequal) -> list[float]:
    """Compute exactly what random minds expect a step in each slot, with rewards by position.

    Good and Evil are exchangeable: they begin anywhere, in different cells, and go by the same
    actions. So a random mind is as often with Evil as with Good, and gets the sum of its weights
    times the chance that it is with Good. That chance follows from the chances of where both are,
    step by step.
    """
    good = _good(world)
    shares = {count: _with_good(world.space, count, good) for count in {s.n for s in world.actions}}
    return [
        (one.weights[0] + one.weights[1]) * shares[space.n]
        for one, space in zip(world.own, world.actions, strict=True)
    ]


def _good(world: World) -> Chances:
    """Compute the chances of Good's cell after each step: [step, cell]."""
    cells, found = world.space.cells, []
    pairs = (np.ones((cells, cells)) - np.eye(cells)) / (cells * (cells - 1))
    moved = {digit: _moved(world.space, int(digit)) for digit in set(world.pattern)}
    for step in range(world.steps):
        pairs = moved[world.pattern[step % len(world.pattern)]] @ pairs.reshape(-1)
        pairs = pairs.reshape(cells, cells)
        found.append(pairs.sum(axis=1))
    return np.array(found)


def _moved(space: Space, action: int) -> Chances:
    """Compute where an action leads Good and Evil: [pair after, pair before]."""
    cells = space.cells
    made = np.zeros((cells * cells, cells * cells))
    for good in range(cells):
        for evil in range(cells):
            wanted = space.moved(good, action), space.moved(evil, action)
            for lot in (0, 1) if good != evil else ():
                to_good, to_evil = parted(good, evil, *wanted, lot)
                made[to_good * cells + to_evil, good * cells + evil] += 0.5
    return made


def _with_good(space: Space, actions: int, good: Chances) -> float:
    """Compute the mean chance that a mind with the first `actions` by lot is in Good's cell."""
    walk = np.zeros((space.cells, space.cells))
    for cell in range(space.cells):
        for to in space.reachable(cell)[:actions]:
            walk[to, cell] += 1 / actions
    here, total = np.full(space.cells, 1 / space.cells), 0.0
    for row in good:
        here = walk @ here
        total += float(here @ row)
    return total / len(good)
