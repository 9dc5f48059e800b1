"""Floods, large and slow requests, and a database that somebody else has locked."""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import sqlite3
import threading
import time

import httpx
import pytest
from sqlalchemy import func
from sqlalchemy import select as choose
from studio import Person, Server, make, study

from allminds.web import app, serve
from allminds.web.security import COOKIE
from allminds.web.study import DEFAULT_LIMITS
from allminds.web.tables import EventRow

SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)


def line(server: Server) -> socket.socket:
    host, port = server.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), 20)


def ended(one: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while more := one.recv(65_536):
            found += more
    return found


def still_open(lines: list[socket.socket]) -> int:
    """How many the server has not hung up."""
    told = select.select(lines, [], [], 0)[0]
    open_ = len(lines) - len(told)
    for one in told:
        with contextlib.suppress(ConnectionError):
            open_ += one.recv(1, socket.MSG_PEEK) != b""
    return open_


@SQLITE
@pytest.mark.parametrize("pieces", [1, 40])
def test_a_large_head_is_refused(opened, pieces):
    server, _, _ = opened()
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: " + b"x" * 40_000 + b"\r\n\r\n"
    size = len(head) // pieces + 1
    with line(server) as one, contextlib.suppress(ConnectionError):
        for start in range(0, len(head), size):
            one.sendall(head[start : start + size])
            time.sleep(0.001)
        assert ended(one).startswith(b"HTTP/1.1 431")
    assert httpx.get(server.address + "/static/icon.svg").status_code == 200


@SQLITE
def test_a_long_cookie_is_no_session_and_is_not_remembered(opened):
    server, _, _ = opened()
    for n in range(20):
        reply = httpx.get(server.address, headers={"cookie": f"{COOKIE}={n}{'y' * 8000}"})
        assert reply.status_code == 403
    rates = server.app.state.service
    keys = [key for rate in (rates.choices, rates.others) for key in rate._left]
    assert all(len(key) <= 64 for key in keys)


@SQLITE
def test_half_and_slow_requests_are_ended(opened, monkeypatch):
    monkeypatch.setattr(serve, "RECEIVE", 0.3)
    server, _, links = opened()
    form = b"Content-Type: application/x-www-form-urlencoded\r\n"
    post = b"POST /join HTTP/1.1\r\nHost: 127.0.0.1\r\n" + form + b"Content-Length: 9\r\n\r\nab"
    halves = [b"", b"GET / HT", post]
    for half in halves:
        with line(server) as one:
            one.sendall(half)
            assert ended(one) == b""
    person = Person(server)
    assert person.join(links[0]) == "consent"


@SQLITE
def test_too_many_connections_close_the_oldest_of_whoever_has_most(opened, monkeypatch):
    monkeypatch.setattr(serve.Connection, "most", 20)
    server, _, links = opened()
    person = Person(server)
    person.join(links[0])
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(line(server)) for _ in range(60)]
        assert person.begin() == "exercise", "a new connection is still taken"
        for _ in range(600):  # the ends of the others arrive
            if still_open(lines) <= 21:
                break
            time.sleep(0.1)
        assert still_open(lines) <= 21


@SQLITE
def test_one_address_without_a_session_is_limited_and_people_are_not(opened):
    limits = DEFAULT_LIMITS.model_copy(update={"requests_per_second": 5})
    server, _, links = opened(limits=limits)
    person = Person(server)
    person.join(links[0])
    codes = [httpx.get(server.address + "/j/x").status_code for _ in range(12)]
    assert codes.count(429) >= 7
    assert person.begin() == "exercise"
    assert httpx.get(server.address + "/static/icon.svg").status_code == 200


def test_loading_a_page_again_and_again_fills_no_database(opened):
    server, _, links = opened()
    person = Person(server)
    person.join(links[0])
    person.begin()
    for _ in range(60):
        person.load()
    with server.store.reading() as db:
        assert db.scalar(choose(func.count()).select_from(EventRow)) < 60
    assert person.choose() == "exercise"


def test_the_end_is_worked_out_once(opened, monkeypatch):
    from allminds.web.replays import Replays

    server, _, links = opened()
    person = Person(server)
    person.join(links[0])
    person.begin()
    assert person.finish() == "done"
    calls = []
    record = Replays.record
    monkeypatch.setattr(Replays, "record", lambda *given: calls.append(1) or record(*given))
    assert [person.load() for _ in range(3)] == ["done"] * 3
    assert calls == []


# ---------------------------------------------------------------- locks


@SQLITE
def test_a_foreign_lock_holds_up_only_whoever_needs_the_database(where, clock, monkeypatch):
    monkeypatch.setattr(app, "PATIENCE", 120.0)
    _, (link,) = make(where, study(), 1, clock)
    server = Server(where, clock)
    server.wait = 0.005
    server.start()
    person = Person(server)
    person.join(link)
    person.begin()
    done: list[str] = []
    with contextlib.closing(sqlite3.connect(where, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=lambda: done.append(person.choose()))
        waiting.start()
        for _ in range(5):
            assert httpx.get(server.address + "/static/icon.svg", timeout=60).status_code == 200
            assert done == []
        other.execute("ROLLBACK")
    waiting.join()
    assert done == ["exercise"]
    assert person.form["step"] == "1"
    server.stop()


def test_what_fails_is_logged_without_what_was_sent(opened, monkeypatch, caplog):
    server, _, links = opened()

    def breaks(*_given):
        raise ValueError("PANEL-ID of p0")

    monkeypatch.setattr(server.app.state.service.sessions, "look", breaks)
    with caplog.at_level(logging.WARNING):
        assert httpx.get(f"{server.address}/j/{links[0]}").status_code == 500
    said = "\n".join(record.getMessage() + str(record.exc_info) for record in caplog.records)
    assert "ValueError at test_floods.py" in said
    assert "PANEL" not in said
    assert links[0] not in said
