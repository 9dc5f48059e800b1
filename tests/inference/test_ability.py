"""Abilities: the anytime interval covers whenever one stops, and choosing levels saves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from allminds.inference.ability import LAPSES, Curves, Ladder, slopes

LEVELS = tuple(range(7, 16))
CHANCE = 1 / 26


def ladder_of(width=1.0):
    return Ladder(tuple((float(k), CHANCE) for k in LEVELS), width)


def rate_of(ability, slope, level, lapse=0.0, guess=CHANCE):
    """The curve, written down again."""
    top = 1 - lapse - guess
    share = ((1 + CHANCE) / 2 - guess) / top
    at = slope * (ability - level) + math.log(share / (1 - share))
    return guess + top / (1 + math.exp(-at))


def administered(rng, ability, slope, *, even=False, width=1.0, most=2000):
    """Give a simulated mind a test; return its length and whether it was covered at all times."""
    ladder, level, hits = ladder_of(width), np.zeros(0), np.zeros(0)
    covered, free, is_narrow = True, True, False
    while len(level) < most and not is_narrow:
        asked = ladder.next_levels(level, hits)
        if even:
            asked = [float(LEVELS[(len(level) + n) % len(LEVELS)]) for n in range(ladder.round)]
        rate = [rate_of(ability, slope, one) for one in asked]
        level = np.append(level, asked)
        hits = np.append(hits, rng.random(len(asked)) < rate)
        found = ladder.ability(level, hits)
        is_narrow = found.is_narrow
        covered &= found.anytime[0] <= ability <= found.anytime[1]
        free &= found.free[0] <= ability <= found.free[1]
    return len(level), covered, free


def test_the_e_values_are_those_of_the_definition():
    curves = Curves({1.0: CHANCE, 2.0: CHANCE}, 1.0)
    level, hits = np.array([1.0, 1.0, 2.0, 2.0]), np.array([1.0, 0.0, 0.25, 0.0])
    models = list(itertools.product((CHANCE, 0.0), LAPSES, slopes(2.0)))

    def likelihood(ability, guess, lapse, slope):
        made = 1.0
        for one, hit in zip(level, hits, strict=True):
            rate = rate_of(ability, slope, one, lapse, guess)
            made *= rate**hit * (1 - rate) ** (1 - hit)
        return made

    table = np.array([[likelihood(a, *one) for one in models] for a in curves.abilities])
    mixed = table.mean(axis=1)
    candidates, refuted = curves.ability(level, hits).refusal
    for n in range(0, len(candidates), 13):
        away = np.abs(candidates - candidates[n])
        weight = np.where(away < 0.25, 0.2, 1.0) / np.maximum(away, 0.5) ** 2
        wanted = math.log((weight * mixed).sum() / weight.sum() / table[n].max())
        assert refuted[n] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.5, 1.0), (0.3, 0.4, 0.9)])
def test_a_graded_score_never_makes_an_e_value_that_is_more_than_1_on_average(values):
    shares = np.ones(len(values)) / len(values)
    rate = float(np.dot(values, shares))  # of the score, whatever its distribution
    for other in (0.05, 0.3, 0.6, 0.99):
        ratio = [(other / rate) ** x * ((1 - other) / (1 - rate)) ** (1 - x) for x in values]
        assert np.dot(ratio, shares) <= 1 + 1e-12


def test_a_mind_that_is_always_right_is_at_the_top_of_the_scale():
    ladder, level, hits = ladder_of(), np.zeros(0), np.zeros(0)
    while not ladder.is_done(level, hits):
        level = np.append(level, ladder.next_levels(level, hits))
        hits = np.ones(len(level))
    found = ladder.priced(level, hits)
    assert found.anytime[1] == 15.5
    assert found.anytime[0] >= 14.5
    assert len(level) <= 30
    assert found.ordinary_items <= len(level)
    assert found.tails(found.anytime[0] - 0.1)[0] <= 0.05 < found.tails(found.anytime[0] + 0.2)[0]


def test_no_answer_leaves_the_whole_scale():
    found = ladder_of().ability(np.zeros(0), np.zeros(0))
    assert found.anytime == found.free == (6.5, 15.5)
    assert not found.is_narrow


def test_answers_of_none_of_the_curves_are_told_by_an_interval_that_contradicts():
    level = np.repeat(np.array(LEVELS, float), 400)
    lapses = np.arange(len(level)) % 10 < 3  # many more than the model has
    found = ladder_of().ability(level, ((level <= 12) & ~lapses).astype(float))
    assert found.free == (12.0, 13.0)
    assert found.anytime[1] < 12
    assert not found.agrees


def test_a_wider_level_has_a_wider_interval():
    rng = np.random.default_rng(2)
    level = rng.choice(LEVELS, 200).astype(float)
    found = ladder_of().ability(level, (level < 11 + rng.normal(size=200)).astype(float))
    ends = [found.interval(one) for one in (0.9, 0.95, 0.99)]
    assert ends[1] == found.anytime
    assert ends[2][0] <= ends[1][0] <= ends[0][0] < ends[0][1] <= ends[1][1] <= ends[2][1]


def test_the_order_within_the_answers_does_not_matter():
    rng = np.random.default_rng(1)
    level, hits = rng.choice(LEVELS, 40).astype(float), rng.integers(0, 2, 40).astype(float)
    ladder, order = ladder_of(), rng.permutation(40)
    assert ladder.ability(level, hits) == ladder.ability(level[order], hits[order])
    assert ladder.next_levels(level, hits) == ladder.next_levels(level[order], hits[order])


@pytest.mark.slow
def test_the_interval_covers_at_all_times_at_once_with_fewer_items_than_an_even_test():
    # 100 runs: with coverage .95, fewer than 88 covered has probability below .002. The mean ratio
    # of lengths is .48, its standard error here .03; benchmarks/adaptive.py has more of both
    rng = np.random.default_rng(30)
    where = rng.uniform(7.5, 14.5, 50)
    chosen = [administered(rng, at, 3.0, width=2.0) for at in where]
    even = [administered(rng, at, 3.0, even=True, width=2.0) for at in where]
    assert sum(covered for _, covered, _ in chosen + even) >= 88
    assert sum(free for _, _, free in chosen + even) >= 88
    assert np.mean([n for n, *_ in chosen]) < 0.6 * np.mean([n for n, *_ in even])
