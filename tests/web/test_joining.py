"""Links: who may begin, and who goes on where they were."""

from __future__ import annotations

from datetime import UTC, datetime

from studio import Person, events, rows

from allminds.web.tables import ExerciseRow, SessionRow


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
    thief = Person(server)
    assert thief.join(link, external_id="abc") == "error"
    assert thief.context["reason"] == "taken", "another's id opens nothing"
    assert Person(server).join(link, external_id="def") == "consent"
    assert Person(server).join(link, external_id="ghi") == "closed"


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
