"""Quitting never pays: a mind that raises wherever it would not win stands below its honest self.

A question that is not answered is wrong, so there the score is the same; where there are steps or a
game to lose, it is lower; in any case the mind is not ranked. On Λ*, the C-test (r̃ and points),
matrices and two games, by `evaluate`, `run` and `compare`, in the plain form and in the quickest
that a line-up has.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import allminds as am
from allminds import registry
from allminds.cli.app import app
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.inference.words import best_first
from allminds.runs.plan import Plan

ONE = am.How(jobs=1)

MINDS = '''
from allminds import registry
from allminds.core.bases import BatchMind
from allminds.contracts import MindBase, Traits
import numpy as np


class Quit(Exception):
    """Says that this one will not be won."""


def of(instrument, name, **parameters):
    return registry.minds(instrument)[name](**parameters)


class Series(MindBase):
    """A pattern finder."""

    traits = Traits(sees="future")
    quits = False

    def begin(self, task):
        self.own, self.answer = of("c-test", "pattern", y=3), task.secret
        self.own.begin(task)

    def act(self, seen, random):
        choice = self.own.act(seen, random)
        if self.quits and (choice < 0 or seen.options[choice] != self.answer):
            raise Quit("not mine")
        return choice


class SeriesQuitter(Series):
    quits = True


class Matrix(MindBase):
    """Looks at the panel that is nearest."""

    traits = Traits(sees="future")
    quits = False

    def begin(self, task):
        self.own, self.answer = of("matrices", "nearest-panel"), task.secret
        self.own.begin(task)

    def act(self, seen, random):
        choice = self.own.act(seen, random)
        if self.quits and choice != self.answer:
            raise Quit("not mine")
        return choice


class MatrixQuitter(Matrix):
    quits = True


class Walker(MindBase):
    """Steps where most is to be had."""

    quits = False

    def act(self, seen, random):
        if self.quits and max(seen.rewards) <= 0:
            raise Quit("nothing good in sight")
        return 1 + seen.rewards.index(max(seen.rewards))


class WalkerQuitter(Walker):
    quits = True


class Herd(BatchMind):
    """The same walk, for many episodes at once."""

    quits = False

    def act_many(self, seen, words):
        rewards = np.asarray(seen.rewards)
        choice = 1 + rewards.argmax(axis=1)
        if self.quits:
            choice = np.where(rewards.max(axis=1) > 0, choice, 99)  # no action: malformed
        return choice


class HerdQuitter(Herd):
    quits = True


class Crosses(MindBase):
    """Takes the first cell that is free."""

    quits = False

    def act(self, seen, random):
        if self.quits and seen.cells.count(".") <= 4:
            raise Quit("not won in three moves")
        return seen.legal[0]


class CrossesQuitter(Crosses):
    quits = True


class Friend(MindBase):
    """Cooperates."""

    quits = False

    def act(self, seen, random):
        if self.quits and seen.step == 1 and 1 in seen.others:
            raise Quit("betrayed")
        return 0


class FriendQuitter(Friend):
    quits = True
'''

CASES = {
    "lambda-star": ("lambda-star", {"rows": 5, "cols": 5, "iterations": 20}, "Walker", "", 88),
    "lambda-star, many at once": (
        "lambda-star", {"rows": 5, "cols": 5, "iterations": 20}, "Herd", "", 88,
    ),
    "c-test, r̃": ("c-test", {}, "Series", "", 20),
    "c-test, generated": ("c-test", {"form": "generated"}, "Series", "", 60),
    "c-test, points": ("c-test", {"options": 5, "scoring": "administered"}, "Series", "", 20),
    "matrices": ("matrices", {}, "Matrix", "", 60),
    "noughts-and-crosses": ("noughts-and-crosses", {}, "Crosses", ", random", 60),
    "prisoners-dilemma": ("prisoners-dilemma", {}, "Friend", ", random", 60),
}  # fmt: skip
EVERY = pytest.mark.parametrize("case", list(CASES))


@pytest.fixture(scope="module")
def minds(tmp_path_factory):
    path = tmp_path_factory.mktemp("minds") / "quitters.py"
    path.write_text(MINDS, encoding="utf-8")
    return path


def asked(case, minds):
    """The instrument, its settings, the honest and the quitting line-up, how many exercises."""
    instrument, settings, name, rest, episodes = CASES[case]
    pair = [f"{minds}:{name}{rest}", f"{minds}:{name}Quitter{rest}"]
    return instrument, settings, pair, episodes


def below(rows, pair):
    """Check the rows of an honest mind and of its quitting self."""
    honest, quitter = (next(row for row in rows if row["mind"] == name) for name in pair)
    assert honest["failed"] == 0
    assert 0 < quitter["failed"] < quitter["episodes"]
    assert quitter["score"] <= honest["score"]
    ranked = [row["mind"] for row in best_first(rows)]
    assert ranked.index(honest["mind"]) < ranked.index(quitter["mind"])
    return honest, quitter


def evaluated(case, minds):
    instrument, settings, pair, episodes = asked(case, minds)
    found = am.evaluate(instrument, pair, settings=settings, episodes=episodes, how=ONE)
    return found["results"], pair


@EVERY
def test_by_evaluate(case, minds):
    rows, pair = evaluated(case, minds)
    honest, quitter = below(rows, pair)
    instrument, settings, _, _ = asked(case, minds)
    tool = registry.make_instrument(instrument, settings)
    if tool.exercise(1, 0).environment.steps > 1:  # no question
        assert quitter["score"] < honest["score"]
    assert quitter["bounds"][0] <= quitter["score"] <= quitter["bounds"][1]
    assert quitter["finished"] > quitter["score"]
    assert quitter["coverage"] == 1 - quitter["failed"] / quitter["episodes"]
    assert sum(quitter["failures"].values()) == quitter["failed"]
    assert not quitter["ranked"]
    assert quitter["ci95"][0] < quitter["score"] < quitter["ci95"][1]


@pytest.mark.parametrize("case", ["c-test, r̃", "c-test, generated", "c-test, points", "matrices"])
def test_who_fails_where_it_is_wrong_has_the_score_of_who_is_wrong(case, minds):
    honest, quitter = below(*evaluated(case, minds))
    assert quitter["score"] == honest["score"]
    assert quitter["ci95"] == honest["ci95"]


@EVERY
def test_by_run_and_by_compare(case, minds, tmp_path):
    """The same figures as `evaluate` gives, from the records of a run, and from `compare`."""
    instrument, settings, pair, episodes = asked(case, minds)
    test = {"instrument": instrument, "minds": pair, "episodes": episodes, "settings": settings}
    folder = am.run(Plan.model_validate({"tests": [test], "seed": 1}), tmp_path / "run", ONE)
    rows = folder.summary()["tests"][0]["results"]
    honest, quitter = below(rows, pair)
    here, _ = evaluated(case, minds)
    for name, row in zip(pair, (honest, quitter), strict=True):
        mine = next(one for one in here if one["mind"] == name)
        for figure in ("score", "stderr", "ci95", "failed", "finished", "bounds", "failures"):
            assert row[figure] == mine[figure], figure
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "run"), "--json"])
    assert done.exception is None, done.exception
    [comparison] = json.loads(done.stdout)["comparisons"]
    standing = {row["mind"]: row for row in comparison["standings"]}
    for row in (honest, quitter):
        name = max((name for name in standing if row["mind"].startswith(name)), key=len)
        assert standing[name]["score"] == pytest.approx(row["score"], abs=1e-12)
        assert standing[name]["ci95"] == pytest.approx(row["ci95"], abs=1e-9)
        assert standing[name]["ranked"] is row["ranked"]
    [difference] = comparison["differences"]
    gap = difference["mean"] if difference["first"] in pair[0] else -difference["mean"]
    assert gap == pytest.approx(honest["score"] - quitter["score"], abs=1e-12)
    assert difference["verdict"] in ("different", "undecided")


@EVERY
@pytest.mark.parametrize("which", [0, 1])
def test_the_quick_form_fails_as_the_plain_one_does(case, which, minds):
    instrument, settings, pair, episodes = asked(case, minds)
    tool = registry.make_instrument(instrument, settings)
    line_up = registry.line_up(pair[which], tool)
    quick = form(tool, line_up, Watch()).play(3, 0, episodes, 0)
    plain = Plain(tool, line_up, Watch()).play(3, 0, episodes, 0)
    assert np.array_equal(quick.status, plain.status)
    assert np.array_equal(quick.score, plain.score, equal_nan=True)
    assert np.array_equal(quick.steps, plain.steps)
    assert quick.reasons == plain.reasons
    for mine, its in ((quick.item, plain.item), (quick.cluster, plain.cluster)):
        assert (mine is None) == (its is None)
        assert mine is None or np.array_equal(mine, its)


def test_the_walkers_forms_are_not_the_same(minds):
    """So that the test above compares two forms, and not one with itself."""
    tool = registry.make_instrument("lambda-star", CASES["lambda-star"][1])
    made = form(tool, registry.line_up(f"{minds}:Herd", tool), Watch())
    assert not isinstance(made, Plain)


class Walks:
    """Steps where most is to be had; the first exercises fail at their last step."""

    failing, begun = 0, 0

    def begin(self, task):
        type(self).begun += 1
        self.fails, self.left = type(self).begun <= self.failing, task.steps

    def act(self, observation, random):
        self.left -= 1
        if self.fails and self.left == 0:
            raise RuntimeError("at the very end")
        return 1 + observation.rewards.index(max(observation.rewards))


@pytest.mark.parametrize("failing", [5, 6])
def test_more_than_one_in_twenty_is_not_ranked_and_not_equivalent(failing):
    """Two minds of 100 exercises that are the same but for the last step of 5 or 6 of them."""

    class Fails(Walks):
        pass

    Fails.failing, Fails.begun = failing, 0
    found = am.evaluate(
        "lambda-star", {"honest": Walks, "fails": Fails},
        settings={"rows": 5, "cols": 5, "iterations": 20}, episodes=100, how=ONE,
    )  # fmt: skip
    row = next(row for row in found["results"] if row["mind"] == "fails")
    assert row["failed"] == failing
    assert row["ranked"] is (failing == 5)
    pairs = found.compare(margin=0.5)
    [pair] = (one for one in pairs.itertuples() if {one.first, one.second} == {"honest", "fails"})
    assert 0 < abs(pair.difference) < 0.01
    assert pair.verdict == ("equivalent" if failing == 5 else "undecided")


def test_a_mind_that_fails_everything_has_the_lowest_score_and_is_last():
    found = am.evaluate(
        "lambda-star", ["local-search", broken], settings={"rows": 5, "cols": 5, "iterations": 10},
        episodes=30, how=ONE,
    )  # fmt: skip
    row = next(row for row in found["results"] if row["mind"] == "broken")
    assert (row["score"], row["failed"], row["coverage"], row["finished"]) == (-1.0, 30, 0.0, None)
    assert row["bounds"] == [-1.0, 1.0]
    assert not row["ranked"]
    assert "30 error" in str(found)
    assert "none was finished" in " ".join(str(found).split())
    assert "not ranked" in " ".join(str(found).split())


def test_no_failure_no_words_about_it():
    found = am.evaluate(
        "lambda-star", ["local-search"], settings={"rows": 5, "cols": 5, "iterations": 10},
        episodes=30, how=ONE,
    )  # fmt: skip
    assert "fail" not in str(found)
    assert "ranked" not in str(found)
    assert all(row["coverage"] == 1 and row["bounds"] is None for row in found["results"])


def broken(observation):
    raise RuntimeError("never works")


class Honest(am.MindBase):
    """Defects and cooperates by lot."""

    def begin(self, task):
        self.slot = task.slot

    def act(self, observation, random):
        return random.below(2)


class Saves(Honest):
    """Its copy in the second slot fails as soon as it wins, to save the first a bad result."""

    def learn(self, reward, observation, done):
        if self.slot == 1 and reward > 0.9:
            raise RuntimeError("the first slot lost")


def test_a_copy_cannot_fail_for_anothers_sake():
    found = am.evaluate(
        "prisoners-dilemma", [Honest, Saves], settings={"steps": 10}, episodes=60, how=ONE
    )
    honest, saves = (row for row in found["results"] if row["mind"] in ("Honest", "Saves"))
    assert (honest["failed"], honest["missing"]) == (0, 0)
    assert saves["failed"] > 30
    assert saves["missing"] == 0
    assert saves["score"] < honest["score"]
    frame = found.frame()
    failed = frame[(frame["mind"] == "Saves") & (frame["status"] != "ok")]
    assert (failed["status"] == "error").all()
    assert failed["score"].notna().all()
