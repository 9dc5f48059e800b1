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

from allminds.core.compiled import below, inlined, kernel, unit, word
from allminds.instruments.lambda_star.fast.singles import aim, apart, plan_optimum, shorter
from allminds.instruments.lambda_star.fast.worlds import wrapped

LOCAL_SEARCH, RANDOM, EXPERT, PLAIN_EXPERT, OPTIMUM = 0, 1, 2, 3, 4
AUCTION, DICTATOR, TREE, MAJORITY, WEIGHTED = 0, 1, 2, 3, 4
GOOD_ROW, GOOD_COL, EVIL_ROW, EVIL_COL = 0, 1, 2, 3

_0, _1, _2, _3, _9 = (np.uint64(n) for n in (0, 1, 2, 3, 9))


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
    plan: Any  # uint8[step, row, col]: the optimum's moves, if it is a member
    value: Any  # for planning
    across: Any


# ---------------------------------------------------------------- scenes


@kernel
def set_stage(rules, slots):
    """Allocate the arrays of a scene, to be used for one exercise after the other."""
    rows, cols = rules.rows, rules.cols
    return Scene(
        np.empty((rules.steps + 1, 4), np.int64), np.empty((slots, 2), np.int64),
        np.empty(slots, np.uint64), np.empty(slots, np.int64), np.empty(slots, np.int64),
        np.empty(slots, np.int64), np.empty((rules.steps, rows, cols), np.uint8),
        np.empty((rows, cols + 2), np.int32), np.empty((rows + 2, cols), np.int32),
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
            plan_optimum(rules, ways, b, l, scene.value, scene.across, scene.plan)
            break


@kernel
def look(way, t, rows, cols, row_class, col_class, classes, best, at, both, seen):
    """Compute what every member sees."""
    good_row, good_col = way[t, GOOD_ROW] + rows, way[t, GOOD_COL] + cols
    evil_row, evil_col = way[t, EVIL_ROW] + rows, way[t, EVIL_COL] + cols
    for s in range(len(at)):
        r, c = at[s, 0], at[s, 1]
        good = np.int64(row_class[good_row - r]) + np.int64(col_class[good_col - c])
        evil = np.int64(row_class[evil_row - r]) + np.int64(col_class[evil_col - c])
        both[s] = good * classes + evil
        seen[s] = best[both[s]]


@kernel
def wish(kinds, slips, choices, moves, rows, cols, way, plan, t, at, keys, both, wishes):
    """Compute the move that every member's own mind makes."""
    clock = np.uint64(t)
    for s in range(len(at)):
        kind, key = kinds[s], keys[s]
        if kind == LOCAL_SEARCH:
            if slips[s] > 0 and unit(word(key, clock, _2)) < slips[s]:
                wishes[s] = below(word(key, clock, _3), _9)
            else:
                pick = below(word(key, clock, _0), np.uint64(choices[both[s]]))
                wishes[s] = moves[both[s], np.int64(pick)]
        elif kind == RANDOM:
            wishes[s] = below(word(key, clock, _0), _9)
        elif kind == OPTIMUM:
            wishes[s] = plan[t, at[s, 0], at[s, 1]]
        else:
            r, c = at[s, 0], at[s, 1]
            to_row, to_col = aim(
                rows, cols, way[:, GOOD_ROW:], way[:, GOOD_COL:], kind == EXPERT, t, 0, r, c
            )
            wishes[s] = toward(rows, cols, r, c, to_row, to_col)


@inlined
def ask(scene, crew, rows, cols, t):
    """Compute what every member sees and wishes."""
    table = crew.table
    look(
        scene.way, t, rows, cols, table.row_class, table.col_class, table.classes, table.best,
        scene.at, scene.both, scene.seen,
    )  # fmt: skip
    wish(
        crew.kinds, crew.slips, table.choices, table.moves, rows, cols, scene.way, scene.plan, t,
        scene.at, scene.keys, scene.both, scene.wishes,
    )  # fmt: skip


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


@kernel
def drawn(values, best, key, t):
    """Draw among values that are `best`, by the protocol's own word: `uniform_best`."""
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
def _first_best(seen):
    best = 0
    for member in range(1, len(seen)):
        if seen[member] > seen[best]:
            best = member
    return best


@kernel
def _vote(weighted, wishes, seen, key, t, votes):
    """Return the direction that wins: the twin of `Majority` and `WeightedMajority`."""
    anybody = seen[_first_best(seen)] > 0
    for a in range(9):
        votes[a] = 0
    for s in range(len(wishes)):
        votes[wishes[s]] += max(0, seen[s]) if weighted and anybody else 1
    return drawn(votes, votes[_first_best(votes)], key, t)


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
        leader = _first_best(seen) if protocol == AUCTION else 0
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
def _leave(rows, cols, reach, gamma, gains, classes, at, both, fake):
    """Write fake rewards into the cells in sight, in slot order: part of `Stigmergy`."""
    for s in range(len(at)):
        good, evil = both[s] // classes, both[s] % classes
        most, least = np.int64(-4), np.int64(4)
        for n in range(gains.shape[1]):
            here = np.int64(gains[good, n]) - np.int64(gains[evil, n])
            most, least = max(most, here), min(least, here)
        extra = gamma * (most / 2) + (1 - gamma) * (least / 2)
        n = 0
        for by_row in range(-reach, reach + 1):
            line = wrapped(at[s, 0] + by_row, rows) * cols
            for by_col in range(-reach, reach + 1):
                reward = (np.int64(gains[good, n]) - np.int64(gains[evil, n])) / 2
                fake[line + wrapped(at[s, 1] + by_col, cols)] = reward + extra
                n += 1


@kernel
def _follow(rows, cols, reach, fake, r, c, key, t, found):
    """Move to a uniform maximum of the fake rewards round a cell."""
    best, count = -np.inf, 0
    for by_row in range(-reach, reach + 1):
        line = wrapped(r + by_row, rows) * cols
        for by_col in range(-reach, reach + 1):
            value = fake[line + wrapped(c + by_col, cols)]
            if value > best:
                best, count = value, 0
            if value == best:
                down, right = (by_row > 0) - (by_row < 0), (by_col > 0) - (by_col < 0)
                found[count] = 3 * (down + 1) + right + 1
                count += 1
    return found[np.int64(below(word(key, np.uint64(t), _0), np.uint64(count)))]


@kernel
def stigmergy(rules, ways, crew, gamma, reach, count, keys, row, col):
    """Play exercises by fake rewards: the twin of `Stigmergy`."""
    slots, _, steps, lanes = row.shape
    rows, cols, scene = rules.rows, rules.cols, set_stage(rules, slots)
    fake, found = np.empty(rows * cols), np.empty((2 * reach + 1) ** 2, np.int64)
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        at = scene.at
        for t in range(steps - 1):
            ask(scene, crew, rows, cols, t)
            _leave(
                rows, cols, reach, gamma, crew.table.gains, crew.table.classes, at, scene.both, fake
            )
            for s in range(slots):
                move, key = scene.wishes[s], scene.keys[s]
                slip = crew.slips[s]
                if crew.kinds[s] == LOCAL_SEARCH and not (
                    slip > 0 and unit(word(key, np.uint64(t), _2)) < slip
                ):  # the only mind that looks at rewards
                    move = _follow(rows, cols, reach, fake, at[s, 0], at[s, 1], key, t, found)
                go(rows, cols, at, s, move)
            write(at, b, t, l, row, col)


@kernel
def _chart(rows, cols, reach, gains, classes, at, both, chart):
    """Update the map of `Crowd`: fade what is not seen, set what is seen; return the best."""
    for n in range(len(chart)):
        chart[n] /= 2
    for s in range(len(at)):
        good, evil, n = both[s] // classes, both[s] % classes, 0
        for by_row in range(-reach, reach + 1):
            line = wrapped(at[s, 0] + by_row, rows) * cols
            for by_col in range(-reach, reach + 1):
                here = np.int64(gains[good, n]) - np.int64(gains[evil, n])
                chart[line + wrapped(at[s, 1] + by_col, cols)] = here / 2
                n += 1
    best = chart[0]
    for value in chart:
        best = max(best, value)
    return best


@kernel
def crowd(rules, ways, crew, reach, count, keys, row, col):
    """Play exercises by a common map: the twin of `Crowd`."""
    slots, _, steps, lanes = row.shape
    rows, cols, scene = rules.rows, rules.cols, set_stage(rules, slots)
    chart = np.empty(rows * cols)
    for place in range(count):
        b, l = place // lanes, place % lanes
        open_scene(scene, rules, ways, crew.kinds, keys, row, col, b, l)
        for n in range(len(chart)):
            chart[n] = 0.0
        for t in range(steps - 1):
            ask(scene, crew, rows, cols, t)
            gains, classes = crew.table.gains, crew.table.classes
            best = _chart(rows, cols, reach, gains, classes, scene.at, scene.both, chart)
            if best > 0:
                target = drawn(chart, best, scene.keys[0], t)
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
                if max(apart(r, er, rows), apart(c, ec, cols)) <= reach:
                    move = toward(rows, cols, r, c, er, ec)
                go(rows, cols, scene.at, s, move)
            write(scene.at, b, t, l, row, col)
