"""The quick form of landscapes: no mind's way depends on another's, so each is made separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import LineUp
from allminds.core.blocks import Block
from allminds.core.seeding import MINDS, WORLD, Random, key
from allminds.instruments.chance import RandomMind
from allminds.instruments.lambda_star.fast.arrays import actions_of, settled
from allminds.instruments.lambda_star.fast.tables import by_table
from allminds.instruments.lambda_star.fast.walks import habits_of
from allminds.instruments.lambda_star.grid import neighbours
from allminds.instruments.lambda_star.minds import LocalSearch, QLearning, Sarsa
from allminds.instruments.landscape import fast_kernels as kernels
from allminds.instruments.landscape.environment import Landscape

if TYPE_CHECKING:
    from allminds.instruments.landscape.instrument import FitnessLandscape

Way = NDArray[np.int64]  # cells from 0, after 0, 1, 2, … steps
Walk = Callable[[NDArray[np.float64], np.uint64, Way], None]  # fields, key, way to be filled


def fast_form(tool: FitnessLandscape, line_up: LineUp) -> CompiledWalks | None:
    """Compile a line-up if every mind has a kernel; None for the plain loop."""
    walks = [_walk(tool, seat.subject.make()) for seat in line_up.seats]
    found = [walk for walk in walks if walk is not None]
    return CompiledWalks(tool, found) if len(found) == tool.slots else None


def _walk(tool: FitnessLandscape, mind: Any) -> Walk | None:
    given, around = tool.settings, neighbours(tool.ground)
    if type(mind) is RandomMind:
        return lambda _fields, own, way: kernels.by_lot(around, own, way)
    if type(mind) is LocalSearch and mind.slip == 0 and given.range == 1:
        return lambda fields, own, way: kernels.uphill(around, fields, own, way)
    habits = None
    if type(mind) in (QLearning, Sarsa):
        habits = habits_of(mind, tool.ground, given.iterations)
    if habits is not None:
        size = (given.iterations, tool.ground.cells, 9)
        return lambda fields, own, way: by_table(
            around, fields, habits, np.empty(size), np.array([own]), way[None]
        )
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
