"""A session of each instrument, from the link to the end, by keyboard alone and by pointer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from laboratory import (
    LAMBDA,
    SEED,
    Laboratory,
    arrive,
    asked,
    at,
    forward,
    open_cells,
    ready,
    screen,
    step,
)
from playwright.sync_api import Page, expect

SHORT: dict[str, dict[str, Any]] = {
    "lambda": LAMBDA | {"exercises": 1, "check": True},
    "lambda-staircase": {"instrument": "lambda-staircase", "exercises": 1, "check": False,
                         "practice": 0},
    "lambda-star": {"instrument": "lambda-star", "settings": {"iterations": 4, "k": "any"},
                    "exercises": 1, "practice": 0},
    "c-test": {"instrument": "c-test", "settings": {"form": "generated"}, "exercises": 2,
               "practice": 1},
    "c-test-five": {"instrument": "c-test", "settings": {"options": 5, "task": "abduction",
                    "scoring": "administered"}, "exercises": 2, "practice": 0},
    "matrices": {"instrument": "matrices", "settings": {"rules": 1}, "exercises": 2, "practice": 1},
}  # fmt: skip
SECRET = (str(SEED), r"\bseed", r"\bgood\b", r"\bevil\b", "pattern", "complexity", "@2/", "lz76")
ONCE = {"lambda-staircase", "c-test-five"}  # the same boards as others: the pointer will do


# ---------------------------------------------------------------- two ways to use a page


class Keyboard:
    """Tab, Enter, Space and shortcuts; the pointer is never touched."""

    kinds = frozenset({"keyboard"})

    def __init__(self, page: Page) -> None:
        self.page = page

    def to(self, selector: str) -> None:
        """Tab until this has the focus."""
        for _ in range(60):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def forward(self) -> None:
        """Past a screen that is no exercise."""
        if screen(self.page) == "consent":
            self.to("input[name=accept]")
            self.page.keyboard.press("Space")
        if screen(self.page) == "check":
            for question in asked(self.page):
                self.to(f"input[name={question.name}]")
                place = list(question.answers).index(question.right)
                self.page.keyboard.press("Space")
                for _ in range(place):
                    self.page.keyboard.press("ArrowDown")
        self.to("form:not(.languages) button.main")
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def choose(self, choice: str) -> None:
        """By shortcut; what has none by Tab and arrows."""
        if choice == "none":
            self.to("input[name=choice]")
            self.page.keyboard.press("ArrowUp")
        else:
            self.page.keyboard.press(choice.lower())
        if self.page.locator("input[name=choice]").count():
            self.page.keyboard.press("Enter")


class Pointer:
    """Clicks alone."""

    kinds = frozenset({"mouse"})

    def __init__(self, page: Page) -> None:
        self.page = page

    def forward(self) -> None:
        """Past a screen that is no exercise."""
        if screen(self.page) == "consent":
            self.page.get_by_text("I have read this").click()
        if screen(self.page) == "check":
            for question in asked(self.page):
                self.page.get_by_text(question.answers[question.right], exact=True).first.click()
        with self.page.expect_navigation():
            self.page.locator("form:not(.languages) button.main").first.click()

    def choose(self, choice: str) -> None:
        """A cell at once; a letter or a figure, and then confirm."""
        if self.page.locator("main").get_attribute("data-kind") in ("cells", "torus"):
            self.page.click(f"button.cell[value='{choice}']")
            return
        self.page.locator(f"label:has(input[value='{choice}'])").click()
        self.page.get_by_role("button", name="Confirm").click()


class Finger(Pointer):
    """Taps."""

    kinds = frozenset({"touch"})

    def choose(self, choice: str) -> None:
        """As a pointer does."""
        self.page.locator(f"button.cell[value='{choice}']").tap()


def take(page: Page, way: Any, most: int = 100) -> list[str]:
    """A whole session; the choices that were made, the last one on offer each time."""
    made: list[str] = []
    while screen(page) != "done" and len(made) < most:
        if screen(page) != "exercise":
            way.forward()
            continue
        ready(page)
        choices = page.eval_on_selector_all("[name=choice]", "all => all.map(e => e.value)")
        made.append(choices[-1 - len(made) % min(3, len(choices))])
        here = step(page)
        way.choose(made[-1])
        main = f"main:not([data-exercise='{here[0]}'][data-step='{here[1]}'])"
        page.wait_for_selector(main, state="attached")
    return made


BOTH = [
    pytest.param(test, way, id=f"{test}-{way.__name__.lower()}")
    for test in SHORT
    for way in (Keyboard, Pointer)
    if way is Pointer or test not in ONCE
]


@pytest.mark.parametrize(("test", "way"), BOTH)
def test_a_session(test: str, way: Any, page: Page, laboratory: Callable[..., Laboratory]) -> None:
    """Every choice is stored as it was made, with a time and the kind of input."""
    lab = laboratory(SHORT[test])
    page.goto(lab.link())
    made = take(page, way(page), most=8)
    stored = lab.events("choice")
    assert [row.choice for row in stored] == made
    assert {row.input for row in stored} == way.kinds
    assert all(row.rt_ms >= 250 for row in stored), "no choice is taken before"
    assert [row.client_ts for row in stored] == sorted(row.client_ts for row in stored)
    everything = b"\n".join(lab.sent).decode().lower()
    assert [word for word in SECRET if re.search(word, everything)] == []
    if len(made) < 8:
        assert screen(page) == "done"
        assert lab.session().status == "finished"
        expect(page.get_by_role("row", name="You")).to_be_visible()


def test_a_session_by_finger(
    new_page: Callable[..., Any], laboratory: Callable[..., Laboratory]
) -> None:
    """Touch is one of the three ways, and is recorded as such."""
    lab = laboratory(LAMBDA | {"exercises": 1})
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(lab.link())
    made = take(page, Finger(page))
    assert [(row.choice, row.input) for row in lab.events("choice")] == [
        (choice, "touch") for choice in made
    ]
    assert lab.session().device["pointer"] == "coarse"


@pytest.mark.slow
def test_the_whole_test_of_the_paper(
    new_page: Callable[..., Any], laboratory: Callable[..., Laboratory]
) -> None:
    """Seven exercises of 3 to 9 cells, 350 moves, keys and clicks in turn.

    Only here the quarter of a second after each paint is left out, or this would take minutes.
    """

    def hurried(route: Any) -> None:
        body = route.fetch().text().replace("const SETTLE = 250;", "const SETTLE = 0;")
        route.fulfill(body=body, content_type="text/javascript")

    page = new_page(reduced_motion="reduce")
    page.route("**/people.js", hurried)
    lab = laboratory({"instrument": "lambda", "exercises": 7, "practice": 0, "check": False})
    lab.begin(page)
    ways, made = (Keyboard(page), Pointer(page)), []
    for exercise, cells in enumerate(range(3, 10)):
        arrive(page)
        assert page.locator(".cell:not(.sample)").count() == cells
        expect(page.get_by_text(f"Exercise {exercise + 1} of 7")).to_be_visible()
        for move in range(10 * (cells - 1)):
            at(page, exercise, move)
            there = open_cells(page)
            made.append((exercise, move, there[(move * 7) % len(there)]))
            ways[move % 2].choose(made[-1][2])
        page.wait_for_selector("main[data-screen=between]", state="attached")
    arrive(page)
    assert screen(page) == "done"
    assert lab.choices() == made
    assert len(made) == 350


def test_a_wrong_answer_to_the_check_is_explained(
    page: Page, laboratory: Callable[..., Laboratory]
) -> None:
    """What was right stays chosen, what was wrong comes with a note; then it goes on."""
    lab = laboratory(LAMBDA | {"check": True})
    page.goto(lab.link())
    while screen(page) != "check":
        forward(page)
    wrong, *right = asked(page)
    page.check(f"input[name={wrong.name}][value={next(iter(wrong.answers))}]")
    for question in right:
        page.check(f"input[name={question.name}][value={question.right}]")
    with page.expect_navigation():
        page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert")).to_contain_text("One answer was not right")
    expect(page.get_by_text(wrong.why)).to_be_visible()
    assert page.locator("input:checked").count() == len(right)
    forward(page)
    assert screen(page) == "exercise"
    assert [row.payload["wrong"] for row in lab.events("check")] == [[wrong.name], []]
