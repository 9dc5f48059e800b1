"""The compiled form of Λ: worlds for a block of exercises, ways through them, and their records."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.complexity import deflate_kernels as kernels_deflate
from allminds.complexity import zlib_length
from allminds.contracts import LineUp
from allminds.core.blocks import Block
from allminds.core.compiled import keys
from allminds.core.seeding import MAKING, MINDS, WORLD, Random, Words, key
from allminds.instruments.chance import RandomMind
from allminds.instruments.lambda_.fast import minds as kernels_minds
from allminds.instruments.lambda_.fast import worlds as kernels
from allminds.instruments.lambda_.fast.minds import Habits
from allminds.instruments.lambda_.fast.worlds import Rules, Worlds
from allminds.instruments.lambda_.instrument import SIZES
from allminds.instruments.lambda_.minds import (
    Expert,
    Follower,
    Optimum,
    QLambda,
    QLearning,
    Sarsa,
    TableLearner,
)
from allminds.instruments.lambda_.space import (
    FEWEST,
    MOST,
    PREFIX,
    draw_pattern,
    space_bits,
    unlikely,
)

if TYPE_CHECKING:
    from allminds.instruments.lambda_.instrument import Lambda

Columns = dict[str, NDArray[np.float64]]
Cells = NDArray[np.uint8]
Walk = Callable[[Worlds, Words, Cells, Cells], None]  # (worlds, keys, way, acts)


# ---------------------------------------------------------------- worlds


def rules_of(tool: Lambda) -> Rules:
    """Build the kernels' rules of an instrument."""
    given = tool.settings
    fixed = [given.cells] if given.cells else []
    sizes = list(SIZES) if given.form == "test" else fixed
    return Rules(np.array(sizes, np.int64), given.actions or 0, given.disabled, given.steps or 0)


@lru_cache(maxsize=4)
def make_worlds(tool: Lambda, seed: int, first: int, last: int) -> tuple[Worlds, Columns]:
    """Make the worlds of a block of exercises; the last few are remembered for other minds."""
    rules, count = rules_of(tool), last - first
    cells, steps = np.empty(count, np.uint8), np.empty(count, np.int32)
    numbers = np.arange(first, last)
    making, moving = keys(seed, numbers, MAKING), keys(seed, numbers, WORLD)
    kernels.sizes(rules, making, first, cells, steps)
    ways = (count, int(steps.max()) + 1)
    worlds = Worlds(
        cells, np.empty(count, np.uint8), np.empty(count, np.uint8), steps,
        np.empty((count, MOST, MOST), np.uint8), np.empty(count, np.uint8),
        np.empty(ways, np.uint8), np.empty(ways, np.uint8),
    )  # fmt: skip
    measured = np.empty((count, 4), np.int64)
    failed = kernels.make_worlds(rules, making, moving, worlds, measured)
    if failed >= 0:
        raise unlikely(int(cells[failed]), tool.settings.actions, tool.settings.disabled)
    if not zlib_agrees():
        measured[:, 0] = -1
    _ask_zlib(worlds, making, measured)
    return worlds, _columns(worlds, measured, tool.settings.disabled)


@cache
def zlib_agrees() -> bool:
    """Return whether the zlib in use gives the lengths that its compiled twin gives."""
    memory = kernels_deflate.scratch()
    for n in range(200):
        text = PREFIX * (n % 2) + draw_pattern(2 + n % 8, 0.05, Random(key(n, 0, MAKING)))
        codes = np.frombuffer(text.encode(), np.uint8)
        ours = kernels_deflate.deflate_length(codes, 0, len(codes), memory)
        if ours >= 0 and ours != len(zlib.compress(text.encode(), 6)):
            return False
    return True


def _ask_zlib(worlds: Worlds, making: Words, measured: NDArray[np.int64]) -> None:
    """Fill in K and K_prefix where the kernel is not sure of them."""
    for n in np.flatnonzero(measured[:, 0] < 0).tolist():
        words = Random(int(making[n])).part(1)
        pattern = draw_pattern(int(worlds.actions[n]), 1 / int(worlds.cells[n]), words)
        measured[n, 0] = zlib_length(pattern)
        measured[n, 1] = zlib_length(PREFIX + pattern)


@cache
def _bits_of_spaces(disabled: float) -> NDArray[np.float64]:
    """Compute `space_bits` by cells, actions and disabled actions."""
    table = np.zeros((MOST + 1, MOST + 1, MOST * MOST))
    for cells in range(FEWEST, MOST + 1):
        for actions in range(2, cells + 1):
            for barred in range(cells * (actions - 1) + 1 if disabled else 1):
                table[cells, actions, barred] = space_bits(cells, actions, barred, disabled)
    return table


def _columns(worlds: Worlds, measured: NDArray[np.int64], disabled: float) -> Columns:
    """Compute `space.columns` for all exercises of a block."""
    k, prefixed, phrases, digits = measured.T.astype(float)
    bits = _bits_of_spaces(disabled)[worlds.cells, worlds.actions, worlds.barred]
    return {
        "cells": worlds.cells.astype(float),
        "actions": worlds.actions.astype(float),
        "K": k,
        "K_prefix": prefixed,
        "LZ": phrases,
        "bits": bits,
        "pattern": digits,
    }


# ---------------------------------------------------------------- minds


class Compiled:
    """One mind that has a kernel, alone in the space."""

    compiled = True

    def __init__(self, tool: Lambda, walk: Walk) -> None:
        self.tool, self.walk = tool, walk

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Make the ways through all worlds, then settle them."""
        worlds, complexity = make_worlds(self.tool, seed, first, last)
        count, longest = worlds.good.shape[0], worlds.good.shape[1] - 1
        way, acts = np.empty_like(worlds.good), np.zeros((count, longest), np.uint8)
        self.walk(worlds, keys(seed, np.arange(first, last), MINDS), way, acts)
        sums, curve = np.empty((count, 3), np.int64), np.zeros(longest, np.int64)
        kernels.settle(worlds, way, sums, curve)
        kept = max(0, min(traced - first, count))
        early, late, total = sums.T.astype(float)
        half = worlds.steps // 2
        with np.errstate(invalid="ignore"):  # 0 / 0 where there are no halves
            learning = late / half - early / half
        return Block(
            first=first,
            complexity=complexity,
            score=(total / worlds.steps)[:, None],
            learning=learning[:, None],
            status=np.zeros((count, 1), np.int8),
            steps=worlds.steps,
            curve=curve.astype(float),
            actions=acts[:kept, :, None].astype(np.int16),
            cluster=self.tool.cluster(seed, np.arange(first, last)),
        )


def fast_form(tool: Lambda, line_up: LineUp) -> Compiled | None:
    """Compile a line-up if its mind has a kernel, is alone, and sees all of the space."""
    given = tool.settings
    known = (given.agents, given.rewards, given.observation) == (1, "position", "full")
    if not known or given.form == "given":
        return None
    mind = line_up.seats[0].subject.make()
    build = WALKS.get(type(mind))
    return Compiled(tool, build(mind)) if build else None


def _drawing(kernel: Any) -> Callable[[Any], Walk]:
    """Wrap the kernel of a mind without parameters that draws random words."""
    return lambda _mind: kernel


def _certain(kernel: Any) -> Callable[[Any], Walk]:
    """Wrap the kernel of a mind without parameters that draws no random words."""
    return lambda _mind: lambda worlds, _keys, way, acts: kernel(worlds, way, acts)


def _habits(mind: TableLearner) -> Habits:
    trace = mind.trace if isinstance(mind, QLambda) else 0.0
    return Habits(mind.alpha, mind.gamma, mind.epsilon, mind.initial, trace)


def _table_learner(mind: QLearning | Sarsa) -> Walk:
    habits, sarsa = _habits(mind), isinstance(mind, Sarsa)
    return lambda worlds, *rest: kernels_minds.table_learner(worlds, sarsa, habits, *rest)


def _q_lambda(mind: QLambda) -> Walk:
    habits = _habits(mind)
    return lambda worlds, *rest: kernels_minds.q_lambda(worlds, habits, *rest)


# The next kernel goes here: the class, and how to make a walk from an instance of it.
WALKS: dict[type, Callable[[Any], Walk]] = {
    RandomMind: _drawing(kernels_minds.random_walk),
    Follower: _drawing(kernels_minds.follower),
    Expert: _certain(kernels_minds.expert),
    Optimum: _certain(kernels_minds.optimum),
    QLearning: _table_learner,
    Sarsa: _table_learner,
    QLambda: _q_lambda,
}
