"""A study: what a researcher writes down, as TOML.

A study is checked before participants are invited. `study_example.toml` is one with a comment at
every line. A study does not change once it is made; what is to differ is another study.
"""

from __future__ import annotations

import json
import re
import secrets
import tomllib
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.settings import Settings, checked, file_text
from allminds.runs.plan import with_course

EXAMPLE = Path(__file__).with_name("study_example.toml")
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
    settings: dict[str, Any] = Field(default_factory=dict)
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
            for name, texts in (("title", self.title), ("consent.text", self.consent.text)):
                if not texts.get(code, "").strip():
                    raise ValueError(f"{name} is missing in the language '{code}'")
        if self.external_signed and not self.external_id:
            raise ValueError("external_signed needs external_id, the name of the id in the link")
        if self.opens and self.closes and self.closes <= self.opens:
            raise ValueError("closes must come after opens")
        return self

    # ------------------------------------------------------------ what follows from it

    @property
    def text(self) -> str:
        """The study as it is kept."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)

    def count(self, test: int) -> int:
        """Count the exercises of a test that count."""
        asked = self.tests[test].exercises
        return asked if asked is not None else _all_of(self.tool(test))

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


def _all_of(tool: Instrument) -> int:
    return tool.sitting if tool.adaptive else tool.length or 0


# ---------------------------------------------------------------- reading and checking


def example() -> str:
    """Return a study to start from, with comments."""
    return EXAMPLE.read_text(encoding="utf-8")


def read_study(path: str | Path) -> Study:
    """Read a study from a TOML file, and check it as far as possible."""
    where = f"the study {path}"
    try:
        values = tomllib.loads(file_text(Path(path)))
    except OSError as error:
        raise Error(
            f"cannot read {where}: {error.strerror}; write one with allminds study new "
            "--write-plan > STUDY.toml"
        ) from None
    except (ValueError, RecursionError) as error:  # of TOML, UTF-8, endless lists
        raise Error(f"{where} is not TOML: {error}") from None
    study = checked(Study, values, where)
    check(study, where)
    return study


@lru_cache(maxsize=256)
def stored(text: str) -> Study:
    """Restore a study from the database; it was checked when it was made."""
    return checked(Study, json.loads(text), "the study in the database")


def check(study: Study, where: str) -> None:
    """Find what is wrong with the tests of a study before participants are invited."""
    from allminds.web.languages import language

    for code in study.languages:
        language(code)  # one without a catalogue is found here
    for number, given in enumerate(study.tests):
        here = f"{where}: tests.{number} ({given.instrument})"
        tool = study.tool(number)
        _check_opponent(study, number, here)
        _check_course(study, number, here)
        _check_count(study, number, here)
        if given.practice and study.practice_tool(number).length is not None:
            raise Error(
                f"{here}: practice would give away one of its {tool.length} fixed exercises; set "
                "practice = 0, or practice_settings with another form"
            )
        _check_twins(study, number, here)
    study.resolve()


def _check_count(study: Study, number: int, here: str) -> None:
    given, tool = study.tests[number], study.tool(number)
    most = _all_of(tool)
    if given.exercises is None and not most:
        raise Error(f"{here} has no end of exercises; say how many with exercises = 7")
    if most and given.first + study.count(number) > most:
        raise Error(f"{here} has {most} exercises; take at most so many, the first included")
    if tool.length is not None and study.assignment == "own":
        raise Error(f"{here} has a fixed form; set assignment = 'same'")
    if study.resume.policy == "replace" and (tool.adaptive or tool.length is not None):
        raise Error(f"{here} has no fresh exercise to replace one by; set resume.policy otherwise")
    if tool.adaptive and (given.shuffled or given.first):
        what = "is a course" if tool.parts else "is adaptive"
        raise Error(f"{here} {what}: its exercises have one order; leave out shuffled, first")


def _check_course(study: Study, number: int, here: str) -> None:
    """Require that a course can be given to people: in one instrument, as long as it says."""
    given, tool = study.tests[number], study.tool(number)
    if not tool.parts:
        return
    if given.exercises is not None:
        raise Error(f"{here}: its course says how many exercises there are; leave out exercises")
    other = next((part.name for part in tool.parts if part.name != tool.name), "")
    if other:
        raise Error(f"{here}: people take a course in one instrument; give {other} as a test")
    if given.opponent and study.machine(number).traits.carries:
        raise Error(f"{here}: '{given.machine}' carries, which the other in a study cannot do")


def _check_opponent(study: Study, number: int, here: str) -> None:
    """Require that a test is for one, or a game for two that names its opponent."""
    given, slots = study.tests[number], study.tool(number).slots
    if slots > 2:
        raise Error(f"{here} is for {slots} at once; people take tests alone or in twos")
    if slots == 2 and not given.opponent:
        raise Error(
            f"{here} is for 2 at once; name the other: opponent = 'person', or a mind's name"
        )
    if slots == 1:
        if given.opponent:
            raise Error(f"{here} is for one alone; leave out opponent")
        return
    if study.practice_tool(number).slots != 2:
        raise Error(f"{here} is a game for 2, and so must its practice_settings be")
    machine = study.machine(number)
    if machine.group or machine.traits.practice:
        raise Error(f"{here}: '{machine.name}' must take one slot, and need no rehearsals")
    if machine.traits.one_at_a_time:
        raise Error(f"{here}: the moves of '{machine.name}' could not be worked out again later")
    if given.opponent == PERSON and (given.shuffled or study.assignment == "own"):
        raise Error(
            f"{here}: two people take the same exercises in one order; leave out shuffled, and set "
            "assignment = 'same'"
        )


def _check_twins(study: Study, number: int, here: str) -> None:
    """Require that no two tests give a participant the same exercises."""
    people = range(study.participants if study.assignment == "own" else 1)
    for other in range(number):
        if study.tool(other).parts or study.tool(number).parts:
            if _drawn(study, other) & _drawn(study, number):
                raise Error(
                    f"{here} has the same exercises as tests.{other}; give the phases of a course "
                    "another seed"
                )
            continue
        if not study.same_series(other, number):
            continue
        if any(set(study.numbers(other, p)) & set(study.numbers(number, p)) for p in people):
            raise Error(f"{here} has the same exercises as tests.{other}; set first to begin later")


def _drawn(study: Study, test: int) -> set[str]:
    """Collect the exercises of the first participant by their series, in a course or not."""
    tool, numbers = study.tool(test), study.numbers(test, 0)
    if tool.adaptive and not tool.parts:
        return set()
    made = [tool.exercise(study.seed, number) for number in numbers]
    return {f"{registry.exercise_prefix(one.tool, one.seed)}{one.index}" for one in made}


def weak_seed(seed: int) -> str:
    """Say why a seed could be found by trying; empty if it could not."""
    if seed < 1 << 32:
        return "is small"
    text = str(seed)
    dated = re.fullmatch(r"(19|20|21)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{0,9}", text)
    if dated or 10**9 <= seed // 1000 < 10**10:  # as 202701311830, or milliseconds since 1970
        return "looks like a date"
    return "has a pattern" if len(set(text)) < 5 else ""


def moment(value: datetime | None) -> int | None:
    """Convert a time to what is kept: milliseconds since 1970."""
    return None if value is None else int(value.astimezone(UTC).timestamp() * 1000)
