"""One suite over everything that is registered; the same checks that users have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from allminds import registry
from allminds.check import ERROR_RATE, check_instrument, check_mind
from allminds.contracts import Discrete, Exercise, Failure, Instrument, MindBase, Traits
from allminds.core.bases import Question
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key
from allminds.core.settings import Settings
from allminds.inference.intervals import Betting

SMALL = {
    "lambda-star": {"rows": 5, "cols": 6, "iterations": 20, "agents": 2},
    "team-lambda-star": {"rows": 5, "cols": 6, "iterations": 20},
    "team-lambda": {"form": "general", "cells": 4, "steps": 8},
    "commons": {"steps": 4, "players": 3},
    "predator-prey": {"rows": 5, "cols": 5, "steps": 8},
    "lambda-anytime": {"time": 120},
    "lambda-staircase": {"time": 120, "steps": 20},
    "lambda-star-coordination": {"rows": 5, "cols": 6, "iterations": 20, "agents": 3},
    "lambda-star-coverage": {"rows": 5, "cols": 6, "iterations": 20, "agents": 3},
    "lambda-star-responsive": {"rows": 5, "cols": 6, "iterations": 20},
    "landscape": {"rows": 8, "cols": 9, "iterations": 20},
}
OWN_SETTINGS = {  # of minds that do not take all
    "bayes-optimal": {"form": "general", "cells": 3, "actions": 2, "steps": 6},
}
LEARNERS = ("q-learning", "sarsa", "shared-q-learning", "shared-sarsa")
QUICK = {name: f"{name}(sessions=4)" for name in LEARNERS} | {
    "vote": "vote(mode,pattern,random)",
    "plurality": "plurality(mode,pattern,random)",
    "weighted-vote": "weighted-vote(mode,random,p=0.2/0.5)",
}
ELSEWHERE = {  # protocols for every instrument, which tests/instruments/test_groups.py checks
    "conformist", "debate", "judge", "plurality", "ranked-vote", "relay", "route", "samples",
    "talk", "vote", "weighted-vote",
}  # fmt: skip
WITHOUT_PRACTICE = (
    "lambda",
    "lambda-anytime",
    "lambda-staircase",
    "team-lambda",
)  # learners learn as they go


def takes_one_slot(tool: str) -> bool:
    """Check whether the dictator of an instrument is that for every instrument."""
    return not getattr(registry.minds(tool)["dictator"], "is_group", False)


MINDS = [
    (tool, name)
    for tool in registry.instruments()
    for name in registry.minds(tool)
    if name not in ("human", "llm", "policy", "program")  # who would have to be asked, or named
    and (name not in ELSEWHERE or (tool == "c-test" and name in QUICK))
    and (name != "dictator" or not takes_one_slot(tool))
]


@pytest.mark.parametrize("name", registry.instruments())
def test_every_instrument_keeps_the_contract(name):
    few = {"plays": 8} if name == "c-test" else {}  # the ceiling mind searches for seconds
    check_instrument(name, SMALL.get(name, {}), **few)


def test_fresh_series_keep_the_contract():
    check_instrument("c-test", {"form": "generated"})


@pytest.mark.parametrize(("instrument", "name"), MINDS)
def test_every_mind_keeps_the_contract(instrument, name):
    who = name if instrument in WITHOUT_PRACTICE else QUICK.get(name, name)
    check_mind(who, instrument, OWN_SETTINGS.get(name) or SMALL.get(instrument, {}))


class Forgetless(MindBase):
    """Remembers in the class what it should remember in the instance."""

    seen = 0

    def act(self, observation, random):
        type(self).seen += 1
        return 1 + self.seen % 9


class Secretly(MindBase):
    """Says it is deterministic, and is not."""

    traits = Traits(deterministic=True)

    def act(self, observation, random):
        return 1 + random.below(9)


class Beyond(MindBase):
    """Answers what is no action."""

    def act(self, observation, random):
        return 10


@pytest.mark.parametrize(
    ("mind", "said"),
    [
        (Forgetless, "does not repeat itself"),
        (Secretly, "draws random words"),
        (Beyond, "10 is not one of the actions"),
    ],
)
def test_the_check_finds_what_breaks_the_contract(mind, said):
    with pytest.raises(Error, match=said):
        check_mind(mind, "lambda-star", SMALL["lambda-star"])


# ---------------------------------------------------------------- stated chance and ceiling


@dataclass(frozen=True)
class Coin(Question):
    """Guess which of four; a hit pays `paid`."""

    answer: int
    paid: float
    actions = (Discrete(4),)

    def reward(self, answer):
        return self.paid if answer == self.answer else 0.0

    def secret(self, state, slot, random):
        return self.answer


class Knowing(MindBase):
    """Is told the answer."""

    traits = Traits(deterministic=True, sees="future")

    def begin(self, task):
        self.answer = task.secret

    def act(self, observation, random):
        return self.answer


class Guesses(Instrument):
    """Guess one of four numbers."""

    name = "guesses"
    version = 1
    slots = 1
    chance, ceiling, lowest = 0.25, 1.0, 0.0
    paid = 1.0
    ceiling_mind = f"{__name__}:Knowing"
    Settings = Settings

    def __init__(self):
        self.settings = Settings()

    def exercise(self, seed, i, history=()):
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        answer = Random(key(seed, i, MAKING)).below(4)
        return Exercise(place, self, seed, i, Coin(answer, self.paid))

    def show(self, observation, form):
        return "Which of 0..3?"

    def read(self, answer, observation):
        return int(answer) if answer in ("0", "1", "2", "3") else Failure("malformed", answer)


def guesses(**stated):
    """The instrument with other statements than the right ones."""
    return type("Stated", (Guesses,), {"__doc__": Guesses.__doc__, **stated})()


@pytest.mark.parametrize(
    "right",
    [
        {},
        {"paid": 0.5, "chance": 0.125, "ceiling": 0.5},
        {"paid": 0.5, "chance": 0.125, "ceiling": 1.0, "ceiling_reached": False},
        {"lowest": -1.0},
        {"ceiling_mind": None},
        {"ceiling_mind": "random", "ceiling": 0.26},
    ],
)
def test_right_statements_of_chance_and_ceiling_pass(right):
    check_instrument(guesses(**right))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"chance": 0.5}, r"stated chance is 0\.5, but in 200 exercises random scores 0\.\d+"),
        ({"chance": 0.1}, r"stated chance is 0\.1, but"),
        ({"chance": 0.0}, r"stated chance is 0, but"),
        ({"paid": 0.5}, r"stated chance is 0\.25, but"),
        ({"paid": 0.5, "chance": 0.125}, r"stated ceiling is 1, but .* ceiling_reached = False"),
        ({"ceiling": 0.9}, r"stated ceiling is 0\.9, but .*Knowing scores 1\.000"),
        ({"ceiling": 0.9, "ceiling_reached": False}, r"stated ceiling is 0\.9, but"),
        ({"ceiling_mind": "random"}, r"stated ceiling is 1, but"),
        ({"ceiling_mind": None, "ceiling": 0.9}, "without a ceiling mind its ceiling must be 1"),
        ({"paid": -1.0, "chance": -0.25, "ceiling": 0.0}, "beyond the stated lowest and highest"),
    ],
)
def test_wrong_statements_of_chance_and_ceiling_are_refused(wrong, said):
    with pytest.raises(Error, match=said):
        check_instrument(guesses(**wrong))
    check_instrument(guesses(**wrong), plays=0)  # by nothing else


@pytest.mark.parametrize("name", ["lambda-star", "commons", "matrices", "predator-prey"])
def test_a_built_in_instrument_with_a_wrong_chance_is_refused(name, monkeypatch):
    tool = registry.make_instrument(name, SMALL.get(name, {}))
    monkeypatch.setitem(vars(tool), "chance", tool.chance + 0.25 * (tool.highest - tool.lowest))
    with pytest.raises(Error, match="its stated chance is"):
        check_instrument(tool, plays=100)


SHAPES = {
    "a fair coin": lambda draw: draw.random((1000, 60)) < 0.5,
    "rare hits": lambda draw: draw.random((1000, 60)) < 0.04,
    "nearly always": lambda draw: draw.random((1000, 60)) < 0.97,
    "skewed": lambda draw: draw.beta(0.2, 2.0, (1000, 60)),
    "little variance": lambda draw: draw.beta(200, 300, (1000, 60)),
}
MEANS = {
    "a fair coin": 0.5, "rare hits": 0.04, "nearly always": 0.97,
    "skewed": 0.2 / 2.2, "little variance": 0.4,
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_right_statement_is_hardly_ever_refused(shape):
    """At most ERROR_RATE / 2 an end: 1,000 trials have more than 5 refusals in 1 of 70,000 runs."""
    scores = SHAPES[shape](np.random.default_rng(7)).astype(float)
    weights = np.full(60, 1 / 60)
    refused = sum(
        2 * min(Betting(row, weights, 0.0, 1.0).tails(MEANS[shape])) < ERROR_RATE / 2
        for row in scores
    )
    assert refused <= 5
