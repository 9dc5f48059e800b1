"""Patterns: digits, periods, and two that never share a cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.complexity import lz76_reference
from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.instruments.lambda_.world import (
    Space,
    check_pattern,
    draw_pattern,
    draw_pattern_of,
    draw_space,
    period,
    travel,
)


def random_of(seed):
    return Random(key(seed, 0, 0))


def test_patterns_are_uniform_digits_that_stop_with_p_stop():
    drawn = [draw_pattern(3, 1 / 5, random_of(seed)) for seed in range(10_000)]
    length = sum(map(len, drawn)) / len(drawn)
    assert abs(length - 5) < 4 * 20**0.5 / 100
    digits = "".join(drawn)
    for digit in "012":
        assert abs(digits.count(digit) / len(digits) - 1 / 3) < 0.01
    assert sum(len(pattern) == 1 for pattern in drawn) / 10_000 == pytest.approx(0.2, abs=0.016)


@given(st.text("012", min_size=1, max_size=12))
def test_the_period_is_the_shortest_that_repeats_to_the_whole(pattern):
    shorter = [
        pattern[:n]
        for n in range(1, len(pattern) + 1)
        if len(pattern) % n == 0 and pattern[:n] * (len(pattern) // n) == pattern
    ]
    assert period(pattern) == shorter[0]


@given(st.integers(1, 40), st.integers(2, 9), st.integers(0, 2**60))
def test_a_pattern_of_wanted_complexity_has_it(phrases, actions, seed):
    pattern = draw_pattern_of(phrases, actions, random_of(seed))
    assert period(pattern) == pattern
    assert lz76_reference(pattern) == phrases
    assert max(map(int, pattern)) < actions


@given(st.integers(2, 9), st.integers(0, 2**60), st.data())
def test_good_and_evil_never_share_a_cell_and_never_leap(cells, seed, data):
    space = draw_space(cells, None, 0.2, random_of(seed))
    good = data.draw(st.integers(0, cells - 1))
    evil = data.draw(st.integers(0, cells - 1).filter(lambda cell: cell != good))
    action = data.draw(st.integers(0, space.actions - 1))
    to_good, to_evil = travel(space, action, good, evil, random_of(seed + 1))
    assert to_good != to_evil
    assert to_good in (good, space.moved(good, action))
    assert to_evil in (evil, space.moved(evil, action))
    wanted = space.moved(good, action), space.moved(evil, action)
    assert (to_good, to_evil) == wanted or wanted[0] == wanted[1]


CLASH = Space(((0, 1, 2), (1, 1, 2), (2, 0, 0)))


def test_who_is_in_a_cell_already_keeps_it():
    for seed in range(20):
        assert travel(CLASH, 1, 0, 1, random_of(seed)) == (0, 1)
        assert travel(CLASH, 1, 1, 0, random_of(seed)) == (1, 0)


def test_else_one_drawn_by_lot_moves():
    ways = [travel(CLASH, 2, 0, 1, random_of(seed)) for seed in range(2000)]
    assert set(ways) == {(2, 1), (0, 2)}
    assert abs(ways.count((2, 1)) - 1000) < 4 * 500**0.5


def test_they_may_exchange_cells():
    assert travel(Space(((0, 1), (1, 0))), 1, 0, 1, random_of(1)) == (1, 0)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("0130", "an action '3'; this space has the actions 0..2"), ("", "empty"), ("1x", "'x'")],
)
def test_a_pattern_with_an_unknown_action_is_refused(pattern, said):
    with pytest.raises(Error, match=said):
        check_pattern(pattern, CLASH)
