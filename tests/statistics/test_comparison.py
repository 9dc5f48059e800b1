"""Pairs of minds: differences, what may be said of them, and how big they are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from allminds.core.errors import Error
from allminds.inference import Rule, difference, holm
from allminds.statistics.comparison import (
    compare,
    complexities,
    paired_g,
    plays_by_mind,
    scores_of,
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


def differences(frame, unit=None, **how):
    """All pairs, as `compare` has them."""
    return compare(frame, RNG(1), unit=unit, draws=50, **how).differences


# ---------------------------------------------------------------- differences


def test_paired_difference_is_that_of_a_paired_t_test():
    rng = RNG(1)
    a, b = rng.uniform(-0.5, 0.5, size=(2, 30))
    [found] = differences(table(a=a, b=b))
    assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
    for level, interval in ((0.95, found.interval), (0.9, found.interval90)):
        expected = stats.ttest_rel(a, b).confidence_interval(level)
        assert interval == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_unpaired_difference_is_that_of_welch():
    rng = RNG(2)
    a, b = rng.uniform(-0.5, 0.5, 12), rng.uniform(-0.6, 0.9, 40)
    frame = table(a=[*a, *[None] * 40], b=[*[None] * 12, *b])
    [found] = differences(frame, allow_unpaired=True)
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
    interval = expected.confidence_interval(0.95)
    assert found.interval == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert not found.paired


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(values):
    """A pair is rejected iff Bonferroni rejects every set of pairs that it is in."""
    everyone = range(len(values))
    sets = [of for size in everyone for of in itertools.combinations(everyone, size + 1)]
    for n, found in enumerate(holm(values)):
        worst = max(len(of) * min(values[k] for k in of) for of in sets if n in of)
        assert found == pytest.approx(min(1.0, worst), abs=1e-12)


@pytest.mark.parametrize(
    ("shift", "noise", "n", "verdict"),
    [
        (0.0, 0.1, 40, "equivalent"),
        (0.03, 0.1, 400, "different, but smaller than δ"),  # sure, but too small to matter
        (0.3, 0.1, 40, "different"),
        (0.0, 0.5, 40, "undecided"),
        (0.05, 0.1, 400, "different"),
    ],
)
def test_verdicts(shift, noise, n, verdict):
    differ = RNG(3).normal(size=n)
    differ = shift + noise * (differ - differ.mean()) / differ.std()
    base = np.linspace(-0.2, 0.2, n)
    [found] = differences(table(a=np.clip(base + differ, -9, 9), b=base))
    assert found.verdict == verdict


def test_a_wider_margin_lets_more_be_equivalent():
    a, b = RNG(4).uniform(-0.4, 0.4, size=(2, 50))
    assert differences(table(a=a, b=b))[0].verdict == "undecided"
    assert differences(table(a=a, b=b), margin=0.5)[0].verdict == "equivalent"


def test_one_exercise_decides_nothing():
    [found] = differences(table(a=[0.9], b=[0.1]))
    assert found.verdict == "undecided"
    assert found.interval is found.p is found.stderr is None
    frame = table(a=[0.9, None, None], b=[None, 0.1, 0.2])
    assert differences(frame, allow_unpaired=True)[0].verdict == "undecided"


@pytest.mark.parametrize("n", [2, 3, 40])
def test_minds_that_do_the_same_everywhere_are_undecided(n):
    a = RNG(5).uniform(0, 1, n)
    [found] = differences(table(a=a, b=a))
    assert (found.verdict, found.p) == ("undecided", 1)
    assert found.interval[0] < 0 < found.interval[1]


def test_two_exercises_that_differ_by_the_same_decide_nothing():
    [found] = differences(table(a=[0.5, 0.5], b=[0.25, 0.25]))
    assert found.verdict == "undecided"
    assert found.p >= 0.5


def test_of_minds_that_are_named_the_first_is_subtracted_from_the_second():
    frame = table(a=[0.1, 0.2, 0.4], b=[0.5, 0.4, 0.9], c=[0.0, 0.3, 0.2])
    for asked in (["b", "a"], ["a", "b"]):
        [found] = differences(frame, minds=asked)
        assert [found.second, found.first] == asked
    assert found.mean > 0
    found = differences(frame, minds=["c", "a", "b"])
    assert [one.pair for one in found] == ["a − c", "b − c", "b − a"]


def test_holm_is_over_the_pairs_that_were_asked_for():
    rng = RNG(5)
    base = rng.normal(0, 0.1, 30)
    minds = {f"m{n}": base + rng.normal(0.03 * n, 0.1, 30) for n in range(4)}
    frame = table(**minds)
    for found, count in (
        (differences(frame), 6),
        (differences(frame, baseline="m0"), 3),
        (differences(frame, minds=["m0", "m2"]), 1),
        (differences(frame, minds=["m1", "m2"], baseline="m0"), 2),
    ):
        assert len(found) == count
        assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))
        for one in found:
            exact = stats.ttest_rel(minds[one.first], minds[one.second]).pvalue
            assert one.p == pytest.approx(exact)
    with pytest.raises(Error, match="no mind 'm9' in the results"):
        differences(frame, minds=["m0", "m9"])


def test_a_pair_is_compared_on_what_it_has_in_common():
    frame = table(a=[0.1, 0.2, 0.3, None], b=[None, 0.1, 0.1, 0.9], c=[0.0, 0.0, 0.1, 0.4])
    by = {(one.first, one.second): one for one in differences(frame)}
    assert by["a", "b"].units == (2,)
    assert by["a", "b"].mean == pytest.approx(0.15)
    assert by["a", "c"].units == (3,)


def test_minds_without_a_common_exercise_are_compared_only_if_asked_for():
    frame = table(a=[0.1, 0.2, 0.3, None, None], b=[None, None, None, 0.1, 0.1])
    with pytest.raises(Error, match="a and b have no common exercise"):
        differences(frame)
    [found] = differences(frame, allow_unpaired=True)
    assert not found.paired
    assert found.units == (3, 2)
    assert found.mean == pytest.approx(0.1)


def test_failed_plays_count_and_missing_ones_do_not():
    frame = table(a=[0.1, 0.2, 0.3], b=[0.0, 0.0, 0.0]).assign(status="ok")
    frame.loc[0, ["status", "score"]] = "timeout", np.nan
    scores = scores_of(frame)
    assert scores.failed == (1, 0)
    [found] = differences(frame)
    assert found.units == (3,)
    assert found.mean == pytest.approx((0.0 + 0.2 + 0.3) / 3)  # the lowest there is on this scale
    assert found.failed
    frame.loc[0, "status"] = "missing"
    assert scores_of(frame).failed == (0, 0)
    [found] = differences(frame)
    assert found.units == (2,)
    assert not found.failed


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
    assert differences(frame)[0].units == (2,)


def test_exercises_of_a_test_are_one_unit():
    frame = table(a=[0.1, 0.3, 0.5, 0.5], b=[0.0, 0.0, 0.0, 0.2])
    frame["test"] = [0, 0, 0, 1] * 2
    [found] = differences(frame, "test")
    assert found.units == (2,)
    assert found.mean == pytest.approx(np.mean([0.1, 0.3, 0.5, 0.3]))  # of all exercises


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


def test_a_mind_that_failed_everything_has_the_lowest_score_and_no_rank():
    rng = RNG(1)
    frame = table(a=rng.random(20), b=rng.random(20), c=[0.0] * 20).assign(status="ok")
    frame.loc[frame["mind"] == "c", "status"] = "error"
    frame.loc[frame["mind"] == "c", "score"] = np.nan
    found = compare(frame, RNG(1), draws=50)
    last = found.standings[-1]
    assert (last.mind, last.found.score, last.found.failed, last.rank) == ("c", 0.0, 20, None)
    assert not last.found.ranked
    assert "equivalent" not in {one.verdict for one in found.differences if one.second == "c"}


def test_a_mind_that_was_never_played_is_left_out_and_named():
    frame = table(a=[0.1, 0.2], b=[0.3, 0.1], c=[0.0, 0.0]).assign(status="ok")
    frame.loc[frame["mind"] == "c", "status"] = "missing"
    frame.loc[frame["mind"] == "c", "score"] = np.nan
    found = compare(frame, RNG(1), draws=50)
    assert {one.mind for one in found.standings} == {"a", "b"}
    assert "c has no score: none of its exercises was played." in found.notes


@pytest.mark.parametrize(("n", "method"), [(10, "exact"), (40, "wilson")])
def test_the_interval_of_hits_is_that_of_a_count(n, method):
    hits = [1, 0, 1, 1, 0, 1, 1, 1, 1, 1] * (n // 10)
    found = compare(table(a=hits, b=[0] * n), RNG(1), draws=50)
    for one, count in zip(found.standings, (sum(hits), 0), strict=True):
        expected = stats.binomtest(count, n).proportion_ci(method=method)
        assert one.found.ci95 == pytest.approx((expected.low, expected.high), abs=1e-9)
    graded = compare(table(a=[0.5, *hits[1:]], b=[0] * n), RNG(1), draws=50)
    assert graded.standings[0].found.ci95 != found.standings[0].found.ci95


def test_complexity_columns_are_the_numbers_in_which_exercises_differ():
    frame = table(a=[0.1, 0.2], b=[0.3, 0.1])
    frame = frame.assign(H=3.0, index=range(4), name="x", test=[0, 1, 0, 1], bits=[1, 2, 1, 2])
    assert complexities(frame) == ["K", "bits"]


# ---------------------------------------------------------------- effect sizes


def test_g_and_its_interval_are_those_of_the_noncentral_t():
    a, b = RNG(7).normal(size=(2, 15))
    found = paired_g(a, b)
    pooled = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    factor = math.gamma(7) / math.gamma(6.5) / np.sqrt(7)  # Hedges' J for 14 degrees of freedom
    assert found.value == pytest.approx(factor * (a - b).mean() / pooled)
    t = stats.ttest_rel(a, b).statistic
    ends = [brentq(lambda x, q=q: stats.nct.cdf(t, 14, x) - q, -20, 20) for q in (0.975, 0.025)]
    scale = (a - b).std(ddof=1) / np.sqrt(15) / pooled
    assert found.interval == pytest.approx(np.array(ends) * scale, abs=1e-5)


def test_no_effect_size_where_nothing_varies():
    a = np.array([0.5, 0.5, 0.5])
    assert paired_g(a, a) is None


# ---------------------------------------------------------------- coverage by simulation


def share_covered(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])


def within(share, wanted, count):
    """Within 4 standard errors of a share."""
    return abs(share - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / count)


def pair_of(frame, unit=None, rule=Rule(low=-9.0, high=9.0)):  # noqa: B008 - a frozen value
    """The difference of the first two minds, without all the rest that `compare` makes."""
    plays = plays_by_mind(frame, rule, unit)
    one, other = plays
    return difference(plays[one], plays[other], rule, (one, other))


UNBOUNDED = Rule(low=-np.inf, high=np.inf)


def test_intervals_of_differences_cover_as_stated():
    rng, times = RNG(9), 400
    found = []
    for _ in range(times):
        shared = rng.normal(size=12)
        a, b = shared + rng.normal(0.1, 0.3, 12), shared + rng.normal(0, 0.3, 12)
        found.append(pair_of(table(a=a, b=b), rule=UNBOUNDED))
    assert within(share_covered([one.interval for one in found], 0.1), 0.95, times)
    assert within(share_covered([one.interval90 for one in found], 0.1), 0.90, times)


def test_tests_as_units_cover_where_exercises_do_not():
    """Ten tests of seven exercises by ten persons, who differ: 200 simulated studies."""
    rng, times = RNG(10), 200
    by_test, by_exercise = [], []
    for _ in range(times):
        person = np.repeat(rng.normal(0, 0.2, 10), 7)
        frame = table(people=person + rng.normal(0, 0.3, 70), program=rng.normal(0, 0.3, 70))
        frame["test"] = (frame["K"] // 7).astype(int)
        by_test.append(pair_of(frame, "test", UNBOUNDED).interval)
        by_exercise.append(pair_of(frame, rule=UNBOUNDED).interval)
    assert within(share_covered(by_test, 0), 0.95, times)
    assert share_covered(by_exercise, 0) < 0.88


def test_equivalent_is_said_of_a_difference_at_the_margin_once_in_twenty():
    rng, times = RNG(11), 1000
    words = ("equivalent", "different, but smaller than δ")
    said = [
        pair_of(table(a=rng.normal(0.05, 0.05, 30), b=np.zeros(30)), rule=UNBOUNDED).verdict
        in words
        for _ in range(times)
    ]
    assert within(np.mean(said), 0.05, times)


def test_intervals_of_effect_sizes_cover_as_stated():
    rng, times = RNG(12), 1000
    sizes = []
    for _ in range(times):
        shared = rng.normal(0, np.sqrt(0.5), 40)
        a, b = shared + rng.normal(0.5, np.sqrt(0.5), 40), shared + rng.normal(0, np.sqrt(0.5), 40)
        sizes.append(paired_g(a, b).interval)
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


def test_a_difference_on_a_part_of_the_items_says_so():
    rows = [("a", i, 1.0) for i in range(20)] + [("b", i, 0.0) for i in range(17, 40)]
    frame = pd.DataFrame(rows, columns=["mind", "exercise", "score"]).astype({"exercise": str})
    found = compare(frame, np.random.default_rng(1))
    assert found.differences[0].verdict == "undecided"
    assert "a − b is on the 3 items that both have; their scores are on 20 and 23." in found.notes


def test_a_place_is_not_surer_than_the_verdict_on_the_pair():
    """Scores that hardly vary: t would be sure of a difference that no verdict bears."""
    rows = [(m, i, 0.5 + (m == "a") * 0.001 * (i % 2)) for m in "ab" for i in range(12)]
    frame = pd.DataFrame(rows, columns=["mind", "exercise", "score"]).astype({"exercise": str})
    found = compare(frame, np.random.default_rng(1))
    assert found.differences[0].verdict == "undecided"
    assert [one.ranks for one in found.standings] == [(1, 2), (1, 2)]
