"""The quick form of landscapes: no mind's way depends on another's, so each is made separately.

Every kernel fills `way`, the cells from 0 that a mind stands on after 0, 1, 2, … steps; the first
is given. `around` is [move, cell], where each move leads; `fields` [step, cell], or one row if the
land stands still.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.blocks import Block
from allminds.core.compiled import below, kernel, word
from allminds.core.line_up import LineUp
from allminds.core.seeding import MINDS, WORLD, Random, key
from allminds.instruments.chance import RandomMind
from allminds.instruments.fast import by_table, memory, uniform_best
from allminds.instruments.lambda_star.fast.forms import actions_of, settled
from allminds.instruments.lambda_star.fast.walks import habits_of
from allminds.instruments.lambda_star.grid import neighbours
from allminds.instruments.lambda_star.minds import LocalSearch, QLearning, Sarsa
from allminds.instruments.landscape.world import Landscape

if TYPE_CHECKING:
    from allminds.instruments.landscape.instrument import FitnessLandscape

Way = NDArray[np.int64]  # cells from 0, after 0, 1, 2, … steps
Walk = Callable[[NDArray[np.float64], np.uint64, Way], None]  # fields, key, way to be filled

_0, _9 = np.uint64(0), np.uint64(9)


@kernel
def by_lot(around, key, way):
    """Walk at random: the twin of `RandomMind`."""
    for t in range(len(way) - 1):
        way[t + 1] = around[np.int64(below(word(key, np.uint64(t), _0), _9)), way[t]]


@kernel
def uphill(around, fields, key, way):
    """Walk uphill: the twin of `LocalSearch` that sees one cell far."""
    values = np.empty(9)
    for t in range(len(way) - 1):
        field = fields[t if len(fields) > 1 else 0]
        for a in range(9):
            values[a] = field[around[a, way[t]]]
        way[t + 1] = around[uniform_best(values, 9, key, np.uint64(t), _0)[0], way[t]]


def fast_form(tool: FitnessLandscape, line_up: LineUp) -> CompiledWalks | None:
    """Compile a line-up if every mind has a kernel; None for the plain loop."""
    walks = [_walk(tool, seat.subject.make()) for seat in line_up.seats]
    found = [walk for walk in walks if walk is not None]
    return CompiledWalks(tool, found) if len(found) == tool.slots else None


def _walk(tool: FitnessLandscape, mind: Any) -> Walk | None:
    given, around = tool.settings, neighbours(tool.ground)
    if type(mind) is RandomMind:
        return lambda _fields, own, way: by_lot(around, own, way)
    if type(mind) is LocalSearch and mind.slip == 0 and given.range == 1:
        return lambda fields, own, way: uphill(around, fields, own, way)
    habits = None
    if type(mind) in (QLearning, Sarsa):
        habits = habits_of(mind, tool.ground, given.iterations)
    if habits is not None:
        size = (given.iterations + 1, tool.ground.cells)
        return lambda fields, own, way: by_table(
            around, np.ascontiguousarray(np.broadcast_to(fields, size)), habits,
            np.array([own]), way[None], *memory((size[0] - 1) * size[1]),
        )  # fmt: skip
    return None


class CompiledWalks:
    """A line-up of single minds that all have kernels, one for each slot."""

    compiled = True

    def __init__(self, tool: FitnessLandscape, walks: list[Walk]) -> None:
        self.tool, self.walks = tool, walks

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play one exercise after the other."""
        steps, slots = self.tool.settings.iterations, self.tool.slots
        rewards = np.empty((last - first, steps, slots))
        kept = max(0, min(traced, last) - first)
        actions = np.empty((kept, steps, slots), np.int16)
        columns = []
        for n in range(last - first):
            world: Any = self.tool.exercise(seed, first + n).environment
            columns.append(world.complexity)
            fields, ways = self._ways(world, seed, first + n)
            for slot, way in enumerate(ways):
                at = np.arange(1, steps + 1) if len(fields) > 1 else np.zeros(steps, np.int64)
                rewards[n, :, slot] = fields[at, way[1:]]
                if n < kept:
                    actions[n, :, slot] = actions_of(self.tool.ground, way)
        return settled(first, columns, rewards, actions)

    def _ways(
        self, world: Landscape, seed: int, exercise: int
    ) -> tuple[NDArray[np.float64], list[Way]]:
        random = Random(key(seed, exercise, WORLD))
        state = world.reset(random)
        told = world.secret(state, 0, random).fields if world.drift else [world.field(state)]
        fields, ways = np.array(told), []
        for slot, walk in enumerate(self.walks):
            way = np.empty(world.steps + 1, np.int64)
            way[0] = state.minds[slot] - 1
            walk(fields, np.uint64(key(seed, exercise, MINDS + slot)), way)
            ways.append(way)
        return fields, ways
