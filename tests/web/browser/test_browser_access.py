"""Everybody can use it: axe, narrow screens, the focus, words for what is seen, calm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gallery
import pytest
import tongues
from axe_playwright_python.sync_playwright import Axe
from laboratory import LAMBDA, Laboratory, arrive, at, open_cells, ready, screen
from playwright.sync_api import Page, expect

Make = Callable[..., Laboratory]
NewPage = Callable[..., Any]
SCREENS = {picture: (name, context) for picture, name, context in gallery.screens()}

# Elements whose edges lie outside the window, save what is hidden or scrolls by itself.
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && !e.closest(".unseen, .scroll *, svg *")
    && (box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5);
}).map(e => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`)"""

# Spaces of WCAG 1.4.12: wider than any common font, so that it does not matter which there are.
WIDEN = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { letter-spacing: .12em !important; word-spacing: .16em !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""


def violations(page: Page) -> list[str]:
    """What axe finds wrong."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}" for one in found
    ]


# ---------------------------------------------------------------- every screen


@pytest.mark.slow
def test_no_violations_by_axe(new_page: NewPage) -> None:
    """On every screen, with the help open, in English."""
    page = new_page(bypass_csp=True, reduced_motion="reduce")  # axe is injected
    wrong = {}
    gallery.open_screen(page, "exercise", "en", gallery.exercise("lambda-9"))
    for picture, (name, context) in SCREENS.items():
        gallery.put_screen(page, name, "en", context)
        found = violations(page)
        if found:
            wrong[picture] = found
    assert wrong == {}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("language", ["en", "es", tongues.LONG, tongues.ARABIC])
def test_narrow_screens(language: str, wide: bool, new_page: NewPage) -> None:
    """At 320 pixels nothing reaches over the edge, in long words and right to left too."""
    tongues.register()
    page = new_page(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    wrong = {}
    gallery.open_screen(page, "exercise", language, gallery.exercise("lambda-9"))
    page.eval_on_selector("#offline", "e => { e.hidden = false; }")
    if wide:
        page.evaluate(WIDEN)
    right_to_left = page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    assert right_to_left == (language == tongues.ARABIC)
    for picture, (name, context) in SCREENS.items():
        gallery.put_screen(page, name, language, context | {"languages": ["en", language]})
        found = page.evaluate(OUTSIDE)
        if found or page.evaluate("document.documentElement.scrollWidth") > 320:
            wrong[picture] = found
    assert wrong == {}


def test_targets_are_large_enough(new_page: NewPage) -> None:
    """Cells of 89 pixels at least on the narrowest screen, everything else 24."""
    page = new_page(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    small = "all => all.map(e => e.getBoundingClientRect()).map(b => Math.min(b.width, b.height))"
    gallery.open_screen(page, "exercise", "en", gallery.exercise("lambda-9"))
    for picture, (name, context) in SCREENS.items():
        gallery.put_screen(page, name, "en", context)
        sizes = page.eval_on_selector_all("button, summary, label, a.main", small)
        assert all(size >= 24 for size in sizes if size), picture
        if "lambda" in picture and "range-2" not in picture:
            assert all(size >= 89 for size in page.eval_on_selector_all("button.cell", small))


def test_places_on_the_board_do_not_turn_round(new_page: NewPage) -> None:
    """Left is left and a to z is a to z, whichever way a language runs."""
    tongues.register()
    page = new_page()
    for picture, selector in (
        ("exercise-lambda-star", ".torus button"),
        ("exercise-noughts-start", ".noughts button"),
        ("exercise-c-test", ".series b"),
        ("exercise-c-test", ".pad .key"),
        ("exercise-matrices", ".matrix svg"),
    ):
        name, context = SCREENS[picture]
        lefts = []
        for language in ("en", tongues.ARABIC):
            gallery.open_screen(page, name, language, context)
            boxes = [one.bounding_box() for one in page.locator(selector).all()[:3]]
            lefts.append([box["x"] for box in boxes if box])
            assert lefts[-1] == sorted(lefts[-1])
        assert len(lefts[0]) == 3


# ---------------------------------------------------------------- keys


def test_shortcuts_can_be_switched_off(page: Page, laboratory: Make) -> None:
    """WCAG 2.1.4; and the page remembers."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    expect(page.get_by_text("Click, tap, or press")).to_be_visible()
    page.get_by_label("Keyboard shortcuts").uncheck()
    expect(page.get_by_text("Click, tap, or press")).to_be_hidden()
    page.reload()
    at(page, 0, 0)
    page.keyboard.press(open_cells(page)[-1])
    page.keyboard.press(f"Control+{open_cells(page)[0]}")
    page.wait_for_timeout(200)
    assert lab.choices() == []
    page.get_by_label("Keyboard shortcuts").check()
    page.locator("h1").focus()
    page.keyboard.press(open_cells(page)[-1])
    at(page, 0, 1)


def test_a_number_pad_counts_by_place(page: Page, laboratory: Make) -> None:
    """On the pad 7 is up left, which is action 1; the digit above the letters is what it says."""
    test = {"instrument": "lambda-star", "exercises": 1, "practice": 0, "check": False}
    lab = laboratory(test | {"settings": {"iterations": 6, "k": "any"}})
    lab.begin(page)
    keys = {"Numpad7": "1", "Digit7": "7", "Numpad2": "8", "Digit5": "5", "Numpad6": "6"}
    for move, key in enumerate(keys):
        at(page, 0, move)
        page.keyboard.press(key)
    at(page, 0, len(keys))
    assert [row.choice for row in lab.events("choice")] == list(keys.values())
    assert [row.action for row in lab.events("choice")] == [int(one) for one in keys.values()]


# ---------------------------------------------------------------- focus, words, calm


def test_the_focus_stays_on_the_board_and_goes_to_the_heading(page: Page, laboratory: Make) -> None:
    """On the same cell after a move; on the heading when something new begins."""
    lab = laboratory(LAMBDA | {"settings": {"form": "general", "cells": 3, "steps": 3}})
    lab.begin(page)
    at(page, 0, 0)
    own = page.locator("button.cell:has([data-glide=you])")
    number = own.get_attribute("value")
    own.focus()
    page.keyboard.press("Enter")
    at(page, 0, 1)
    expect(page.locator(f"button.cell[value='{number}']")).to_be_focused()
    for move in (1, 2):
        at(page, 0, move)
        page.keyboard.press("Space")
    expect(page.get_by_role("heading", name="Exercise 1 finished")).to_be_focused()


def test_what_is_seen_is_said(page: Page, laboratory: Make) -> None:
    """A status line tells the reward and where everybody is; every cell has a name."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    status = page.get_by_role("status")
    expect(status).to_contain_text("Move 1 of 4. You: cell")
    page.keyboard.press(open_cells(page)[-1])
    at(page, 0, 1)
    expect(status).to_contain_text("Move 2 of 4.")
    reward = page.locator(".reward strong").inner_text()
    assert reward in ("Positive reward", "No reward", "Negative reward")
    expect(status).to_contain_text(f"{reward}. You: cell {lab.choices()[0][2]}")
    you = page.locator("button.cell:has([data-glide=you])")
    assert you.get_attribute("value") == lab.choices()[0][2]
    expect(page.get_by_role("button", name=f"Cell {lab.choices()[0][2]}: you")).to_be_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_motion_can_be_reduced(motion: str, new_page: NewPage, laboratory: Make) -> None:
    """Shapes glide to their new cells, but not for those who asked for calm."""
    lab = laboratory(LAMBDA)
    page = new_page(reduced_motion=motion)
    lab.begin(page)
    at(page, 0, 0)
    own = page.locator(".cell:has([data-glide=you])").inner_text()
    goal = next(cell for cell in open_cells(page) if cell not in own)
    page.evaluate("""() => {
      Element.prototype.animate = function () { document.body.dataset.glided = "yes"; };
    }""")
    page.click(f"button[value='{goal}']")
    at(page, 0, 1)
    assert page.locator("body").get_attribute("data-glided") == (
        None if motion == "reduce" else "yes"
    )


def test_under_the_pointer(page: Page, laboratory: Make) -> None:
    """A double border and more saturation, on hover and on focus alike (P3 §4.2)."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    ready(page)
    style = """e => [getComputedStyle(e, "::after").borderTopStyle,
                     getComputedStyle(e, "::after").borderTopWidth,
                     getComputedStyle(e).backgroundColor]"""
    cell = page.locator("button.cell").first
    away, closed = cell.evaluate(style), page.locator("div.cell").first.evaluate(style)
    assert away[:2] == ["solid", "6px"], "thick"
    assert closed[:2] == ["solid", "1px"], "thin"
    cell.hover()
    hovered = cell.evaluate(style)
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    focused = page.evaluate(f"() => ({style})(document.activeElement)")
    assert hovered == focused
    assert hovered[0] == "double"
    chroma = [float(colour.split()[1]) for colour in (away[2], hovered[2])]
    assert chroma == [0.05, 0.15]


# ---------------------------------------------------------------- languages


def test_a_session_in_spanish(page: Page, laboratory: Make) -> None:
    """Chosen on the first page, it stays; numbers too are written as there."""
    lab = laboratory(LAMBDA | {"exercises": 1})
    page.goto(lab.link())
    with page.expect_navigation():
        page.get_by_role("button", name="Empezar").click()
    assert page.locator("html").get_attribute("lang") == "es"
    expect(page.get_by_role("heading", name="Antes de empezar")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="Before you start")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("button", name="Español").click()
    page.check("input[name=accept]")
    with page.expect_navigation():
        page.get_by_role("button", name="Empezar").click()
    arrive(page)
    for move in range(4):
        at(page, 0, move)
        expect(page.get_by_text(f"Jugada {move + 1} de 4", exact=True)).to_be_visible()
        page.keyboard.press(open_cells(page)[-1])
    page.wait_for_selector("main[data-screen=between]")
    arrive(page)
    assert screen(page) == "done"
    expect(page.get_by_role("row", name="Usted")).to_contain_text(",")
