"""Spaces: how they are drawn, what they must be, and how they are written."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.instruments.lambda_.world import Space, connected, draw_cells, draw_space, space_bits


def random_of(seed):
    return Random(key(seed, 0, 0))


@st.composite
def arrows(draw):
    cells = draw(st.integers(2, 9))
    actions = draw(st.integers(2, cells))
    goal = st.none() | st.integers(0, cells - 1)
    return tuple((c, *(draw(goal) for _ in range(1, actions))) for c in range(cells))


@given(arrows())
def test_connected_means_that_every_cell_leads_to_every_other(to):
    cells = range(len(to))
    reach = [[a == b or b in to[a] for b in cells] for a in cells]
    for k in cells:  # Warshall
        reach = [[reach[a][b] or (reach[a][k] and reach[k][b]) for b in cells] for a in cells]
    assert connected(to) == all(map(all, reach))


@given(st.integers(2, 9), st.integers(0, 2**60), st.sampled_from([0.0, 0.2]))
def test_a_space_is_drawn_connected_and_can_be_written_and_read(cells, seed, disabled):
    space = draw_space(cells, None, disabled, random_of(seed))
    assert space.cells == cells
    assert 2 <= space.actions <= cells
    assert connected(space.to)
    again = Space.parse(str(space))
    assert [again.reachable(c)[: space.actions] for c in range(cells)] == [
        space.reachable(c)[: again.actions] for c in range(cells)
    ]
    if disabled == 0:
        assert again == space


def test_the_authors_notation():
    space = Space.parse("12-|1-2--|1++2--")
    assert space.to == ((0, 0, 2), (1, 0, 2), (2, 1, 0))
    assert space.distances(0) == (0, 1, 1)
    assert space.distances(1) == (2, 0, 1)


def test_an_action_that_is_disabled_leaves_one_where_it_is():
    space = Space(((0, 1, None), (1, 2, None), (2, 0, 1)))
    assert space.reachable(0) == (0, 1, 0)
    assert str(space) == "1+|1+|1--2-"


def test_few_cells_are_more_likely():
    counts = Counter(draw_cells(random_of(seed)) for seed in range(20_000))
    for cells in range(2, 10):
        expected = 20_000 * 2**-cells / (0.5 - 2**-9)
        assert abs(counts[cells] - expected) < 4 * expected**0.5 + 4


def test_a_space_that_is_not_connected_is_thrown_away_with_its_number_of_actions():
    """So two actions, which seldom connect, are rarer than the uniform draw would have it."""

    def share_connected(actions):
        goals = itertools.product(range(3), repeat=3 * (actions - 1))
        rows = [tuple((c, *to[c::3]) for c in range(3)) for to in goals]
        return sum(map(connected, rows)) / len(rows)

    two, three = share_connected(2), share_connected(3)
    assert two == 2 / 27
    drawn = [draw_space(3, None, 0, random_of(seed)).actions for seed in range(4000)]
    wanted = two / (two + three)
    assert abs(drawn.count(2) / 4000 - wanted) < 4 * (wanted * (1 - wanted) / 4000) ** 0.5


def test_bits_of_a_space():
    assert space_bits(2, 2, 0, 0.0) == 1 + 0 + 2 * 1
    assert space_bits(9, 3, 0, 0.0) == pytest.approx(8 + 3 + 18 * 3.1699250014)
    assert space_bits(3, 3, 2, 0.5) == pytest.approx(2 + 1 + 4 * (1.5849625 + 1) + 2)


@pytest.mark.parametrize(
    ("to", "said"),
    [
        (((0, 0), (1, 0)), "not connected"),
        (((0, 1, 2), (1, 2, 1), (2, 2, 2)), "not connected"),
        (((0,), (1,)), "0 has 1 actions"),
        (((0, 1), (1, 0, 0)), "cell 1 has 3 actions"),
        (((0, 1), (0, 0)), "action 0 leads from cell 1 to 0; it has to stay"),
        (((0, 2), (1, 0)), "leads from cell 0 to 2; cells are 0..1"),
        (((0,),), "2 to 9 cells, not 1"),
    ],
)
def test_what_is_no_space_is_refused(to, said):
    with pytest.raises(Error, match=said):
        Space(to)


def test_a_space_that_cannot_be_connected_is_not_looked_for_without_end(monkeypatch):
    monkeypatch.setattr("allminds.instruments.lambda_.world.ATTEMPTS", 50)
    with pytest.raises(Error, match=r"none of 50 spaces of 9 cells, 2 actions and disabled=0\.5"):
        draw_space(9, 2, 0.5, random_of(1))
