"""The built-in battery: every instrument, and whoever a user puts among its minds."""

from __future__ import annotations

from pathlib import Path

import pytest

from allminds import registry
from allminds.core.errors import Error
from allminds.report import write_report
from allminds.runs import plan as plans
from allminds.runs import run as runs
from allminds.runs.plan import Test
from allminds.runs.run import Resolved
from allminds.terminal.tables import profiles

MINE = """
class Mine:
    def act(self, observation, random):
        return 1 + max(range(9), key=lambda n: observation.rewards[n])

def cooperates(observation):
    return {0: 0}[observation.own if observation.own in (0,) else 0]

def nobody(observation):
    raise RuntimeError("not today")
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)


def test_the_battery_has_every_instrument_with_its_floor():
    battery = plans.read_plan()
    assert len(Resolved.of(battery).tests) == len(battery.tests)
    given = {test.instrument for test in battery.tests}
    assert given == set(registry.instruments())
    for test in battery.tests:
        floor = registry.make_instrument(test.instrument, test.settings).floor_mind
        assert floor in {test.mind_of(name) for name in test.minds}


def test_minds_that_play_against_somebody_are_line_ups():
    test = Test(instrument="commons", minds=["random", "greedy, random*3"], against="sustain*3")
    assert test.minds == ["random, sustain*3", "greedy, random*3"]
    assert Test(**test.model_dump()) == test  # as it is when a run is opened again
    assert test.mind_of("random, sustain, sustain, sustain") == "random"
    alone = Test(instrument="commons", minds=["greedy"])
    assert alone.mind_of("greedy, random*3") == "greedy, random*3"


def test_one_mind_in_all_slots_is_named_once():
    tool = registry.make_instrument("commons")
    assert registry.line_up("random, random*3", tool).name == "random"


def test_a_mind_of_a_user_takes_the_tests_it_can(file):
    found = Resolved.of(plans.read_plan(), ["mine.py:Mine", "tit-for-tat"])
    battery, left_out = found.plan, found.left_out
    took = {
        mind: {test.instrument for test in battery.tests if mind in map(test.mind_of, test.minds)}
        for mind in ("mine.py:Mine", "tit-for-tat")
    }
    assert "lambda-star" in took["mine.py:Mine"]
    assert not {"c-test", "prisoners-dilemma"} & took["mine.py:Mine"]
    assert took["tit-for-tat"] == {"prisoners-dilemma", "stag-hunt"}
    assert any(line.startswith("mine.py:Mine cannot take c-test: ") for line in left_out)
    assert any("tit-for-tat cannot take lambda-star" in line for line in left_out)


def test_in_a_plan_with_one_instrument_nobody_is_left_out(file):
    one = plans.Plan(tests=[Test(instrument="lambda-star", minds=["random"])])
    assert Resolved.of(one, ["mine.py:nobody"]).plan.tests[0].minds[-1] == "mine.py:nobody"


def test_in_a_part_of_a_plan_a_mind_is_tried_as_in_the_whole(file):
    part = plans.narrowed(plans.read_plan(), ["c-test"], 5, None)
    with pytest.raises(Error, match=r"mine\.py:Mine can take none of the tests; c-test: "):
        Resolved.of(part, ["mine.py:Mine"], narrowed=True)
    part = plans.narrowed(plans.read_plan(), ["lambda-star"], 5, None)
    found = Resolved.of(part, ["mine.py:Mine"], narrowed=True)
    assert found.plan.yours == ["mine.py:Mine"]
    assert found.left_out == []


def test_what_a_mind_cannot_take_is_said_in_one_sentence(file):
    part = plans.narrowed(plans.read_plan(), ["c-test", "stag-hunt", "lambda-star"], 5, None)
    found = Resolved.of(part, ["mine.py:Mine", "tit-for-tat"], narrowed=True)
    mine, other = found.left_out_in_short()
    names = mine.removeprefix("mine.py:Mine cannot take ").partition("; the first because: ")[0]
    assert {"c-test", "stag-hunt"} == set(names.split(", "))
    assert other.startswith("tit-for-tat cannot take ")
    assert len(found.left_out) == 4


def test_a_mind_is_not_said_to_miss_an_instrument_of_which_it_takes_a_test(file):
    near, far = ({"rows": 5, "cols": 5, "range": reach} for reach in (1, 2))
    tests = [Test(instrument="lambda-star", settings=one, minds=["random"]) for one in (near, far)]
    plan = plans.Plan(tests=[*tests, Test(instrument="c-test", minds=["random"])])
    Path("near.py").write_text("def near(seen):\n    return {9: 5}[len(seen.cells)]\n")
    (said,) = Resolved.of(plan, ["near.py:near"]).left_out_in_short()
    assert said.startswith("near.py:near cannot take some tests of lambda-star, c-test; ")


def test_a_file_without_a_name_is_told_what_is_in_it(file):
    with pytest.raises(Error, match=r"'mine.py' is a file; .* as mine.py:Mine$"):
        registry.subject("mine.py", registry.make_instrument("c-test"))
    with pytest.raises(Error, match=r"as none.py:NAME$"):
        registry.subject("none.py", registry.make_instrument("c-test"))


@pytest.mark.parametrize(
    ("mind", "said"),
    [
        ("mine.py:nobody", "mine.py:nobody can take none of the tests; lambda-star: .*not today"),
        ("local-serch", "there is no mind 'local-serch'.*local-search"),
        ("none.py:Mine", "there is no file"),
        ("(", "cannot read the name"),
    ],
)
def test_a_mind_that_can_take_nothing_is_an_error(file, mind, said):
    with pytest.raises(Error, match=said):
        Resolved.of(plans.read_plan(), [mind])


@pytest.mark.slow
def test_the_battery_tells_floor_from_best_in_every_test_and_is_reported(file, tmp_path):
    """A test in which all minds do the same measures nothing, and is not in the battery."""
    battery = Resolved.of(plans.read_plan(), ["mine.py:Mine"]).plan
    short = [
        test.model_copy(update={"episodes": min(test.episodes, 200)}) for test in battery.tests
    ]
    folder = runs.run(battery.model_copy(update={"tests": short}), tmp_path / "run")
    tests = folder.summary()["tests"]
    for test in tests:
        assert all(row["failed"] == 0 for row in test["results"])
        rows = [row for row in test["results"] if row["score"] is not None]
        floor = next(row for row in rows if row["end"] == "floor")
        best = max(rows, key=lambda row: row["score"])
        low, high = (row["ci95"] or [row["score"]] * 2 for row in (best, floor))
        assert low[0] > high[1], f"{test['instrument']}: {best['mind']} and {floor['mind']}"
    shown = profiles(short, tests)
    assert "random" not in shown
    assert shown["mine.py:Mine"][0].instrument == "lambda-star"
    page = write_report(folder, tmp_path / "report.html").read_text()
    assert all(test["instrument"] in page for test in tests)
    assert "mine.py:Mine" in page
