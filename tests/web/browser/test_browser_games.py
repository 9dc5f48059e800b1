"""Two people at two browsers in one game, and one with a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from laboratory import Laboratory, arrive, forward, screen
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from allminds.web.tables import EventRow, ExerciseRow, GameRow

Make = Callable[..., Laboratory]
NewPage = Callable[..., Any]
BOTH: dict[str, Any] = {"opponent": "person", "practice": 0, "check": False}
PENNIES = BOTH | {"instrument": "matching-pennies", "settings": {"steps": 2}, "exercises": 1}
DILEMMA = BOTH | {"instrument": "prisoners-dilemma", "settings": {"steps": 2}, "exercises": 2}
NOUGHTS = BOTH | {"instrument": "noughts-and-crosses", "exercises": 1}
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}


def turn(page: Page, move: int) -> None:
    """Wait until it is this person's turn."""
    main = f"main[data-screen=exercise][data-step='{move}'][data-open]"
    page.wait_for_selector(main, state="attached")


def at_screen(page: Page, name: str) -> None:
    """Wait until a screen comes by itself."""
    page.wait_for_selector(f"main[data-screen={name}]", state="attached")


def scores(lab: Laboratory) -> list[tuple[int, float | None]]:
    """(slot, score) of all exercises."""
    with lab.store.reading() as db:
        rows = db.execute(select(ExerciseRow.slot, ExerciseRow.score).order_by(ExerciseRow.slot))
        return [(slot, score) for slot, score in rows]


def waited(lab: Laboratory) -> None:
    """Let a long time have passed, for whoever waits."""
    with lab.store.writing() as db:
        db.execute(update(GameRow).values(started=GameRow.started - 900_000))
        db.execute(update(EventRow).values(server_ts=EventRow.server_ts - 900_000))


def test_two_people_find_each_other_and_play_to_the_end(
    new_page: NewPage, laboratory: Make
) -> None:
    """One by keys and one by touch on a small screen; pages follow by themselves."""
    lab = laboratory(PENNIES)
    desk, phone = new_page(), new_page(**PHONE)
    lab.begin(desk)
    assert screen(desk) == "room"
    expect(desk.get_by_text("begins by itself")).to_be_visible()
    lab.begin(phone)
    turn(desk, 0)
    expect(desk.get_by_text("the same side", exact=False).first).to_be_visible()
    desk.keyboard.press("1")
    at_screen(desk, "waiting")
    expect(desk.locator("div.coin.mine")).to_have_text("heads")
    expect(desk.get_by_role("status")).to_contain_text("Waiting for the other player.")
    turn(phone, 0)
    expect(phone.locator(".both")).to_have_count(0)
    phone.locator("button.coin").first.tap()
    turn(phone, 1)
    expect(phone.locator(".both")).to_contain_text("heads")
    turn(desk, 1)
    expect(desk.get_by_role("status")).to_contain_text("Positive reward, +1")
    phone.locator("button.coin").last.tap()
    at_screen(phone, "waiting")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 320
    desk.keyboard.press("1")
    at_screen(desk, "between")
    at_screen(phone, "between")
    for page in (desk, phone):
        forward(page)
        assert screen(page) == "done"
    assert scores(lab) == [(0, 0.0), (1, 0.0)]
    assert [row.choice for row in lab.events("choice")] == ["heads", "heads", "tails", "heads"]


def test_nobody_comes_and_a_machine_is_offered(page: Page, laboratory: Make) -> None:
    """The offer appears by itself, and the exercise begins with a program."""
    lab = laboratory(PENNIES)
    lab.begin(page)
    at_screen(page, "room")
    waited(lab)
    machine = page.get_by_role("button", name="Play with a computer program")
    expect(machine).to_be_visible()
    with page.expect_navigation():
        machine.click()
    turn(page, 0)
    page.keyboard.press("2")
    turn(page, 1)
    page.keyboard.press("2")
    at_screen(page, "between")
    assert [slot for slot, _ in scores(lab)] == [0]


def test_a_reload_and_a_restart_in_mid_game_and_then_one_leaves(
    new_page: NewPage, laboratory: Make
) -> None:
    """What was chosen is there; whoever stays is told, and takes the rest with a program."""
    lab = laboratory(DILEMMA)
    stays, leaves = new_page(), new_page()
    lab.begin(stays)
    lab.begin(leaves)
    turn(stays, 0)
    stays.keyboard.press("b")
    at_screen(stays, "waiting")
    lab.close()
    lab.start()
    stays.expected.clear()
    stays.reload()
    at_screen(stays, "waiting")
    expect(stays.locator("tr.mine")).to_contain_text("B")
    turn(leaves, 0)
    leaves.keyboard.press("a")
    turn(leaves, 1)
    turn(stays, 1)
    leaves.get_by_text("Stop", exact=True).click()
    leaves.get_by_label("I want to stop and have my data deleted.").check()
    with leaves.expect_navigation():
        leaves.get_by_role("button", name="Stop and delete my data").click()
    assert screen(leaves) == "withdrawn"
    stays.keyboard.press("a")
    at_screen(stays, "room")
    expect(stays.get_by_role("heading", name="The other player has left")).to_be_focused()
    with stays.expect_navigation():
        stays.get_by_role("button", name="Play with a computer program").click()
    turn(stays, 0)
    expect(stays.get_by_role("heading", name="Exercise 2 of 2")).to_be_visible()
    with lab.store.reading() as db:
        flags = [row.flags for row in db.scalars(select(ExerciseRow).order_by(ExerciseRow.idx))]
    assert flags == [["left"], []]
    stays.expected.clear()  # the restart


def test_noughts_and_crosses_without_javascript(new_page: NewPage, laboratory: Make) -> None:
    """Pages that wait load themselves again; every move is a form."""
    lab = laboratory(NOUGHTS)
    pages = [new_page(java_script_enabled=False) for _ in range(2)]
    for page in pages:
        page.goto(lab.link())
        arrive(page)
    assert [screen(page) for page in pages] == ["room", "waiting"]
    at_screen(pages[0], "exercise")  # by itself
    for move, cell in enumerate((1, 4, 2, 5, 3)):
        page, button = pages[move % 2], pages[move % 2].locator(f"button[value='{cell}']")
        button.wait_for()  # the page that waits loads itself again until it is its turn
        with page.expect_navigation():
            button.click()
    expect(pages[0].get_by_text("You won")).to_be_visible()
    expect(pages[1].get_by_text("The other won")).to_be_visible(timeout=30_000)
    assert scores(lab) == [(0, 1.0), (1, -1.0)]


def test_a_number_pad_on_the_square(page: Page, laboratory: Make) -> None:
    """Against a machine, from a link to the debrief, with the questions on the instructions."""
    lab = laboratory(NOUGHTS | {"opponent": "minimax", "check": True})
    page.goto(lab.link())
    arrive(page)
    turn(page, 0)
    page.keyboard.press("Numpad7")  # up left
    turn(page, 1)
    assert [row.choice for row in lab.events("choice")] == ["1"]
    expect(page.get_by_role("status")).to_contain_text("The other took cell 5.")
    while screen(page) == "exercise":
        step = page.locator("main").get_attribute("data-step")
        page.wait_for_selector("main[data-open]", state="attached")
        page.locator("button.cell").first.click()
        page.wait_for_selector(f"main[data-screen=exercise][data-step='{step}']", state="detached")
    arrive(page)
    expect(page.get_by_role("heading", name="Noughts and crosses")).to_be_visible()
    expect(page.get_by_text("Programs played against minimax.")).to_be_visible()


def test_nothing_of_the_others_choice_is_sent_before_ones_own(
    new_page: NewPage, laboratory: Make
) -> None:
    """Whoever chose first has given nothing away: what is sent is the same whatever it was."""
    seen = []
    for key in ("1", "2"):
        lab = laboratory(PENNIES)
        first, second = new_page(), new_page()
        lab.begin(first)
        lab.begin(second)
        turn(first, 0)
        first.keyboard.press(key)
        at_screen(first, "waiting")
        second.reload()
        turn(second, 0)
        seen.append(second.locator("#choice .coins").inner_html())
        assert second.locator(".mine").count() == 0
    assert seen[0] == seen[1]
