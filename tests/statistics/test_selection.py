"""Where curves cross, and the cheapest mind or group that will do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.statistics.selection import (
    Candidate,
    cheapest,
    cheapest_group,
    crossings,
    group_curve,
)
from allminds.voting import majority_accuracy, plurality_accuracy


def mind(alpha, m):
    """E1 (Eq. 1)."""
    return lambda d: 1 / m + (1 - 1 / m) * np.exp(-d / alpha)


def level(d):
    return np.full_like(d, 0.5)


def majority_of(m, *alphas):
    return group_curve([mind(alpha, m) for alpha in alphas])


# --- crossings ---


@pytest.mark.parametrize("m", [3, 4, 10, 26])
def test_a_mind_and_a_majority_of_its_equals_cross_at_one_half(m):
    found = crossings(mind(12, m), majority_of(m, 12, 12, 12), 0, 60)
    assert found.at == pytest.approx([-12 * math.log((m - 2) / (2 * m - 2))])
    assert not found.equal


def test_the_papers_cut_off_points():
    """With α = 12 in its text; 12.0094, which it names beside it, gives 16.65."""
    alone = mind(12, 3)
    assert crossings(alone, majority_of(3, 12, 12, 12), 0, 100).at == pytest.approx(
        [16.64], abs=5e-3
    )
    # 22.64 is where A² meets one of its two equal members, not its best: p3 = 1/2 there
    assert crossings(alone, majority_of(3, 12, 12, 16.33), 0, 100).at == pytest.approx(
        [22.64], abs=5e-3
    )


def test_against_its_best_member_the_group_gives_way_much_earlier():
    """Where p3 = p²/(p² + (1-p)²), the odds of the two others together."""
    best = mind(16.33, 3)
    (at,) = crossings(best, majority_of(3, 12, 12, 16.33), 0, 100).at
    p, p3 = mind(12, 3)(at), best(at)
    assert p3 == pytest.approx(p**2 / (p**2 + (1 - p) ** 2))
    assert at < 16


def test_two_options_never_cross():
    found = crossings(mind(12, 2), majority_of(2, 12, 12, 12), 0, 1000)
    assert found.at == ()
    assert not found.equal


def test_one_curve_is_equal_to_itself():
    found = crossings(mind(5, 3), lambda d: mind(5, 3)(d) + 1e-16, 0, 50)
    assert found.equal
    assert found.at == ()


def test_a_crossing_at_the_high_end_counts_and_one_at_the_low_end_does_not():
    assert crossings(lambda d: d / 10, level, 5, 9).at == ()
    assert crossings(lambda d: d / 10, level, 1, 5).at == pytest.approx([5])


@given(st.lists(st.floats(0.1, 9.9), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_all_crossings_are_found(roots):
    roots = sorted(roots)
    assume(all(b - a > 0.02 for a, b in itertools.pairwise(roots)))

    def wave(d):
        return 0.5 + 0.4 * np.tanh(np.prod([d - root for root in roots], axis=0))

    assert crossings(wave, level, 0, 10).at == pytest.approx(roots, abs=1e-6)


@pytest.mark.parametrize("at", [3.0, math.pi])  # on the grid, and off it
def test_curves_that_touch_meet_once(at):
    assert crossings(lambda d: 0.5 + (d - at) ** 2 / 200, level, 0, 10).at == pytest.approx(
        [at], abs=1e-5
    )


def test_two_crossings_within_one_step_are_both_found():
    def wave(d):
        return 0.5 + (d - 3.0001) * (d - 3.0021) / 200

    assert crossings(wave, level, 0, 10).at == pytest.approx([3.0001, 3.0021], abs=1e-7)


# --- the least ability ---


# --- the cheapest ---


def flat(name, p, cost, copies=1):
    """A mind whose accuracies on tasks 0, 1, … are given."""
    return Candidate(name, lambda d: np.asarray(p)[d.astype(int)], cost, copies)


def test_the_cheapest_mind_will_do_on_every_task():
    pool = [
        Candidate("weak", mind(5, 4), 1),
        Candidate("able", mind(20, 4), 4),
        Candidate("gifted", mind(40, 4), 9),
    ]
    assert cheapest(pool, [1, 2], 0.7).name == "weak"
    assert cheapest(pool, [1, 8], 0.7).name == "able"
    assert cheapest(pool, [1, 15], 0.7).name == "gifted"
    assert cheapest(pool, [60], 0.7) is None


def test_three_cheap_minds_may_do_for_one_dear_one():
    pool = [flat("cheap", [0.8], 1, copies=3), flat("dear", [0.88], 4)]
    found = cheapest_group(pool, [0], 0.88, 3)
    assert found.members == ("cheap", "cheap", "cheap")
    assert found.cost == found.at_least == 3
    assert found.accuracies == pytest.approx([0.896])
    assert found.exact
    assert found.verdict == "no group that will do is cheaper"


def test_a_deterministic_mind_is_in_a_group_but_once():
    pool = [flat("cheap", [0.8], 1), flat("dear", [0.88], 4)]
    assert cheapest_group(pool, [0], 0.88, 3).members == ("dear",)


def test_that_no_group_will_do_is_certain():
    found = cheapest_group([flat("a", [0.6, 0.2], 1, copies=9)], [0, 1], 0.5, 9)
    assert found.members == ()
    assert found.cost == found.at_least == math.inf
    assert found.verdict == "no group will do"


def by_trying_all(candidates, tasks, threshold, size_limit, accuracy):
    items = [c for c in candidates for _ in range(c.copies)]
    best = math.inf
    for size in range(1, min(size_limit, len(items)) + 1):
        for group in itertools.combinations(items, size):
            p = np.stack([c.accuracy(np.array(tasks, float)) for c in group])
            if all(accuracy(column) >= threshold - 1e-12 for column in p.T):
                best = min(best, math.fsum(c.cost for c in group))
    return best


@st.composite
def pools(draw):
    tasks = draw(st.integers(1, 2))
    pool = []
    for i in range(draw(st.integers(1, 5))):
        p = draw(st.lists(st.integers(2, 19).map(lambda k: k / 20), min_size=tasks, max_size=tasks))
        cost, copies = draw(st.integers(0, 6)), draw(st.sampled_from([1, 1, 2]))
        pool.append(flat(f"mind {i}", p, cost, copies))
    return pool, list(range(tasks)), draw(st.floats(0.3, 0.95)), draw(st.integers(1, 5))


@given(pools(), st.sampled_from(["majority", "plurality"]))
@settings(max_examples=80, deadline=None)
def test_the_cheapest_group_is_that_of_trying_all(asked, rule):
    rules = {"majority": majority_accuracy, "plurality": lambda p: plurality_accuracy(p, 3)}
    expected = by_trying_all(*asked, rules[rule])
    found = cheapest_group(*asked, rule=rule, options=3)
    assert found.exact
    assert found.cost == pytest.approx(expected)
    assert all(p >= asked[2] - 1e-12 for p in found.accuracies)
    quick = cheapest_group(*asked, rule=rule, options=3, exact_groups=0)
    assert quick.at_least <= expected + 1e-9
    assert quick.cost >= expected - 1e-9
    assert not quick.exact or quick.cost == pytest.approx(expected)


def test_a_large_pool_gets_a_good_group_and_a_bound():
    rng = np.random.default_rng(3)
    alphas = rng.uniform(4, 20, 80)
    pool = [
        Candidate(f"mind {i}", mind(a, 4), a**1.5 * rng.uniform(0.8, 1.2))
        for i, a in enumerate(alphas)
    ]
    found = cheapest_group(pool, [6, 9], 0.75, 5, rule="plurality", options=4)
    alone = cheapest(pool, [6, 9], 0.75)
    assert not found.exact
    assert 0 < found.at_least <= found.cost
    assert found.cost <= (alone.cost if alone else math.inf)
    assert min(found.accuracies) >= 0.75
    assert f"{found.at_least:g}" in found.verdict


CURVE = mind(5, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: crossings(CURVE, CURVE, 3, 3), "not a range"),
        (lambda: crossings(CURVE, lambda d: d, 0, 9), "from 0 to 1"),
        (lambda: crossings(CURVE, lambda d: 0.5, 0, 9), "for each difficulty"),
        (lambda: group_curve([]), "empty"),
        (lambda: group_curve([CURVE], "plurality"), "number of options"),
        (lambda: group_curve([CURVE], "plurality", 1)(np.ones(1)), "2 or more"),
        (lambda: group_curve([CURVE], "majorty"), "did you mean 'majority'"),
        (lambda: cheapest([], [1], 0.5), "nothing to choose"),
        (lambda: cheapest([Candidate("a", CURVE, 1)], [], 0.5), "nothing to choose"),
        (lambda: cheapest([Candidate("a", CURVE, 1)], [1], 1.5), "threshold is 1.5"),
        (lambda: cheapest([Candidate("a", CURVE, -1)], [1], 0.5), "'a' must cost"),
        (lambda: cheapest_group([Candidate("a", CURVE, 1)], [1], 0.5, 0), "size limit is 0"),
    ],
)
def test_what_is_wrong_is_said(call, says):
    with pytest.raises(Error, match=says):
        call()
