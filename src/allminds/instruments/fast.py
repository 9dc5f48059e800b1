"""The rules of `rules` compiled, and the choices that kernels of several instruments make.

Import this module only where a kernel runs.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np

from allminds.core.compiled import below, kernel, small, ufunc, unit, word
from allminds.instruments import rules

wrapped, apart, shorter, distance, worth, reward = rules.on_ring(np.int64, small)
narrow = rules.on_ring(np.int16, small)  # for many lanes side by side, by vector instructions
parted, missing = small(rules.parted), small(rules.missing)
period, weighted = small(rules.period), small(rules.weighted)


@ufunc
def distances(rows, cols, row, col, to_row, to_col):
    """Count the king moves between cells, as arrays of rows and columns."""
    return distance(rows, cols, row, col, to_row, to_col)


@ufunc
def worths(far):
    """Compute what Good gives at distances, in half units."""
    return worth(far)


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
