"""The history checker finds what is seeded, and a disturbed server gives it nothing to find."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

pytest.importorskip("fastapi")
from checker import Exchange, Kept, Stored, faults
from databases import Missing
from history import lived

SECONDS = float(os.environ.get("ALLMINDS_HISTORY_SECONDS", "20"))
MOVES = [(0, 0, "1"), (0, 1, "2"), (0, 2, "3"), (1, 0, "1"), (1, 1, "1")]
REWARDS = [1.0, -1.0, 0.0, 1.0, 1.0]


def history(label: str = "p0") -> list[Exchange]:
    """Two exercises: every choice answered by the next page, one reply lost, one page reloaded."""
    found = [Exchange(label, 0.0, 0.1, "/next", status=200, screen="exercise", shown=(0, 0))]
    for n, (exercise, step, choice) in enumerate(MOVES):
        reward = "" if step == 2 else f"{REWARDS[n]:g}"
        shown = None if step == 2 else (exercise, step + 1)
        screen = "between" if step == 2 else "exercise"
        at, when = (exercise, step), 1.0 + n
        reply = Exchange(
            label, when, when + 0.1, "/choice", at, choice, 200, screen, shown, reward, str(at)
        )
        found.append(reply)
        if step == 2:
            first = Exchange(label, when + 0.2, when + 0.3, "/next", None, "", 200, "exercise")
            found.append(replace(first, shown=(1, 0)))
    lost = found[-1]  # the last choice: its page is only seen after a reload
    found[-1] = replace(lost, status=0, screen="", shown=None, reward="", page="")
    again = Exchange(label, 9.0, 9.1, "/", status=200, screen="exercise", shown=(1, 2))
    return [*found, replace(again, reward="1", page=lost.page)]


def kept(label: str = "p0", **changes) -> Kept:
    choices = [
        Stored(label, *move, number=move[0], reward=reward)
        for move, reward in zip(MOVES, REWARDS, strict=True)
    ]
    return changed(Kept((), (), {label: [0, 1]}, agreed=1, places=1, own=True), choices, **changes)


def changed(one: Kept, choices: list[Stored], **changes) -> Kept:
    """With these choices in the database and in the export."""
    rows = [(c.label, c.exercise, c.step, c.choice) for c in choices]
    return replace(one, **{"choices": choices, "exported": rows} | changes)


def found(exchanges: list[Exchange], there: Kept) -> set[str]:
    """The kinds of what does not fit."""
    return {sentence.partition(": ")[2].partition(":")[0] for sentence in faults(exchanges, there)}


def test_a_history_that_fits_has_no_faults():
    assert faults(history(), kept()) == []


@pytest.mark.parametrize("n", range(len(MOVES)))
def test_a_choice_that_is_missing_is_found(n):
    """Even the last one, whose reply was lost and whose effect was only seen after a reload."""
    choices = [*kept().choices]
    del choices[n]
    assert "lost" in found(history(), changed(kept(), choices))


@pytest.mark.parametrize("n", range(len(MOVES)))
def test_a_choice_that_is_there_twice_is_found(n):
    choices = [*kept().choices]
    choices.insert(n, choices[n])
    assert found(history(), changed(kept(), choices)) == {"doubled"}


@pytest.mark.parametrize("n", range(len(MOVES) - 1))
def test_choices_in_another_order_are_found(n):
    choices = [*kept().choices]
    choices[n], choices[n + 1] = choices[n + 1], choices[n]
    assert "out of order" in found(history(), changed(kept(), choices))


@pytest.mark.parametrize("n", range(len(MOVES)))
def test_an_altered_choice_is_found(n):
    choices = [*kept().choices]
    choices[n] = replace(choices[n], choice="9")
    assert {"altered", "never sent"} <= found(history(), changed(kept(), choices))


def test_a_choice_that_an_old_tab_sent_later_does_not_stand_for_the_first():
    late = Exchange(
        "p0", 20.0, 20.1, "/choice", (0, 1), "9", 200, "exercise", (1, 2), "1", "(1, 1)"
    )
    choices = [*kept().choices]
    choices[1] = replace(choices[1], choice="9")
    assert faults([*history(), late], kept()) == []
    assert found([*history(), late], changed(kept(), choices)) == {"altered"}


def test_of_two_clicks_at_once_either_may_have_been_taken_but_only_one():
    first = history()
    twin = replace(first[2], sent=first[2].sent + 0.01, choice="9")
    choices = [*kept().choices]
    choices[1] = replace(choices[1], choice="9")
    assert faults([*first, twin], kept()) == []
    assert faults([*first, twin], changed(kept(), choices)) == []


def test_a_choice_that_nobody_sent_is_found():
    more = [*kept().choices, Stored("p0", 1, 2, "1"), Stored("p7", 0, 0, "1")]
    assert found(history(), changed(kept(), more)) == {"never sent"}


def test_pages_that_do_not_fit_are_found():
    told = history()
    ahead = Exchange("p0", 30.0, 30.1, "/", status=200, screen="exercise", shown=(1, 4))
    assert "page" in found([*told, ahead], kept())
    back = Exchange("p0", 30.0, 30.1, "/", None, "", 200, "exercise", (0, 1), "1", "(0, 0)")
    assert found([*told, back], kept()) == {"backwards"}
    other = replace(told[-1], sent=30.0, got=30.1, page="another")
    assert found([*told, other], kept()) == {"page"}
    wrong = [replace(one, reward="-1") if one.shown == (0, 1) else one for one in told]
    assert found(wrong, kept()) == {"page"}


def test_an_export_that_differs_is_found():
    rows = list(kept().exported)
    for doctored in (rows[1:], [*rows, rows[0]], [rows[1], rows[0], *rows[2:]]):
        assert faults(history(), replace(kept(), exported=doctored)) == ["p0: the export differs"]


def test_what_stays_of_whoever_withdrew_is_found():
    gone = Exchange("p0", 40.0, 40.1, "/withdraw", status=200, screen="withdrawn")
    assert faults([*history(), gone], replace(kept(), choices=(), exported=())) == []
    assert faults([*history(), gone], kept()) == ["p0: withdrawn, and a choice is there"]


def test_too_many_participants_and_shared_exercises_are_found():
    assert "quota" in faults(history(), replace(kept(), agreed=2))[0]
    both = {"p0": [0, 1], "p1": [1, 2]}
    assert faults(history(), replace(kept(), numbers=both)) == ["shared: exercise 1 by p0, p1"]
    assert faults(history(), replace(kept(), numbers=both, own=False)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_disturbed_server_keeps_its_word(kind):
    """Kills, pauses, clocks, locks and guesses; `benchmarks/history.py` does it for longer."""
    try:
        lives = lived(kind, SECONDS, people=8, seed=3)
    except Missing as missing:
        pytest.skip(f"not tried on PostgreSQL: {missing}")
    assert lives["wrong"] == []
    assert lives["choices in the database"] > 0
