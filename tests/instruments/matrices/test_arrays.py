"""The banks of arrays: the counts of the specification, and no ambiguous array among them."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.instruments.matrices.making import solver as hypotheses
from allminds.instruments.matrices.making.arrays import bank, enumerated, unambiguous
from allminds.instruments.matrices.making.rules import union
from allminds.instruments.matrices.making.solver import Scale, predictions


def first(n):
    return (1 << n) - 1


SIZE, COUNT, SIDES = Scale("line", 5), Scale("count", 4), Scale("line", 7)
COLOUR, PLACE, SETS = Scale("transitions"), Scale("grid", 9), Scale("names")


def ring(m):
    return Scale("ring", m)


@pytest.mark.parametrize(
    ("way", "values", "scale", "matrices", "ambiguous"),
    [
        ("progression", 5, SIZE, 56, 4),  # 7.1 %
        ("progression", 4, Scale("line", 4), 16, 2),  # 12.5 %: count without sums
        ("progression", 4, COUNT, 16, 3),  # 18.8 %: count with sums
        ("progression", 7, SIDES, 306, 10),  # 3.3 %
        ("progression", 3, ring(3), 54, 0),
        ("progression", 4, ring(4), 192, 8),  # 4.2 %
        ("progression", 6, ring(6), 1080, 12),  # 1.1 %
        ("progression", 8, ring(8), 3584, 48),  # 1.3 %, 3,536 left
        ("progression", 12, ring(12), 19008, 96),  # 0.5 %
        ("progression", 9, PLACE, 112, 0),
        ("three", 4, COUNT, 48, 0),
        ("three", 9, PLACE, 1008, 0),
        ("constant", 4, COUNT, 24, 0),
        ("constant", 8, ring(8), 336, 0),
        ("constant", 9, PLACE, 504, 0),
    ],
)
def test_the_counts_of_the_specification(way, values, scale, matrices, ambiguous):
    made = enumerated(way, first(values), scale)
    assert len(made) == matrices
    assert sum(not unambiguous(array, scale) for array in made) == ambiguous
    assert bank(way, first(values), scale).size == matrices - ambiguous


def test_sums_of_counts():
    """3.7 % of additions and 4.2 % of subtractions are ambiguous."""
    made = enumerated("sums", first(4), COUNT)
    added = [array for array in made if array[0] < array[2]]
    taken = [array for array in made if array[0] >= array[2]]
    assert (len(added), len(taken)) == (216, 216)
    assert sum(not unambiguous(array, COUNT) for array in added) == 8
    assert sum(not unambiguous(array, COUNT) for array in taken) == 9


def cycles(*colours):
    """All arrays whose rows begin anywhere in a cycle of colours."""
    for rest in permutations(colours[1:]):
        cycle = (colours[0], *rest)
        rows = [[cycle[(n + k) % len(cycle)] for k in range(3)] for n in range(len(cycle))]
        yield from ((*a, *b, *c) for a, b, c in product(rows, repeat=3))


def test_colours_in_a_cycle_of_three_are_always_deducible_and_of_four_in_three_quarters():
    three = [array for some in combinations([1, 2, 4, 8, 16, 32], 3) for array in cycles(*some)]
    assert len(three) == 1080
    assert all(unambiguous(array, COLOUR) for array in three)
    four = [array for some in combinations([1, 2, 4, 8, 16, 32], 4) for array in cycles(*some)]
    deducible = [array for array in four if array[8] in predictions(array[:8], COLOUR)]
    assert (len(four), len(deducible)) == (5760, 0.75 * 5760)
    assert all(unambiguous(array, COLOUR) for array in deducible)
    assert set(bank("progression", first(6), COLOUR).lines) == {*three, *deducible}


def all_of(rows):
    return [(*a, *b, *c) for a, b, c in product(rows, repeat=3)]


def by_rows(array):
    a, b, c, d, e, f, g, h, _ = array
    found = set(hypotheses.along((a, b, c), (d, e, f), g, h, SETS)) - {None}
    return found == {array[8]}


def test_sets_of_three_elements():
    """14.8 % of additions are ambiguous by rows, none of subtractions or distributions of two."""
    added = all_of(bank("union", first(3), SETS).lines)
    assert len(added) == 5832
    assert sum(not by_rows(array) for array in added) == 864
    assert all(by_rows(array) for array in all_of(bank("remainder", first(3), SETS).lines))
    pairs = all_of(bank("other pairs", first(3), SETS).lines)
    assert len(pairs) == 216
    assert all(predictions(array[:8], SETS) - {0} == {array[8]} for array in pairs)


def test_distributions_of_two_of_four_elements_have_no_rival_that_shows_anything():
    rows = bank("other pairs", first(4), SETS).lines
    assert len(rows) ** 3 == 13824
    for array in all_of(rows[::3]):
        assert predictions(array[:8], SETS) - {0} == {array[8]}  # or nothing, as columns may say


def test_the_typical_offender():
    """Counts (1, 2, 3), (1, 2, 3), (2, 3, ?): progression says 4, distribution of three says 1."""
    one, two, three, four = 1, 2, 4, 8
    shown = [one, two, three, one, two, three, two, three]
    assert predictions(shown, COUNT) == {one, four}


def test_sets_are_offered_with_sets_that_differ_by_elements():
    found = bank("union", first(4), SETS).quadruples
    assert all(a ^ b ^ c ^ d == 0 for a, b, c, d in found)
    assert len(found) == 6
    pairs = bank("same pairs", first(4), SETS)
    assert pairs.quadruples == ((3, 5, 10, 12), (3, 6, 9, 12), (5, 6, 9, 10))
    assert all((a ^ b).bit_count() == 2 for a, b in pairs.pairs)


def test_every_answer_on_offer_has_arrays():
    for way, scale, values in [("progression", SIZE, 5), ("sums", COUNT, 4), ("three", PLACE, 9)]:
        made = bank(way, first(values), scale)
        for answers in (*made.quadruples, *made.pairs):
            for answer in answers:
                start, end = made.spans[answer]
                assert {line[-1] for line in made.lines[start:end]} == {answer}


SINGLE = st.integers(0, 3).map(lambda n: 1 << n)
FEW = st.integers(1, 15)


@pytest.mark.parametrize("order", ["names", "line", "count", "ring", "transitions", "grid"])
@given(data=st.data())
def test_compiled_hypotheses_are_those_in_plain_python(order, data):
    from allminds.instruments.matrices.fast import kernels

    values = data.draw(st.lists(data.draw(st.sampled_from([SINGLE, FEW])), min_size=8, max_size=8))
    found = np.zeros(16, np.int64)
    count = kernels.predictions(
        np.array(values), np.zeros(8, np.int64), kernels.ORDERS.index(order), 4, found
    )
    assert set(found[:count].tolist()) == predictions(values, Scale(order, 4))
    assert count == len(predictions(values, Scale(order, 4)))


def test_a_code_is_a_sum_of_bits():
    assert union([0, 3]) == 9
