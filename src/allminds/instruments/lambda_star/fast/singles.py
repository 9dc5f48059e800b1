"""The ways of single minds, compiled, and `settle`, which turns a way into rewards.

Every kernel here fills one slot's way, int16[block, step, lane], for all lanes.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allminds.core.compiled import below, inlined, kernel, word
from allminds.instruments.fast import (
    distance,
    happens,
    largest,
    narrow,
    nth,
    shorter,
    worth,
    wrapped,
)
from allminds.instruments.lambda_star.fast.arrays import axis_of
from allminds.instruments.lambda_star.fast.worlds import make_moves

_0, _2, _3, _9 = (np.uint64(n) for n in (0, 2, 3, 9))
MOST_TOGETHER = 2**18  # moves in a plan, of exercises that are planned side by side
_wrapped, _shorter, _reward = narrow.wrapped, narrow.shorter, narrow.reward


@kernel
def begin(ways, slot, row, col):
    """Put a slot of every lane on its starting cell."""
    blocks, _, lanes = row.shape
    for b in range(blocks):
        for l in range(lanes):
            row[b, 0, l], col[b, 0, l] = ways.start_row[b, slot, l], ways.start_col[b, slot, l]


@kernel
def draw_words(keys, step, out):
    """Draw word 0 of every lane at a step."""
    for l in range(len(out)):
        out[l] = word(keys[l], np.uint64(step), _0)


@kernel
def random_walk(rules, keys, row, col):
    """Walk at random: the twin of `RandomMind`."""
    blocks, steps, lanes = row.shape
    rows, cols = np.int16(rules.rows), np.int16(rules.cols)
    words, moves = np.empty(lanes, np.uint64), np.empty(lanes, np.uint8)
    for b in range(blocks):
        for t in range(steps - 1):
            draw_words(keys[b], t, words)
            for l in range(lanes):
                moves[l] = np.uint8(below(words[l], _9))
            make_moves(moves, row[b, t], col[b, t], row[b, t + 1], col[b, t + 1], rows, cols)


# ---------------------------------------------------------------- what a mind sees


class LookUp(NamedTuple):
    """What a mind sees and would go for, tabulated by where Good and Evil lie from it.

    Rewards in sight depend only on the displacement of Good and of Evil from the mind. Rows and
    columns apart, displacements fall into classes: each at which something can be seen, and "far".
    Tables go by a class, or by both: the class of Good * classes + the class of Evil.
    """

    row_class: NDArray[np.uint32]  # [displacement + rows], times the number of column classes
    col_class: NDArray[np.uint32]
    classes: int
    gains: NDArray[np.int8]  # [class, cell in sight]: what Good gives there, in half units
    best: NDArray[np.int8]  # [both]: the largest reward in sight, in half units
    choices: NDArray[Any]  # [both]: how many cells have it
    moves: NDArray[np.uint8]  # [both, pick]: the move 0..8 toward each of them


@lru_cache(maxsize=8)
def look_up(rows: int, cols: int, reach: int) -> LookUp:
    """Build the table for a torus and a range of sight."""
    row_class, row_seen = axis_of(rows, reach)
    col_class, col_seen = axis_of(cols, reach)
    classes, sight = len(row_seen) * len(col_seen), (2 * reach + 1) ** 2
    table = LookUp(
        (row_class * len(col_seen)).astype(np.uint32),
        col_class.astype(np.uint32),
        classes,
        np.empty((classes, sight), np.int8),
        np.empty(classes * classes, np.int8),
        np.empty(classes * classes, np.uint8 if sight < 256 else np.uint16),
        np.zeros((classes * classes, sight), np.uint8),
    )
    _tabulate(rows, cols, reach, row_seen, col_seen, *table[3:])
    return table


@kernel
def _tabulate(rows, cols, reach, row_seen, col_seen, gains, best, choices, moves):
    """Fill the tables of a `LookUp`."""
    side, (classes, sight) = 2 * reach + 1, gains.shape
    for n in range(classes):
        row, col = row_seen[n // len(col_seen)], col_seen[n % len(col_seen)]
        for cell in range(sight):
            far = distance(rows, cols, cell // side - reach, cell % side - reach, row, col)
            gains[n, cell] = worth(far)
    rewards = np.empty(sight, np.int8)
    for both in range(classes * classes):
        for cell in range(sight):
            rewards[cell] = gains[both // classes, cell] - gains[both % classes, cell]
        best[both], choices[both] = largest(rewards, sight)
        for pick in range(choices[both]):
            moves[both, pick] = move_to(nth(rewards, sight, best[both], pick), reach)


@kernel
def move_to(cell, reach):
    """Return the move 0..8 toward a cell in sight, given by its number in reading order."""
    row, col = cell // (2 * reach + 1) - reach, cell % (2 * reach + 1) - reach
    return 3 * ((row > 0) - (row < 0)) + (col > 0) - (col < 0) + 4


@inlined
def sighted(row_class, col_class, classes, row, col, good_row, good_col, evil_row, evil_col):
    """Return the place in the tables for where Good and Evil lie from a mind.

    `row` and `col` are its row less the number of rows, and its column less that of columns.
    """
    good = row_class[np.uint16(good_row - row)] + col_class[np.uint16(good_col - col)]
    evil = row_class[np.uint16(evil_row - row)] + col_class[np.uint16(evil_col - col)]
    return np.uint32(good * np.uint32(classes) + evil)


@inlined
def toward_best(choices, moves, both, slip, key, clock, bits):
    """Return the move of a mind that sees so much: the twin of `LocalSearch`; `bits` is word 0."""
    move = moves[both, below(bits, np.uint64(choices[both]))]
    if slip > 0 and happens(slip, key, clock, _2):
        move = np.uint8(below(word(key, clock, _3), _9))
    return move


@kernel
def cells_round(rows, cols, reach, row, col, cells):
    """List the cells in sight of a mind, from 1 and in reading order: the twin of `around`."""
    n = 0
    for by_row in range(-reach, reach + 1):
        line = wrapped(row + by_row, rows) * cols + 1
        for by_col in range(-reach, reach + 1):
            cells[n] = line + wrapped(col + by_col, cols)
            n += 1


@kernel
def rewards_round(gains, classes, both, rewards):
    """List the rewards in sight of a mind: the twin of `World.observe`."""
    good, evil = both // classes, both % classes
    for n in range(len(rewards)):
        rewards[n] = (np.int64(gains[good, n]) - np.int64(gains[evil, n])) / 2


@kernel
def local_search(rules, ways, table, slip, keys, row, col):
    """Look up the move by where Good and Evil lie: the twin of `LocalSearch`."""
    blocks, steps, lanes = row.shape
    rows, cols = np.int16(rules.rows), np.int16(rules.cols)
    words, moves = np.empty(lanes, np.uint64), np.empty(lanes, np.uint8)
    for b in range(blocks):
        for t in range(steps - 1):
            draw_words(keys[b], t, words)
            for l in range(lanes):
                both = sighted(
                    table.row_class, table.col_class, table.classes,
                    np.int16(row[b, t, l] - rows), np.int16(col[b, t, l] - cols),
                    ways.good_row[b, t, l], ways.good_col[b, t, l],
                    ways.evil_row[b, t, l], ways.evil_col[b, t, l],
                )  # fmt: skip
                moves[l] = toward_best(
                    table.choices, table.moves, both, slip, keys[b, l], np.uint64(t), words[l]
                )
            make_moves(moves, row[b, t], col[b, t], row[b, t + 1], col[b, t + 1], rows, cols)


# ---------------------------------------------------------------- minds that see the future


@kernel
def aim(rows, cols, good_row, good_col, intercept, t, l, r, c):
    """Return the cell that an expert heads for at step t; ways of Good are [step, lane]."""
    to_row, to_col = np.int64(good_row[t + 1, l]), np.int64(good_col[t + 1, l])
    if intercept:
        for u in range(t + 1, len(good_row)):
            row, col = np.int64(good_row[u, l]), np.int64(good_col[u, l])
            if distance(rows, cols, r, c, row, col) <= u - t:
                return row, col
    return to_row, to_col


@kernel
def step_toward(to_row, to_col, row, col, after_row, after_col, rows, cols):
    """Move all lanes toward a cell; separate, so that it becomes a few vector instructions."""
    for l in range(len(row)):
        after_row[l] = _wrapped(np.int16(row[l] + _shorter(row[l], to_row[l], rows)), rows)
        after_col[l] = _wrapped(np.int16(col[l] + _shorter(col[l], to_col[l], cols)), cols)


@kernel
def expert(rules, ways, intercept, row, col):
    """Walk toward Good's future cells: the twin of `Expert`."""
    blocks, steps, lanes = row.shape
    rows, cols = np.int16(rules.rows), np.int16(rules.cols)
    to_row, to_col = np.empty(lanes, np.int16), np.empty(lanes, np.int16)
    for b in range(blocks):
        good_row, good_col = ways.good_row[b], ways.good_col[b]
        for t in range(steps - 1):
            for l in range(lanes):
                r, c = np.int64(row[b, t, l]), np.int64(col[b, t, l])
                to_row[l], to_col[l] = aim(
                    rules.rows, rules.cols, good_row, good_col, intercept, t, l, r, c
                )
            after = (row[b, t + 1], col[b, t + 1])
            step_toward(to_row, to_col, row[b, t], col[b, t], after[0], after[1], rows, cols)


@kernel
def worth_after(move):
    """Compute what Good gives in the cell that a move leads to from its own, in half units."""
    return worth(max(abs(move // 3 - 1), abs(move % 3 - 1)))


@kernel
def planning(rules, lanes):
    """Allocate what `plan_optimum` needs for some lanes: values, the best across, moves, places.

    Rows have a spare column on either side, so that only these wrap. Lane l of row r, column c
    stands at places[r · columns + c, 4] + l of the values, with the places around it beside it,
    and `lanes` numbers before in the moves of a step.
    """
    rows, width = rules.rows, rules.cols + 2
    places = np.empty((rows * rules.cols, 9), np.uint64)
    for cell in range(len(places)):
        for a in range(9):
            row = wrapped(cell // rules.cols + a // 3 - 1, rows)
            col = wrapped(cell % rules.cols + a % 3 - 1, rules.cols)
            places[cell, a] = (row * width + col + 2) * lanes
    values = np.empty((rows * width + 2) * lanes, np.int16)
    across = np.empty((rows + 2) * width * lanes, np.int16)
    return values, across, np.empty((rules.steps, rows * width * lanes), np.uint8), places


@kernel
def _add_rewards(good_row, good_col, evil_row, evil_col, cols, places, values):
    """Add what Good and Evil give round their cells, in sixteenths of a half unit."""
    for n in range(len(good_row)):
        good = np.uint64(good_row[n]) * cols + np.uint64(good_col[n])
        evil = np.uint64(evil_row[n]) * cols + np.uint64(evil_col[n])
        for a in range(9):
            reward = np.int16(16 * worth_after(a))
            values[places[good, a] + np.uint64(n)] += reward
            values[places[evil, a] + np.uint64(n)] -= reward


@kernel
def _copy(to, of):
    """Fill an array from the beginning of another one that it does not overlap."""
    for n in range(len(to)):
        to[n] = of[n]


@kernel
def _best_across(west, here, east, across):
    """Take the largest of each cell and its two neighbours in the row, the first of equals."""
    for n in range(len(east)):
        best = max(np.int16(west[n] + np.int16(2)), np.int16(here[n] + np.int16(1)))
        across[n] = max(best, east[n])


@kernel
def _best_down(above, here, under, values, moves):
    """Take the largest of each cell and its two neighbours in the column, the first of equals."""
    for n in range(len(moves)):
        best = max(np.int16(above[n] + np.int16(6)), np.int16(here[n] + np.int16(3)))
        best = max(best, under[n])
        choice = np.int16(best & np.int16(15))
        moves[n] = np.uint8(np.int16(8) - choice)
        values[n] = np.int16(best - choice)


@kernel
def plan_optimum(rules, ways, b, l, values, across, plan, places):
    """Plan lanes from l on by backward induction: plan[t, place] is the best move, first wins.

    Values count in sixteenths of a half unit; the lowest four bits say which move was chosen. Only
    differences matter, and two cells differ by no more than is lost on the way from one to the
    other. So the value of the first cell is taken off now and then, and 16 bits are enough.
    """
    cols, width, size = rules.cols, rules.cols + 2, rules.rows * (rules.cols + 2)
    lanes = plan.shape[1] // size
    line, last = width * lanes, size * lanes
    here, east = values[lanes:], values[2 * lanes :]
    middle, under = across[line:], across[2 * line :]
    values[:] = 0
    for t in range(rules.steps, 0, -1):
        _add_rewards(
            ways.good_row[b, t, l : l + lanes], ways.good_col[b, t, l : l + lanes],
            ways.evil_row[b, t, l : l + lanes], ways.evil_col[b, t, l : l + lanes],
            np.uint64(cols), places, values,
        )  # fmt: skip
        for row in range(0, last, line):
            _copy(here[row : row + lanes], here[row + line - 2 * lanes :])
            _copy(here[row + line - lanes : row + line], here[row + lanes :])
        _best_across(values, here, east, middle)
        _copy(across[:line], across[last:])
        _copy(under[last - line :], middle)
        _best_down(across, middle, under, here, plan[t - 1])
        if t % 16 == 0:
            _copy(across[:lanes], here[lanes:])
            for row in range(0, last, lanes):
                for n in range(lanes):
                    here[row + n] -= across[n]


@kernel
def optimum(rules, ways, count, rows_of, cols_of):
    """Walk by the plan, several slots of `count` exercises: the twin of `Optimum`."""
    slots, _, steps, lanes = rows_of.shape
    rows, cols = rules.rows, rules.cols
    together = 32 if rules.steps * rows * cols <= MOST_TOGETHER else 1
    values, across, plan, places = planning(rules, together)
    for begin in range(0, count, together):
        b, first = begin // lanes, begin % lanes
        plan_optimum(rules, ways, b, first, values, across, plan, places)
        for s in range(slots):
            for t in range(steps - 1):
                for n in range(together):
                    l = first + n
                    r, c = np.int64(rows_of[s, b, t, l]), np.int64(cols_of[s, b, t, l])
                    a = np.int64(plan[t, (r * (cols + 2) + 1 + c) * together + n])
                    r, c = wrapped(r + a // 3 - 1, rows), wrapped(c + a % 3 - 1, cols)
                    rows_of[s, b, t + 1, l], cols_of[s, b, t + 1, l] = r, c


# ---------------------------------------------------------------- a user's own function


@njit(nogil=True)  # a function given as an argument is compiled in, and cannot be kept on disk
def user_walk(act, rules, ways, table, reach, keys, row, col, failed, answer):
    """Walk by act(cells, rewards, step, bits) -> 1..9; note step and answer where it fails."""
    blocks, steps, lanes = row.shape
    rows, cols = rules.rows, rules.cols
    cells, rewards = np.empty((2 * reach + 1) ** 2, np.int64), np.empty((2 * reach + 1) ** 2)
    for b in range(blocks):
        for l in range(lanes):
            r, c = np.int64(row[b, 0, l]), np.int64(col[b, 0, l])
            for t in range(steps - 1):
                both = sighted(
                    table.row_class, table.col_class, table.classes, r - rows, c - cols,
                    ways.good_row[b, t, l], ways.good_col[b, t, l],
                    ways.evil_row[b, t, l], ways.evil_col[b, t, l],
                )  # fmt: skip
                cells_round(rows, cols, reach, r, c, cells)
                rewards_round(table.gains, np.int64(table.classes), np.int64(both), rewards)
                a = np.int64(act(cells, rewards, t, word(keys[b, l], np.uint64(t), _0)))
                if a < 1 or a > 9:
                    failed[b, l], answer[b, l] = t, a
                    row[b, t + 1 :, l], col[b, t + 1 :, l] = r, c
                    break
                r = wrapped(r + (a - 1) // 3 - 1, rows)
                c = wrapped(c + (a - 1) % 3 - 1, cols)
                row[b, t + 1, l], col[b, t + 1, l] = r, c


# ---------------------------------------------------------------- settling


@kernel
def settle(rules, ways, row, col, alive, sums, curve):
    """Sum the rewards of a way in half units per exercise (first half, second half, all) and step.

    Exercises that failed, or that only fill up the last block, are not `alive` (0 or 1).
    """
    blocks, steps, lanes = row.shape
    rows, cols, half = np.int16(rules.rows), np.int16(rules.cols), rules.steps // 2
    first, second = np.empty(lanes, np.int32), np.empty(lanes, np.int32)
    total, rewards = np.empty(lanes, np.int32), np.empty(lanes, np.int16)
    for b in range(blocks):
        for l in range(lanes):
            first[l] = second[l] = total[l] = 0
        for t in range(1, steps):
            for l in range(lanes):
                rewards[l] = _reward(
                    rows, cols, row[b, t, l], col[b, t, l],
                    ways.good_row[b, t, l], ways.good_col[b, t, l],
                    ways.evil_row[b, t, l], ways.evil_col[b, t, l],
                )  # fmt: skip
            here = np.int64(0)
            for l in range(lanes):
                total[l] += rewards[l]
                here += rewards[l] * alive[b, l]
            curve[t - 1] += here
            if t <= half:
                for l in range(lanes):
                    first[l] += rewards[l]
            if t >= steps - half:
                for l in range(lanes):
                    second[l] += rewards[l]
        for l in range(lanes):
            n = b * lanes + l
            if n < len(sums):
                sums[n, 0], sums[n, 1], sums[n, 2] = first[l], second[l], total[l]


@kernel
def trace(rules, row, col, actions):
    """Recover the actions 1..9 of a way, for the first exercises: actions[exercise, step]."""
    lanes = row.shape[2]
    for n in range(actions.shape[0]):
        b, l = n // lanes, n % lanes
        for t in range(actions.shape[1]):
            by_row = shorter(np.int64(row[b, t, l]), np.int64(row[b, t + 1, l]), rules.rows)
            by_col = shorter(np.int64(col[b, t, l]), np.int64(col[b, t + 1, l]), rules.cols)
            actions[n, t] = 3 * (by_row + 1) + by_col + 2
