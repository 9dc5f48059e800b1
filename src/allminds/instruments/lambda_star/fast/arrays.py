"""What all quick forms of Λ* share, and the worlds of a block of exercises made with NumPy.

Nothing here imports Numba: a job that is small is over before a kernel would be loaded. `Worlds`
are laid out as the kernels want them, so that either form can play in those that the other made.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES, STATUSES, Failure
from allminds.core import seeding
from allminds.core.blocks import Block
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, WORLD
from allminds.instruments.lambda_star.grid import Torus, half_worths, king_moves, neighbours
from allminds.instruments.lambda_star.patterns import base_rules
from allminds.instruments.rules import parted

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.instrument import LambdaStar

Failures = dict[int, tuple[int, dict[int, Failure]]]  # exercise -> step, and the slots at fault
LANES = 128
CYCLIC, DRIFT, RELEASED = 0, 1, 2
MOST_CELLS = 10_000  # of a torus whose worlds NumPy makes: a deck of cells for every exercise


class TorusRules(NamedTuple):
    """What a setting of Λ* comes to: the numbers and tables that every episode shares."""

    kind: int
    rows: int
    cols: int
    steps: int
    agents: int
    limit: int  # of a segment's length
    chances: Any  # float64[limit + 1, cells]: patterns.walk_chances, where segments are drawn
    plain: Any  # uint8[9]: patterns.plain_actions, from 0
    shelf: Any  # int64: segments of complexity K stand at shelf[K]..shelf[K + 1]
    catalogue: Any  # uint8[segments, limit]: moves 0..8
    lengths: Any  # int64[segments]
    distinct: Any  # int64[segments]: cells visited


class Ways(NamedTuple):
    """Where Good, Evil and the minds are: int16[block, step, lane], starts [block, slot, lane]."""

    good_row: Any
    good_col: Any
    evil_row: Any
    evil_col: Any
    start_row: Any
    start_col: Any


@dataclass(frozen=True)
class Worlds:
    """Exercises first, first + 1, … with Good and Evil on their way."""

    rules: TorusRules
    seed: int
    first: int
    count: int
    ways: Ways
    complexity: dict[str, NDArray[np.float64]]

    @classmethod
    def of(
        cls, tool: LambdaStar, seed: int, first: int, last: int, ways: Ways, columns: NDArray[Any]
    ) -> Worlds:
        """Build the worlds from ways, and from K, length and cells of the segments [exercise]."""
        rules, count = rules_of(tool), last - first
        k, length, distinct = columns[:count].T.astype(np.float64)
        search = math.log2(tool.torus.cells * (tool.torus.cells - 1))
        complexity = {
            "K": k,
            "H": np.full(count, search),
            "bits": search + k * math.log2(rules.steps),
            "segment": length,
            "cells": distinct,
        }
        return cls(rules, seed, first, count, ways, complexity)

    @property
    def blocks(self) -> int:
        """The number of blocks of `LANES` exercises; surplus lanes of the last are not counted."""
        return len(self.ways.good_row)


@lru_cache(maxsize=16)
def rules_of(tool: LambdaStar) -> TorusRules:
    """Build the rules of an instrument."""
    given = tool.settings
    more: dict[str, Any] = {"agents": given.agents}
    if given.patterns != "released":
        shelves = tool.catalogue
        more |= {
            "shelf": shelves.shelf,
            "catalogue": shelves.moves,
            "lengths": shelves.lengths,
            "distinct": shelves.distinct,
        }
    return base_rules(given.patterns, tool.torus, given.iterations, bool(tool.strata), **more)


def meets_itself(tool: LambdaStar) -> bool:
    """Return whether a neighbourhood meets itself on so small a torus: left to plain Python."""
    side = min(tool.torus.rows, tool.torus.cols)
    return side < 3 or 2 * tool.settings.range >= side


# ---------------------------------------------------------------- worlds


def make_worlds(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """Make the worlds of a block by kernels, if this process has them or NumPy cannot."""
    kernels = sys.modules.get("allminds.instruments.lambda_star.fast.worlds")
    if makes_arrays(tool) and (kernels is None or not kernels.make_worlds.signatures):
        return worlds_by_arrays(tool, seed, first, last)
    from allminds.instruments.lambda_star.fast import forms

    return forms.make_worlds(tool, seed, first, last)


def makes_arrays(tool: LambdaStar) -> bool:
    """Return whether NumPy makes the worlds: K is controlled, and the torus is not too large."""
    return tool.strata is not None and tool.torus.cells <= MOST_CELLS


@lru_cache(maxsize=4)
def worlds_by_arrays(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """Make the worlds of a block whose K is controlled: the twin of `forms.make_worlds`."""
    rules, size = rules_of(tool), math.ceil((last - first) / LANES) * LANES
    numbers = np.arange(first, first + size)
    values = np.array(tool.complexities)
    order = [seeding.stratum(seed, n, len(values)) for n in range(first, first + size)]
    k, making = values[order], seeding.keys(seed, numbers, MAKING)
    good, evil = _segments(rules, k, making)
    keys = seeding.keys(seed, numbers, WORLD)
    moves = [_repeated(rules, place) for place in (good, evil)]
    cells = _travel(rules, keys, *moves)
    starts = _starts(rules, keys)

    def laid(of: NDArray[np.int64]) -> NDArray[np.int16]:  # [step or slot, exercise]
        shape = (len(of), size // LANES, LANES)
        return np.ascontiguousarray(of.astype(np.int16).reshape(shape).transpose(1, 0, 2))

    places = [laid(of) for way in (*cells, starts) for of in np.divmod(way, rules.cols)]
    columns = np.stack([k, rules.lengths[good], rules.distinct[good]], axis=1)
    return Worlds.of(tool, seed, first, last, Ways(*places), columns)


def _segments(
    rules: TorusRules, k: NDArray[np.int64], making: seeding.Words
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the places of Good's and Evil's segments; those of a K >= 3 differ."""
    low, size = rules.shelf[k], rules.shelf[k + 1] - rules.shelf[k]

    def drawn(some: Any, j: int) -> NDArray[np.int64]:
        lot = seeding.below(seeding.words(making[some], 0, j), size[some])
        return np.asarray(low[some] + lot.astype(np.int64))

    everywhere = np.arange(len(k))
    good, evil, again, j = drawn(everywhere, 0), drawn(everywhere, 1), everywhere, 1
    while len(again := again[(k[again] >= 3) & (evil[again] == good[again])]):
        j += 1
        evil[again] = drawn(again, j)
    return good, evil


def _repeated(rules: TorusRules, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repeat segments over all steps: moves 0..8 [step, exercise]."""
    at = np.arange(rules.steps)[:, None] % rules.lengths[place]
    return np.asarray(rules.catalogue[place, at], np.int64)


def _travel(
    rules: TorusRules,
    keys: seeding.Words,
    good_moves: NDArray[np.int64],
    evil_moves: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Move Good and Evil, which never share a cell; return their cells from 0 [step, exercise]."""
    torus, cells = Torus(rules.rows, rules.cols), rules.rows * rules.cols
    around = neighbours(torus)
    good = np.empty((rules.steps + 1, len(keys)), np.int64)
    evil = np.empty_like(good)
    good[0] = seeding.below(seeding.words(keys, 0, 0), cells)
    evil[0] = seeding.below(seeding.words(keys, 0, 1), cells - 1)
    evil[0] += evil[0] >= good[0]
    for t in range(1, rules.steps + 1):
        good[t], evil[t] = (
            around[good_moves[t - 1], good[t - 1]],
            around[evil_moves[t - 1], evil[t - 1]],
        )
        for n in np.flatnonzero(good[t] == evil[t]).tolist():
            lot = int(seeding.below(seeding.words(keys[n : n + 1], t, 0), 2)[0])
            there = int(good[t, n])
            good[t, n], evil[t, n] = parted(
                int(good[t - 1, n]), int(evil[t - 1, n]), there, there, lot
            )
    return good, evil


def _starts(rules: TorusRules, keys: seeding.Words) -> NDArray[np.int64]:
    """Draw the starting cells of minds, from 0: [slot, exercise], the twin of `Torus.starts`."""
    cells, lanes = rules.rows * rules.cols, np.arange(len(keys))
    deck = np.tile(np.arange(cells, dtype=np.int32), (len(keys), 1))
    found = np.empty((rules.agents, len(keys)), np.int64)
    for place in range(rules.agents):
        lot = seeding.below(seeding.words(keys, 0, 2 + place), cells - place)
        other = place + lot.astype(np.int64)
        found[place] = deck[lanes, other]
        deck[lanes, other] = deck[:, place]
    return found


# ---------------------------------------------------------------- what a mind sees


class SightTable(NamedTuple):
    """What Good gives in the cells in sight, tabulated by where it lies from a mind.

    Rows and columns apart, displacements fall into classes: each at which something can be seen,
    and "far".
    """

    row_class: NDArray[np.uint32]  # [displacement + rows], times the number of column classes
    col_class: NDArray[np.uint32]
    classes: int
    gains: NDArray[np.int8]  # [class, cell in sight]: what Good gives there, in half units


@lru_cache(maxsize=8)
def sight(rows: int, cols: int, reach: int) -> SightTable:
    """Build the table for a torus and a range of sight."""
    row_class, row_seen = axis_of(rows, reach)
    col_class, col_seen = axis_of(cols, reach)
    span = np.arange(-reach, reach + 1)
    row, col = (of.reshape(-1) for of in np.meshgrid(span, span, indexing="ij"))
    to_row, to_col = (of.reshape(-1, 1) for of in np.meshgrid(row_seen, col_seen, indexing="ij"))
    gains = half_worths(king_moves(rows, cols, row, col, to_row, to_col)).astype(np.int8)
    return SightTable(
        (row_class * len(col_seen)).astype(np.uint32), col_class.astype(np.uint32), len(gains),
        gains,
    )  # fmt: skip


def axis_of(size: int, reach: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the class of each displacement -size..size, and a displacement of each class."""
    shift = np.arange(-size, size + 1) % size
    shift = np.where(shift > size // 2, shift - size, shift)
    shift = np.where(np.abs(shift) > reach + 1, size // 2, shift)  # all that is far, alike
    seen, of = np.unique(shift, return_inverse=True)
    return of, seen


def half_rewards(torus: Torus, row: Any, col: Any, good: Any, evil: Any) -> NDArray[Any]:
    """Compute the rewards of cells, in half units; Good and Evil are (rows, columns)."""
    gain, loss = (
        half_worths(king_moves(torus.rows, torus.cols, row, col, *of)) for of in (good, evil)
    )
    return np.asarray(gain - loss)


# ---------------------------------------------------------------- records


def note_failure(failures: Failures, lane: int, step: int, slot: int, failure: Failure) -> None:
    """Note a failure; of several in an exercise the earliest step counts."""
    if lane not in failures or step < failures[lane][0]:
        failures[lane] = (step, {})
    if step == failures[lane][0]:
        failures[lane][1][slot] = failure


def shared(failures: Failures, line_up: LineUp) -> Failures:
    """Copy failures to all slots of the minds at fault."""
    return {lane: (step, line_up.shared(of)) for lane, (step, of) in failures.items()}


def block_of(
    tool: LambdaStar,
    here: Worlds,
    sums: NDArray[Any],
    curve: NDArray[Any],
    actions: NDArray[np.int16],
    failed: Failures,
    rewards: Callable[[int, int], NDArray[Any]],
) -> Block:
    """Build the block of records from sums [slot, exercise, (first half, second half, all)].

    `rewards` gives those of a slot in an exercise that failed, step by step, in half units.
    """
    steps = here.rules.steps
    half = steps // 2
    early, late, total = (sums[:, :, n].T * 0.5 for n in range(3))
    block = Block(
        first=here.first,
        complexity=here.complexity,
        score=total / steps,
        learning=late / half - early / half if half else np.full(total.shape, np.nan),
        status=np.zeros(total.shape, np.int8),
        steps=np.full(here.count, steps, np.int32),
        curve=curve * 0.5,
        actions=actions,
    )
    for lane, (step, of) in failed.items():
        block.score[lane] = block.learning[lane] = np.nan
        block.steps[lane] = step
        block.status[lane] = STATUSES.index("void")
        for slot, failure in of.items():
            block.status[lane, slot] = STATUSES.index(failure.status)
            if failure.status in FAILURES:
                world = tool.exercise(here.seed, here.first + lane).environment
                made = rewards(slot, lane)[:step] * 0.5
                block.score[lane, slot] = tool.failed_score(world, slot, made.tolist())
        block.reasons[here.first + lane] = of[min(of)].reason
        if lane < len(actions):
            actions[lane, step:] = 0
    return block
