"""A study, a server and people for the tests: all through the real HTTP interface."""

from __future__ import annotations

import contextlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from allminds.core.settings import checked
from allminds.web.app import create_app
from allminds.web.checking import check
from allminds.web.debrief import Machines
from allminds.web.security import COOKIE
from allminds.web.serve import running
from allminds.web.store import Store
from allminds.web.study import Limits, Study
from allminds.web.tables import EventRow

MINUTE, HOUR = 60_000, 3_600_000
CELLS = {"form": "general", "cells": 3, "steps": 4}
SHORT: dict[str, Any] = {"instrument": "lambda", "settings": CELLS, "exercises": 2}
CLIENT = httpx.Client(timeout=60)  # without a memory: cookies are sent by hand
MANY = dict.fromkeys(
    ("choices_per_second", "joins_per_minute", "admin_failures_per_minute", "requests_per_second"),
    1e6,
)


def study(**changes: Any) -> Study:
    """A short study: two exercises of four moves, no practice, no check."""
    tests = changes.pop("tests", [SHORT])
    values: dict[str, Any] = {
        "slug": "short",
        "title": {"en": "Short", "es": "Corto"},
        "languages": ["en", "es"],
        "participants": 20,
        "seed": 1,
        "retention": "2030-01-01",
        "consent": {"version": "v7", "text": {"en": "Agree?", "es": "¿Acepta?"}},
        "limits": MANY,
        "tests": [{"practice": 0, "check": False} | test for test in tests],
    }
    made = checked(Study, values | changes, "the study")
    check(made, "the study")
    return made


class Clock:
    """A clock that a test sets: milliseconds since 1970."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        self.now += 1  # no two moments are the same
        return self.now


class Plain:
    """A stand-in for the screens: the forms' fields, and all that is safe to send."""

    def main(self, name: str, language: str, **context: Any) -> str:
        form = context.get("form", {}) | {"token": context["token"]}
        fields = "".join(
            f'<input type="hidden" name="{k}" value="{escape(str(v))}">' for k, v in form.items()
        )
        rest = {k: v for k, v in context.items() if k not in ("form", "token")}
        shown = escape(json.dumps(rest | {"language": language}))
        return f'<main data-screen="{name}">{fields}<pre>{shown}</pre></main>'

    def page(self, name: str, language: str, **context: Any) -> str:
        return f"<html><body>{self.main(name, language, **context)}</body></html>"


class Server:
    """The app on a database, which can be stopped and started again."""

    def __init__(self, where: str, clock: Clock, screens: Any = None) -> None:
        self.where, self.clock, self.screens = where, clock, screens or Plain()
        self.limits: Any = Limits.model_validate(MANY)
        self.public = ""
        self.wait: float = 30  # seconds for a lock
        self._open = contextlib.ExitStack()

    def start(self) -> Server:
        self.store = Store(self.where, wait=self.wait)
        self.app = create_app(
            self.store, screens=self.screens, clock=self.clock, limits=self.limits,
            ticks=lambda: self.clock.now / 1000, public=self.public, machines=Machines(patience=60),
        )  # fmt: skip
        self.address = self._open.enter_context(running(self.app))
        return self

    def stop(self) -> None:
        self._open.close()
        self.store.close()

    def again(self) -> None:
        """Stop, and start anew: nothing is left but the database."""
        self.stop()
        self.start()


class Person:
    """A browser: a cookie, and the screen it shows."""

    def __init__(self, server: Server, scripted: bool = True) -> None:
        self.server = server
        self.cookie = ""
        self.scripted = scripted  # with JavaScript
        self.reply: httpx.Response | None = None
        self.screen, self.form, self.context = "", {}, {}

    def send(self, method: str, path: str, data: Any = None, **headers: str) -> httpx.Response:
        accept = "application/json" if self.scripted else "text/html"
        given = {"accept": accept, "cookie": self.cookie} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        url = self.server.address + path
        return CLIENT.request(method, url, data=data, headers=given)

    def show(self, reply: httpx.Response) -> str:
        self.reply = reply
        html = reply.json()["html"] if self.scripted else reply.text
        self.screen = re.search('data-screen="([a-z]+)"', html).group(1)
        self.form = dict(re.findall('name="([a-z_]+)" value="([^"]*)"', html))
        shown = re.search("<pre>(.*)</pre>", html, re.DOTALL)
        if shown:
            from html import unescape

            self.context = json.loads(unescape(shown.group(1)))
        else:  # the real screens
            self.context = {"choices": re.findall('name="choice" value="([^"]*)"', html)}
        return self.screen

    def load(self) -> str:
        return self.show(self.send("GET", "/"))

    def join(self, invite: str, **fields: str) -> str:
        reply = self.send("POST", "/join", {"invite": invite, **fields})
        if reply.status_code != 303:
            return self.show(reply)
        self.cookie = reply.headers["set-cookie"].partition(";")[0]
        assert self.cookie.startswith(COOKIE + "=")
        return self.load()

    def post(self, path: str, **fields: Any) -> str:
        reply = self.send("POST", path, self.form | fields)
        if not self.scripted:
            assert reply.status_code == 303, reply.text
            return self.load()
        return self.show(reply)

    def choose(self, which: int = 0, **fields: Any) -> str:
        choice = self.context["choices"][which % len(self.context["choices"])]
        return self.post("/choice", **{"choice": choice, "rt_ms": "512", "input": "mouse"} | fields)

    def begin(self) -> str:
        """Agree, and read the instructions."""
        self.post("/consent", accept="yes")
        return self.post("/next")

    def finish(self) -> str:
        """Go on to the end."""
        while self.screen in ("exercise", "between", "instructions"):
            if self.screen == "exercise":
                self.choose()
            else:
                self.post("/next")
        return self.screen


def make(where: str | Path, made: Study, count: int, clock: Clock) -> tuple[str, list[str]]:
    """A database with a study; the researcher's token, and the secrets of some links."""
    store = Store(str(where), create=True)
    token = store.add_study(made, "test", clock())
    row = store.study(made.slug)
    links = [secret for _, secret in store.invite(row, [f"p{n}" for n in range(count)], clock())]
    store.close()
    return token, links


def events(server: Server, kind: str) -> list[EventRow]:
    with server.store.reading() as db:
        found = list(db.scalars(select(EventRow).where(EventRow.kind == kind)))
        db.expunge_all()
    return sorted(found, key=lambda event: event.id)


def rows(server: Server, table) -> list:
    with server.store.reading() as db:
        found = list(db.scalars(select(table).order_by(table.id)))
        db.expunge_all()
    return found
