"""The ways of groups, compiled: one lane after the other, all members of it together.

Ways are int16[slot, block, step, lane] here. `Crew` says who the members are; every protocol
first asks for their wishes, as `collectives.Protocol` does, then decides.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allminds.compiled import below, kernel, unit, word
from allminds.instruments.torus.kernels.learners import choose
from allminds.instruments.torus.kernels.singles import (
    aim,
    apart,
    plan_optimum,
    reward_at,
    shorter,
)
from allminds.instruments.torus.kernels.worlds import wrapped

LOCAL_SEARCH, RANDOM, EXPERT, PLAIN_EXPERT, OPTIMUM = 0, 1, 2, 3, 4
AUCTION, DICTATOR, TREE, MAJORITY, WEIGHTED, EACH_ITS_OWN = 0, 1, 2, 3, 4, 5

_0, _1, _2, _3, _9 = (np.uint64(n) for n in (0, 1, 2, 3, 9))


class Crew(NamedTuple):
    """The members of a group: kinds and slips [member], and the tables they share."""

    kinds: Any
    slips: Any
    table: Any  # LookUp


# ---------------------------------------------------------------- wishes


@kernel
def _classes(rules, ways, table, b, t, l, r, c):
    """The class of Good and of Evil as seen from a cell."""
    rows, cols = rules.rows, rules.cols
    good = (
        table.row_class[np.int64(ways.good_row[b, t, l]) - r + rows]
        + table.col_class[np.int64(ways.good_col[b, t, l]) - c + cols]
    )
    evil = (
        table.row_class[np.int64(ways.evil_row[b, t, l]) - r + rows]
        + table.col_class[np.int64(ways.evil_col[b, t, l]) - c + cols]
    )
    return np.int64(good), np.int64(evil)


@kernel
def _toward(rules, r, c, to_row, to_col):
    """`Torus.toward`, as a move 0..8."""
    return 3 * (shorter(r, to_row, rules.rows) + 1) + shorter(c, to_col, rules.cols) + 1


@kernel
def _wish(rules, ways, crew, plan, member, key, b, t, l, r, c, both):
    """The move 0..8 that a member's own mind makes, given what it sees."""
    kind, clock = crew.kinds[member], np.uint64(t)
    if kind == LOCAL_SEARCH:
        if crew.slips[member] > 0 and unit(word(key, clock, _2)) < crew.slips[member]:
            return np.int64(below(word(key, clock, _3), _9))
        count = np.uint64(crew.table.choices[both])
        return np.int64(crew.table.moves[both, np.int64(below(word(key, clock, _0), count))])
    if kind == RANDOM:
        return np.int64(below(word(key, clock, _0), _9))
    if kind == OPTIMUM:
        return np.int64(plan[t, r, c])
    good_row, good_col = ways.good_row[b], ways.good_col[b]
    to_row, to_col = aim(rules.rows, rules.cols, good_row, good_col, kind == EXPERT, t, l, r, c)
    return _toward(rules, r, c, to_row, to_col)


@kernel
def _plan(rules, ways, crew, b, l, value, across, plan):
    """Work out the best ways, if a member is the optimum."""
    for kind in crew.kinds:
        if kind == OPTIMUM:
            plan_optimum(rules, ways, b, l, value, across, plan)
            return


@kernel
def _move(rules, row, col, s, b, t, l, move):
    """Make a member's move."""
    row[s, b, t + 1, l] = wrapped(np.int64(row[s, b, t, l]) + move // 3 - 1, rules.rows)
    col[s, b, t + 1, l] = wrapped(np.int64(col[s, b, t, l]) + move % 3 - 1, rules.cols)


@kernel
def _after(rules, row, col, s, b, t, l, move):
    """The cell that a member's move leads to."""
    r = wrapped(np.int64(row[s, b, t, l]) + move // 3 - 1, rules.rows)
    return r, wrapped(np.int64(col[s, b, t, l]) + move % 3 - 1, rules.cols)


@kernel
def _ask(rules, ways, crew, plan, keys, row, col, b, t, l, wishes, seen):
    """Every member's wish, and the best reward it sees in half units."""
    for s in range(len(wishes)):
        r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
        good, evil = _classes(rules, ways, crew.table, b, t, l, r, c)
        both = good * crew.table.classes + evil
        seen[s] = crew.table.best[both]
        wishes[s] = _wish(rules, ways, crew, plan, s, keys[s, b, l], b, t, l, r, c, both)


@kernel
def _drawn(values, best, key, t):
    """`uniform_best` by the protocol's own word, among values that are `best`."""
    count = 0
    for value in values:
        count += value == best
    pick = np.int64(below(word(key, np.uint64(t), _1), np.uint64(count)))
    for n in range(len(values)):
        if values[n] == best:
            if pick == 0:
                return n
            pick -= 1
    return 0


# ---------------------------------------------------------------- protocols over wishes


@kernel
def _heeded(protocol, me, seen):
    """Whose wish a member goes by: `Auction`, `Dictator`, `Tree`."""
    if protocol == DICTATOR:
        return 0
    if protocol == TREE:
        best = me
        for child in range(2 * me + 1, min(2 * me + 3, len(seen))):
            if seen[child] > seen[best]:
                best = child
        return best
    best = 0
    for member in range(1, len(seen)):
        if seen[member] > seen[best]:
            best = member
    return best if seen[best] > 0 else -1


@kernel
def _voted(weighted, wishes, seen, key, t, votes):
    """The direction that wins: `Majority`, `WeightedMajority`."""
    anybody = False
    for best in seen:
        anybody |= best > 0
    for a in range(9):
        votes[a] = 0
    for s in range(len(wishes)):
        votes[wishes[s]] += max(0, seen[s]) if weighted and anybody else 1
    return _drawn(votes, votes.max(), key, t)


@kernel
def by_wishes(rules, ways, crew, protocol, count, keys, row, col):
    """All protocols that need no more than wishes and what members see."""
    slots, _, steps, lanes = row.shape
    wishes, seen = np.empty(slots, np.int64), np.empty(slots, np.int64)
    votes = np.empty(9, np.int64)
    value = np.empty((rules.rows, rules.cols + 2), np.int32)
    across = np.empty((rules.rows + 2, rules.cols), np.int32)
    plan = np.empty((rules.steps, rules.rows, rules.cols), np.uint8)
    for place in range(count):
        b, l = place // lanes, place % lanes
        _plan(rules, ways, crew, b, l, value, across, plan)
        for t in range(steps - 1):
            _ask(rules, ways, crew, plan, keys, row, col, b, t, l, wishes, seen)
            if protocol in (MAJORITY, WEIGHTED):
                move = _voted(protocol == WEIGHTED, wishes, seen, keys[0, b, l], t, votes)
                for s in range(slots):
                    _move(rules, row, col, s, b, t, l, move)
                continue
            for s in range(slots):
                whose = _heeded(protocol, s, seen)
                move = wishes[s]
                if whose >= 0:
                    to_row, to_col = _after(rules, row, col, whose, b, t, l, wishes[whose])
                    r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                    move = _toward(rules, r, c, to_row, to_col)
                _move(rules, row, col, s, b, t, l, move)


# ---------------------------------------------------------------- protocols with a map


@kernel
def _read_fake(rules, fake, reach, r, c, best_move):
    """The best fake reward round a cell and how many cells have it."""
    best, count = -np.inf, 0
    for by_row in range(-reach, reach + 1):
        for by_col in range(-reach, reach + 1):
            value = fake[(r + by_row) % rules.rows, (c + by_col) % rules.cols]
            if value > best:
                best, count = value, 0
            if value == best:
                best_move[count] = 3 * (np.sign(by_row) + 1) + np.sign(by_col) + 1
                count += 1
    return count


@kernel
def stigmergy(rules, ways, crew, gamma, reach, count, keys, row, col):
    """`Stigmergy`."""
    slots, _, steps, lanes = row.shape
    table, width = crew.table, 2 * reach + 1
    fake = np.empty((rules.rows, rules.cols))
    best_move = np.empty(width * width, np.int64)
    value = np.empty((rules.rows, rules.cols + 2), np.int32)
    across = np.empty((rules.rows + 2, rules.cols), np.int32)
    plan = np.empty((rules.steps, rules.rows, rules.cols), np.uint8)
    for place in range(count):
        b, l = place // lanes, place % lanes
        _plan(rules, ways, crew, b, l, value, across, plan)
        for t in range(steps - 1):
            for s in range(slots):
                r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                good, evil = _classes(rules, ways, table, b, t, l, r, c)
                _leave(rules, table, gamma, reach, fake, r, c, good, evil)
            for s in range(slots):
                r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                key, clock = keys[s, b, l], np.uint64(t)
                slips = crew.slips[s] > 0 and unit(word(key, clock, _2)) < crew.slips[s]
                if crew.kinds[s] == LOCAL_SEARCH and not slips:
                    count = _read_fake(rules, fake, reach, r, c, best_move)
                    pick = np.int64(below(word(key, clock, _0), np.uint64(count)))
                    move = best_move[pick]
                else:  # its own mind does not look at rewards
                    move = _wish(rules, ways, crew, plan, s, key, b, t, l, r, c, 0)
                _move(rules, row, col, s, b, t, l, move)


@kernel
def _leave(rules, table, gamma, reach, fake, r, c, good, evil):
    """Write a member's fake rewards into the cells it sees."""
    width = 2 * reach + 1
    most, least = -4, 4
    for n in range(width * width):
        here = table.gains[good, n] - table.gains[evil, n]
        most, least = max(most, here), min(least, here)
    extra = gamma * (most / 2) + (1 - gamma) * (least / 2)
    for n in range(width * width):
        here = (table.gains[good, n] - table.gains[evil, n]) / 2
        to_row, to_col = r + n // width - reach, c + n % width - reach
        fake[to_row % rules.rows, to_col % rules.cols] = here + extra


@kernel
def crowd(rules, ways, crew, reach, count, keys, row, col):
    """`Crowd`."""
    slots, _, steps, lanes = row.shape
    table, width = crew.table, 2 * reach + 1
    wishes, seen = np.empty(slots, np.int64), np.empty(slots, np.int64)
    chart = np.empty(rules.rows * rules.cols)
    value = np.empty((rules.rows, rules.cols + 2), np.int32)
    across = np.empty((rules.rows + 2, rules.cols), np.int32)
    plan = np.empty((rules.steps, rules.rows, rules.cols), np.uint8)
    for place in range(count):
        b, l = place // lanes, place % lanes
        _plan(rules, ways, crew, b, l, value, across, plan)
        for n in range(len(chart)):
            chart[n] = 0.0
        for t in range(steps - 1):
            _ask(rules, ways, crew, plan, keys, row, col, b, t, l, wishes, seen)
            for n in range(len(chart)):
                chart[n] /= 2
            for s in range(slots):
                r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                good, evil = _classes(rules, ways, table, b, t, l, r, c)
                for n in range(width * width):
                    to_row = (r + n // width - reach) % rules.rows
                    to_col = (c + n % width - reach) % rules.cols
                    here = (table.gains[good, n] - table.gains[evil, n]) / 2
                    chart[to_row * rules.cols + to_col] = here
            best = chart.max()
            target = _drawn(chart, best, keys[0, b, l], t) if best > 0 else -1
            for s in range(slots):
                move = wishes[s]
                if target >= 0:
                    r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                    move = _toward(rules, r, c, target // rules.cols, target % rules.cols)
                _move(rules, row, col, s, b, t, l, move)


@kernel
def imitation(rules, ways, crew, intercept, reach, count, keys, row, col):
    """`Imitation`."""
    slots, _, steps, lanes = row.shape
    wishes, seen = np.empty(slots, np.int64), np.empty(slots, np.int64)
    value = np.empty((rules.rows, rules.cols + 2), np.int32)
    across = np.empty((rules.rows + 2, rules.cols), np.int32)
    plan = np.empty((rules.steps, rules.rows, rules.cols), np.uint8)
    cells = np.uint64(rules.rows * rules.cols)
    for place in range(count):
        b, l = place // lanes, place % lanes
        _plan(rules, ways, crew, b, l, value, across, plan)
        at = np.int64(below(word(keys[0, b, l], _0, _1), cells))
        er, ec = at // rules.cols, at % rules.cols
        for t in range(steps - 1):
            good_row, good_col = ways.good_row[b], ways.good_col[b]
            to = aim(rules.rows, rules.cols, good_row, good_col, intercept, t, l, er, ec)
            er = wrapped(er + shorter(er, to[0], rules.rows), rules.rows)
            ec = wrapped(ec + shorter(ec, to[1], rules.cols), rules.cols)
            _ask(rules, ways, crew, plan, keys, row, col, b, t, l, wishes, seen)
            for s in range(slots):
                r, c = np.int64(row[s, b, t, l]), np.int64(col[s, b, t, l])
                far = max(apart(r, er, rules.rows), apart(c, ec, rules.cols))
                move = _toward(rules, r, c, er, ec) if far <= reach else wishes[s]
                _move(rules, row, col, s, b, t, l, move)


# ---------------------------------------------------------------- shared tables


@kernel
def _shared_session(rules, ways, habits, table, keys, play, b, l, row, col, at, actions, ahead):
    """One play of all learners round one table; `at` holds their cells, row and column."""
    slots, steps, cols, training = row.shape[0], rules.steps, rules.cols, play > 0
    for s in range(slots):
        at[s, 0], at[s, 1] = row[s, b, 0, l], col[s, b, 0, l]
        here = table[0, at[s, 0] * cols + at[s, 1]]
        actions[s], _ = choose(habits, here, keys[s, b, l], np.uint64(play * steps), training)
    for t in range(steps):
        for s in range(slots):
            at[s, 2] = at[s, 0] * cols + at[s, 1]  # where it was
            at[s, 0] = wrapped(at[s, 0] + actions[s] // 3 - 1, rules.rows)
            at[s, 1] = wrapped(at[s, 1] + actions[s] % 3 - 1, cols)
        _settle_tables(rules, ways, habits, table, keys, play, b, t, l, at, actions, ahead)
        if not training:
            for s in range(slots):
                row[s, b, t + 1, l], col[s, b, t + 1, l] = at[s, 0], at[s, 1]


@kernel
def _settle_tables(rules, ways, habits, table, keys, play, b, t, l, at, actions, ahead):
    """Choose the next actions, and write what this step brought into the table, in slot order.

    Rows of the next step are not written in this one, so it does not matter that all choose first.
    """
    training, cols = play > 0, rules.cols
    for s in range(len(actions)):
        following, ahead[s] = 0, 0.0
        if t + 1 < rules.steps:
            values = table[t + 1, at[s, 0] * cols + at[s, 1]]
            clock = np.uint64(play * rules.steps + t + 1)
            following, best = choose(habits, values, keys[s, b, l], clock, training)
            ahead[s] = values[following] if habits.sarsa else best
        if training:
            here = table[t, at[s, 2]]
            reward = habits.scale * (reward_at(rules, ways, b, t + 1, l, at[s, 0], at[s, 1]) / 2)
            a = actions[s]
            here[a] += habits.alpha * (reward + habits.gamma * ahead[s] - here[a])
        actions[s] = following


@kernel
def shared_table(rules, ways, habits, count, keys, row, col):
    """`SharedQLearning` and `SharedSarsa`."""
    slots, _, _, lanes = row.shape
    table = np.empty((rules.steps, rules.rows * rules.cols, 9))
    flat = table.reshape(-1)
    at, actions = np.empty((slots, 3), np.int64), np.empty(slots, np.int64)
    ahead = np.empty(slots)
    for place in range(count):
        b, l = place // lanes, place % lanes
        for n in range(len(flat)):
            flat[n] = habits.initial
        for play in range(1, habits.sessions + 1):
            _shared_session(
                rules, ways, habits, table, keys, play, b, l, row, col, at, actions, ahead
            )
        _shared_session(rules, ways, habits, table, keys, 0, b, l, row, col, at, actions, ahead)
