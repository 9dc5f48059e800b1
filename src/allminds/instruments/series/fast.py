"""All series that programs below a bound print: one walk through the programs, compiled.

The walk is that of `complexity.levin_fast.search` with every letter but the first left open.
Whatever a run has printed when it stops goes into a hash table with its weight and its program.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allminds.complexity.levin import CLOCK
from allminds.complexity.levin_fast import (
    CAP,
    END,
    MOST,
    NEXT,
    SPELT,
    TIME,
    WRITES,
    beginning,
    extended,
    longest_program,
    needed,
    proposed,
    tried,
)
from allminds.core.compiled import inlined, kernel

Ints = NDArray[np.int64]

EMPTY = 0
CODES, WEIGHTS, PROGRAMS = 0, 1, 2  # the columns of a table
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def place_of(table: Ints, code: int) -> int:
    """Find where a series is in the table, or would be put; the size is a power of two."""
    mixed = np.uint64(code) * GOLDEN
    mask = len(table) - 1
    place = int(mixed >> np.uint64(24)) & mask
    while table[place, CODES] != EMPTY and table[place, CODES] != code:
        place = (place + 1) & mask
    return place


@kernel
def doubled(table: Ints) -> Ints:
    """Copy the table into one with twice the room."""
    larger = np.zeros((2 * len(table), 3), np.int64)
    for n in range(len(table)):
        if table[n, CODES] != EMPTY:
            larger[place_of(larger, table[n, CODES])] = table[n]
    return larger


@inlined
def packed(program: NDArray[np.int8], length: int) -> int:
    """Pack instructions in four bits each, from 1, the first highest."""
    result = 0
    for n in range(length):
        result = result << 4 | (program[n] + 1)
    return result


@kernel
def sweep(start: int, below: int, total: int) -> Ints:
    """Return codes, weights and programs of the series from a start that cost less than a bound.

    A series stands for its beginnings too: a beginning has a row of its own only where a run
    stopped there. Series have 5..`total` letters; a code is their letters after the first.
    """
    letters = np.full(total, -1, np.int8)
    letters[0] = start
    need = needed(letters, CLOCK)
    table = np.zeros((1 << 12, 3), np.int64)
    rows = depth = 0
    program = np.zeros(MOST, np.int8)
    states = beginning(start)
    states[0, CAP] = longest_program(states, 0, letters, need, CLOCK, MOST, below, CLOCK)
    while depth >= 0:
        if states[depth, NEXT] == 10 or states[depth, CAP] <= depth:
            depth -= 1
            continue
        if not proposed(program, depth, states, CLOCK, True):
            continue
        length = depth + 1
        longest = (below - 1) >> length
        why = tried(program, depth, states, letters, -1, need, CLOCK, longest)
        writes = states[length, WRITES]
        if writes >= CLOCK and writes > states[depth, WRITES]:
            code, weight = states[length, SPELT], states[length, TIME] << length
            place = place_of(table, code)
            if table[place, CODES] == EMPTY or weight < table[place, WEIGHTS]:
                rows += table[place, CODES] == EMPTY
                table[place, CODES] = code
                table[place, WEIGHTS] = weight
                table[place, PROGRAMS] = packed(program, length)
                if 2 * rows > len(table):
                    table = doubled(table)
        if why == END:
            depth += extended(program, depth, states, letters, need, CLOCK, below, CLOCK)
    return table[table[:, CODES] != EMPTY]
