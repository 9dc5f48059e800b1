"""Learners round one table, compiled: `SharedQLearning` and `SharedSarsa`."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np

from allminds.core.compiled import kernel
from allminds.instruments.lambda_star.fast.groups import go, open_scene, set_stage, write
from allminds.instruments.lambda_star.fast.learners import choose
from allminds.instruments.lambda_star.fast.singles import gain


@kernel
def _learn_step(rows, cols, steps, habits, table, way, keys, play, t, at, was, actions):
    """Choose the next actions, and write what this step brought into the table, in slot order.

    Rows of the next step are not written in this one, so it does not matter that a learner
    chooses before a later one has written.
    """
    training = play > 0
    for s in range(len(actions)):
        r, c, following, ahead = at[s, 0], at[s, 1], 0, 0.0
        if t + 1 < steps:
            values = table[t + 1, r * cols + c]
            clock = np.uint64(play * steps + t + 1)
            following, best = choose(habits, values, keys[s], clock, training)
            ahead = values[following] if habits.sarsa else best
        if training:
            good_row, good_col, evil_row, evil_col = way[t + 1]
            here = gain(rows, cols, good_row, good_col, evil_row, evil_col, r, c)
            a = actions[s]
            row = table[t, was[s]]
            row[a] += habits.alpha * (habits.scale * (here / 2) + habits.gamma * ahead - row[a])
        actions[s] = following


@kernel
def _shared_session(rules, habits, table, scene, was, play, b, l, row, col):
    """Make one play of all learners round one table."""
    rows, cols, steps, at, actions = rules.rows, rules.cols, rules.steps, scene.at, scene.wishes
    for s in range(len(at)):
        at[s, 0], at[s, 1] = row[s, b, 0, l], col[s, b, 0, l]
        values = table[0, at[s, 0] * cols + at[s, 1]]
        actions[s], _ = choose(habits, values, scene.keys[s], np.uint64(play * steps), play > 0)
    for t in range(steps):
        for s in range(len(at)):
            was[s] = at[s, 0] * cols + at[s, 1]
            go(rows, cols, at, s, actions[s])
        _learn_step(
            rows, cols, steps, habits, table, scene.way, scene.keys, play, t, at, was, actions
        )
        if play == 0:
            write(at, b, t, l, row, col)


@kernel
def shared_table(rules, ways, habits, count, keys, row, col):
    """Train and test learners round one table: the twin of `SharedQLearning`, `SharedSarsa`."""
    slots, _, _, lanes = row.shape
    scene, nobody = set_stage(rules, slots), np.empty(0, np.int64)
    table = np.empty((rules.steps, rules.rows * rules.cols, 9))
    flat, was = table.reshape(-1), np.empty(slots, np.int64)
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, nobody, keys, row, col, b, l)
        for n in range(len(flat)):
            flat[n] = habits.initial
        for play in range(1, habits.sessions + 1):
            _shared_session(rules, habits, table, scene, was, play, b, l, row, col)
        _shared_session(rules, habits, table, scene, was, 0, b, l, row, col)
