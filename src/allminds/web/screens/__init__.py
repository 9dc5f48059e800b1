"""Every screen that a participant sees: what it is given, and the HTML made from it.

A session walks through screens in the order that its study sets:

    join · consent · questions · per test: instructions · check · practice · exercises with
    pauses · questions · done

Before a game between two people comes a room to wait in, and while the other is to move the screen
`waiting` is the exercise without its form.

`Screen` names one of them and holds its context, which `screens.page(name, language, **context)`
turns into HTML. What a person sent is taken by `session`, which has the resume rules; the exercise
that is being played is a replay of its choices (`replays`).

Every form posts all keys of ``form`` and ``token`` as hidden fields; a form that is not of the
present screen (a stale tab, a second click) records nothing and is answered by the present screen.

Nothing is drawn by script or inline style, no text stands inside a picture, and every form works
without JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, get_args

from allminds.contracts import Record
from allminds.web import languages
from allminds.web.design import Problem
from allminds.web.questions import N_, questions

if TYPE_CHECKING:
    from gettext import NullTranslations

    from jinja2 import Environment
    from markupsafe import Markup

ScreenName = Literal[
    "join", "consent", "questions", "instructions", "check", "exercise", "waiting", "room",
    "between", "done", "withdrawn",
    "closed", "error", "monitor",
]  # fmt: skip
Sign = Literal[-1, 0, 1]
Role = Literal["floor", "mind", "ceiling"]
Waiting = Literal["waiting", "offer", "left", "away"]  # left: the other; away: oneself


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
    limited: bool  # whether there is a time limit
    choice_seconds: float
    exercise_seconds: float
    own: Markup  # of the researcher's; "" if there are none


class QuestionsScreen(Common):
    """POST /answers with a field for each answer, named by it."""

    form: dict[str, Any]  # place
    page: list[dict[str, Any]]  # the questions, with the names of their answers
    given: dict[str, str]  # what was answered the last time
    problems: dict[str, Problem]  # by field; empty the first time


class CheckScreen(Common):
    """POST /check with a field for each question, named by it."""

    form: dict[str, Any]  # place
    face: str
    told: dict[str, Any]
    questions: list[ConsentQuestion]
    wrong: list[str]  # names of the questions that were answered wrongly the last time
    given: dict[str, str]  # what was answered the last time
    attempt: int  # from 1


class RoomScreen(Common):
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
    left: int | None  # milliseconds until the time is over; None if there is no limit
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
    text: Markup  # of the researcher's
    bonus: tuple[float, str] | None  # with its currency
    show_numbers: bool


class Closed(Common):
    """The end of a session that cannot go on: nothing more to do here."""

    reason: Literal["not-open", "closed", "paused", "full", "abandoned"]
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


def markdown(text: str) -> Markup:
    """Render a researcher's Markdown; HTML and images in it are shown as they are written."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    made = MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])
    tokens = made.enable("table").parse(text)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag  # a page has one main heading: its own
    return Markup(made.renderer.render(tokens, made.options, {}))  # safe: only its own tags


# ---------------------------------------------------------------- rendering


# Said in every language of a study, before one is chosen.
JOINING = {
    "invitation": N_(
        "You are invited to do some short exercises. Nothing starts until you press the button, "
        "and you are asked whether you agree first."
    ),
    "begin": N_("Begin"),
}
# How many exercises are shown as dots, a dot each.
DOTS = 12


def main(name: str, language: str, **context: Any) -> str:
    """Render the ``<main>`` of a page: all that differs from screen to screen."""
    values = _values(name, language, context)
    return _environment(language).get_template(f"{name}.html.j2").render(values)


def page(name: str, language: str, **context: Any) -> str:
    """Render a whole page."""
    from markupsafe import Markup

    values = _values(name, language, context)
    values["main"] = Markup(main(name, language, **context))  # safe: its own template escapes
    return _environment(language).get_template("page.html.j2").render(values)


def _values(name: str, language: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what templates are given."""
    if name not in get_args(ScreenName):
        raise KeyError(f"there is no screen '{name}'")
    values = {**context, "screen": name, "language": language}
    values["dir"] = languages.direction(language)
    values |= JOINING
    values.setdefault("waiting", name == "waiting")
    return values


@cache
def _environment(language: str) -> Environment:
    """Load the templates in one language."""
    from babel.dates import format_date
    from babel.numbers import format_currency, format_decimal
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    spoken = languages.language(language)
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(spoken.texts, newstyle=True)  # type: ignore[attr-defined]
    made.globals["_"] = _speaking(spoken.texts)
    made.filters["number"] = lambda value: format_decimal(value, "0.00;−0.00", spoken.locale)
    made.filters["signed"] = lambda value: format_decimal(value, "+0.##;−0.##", spoken.locale)
    made.filters["amount"] = lambda value: (
        format_decimal(value, "+0.##;−0.##", spoken.locale) if value else "0"
    )
    made.filters["money"] = lambda value: format_currency(value[0], value[1], locale=spoken.locale)
    made.filters["day"] = lambda iso: format_date(
        date.fromisoformat(iso[:10]), "long", spoken.locale
    )
    made.filters["whole"] = lru_cache(1 << 12)(partial(format_decimal, locale=spoken.locale))
    made.globals |= {"comprehension": questions, "spoken": languages.language, "dots": DOTS}
    made.globals |= _macros(made, "forms")
    made.globals |= {
        name: lru_cache(1 << 10)(macro) for name, macro in _macros(made, "signs").items()
    }
    return made


def _macros(made: Environment, name: str) -> dict[str, Any]:
    """Collect the macros of a template, which all others may use.

    What they draw depends on nothing but what they are given, so those of signs, which are many on
    a screen and few in all, are drawn once.
    """
    from jinja2.runtime import Macro

    module = vars(made.get_template(f"{name}.html.j2").module)
    return {name: macro for name, macro in module.items() if isinstance(macro, Macro)}


def _speaking(texts: NullTranslations) -> Callable[..., Markup]:
    """Make ``_`` for the templates: as Jinja's own, but a text is looked up only once.

    A screen has some fifty texts, and is made anew at every move.
    """
    from markupsafe import Markup

    @cache
    def said(text: str) -> Markup:
        return Markup(texts.gettext(text))

    @cache
    def plain(text: str) -> Markup:
        return said(text) % {}

    def speak(text: str, **values: Any) -> Markup:
        return said(text) % values if values else plain(text)

    return speak
