"""The rules that worlds share: what they say, and that compiled ones say the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.seeding import Random
from allminds.instruments import fast, rules
from allminds.instruments.lambda_star.grid import Torus, half_worths
from allminds.instruments.tables import planned, uniform_best

PLAIN = rules.on_ring(int, lambda function: function)
WIDE = rules.OnRing(fast.wrapped, fast.apart, fast.shorter, fast.distance, fast.worth, fast.reward)


@pytest.mark.parametrize("size", range(2, 13))
@pytest.mark.parametrize("whole", [np.int64, np.int16])
def test_the_compiled_rules_of_a_ring_are_the_plain_ones(size, whole):
    compiled = WIDE if whole is np.int64 else fast.narrow
    for place in range(-size, 2 * size):
        found = compiled.wrapped(whole(place), whole(size))
        assert found == PLAIN.wrapped(place, size) == place % size
    for here, there in itertools.product(range(size), repeat=2):
        given_ = whole(here), whole(there), whole(size)
        assert compiled.apart(*given_) == PLAIN.apart(here, there, size)
        assert compiled.shorter(*given_) == PLAIN.shorter(here, there, size)


@given(st.integers(3, 9), st.integers(3, 9), st.data())
def test_the_reward_of_a_cell_is_what_the_definition_says_in_every_form(rows, cols, data):
    """1/(d + 1) for Good if d < 2, less the same for Evil; d counted by walking."""
    torus = Torus(rows, cols)
    cell, good, evil = (data.draw(st.integers(1, torus.cells)) for _ in range(3))

    def far(a, b):
        reached, moves = {a}, 0
        while b not in reached:
            reached |= {torus.moved(c, action) for c in reached for action in range(1, 10)}
            moves += 1
        return moves

    gain, loss = (1 / (d + 1) if d < 2 else 0.0 for d in (far(cell, good), far(cell, evil)))
    assert torus.distance(cell, good) == far(cell, good)
    assert torus.worth(cell, good) - torus.worth(cell, evil) == gain - loss
    places = [int(n) for one in (cell, good, evil) for n in torus.place(one)]
    for form, whole in ((PLAIN, int), (WIDE, np.int64), (fast.narrow, np.int16)):
        assert form.reward(whole(rows), whole(cols), *map(whole, places)) / 2 == gain - loss
    assert half_worths(torus.distances(cell, good)) / 2 == gain


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_good_and_evil_never_share_a_cell(good, evil, to_good, to_evil, lot):
    if good == evil:
        return
    found = rules.parted(good, evil, to_good, to_evil, int(lot))
    assert found == fast.parted(good, evil, to_good, to_evil, int(lot))
    assert found[0] != found[1]
    if to_good != to_evil:
        assert found == (to_good, to_evil)
    else:  # one of the two moves, or stays where both would be
        assert to_good in found
        assert found in {(to_good, evil), (good, to_evil)}
        if good != to_good and evil != to_evil:
            assert found == ((good, to_evil) if lot else (to_good, evil))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(1, 4))
def test_a_period_repeated_is_the_whole_and_no_shorter_one_is(part, times):
    items = part * times
    size = rules.period(items, len(items))
    assert size == fast.period(np.array(items), len(items))
    fits = [n for n in range(1, len(items) + 1) if items[:n] * (len(items) // n) == items]
    assert size == fits[0]


@given(st.lists(st.floats(0, 5), min_size=1, max_size=9), st.floats(0, 1, exclude_max=True))
def test_weighted_draws_are_in_proportion(weights, unit):
    place = rules.weighted(weights, unit)
    assert place == fast.weighted(np.array(weights), unit)
    if sum(weights) > 0:
        assert weights[place] > 0
        below, above = sum(weights[:place]), sum(weights[: place + 1])
        slack = 1e-9 * sum(weights)
        assert below - slack <= unit * sum(weights) <= above + slack


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=9), st.integers(0, 2**63), st.integers(0, 3)
)
def test_the_best_is_drawn_among_equals_and_the_same_compiled(values, key, j):
    found = uniform_best(values, Random(key, 5), j)
    place, best = fast.uniform_best(
        np.array(values, float), len(values), np.uint64(key), np.uint64(5), np.uint64(j)
    )
    assert (place, best) == (found, max(values))
    assert values[found] == max(values)


def test_equals_are_equally_likely():
    """Four of seven are best: chi-square on 3 degrees, 1 in 10,000 above 21.1; fixed keys."""
    values = [1.0, 3.0, 0.0, 3.0, 3.0, -2.0, 3.0]
    drawn = [uniform_best(values, Random(key), 0) for key in range(8_000)]
    counts = np.array([drawn.count(place) for place in (1, 3, 4, 6)])
    assert counts.sum() == 8_000
    assert ((counts - 2_000) ** 2 / 2_000).sum() < 21.1


@given(st.data())
def test_a_plan_is_the_best_of_all_ways(data):
    """Three cells, two moves, four steps: all sixteen ways from every cell are tried."""
    around = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3),
                                min_size=2, max_size=2))  # fmt: skip
    fields = data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3),
                                min_size=4, max_size=4))  # fmt: skip
    plan = planned(fields, around)
    for start in range(3):
        totals = {}
        for moves in itertools.product(range(2), repeat=4):
            cell, total = start, 0
            for move, field in zip(moves, fields, strict=True):
                cell = around[move][cell]
                total += field[cell]
            totals[moves] = total
        taken, cell = [], start
        for step in range(4):
            taken.append(int(plan[step][cell]))
            cell = around[taken[-1]][cell]
        best = max(totals.values())
        assert tuple(taken) == min(moves for moves, total in totals.items() if total == best)
