"""The ways of groups, compiled: one exercise after the other, all its members together.

Ways are int16[slot, block, step, lane] here. A kernel copies what it needs of its exercise into
small arrays first (`Scene`), because a helper that is given those is quick where one that is given
the whole named tuples is not. Every protocol asks for its members' wishes, as `groups.Protocol`
in the parent package does, and then decides.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allminds.core.compiled import below, inlined, kernel, word
from allminds.instruments.fast import (
    by_table,
    distance,
    happens,
    memory,
    shorter,
    uniform_best,
    wrapped,
)
from allminds.instruments.lambda_star.fast.singles import (
    aim,
    cells_round,
    move_to,
    plan_optimum,
    planning,
    rewards_round,
    sighted,
    toward_best,
    worth_after,
)

LOCAL_SEARCH, RANDOM, EXPERT, PLAIN_EXPERT, OPTIMUM = 0, 1, 2, 3, 4
AUCTION, DICTATOR, TREE, MAJORITY, WEIGHTED, ALWAYS_FOLLOWED = 0, 1, 2, 3, 4, 5
GOOD_ROW, GOOD_COL, EVIL_ROW, EVIL_COL = 0, 1, 2, 3

_0, _1, _2, _9 = (np.uint64(n) for n in (0, 1, 2, 9))


class Crew(NamedTuple):
    """The members of a group: kinds and slips [member], and the table they look things up in."""

    kinds: Any
    slips: Any
    table: Any  # LookUp


class Scene(NamedTuple):
    """One exercise being played, in small arrays."""

    way: Any  # int64[step, 4]: rows and columns of Good and Evil
    at: Any  # int64[member, 2]: where the members are
    keys: Any  # uint64[member]
    both: Any  # int64[member]: what it sees, as a place in the table
    seen: Any  # int64[member]: the best reward in sight, in half units
    wishes: Any  # int64[member]: the move 0..8 of its own mind
    values: Any  # for planning
    across: Any
    plan: Any  # uint8[step, place]: the optimum's moves, if it is a member
    places: Any


# ---------------------------------------------------------------- scenes


@kernel
def set_stage(rules, slots):
    """Allocate the arrays of a scene, to be used for one exercise after the other."""
    return Scene(
        np.empty((rules.steps + 1, 4), np.int64), np.empty((slots, 2), np.int64),
        np.empty(slots, np.uint64), np.empty(slots, np.int64), np.empty(slots, np.int64),
        np.empty(slots, np.int64), *planning(rules, 1),
    )  # fmt: skip


@kernel
def open_scene(scene, rules, ways, kinds, keys, row, col, b, l):
    """Put every member on its starting cell."""
    for t in range(rules.steps + 1):
        scene.way[t, GOOD_ROW], scene.way[t, GOOD_COL] = (
            ways.good_row[b, t, l],
            ways.good_col[b, t, l],
        )
        scene.way[t, EVIL_ROW], scene.way[t, EVIL_COL] = (
            ways.evil_row[b, t, l],
            ways.evil_col[b, t, l],
        )
    for s in range(len(scene.at)):
        scene.at[s, 0], scene.at[s, 1] = row[s, b, 0, l], col[s, b, 0, l]
        scene.keys[s] = keys[s, b, l]
    for kind in kinds:
        if kind == OPTIMUM:
            plan_optimum(rules, ways, b, l, scene.values, scene.across, scene.plan, scene.places)
            break


@kernel
def _look(way, t, rows, cols, row_class, col_class, classes, best, at, both, seen):
    """Compute what every member sees."""
    good_row, good_col, evil_row, evil_col = way[t, 0], way[t, 1], way[t, 2], way[t, 3]
    for s in range(len(at)):
        r, c = at[s, 0] - rows, at[s, 1] - cols
        both[s] = sighted(
            row_class, col_class, classes, r, c, good_row, good_col, evil_row, evil_col
        )
        seen[s] = best[both[s]]


@kernel
def _wish(kinds, slips, choices, moves, rows, cols, way, plan, t, at, keys, both, wishes):
    """Compute the move that every member's own mind makes."""
    clock = np.uint64(t)
    for s in range(len(at)):
        r, c, key = at[s, 0], at[s, 1], keys[s]
        if kinds[s] == LOCAL_SEARCH:
            bits = word(key, clock, _0)
            wishes[s] = toward_best(choices, moves, both[s], slips[s], key, clock, bits)
        elif kinds[s] == RANDOM:
            wishes[s] = below(word(key, clock, _0), _9)
        elif kinds[s] == OPTIMUM:
            wishes[s] = plan[t, r * (cols + 2) + 1 + c]
        else:
            wishes[s] = _expert(way, rows, cols, kinds[s] == EXPERT, t, r, c)


@inlined
def ask(scene, crew, rows, cols, t):
    """Compute what every member sees and wishes."""
    table = crew.table
    _look(
        scene.way, t, rows, cols, table.row_class, table.col_class, table.classes, table.best,
        scene.at, scene.both, scene.seen,
    )  # fmt: skip
    _wish(
        crew.kinds, crew.slips, table.choices, table.moves, rows, cols, scene.way, scene.plan, t,
        scene.at, scene.keys, scene.both, scene.wishes,
    )  # fmt: skip


@kernel
def _expert(way, rows, cols, intercept, t, r, c):
    """Return an expert's move."""
    to = aim(rows, cols, way[:, GOOD_ROW:], way[:, GOOD_COL:], intercept, t, 0, r, c)
    return toward(rows, cols, r, c, to[0], to[1])


@kernel
def toward(rows, cols, r, c, to_row, to_col):
    """Return `Torus.toward` as a move 0..8."""
    return 3 * (shorter(r, to_row, rows) + 1) + shorter(c, to_col, cols) + 1


@kernel
def go(rows, cols, at, s, move):
    """Make a member's move."""
    at[s, 0] = wrapped(at[s, 0] + move // 3 - 1, rows)
    at[s, 1] = wrapped(at[s, 1] + move % 3 - 1, cols)


@kernel
def go_toward(rows, cols, at, to_row, to_col):
    """Move every member one step toward one cell."""
    for s in range(len(at)):
        at[s, 0] = wrapped(at[s, 0] + shorter(at[s, 0], to_row, rows), rows)
        at[s, 1] = wrapped(at[s, 1] + shorter(at[s, 1], to_col, cols), cols)


@kernel
def write(at, b, t, l, row, col):
    """Write down where every member is after step t."""
    for s in range(len(at)):
        row[s, b, t + 1, l], col[s, b, t + 1, l] = at[s, 0], at[s, 1]


# ---------------------------------------------------------------- protocols over wishes


@kernel
def _vote(weighted, wishes, seen, key, t, votes):
    """Return the direction that wins: the twin of `Majority` and `WeightedMajority`."""
    anybody = seen.max() > 0
    votes[:] = 0
    for s in range(len(wishes)):
        votes[wishes[s]] += max(0, seen[s]) if weighted and anybody else 1
    return uniform_best(votes, 9, key, np.uint64(t), _1)[0]


@kernel
def _climb(rows, cols, at, wishes, seen, targets):
    """Move each toward the best-placed wish of itself and two children: the twin of `Tree`."""
    for me in range(len(at)):
        heeded = me
        for child in range(2 * me + 1, min(2 * me + 3, len(at))):
            if seen[child] > seen[heeded]:
                heeded = child
        targets[me, 0] = wrapped(at[heeded, 0] + wishes[heeded] // 3 - 1, rows)
        targets[me, 1] = wrapped(at[heeded, 1] + wishes[heeded] % 3 - 1, cols)
    for me in range(len(at)):
        to_row, to_col = targets[me, 0], targets[me, 1]
        go(rows, cols, at, me, toward(rows, cols, at[me, 0], at[me, 1], to_row, to_col))


@kernel
def _decide(protocol, rows, cols, t, at, keys, wishes, seen, votes, targets):
    """Decide by all protocols that need no more than wishes and what members see."""
    if protocol in (MAJORITY, WEIGHTED):
        move = _vote(protocol == WEIGHTED, wishes, seen, keys[0], t, votes)
        for s in range(len(at)):
            go(rows, cols, at, s, move)
    elif protocol == TREE:
        _climb(rows, cols, at, wishes, seen, targets)
    else:
        leader = seen.argmax() if protocol in (AUCTION, ALWAYS_FOLLOWED) else 0
        if protocol == AUCTION and seen[leader] <= 0:
            for s in range(len(at)):
                go(rows, cols, at, s, wishes[s])
        else:
            to_row = wrapped(at[leader, 0] + wishes[leader] // 3 - 1, rows)
            to_col = wrapped(at[leader, 1] + wishes[leader] % 3 - 1, cols)
            go_toward(rows, cols, at, to_row, to_col)


@kernel
def by_wishes(rules, ways, crew, protocol, count, keys, row, col):
    """Play `Auction`, `Dictator`, `Tree`, `Majority` or `WeightedMajority`."""
    slots, _, steps, lanes = row.shape
    rows, cols, scene = rules.rows, rules.cols, set_stage(rules, slots)
    votes, targets = np.empty(9, np.int64), np.empty((slots, 2), np.int64)
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        for t in range(steps - 1):
            ask(scene, crew, rows, cols, t)
            _decide(
                protocol, rows, cols, t, scene.at, scene.keys, scene.wishes, scene.seen, votes,
                targets,
            )  # fmt: skip
            write(scene.at, b, t, l, row, col)


# ---------------------------------------------------------------- protocols with a map


@kernel
def _leave(gamma, cells, values, fake):
    """Leave fake rewards in the cells in sight."""
    most = least = values[0]
    for value in values:
        most, least = max(most, value), min(least, value)
    extra = gamma * most + (1 - gamma) * least
    for n in range(len(cells)):
        fake[cells[n]] = values[n] + extra


@kernel
def stigmergy(rules, ways, crew, gamma, reach, count, keys, row, col):
    """Play exercises by fake rewards: the twin of `Stigmergy`."""
    slots, _, steps, lanes = row.shape
    rows, cols, sight, scene = rules.rows, rules.cols, (2 * reach + 1) ** 2, set_stage(rules, slots)
    fake, cells, values = np.empty(rows * cols + 1), np.empty(sight, np.int64), np.empty(sight)
    gains, classes = crew.table.gains, crew.table.classes
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        at = scene.at
        for t in range(steps - 1):
            ask(scene, crew, rows, cols, t)
            for s in range(slots):
                cells_round(rows, cols, reach, at[s, 0], at[s, 1], cells)
                rewards_round(gains, classes, scene.both[s], values)
                _leave(gamma, cells, values, fake)
            for s in range(slots):
                move, key, clock = scene.wishes[s], scene.keys[s], np.uint64(t)
                if crew.kinds[s] == LOCAL_SEARCH and not happens(crew.slips[s], key, clock, _2):
                    cells_round(rows, cols, reach, at[s, 0], at[s, 1], cells)
                    for n in range(len(cells)):  # the only mind that looks at rewards
                        values[n] = fake[cells[n]]
                    move = move_to(uniform_best(values, len(values), key, clock, _0)[0], reach)
                go(rows, cols, at, s, move)
            write(at, b, t, l, row, col)


@kernel
def crowd(rules, ways, crew, reach, count, keys, row, col):
    """Play exercises by a common map: the twin of `Crowd`."""
    slots, _, steps, lanes = row.shape
    rows, cols, sight, scene = rules.rows, rules.cols, (2 * reach + 1) ** 2, set_stage(rules, slots)
    chart, cells, values = np.empty(rows * cols), np.empty(sight, np.int64), np.empty(sight)
    gains, classes = crew.table.gains, crew.table.classes
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        chart[:] = 0.0
        for t in range(steps - 1):
            ask(scene, crew, rows, cols, t)
            for n in range(len(chart)):
                chart[n] /= 2
            for s in range(slots):
                cells_round(rows, cols, reach, scene.at[s, 0], scene.at[s, 1], cells)
                rewards_round(gains, classes, scene.both[s], values)
                for n in range(len(cells)):
                    chart[cells[n] - 1] = values[n]
            target, best = uniform_best(chart, len(chart), scene.keys[0], np.uint64(t), _1)
            if best > 0:
                go_toward(rows, cols, scene.at, target // cols, target % cols)
            else:
                for s in range(slots):
                    go(rows, cols, scene.at, s, scene.wishes[s])
            write(scene.at, b, t, l, row, col)


@kernel
def imitation(rules, ways, crew, intercept, reach, count, keys, row, col):
    """Play exercises behind an expert: the twin of `Imitation`."""
    slots, _, steps, lanes = row.shape
    rows, cols, scene = rules.rows, rules.cols, set_stage(rules, slots)
    cells = np.uint64(rows * cols)
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        start = np.int64(below(word(scene.keys[0], _0, _1), cells))
        er, ec, way = start // cols, start % cols, scene.way
        for t in range(steps - 1):
            to = aim(rows, cols, way[:, GOOD_ROW:], way[:, GOOD_COL:], intercept, t, 0, er, ec)
            er = wrapped(er + shorter(er, to[0], rows), rows)
            ec = wrapped(ec + shorter(ec, to[1], cols), cols)
            ask(scene, crew, rows, cols, t)
            for s in range(slots):
                r, c = scene.at[s, 0], scene.at[s, 1]
                move = scene.wishes[s]
                if distance(rows, cols, r, c, er, ec) <= reach:
                    move = toward(rows, cols, r, c, er, ec)
                go(rows, cols, scene.at, s, move)
            write(scene.at, b, t, l, row, col)


# ---------------------------------------------------------------- learners round one table


@kernel
def _rewards(ways, cols, b, t, l, around, half, field):
    """Add the rewards of Λ* after step t to those of all cells, or with -½ take them off."""
    good = np.int64(ways.good_row[b, t, l]) * cols + ways.good_col[b, t, l]
    evil = np.int64(ways.evil_row[b, t, l]) * cols + ways.evil_col[b, t, l]
    for move in range(9):
        field[around[move, good]] += half * worth_after(move)
        field[around[move, evil]] -= half * worth_after(move)


@kernel
def table_learners(rules, ways, habits, around, count, keys, row, col):
    """Play `count` exercises of Λ*: the twin of `SharedQLearning`, of `QLearning` if one, …"""
    slots, _, _, lanes = row.shape
    cols, steps, size = rules.cols, rules.steps, around.shape[1]
    fields, (table, equal, place) = np.zeros((steps + 1, size)), memory(steps * size)
    cells = np.empty((slots, steps + 1), np.int64)
    for n in range(count):
        b, l = n // lanes, n % lanes
        for t in range(1, steps + 1):
            _rewards(ways, cols, b, t, l, around, 0.5, fields[t])
        for s in range(slots):
            cells[s, 0] = np.int64(row[s, b, 0, l]) * cols + col[s, b, 0, l]
        by_table(around, fields, habits, keys[:, b, l], cells, table, equal, place)
        for t in range(1, steps + 1):
            _rewards(ways, cols, b, t, l, around, -0.5, fields[t])
        for s in range(slots):
            for t in range(1, steps + 1):
                row[s, b, t, l], col[s, b, t, l] = cells[s, t] // cols, cells[s, t] % cols
