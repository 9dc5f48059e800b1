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


MOST = 9  # actions in a row of a table
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


def _bit_tables():
    """Tabulate how many actions a set of them has (a bit each), and which is its n-th."""
    sets = [[action for action in range(MOST) if mask >> action & 1] for mask in range(1 << MOST)]
    nth = np.array([actions + [0] * (MOST - len(actions)) for actions in sets], np.uint8)
    return np.array([len(actions) for actions in sets], np.uint64), nth.reshape(-1)


COUNTS, NTH = _bit_tables()


@inlined
def chosen(equal, epsilon, actions, key, step):
    """Draw one of a set of equally good actions, or with chance ε any: `Tabular.chosen`."""
    count = COUNTS[equal]
    lot = below(word(key, step, _0), count) if count > _1 else _0
    action = np.int64(NTH[np.uint64(equal) * _9 + lot])
    if happens(epsilon, key, step, _1):
        action = np.int64(below(word(key, step, _2), np.uint64(actions)))
    return action


@inlined
def update(table, equal, row, actions, action, change):
    """Add to the value of an action; keep the largest of the row, at its end, and who has it."""
    value, best, mine = table[row, action] + change, table[row, MOST], np.int64(1) << action
    others = np.int64(equal[row]) & ~mine
    table[row, action] = value
    if value > best:
        table[row, MOST], equal[row] = value, mine
    elif value == best:
        equal[row] = others | mine
    elif others:
        equal[row] = others
    else:  # without branches, for nothing can be foretold of the values
        best = value
        for a in range(actions):
            best = max(best, table[row, a])
        for a in range(actions):
            others |= np.int64(table[row, a] == best) << a
        table[row, MOST], equal[row] = best, others


@kernel
def begun(table, equal, place, state, initial):
    """Begin the row of a situation that was never met, after those in use, and return it."""
    row = np.int64(place[-1]) + 1
    place[state] = place[-1] = row
    for a in range(MOST + 1):
        table[row, a] = initial
    equal[row] = (1 << MOST) - 1
    return row


@kernel
def _play(around, fields, habits, table, equal, place, keys, play, rows, moves, ways):
    """Make one play of all learners: a rehearsal, in which they learn in slot order, or the test.

    Play 0 is the test. After the last step there is nothing ahead. Rows of the next step are not
    written in this one, so that SARSA may choose there before a later learner has learnt.
    """
    slots, steps, cells = len(ways), ways.shape[1] - 1, around.shape[1]
    initial, alpha, gamma, scale = habits.initial, habits.alpha, habits.gamma, habits.scale
    epsilon = habits.epsilon if play > 0 else 0.0
    for s in range(slots):
        rows[s] = place[ways[s, 0]]
        if rows[s] == 0:
            rows[s] = begun(table, equal, place, ways[s, 0], initial)
    for t in range(steps):
        clock = np.uint64(play * steps + t)
        for s in range(slots):
            moves[s] = chosen(equal[rows[s]], epsilon, MOST, keys[s], clock)
        for s in range(slots):
            row, move, following, ahead = rows[s], moves[s], np.int64(0), 0.0
            to = around[move, ways[s, t]]
            if t + 1 < steps:
                following = np.int64(place[(t + 1) * cells + to])
                if following == 0:
                    following = begun(table, equal, place, (t + 1) * cells + to, initial)
                ahead = table[following, MOST]
                if habits.sarsa:
                    after = chosen(equal[following], epsilon, MOST, keys[s], clock + _1)
                    ahead = table[following, after]
                elif habits.released:
                    first = np.int64(place[to])
                    ahead = table[first, MOST] if first > 0 else initial
            if play > 0:
                gain = scale * fields[t + 1, to]
                short = missing(table[row, move], gain, ahead, gamma)
                update(table, equal, row, MOST, move, alpha * short)
            ways[s, t + 1], rows[s] = to, following


@kernel
def by_table(around, fields, habits, keys, ways, table, equal, place):
    """Train and test learners round one table.

    `around` is [move, cell], where each move leads; `fields` [step, cell] has the rewards; `ways`
    [slot, step] takes the cells, from those at the start. The rest is overwritten: rows of nine
    values with the largest of them, the set of moves that have it (a bit each), and the row of each
    situation, step · cells + cell, 0 if it was never met.
    """
    place[:] = 0
    rows, moves = np.empty(len(ways), np.int64), np.empty(len(ways), np.int64)
    for number in range(1, habits.sessions + 2):
        play = number if number <= habits.sessions else 0
        _play(around, fields, habits, table, equal, place, keys, play, rows, moves, ways)


@kernel
def memory(situations):
    """Allocate table, equal and place of `by_table`."""
    rows = situations + 1
    return np.empty((rows, MOST + 1)), np.empty(rows, np.int16), np.empty(rows, np.int32)
