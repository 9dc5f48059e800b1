"""A panel of simulated participants, careful and careless, and the study that they take.

They act over HTTP one after the other, by a clock that their own thinking moves on, so that nothing
is waited for and the same seed gives the same data. The screens are the real ones.
"""

from __future__ import annotations

import random
from typing import Any

from studio import MINUTE, Clock, Person, Server

from allminds.core.settings import checked
from allminds.web import screens
from allminds.web.agenda import Agenda
from allminds.web.checking import check
from allminds.web.questions import checks
from allminds.web.simulate import answers_to
from allminds.web.study import Study

KINDS = ("careful", "clicker", "liar", "random", "quitting", "returning")
CARELESS = ("clicker", "liar", "random")
SHARES = (16, 5, 5, 4, 5, 5)  # of 40
SAFE = {"choices_per_second": 1e6, "joins_per_minute": 1e6, "requests_per_second": 1e6}
ASKED = [
    {"name": "mood", "kind": "scale", "when": "before", "points": 7, "text": "How are you?",
     "rows": ["calm", "tired"]},
    {"name": "games", "kind": "number", "when": "before", "text": "Hours of games a week?",
     "least": 0, "most": 100},
    {"name": "reads", "kind": "choice", "when": "letters", "text": "Please choose 'often' here.",
     "options": ["never", "rarely", "sometimes", "often"], "right": "often"},
    {"name": "aware", "kind": "choice", "when": "after", "text": "Two plus two is?",
     "options": ["three", "four", "five"], "right": "four"},
    {"name": "said", "kind": "text", "when": "after", "text": "Anything else?", "required": False},
]  # fmt: skip


def study(participants: int, moves: int = 12, **changes: Any) -> dict[str, Any]:
    """A study with two arms, a Latin square, four kinds of questions, checks and a bonus."""

    def named(value: str) -> dict[str, Any]:
        return {"value": value, "text": {"en": value}}

    questions = [
        one | {"text": {"en": one["text"]}}
        | {key: [named(value) for value in one[key]] for key in ("rows", "options") if key in one}
        for one in ASKED
    ]  # fmt: skip
    cells = {"form": "general", "cells": 3, "steps": moves}
    values = {
        "slug": "panel", "title": {"en": "Panel"}, "languages": ["en"], "seed": 77,
        "participants": participants, "retention": "2100-01-01", "order": "latin",
        "consent": {"version": "1", "text": {"en": "Agree?"}}, "limits": SAFE,
        "arms": [{"name": "signs"}, {"name": "numbers", "show_numbers": True}],
        "questions": questions,
        "bonus": {"currency": "EUR", "base": 2, "per_point": {"cells": 1, "letters": 0.2},
                  "most": 6},
        "careless": {"exclude": ["attention", "fast", "same-choice"]},
        "debrief": {"results": False, "text": {"en": "# Thank you\n\nIt was about *learning*."}},
        "tests": [
            {"instrument": "lambda", "name": "cells", "settings": cells, "exercises": 3,
             "practice": 1, "practice_settings": cells | {"steps": 3}, "choice_seconds": 60,
             "instructions": {"en": "Take **your** time."}},
            {"instrument": "c-test", "name": "letters", "exercises": 8, "practice": 0, "rest": True,
             "settings": {"form": "generated", "options": 5}},
        ],
    }  # fmt: skip
    return values | changes


def made(values: dict[str, Any]) -> Study:
    """The study, checked as from a file."""
    found = checked(Study, values, "the panel's study")
    check(found, "the panel's study")
    return found


def kinds(people: int) -> list[str]:
    """The kinds of so many participants, by their shares, spread over all places."""
    drawn = [kind for kind, share in zip(KINDS, SHARES, strict=True) for _ in range(share)]
    order = [drawn[(7 * n) % len(drawn)] for n in range(len(drawn))]  # 7 and 40 share no factor
    return [order[n % len(order)] for n in range(people)]


class Simulated:
    """One participant of a kind: thinks, which moves the clock, and acts."""

    def __init__(self, server: Server, clock: Clock, link: str, kind: str, number: int) -> None:
        self.server, self.clock, self.link, self.kind = server, clock, link, kind
        self.random, self.person = random.Random(number), Person(server)
        self.careless = kind in CARELESS
        self.last, self.acted = "", 0

    def take(self, plan: Study) -> str:
        """Go through the study as this kind does; return the last screen."""
        self.person.join(self.link)
        while self.person.screen not in ("done", "closed"):
            self.acted += 1
            if self.kind == "quitting" and self.acted == 24:
                return self.person.screen
            if self.kind == "returning" and self.acted == 24:
                self._come_back()
            self._act(plan)
        return self.person.screen

    def _come_back(self) -> None:
        """Be away for most of an hour, and go on with the link on another device."""
        self.clock.now += 40 * MINUTE
        self.person = Person(self.server)
        self.person.join(self.link)

    def _act(self, plan: Study) -> None:
        screen = self.person.screen
        if screen == "exercise":
            self._choose()
            return
        self.clock.now += int(self.thought(800 if self.careless else 9000))
        if screen == "consent":
            self.person.post("/consent", accept="yes")
        elif screen == "questions":
            self.person.post("/answers", **self._answers(plan))
        elif screen == "check":
            self.person.post("/check", **self._understood(plan))
        else:
            self.person.post("/next")

    def thought(self, usual: float) -> float:
        """Draw a time to think, log-normal about what is usual."""
        return usual * self.random.lognormvariate(0, 0.4)

    def _choose(self) -> None:
        """Choose: a clicker mostly the same place, others stay where it paid and else try."""
        choices = self.person.context["choices"]
        html = self._shown()
        letters = 'data-kind="letters"' in html
        usual = {"clicker": 290.0, "liar": 290.0}.get(self.kind, 7000.0 if letters else 1300.0)
        taken = self.thought(usual)
        self.clock.now += int(taken) + 40
        if self.kind in ("clicker", "liar") and self.random.random() < 0.8:
            choice = choices[0]
        elif not self.careless and self.last in choices and "Positive reward" in html:
            choice = self.last
        else:
            choice = self.random.choice(choices)
        self.last = choice
        told = self.thought(1500) if self.kind == "liar" else taken
        self.person.post("/choice", choice=choice, rt_ms=f"{told:.1f}", input="mouse")

    def _answers(self, plan: Study) -> dict[str, str]:
        """Answer every question that there is; the server takes those of the page."""
        right = answers_to(tuple(plan.questions))
        if not self.careless:
            return right
        return right | {
            one.name: self.random.choice(one.values) for one in plan.questions if one.right
        }

    def _understood(self, plan: Study) -> dict[str, str]:
        faces = [Agenda(plan).face(test) for test in range(len(plan.tests))]
        (face,) = (one for one in faces if f'data-kind="{one.told()["kind"]}"' in self._shown())
        if self.careless:
            return {one.name: self.random.choice(list(one.answers)) for one in checks(face)}
        return {one.name: one.right for one in checks(face)}

    def _shown(self) -> str:
        return self.person.reply.json()["html"]


def take_all(
    where: str, plan: Study, links: list[str], clock: Clock, who: list[str]
) -> list[tuple[str, str]]:
    """Let everybody take the study; return each one's kind and last screen."""
    server = Server(where, clock, screens).start()
    try:
        return [
            (kind, Simulated(server, clock, link, kind, number).take(plan))
            for number, (link, kind) in enumerate(zip(links, who, strict=True))
        ]
    finally:
        server.stop()
