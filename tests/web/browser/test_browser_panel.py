"""One participant of every kind in a real browser: careful, careless, quitting, returning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel
import pytest
from laboratory import LIMITS, Laboratory, asked, at, forward, ready, screen
from playwright.sync_api import Page
from test_browser_access import violations

from allminds.web.careless import behaviours
from allminds.web.dataset import participants

Make = Callable[..., Laboratory]
NewPage = Callable[..., Any]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def lab(laboratory: Make) -> Laboratory:
    """The panel's study, shorter."""
    values = panel.study(8, moves=3)
    cells, letters = values.pop("tests")
    for name in ("slug", "title", "languages", "retention", "consent", "seed"):
        del values[name]
    debrief = {"debrief": {"results": False, "text": {"en": "About *learning*.", "es": "x"}}}
    cells |= {"exercises": 1, "practice": 0, "instructions": {"en": "Take **your** time."}}
    values |= debrief | {"limits": LIMITS, "languages": ["en"]}
    return laboratory(cells, letters | {"exercises": 1}, **values)


class Someone:
    """A participant at a page."""

    def __init__(self, page: Page, careful: bool) -> None:
        self.page, self.careful = page, careful

    def go_on(self) -> None:
        """Act on the present screen."""
        where = screen(self.page)
        if where == "exercise":
            self.choose()
        elif where == "questions":
            self.answer()
        elif where == "check" and not self.careful:
            for one in asked(self.page):
                wrong = next(name for name in one.answers if name != one.right)
                self.page.check(f"input[name={one.name}][value={wrong}]")
            self.submit()
        else:
            forward(self.page)

    def submit(self) -> None:
        with self.page.expect_navigation():
            self.page.locator("main form button.main").first.click()

    def choose(self) -> None:
        """By keyboard; a careful one thinks for longer than the threshold."""
        main = self.page.locator("main")
        before = main.get_attribute("data-exercise"), main.get_attribute("data-step")
        ready(self.page)
        self.page.wait_for_timeout(300 if self.careful else 20)
        if main.get_attribute("data-kind") == "letters":
            self.page.locator("input[name=choice]").first.check(force=True)
            self.page.locator("form#choice button").last.click()
        else:
            self.page.keyboard.press(self.page.locator("button.cell").first.get_attribute("value"))
        self.page.wait_for_selector(
            f"main:not([data-exercise='{before[0]}'][data-step='{before[1]}'])", state="attached"
        )

    def answer(self) -> None:
        """Answer what is asked; a careless one wrongly, and with something pasted."""
        page = self.page
        for one in page.locator("fieldset input[type=text]").all():
            one.fill("7")
        for one in page.locator("textarea").all():
            one.fill("no")
            if not self.careful:
                page.evaluate("document.dispatchEvent(new ClipboardEvent('paste'))")
        for name in ("mood.calm", "mood.tired"):
            for one in page.locator(f"input[name='{name}'][value='4']").all():
                one.check(force=True)
        for name, right in (("reads", "often"), ("aware", "four")):
            value = right if self.careful else {"reads": "never", "aware": "five"}[name]
            for one in page.locator(f"input[name={name}][value={value}]").all():
                one.check()
        self.submit()


@pytest.mark.slow
def test_one_of_each_kind_takes_the_study_in_a_browser(lab: Laboratory, new_page: NewPage) -> None:
    """On a desk and on a phone; careless ones are marked and careful ones are not; axe is clean."""
    links = [lab.link() for _ in range(4)]
    for number, link in enumerate(links):
        careless, quits, returns = number == 1, number == 2, number == 3
        options = PHONE if number % 2 else {}
        someone = Someone(new_page(bypass_csp=True, **options), not careless)
        someone.page.goto(link)
        found: dict[str, list[str]] = {}
        while screen(someone.page) != "done":
            where = screen(someone.page)
            if number == 0 and where not in found:
                found[where] = violations(someone.page)
            if where == "exercise" and (quits or returns):
                someone.choose()
                someone.page.close()
                if quits:
                    break
                returns = False
                someone = Someone(new_page(**PHONE), careful=True)
                someone.page.goto(link)
            someone.go_on()
        if number == 0:
            found["done"] = violations(someone.page)
            assert {"questions", "instructions", "exercise", "check"} <= set(found)
            assert not any(found.values()), found
    with lab.store.reading() as db:
        row = lab.store.study()
        marks = [set(one.marks()) for one in behaviours(db, row).values()]
        told = list(participants(db, row))
    careful, careless, quitting, returning = marks
    assert careful == returning == set()
    assert {"attention", "misread", "pasted"} <= careless
    assert quitting == {"unfinished"}
    assert [one["bonus"] is None for one in told] == [False, False, True, False]
    assert [one["status"] for one in told] == ["finished", "finished", "running", "finished"]
    assert {one["arm"] for one in told} == {"signs", "numbers"}


def test_an_exercise_ends_by_itself_when_its_time_is_over(page: Page, laboratory: Make) -> None:
    """A reload gives no more time, and nothing needs to be clicked at the end."""
    cells = {"form": "general", "cells": 3, "steps": 4}
    lab = laboratory({
        "instrument": "lambda", "settings": cells, "exercises": 1, "practice": 0, "check": False,
        "choice_seconds": 3,
    })  # fmt: skip
    lab.begin(page)
    at(page, 0, 0)
    assert int(page.locator("[data-left] b").inner_text()) <= 3
    page.reload()
    assert int(page.locator("[data-left]").get_attribute("data-left") or 0) < 3000
    page.wait_for_selector("main[data-screen=between]", state="attached")
    assert lab.choices() == []
