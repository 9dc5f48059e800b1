"""One suite over everything that is registered; the same checks that users have."""

from __future__ import annotations

import pytest

from allminds import registry
from allminds.check import check_instrument, check_mind
from allminds.contracts import MindBase, Traits
from allminds.core.errors import Error

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
LEARNERS = ("q-learning", "sarsa", "shared-q-learning", "shared-sarsa")
QUICK = {name: f"{name}(sessions=4)" for name in LEARNERS} | {
    "vote": "vote(mode,pattern,random)",
    "plurality": "plurality(mode,pattern,random)",
    "weighted-vote": "weighted-vote(mode,random,p=0.2/0.5)",
}
WITHOUT_PRACTICE = (
    "lambda",
    "lambda-anytime",
    "lambda-staircase",
    "team-lambda",
)  # learners learn as they go
MINDS = [
    (tool, name)
    for tool in registry.instruments()
    for name in registry.minds(tool)
    if name not in ("human", "llm", "policy", "program")  # who would have to be asked, or named
]


@pytest.mark.parametrize("name", registry.instruments())
def test_every_instrument_keeps_the_contract(name):
    check_instrument(name, SMALL.get(name, {}))


@pytest.mark.parametrize(("instrument", "name"), MINDS)
def test_every_mind_keeps_the_contract(instrument, name):
    who = name if instrument in WITHOUT_PRACTICE else QUICK.get(name, name)
    check_mind(who, instrument, SMALL.get(instrument, {}))


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
