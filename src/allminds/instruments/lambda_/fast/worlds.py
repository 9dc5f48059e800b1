"""Worlds of Λ, compiled: spaces, patterns, their complexity, and the ways of Good and Evil."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allminds.complexity.deflate_kernels import deflate_length, scratch
from allminds.complexity.kernels import lz76_kernel, lz76_scratch
from allminds.core.compiled import below, fold, kernel, unit, word
from allminds.instruments.fast import parted, period
from allminds.instruments.lambda_.space import ATTEMPTS, FEWEST, LONGEST, MOST

ZERO, PREFIX = ord("0"), ord("p")
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
    """Draw n_c: the twin of `space.draw_cells`."""
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
    """Draw (n_a, disabled actions), n_a = 0 if none was connected: `space.draw_space`."""
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
    """Draw digits from place 1 of a text, return how many: `space.draw_pattern`."""
    size = 0
    while True:
        bits = word(key, _0, np.uint64(2 * size))
        text[1 + size] = ZERO + np.int64(below(bits, np.uint64(actions)))
        size += 1
        if unit(word(key, _0, np.uint64(2 * size - 1))) < stop or size == LONGEST:
            return size


@kernel
def _travel(world, to, text, size, steps, good, evil):
    """Move step by step, good and evil holding their starts: the twin of `space.travel`."""
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
def make_worlds(rules, making, world, worlds, columns):
    """Make exercises whose sizes are known already, from the keys of their streams.

    `columns` takes K, K_prefix, LZ and the digits of every pattern, K being -1 where zlib itself
    must be asked. Returns the place of an exercise without a connected space, or -1.
    """
    text = np.empty(1 + LONGEST, np.uint8)
    text[0] = PREFIX
    codes = np.empty(LONGEST, np.int64)
    memory, phrases = scratch(), lz76_scratch(MOST, LONGEST)
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
