"""Kernels compiled ahead by a helper: the run is the same, and nothing is left of the helper."""

from __future__ import annotations

import json
import subprocess

import pytest

import allminds as am
from allminds.core import compiled
from allminds.runs import engine
from allminds.runs.run import Resolved

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
PLAN = am.Plan(
    tests=[
        am.Test(instrument="lambda-star", minds=["random"], episodes=4, settings=SMALL),
        am.Test(instrument="lambda-star", minds=["local-search"], episodes=4, settings=SMALL),
    ]
)


@pytest.fixture
def helpers(monkeypatch):
    """The helpers that were started, as if nothing had ever been compiled."""
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, command, **how):
            started.append(self)
            super().__init__(command, **how)

    monkeypatch.setattr(compiled, "is_cold", lambda: True)
    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


def test_a_run_is_the_same_with_a_helper_that_is_gone_at_its_end(helpers, tmp_path):
    with_helper = am.run(PLAN, tmp_path / "two", am.How(jobs=2))
    assert len(helpers) == 1
    assert helpers[0].poll() is not None
    alone = am.run(PLAN, tmp_path / "one", am.How(jobs=1))
    assert len(helpers) == 1
    assert with_helper.records().equals(alone.records())


def test_the_helper_goes_when_the_run_breaks_off(helpers):
    with pytest.raises(KeyboardInterrupt), engine.compiling_ahead(Resolved.of(PLAN).tests):
        raise KeyboardInterrupt
    assert helpers[0].poll() is not None


def test_what_the_helper_does_is_play_the_tests_that_it_is_sent(monkeypatch):
    played = []
    monkeypatch.setattr(engine, "play", lambda sitting, *_: played.append(sitting.minds))
    engine.compile_all(json.dumps([("lambda-star", SMALL, ["local-search"])]))
    assert played == [("local-search",)]


def test_one_test_or_a_warm_cache_needs_no_helper(helpers, monkeypatch):
    with engine.compiling_ahead(Resolved.of(PLAN).tests[:1]):
        pass
    monkeypatch.setattr(compiled, "is_cold", lambda: False)
    with engine.compiling_ahead(Resolved.of(PLAN).tests):
        pass
    assert helpers == []
