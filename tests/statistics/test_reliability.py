"""Three figures of reliability, their budgets, and alpha where there are subjects enough."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.statistics.reliability import (
    Components,
    alpha,
    components,
    counted_minds,
    exercises_for_generalisability,
    exercises_for_rel,
    kr20,
    reliability,
    reliance,
)

RNG = np.random.default_rng

# The one-shot prisoner's dilemma, one realised step: C, D and random against each other.
REWARD = {("C", "C"): 0.2, ("C", "D"): -1.0, ("D", "C"): 1.0, ("D", "D"): -0.6}
COOPERATES = (1.0, 0.0, 0.5)  # the chance that each mind does


def expected_rewards(mind, power=1):
    """The mean of a mind's reward to some power over all rivals and what both then do."""
    total = 0.0
    for rival in COOPERATES:
        for mine, p in (("C", COOPERATES[mind]), ("D", 1 - COOPERATES[mind])):
            for theirs, q in (("C", rival), ("D", 1 - rival)):
                total += p * q * REWARD[mine, theirs] ** power / len(COOPERATES)
    return total


def test_the_prisoners_dilemma():
    means = [expected_rewards(mind) for mind in range(3)]
    errors = [expected_rewards(mind, 2) - means[mind] ** 2 for mind in range(3)]
    assert errors == pytest.approx([0.36, 0.64, 0.59])
    assert reliance(errors) == pytest.approx(0.589, abs=5e-4)
    assert exercises_for_rel(0.95, np.mean(errors)) == 11
    between = np.var(means)
    assert between == pytest.approx(0.06)
    # Each mind has exercises of its own, so that all of TE is error.
    own = Components(between, 0.0, float(np.mean(errors)), 0.0, 1.0, (3, 1))
    assert own.generalisability(11) == pytest.approx(0.55, abs=5e-3)
    assert exercises_for_generalisability(0.9, between, np.mean(errors)) == 80


def test_the_prisoners_dilemma_as_it_is_measured():
    """20,000 common rivals: Φ is the figure above; on common rivals minds are told apart sooner.

    Exactly: σ²_p .06, rivals .3267, minds with rivals .0044, what both then do .1989.
    """
    rng = RNG(1)
    rivals = rng.integers(3, size=20_000)
    chance = np.array(COOPERATES)
    theirs = rng.random((20_000, 3)) < chance[rivals][:, None]
    mine = rng.random((20_000, 3)) < chance[None]
    values = np.where(mine, np.where(theirs, 0.2, -1.0), np.where(theirs, 1.0, -0.6))
    found = components(values[:, :, None])
    assert found.minds == pytest.approx(0.06, rel=0.1)
    assert found.exercises == pytest.approx(0.3267, rel=0.05)
    assert found.relative_error == pytest.approx(0.203, rel=0.05)
    assert found.dependability(11) == pytest.approx(0.5546, abs=0.02)
    assert found.generalisability(11) == pytest.approx(0.764, abs=0.02)


@given(st.floats(0.01, 0.999), st.floats(1e-3, 10), st.floats(0, 0.05))
def test_the_budget_for_rel_is_the_least_that_will_do(wanted, variance, bias):
    if -math.log(wanted) <= bias * bias:
        with pytest.raises(Error, match="out of reach"):
            exercises_for_rel(wanted, variance, bias)
        return
    n = exercises_for_rel(wanted, variance, bias)
    assert math.exp(-(variance / n + bias**2)) >= wanted - 1e-9
    if n > 1:
        assert math.exp(-(variance / (n - 1) + bias**2)) < wanted + 1e-9


@given(st.floats(0.01, 0.99), st.floats(1e-3, 1), st.floats(1e-3, 10))
def test_the_budget_for_generalisability_is_the_least_that_will_do(wanted, minds, error):
    n = exercises_for_generalisability(wanted, minds, error)
    found = Components(minds, 0.0, error, 0.0, 1.0, (5, 5))
    assert found.generalisability(n) >= wanted - 1e-9
    if n > 1:
        assert found.generalisability(n - 1) < wanted + 1e-9


def test_components_are_found_again():
    """300 minds, 200 exercises, 3 repeats; each near what it was made with."""
    rng = RNG(2)
    values = (
        rng.normal(0, 0.5, (1, 300, 1))
        + rng.normal(0, 0.8, (200, 1, 1))
        + rng.normal(0, 0.6, (200, 300, 1))
        + rng.normal(0, 1.0, (200, 300, 3))
    )
    found = components(values)
    assert found.minds == pytest.approx(0.25, rel=0.2)
    assert found.exercises == pytest.approx(0.64, rel=0.2)
    assert found.interaction == pytest.approx(0.36, rel=0.05)
    assert found.repeats == pytest.approx(1.0, rel=0.05)
    assert found.repeated == pytest.approx(3)
    n = 200
    expected = found.minds / (found.minds + (found.interaction + found.repeats / 3) / n)
    assert found.generalisability(n) == pytest.approx(expected)
    assert found.dependability(n) < found.generalisability(n)


def test_unequal_repeats_are_taken_by_their_harmonic_mean():
    rng = RNG(3)
    values = rng.normal(0, 0.5, (2000, 2, 1)) + rng.normal(0, 1.0, (2000, 2, 3))
    values[::2, :, 2] = np.nan
    found = components(values)
    assert found.repeated == pytest.approx(2 / (1 / 3 + 1 / 2))
    assert found.repeats == pytest.approx(1.0, rel=0.1)
    assert found.interaction == pytest.approx(0.25, abs=0.06)


def test_the_three_figures_of_a_table():
    rng = RNG(4)
    values = (rng.normal(0, 0.3, (50, 1)) + rng.normal(0, 0.2, (50, 4)) + np.arange(4) / 10)[
        ..., None
    ]
    found = reliability(values)
    errors = values[:, :, 0].var(axis=0, ddof=1) / 50
    assert found.total_error == pytest.approx(errors)
    assert found.stderr == pytest.approx(np.sqrt(errors))
    assert found.rel == pytest.approx(math.exp(-errors.mean()))
    assert found.interval[0] < found.generalisability < found.interval[1]
    assert found.dependability < found.generalisability
    assert found.why == ""
    assert found.budget("rel", 0.99) == exercises_for_rel(0.99, 50 * errors.mean())
    parts = found.components
    assert found.budget("generalisability", 0.9) == exercises_for_generalisability(
        0.9, parts.minds, parts.relative_error
    )


def test_exercises_that_some_mind_lacks_do_not_count():
    values = RNG(5).normal(size=(10, 2, 1))
    values[0, 0] = np.nan
    assert reliability(values).exercises == 9


def test_intervals_of_generalisability_cover_as_stated():
    """Three fixed minds on 40 exercises; 1,000 studies, within 4 standard errors."""
    rng, times = RNG(6), 1000
    means = np.array([0.0, 0.1, 0.3])
    truth = means.var() / (means.var() + 0.25 / 40)
    given = []
    for _ in range(times):
        values = means + rng.normal(size=(40, 1)) + rng.normal(0, 0.5, (40, 3))
        found = reliability(values[..., None]).interval
        given += [] if found is None else [found[0] <= truth <= found[1]]
    assert len(given) > 0.97 * times, "hardly ever do they differ less than chance makes them"
    assert abs(np.mean(given) - 0.95) < 4 * math.sqrt(0.95 * 0.05 / times)


def test_minds_far_apart_have_an_interval_too():
    values = RNG(7).normal(0, 0.01, (500, 3)) + np.array([0.0, 0.5, 1.0])
    found = reliability(values[..., None])
    assert 0.999 < found.interval[0] <= found.generalisability <= found.interval[1] < 1


def test_what_is_not_estimable_says_so():
    one_exercise = reliability(RNG(8).normal(size=(1, 3, 1)))
    assert one_exercise.rel is one_exercise.generalisability is None
    assert one_exercise.why.startswith("not estimable")
    one_mind = reliability(RNG(9).normal(size=(9, 1, 1)))
    assert one_mind.rel is not None
    assert one_mind.generalisability is None
    assert "there is one mind" in one_mind.why
    with pytest.raises(Error, match="there is one mind"):
        one_mind.budget("generalisability", 0.9)
    constant = reliability(np.full((9, 2, 1), 0.5))
    assert constant.generalisability is constant.interval is None
    assert constant.rel is constant.stderr is None, "a score that never varied shows no error of 0"
    with pytest.raises(Error, match="no score varies"):
        constant.budget("rel", 0.9)


def test_minds_that_differ_less_than_chance_have_no_interval_of_zero_width():
    one = np.array([0.0, 1.0] * 10)
    found = reliability(np.stack([one, 1 - one], axis=1)[..., None])
    assert found.generalisability == 0
    assert found.interval is None
    assert "less than chance" in found.why


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: exercises_for_rel(1.0, 0.5), "between 0 and 1"),
        (lambda: exercises_for_rel(0.0, 0.5), "between 0 and 1"),
        (lambda: exercises_for_rel(0.95, 0.5, bias=0.5), "stays below 0.779"),
        (lambda: exercises_for_generalisability(0.9, 0.0, 0.5), "do not differ beyond chance"),
        (lambda: exercises_for_generalisability(0.9, 1e-15, 0.5), "more than"),
        (lambda: reliance([]), "one or more minds"),
        (lambda: components(np.zeros((1, 2, 1))), "two or more"),
        (lambda: reliability(np.ones((3, 2, 1))).budget("alpha", 0.9), "no budget for 'alpha'"),
        (lambda: alpha(np.full((30, 3), np.nan)), "without gaps"),
        (lambda: kr20(np.full((30, 3), 0.5)), "take alpha"),
    ],
)
def test_what_cannot_be_asked(ask, said):
    with pytest.raises(Error, match=said):
        ask()


# ---------------------------------------------------------------- alpha


def test_alpha_is_refused_below_twenty_subjects():
    scores = RNG(10).normal(size=(20, 1)) + RNG(11).normal(size=(20, 5))
    assert alpha(scores).value is not None
    few = alpha(scores[:19])
    assert few.value is few.interval is None
    assert few.why == "not estimable: 19 subjects, and 20 of one population are the least"
    assert alpha(scores[:, :1]).why.startswith("not estimable")
    assert alpha(np.zeros((25, 4))).why.startswith("not estimable")


def test_kr20_is_its_formula_and_alpha_of_hits():
    ability = RNG(12).random((60, 1))
    hits = (RNG(13).random((60, 10)) < ability).astype(float)
    p = hits.mean(axis=0)
    expected = 10 / 9 * (1 - (p * (1 - p)).sum() / hits.sum(axis=1).var())
    assert kr20(hits).value == pytest.approx(expected)
    assert kr20(hits) == alpha(hits)


def test_intervals_of_alpha_cover_as_stated():
    """25 subjects, 6 items, variances .5 and 1: α = .5/(.5 + 1/6); 1,000 studies."""
    rng, times = RNG(14), 1000
    truth = 0.5 / (0.5 + 1 / 6)
    hits = 0
    for _ in range(times):
        low, high = alpha(
            rng.normal(0, math.sqrt(0.5), (25, 1)) + rng.normal(size=(25, 6))
        ).interval
        hits += low <= truth <= high
    assert abs(hits / times - 0.95) < 4 * math.sqrt(0.95 * 0.05 / times)


def test_floor_ceiling_and_clairvoyant_minds_do_not_count():
    minds = ["random", "mode", "levin-search", "oracle", "levin-search(time=9)"]
    kept, said = counted_minds(minds, {"oracle": "sees the future"}, {"random", None})
    assert kept == [1, 2, 4]
    assert said == "Reliability leaves out random, oracle: floor, ceiling or clairvoyant."
    assert counted_minds(["a"], {}, set()) == ([0], "")


def test_a_floor_mind_makes_others_look_better_told_apart():
    """Three minds that hardly differ, and one at the floor: Eρ² says that all is well."""
    values = RNG(11).normal(0, 0.5, (60, 4)) + np.array([0.0, 1.0, 1.05, 1.1])
    assert reliability(values[..., None]).generalisability > 0.98
    assert reliability(values[:, 1:, None]).generalisability < 0.9


def test_units_are_what_counts():
    """Ten items that came 20 times each say as much as ten."""
    items = RNG(12).normal(size=(10, 3))
    often = np.repeat(items, 20, axis=0)
    unit = np.repeat(np.arange(10), 20)
    found, once = reliability(often[..., None], unit), reliability(items[..., None])
    assert (found.exercises, found.rel) == (10, pytest.approx(once.rel))
    assert found.interval == pytest.approx(once.interval)
    assert reliability(often[..., None]).exercises == 200


def test_minds_that_differ_alike_everywhere_have_no_estimate():
    values = np.arange(8.0)[:, None] + np.array([0.0, 1.0])
    found = reliability(values[..., None])
    assert found.generalisability is found.interval is None
    assert "differ alike" in found.why
    nobody = reliability(np.zeros((5, 0, 1)))
    assert nobody.rel is None
    assert "no mind besides" in nobody.why
