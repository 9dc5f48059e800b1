"""The banks of arrays: none is ambiguous by an independent solver, and all steps are even."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.instruments.matrices.making import solver as hypotheses
from allminds.instruments.matrices.making.arrays import Rows, bank, enumerated, unambiguous
from allminds.instruments.matrices.making.rules import bits, union
from allminds.instruments.matrices.making.solver import Scale, contradicted, predictions


def first(n):
    return (1 << n) - 1


SIZE, COUNT, SIDES = Scale("levels", 7), Scale("numbers", 4, 1), Scale("numbers", 7, 3)
COLOUR = SETS = Scale("names")
PLACE = Scale("grid", 9)


def ring(m):
    return Scale("ring", m)


@pytest.mark.parametrize(
    ("way", "values", "scale", "matrices", "ambiguous"),
    [
        ("progression", 7, SIZE, 304, 80),
        ("progression", 4, COUNT, 16, 4),
        ("progression", 7, SIDES, 306, 80),
        ("progression", 3, ring(3), 54, 12),
        ("progression", 4, ring(4), 192, 36),
        ("progression", 6, ring(6), 1080, 210),
        ("progression", 8, ring(8), 3584, 616),
        ("progression", 9, PLACE, 112, 24),
        ("progression", 6, COLOUR, 6480, 2040),
        ("three", 4, COUNT, 48, 16),
        ("three", 9, PLACE, 1008, 0),
        ("constant", 4, COUNT, 24, 0),
        ("constant", 8, ring(8), 336, 0),
        ("constant", 9, PLACE, 504, 0),
        ("sums", 4, COUNT, 432, 354),
        ("same pairs", 6, SETS, 4320, 960),
    ],
)
def test_how_many_arrays_there_are_and_are_ambiguous(way, values, scale, matrices, ambiguous):
    made = enumerated(way, first(values), scale)
    assert len(made) == matrices
    assert sum(not unambiguous(array, scale) for array in made) == ambiguous
    assert bank(way, first(values), scale).size == matrices - ambiguous


# ---------------------------------------------------------------- the independent solver


def told(name, code, shape=""):
    """A code as the independent solver has it."""
    degrees = oracle.PERIOD.get(shape, 0) / oracle.STEPS.get(shape, 1)
    names = {
        "shape": oracle.SHAPES, "colour": oracle.COLOURS, "count": range(1, 5),
        "angle": [degrees * n for n in range(oracle.STEPS.get(shape, 1))],
    }  # fmt: skip
    return frozenset(names.get(name, range(9))[n] for n in bits(code))


def has_one_answer(name, array, shape="", marks=""):
    """Whether the independent solver predicts the ninth value, and by no rule another."""
    *eight, ninth = [told(name, code, shape) for code in array]
    found = set(oracle.predicted(name, tuple(eight), shape, marks).values())
    amounts = oracle.predicted_amounts(name, eight).items()
    return found == {ninth} and all(
        n == len(ninth) or rule in oracle.NO_REASON for rule, n in amounts
    )


@pytest.mark.parametrize(
    ("name", "way", "values", "scale", "shape"),
    [
        ("size", "progression", 7, SIZE, ""),
        ("size", "three", 7, SIZE, ""),
        ("count", "progression", 4, COUNT, ""),
        ("count", "three", 4, COUNT, ""),
        ("count", "sums", 4, COUNT, ""),
        ("shape", "progression", 7, SIDES, ""),
        ("shape", "three", 11, SIDES, ""),
        ("place", "progression", 9, PLACE, ""),
        ("place", "three", 9, PLACE, ""),
        ("colour", "progression", 6, COLOUR, ""),
        ("angle", "progression", 3, ring(3), "5"),
        ("angle", "progression", 4, ring(4), "3"),
        ("angle", "three", 4, ring(4), "3"),
        ("angle", "progression", 6, ring(6), "ellipse"),
        ("angle", "progression", 8, ring(8), "arc"),
        ("angle", "three", 8, ring(8), "arc"),
        ("colour", "same pairs", 6, SETS, ""),
    ],
)
def test_an_array_is_ambiguous_where_the_independent_solver_finds_a_second_value(
    name, way, values, scale, shape
):
    made = enumerated(way, first(values), scale)
    for array in random.Random(5).sample(made, min(60, len(made))):
        assert unambiguous(array, scale) == has_one_answer(name, array, shape), array


@pytest.mark.parametrize("way", ["union", "remainder", "other pairs"])
@pytest.mark.parametrize(("name", "count"), [("lines", 4), ("dots", 6)])
def test_so_are_arrays_of_sets(way, name, count):
    rows, lot = bank(way, first(count), SETS), random.Random(6)
    assert isinstance(rows, Rows)
    seen = Counter()
    for _ in range(40):
        array = [code for _ in range(3) for code in lot.choice(rows.lines)]
        seen[unambiguous(array, SETS)] += 1
        assert unambiguous(array, SETS) == has_one_answer("present", array, marks=name), array
    assert seen[True] > 5
    assert seen[False] > 2


def by(*numbers):
    """Counts as codes."""
    return [1 << (number - 1) for number in numbers]


def test_the_typical_offenders():
    """Each has two answers: by the rule it was made with, and by another."""
    assert predictions(by(1, 2, 3, 1, 2, 3, 2, 3), COUNT) == set(by(1, 3, 4))  # steps, same values
    assert predictions(by(2, 2, 4, 1, 1, 2, 1, 2), COUNT) >= set(by(3, 2))  # sum, double the first
    assert predictions(by(1, 3, 2, 3, 2, 1, 2, 1), COUNT) == set(by(3, 1))  # three, difference
    assert predictions(by(1, 2, 3, 2, 1, 3, 1, 1), COUNT) >= set(by(2, 3))  # sum, the same third


def test_the_number_of_elements_can_contradict_a_value():
    """Rows of one, two and three marks, of two, three and four, and again of one and two."""
    eight = [1, 6, 7, 3, 13, 15, 2, 12]
    assert contradicted(eight, 15)
    assert not contradicted(eight, 14)
    assert not contradicted([1, 2, 4, 1, 2, 4, 1, 2], 7)  # these are no sets


def test_colours_in_a_cycle_of_four_need_the_last_step_to_be_shown():
    """Of cycles of three the last step is always known, from the two before it."""
    made = enumerated("progression", first(4), COLOUR)
    assert len(made) == 4 * 2 * 27 + 6 * 64 - 24  # three rows alike are in a cycle of both
    for array in bank("progression", first(4), COLOUR).lines:
        shown = {array[n]: array[n + 1] for n in (0, 1, 3, 4, 6)}
        closed = len(set(array)) == 3
        assert closed or shown[array[7]] == array[8]


# ---------------------------------------------------------------- options


def test_sets_are_offered_with_sets_that_differ_by_elements():
    found = [[offer.value for offer in some] for some in bank("union", first(4), SETS).quadruples]
    assert all(a ^ b ^ c ^ d == 0 for a, b, c, d in found)
    assert len(found) == 6
    pairs = bank("same pairs", first(4), SETS)
    four = [tuple(offer.value for offer in some) for some in pairs.quadruples]
    assert four == [(3, 5, 10, 12), (3, 6, 9, 12), (5, 6, 9, 10)]
    assert all((a.value ^ b.value).bit_count() == 2 for a, b in pairs.pairs)


STEPPING = [("progression", SIZE, 7), ("progression", PLACE, 9), ("progression", SIDES, 7)]


@pytest.mark.parametrize(("way", "scale", "values"), [*STEPPING, ("sums", COUNT, 4)])
@pytest.mark.parametrize("count", [2, 4])
def test_every_answer_on_offer_has_arrays_and_no_value_is_offered_twice(way, scale, values, count):
    made = bank(way, first(values), scale)
    for some in made.pairs if count == 2 else made.quadruples:
        assert len({offer.value for offer in some}) == count
        for offer in some:
            ends = {line[-1] for line in made.lines[offer.first : offer.last]}
            assert ends == {offer.value}


@pytest.mark.parametrize(("way", "scale", "values"), STEPPING)
@pytest.mark.parametrize("count", [2, 4])
def test_all_steps_are_equally_frequent(way, scale, values, count):
    """But for three sides at once, of which four options allow a little less."""
    made = bank(way, first(values), scale)
    steps = Counter()
    for some in made.pairs if count == 2 else made.quadruples:
        for offer in some:
            a, b = (hypotheses.number(code, scale) for code in made.lines[offer.first][:2])
            steps[b - a] += 1
    assert len(steps) == {7: 4, 9: 8}[values] + 2 * (scale == SIDES)
    least = 0.93 if scale == SIDES and count == 4 else 1
    assert min(steps.values()) >= least * max(steps.values())


# ---------------------------------------------------------------- compiled

SINGLE = st.integers(0, 3).map(lambda n: 1 << n)
FEW = st.integers(1, 15)


@pytest.mark.parametrize("order", hypotheses.ORDERS)
@given(data=st.data())
def test_compiled_hypotheses_are_those_in_plain_python(order, data):
    from allminds.instruments.matrices import fast as kernels

    values = data.draw(st.lists(data.draw(st.sampled_from([SINGLE, FEW])), min_size=8, max_size=8))
    scale = Scale(order, 9 if order == "grid" else 4, 1 if order == "numbers" else 0)
    found, work = np.zeros(kernels.MOST, np.int64), np.zeros(16, np.int64)
    eight = np.array(values)
    numbers = np.array([hypotheses.ORDERS.index(order), *scale[1:]])
    count = kernels.predictions(eight, numbers, work, found)
    assert set(found[:count].tolist()) == predictions(values, scale)
    assert count == len(predictions(values, scale))
    for ninth in range(1, 16):
        assert kernels.contradicted(eight, ninth, work) == contradicted(values, ninth)


def test_a_code_is_a_sum_of_bits():
    assert union([0, 3]) == 9
