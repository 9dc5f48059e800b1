"""Abilities: the anytime interval covers whenever one stops, and asking at the level saves."""

from __future__ import annotations

import numpy as np
import pytest

from allminds.inference.ability import Ladder

LEVELS = tuple(range(7, 16))
CHANCE = 1 / 26


def administered(rng, ability, slope, *, even=False, width=1.0, lapse=0.0, most=2000):
    """Give a simulated mind a test; return its length and whether it was covered at all times."""
    ladder = Ladder(tuple((float(k), CHANCE) for k in LEVELS), width)
    level, hits = np.zeros(0), np.zeros(0)
    covered, free = True, True
    half = (1 + CHANCE) / 2
    share = (half - CHANCE) / (1 - lapse - CHANCE)
    offset = np.log(share / (1 - share))
    while len(level) < most and not ladder.is_done(level, hits):
        asked = ladder.next_levels(level, hits)
        if even:
            asked = [float(LEVELS[(len(level) + n) % len(LEVELS)]) for n in range(ladder.round)]
        at = slope * (ability - np.array(asked)) + offset
        rate = CHANCE + (1 - lapse - CHANCE) / (1 + np.exp(-at))
        level = np.append(level, asked)
        hits = np.append(hits, rng.random(len(asked)) < rate)
        found = ladder.ability(level, hits)
        covered &= found.anytime[0] <= ability <= found.anytime[1]
        free &= found.free[0] <= ability <= found.free[1]
    return len(level), covered, free


def test_a_mind_that_is_always_right_is_at_the_top_of_the_scale():
    ladder = Ladder(tuple((float(k), CHANCE) for k in LEVELS), 1.0)
    level, hits = np.zeros(0), np.zeros(0)
    while not ladder.is_done(level, hits):
        level = np.append(level, ladder.next_levels(level, hits))
        hits = np.ones(len(level))
    found = ladder.ability(level, hits)
    assert found.anytime[1] == 15.5
    assert found.anytime[0] >= 14.5
    assert len(level) <= 100


def test_no_answer_leaves_the_whole_scale():
    found = Ladder(tuple((float(k), CHANCE) for k in LEVELS), 1.0).ability(np.zeros(0), np.zeros(0))
    assert found.anytime == found.free == (6.5, 15.5)


def test_the_order_within_the_answers_does_not_matter():
    rng = np.random.default_rng(1)
    level, hits = rng.choice(LEVELS, 40).astype(float), rng.integers(0, 2, 40).astype(float)
    ladder, order = Ladder(tuple((float(k), CHANCE) for k in LEVELS), 1.0), rng.permutation(40)
    assert ladder.ability(level, hits) == ladder.ability(level[order], hits[order])
    assert ladder.next_levels(level, hits) == ladder.next_levels(level[order], hits[order])


@pytest.mark.slow
@pytest.mark.parametrize("slope", [1.2, 3.0])
def test_the_interval_covers_at_all_times_at_once_with_fewer_items_than_an_even_test(slope):
    # 60 runs: with coverage .95, fewer than 52 covered has probability below .01
    rng = np.random.default_rng(int(10 * slope))
    where = rng.uniform(7.5, 14.5, 60)
    chosen = [administered(rng, at, slope, width=2.0) for at in where]
    even = [administered(rng, at, slope, even=True, width=2.0) for at in where]
    assert sum(covered for _, covered, _ in chosen + even) >= 104
    assert sum(free for _, _, free in chosen + even) >= 104
    assert np.mean([n for n, *_ in chosen]) < 0.75 * np.mean([n for n, *_ in even])
