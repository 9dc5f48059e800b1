"""What the instruments on a torus share: moves as arrays, what was seen as bits, words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.contracts import Failure
from allminds.core.blocks import on_lattice
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.fast.forms import actions_of, settled
from allminds.instruments.lambda_star.grid import Torus, neighbours
from allminds.instruments.lambda_star.minds import cells_of, reveal, sight
from allminds.instruments.lambda_star.world import View, read_move, show_view

tori = st.builds(Torus, st.integers(3, 9), st.integers(3, 9))


@given(tori, st.lists(st.integers(1, 9), max_size=30), st.integers(0, 10**6))
def test_the_actions_of_a_way_are_those_that_made_it(torus, actions, start):
    way = [start % torus.cells]
    for action in actions:
        assert neighbours(torus)[action - 1, way[-1]] == torus.moved(way[-1] + 1, action) - 1
        way.append(torus.moved(way[-1] + 1, action) - 1)
    assert actions_of(torus, np.array(way)) == actions


@given(tori, st.integers(0, 10**6), st.integers(1, 3))
def test_sight_is_the_neighbourhood_as_bits(torus, place, reach):
    cell = 1 + place % torus.cells
    assert list(cells_of(sight(torus, cell, reach))) == sorted(set(torus.around(cell, reach)))


@given(tori, st.data())
def test_who_reveals_sees_more_as_long_as_there_is_more_to_see(torus, data):
    cell = data.draw(st.integers(1, torus.cells))
    seen = sight(torus, cell, 1)
    for step in range(4 * torus.cells):
        if seen.bit_count() == torus.cells:
            assert reveal(torus, 1, cell, seen, Random(7, step)) == 5  # nothing is left: stay
            return
        cell = torus.moved(cell, reveal(torus, 1, cell, seen, Random(7, step)))
        seen |= sight(torus, cell, 1)
    raise AssertionError("it never saw the whole torus")


def test_rewards_become_the_records_of_the_plain_loop():
    rewards = np.array([[[0.1, 1.0], [0.2, 0.0], [0.4, -1.0]]])
    block = settled(7, [{"K": 3.0}], rewards, np.array([[[1, 2], [3, 4], [5, 6]]], np.int16))
    assert block.first == 7
    assert block.score.tolist() == [[math.fsum((0.1, 0.2, 0.4)) / 3, 0.0]]
    assert block.learning.tolist() == [[0.4 - 0.1, -2.0]]
    assert (
        block.curve.tolist()
        == on_lattice(np.array([0.1, 0.2, 0.4]) + np.array([1, 0, -1])).tolist()
    )
    assert block.actions.tolist() == [[[1, 2], [3, 4], [5, 6]]]


def test_words_for_what_is_seen_and_done():
    view = View(tuple(range(1, 10)), (0.0, 0.5, 1.0, -0.25, 0, 0, 0, 0, 0))
    assert show_view(view, "text", "some-test").splitlines()[0] == "+0.0 +0.5 +1.0"
    assert show_view(view, "text", "some-test", digits=2).splitlines()[1] == "-0.25 +0.00 +0.00"
    assert show_view(view, "array", "some-test").shape == (3, 3)
    assert show_view(view, "html", "some-test").count("<td>") == 9
    with pytest.raises(Error, match="some-test cannot be shown as svg"):
        show_view(view, "svg", "some-test")
    assert (read_move(" Up-Left "), read_move("9")) == (1, 9)
    assert isinstance(read_move("10"), Failure)
