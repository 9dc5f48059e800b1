"""Links: who may begin, and who goes on where they were."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from studio import Person, events, rows

from allminds.web.security import signature
from allminds.web.tables import ExerciseRow, ParticipantRow, SessionRow


def test_the_same_link_on_another_device_is_the_same_session(opened):
    server, _, links = opened()
    first, second = Person(server), Person(server)
    first.join(links[0])
    first.begin()
    first.choose()
    reply = second.send("POST", "/join", {"invite": links[0]})
    second.cookie = reply.headers["set-cookie"].partition(";")[0]
    first.choose()
    assert first.form["step"] == "2", "the old device goes on until the new one is used"
    assert second.load() == "exercise"
    assert second.form["step"] == "2"
    assert first.load() == "error"
    assert first.context["reason"] == "no-session"
    assert second.finish() == "done"
    assert len(rows(server, SessionRow)) == 1


def test_the_same_link_in_the_same_browser_keeps_its_cookie(opened):
    server, _, links = opened(count=2)
    person = Person(server)
    person.join(links[0])
    person.begin()
    before = person.cookie
    assert person.join(links[0]) == "exercise"
    assert person.cookie == before
    assert person.join(links[1]) == "consent", "another's link is another's session"
    assert person.cookie != before


def test_joining_twice_at_once_leaves_both_cookies_good(opened):
    server, _, links = opened()
    first, second = Person(server), Person(server)
    replies = [p.send("POST", "/join", {"invite": links[0]}) for p in (first, second)]
    first.cookie, second.cookie = (r.headers["set-cookie"].partition(";")[0] for r in replies)
    assert first.load() == "consent"
    assert second.load() == "consent"


def test_a_study_that_is_not_open_is_closed_or_full(opened, clock):
    opens = datetime.fromtimestamp(clock.now / 1000 + 60, UTC)
    closes = datetime.fromtimestamp(clock.now / 1000 + 7200, UTC)
    server, _, links = opened(count=2, participants=2, opens=opens, closes=closes)
    open_link = server.store.open_link(server.store.study())
    person = Person(server)
    assert person.join(links[0]) == "closed"
    assert person.context["reason"] == "not-open"
    clock.now += 61_000
    assert person.join(links[0]) == "consent"
    assert Person(server).join(open_link) == "closed", "all places are taken"
    person.begin()
    person.choose()
    clock.now += 7_200_000 - 60_000
    assert person.choose() == "closed"
    assert len(events(server, "choice")) == 1
    assert rows(server, SessionRow)[0].status == "abandoned"
    assert rows(server, ExerciseRow)[0].flags == ["closed"]
    late = Person(server)
    assert late.join(links[1]) == "closed"
    assert late.context["reason"] == "closed"


def test_one_link_for_everybody(opened):
    server, _, _ = opened(count=0, external_id="PROLIFIC_PID", participants=2)
    link = server.store.open_link(server.store.study())
    person = Person(server)
    person.show(person.send("GET", f"/j/{link}?PROLIFIC_PID=abc&language=es"))
    assert person.form["external_id"] == "abc"
    assert person.context["language"] == "es"
    assert person.join(link, external_id="abc") == "consent"
    cookie = person.cookie
    assert person.join(link, external_id="abc") == "consent"
    assert person.cookie == cookie, "the same browser goes on"
    person.begin()
    thief = Person(server)
    assert thief.join(link, external_id="abc") == "error"
    assert thief.context["reason"] == "taken", "another's id opens nothing"
    other, third = Person(server), Person(server)
    assert other.join(link, external_id="def") == "consent"
    assert third.join(link, external_id="ghi") == "consent", "a link that was opened takes no place"
    assert other.begin() == "exercise"
    assert third.post("/consent", accept="yes") == "closed"
    assert third.context["reason"] == "full"
    assert Person(server).join(link, external_id="jkl") == "closed"


def test_made_up_ids_do_not_close_a_study(opened, clock):
    """Who withdrew, stayed away or never agreed gives the place to others."""
    server, _, _ = opened(count=0, external_id="PID", participants=3)
    link = server.store.open_link(server.store.study())
    for n in range(10):
        assert Person(server).join(link, external_id=f"made-up-{n}") == "consent"
    people = [Person(server) for _ in range(3)]
    for n, person in enumerate(people):
        assert person.join(link, external_id=f"made-up-{n}") == "consent", "not theirs yet"
        assert person.begin() == "exercise"
    assert Person(server).join(link, external_id="late") == "closed"
    people[0].post("/withdraw")
    assert Person(server).join(link, external_id="made-up-0") == "consent", "it was forgotten"
    assert Person(server).join(link, external_id="a") == "consent"
    clock.now += 25 * 3_600_000
    assert [Person(server).join(link, external_id=f"b{n}") for n in range(3)] == ["consent"] * 3
    labels = {row.external_id for row in rows(server, ParticipantRow)}
    assert labels == {None, "made-up-1", "made-up-2", "b0", "b1", "b2"}, "the rest are forgotten"


def test_an_invited_person_keeps_the_place(opened):
    server, _, links = opened(count=1, participants=2)
    link = server.store.open_link(server.store.study())
    first, second, invited = Person(server), Person(server), Person(server)
    first.join(link)
    first.begin()
    assert second.join(link) == "closed"
    assert invited.join(links[0]) == "consent"
    assert invited.begin() == "exercise"


def test_whoever_takes_a_place_that_got_free_has_exercises_of_their_own(opened):
    """Opened links have numbers too, and more of them than there are places."""
    server, _, links = opened(count=2, participants=4, assignment="own")
    link = server.store.open_link(server.store.study())
    people = [Person(server) for _ in range(9)]
    for person, secret in zip(people, [*links, *[link] * 7], strict=True):
        assert person.join(secret) == "consent"
    for person in (people[0], people[1], people[8], people[4]):
        assert person.begin() == "exercise"
    assert people[5].post("/consent", accept="yes") == "closed"
    people[1].post("/withdraw")
    assert people[5].join(link) == "consent"
    assert people[5].begin() == "exercise"
    numbers = [row.number for row in rows(server, ExerciseRow)]
    assert len(numbers) == len(set(numbers)) == 4


def test_signed_ids_cannot_be_made_up(opened):
    server, _, _ = opened(count=0, external_id="PID", external_signed=True)
    study = server.store.study()
    link, made = server.store.open_link(study), signature(study.panel_key, "abc")
    person = Person(server)
    person.show(person.send("GET", f"/j/{link}?PID=abc&signature={made}"))
    assert person.form["signature"] == made
    for given in ({}, {"external_id": "abc"}, {"external_id": "abd", "signature": made},
                  {"external_id": "abc", "signature": "é" * 9}):  # fmt: skip
        assert person.join(link, **given) == "error", given
    assert person.join(link, external_id="abc", signature=made) == "consent"


@pytest.mark.parametrize("wrong", ["a\x00b", "a\nb", "\x1b[2J"])
def test_ids_that_no_panel_has_are_refused(opened, wrong):
    server, _, _ = opened(count=0, external_id="PID")
    link = server.store.open_link(server.store.study())
    person = Person(server)
    assert person.join(link, external_id=wrong) == "error"
    assert person.reply.status_code == 422


def test_two_joins_with_one_id_are_one_participant(opened):
    """At once, and from two browsers: the second finds it taken, or takes over what is unused."""
    server, _, _ = opened(count=0, external_id="PID")
    link = server.store.open_link(server.store.study())
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: Person(server).join(link, external_id="x"), range(16)))
    assert set(codes) <= {"consent", "error"}
    assert len(rows(server, ParticipantRow)) == 1


def test_the_language_can_be_chosen_until_consent_is_given(opened):
    server, _, links = opened()
    person = Person(server)
    reply = person.send("POST", "/language", {"language": "es", "invite": links[0]})
    assert reply.status_code == 303
    assert reply.headers["location"].startswith(f"/j/{links[0]}?language=es")
    person.join(links[0])
    assert person.context["language"] == "en"
    person.post("/language", language="es")
    assert person.context["text"] == "¿Acepta?"
    person.post("/language", language="xx")
    assert person.context["language"] == "es"
    person.begin()
    person.post("/language", language="en")
    assert person.context["language"] == "es"
