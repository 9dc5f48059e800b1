"""The quick forms of the extensions of Λ*.

A world that responds is compiled for one mind: random, local search, or a table learner. All that
is drawn is drawn beforehand; a kernel plays one exercise from its start and fills `way`, the cells
from 0 after 0, 1, 2, … steps, and `halves`, the rewards after 1, 2, … steps in half units.
Coordination and coverage take the compiled ways of Λ* and settle them by their own rules.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Fast
from allminds.core import seeding
from allminds.core.blocks import Block
from allminds.core.compiled import below, inlined, kernel, word
from allminds.core.line_up import LineUp
from allminds.core.seeding import MINDS, WORLD, Random
from allminds.instruments.chance import RandomMind
from allminds.instruments.fast import (
    distance,
    happens,
    largest,
    missing,
    nth,
    parted,
    reward,
    shorter,
    uniform_best,
)
from allminds.instruments.lambda_star.extensions.responsive import (
    EVIL_RESPONDS,
    GOOD_RESPONDS,
    WHERE_TO,
    Responsive,
)
from allminds.instruments.lambda_star.fast import singles
from allminds.instruments.lambda_star.fast.arrays import Worlds, meets_itself
from allminds.instruments.lambda_star.fast.forms import (
    Slots,
    Walk,
    actions_of,
    make_worlds,
    settled,
)
from allminds.instruments.lambda_star.fast.walks import habits_of, walks_of
from allminds.instruments.lambda_star.grid import half_worths, king_moves, neighbours
from allminds.instruments.lambda_star.groups import SharedTable
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.instruments.lambda_star.minds import (
    CompiledMind,
    LocalSearch,
    QLearning,
    Sarsa,
    TableLearner,
)
from allminds.instruments.lambda_star.patterns import Recurrent, Segment

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.extensions.responsive import LambdaStarResponsive

_0, _1, _2, _9 = (np.uint64(n) for n in (0, 1, 2, 9))


class Track(NamedTuple):
    """A `Responsive` world and all that is drawn in it, whatever the mind does; cells from 0."""

    rows: int
    cols: int
    around: Any  # int64[move, cell]: where each move leads
    good: int  # where they start
    evil: int
    mind: int
    good_moves: Any  # uint8[step]: of the patterns, 0..8
    evil_moves: Any
    flees: Any  # bool[step]: whether Good responds
    seeks: Any  # bool[step]: whether Evil does
    where: Any  # uint64[step]: the word that draws where Good flees
    parting: Any  # uint64[step]: the word that parts them


@kernel
def _away(course, cell, mind, bits):
    """Move away from a mind: the twin of `Responsive._away`."""
    rows, cols, far = course.rows, course.cols, np.empty(9, np.int64)
    for a in range(9):
        to = course.around[a, cell]
        far[a] = distance(rows, cols, to // cols, to % cols, mind // cols, mind % cols)
    farthest, equal = largest(far, 9)
    pick = np.int64(below(bits, np.uint64(equal)))
    return course.around[nth(far, 9, farthest, pick), cell]


@kernel
def _travel(course, t, good, evil, mind):
    """Move Good and Evil from step t (from 0): the twin of `Responsive.travel`."""
    to_good = course.around[course.good_moves[t], good]
    to_evil = course.around[course.evil_moves[t], evil]
    if course.flees[t]:
        to_good = _away(course, good, mind, course.where[t])
    if course.seeks[t]:
        by_row = shorter(evil // course.cols, mind // course.cols, course.rows)
        by_col = shorter(evil % course.cols, mind % course.cols, course.cols)
        to_evil = course.around[3 * (by_row + 1) + by_col + 1, evil]
    return parted(good, evil, to_good, to_evil, np.int64(below(course.parting[t], _2)))


@kernel
def _halves(course, good, evil, cell):
    """Compute the reward of a cell in half units."""
    cols = course.cols
    return reward(
        course.rows, cols, cell // cols, cell % cols, good // cols, good % cols, evil // cols,
        evil % cols,
    )  # fmt: skip


@kernel
def by_lot(course, key, way, halves):
    """Play one exercise at random: the twin of `RandomMind`."""
    good, evil, way[0] = course.good, course.evil, course.mind
    for t in range(len(halves)):
        action = np.int64(below(word(key, np.uint64(t), _0), _9))
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])


@kernel
def toward_best(course, key, way, halves):
    """Play one exercise toward the best in sight: the twin of `LocalSearch` with range 1."""
    good, evil, way[0] = course.good, course.evil, course.mind
    values = np.empty(9)
    for t in range(len(halves)):
        for a in range(9):
            values[a] = _halves(course, good, evil, course.around[a, way[t]])
        action, _ = uniform_best(values, 9, key, np.uint64(t), _0)
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])


@inlined
def _choose(habits, table, t, cell, key, play):
    """Choose a learner's move at step t, and return what it looks ahead to from the step before.

    Play 0 is the test, the others are rehearsals. After the last step there is nothing ahead.
    """
    move, ahead = np.int64(0), 0.0
    if t < len(table):
        values, clock = table[t, cell], np.uint64(play * len(table) + t)
        move, ahead = uniform_best(values, 9, key, clock, _0)
        if play > 0 and happens(habits.epsilon, key, clock, _1):
            move = np.int64(below(word(key, clock, _2), _9))
        if habits.sarsa:  # a branch: one expression would wait for the move in Q-learning too
            ahead = values[move]
        elif habits.released:
            ahead = largest(table[0, cell], 9)[0]
    return move, ahead


@kernel
def _learn(habits, table, t, cell, move, reward, ahead):
    """Update the value of a move: the twin of `Tabular.update`."""
    value = table[t, cell, move]
    gain = habits.scale * reward
    table[t, cell, move] = value + habits.alpha * missing(value, gain, ahead, habits.gamma)


@kernel
def _session(course, habits, table, key, play, way, halves):
    """Make one play: a rehearsal that learns (play >= 1), or the test (play 0)."""
    good, evil, way[0] = course.good, course.evil, course.mind
    action, _ = _choose(habits, table, 0, way[0], key, play)
    for t in range(len(halves)):
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])
        following, ahead = _choose(habits, table, t + 1, way[t + 1], key, play)
        if play > 0:
            _learn(habits, table, t, way[t], action, halves[t] / 2, ahead)
        action = following


@kernel
def table_learner(course, habits, table, key, way, halves):
    """Train and test: the twin of `QLearning` and `Sarsa`; overwrites table [step, cell, move]."""
    table[:] = habits.initial
    for play in range(1, habits.sessions + 1):
        _session(course, habits, table, key, play, way, halves)
    _session(course, habits, table, key, 0, way, halves)


# ---------------------------------------------------------------- the responsive world


ResponsiveWalk = Callable[[Track, np.uint64, NDArray[np.int64], NDArray[np.int64]], None]


def fast_form(tool: LambdaStarResponsive, line_up: LineUp) -> CompiledTracks | None:
    """Compile a line-up of one mind with a kernel; None for the plain loop."""
    if tool.slots > 1 or tool.settings.patterns == "released" or meets_itself(tool):
        return None
    walk = _walk(tool, line_up.seats[0].subject.make())
    return CompiledTracks(tool, walk) if walk is not None else None


def _walk(tool: LambdaStarResponsive, mind: Any) -> ResponsiveWalk | None:
    given = tool.settings
    if type(mind) is RandomMind:
        return by_lot  # type: ignore[no-any-return] # a kernel has no type
    if type(mind) is LocalSearch and mind.slip == 0 and given.range == 1:
        return toward_best  # type: ignore[no-any-return] # likewise
    habits = None
    if type(mind) in (QLearning, Sarsa):
        habits = habits_of(mind, tool.torus, given.iterations)
    if habits is not None:
        size = (given.iterations, tool.torus.cells, 9)
        return lambda course, own, way, halves: table_learner(
            course, habits, np.empty(size), own, way, halves
        )
    return None


class CompiledTracks:
    """A responsive world and one mind that has a kernel."""

    compiled = True

    def __init__(self, tool: LambdaStarResponsive, walk: ResponsiveWalk) -> None:
        self.tool, self.walk = tool, walk

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play one exercise after the other."""
        steps = self.tool.settings.iterations
        rewards = np.empty((last - first, steps, 1))
        kept = max(0, min(traced, last) - first)
        actions = np.empty((kept, steps, 1), np.int16)
        way, halves, columns = np.empty(steps + 1, np.int64), np.empty(steps, np.int64), []
        for n in range(last - first):
            world: Any = self.tool.exercise(seed, first + n).environment
            columns.append(world.complexity)
            own = np.uint64(seeding.key(seed, first + n, MINDS))
            self.walk(track_of(world, seeding.key(seed, first + n, WORLD)), own, way, halves)
            rewards[n, :, 0] = halves * 0.5
            if n < kept:
                actions[n, :, 0] = actions_of(self.tool.torus, way)
        return settled(first, columns, rewards, actions)


def track_of(world: Responsive, key: int) -> Track:
    """Build a world with one mind, and all that its random words decide."""
    assert isinstance(world.pattern, Recurrent)
    random = Random(key)
    state, steps = world.reset(random), [random.at_step(step) for step in range(1, world.steps + 1)]

    def words(j: int) -> seeding.Words:
        return np.array([step.word_at(j) for step in steps], np.uint64)

    def responds(j: int) -> NDArray[np.bool_]:
        return np.array([step.unit_at(j) < world.responsive for step in steps])

    def moves(segment: Segment) -> NDArray[np.uint8]:
        return np.resize(np.array(segment, np.uint8) - np.uint8(1), world.steps)

    return Track(
        world.torus.rows, world.torus.cols, neighbours(world.torus),
        state.good - 1, state.evil - 1, state.minds[0] - 1,
        moves(world.pattern.good), moves(world.pattern.evil),
        responds(GOOD_RESPONDS), responds(EVIL_RESPONDS), words(WHERE_TO), words(0),
    )  # fmt: skip


# ---------------------------------------------------------------- coordination and coverage


Way = NDArray[np.int64]  # [slot, step, exercise], steps from 0
Rewards = Callable[[LambdaStar, Worlds, Way, Way], NDArray[np.float64]]  # [exercise, step, slot]


def resettled(tool: LambdaStar, line_up: LineUp, rewards: Rewards) -> Fast | None:
    """Return the quick form, unless a mind has no kernel, may fail, or learns from its rewards."""
    minds = [seat.subject.make() for seat in line_up.seats]
    if meets_itself(tool) or any(
        isinstance(mind, TableLearner | SharedTable | CompiledMind) for mind in minds
    ):
        return None
    walks = walks_of(tool, line_up)
    return Resettled(tool, walks, rewards) if walks is not None else None


class Resettled:
    """A line-up of minds that all have kernels, and a rule for what their ways bring."""

    compiled = True

    def __init__(
        self, tool: LambdaStar, walks: Sequence[tuple[tuple[int, ...], Walk]], rewards: Rewards
    ) -> None:
        self.tool, self.walks, self.rewards = tool, walks, rewards

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Make the ways of all slots, then settle them."""
        here = make_worlds(self.tool, seed, first, last)
        shape = (here.rules.agents, here.rules.steps + 1, here.count)
        row, col = np.empty(shape, np.int64), np.empty(shape, np.int64)
        kept = max(0, min(traced - first, here.count))
        actions = np.empty((here.rules.agents, kept, here.rules.steps), np.int16)
        for slots, walk in self.walks:
            filled = Slots(here, slots)
            walk(filled)
            for n, slot in enumerate(slots):
                row[slot], col[slot] = flat(filled.row[n], here), flat(filled.col[n], here)
                singles.trace(here.rules, filled.row[n], filled.col[n], actions[slot])
        columns = [
            {name: float(of[n]) for name, of in here.complexity.items()} for n in range(here.count)
        ]
        rewards = self.rewards(self.tool, here, row, col)
        return settled(first, columns, rewards, actions.transpose(1, 2, 0))


def flat(way: NDArray[Any], here: Worlds) -> NDArray[np.int64]:
    """Reshape a kernel's [block, step, lane] to [step, exercise]."""
    lanes = way.transpose(1, 0, 2).reshape(way.shape[1], -1)
    return lanes[:, : here.count].astype(np.int64)


# ---------------------------------------------------------------- the two rules


def together_rewards(tool: LambdaStar, here: Worlds, row: Way, col: Way) -> NDArray[np.float64]:
    """Compute `Coordination.rewards` at steps 1..ϑ."""
    ways = here.ways
    rows, cols = tool.torus.rows, tool.torus.cols
    good = flat(ways.good_row, here), flat(ways.good_col, here)
    evil = flat(ways.evil_row, here), flat(ways.evil_col, here)
    to_good, to_evil = (king_moves(rows, cols, row, col, *of) for of in (good, evil))
    near = half_worths(to_good)  # in half units
    enough = (near > 0).sum(axis=0) >= tool.settings.needed
    halves = np.where(enough, near, 0) - half_worths(to_evil)
    return np.ascontiguousarray(halves[:, 1:].transpose(2, 1, 0)) * 0.5


def coverage_rewards(tool: LambdaStar, _here: Worlds, row: Way, col: Way) -> NDArray[np.float64]:
    """Compute `Coverage.step`'s rewards at steps 1..ϑ."""
    rows, cols, reach = tool.torus.rows, tool.torus.cols, tool.settings.range
    agents, steps, count = row.shape
    seen = np.zeros((count, rows * cols), bool)
    shares = np.empty((count, steps))
    exercises = np.arange(count)
    for step in range(steps):
        for slot in range(agents):
            for by_row in range(-reach, reach + 1):
                for by_col in range(-reach, reach + 1):
                    at_row = (row[slot, step] + by_row) % rows
                    seen[exercises, at_row * cols + (col[slot, step] + by_col) % cols] = True
        shares[:, step] = seen.sum(axis=1)
    shares /= rows * cols
    return np.repeat(shares[:, 1:, None], agents, axis=2)
