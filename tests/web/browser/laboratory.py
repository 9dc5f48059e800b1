"""A study, its server and what it stored: for tests that look at both ends of the line."""

from __future__ import annotations

import re
import socket
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page
from sqlalchemy import select

from allminds.web.app import create_app
from allminds.web.questions import CheckQuestion, questions
from allminds.web.store import Store
from allminds.web.study import Limits, Study
from allminds.web.tables import EventRow, ParticipantRow, SessionRow

SEED = 918273645  # found nowhere by chance
LIMITS = {"choices_per_second": 1000, "joins_per_minute": 1000}
PLAYING = re.compile('data-screen="(exercise|waiting|room)"')
LAMBDA: dict[str, Any] = {
    "instrument": "lambda",
    "settings": {"form": "general", "cells": 5, "steps": 4},
    "exercises": 2,
    "practice": 0,
    "check": False,
}


class Laboratory:
    """One study on one server, which can be stopped and started again."""

    def __init__(self, where: Path, tests: list[dict[str, Any]], study: dict[str, Any]) -> None:
        self.where, self.limits = where, study.pop("limits", LIMITS)
        self.sent: list[bytes] = []  # every body and header that left the server
        given = {
            "slug": "try", "title": {"en": "Trying it", "es": "Una prueba"},
            "languages": ["en", "es"], "participants": 50, "retention": "2030-01-31", "seed": SEED,
            "consent": {"version": "1", "text": {"en": "Yes?", "es": "¿Sí?"}}, "tests": tests,
        }  # fmt: skip
        self.study = Study.model_validate(given | study)
        self.store = Store(where, create=True)
        self.token = self.store.add_study(self.study, "test", 0)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.start()

    # ------------------------------------------------------------ the server

    def start(self) -> None:
        """Serve, on the same port as before."""
        if self.listener.fileno() < 0:
            port = int(self.url.rpartition(":")[2])
            self.listener = socket.create_server(("127.0.0.1", port))
            self.store = Store(self.where)
        app = Recorder(create_app(self.store, limits=Limits(**self.limits)), self.sent)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        run = {"target": self.server.run, "args": ([self.listener],), "daemon": True}
        self.thread = threading.Thread(**run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def close(self) -> None:
        """Stop serving, and let go of the database."""
        self.server.should_exit = True
        self.thread.join(10)
        self.listener.close()
        self.store.close()

    # ------------------------------------------------------------ people

    def link(self) -> str:
        """A new participant's link."""
        ((_, secret),) = self.store.invite(self.store.study(), [""], 0)
        return f"{self.url}/j/{secret}"

    def begin(self, page: Page) -> None:
        """From the link to the first exercise, in this browser but without looking."""
        line, link = page.request, self.link()
        line.post(f"{self.url}/join", form=hidden(line.get(link).text()))
        while not PLAYING.search(html := line.get(self.url).text()):
            agreed = {"accept": "yes"} if 'data-screen="consent"' in html else {}
            path = "consent" if agreed else "next"
            line.post(f"{self.url}/{path}", form=hidden(html) | agreed)
        page.goto(self.url)

    # ------------------------------------------------------------ what was stored

    def events(self, kind: str) -> list[EventRow]:
        """What happened, of one kind, in order."""
        with self.store.reading() as db:
            query = select(EventRow).where(EventRow.kind == kind).order_by(EventRow.id)
            rows = list(db.scalars(query))
            db.expunge_all()
        return rows

    def choices(self) -> list[tuple[int | None, int | None, str | None]]:
        """(exercise, step, choice) of every choice."""
        return [(row.exercise_idx, row.step, row.choice) for row in self.events("choice")]

    def session(self) -> SessionRow:
        """The only session."""
        with self.store.reading() as db:
            row = db.scalars(select(SessionRow)).one()
            db.expunge_all()
        return row

    def people(self) -> list[ParticipantRow]:
        """All participants."""
        with self.store.reading() as db:
            rows = list(db.scalars(select(ParticipantRow)))
            db.expunge_all()
        return rows


class Recorder:
    """ASGI middleware that keeps what is sent."""

    def __init__(self, app: Any, sent: list[bytes]) -> None:
        self.app, self.sent = app, sent

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""

        async def kept(message: Any) -> None:
            self.sent.append(message.get("body", b""))
            self.sent += [part for header in message.get("headers", ()) for part in header]
            await send(message)

        await self.app(scope, receive, kept)


# ---------------------------------------------------------------- what a participant does


def hidden(html: str) -> dict[str, str | float | bool]:
    """What the forms of a page carry."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))


def screen(page: Page) -> str:
    """Where a participant is."""
    return page.locator("main").get_attribute("data-screen") or ""


def step(page: Page) -> tuple[str | None, str | None]:
    """(exercise, step) of the screen."""
    main = page.locator("main")
    return main.get_attribute("data-exercise"), main.get_attribute("data-step")


def ready(page: Page) -> None:
    """Wait until choices are taken."""
    page.wait_for_selector("main[data-open]", state="attached")


def at(page: Page, exercise: int, move: int) -> None:
    """Wait until choices are taken at a step of an exercise."""
    main = f"main[data-exercise='{exercise}'][data-step='{move}'][data-open]"
    page.wait_for_selector(main, state="attached")


def asked(page: Page) -> tuple[CheckQuestion, ...]:
    """The comprehension questions on the screen, with their answers."""
    kind = page.locator("main").get_attribute("data-kind")
    costs = page.locator("input[name=costs]").count() > 0
    return questions({"kind": kind, "costs": costs})


def arrive(page: Page) -> None:
    """By pointer from wherever it is to the next exercise, or to the end."""
    while screen(page) not in ("exercise", "waiting", "room", "done"):
        forward(page)


def forward(page: Page) -> None:
    """Past a screen that is no exercise."""
    where = screen(page)
    if where == "consent":
        page.get_by_label("I have read this").check()
    if where == "check":
        for question in asked(page):
            page.check(f"input[name={question.name}][value={question.right}]")
    with page.expect_navigation():
        page.locator("form:not(.languages) button.main").first.click()


def open_cells(page: Page) -> list[str]:
    """The numbers of the cells that can be gone to."""
    found: list[str] = page.eval_on_selector_all("button.cell", "all => all.map(e => e.value)")
    return found
