"""Landscapes: one global optimum, as many local ones as asked for, mean 0, within [-1, 1]."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.core.errors import Error
from allminds.core.seeding import Random, key
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.landscape.world import (
    Hills,
    autocorrelation,
    basin,
    draw,
    most_hills,
    optima,
    sea_level,
)


@st.composite
def landscapes(some):
    torus = Torus(some(st.integers(5, 25)), some(st.integers(5, 25)))
    hills = some(st.integers(1, most_hills(torus)))
    return draw(torus, hills, Random(key(some(st.integers(0, 10**6)), 0, 0)))


def neighbours(torus, cell):
    return {torus.moved(cell, action) for action in range(1, 10)} - {cell}


@given(landscapes())
@settings(max_examples=60)
def test_every_hill_is_a_local_optimum_and_one_is_the_highest(hills):
    field, torus = hills.field.ravel(), hills.torus
    tops = [
        cell
        for cell in range(1, torus.cells + 1)
        if all(field[cell - 1] > field[other - 1] for other in neighbours(torus, cell))
    ]
    assert sorted(tops) == sorted(hills.tops)
    assert optima(hills.field) == tops
    assert field[hills.tops[0] - 1] == 1.0
    assert (field == 1.0).sum() == 1
    assert field.min() == -1.0
    assert abs(field.mean()) < 1e-12


@given(landscapes(), st.data())
@settings(max_examples=40)
def test_wherever_the_hills_wander_there_is_one_optimum_and_higher_ground_beside_all_else(
    hills, data
):
    cells = st.integers(1, hills.torus.cells)
    tops = data.draw(st.tuples(*[cells] * len(hills.tops)))
    wandered = Hills(hills.torus, hills.heights, tops)
    field = wandered.field.ravel()
    assert (field == 1.0).sum() == 1
    assert field[tops[0] - 1] == 1.0
    assert abs(field.mean()) < 1e-12
    for cell in set(range(1, hills.torus.cells + 1)) - set(tops):
        assert max(field[other - 1] for other in neighbours(hills.torus, cell)) > field[cell - 1]


@given(st.lists(st.integers(0, 1000), min_size=9, max_size=9, unique=True))
def test_above_and_below_the_sea_cancel_out(heights):
    land = np.array(heights, float).reshape(3, 3)
    level = sea_level(land)
    above = np.clip(land - level, 0, None).sum() / (land.max() - level)
    below = np.clip(level - land, 0, None).sum() / (level - land.min())
    assert above == pytest.approx(below, rel=1e-9)


@pytest.mark.parametrize(("rows", "cols"), [(5, 5), (5, 7), (7, 7), (6, 100), (99, 99), (100, 100)])
def test_there_is_a_sea_level_even_when_all_hills_meet_in_one_cell(rows, cols):
    """The least land there can be; on an odd torus four cells are the lowest."""
    torus = Torus(rows, cols)
    for hills in {1, most_hills(torus)}:
        field = Hills(torus, (1.0,) + (0.2,) * (hills - 1), (1,) * hills).field
        assert abs(field.mean()) < 1e-12
        assert (field.min(), field.max()) == (-1.0, 1.0)


def test_a_ridge_between_two_hills_parts_their_basins():
    """One hill: all climb it. Two equally wide hills far apart: the highest takes a little more."""
    torus = Torus(20, 20)
    assert basin(Hills(torus, (1.0,), (1,)).field) == 1.0
    two = basin(Hills(torus, (1.0, 0.9), (torus.cell(5, 5), torus.cell(15, 15))).field)
    assert 0.5 < two < 0.6


def test_the_basin_is_the_chance_that_a_climb_ends_on_the_highest():
    """Against climbs played out by hand, with every tie followed."""
    torus = Torus(9, 8)
    hills = draw(torus, 3, Random(key(4, 0, 0)))
    field = hills.field.ravel()

    def chance(cell):
        around = [torus.moved(cell, action) for action in range(1, 10)]
        best = [other for other in around if field[other - 1] == max(field[c - 1] for c in around)]
        if cell in best:
            return float(cell == hills.tops[0])
        return sum(map(chance, best)) / len(best)

    expected = sum(map(chance, range(1, torus.cells + 1))) / torus.cells
    assert basin(hills.field) == pytest.approx(expected, abs=1e-12)


def test_more_hills_make_rougher_ground():
    torus = Torus(20, 20)
    rough = [
        np.mean([autocorrelation(draw(torus, n, Random(key(i, 0, 0))).field) for i in range(12)])
        for n in (1, 4, 16)
    ]
    assert rough == sorted(rough, reverse=True)
    assert autocorrelation(np.indices((4, 4)).sum(axis=0) % 2 * 1.0) == -1.0  # a chessboard


# ---------------------------------------------------------------- the instrument


def test_exercises_run_through_the_numbers_of_hills():
    tool = registry.make_instrument("landscape", {"peaks": "3..6"})
    found = [tool.exercise(1, i).environment.complexity for i in range(8)]
    runs = [[columns["optima"] for columns in some] for some in (found[:4], found[4:])]
    assert sorted(runs[0]) == sorted(runs[1]) == [3, 4, 5, 6]
    assert runs[0] != runs[1]
    assert set(found[0]) == {"optima", "basin", "autocorrelation", "drift", "H"}
    assert registry.make_instrument("landscape").peaks == tuple(range(2, 17))
    assert registry.make_instrument("landscape", {"rows": 10, "cols": 10}).peaks == (2, 3, 4, 5)
    assert registry.make_instrument("landscape", {"rows": 5, "cols": 5}).peaks == (1,)


@pytest.mark.parametrize(
    ("given_settings", "said"),
    [
        ({"peaks": "21"}, "21 hills do not fit on 20x20 cells; set peaks to at most 20"),
        ({"peaks": "5..2"}, "the lower number first"),
        ({"peaks": "0"}, "peaks run from 1 up"),
        ({"peaks": "many"}, "is not a value or a range"),
        ({"drift": 1.5}, "drift must be less than or equal to 1"),
        ({"rows": 5, "cols": 5, "agents": 26}, "26 minds do not fit on 5x5 = 25 cells"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(given_settings, said):
    with pytest.raises(Error, match=said):
        registry.make_instrument("landscape", given_settings)
