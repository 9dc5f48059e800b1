"""The compiled twin of every mind and group of Λ*, by its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Fast
from allminds.core.line_up import LineUp, Subject
from allminds.core.watch import Watch, malformed
from allminds.instruments.chance import RandomMind
from allminds.instruments.fast import Habits
from allminds.instruments.lambda_star import groups as collectives
from allminds.instruments.lambda_star.fast import groups, singles
from allminds.instruments.lambda_star.fast.arrays import Worlds, meets_itself, note_failure
from allminds.instruments.lambda_star.fast.forms import Compiled, Slots, Walk
from allminds.instruments.lambda_star.fast.lockstep import Lockstep
from allminds.instruments.lambda_star.fast.singles import look_up
from allminds.instruments.lambda_star.grid import Torus, neighbours
from allminds.instruments.lambda_star.groups import Protocol, SharedQLearning
from allminds.instruments.lambda_star.minds import (
    CompiledMind,
    Expert,
    LocalSearch,
    Optimum,
    QLearning,
    Sarsa,
    TableLearner,
)
from allminds.instruments.lambda_star.world import MOVE

if TYPE_CHECKING:
    from allminds.instruments.lambda_star.instrument import LambdaStar

Way = NDArray[np.int16]
MOST_TABLE_CELLS = 30_000_000  # a learner's table beyond this is left to the plain Python


def fast_form(tool: LambdaStar, line_up: LineUp, watch: Watch) -> Fast | None:
    """Compile a line-up if all minds have kernels, else lock-step, else None (the plain loop)."""
    if meets_itself(tool):
        return None
    walks = walks_of(tool, line_up)
    if walks is not None:
        return Compiled(tool, line_up, walks)
    if any(seat.subject.group or seat.subject.traits.practice for seat in line_up.seats):
        return None
    return Lockstep(tool, line_up, watch)


def walks_of(tool: LambdaStar, line_up: LineUp) -> list[tuple[tuple[int, ...], Walk]] | None:
    """Return how the ways of a line-up are made, if every mind in it has a kernel."""
    found = [(seat.slots, walk_of(tool, seat.subject)) for seat in line_up.seats]
    walks = [(slots, walk) for slots, walk in found if walk is not None]
    return _together(line_up, walks) if len(walks) == len(found) else None


def walk_of(tool: LambdaStar, subject: Subject) -> Walk | None:
    """Return how a subject's ways are made, if it has a kernel."""
    mind = subject.make()
    build = _users_own if isinstance(mind, CompiledMind) else WALKS.get(type(mind))
    return build(mind, tool) if build else None


def _together(
    line_up: LineUp, walks: list[tuple[tuple[int, ...], Walk]]
) -> list[tuple[tuple[int, ...], Walk]]:
    """Let copies of one mind walk together, which spares the optimum planning anew for each."""
    subjects = {seat.subject.name: seat.subject for seat in line_up.seats}
    if len(subjects) > 1 or any(subject.group for subject in subjects.values()):
        return walks
    return [(tuple(range(len(walks))), walks[0][1])]


# ---------------------------------------------------------------- single minds


Fill = Callable[[Worlds, Any, Way, Way], None]  # (worlds, keys, rows, columns)


def _each(fill: Fill) -> Walk:
    """Make a walk that fills one slot after the other."""

    def walk(slots: Slots) -> None:
        for n in range(len(slots.slots)):
            fill(slots.worlds, slots.keys[n], slots.row[n], slots.col[n])

    return walk


def _random(_mind: RandomMind, _tool: LambdaStar) -> Walk:
    return _each(lambda here, keys, row, col: singles.random_walk(here.rules, keys, row, col))


def _local_search(mind: LocalSearch, tool: LambdaStar) -> Walk:
    table = look_up(tool.torus.rows, tool.torus.cols, tool.settings.range)
    return _each(
        lambda here, keys, row, col: singles.local_search(
            here.rules, here.ways, table, mind.slip, keys, row, col
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
        slots.worlds.rules, slots.worlds.ways, slots.worlds.count, slots.row, slots.col
    )


def habits_of(mind: TableLearner, torus: Torus, steps: int) -> Habits | None:
    """Return the kernels' parameters of a learner, unless its table is none that they know."""
    too_large = torus.cells * steps * 9 > MOST_TABLE_CELLS
    if too_large or mind.carry or mind.state != "cell":
        return None
    return Habits(
        isinstance(mind, Sarsa), mind.alpha, mind.gamma, mind.epsilon, mind.initial, mind.scale,
        mind.sessions, isinstance(mind, QLearning) and mind.bootstrap == "released",
    )  # fmt: skip


def _table_learner(mind: TableLearner, tool: LambdaStar) -> Walk | None:
    play = _by_table(mind, tool)
    return play and _each(lambda here, keys, row, col: play(here, keys[None], row[None], col[None]))


def _by_table(mind: TableLearner, tool: LambdaStar) -> Fill | None:
    """Return how learners round one table fill the ways of their slots."""
    habits = habits_of(mind, tool.torus, tool.settings.iterations)
    around = neighbours(tool.torus)
    if habits is None:
        return None
    return lambda here, keys, row, col: groups.table_learners(
        here.rules, here.ways, habits, around, here.count, keys, row, col
    )


def _users_own(mind: CompiledMind, tool: LambdaStar) -> Walk:
    table = look_up(tool.torus.rows, tool.torus.cols, tool.settings.range)

    def walk(slots: Slots) -> None:
        here = slots.worlds
        for n, slot in enumerate(slots.slots):
            failed, answer = np.full(slots.keys[n].shape, -1), np.zeros_like(slots.keys[n], int)
            singles.user_walk(
                type(mind).function, here.rules, here.ways, table, tool.settings.range,
                slots.keys[n], slots.row[n], slots.col[n], failed, answer,
            )  # fmt: skip
            for lane in np.flatnonzero(failed.reshape(-1)[: here.count] >= 0).tolist():
                step = int(failed.flat[lane])
                said = malformed(int(answer.flat[lane]), MOVE)
                note_failure(slots.failed, lane, step, slot, said)

    return walk


# ---------------------------------------------------------------- groups


def _crew(group: Protocol, tool: LambdaStar) -> groups.Crew | None:
    """Return the members as the kernels know them, if they know them all."""
    minds = [member.make() for member in group.members] or [LocalSearch()] * tool.slots
    kinds = [_kind(mind) for mind in minds]
    if -1 in kinds:
        return None
    slips = [mind.slip if isinstance(mind, LocalSearch) else 0.0 for mind in minds]
    table = look_up(tool.torus.rows, tool.torus.cols, tool.settings.range)
    return groups.Crew(np.array(kinds), np.array(slips), table)


def _kind(mind: Any) -> int:
    if isinstance(mind, Expert):
        return groups.EXPERT if mind.intercept else groups.PLAIN_EXPERT
    known = {
        LocalSearch: groups.LOCAL_SEARCH, RandomMind: groups.RANDOM, Optimum: groups.OPTIMUM
    }  # fmt: skip
    return known.get(type(mind), -1)


def _group(kernel: Any, *fields: Any) -> Callable[[Any, LambdaStar], Walk | None]:
    """Wrap a protocol's kernel: give it the crew, then `fields` of group and instrument."""

    def build(group: Protocol, tool: LambdaStar) -> Walk | None:
        crew = _crew(group, tool)
        if crew is None:
            return None
        given = [field(group, tool) if callable(field) else field for field in fields]

        def walk(slots: Slots) -> None:
            here = slots.worlds
            kernel(
                here.rules, here.ways, crew, *given, here.count, slots.keys, slots.row, slots.col
            )

        return walk

    return build


def _shared_table(group: SharedQLearning, tool: LambdaStar) -> Walk | None:
    play = _by_table(group.model, tool)
    return play and (lambda slots: play(slots.worlds, slots.keys, slots.row, slots.col))


def _reach(_group: Any, tool: LambdaStar) -> int:
    return int(tool.settings.range)


# The next kernel goes here: the class, and how to make a walk from an instance of it.
WALKS: dict[type, Callable[[Any, LambdaStar], Walk | None]] = {
    RandomMind: _random,
    LocalSearch: _local_search,
    Expert: _expert,
    Optimum: _optimum,
    QLearning: _table_learner,
    Sarsa: _table_learner,
    collectives.Auction: _group(
        groups.by_wishes,
        lambda group, _: groups.AUCTION if group.fallback else groups.ALWAYS_FOLLOWED,
    ),
    collectives.Dictator: _group(groups.by_wishes, groups.DICTATOR),
    collectives.Tree: _group(groups.by_wishes, groups.TREE),
    collectives.Majority: _group(groups.by_wishes, groups.MAJORITY),
    collectives.WeightedMajority: _group(groups.by_wishes, groups.WEIGHTED),
    collectives.Stigmergy: _group(groups.stigmergy, lambda group, _: group.gamma, _reach),
    collectives.Crowd: _group(groups.crowd, _reach),
    collectives.Imitation: _group(groups.imitation, lambda group, _: group.intercept, _reach),
    collectives.SharedQLearning: _shared_table,
    collectives.SharedSarsa: _shared_table,
}
