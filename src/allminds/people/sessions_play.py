"""An exercise as its choices left it: the same `Episode` that the runner plays, replayed.

Nothing of an exercise is kept but where it comes from and what was chosen; its state, its rewards
and its record are worked out again, here for the screen and for every export.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from allminds.contracts import Failure, Record
from allminds.episode import Episode
from allminds.people.sessions import Step
from allminds.people.store_tables import EventRow, ExerciseRow
from allminds.people.study_course import Course

ENDED = {  # flags of an exercise that was ended before its time, and what its record says
    "void": "broken off",
    "replaced": "broken off and replaced by another",
    "abandoned": "not finished",
}


class Replays:
    """The exercises of one session. `choices` gives the choices of one of them, in order."""

    def __init__(
        self,
        course: Course,
        rows: Sequence[ExerciseRow],
        choices: Callable[[int], Sequence[EventRow]],
    ) -> None:
        self.course, self.rows, self._choices = course, rows, choices
        self._steps: dict[int, list[Step]] = {}
        self._episodes: dict[int, Episode] = {}

    def episode(self, row: ExerciseRow) -> Episode:
        """The exercise as it is now."""
        if row.idx not in self._episodes:
            self._replay(row)
        return self._episodes[row.idx]

    def steps(self, row: ExerciseRow) -> list[Step]:
        """The moves that were made in it."""
        self.episode(row)
        return self._steps[row.idx]

    def play(self, row: ExerciseRow, choice: str, action: Any) -> Step:
        """One move more."""
        episode = self.episode(row)
        made = _move(episode, choice, action)
        self._steps[row.idx].append(made)
        return made

    def record(self, row: ExerciseRow) -> Record:
        """What came of it, whether or not it was played to its end."""
        episode = self.episode(row)
        if episode.record is None:
            reason = next((ENDED[flag] for flag in row.flags if flag in ENDED), "not finished")
            episode.play({0: Failure("void", reason)})
        assert episode.record is not None
        return episode.record

    def _replay(self, row: ExerciseRow) -> None:
        history: list[Record] = []
        if self.course.tool(row.test, row.practice).adaptive and not row.practice:
            history = [
                self.record(other)
                for other in self.rows
                if other.test == row.test and not other.practice and other.idx < row.idx
            ]
        exercise = self.course.exercise(row.test, row.practice, row.number, history)
        episode = Episode(exercise)
        events = self._choices(row.idx)
        self._steps[row.idx] = [_move(episode, e.choice or "", e.action) for e in events]
        self._episodes[row.idx] = episode


def _move(episode: Episode, choice: str, action: Any) -> Step:
    seen = episode.waiting[0]
    episode.play({0: action})
    return Step(seen, choice, action, episode.rewards[-1][0])


def fingerprint(observation: Any) -> str:
    """By which a later replay can tell that it shows the same."""
    return hashlib.sha256(repr(observation).encode()).hexdigest()[:16]


def grouped(events: Sequence[EventRow]) -> Mapping[int, list[EventRow]]:
    """Choices by exercise, in the order of their steps."""
    found: dict[int, list[EventRow]] = {}
    for event in sorted(events, key=lambda e: (e.exercise_idx or 0, e.step or 0)):
        if event.kind == "choice" and event.exercise_idx is not None:
            found.setdefault(event.exercise_idx, []).append(event)
    return found
