"""Walks on one landscape, compiled: at random, and uphill.

Every kernel fills `way`, the cells from 0 that a mind stands on after 0, 1, 2, … steps; the first
is given. `around` is [move, cell], where each move leads; `fields` [step, cell], or one row if the
land stands still.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.fast import uniform_best

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
        way[t + 1] = around[uniform_best(values, 9, key, np.uint64(t), _0)[0], way[t]]
