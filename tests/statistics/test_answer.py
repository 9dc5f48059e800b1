"""The answer about a mind: its verdicts are those of compare, and its sentences are true."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from allminds import MindBase, evaluate
from allminds.inference import Plays, Rule, estimate
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run
from allminds.runs.summary import answer_of_run
from allminds.statistics.answer import Measured, answer, answer_of
from allminds.statistics.answer_words import between, error_rates, sentences
from allminds.statistics.comparison import compare

HERE = How(jobs=1)
SMALL = {"rows": 5, "cols": 5, "iterations": 10}


class Breaks(MindBase):
    """Fails every exercise that it is given."""

    def act(self, observation, random):
        raise ValueError("broken")


def plays_of(scores, failed=None, stratum=None):
    n = len(scores)
    item = np.arange(n)
    none = np.zeros(n, bool) if failed is None else np.asarray(failed)
    strata = np.zeros(n) if stratum is None else stratum
    return Plays(item, item, strata, np.asarray(scores, float), none, np.full(n, np.nan))


def made(columns, ends=None, yours=(), clairvoyant=(), k=None, scale=(0.0, 1.0), failed=()):
    """A test of no instrument with these scores; `ends` says who is its floor or ceiling."""
    rule = Rule(low=scale[0], high=scale[1])
    tool = SimpleNamespace(name="made", adaptive=False, length=None, rule=lambda: rule)
    plays, rows = {}, {}
    for mind, scores in columns.items():
        lost = np.ones(len(scores), bool) if mind in failed else None
        plays[mind] = plays_of(scores, lost)
        found = estimate(plays[mind], rule)
        rows[mind] = {
            "mind": mind, "score": found.score, "ci95": found.ci95, "normalised": None,
            "normalised_ci95": None, "end": (ends or {}).get(mind), "ranked": found.ranked,
            "failed": found.failed, "missing": found.missing, "episodes": found.episodes,
        }  # fmt: skip
    return Measured(
        "made", tool, rows, plays, "K" if k is not None else "",
        {} if k is None else dict.fromkeys(columns, k), frozenset(clairvoyant), tuple(yours),
    )  # fmt: skip


def told(found):
    return " ".join(one.text for mind in found.minds for one in sentences(found, mind))


# ---------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tests = [
        Test(instrument="lambda-star", minds=["random", "local-search", "optimum"],
             episodes=66, settings=SMALL),
        Test(instrument="c-test", minds=["random", "mode", "pattern", "levin-search"], episodes=20),
        Test(instrument="stag-hunt", minds=["random", "stag", "hare"], episodes=30,
             against="stag"),
        Test(instrument="lambda-staircase", minds=["random", "follower"], episodes=20,
             settings={"time": 200, "steps": 20}),
    ]  # fmt: skip
    plan = Plan(tests=tests, yours=["local-search", "hare", "mode", "follower"])
    return run(plan, tmp_path_factory.mktemp("answer") / "run", HERE)


def test_records_on_disk_and_in_memory_give_the_same_answer(folder):
    minds = [
        {row["mind"]: test.mind_of(row["mind"]) for row in one["results"]}
        for test, one in zip(folder.plan.tests, folder.summary()["tests"], strict=True)
    ]
    one = answer_of_run(folder)
    other = answer_of(folder.summary(), folder.records(), minds)
    assert (one.comparisons, one.falls) == (other.comparisons, other.falls)
    for a, b in zip(one.minds, other.minds, strict=True):
        assert a.mind == b.mind
        for here, there in zip(a.tests, b.tests, strict=True):
            assert set(here.differences) == set(there.differences)
            for rival, one_of in here.differences.items():
                other_of = there.differences[rival]
                assert one_of.p_holm == pytest.approx(other_of.p_holm)
                assert (one_of.mean, one_of.verdict) == (
                    pytest.approx(other_of.mean), other_of.verdict
                )  # fmt: skip
            assert (here.best, here.median, here.needs) == (there.best, there.median, there.needs)
            assert (here.fall is None) == (there.fall is None)
            if here.fall:
                assert here.fall.p_holm == pytest.approx(there.fall.p_holm)
                assert (here.fall.at, here.fall.before) == (there.fall.at, there.fall.before)


def test_a_mind_of_a_game_is_compared_by_its_own_name(folder):
    (hare,) = [mind for mind in answer_of_run(folder).minds if mind.mind == "hare"]
    (on,) = hare.tests
    assert (on.floor, on.best, on.test.label) == ("random", "stag", "stag-hunt against stag")
    assert len(hare.not_taken) == 3


def test_clairvoyants_are_no_rivals(folder):
    (on,) = next(one for one in answer_of_run(folder).minds if one.mind == "local-search").tests
    assert on.test.clairvoyant == {"optimum"}
    assert on.rivals == []
    assert set(on.differences) == {"random"}
    assert "No other fair mind took this test." in told(answer_of_run(folder))


def test_with_one_mind_on_one_test_the_verdicts_are_those_of_compare():
    results = evaluate("lambda-star", ["local-search", "q-learning(sessions=2)", "random"],
                       episodes=66, settings=SMALL, ends=False)  # fmt: skip
    frame = results.frame()
    found = answer_of(dict(results.summary) | {"yours": ["local-search"]}, frame)
    (on,) = found.minds[0].tests
    oracle = compare(frame, np.random.default_rng(1), tool=on.test.tool, baseline="local-search")
    assert len(oracle.differences) == found.comparisons == 2
    for one in oracle.differences:  # the rival minus this mind
        mine = on.differences[one.first]
        assert mine.mean == pytest.approx(-one.mean)
        assert mine.p_holm == pytest.approx(one.p_holm)
        assert mine.p_same_holm == pytest.approx(one.p_same_holm)
        assert (mine.verdict, mine.sign) == (one.verdict, -one.sign)


def test_where_nobody_is_asked_about_it_is_about_the_best_fair_mind_of_each_test(tmp_path):
    minds = ["random", "local-search", "q-learning(sessions=2)", "optimum"]
    test = Test(instrument="lambda-star", minds=minds, episodes=66, settings=SMALL)
    found = answer_of_run(run(Plan(tests=[test]), tmp_path / "run", HERE))
    assert not found.yours
    (mind,) = found.minds
    assert mind.mind is None
    assert [one.mind for one in mind.tests] == ["local-search"]
    assert found.comparisons == 3  # two fair minds with each other, and each with the floor
    assert "all pairs of fair minds" in error_rates(found)


def test_the_users_minds_are_compared_with_each_other_first():
    chance = np.random.default_rng(3)
    low = chance.random(60) * 0.5
    columns = {"one": low + 0.3, "two": low, "rival": low + 0.1}
    found = answer([made(columns, yours=("one", "two"))])
    (text,) = between(found)
    assert text.startswith("one did better than two on made by 0.300; the difference is 0.300")
    assert found.comparisons == 3  # it is one of the family that is corrected for
    assert between(answer([made(columns, yours=("one",))])) == []
    assert between(answer([made(columns)])) == []


def test_two_minds_that_did_the_same_are_said_to_have():
    scores = np.random.default_rng(4).random(40)
    columns = {"one": scores, "two": scores.copy(), "random": scores / 2}
    found = answer([made(columns, {"random": "floor"}, yours=("one", "two"))])
    assert between(found) == [
        "Whether one did better or worse than two on made is undecided: they got the same score "
        "on every exercise."
    ]
    several = answer([made(columns, yours=("one", "two"))] * 2)
    assert between(several)[0].startswith("one against two: undecided on 2 (made, the same score")


# ---------------------------------------------------------------- error rates


def test_of_minds_that_are_alike_none_is_said_to_be_better():
    """Six alike, the best one chosen afterwards: a false verdict in at most 5 % of runs."""
    rng, repeats = np.random.default_rng(11), 300
    for yours in ((), ("m0",)):
        false = 0
        for _ in range(repeats):
            skill = rng.normal(size=40)
            columns = {
                f"m{n}": np.clip(0.2 * skill + 0.2 * rng.normal(size=40), -1, 1) for n in range(6)
            }
            tests = [made(columns, yours=yours, scale=(-1.0, 1.0))] * 2
            found = answer(tests)
            false += any(
                on.outcome(rival) in ("better", "worse")
                for on in found.minds[0].tests
                for rival in on.rivals
            )
        assert false <= stats.binom.ppf(0.999, repeats, 0.05)


def test_the_correction_is_over_all_tests_and_all_minds():
    rng = np.random.default_rng(2)
    floor = rng.uniform(-0.3, 0.3, 40)
    noise = rng.normal(size=40)
    noise = 0.1 * (noise - noise.mean()) / noise.std(ddof=1)
    barely = floor + noise + stats.t.isf(0.015, 39) * 0.1 / 40**0.5  # p = .03 alone
    one = made({"mine": barely, "floor": floor}, {"floor": "floor"}, ["mine"], scale=(-1.0, 1.0))
    alone = answer([one])
    assert alone.minds[0].tests[0].outcome("floor") == "better"
    thrice = answer([one] * 3)
    assert thrice.comparisons == 3
    assert {on.outcome("floor") for on in thrice.minds[0].tests} == {"undecided"}


def test_two_minds_of_the_users_are_compared_once_and_seen_from_both_sides():
    rng = np.random.default_rng(4)
    base = rng.uniform(0.2, 0.5, 60)
    columns = {"one": base + 0.2, "other": base + 0.01 * rng.normal(size=60), "rival": base}
    found = answer([made(columns, yours=["one", "other"])])
    first, second = (mind.tests[0] for mind in found.minds)
    assert found.comparisons == 3
    assert first.outcome("other") == "better"
    assert second.outcome("one") == "worse"
    mine, theirs = first.differences["other"], second.differences["one"]
    assert theirs.mean == -mine.mean
    assert theirs.interval == (-mine.interval[1], -mine.interval[0])
    assert (first.best, second.best) == ("rival", "rival")


# ---------------------------------------------------------------- best and median


def test_the_best_fair_mind_neither_sees_the_future_nor_fails_nor_is_floor_or_ceiling():
    columns = {
        "mine": [0.1] * 10, "god": [1.0] * 10, "breaks": [0.9] * 10, "floor": [0.95] * 10,
        "scouts": [0.97] * 10,
        "a": [0.5] * 10, "b": [0.4] * 10, "c": [0.3] * 10, "d": [0.2] * 10,
    }  # fmt: skip
    ends = {"floor": "floor", "scouts": "ceiling"}
    test = made(columns, ends, ["mine"], ["god"], failed=["breaks"])
    (on,) = answer([test]).minds[0].tests
    assert on.test.fair == ["a", "b", "c", "d", "mine"]
    assert (on.best, on.median) == ("a", "c")  # of four the lower of the two in the middle
    assert "breaks" not in on.rivals


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_exercises_decide_nothing(n):
    columns = {"mine": [1.0] * n, "rival": [0.0] * n, "floor": [0.0] * n}
    k = np.arange(float(n))
    found = answer([made(columns, {"floor": "floor"}, ["mine"], k=k)])
    (on,) = found.minds[0].tests
    assert on.outcome("rival") == on.outcome("floor") == "undecided"
    assert not on.falls
    said = told(found)
    assert "beats" not in said
    assert "did better than" not in said
    assert "undecided against rival" in said
    if n > 1:
        few = "2 exercises in common are too few to say whether it did better or worse than"
        assert f"{few} floor and rival." in said


def test_all_right_against_all_wrong_is_better_and_alike_is_undecided():
    columns = {"mine": np.ones(40), "twin": np.ones(40), "wrong": np.zeros(40)}
    found = answer([made(columns, yours=["mine"])])
    (on,) = found.minds[0].tests
    assert on.outcome("wrong") == "better"
    assert on.outcome("twin") == "undecided"  # no exercise on which they differ
    assert "it beats wrong" in told(found)
    assert "ties" not in told(found)


def test_a_mind_that_failed_everything_is_said_to_have_failed_and_is_not_ranked():
    results = evaluate("lambda-star", {"broken": Breaks}, episodes=22, settings=SMALL)
    found = answer_of(dict(results.summary) | {"yours": ["broken"]}, results.frame())
    (on,) = found.minds[0].tests
    said = told(found)
    assert "It failed 22 of 22 exercises" in said
    assert "not ranked" in said
    assert on.outcome("random") == "worse"
    assert "ties" not in said


def test_a_mind_that_fails_often_is_never_said_to_tie():
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.4, 0.6, 200)
    test = made({"mine": scores, "rival": scores + 0.001 * rng.normal(size=200)}, yours=["mine"],
                failed=["mine"])  # fmt: skip
    assert answer([test]).minds[0].tests[0].outcome("rival") in ("undecided", None)


def test_without_floor_and_ceiling_nothing_is_said_of_them():
    rng = np.random.default_rng(1)
    found = answer([made({"mine": rng.random(30), "rival": rng.random(30)}, yours=["mine"])])
    said = told(found)
    assert "floor" not in said.replace("the floor, the best", "")
    assert "ceiling" not in said


def test_an_adaptive_test_has_no_curve_and_its_administrations_are_compared(folder):
    (on,) = next(one for one in answer_of_run(folder).minds if one.mind == "follower").tests
    assert not on.has_curve
    assert on.fall is None
    assert on.differences["random"].note in ("administrations", "on exercises of their own each")


def test_a_fall_is_said_with_its_complexity_and_both_means():
    k = np.repeat(np.arange(2.0, 8.0), 20)
    rng = np.random.default_rng(5)
    scores = np.where(k < 5, 0.9, 0.3) + 0.05 * rng.normal(size=len(k))
    test = made({"mine": np.clip(scores, 0, 1), "flat": np.full(len(k), 0.5)}, yours=["mine"], k=k)
    found = answer([test])
    low, high = (np.clip(scores, 0, 1)[rows].mean() for rows in (k < 5, k >= 5))
    said = f"on average {low:.3f} up to K = 4, and {high:.3f} from K = 5 on"
    assert f"On made the score falls with complexity: {said}." in told(found)


# ---------------------------------------------------------------- what would make it surer


def test_the_exercises_that_would_decide_do_so():
    """The number is for a chance of .8: in a hundred studies of that size most are decided."""
    rng = np.random.default_rng(6)

    def study(n):
        base = 0.2 * rng.normal(size=n)
        return made({"mine": np.clip(base + 0.15 * rng.normal(size=n), -1, 1),
                     "floor": np.clip(base + 0.15 * rng.normal(size=n), -1, 1)},
                    {"floor": "floor"}, ["mine"], scale=(-1.0, 1.0))  # fmt: skip

    (need,) = answer([study(60)]).minds[0].tests[0].needs
    assert need.rival == "floor"
    assert 60 < need.exercises < 20_000
    decided = [
        answer([study(need.exercises)]).minds[0].tests[0].outcome("floor") != "undecided"
        for _ in range(100)
    ]
    assert sum(decided) >= 70  # of .8, short of it once in a hundred


def test_a_fixed_form_has_no_more_exercises(folder):
    (on,) = next(one for one in answer_of_run(folder).minds if one.mind == "mode").tests
    for need in on.needs:
        assert need.exercises is None
        assert "20 exercises and no more" in need.why
