"""Exercises of a session as choices left them.

Nothing of an exercise is kept but where it comes from and what was chosen. Its state, its rewards,
what a machine did in it and its record are computed again, for the screen and for every export, by
the same `Episode` that the runner plays. What another participant did is in the session that met
it, as events of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from allminds.contracts import Exercise, Failure, Record, Status
from allminds.core.line_up import Seat, Subject
from allminds.core.watch import Watch
from allminds.episode import Episode, Player
from allminds.presentation import Move
from allminds.web.agenda import Agenda, by_history
from allminds.web.study import PERSON
from allminds.web.tables import DONE, EventRow, ExerciseRow

ENDED: dict[
    str, tuple[Status, str]
] = {  # flags of an exercise that ended before its time: whose doing it was, and what it was
    "void": ("void", "broken off"),
    "replaced": ("void", "broken off and replaced by another"),
    "closed": ("void", "the study was closed"),
    "left": ("void", "the other player left"),
    "away": ("timeout", "was away while the other player waited"),
    "time": ("timeout", "took longer than the study allows"),
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
        agenda: Agenda,
        rows: Callable[[], Sequence[ExerciseRow]],
        events: Callable[[int], Sequence[Any]],
    ) -> None:
        self.agenda, self._rows, self._events = agenda, rows, events
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
        if by_history(self.agenda.tool(row.test, row.practice)) and not row.practice:
            history = [
                self.record(other)
                for other in self._rows()
                if other.test == row.test and not other.practice and other.idx < row.idx
            ]
        exercise = self.agenda.exercise(row.test, row.practice, row.number, history)
        machine = None
        if row.opponent not in (None, PERSON):
            machine = self.agenda.study.machine(row.test, row.practice)
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
