"""The screens of a study in their order, and which exercise belongs to which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from allminds.contracts import Exercise, Face, Instrument, Record
from allminds.core.seeding import Random, key
from allminds.web.faces import checks
from allminds.web.sessions import Faces
from allminds.web.study import PERSON, PRACTICE_STREAM, Study, stored

ORDER = 1 << 20  # a stream that no mind draws from: the order of exercises
SCREEN = ORDER + 1  # and what is shuffled on the screen


@dataclass(frozen=True)
class Place:
    """One screen of the course."""

    kind: Literal["consent", "instructions", "check", "room", "exercise", "between", "done"]
    test: int = 0
    number: int = 0  # of the exercise in its test, from 0
    practice: bool = False
    rest: bool = False  # a pause that has no news


@dataclass(frozen=True)
class Course:
    """A study with its instruments and faces: all that a session needs to know of it."""

    study: Study
    faces: Faces

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every screen from consent to the end."""
        found = [Place("consent")]
        for test in range(len(self.study.tests)):
            found += self._of(test)
        return (*found, Place("done"))

    def _of(self, test: int) -> list[Place]:
        given = self.study.tests[test]
        found = [Place("instructions", test)]
        if given.check and checks(self.face(test)):
            found.append(Place("check", test))
        for number in range(given.practice):
            found += [Place("exercise", test, number, practice=True)]
            found += [Place("between", test, number, practice=True)]
        if given.opponent == PERSON:
            found.append(Place("room", test))
        count = self.study.count(test)
        for number in range(count):
            found.append(Place("exercise", test, number))
            rests = given.pause_every and (number + 1) % given.pause_every == 0
            if self.told_after(test):
                found.append(Place("between", test, number))
            elif rests and number + 1 < count:
                found.append(Place("between", test, number, rest=True))
        return found

    def told_after(self, test: int) -> bool:
        """Whether the last reward of an exercise is shown: of a question, only if asked for."""
        game = bool(self.study.tests[test].opponent)
        return self.study.tests[test].feedback or game or self._steps[test] > 1

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """Steps of the first exercise of every test; of a question, 1."""
        tests = range(len(self.study.tests))
        return tuple(self.tool(n).exercise(self.study.seed, 0).environment.steps for n in tests)

    # ------------------------------------------------------------ instruments

    def tool(self, test: int, practice: bool = False) -> Instrument:
        """The instrument of a test."""
        return self.study.practice_tool(test) if practice else self.study.tool(test)

    def face(self, test: int, practice: bool = False, slot: int = 0) -> Face:
        """How it looks from a slot."""
        return _face(self.faces, self.tool(test, practice), slot)

    # ------------------------------------------------------------ exercises

    def seed(self, practice: bool) -> int:
        """Of the exercises that count, or of those that do not."""
        return self.study.seed + (PRACTICE_STREAM if practice else 0)

    def number(self, place: Place, participant: int) -> int:
        """The index of a place's exercise in the series of its instrument."""
        if place.practice:
            return place.number
        numbers = self.study.numbers(place.test, participant)
        if self.study.tests[place.test].shuffled:
            random = Random(key(self.study.seed, participant, ORDER), place.test)
            numbers = _shuffled(numbers, random)
        return numbers[place.number]

    def fresh(self, test: int, number: int, used: Sequence[int]) -> int:
        """Another exercise that is as complex as this one, and nobody's so far."""
        tool, seed = self.tool(test), self.study.seed
        people = self.study.participants if self.study.assignment == "own" else 1
        column = tool.strata
        wanted = tool.exercise(seed, number).environment.complexity[column] if column else None
        other = self.study.tests[test].first + people * self.study.count(test)
        while other in used or (
            column and tool.exercise(seed, other).environment.complexity[column] != wanted
        ):
            other += 1
        return other

    def exercise(
        self, test: int, practice: bool, number: int, history: Sequence[Record]
    ) -> Exercise:
        """An exercise; `history` is of the same person, and only an adaptive test looks at it."""
        tool, seed = self.tool(test, practice), self.seed(practice)
        if tool.adaptive and not practice:
            return tool.exercise(seed, number, history)
        if tool.adaptive:  # practice is always the first of an administration
            return tool.exercise(seed, number * tool.sitting)
        return _exercise(tool, seed, number)

    def progress(self, place: Place) -> tuple[int, int]:
        """Exercise k of n: over the whole study, or of this practice."""
        if place.practice:
            return place.number + 1, self.study.tests[place.test].practice
        counts = [self.study.count(test) for test in range(len(self.study.tests))]
        return sum(counts[: place.test]) + place.number + 1, sum(counts)


def _shuffled(numbers: list[int], random: Random) -> list[int]:
    made = list(numbers)
    for place in range(len(made) - 1):
        other = place + random.below_at(len(made) - place, place)
        made[place], made[other] = made[other], made[place]
    return made


@lru_cache(maxsize=512)
def _exercise(tool: Instrument, seed: int, number: int) -> Exercise:
    return tool.exercise(seed, number)


@lru_cache(maxsize=256)
def _face(faces: Faces, tool: Instrument, slot: int) -> Face:
    return faces(tool, slot)


@lru_cache(maxsize=256)
def course(text: str, faces: Faces) -> Course:
    """The course of a study as it was kept."""
    return Course(stored(text), faces)
