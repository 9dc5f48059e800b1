"""The compiled form of Λ: worlds for a block of exercises, ways through them, and their records."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.complexity import zlib_length
from allminds.complexity.fast import deflate_length, deflate_scratch, lz76_kernel, lz76_scratch
from allminds.core.blocks import Block
from allminds.core.compiled import below, fold, kernel, keys, unit, word
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, MINDS, WORLD, Random, Words, key
from allminds.instruments.chance import RandomMind
from allminds.instruments.fast import parted, period
from allminds.instruments.lambda_.fast import minds as kernels
from allminds.instruments.lambda_.fast.minds import Habits
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
from allminds.instruments.lambda_.world import (
    ATTEMPTS,
    FEWEST,
    LONGEST,
    MOST,
    PREFIX,
    draw_pattern,
    space_bits,
    unlikely,
)

if TYPE_CHECKING:
    from allminds.instruments.lambda_.instrument import Lambda

ZERO, LETTER = ord("0"), ord(PREFIX)
_0, _1, _2 = np.uint64(0), np.uint64(1), np.uint64(2)


class Rules(NamedTuple):
    """The settings of Λ as numbers for the kernels."""

    sizes: Any  # int64[S]: the cells that exercises run through; none if they are drawn
    actions: int  # 0 if they are drawn
    disabled: float
    steps: int  # 0 for 10(n_c - 1)


class Worlds(NamedTuple):
    """Exercises one after the other; cells are numbered from 0."""

    cells: Any  # uint8[exercise]: n_c
    actions: Any  # uint8[exercise]: n_a
    barred: Any  # uint8[exercise]: disabled actions
    steps: Any  # int32[exercise]
    to: Any  # uint8[exercise, cell, action]
    start: Any  # uint8[exercise]: of the mind
    good: Any  # uint8[exercise, step]: from step 0
    evil: Any  # uint8[exercise, step]


# ---------------------------------------------------------------- spaces


@kernel
def _draw_cells(making):
    """Draw n_c: the twin of `world.draw_cells`."""
    aim = np.int64(below(word(making, _0, _0), np.uint64(2**MOST - 2)))
    cells = FEWEST
    while aim >= 1 << (MOST + 1 - cells):
        aim -= 1 << (MOST + 1 - cells)
        cells += 1
    return cells


@kernel
def _found(ways, cells):
    """Return whether all cells can be reached from cell 0; ways[cell] has a bit for every goal."""
    found, waiting = 1, 1
    while waiting:
        ahead = 0
        for cell in range(cells):
            if waiting >> cell & 1:
                ahead |= ways[cell]
        waiting = ahead & ~found
        found |= waiting
    return found == (1 << cells) - 1


@kernel
def _draw_space(rules, making, cells, to):
    """Draw (n_a, disabled actions), n_a = 0 if none was connected: `world.draw_space`."""
    ahead, back = np.zeros(MOST, np.int64), np.zeros(MOST, np.int64)
    for attempt in range(1, ATTEMPTS + 1):
        step = np.uint64(attempt)
        actions = rules.actions
        if actions == 0:
            actions = 2 + np.int64(below(word(making, step, _0), np.uint64(cells - 1)))
        arrows, barred = cells * (actions - 1), 0
        ahead[:] = 0
        back[:] = 0
        for cell in range(cells):
            to[cell, 0] = cell
            for action in range(1, actions):
                place = cell * (actions - 1) + action
                goal = np.int64(below(word(making, step, np.uint64(place)), np.uint64(cells)))
                if rules.disabled > 0 and (
                    unit(word(making, step, np.uint64(arrows + place))) < rules.disabled
                ):
                    goal = cell
                    barred += 1
                to[cell, action] = goal
                ahead[cell] |= 1 << goal
                back[goal] |= 1 << cell
        if _found(ahead, cells) and _found(back, cells):
            return actions, barred
    return 0, 0


# ---------------------------------------------------------------- patterns


@kernel
def _draw_pattern(key, actions, stop, text):
    """Draw digits from place 1 of a text, return how many: `world.draw_pattern`."""
    size = 0
    while True:
        bits = word(key, _0, np.uint64(2 * size))
        text[1 + size] = ZERO + np.int64(below(bits, np.uint64(actions)))
        size += 1
        if unit(word(key, _0, np.uint64(2 * size - 1))) < stop or size == LONGEST:
            return size


@kernel
def _travel(world, to, text, size, steps, good, evil):
    """Move step by step, good and evil holding their starts: the twin of `world.travel`."""
    at = 0
    g, e = np.int64(good[0]), np.int64(evil[0])
    for t in range(1, steps + 1):
        action = np.int64(text[1 + at]) - ZERO
        at = at + 1 if at + 1 < size else 0
        to_g, to_e = np.int64(to[g, action]), np.int64(to[e, action])
        lot = below(word(world, np.uint64(t), _0), _2) if to_g == to_e else _0
        g, e = parted(g, e, to_g, to_e, lot)
        good[t], evil[t] = g, e


# ---------------------------------------------------------------- whole worlds


@kernel
def sizes(rules, making, first, cells, steps):
    """Compute the cells and steps of exercises first, first + 1, … from the keys that make them."""
    for n in range(len(cells)):
        if len(rules.sizes):
            cells[n] = rules.sizes[(first + n) % len(rules.sizes)]
        else:
            cells[n] = _draw_cells(making[n])
        steps[n] = rules.steps if rules.steps else 10 * (np.int64(cells[n]) - 1)


@kernel
def fill_worlds(rules, making, world, worlds, columns):
    """Make exercises whose sizes are known already, from the keys of their streams.

    `columns` takes K, K_prefix, LZ and the digits of every pattern, K being -1 where zlib itself
    must be asked. Returns the place of an exercise without a connected space, or -1.
    """
    text = np.empty(1 + LONGEST, np.uint8)
    text[0] = LETTER
    codes = np.empty(LONGEST, np.int64)
    memory, phrases = deflate_scratch(), lz76_scratch(MOST, LONGEST)
    for n in range(len(worlds.cells)):
        cells, to = np.int64(worlds.cells[n]), worlds.to[n]
        actions, worlds.barred[n] = _draw_space(rules, making[n], cells, to)
        if actions == 0:
            return n
        worlds.actions[n] = actions
        size = _draw_pattern(fold(making[n], _1), actions, 1 / cells, text)
        for k in range(size):
            codes[k] = np.int64(text[1 + k]) - ZERO
        columns[n, 1] = deflate_length(text, 0, size + 1, memory)
        columns[n, 0] = deflate_length(text, 1, size, memory) if columns[n, 1] >= 0 else -1
        columns[n, 2] = lz76_kernel(codes, period(codes, size), phrases)
        columns[n, 3] = size
        good = below(word(world[n], _0, _0), np.uint64(cells))
        evil = below(word(world[n], _0, _1), np.uint64(cells - 1))
        worlds.good[n, 0] = good
        worlds.evil[n, 0] = evil + _1 if evil >= good else evil
        worlds.start[n] = below(word(world[n], _0, _2), np.uint64(cells))
        _travel(world[n], to, text, size, worlds.steps[n], worlds.good[n], worlds.evil[n])
    return -1


# ---------------------------------------------------------------- settling


@kernel
def settle(worlds, way, sums, curve):
    """Sum the rewards of ways: per exercise (first half, second half, all), and per step."""
    for n in range(len(way)):
        steps = worlds.steps[n]
        half = steps // 2
        early = late = total = 0
        good, evil, cells = worlds.good[n], worlds.evil[n], way[n]
        for t in range(1, steps + 1):
            reward = np.int64(cells[t] == good[t]) - np.int64(cells[t] == evil[t])
            curve[t - 1] += reward
            total += reward
            if t <= half:
                early += reward
            if t > steps - half:
                late += reward
        sums[n, 0], sums[n, 1], sums[n, 2] = early, late, total


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
    sizes(rules, making, first, cells, steps)
    ways = (count, int(steps.max()) + 1)
    worlds = Worlds(
        cells, np.empty(count, np.uint8), np.empty(count, np.uint8), steps,
        np.empty((count, MOST, MOST), np.uint8), np.empty(count, np.uint8),
        np.empty(ways, np.uint8), np.empty(ways, np.uint8),
    )  # fmt: skip
    measured = np.empty((count, 4), np.int64)
    failed = fill_worlds(rules, making, moving, worlds, measured)
    if failed >= 0:
        raise unlikely(int(cells[failed]), tool.settings.actions, tool.settings.disabled)
    if not zlib_agrees():
        measured[:, 0] = -1
    _ask_zlib(worlds, making, measured)
    return worlds, _columns(worlds, measured, tool.settings.disabled)


@cache
def zlib_agrees() -> bool:
    """Return whether the zlib in use gives the lengths that its compiled twin gives."""
    memory = deflate_scratch()
    for n in range(200):
        text = PREFIX * (n % 2) + draw_pattern(2 + n % 8, 0.05, Random(key(n, 0, MAKING)))
        codes = np.frombuffer(text.encode(), np.uint8)
        ours = deflate_length(codes, 0, len(codes), memory)
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
    """Compute `world.columns` for all exercises of a block."""
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
        settle(worlds, way, sums, curve)
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
    return lambda worlds, *rest: kernels.table_learner(worlds, sarsa, habits, *rest)


def _q_lambda(mind: QLambda) -> Walk:
    habits = _habits(mind)
    return lambda worlds, *rest: kernels.q_lambda(worlds, habits, *rest)


# The next kernel goes here: the class, and how to make a walk from an instance of it.
WALKS: dict[type, Callable[[Any], Walk]] = {
    RandomMind: _drawing(kernels.random_walk),
    Follower: _drawing(kernels.follower),
    Expert: _certain(kernels.expert),
    Optimum: _certain(kernels.optimum),
    QLearning: _table_learner,
    Sarsa: _table_learner,
    QLambda: _q_lambda,
}
