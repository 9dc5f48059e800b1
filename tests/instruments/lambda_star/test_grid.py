"""The torus: cells, moves, distance, and the step toward a cell."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from allminds.instruments.lambda_star.grid import ACTIONS, MOVES, Torus, action_of

TORI = st.builds(Torus, st.integers(2, 7), st.integers(2, 7))


@st.composite
def two_cells(draw):
    torus = draw(TORI)
    cell = st.integers(1, torus.cells)
    return torus, draw(cell), draw(cell)


def distance_by_search(torus: Torus, start: int, end: int) -> int:
    seen, edge = {start: 0}, deque([start])
    while edge:
        cell = edge.popleft()
        for action in range(1, 10):
            after = torus.moved(cell, action)
            if after not in seen:
                seen[after] = seen[cell] + 1
                edge.append(after)
    return seen[end]


def test_cells_are_numbered_as_in_the_paper():
    """P4 Figure 3: in a 5-by-5 grid cells 1, 2 and 6 are (1, 1), (1, 2) and (2, 1)."""
    torus = Torus(5, 5)
    assert [torus.place(cell) for cell in (1, 2, 6, 25)] == [(0, 0), (0, 1), (1, 0), (4, 4)]
    assert torus.distance(torus.cell(0, 2), torus.cell(4, 2)) == 1  # P4 §4.1: (1,3) and (5,3)


def test_the_nine_actions_in_the_order_of_the_paper():
    torus = Torus(5, 5)
    centre = 13
    assert [torus.moved(centre, a) for a in range(1, 10)] == [7, 8, 9, 12, 13, 14, 17, 18, 19]
    assert ACTIONS[0] == "up-left"
    assert [action_of(*move) for move in MOVES] == list(range(1, 10))


@given(two_cells())
def test_distance_is_the_number_of_king_moves(case):
    torus, a, b = case
    assert torus.distance(a, b) == distance_by_search(torus, a, b)


@given(two_cells())
def test_a_step_toward_a_cell_brings_it_nearer_until_it_is_reached(case):
    torus, a, b = case
    far = torus.distance(a, b)
    for left in range(far, 0, -1):
        assert torus.distance(a, b) == left
        a = torus.moved(a, torus.toward(a, b))
    assert a == b
    assert torus.toward(a, b) == 5


def test_exactly_half_way_it_does_not_wrap():
    torus = Torus(4, 4)
    assert torus.toward(torus.cell(0, 0), torus.cell(2, 2)) == 9  # down-right
    assert torus.toward(torus.cell(3, 3), torus.cell(1, 1)) == 1  # up-left


def test_what_is_seen_is_in_reading_order_and_repeats_on_a_small_torus():
    assert Torus(5, 5).around(1, 1) == (25, 21, 22, 5, 1, 2, 10, 6, 7)
    seen = Torus(2, 3).around(1, 1)
    assert len(seen) == 9
    assert seen[:3] == seen[6:]  # the row above is the row below
    assert len(Torus(6, 6).around(8, 2)) == 25
