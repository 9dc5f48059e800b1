"""The quick form of a world that responds, for one mind: what is drawn is drawn beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import LineUp
from allminds.core import seeding
from allminds.core.blocks import Block
from allminds.core.seeding import MINDS, WORLD, Random
from allminds.instruments.chance import RandomMind
from allminds.instruments.lambda_star.extensions import kernels
from allminds.instruments.lambda_star.extensions.environment import (
    EVIL_RESPONDS,
    GOOD_RESPONDS,
    WHERE_TO,
    Responsive,
)
from allminds.instruments.lambda_star.extensions.kernels import Course
from allminds.instruments.lambda_star.fast.arrays import actions_of, neighbours, settled
from allminds.instruments.lambda_star.fast.walks import habits_of, meets_itself
from allminds.instruments.lambda_star.minds import LocalSearch, QLearning, Sarsa
from allminds.instruments.lambda_star.patterns import Recurrent, Segment

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.extensions.instrument import LambdaStarResponsive

Walk = Callable[[Course, np.uint64, NDArray[np.int64], NDArray[np.int64]], None]


def fast_form(tool: LambdaStarResponsive, line_up: LineUp) -> CompiledCourses | None:
    """Compiled for one mind with a kernel, else None for the plain loop."""
    if tool.slots > 1 or tool.settings.patterns == "released" or meets_itself(tool):
        return None
    walk = _walk(tool, line_up.seats[0].subject.make())
    return CompiledCourses(tool, walk) if walk is not None else None


def _walk(tool: LambdaStarResponsive, mind: Any) -> Walk | None:
    given = tool.settings
    if type(mind) is RandomMind:
        return kernels.by_lot  # type: ignore[no-any-return]
    if type(mind) is LocalSearch and mind.slip == 0 and given.range == 1:
        return kernels.toward_best  # type: ignore[no-any-return]
    habits = None
    if type(mind) in (QLearning, Sarsa):
        habits = habits_of(mind, tool.torus, given.iterations)
    if habits is not None:
        size = (given.iterations, tool.torus.cells, 9)
        return lambda course, own, way, halves: kernels.table_learner(
            course, habits, np.empty(size), own, way, halves
        )
    return None


class CompiledCourses:
    """One mind that has a kernel."""

    compiled = True

    def __init__(self, tool: LambdaStarResponsive, walk: Walk) -> None:
        self.tool, self.walk = tool, walk

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """One exercise after the other."""
        steps = self.tool.settings.iterations
        rewards = np.empty((last - first, steps, 1))
        kept = max(0, min(traced, last) - first)
        actions = np.empty((kept, steps, 1), np.int16)
        way, halves, columns = np.empty(steps + 1, np.int64), np.empty(steps, np.int64), []
        for n in range(last - first):
            world: Any = self.tool.exercise(seed, first + n).environment
            columns.append(world.complexity)
            own = np.uint64(seeding.key(seed, first + n, MINDS))
            self.walk(course_of(world, seeding.key(seed, first + n, WORLD)), own, way, halves)
            rewards[n, :, 0] = halves * 0.5
            if n < kept:
                actions[n, :, 0] = actions_of(self.tool.torus, way)
        return settled(first, columns, rewards, actions)


def course_of(world: Responsive, key: int) -> Course:
    """A world with one mind, and all that its random words decide."""
    assert isinstance(world.pattern, Recurrent)
    random = Random(key)
    state, steps = world.reset(random), [random.at_step(step) for step in range(1, world.steps + 1)]

    def words(j: int) -> seeding.Words:
        return np.array([step.word_at(j) for step in steps], np.uint64)

    def responds(j: int) -> NDArray[np.bool_]:
        return np.array([step.unit_at(j) < world.responsive for step in steps])

    def moves(segment: Segment) -> NDArray[np.uint8]:
        return np.resize(np.array(segment, np.uint8) - np.uint8(1), world.steps)

    return Course(
        world.torus.rows, world.torus.cols, neighbours(world.torus),
        state.good - 1, state.evil - 1, state.minds[0] - 1,
        moves(world.pattern.good), moves(world.pattern.evil),
        responds(GOOD_RESPONDS), responds(EVIL_RESPONDS), words(WHERE_TO), words(0),
    )  # fmt: skip
