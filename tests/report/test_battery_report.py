"""The report of a battery: profiles, reliability, prediction, votes, weights, line-ups."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from html_page import Page
from scipy import stats

from allminds.core.errors import Error
from allminds.inference import Difference
from allminds.report import data, write_report
from allminds.report.charts import ink
from allminds.report.page import excluded_gist, prediction_gist
from allminds.report.sections import groups as grouped
from allminds.report.sections import prediction, profile, votes
from allminds.report.sections import profile as strips
from allminds.report.sections import reliability as report_reliability
from allminds.report.words import count, interval, number
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run
from allminds.statistics.accuracy import fit_curve
from allminds.statistics.reliability import reliability
from allminds.statistics.selection import against_best

HERE = How(jobs=1)
LETTERS = [
    "random", "levin-search", "mode", "pattern", "min-distance", "vote(mode,pattern,min-distance)",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tests = [
        Test(
            instrument="lambda-star",
            minds=["random", "q-learning(sessions=2)", "local-search", "optimum"],
            episodes=44,
            settings={"rows": 5, "cols": 5, "iterations": 10},
        ),
        Test(instrument="c-test", minds=LETTERS, episodes=20),
        Test(
            instrument="stag-hunt",
            minds=["random", "stag", "hare"],
            episodes=30,
            against="stag",
        ),
        Test(
            instrument="lambda-staircase",
            minds=["random", "follower"],
            episodes=20,
            settings={"time": 200, "steps": 20},
        ),
    ]
    return run(Plan(tests=tests), tmp_path_factory.mktemp("battery") / "run", HERE)


@pytest.fixture(scope="module")
def tests(folder):
    return data.read_tests(folder)


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    return Page(write_report(folder, out).read_text("utf-8"))


@pytest.fixture(scope="module")
def foreseen(tests):
    return prediction.predicted(tests[1])


def results(folder, test):
    return {row["mind"]: row for row in folder.summary()["tests"][test]["results"]}


# ---------------------------------------------------------------- who and where


def test_every_mind_is_listed_once_with_what_it_is(page):
    minds = [row[0] for row in page.tables["who"][0][1:]]
    assert len(minds) == len(set(minds)) == 12
    about = {row[0]: row[1] for row in page.tables["who"][0][1:]}
    assert "most frequent letter" in about["mode"]
    taken = {row[0]: row[3] for row in page.tables["who"][0][1:]}
    assert taken["random"] == "lambda-star; c-test; stag-hunt against stag; lambda-staircase"


def test_a_mind_in_a_game_goes_by_its_own_name_and_has_the_score_of_its_line_up(folder, tests):
    game = tests[2]
    assert game.minds == ["random", "stag", "hare"]
    assert game.label == "stag-hunt against stag"
    by_line_up = {row["mind"]: row["score"] for row in results(folder, 2).values()}
    assert game.summary["results"][2]["score"] == by_line_up["hare, stag"]
    assert np.nanmean(game.scores[:, 2]) == pytest.approx(by_line_up["hare, stag"])


# ---------------------------------------------------------------- profile


def test_places_lie_between_floor_and_ceiling_as_measured_best_first(tests, folder):
    assert profile.places(tests[3]) == []  # it has no ceiling
    rows = folder.records()
    rows = rows[rows["test"] == 1]
    score = {
        mind: np.average(own["score"], weights=own["k"])  # r̃
        for mind, own in rows.groupby("mind", observed=True)
    }
    floor, ceiling = score["random"], score["levin-search"]
    found = profile.places(tests[1])
    for one in found:
        assert one.value == pytest.approx((score[one.mind] - floor) / (ceiling - floor))
        assert one.interval == (
            ends and tuple(ends)
            if (ends := results(folder, 1)[one.mind]["normalised_ci95"])
            else None
        )
    assert len(found) == len(LETTERS)
    assert [one.value for one in found] == sorted((one.value for one in found), reverse=True)


def test_the_interval_of_a_place_is_that_of_a_ratio(tests, folder):
    """In a game: its ceiling is known, its floor was played on the same exercises."""
    rows = folder.records()
    rows = rows[(rows["test"] == 2) & (rows["slot"] == 0)]
    score = {name: own.to_numpy() for name, own in rows.groupby("line_up")["score"]}
    floor = score["random, stag"]
    width = 1 - floor.mean()
    shown = {one.mind: one for one in profile.places(tests[2])}
    assert (shown["random"].value, shown["random"].interval) == (0.0, None)
    value = (score["hare, stag"].mean() - floor.mean()) / width
    residuals = (score["hare, stag"] - floor - value * (1 - floor)) / width
    ends = stats.t.interval(0.95, 29, value, stats.sem(residuals))
    assert shown["hare"].value == pytest.approx(value)
    assert shown["hare"].interval == pytest.approx(ends)


def test_there_is_no_total_unless_weights_are_given(page):
    assert "total" not in page.tables
    assert "there is no total over tests" in page.text


def test_a_total_is_the_weighted_mean_of_those_who_took_all_of_it(tmp_path):
    plan = [
        Test(instrument=name, minds=["random", "tit-for-tat", other], episodes=30, against="random")
        for name, other in (("prisoners-dilemma", "defect"), ("stag-hunt", "hare"))
    ]
    folder = run(Plan(tests=plan), tmp_path / "run", HERE)
    weights = {"prisoners-dilemma": 1.0, "stag-hunt": 3.0}
    total = profile.section(data.read_tests(folder), weights)
    rows = {row["mind"]: row for row in total["rows"]}
    assert set(rows) == {"random", "tit-for-tat"}
    assert sorted(total["without"]) == ["defect", "hare"]
    assert (rows["random"]["value"], rows["random"]["interval"]) == (0.0, None)  # the floor itself
    one, other = (results(folder, test)["tit-for-tat, random"] for test in (0, 1))
    value = 0.25 * one["normalised"] + 0.75 * other["normalised"]
    half = [(one["normalised_ci95"][1] - one["normalised_ci95"][0]) / 2 for one in (one, other)]
    reach = math.hypot(0.25 * half[0], 0.75 * half[1])  # both are symmetric
    found = rows["tit-for-tat"]
    assert found["value"] == pytest.approx(value)
    assert found["interval"] == pytest.approx((value - reach, value + reach))
    out = write_report(folder, tmp_path / "report.html", weights)
    assert "Weights: prisoners-dilemma 1, stag-hunt 3." in out.read_text("utf-8")


def test_a_total_of_lopsided_intervals_keeps_them_lopsided():
    """By Zou and Donner: down and up are put together each by itself."""
    one, other = (SimpleNamespace(tool=SimpleNamespace(name=name)) for name in "ab")
    first = profile.ProfileMark("m", one, 0.5, (0.2, 0.6), strips.MIND)
    second = profile.ProfileMark("m", other, 0.9, (0.5, 1.2), strips.MIND)
    scaled = [(one, [first]), (other, [second])]
    (row,) = profile.total(scaled, {"a": 1.0, "b": 1.0}, (0.0, 1.0))["rows"]
    assert row["value"] == pytest.approx(0.7)
    assert row["interval"] == pytest.approx((0.7 - 0.25, 0.7 + math.hypot(0.05, 0.15)))
    bare = replace(second, interval=None)
    (row,) = profile.total([scaled[0], (other, [bare])], {"a": 1.0, "b": 1.0}, (0, 1))["rows"]
    assert (row["value"], row["interval"]) == (pytest.approx(0.7), None)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"lambda-sta": 1.0}, "no score on 'lambda-sta'"),
        ({"lambda-staircase": 1.0}, "no score on 'lambda-staircase'"),
        ({"c-test": -1.0}, "0 or more"),
        ({"c-test": math.nan}, "0 or more"),
        ({"c-test": 0.0}, "all weights are 0"),
    ],
)
def test_weights_that_make_no_sense_are_an_error(tests, weights, said):
    with pytest.raises(Error, match=said):
        profile.section(tests, weights)


def test_a_strip_keeps_what_is_far_below_the_floor_at_its_edge():
    dots = [strips.Dot(-30.0, -31.0, -29.0), strips.Dot(0.5, 0.4, 0.6)]
    ends = strips.domain(dots)
    assert ends == (strips.LOWEST, 1.0)
    assert strips.strip(dots, ends).count("<circle") == 1


# ---------------------------------------------------------------- reliability


def test_the_three_figures_are_those_of_psychometrics(folder, tests):
    row = report_reliability.row_of(tests[0])
    records = folder.records()
    records = records[records["test"] == 0]
    table = records.pivot_table("score", "index", "mind", observed=True)
    table = table[[name for name in table if name not in ("random", "optimum")]]  # floor, ceiling
    oracle = reliability(table.to_numpy()[:, :, None])
    errors = [results(folder, 0)[name]["stderr"] for name in table]
    assert row["left"] == "Reliability leaves out random, optimum: floor, ceiling or clairvoyant."
    assert row["generalisability"] == pytest.approx(oracle.generalisability)
    assert row["dependability"] == pytest.approx(oracle.dependability)
    assert row["interval"] == pytest.approx(oracle.interval)
    assert row["rel"] == pytest.approx(math.exp(-np.mean(np.square(errors))))
    assert row["sem"] == (min(errors), max(errors))
    assert row["budget"] == count(oracle.budget("generalisability", 0.9))


def test_more_exercises_buy_precision_by_the_square_root(folder, tests):
    row = report_reliability.row_of(tests[0])
    worst = 1.959964 * max(one["stderr"] for one in results(folder, 0).values())
    assert row["bought"] == pytest.approx([worst, worst / 2**0.5, worst / 2, worst / 10**0.5])
    assert row["for_near"] == math.ceil(44 * (worst / 0.02) ** 2)


def test_what_cannot_be_estimated_is_said(page, tests):
    assert "not estimable: each mind had exercises of its own" in page.text
    assert "a fixed form of 20: there are no more of them" in page.text
    assert report_reliability.row_of(tests[1])["bought"] is None


def test_a_fixed_form_given_twice_has_repeats():
    scores = np.arange(10.0).reshape(5, 2)
    found = report_reliability._repeats(scores, 3)
    assert found.shape == (3, 2, 2)
    assert found[0].tolist() == [[0.0, 6.0], [1.0, 7.0]]
    assert np.isnan(found[2, :, 1]).all()


# ---------------------------------------------------------------- prediction


def test_predictions_are_of_fits_that_have_not_seen_the_complexity(tests, foreseen):
    found = foreseen
    minds, counts = prediction.counts_of(tests[1])
    assert minds == LETTERS
    one = found.foreseen["items"]
    for n, level in enumerate(counts.difficulty):
        rest = counts.items(counts.difficulty != level)
        oracle = fit_curve(rest, one.curve).accuracy(level)[:, 0]
        assert one.predicted[:, n] == pytest.approx(oracle)
    upper = found.foreseen["upper"]
    low = counts.items(counts.difficulty < found.compared.upper_from)
    assert upper.predicted == pytest.approx(
        fit_curve(low, upper.curve).accuracy(upper.counts.difficulty)
    )


def test_hits_are_counted_by_mind_and_complexity(folder, tests):
    minds, counts = prediction.counts_of(tests[1])
    rows = folder.records()
    rows = rows[rows["test"] == 1]
    for m, mind in enumerate(minds):
        own = rows[rows["mind"] == mind].groupby("k")["score"].agg(["sum", "count"])
        assert counts.hits[m].tolist() == own["sum"].tolist()
        assert counts.trials[m].tolist() == own["count"].tolist()
    assert counts.chance == 1 / 26


def test_the_winner_and_its_error_are_named(page, foreseen):
    found = foreseen
    table = page.tables["cards foreseen"][0]
    for row, scheme in zip(table[1:], ("items", "upper"), strict=True):
        one = found.foreseen[scheme]
        assert row[1] == found.compared.winner(scheme)
        assert row[2:] == [
            number(one.absolute_error), number(one.chance_error), number(one.brier),
            number(one.log_loss),
        ]  # fmt: skip
    rows = page.tables["calibration"][0][1:]
    assert {row[0] for row in rows} == set(LETTERS)
    assert len(rows) == len(found.rows())


def test_scores_that_are_no_hits_are_foreseen_by_lines(page, tests):
    assert prediction.counts_of(tests[0]) is None
    rows = page.tables["cards lines"][0][1:]
    assert [row[0] for row in rows] == ["lambda-star"]
    assert {rows[0][1], rows[0][4]} <= {"straight line", "constant"}


# ---------------------------------------------------------------- votes


def test_a_vote_is_compared_with_its_best_member_on_other_exercises(folder, tests, foreseen):
    (table,) = votes.section(tests, [foreseen])
    (row,) = table["rows"]
    records = folder.records()
    records = records[records["test"] == 1]
    hits = records.pivot_table("score", "index", "mind", observed=True)
    about = records.groupby("index")[["k", "cluster"]].first()
    members = ["mode", "pattern", "min-distance"]
    found = against_best(
        hits[members].to_numpy(), hits[row["mind"]].to_numpy(),
        np.random.default_rng(votes.HALVES), about["cluster"].to_numpy(),
    )  # fmt: skip
    best = members[found.chosen]
    assert row["best"] == best
    chosen_on = np.setdiff1d(np.arange(20), found.compared)
    assert hits[best].iloc[chosen_on].mean() == hits[members].iloc[chosen_on].mean().max()
    gaps = (hits[row["mind"]] - hits[best]).iloc[found.compared]
    weights = about["k"].iloc[found.compared]
    assert row["gain"].mean == pytest.approx(np.average(gaps, weights=weights))  # of r̃
    assert (row["gain"].units, row["chosen_on"]) == ((len(gaps),), 20 - len(gaps))
    assert len(gaps) == 10
    assert row["beats_all"] is False


def test_a_vote_better_than_every_member_is_said_to_be(tests, foreseen):
    """And one that is so on average, but not surely, is not."""
    surely = tests[1].scores.copy()
    vote, members = LETTERS.index(LETTERS[-1]), [LETTERS.index(name) for name in LETTERS[2:5]]
    surely[:, vote] = 1.0
    surely[:, members] = 0.0
    ((table),) = votes.section([replace(tests[1], scores=surely)], [])
    assert table["rows"][0]["beats_all"] is True
    assert table["rows"][0]["gain"].sign == 1
    barely = surely.copy()
    barely[2:, members] = 1.0
    ((table),) = votes.section([replace(tests[1], scores=barely)], [])
    assert table["rows"][0]["beats_all"] is False
    assert table["rows"][0]["gain"].sign == 0


def test_a_vote_lies_within_what_its_members_allow(folder, tests, foreseen, page):
    (table,) = votes.section(tests, [foreseen])
    (row,) = table["rows"]
    low, high = row["bounds"]
    assert low <= row["score"] <= high
    assert row["correlation"] is None or 0 <= row["correlation"].value <= 1
    (shown,) = page.tables["cards dependence"][0][1:]
    assert shown[6] == interval(row["bounds"])


def test_what_lies_beyond_is_predicted_with_its_coverage_or_not_at_all(page, foreseen):
    rows = page.tables["cards beyond"][0][1:]
    assert {row[0] for row in rows} == set(foreseen.minds)
    for row in rows:
        if row[1].startswith("no prediction"):
            assert "decline" in row[1] or "too few" in row[1]
        else:
            assert 0.9 < float(row[4]) <= 1


def test_what_independent_members_would_make_is_counted_out(tests, foreseen):
    """Level by level, over all eight ways in which three members are right or wrong."""
    ((table),) = votes.section(tests, [foreseen])
    counts = foreseen.counts
    rows = [LETTERS.index(name) for name in ("mode", "pattern", "min-distance")]
    total = 0.0
    for level in range(len(counts.difficulty)):
        p = counts.hits[rows, level] / counts.trials[rows, level]
        for ways in itertools.product((0, 1), repeat=3):
            if sum(ways) > 1:
                chances = [q if right else 1 - q for q, right in zip(p, ways, strict=True)]
                total += math.prod(chances) * counts.trials[0, level]
    assert table["rows"][0]["independent"] == pytest.approx(total / counts.trials[0].sum())


def test_a_crossing_is_where_the_fitted_curves_meet(tests, foreseen):
    ((table),) = votes.section(tests, [foreseen])
    said = table["rows"][0]["crossings"]
    counts = prediction.counts_of(tests[1])[1]
    winner = foreseen.compared.winner("items")
    assert table["curve"] == winner
    fit = fit_curve(counts, winner)
    for part in said.split(", ") if " at " in said else ():
        member, at = part.rsplit(" at ", 1)
        vote, other = (LETTERS.index(name) for name in (LETTERS[-1], member))
        accuracy = fit.accuracy(float(at))
        assert accuracy[vote, 0] == pytest.approx(accuracy[other, 0], abs=0.02)


# ---------------------------------------------------------------- gists


def test_the_gists_are_computed(page, foreseen):
    assert "No exercise failed, and none is missing." in page.text
    winner = foreseen.foreseen["items"]
    assert f"c-test {number(winner.absolute_error)} ({winner.curve})" in page.text


def difference(mean, p, same):
    ends = (mean - 0.1, mean + 0.1)
    return Difference("a", "b", True, (9,), mean, None, ends, ends, p, same, p, same)


def test_groups_are_counted_by_their_verdicts():
    found = [
        difference(0.2, 0.01, 0.9), difference(-0.2, 0.01, 0.9), difference(0.01, 0.01, 0.01),
        difference(0.0, 0.9, 0.01), difference(0.1, 0.06, 0.9), None,
    ]  # fmt: skip

    def said(gains, where="tables"):
        parts = {"tables": [], "pooled": []} | {where: [{"rows": [{"gain": g} for g in gains]}]}
        return grouped.gist(parts, [])

    words = "Of 5 groups set against members alone, 2 did better, 1 worse"
    whole = f"{words}, 1 neither by more than 0.05; 1 cannot be told apart."
    assert said(found) == said(found, "pooled") == whole
    assert said(found[:1]) == "Of 1 group set against members alone, 1 did better, 0 worse."
    votes_alone = grouped.gist(None, [{"rows": [{"gain": found[1]}]}])
    assert votes_alone == "Of 1 group set against members alone, 0 did better, 1 worse."
    assert said([None]) == ""
    assert grouped.gist(None, []) == ""


def test_reliability_is_said_where_it_can_be_estimated():
    def said(*figures):
        rows = [
            {"generalisability": g, "interval": (0.1, 0.8), "data": SimpleNamespace(label=f"t{n}")}
            for n, g in enumerate(figures)
        ]
        return report_reliability.gist({"rows": rows})

    start = "in which it can be estimated, the generalisability Eρ² of the scores is .9 or more"
    assert said(0.95, 0.9) == f"On 2 of 2 tests {start}."
    least = "; the least is 0.400 [0.100, 0.800] on t1"
    assert said(0.95, 0.4, 0.5) == f"On 1 of 3 tests {start}{least}."
    assert said(0.9, None) == f"On 1 of 1 test {start}. On 1 test it cannot be estimated."
    assert said(None) == ""
    assert report_reliability.gist(None) == ""


def test_nothing_is_said_of_predictions_that_were_not_made():
    assert prediction_gist(None) == ""
    assert prediction_gist({"questions": []}) == ""


def test_failures_are_counted_in_the_sentence():
    def said(*rows):
        names = ("mind", "failed", "missing")
        return excluded_gist([dict(zip(names, row, strict=True)) for row in rows])

    found = said(("a", 3, 0), ("b", 1, 0), ("a", 2, 0))
    assert found == "6 plays of 2 minds failed and count as failures."
    gap = "; missing are 4 plays, so the run is not complete."
    found = said(("a", 3, 0), ("b", 0, 4))
    assert found == f"3 plays of 1 mind failed and count as failures{gap}"
    assert said() == "No exercise failed, and none is missing."


# ---------------------------------------------------------------- few points


def test_a_long_test_has_no_more_points_than_an_eye_can_use(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "MOST_EXERCISES", 50)
    test = Test(
        instrument="lambda-star",
        minds=["random", "local-search"],
        episodes=2000,
        settings={"rows": 3, "cols": 3, "iterations": 200},
    )
    folder = run(Plan(tests=[test], traces=0), tmp_path / "run", HERE)
    (found,) = data.read_tests(folder)
    assert len(found.points) <= 2 * data.MOST_LEVELS
    assert len(found.curve) <= data.MOST_STEPS
    assert len(found.scores) == 50
    row = report_reliability.row_of(found)
    assert row["exercises"] == 2000  # Eρ² is of all, from the first fifty
    assert row["interval"] is None
    assert len(write_report(folder, tmp_path / "report.html").read_bytes()) < 200_000


# ---------------------------------------------------------------- ink


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.3, 0.34), (0.951, 0.957), (2, 23), (-1e-7, 3e-7), (0, 12345)]
)
def test_ticks_are_few_round_and_within(low, high):
    found = ink.ticks(low, high)
    words = ink.labels(found)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
    assert len(set(words)) == len(words)
    assert [float(w.replace("−", "-").replace(",", "")) for w in words] == pytest.approx(found)


def test_counts_of_one_level_make_no_prediction(tests):
    one = data.TestData(tests[1].test, tests[1].tool, tests[1].summary, hits=True, column="k")
    one.points = [data.Point("random", 7.0, "7", 5, 0.2, None)]
    assert prediction.predicted(one) is None
