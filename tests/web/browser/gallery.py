"""Every screen with something on it, without a server: for looking at them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allminds import registry
from allminds import web as people
from allminds.core.seeding import Random
from allminds.episode import Episode
from allminds.presentation import Move
from allminds.web.design import AskedQuestion, Option, read
from allminds.web.questions import checks, face
from allminds.web.replays import ReplayedExercise
from allminds.web.screens import markdown, sign
from allminds.web.screens import page as html_of

STATIC = Path(people.__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
COMMON: dict[str, Any] = {
    "languages": ["en", "es"],
    "title": "Moving between cells",
    "token": "t0k3n",
    "contact": "lab@example.org",
    "form": {"place": 3},
}
ALONE = {"other": "", "move_seconds": 0}
UNLIMITED = {"limited": False, "choice_seconds": 0.0, "exercise_seconds": 0.0, "own": ""}
OWN = """## Before you begin

Think of **two** things, *slowly*:

1. what you see, and
2. what you do (more at [the laboratory](https://example.org/)).

| Sign | Meaning |
| --- | --- |
| up | it was good for you |
"""
TESTS: dict[str, tuple[str, dict[str, Any], int]] = {
    "lambda-3": ("lambda", {}, 0),
    "lambda-5": ("lambda", {}, 2),
    "lambda-7": ("lambda", {}, 4),
    "lambda-9": ("lambda", {}, 6),
    "lambda-adjacent": ("lambda", {"observation": "adjacent"}, 3),
    "lambda-star": ("lambda-star", {"rows": 4, "cols": 4}, 3),
    "lambda-star-range-2": ("lambda-star", {"range": 2}, 3),
    "c-test": ("c-test", {}, 8),
    "c-test-five": ("c-test", {"options": 5, "task": "abduction", "scoring": "administered"}, 9),
    "matrices": ("matrices", {}, 2),
    "matrices-eight": ("matrices", {"rules": 3, "candidates": 8}, 1),
    "plain": ("landscape", {}, 0),
}


def exercise(test: str, moves: int = 6) -> dict[str, Any]:
    """The context of an exercise after some moves."""
    name, settings, index = TESTS[test]
    tool = registry.make_instrument(name, settings)
    shown, episode, before = face(tool), Episode(tool.exercise(7, index)), None
    moves = min(moves, episode.environment.steps - 1)
    for move in range(moves):
        seen = episode.waiting[0]
        choices = shown.choices(seen)
        choice = choices[Random(11).below_at(len(choices), move)]
        action = shown.action(choice, seen)
        episode.play({0: action})
        before = Move(seen, choice, action, episode.rewards[-1][0])
    return COMMON | {
        "form": {"exercise": index, "step": moves},
        "face": name,
        "told": shown.told() | ALONE,
        "view": shown.view(episode.waiting[0], before, Random(4)),
        "choices": list(shown.choices(episode.waiting[0])),
        "exercise": 3,
        "exercises": 7,
        "move": moves + 1,
        "moves": episode.environment.steps,
        "practice": False,
        "reward": sign(before.reward) if before else None,
        "number": None,
        "slot": 0,
        "mine": "",
        "left": None,
    }


GAMES: dict[str, tuple[str, dict[str, Any], str, int]] = {
    "dilemma": ("prisoners-dilemma", {}, "tit-for-tat", 0),
    "scissors": ("rock-paper-scissors", {}, "random", 1),
    "pennies": ("matching-pennies", {}, "random", 1),
    "noughts": ("noughts-and-crosses", {}, "random", 0),
}


def seated(test: str, moves: int) -> tuple[dict[str, Any], ReplayedExercise]:
    """What is said of a game, and the game after some moves against a machine."""
    name, settings, mind, slot = GAMES[test]
    tool = registry.make_instrument(name, settings)
    shown, table = (
        face(tool, slot),
        ReplayedExercise(tool.exercise(7, 0), slot, registry.subject(mind, tool)),
    )
    for move in range(moves):
        if not table.over:
            seen = table.episode.waiting[slot]
            choice = shown.choices(seen)[-1 - move % 2]
            table.choose(choice, shown.action(choice, seen))
    told = shown.told() | {"other": "person", "move_seconds": 60}
    before = table.steps[-1] if table.steps else None
    view = shown.view(table.episode.observe(slot), before, Random(4))
    return {"face": name, "told": told, "view": view}, table


def game(test: str, moves: int = 2, mine: str = "") -> dict[str, Any]:
    """The context of a game, being played or waited in."""
    about, table = seated(test, moves)
    seen = table.episode.observe(table.slot)
    return COMMON | about | {
        "form": {"exercise": 4, "step": moves},
        "choices": [] if mine else list(face(*_tool(test)).choices(seen)),
        "exercise": 3, "exercises": 7, "move": moves + 1,
        "moves": table.episode.environment.steps, "practice": False,
        "reward": sign(table.steps[-1].reward) if moves else None, "number": None,
        "slot": table.slot, "mine": mine, "left": None,
    }  # fmt: skip


def _tool(test: str) -> tuple[Any, int]:
    name, settings, _, slot = GAMES[test]
    return registry.make_instrument(name, settings), slot


def games() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The screens of games."""
    for test in GAMES:
        tool, slot = _tool(test)
        for other in ("person", "machine"):
            about = seated(test, 0)[0]
            about["told"] = about["told"] | {"other": other}
            counts = {"practice": 1, "exercises": 7, "again": False, "show_numbers": False}
            yield (
                f"instructions-{test}-{other}",
                "instructions",
                COMMON | about | counts | UNLIMITED,
            )
        wrong = [checks(face(tool, slot))[0].name]
        asked = {"questions": [], "wrong": wrong, "given": {}, "attempt": 2}
        yield f"check-{test}", "check", COMMON | about | asked
        yield f"exercise-{test}-start", "exercise", game(test, 0)
        yield f"exercise-{test}", "exercise", game(test)
        waiting = game(
            test, 2, face(tool, slot).choices(seated(test, 2)[1].episode.observe(slot))[0]
        )
        yield f"waiting-{test}", "waiting", waiting
        over = {"exercise": 1, "exercises": 7, "practice": False, "next_practice": False}
        reward = sign(seated(test, 10)[1].steps[-1].reward)
        over |= {"reward": reward, "number": None, "rest": False}
        yield f"between-{test}", "between", COMMON | seated(test, 10)[0] | over
    offers = {"waiting": [], "offer": ["machine", "wait", "skipped"]}
    for state in ("waiting", "offer", "left", "away"):
        answers = offers.get(state, ["machine", "skipped"])
        room = {"state": state, "offers": answers, "seconds": 120, "more": state != "away"}
        yield f"room-{state}", "room", COMMON | room


def screens() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name of the picture, name of the screen, context."""
    yield "join", "join", COMMON | {"returning": False}
    yield (
        "consent",
        "consent",
        COMMON
        | {
            "text": "You will do a few short exercises in reasoning. It takes ten minutes.\n\n"
            "You may stop at any time and have your data deleted.",
            "version": "1",
            "retention": "2027-12-31",
            "ask": [
                {"name": "age", "options": ["18-24", "25-34"]},
                {"name": "colour_vision", "options": ["full", "limited", "unsure"]},
                {"name": "script", "options": ["latin", "other"]},
            ],
        },
    )
    for test in ("lambda-3", "lambda-star", "c-test", "c-test-five", "matrices"):
        name, settings, _ = TESTS[test]
        tool = registry.make_instrument(name, settings)
        told = COMMON | {"face": name, "told": face(tool).told() | ALONE, "show_numbers": False}
        counts = {"practice": 1, "exercises": 7, "again": test == "matrices"}
        yield f"instructions-{test}", "instructions", told | counts | UNLIMITED
        wrong = [checks(face(tool))[0].name] if test != "lambda-star" else []
        asked = {"questions": [], "wrong": wrong, "given": {"aim": "reward"}, "attempt": 2}
        yield f"check-{test}", "check", told | asked
    plain = {
        "face": "landscape",
        "told": face(registry.make_instrument("landscape")).told() | ALONE,
    }
    counts = {"practice": 1, "exercises": 7, "again": False, "show_numbers": False}
    yield "instructions-plain", "instructions", COMMON | plain | counts | UNLIMITED
    own = {"own": markdown(OWN), "limited": True, "choice_seconds": 20.0, "exercise_seconds": 90.5}
    cells = {"face": "lambda", "told": face(registry.make_instrument("lambda")).told() | ALONE}
    yield "instructions-own", "instructions", COMMON | cells | counts | own
    yield from asking()
    yield from games()
    yield "exercise-start", "exercise", exercise("lambda-5", 0) | {"practice": True}
    for test in TESTS:
        yield f"exercise-{test}", "exercise", exercise(test)
    yield "exercise-countdown", "exercise", exercise("lambda-5") | {"left": 8_000}
    yield "exercise-number", "exercise", exercise("lambda-9") | {"number": -0.5, "reward": -1}
    between = COMMON | {"exercise": 1, "exercises": 7, "practice": False, "next_practice": False}
    yield "between", "between", between | news("lambda", 0)
    yield "between-practice", "between", between | news("lambda-star", 1) | {"practice": True}
    yield "between-question", "between", between | news("c-test", 0)
    yield "between-rest", "between", between | news("matrices", None) | {"rest": True}
    minds = [
        {"mind": "q-learning", "role": "mind", "score": 0.259},
        {"mind": "random", "role": "floor", "score": -0.021},
        {"mind": "optimum", "role": "ceiling", "score": 0.83},
    ]
    alone = {"ceiling": 1.0, "other": ""}
    results = [
        alone | {"face": "lambda", "told": {"kind": "cells"}, "exercises": 7, "score": 0.237,
         "minds": minds},
        alone | {"face": "c-test", "told": {"kind": "letters"}, "exercises": 9, "score": 0.6,
         "minds": []},
        {"face": "stag-hunt", "told": {"kind": "rounds", "coins": False}, "exercises": 2,
         "score": 0.1, "ceiling": 1.0, "minds": minds, "other": "random"},
    ]  # fmt: skip
    end = {
        "label": "P-17",
        "code": "C1A2B3",
        "redirect": "https://example.org/",
        "results": results,
        "text": "",
        "bonus": None,
        "show_numbers": False,
    }
    yield "done", "done", COMMON | end
    own = {"results": [], "bonus": (2.5, "EUR"), "text": markdown(OWN)}
    yield "done-own", "done", COMMON | end | own
    yield "withdrawn", "withdrawn", COMMON
    for reason in ("closed", "full", "abandoned", "not-open", "paused"):
        yield f"closed-{reason}", "closed", COMMON | {"reason": reason, "opens": "2027-01-15T08:00"}
    row = {"label": "P-1", "status": "running", "language": "es", "at": "7 of 19"}
    row |= {"started": "2026-11-16T01:50:00+00:00", "last seen": "2026-11-16T01:58:21+00:00"}
    rows = [row | {"flags": "fast hidden-90s"}, row | {"label": "=P-2", "flags": ""}]
    counts = {"invited": 3, "running": 2, "finished": 11, "abandoned": 0, "withdrawn": 1}
    watched = {"study": "moving-between-cells", "participants": 30, "counts": counts, "rows": rows}
    yield "monitor", "monitor", COMMON | watched
    yield "error", "error", COMMON | {"reason": "too-fast", "status": 429}


def asking() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The researcher's questions, of all kinds: new, and with answers that cannot be taken."""
    said = [Option(value=value, text=words(text)) for value, text in (
        ("cat", "A cat"), ("dog", "A dog that barks at night, and at the neighbours by day"),
    )]  # fmt: skip
    ends = dict.fromkeys(WORDS, ("not at all", "very much")) | {"ar": ("", "")}
    one = [
        {"name": "pet", "kind": "choice", "options": said},
        {"name": "years", "kind": "number", "least": 18, "most": 99},
        {"name": "sure", "kind": "scale", "points": 11, "ends": ends},
        {"name": "mood", "kind": "scale", "points": 7, "ends": ends, "rows": said},
        {"name": "said", "kind": "text", "required": False},
    ]
    about = words("How much do you agree with what your neighbours said of animals?")
    made = [AskedQuestion.model_validate({"text": about} | values) for values in one]
    page = [one.model_dump() | {"fields": one.fields, "values": one.values} for one in made]
    context = COMMON | {"page": page, "given": {}, "problems": {}}
    yield "questions", "questions", context
    given = {"pet": "dog", "years": "7", "mood.cat": "6"}
    wrong = {problem.field: problem for problem in read(tuple(made), given)[1]}
    yield "questions-wrong", "questions", context | {"given": given, "problems": wrong}


WORDS = ("en", "es", "es-MX", "xa", "ar")  # languages of the screens here


def words(text: str) -> dict[str, str]:
    """A researcher's words in every language; in Arabic, some that are no Latin ones."""
    return dict.fromkeys(WORDS, text) | {"ar": "ابت ثجح " * (len(text) // 8 + 1)}


def news(name: str, reward: int | None) -> dict[str, Any]:
    """What a pause says of the last choice."""
    told = face(registry.make_instrument(name)).told() | ALONE
    about = {"face": name, "told": told, "view": None}
    return about | {"reward": reward, "number": None, "rest": False}


def answer(route: Any, html: str) -> None:
    """Serve one page and the static files, as the server would."""
    path = Path(route.request.url.split("?")[0])
    if path.suffix in TYPES:
        route.fulfill(path=STATIC / path.name, content_type=TYPES[path.suffix])
    else:
        headers = {"content-security-policy": POLICY, "content-type": "text/html; charset=utf-8"}
        route.fulfill(body=html, headers=headers)


def put_screen(page: Any, name: str, language: str, context: dict[str, Any]) -> None:
    """Put one screen in place of another, with all its details open."""
    html = html_of(name, language, **context)
    main = html[html.index("<main") : html.index("</main>") + len("</main>")]
    page.evaluate(
        """html => {
          document.querySelector("main").outerHTML = html;
          for (const details of document.querySelectorAll("details")) details.open = true;
        }""",
        main,
    )


def open_screen(page: Any, name: str, language: str, context: dict[str, Any]) -> None:
    """Show one screen in a browser page."""
    html = html_of(name, language, **context)
    if not hasattr(page, "shown"):
        page.route("**/*", lambda route: answer(route, page.shown))
    page.shown = html
    page.goto("http://127.0.0.1:8080/")
