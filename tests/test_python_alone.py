"""From Python alone, without a file: instruments, one's own minds, results, a report, a card."""

from __future__ import annotations

import functools
import json
import subprocess
import sys

import pandas as pd
import pytest

import allminds as am
from allminds import registry
from allminds.runs.replay import replayed

SMALL = {
    "instrument": "lambda-star",
    "settings": {"rows": 5, "cols": 5, "iterations": 10},
    "episodes": 44,
}
ONE = am.How(jobs=1)


class Roams:
    """A mind of the user's."""

    def __init__(self, action: int = 1) -> None:
        self.action = action

    def act(self, observation, random):
        return self.action


def closure(action):
    def waits(observation):
        return action

    return waits


@pytest.fixture(scope="module")
def three():
    minds = [Roams, closure(5), "local-search"]
    return am.evaluate(
        [SMALL, "c-test", "stag-hunt"], minds, against="random", episodes=20, how=ONE
    )


# ---------------------------------------------------------------- must show


def test_three_instruments_two_minds_of_ones_own_a_report_and_a_card(three, tmp_path):
    page = three.report(str(tmp_path / "report.html"))
    assert "Roams" in page.read_text(encoding="utf-8")
    found = json.loads(three.card(str(tmp_path / "card.json")).read_text())
    assert found["yours"] == ["Roams", "waits", "local-search"]
    assert [test["instrument"] for test in found["tests"]] == ["lambda-star", "c-test", "stag-hunt"]
    assert found["objects"] == ["waits"]  # Roams is found by its module
    assert found["command"] is None
    text = three.card(tmp_path / "card.md").read_text(encoding="utf-8")
    assert "cannot be repeated or resumed without the Python object waits" in text
    assert not list(tmp_path.glob("*.tmp"))


def test_scores_are_a_table_that_marks_the_minds_asked_about(three):
    table = three.scores
    assert list(table.columns) == [
        "test", "instrument", "mind", "yours", "end", "score", "low", "high", "normalised",
        "exercises", "failed", "missing", "coverage", "ranked",
    ]  # fmt: skip
    assert table.groupby("instrument", sort=False)["exercises"].first().tolist() == [44, 20, 20]
    mine = table[table["yours"]]
    assert mine["mind"].tolist() == [
        "Roams", "waits", "local-search", "Roams", "waits", "Roams, random",
    ]  # fmt: skip
    assert set(table[~table["yours"]]["end"]) == {"floor", "ceiling"}
    pd.testing.assert_frame_equal(three.tests[2].scores, table[9:].reset_index(drop=True))


def test_a_mind_is_left_out_of_tests_that_it_cannot_take_and_that_is_said(three):
    assert any(said.startswith("local-search cannot take c-test: ") for said in three.left_out)
    assert any(said.startswith("waits cannot take stag-hunt: 5 is not") for said in three.left_out)
    assert three.left_out[0] in str(three)
    with pytest.raises(am.Error, match=r"'local-search' is a mind for .*not for c-test"):
        am.evaluate("c-test", ["local-search"])  # one instrument: it was meant


def test_several_instruments_give_what_each_gives_alone(three):
    alone = am.evaluate("c-test", [Roams], episodes=20, how=ONE)
    both = {row["mind"]: row | {"seconds": 0} for row in three.tests[1]["results"]}
    for row in alone["results"]:
        assert both[row["mind"]] == row | {"seconds": 0}


def test_against_is_an_opponent_in_a_game_and_a_rival_elsewhere():
    minds, tools = [Roams], ["stag-hunt", "c-test"]
    found = am.evaluate(tools, minds, against=["hare", "mode", closure(0)], episodes=20, how=ONE)
    names = [[row["mind"] for row in test["results"]] for test in found.tests]
    assert names == [
        ["Roams, hare", "random, hare"],
        ["Roams, waits", "random, waits"],
        ["Roams", "mode", "waits", "random", "levin-search"],
    ]
    assert found["yours"] == ["Roams"]
    assert [said.partition(":")[0] for said in found.left_out] == [
        "nobody plays stag-hunt against mode", "hare cannot take c-test",
    ]  # fmt: skip
    with pytest.raises(am.Error, match="against: none of them plays stag-hunt; 'mode' is a mind"):
        am.evaluate(tools, minds, against="mode")


def test_an_opponent_fills_all_the_other_slots():
    found = am.evaluate("public-goods", [Roams], against="random", episodes=4, how=ONE)
    assert found["results"][0]["mind"].count("random") == found._tool().slots - 1 > 1


def test_a_folder_has_what_memory_has_and_can_be_opened(tmp_path):
    minds = {"up": Roams(2), "chance": "random"}
    there = am.evaluate(SMALL, minds, out=str(tmp_path / "run"), how=ONE)
    here = am.evaluate(SMALL, minds, how=ONE)
    assert there.folder == tmp_path / "run"
    assert here.folder is None
    pd.testing.assert_frame_equal(here.scores, there.scores)
    pd.testing.assert_frame_equal(here.frame(), there.frame(), check_dtype=False)
    assert am.Results.of(str(tmp_path / "run"))["yours"] == ["up", "chance"]
    here.report(tmp_path / "a.html")
    there.report(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


# ---------------------------------------------------------------- plans with objects


def test_classes_functions_objects_and_members_of_groups_stand_in_plans(tmp_path):
    test = am.Test(
        instrument="lambda-star", settings=SMALL["settings"] | {"agents": 2}, episodes=22,
        minds={"up": Roams(2), "stay": closure(5), "Roams": Roams, "team": "stigmergy(up*2)"},
    )  # fmt: skip
    game = am.Test(
        instrument="stag-hunt", minds=[Roams, [Roams, "stag"]], against="hare", episodes=4
    )
    folder = am.run(am.Plan(tests=[test, game]), str(tmp_path / "run"), ONE)
    names = [[row["mind"] for row in one["results"]] for one in folder.summary()["tests"]]
    assert names == [["up", "stay", "Roams", "team"], ["Roams, hare", "Roams, stag"]]
    stored = json.loads((folder.path / "plan.json").read_text())["plan"]["objects"]
    assert {name: one["kind"] for name, one in stored.items()} == {
        "up": "object", "stay": "function", "Roams": "class", "team": "name",
    }  # fmt: skip
    assert stored["stay"]["qualname"] == "closure.<locals>.waits"
    assert len(stored["stay"]["source"]) == 64
    assert "reference" not in stored["stay"]


def test_an_instrument_of_a_session_is_played_by_other_processes_and_saved(tmp_path):
    class Mine(registry.kind("matching-pennies")):
        """An instrument of a session."""

        name = "session-pennies"

    try:
        how = am.How(jobs=2)
        found = am.evaluate(Mine, [closure(1)], episodes=3000, out=str(tmp_path / "run"), how=how)
        assert found.scores["failed"].sum() == 0
        assert found.plan.objects["session-pennies"].kind == "instrument"
    finally:
        registry._instruments.pop("session-pennies", None)
    with pytest.raises(am.Error, match=r"register it with allminds\.instrument\(Mine\) first"):
        am.resume(tmp_path / "run", minds={"waits": closure(1)})


def test_a_run_with_a_closure_is_resumed_with_it_only(tmp_path):
    whole = am.evaluate(SMALL, {"mine": closure(5)}, out=tmp_path / "run", how=ONE)
    before = whole.frame()
    assert am.resume(str(tmp_path / "run")).is_complete()  # nothing to be played: no need of it
    (tmp_path / "run" / "summary.json").unlink()
    next((tmp_path / "run" / "records").glob("part-000-001*")).unlink()
    said = r"cannot be resumed without the object mine .*allminds\.resume\(folder, minds=\{'mine'"
    with pytest.raises(am.Error, match=said):
        am.resume(tmp_path / "run")
    with pytest.raises(am.Error, match="the source of mine has changed"):
        am.resume(tmp_path / "run", minds={"mine": lambda seen: 4})
    with pytest.raises(am.Error, match="minds: the run was given no object called 'yours'"):
        am.resume(tmp_path / "run", minds={"yours": closure(5)})
    again = am.resume(str(tmp_path / "run"), minds={"mine": closure(5)})
    pd.testing.assert_frame_equal(am.Results.of(again).tests[0].frame(), before)


def test_a_class_of_a_module_is_found_again_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "own_minds.py").write_text(
        "class Own:\n    def act(self, o, r):\n        return 5\n"
    )
    code = (
        "import allminds as am, own_minds\n"
        f"am.evaluate({SMALL!r}, [own_minds.Own], out='run', how=am.How(jobs=1))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    (tmp_path / "run" / "summary.json").unlink()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert am.resume("run").summary()["tests"][0]["results"][0]["mind"] == "Own"


def test_a_replay_says_that_an_object_is_not_there_and_shows_the_others(tmp_path):
    found = am.evaluate(
        SMALL, {"mine": closure(5), "chance": "random"}, out=tmp_path / "r", how=ONE
    )
    folder = am.RunFolder.open(found.folder)
    with pytest.raises(am.Error, match="cannot replay mine: it was an object of a Python session"):
        replayed(folder, 0, "mine", 0)
    assert replayed(folder, 0, None, 0).mind == "chance"


# ---------------------------------------------------------------- several at once


def test_compare_and_report_take_results_folders_and_paths(tmp_path):
    one = am.evaluate(SMALL, {"a": Roams(2)}, out=tmp_path / "one", how=ONE)
    two = am.evaluate(SMALL, {"b": Roams(4)}, how=ONE)
    table = am.compare([one.folder, two], minds=["a", "b"])
    assert table[["instrument", "first", "second"]].to_numpy().tolist() in (
        [["lambda-star", "a", "b"]], [["lambda-star", "b", "a"]],
    )  # fmt: skip
    assert set(am.compare([str(one.folder), two], baseline="a")["second"]) >= {"a"}
    assert am.report([one, two], str(tmp_path / "both.html")).exists()


def test_the_battery_is_given_to_minds_of_ones_own():
    found = am.battery([Roams], only=["c-test", "matching*"], episodes=20, how=ONE)
    assert found["yours"] == ["Roams"]
    assert {test["instrument"] for test in found.tests} == {"c-test", "matching-pennies"}
    assert {test["episodes"] for test in found.tests} == {20}


def test_lists_are_tables():
    assert {"lambda-star", "c-test"} <= set(am.list()["instrument"])
    minds = am.list("minds", instrument="c-test")
    assert list(minds.columns) == ["mind", "what"]
    assert "mode" in set(minds["mind"])
    assert "local-search" not in set(minds["mind"])


def test_the_function_report_is_not_hidden_by_the_folder_of_its_name():
    code = "import allminds as am, allminds.report.page; print(am.report.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["report"]


# ---------------------------------------------------------------- wrong arguments

EVALUATE = functools.partial(am.evaluate, "c-test", ["random"])
RUN = functools.partial(am.run, am.Plan(tests=[am.Test(instrument="c-test", minds=["random"])]))

WRONG = [
    (lambda: am.evaluate(3, ["random"]), "instruments must be .*not 3"),
    (lambda: am.evaluate("", ["random"]), "instruments must be .*not ''"),
    (lambda: am.evaluate([], ["random"]), "instruments must not be empty"),
    (lambda: am.evaluate(int, ["random"]), "is not an instrument"),
    (lambda: am.evaluate("c-tset", ["random"]), "no instrument 'c-tset'; did you mean 'c-test'"),
    (lambda: am.evaluate(["c-test", "c-test"], ["random"]), "instruments: c-test is given twice"),
    (lambda: am.evaluate([{"name": "c-test"}], ["random"]), "instruments: .*not 'name'"),
    (lambda: am.evaluate([{"settings": {}}], []), "instruments: .*'instrument' is missing"),
    (lambda: am.evaluate("c-test", "random"), "minds are a list"),
    (lambda: am.evaluate("c-test", None), "minds are a list"),
    (lambda: am.evaluate("c-test", [3]), "minds: 3 is not a mind"),
    (lambda: am.evaluate("c-test", [Roams, Roams(2)]), "minds: two of them are called 'Roams'"),
    (lambda: am.evaluate("c-test", ["random", "random"]), "minds: 'random' is given twice"),
    (lambda: am.evaluate("c-test", {"random": Roams}), "'random' is the name of another mind"),
    (lambda: am.evaluate("c-test", {"mode": Roams}), "'mode' is the name of another mind"),
    (lambda: am.evaluate("c-test", ["rnadom"]), "no mind 'rnadom' .*did you mean 'random'"),
    (lambda: am.evaluate("c-test", [], ends=False), "minds: there is none for c-test"),
    (lambda: am.evaluate("stag-hunt", {"a b": Roams}, against="hare"), "minds: 'a b' cannot be"),
    (lambda: EVALUATE(against=[]), "against must not be empty"),
    (lambda: EVALUATE(against=3), "minds: 3 is not a mind"),
    (lambda: EVALUATE(settings=[1]), "settings must be a mapping"),
    (lambda: EVALUATE(settings={"size": 3}), "no setting 'size'"),
    (lambda: am.evaluate(["c-test", SMALL], ["random"], settings={"k": 9}), "settings are those"),
    (lambda: EVALUATE(episodes=0), "episodes must be greater than or equal to 1"),
    (lambda: EVALUATE(episodes=-5), "episodes must be"),
    (lambda: EVALUATE(episodes="many"), "episodes must be"),
    (lambda: EVALUATE(seed=-1), "seed must be"),
    (lambda: EVALUATE(seed="x"), "seed must be"),
    (lambda: EVALUATE(time_limit=0), "time_limit must be"),
    (lambda: EVALUATE(out=3), "out must be a path"),
    (lambda: EVALUATE(out=""), "out must be a path"),
    (lambda: EVALUATE(how=2), "how must be an allminds.How"),
    (lambda: am.How(jobs=0), "jobs must be"),
    (lambda: am.How(jobs="two"), "jobs must be"),
    (lambda: am.How(engine="ray"), "no engine 'ray'"),
    (lambda: am.How(engine=3), "engine must be"),
    (lambda: am.battery("random"), "minds are a list"),
    (lambda: am.battery([], plan="batery"), "cannot read the plan batery"),
    (lambda: am.battery([], plan=3), "plan must be a path"),
    (lambda: am.battery([], only="lamda"), "only: no test .* 'lamda'; did you mean 'lambda'"),
    (lambda: am.battery([], only="c-test", episodes=0), "episodes must be"),
    (lambda: am.compare([]), "runs must not be empty"),
    (lambda: am.compare(3), "runs must be results, run folders or paths, not 3"),
    (lambda: am.compare("no-such-folder"), "no-such-folder is not a run folder"),
    (lambda: am.report(3, "x.html"), "runs must be results"),
    (lambda: am.run(3, "x"), "plan must be a Plan"),
    (lambda: RUN(3), "out must be a path"),
    (lambda: am.resume(3), "out must be a path"),
    (lambda: am.Results.of(3), "folder must be a path"),
    (lambda: am.list("mind"), "what must be instruments, minds or papers, not 'mind'"),
    (lambda: am.list("papers", instrument="c-test"), "instrument is for minds"),
    (lambda: am.list("minds", instrument="c-tset"), "no instrument 'c-tset'"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_wrong_argument_is_one_sentence_that_names_it(number):
    call, said = WRONG[number]
    with pytest.raises(am.Error, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_wrong_arguments_of_what_takes_results():
    found = EVALUATE(how=ONE)
    for call, said in (
        (lambda: am.compare(found, margin=-1), "margin must be a number above 0"),
        (lambda: am.compare(found, margin="x"), "margin must be"),
        (lambda: am.compare(found, seed=-1), "seed must be"),
        (lambda: am.compare(found, minds="random"), "minds must be a list of names"),
        (lambda: am.compare(found, minds=["nobody"]), "minds: there is no mind 'nobody'"),
        (lambda: am.compare(found, baseline="nobody"), "baseline: there is no mind 'nobody'"),
        (lambda: found.compare(margin=0), "margin must be"),
        (lambda: am.report(found, 3), "path must be a path"),
        (lambda: found.card("card.pdf"), "cannot write a card as 'card.pdf'"),
        (lambda: found.save(3), "path must be a path"),
        (lambda: EVALUATE(records=False, how=ONE).report("x"), "no records of these results"),
    ):
        with pytest.raises(am.Error, match=said):
            call()
