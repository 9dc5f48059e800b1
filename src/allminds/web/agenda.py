"""The agenda of a study: the screens that follow from it, in their order, and its exercises."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from allminds.contracts import Exercise, Instrument, Lesson, Record
from allminds.core.drawn import Met
from allminds.core.seeding import Random, key
from allminds.presentation import Face
from allminds.web.design import AFTER, BEFORE, Page, pages_of, shuffled
from allminds.web.questions import checks, face
from allminds.web.study import PERSON, PRACTICE_STREAM, Study, stored

ORDER = 1 << 20  # a stream that no mind draws from: the order of exercises
SCREEN = ORDER + 1  # and what is shuffled on the screen
TRIED = 50  # numbers among which practice exercises are looked for that are not in a course
SPARE = 1000  # exercises of each participant among which one is replaced, if they have their own


@dataclass(frozen=True)
class Stop:
    """One screen of the agenda."""

    kind: Literal[
        "consent", "questions", "instructions", "check", "room", "exercise", "between", "done"
    ]
    test: int = 0
    number: int = 0  # of the exercise in its test, from 0
    practice: bool = False
    rest: bool = False  # a pause that has no news
    page: Page = ()  # of the researcher's questions


@dataclass(frozen=True)
class Agenda:
    """A study with its instruments: what a session needs to know of it."""

    study: Study

    @cached_property
    def places(self) -> tuple[Stop, ...]:
        """Every screen from consent to the end."""
        study = self.study
        found = [Stop("consent"), *self._asked(BEFORE)]
        for test, name in enumerate(study.names):
            if study.tests[test].rest and test and found[-1].kind != "between":
                found.append(Stop("between", test - 1, study.count(test - 1) - 1, rest=True))
            found += self._of(test)
            found += self._asked(name, test)
        last = len(study.tests) - 1
        return (*found, *self._asked(AFTER, last), Stop("done", last))

    def _asked(self, when: str, test: int = 0) -> list[Stop]:
        return [Stop("questions", test, page=page) for page in pages_of(self.study.questions, when)]

    def _of(self, test: int) -> list[Stop]:
        given = self.study.tests[test]
        found = [Stop("instructions", test)]
        if given.check and checks(self.face(test)):
            found.append(Stop("check", test))
        for number in range(given.practice):
            found += [Stop("exercise", test, number, practice=True)]
            found += [Stop("between", test, number, practice=True)]
        if given.opponent == PERSON:
            found.append(Stop("room", test))
        count = self.study.count(test)
        for number in range(count):
            found.append(Stop("exercise", test, number))
            rests = given.pause_every and (number + 1) % given.pause_every == 0
            if self.told_after(test, number):
                found.append(Stop("between", test, number))
            elif rests and number + 1 < count:
                found.append(Stop("between", test, number, rest=True))
        return found

    def told_after(self, test: int, number: int) -> bool:
        """Return whether the last reward of an exercise is shown.

        That of a question is shown in the training of a course, and else if it is asked for.
        """
        game = bool(self.study.tests[test].opponent)
        if self.study.tests[test].feedback or game or self._steps[test] > 1:
            return True
        lesson = self.lesson(test, number)
        return lesson is not None and lesson.role == "train"

    def lesson(self, test: int, number: int, practice: bool = False) -> Lesson | None:
        """Return the place of an exercise in a course, if the test is one."""
        if practice or not self.tool(test).parts:
            return None
        return self.exercise(test, False, number, ()).lesson

    def moves(self, test: int) -> int:
        """Count the moves of the first exercise of a test; of a question, 1."""
        return self._steps[test]

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """The steps of the first exercise of every test; of a question, 1."""
        tests = range(len(self.study.tests))
        return tuple(self.tool(n).exercise(self.study.seed, 0).environment.steps for n in tests)

    # ------------------------------------------------------------ instruments

    def tool(self, test: int, practice: bool = False) -> Instrument:
        """Return the instrument of a test."""
        return self.study.practice_tool(test) if practice else self.study.tool(test)

    def face(self, test: int, practice: bool = False, slot: int = 0) -> Face:
        """Return how a test looks from a slot."""
        return face(self.tool(test, practice), slot)

    # ------------------------------------------------------------ exercises

    def seed(self, practice: bool) -> int:
        """Return the seed of the exercises that count, or of practice."""
        return self.study.seed + (PRACTICE_STREAM if practice else 0)

    def number(self, place: Stop, participant: int) -> int:
        """Return the index of a place's exercise in the series of its instrument."""
        if place.practice:
            return self._practised(place.test, participant)[place.number]
        numbers = self.study.numbers(place.test, participant)
        if self.study.tests[place.test].shuffled:
            random = Random(key(self.study.seed, participant, ORDER), place.test)
            numbers = shuffled(numbers, random)
        return numbers[place.number]

    def _practised(self, test: int, participant: int) -> list[int]:
        """List the practice exercises; before a course, none that could be met again in it."""
        count = self.study.tests[test].practice
        if not self.tool(test).parts:
            return list(range(count))
        met, tool = Met(), self.tool(test, practice=True)
        for number in self.study.numbers(test, participant):
            one = self.exercise(test, False, number, ())
            met.add(one.tool.exercise(one.seed, one.index))
        seed = self.seed(practice=True)
        unmet = (n for n in range(TRIED) if tool.exercise(seed, n) not in met)
        found = list(itertools.islice(unmet, count))
        return [*found, *range(count)][:count]  # in a game all are alike

    def fresh(self, test: int, number: int, used: Sequence[int], participant: int = 0) -> int:
        """Return the next exercise with the same complexity that is not in `used`.

        With exercises of one's own, each participant has a range for this that is nobody else's.
        """
        tool, seed, own = self.tool(test), self.study.seed, self.study.assignment == "own"
        people = self.study.participants if own else 1
        column = tool.strata
        wanted = tool.exercise(seed, number).environment.complexity[column] if column else None
        tests = [n for n in range(len(self.study.tests)) if self.study.same_series(n, test)]
        other = max(self.study.tests[n].first + people * self.study.count(n) for n in tests)
        other += participant % people * SPARE
        while other in used or (
            column and tool.exercise(seed, other).environment.complexity[column] != wanted
        ):
            other += 1
        return other

    def exercise(
        self, test: int, practice: bool, number: int, history: Sequence[Record]
    ) -> Exercise:
        """Make an exercise; only an adaptive test looks at the participant's `history`."""
        tool, seed = self.tool(test, practice), self.seed(practice)
        if by_history(tool) and not practice:
            return tool.exercise(seed, number, history)
        if by_history(tool):  # practice is always the first of an administration
            return tool.exercise(seed, number * tool.sitting)
        return _exercise(tool, seed, number)

    def progress(self, place: Stop) -> tuple[int, int]:
        """Return exercise k of n: over the whole study, or of this practice."""
        if place.practice:
            return place.number + 1, self.study.tests[place.test].practice
        counts = [self.study.count(test) for test in range(len(self.study.tests))]
        return sum(counts[: place.test]) + place.number + 1, sum(counts)


def by_history(tool: Instrument) -> bool:
    """Return whether exercises depend on the scores before; those of a course are drawn at once."""
    return tool.adaptive and not tool.parts


@lru_cache(maxsize=512)
def _exercise(tool: Instrument, seed: int, number: int) -> Exercise:
    return tool.exercise(seed, number)


@lru_cache(maxsize=256)
def agenda(text: str) -> Agenda:
    """Restore the agenda of a study from its text in the database."""
    return Agenda(stored(text))
