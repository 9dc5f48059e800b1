"""The minds of Λ, compiled: each fills the ways and actions of one slot, exercise by exercise."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allminds.core.compiled import below, kernel, word
from allminds.instruments.fast import COUNTS, NTH, happens, missing
from allminds.instruments.lambda_.world import MOST

_0, _1, _2 = np.uint64(0), np.uint64(1), np.uint64(2)
_PLACES = MOST * MOST * MOST


class Habits(NamedTuple):
    """The parameters of a `TableLearner`."""

    alpha: float
    gamma: float
    epsilon: float
    initial: float
    trace: float


@kernel
def random_walk(worlds, keys, way, acts):
    """Walk at random: the twin of `RandomMind`."""
    for n in range(len(way)):
        key, to, actions = keys[n], worlds.to[n], np.uint64(worlds.actions[n])
        cell = np.int64(worlds.start[n])
        for t in range(worlds.steps[n]):
            action = np.int64(below(word(key, np.uint64(t), _0), actions))
            cell = np.int64(to[cell, action])
            acts[n, t], way[n, t + 1] = action, cell


@kernel
def follower(worlds, keys, way, acts):
    """Walk after Good: the twin of `Follower`."""
    for n in range(len(way)):
        key, to, actions = keys[n], worlds.to[n], np.int64(worlds.actions[n])
        cell, good = np.int64(worlds.start[n]), worlds.good[n]
        for t in range(worlds.steps[n]):
            action = 0
            while action < actions and to[cell, action] != good[t]:
                action += 1
            if action == actions:
                action = np.int64(below(word(key, np.uint64(t), _0), np.uint64(actions)))
            cell = np.int64(to[cell, action])
            acts[n, t], way[n, t + 1] = action, cell


@kernel
def _distances(to, cells, actions, far):
    """Fill far[goal, cell]: the twin of `Space.distances`."""
    for goal in range(cells):
        far[goal, :] = MOST
        far[goal, goal] = 0
        for moves in range(1, cells):
            for cell in range(cells):
                if far[goal, cell] == MOST:
                    for action in range(1, actions):
                        if far[goal, to[cell, action]] == moves - 1:
                            far[goal, cell] = moves
                            break


@kernel
def expert(worlds, way, acts):
    """Walk to Good's next cell: the twin of `Expert`."""
    far = np.empty((MOST, MOST), np.uint8)
    for n in range(len(way)):
        to, cells, actions = worlds.to[n], np.int64(worlds.cells[n]), np.int64(worlds.actions[n])
        _distances(to, cells, actions, far)
        cell, good = np.int64(worlds.start[n]), worlds.good[n]
        for t in range(worlds.steps[n]):
            goal, action = np.int64(good[t + 1]), 0
            for other in range(1, actions):
                if far[goal, to[cell, other]] < far[goal, to[cell, action]]:
                    action = other
            cell = np.int64(to[cell, action])
            acts[n, t], way[n, t + 1] = action, cell


@kernel
def optimum(worlds, way, acts):
    """Plan backward and walk by the plan: the twin of `Optimum`."""
    value, worth = np.empty(MOST, np.int64), np.empty(MOST, np.int64)
    plan = np.empty((way.shape[1], MOST), np.uint8)
    for n in range(len(way)):
        to, cells, actions = worlds.to[n], np.int64(worlds.cells[n]), np.int64(worlds.actions[n])
        steps, good, evil = worlds.steps[n], worlds.good[n], worlds.evil[n]
        value[:] = 0
        for t in range(steps, 0, -1):
            for cell in range(cells):
                worth[cell] = value[cell]
            worth[good[t]] += 1
            worth[evil[t]] -= 1
            for cell in range(cells):
                best = 0
                for action in range(1, actions):
                    if worth[to[cell, action]] > worth[to[cell, best]]:
                        best = action
                plan[t - 1, cell], value[cell] = best, worth[to[cell, best]]
        cell = np.int64(worlds.start[n])
        for t in range(steps):
            action = np.int64(plan[t, cell])
            cell = np.int64(to[cell, action])
            acts[n, t], way[n, t + 1] = action, cell


# ---------------------------------------------------------------- learners


@kernel
def _choose(epsilon, equal, actions, key, step):
    """Choose an action, given the set of best ones: the twin of `TableLearner.act`."""
    pick = np.int64(below(word(key, step, _0), COUNTS[equal]))
    if happens(epsilon, key, step, _1):
        return np.int64(below(word(key, step, _2), np.uint64(actions)))
    return np.int64(NTH[equal * MOST + pick])


@kernel
def _largest(values):
    best = values[0]
    for value in values[1:]:
        best = value if value > best else best
    return best


@kernel
def _having(values, best):
    """Return the set of actions that have this value."""
    mask = 0
    for action in range(len(values)):
        mask |= np.int64(values[action] == best) << action
    return mask


@kernel
def table_learner(worlds, sarsa, habits, keys, way, acts):
    """Play and learn by a table: the twin of `QLearning`, and of `Sarsa` if asked for.

    Rows go by the cells of Good and Evil instead of the two symbols: another name for the same.
    Beside the table stand the largest value of every row and the set of actions that have it; a
    row changes only when it is left, so that the next choice need not wait for it. All in one
    function, for arrays cost time when they are handed to another.
    """
    table, stamp = np.empty(_PLACES * MOST), np.full(_PLACES, -1)
    best, equal = np.empty(_PLACES), np.empty(_PLACES, np.int64)
    alpha, gamma, epsilon, initial = habits.alpha, habits.gamma, habits.epsilon, habits.initial
    for n in range(len(way)):
        key, to, actions = keys[n], worlds.to[n], np.int64(worlds.actions[n])
        good, evil, cells, made = worlds.good[n], worlds.evil[n], way[n], acts[n]
        cell, before, action = np.int64(worlds.start[n]), -1, 0
        for t in range(worlds.steps[n]):
            g, e = np.int64(good[t]), np.int64(evil[t])
            row = (g * MOST + e) * MOST + cell
            if stamp[row] != n:
                stamp[row], best[row], equal[row] = n, initial, (1 << actions) - 1
                for a in range(actions):
                    table[row * MOST + a] = initial
            following = _choose(epsilon, equal[row], actions, key, np.uint64(t))
            if t > 0:
                ahead = table[row * MOST + following] if sarsa else best[row]
                gain = float(np.int64(cell == g) - np.int64(cell == e)) + 1.0
                place, mine = before * MOST, 1 << action
                value, others = table[place + action], equal[before] & ~mine
                value += alpha * missing(value, gain, ahead, gamma)
                table[place + action] = value
                if value > best[before]:
                    best[before], equal[before] = value, mine
                elif value == best[before]:
                    equal[before] = others | mine
                elif others:
                    equal[before] = others
                else:
                    best[before] = _largest(table[place : place + actions])
                    equal[before] = _having(table[place : place + actions], best[before])
            if row == before and not sarsa:  # it chooses after it has learnt
                following = _choose(epsilon, equal[row], actions, key, np.uint64(t))
            before, action = row, following
            cell = np.int64(to[cell, action])
            made[t], cells[t + 1] = action, cell


@kernel
def q_lambda(worlds, habits, keys, way, acts):
    """Play and learn with traces: the twin of `QLambda`."""
    table, stamp = np.empty(_PLACES * MOST), np.full(_PLACES, -1)
    owing, left = np.empty(way.shape[1], np.int64), np.empty(way.shape[1])  # traces
    alpha, gamma, initial, fading = habits.alpha, habits.gamma, habits.initial, habits.trace
    fading *= gamma
    for n in range(len(way)):
        key, to, actions = keys[n], worlds.to[n], np.int64(worlds.actions[n])
        good, evil, cells, made = worlds.good[n], worlds.evil[n], way[n], acts[n]
        cell, owed, count = np.int64(worlds.start[n]), 0, 0
        for t in range(worlds.steps[n]):
            g, e = np.int64(good[t]), np.int64(evil[t])
            row = (g * MOST + e) * MOST + cell
            if stamp[row] != n:
                stamp[row] = n
                table[row * MOST : row * MOST + actions] = initial
            values = table[row * MOST : row * MOST + actions]
            if t > 0:
                gain = float(np.int64(cell == g) - np.int64(cell == e)) + 1.0
                error = missing(table[owed], gain, _largest(values), gamma)
                count = _mark(owing, left, count, owed)
                for k in range(count):
                    table[owing[k]] += alpha * error * left[k]
                    left[k] *= fading
            best = _largest(values)
            action = _choose(habits.epsilon, _having(values, best), actions, key, np.uint64(t))
            count = count if values[action] == best else 0
            owed = row * MOST + action
            cell = np.int64(to[cell, action])
            made[t], cells[t + 1] = action, cell


@kernel
def _mark(owing, left, count, place):
    """Set the trace of a place to 1; return how many traces there are."""
    for k in range(count):
        if owing[k] == place:
            left[k] = 1.0
            return count
    owing[count], left[count] = place, 1.0
    return count + 1
