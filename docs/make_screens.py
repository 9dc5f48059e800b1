"""Make the pictures of the screens that people see, from the running app.

``python docs/make_screens.py`` makes a study in a temporary folder, serves it, and takes it in
Chromium (Playwright, and a Chromium of the system) at the width of a desk and of a phone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from allminds.web.app import create_app
from allminds.web.questions import questions
from allminds.web.serve import running
from allminds.web.store import Store
from allminds.web.study import Study

IMAGES = Path(__file__).parent / "images"
DESK = {"viewport": {"width": 900, "height": 640}}
PHONE = {
    "viewport": {"width": 390, "height": 700},
    "device_scale_factor": 1.5,
    "has_touch": True,
    "is_mobile": True,
}
FLAGS = ["--headless", "--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
CELLS = {"form": "general", "cells": 7, "steps": 12}
BOARD = {"rows": 4, "cols": 4, "iterations": 8, "k": "any"}
NAMES = {"cells": "lambda", "torus": "lambda-star", "letters": "c-test", "matrix": "matrices"}
STUDY: dict[str, Any] = {
    "slug": "pictures",
    "title": {"en": "Four kinds of exercises", "es": "Cuatro tipos de ejercicios"},
    "languages": ["en", "es"],
    "participants": 5,
    "retention": "2030-12-31",
    "contact": "lab@example.org",
    "seed": 12,
    "ask": ["age", "colour_vision"],
    "completion_code": "C1A2B3",
    "consent": {
        "version": "1",
        "text": {
            "en": "You will do some exercises in reasoning. It takes about 20 minutes.\n\n"
            "You may stop at any time and have your data deleted.",
            "es": "Hará unos ejercicios de razonamiento. Dura unos 20 minutos.",
        },
    },
    "tests": [
        {"instrument": "lambda", "settings": CELLS, "exercises": 1, "minds": ["q-learning"]},
        {"instrument": "lambda-star", "settings": BOARD, "exercises": 1, "practice": 0,
         "check": False},
        {"instrument": "c-test", "settings": {"form": "generated"}, "exercises": 1, "practice": 0,
         "check": False},
        {"instrument": "matrices", "exercises": 1, "practice": 0, "check": False},
    ],
}  # fmt: skip


TOGETHER = {"opponent": "person", "exercises": 1, "practice": 0, "check": False, "wait_seconds": 5}
GAMES: dict[str, Any] = STUDY | {
    "slug": "games",
    "title": {"en": "Games for two", "es": "Juegos para dos"},
    "tests": [
        TOGETHER | {"instrument": "prisoners-dilemma", "settings": {"steps": 5}},
        TOGETHER | {"instrument": "matching-pennies", "settings": {"steps": 5}},
        TOGETHER | {"instrument": "noughts-and-crosses"},
    ],
}

BOARDS = {"dilemma": ".payoffs button", "pennies": ".coins", "noughts": ".noughts"}


class Tour:
    """Somebody who takes the study, and pictures of what is seen on the way."""

    def __init__(self, page: Page, wanted: set[str], ending: str = "") -> None:
        self.page, self.wanted, self.ending = page, set(wanted), ending

    def picture(self, name: str) -> None:
        """Keep the page, if it is wanted, once."""
        if name in self.wanted:
            self.wanted.remove(name)
            self.page.screenshot(path=IMAGES / f"people-{name}{self.ending}.png", full_page=True)

    @property
    def screen(self) -> str:
        """Where the session is."""
        return self.page.locator("main").get_attribute("data-screen") or ""

    def reach(self, screen: str) -> None:
        """Past what asks for nothing, up to a screen."""
        while self.screen != screen:
            self.forward()

    def take(self) -> None:
        """From the first page to the last."""
        while self.screen != "done":
            {"exercise": self.exercise, "check": self.check}.get(self.screen, self.forward)()
        self.picture("done")

    def forward(self) -> None:
        """Past a screen that asks for nothing."""
        self.picture(self.screen)
        if self.screen == "consent":
            self.page.check("input[name=accept]")
        self.go(self.page.locator("form:not(.languages) button.main").first.click)

    def check(self) -> None:
        """A wrong answer first, to be told why."""
        asked = questions({"kind": self.page.locator("main").get_attribute("data-kind")})
        for number, question in enumerate(asked):
            told = question.right if number else next(iter(question.answers))
            self.page.check(f"input[name={question.name}][value={told}]")
        self.go(self.page.locator("button.main").click)
        self.picture("check")
        for question in asked:
            self.page.check(f"input[name={question.name}][value={question.right}]")
        self.go(self.page.locator("button.main").click)

    def go(self, act: Callable[[], None]) -> None:
        """Do what leads to another page."""
        with self.page.expect_navigation():
            act()

    def exercise(self) -> None:
        """One choice; the fifth move of an exercise that counts is worth a picture."""
        page, main = self.page, self.page.locator("main")
        page.wait_for_selector("main[data-open]", state="attached")
        kind, step = main.get_attribute("data-kind") or "", main.get_attribute("data-step")
        number = main.get_attribute("data-exercise")
        counts = page.get_by_text("This does not count").count() == 0
        if kind in ("cells", "torus"):
            cells = page.locator("button.cell")
            cell = cells.nth((int(step or 0) * 3 + 1) % cells.count())
            if counts and step == "5":
                cell.hover()
                self.picture(NAMES[kind])
            cell.click()
        else:
            page.locator(f"label:has(input[value={'k' if kind == 'letters' else 'B'}])").click()
            self.picture(NAMES[kind])
            page.get_by_role("button", name="Confirm").click()
        old = f"main[data-exercise='{number}'][data-step='{step}']"
        page.wait_for_selector(old, state="detached")
        page.wait_for_timeout(300)  # what glides has arrived

    def offline(self) -> None:
        """A choice that cannot be sent."""
        self.page.context.set_offline(True)
        self.page.locator("button.cell").first.click()
        self.page.get_by_text("The connection was lost").wait_for()
        self.page.screenshot(path=IMAGES / f"people-offline{self.ending}.png")
        self.page.context.set_offline(False)


class Pair:
    """Two people who take a study of games at the same time, and pictures on the way."""

    def __init__(self, desk: Page, phone: Page) -> None:
        self.tours = [Tour(desk, {"room", "dilemma", "noughts", "waiting"}),
                      Tour(phone, {"dilemma", "pennies", "noughts"}, "-phone")]  # fmt: skip

    def take(self) -> None:
        """Each in turn does what there is to do; once both are at the end, it is over."""
        self.tours[0].reach("room")
        self.tours[0].picture("room")
        while any(tour.screen != "done" for tour in self.tours):
            for tour in self.tours:
                self.move(tour)

    def move(self, tour: Tour) -> None:
        """One move, or one screen; a page that waits may go on by itself at any moment."""
        page, screen = tour.page, tour.screen
        if screen == "exercise":
            page.wait_for_selector("main[data-open]", state="attached")
            step = page.locator("main").get_attribute("data-step")
            if step == "2":
                tour.picture(self.game(page))
            page.locator("button.pick, button.coin, button.cell.open").first.click()
            old = f"main[data-screen=exercise][data-step='{step}']"
            page.wait_for_selector(old, state="detached")
            if tour.screen == "waiting":
                tour.picture("waiting")
        elif screen in ("waiting", "room"):
            page.wait_for_timeout(200)
        elif screen != "done":
            tour.forward()

    def game(self, page: Page) -> str:
        """Which of the games is on the screen."""
        found = [name for name, board in BOARDS.items() if page.locator(board).count()]
        return found[0]


def play_together(browser: Browser, folder: Path) -> None:
    """The pictures of games."""
    store = Store(folder / "games.db", create=True)
    store.add_study(Study.model_validate(GAMES), "docs", 0)
    links = [secret for _, secret in store.invite(store.study(), ["g-1", "g-2"], 0)]
    with running(create_app(store)) as url:
        pages = [browser.new_page(**size) for size in (DESK, PHONE)]
        for page, link in zip(pages, links, strict=True):
            page.goto(f"{url}/j/{link}")
        Pair(*pages).take()
    store.close()


def main() -> None:
    """All pictures."""
    found = os.environ.get("ALLMINDS_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = Store(Path(folder) / "study.db", create=True)
        token = store.add_study(Study.model_validate(STUDY), "docs", 0)
        links = [secret for _, secret in store.invite(store.study(), ["p-1", "p-2", "p-3"], 0)]
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        with running(create_app(store)) as url:
            exercises = set(NAMES.values())
            others = {"join", "consent", "instructions", "check", "between", "done"}
            for link, size, wanted, ending in (
                (links[0], DESK, exercises | others, ""),
                (links[1], PHONE, exercises, "-phone"),
            ):
                page = browser.new_page(**size)
                page.goto(f"{url}/j/{link}")
                Tour(page, wanted, ending).take()
            page = browser.new_page(**DESK)
            page.goto(f"{url}/j/{links[2]}")
            tour = Tour(page, set())
            while tour.screen != "exercise":
                {"check": tour.check}.get(tour.screen, tour.forward)()
            page.wait_for_selector("main[data-open]", state="attached")
            tour.offline()
            page = browser.new_page(**DESK, extra_http_headers={"Authorization": f"Bearer {token}"})
            page.goto(f"{url}/admin")
            Tour(page, {"monitor"}).picture("monitor")
        play_together(browser, Path(folder))
        browser.close()
        store.close()


if __name__ == "__main__":
    main()
