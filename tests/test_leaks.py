"""Minds that store between exercises are caught; honest caches are not accused."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import pytest

from allminds import MindBase, Traits, check_mind
from allminds.core.errors import Error

SEEN: list[int] = []
COUNT = 0
LOADED: dict[str, int] = {}


class ByClass(MindBase):
    """Stores what it met in a class attribute, and plays as if it did not."""

    met: ClassVar[dict[Any, int]] = {}

    def act(self, observation: Any, random: Any) -> int:
        self.met[len(self.met)] = 1
        return 5


class ByGlobalList(MindBase):
    """Stores in a list of its module."""

    def act(self, observation: Any, random: Any) -> int:
        SEEN.append(1)
        return 5


class ByGlobalNumber(MindBase):
    """Counts in a global of its module."""

    def act(self, observation: Any, random: Any) -> int:
        global COUNT
        COUNT += 1
        return 5


class ByDefault(MindBase):
    """Stores in a default argument."""

    def act(self, observation: Any, random: Any, met: list[int] = []) -> int:  # noqa: B006 - a cheat
        met.append(1)
        return 5


def by_attribute(observation: Any) -> int:
    """Store in an attribute of the function."""
    by_attribute.met = getattr(by_attribute, "met", 0) + 1  # type: ignore[attr-defined] # a cheat
    return 5


def by_closure() -> Any:
    met: list[int] = []

    def cheat(observation: Any) -> int:
        met.append(1)
        return 5

    return cheat


@pytest.mark.parametrize(
    ("cheat", "where"),
    [
        (ByClass, "the class attribute ByClass.met"),
        (ByGlobalList, "the global SEEN"),
        (ByGlobalNumber, "the global COUNT"),
        (ByDefault, "a default argument of the function ByDefault.act"),
        (by_attribute, "an attribute of the function by_attribute"),
        (by_closure(), "a variable of the function cheat"),
    ],
)
def test_what_is_stored_between_exercises_is_found(cheat, where):
    with pytest.raises(Error) as error:
        check_mind(cheat, "lambda-star", {"iterations": 5})
    assert f"stores in {where} between exercises" in str(error.value)


class Learns(MindBase):
    """Plays another action with every exercise, by a counter that it hides in a cache."""

    def begin(self, task: Any) -> None:
        hidden().append(1)

    def act(self, observation: Any, random: Any) -> int:
        return 1 + len(hidden()) % 9


@lru_cache
def hidden() -> list[int]:
    return []


def test_what_is_hidden_is_found_by_what_it_does():
    with pytest.raises(Error, match=r"carries something|does not repeat itself"):
        check_mind(Learns, "lambda-star", {"iterations": 5})


@lru_cache
def squared(number: int) -> int:
    return number**2


class Honest(MindBase):
    """Has a cache of a pure function, and loads something when it is first used."""

    def act(self, observation: Any, random: Any) -> int:
        LOADED.setdefault("weights", 5)
        return 1 + squared(observation.cell) % 9


def test_an_honest_cache_is_not_accused():
    check_mind(Honest, "lambda-star", {"iterations": 5})


class Shares(MindBase):
    """Carries, but its copies share its memory."""

    traits = Traits(carries=True)

    def __init__(self) -> None:
        self.met: list[int] = []

    def __deepcopy__(self, memo: Any) -> Shares:
        return self

    def act(self, observation: Any, random: Any) -> int:
        self.met.append(1)
        return 1 + len(self.met) % 9


class Carries(Shares):
    """Carries, and is copied as it should be."""

    def __deepcopy__(self, memo: Any) -> Carries:
        made = type(self)()
        made.met = list(self.met)
        return made


def test_copies_that_teach_the_mind_are_found():
    check_mind(Carries, "lambda-star", {"iterations": 5})
    with pytest.raises(Error, match="its copies must share nothing with it"):
        check_mind(Shares, "lambda-star", {"iterations": 5})


@pytest.mark.parametrize("who", ["q-learning(carry=true)", "sarsa(carry=true,state=view)"])
def test_built_in_minds_that_carry_keep_the_contract(who):
    check_mind(who, "lambda-star", {"iterations": 8})
