"""The course of screens that follows from a study, and its exercises as choices left them.

Nothing of an exercise is kept but where it comes from and what was chosen. Its state, its rewards,
what a machine did in it and its record are computed again, for the screen and for every export, by
the same `Episode` that the runner plays. What another participant did is in the session that met
it, as events of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

from allminds.contracts import Exercise, Failure, Instrument, Record, Status
from allminds.core.line_up import Seat, Subject
from allminds.core.seeding import Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, Player
from allminds.presentation import Face, Move
from allminds.web.questions import checks, face
from allminds.web.study import PERSON, PRACTICE_STREAM, Study, stored
from allminds.web.tables import DONE, EventRow, ExerciseRow

ORDER = 1 << 20  # a stream that no mind draws from: the order of exercises
SCREEN = ORDER + 1  # and what is shuffled on the screen
SPARE = 1000  # exercises of each participant among which one is replaced, if they have their own


@dataclass(frozen=True)
class Stop:
    """One screen of the course."""

    kind: Literal["consent", "instructions", "check", "room", "exercise", "between", "done"]
    test: int = 0
    number: int = 0  # of the exercise in its test, from 0
    practice: bool = False
    rest: bool = False  # a pause that has no news


@dataclass(frozen=True)
class Course:
    """A study with its instruments: what a session needs to know of it."""

    study: Study

    @cached_property
    def places(self) -> tuple[Stop, ...]:
        """Every screen from consent to the end."""
        found = [Stop("consent")]
        for test in range(len(self.study.tests)):
            found += self._of(test)
        return (*found, Stop("done"))

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
            if self.told_after(test):
                found.append(Stop("between", test, number))
            elif rests and number + 1 < count:
                found.append(Stop("between", test, number, rest=True))
        return found

    def told_after(self, test: int) -> bool:
        """Return whether the last reward of an exercise is shown: of a question, if asked for."""
        game = bool(self.study.tests[test].opponent)
        return self.study.tests[test].feedback or game or self._steps[test] > 1

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
            return place.number
        numbers = self.study.numbers(place.test, participant)
        if self.study.tests[place.test].shuffled:
            random = Random(key(self.study.seed, participant, ORDER), place.test)
            numbers = _shuffled(numbers, random)
        return numbers[place.number]

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
        if tool.adaptive and not practice:
            return tool.exercise(seed, number, history)
        if tool.adaptive:  # practice is always the first of an administration
            return tool.exercise(seed, number * tool.sitting)
        return _exercise(tool, seed, number)

    def progress(self, place: Stop) -> tuple[int, int]:
        """Return exercise k of n: over the whole study, or of this practice."""
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
def course(text: str) -> Course:
    """Restore the course of a study from its text in the database."""
    return Course(stored(text))


# ---------------------------------------------------------------- exercises replayed


ENDED: dict[
    str, tuple[Status, str]
] = {  # flags of an exercise that ended before its time: whose doing it was, and what it was
    "void": ("void", "broken off"),
    "replaced": ("void", "broken off and replaced by another"),
    "closed": ("void", "the study was closed"),
    "left": ("void", "the other player left"),
    "away": ("timeout", "was away while the other player waited"),
    "abandoned": ("timeout", "not finished"),
}


class ReplayedExercise:
    """An exercise with all its players: the participant, and the opponent in a game for two.

    A machine moves by itself whenever it is its turn, by the runner's own random words; what
    another participant did is brought in by `meet`.
    """

    def __init__(self, exercise: Exercise, slot: int = 0, machine: Subject | None = None) -> None:
        self.episode = Episode(exercise)
        self.slot = slot
        self.made: list[tuple[Any, str, Any]] = []  # what was seen, chosen, done at every own move
        self._at: list[int] = []  # the step of the episode in which each of them was played
        self._met: dict[int, Any] = {}  # what others did in the present step
        others = [s for s in range(len(self.episode.environment.actions)) if s != slot]
        seats = [Seat(machine, (other,)) for other in others] if machine else []
        self._machines = [Player(seat, exercise, Watch(0)) for seat in seats]
        for player in self._machines:
            player.begin(self.episode, rehearsal=False)
        self._run()

    @property
    def over(self) -> bool:
        """True if there is nothing more to do."""
        return self.episode.record is not None

    @property
    def to_move(self) -> bool:
        """True if the choice of the participant is what is missing."""
        return self.slot in self.episode.waiting and len(self.made) == len(self._at)

    @property
    def steps(self) -> list[Move]:
        """The participant's moves; the reward of each is all that came until the next."""
        until = [*self._at[1:], None]
        gains = [sum(self._gains(a, b)) for a, b in zip(self._at, until, strict=False)]
        return [Move(*made, gain) for made, gain in zip(self.made, gains, strict=False)]

    def choose(self, choice: str, action: Any) -> float | None:
        """Make the participant's move; return its reward, None if another's move is needed."""
        self.made.append((self.episode.waiting[self.slot], choice, action))
        return self._run()

    def meet(self, actions: Mapping[int, Any]) -> float | None:
        """Take in another participant's move; return what it brought at once."""
        self._met = dict(actions)
        return self._run()

    def _run(self) -> float | None:
        """Play as long as no participant has to be waited for."""
        before = len(self.episode.rewards)
        while not self.over and not self.to_move and self._step():
            pass
        gained = self._gains(before)
        return sum(gained) if gained else None

    def _step(self) -> bool:
        """Make a step of the episode if all actions for it are there; return whether it did."""
        episode = self.episode
        actions = {slot: act for slot, act in self._met.items() if slot in episode.waiting}
        mine = self.slot in episode.waiting
        if mine:
            actions[self.slot] = self.made[-1][2]
        for player in self._machines:
            if player.slots[0] in episode.waiting:
                actions |= player.act(episode.waiting, episode.step)
        if set(actions) != set(episode.waiting):
            return False
        if mine:
            self._at.append(episode.step)
        self._met = {}
        if episode.play(actions):
            for player in self._machines:
                player.learn(episode)
        return True

    def _gains(self, first: int, last: int | None = None) -> list[float]:
        return [rewards[self.slot] for rewards in self.episode.rewards[first:last]]


class Replays:
    """The exercises of one session: `rows` gives all of them, `events` what was done in one."""

    def __init__(
        self,
        course: Course,
        rows: Callable[[], Sequence[ExerciseRow]],
        events: Callable[[int], Sequence[Any]],
    ) -> None:
        self.course, self._rows, self._events = course, rows, events
        self._tables: dict[int, ReplayedExercise] = {}

    def table(self, row: ExerciseRow) -> ReplayedExercise:
        """Return the exercise as it is now."""
        if row.idx not in self._tables:
            self._tables[row.idx] = self.fresh(row)
            for event in self._events(row.idx):
                again(self._tables[row.idx], event)
        return self._tables[row.idx]

    def keep_only(self, idx: int | None) -> None:
        """Forget all exercises but one: what is over is seldom asked for again."""
        self._tables = {one: table for one, table in self._tables.items() if one == idx}

    def steps(self, row: ExerciseRow) -> list[Move]:
        """List the moves that were made in an exercise."""
        return self.table(row).steps

    def record(self, row: ExerciseRow) -> Record:
        """Return what came of an exercise, whether or not it was played to its end.

        A participant who left it unfinished has failed it, so that leaving never pays; what the
        study's own rules or another player broke off has no result.
        """
        episode = self.table(row).episode
        if episode.record is None:
            flags = [flag for flag in ENDED if flag in row.flags]
            status, reason = ENDED[flags[0] if flags else "abandoned"]
            episode.fail({row.slot: Failure(status, reason)})
        assert episode.record is not None
        return episode.record

    def fresh(self, row: ExerciseRow) -> ReplayedExercise:
        """Return the exercise before its first move."""
        history: list[Record] = []
        if self.course.tool(row.test, row.practice).adaptive and not row.practice:
            history = [
                self.record(other)
                for other in self._rows()
                if other.test == row.test and not other.practice and other.idx < row.idx
            ]
        exercise = self.course.exercise(row.test, row.practice, row.number, history)
        machine = None
        if row.opponent not in (None, PERSON):
            machine = self.course.study.machine(row.test, row.practice)
        return ReplayedExercise(exercise, row.slot, machine)


def again(table: ReplayedExercise, event: Any) -> float | None:
    """Repeat what an event says; return what it brought."""
    if event.kind == "met":
        return table.meet({int(slot): action for slot, action in event.payload["actions"].items()})
    return table.choose(event.choice or "", event.action)


def own_side(record: Record, slot: int) -> Record:
    """Reorder a record so that the participant's own slot is first."""

    def first(values: Any) -> Any:
        return (values[slot], *values[:slot], *values[slot + 1 :])

    return replace(
        record, score=first(record.score), learning=first(record.learning),
        status=first(record.status), rewards=tuple(first(step) for step in record.rewards),
        actions=(),
    )  # fmt: skip


def fingerprint(observation: Any) -> str:
    """Hash an observation, so that a replay can check that it shows the same."""
    return hashlib.sha256(repr(observation).encode()).hexdigest()[:16]


def grouped(events: Sequence[EventRow]) -> Mapping[int, list[EventRow]]:
    """Group what was done by exercise, in its order."""
    found: dict[int, list[EventRow]] = {}
    for event in sorted(events, key=lambda event: event.id):
        if event.kind in DONE and event.exercise_idx is not None:
            found.setdefault(event.exercise_idx, []).append(event)
    return found
