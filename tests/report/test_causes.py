"""Cause cards: chosen by the stated rule, played again from the record, without any mind."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from allminds.core.errors import Error
from allminds.report import causes, write_report
from allminds.report.causes import half_step, partings, rival_of
from allminds.report.data import read_tests
from allminds.report.sections.causes import about, section, sentences
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, run
from allminds.runs.store import RunFolder

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
MINDS = """
class Still:
    def act(self, observation, random):
        return 5

class Fails:
    def __init__(self):
        self.acted = 0
    def act(self, observation, random):
        self.acted += 1
        if self.acted == 3:
            raise ValueError("<script>alert(1)</script>")
        return 5

class Refuses:
    def act(self, observation, random):
        raise ValueError("no <i>answer</i>")
"""


def played(where, *tests, yours=(), traces=50, **more):
    plan = Plan(tests=list(tests), yours=list(yours), traces=traces, **more)
    return run(plan, where / "run", How(jobs=1))


def found(folder, **how):
    return partings(read_tests(folder), [folder], **how)


@pytest.fixture
def minds(tmp_path):
    (tmp_path / "mine.py").write_text(MINDS)
    return lambda name: f"{tmp_path / 'mine.py'}:{name}"


# ---------------------------------------------------------------- the step of half the gap


def test_the_step_of_half_the_gap_is_the_first_by_brute_force():
    draw = np.random.default_rng(1)
    for _ in range(500):
        gaps = np.cumsum(draw.integers(-2, 3, draw.integers(1, 30)) / 2)
        final = gaps[-1]
        expected = None
        for step, gap in enumerate(gaps, 1):
            if final and gap * np.sign(final) >= abs(final) / 2:
                expected = step
                break
        assert half_step(gaps) == expected


def test_without_a_gap_or_a_step_there_is_no_such_step():
    assert half_step(np.zeros(9)) is None
    assert half_step(np.zeros(0)) is None
    assert half_step(np.array([0.3])) == 1


# ---------------------------------------------------------------- what was played


EVERY = [
    Test(instrument="lambda-star", minds=["local-search", "random"], episodes=5, settings=SMALL),
    Test(instrument="lambda-star", minds=["crowd(local-search*2)", "random"], episodes=4,
         settings=SMALL | {"agents": 2}),
    Test(instrument="lambda", minds=["q-learning", "random"], episodes=7),
    Test(instrument="c-test", minds=["mode", "random"], episodes=5),
    Test(instrument="matrices", minds=["nearest-panel", "random"], episodes=5),
    Test(instrument="stag-hunt", minds=["hare", "random"], against="tit-for-tat", episodes=4,
         settings={"steps": 5}),
    Test(instrument="noughts-and-crosses", minds=["minimax", "random"], against="random",
         episodes=6),
    Test(instrument="predator-prey", minds=["greedy", "random"], episodes=4),
    Test(instrument="team-lambda-star", minds=["local-search", "random"], against="random*3",
         episodes=4, settings=SMALL),
    Test(instrument="landscape", minds=["hill-climber", "random"], episodes=3),
]  # fmt: skip


def test_recorded_actions_give_recorded_scores_on_every_kind_of_test(tmp_path):
    folder = played(tmp_path, *EVERY)
    for data in read_tests(folder):
        for place, mind in enumerate(data.minds):
            for index in range(len(data.scores)):
                play = causes._again(data, [folder], mind, index, mind)
                world = play.replay.exercise.environment
                steps = 1 if world.score == "total" else play.steps
                assert play.gained[-1] / steps == pytest.approx(data.scores[index, place])


def test_a_doctored_trace_is_refused(tmp_path):
    folder = played(tmp_path, EVERY[0], yours=["random"])
    (path,) = (folder.path / "traces").iterdir()
    table = pq.read_table(path)
    other = pa.array(table["action"].to_numpy() % 9 + 1)
    pq.write_table(table.set_column(table.column_names.index("action"), "action", other), path)
    with pytest.raises(Error, match="damaged"):  # by its sum
        found(RunFolder.open(folder.path))
    made = json.loads((folder.path / "plan.json").read_text())
    del made["sums"]  # as in a folder from before there were sums, or of somebody who removed them
    (folder.path / "plan.json").write_text(json.dumps(made))
    (folder.path / "SHA256SUMS").unlink()
    (one,) = found(RunFolder.open(folder.path))
    assert not one.causes
    assert "do not give its score" in one.notes[0]


def test_an_exercise_of_another_version_is_not_played_again(tmp_path, monkeypatch):
    folder = played(tmp_path, EVERY[0], yours=["random"])
    monkeypatch.setattr(type(folder.tool(0)), "version", 99)
    (one,) = found(folder)
    assert not one.causes
    assert "use the allminds that made it" in one.notes[0]


def test_no_mind_is_needed(tmp_path, minds, monkeypatch):
    mine = minds("Still")
    test = Test(instrument="lambda-star", minds=["local-search", mine], episodes=9, settings=SMALL)
    folder = played(tmp_path, test, yours=[mine])
    (tmp_path / "mine.py").unlink()
    for name in [name for name in sys.modules if name.endswith("mine")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("allminds.registry.line_up", lambda *_: pytest.fail("a mind was made"))
    (one,) = found(RunFolder.open(folder.path))
    assert one.names == ("mine.py:Still", "local-search")
    assert len(one.causes) == 3


# ---------------------------------------------------------------- which are shown


def test_cards_are_the_largest_losses_and_the_median(tmp_path):
    minds = ["random", "local-search"]
    test = Test(instrument="lambda-star", minds=minds, episodes=44, settings=SMALL)
    folder = played(tmp_path, test, yours=["random"], traces=31)
    (one,) = found(folder)
    scores = read_tests(folder)[0].scores[:31]
    gaps = scores[:, 1] - scores[:, 0]
    first, second, typical = (cause.index for cause in one.causes)
    assert one.rival == "local-search"
    assert [gaps[first], gaps[second]] == sorted(gaps, reverse=True)[:2]
    assert gaps[typical] == pytest.approx(np.median(gaps))
    assert (one.searched, one.worse, one.better) == (31, (gaps > 0).sum(), (gaps < 0).sum())
    assert one.share == pytest.approx((gaps[first] + gaps[second]) / gaps[gaps > 0].sum())
    assert "31 exercises" in about(one)
    assert "not as typical ones" in about(one)


def test_of_equal_losses_the_least_complex_is_first(tmp_path):
    test = Test(instrument="c-test", minds=["random", "pattern(y=2)"], episodes=20)
    (one,) = found(played(tmp_path, test, yours=["random"]))
    scores, k = one.data.scores, one.data.about[2]
    lost = [n for n in range(20) if scores[n, 1] > scores[n, 0]]
    chosen = [cause.index for cause in one.causes[:2]]
    assert chosen == sorted(lost, key=lambda n: (k[n], n))[:2]
    assert f"of the {len(lost)} equal and largest losses" in about(one)


def test_no_item_is_shown_twice(tmp_path):
    test = Test(instrument="c-test", minds=["random", "pattern(y=2)"], episodes=60)  # 20 items
    (one,) = found(played(tmp_path, test, yours=["random"], traces=60))
    items = [cause.mine.replay.exercise.item for cause in one.causes]
    assert len(items) == len(set(items)) > 1


def test_python_gives_the_same_rows_from_memory_and_from_disk(tmp_path):
    from allminds import Results, evaluate

    given = {"settings": SMALL, "episodes": 22}
    memory = evaluate("lambda-star", ["random", "local-search"], **given)
    kept = evaluate("lambda-star", ["random", "local-search"], out=tmp_path / "run", **given)
    rows = memory.causes("random")
    assert rows["rival"].unique().tolist() == ["local-search"]
    assert rows.equals(kept.causes("random"))
    assert rows.equals(Results.of(tmp_path / "run").causes("random", "local-search"))


def test_the_rival_is_the_best_fair_mind_above_else_the_floor(tmp_path):
    test = Test(instrument="lambda-star", minds=["random", "local-search", "q-learning", "optimum"],
                episodes=44, settings=SMALL)  # fmt: skip
    (data,) = read_tests(played(tmp_path, test))
    assert rival_of(data, "local-search") == "q-learning"  # which practises, but sees no future
    assert rival_of(data, "q-learning") == "random"
    assert rival_of(data, "random", "optimum") == "optimum"
    assert rival_of(data, "random", "nobody") is None


def test_a_mind_that_is_the_ceiling_is_no_rival_though_it_sees_no_future(tmp_path):
    minds = ["random", "stay", "sweep", "scouts"]
    test = Test(instrument="lambda-star-coverage", minds=minds, episodes=22)
    (data,) = read_tests(played(tmp_path, test))
    rows = {row["mind"]: row for row in data.summary["results"]}
    assert rows["scouts"]["end"] == "ceiling"
    assert "sees the future" not in data.traits["scouts"]
    assert rows["scouts"]["score"] > rows["sweep"]["score"] > rows["stay"]["score"]
    assert rival_of(data, "stay") == "sweep"
    (rest,) = read_tests(played(tmp_path / "two", test.model_copy(update={"minds": minds[::3]})))
    assert rival_of(rest, "random") == "scouts"  # there is no other


def test_in_a_game_a_rival_has_the_same_opponents(tmp_path):
    minds = ["cooperate, random", "defect, cooperate", "tit-for-tat, random"]
    test = Test(instrument="prisoners-dilemma", minds=minds, episodes=30)
    (data,) = read_tests(played(tmp_path, test))
    assert rival_of(data, "cooperate, random") == "tit-for-tat, random"


def test_with_no_mind_asked_about_the_best_fair_one_is_shown(tmp_path):
    test = Test(instrument="lambda-star", minds=["random", "local-search", "optimum"],
                episodes=44, settings=SMALL)  # fmt: skip
    (one,) = found(played(tmp_path, test))
    assert (one.mind, one.rival) == ("local-search", "random")


# ---------------------------------------------------------------- edges


def test_a_failure_is_shown_with_its_message_escaped(tmp_path, minds):
    mine = minds("Fails")
    test = Test(instrument="lambda-star", minds=["local-search", mine], episodes=9, settings=SMALL)
    folder = played(tmp_path, test, yours=[mine])
    (one,) = found(folder)
    cause = one.causes[0]
    assert "mine.py:Fails failed at step 3 (error: ValueError: <script>" in sentences(cause)[0]
    made = [float(np.mean(rewards)) for rewards in cause.mine.replay.record.rewards]
    assert np.diff(cause.mine.gained).tolist() == pytest.approx([*made, *[-1.0] * 8])
    page = write_report(folder, tmp_path / "report.html").read_text()
    assert "&lt;script&gt;alert" in page
    assert "<script" not in page


def test_a_failed_question_counts_as_wrong(tmp_path, minds):
    mine = minds("Refuses")
    test = Test(instrument="c-test", minds=["levin-search", mine], episodes=3)
    (one,) = found(played(tmp_path, test, yours=[mine]))
    said = sentences(one.causes[0])
    assert said[0].startswith("mine.py:Refuses failed (error: ValueError: no <i>answer</i>")
    assert said[1].startswith("levin-search answered")
    assert "which is right" in said[1]


def test_one_exercise_has_one_card(tmp_path):
    test = Test(instrument="c-test", minds=["random", "levin-search"], episodes=1)
    (one,) = found(played(tmp_path, test, yours=["random"]))
    assert [cause.why for cause in one.causes] == ["the only exercise searched"]


def test_minds_that_do_alike_have_no_cards(tmp_path, minds):
    (tmp_path / "other.py").write_text(MINDS)
    mine, other = minds("Still"), f"{tmp_path / 'other.py'}:Still"
    test = Test(instrument="lambda-star", minds=[mine, other], episodes=5, settings=SMALL)
    folder = played(tmp_path, test, yours=[mine])
    (one,) = found(folder, rival=other)
    assert not one.causes
    assert "both did alike on all" in about(one)


def test_of_a_game_of_one_step_there_is_no_curve(tmp_path):
    test = Test(instrument="matching-pennies", minds=["heads", "tails"], against="random",
                episodes=30, settings={"steps": 1})  # fmt: skip
    folder = played(tmp_path, test, yours=["heads", "tails"])
    worse = [block for block in section(read_tests(folder), [folder]) if block["cards"]]
    assert worse
    assert all(card["curve"] == "" for block in worse for card in block["cards"])


def test_of_a_group_all_actions_are_told_and_whose_view_it_is(tmp_path):
    folder = played(tmp_path, EVERY[1], yours=["random"])
    (block,) = section(read_tests(folder), [folder])
    (one,) = found(folder)
    assert one.rival == "crowd(local-search*2)"
    assert [len(cause.rival.action(1).split(", ")) for cause in one.causes] == [2] * len(one.causes)
    rows = block["cards"][0]["moments"][0]["rows"]
    assert rows[0][0] == "slot 0 saw cells"


def test_exercises_that_went_alike_are_shown_once(tmp_path):
    test = Test(instrument="stag-hunt", minds=["hare", "stag"], against="tit-for-tat", episodes=9)
    (one,) = found(played(tmp_path, test, yours=["hare"]))
    assert len(one.causes) == 1
    assert "went just like these" in " ".join(one.notes)
    assert "these are typical too" in " ".join(one.notes)


def test_tests_on_which_nothing_was_lost_come_only_if_there_are_no_others(tmp_path):
    lost = Test(instrument="stag-hunt", minds=["hare", "stag"], against="tit-for-tat", episodes=9)
    won = Test(instrument="stag-hunt", minds=["hare", "random"], against="hare", episodes=9)
    both = found(played(tmp_path / "both", won, lost, yours=["hare"]))
    assert [one.rival for one in both] == ["stag"]
    (alone,) = found(played(tmp_path / "alone", won, yours=["hare"]))
    assert (alone.rival, alone.causes) == ("random", [])
    assert "it did worse on none" in about(alone)


def test_minds_asked_about_are_shown_beside_each_other_first(tmp_path, minds):
    test = Test(instrument="lambda-star", minds=["random", "local-search", minds("Still")],
                episodes=22, settings=SMALL)  # fmt: skip
    folder = played(tmp_path, test, yours=[minds("Still"), "local-search"])
    pairs = [(one.mind, one.rival) for one in found(folder)]
    assert pairs[0] == (minds("Still"), "local-search")
    assert len(pairs) == len(set(pairs))


def test_an_adaptive_test_does_not_take_the_place_of_one_with_cards(tmp_path):
    tests = [
        Test(instrument="lambda-staircase", minds=["random", "q-learning"], episodes=40),
        EVERY[0],
    ]
    (one,) = found(played(tmp_path, *tests, yours=["random"]))
    assert not one.data.tool.adaptive
    assert one.causes


def test_without_actions_it_is_said_what_to_do(tmp_path):
    folder = played(tmp_path, EVERY[0], yours=["random"], traces=0)
    (one,) = found(folder)
    assert not one.causes
    assert "set traces in its plan" in one.notes[0]
    assert "set traces in its plan" in write_report(folder, tmp_path / "r.html").read_text()


def test_exercises_of_an_adaptive_test_are_not_paired(tmp_path):
    test = Test(instrument="lambda-staircase", minds=["random", "expert", "q-learning"],
                episodes=100)  # fmt: skip
    (one,) = found(played(tmp_path, test, yours=["random"]))
    assert not one.causes
    assert "is adaptive" in one.notes[0]


def test_a_wrong_matrix_is_told_by_the_rules_it_breaks(tmp_path):
    test = Test(instrument="matrices", minds=["random", "rule-induction"], episodes=12)
    (one,) = found(played(tmp_path, test, yours=["random"]))
    for cause in one.causes[:2]:
        world, chosen = cause.mine.replay.exercise.environment, cause.mine.replay.record.actions[0]
        problem = world.problem
        wrong, right = problem.options[chosen[0]], problem.options[problem.answer]
        broken = [
            rule
            for rule in problem.rules
            if getattr(getattr(wrong, rule.layer), _field(rule))
            != getattr(getattr(right, rule.layer), _field(rule))
        ]
        remark = cause.mine.remark(1)
        assert broken
        assert all(f"{rule.attribute} of the {rule.layer}" in remark for rule in broken)
        assert remark.count("(") == len(broken)


def _field(rule):
    if rule.layer == "marks" and rule.attribute == "shape":
        return "present"
    return {"orientation": "angle", "position": "place"}.get(rule.attribute, rule.attribute)


def test_why_says_what_the_report_says(tmp_path, monkeypatch, capsys):
    from allminds.cli import main

    folder = played(tmp_path, EVERY[0], EVERY[3], yours=["random"])
    monkeypatch.setattr(sys, "argv", ["allminds", "why", str(folder.path)])
    main()
    said = " ".join(capsys.readouterr().out.split())
    page = " ".join(write_report(folder, tmp_path / "r.html").read_text().split())
    for one in found(folder):
        assert about(one) in said
        assert about(one) in page
        assert one.causes
        for cause in one.causes:
            assert all(sentence in said for sentence in sentences(cause))
            assert all(sentence in page for sentence in sentences(cause))
    monkeypatch.setattr(sys, "argv", ["allminds", "why", str(folder.path), "--mind", "nobody"])
    with pytest.raises(SystemExit):
        main()
    assert "'nobody' is not in this run" in capsys.readouterr().err
