"""Context trees and ρUCT compiled: bit-equal twins of `tree` and `search`.

Nodes are rows of arrays, and what a simulation changed is kept in a journal, from which it is
undone. Import this module only where an agent is made.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.core.compiled import below, kernel, small, unit, word
from allminds.core.seeding import Random
from allminds.instruments.aixi.search import Search, best_of
from allminds.instruments.aixi.tree import MOST, Code

NODES = 1 << 12  # room to begin with
_LEAST = 1.0 / MOST


class Forest(NamedTuple):
    """The nodes of all trees: row n is node n."""

    below: NDArray[np.int32]  # [node, bit] -> node, or -1
    seen: NDArray[np.int32]  # [node, bit]
    odds: NDArray[np.float64]


class Journal(NamedTuple):
    """What to undo: for every learnt bit a row of `bits`, and its nodes in `nodes` and `odds`."""

    nodes: NDArray[np.int32]
    odds: NDArray[np.float64]
    bits: NDArray[np.int32]  # [bit number] -> nodes on the path, the bit, the link that was grown


# ---------------------------------------------------------------- one bit


@small
def _walk(forest, root, depth, bits, t, path):
    """Follow the context down from a root, as far as there are nodes; return how many."""
    node, count = root, 0
    while node >= 0:
        path[count] = node
        count += 1
        if count > depth:
            break
        node = forest.below[node, bits[t - count]]
    return count


@small
def _own(forest, node, bit):
    zeros, ones = forest.seen[node, 1 - bit], forest.seen[node, bit]
    return (ones + 0.5) / (zeros + ones + 1.0)


@small
def _chance(forest, depth, path, count):
    """Compute the chance of a 1: the twin of `Trees.chance`."""
    chance, level = 0.5, count - 1
    if count > depth:
        chance = _own(forest, path[level], 1)
        level -= 1
    while level >= 0:
        node = path[level]
        odds = forest.odds[node]
        chance = (odds * _own(forest, node, 1) + chance) / (odds + 1.0)
        level -= 1
    return chance


@small
def _update(forest, used, depth, bits, t, path, count, bit):
    """Learn a bit: the twin of `Trees.update`; return the nodes in use, and the link grown."""
    chance = 0.5
    for level in range(count - 1, -1, -1):
        node = path[level]
        own = _own(forest, node, bit)
        if level < depth:
            odds = forest.odds[node]
            mixed = (odds * own + chance) / (odds + 1.0)
            forest.odds[node] = min(max(odds * own / chance, _LEAST), MOST)
            chance = mixed
        else:
            chance = own
        forest.seen[node, bit] += 1
    link = -1
    if count <= depth:
        node = path[count - 1]
        link = 2 * node + bits[t - count]
        for deeper in range(count, depth + 1):
            forest.below[node, bits[t - deeper]] = used
            node = used
            forest.below[node, 0] = forest.below[node, 1] = -1
            forest.seen[node, 0] = forest.seen[node, 1] = 0
            forest.seen[node, bit] = 1
            forest.odds[node] = 1.0
            used += 1
    bits[t] = bit
    return used, link


@kernel
def perceive(forest, used, roots, depths, bits, t, path, percept):
    """Learn a percept for good: the twin of `Trees.perceived`; return the nodes in use."""
    last = len(roots) - 1
    for place in range(len(roots)):
        count = _walk(forest, roots[place], depths[place], bits, t, path)
        bit = percept >> (last - place) & 1
        used, _ = _update(forest, used, depths[place], bits, t, path, count, bit)
        t += 1
    return used


# ---------------------------------------------------------------- simulations


@small
def _act(bits, t, action, width):
    for place in range(width):
        bits[t + place] = action >> (width - 1 - place) & 1
    return t + width


@small
def _imagine(forest, journal, used, roots, depths, bits, t, path, key, step, j, changes, noted):
    """Draw a percept and learn it, with notes of how to undo it: the twin of `Trees.imagined`."""
    percept = 0
    for place in range(len(roots)):
        depth = depths[place]
        count = _walk(forest, roots[place], depth, bits, t, path)
        bit = 1 if unit(word(key, step, np.uint64(j))) < _chance(forest, depth, path, count) else 0
        j += 1
        for level in range(count):
            journal.nodes[noted + level] = path[level]
            journal.odds[noted + level] = forest.odds[path[level]]
        noted += count
        used, link = _update(forest, used, depth, bits, t, path, count, bit)
        journal.bits[changes, 0] = count
        journal.bits[changes, 1] = bit
        journal.bits[changes, 2] = link
        changes += 1
        t += 1
        percept = percept << 1 | bit
    return percept, used, t, j, changes, noted


@small
def _revert(forest, journal, changes, noted):
    """Undo all changes in the journal: the twin of `Trees.revert`."""
    for change in range(changes - 1, -1, -1):
        count, bit = journal.bits[change, 0], journal.bits[change, 1]
        link = journal.bits[change, 2]
        noted -= count
        for place in range(noted, noted + count):
            node = journal.nodes[place]
            forest.odds[node] = journal.odds[place]
            forest.seen[node, bit] -= 1
        if link >= 0:
            forest.below[link >> 1, link & 1] = -1


@small
def _select(tried, values, visits, scale, bound, logs, key, step, j):
    """Select an action: the twin of `PlainAgent._selected`; return it, and the next word."""
    fresh = 0
    for action in range(len(tried)):
        fresh += tried[action] == 0
    if fresh > 0:
        pick = np.int64(below(word(key, step, np.uint64(j)), np.uint64(fresh)))
        for action in range(len(tried)):
            if tried[action] == 0:
                if pick == 0:
                    return action, j + 1
                pick -= 1
    best, chosen = -np.inf, 0
    for action in range(len(tried)):
        value = values[action] / scale + bound * math.sqrt(logs[visits] / tried[action])
        if value > best:
            best, chosen = value, action
    return chosen, j


@small
def _child(first, next_, codes, node, action, percept, made):
    """Find the node after an action and a percept, or make it; return it and how many there are."""
    place = first[node, action]
    while place >= 0:
        if codes[place] == percept:
            return place, made
        place = next_[place]
    codes[made] = percept
    next_[made] = first[node, action]
    first[node, action] = made
    return made, made + 1


@kernel
def simulate(
    forest, journal, used, roots, depths, bits, start, path, width, worths, span, logs,
    horizon, simulations, bound, key, step, j, tried, values,
):  # fmt: skip
    """Make all simulations of one search, from the root whose `tried` and `values` are row 0.

    The twin of `PlainAgent._simulate`; return the next word. All trees are as they were.
    """
    actions = tried.shape[1]
    visits = np.zeros(simulations + 1, np.int64)
    first = np.full((simulations + 1, actions), -1, np.int64)
    next_ = np.full(simulations + 1, -1, np.int64)
    codes = np.zeros(simulations + 1, np.int64)
    way = np.empty((horizon, 2), np.int64)  # nodes and actions
    rewards, made = np.empty(horizon), 1
    for _ in range(simulations):
        node, t, grown, changes, noted = 0, start, used, 0, 0
        for cycle in range(horizon):
            left = horizon - cycle
            way[cycle, 0] = node
            inside = node >= 0 and visits[node] > 0
            if inside:
                action, j = _select(
                    tried[node], values[node], visits[node], left * span, bound, logs, key, step, j
                )
            else:
                action = np.int64(below(word(key, step, np.uint64(j)), np.uint64(actions)))
                j += 1
            way[cycle, 1] = action
            t = _act(bits, t, action, width)
            percept, grown, t, j, changes, noted = _imagine(
                forest, journal, grown, roots, depths, bits, t, path, key, step, j, changes, noted
            )
            rewards[cycle] = worths[percept & (len(worths) - 1)]
            if inside and left > 1:
                node, made = _child(first, next_, codes, node, action, percept, made)
            else:
                node = -1
        _revert(forest, journal, changes, noted)
        total = 0.0
        for cycle in range(horizon - 1, -1, -1):
            total = rewards[cycle] + total
            node, action = way[cycle, 0], way[cycle, 1]
            if node >= 0:
                if visits[node] > 0:
                    count = tried[node, action]
                    values[node, action] = (total + count * values[node, action]) / (count + 1.0)
                    tried[node, action] = count + 1
                visits[node] += 1
    return j


# ---------------------------------------------------------------- the agent


class FastAgent:
    """The twin of `search.PlainAgent`, with the same parameters."""

    def __init__(self, code: Code, depth: int, factored: bool = True) -> None:
        self.code, self.worths = code, np.array(code.worths())
        count = code.bits + code.reward_bits
        places = np.arange(count)
        self.depths = depth + places if factored else np.full(count, depth)
        self.roots = places if factored else np.zeros(count, np.int64)
        self.used = count if factored else 1  # nodes
        self.deepest = int(self.depths.max()) + 1  # nodes of the longest path
        self.path = np.empty(self.deepest, np.int64)
        self.forest = _made(NODES)
        self.forget()

    def forget(self) -> None:
        """Forget the history; zeros come before it, so that every context is complete."""
        self.bits = np.zeros(1024 + self.deepest, np.uint8)
        self.t = self.deepest

    def acted(self, action: int) -> None:
        """Add an action to the history."""
        self._add(action, self.code.action_bits)

    def given(self, percept: int) -> None:
        """Add a percept to the history that no action led to."""
        self._add(percept, len(self.depths))

    def perceived(self, percept: int) -> None:
        """Learn a percept for good."""
        self._reserve(1)
        self.used = perceive(
            self.forest, self.used, self.roots, self.depths, self.bits, self.t, self.path, percept
        )
        self.t += len(self.depths)

    def plan(self, search: Search, random: Random) -> int:
        """Search for the best action: the twin of `PlainAgent.plan`."""
        horizon, actions = search.horizon, self.code.actions
        self._reserve(horizon)
        room = horizon * int((self.depths + 1).sum())
        journal = Journal(
            np.empty(room, np.int32),
            np.empty(room),
            np.empty((horizon * len(self.depths), 3), np.int32),
        )
        tried = np.zeros((search.simulations + 1, actions), np.int64)
        values = np.zeros((search.simulations + 1, actions))
        random.drawn = simulate(
            self.forest, journal, self.used, self.roots, self.depths, self.bits, self.t, self.path,
            self.code.action_bits, self.worths, self.code.span, _logs(search.simulations),
            horizon, search.simulations, search.bound, np.uint64(random.key),
            np.uint64(random.step), random.drawn, tried, values,
        )  # fmt: skip
        return best_of(tried[0].tolist(), values[0].tolist(), random)

    def _add(self, number: int, bits: int) -> None:
        self._reserve(1)
        for place in range(bits):
            self.bits[self.t + place] = number >> (bits - 1 - place) & 1
        self.t += bits

    def _reserve(self, cycles: int) -> None:
        """Make room for so many cycles more."""
        nodes = self.used + cycles * int((self.depths + 1).sum())
        if nodes > len(self.forest.odds):
            larger = _made(2 * nodes)
            larger.below[: self.used] = self.forest.below[: self.used]
            larger.seen[: self.used] = self.forest.seen[: self.used]
            larger.odds[: self.used] = self.forest.odds[: self.used]
            self.forest = larger
        length = self.t + (cycles + 1) * (self.code.action_bits + len(self.depths))
        if length > len(self.bits):
            self.bits = np.concatenate([self.bits, np.zeros(length, np.uint8)])


@lru_cache(maxsize=8)
def _logs(most: int) -> NDArray[np.float64]:
    """Compute logarithms beforehand, so that they are the plain form's; that of 0 is not used."""
    return np.array([0.0, *map(math.log, range(1, most + 1))])


def _made(nodes: int) -> Forest:
    """Make room for so many nodes, all of them as they are before anything is seen."""
    return Forest(np.full((nodes, 2), -1, np.int32), np.zeros((nodes, 2), np.int32), np.ones(nodes))
