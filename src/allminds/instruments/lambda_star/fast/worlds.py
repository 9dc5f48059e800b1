"""Good's and Evil's ways, compiled: segments, the catalogue, collisions, starting cells."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import numpy as np

from allminds.complexity.fast import lz76_kernel, lz76_scratch
from allminds.core.compiled import below, fold, kernel, unit, word
from allminds.instruments.fast import narrow, parted, period, weighted, wrapped
from allminds.instruments.lambda_star.fast.arrays import DRIFT, RELEASED

_0, _1, _2, _9 = (np.uint64(n) for n in (0, 1, 2, 9))
_wrapped = narrow.wrapped


@kernel
def make_moves(moves, row, col, to_row, to_col, rows, cols):
    """Move all lanes by 0..8; separate, so that it becomes a few vector instructions."""
    for l in range(len(moves)):
        a = np.int16(moves[l])
        to_row[l] = _wrapped(np.int16(row[l] + a // np.int16(3) - np.int16(1)), rows)
        to_col[l] = _wrapped(np.int16(col[l] + a % np.int16(3) - np.int16(1)), cols)


# ---------------------------------------------------------------- segments


@kernel
def draw_segment(rules, key, step, moves):
    """Fill `moves` with actions 0..8, return the length: the twin of `patterns.draw_segment`."""
    length = 1 + np.int64(below(word(key, step, _0), np.uint64(rules.limit)))
    row = col = np.int64(0)
    for l in range(length):
        bits = word(key, step, np.uint64(1 + l))
        if rules.kind == DRIFT:
            moves[l] = rules.plain[np.int64(below(bits, _9))]
            continue
        action = _weighted_move(rules, row, col, length - l - 1, unit(bits))
        moves[l] = rules.plain[action]
        row = wrapped(row + action // 3 - 1, rules.rows)
        col = wrapped(col + action % 3 - 1, rules.cols)
    return period(moves, length)


@kernel
def _weighted_move(rules, row, col, left, chance):
    """Draw a move in proportion to the walks of `left` moves that lead home after it."""
    weights = np.empty(9)
    for a in range(9):
        to_row = wrapped(row + a // 3 - 1, rules.rows)
        weights[a] = rules.chances[left, to_row * rules.cols + wrapped(col + a % 3 - 1, rules.cols)]
    return weighted(weights, chance)


@kernel
def _visited(rules, moves, length, codes):
    """List the cells (from 0) after each move from cell 0."""
    row = col = 0
    for t in range(rules.steps):
        a = np.int64(moves[t % length])
        row = wrapped(row + a // 3 - 1, rules.rows)
        col = wrapped(col + a % 3 - 1, rules.cols)
        codes[t] = row * rules.cols + col


@kernel
def _distinct(codes, seen):
    """Count the different cells; `seen` is all False before and after."""
    count = 0
    for code in codes:
        if not seen[code]:
            seen[code] = True
            count += 1
    for code in codes:
        seen[code] = False
    return count


# ---------------------------------------------------------------- the catalogue


@kernel
def survey(rules, keys, complexity, digest):
    """Compute K and a digest of the draws of the catalogue, each from a key of its own."""
    cells = rules.rows * rules.cols
    moves, codes = np.empty(rules.limit, np.uint8), np.empty(rules.steps, np.int64)
    scratch = lz76_scratch(cells, rules.steps)
    for i in range(len(complexity)):
        length = draw_segment(rules, keys[i], _0, moves)
        _visited(rules, moves, length, codes)
        complexity[i] = lz76_kernel(codes, rules.steps, scratch)
        h = np.uint64(length)
        for l in range(length):
            h = fold(h, np.uint64(moves[l]))
        digest[i] = h


@kernel
def redraw(rules, keys, moves, lengths, distinct):
    """Draw again the segments of some draws of the catalogue, by their keys."""
    codes, seen = np.empty(rules.steps, np.int64), np.zeros(rules.rows * rules.cols, np.bool_)
    for n in range(len(keys)):
        lengths[n] = draw_segment(rules, keys[n], _0, moves[n])
        _visited(rules, moves[n], lengths[n], codes)
        distinct[n] = _distinct(codes, seen)


@kernel
def _same_segment(rules, place, moves, length):
    if rules.lengths[place] != length:
        return False
    same = True
    for l in range(length):
        same &= rules.catalogue[place, l] == moves[l]
    return same


@kernel
def _pick_evil(rules, making, good, length, complexity):
    """Pick a segment of Good's complexity, another than Good's if K >= 3; -1 if none."""
    low, high = rules.shelf[complexity], rules.shelf[complexity + 1]
    if high == low:
        return -1
    if complexity >= 3 and high - low == 1 and _same_segment(rules, low, good, length):
        return -1
    j = _1
    while True:
        evil = low + np.int64(below(word(making, _0, j), np.uint64(high - low)))
        if complexity < 3 or not _same_segment(rules, evil, good, length):
            return evil
        j += _1


# ---------------------------------------------------------------- whole worlds


@kernel
def _choose(rules, making, complexity, good, codes, seen, scratch, columns):
    """Write Good's segment to `good`, its K, length and cells to `columns`; pick Evil's."""
    if complexity > 0:
        low, high = rules.shelf[complexity], rules.shelf[complexity + 1]
        place = low + np.int64(below(word(making, _0, _0), np.uint64(high - low)))
        length = rules.lengths[place]
        for l in range(length):
            good[l] = rules.catalogue[place, l]
        columns[0], columns[1], columns[2] = complexity, length, rules.distinct[place]
        return _pick_evil(rules, making, good, length, complexity)
    attempt = 1
    while True:
        length = draw_segment(rules, making, np.uint64(attempt), good)
        _visited(rules, good, length, codes)
        drawn = lz76_kernel(codes, rules.steps, scratch)
        if drawn + 1 < len(rules.shelf):
            evil = _pick_evil(rules, making, good, length, drawn)
            if evil >= 0:
                columns[0], columns[1], columns[2] = drawn, length, _distinct(codes, seen)
                return evil
        attempt += 1


@kernel
def _draw_released(rules, making, path, codes):
    """Write the list of cells to `path`, those visited to `codes`: `Released.draw`."""
    rows, cols = rules.rows, rules.cols
    length = rows + np.int64(below(word(making, _0, _0), np.uint64(rows)))
    path[0] = np.int64(below(word(making, _0, _1), np.uint64(rows * cols)))
    for p in range(1, length):
        a = np.int64(below(word(making, _0, np.uint64(1 + p)), _9))
        row, col = path[p - 1] // cols + a // 3 - 1, path[p - 1] % cols + a % 3 - 1
        path[p] = wrapped(row, rows) * cols + wrapped(col, cols)
    for t in range(rules.steps):
        p = (t + 1) % (2 * length)
        codes[t] = path[min(p, 2 * length - 1 - p)]
    return length


@kernel
def _put(ways, cols, block, t, lane, good, evil):
    ways.good_row[block, t, lane], ways.good_col[block, t, lane] = good // cols, good % cols
    ways.evil_row[block, t, lane], ways.evil_col[block, t, lane] = evil // cols, evil % cols


@kernel
def _travel_released(rules, ways, block, lane, start, codes):
    cells = rules.rows * rules.cols
    for t in range(rules.steps + 1):
        good = start if t == 0 else codes[t - 1]
        _put(ways, rules.cols, block, t, lane, good, (good + 1 + cells // 3) % cells)


@kernel
def _set_out(rules, ways, block, lane, world):
    """Put Good and Evil on two different uniform cells."""
    good = np.int64(below(word(world, _0, _0), np.uint64(rules.rows * rules.cols)))
    evil = np.int64(below(word(world, _0, _1), np.uint64(rules.rows * rules.cols - 1)))
    _put(ways, rules.cols, block, 0, lane, good, evil + (evil >= good))


@kernel
def _repeat(moves, length, steps, out):
    """Repeat a segment over all steps."""
    at = 0
    for t in range(steps):
        out[t] = moves[at]
        at = at + 1 if at + 1 < length else 0


@kernel
def _travel(rules, ways, block, worlds, good_moves, evil_moves):
    """Move Good and Evil in all lanes, step by step: `World._travel`; moves are [step, lane]."""
    rows, cols = np.int16(rules.rows), np.int16(rules.cols)
    good_row, good_col = ways.good_row[block], ways.good_col[block]
    evil_row, evil_col = ways.evil_row[block], ways.evil_col[block]
    same = np.empty(len(worlds), np.bool_)
    eights = same.view(np.uint64)
    for t in range(rules.steps):
        make_moves(
            good_moves[t], good_row[t], good_col[t], good_row[t + 1], good_col[t + 1], rows, cols
        )
        make_moves(
            evil_moves[t], evil_row[t], evil_col[t], evil_row[t + 1], evil_col[t + 1], rows, cols
        )
        _meet(good_row[t + 1], good_col[t + 1], evil_row[t + 1], evil_col[t + 1], same)
        for eight in range(len(eights)):
            if eights[eight] != _0:
                for l in range(8 * eight, 8 * eight + 8):
                    if same[l]:
                        _part(
                            rules.cols, good_row, good_col, evil_row, evil_col, worlds[l], t + 1, l
                        )


@kernel
def _meet(good_row, good_col, evil_row, evil_col, same):
    """Mark the lanes in which Good and Evil share a cell; separate, for vector instructions."""
    for l in range(len(same)):
        same[l] = (good_row[l] == evil_row[l]) & (good_col[l] == evil_col[l])


@kernel
def _part(cols, good_row, good_col, evil_row, evil_col, world, t, l):
    """Part Good and Evil, which share a cell at step t."""
    there = good_row[t, l] * cols + good_col[t, l]
    good = good_row[t - 1, l] * cols + good_col[t - 1, l]
    evil = evil_row[t - 1, l] * cols + evil_col[t - 1, l]
    lot = below(word(world, np.uint64(t), _0), _2)
    if parted(good, evil, there, there, lot)[0] == there:
        evil_row[t, l], evil_col[t, l] = evil_row[t - 1, l], evil_col[t - 1, l]
    else:
        good_row[t, l], good_col[t, l] = good_row[t - 1, l], good_col[t - 1, l]


@kernel
def _start_minds(rules, ways, block, lane, world, deck, swaps):
    """Place minds by a random permutation; `deck` is 0, 1, 2, … before and after."""
    for place in range(rules.agents):
        bits = word(world, _0, np.uint64(2 + place))
        other = place + np.int64(below(bits, np.uint64(len(deck) - place)))
        swaps[place] = other
        cell = deck[other]
        deck[other], deck[place] = deck[place], cell
        ways.start_row[block, place, lane] = cell // rules.cols
        ways.start_col[block, place, lane] = cell % rules.cols
    for place in range(rules.agents - 1, -1, -1):
        other = swaps[place]
        deck[place], deck[other] = deck[other], deck[place]


@kernel
def make_worlds(rules, wanted, making, world, ways, columns):
    """Make the ways of Good and Evil and the starting cells of minds, for a row of exercises.

    They have the K in `wanted`, if any, and come from the keys of their streams `making` and
    `world`. `columns` takes K, segment length and distinct cells of every exercise.
    """
    cells, lanes = rules.rows * rules.cols, ways.good_row.shape[2]
    good, path = np.empty(rules.limit, np.uint8), np.empty(2 * rules.rows, np.int64)
    codes, seen = np.empty(rules.steps, np.int64), np.zeros(cells, np.bool_)
    scratch = lz76_scratch(cells, rules.steps)
    deck, swaps = np.arange(cells), np.empty(rules.agents, np.int64)
    good_moves = np.empty((rules.steps, lanes), np.uint8)
    evil_moves = np.empty((rules.steps, lanes), np.uint8)
    worlds = np.empty(lanes, np.uint64)
    for n in range(len(columns)):
        block, lane = n // lanes, n % lanes
        worlds[lane] = world[n]
        _start_minds(rules, ways, block, lane, worlds[lane], deck, swaps)
        if rules.kind == RELEASED:
            columns[n, 1] = _draw_released(rules, making[n], path, codes)
            columns[n, 0] = lz76_kernel(codes, rules.steps, scratch)
            columns[n, 2] = _distinct(codes, seen)
            _travel_released(rules, ways, block, lane, path[0], codes)
            continue
        k = wanted[n] if len(wanted) else 0
        evil = _choose(rules, making[n], k, good, codes, seen, scratch, columns[n])
        _set_out(rules, ways, block, lane, worlds[lane])
        _repeat(good, columns[n, 1], rules.steps, good_moves[:, lane])
        _repeat(rules.catalogue[evil], rules.lengths[evil], rules.steps, evil_moves[:, lane])
        if lane == lanes - 1:
            _travel(rules, ways, block, worlds, good_moves, evil_moves)
