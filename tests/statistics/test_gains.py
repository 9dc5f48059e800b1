"""Who gains from whom: differences by replays on the same exercises with the same random words."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import allminds

from allminds import MindBase, Traits, registry
from allminds.core.errors import Error
from allminds.episode import play
from allminds.exact import outcome
from allminds.statistics.gains import gains


def test_a_gain_is_the_mean_difference_of_replays_exercise_by_exercise() -> None:
    given = {"agents": 2, "rewards": "trail", "form": "general", "cells": 4, "steps": 12}
    found = gains("lambda", ["expert", "follower"], settings=given, episodes=30, seed=3)
    tool = registry.make_instrument("lambda", given)
    assert [(one.whose.slots, one.source.slots) for one in found] == [((0,), (1,)), ((1,), (0,))]
    for one, without in zip(found, ("expert, random", "random, follower"), strict=True):
        slot = one.whose.slots[0]
        changes = [
            np.subtract(*(
                play(tool.exercise(3, i), registry.line_up(who, tool)).score[slot]
                for who in ("expert, follower", without)
            ))
            for i in range(30)
        ]  # fmt: skip
        assert one.found.mean == pytest.approx(float(np.mean(changes)), abs=1e-12)
        assert one.found.units == (30,)


def test_gains_in_a_dilemma_agree_with_exact_results() -> None:
    """Within 3.3 standard errors of 400 exercises; two pairs, so wrong once in 500 times."""
    minds = ["tit-for-tat", "defect"]
    found = gains("prisoners-dilemma", minds, settings={"steps": 5}, episodes=400)
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 5})
    for one, without in zip(found, (["tit-for-tat", "random"], ["random", "defect"]), strict=True):
        slot = one.whose.slots[0]
        both, other = outcome(tool, minds), outcome(tool, without)
        exact = both.rewards[slot] - other.rewards[slot]
        assert abs(one.found.mean - exact) <= 3.3 * (one.found.stderr or 0.0) + 1e-12


def test_a_slot_that_cannot_influence_another_changes_nothing() -> None:
    given = {"agents": 3, "weights": "1:-1,-1:1,1:0", "moves": "king,rook,king", "rows": 5,
             "cols": 5, "iterations": 10, "k": "any"}  # fmt: skip
    found = gains("lambda-star", "local-search", settings=given, episodes=20)
    assert [one.word for one in found] == ["no change"] * 6
    assert [one.found.mean for one in found] == [0.0] * 6


def test_without_influence_a_gain_is_claimed_in_at_most_one_run_of_twenty() -> None:
    """What a coin flipper gets changes from play to play with whoever plays heads, on average not.

    Of 300 runs at a rate of .05, more than 25 come by chance in less than 1 % of cases.
    """
    claimed = 0
    for seed in range(300):
        found = gains("matching-pennies", ["random", "heads"], episodes=20, seed=seed)
        assert [one.whose.name for one in found] == ["random"]
        assert found[0].found.differs
        claimed += found[0].word.startswith(("gains", "loses"))
    assert claimed <= 25


def test_teams_are_replaced_whole() -> None:
    line_up, given = "local-search*2, expert*2", {"rows": 6, "cols": 6, "iterations": 12}
    found = gains("team-lambda-star", line_up, settings=given, teams=True, episodes=22)
    assert [(one.whose.slots, one.source.slots) for one in found] == [
        ((0, 1), (2, 3)), ((2, 3), (0, 1))
    ]  # fmt: skip
    assert [one.word for one in found] == ["loses", "loses"]  # it is a zero-sum game
    mates = gains("team-lambda-star", line_up, settings=given, episodes=22)
    assert len(mates) == 12
    assert {one.word for one in mates if {one.whose.slots, one.source.slots} == {(2,), (3,)}} == {
        "gains"
    }


def test_a_team_gains_from_the_slot_that_can_move() -> None:
    given = {"moves": "king,5,king,king", "shares": "own", "rows": 5, "cols": 5, "k": "any",
             "iterations": 15}  # fmt: skip
    found = gains("team-lambda-star", "local-search", settings=given, episodes=30)
    words = {(one.whose.slots[0], one.source.slots[0]): one.word for one in found}
    assert {pair for pair, word in words.items() if word == "gains"} == {(1, 0), (2, 3), (3, 2)}
    assert set(words.values()) == {"gains", "no change"}


def test_parties_that_are_the_replacement_are_no_sources() -> None:
    found = gains("predator-prey", "random, random, random, random", by="greedy", episodes=5)
    assert len(found) == 12
    found = gains("prisoners-dilemma", ["random", "defect"], episodes=5)
    assert [(one.whose.name, one.source.name) for one in found] == [("random", "defect")]


class Broken(MindBase):
    """Fails whenever it acts."""

    traits = Traits(deterministic=True)

    def act(self, observation: Any, random: Any) -> int:
        raise RuntimeError("out of order")


@pytest.mark.parametrize(
    ("name", "minds", "more", "said"),
    [
        ("lambda-star", "local-search", {}, "takes two minds or teams"),
        ("lambda-staircase", "expert", {"settings": {"agents": 2}}, "depend on the results"),
        ("matching-pennies", "random", {}, "is in every slot already"),
        ("matching-pennies", ["heads", "tails"], {"episodes": 0}, "1 or more"),
        ("matching-pennies", ["heads", Broken], {"episodes": 3}, "out of order"),
        ("team-lambda-star", "stigmergy(local-search*4)", {"teams": True}, "two teams"),
        ("team-lambda-star", "local-search", {"by": "crowd(local-search*2)"}, "is a group"),
    ],
)
def test_what_cannot_be_replayed_is_told(
    name: str, minds: Any, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(Error, match=said):
        gains(name, minds, **more)


def test_the_command_prints_the_gains() -> None:
    words = ("gains", "prisoners-dilemma", "-m", "tit-for-tat, cooperate", "--episodes", 50)
    shown = allminds(*words)
    assert shown.returncode == 0
    assert shown.stdout.count(" gains") == 2
    rows = json.loads(allminds(*words, "--json").stdout)["gains"]
    assert [(row["whose"], row["source"], row["verdict"]) for row in rows] == [
        ("tit-for-tat", "cooperate", "gains"), ("cooperate", "tit-for-tat", "gains")
    ]  # fmt: skip


def test_the_command_tells_what_is_wrong_in_a_sentence() -> None:
    shown = allminds("gains", "lambda-star", "-m", "local-search")
    assert shown.returncode == 2
    assert shown.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_example_prints_what_its_docstring_says(capsys: pytest.CaptureFixture[str]) -> None:
    module = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "unequal_worlds.py"))
    module["main"]()
    for line in capsys.readouterr().out.splitlines():
        assert line in module["__doc__"]
