"""The ways of single minds, compiled, and `settle`, which turns a way into rewards.

Every kernel here fills one slot's way, int16[block, step, lane], for all lanes.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np
from numba import njit

from allminds.core.compiled import below, kernel, unit, word
from allminds.instruments.lambda_star.fast.worlds import make_moves, wrapped

_0, _2, _3, _9 = (np.uint64(n) for n in (0, 2, 3, 9))


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


@kernel
def local_search(rules, ways, table, slip, keys, row, col):
    """Look up the move by where Good and Evil lie: the twin of `LocalSearch`."""
    blocks, steps, lanes = row.shape
    rows, cols, classes = np.int16(rules.rows), np.int16(rules.cols), np.uint32(table.classes)
    words, moves = np.empty(lanes, np.uint64), np.empty(lanes, np.uint8)
    for b in range(blocks):
        for t in range(steps - 1):
            draw_words(keys[b], t, words)
            for l in range(lanes):
                r, c = np.int16(row[b, t, l] - rows), np.int16(col[b, t, l] - cols)
                good = (
                    table.row_class[np.uint16(ways.good_row[b, t, l] - r)]
                    + table.col_class[np.uint16(ways.good_col[b, t, l] - c)]
                )
                evil = (
                    table.row_class[np.uint16(ways.evil_row[b, t, l] - r)]
                    + table.col_class[np.uint16(ways.evil_col[b, t, l] - c)]
                )
                at = np.uint32(good * classes + evil)
                moves[l] = table.moves[at, below(words[l], np.uint64(table.choices[at]))]
                if slip > 0 and unit(word(keys[b, l], np.uint64(t), _2)) < slip:
                    moves[l] = below(word(keys[b, l], np.uint64(t), _3), _9)
            make_moves(moves, row[b, t], col[b, t], row[b, t + 1], col[b, t + 1], rows, cols)


@kernel
def shorter(here, there, size):
    """Return -1, 0 or 1: the twin of `grid._shorter`."""
    ahead = there - here
    if ahead == 0:
        return 0
    sign = 1 if ahead > 0 else -1
    return sign if 2 * abs(ahead) <= size else -sign


@kernel
def apart(here, there, size):
    """Return the distance round a ring."""
    ahead = abs(there - here)
    return min(ahead, size - ahead)


@kernel
def aim(rows, cols, good_row, good_col, intercept, t, l, r, c):
    """Return the cell that an expert heads for at step t; ways of Good are [step, lane]."""
    to_row, to_col = np.int64(good_row[t + 1, l]), np.int64(good_col[t + 1, l])
    if intercept:
        for u in range(t + 1, len(good_row)):
            row, col = np.int64(good_row[u, l]), np.int64(good_col[u, l])
            if max(apart(r, row, rows), apart(c, col, cols)) <= u - t:
                return row, col
    return to_row, to_col


@kernel
def step_toward(to_row, to_col, row, col, after_row, after_col, rows, cols):
    """Move all lanes toward a cell; separate, so that it becomes a few vector instructions."""
    for l in range(len(row)):
        ahead = np.int16(to_row[l] - row[l])
        by = np.int16(ahead > 0) - np.int16(ahead < 0)
        r = np.int16(row[l] + (by if 2 * abs(ahead) <= rows else -by))
        ahead = np.int16(to_col[l] - col[l])
        by = np.int16(ahead > 0) - np.int16(ahead < 0)
        c = np.int16(col[l] + (by if 2 * abs(ahead) <= cols else -by))
        r = np.int16(r + rows) if r < 0 else r
        c = np.int16(c + cols) if c < 0 else c
        after_row[l] = np.int16(r - rows) if r >= rows else r
        after_col[l] = np.int16(c - cols) if c >= cols else c


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
def gain(rows, cols, good_row, good_col, evil_row, evil_col, r, c):
    """Compute the reward of a cell in half units."""
    good = max(apart(r, good_row, rows), apart(c, good_col, cols))
    evil = max(apart(r, evil_row, rows), apart(c, evil_col, cols))
    return max(0, 2 - good) - max(0, 2 - evil)


@kernel
def reward_at(rules, ways, b, t, l, r, c):
    """Compute the reward of a cell at step t, in half units."""
    return gain(
        rules.rows, rules.cols,
        np.int64(ways.good_row[b, t, l]), np.int64(ways.good_col[b, t, l]),
        np.int64(ways.evil_row[b, t, l]), np.int64(ways.evil_col[b, t, l]),
        r, c,
    )  # fmt: skip


@kernel
def _add_around(rules, value, row, col, sign):
    """Add the rewards of Good (or, with sign -1, Evil) to the values of cells, in half units."""
    for a in range(9):
        r, c = wrapped(row + a // 3 - 1, rules.rows), wrapped(col + a % 3 - 1, rules.cols)
        value[r, 1 + c] += sign * (2 if a == 4 else 1)


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
        _add_around(rules, value, good_row, good_col, 1)
        _add_around(rules, value, evil_row, evil_col, -1)
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


@kernel
def look(rows, cols, reach, good, evil, row, col, cells, rewards):
    """Compute what a mind sees: the twin of `World.observe`; good and evil are (row, column)."""
    n = 0
    for by_row in range(-reach, reach + 1):
        r = wrapped(row + by_row, rows)
        for by_col in range(-reach, reach + 1):
            c = wrapped(col + by_col, cols)
            cells[n] = r * cols + c + 1
            rewards[n] = gain(rows, cols, good[0], good[1], evil[0], evil[1], r, c) / 2
            n += 1


@njit(nogil=True)  # a function given as an argument is compiled in, and cannot be kept on disk
def user_walk(act, rules, ways, reach, keys, row, col, failed, answer):
    """Walk by act(cells, rewards, step, bits) -> 1..9; note step and answer where it fails."""
    blocks, steps, lanes = row.shape
    rows, cols = rules.rows, rules.cols
    good_row, good_col, evil_row, evil_col = ways[:4]
    cells, rewards = np.empty((2 * reach + 1) ** 2, np.int64), np.empty((2 * reach + 1) ** 2)
    for b in range(blocks):
        for l in range(lanes):
            r, c = np.int64(row[b, 0, l]), np.int64(col[b, 0, l])
            for t in range(steps - 1):
                good = (np.int64(good_row[b, t, l]), np.int64(good_col[b, t, l]))
                evil = (np.int64(evil_row[b, t, l]), np.int64(evil_col[b, t, l]))
                look(rows, cols, reach, good, evil, r, c, cells, rewards)
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
    rows, cols = np.int16(rules.rows), np.int16(rules.cols)
    half = rules.steps // 2
    first, second = np.empty(lanes, np.int32), np.empty(lanes, np.int32)
    total = np.empty(lanes, np.int32)
    reward = np.empty(lanes, np.int16)
    for b in range(blocks):
        for l in range(lanes):
            first[l] = second[l] = total[l] = 0
        for t in range(1, steps):
            for l in range(lanes):
                gr = abs(np.int16(ways.good_row[b, t, l] - row[b, t, l]))
                gc = abs(np.int16(ways.good_col[b, t, l] - col[b, t, l]))
                er = abs(np.int16(ways.evil_row[b, t, l] - row[b, t, l]))
                ec = abs(np.int16(ways.evil_col[b, t, l] - col[b, t, l]))
                good = max(min(gr, np.int16(rows - gr)), min(gc, np.int16(cols - gc)))
                evil = max(min(er, np.int16(rows - er)), min(ec, np.int16(cols - ec)))
                reward[l] = max(np.int16(0), np.int16(2 - good)) - max(
                    np.int16(0), np.int16(2 - evil)
                )
            here = np.int64(0)
            for l in range(lanes):
                total[l] += reward[l]
                here += reward[l] * alive[b, l]
            curve[t - 1] += here
            if t <= half:
                for l in range(lanes):
                    first[l] += reward[l]
            if t >= steps - half:
                for l in range(lanes):
                    second[l] += reward[l]
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
