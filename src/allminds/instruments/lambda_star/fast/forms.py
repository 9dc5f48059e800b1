"""The compiled form of Λ*: worlds for a block of exercises, ways through them, and their records.

`Worlds` are made once for a block and shared by all line-ups that are given it, by the minds in
`lockstep` too. `walks` has the compiled twin of every mind and group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES, STATUSES, Failure, Record
from allminds.core.blocks import Block
from allminds.core.compiled import keys, strata
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, MINDS, WORLD
from allminds.instruments.fast import distances, worths
from allminds.instruments.lambda_star.fast import singles, worlds
from allminds.instruments.lambda_star.fast.worlds import LANES, TorusRules, Ways
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import base_rules

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.instrument import LambdaStar

Failures = dict[int, tuple[int, dict[int, Failure]]]  # exercise -> step, and the slots at fault


@dataclass(frozen=True)
class Worlds:
    """Exercises first, first + 1, … with Good and Evil on their way."""

    rules: TorusRules
    seed: int
    first: int
    count: int
    ways: Ways
    complexity: dict[str, NDArray[np.float64]]

    @property
    def blocks(self) -> int:
        """The number of blocks of `LANES` exercises; surplus lanes of the last are not counted."""
        return len(self.ways.good_row)


def rules_of(tool: LambdaStar) -> TorusRules:
    """Build the kernels' rules of an instrument."""
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
    return base_rules(given.patterns, tool.torus, given.iterations, **more)


@lru_cache(maxsize=4)
def make_worlds(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """Make the worlds of a block of exercises; the last few are remembered for other minds."""
    rules, count = _rules(tool), last - first
    shape = (math.ceil(count / LANES), rules.steps + 1, LANES)
    starts = (shape[0], rules.agents, LANES)
    ways = Ways(*(np.empty(shape, np.int16) for _ in range(4)),
                *(np.empty(starts, np.int16) for _ in range(2)))  # fmt: skip
    columns = np.empty((shape[0] * LANES, 3), np.int64)
    numbers = np.arange(first, first + len(columns))
    worlds.make_worlds(
        rules, _wanted(tool, seed, numbers), keys(seed, numbers, MAKING),
        keys(seed, numbers, WORLD), ways, columns,
    )  # fmt: skip
    k, length, distinct = columns[:count].T.astype(np.float64)
    search = math.log2(tool.torus.cells * (tool.torus.cells - 1))
    complexity = {
        "K": k,
        "H": np.full(count, search),
        "bits": search + k * math.log2(rules.steps),
        "segment": length,
        "cells": distinct,
    }
    return Worlds(rules, seed, first, count, ways, complexity)


def _wanted(tool: LambdaStar, seed: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the K of every exercise; none if K is not controlled."""
    if not tool.complexities:
        return np.empty(0, np.int64)
    values = np.array(tool.complexities, np.int64)
    return values[strata(seed, numbers, len(values))]


@lru_cache(maxsize=16)
def _rules(tool: LambdaStar) -> TorusRules:
    return rules_of(tool)


# ---------------------------------------------------------------- compiled


class Slots:
    """The ways of some slots through some worlds: [slot, block, step, lane], being filled."""

    def __init__(self, here: Worlds, slots: tuple[int, ...]) -> None:
        steps = here.rules.steps + 1
        self.worlds, self.slots = here, slots
        # zeros, for not every kernel fills the lanes that only fill up the last block
        self.row = np.zeros((len(slots), here.blocks, steps, LANES), np.int16)
        self.col = np.zeros_like(self.row)
        numbers = np.arange(here.first, here.first + here.blocks * LANES)
        drawn = np.array([keys(here.seed, numbers, MINDS + slot) for slot in slots])
        self.keys = drawn.reshape(len(slots), here.blocks, LANES)
        self.failed: Failures = {}
        for n, slot in enumerate(slots):
            singles.begin(here.ways, slot, self.row[n], self.col[n])


Walk = Callable[[Slots], None]  # fills the ways


def note_failure(failures: Failures, lane: int, step: int, slot: int, failure: Failure) -> None:
    """Note a failure; of several in an exercise the earliest step counts."""
    if lane not in failures or step < failures[lane][0]:
        failures[lane] = (step, {})
    if step == failures[lane][0]:
        failures[lane][1][slot] = failure


def shared(failures: Failures, line_up: LineUp) -> Failures:
    """Copy failures to all slots of the minds at fault."""
    return {lane: (step, line_up.shared(of)) for lane, (step, of) in failures.items()}


class Compiled:
    """A line-up of minds that all have kernels; a slot's way does not depend on the others."""

    compiled = True

    def __init__(
        self, tool: LambdaStar, line_up: LineUp, walks: Sequence[tuple[tuple[int, ...], Walk]]
    ) -> None:
        self.tool, self.line_up, self.walks = tool, line_up, walks

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Make the ways of all slots, then settle them."""
        here = make_worlds(self.tool, seed, first, last)
        steps, agents = here.rules.steps, here.rules.agents
        ways = [(slots, Slots(here, slots)) for slots, _ in self.walks]
        failed: Failures = {}
        for (slots, filled), (_, walk) in zip(ways, self.walks, strict=True):
            walk(filled)
            for lane, (step, of) in filled.failed.items():
                for slot in slots:
                    if slot in of:
                        note_failure(failed, lane, step, slot, of[slot])
        alive = np.zeros((here.blocks, LANES), np.int16)
        alive.reshape(-1)[: here.count] = 1
        alive.reshape(-1)[list(failed)] = 0
        sums = np.empty((agents, here.count, 3), np.int32)
        curve = np.zeros(steps, np.int64)
        kept = max(0, min(traced - first, here.count))
        actions = np.empty((agents, kept, steps), np.int16)
        for slots, filled in ways:
            for n, slot in enumerate(slots):
                row, col = filled.row[n], filled.col[n]
                singles.settle(here.rules, here.ways, row, col, alive, sums[slot], curve)
                singles.trace(here.rules, row, col, actions[slot])

        def rewards(slot: int, lane: int) -> NDArray[Any]:
            slots, filled = next(one for one in ways if slot in one[0])
            n, (block, at) = slots.index(slot), divmod(lane, LANES)
            row, col = filled.row[n, block, 1:, at], filled.col[n, block, 1:, at]
            good = here.ways.good_row[block, 1:, at], here.ways.good_col[block, 1:, at]
            evil = here.ways.evil_row[block, 1:, at], here.ways.evil_col[block, 1:, at]
            return half_rewards(self.tool.torus, row, col, good, evil)

        failed = shared(failed, self.line_up)
        return block_of(self.tool, here, sums, curve, actions.transpose(1, 2, 0), failed, rewards)


def half_rewards(torus: Torus, row: Any, col: Any, good: Any, evil: Any) -> NDArray[Any]:
    """Compute the rewards of cells, in half units; Good and Evil are (rows, columns)."""
    rows, cols = torus.rows, torus.cols
    gain = worths(distances(rows, cols, row, col, *good))
    return np.asarray(gain - worths(distances(rows, cols, row, col, *evil)))


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


# ---------------------------------------------------------------- for other worlds on a torus


def actions_of(torus: Torus, way: NDArray[np.int64]) -> list[int]:
    """Recover the actions of a way (cells from 0) if no two moves lead to the same cell."""
    return [torus.toward(here + 1, there + 1) for here, there in pairwise(way.tolist())]


def settled(
    first: int,
    complexity: Sequence[Mapping[str, float]],
    rewards: NDArray[np.float64],
    actions: NDArray[np.int16],
) -> Block:
    """Build the block of exercises first, first + 1, …, from rewards [exercise, step, slot].

    `actions`, of the same form, may be of fewer exercises: the traced ones. Scores are summed
    exactly, as in the plain loop.
    """
    steps = rewards.shape[1]
    records = []
    for n, columns in enumerate(complexity):
        each = rewards[n].T.tolist()
        made = actions[n].tolist() if n < len(actions) else []
        records.append(
            Record(
                exercise="",
                index=first + n,
                complexity=columns,
                steps=steps,
                score=tuple(math.fsum(of) / steps for of in each),
                learning=tuple(_learning(of) for of in each),
                status=tuple("ok" for _ in each),
                actions=tuple(dict(enumerate(step)) for step in made),
                rewards=tuple(zip(*each, strict=True)),
            )
        )
    return Block.of(records, steps, len(actions))


def _learning(rewards: list[float]) -> float | None:
    half = len(rewards) // 2
    return math.fsum(rewards[-half:]) / half - math.fsum(rewards[:half]) / half if half else None
