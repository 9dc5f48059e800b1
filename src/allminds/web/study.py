"""A study: what a researcher writes down, as TOML.

A study is checked before participants are invited. `study_example.toml` is one with a comment at
every line. A study does not change once it is made; what is to differ is another study.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.line_up import Subject
from allminds.core.settings import Settings, checked
from allminds.runs.plan import with_course
from allminds.web.design import (
    AFTER,
    BEFORE,
    NAME,
    Arm,
    AskedQuestion,
    Bonus,
    Careless,
    Debrief,
    Order,
    Texts,
    arm_of,
    order_of,
)

QUESTIONS: dict[str, tuple[str, ...]] = {  # about the person; each may be left out
    "age": ("18-24", "25-34", "35-44", "45-54", "55-64", "65+"),
    "colour_vision": ("full", "limited", "unsure"),
    "script": ("latin", "other"),
}
PERSON = "person"  # as an opponent
PRACTICE_STREAM = 1 << 62  # added to the seed: practice is never one of the exercises that count


class GivenTest(Settings):
    """One instrument of a study."""

    instrument: str
    name: str = Field("", pattern=NAME + "|^$", description="in the data; else its instrument")
    settings: dict[str, Any] = Field(default_factory=dict)
    instructions: Texts = Field(
        default_factory=dict, description="above those of the instrument, in Markdown"
    )
    choice_seconds: float = Field(0, ge=0, le=86_400, description="for a choice; 0: no limit")
    exercise_seconds: float = Field(0, ge=0, le=86_400, description="for an exercise; 0: no limit")
    rest: bool = Field(False, description="offer a rest before this test")
    fast_ms: float | None = Field(None, ge=0, description="in the place of careless.fast_ms")
    exercises: int | None = Field(None, ge=1, le=1000, description="how many; all of a fixed form")
    first: int = Field(0, ge=0, lt=2**31, description="number of the first one")
    shuffled: bool = Field(False, description="in an order drawn for each person")
    practice: int = Field(1, ge=0, le=5, description="exercises that do not count")
    practice_settings: dict[str, Any] = Field(default_factory=dict)
    check: bool = Field(True, description="ask whether the instructions were understood")
    attempts: int = Field(3, ge=1, le=10, description="at the check; then on, with a flag")
    feedback: bool = Field(False, description="after a question, say whether it was right")
    pause_every: int = Field(10, ge=0, description="questions until a rest is offered; 0: none")
    minds: list[str] = Field(default_factory=list, max_length=4, description="in the debrief")
    opponent: str = Field("", max_length=200, description="of a game: 'person', or a mind")
    stand_in: str = Field(
        "random", max_length=200, description="mind for a person who is not there"
    )
    slot: int = Field(0, ge=0, le=1, description="of the person, against a machine")
    wait_seconds: int = Field(120, ge=5, le=3600, description="for a person to play with")
    move_seconds: int = Field(120, ge=0, le=86_400, description="for a person's move; 0: for ever")

    @model_validator(mode="before")
    @classmethod
    def _taught(cls, values: Any) -> Any:
        """Put a course among the settings of the instrument."""
        return with_course(values)

    @property
    def machine(self) -> str:
        """The mind in the other slot, where no person is: in practice always."""
        return self.stand_in if self.opponent == PERSON else self.opponent


class ConsentText(Settings):
    """What participants agree to, in every language of the study."""

    version: str = Field(min_length=1, max_length=64)
    text: dict[str, str]


class Resume(Settings):
    """What a gap in the midst of an exercise means."""

    policy: Literal["continue", "replace", "void"] = "continue"
    most: int = Field(1, ge=0, le=1000, description="exercises of one person replaced or void")
    short_minutes: float = Field(30, gt=0, description="from here on, instructions again")
    long_hours: float = Field(24, gt=0, description="from here on, the session is over")


class Limits(Settings):
    """How much may be asked of the server."""

    choices_per_second: float = Field(10, gt=0, description="of one session, notes included")
    joins_per_minute: float = Field(20, gt=0, description="from one address")
    admin_failures_per_minute: float = Field(5, gt=0, description="from one address")
    requests_per_second: float = Field(
        50, gt=0, description="from one address, of those without a session"
    )
    body_bytes: int = Field(16_384, ge=1024, le=1 << 20, description="of one request")


DEFAULT_LIMITS = Limits.model_validate({})


class Study(Settings):
    """The whole plan of a study."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    title: dict[str, str]
    languages: list[str] = Field(min_length=1, max_length=20)
    participants: int = Field(ge=1, le=100_000)
    retention: date = Field(description="the day by which the data are deleted")
    seed: int = Field(default_factory=lambda: secrets.randbits(62), ge=0, lt=1 << 62)
    assignment: Literal["same", "own"] = Field("same", description="exercises for everybody")
    order: Order = Field("fixed", description="of the tests")
    arms: list[Arm] = Field(default_factory=list, max_length=20)
    arm: str = Field("", description="of one participant: drawn, not written")
    questions: list[AskedQuestion] = Field(default_factory=list, max_length=200)
    bonus: Bonus | None = None
    debrief: Debrief = Debrief.model_validate({})
    careless: Careless = Careless.model_validate({})
    opens: datetime | None = None
    closes: datetime | None = None
    contact: str = Field("", max_length=200)
    show_numbers: bool = Field(False, description="rewards as numbers, not as signs alone")
    ask: list[Literal["age", "colour_vision", "script"]] = Field(default_factory=list)
    external_id: str = Field("", pattern=r"^[A-Za-z0-9_]{0,40}$", description="name in the link")
    external_signed: bool = Field(False, description="only ids with a signature are let in")
    completion_code: str = Field("", max_length=64)
    completion_url: str = Field("", max_length=500)
    consent: ConsentText
    resume: Resume = Resume.model_validate({})
    limits: Limits = DEFAULT_LIMITS
    tests: list[GivenTest] = Field(min_length=1, max_length=20)

    @field_validator("opens", "closes")
    @classmethod
    def _in_utc(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value} has no time zone; write it as 2027-01-31T18:00:00Z")
        return value

    @field_validator("completion_url")
    @classmethod
    def _is_a_link(cls, value: str) -> str:
        if value and not re.fullmatch(r"https://[^\s\"'<>]+", value):
            raise ValueError(f"'{value}' is not a link; it must begin with https://")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for code in self.languages:
            if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?", code):
                raise ValueError(f"languages: '{code}' is not a language; write en, es or pt-BR")
            for name, texts in self._texts():
                if not texts.get(code, "").strip():
                    raise ValueError(f"{name} is missing in the language '{code}'")
        if self.external_signed and not self.external_id:
            raise ValueError("external_signed needs external_id, the name of the id in the link")
        if self.opens and self.closes and self.closes <= self.opens:
            raise ValueError("closes must come after opens")
        for what, given in (
            ("tests", [one.name for one in self.tests if one.name]),
            ("arms", [arm.name for arm in self.arms]),
            ("questions", [one.name for one in self.questions]),
        ):
            if len(set(given)) < len(given):
                raise ValueError(f"{what}: two of them have the same name")
        for where, name in self._named():
            if name not in self.names:
                raise ValueError(
                    f"{where}: there is no test '{name}'; there are {', '.join(self.names)}"
                )
        return self

    def _texts(self) -> Iterator[tuple[str, Texts]]:
        """Yield what must be there in all languages, with its place in the file."""
        yield "title", self.title
        yield "consent.text", self.consent.text
        if self.debrief.text:
            yield "debrief.text", self.debrief.text
        for n, given in enumerate(self.tests):
            if given.instructions:
                yield f"tests.{n}.instructions", given.instructions
        for one in self.questions:
            yield f"questions ({one.name}).text", one.text
            for part in (*one.options, *one.rows):
                yield f"questions ({one.name}, {part.value}).text", part.text

    def _named(self) -> Iterator[tuple[str, str]]:
        """Yield where tests are referred to by name, and the names."""
        for arm in self.arms:
            for name in (*(arm.tests or ()), *arm.settings):
                yield f"arms ({arm.name})", name
        for one in self.questions:
            if one.when not in (BEFORE, AFTER) and not self.arm:  # an arm may lack its test
                yield f"questions ({one.name}).when", one.when
        for name in self.bonus.per_point if self.bonus and not self.arm else ():
            yield "bonus.per_point", name

    # ------------------------------------------------------------ what one participant is given

    @property
    def names(self) -> list[str]:
        """The names of the tests: their own, or their instruments', numbered if there are more."""
        found: list[str] = []
        for given in self.tests:
            name, n = given.name or given.instrument, 1
            while name in found:
                n += 1
                name = f"{given.instrument}-{n}"
            found.append(name)
        return found

    def of(self, participant: int) -> Study:
        """Return the study as a participant is given it: one arm, its tests in one order.

        Places of those who are gone are given again, and so are their arms.
        """
        if not self.arms and self.order == "fixed":
            return self
        place = participant % self.participants
        arm, rank = arm_of([arm.weight for arm in self.arms] or [1], self.seed, place)
        found = self.in_arm(self.arms[arm]) if self.arms else self
        order = order_of(self.order, len(found.tests), self.seed, place, rank)
        tests = [found.tests[n].model_copy(update={"name": found.names[n]}) for n in order]
        return found.model_copy(update={"tests": tests, "arms": [], "order": "fixed"})

    @property
    def variants(self) -> list[Study]:
        """The study as each arm is given it; itself if it has no arms."""
        return [self.in_arm(arm) for arm in self.arms] or [self]

    def in_arm(self, arm: Arm) -> Study:
        """Return the study as all participants of an arm are given it, in the order of the file."""
        kept = [n for n, name in enumerate(self.names) if arm.tests is None or name in arm.tests]
        tests = [
            self.tests[n].model_copy(
                update={
                    "name": self.names[n],
                    "settings": self.tests[n].settings | arm.settings.get(self.names[n], {}),
                }
            )
            for n in kept
        ]
        changes: dict[str, Any] = {"tests": tests, "arms": [], "arm": arm.name}
        if arm.show_numbers is not None:
            changes["show_numbers"] = arm.show_numbers
        return self.model_copy(update=changes)

    # ------------------------------------------------------------ what follows from it

    @property
    def text(self) -> str:
        """The study as it is kept."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)

    def count(self, test: int) -> int:
        """Count the exercises of a test that count."""
        asked = self.tests[test].exercises
        return asked if asked is not None else all_of(self.tool(test))

    def tool(self, test: int) -> Instrument:
        """Return the instrument of a test."""
        given = self.tests[test]
        return _tool(given.instrument, json.dumps(given.settings, sort_keys=True, default=str))

    def practice_tool(self, test: int) -> Instrument:
        """Return the instrument as it is practised: other settings, if the study says so."""
        given = self.tests[test]
        settings = {**given.settings, **given.practice_settings}
        settings.pop("course", None)
        return _tool(given.instrument, json.dumps(settings, sort_keys=True, default=str))

    def machine(self, test: int, practice: bool = False) -> Subject:
        """Return the mind in the other slot of a game, where no participant has it."""
        tool = self.practice_tool(test) if practice else self.tool(test)
        return _machine(self.tests[test].machine, tool)

    def resolve(self) -> None:
        """Make every instrument and mind that is named, or find that one cannot be made."""
        for number, given in enumerate(self.tests):
            tool = self.tool(number)
            self.practice_tool(number)
            if given.opponent:
                self.machine(number)
            for who in given.minds:
                registry.line_up(who, tool)

    def numbers(self, test: int, participant: int) -> list[int]:
        """List the exercises of a participant (numbered from 0), by their index in the series."""
        given, count = self.tests[test], self.count(test)
        tool = self.tool(test)
        stride = tool.sitting if tool.adaptive else count
        turn = participant % self.participants  # places of those who are gone are given again
        start = given.first + (turn * stride if self.assignment == "own" else 0)
        return list(range(start, start + count))

    def same_series(self, test: int, other: int) -> bool:
        """Return whether two tests take their exercises from one series."""
        one, two = (registry.exercise_prefix(self.tool(n), self.seed) for n in (test, other))
        return one == two


@lru_cache(maxsize=256)
def _tool(name: str, settings: str) -> Instrument:
    return registry.make_instrument(name, json.loads(settings))


@lru_cache(maxsize=256)
def _machine(name: str, tool: Instrument) -> Subject:
    return registry.subject(name, tool)


def all_of(tool: Instrument) -> int:
    """Count the exercises of an instrument that has so many and no more; 0 if it has no end."""
    return tool.sitting if tool.adaptive else tool.length or 0


@lru_cache(maxsize=256)
def stored(text: str) -> Study:
    """Restore a study from the database; it was checked when it was made."""
    return checked(Study, json.loads(text), "the study in the database")


def moment(value: datetime | None) -> int | None:
    """Convert a time to what is kept: milliseconds since 1970."""
    return None if value is None else int(value.astimezone(UTC).timestamp() * 1000)
