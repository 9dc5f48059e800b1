"""What is sent twice counts once, what is lost is sent again, and a reload is harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from laboratory import LAMBDA, Laboratory, arrive, at, forward, open_cells, ready, screen, step
from playwright.sync_api import Page, expect

Make = Callable[..., Laboratory]


def board(page: Page) -> str:
    """The exercise as it is drawn: cells, shapes, colours, reward."""
    drawn: str = page.locator("#choice").inner_html()
    return drawn + page.locator(".reward").inner_html()


# ---------------------------------------------------------------- reload, restart, back


def test_a_reload_in_mid_exercise_lands_on_the_same_screen(page: Page, laboratory: Make) -> None:
    """The same cells, shapes and colours, the same reward, and the move goes on from there."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.keyboard.press(open_cells(page)[-1])
    at(page, 0, 1)
    before = board(page)
    page.reload()
    at(page, 0, 1)
    assert board(page) == before
    page.keyboard.press(open_cells(page)[0])
    at(page, 0, 2)
    assert [row[:2] for row in lab.choices()] == [(0, 0), (0, 1)]


def test_a_restart_of_the_server_in_mid_exercise(page: Page, laboratory: Make) -> None:
    """A choice made while the server is down is kept, and sent when it is back."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.keyboard.press(open_cells(page)[-1])
    at(page, 0, 1)
    before, choice = board(page), open_cells(page)[0]
    lab.close()
    page.keyboard.press(choice)
    expect(page.get_by_text("The connection was lost")).to_be_visible()
    assert board(page).replace(" chosen", "") == before, "it waits where it was"
    lab.start()
    at(page, 0, 2)
    expect(page.get_by_text("The connection was lost")).to_be_hidden()
    assert lab.choices()[1:] == [(0, 1, choice)]
    assert page.expected.pop().endswith("ERR_CONNECTION_REFUSED")
    page.expected.clear()


def test_back_and_out_of_the_browsers_memory(page: Page, laboratory: Make) -> None:
    """The back button shows where the session is, not where it was."""
    lab = laboratory(LAMBDA)
    page.goto(lab.link())
    arrive(page)
    at(page, 0, 0)
    page.go_back()
    arrive(page)
    at(page, 0, 0)
    with page.expect_navigation():  # as a browser does with a page that it had put aside
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    at(page, 0, 0)


def test_another_device_goes_on(new_page: Callable[..., Any], laboratory: Make) -> None:
    """The same link opens the same session, with the same shapes."""
    lab = laboratory(LAMBDA)
    desk, phone, link = new_page(), new_page(viewport={"width": 390, "height": 800}), lab.link()
    desk.goto(link)
    arrive(desk)
    at(desk, 0, 0)
    desk.keyboard.press(open_cells(desk)[-1])
    at(desk, 0, 1)
    phone.goto(link)
    expect(phone.get_by_text("Welcome back")).to_be_visible()
    arrive(phone)
    at(phone, 0, 1)
    shapes = "all => all.map(e => e.dataset.glide)"
    assert phone.eval_on_selector_all("[data-glide]", shapes) == desk.eval_on_selector_all(
        "[data-glide]", shapes
    )


# ---------------------------------------------------------------- once, whatever is sent


def test_offline_keeps_the_choice_and_sends_it_once(page: Page, laboratory: Make) -> None:
    """A banner, tries again and again, and a button for those who cannot wait."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    first, *_, last = open_cells(page)
    page.context.set_offline(True)
    page.keyboard.press(last)
    expect(page.get_by_text("The connection was lost")).to_be_visible()
    page.get_by_role("button", name="Try now").click()
    page.keyboard.press(first)  # it is too late for another
    expect(page.get_by_text("The connection was lost")).to_be_visible()
    page.context.set_offline(False)
    at(page, 0, 1)
    assert lab.choices() == [(0, 0, last)]
    assert page.expected, "the browser complains of every try"
    assert all("ERR_INTERNET_DISCONNECTED" in text for text in page.expected)
    page.expected.clear()


def test_a_lost_reply_counts_once(page: Page, laboratory: Make) -> None:
    """The server has it, the browser does not know: it asks again, and is told where it is."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    tries = []

    def lose(route: Any) -> None:
        route.fetch()  # the server hears it
        tries.append(route.request.post_data)
        if len(tries) < 3:
            route.abort()
        else:
            route.continue_()

    page.route("**/choice", lose)
    choice = open_cells(page)[-1]
    page.click(f"button[value='{choice}']")
    at(page, 0, 1)
    assert len(set(tries)) == 1, "the same choice with the same time, each try"
    assert lab.choices() == [(0, 0, choice)]
    page.expected.clear()


def test_a_double_click_counts_once(page: Page, laboratory: Make) -> None:
    """For a quarter of a second after each paint no choice is taken."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.dblclick(f"button[value='{open_cells(page)[-1]}']")
    at(page, 0, 1)
    assert [row[:2] for row in lab.choices()] == [(0, 0)]
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.keyboard.press(open_cells(page)[0])  # before it is open
    ready(page)
    assert step(page) == ("0", "1")
    assert len(lab.choices()) == 1


def test_a_key_that_is_held_counts_once(page: Page, laboratory: Make) -> None:
    """Keys repeat while they are held; choices do not."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.locator("button.cell:has([data-glide=you])").focus()
    page.keyboard.down("Enter")
    at(page, 0, 1)
    page.keyboard.down("Enter")  # as a browser repeats it
    page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.press("Shift")
    page.wait_for_timeout(200)
    assert len(lab.choices()) == 1


def test_a_stale_second_tab_counts_once(page: Page, laboratory: Make) -> None:
    """What is chosen on an old screen is not taken: the present one is shown."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    tab = page.context.new_page()
    tab.goto(lab.url)
    at(tab, 0, 0)
    choice = open_cells(page)[-1]
    page.click(f"button[value='{choice}']")
    at(page, 0, 1)
    tab.click(f"button[value='{open_cells(tab)[0]}']")
    at(tab, 0, 1)
    assert lab.choices() == [(0, 0, choice)]
    assert board(tab) == board(page)


def test_a_server_in_trouble_is_asked_again(page: Page, laboratory: Make) -> None:
    """An answer of 500 or 429 is no answer."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    left = [503, 429]
    page.route(
        "**/choice", lambda route: route.fulfill(status=left.pop()) if left else route.continue_()
    )
    page.keyboard.press(open_cells(page)[-1])
    at(page, 0, 1)
    assert (left, len(lab.choices())) == ([], 1)
    page.expected.clear()


# ---------------------------------------------------------------- without JavaScript


def test_without_javascript(new_page: Callable[..., Any], laboratory: Make) -> None:
    """Every screen is a page with forms: a whole session of two instruments."""
    question = {"instrument": "c-test", "settings": {"form": "generated"}, "exercises": 1}
    lab = laboratory(LAMBDA | {"exercises": 1}, question | {"feedback": True})
    page = new_page(java_script_enabled=False)
    page.goto(lab.link())
    while screen(page) != "done":
        if screen(page) != "exercise":
            forward(page)
            continue
        expect(page.get_by_text("Keyboard shortcuts")).to_be_hidden()
        if page.locator("button.cell").count():
            page.locator("button.cell").last.click()
        else:
            page.get_by_role("radio", name="m", exact=True).check()
            page.get_by_role("button", name="Confirm").click()
    rows = lab.events("choice")
    assert [row.exercise_idx for row in rows] == [0, 0, 0, 0, 1, 2]
    assert {row.rt_ms for row in rows} == {None}, "nobody measured"
    assert lab.session().status == "finished"


# ---------------------------------------------------------------- what is measured


def test_times_are_those_of_the_input_itself(page: Page, laboratory: Make) -> None:
    """From the paint to the key that made the choice, not to an earlier one."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.keyboard.press("Shift")
    page.wait_for_timeout(700)
    page.keyboard.press(open_cells(page)[0])
    at(page, 0, 1)
    (row,) = lab.events("choice")
    assert row.rt_ms >= 700
    assert row.client_ts == row.client_ts > 1.7e12, "by the person's own clock"


def test_leaving_the_page_is_noted(page: Page, laboratory: Make) -> None:
    """Focus, blur and paste, as the consent says."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    with page.expect_response("**/note"):
        page.evaluate("window.dispatchEvent(new Event('blur'))")
    with page.expect_response("**/note"):
        page.evaluate("document.dispatchEvent(new ClipboardEvent('paste'))")
    assert [row.payload["what"] for row in lab.events("note")][-2:] == ["blur", "paste"]


def test_stop_and_delete_my_data(page: Page, laboratory: Make) -> None:
    """From any screen, with a tick so that nobody does it by accident."""
    lab = laboratory(LAMBDA)
    lab.begin(page)
    at(page, 0, 0)
    page.click(f"button[value='{open_cells(page)[-1]}']")
    at(page, 0, 1)
    page.get_by_text("Stop", exact=True).click()
    page.get_by_label("I want to stop").check()
    page.get_by_role("button", name="Stop and delete my data").click()
    expect(page.get_by_role("heading", name="You have stopped")).to_be_visible()
    assert lab.choices() == []
    assert lab.people()[0].withdrawn_at is not None
