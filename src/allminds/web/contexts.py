"""What a participant is shown: the values that go from the server to the screens.

A session walks through screens in the order that its study sets:

    join · consent · per test: instructions · check · practice · exercises with pauses · done

Before a game between two people comes a room to wait in, and while the other is to move the screen
`waiting` is the exercise without its form.

`Screen` names one of them and holds its context, which `screens.page(name, language, **context)`
turns into HTML. What a person sent is taken by `session`, the exercise that is being
played is a replay of its choices (`replays`), and `session` has the resume rules.

Every form posts all keys of ``form`` and ``token`` as hidden fields; a form that is not of the
present screen (a stale tab, a second click) records nothing and is answered by the present screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict

from allminds.contracts import Instrument, Record
from allminds.presentation import Face

ScreenName = Literal[
    "join", "consent", "instructions", "check", "exercise", "waiting", "room",
    "between", "done", "withdrawn",
    "closed", "error", "monitor",
]  # fmt: skip
Sign = Literal[-1, 0, 1]
Role = Literal["floor", "mind", "ceiling"]
Waiting = Literal["waiting", "offer", "left", "away"]  # left: the other; away: oneself


Faces = Callable[[Instrument, int], Face]  # where faces come from: an instrument, the person's slot


class Screens(Protocol):
    """The renderer that makes HTML of a screen (the package `screens`)."""

    def main(self, name: str, language: str, **context: Any) -> str:
        """Render the screen's `<main>`: all that differs from screen to screen."""
        ...

    def page(self, name: str, language: str, **context: Any) -> str:
        """Render the whole page."""
        ...


# ---------------------------------------------------------------- the contexts of the screens


class Common(TypedDict):
    """The context that every screen has."""

    language: str
    dir: Literal["ltr", "rtl"]
    languages: list[str]  # of the study; more than one: offer the choice before consent
    title: str  # of the study
    token: str  # against forged forms; "" where there is no session
    contact: str  # whom to ask; "" if nobody is named


class Join(Common):
    """GET /j/{invite}; its form posts invite, external_id, language, viewport, pointer to /join."""

    form: dict[str, str]  # invite, external_id
    returning: bool  # the link was used before: it goes on where it was left


class ConsentQuestion(TypedDict):
    """A question about the participant, which may be left out; posted as `about_{name}`."""

    name: str
    options: list[str]


class Consent(Common):
    """The consent; POST /consent (accept=yes)."""

    form: dict[str, Any]  # place
    text: str  # paragraphs are parted by an empty line
    version: str
    ask: list[ConsentQuestion]
    retention: str  # ISO date until when data are kept


class Instructions(Common):
    """POST /next. Shown again after a long gap (`again`)."""

    form: dict[str, Any]  # place
    face: str  # name of the instrument
    told: dict[str, Any]  # what `Face.told` says, as on all screens of a test
    practice: int  # practice exercises to come
    exercises: int  # that count, in this test
    again: bool
    show_numbers: bool


class CheckScreen(Common):
    """POST /check with a field for each question, named by it."""

    form: dict[str, Any]  # place
    face: str
    told: dict[str, Any]
    questions: list[ConsentQuestion]
    wrong: list[str]  # names of the questions that were answered wrongly the last time
    given: dict[str, str]  # what was answered the last time
    attempt: int  # from 1


class Room(Common):
    """Waiting for a partner, or without one. POST /partner: place, answer (one of `offers`)."""

    form: dict[str, Any]  # place
    state: Waiting
    offers: list[str]  # machine, wait, skipped
    seconds: int  # until there is an offer
    more: bool  # whether exercises of this test are to come


class ExerciseScreen(Common):
    """POST /choice: exercise, step, choice, rt_ms, input. POST /note: kind, ms (see `NOTES`)."""

    form: dict[str, Any]  # exercise, step
    face: str
    told: dict[str, Any]
    view: dict[str, Any]
    choices: list[str]
    exercise: int  # k of n, from 1, over the whole study; practice counts by itself
    exercises: int
    move: int  # j of m, from 1
    moves: int
    practice: bool
    reward: Sign | None  # sign of the last reward in this exercise
    number: float | None  # the reward itself, where the study shows numbers
    slot: int  # of the person, in a game
    mine: str  # what was chosen, while another person's choice is missing


class Between(Common):
    """POST /next: a pause, with the last reward of an exercise."""

    form: dict[str, Any]  # place
    face: str
    told: dict[str, Any]
    exercise: int
    exercises: int
    practice: bool  # of the exercise that is over
    next_practice: bool  # of the one to come
    reward: Sign | None
    number: float | None
    rest: bool  # a break without news
    view: dict[str, Any] | None  # of a game: how it ended


class MindResult(TypedDict):
    """What a program scored on the same exercises."""

    mind: str
    role: Role
    score: float | None


class TestResult(TypedDict):
    """The participant's own result on one test, beside the programs'."""

    face: str
    told: dict[str, Any]  # of its face
    exercises: int  # finished
    score: float | None
    chance: float
    ceiling: float
    minds: list[MindResult]
    other: str  # the mind that programs played with, in a game


class Done(Common):
    """The end, always reachable; POST /withdraw is open here too."""

    form: dict[str, Any]
    label: str  # the person's code, to name when asking for deletion
    code: str  # completion code; "" if there is none
    redirect: str  # where to go with it; "" if nowhere. A link, not a form
    results: list[TestResult]


class Closed(Common):
    """The end of a session that cannot go on: nothing more to do here."""

    reason: Literal["not-open", "closed", "full", "abandoned"]
    opens: str  # ISO date and time; "" if the study was always open


class Refused(Common):
    """An error page; `reason` names its words."""

    reason: Literal[
        "no-session", "bad-link", "forged", "bad-form", "too-large", "too-fast", "not-found",
        "taken", "token", "failed",
    ]  # fmt: skip
    status: int


class Monitor(Common):
    """GET /admin, for the researcher: where each participant is. Nothing can be changed."""

    study: str  # its slug
    participants: int  # that the study is for
    counts: dict[str, int]  # invited, running, finished, abandoned, withdrawn
    rows: list[dict[str, str]]  # one for each participant, all with the same keys


@dataclass(frozen=True)
class Screen:
    """A page to be rendered: its name, what it shows, and the reply's status code."""

    name: ScreenName
    context: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    records: tuple[tuple[Record, ...], ...] = ()  # of each test, at the end: for the debrief
    slots: Mapping[int, int] = field(default_factory=dict)  # of the person, by test
    plan: str = ""  # of the study, at the end


def sign(reward: float) -> Sign:
    """Reduce a reward to its sign, which is all that a participant sees of it, as in P3."""
    return 1 if reward > 0 else -1 if reward < 0 else 0
