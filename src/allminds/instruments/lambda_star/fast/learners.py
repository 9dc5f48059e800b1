"""Q-learning and SARSA, compiled: training and test of one slot in every lane."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allminds.core.compiled import below, kernel, unit, word
from allminds.instruments.lambda_star.fast.singles import reward_at
from allminds.instruments.lambda_star.fast.worlds import wrapped

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


@kernel
def greedy(values, key, clock):
    """Draw among the best of nine values: the twin of `uniform_best`."""
    best, count = values[0], 1
    for a in range(1, 9):
        if values[a] > best:
            best, count = values[a], 1
        elif values[a] == best:
            count += 1
    pick = np.int64(below(word(key, clock, _0), np.uint64(count))) if count > 1 else 0
    for a in range(9):
        if values[a] == best:
            if pick == 0:
                return a, best
            pick -= 1
    return 0, best


@kernel
def choose(habits, values, key, clock, training):
    """Choose the action of a table learner; also return the largest value in its row."""
    action, best = greedy(values, key, clock)
    if training and habits.epsilon > 0 and unit(word(key, clock, _1)) < habits.epsilon:
        action = np.int64(below(word(key, clock, _2), _9))
    return action, best


@kernel
def _session(rules, ways, habits, table, b, l, key, play, row, col):
    """Make one play: a rehearsal that learns (play >= 1), or the test that fills the way (0)."""
    rows, cols, steps, training = rules.rows, rules.cols, rules.steps, play > 0
    r, c = np.int64(row[b, 0, l]), np.int64(col[b, 0, l])
    here = table[0, r * cols + c]
    clock = np.uint64(play * steps)
    action, _ = choose(habits, here, key, clock, training)
    for t in range(steps):
        r, c = wrapped(r + action // 3 - 1, rows), wrapped(c + action % 3 - 1, cols)
        following, ahead = 0, 0.0
        values = here
        if t + 1 < steps:
            values = table[t + 1, r * cols + c]
            following, best = choose(habits, values, key, clock + np.uint64(t + 1), training)
            ahead = values[following] if habits.sarsa else best
        if training:
            reward = habits.scale * (reward_at(rules, ways, b, t + 1, l, r, c) / 2)
            here[action] += habits.alpha * (reward + habits.gamma * ahead - here[action])
        else:
            row[b, t + 1, l], col[b, t + 1, l] = r, c
        action, here = following, values


@kernel
def table_learner(rules, ways, habits, count, keys, row, col):
    """Train and test `count` exercises: the twin of `QLearning` and `Sarsa`."""
    lanes = row.shape[2]
    table = np.empty((rules.steps, rules.rows * rules.cols, 9))
    flat = table.reshape(-1)
    for n in range(count):
        b, l = n // lanes, n % lanes
        for place in range(len(flat)):
            flat[place] = habits.initial
        for play in range(1, habits.sessions + 1):
            _session(rules, ways, habits, table, b, l, keys[b, l], play, row, col)
        _session(rules, ways, habits, table, b, l, keys[b, l], 0, row, col)
