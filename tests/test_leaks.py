"""Minds that store between exercises are caught; honest caches are not accused."""

from __future__ import annotations

import itertools
import threading
from array import array
from functools import cache, lru_cache, partial
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from allminds import MindBase, Traits, check_mind
from allminds.core.errors import Error
from allminds.core.leaks import holdings

SEEN: list[int] = []
__hidden: list[int] = []  # no name of Python's own
COUNT = 0
TICKET, ROUND = itertools.count(), itertools.cycle("abc")
NUMBERS, SPACE = array("i"), SimpleNamespace(met=0)
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


def counting() -> Any:
    """Count for ever."""
    number = 0
    while True:
        number += 1
        yield number


RUNNING = counting()


@lru_cache
def box() -> list[int]:
    return []


@cache
def endless(name: str) -> list[int]:
    return []


class Slotted:
    """Holds a number in a slot."""

    __slots__ = ("number",)


SLOT = Slotted()
SLOT.number = 0


class Tally:
    """Counts its calls: a mind that is an object with a memory of its own."""

    calls = 0

    def __call__(self, observation: Any) -> int:
        self.calls += 1
        return 5

    def method(self, observation: Any) -> int:
        return self(observation)


def mind_that(does: Any) -> type:
    """Make a mind that does something in every step, and plays as if it did not."""

    class Cheat(MindBase):
        def act(self, observation: Any, random: Any) -> int:
            does()
            return 5

    return Cheat


def write(thing: Any, name: str) -> None:
    setattr(thing, name, getattr(thing, name) + 1)


@pytest.mark.parametrize(
    ("does", "where"),
    [
        (lambda: next(TICKET), "the global TICKET"),
        (lambda: next(ROUND), "the global ROUND"),
        (lambda: next(RUNNING), "the global RUNNING"),
        (lambda: NUMBERS.append(1), "the global NUMBERS"),
        (lambda: write(SPACE, "met"), "the global SPACE"),
        (lambda: write(SLOT, "number"), "the global SLOT"),
        (lambda: globals()["__hidden"].append(1), "the global __hidden"),
        (lambda: box().append(1), "a value that was cached by the function box"),
        (lambda: endless("x").append(1), "a value that was cached by the function endless"),
    ],
)
def test_less_usual_places_are_looked_into(does, where):
    with pytest.raises(Error) as error:
        check_mind(mind_that(does), "lambda-star", {"iterations": 5})
    assert f"stores in {where} between exercises" in str(error.value)


@pytest.mark.parametrize(
    "who", [Tally(), Tally().method, partial(lambda met, _: met.append(1) or 5, [])]
)
def test_objects_that_are_called_are_looked_into(who):
    with pytest.raises(Error, match="stores in what the mind holds between exercises"):
        check_mind(who, "lambda-star", {"iterations": 5})


def test_a_module_in_the_same_folder_is_looked_into(tmp_path, monkeypatch):
    (tmp_path / "its_memory.py").write_text("MET = []\n")
    (tmp_path / "its_mind.py").write_text(
        "import its_memory\n\n\ndef act(observation):\n    its_memory.MET.append(1)\n    return 5\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import its_mind

    with pytest.raises(Error, match="stores in the global MET between exercises"):
        check_mind(its_mind.act, "lambda-star", {"iterations": 5})


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


def test_a_class_of_another_library_may_hold_what_cannot_be_listed():
    class Noted(BaseModel):
        """What pydantic's own class holds is a mapping that none may look into."""

    assert holdings(Noted) == holdings(Noted)


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


class OnlyInCourses(Carries):
    """Stores in its class, but only in a course."""

    courses: ClassVar[list[int]] = []

    def begin_course(self, course: Any) -> None:
        self.courses.append(1)


class CannotBeCopied(MindBase):
    """Carries something that is not copied."""

    traits = Traits(carries=True)

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def act(self, observation: Any, random: Any) -> int:
        return 5


def test_what_is_stored_in_courses_alone_is_found():
    with pytest.raises(Error, match=r"stores in the class attribute OnlyInCourses\.courses"):
        check_mind(OnlyInCourses, "lambda-star", {"iterations": 5})


def test_a_mind_that_cannot_be_copied_is_told_so_in_one_sentence():
    with pytest.raises(Error) as error:
        check_mind(CannotBeCopied, "lambda-star", {"iterations": 5})
    assert "CannotBeCopied cannot be copied: cannot pickle '_thread.lock' object" in str(
        error.value
    )
    assert "give it a method __deepcopy__" in str(error.value)


def test_copies_that_teach_the_mind_are_found():
    check_mind(Carries, "lambda-star", {"iterations": 5})
    with pytest.raises(Error, match="its copies must share nothing with it"):
        check_mind(Shares, "lambda-star", {"iterations": 5})


@pytest.mark.parametrize("who", ["q-learning(carry=true)", "sarsa(carry=true,state=view)"])
def test_built_in_minds_that_carry_keep_the_contract(who):
    check_mind(who, "lambda-star", {"iterations": 8})
