"""What is measured over courses, against brute force, by hand, and for minds that learn nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import allminds

from allminds import MindBase, Traits, registry
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.course import Course
from allminds.episode import play_on
from allminds.evaluate import evaluate
from allminds.statistics.calibration import calibrate, chosen, courses, failures, rows
from allminds.statistics.courses import Design, crossed_courses, lines, staged_course, weight
from allminds.statistics.learning import changes_of, corrected_changes, learning
from allminds.statistics.learning_words import markdown_of, sheets
from allminds.statistics.reaching import crossing, rising

COINS = Path(__file__).parents[1] / "test_course.py"
MEMO, FORGETFUL = f"{COINS}:Memo", f"{COINS}:Forgetful"
ABA = "test=6,train,again=1,test,again=1,test=6,train=4,test,again=4,test,again=1"


def taken(course: Any, episodes: int = 10, minds: Any = (MEMO, FORGETFUL), **more: Any) -> Any:
    return evaluate(f"{COINS}:Coins", list(minds), course=course, episodes=episodes, **more)


# ---------------------------------------------------------------- what a course asks


def kinds_of(course: Any) -> list[tuple[int, int, str]]:
    from allminds.statistics.learning import _pairs

    return list(_pairs(Design(Course.of(course), "lambda-star")))


def test_pairs_of_tests_say_learning_transfer_or_forgetting():
    assert kinds_of("train=5,test=5") == []
    assert kinds_of("test=5,train=5,test,again=1") == [(0, 2, "learning")]
    assert kinds_of("test=5,k=2..4,train=5,k=7..9,test,again=1") == [(0, 2, "transfer")]
    back = "test=5,train=5,test,again=1,train=5,k=7..9,test,again=1"
    assert kinds_of(back) == [(0, 2, "learning"), (2, 4, "forgetting")]
    more = "test=5,train=5,test,again=1,train=5,test,again=1"  # only the last is the outcome
    assert kinds_of(more) == [(0, 4, "learning")]
    assert kinds_of("train=5,test=5,train=5,test,again=2") == []  # no untrained baseline


def test_courses_of_a_transfer_matrix_give_every_cell_and_forgetting():
    kinds = [{"settings": {"k": k}} for k in ("2..4", "7..9", "12..14")]
    found = [kinds_of(course) for course in crossed_courses(kinds, 5, 4)]
    for row in found:
        words = [word for *_, word in row]
        assert sorted(words) == ["forgetting", "learning", "transfer", "transfer"]
    with pytest.raises(Error, match="two kinds"):
        crossed_courses(kinds[:1], 5, 4)


def test_curves_have_a_point_for_each_test_and_ten_stretches_of_training():
    found = dict(lines(Design(Course.of(staged_course([10, 20, 40], 6)), "lambda-star")))
    assert len(found["test 1: lambda-star"]) == 4
    assert 8 <= len(found["training"]) <= 12
    assert sorted(np.concatenate(found["training"]).tolist()) == [
        *range(6, 16), *range(22, 42), *range(48, 88)
    ]  # fmt: skip


# ---------------------------------------------------------------- figures, by brute force


def test_changes_are_the_differences_of_course_means():
    results = taken(ABA)
    frame = results.frame()
    found = results.learning()
    one = next(change for change in found.of("learning") if change.met)
    mine = frame[frame["mind"] == MEMO]
    means = mine.groupby(["course", "phase"])["score"].mean().unstack()
    gap = means[3] - means[1]
    assert one.found.mean == pytest.approx(gap.mean())
    assert (one.before, one.after) == pytest.approx((means[1].mean(), means[3].mean()))
    assert one.found.units == (10,)
    assert one.verdict == "learns"
    assert one.after == 1.0
    assert {change.mind for change in found.changes} == {MEMO}  # the other cannot change
    point = next(p for p in found.points if p.mind == MEMO and p.trained == 6 and "1:" in p.line)
    assert (point.score, point.courses, point.steps) == (1.0, 10, 6.0)


def test_a_memorising_mind_transfers_nothing():
    found = taken("test=20,train=40,test,again=1", 12).learning()
    (one,) = found.of("learning")
    assert (one.found.mean, one.verdict, one.met) == (0.0, "undecided", False)
    assert not one.found.differs


def test_practice_is_compared_at_equal_complexity_in_any_order():
    class ByLevel(MindBase):
        """Right where the last digit of the number is below five: complexity decides."""

        traits = Traits(deterministic=True, carries=True)

        def act(self, observation: Any, random: Any) -> int:
            from allminds.core.seeding import fingerprint

            right = fingerprint(observation.number) % 2
            return right if observation.number % 10 < 5 else 1 - right

    for order in ("rising", "falling", "drawn", "blocked"):
        found = taken(f"train=40,order={order}", 6, [ByLevel], ends=False).learning()
        (one,) = found.of("practice")
        assert one.found.mean == 0.0
        assert one.verdict == "undecided"


class Quick(MindBase):
    """Stays where it is in even exercises, and goes about in odd ones."""

    traits = Traits(deterministic=True, carries=True)
    moves = 0

    def act(self, observation: Any, random: Any) -> int:
        self.moves += 1
        return 1 + self.moves % 9


def test_steps_are_weighed_by_their_tenth():
    settings = {"iterations": 23, "rows": 5, "cols": 5}
    results = evaluate(
        "lambda-star", [Quick], settings=settings, course="train=4,test=3", episodes=2, ends=False
    )
    tool = registry.make_instrument("lambda-star", {**settings, "course": "train=4,test=3"})
    records = [one for _, one in play_on(tool, registry.line_up(Quick, tool), 1, 0, 14, Watch())]
    for on in (0.0, 0.4, 1.0):
        rows = {row.over: row for row in results.learning(weight=on).weighted}
        tests = [one for one in records if one.lesson.role == "test"]
        values, plain = [], []
        for one in tests:
            w = [1 + on * (2 * (10 * t // 23) / 9 - 1) for t in range(23)]
            rewards = [reward for (reward,) in one.rewards]
            values.append(sum(a * b for a, b in zip(w, rewards, strict=True)) / sum(w))
            plain.append(sum(rewards) / 23)
        assert rows["tests"].weighted == pytest.approx(np.mean(values))
        assert rows["tests"].plain == pytest.approx(np.mean(plain))
        training = np.array([one.score[0] for one in records if one.lesson.role == "train"])
        w = np.array([1 + on * (2 * n / 3 - 1) for n in range(4)])
        by_course = (training.reshape(2, 4) * w).sum(axis=1) / w.sum()
        assert rows["training"].weighted == pytest.approx(by_course.mean())
    assert weight(np.linspace(0, 1, 11), 0.7).mean() == pytest.approx(1.0)
    with pytest.raises(Error, match="from 0 to 1"):
        results.learning(weight=1.5)


def test_first_halves_tell_whether_exercises_go_faster():
    results = evaluate(
        "lambda-star", [Quick], settings={"iterations": 10, "k": "3"}, course="train=6",
        episodes=3, ends=False,
    )  # fmt: skip
    frame = results.frame()
    half = frame[[f"tenth_{n}" for n in range(1, 6)]].mean(axis=1)
    early = half[frame["position"] < 2].groupby(frame["course"]).mean()
    late = half[frame["position"] > 3].groupby(frame["course"]).mean()
    (one,) = results.learning().of("speed")
    assert one.found.mean == pytest.approx((late - early).mean())


def test_only_courses_keep_tenths():
    results = evaluate("matching-pennies", ["random"], episodes=4)
    assert not [name for name in results.frame().columns if name.startswith("tenth")]
    with pytest.raises(Error, match="no test was given as a course"):
        results.learning()


# ---------------------------------------------------------------- sample efficiency


def test_isotonic_fit_equals_scipy():
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 30):
        means = rng.normal(size=n)
        np.testing.assert_allclose(rising(means), isotonic_regression(means).x, atol=1e-12)


def test_experience_to_a_goal_is_interpolated_and_censored():
    x = np.array([0.0, 10.0, 20.0, 40.0])
    line = np.array([-0.4, -0.2, 0.2, 0.4])
    noise = np.random.default_rng(1).normal(0, 0.05, (20, 1))
    value, (low, high) = crossing(x, line + noise - noise.mean(), (-2.0, 2.0))
    assert value == pytest.approx(15.0)
    assert 10 <= low < 15 < high <= 20
    never, (low, high) = crossing(x, line + noise - noise.mean() - 0.6, (-2.0, 2.0))
    assert (never, low, high) == (math.inf, 40.0, math.inf)
    at_once, (low, high) = crossing(x, line + noise - noise.mean() + 0.6, (-2.0, 2.0))
    assert (at_once, low, high) == (0.0, 0.0, 0.0)
    _, (low, high) = crossing(x, np.tile(line, (2, 1)), (-2.0, 2.0))  # two courses tell little
    assert (low, high) == (0.0, math.inf)


def test_minds_that_never_arrive_are_printed_as_more_than_was_given():
    found = taken("test=20,train=40,test,again=1", 20).learning()
    never = next(one for one in found.reached if one.share == 0.8)
    assert (never.words(never.trained), never.interval_words) == ("> 40", "> 40")
    plain = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert plain["efficiency"][-1]["trained"] is None


# ---------------------------------------------------------------- minds that learn nothing


@pytest.mark.parametrize("size", courses.SIZES)
def test_minds_that_learn_nothing_are_seldom_said_to(size):
    """At most 5 % each, corrected over three minds; here 60 studies: 9 claims have p < .005."""
    rng, claimed = np.random.default_rng(size), dict.fromkeys(courses.SAID, 0)
    for _ in range(60):
        found = courses.changes([courses.drawn(rng, size) for _ in range(courses.MINDS)])
        for what in claimed:
            claimed[what] += any(one.found.sign for one in found if one.what == what)
    assert max(claimed.values()) <= 8
    if size == 2:
        assert not any(claimed.values())


def test_a_learner_is_found_out():
    found = courses.changes([courses.drawn(np.random.default_rng(1), 20, gain=0.4)])
    assert [one.verdict for one in found if one.what == "learning"] == ["learns"]
    assert not any(one.found.sign for one in found if one.what == "practice")


def test_failing_always_or_never_varying_decides_nothing():
    for failed in (True, False):
        for size in courses.SIZES:
            wrong, _ = courses.simulate_alike(
                np.random.default_rng(2), 3, failed=failed, courses=size
            )
            assert wrong == 0


def test_missing_exercises_leave_their_course_out_where_nothing_is_left():
    one = courses.drawn(np.random.default_rng(4), 8, gain=0.2)
    one.score[3, courses.DESIGN.positions(0)] = np.nan
    found = corrected_changes(list(changes_of("", one, courses.DESIGN)))
    assert {change.what: change.found.units[0] for change in found}["learning"] == 7


@pytest.mark.slow
def test_calibration_of_courses_passes_its_gate():
    assert failures(list(calibrate(chosen(rows(), "courses"), 400, 5))) == []


# ---------------------------------------------------------------- what is printed


def test_commands_print_the_same_figures(tmp_path):
    out = tmp_path / "run"
    course = ("--course", "test=6,train,again=1,test,again=1")
    minds = ("-m", MEMO, "-m", FORGETFUL)
    where = ("evaluate", f"{COINS}:Coins", *minds, *course, "--episodes", 10, "--jobs", 1)
    shown = allminds(*where, "--out", out)
    assert shown.returncode == 0, shown.stderr
    assert "What was learnt over 10 courses" in shown.stdout
    assert "learns" in shown.stdout
    plain = json.loads(allminds(*where, "--no-save", "--json").stdout)["learning"]
    change = next(row for row in plain["changes"] if row["what"] == "learning")
    compared = allminds("compare", out, "--json", "--trust")
    assert json.loads(compared.stdout)["learning"]["changes"] == plain["changes"], compared.stderr
    verbose = allminds("compare", out, "--verbose", "--trust").stdout
    assert "Score against experience" in verbose
    page = tmp_path / "page.html"
    assert allminds("report", out, "--out", page, "--trust").returncode == 0
    text = page.read_text()
    assert "Learning over courses" in text
    assert f"{change['change']:.3f}" in text
    assert "1 mind learns" in text


def test_tables_are_words_for_every_place():
    found = taken(ABA, 3).learning()
    for sheet in sheets(found):
        assert all(len(row) == len(sheet.columns) for row in sheet.rows)
        assert markdown_of(sheet).count("\n") == len(sheet.rows) + 1
    assert "Practice" in str(found)
    assert set(found.tables()) == {"curve", "efficiency", "changes", "weighted"}
    assert any("3 courses are few" in note for note in found.notes)
    assert any("no mind carries" in note for note in taken(ABA, 3, [FORGETFUL]).learning().notes)
    assert any("begin with test=20" in note for note in taken("train=5,test=2", 3).learning().notes)


def test_tests_of_several_courses_are_one_family():
    tests = [(one._tool(), one.frame()) for one in (taken(ABA, 8), taken("train=9,test=2", 8))]
    both = learning(tests)
    alone = learning(tests[:1])
    assert [one.test for one in both.of("practice")] == ["test-coins 1", "test-coins 2"]
    assert both.of("learning")[0].found.p_holm == alone.of("learning")[0].found.p_holm
