"""Q-learning and SARSA, compiled: learners round one table, in training and in the test.

A learner by itself is one round a table of its own. Cells count from 0, and a table is
[step, cell, move].
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.fast import happens, largest, missing, uniform_best
from allminds.instruments.lambda_star.fast.singles import worth_after

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


@kernel
def choose(habits, table, t, cell, key, play):
    """Choose a learner's move at step t, and return what it looks ahead to from the step before.

    Play 0 is the test, the others are rehearsals. After the last step there is nothing ahead.
    """
    steps = len(table)
    if t == steps:
        return 0, 0.0
    values, clock = table[t, cell], np.uint64(play * steps + t)
    move, best = uniform_best(values, 9, key, clock, _0)
    if play > 0 and happens(habits.epsilon, key, clock, _1):
        move = np.int64(below(word(key, clock, _2), _9))
    if habits.sarsa:
        return move, values[move]
    return move, largest(table[0, cell], 9)[0] if habits.released else best


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
    slots, steps = len(ways), ways.shape[1] - 1
    for s in range(slots):
        moves[s], _ = choose(habits, table, 0, ways[s, 0], keys[s], play)
    for t in range(steps):
        field = fields[t + 1 if len(fields) > 1 else 0]
        for s in range(slots):
            cell, move = ways[s, t], moves[s]
            ways[s, t + 1] = to = around[move, cell]
            moves[s], ahead = choose(habits, table, t + 1, to, keys[s], play)
            if play > 0:
                learn(habits, table, t, cell, move, field[to], ahead)


@kernel
def by_table(around, fields, habits, table, keys, ways):
    """Train and test learners round one table, which is overwritten.

    `around` is [move, cell], where each move leads; `fields` [step, cell] has the rewards, or is
    one row if they stay as they are; `ways` [slot, step] takes the cells, from those at the start.
    """
    table[:] = habits.initial
    moves = np.empty(len(ways), np.int64)
    for play in range(1, habits.sessions + 1):
        _play(around, fields, habits, table, keys, play, moves, ways)
    _play(around, fields, habits, table, keys, 0, moves, ways)


@kernel
def _rewards(ways, cols, b, t, l, around, field):
    """Compute the rewards of all cells of Λ* after step t."""
    good = np.int64(ways.good_row[b, t, l]) * cols + ways.good_col[b, t, l]
    evil = np.int64(ways.evil_row[b, t, l]) * cols + ways.evil_col[b, t, l]
    field[:] = 0.0
    for move in range(9):
        field[around[move, good]] += worth_after(move) / 2
        field[around[move, evil]] -= worth_after(move) / 2


@kernel
def table_learners(rules, ways, habits, around, count, keys, row, col):
    """Play `count` exercises of Λ*: the twin of `SharedQLearning`, of `QLearning` if one, …"""
    slots, _, _, lanes = row.shape
    cols, steps, size = rules.cols, rules.steps, around.shape[1]
    table, fields = np.empty((steps, size, 9)), np.empty((steps + 1, size))
    cells = np.empty((slots, steps + 1), np.int64)
    for n in range(count):
        b, l = n // lanes, n % lanes
        for t in range(1, steps + 1):
            _rewards(ways, cols, b, t, l, around, fields[t])
        for s in range(slots):
            cells[s, 0] = np.int64(row[s, b, 0, l]) * cols + col[s, b, 0, l]
        by_table(around, fields, habits, table, keys[:, b, l], cells)
        for s in range(slots):
            for t in range(1, steps + 1):
                row[s, b, t, l], col[s, b, t, l] = cells[s, t] // cols, cells[s, t] % cols
