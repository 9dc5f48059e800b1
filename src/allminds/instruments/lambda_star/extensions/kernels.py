"""One mind in a responsive world, compiled: random, local search, and table learners.

Every kernel plays one exercise from its start and fills `way`, the cells from 0 after 0, 1, 2, …
steps, and `halves`, the rewards after 1, 2, … steps in half units.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.fast import (
    distance,
    largest,
    nth,
    parted,
    reward,
    shorter,
    uniform_best,
)
from allminds.instruments.lambda_star.fast.tables import choose, learn

_0, _2, _9 = (np.uint64(n) for n in (0, 2, 9))


class Course(NamedTuple):
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


@kernel
def _session(course, habits, table, key, play, way, halves):
    """Make one play: a rehearsal that learns (play >= 1), or the test (play 0)."""
    good, evil, way[0] = course.good, course.evil, course.mind
    action, _ = choose(habits, table, 0, way[0], key, play)
    for t in range(len(halves)):
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])
        following, ahead = choose(habits, table, t + 1, way[t + 1], key, play)
        if play > 0:
            learn(habits, table, t, way[t], action, halves[t] / 2, ahead)
        action = following


@kernel
def table_learner(course, habits, table, key, way, halves):
    """Train and test: the twin of `QLearning` and `Sarsa`; overwrites table [step, cell, move]."""
    table[:] = habits.initial
    for play in range(1, habits.sessions + 1):
        _session(course, habits, table, key, play, way, halves)
    _session(course, habits, table, key, 0, way, halves)
