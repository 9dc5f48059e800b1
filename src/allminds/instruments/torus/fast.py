"""The quick forms of Λ*: compiled ways for the built-in minds, lock-step for everyone else's.

Both play on the same `Worlds`, which are made once for a block of exercises and shared by all
line-ups that are given it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import STATUSES, Block, Failure, Fast, LineUp, Subject
from allminds.episode import malformed
from allminds.instruments.chance import RandomMind
from allminds.instruments.torus.catalogue import base_rules
from allminds.instruments.torus.kernels import learners, singles, worlds
from allminds.instruments.torus.kernels.worlds import LANES, Rules, Ways
from allminds.instruments.torus.look_up import look_up
from allminds.instruments.torus.minds import Expert, LocalSearch, Optimum, QLearning, Sarsa
from allminds.instruments.torus.own import CompiledMind
from allminds.watch import Watch

if TYPE_CHECKING:
    from allminds.instruments.torus.instrument import LambdaStar

Way = NDArray[np.int16]
Failures = dict[int, tuple[int, dict[int, Failure]]]  # exercise -> step, and the slots at fault
MOST_TABLE_CELLS = 30_000_000  # a learner's table beyond this is left to the plain Python


@dataclass(frozen=True)
class Worlds:
    """Exercises first, first + 1, … with Good and Evil on their way."""

    rules: Rules
    seed: int
    first: int
    count: int
    ways: Ways
    complexity: dict[str, NDArray[np.float64]]

    @property
    def blocks(self) -> int:
        """Of `LANES` exercises each; what the last has too many is not counted."""
        return len(self.ways.good_row)


def rules_of(tool: LambdaStar) -> Rules:
    """The kernels' rules of an instrument."""
    given = tool.settings
    more: dict[str, Any] = {"agents": given.agents}
    if given.patterns != "released":
        shelves = tool.catalogue
        more |= {
            "strata": np.array(tool.complexities, np.int64),
            "shelf": shelves.shelf,
            "catalogue": shelves.moves,
            "lengths": shelves.lengths,
            "distinct": shelves.distinct,
        }
    return base_rules(given.patterns, tool.torus, given.iterations, **more)


@lru_cache(maxsize=4)
def make_worlds(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """The worlds of a block of exercises; the last few blocks are remembered for other minds."""
    rules, count = _rules(tool), last - first
    shape = (math.ceil(count / LANES), rules.steps + 1, LANES)
    starts = (shape[0], rules.agents, LANES)
    ways = Ways(*(np.empty(shape, np.int16) for _ in range(4)),
                *(np.empty(starts, np.int16) for _ in range(2)))  # fmt: skip
    columns = np.empty((shape[0] * LANES, 3), np.int64)
    worlds.make_worlds(rules, seed, first, ways, columns)
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


@lru_cache(maxsize=16)
def _rules(tool: LambdaStar) -> Rules:
    return rules_of(tool)


# ---------------------------------------------------------------- compiled


class Slots:
    """The ways of some slots through some worlds: [slot, block, step, lane], being filled."""

    def __init__(self, here: Worlds, slots: tuple[int, ...]) -> None:
        steps = here.rules.steps + 1
        self.worlds, self.slots = here, slots
        self.row = np.empty((len(slots), here.blocks, steps, LANES), np.int16)
        self.col = np.empty_like(self.row)
        self.keys = np.empty((len(slots), here.blocks, LANES), np.uint64)
        self.failed: Failures = {}
        for n, slot in enumerate(slots):
            singles.begin(
                here.ways, here.seed, here.first, slot, self.row[n], self.col[n], self.keys[n]
            )


Walk = Callable[[Slots], None]  # fills the ways


def _each(fill: Callable[[Worlds, Any, Way, Way], None]) -> Walk:
    """A walk that fills one slot after the other."""

    def walk(slots: Slots) -> None:
        for n in range(len(slots.slots)):
            fill(slots.worlds, slots.keys[n], slots.row[n], slots.col[n])

    return walk


def _random(_mind: RandomMind, _tool: LambdaStar) -> Walk:
    return _each(lambda here, keys, row, col: singles.random_walk(here.rules, keys, row, col))


def _local_search(_mind: LocalSearch, tool: LambdaStar) -> Walk:
    table = look_up(tool.torus.rows, tool.torus.cols, tool.settings.range)
    return _each(
        lambda here, keys, row, col: singles.local_search(
            here.rules, here.ways, table, keys, row, col
        )
    )


def _expert(mind: Expert, _tool: LambdaStar) -> Walk:
    return _each(
        lambda here, _keys, row, col: singles.expert(
            here.rules, here.ways, mind.intercept, row, col
        )
    )


def _optimum(_mind: Optimum, _tool: LambdaStar) -> Walk:
    return lambda slots: singles.optimum(
        slots.worlds.rules, slots.worlds.ways, len(slots.slots), slots.row, slots.col
    )


def _table_learner(mind: QLearning | Sarsa, tool: LambdaStar) -> Walk | None:
    if tool.torus.cells * tool.settings.iterations * 9 > MOST_TABLE_CELLS:
        return None
    habits = learners.Habits(
        isinstance(mind, Sarsa), mind.alpha, mind.gamma, mind.epsilon, mind.initial, mind.scale,
        mind.sessions,
    )  # fmt: skip
    return _each(
        lambda here, keys, row, col: learners.table_learner(
            here.rules, here.ways, habits, keys, row, col
        )
    )


def _users_own(mind: CompiledMind, tool: LambdaStar) -> Walk:
    def walk(slots: Slots) -> None:
        here = slots.worlds
        for n, slot in enumerate(slots.slots):
            failed, answer = np.full(slots.keys[n].shape, -1), np.zeros_like(slots.keys[n], int)
            singles.user_walk(
                type(mind).function, here.rules, here.ways, tool.settings.range, slots.keys[n],
                slots.row[n], slots.col[n], failed, answer,
            )  # fmt: skip
            for lane in np.flatnonzero(failed.reshape(-1)[: here.count] >= 0).tolist():
                step = int(failed.flat[lane])
                _fail(slots.failed, lane, step, slot, malformed(int(answer.flat[lane])))

    return walk


def _fail(failures: Failures, lane: int, step: int, slot: int, failure: Failure) -> None:
    """Note a failure; of several in an exercise the earliest step counts."""
    if lane not in failures or step < failures[lane][0]:
        failures[lane] = (step, {})
    if step == failures[lane][0]:
        failures[lane][1][slot] = failure


# The next mind's kernel goes here: its class, and how to make a walk from an instance of it.
WALKS: dict[type, Callable[[Any, LambdaStar], Walk | None]] = {
    RandomMind: _random,
    LocalSearch: _local_search,
    Expert: _expert,
    Optimum: _optimum,
    QLearning: _table_learner,
    Sarsa: _table_learner,
}


class Compiled:
    """A line-up of minds that all have kernels; a slot's way does not depend on the others."""

    compiled = True

    def __init__(self, tool: LambdaStar, walks: Sequence[tuple[tuple[int, ...], Walk]]) -> None:
        self.tool, self.walks = tool, walks

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
                        _fail(failed, lane, step, slot, of[slot])
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
        return block_of(here, sums, curve, actions.transpose(1, 2, 0), failed)


def block_of(
    here: Worlds,
    sums: NDArray[Any],
    curve: NDArray[Any],
    actions: NDArray[np.int16],
    failed: Failures,
) -> Block:
    """The block of records from sums [slot, exercise, (first half, second half, all)]."""
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
        block.reasons[here.first + lane] = of[min(of)].reason
        if lane < len(actions):
            actions[lane, step:] = 0
    return block


def fast_form(tool: LambdaStar, line_up: LineUp, watch: Watch) -> Fast | None:
    """Compiled where every mind has a kernel, else lock-step, else None for the plain loop."""
    from allminds.instruments.torus.lockstep import Lockstep

    side, reach = min(tool.torus.rows, tool.torus.cols), tool.settings.range
    if side < 3 or 2 * reach >= side:  # the neighbourhood meets itself: left to plain Python
        return None
    found = [(seat.slots, _walk(tool, seat.subject)) for seat in line_up.seats]
    walks = [(slots, walk) for slots, walk in found if walk is not None]
    if len(walks) == len(found):
        return Compiled(tool, _together(line_up, walks))
    if any(seat.subject.group or seat.subject.traits.practice for seat in line_up.seats):
        return None
    return Lockstep(tool, line_up, watch)


def _walk(tool: LambdaStar, subject: Subject) -> Walk | None:
    if subject.group:
        return None
    mind = subject.make()
    if isinstance(mind, CompiledMind):
        return _users_own(mind, tool)
    build = WALKS.get(type(mind))
    return build(mind, tool) if build else None


def _together(
    line_up: LineUp, walks: list[tuple[tuple[int, ...], Walk]]
) -> list[tuple[tuple[int, ...], Walk]]:
    """Copies of one subject walk together, which spares the optimum planning anew for each."""
    if len({seat.subject.name for seat in line_up.seats}) > 1:
        return walks
    return [(tuple(range(len(walks))), walks[0][1])]
