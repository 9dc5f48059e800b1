"""The compiled form of Λ*: worlds for a block of exercises, ways through them, and their records.

`Worlds` are made once for a block and shared by all line-ups that are given it, by the minds in
`lockstep` too. `walks` has the compiled twin of every mind and group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Record
from allminds.core.blocks import Block
from allminds.core.compiled import keys, strata
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, MINDS, WORLD
from allminds.instruments.lambda_star.fast import singles, worlds
from allminds.instruments.lambda_star.fast.arrays import (
    LANES,
    Failures,
    Ways,
    Worlds,
    block_of,
    half_rewards,
    note_failure,
    rules_of,
    shared,
)
from allminds.instruments.lambda_star.grid import Torus

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.instrument import LambdaStar


@lru_cache(maxsize=4)
def make_worlds(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """Make the worlds of a block of exercises; the last few are remembered for other minds."""
    rules, count = rules_of(tool), last - first
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
    return Worlds.of(tool, seed, first, last, ways, columns)


def _wanted(tool: LambdaStar, seed: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the K of every exercise; none if K is not controlled."""
    if not tool.complexities:
        return np.empty(0, np.int64)
    values = np.array(tool.complexities, np.int64)
    return values[strata(seed, numbers, len(values))]


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
