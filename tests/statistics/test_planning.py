"""How many exercises: formulas against brute force, plans against fresh exercises."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import allminds as am
from allminds import registry
from allminds.core.errors import Error
from allminds.inference.intervals import FEWEST
from allminds.statistics.pilot import Pilot, Spread, known_by
from allminds.statistics.planning import Wanted, plan, precision
from allminds.statistics.reliability import components, of_measured

ONE = am.How(jobs=1)
ALL = Wanted(0.05, 0.05, 0.9, 0.95)


def pilot_of(instrument, minds, episodes, seed=1, settings=None, alone=False):
    """What came of it and its pilot, which has floor and ceiling too unless minds are `alone`."""
    found = am.evaluate(instrument, minds, episodes=episodes, seed=seed, settings=settings, how=ONE)
    frame = found.frame()
    if alone:
        frame = frame[frame["line_up"].isin(minds)]
    return found, Pilot.of(frame, registry.make_instrument(instrument, settings))


def table(scores, lost="missing", **columns):
    """A results table from scores[mind] = list, NaN where there is none: missing, or an error."""
    rows = [
        {"exercise": f"e{i}", "mind": mind, "score": None if math.isnan(score) else score,
         "status": lost if math.isnan(score) else "ok",
         **{name: values[i] for name, values in columns.items()}}
        for mind, values_of in scores.items()
        for i, score in enumerate(values_of)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def answers(pilot, wanted):
    return {(one.figure, one.who): one for one in plan(pilot, wanted)}


# ---------------------------------------------------------------- one spread


@given(
    variance=st.floats(1e-4, 4.0),
    wanted=st.floats(0.02, 1.0),
    strata=st.integers(1, 6),
    unit=st.integers(1, 7),
    lost=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_the_number_is_the_least_that_will_do(variance, wanted, strata, unit, lost):
    spread = Spread(variance, 10, 50, strata, unit, lost)
    n = spread.exercises_for(wanted)
    assert n % unit == 0
    assert spread.half_width(n) <= wanted
    assert n == 2 * unit or n == unit or spread.half_width(n - unit) > wanted


def test_half_a_length_is_students():
    spread = Spread(0.25, 10, 50)
    for n in (2, 5, 100):
        sample_error = 0.5 / math.sqrt(n)
        assert spread.half_width(n) == pytest.approx(stats.t.ppf(0.975, n - 1) * sample_error)
    assert Spread(0.25, 10, 50, unit=10).half_width(40) == pytest.approx(
        stats.t.ppf(0.975, 3) * 0.5 / math.sqrt(40)
    )


def test_a_length_beyond_reach_is_an_error():
    with pytest.raises(Error, match="more than 1e\\+12 exercises"):
        Spread(1.0, 10, 50).exercises_for(1e-9)


@pytest.mark.parametrize(
    ("draw", "variance"),
    [
        (lambda rng, n: rng.normal(size=n), 1.0),
        (lambda rng, n: rng.random(n), 1 / 12),
        (lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.25),
        (lambda rng, n: rng.laplace(size=n), 2.0),
    ],
)
def test_the_interval_of_a_variance_holds_it(draw, variance):
    """95 % of 400 pilots of 60; 85 % at least, as long tails are known badly from 60."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        values = draw(rng, 60)
        low, high = Spread.of_residuals(values - values.mean(), 59.0).range()
        held += low <= variance <= high
    assert held >= 0.85 * 400


def test_long_tails_make_a_variance_less_known():
    rng = np.random.default_rng(1)
    normal, tailed = rng.normal(size=2000), rng.standard_t(5, size=2000)
    assert known_by(tailed, 1999) < 0.7 * known_by(normal, 1999)
    assert known_by(normal, 1999) > 1700


# ---------------------------------------------------------------- the pilot's own figures


@pytest.mark.parametrize(
    ("instrument", "minds", "episodes"),
    [
        ("lambda-star", ["random", "local-search"], 88),
        ("lambda", ["random", "follower"], 70),
        ("prisoners-dilemma", ["random", "tit-for-tat,random"], 60),
        ("lambda-anytime", ["random"], 45),
    ],
)
def test_a_pilot_has_the_interval_that_its_own_table_shows(instrument, minds, episodes):
    found, pilot = pilot_of(instrument, minds, episodes)
    made = answers(pilot, Wanted(interval=0.05))
    compared = 0
    for row in found["results"]:
        low, high = row["ci95"]
        reach, spread = made["interval", row["mind"]].pilot, pilot.spreads[row["mind"]]
        assert spread.variance == pytest.approx(row["stderr"] ** 2 * spread.exercises, rel=1e-9)
        if math.isclose(high - row["score"], row["score"] - low, rel_tol=1e-9):  # Student's
            assert reach == pytest.approx((high - low) / 2, rel=1e-9)
            compared += 1
        else:  # the sample cannot bear Student's t; the table is more careful
            assert reach < (high - low) / 2
    assert compared


def test_r_of_the_c_test_has_its_own_error():
    found, pilot = pilot_of("c-test", ["random", "mode"], 180, settings={"form": "generated"})
    for row in found["results"]:
        spread = pilot.spreads[row["mind"]]
        if row["score"] == 1:  # the ceiling: no error yet, but a chance of one
            assert row["stderr"] is None
            assert spread.variance > 0
        else:
            assert spread.variance == pytest.approx(row["stderr"] ** 2 * 180, rel=1e-9)
    # k weighs: the error is not that of a plain share of hits
    hits = pilot.units[:, pilot.minds.index("mode")]
    assert abs(pilot.spreads["mode"].variance / hits.var() - 1) > 0.01


def test_pairs_have_the_interval_of_compare():
    found, pilot = pilot_of("lambda-star", ["random", "local-search", "expert"], 66)
    made = answers(pilot, Wanted(difference=0.05))
    assert len(made) == 6  # with the ceiling
    for one in found.compare().itertuples():
        pairs = [f"{one.first} − {one.second}", f"{one.second} − {one.first}"]
        (mine,) = [made["difference", pair] for pair in pairs if ("difference", pair) in made]
        middle = (one.high + one.low) / 2
        if math.isclose(middle, one.difference, rel_tol=1e-9):  # Student's
            assert mine.pilot == pytest.approx((one.high - one.low) / 2, rel=1e-9)
        else:  # experts and the optimum hardly differ
            assert {one.first, one.second} == {"expert", "optimum"}
            assert mine.pilot < (one.high - one.low) / 2


# ---------------------------------------------------------------- fresh exercises


@pytest.mark.parametrize(
    ("instrument", "settings", "minds", "wanted"),
    [
        ("lambda-star", {}, ["random", "local-search", "optimum"], 0.008),
        ("lambda", {}, ["random", "q-learning"], 0.012),  # many tests of seven, so that t is near z
        ("matrices", {}, ["random", "rule-induction"], 0.06),
        ("c-test", {"form": "generated"}, ["random", "mode"], 0.03),
        ("stag-hunt", {}, ["random"], 0.03),
    ],
)
def test_the_planned_number_gives_the_wanted_interval_on_fresh_exercises(
    instrument, settings, minds, wanted
):
    """Half the length in the mean of three fresh lots: what was wanted within 15 % if the pilot
    knows the variance well; as much less or more as it says, within a tenth, if not.
    """
    _, pilot = pilot_of(instrument, minds, 440, seed=11, settings=settings)
    for answer in plan(pilot, Wanted(interval=wanted)):
        if answer.exercises is None:
            assert answer.why
            continue
        fresh = [
            pilot_of(instrument, [answer.who], answer.even, seed, settings)[0]
            for seed in (12, 13, 14)
        ]
        if min(one["results"][0]["clusters"] for one in fresh) < FEWEST:
            continue  # too few for Student's t, which plans are made by
        reach = np.mean([1.96 * (one["results"][0]["stderr"] or 0.0) for one in fresh])
        spread = pilot.spreads[answer.who]
        ends = [spread.with_variance(v).half_width(answer.even) for v in spread.range()]
        assert answer.even <= answer.exercises
        assert 0.9 * ends[0] <= reach <= 1.1 * ends[1]
        if spread.freedom > 150:
            assert reach == pytest.approx(wanted, rel=0.15)


def test_a_planned_difference_and_reliability_come_true():
    """On exercises of another seed: the length within 15 %, Eρ² within .05."""
    minds = ["random", "q-learning", "sarsa"]
    _, pilot = pilot_of("lambda", minds, 350, seed=3, alone=True)
    made = plan(pilot, Wanted(difference=0.02, reliability=0.9))
    for answer in made[:3]:
        pair = answer.who.split(" − ")
        again, _ = pilot_of("lambda", pair, answer.even, seed=4)
        rows = again.compare().itertuples()
        (row,) = [row for row in rows if {row.first, row.second} == set(pair)]
        assert (row.high - row.low) / 2 == pytest.approx(0.02, rel=0.15)
    best = next(one for one in made if one.figure == "generalisability")
    assert best.low <= best.even <= best.exercises <= best.high
    many, whole = pilot_of("lambda", minds, 7000, seed=5, alone=True)
    units, strata = whole.common()
    parts = components(units[:, :, None], strata)
    assert many["episodes"] == 7000
    assert parts.generalisability(best.even) == pytest.approx(0.9, abs=0.05)
    assert parts.generalisability(best.exercises) > 0.88


# ---------------------------------------------------------------- strata


def test_components_within_strata_by_hand():
    """Two strata of two exercises, two minds; all sums by hand."""
    cells = np.array([[0.0, 1.0], [0.2, 1.0], [0.5, 0.4], [0.5, 0.8]])[:, :, None]
    strata = np.array([0, 0, 1, 1])
    parts = components(cells, strata)
    # within strata: deviations (∓.1, 0), (0, ∓.2); of exercises (∓.05), (∓.1); of the rest the same
    rest = (4 * 0.05**2 + 4 * 0.1**2) / (2 * 1)
    of_exercises = 2 * (2 * 0.05**2 + 2 * 0.1**2) / 2
    means = np.array([(0.1 + 0.5) / 2, (1.0 + 0.6) / 2])
    of_minds = 4 * means.var(ddof=1)
    assert parts.interaction == pytest.approx(rest)
    assert parts.exercises == pytest.approx(max(0.0, (of_exercises - rest) / 2))
    assert parts.minds == pytest.approx((of_minds - rest) / 4 / 2)


def test_one_stratum_is_no_strata():
    rng = np.random.default_rng(2)
    values = rng.random((30, 4, 2))
    assert components(values) == components(values, np.full(30, 7))
    assert of_measured(values) == of_measured(values, np.full(30, 7))


def test_components_within_strata_come_back_from_a_simulation():
    """σ² of exercises .04 and of the rest .09; between strata there is ten times as much."""
    rng = np.random.default_rng(8)
    strata = np.repeat(np.arange(10), 400)
    minds, levels = np.array([0.0, 0.3, 0.9]), rng.normal(size=(10, 3))
    levels -= levels.mean(axis=0)
    values = (
        minds + levels[strata] + rng.normal(0, 0.2, 4000)[:, None] + rng.normal(0, 0.3, (4000, 3))
    )
    parts = components(values[:, :, None], strata)
    assert parts.exercises == pytest.approx(0.04, rel=0.15)
    assert parts.interaction == pytest.approx(0.09, rel=0.1)
    assert parts.minds == pytest.approx(minds.var(), rel=0.1)
    plain = components(values[:, :, None])
    assert plain.interaction > 3 * parts.interaction


def test_the_interval_of_a_number_for_reliability_holds_it():
    """95 % of 300 pilots of three minds on 24 exercises in four strata, Eρ² = .9 wanted."""
    rng = np.random.default_rng(4)
    minds, sigma, strata = np.array([-0.1, 0.0, 0.1]), 0.3, np.arange(24) % 4
    exact = sigma**2 / minds.var() * 9
    levels = np.array([0.4, 0.1, -0.2, -0.3])[strata]
    held = []
    for _ in range(300):
        scores = minds + levels[:, None] + rng.normal(0, 0.2, 24)[:, None]
        scores = scores + rng.normal(0, sigma, (24, 3))
        low, high = of_measured(scores[:, :, None], strata)
        counts = [24 * 9 * (1 - s) / s if s else math.inf for s in (high, low)]
        held.append(counts[0] <= exact <= counts[1])
    assert np.mean(held) == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 300))


def test_strata_with_too_few_exercises_are_not_planned_by():
    _, pilot = pilot_of("lambda-star", ["random", "local-search"], 25)  # 22 values of K
    assert all(spread.strata == 1 for spread in pilot.spreads.values())
    _, pilot = pilot_of("lambda-star", ["random", "local-search"], 40)
    assert all(spread.strata == 22 for spread in pilot.spreads.values())


# ---------------------------------------------------------------- what a pilot cannot say


def test_what_a_pilot_cannot_say_is_a_sentence():
    nan = math.nan
    scores = {
        "one": [0.5, nan, nan],
        "none": [nan, nan, nan],
        "same": [0.2] * 3,
        "ok": [0.1, 0.4, 0.3],
    }
    made = answers(Pilot.of(table(scores), None), ALL)
    assert "one exercise says nothing" in made["interval", "one"].why
    assert "so the pilot cannot say" in made["interval", "none"].why
    assert "the same in all exercises" in made["interval", "same"].why
    assert made["interval", "ok"].exercises > 3
    assert "fewer than two" in made["difference", "one − none"].why
    assert "too few exercises in common" in made["generalisability", "all minds"].why
    assert made["rel", "all minds"].why.startswith("one: ")
    for one in made.values():
        assert (one.exercises is None) == bool(one.why)


def test_one_mind_has_no_reliability_and_no_difference():
    made = answers(Pilot.of(table({"a": [0.1, 0.3, 0.2]}), None), ALL)
    assert "there is one mind" in made["generalisability", "all minds"].why
    assert "two or more minds" in made["difference", "all minds"].why


def test_minds_that_do_not_differ_never_become_reliable():
    values = [0.1, 0.9, 0.3, 0.6]
    made = answers(Pilot.of(table({"a": values, "b": values[::-1]}), None), ALL)
    assert "do not differ beyond chance" in made["generalisability", "all minds"].why


def test_all_right_answers_leave_a_chance_of_wrong_ones():
    made = answers(Pilot.of(table({"a": [1.0] * 30, "b": [1.0, 0.0] * 15}), None), ALL)
    sure = made["interval", "a"]
    share = 1 / 32  # Laplace's rule for 30 of 30
    expected = stats.norm.ppf(0.975) ** 2 * share * (1 - share) / 0.05**2
    assert sure.even == pytest.approx(expected, rel=0.15)
    assert sure.low < sure.even < sure.exercises <= sure.high
    assert made["interval", "b"].even == pytest.approx(1.96**2 * 0.25 / 0.05**2, rel=0.1)


def test_missing_exercises_are_allowed_for():
    rng = np.random.default_rng(3)
    values = rng.random(400)
    half = np.where(np.arange(400) % 2, values, np.nan)
    whole = answers(Pilot.of(table({"a": values}), None), Wanted(interval=0.01))
    lost = answers(Pilot.of(table({"a": half}), None), Wanted(interval=0.01))
    assert lost["interval", "a"].even == pytest.approx(2 * whole["interval", "a"].even, rel=0.1)


def test_failures_count_in_a_pilot():
    """A failed exercise is one with the lowest score: none is lost, and scores vary more."""
    values = np.random.default_rng(3).random(400)
    half = np.where(np.arange(400) % 2, values, np.nan)
    pilot = Pilot.of(table({"a": half}, lost="error"), None)
    made = answers(pilot, Wanted(interval=0.01))["interval", "a"]
    counted = np.nan_to_num(half)
    stderr = counted.std(ddof=1) / 20
    assert made.pilot == pytest.approx(stats.t.ppf(0.975, 399) * stderr)
    assert made.even == pytest.approx(400 * (stats.norm.ppf(0.975) * stderr / 0.01) ** 2, rel=0.01)
    assert "failed 50.0%" in pilot.notes[0]


def test_an_adaptive_test_needs_whole_administrations():
    short = {"time": 200}
    unit = registry.make_instrument("lambda-anytime", short).sitting
    _, pilot = pilot_of("lambda-anytime", ["random"], unit, settings=short, alone=True)
    (answer,) = plan(pilot, Wanted(interval=0.1))
    assert f"give {2 * unit} exercises or more" in answer.why
    _, pilot = pilot_of("lambda-anytime", ["random", "q-learning"], 5 * unit, settings=short)
    assert unit > 1
    assert all(one.exercises % unit == 0 for one in plan(pilot, ALL) if one.exercises)


def test_a_fixed_form_says_that_it_ends():
    _, pilot = pilot_of("c-test", ["random", "mode"], 20)
    assert "20 different exercises" in pilot.notes[0]


@pytest.mark.parametrize(
    "wrong",
    [{"interval": 0.0}, {"difference": -1.0}, {"reliability": 1.0}, {"rel": 90.0},
     {"assurance": 0.4}, {"assurance": 1.0}],
)  # fmt: skip
def test_wishes_that_cannot_be_are_refused(wrong):
    with pytest.raises(Error, match=r"a wanted|an assurance"):
        Wanted(**wrong)


def test_more_exercises_are_never_less_precise():
    _, pilot = pilot_of("lambda", ["random", "follower"], 70, alone=True)
    by_mind: dict[str, list[float]] = {}
    for mind, _, reach in precision(pilot, 5000):
        by_mind.setdefault(mind, []).append(reach)
    assert set(by_mind) == {"random", "follower"}
    for reaches in by_mind.values():
        assert reaches == sorted(reaches, reverse=True)


# ---------------------------------------------------------------- every instrument


@pytest.mark.parametrize("instrument", sorted(registry.instruments()))
def test_every_instrument_can_be_planned_for(instrument):
    tool = registry.make_instrument(instrument)
    minds = [name for name in (tool.floor_mind, tool.ceiling_mind) if name]
    episodes = 2 * tool.sitting if tool.adaptive else 12
    _, pilot = pilot_of(instrument, minds, episodes)
    made = plan(pilot, ALL)
    assert {one.figure for one in made} == {
        "interval", "difference", "generalisability", "dependability", "rel",
    }  # fmt: skip
    for one in made:
        assert (one.exercises is None) == bool(one.why)
        if one.exercises is not None and one.low is not None:
            assert one.low <= one.even <= one.exercises


# ---------------------------------------------------------------- assurance


def test_more_assurance_takes_more_exercises():
    spread = Spread(0.25, 20, 21)
    numbers = [spread.exercises_for(0.05, assurance) for assurance in (0.5, 0.8, 0.95)]
    assert numbers == sorted(set(numbers))
    assert spread.exercises_for(0.05) < numbers[1]


def test_a_pilot_that_sees_every_complexity_once_is_too_small():
    """Λ* has 22 values of K: a pilot of 15 has the lowest 15, and none twice."""
    _, pilot = pilot_of("lambda-star", ["local-search"], 15, alone=True)
    (answer,) = plan(pilot, Wanted(interval=0.05))
    assert answer.exercises is None
    assert "may lack the hardest" in answer.why
    _, pilot = pilot_of("lambda-star", ["local-search"], 30, alone=True)
    (answer,) = plan(pilot, Wanted(interval=0.5))
    assert answer.exercises >= 44  # two for every K
