"""Kernels compiled ahead by a helper: the run is the same, and nothing is left of the helper."""

from __future__ import annotations

import json
import subprocess

import pytest

import allminds as am
from allminds.core import compiled, files
from allminds.runs import engine
from allminds.runs.run import Resolved

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
PLAN = am.Plan(
    tests=[
        am.Test(instrument="lambda-star", minds=["random"], episodes=4, settings=SMALL),
        am.Test(instrument="lambda-star", minds=["local-search"], episodes=4, settings=SMALL),
    ]
)


COUNTS = [test.exercises for test in PLAN.tests]


@pytest.fixture
def helpers(monkeypatch):
    """The helpers that were started, as if nothing had ever been compiled."""
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, command, **how):
            started.append(self)
            super().__init__(command, **how)

    monkeypatch.setattr(files, "is_cold", lambda: True)
    monkeypatch.setattr(engine, "SMALL", 0)
    monkeypatch.setattr(engine, "MIDDLE", 0)
    monkeypatch.setattr(engine, "SOON", 0)
    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


def test_a_run_is_the_same_with_a_helper_that_is_gone_at_its_end(helpers, tmp_path):
    with_helper = am.run(PLAN, tmp_path / "two", am.How(jobs=2))
    started = len(helpers)
    assert started
    assert all(one.poll() is not None for one in helpers)
    alone = am.run(PLAN, tmp_path / "one", am.How(jobs=1))
    assert len(helpers) == started
    assert with_helper.records().equals(alone.records())


def test_the_helper_goes_when_the_run_breaks_off(helpers):
    with pytest.raises(KeyboardInterrupt), engine.compiling_ahead(Resolved.of(PLAN).tests, COUNTS):
        raise KeyboardInterrupt
    assert helpers[0].poll() is not None


def test_what_the_helper_does_is_play_the_tests_that_it_is_sent(monkeypatch):
    played = []
    monkeypatch.setattr(engine, "play", lambda sitting, *_: played.append(sitting.minds))
    engine.compile_all(json.dumps([(0, "lambda-star", SMALL, ["local-search"])]))
    assert played == [("local-search",)]


def test_one_test_or_a_warm_cache_needs_no_helper(helpers, monkeypatch):
    with engine.compiling_ahead(Resolved.of(PLAN).tests[:1], COUNTS[:1]):
        pass
    monkeypatch.setattr(files, "is_cold", lambda: False)
    with engine.compiling_ahead(Resolved.of(PLAN).tests, COUNTS):
        pass
    assert helpers == []


def test_small_tests_need_no_helper(helpers, monkeypatch):
    monkeypatch.setattr(engine, "SMALL", 1 << 20)
    with engine.compiling_ahead(Resolved.of(PLAN).tests, COUNTS):
        pass
    assert helpers == []


def test_a_large_job_plays_until_its_kernels_are_compiled_and_goes_over(helpers, monkeypatch):
    """The first blocks are played without kernels, the others with them: the same records."""
    monkeypatch.setattr(compiled, "is_warm", lambda *_: False)
    looked = []

    class Busy(subprocess.Popen):
        def poll(self):
            looked.append(self)
            return None if len(looked) < 4 else 0

    monkeypatch.setattr(subprocess, "Popen", Busy)
    monkeypatch.setattr(engine, "_AHEAD", "import sys; sys.stdin.read()")
    monkeypatch.setattr(engine, "BLOCK", 50)
    monkeypatch.setattr(engine, "COMPILED_WORK", 100 * 50 * 3)
    forms = []
    real = engine.play

    def noted(sitting, number, first, last, compiling=bool):
        forms.append("numpy" if compiling() else "kernels")
        return real(sitting, number, first, last, compiling)

    monkeypatch.setattr(engine, "play", noted)
    minds, how = ["local-search"], am.How(jobs=2)
    mixed = am.evaluate("lambda-star", minds, episodes=500, how=how)
    assert "numpy" in forms
    assert "kernels" in forms
    monkeypatch.setattr(engine, "SMALL", 1 << 30)
    small = am.evaluate("lambda-star", minds, episodes=500, how=how)
    assert mixed.frame().equals(small.frame())


@pytest.mark.parametrize(("warm", "form"), [(True, "kernels"), (False, "numpy")])
def test_a_job_of_middle_size_uses_kernels_only_if_they_are_there(monkeypatch, warm, form):
    monkeypatch.setattr(engine, "SMALL", 0)
    monkeypatch.setattr(compiled, "is_warm", lambda *_: warm)
    forms = []
    real = engine.play

    def noted(sitting, number, first, last, compiling=bool):
        forms.append("numpy" if compiling() else "kernels")
        return real(sitting, number, first, last, compiling)

    monkeypatch.setattr(engine, "play", noted)
    am.evaluate("lambda-star", ["local-search"], episodes=22)
    assert forms == [form]


# ---------------------------------------------------------------- small jobs are not compiled for


GAMES = am.Plan(
    tests=[
        am.Test(instrument="lambda-star", minds=["q-learning(sessions=2)"], episodes=40),
        am.Test(instrument="stag-hunt", minds=["stag", "hare"], episodes=4),
    ]
)


def test_a_small_job_is_played_plainly_while_its_kernels_are_not_on_disk(monkeypatch):
    """The records are those of the kernels."""
    monkeypatch.setattr(compiled, "is_warm", lambda *_: False)
    plain = am.evaluate("stag-hunt", ["stag", "tit-for-tat"], episodes=50)
    monkeypatch.setattr(compiled, "is_warm", lambda *_: True)
    assert (
        am.evaluate("stag-hunt", ["stag", "tit-for-tat"], episodes=50).frame().equals(plain.frame())
    )


def test_only_long_jobs_and_minds_of_users_need_their_kernels():
    def light(episodes, who):
        sitting = engine.Sitting("stag-hunt", (), (who,), 1, episodes=episodes)
        return [type(way).__name__ for way in sitting.light_forms]

    assert light(10, "stag") == ["Plain"]
    assert light(engine.SOON, "stag") != ["Plain"]


def test_tests_that_need_no_kernels_are_given_first_and_the_others_are_waited_for(
    helpers, monkeypatch, tmp_path
):
    monkeypatch.setattr(engine, "MIDDLE", 1 << 24)
    monkeypatch.setattr(engine, "SOON", 1 << 12)
    given, real = [], engine.Ahead.wait

    def noted(self, test):
        real(self, test)
        given.append((test, test in self.awaited))

    monkeypatch.setattr(engine.Ahead, "wait", noted)
    cold = am.run(GAMES, tmp_path / "cold", am.How(jobs=2))
    assert given == [(1, False), (0, False)]
    assert len(helpers) == 1
    monkeypatch.setattr(files, "is_cold", lambda: False)
    assert cold.records().equals(am.run(GAMES, tmp_path / "warm", am.How(jobs=2)).records())


def test_a_helper_that_dies_is_not_waited_for():
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as helper:
        ahead = engine.Ahead([0], True, {0}, helper)
        ahead.wait(0)
    assert ahead.awaited == set()
