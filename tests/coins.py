"""A test of coins, a mind that remembers them, and courses of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from allminds import Discrete, Instrument, MindBase, Plan, Question, Test, Traits, registry
from allminds.contracts import Exercise
from allminds.core.seeding import fingerprint
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.episode import play_on

HERE = Path(__file__).resolve()


class Asked(NamedTuple):
    """The number that a coin is called for."""

    number: int


class Coin(Question):
    """A coin whose side nothing tells but its number."""

    actions = (Discrete(2),)

    def __init__(self, number: int) -> None:
        self.number = number
        self.complexity = {"tens": float(number % 10)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coin) and other.number == self.number

    __hash__ = None

    def observe(self, state: Any, slot: int) -> Asked:
        return Asked(self.number)

    def reward(self, answer: int) -> float:
        return float(answer == fingerprint(self.number) % 2)


class Few(Settings):
    """How many coins there are."""

    coins: int = 10_000


class Coins(Instrument):
    """Call a coin: nothing can be learnt but the coins that were met."""

    name = "test-coins"
    version = 1
    chance, ceiling, lowest = 0.5, 1.0, 0.0
    strata = "tens"
    slots = 1
    Settings = Few

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(Few, settings, self.name)

    def exercise(self, seed: int, i: int, history: Any = ()) -> Exercise:
        number = fingerprint((seed, i)) % self.settings.coins
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Coin(number))

    def show(self, observation: Any, form: str) -> Any:
        return str(observation)

    def read(self, answer: str, observation: Any) -> Any:
        return int(answer)


class Memo(MindBase):
    """Says 0 to a coin that it does not know, and what was right to one that it does."""

    traits = Traits(deterministic=True, learns=True, carries=True)

    def __init__(self) -> None:
        self.right: dict[int, int] = {}
        self.told: list[Any] = []

    def begin_course(self, course: Any) -> None:
        self.told.append(course)

    def act(self, observation: Asked, random: Any) -> int:
        self.number, self.said = observation.number, self.right.get(observation.number, 0)
        return self.said

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        self.right[self.number] = self.said if reward else 1 - self.said


class Forgetful(Memo):
    """The same, but it does not say that it carries."""

    traits = Traits(deterministic=True, learns=True)


COINS = f"{HERE}:Coins"
MEMO, FORGETFUL = f"{HERE}:Memo", f"{HERE}:Forgetful"


def course(text: Any, name: str | type = Coins, **settings: Any) -> Any:
    return registry.make_instrument(name, {**settings, "course": text})


def played(tool: Instrument, who: Any, courses: int = 1, seed: int = 1) -> list[Any]:
    line_up = registry.line_up(who, tool)
    return play_on(tool, line_up, seed, 0, courses * tool.sitting, Watch())


def scores(records: list[Any], phase: int) -> list[float]:
    return [one.score[0] for _, one in records if one.lesson.phase == phase]


def slow_memo() -> Plan:
    """A plan of six courses, each of which takes a while."""
    return Plan(
        tests=[Test(instrument=COINS, minds=[f"{HERE}:Slow"], episodes=6, course="train=8,test=4")]
    )


def parts(out: Path) -> int:
    """How many parts a run has written."""
    return len(list(out.glob("records/*.parquet")))


class Slow(Memo):
    """The memorising mind, in no hurry; it stays in the third course of a run that is watched."""

    third = 0  # exercises of that course

    def act(self, observation: Asked, random: Any) -> int:
        if "WATCHED" in os.environ and parts(Path(os.environ["WATCHED"])) >= 2:
            Slow.third += 1
        time.sleep(0.02 if Slow.third < 5 else 30)
        return super().act(observation, random)
