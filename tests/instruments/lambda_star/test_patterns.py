"""How Good and Evil move: every closed walk equally likely, equal K, never in one cell."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from allminds import registry
from allminds.complexity import lz76
from allminds.core.seeding import MAKING, Random, key, stratum
from allminds.episode import Episode
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import (
    SEED,
    Recurrent,
    Released,
    catalogue,
    draw_segment,
    draws,
    make,
    shortest_period,
    walk_chances,
)


def closed_walks(torus: Torus, length: int) -> set[tuple[int, ...]]:
    found = set()
    for moves in itertools.product(range(1, 10), repeat=length):
        cell = 1
        for move in moves:
            cell = torus.moved(cell, move)
        if cell == 1:
            found.add(moves)
    return found


@pytest.mark.parametrize(("rows", "cols", "length"), [(3, 3, 3), (3, 4, 3), (4, 5, 4)])
def test_every_closed_walk_of_a_length_is_equally_likely(rows, cols, length):
    """Chi-square against full enumeration; p < .001 would be chance in 1 of 1,000 seeds."""
    torus, steps = Torus(rows, cols), 2 * length
    walks = closed_walks(torus, length)
    seen: Counter[tuple[int, ...]] = Counter()
    for i in range(16_000):
        random = Random(key(11, i, MAKING))
        if 1 + random.below(length) == length:
            segment = draw_segment("cyclic", torus, steps, random)
            seen[segment * (length // len(segment))] += 1
    assert set(seen) <= walks
    counts = np.array([seen[walk] for walk in walks])
    assert stats.chisquare(counts).pvalue > 0.001


def test_walk_chances_count_the_walks_home():
    torus = Torus(3, 4)
    chances = walk_chances(torus, 4)
    for length in (1, 2, 3, 4):
        assert chances[length, 0] * 9**length == pytest.approx(len(closed_walks(torus, length)))


@pytest.mark.parametrize("kind", ["cyclic", "drift"])
def test_segment_lengths_are_uniform_before_they_are_cut_to_their_period(kind):
    torus, steps = Torus(5, 5), 20
    lengths = Counter()
    for i in range(5_000):
        random = Random(key(5, i, MAKING))
        drawn = 1 + random.below(10)
        segment = draw_segment(kind, torus, steps, random)
        assert drawn % len(segment) == 0
        lengths[drawn] += 1
    assert sorted(lengths) == list(range(1, 11))
    assert stats.chisquare(list(lengths.values())).pvalue > 0.001


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6).map(tuple), st.integers(1, 5))
def test_the_shortest_period_gives_the_same_pattern(segment, times):
    root = shortest_period(segment * times)
    assert root == shortest_period(root)
    assert root * (len(segment) * times // len(root)) == segment * times


def test_the_pattern_of_the_paper_has_k_6():
    """P4 §4.2: cells 7, 3, 4, 9, 8 on a 5-by-5 grid, repeated to 20 steps."""
    torus = Torus(5, 5)
    cells = [7, 3, 4, 9, 8]
    moves = tuple(torus.toward(a, b) for a, b in zip([8, *cells], cells, strict=False))
    visited = Recurrent(moves, moves).cells(torus, 20)
    assert lz76(visited) == lz76(cells * 4) == 6


# ---------------------------------------------------------------- the catalogue


@pytest.mark.parametrize("kind", ["cyclic", "drift"])
def test_the_catalogue_is_the_draw_of_the_plain_functions_sorted_by_k(kind):
    torus, steps = Torus(4, 5), 12
    made = make(kind, torus, steps)
    first: dict[int, list[tuple[int, ...]]] = {}
    for i in range(3_000):
        segment = draw_segment(kind, torus, steps, Random(key(SEED, i, MAKING)))
        shelf = first.setdefault(lz76(Recurrent(segment, segment).cells(torus, steps)), [])
        if segment not in shelf:
            shelf.append(segment)
    assert draws(steps) > 3_000
    for k, segments in first.items():
        kept = [made.segment(k, n) for n in range(made.size(k))]
        shown = min(len(kept), len(segments))
        assert kept[:shown] == segments[:shown]
        assert len(set(kept)) == len(kept) <= 1_000


def test_the_catalogue_on_disk_is_the_one_that_was_made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    catalogue.cache_clear()
    torus = Torus(3, 7)
    made = catalogue("cyclic", torus, 14)
    (kept,) = (tmp_path / "allminds" / "catalogues").iterdir()
    catalogue.cache_clear()
    again = catalogue("cyclic", torus, 14)
    assert np.array_equal(made.moves, again.moves)
    assert again is not made
    kept.write_bytes(b"broken")
    catalogue.cache_clear()
    assert np.array_equal(catalogue("cyclic", torus, 14).moves, made.moves)
    catalogue.cache_clear()


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    catalogue.cache_clear()
    assert catalogue("cyclic", Torus(3, 3), 6).values()
    catalogue.cache_clear()


def test_k_reaches_as_far_as_the_definitions_say():
    """ϑ = 50: K runs 2..25, nearly always <= 23; ϑ = 20 reaches only about 11."""
    values = catalogue("cyclic", Torus(10, 10), 50).values()
    assert values[0] == 2
    assert 23 <= values[-1] <= 26
    assert 10 <= catalogue("cyclic", Torus(10, 10), 20).values()[-1] <= 12


# ---------------------------------------------------------------- Good and Evil in exercises

SETTINGS = [
    {},
    {"rows": 5, "cols": 5},
    {"k": "any", "rows": 4, "cols": 6},
    {"patterns": "drift", "rows": 3, "cols": 5},
    {"patterns": "released", "rows": 6, "cols": 6},
    {"rows": 2, "cols": 3, "iterations": 10},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_good_and_evil_have_equal_k_and_never_share_a_cell(settings):
    tool = registry.make_instrument("lambda-star", settings)
    for i in range(60):
        exercise = tool.exercise(9, i)
        world = exercise.environment
        steps, torus, pattern = world.steps, world.torus, world.pattern
        k = lz76(pattern.cells(torus, steps))
        assert world.complexity["K"] == k
        if isinstance(pattern, Recurrent):
            evil = Recurrent(pattern.evil, pattern.good)
            assert lz76(evil.cells(torus, steps)) == k
            assert (pattern.good != pattern.evil) == (k >= 3)
        if tool.complexities:
            assert k == tool.complexities[stratum(9, i, len(tool.complexities))]
        episode = Episode(exercise)
        future = world.secret(episode.state, 0, episode.random)
        assert len(future.good) == len(future.evil) == steps + 1
        assert all(a != b for a, b in zip(future.good, future.evil, strict=True))
        if isinstance(pattern, Recurrent):  # king moves only; Evil of the released code leaps
            for way in (future.good, future.evil):
                assert all(torus.distance(a, b) <= 1 for a, b in itertools.pairwise(way))


def test_collisions_as_defined():
    """Who is already there keeps the cell; else one is drawn; exchanging cells is allowed."""
    tool = registry.make_instrument("lambda-star", {"rows": 4, "cols": 4, "k": "any"})
    world = tool.exercise(1, 0).environment

    def after(good_move, evil_move, good, evil, step=1, index=0):
        import dataclasses

        moved = dataclasses.replace(world, pattern=Recurrent((good_move,), (evil_move,)))
        return moved._travel(step, good, evil, Random(key(1, index, 1), step))

    assert after(5, 4, 6, 7) == (6, 7)  # Evil walks into a Good that stays
    assert after(6, 5, 6, 7) == (6, 7)  # Good walks into an Evil that stays
    assert after(6, 4, 6, 7) == (7, 6)  # they exchange cells
    drawn = {after(6, 4, 5, 7, step) for step in range(1, 40)}
    assert drawn == {(6, 7), (5, 6)}  # both want cell 6: one moves, the other keeps its cell


def test_released_patterns_are_read_to_and_fro():
    torus = Torus(3, 3)
    released = Released((1, 2, 5))
    assert released.start(torus, Random(0)) == (1, (1 + 3) % 9 + 1)
    assert released.cells(torus, 8) == [2, 5, 5, 2, 1, 1, 2, 5]
    for i in range(200):
        drawn = Released.draw(torus, Random(key(2, i, MAKING)))
        assert 3 <= len(drawn.path) <= 5
