"""Participants who want a higher bonus, another arm or more time get none of it."""

from __future__ import annotations

import json

import pytest
from studio import MINUTE, SHORT, Person, events, rows

from allminds.web.dataset import participants
from allminds.web.tables import ExerciseRow, SessionRow

ARMS = [{"name": "signs"}, {"name": "numbers", "show_numbers": True}]
BONUS = {"currency": "EUR", "base": 3, "per_point": {"lambda": 1}, "most": 9}
QUESTION = {
    "name": "reads", "kind": "choice", "text": {"en": "Say yes", "es": "Diga sí"},
    "when": "before", "right": "yes",
    "options": [{"value": v, "text": {"en": v, "es": v}} for v in ("yes", "no")],
}  # fmt: skip


def joined(server, link) -> Person:
    person = Person(server)
    person.join(link)
    person.begin()
    return person


def arm(server) -> str:
    """The arm of whoever joined last."""
    return json.loads(rows(server, SessionRow)[-1].plan)["arm"]


@pytest.mark.parametrize("order", ["fixed", "latin"])
def test_who_withdraws_and_comes_again_gets_the_same_arm(opened, order):
    server, _, _ = opened(arms=ARMS, order=order, participants=8)
    link = server.store.open_link(server.store.study())
    other, person = joined(server, link), joined(server, link)
    first = arm(server)
    for _ in range(4):
        person.post("/withdraw")
        person = joined(server, link)
        assert arm(server) == first
    other.post("/withdraw")
    joined(server, link)
    joined(server, link)
    running = [row for row in rows(server, SessionRow) if row.status == "running"]
    arms = sorted(json.loads(row.plan)["arm"] for row in running)
    assert len(arms) == 3
    assert len(set(arms)) == 2, "places of a block are filled before the next block begins"


@pytest.mark.parametrize("policy", ["void", "replace"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_leaving_an_exercise_never_pays_in_the_bonus(opened, clock, policy, which):
    """Two make the same choices; one leaves the first exercise before its last move, once."""
    rules = {"policy": policy, "most": 5}
    server, _, links = opened(2, bonus=BONUS, resume=rules, debrief={"results": False})
    bonuses = []
    for link, leaves in zip(links, (False, True), strict=True):
        person = joined(server, link)
        for _ in range(3):
            person.choose(which)
        if leaves:
            clock.now += 40 * MINUTE
            person.load()
        while person.screen != "done":
            person.choose(which) if person.screen == "exercise" else person.post("/next")
        bonuses.append(person.context["bonus"][0])
    left = next(row for row in rows(server, ExerciseRow) if row.flags and row.session_id == 2)
    assert {"void", "replaced"} & set(left.flags)
    assert left.score is None, "it has no result"
    assert bonuses[1] <= bonuses[0]
    with server.store.reading() as db:
        told = list(participants(db, server.store.study()))
    assert [row["bonus"] for row in told] == bonuses, "what was promised is what is exported"
    assert [row["broken_off"] for row in told] == [0, 1]


def test_who_does_not_finish_is_paid_by_the_researcher_not_by_the_rule(opened, clock):
    """Scores may be negative, so that to stop before the next exercise could pay."""
    server, _, links = opened(1, bonus=BONUS)
    person = joined(server, links[0])
    for _ in range(4):
        person.choose()
    clock.now += 30 * 60 * MINUTE
    assert person.load() == "closed"
    assert person.context["reason"] == "abandoned"
    with server.store.reading() as db:
        (row,) = participants(db, server.store.study())
    assert row["status"] == "abandoned"
    assert row["bonus"] is None


def test_no_second_tab_reload_or_old_form_gives_another_try_or_more_time(opened, clock):
    server, _, links = opened(tests=[SHORT | {"choice_seconds": 10}], questions=[QUESTION])
    one = Person(server)
    one.join(links[0])
    one.post("/consent", accept="yes")
    asked = dict(one.form)
    one.post("/answers", reads="no")
    for path, form in (("/answers", asked | {"reads": "yes"}), ("/consent", asked)):
        one.send("POST", path, form)
    one.load()
    one.post("/next")
    two = Person(server)
    two.cookie = one.cookie
    two.load()
    old = dict(one.form)
    two.choose(0)
    one.form = old
    one.choose(1)  # the tab that is behind: nothing is recorded
    clock.now += 6_000
    one.load()
    two.load()
    assert one.context["left"] < 4_100
    clock.now += 6_000
    late = two.send("POST", "/choice", two.form | {"choice": "1", "client_ts": "1", "rt_ms": "1"})
    assert late.json()["screen"] == "between"
    assert len(events(server, "choice")) == 1
    (answer,) = events(server, "answer")
    assert answer.payload == {"answers": {"reads": "no"}}, "an attention check is answered once"
