"""One mind in a responsive world, compiled: random, local search, and table learners.

Every kernel plays one exercise from its start and fills `way`, the cells from 0 after 0, 1, 2, …
steps, and `halves`, the rewards after 1, 2, … steps in half units.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.lambda_star.fast.learners import choose, greedy
from allminds.instruments.lambda_star.fast.singles import apart, gain, shorter

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
def _far(course, a, b):
    """Count the king moves between two cells."""
    cols = course.cols
    return max(apart(a // cols, b // cols, course.rows), apart(a % cols, b % cols, cols))


@kernel
def _away(course, cell, mind, bits):
    """Move away from a mind: the twin of `Responsive._away`."""
    farthest, count = -1, 0
    for a in range(9):
        far = _far(course, course.around[a, cell], mind)
        if far > farthest:
            farthest, count = far, 1
        elif far == farthest:
            count += 1
    pick = np.int64(below(bits, np.uint64(count)))
    for a in range(9):
        to = course.around[a, cell]
        if _far(course, to, mind) == farthest:
            if pick == 0:
                return to
            pick -= 1
    return cell


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
    if to_good != to_evil:
        return to_good, to_evil
    if to_good == good or (to_evil != evil and below(course.parting[t], _2) == _0):
        return to_good, evil
    return good, to_evil


@kernel
def _halves(course, good, evil, cell):
    """Compute the reward of a cell in half units."""
    cols = course.cols
    return gain(
        course.rows, cols, good // cols, good % cols, evil // cols, evil % cols, cell // cols,
        cell % cols,
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
        action, _ = greedy(values, key, np.uint64(t))
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])


@kernel
def _session(course, habits, table, key, play, way, halves):
    """Make one play: a rehearsal that learns (play >= 1), or the test (play 0)."""
    steps, training = len(halves), play > 0
    good, evil, way[0] = course.good, course.evil, course.mind
    here = table[0, way[0]]
    clock = np.uint64(play * steps)
    action, _ = choose(habits, here, key, clock, training)
    for t in range(steps):
        good, evil = _travel(course, t, good, evil, way[t])
        way[t + 1] = course.around[action, way[t]]
        halves[t] = _halves(course, good, evil, way[t + 1])
        following, ahead = 0, 0.0
        values = here
        if t + 1 < steps:
            values = table[t + 1, way[t + 1]]
            following, best = choose(habits, values, key, clock + np.uint64(t + 1), training)
            ahead = values[following] if habits.sarsa else best
        if training:
            reward = habits.scale * (halves[t] / 2)
            here[action] += habits.alpha * (reward + habits.gamma * ahead - here[action])
        action, here = following, values


@kernel
def table_learner(course, habits, table, key, way, halves):
    """Train and test: the twin of `QLearning` and `Sarsa`; overwrites table [step, cell, move]."""
    table[:] = habits.initial
    for play in range(1, habits.sessions + 1):
        _session(course, habits, table, key, play, way, halves)
    _session(course, habits, table, key, 0, way, halves)
