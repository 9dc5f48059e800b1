"""The NumPy baseline: arrays over episodes, a Python loop over steps.

What somebody who knows NumPy would write: one array element per mind and episode, table look-ups
instead of arithmetic where that is quicker, random words from `allminds.core.seeding` in arrays.
The ways of Good and Evil are made in the same manner. Its scores are equal to ours to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tables import Tables, tables

from allminds.core.seeding import MAKING, MINDS, WORLD, Words, below, keys, stratum, words
from allminds.instruments.lambda_star import LambdaStar

Cells = NDArray[np.int64]
TABLE_BYTES = 128 << 20  # of Q-learning's tables at a time


class Worlds(NamedTuple):
    """Good and Evil [step, episode], and the minds' starts and random streams [slot, episode]."""

    of: Tables
    good: Cells
    evil: Cells
    starts: Cells
    streams: Words

    @property
    def steps(self) -> int:
        """Of an episode."""
        return len(self.good) - 1

    def rewards(self, t: int, cells: Cells) -> NDArray[np.int8]:
        """Of cells [slot, episode] at step t, in half units."""
        gain = self.of.gain
        found: NDArray[np.int8] = gain[cells, self.good[t]] - gain[cells, self.evil[t]]
        return found


def draw(streams: Words, n: object, step: int, j: int = 0) -> Cells:
    """Numbers below n."""
    return below(words(streams, step, j), n).astype(np.int64)


def make_worlds(tool: LambdaStar, seed: int, first: int, last: int) -> Worlds:
    """All worlds of some exercises."""
    numbers, of = np.arange(first, last), tables(tool.torus)
    making, world = keys(seed, numbers, MAKING), keys(seed, numbers, WORLD)
    good_moves, evil_moves = _segments(tool, seed, numbers, making)
    cells, steps, agents = tool.torus.cells, tool.settings.iterations, tool.settings.agents
    good = np.empty((steps + 1, len(numbers)), np.int64)
    evil = np.empty_like(good)
    good[0] = draw(world, cells, 0, 0)
    evil[0] = draw(world, cells - 1, 0, 1)
    evil[0] += evil[0] >= good[0]
    for t in range(steps):
        to_good, to_evil = of.moved[good[t], good_moves[t]], of.moved[evil[t], evil_moves[t]]
        clash = np.flatnonzero(to_good == to_evil)
        if len(clash):
            good_there, evil_there = (
                to_good[clash] == good[t, clash],
                to_evil[clash] == evil[t, clash],
            )
            by_lot = draw(world[clash], 2, t + 1) == 0
            good_moves_on = good_there | (~evil_there & by_lot)
            stays = clash[good_moves_on]
            to_evil[stays] = evil[t, stays]
            stays = clash[~good_moves_on]
            to_good[stays] = good[t, stays]
        good[t + 1], evil[t + 1] = to_good, to_evil
    streams = np.stack([keys(seed, numbers, MINDS + slot) for slot in range(agents)])
    return Worlds(of, good, evil, _starts(world, cells, agents), streams)


def _strata(tool: LambdaStar, seed: int, numbers: Cells) -> Cells:
    """Which of its values of K every exercise has."""
    return np.array([stratum(seed, i, len(tool.complexities)) for i in numbers.tolist()])


def _segments(tool: LambdaStar, seed: int, numbers: Cells, making: Words) -> tuple[Cells, Cells]:
    """Good's and Evil's moves [step, episode], picked from the catalogue."""
    shelves = tool.catalogue
    k = np.array(tool.complexities)[_strata(tool, seed, numbers)]
    low, size = shelves.shelf[k], shelves.shelf[k + 1] - shelves.shelf[k]
    good, evil = low + draw(making, size, 0, 0), low + draw(making, size, 0, 1)
    j = 1
    while len(again := np.flatnonzero((evil == good) & (k >= 3))):
        j += 1
        evil[again] = low[again] + draw(making[again], size[again], 0, j)
    steps = np.arange(tool.settings.iterations)[:, None]
    return (
        shelves.moves[good, steps % shelves.lengths[good]],
        shelves.moves[evil, steps % shelves.lengths[evil]],
    )


def _starts(world: Words, cells: int, agents: int) -> Cells:
    """The first cells of a random permutation."""
    every = np.arange(len(world))
    deck = np.tile(np.arange(cells), (len(world), 1))
    for place in range(agents):
        other = place + draw(world, cells - place, 0, 2 + place)
        taken = deck[every, other]
        deck[every, other] = deck[:, place]
        deck[:, place] = taken
    return deck[:, :agents].T.copy()


def pick_best(values: NDArray[np.generic], streams: Words, step: int) -> Cells:
    """The index of a largest value along the last axis, uniform among equals."""
    best = values == values.max(axis=-1, keepdims=True)
    pick = draw(streams, best.sum(axis=-1), step)
    picked: Cells = np.argmax(best.cumsum(axis=-1) > pick[..., None], axis=-1)
    return picked


def random(here: Worlds) -> Cells:
    """The sums of rewards [slot, episode], in half units, of a random mind."""
    cells, total = here.starts, np.zeros_like(here.starts)
    for t in range(here.steps):
        cells = here.of.moved[cells, draw(here.streams, 9, t)]
        total += here.rewards(t + 1, cells)
    return total


def local_search(here: Worlds) -> Cells:
    """The same of local search."""
    cells, total, gain = here.starts, np.zeros_like(here.starts), here.of.gain
    for t in range(here.steps):
        around = here.of.moved[cells]  # [slot, episode, 9]
        seen = gain[around, here.good[t][:, None]] - gain[around, here.evil[t][:, None]]
        pick = pick_best(seen, here.streams, t)
        cells = here.of.moved[cells, pick]
        total += here.rewards(t + 1, cells)
    return total


def expert(here: Worlds) -> Cells:
    """The same of the expert that does not intercept."""
    cells, total = here.starts, np.zeros_like(here.starts)
    for t in range(1, here.steps + 1):
        cells = here.of.toward[cells, here.good[t]]
        total += here.rewards(t, cells)
    return total


def q_learning(here: Worlds) -> Cells:
    """The same of Q-learning with its defaults, as many tables at a time as memory has room for."""
    agents, episodes = here.starts.shape
    cells = len(here.of.moved)
    batch = max(1, TABLE_BYTES // (8 * 9 * here.steps * cells * agents))
    table = np.empty((agents, min(batch, episodes), here.steps, cells, 9))
    total = np.empty_like(here.starts)
    for low in range(0, episodes, batch):
        some = slice(low, min(episodes, low + batch))
        part = Worlds(
            here.of, here.good[:, some], here.evil[:, some],
            here.starts[:, some], here.streams[:, some],
        )  # fmt: skip
        total[:, some] = _q_learning(part, table[:, : part.starts.shape[1]])
    return total


def _q_learning(here: Worlds, table: NDArray[np.float64]) -> Cells:
    alpha, gamma, scale, sessions, steps = 0.3, 0.3, 10.0, 100, here.steps
    table[:] = 2.0
    slot, episode = np.indices(here.starts.shape)
    total = np.zeros_like(here.starts)
    for play in [*range(1, sessions + 1), 0]:
        cells = here.starts
        values = table[slot, episode, 0, cells]
        for t in range(steps):
            action = pick_best(values, here.streams, play * steps + t)
            to = here.of.moved[cells, action]
            reward = here.rewards(t + 1, to)
            following = table[slot, episode, t + 1, to] if t + 1 < steps else np.zeros_like(values)
            if play:
                place = slot, episode, t, cells, action
                old = table[place]
                ahead = following.max(axis=-1)
                table[place] = old + alpha * (scale * (reward / 2) + gamma * ahead - old)
            else:
                total += reward
            cells, values = to, following
    return total


MINDS_HERE: dict[str, Callable[[Worlds], Cells]] = {
    "random": random,
    "local-search": local_search,
    "expert(intercept=false)": expert,
    "q-learning": q_learning,
}


def play(tool: LambdaStar, who: str, seed: int, first: int, last: int) -> NDArray[np.float64]:
    """Scores [exercise, slot]."""
    here = make_worlds(tool, seed, first, last)
    return MINDS_HERE[who](here).T * 0.5 / here.steps
