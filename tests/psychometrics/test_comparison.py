"""Pairs of minds: differences, what may be said of them, and how big they are."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from allminds.errors import Error
from allminds.psychometrics.comparison import (
    compare,
    complexities,
    differences,
    holm,
    paired,
    paired_dz,
    paired_g,
    scores_of,
    unpaired,
    unpaired_g,
)

RNG = np.random.default_rng


def table(**scores):
    """A results table: for each mind its scores on exercises 0, 1, …; None is a gap."""
    return pd.DataFrame(
        [
            {"exercise": f"e{n}", "mind": mind, "score": value, "K": float(n)}
            for mind, values in scores.items()
            for n, value in enumerate(values)
            if value is not None
        ]
    )


# ---------------------------------------------------------------- differences


def test_paired_difference_is_that_of_a_paired_t_test():
    rng = RNG(1)
    a, b = rng.normal(size=(2, 30))
    found = paired(a, b)
    assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
    for level, interval in ((0.95, found.interval), (0.9, found.interval90)):
        expected = stats.ttest_rel(a, b).confidence_interval(level)
        assert interval == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_unpaired_difference_is_that_of_welch():
    rng = RNG(2)
    a, b = rng.normal(size=12), rng.normal(0.3, 3, size=40)
    found = unpaired(a, b)
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.freedom == pytest.approx(expected.df, abs=1e-9)
    interval = expected.confidence_interval(0.95)
    assert found.interval == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert found.d_z is None


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(values):
    """A pair is rejected iff Bonferroni rejects every set of pairs that it is in."""
    everyone = range(len(values))
    sets = [of for size in everyone for of in itertools.combinations(everyone, size + 1)]
    for n, found in enumerate(holm(values)):
        worst = max(len(of) * min(values[k] for k in of) for of in sets if n in of)
        assert found == pytest.approx(min(1.0, worst), abs=1e-12)


@pytest.mark.parametrize(
    ("shift", "noise", "verdict"),
    [
        (0.0, 0.01, "no difference"),
        (0.03, 0.001, "no difference"),  # sure, but too small to matter
        (0.3, 0.1, "different"),
        (0.0, 0.5, "undecided"),
        (0.05, 0.001, "different"),
    ],
)
def test_verdicts(shift, noise, verdict):
    differ = RNG(3).normal(size=40)
    differ = shift + noise * (differ - differ.mean()) / differ.std()
    base = np.linspace(-0.5, 0.5, 40)
    assert paired(base + differ, base).verdict == verdict


def test_a_wider_margin_lets_more_be_no_difference():
    a, b = RNG(4).normal(0, 0.2, size=(2, 50))
    assert paired(a, b, margin=0.05).verdict == "undecided"
    assert paired(a, b, margin=0.5).verdict == "no difference"


def test_one_exercise_decides_nothing():
    found = paired(np.array([0.9]), np.array([0.1]))
    assert found.verdict == "undecided"
    assert found.interval is found.p is found.stderr is None
    assert unpaired(np.array([0.9]), np.array([0.1, 0.2])).verdict == "undecided"


def test_minds_that_differ_by_the_same_everywhere_differ_for_sure():
    a = np.array([0.1, 0.4, 0.2])
    assert paired(a, a).verdict == "no difference"
    assert paired(a, a).p == 1
    shifted = np.array([0.5, 0.5]), np.array([0.25, 0.25])
    assert paired(*shifted).verdict == "different"
    assert paired(*shifted).p == 0


def test_holm_is_over_all_pairs():
    rng = RNG(5)
    base = rng.normal(0, 0.1, 30)
    minds = {f"m{n}": base + rng.normal(0.03 * n, 0.1, 30) for n in range(4)}
    found = differences(scores_of(table(**minds)))
    assert len(found) == 6
    assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))
    for one in found:
        assert one.p == pytest.approx(stats.ttest_rel(minds[one.first], minds[one.second]).pvalue)


def test_a_pair_is_compared_on_what_it_has_in_common():
    frame = table(a=[0.1, 0.2, 0.3, None], b=[None, 0.1, 0.1, 0.9], c=[0.0, 0.0, 0.1, 0.4])
    by = {(one.first, one.second): one for one in differences(scores_of(frame))}
    assert by["a", "b"].units == (2,)
    assert by["a", "b"].mean == pytest.approx(0.15)
    assert by["a", "c"].units == (3,)


def test_minds_without_a_common_exercise_are_compared_only_if_asked_for():
    frame = table(a=[0.1, 0.2, 0.3, None, None], b=[None, None, None, 0.1, 0.1])
    with pytest.raises(Error, match="a and b have no common exercise"):
        differences(scores_of(frame))
    [found] = differences(scores_of(frame), allow_unpaired=True)
    assert not found.paired
    assert found.units == (3, 2)
    assert found.mean == pytest.approx(0.1)


def test_failed_plays_have_no_score():
    frame = table(a=[0.1, 0.2, 0.3], b=[0.0, 0.0, 0.0]).assign(status="ok")
    frame.loc[0, "status"] = "timeout"
    scores = scores_of(frame)
    assert scores.failed == (1, 0)
    assert differences(scores)[0].units == (2,)


def test_slots_and_repeats_of_an_exercise_are_one_value():
    rows = [
        ("e0", "a", 0, 0, 0.2), ("e0", "a", 1, 0, 0.4), ("e0", "a", 0, 7, 0.6),
        ("e0", "a", 1, 7, 1), ("e1", "a", 0, 0, 0.1), ("e0", "b", 0, 0, 0.0),
        ("e1", "b", 0, 3, 0.0),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["exercise", "mind", "slot", "repeat", "score"])
    scores = scores_of(frame)
    assert scores.values.shape == (2, 2, 2)
    assert scores.means == pytest.approx(np.array([[0.55, 0.0], [0.1, 0.0]]))
    assert differences(scores)[0].units == (2,)


def test_exercises_of_a_test_are_one_unit():
    frame = table(a=[0.1, 0.3, 0.5, 0.5], b=[0.0, 0.0, 0.0, 0.2])
    frame["test"] = [0, 0, 0, 1] * 2
    [found] = differences(scores_of(frame, "test"))
    assert found.units == (2,)
    assert found.mean == pytest.approx(0.3)  # of test means .3 and .3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda f: f.drop(columns="score"), "no column 'score'"),
        (lambda f: f.iloc[:0], "the table is empty"),
        (lambda f: f[f["mind"] == "a"], "two or more minds"),
        (lambda f: f.assign(score=np.nan), "two or more minds"),
    ],
)
def test_tables_that_cannot_be_compared(wrong, said):
    with pytest.raises(Error, match=said):
        compare(wrong(table(a=[0.1, 0.2], b=[0.3, 0.1])), RNG(1))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"unit": "sitting"}, "no column 'sitting'"),
        ({"unit": "differs"}, "differs between the plays of exercise e0"),
        ({"unit": "gaps"}, "'gaps' is empty for exercise e1"),
        ({"by": "kells"}, "no column 'kells'; did you mean 'cells'"),
        ({"by": "many"}, "'many' has 60 values"),
        ({"margin": 0.0}, "the margin must be above 0"),
        ({"margin": -1.0}, "the margin must be above 0"),
    ],
)
def test_what_cannot_be_asked_for(how, said):
    rng = RNG(6)
    frame = table(a=rng.random(60), b=rng.random(60))
    frame = frame.assign(cells=frame["K"] % 2, many=frame["K"], differs=range(120))
    frame["gaps"] = frame["K"].where(frame["K"] != 1)
    with pytest.raises(Error, match=said):
        compare(frame, RNG(1), **how)


def test_a_mind_that_failed_everything_is_left_out_and_named():
    frame = table(a=[0.1, 0.2], b=[0.3, 0.1], c=[0.0, 0.0]).assign(status="ok")
    frame.loc[frame["mind"] == "c", "status"] = "error"
    found = compare(frame, RNG(1), draws=50)
    assert {one.mind for one in found.standings} == {"a", "b"}
    assert found.notes == ("c has no score: all its exercises failed.",)


def test_the_interval_of_hits_is_wilsons():
    hits = [1, 0, 1, 1, 0, 1, 1, 1, 1, 1]
    found = compare(table(a=hits, b=[0] * 10), RNG(1), draws=50)
    for one, count in zip(found.standings, (8, 0), strict=True):
        expected = stats.binomtest(count, 10).proportion_ci(method="wilson")
        assert one.interval == pytest.approx((expected.low, expected.high), abs=1e-9)
    graded = compare(table(a=hits, b=[0.5, *[0] * 9]), RNG(1), draws=50)
    assert graded.standings[0].interval != found.standings[0].interval


def test_complexity_columns_are_the_numbers_in_which_exercises_differ():
    frame = table(a=[0.1, 0.2], b=[0.3, 0.1])
    frame = frame.assign(H=3.0, index=range(4), name="x", test=[0, 1, 0, 1], bits=[1, 2, 1, 2])
    assert complexities(frame) == ["K", "bits"]


# ---------------------------------------------------------------- effect sizes


def test_dz_and_its_interval_are_those_of_the_noncentral_t():
    a, b = RNG(7).normal(size=(2, 15))
    found = paired_dz(a, b)
    difference = a - b
    assert found.value == pytest.approx(difference.mean() / difference.std(ddof=1))
    t = stats.ttest_rel(a, b).statistic
    ends = [brentq(lambda x, q=q: stats.nct.cdf(t, 14, x) - q, -20, 20) for q in (0.975, 0.025)]
    assert found.interval == pytest.approx(np.array(ends) / np.sqrt(15), abs=1e-5)


def test_g_is_right_on_average():
    """Over 4,000 samples of 8 and 6 at δ = .7: within 4 standard errors, which d is not."""
    rng = RNG(8)
    found = np.array(
        [unpaired_g(rng.normal(0.7, 1, 8), rng.normal(0, 1, 6)).value for _ in range(4000)]
    )
    error = found.std() / np.sqrt(len(found))
    assert abs(found.mean() - 0.7) < 4 * error
    plain = found.mean() * (4 * 12 - 1) / (4 * 12 - 4)  # Hedges' approximation of 1/J
    assert abs(plain - 0.7) > 4 * error


def test_no_effect_size_where_nothing_varies():
    a = np.array([0.5, 0.5, 0.5])
    assert paired_dz(a, a) is None
    assert paired_g(a, a) is None
    assert unpaired_g(a, a) is None


# ---------------------------------------------------------------- coverage by simulation


def share_covered(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])


def within(share, wanted, count):
    """Within 4 standard errors of a share."""
    return abs(share - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / count)


def test_intervals_of_differences_cover_as_stated():
    rng, times = RNG(9), 2000
    found = []
    for _ in range(times):
        shared = rng.normal(size=12)
        found.append(paired(shared + rng.normal(0.1, 0.3, 12), shared + rng.normal(0, 0.3, 12)))
    assert within(share_covered([one.interval for one in found], 0.1), 0.95, times)
    assert within(share_covered([one.interval90 for one in found], 0.1), 0.90, times)


def test_tests_as_units_cover_where_exercises_do_not():
    """Ten tests of seven exercises by ten persons, who differ: 400 simulated studies."""
    rng, times = RNG(10), 400
    by_test, by_exercise = [], []
    for _ in range(times):
        person = np.repeat(rng.normal(0, 0.2, 10), 7)
        frame = table(people=person + rng.normal(0, 0.3, 70), program=rng.normal(0, 0.3, 70))
        frame["test"] = (frame["K"] // 7).astype(int)
        by_test += [one.interval for one in differences(scores_of(frame, "test"))]
        by_exercise += [one.interval for one in differences(scores_of(frame))]
    assert within(share_covered(by_test, 0), 0.95, times)
    assert share_covered(by_exercise, 0) < 0.88


def test_no_difference_is_said_of_a_difference_at_the_margin_once_in_twenty():
    rng, times = RNG(11), 2000
    said = [
        paired(rng.normal(0.05, 0.05, 30), np.zeros(30)).verdict == "no difference"
        for _ in range(times)
    ]
    assert within(np.mean(said), 0.05, times)


def test_intervals_of_effect_sizes_cover_as_stated():
    rng, times = RNG(12), 1000
    free, pairs, sizes = [], [], []
    for _ in range(times):
        free.append(unpaired_g(rng.normal(0.8, 1, 10), rng.normal(0, 1, 15)).interval)
        shared = rng.normal(0, np.sqrt(0.5), 40)
        a, b = shared + rng.normal(0.5, np.sqrt(0.5), 40), shared + rng.normal(0, np.sqrt(0.5), 40)
        pairs.append(paired_dz(a, b).interval)
        sizes.append(paired_g(a, b).interval)
    assert within(share_covered(free, 0.8), 0.95, times)
    assert within(share_covered(pairs, 0.5), 0.95, times)
    assert within(share_covered(sizes, 0.5), 0.95, times)  # approximate, but near


def test_tables_of_many_exercises_are_no_burden():
    rng = RNG(13)
    values = rng.normal(size=(2, 60_000))
    frame = pd.DataFrame(
        {
            "exercise": np.tile([f"e{n}" for n in range(60_000)], 2),
            "mind": np.repeat(["a", "b"], 60_000),
            "score": values.reshape(-1),
            "K": np.tile(rng.integers(0, 9, 60_000), 2).astype(float),
        }
    )
    found = compare(frame, RNG(1), draws=300)
    assert found.common == 60_000
    r = found.correlations[0]
    assert r.interval[1] - r.interval[0] == pytest.approx(2 * 1.96 / np.sqrt(60_000), rel=0.25)
