"""Nobody acts for somebody else, floods are stopped, and nothing secret is sent."""

from __future__ import annotations

import base64
import dataclasses
import json
import re

import pytest
from sqlalchemy import select
from studio import CELLS, CLIENT, Person

from allminds.core.seeding import Random
from allminds.episode import Episode
from allminds.registry import make_instrument
from allminds.web import screens
from allminds.web.questions import face
from allminds.web.security import COOKIE, HEADERS, Origins, Rate, form_token, hashed, new_token
from allminds.web.study import DEFAULT_LIMITS
from allminds.web.tables import EventRow, ParticipantRow, SessionRow, StudyRow

SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)  # no matter of the database


def choices(server) -> int:
    with server.store.reading() as db:
        return len(db.scalars(select(EventRow.id).where(EventRow.kind == "choice")).all())


def forged(person: Person, form: dict[str, str], **headers: str) -> int:
    fields = form | {"choice": person.context["choices"][0]}
    return person.send("POST", "/choice", fields, **headers).status_code


# ---------------------------------------------------------------- forged and foreign


def test_a_form_without_the_sessions_token_is_refused(person):
    for token in ("", "0" * 64, form_token(new_token())):
        assert forged(person, person.form | {"token": token}) == 403
    assert forged(person, {k: v for k, v in person.form.items() if k != "token"}) == 403
    assert choices(person.server) == 0


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1"},  # another port of this machine
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
]


def test_a_form_from_another_page_is_refused_and_our_own_is_not(person):
    for headers in FOREIGN:
        assert forged(person, person.form, **headers) == 403
    assert choices(person.server) == 0
    own = {"origin": person.server.address, "sec_fetch_site": "same-origin"}
    assert forged(person, person.form, **own) == 200
    assert choices(person.server) == 1


@SQLITE
def test_a_name_that_somebody_points_at_us_is_not_ours(person):
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "127.0.0.1@evil.example"):
        assert person.send("GET", "/", host=host).status_code in (400, 404)


def test_origins_behind_a_proxy():
    origins = Origins("https://study.example.org/")
    assert origins.knows("study.example.org")
    assert not origins.knows("example.org")
    own = {"host": "study.example.org", "origin": "https://study.example.org"}
    assert not origins.refuses(own)
    assert origins.refuses(own | {"origin": "http://study.example.org"})
    assert origins.refuses(own | {"origin": "https://study.example.org.evil.example"})
    assert not Origins().knows("study.example.org")


@SQLITE
def test_a_joining_form_from_another_page_is_refused(opened):
    server, _, links = opened()
    person = Person(server)
    reply = person.send("POST", "/join", {"invite": links[0]}, sec_fetch_site="cross-site")
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


def test_a_replayed_request_records_nothing(person):
    form = person.form | {"choice": person.context["choices"][0]}
    for _ in range(3):
        assert person.send("POST", "/choice", form).status_code == 200
    assert choices(person.server) == 1
    person.post("/withdraw")
    assert person.send("POST", "/choice", form).json()["screen"] == "withdrawn"
    assert choices(person.server) == 0


# ---------------------------------------------------------------- other people's sessions


def test_guessed_tokens_and_links_open_nothing(opened):
    server, _, links = opened()
    person = Person(server)
    assert person.send("GET", "/").status_code == 403
    for guess in ("x", links[0], hashed(links[0]), new_token(), "%00", "' OR 1=1 --"):
        person.cookie = f"{COOKIE}={guess}"
        assert person.load() == "error"
        assert person.reply.status_code == 403
    person.cookie = ""
    for guess in ("x", links[0][:-1], links[0] + "=", links[0].swapcase(), hashed(links[0])):
        reply = person.send("GET", f"/j/{guess}")
        assert reply.status_code == 404
        assert person.send("POST", "/join", {"invite": guess}).status_code == 404


def test_one_participant_cannot_act_in_the_session_of_another(opened):
    server, _, links = opened(count=2)
    ada, bob = Person(server), Person(server)
    for person, link in zip((ada, bob), links, strict=True):
        person.join(link)
        person.begin()
    stolen = ada.form | {"choice": ada.context["choices"][0]}
    assert bob.send("POST", "/choice", stolen).status_code == 403, "ada's form, bob's cookie"
    with server.store.reading() as db:
        hashes = db.scalars(select(SessionRow.token_hash)).all()
    for digest in hashes:  # what is in the database opens nothing
        thief = Person(server)
        thief.cookie = f"{COOKIE}={digest}"
        assert thief.load() == "error"
    assert choices(server) == 0


def test_the_database_holds_no_secret_as_it_is(opened, where):
    server, token, links = opened()
    person = Person(server)
    person.join(links[0])
    secrets = [token, links[0], person.cookie.partition("=")[2]]
    with server.store.reading() as db:
        kept = [
            str(getattr(row, column.key))
            for table in (StudyRow, ParticipantRow, SessionRow)
            for row in db.scalars(select(table))
            for column in table.__table__.columns
        ]
    for secret in secrets:
        assert len(secret) >= 43, "256 bits"
        assert not any(secret in value for value in kept)
    assert not any("127.0.0.1" in value for value in kept), "no address is kept"


@SQLITE
def test_the_cookie_is_what_it_should_be(opened):
    server, _, links = opened()
    reply = Person(server).send("POST", "/join", {"invite": links[0]})
    assert reply.headers["location"] == "/", "the link's secret leaves the address bar"
    name, *rest = (part.strip() for part in reply.headers["set-cookie"].split(";"))
    assert name.startswith("__Host-")
    wanted = {"httponly", "secure", "samesite=lax", "path=/"}
    assert {part.lower() for part in rest} == wanted


@SQLITE
def test_opening_a_link_starts_nothing(opened):
    server, _, links = opened()
    person = Person(server)
    for _ in range(3):
        assert person.show(person.send("GET", f"/j/{links[0]}")) == "join"
        assert "set-cookie" not in person.reply.headers
    assert person.send("HEAD", f"/j/{links[0]}").status_code == 405
    with server.store.reading() as db:
        assert db.scalars(select(SessionRow)).all() == []


# ---------------------------------------------------------------- headers, bodies, floods


@SQLITE
def test_every_reply_carries_the_headers(person):
    replies = [
        person.send("GET", "/"),
        person.send("GET", "/nothing"),
        person.send("GET", "/static/nothing.js"),
        person.send("GET", "/admin"),
        person.send("POST", "/choice", {}),
        person.send("POST", "/choice", {"x": "y" * 20_000}),
        person.send("GET", "/openapi.json"),
        person.send("GET", "/docs"),
    ]
    assert [reply.status_code for reply in replies] == [200, 404, 404, 401, 422, 413, 404, 404]
    for reply in replies:
        for name, value in HEADERS.items():
            assert reply.headers[name] == value, (reply.url, name)
        assert "server" not in reply.headers
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_no_answer_in_an_odd_encoding_spoils_the_export(opened):
    """Half a character would be kept, and could then be sent to no researcher."""
    given = {"instrument": "lambda-star", "exercises": 1, "settings": {"rows": 5, "cols": 5}}
    server, token, links = opened(tests=[given | {"check": True}])
    person = Person(server)
    person.join(links[0])
    assert person.begin() == "check"
    asked = [one["name"] for one in person.context["questions"]]
    for charset, said in (("unicode_escape", rb"\ud800"), ("utf-7", b"+2AA-"), ("utf-8", b"\0")):
        parts = [(name, value.encode()) for name, value in person.form.items()]
        parts += [(name, said) for name in asked]
        head = "--x\r\nContent-Disposition: form-data; name={}\r\n\r\n"
        body = b"".join(head.format(name).encode() + what + b"\r\n" for name, what in parts)
        kind = f"multipart/form-data; boundary=x; charset={charset}"
        headers = {"content-type": kind, "cookie": person.cookie}
        reply = CLIENT.post(server.address + "/check", content=body + b"--x--", headers=headers)
        assert reply.status_code == 415
    assert person.post("/check", **dict.fromkeys(asked, "\0\ufffe=1+1")) == "check"
    assert person.context["given"] == dict.fromkeys(asked, ""), "what is not on offer is not kept"
    bearer = {"authorization": f"Bearer {token}"}
    for ending in ("csv", "jsonl"):
        assert CLIENT.get(f"{server.address}/admin/export.{ending}", headers=bearer).text
    assert "1+1" not in CLIENT.get(f"{server.address}/admin/export.jsonl", headers=bearer).text


@SQLITE
def test_oversized_and_malformed_bodies_are_refused_without_harm(person):
    kinds = {
        "application/x-www-form-urlencoded": [b"\xff\xfe=%zz&&&==", b"exercise=0&step=one"],
        "multipart/form-data; boundary=x": [b"--x\r\nnonsense", b"--x--", b""],
        "application/json": [b"{", b"[]", b"\x00"],
        "text/plain": [b"hello"],
    }
    for kind, bodies in kinds.items():
        for body in bodies:
            reply = CLIENT.post(
                person.server.address + "/choice", content=body,
                headers={"content-type": kind, "cookie": person.cookie},
            )  # fmt: skip
            assert 400 <= reply.status_code < 500, (kind, body)

    def endless():
        for _ in range(100):
            yield b"choice=" + b"x" * 1000 + b"&"

    reply = CLIENT.post(
        person.server.address + "/choice", content=endless(),
        headers={"content-type": "application/x-www-form-urlencoded", "cookie": person.cookie},
    )  # fmt: skip
    assert reply.status_code == 413, "even one that does not say how long it is"
    assert person.load() == "exercise"
    assert choices(person.server) == 0


def test_a_bucket_fills_again_and_forgets():
    now = [0.0]
    rate = Rate(3, 60, lambda: now[0])
    assert [rate.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert rate.allows("b")
    now[0] += 20
    assert [rate.allows("a") for _ in range(2)] == [True, False]
    assert not rate.allows("a", take=0)
    rate.MOST = 50
    for n in range(500):
        rate.allows(f"key {n}")
        now[0] += 0.01
    assert len(rate._left) <= 51


@SQLITE
def test_too_many_choices_joins_and_failures_are_stopped(opened, clock):
    server, token, links = opened(count=2, limits=DEFAULT_LIMITS)
    person = Person(server)
    person.join(links[0])
    person.begin()
    clock.now += 10_000
    codes = [forged(person, person.form) for _ in range(14)]
    assert codes == [200] * 10 + [429] * 4
    other = Person(server)
    other.join(links[1])
    assert other.begin() == "exercise", "others are not held up"
    clock.now += 1000
    assert forged(person, person.form) == 200, "after a while it goes on"
    clock.now += 60_000
    tries = [other.send("POST", "/join", {"invite": "x"}).status_code for _ in range(22)]
    assert tries == [404] * 20 + [429] * 2
    assert other.send("GET", "/j/wrong").status_code == 429
    assert other.send("GET", f"/j/{links[0]}").status_code == 200, "a right link is not locked out"
    assert other.send("POST", "/join", {"invite": links[0]}).status_code == 303
    for _ in range(5):
        assert other.send("GET", "/admin", authorization="Bearer wrong").status_code == 401
    assert other.send("GET", "/admin", authorization="Bearer wrong").status_code == 429
    assert other.send("GET", "/admin", authorization=f"Bearer {token}").status_code == 200


# ---------------------------------------------------------------- the researcher's pages


@SQLITE
@pytest.mark.parametrize("path", ["/admin", "/admin/export.csv", "/admin/export.jsonl"])
def test_the_researchers_pages_are_closed_without_the_token(opened, path):
    server, token, links = opened()
    person = Person(server)
    person.join(links[0])
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    wrong = base64.b64encode(b"me:wrong").decode()
    for header in ("", "Bearer", "Bearer x", f"Bearer {hashed(token)}", f"Basic {wrong}",
                   "Basic !!", f"Token {token}"):  # fmt: skip
        reply = person.send("GET", path, **({"authorization": header} if header else {}))
        assert reply.status_code == 401, header
        assert reply.headers["www-authenticate"].startswith("Basic")
        assert "p0" not in reply.text
    for header in (f"Bearer {token}", f"Basic {basic}"):
        reply = person.send("GET", path, authorization=header)
        assert reply.status_code == 200
        assert "set-cookie" not in reply.headers
    assert person.send("POST", path, authorization=f"Bearer {token}").status_code == 405


# ---------------------------------------------------------------- what is sent


SECRETS = {
    "lambda": CELLS | {"steps": 6},
    "lambda-star": {"rows": 4, "cols": 4, "iterations": 6},
    "c-test": {"form": "generated", "k": "7..9"},
    "matrices": {},
}
_HEX = re.compile(r"[0-9a-f]{64}|[A-Za-z0-9_-]{43}")  # tokens of forms are random letters


@SQLITE
@pytest.mark.parametrize("name", SECRETS)
def test_no_answer_seed_or_role_is_in_anything_sent(name, opened):
    """The study's seed is a number that nothing else is, and it never leaves the server."""
    seed = 918_273_645_546_372
    tests = [{"instrument": name, "settings": SECRETS[name], "exercises": 2}]
    server, _, links = opened(tests=tests, seed=seed, screens=screens)
    person = Person(server)
    person.join(links[0])
    person.begin()
    sent, moves = [], 0
    while person.screen in ("exercise", "between"):
        sent.append(json.dumps(person.reply.json()))
        sent += [f"{k}: {v}" for k, v in person.reply.headers.items()]
        if person.screen == "between":
            person.post("/next")
            continue
        html = person.reply.json()["html"]
        offered = re.findall(r'name="choice" value="([^"]*)"', html)
        person.post("/choice", choice=offered[moves % len(offered)])
        moves += 1
    assert person.screen == "done"
    for text in sent:
        plain = _HEX.sub("", text).lower()
        assert str(seed) not in plain
        for word in ("good", "evil", "secret", "seed", "pattern", "complexity", "answer\"",
                     "correct", "good_symbol", "right answer"):  # fmt: skip
            assert word not in plain, word


def test_what_is_sent_of_a_question_is_the_same_whatever_its_answer():
    """Two questions that differ in the answer alone look alike: nothing else could tell."""
    tool = make_instrument("c-test", {"form": "generated"})
    exercise = tool.exercise(5, 0)
    shown = []
    for answer in "abq":
        asked = dataclasses.replace(exercise.environment, answer=answer)
        episode = Episode(dataclasses.replace(exercise, environment=asked))
        shown.append(face(tool).view(episode.waiting[0], None, Random(3)))
    assert shown[0] == shown[1] == shown[2]


def test_which_symbol_is_good_does_not_show():
    """Good and Evil exchanged in every respect but their roles: the very same screen."""
    tool = make_instrument("lambda", CELLS)
    exercise = tool.exercise(5, 0)
    first = Episode(exercise)
    turned = dataclasses.replace(
        exercise.environment, good_symbol=1 - exercise.environment.good_symbol
    )
    second = Episode(dataclasses.replace(exercise, environment=turned))
    good, evil = first.state.good, first.state.evil
    second.state = second.state._replace(good=evil, evil=good)
    seen = [e.environment.observe(e.state, 0) for e in (first, second)]
    views = [face(tool).view(one, None, Random(3)) for one in seen]
    assert views[0] == views[1]
