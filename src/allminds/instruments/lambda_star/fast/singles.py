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
def _add_around(rules, row, col, sign, value):
    """Add the rewards of Good (or, with sign -1, Evil) to the values of cells, in half units."""
    for a in range(9):
        r, c = wrapped(row + a // 3 - 1, rules.rows), wrapped(col + a % 3 - 1, rules.cols)
        value[r, 1 + c] += sign * worth_after(a)


@kernel
def _best_of_three(value, across, plan):
    """Set `value` to the largest of each cell's neighbours, `plan` to the move there (first wins).

    `value` has a spare column on either side and `across` a spare row above and below, so that
    the loops over columns need not wrap. Choices travel in the two lowest bits.
    """
    rows, cols = plan.shape
    for r in range(rows):
        value[r, 0], value[r, cols + 1] = value[r, cols], value[r, 1]
        for c in range(cols):
            west, here = 4 * value[r, c] + 2, 4 * value[r, c + 1] + 1
            across[r + 1, c] = max(max(west, here), 4 * value[r, c + 2])
    for c in range(cols):
        across[0, c], across[rows + 1, c] = across[rows, c], across[1, c]
    for r in range(rows):
        for c in range(cols):
            up, here, down = across[r, c], across[r + 1, c], across[r + 2, c]
            by = 1 if here >> 2 > up >> 2 else 0
            best = here if by == 1 else up
            by = 2 if down >> 2 > best >> 2 else by
            best = down if by == 2 else best
            value[r, c + 1] = best >> 2
            plan[r, c] = 3 * by + 2 - (best & 3)


@kernel
def plan_optimum(rules, ways, b, l, value, across, plan):
    """Plan one lane by backward induction: plan[t, row, col] is the best move, first wins."""
    for r in range(rules.rows):
        for c in range(rules.cols + 2):
            value[r, c] = 0
    for t in range(rules.steps, 0, -1):
        good_row, good_col = np.int64(ways.good_row[b, t, l]), np.int64(ways.good_col[b, t, l])
        evil_row, evil_col = np.int64(ways.evil_row[b, t, l]), np.int64(ways.evil_col[b, t, l])
        _add_around(rules, good_row, good_col, 1, value)
        _add_around(rules, evil_row, evil_col, -1, value)
        _best_of_three(value, across, plan[t - 1])


@kernel
def optimum(rules, ways, count, rows_of, cols_of):
    """Walk by the plan, several slots of `count` exercises: the twin of `Optimum`."""
    slots, _, steps, lanes = rows_of.shape
    rows, cols = rules.rows, rules.cols
    value, across = np.empty((rows, cols + 2), np.int32), np.empty((rows + 2, cols), np.int32)
    plan = np.empty((rules.steps, rows, cols), np.uint8)
    for n in range(count):
        b, l = n // lanes, n % lanes
        plan_optimum(rules, ways, b, l, value, across, plan)
        for s in range(slots):
            r, c = np.int64(rows_of[s, b, 0, l]), np.int64(cols_of[s, b, 0, l])
            for t in range(steps - 1):
                a = np.int64(plan[t, r, c])
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
