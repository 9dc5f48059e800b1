"""The rules of `rules` and the learners of `tables` compiled, for kernels of several instruments.

Import this module only where a kernel runs.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allminds.core.compiled import below, inlined, kernel, small, unit, word
from allminds.instruments import rules

wrapped, apart, shorter, distance, worth, reward = rules.on_ring(np.int64, small)
narrow = rules.on_ring(np.int16, small)  # for many lanes side by side, by vector instructions
parted, missing = small(rules.parted), small(rules.missing)
period, weighted = small(rules.period), small(rules.weighted)


@kernel
def happens(chance, key, step, j):
    """Decide by word j whether something happens that has a chance."""
    return chance > 0 and unit(word(key, step, j)) < chance


@kernel
def largest(values, count):
    """Return the largest of the first values, and how many of them are as large."""
    best, equal = values[0], 1
    for n in range(1, count):
        if values[n] > best:
            best, equal = values[n], 1
        elif values[n] == best:
            equal += 1
    return best, equal


@kernel
def nth(values, count, best, pick):
    """Return the place of the first value that is `best`, or of the second if `pick` is 1, …"""
    for n in range(count):
        if values[n] == best:
            if pick == 0:
                return n
            pick -= 1
    return 0


@kernel
def uniform_best(values, count, key, step, j):
    """Draw among the best of the first values by word j: the twin of `tables.uniform_best`.

    Return its place and its value.
    """
    best, equal = largest(values, count)
    pick = np.int64(below(word(key, step, j), np.uint64(equal))) if equal > 1 else 0
    return nth(values, count, best, pick), best


# ---------------------------------------------------------------- learners round one table


_0, _1, _2, _9 = (np.uint64(n) for n in (0, 1, 2, 9))


class Habits(NamedTuple):
    """The parameters of a `TableLearner`, and which of the two it is."""

    sarsa: bool
    alpha: float
    gamma: float
    epsilon: float
    initial: float
    scale: float
    sessions: int
    released: bool  # looks ahead to the first iteration, as `bootstrap=released` says


@inlined
def choose(habits, table, t, cell, key, play):
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
def learn(habits, table, t, cell, move, reward, ahead):
    """Update the value of a move: the twin of `Tabular.update`."""
    value = table[t, cell, move]
    gain = habits.scale * reward
    table[t, cell, move] = value + habits.alpha * missing(value, gain, ahead, habits.gamma)


@kernel
def _play(around, fields, habits, table, keys, play, moves, ways):
    """Make one play of all learners: a rehearsal, in which they learn in slot order, or the test.

    Values of the next step are not written in this one, so it does not matter that a learner
    chooses its next move before a later one has learnt.
    """
    slots, drifts = len(ways), len(fields) > 1
    for s in range(slots):
        moves[s], _ = choose(habits, table, 0, ways[s, 0], keys[s], play)
    for t in range(len(table)):
        for s in range(slots):
            cell, move = ways[s, t], moves[s]
            to = around[move, cell]
            moves[s], ahead = choose(habits, table, t + 1, to, keys[s], play)
            if play > 0:
                learn(habits, table, t, cell, move, fields[t + 1 if drifts else 0, to], ahead)
            ways[s, t + 1] = to


@kernel
def _play_alone(around, fields, habits, table, key, play, way):
    """Make one play of a single learner: as `_play`, a tenth quicker without the arrays."""
    cell, drifts = way[0], len(fields) > 1
    move, _ = choose(habits, table, 0, cell, key, play)
    for t in range(len(table)):
        to = around[move, cell]
        following, ahead = choose(habits, table, t + 1, to, key, play)
        if play > 0:
            learn(habits, table, t, cell, move, fields[t + 1 if drifts else 0, to], ahead)
        way[t + 1] = to
        cell, move = to, following


@kernel
def by_table(around, fields, habits, table, keys, ways):
    """Train and test learners round one table, which is overwritten.

    `around` is [move, cell], where each move leads; `fields` [step, cell] has the rewards, or is
    one row if they stay as they are; `ways` [slot, step] takes the cells, from those at the start.
    """
    table[:] = habits.initial
    moves = np.empty(len(ways), np.int64)
    for number in range(1, habits.sessions + 2):
        play = number if number <= habits.sessions else 0
        if len(ways) == 1:
            _play_alone(around, fields, habits, table, keys[0], play, ways[0])
        else:
            _play(around, fields, habits, table, keys, play, moves, ways)
