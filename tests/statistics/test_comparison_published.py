"""People and Q-learning in Λ (P3), from the authors' rows: every figure that was published."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import stats

from allminds.inference import Rule, difference
from allminds.runs.formats import formats
from allminds.statistics.comparison import (
    compare,
    correlations,
    mixed_model,
    plays_by_mind,
    repeated_measures,
    scores_of,
)
from allminds.statistics.reliability import alpha


@pytest.fixture
def frame(reference):
    return formats()["lambda-2011"](reference / "lambda_2011_rows.csv")


@pytest.fixture
def published(reference):
    with open(reference / "lambda_2011.csv", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            row["quantity"]: {"people": float(row["human"]), "q-learning": float(row["q_learning"])}
            for row in rows
        }


def test_means_and_spreads(frame, published):
    for mind, rows in frame.groupby("mind"):
        assert rows["score"].mean() == pytest.approx(
            published["mean over 140 exercises"][mind], abs=6e-4
        )
        of_tests = rows.groupby("test")["score"].mean()
        assert of_tests.std() == pytest.approx(published["sd of the 20 test means"][mind], abs=6e-4)
        assert rows["score"].std() == pytest.approx(
            published["sd over 140 exercises"][mind], abs=6e-4
        )
    means = frame.groupby("mind")["score"].mean()
    assert means["people"] == pytest.approx(0.2369, abs=5e-5)
    assert means["q-learning"] == pytest.approx(0.2585, abs=5e-5)


def test_correlations_with_complexity_overall_and_by_cells(frame, published):
    scores = scores_of(frame, "test")
    found = correlations(scores, ["K_prefix"], by="cells")
    assert len(found) == 2 * 8
    for one in found:
        what = "of reward with K_approx" if one.level is None else f"{one.level:g} cells"
        assert one.r == pytest.approx(published[f"correlation {what}"][one.mind], abs=6e-4)
        assert one.exercises == (140 if one.level is None else 20)
        rows = frame[frame["mind"] == one.mind]
        if one.level is not None:
            rows = rows[rows["cells"] == one.level]
        assert one.r == pytest.approx(stats.pearsonr(rows["K_prefix"], rows["score"])[0], abs=1e-10)


def test_correlation_intervals_by_resampling_tests(frame):
    """As stated for 2,000 resamples of the tests; ours is by leaving out one after the other."""
    found = correlations(scores_of(frame, "test"), ["K_prefix"])
    intervals = {one.mind: one.interval for one in found}
    assert intervals["people"] == pytest.approx((-0.37, -0.13), abs=0.02)
    assert intervals["q-learning"] == pytest.approx((-0.52, -0.36), abs=0.02)


def test_analysis_of_variance(frame):
    found = repeated_measures(frame, "test", ["mind", "cells"])
    assert found.subjects == 20
    agent, cells, both = found.effects
    assert [one.factors for one in found.effects] == [("mind",), ("cells",), ("mind", "cells")]
    assert [one.freedom for one in found.effects] == [(1, 19), (6, 114), (6, 114)]
    assert agent.f == pytest.approx(0.4605, abs=5e-5)
    assert agent.p == pytest.approx(0.5056, abs=5e-5)
    assert cells.f == pytest.approx(0.4005, abs=5e-5)
    assert cells.p == pytest.approx(0.8774, abs=5e-5)
    assert both.f == pytest.approx(0.6930, abs=5e-5)
    assert both.p == pytest.approx(0.6557, abs=5e-5)
    assert agent.epsilon == pytest.approx(1)
    assert cells.epsilon == pytest.approx(0.739, abs=5e-4)
    assert both.epsilon == pytest.approx(0.764, abs=5e-4)
    assert [round(one.eta, 3) for one in found.effects] == [0.024, 0.021, 0.035]


def test_people_minus_q_learning_is_undecided(frame):
    """People are a sample of people, the program is none: 20 differences of test means decide."""
    [found] = compare(frame, np.random.default_rng(1), draws=50).differences
    assert (found.first, found.second, found.units) == ("people", "q-learning", (20, 140))
    means = frame.pivot_table(index="test", columns="mind", values="score")
    test = stats.ttest_rel(means["people"], means["q-learning"])
    assert found.mean == pytest.approx(0.2369 - 0.2585, abs=1e-4)
    assert found.p == pytest.approx(test.pvalue, abs=1e-5)
    assert found.interval == pytest.approx(tuple(test.confidence_interval(0.95)), abs=1e-5)
    assert found.interval90 == pytest.approx((-0.077, 0.033), abs=5e-4)
    assert (found.mean / found.stderr) ** 2 == pytest.approx(0.4605, abs=5e-5)  # the F of agents
    assert found.verdict == "undecided"


def test_with_tests_as_units_the_square_of_t_is_the_f_of_agents(frame):
    """Without people as a sample, as two programs: tests are the units of both."""
    rule = Rule(low=-1.0, high=1.0)
    plays = plays_by_mind(frame, rule, "test")
    found = difference(plays["people"], plays["q-learning"], rule, ("people", "q-learning"))
    assert found.units == (20,)
    assert found.interval90 == pytest.approx((-0.077, 0.033), abs=5e-4)
    assert (found.mean / found.stderr) ** 2 == pytest.approx(0.4605, abs=5e-5)
    assert found.verdict == "undecided"


def test_over_exercises_the_interval_would_be_narrower(frame):
    """Exercises of one test were sat by one person, so they are not 140 units."""
    rule = Rule(low=-1.0, high=1.0)
    by_exercise, by_test = (
        difference(plays["people"], plays["q-learning"], rule, ("people", "q-learning"))
        for plays in (plays_by_mind(frame, rule), plays_by_mind(frame, rule, "test"))
    )
    assert by_exercise.units == (140,)
    assert by_exercise.mean == pytest.approx(by_test.mean)
    assert by_exercise.stderr < by_test.stderr


def test_alpha_of_the_seven_exercises(frame):
    people = frame[frame["mind"] == "people"].pivot(index="test", columns="cells", values="score")
    found = alpha(people.to_numpy())
    assert found.value == pytest.approx(0.32, abs=5e-3)
    assert (found.subjects, found.items) == (20, 7)
    assert found.interval[0] < 0 < 0.32 < found.interval[1]


def test_mixed_model(frame):
    """No sure effect of kind; scores fall with K, for Q-learning perhaps faster."""
    found = mixed_model(frame, "K_prefix", kind="mind")
    assert found.trouble == ()
    assert found.reference == "people"
    of = {term.name: term for term in found.terms}
    assert list(of) == ["intercept", "mind q-learning", "K_prefix", "mind q-learning × K_prefix"]
    assert of["mind q-learning"].estimate == pytest.approx(0.02158, abs=1e-4)
    assert of["mind q-learning"].interval[0] < 0 < of["mind q-learning"].interval[1]
    assert of["K_prefix"].interval[1] < 0
    assert found.environments > found.persons > 0


def test_all_of_it_at_once(frame):
    found = compare(frame, np.random.default_rng(1), unit="test", by="cells", draws=200)
    assert [one.mind for one in found.standings] == ["q-learning", "people"]
    assert [one.ranks for one in found.standings] == [(1, 2), (1, 2)]
    assert found.anova.effects[0].f == pytest.approx(0.4605, abs=5e-5)
    assert {"K", "K_prefix"} < {one.complexity for one in found.correlations}
    assert found.reliability.rel > 0.99  # near 1, as for any mean of many exercises,
    assert found.reliability.generalisability == 0  # and yet the two are not told apart
