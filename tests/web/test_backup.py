"""What is in the files: after a stop, after a withdrawal, and in a backup."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest
from databases import fresh
from sqlalchemy import func, select
from studio import Person, Server, make, study

from allminds.core.errors import Error
from allminds.web.backup import backup, restore
from allminds.web.store import Store
from allminds.web.tables import EventRow, ParticipantRow

PANEL = "PROLIFIC_PID"


def found(needle: bytes, folder: Path) -> list[str]:
    return [
        path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()
    ]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def choices(where) -> int:
    with contextlib.closing(Store(where)) as store, store.reading() as db:
        return db.scalar(
            select(func.count()).select_from(EventRow).where(EventRow.kind == "choice")
        )


# ---------------------------------------------------------------- stopping


def test_a_server_that_has_only_just_said_that_it_serves_can_be_stopped(tmp_path, clock):
    """The signal comes while garbage is collected, where an exception would be lost."""
    where = tmp_path / "study.db"
    make(str(where), study(), 1, clock)
    command = [sys.executable, "-m", "allminds", "serve", str(where), "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        try:
            assert process.wait(60) == -signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_after_a_stop_the_database_alone_holds_everything(how, tmp_path, clock):
    where = tmp_path / "study.db"
    _, (link,) = make(str(where), study(), 1, clock)
    command = [sys.executable, "-m", "allminds", "serve", str(where), "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().split()[2].rstrip(",")
        server = Server(str(where), clock)
        server.address = address
        somebody = Person(server)
        somebody.join(link)
        somebody.begin()
        for _ in range(3):
            somebody.choose()
        process.send_signal(how)
        process.wait(60)
        assert b"Traceback" not in process.stderr.read()  # type: ignore[union-attr]
    assert process.returncode == {signal.SIGTERM: -15, signal.SIGINT: 130, signal.SIGHUP: 0}[how]
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(where, alone)
    assert choices(alone / "study.db") == 3


# ---------------------------------------------------------------- withdrawing


def panel_study() -> dict[str, object]:
    return {"external_id": PANEL, "participants": 60}


def test_who_withdraws_is_in_no_file_any_more(opened, where, tmp_path):
    """Among many, so that pages are full and rows are moved about."""
    server, _, _ = opened(count=0, **panel_study())
    link = server.store.open_link(server.store.study())
    people = []
    for n in range(40):
        person = Person(server)
        person.join(link, external_id=f"PANEL-{n:04d}-XYZ")
        person.begin()
        person.choose()
        people.append(person)
    if server.store.sqlite:
        assert found(b"PANEL-0007", tmp_path)
    with server.store.reading() as reader:  # a long export holds the log open
        reader.scalar(select(func.count()).select_from(EventRow))
        for person in people[::2]:
            person.post("/withdraw")
    people[1].choose()
    if server.store.sqlite:
        for n in range(40):
            assert bool(found(f"PANEL-{n:04d}".encode(), tmp_path)) == bool(n % 2)
    with server.store.reading() as db:
        ids = set(db.scalars(select(ParticipantRow.external_id)))
    assert ids == {None} | {f"PANEL-{n:04d}-XYZ" for n in range(1, 40, 2)}


def test_the_command_also_removes_what_an_older_version_had_left(where, tmp_path, clock):
    make(where, study(**panel_study()), 3, clock)
    if "://" in where:
        pytest.skip("PostgreSQL keeps its files itself")
    store = Store(where)
    store.close()
    with contextlib.closing(sqlite3.connect(where)) as older:
        older.execute("PRAGMA secure_delete=OFF")
        older.execute("UPDATE participant SET external_id='LEFTOVER-' || id || hex(zeroblob(40))")
        older.commit()
        older.execute("UPDATE participant SET external_id=NULL")
        older.commit()
    assert found(b"LEFTOVER", tmp_path)
    store = Store(where)
    store.forget(store.study(), None, 1)
    assert not found(b"LEFTOVER", tmp_path)
    store.close()


# ---------------------------------------------------------------- backups


def elsewhere(where: str, tmp_path: Path) -> str:
    """An empty database: in PostgreSQL, the same schema after all of it was lost."""
    if "://" not in where:
        return str(tmp_path / "again.db")
    url, _, schema = where.partition("&options=-csearch_path%3D")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
    return fresh(url, schema)


def test_a_backup_under_load_is_one_moment_and_restores(opened, where, tmp_path):
    """Everything acknowledged before it began is in it; every session in it can go on."""
    long = {"instrument": "lambda", "exercises": 40}
    settings = {"form": "general", "cells": 3, "steps": 20}
    server, _, links = opened(count=4, tests=[long | {"settings": settings}])
    people = [Person(server) for _ in links]
    for person, link in zip(people, links, strict=True):
        person.join(link)
        person.begin()
    done, over = [0] * len(people), threading.Event()

    def play(n: int) -> None:
        while not over.is_set():
            people[n].choose() if people[n].screen == "exercise" else people[n].post("/next")
            done[n] += 1

    threads = [threading.Thread(target=play, args=(n,)) for n in range(len(people))]
    for thread in threads:
        thread.start()
    while min(done) < 5:
        over.wait(0.01)
    before = choices(where)
    out = tmp_path / "copy.backup"
    assert backup(where, out) == out.stat().st_size
    after = choices(where)
    over.set()
    for thread in threads:
        thread.join()
    server.stop()
    again = elsewhere(where, tmp_path)
    restore(out, again)
    assert before <= choices(again) <= after
    other = Server(again, server.clock)
    other.start()
    for person in people:
        person.server = other
        person.load()
        assert person.screen in ("exercise", "between")
    other.stop()
    server.start()  # for the fixture


def test_backups_refuse_what_would_overwrite_and_what_is_none(where, tmp_path, clock):
    make(where, study(), 1, clock)
    out = tmp_path / "b"
    backup(where, out)
    with pytest.raises(Error, match="is there already"):
        backup(where, out)
    with pytest.raises(Error, match="there is no backup"):
        restore(tmp_path / "none", where)
    with pytest.raises(Error, match=r"is there already|holds a study already"):
        restore(out, where)
    with pytest.raises(Error, match="can only be restored to"):
        restore(out, str(tmp_path / "x.db") if "://" in where else "postgresql://nowhere/x")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(out.read_bytes()[: out.stat().st_size // 2])
    with pytest.raises(Error):
        restore(damaged, elsewhere(where, tmp_path))
    assert not (tmp_path / "again.db").exists()
    assert not list(tmp_path.glob(".*.tmp"))
