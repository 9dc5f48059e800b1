"""Recall: a mind that has memorised is caught, and one that solves is not called different."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from commands import allminds as command

import allminds
from allminds import MindBase, registry
from allminds.core.errors import Error
from allminds.core.seeding import fingerprint
from allminds.instruments.series.items import INDUCTION, LETTERS
from allminds.results import Results
from allminds.runs.resolve import prepared
from allminds.runs.run import How
from allminds.statistics.recall import recall

ONE = How(jobs=1)
KNOWN = {item.shown: item.answer for item in INDUCTION}


class LookUp(MindBase):
    """Has memorised the plain items with their answers, and knows nothing else."""

    def act(self, observation, random):
        return observation.options.find(KNOWN.get(observation.shown, "?"))


class Solver(MindBase):
    """Knows the answer of three items in four, in whatever order the letters are told.

    Which ones it knows depends on how an item looks, as the slips of a model do.
    """

    def begin(self, task):
        self.order = task.facts["alphabet"]

    def act(self, observation, random):
        plain = observation.shown.translate(str.maketrans(self.order, LETTERS))
        if fingerprint(observation.shown) % 4 == 0:
            return -1
        return observation.options.index(self.order[LETTERS.index(KNOWN[plain])])


@pytest.fixture(scope="module")
def found() -> Results:
    return allminds.evaluate("c-test", [LookUp, Solver, "mode"], disguises=8, ends=False, how=ONE)


def test_a_look_up_table_of_one_skin_is_caught_and_a_solver_is_not(found):
    rows = found.recall().set_index("mind")
    assert rows.loc["LookUp", "plain"] == 1
    assert rows.loc["LookUp", "disguised"] == 0
    assert rows.loc["LookUp", "recall"] == 1
    assert rows.loc["LookUp", "low"] > 0
    assert rows.loc["LookUp", "verdict"] == "different"
    assert rows.loc["Solver", "verdict"] in ("equivalent", "undecided")
    assert rows.loc["Solver", "low"] < 0 < rows.loc["Solver", "high"]
    assert rows.loc["mode", ["recall", "verdict"]].tolist() == [0, "undecided"]
    assert (rows["units"] == 20).all()
    assert (rows["skins"] == 8).all()


def test_recall_is_the_weighted_difference_of_the_scores_that_are_printed(found):
    rows = found.recall().set_index("mind")
    tests = [{row["mind"]: row["score"] for row in test["results"]} for test in found.tests]
    assert len(tests) == 9
    for mind in tests[1]:
        skins = [test[mind] for test in tests[1:]]
        assert rows.loc[mind, "plain"] == pytest.approx(tests[0][mind], abs=1e-12)
        assert rows.loc[mind, "disguised"] == pytest.approx(np.mean(skins), abs=1e-12)
        gap = tests[0][mind] - np.mean(skins)
        assert rows.loc[mind, "recall"] == pytest.approx(gap, abs=1e-12)


def test_floor_and_ceiling_take_the_plain_test_only():
    plan = prepared("c-test", ["mode"], disguises=2).plan
    assert [test.minds for test in plan.tests] == [
        ["mode", "random", "levin-search"], ["mode"], ["mode"],
    ]  # fmt: skip
    assert [test.settings.get("disguise", 0) for test in plan.tests] == [0, 1, 2]


def test_results_print_the_plain_table_and_what_is_lost(found):
    told = str(found)
    assert told.count("c-test") == 1
    assert "Recall  ·  8 skins" in told
    assert "different" in told


def test_the_command_prints_recall_and_keeps_it_in_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["evaluate", "matrices", "-m", "random", "--episodes", "9", "--disguises", "2"]
    told = json.loads(command(*words, "--out", "run", "--json", "--jobs", "1").stdout)
    (row,) = told["recall"]
    assert (row["mind"], row["skins"], row["recall"]) == ("random", 2, 0)
    again = Results.of(tmp_path / "run").recall()
    assert again["low"].tolist() == [row["low"]]
    assert "Recall" in command(*words, "--no-save", "--jobs", "1").stdout


def test_several_instruments_are_corrected_together():
    made = allminds.evaluate(
        ["c-test", {"instrument": "matching-pennies", "episodes": 20}],
        ["random"], disguises=1, ends=False, how=ONE,
    )  # fmt: skip
    assert made.recall()["instrument"].tolist() == ["c-test", "matching-pennies"]
    assert (made.recall()["recall"] == 0).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"disguises": -1}, "disguises must be a whole number"),
        ({"disguises": 2, "course": "train=1,test=1"}, "is given as a course"),
        ({"disguises": 2, "settings": {"disguise": 1}}, "is given as a disguise of its own"),
    ],
)
def test_what_cannot_be_given_in_disguise_is_said(given, said):
    with pytest.raises(Error, match=said):
        allminds.evaluate("c-test", ["random"], **given)


def test_an_adaptive_test_has_no_disguises():
    adaptive = next(name for name, cls in registry.instruments().items() if cls.adaptive)
    with pytest.raises(Error, match="leave out disguises"):
        allminds.evaluate(adaptive, ["random"], disguises=1)


def test_without_disguises_there_is_no_recall():
    with pytest.raises(Error, match="evaluate with disguises"):
        allminds.evaluate("c-test", ["mode"], ends=False, how=ONE).recall()


# ---------------------------------------------------------------- how often it is wrong


def simulated(rng: np.random.Generator, items: int, skins: int, lost: float):
    """Records of a mind that hits items with chances of their own, fewer by `lost` in disguise."""
    chances = rng.uniform(0.3, 0.9, items)
    tests = []
    for n in range(skins + 1):
        tool = registry.make_instrument("c-test", {"disguise": n})
        hits = (rng.random(items) < chances - lost * (n > 0)).astype(float)
        index = np.arange(items)
        tests.append((tool, pd.DataFrame({
            "instrument": "c-test", "exercise": [f"{n}/{i}" for i in index], "index": index,
            "item": index + 1, "cluster": index + 1, "mind": "simulated", "slot": 0,
            "score": hits, "status": "ok", "k": 7.0 + index % 4,
        })))  # fmt: skip
    return tests


@pytest.mark.slow
def test_a_mind_that_solves_is_called_different_in_at_most_one_run_of_twenty():
    """The rate is .05; of 200 runs 10 are expected, and 20 or more with a chance below .003."""
    rng = np.random.default_rng(3)
    words = [recall(simulated(rng, 30, 4, 0.0))[0].found.verdict for _ in range(200)]
    assert sum(word.startswith("different") for word in words) < 20


@pytest.mark.slow
def test_the_interval_covers_what_is_truly_lost():
    """Nominally .95: of 200 intervals 180 or fewer cover with a chance below .003."""
    rng = np.random.default_rng(4)
    found = [recall(simulated(rng, 30, 4, 0.2))[0].found.interval for _ in range(200)]
    assert sum(low <= 0.2 <= high for low, high in found if low is not None) > 180
