"""Walks on one landscape, compiled: at random, uphill, and by a table that is learnt.

Every kernel fills `way`, the cells from 0 that a mind stands on after 0, 1, 2, … steps; the first
is given. `around` is [move, cell], where each move leads; `fields` [step, cell], or one row if the
land stands still.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.lambda_star.fast.learners import choose, greedy

_0, _9 = np.uint64(0), np.uint64(9)


@kernel
def by_lot(around, key, way):
    """Walk at random: the twin of `RandomMind`."""
    for t in range(len(way) - 1):
        way[t + 1] = around[np.int64(below(word(key, np.uint64(t), _0), _9)), way[t]]


@kernel
def uphill(around, fields, key, way):
    """Walk uphill: the twin of `LocalSearch` that sees one cell far."""
    values = np.empty(9)
    for t in range(len(way) - 1):
        field = fields[t if len(fields) > 1 else 0]
        for a in range(9):
            values[a] = field[around[a, way[t]]]
        way[t + 1] = around[greedy(values, key, np.uint64(t))[0], way[t]]


@kernel
def _session(around, fields, habits, table, key, play, way):
    """Make one play: a rehearsal that learns (play >= 1), or the test that fills the way (0)."""
    steps, training = len(way) - 1, play > 0
    cell, here = way[0], table[0, way[0]]
    clock = np.uint64(play * steps)
    action, _ = choose(habits, here, key, clock, training)
    for t in range(steps):
        cell = around[action, cell]
        following, ahead = 0, 0.0
        values = here
        if t + 1 < steps:
            values = table[t + 1, cell]
            following, best = choose(habits, values, key, clock + np.uint64(t + 1), training)
            ahead = values[following] if habits.sarsa else best
        if training:
            reward = habits.scale * fields[t + 1 if len(fields) > 1 else 0, cell]
            here[action] += habits.alpha * (reward + habits.gamma * ahead - here[action])
        else:
            way[t + 1] = cell
        action, here = following, values


@kernel
def table_learner(around, fields, habits, table, key, way):
    """Train and test: the twin of `QLearning` and `Sarsa`; overwrites table [step, cell, move]."""
    table[:] = habits.initial
    for play in range(1, habits.sessions + 1):
        _session(around, fields, habits, table, key, play, way)
    _session(around, fields, habits, table, key, 0, way)
