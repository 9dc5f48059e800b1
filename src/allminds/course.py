"""Courses: exercises in a stated order, over which a mind can keep what it learnt.

A course is a sequence of phases. In a phase of training, one mind lives through the exercises; in
a phase of tests, each exercise is taken by a fresh copy of the mind as it stands, and teaches it
nothing. Minds that do not carry (see `Traits`) are made anew for every exercise, as always: they
are the untrained baseline on the same exercises. A course is written as text, a mapping, or a list:

    train=50,order=rising,test=20
    {"train": {"exercises": 50, "order": "rising"}, "test": 20}
    [{"role": "train", "exercises": 50}, {"role": "test", "again": 1}]

`CourseInstrument` gives an instrument as a course. One administration is one course: the engine
never splits it, and intervals are over courses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from allminds import registry
from allminds.contracts import (
    CourseTask,
    Exercise,
    Failure,
    Instrument,
    Lesson,
    Record,
)
from allminds.core.drawn import Met, Order, actions_of, in_order, is_one
from allminds.core.errors import Error, nearest
from allminds.core.seeding import numbered
from allminds.core.settings import Extended, Settings, checked
from allminds.core.table import units_of
from allminds.inference import Rule
from allminds.inference.units import Values
from allminds.presentation import Presentation

Role = Literal["train", "test"]
COURSES = 20  # that a mind is given, unless it is said otherwise
STRIDE = 1 << 24  # numbers of a series that belong to one course
PATIENCE = 200  # draws in a row that were all met before


# ---------------------------------------------------------------- what is written


class Phase(Settings):
    """Some exercises of a course, which the mind is trained on or tested with."""

    role: Role
    exercises: int | None = Field(None, ge=1, le=100_000, description="how many")
    order: Order = Field("drawn", description="in which they come")
    times: int = Field(1, ge=1, le=100_000, description="how often all are trained on")
    seed: int | None = Field(None, ge=0, lt=2**63, description="of them; by default the run's")
    again: int | None = Field(None, ge=1, description="phase whose exercises these are, from 1")
    instrument: str | None = Field(None, description="by default that of the test")
    settings: dict[str, Any] = Field(default_factory=dict, description="beside those of the test")

    @model_validator(mode="after")
    def _is_possible(self) -> Phase:
        if self.again is None and self.exercises is None:
            raise ValueError(f"say how many exercises, as {self.role}=20")
        if self.again is not None:
            fixed = (self.exercises, self.seed, self.instrument, self.settings or None)
            if any(value is not None for value in fixed):
                raise ValueError("'again' takes the exercises of another phase as they are; "
                                 "give it order and times only")  # fmt: skip
        if self.role == "test" and self.times > 1:
            raise ValueError("a copy is tested on an exercise once; 'times' is for training")
        return self


class Course(Settings):
    """The phases of a course, in their order."""

    phases: tuple[Phase, ...] = Field(min_length=1, max_length=1000)

    @classmethod
    def of(cls, given: Any) -> Course:
        """Read a course as a user writes it: text, a mapping, a list of phases, or a course."""
        if isinstance(given, Course):
            return given
        if isinstance(given, str):
            given = _read(given)
        if isinstance(given, Mapping) and "phases" not in given:
            given = [_short(role, phase) for role, phase in given.items()]
        values = {"phases": given} if isinstance(given, (list, tuple)) else given
        if not isinstance(values, Mapping):
            raise Error("course must be text such as train=50,test=20, a mapping or a list of "
                        f"phases, not {given!r}")  # fmt: skip
        return checked(cls, values, "course")

    @model_validator(mode="after")
    def _refers_back(self) -> Course:
        for number, phase in enumerate(self.phases, 1):
            if phase.again is not None and phase.again >= number:
                raise ValueError(f"phase {number}: again={phase.again} is no earlier phase; "
                                 "phases count from 1")  # fmt: skip
        return self

    def plain(self) -> str | dict[str, Any]:
        """Write the course in its one form: text, or a mapping where text cannot say it."""
        text = str(self)
        try:
            same = Course.of(text) == self
        except Error:
            same = False
        return text if same else self.model_dump(mode="json", exclude_defaults=True)

    def count(self, number: int) -> int:
        """Count the different exercises of a phase; `number` is counted from 0."""
        phase = self.phases[number]
        return self.count(phase.again - 1) if phase.again else phase.exercises or 0

    def uses(self, number: int) -> set[Role]:
        """Collect the roles that the exercises of a phase are ever given in; counted from 0."""
        later = [n for n, one in enumerate(self.phases) if one.again == number + 1]
        return {self.phases[number].role}.union(*map(self.uses, later))

    @property
    def roles(self) -> list[Role]:
        """The role of every exercise of the course."""
        return [
            phase.role
            for number, phase in enumerate(self.phases)
            for _ in range(phase.times * self.count(number))
        ]

    def __len__(self) -> int:
        return sum(phase.times * self.count(n) for n, phase in enumerate(self.phases))

    def __str__(self) -> str:
        return ",".join(_words(phase) for phase in self.phases)


def _words(phase: Phase) -> str:
    """Write a phase as the command line has it."""
    made = phase.model_dump(mode="json", exclude_defaults=True, exclude={"role", "exercises"})
    more = made | made.pop("settings", {})
    many = f"={phase.exercises}" if phase.exercises else ""
    return ",".join([phase.role + many, *(f"{name}={value}" for name, value in more.items())])


def _read(text: str) -> list[dict[str, Any]]:
    """Read phases from words: role=exercises, then what else is said of the phase."""
    phases: list[dict[str, Any]] = []
    for word in text.split(","):
        name, equals, value = (part.strip() for part in word.partition("="))
        if name in ("train", "test"):
            phases.append({"role": name} | ({"exercises": value} if equals else {}))
        elif not phases or not (name and equals and value):
            raise Error(f"course: '{word.strip()}' in '{text}' is not understood; write phases as "
                        "train=50,order=rising,test=20")  # fmt: skip
        elif name in Phase.model_fields:
            phases[-1][name] = value
        else:
            phases[-1].setdefault("settings", {})[name] = value
    return phases


def _short(role: str, phase: Any) -> Any:
    """Read one entry of the short form: the role, and the exercises or what is said of them."""
    if role not in ("train", "test"):
        raise Error(f"course has train, test or phases, not '{role}'; "
                    f"{nearest(str(role), ('train', 'test', 'phases'))}")  # fmt: skip
    if isinstance(phase, Mapping):
        return {"role": role} | dict(phase)
    return {"role": role, "exercises": phase}


# ---------------------------------------------------------------- the test


FORWARDED = (
    "name", "version", "chance", "ceiling", "strata", "scored", "floor_mind", "ceiling_mind",
    "ceiling_reached", "slots",
)  # fmt: skip


class CourseInstrument(Instrument):
    """An instrument whose exercises are given as courses, over which minds can learn.

    Exercise number i is number i % sitting of course i // sitting. Every course has exercises of
    its own. An exercise whose item, cluster or world is in a phase of the other role of the same
    course, also by `again`, is drawn anew: one of the same stratum, if there is one among the next
    200 of the series, else the next not met. In a game, or in one given world, nothing is redrawn.
    """

    adaptive = True  # what a mind does depends on the exercises before: a course is never split

    def __init__(self, inner: Instrument, given: Any) -> None:
        self.inner, self.course = inner, Course.of(given)
        if inner.adaptive:
            raise Error(f"{inner.name} chooses its exercises by the scores, so it cannot be given "
                        "as a course")  # fmt: skip
        for name in FORWARDED:
            setattr(self, name, getattr(inner, name))
        self.settings = Extended(inner.settings, course=self.course.plain())
        self.sitting = len(self.course)
        self.parts = tuple(self._part(phase) for phase in self.course.phases)
        self.lowest = min(part.lowest for part in self.parts)
        self.highest = max(part.highest for part in self.parts)
        cautions = [part.caution for part in self.parts if part.caution]
        self.caution = " ".join([*dict.fromkeys(cautions), self._counted()])
        roles = self.course.roles
        self.task = CourseTask(roles.count("train"), roles.count("test"))
        self._check_actions()

    def _part(self, phase: Phase) -> Instrument:
        """Make the instrument of a phase; with the settings of the test, if it is the same."""
        if phase.again is not None:
            return self._part(self.course.phases[phase.again - 1])
        if phase.instrument in (None, self.inner.name):
            if not phase.settings:
                return self.inner
            given = self.inner.settings.model_dump(exclude_unset=True) | phase.settings
            return registry.make_instrument(self.inner.kind, given)
        return registry.make_instrument(phase.instrument or "", phase.settings)

    def _check_actions(self) -> None:
        """Require that all phases have the same slots and, where these are fixed, actions."""
        first = actions_of(self.inner)
        for number, part in enumerate(self.parts, 1):
            if part.adaptive or part.slots != self.slots or part.scored != self.scored:
                raise Error(f"course: phase {number} ({part.name}) has not the slots of "
                            f"{self.name}, or chooses its exercises itself")  # fmt: skip
            other = actions_of(part)
            if len(first) == 1 and len(other) == 1 and first != other:
                raise Error(f"course: the actions of phase {number} ({part.name}) are not those of "
                            f"{self.name}, so no mind can take both")  # fmt: skip

    def _counted(self) -> str:
        which = "its test exercises" if "test" in self.course.roles else "all its exercises"
        return f"The score of a course is the mean of {which}; intervals are over courses."

    @property
    def kind(self) -> type[Instrument]:
        """The class of the instrument inside."""
        return self.inner.kind

    # ------------------------------------------------------------ exercises

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make number i % sitting of course i // sitting; `history` does not matter."""
        return _course(self, seed, i // self.sitting)[i % self.sitting]

    def placed(self, seed: int, course: int) -> Iterator[Exercise]:
        """Put the exercises of a course in their places."""
        prefix = registry.exercise_prefix(self, seed)
        taught: dict[tuple[int, str, int], int] = {}  # times an exercise was trained on
        trained = 0
        for position, (phase, exercise) in enumerate(self._sequence(seed, course)):
            role = self.course.phases[phase].role
            which = (exercise.seed, exercise.tool.name, exercise.index)
            number = course * self.sitting + position
            lesson = Lesson(
                number, course, position, phase + 1, role, trained, taught.get(which, 0),
                position == self.sitting - 1, self.task,
            )  # fmt: skip
            yield replace(
                exercise, id=f"{prefix}{number}", item=units_of(exercise)["item"],
                cluster=numbered(f"{prefix}course", course), lesson=lesson,
            )  # fmt: skip
            if role == "train":
                taught[which] = taught.get(which, 0) + 1
                trained += 1

    def _sequence(self, seed: int, course: int) -> Iterator[tuple[int, Exercise]]:
        """Draw the exercises of a course phase by phase, each in its order, with its phase."""
        met: dict[Role, Met] = {"train": Met(), "test": Met()}
        drawn: list[list[Exercise]] = []
        at = course * STRIDE
        for number, (phase, part) in enumerate(zip(self.course.phases, self.parts, strict=True)):
            if phase.again is not None:
                drawn.append(drawn[phase.again - 1])
            else:
                uses = self.course.uses(number)
                others = [met["test" if role == "train" else "train"] for role in uses]
                start = seed if phase.seed is None else phase.seed
                fresh = self._fresh(part, start, at, phase, others)
                drawn.append(fresh)
                at = fresh[-1].index + 1
                for role, exercise in itertools.product(uses, fresh):
                    met[role].add(exercise)
            order = in_order(drawn[-1], phase.order, part.strata)
            for _ in range(phase.times):
                yield from ((number, exercise) for exercise in order)

    def _fresh(
        self, part: Instrument, seed: int, at: int, phase: Phase, others: Sequence[Met]
    ) -> list[Exercise]:
        """Draw the exercises of a phase, none of which the others have."""
        found: list[Exercise] = []
        game = is_one(part, seed)
        for _ in range(phase.exercises or 0):
            exercise = part.exercise(seed, at)
            if not game and any(exercise in one for one in others):
                exercise = self._redrawn(part, exercise, others, phase)
            found.append(exercise)
            at = exercise.index + 1
        return found

    def _redrawn(
        self, part: Instrument, exercise: Exercise, others: Sequence[Met], phase: Phase
    ) -> Exercise:
        """Draw another exercise, of the same stratum if there is one; reject a series without."""
        column, instead = part.strata, None
        wanted = exercise.environment.complexity.get(column) if column else None
        first = exercise.index + 1
        for index in range(first, first + PATIENCE):
            another = part.exercise(exercise.seed, index)
            if any(another in one for one in others):
                continue
            if column is None or another.environment.complexity[column] == wanted:
                return another
            instead = instead or another
        if instead is None:
            opposite = "training" if phase.role == "test" else "test"
            raise Error(f"{part.name} has too few different exercises for this course: "
                        f"{PATIENCE:,} in a row were all among the {opposite} exercises; ask for "
                        "fewer of these, or choose settings with more exercises")  # fmt: skip
        return instead

    # ------------------------------------------------------------ what stays as it is

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        return self.inner.show(observation, form)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        return self.inner.read(answer, observation)

    def show_state(self, environment: Any, state: Any) -> str:
        return self.inner.show_state(environment, state)

    @property
    def presentation(self) -> Presentation:
        return self.inner.presentation

    def rule(self) -> Rule:
        """Score a course by the mean of its tests, or of all its exercises if it has no test."""
        roles = np.array(self.course.roles)
        counts = roles == "test" if "test" in roles else np.ones(len(roles), bool)

        def figure(_complexity: Values, score: Values) -> float:
            there = score[counts[: len(score)]]
            there = there[~np.isnan(there)]
            return math.fsum(there.tolist()) / len(there) if len(there) else math.nan

        return replace(super().rule(), strata=None, figure=figure, bounded=True)


@lru_cache(maxsize=8)
def _course(tool: CourseInstrument, seed: int, number: int) -> tuple[Exercise, ...]:
    return tuple(tool.placed(seed, number))
