"""Tests that end when the ability is known: rounds, levels, failures, and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import allminds
from allminds import Discrete, How, Instrument, Question, registry
from allminds.check import check_instrument
from allminds.contracts import Exercise, Failure
from allminds.core.errors import Error
from allminds.core.seeding import stratum
from allminds.core.settings import Settings, checked
from allminds.until import Until


class Shown(NamedTuple):
    """How hard it is, and which."""

    hard: float
    number: int


class Sum(Question):
    """A question of some difficulty; 1 is right."""

    actions = (Discrete(2),)

    def __init__(self, hard: float, number: int) -> None:
        self.hard, self.number = hard, number
        self.complexity = {"hard": hard}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and (other.hard, other.number) == (self.hard, self.number)

    __hash__ = None

    def observe(self, state: Any, slot: int) -> Shown:
        return Shown(self.hard, self.number)

    def reward(self, answer: int) -> float:
        return float(answer)


class None_(Settings):
    """No settings."""


class Sums(Instrument):
    """An instrument of a user's: it says which levels it has, and that is all."""

    name, version, slots = "test-sums", 1, 1
    chance, ceiling, lowest = 0.0, 1.0, 0.0
    strata = "hard"
    levels = (2.0, 3.0, 5.0, 8.0)
    Settings = None_

    def __init__(self, **settings):
        self.settings = checked(None_, settings, self.name)

    def exercise(self, seed, i, history=()):
        made = Sum(self.levels[stratum(seed, i, 4)], i)
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, made)

    def show(self, observation, form):
        return str(observation)

    def read(self, answer, observation):
        return int(answer) if answer in "01" else Failure("malformed")


def below_five(observation):
    """Solve what is easier than 5."""
    return int(observation.hard < 5)


def broken(observation):
    """Fail at what is 5 or harder."""
    if observation.hard >= 5:
        raise ValueError
    return 1


def of(found, mind):
    """The ability of a mind, as results tell it."""
    return next(row["ability"] for row in found["results"] if row["mind"] == mind)


def test_an_instrument_of_a_users_is_asked_until_the_ability_is_known():
    found = allminds.evaluate(Sums, [below_five], until="width=2.5", ends=False)
    told = of(found, "below_five")
    low, high = told["anytime"]
    assert told["narrow"]
    assert high - low <= 2.5
    assert low <= 4.5 <= high  # it solves 3, not 5
    assert found["results"][0]["ci95"] == [low, high]
    assert found["results"][0]["episodes"] == told["items"] < 60
    rows = found.frame()
    assert rows["index"].tolist() == list(range(told["items"]))
    assert rows["item"].is_unique
    assert sorted(rows["hard"][:5].unique()) == [2.0, 3.0, 5.0, 8.0]  # the first round is spread
    assert set(rows["hard"][-5:]) <= {3.0, 5.0}


def test_failed_exercises_count_as_wrong():
    found = allminds.evaluate(Sums, [below_five, broken], until="width=2.5", ends=False)
    assert of(found, "broken") == of(found, "below_five")
    assert found["results"][1]["failed"] > 0


def test_jobs_change_nothing(tmp_path):
    tables = []
    for jobs in (1, 2):
        found = allminds.evaluate(
            "matrices", ["random", "rule-induction"], until={"width": 1.0, "most": 60}, ends=False,
            how=How(jobs=jobs), out=tmp_path / str(jobs),
        )  # fmt: skip
        tables.append(found.frame().drop(columns="run"))
        again = allminds.resume(tmp_path / str(jobs))
        assert again.summary()["tests"][0]["results"] == found.summary["results"]
    assert tables[0].equals(tables[1])


def test_a_stated_maximum_ends_the_test_and_is_said():
    found = allminds.evaluate(Sums, [below_five], until="width=0.5,most=12", ends=False)
    told = of(found, "below_five")
    assert (told["items"], told["narrow"]) == (12, False)
    assert "12 exercises, and the interval is" in str(found)


@pytest.mark.parametrize(
    ("name", "settings", "column"),
    [("matrices", {}, "C"), ("c-test", {"form": "generated"}, "k"), ("lambda-staircase", {}, "xi")],
)
def test_an_exercise_of_a_level_has_that_complexity(name, settings, column):
    tool = registry.make_instrument(name, settings)
    for level in (tool.levels[0], tool.levels[-1]):
        made = [tool.at_level(3, level, n) for n in range(3)]
        assert {one.environment.complexity[column] for one in made} == {level}
        assert len({one.index for one in made}) == 3


def test_an_instrument_whose_levels_are_not_true_is_found_out():
    class Wrong(Sums):
        """Levels that its exercises do not have."""

        name = "test-wrong-sums"
        levels = (2.0, 3.0, 5.0, 9.0)

        def exercise(self, seed, i, history=()):
            made = Sum(float(2 + i % 4), i)
            return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, made)

    check_instrument(Sums(), plays=0)
    with pytest.raises(Error, match="exercises of level 2 should differ, and have hard = 2"):
        check_instrument(Wrong(), plays=0)


@pytest.mark.parametrize(
    ("until", "settings", "said"),
    [
        ("wide", {}, "until: 'wide' is not understood; write width=1.0,most=300"),
        ("most=30", {}, "width"),
        ("width=0", {}, "until"),
        (True, {}, "until must be text"),
        ("width=1", {"rules": 2}, "two levels of complexity or more"),
        ("width=1", {"course": "train=2,test=2"}, "give it, or until, not both"),
    ],
)
def test_what_will_not_do_is_refused(until, settings, said):
    with pytest.raises(Error, match=said):
        allminds.evaluate("matrices", ["random"], settings=settings, until=until)


def test_until_and_a_number_of_exercises_exclude_each_other():
    with pytest.raises(Error, match="width=1,most=50"):
        allminds.evaluate("matrices", ["random"], until="width=1", episodes=50)
    with pytest.raises(Error, match="cannot be asked level by level"):
        allminds.evaluate("lambda-star", ["random"], until="width=1")


def test_it_is_written_in_one_form():
    forms = (1, 1.0, "width=1.0", " width = 1 ,most=1000", {"width": 1, "round": 5})
    assert {Until.of(one).plain() for one in forms} == {"width=1"}
