"""Servers of their own for the crowd: a database, a study in it, and `allminds serve` beside it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

from crowd import Diary, Move
from databases import Missing, _somebody, programs
from sqlalchemy import select

from allminds.core.settings import checked
from allminds.web.export import export_folder
from allminds.web.simulate import roomy
from allminds.web.store import Store
from allminds.web.study import Study
from allminds.web.tables import EventRow, ParticipantRow, SessionRow

START = 90.0  # seconds that a server may take to start, on a busy machine
EXERCISES, STEPS = 60, 15  # short exercises, and more of them than anybody gets to


# ---------------------------------------------------------------- the study


def study(people: int, **changes: Any) -> Study:
    """Exercises between three cells, without practice, and without limits of speed."""
    test = {
        "instrument": "lambda", "settings": {"form": "general", "cells": 3, "steps": STEPS},
        "exercises": EXERCISES, "practice": 0, "check": False,
    }  # fmt: skip
    values = {
        "slug": "load", "title": {"en": "Load"}, "languages": ["en"], "participants": people,
        "retention": "2100-01-01", "consent": {"version": "1", "text": {"en": "Agree?"}},
        "tests": [test], "seed": 1,
    }  # fmt: skip
    return roomy(checked(Study, values | changes, "the study"), people)


def invited(where: str, people: int, made: Study | None = None) -> list[tuple[str, str]]:
    """A new database with a study; everybody's label and the secret of the link."""
    store = Store(where, create=True)
    store.add_study(made or study(people), "load", 1)
    found = store.invite(store.study(), [f"p{n}" for n in range(people)], 1)
    store.close()
    return found


# ---------------------------------------------------------------- the web server


SHIFTED = """
import sys
from pathlib import Path
from allminds.web.app import now_in_ms
from allminds.web.serve import serve
where, port, ahead = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
serve(where, port=port, clock=lambda: now_in_ms() + int(ahead.read_text()))
"""  # a server whose clock is so many milliseconds ahead as a file says


class Server:
    """`allminds serve` in a process of its own, which can be killed and started again.

    With `ahead`, a file, its clock is as many milliseconds ahead as that file says. What it logs is
    added to the file `log`, if there is one.
    """

    def __init__(self, where: str, ahead: Path | None = None, log: Path | None = None) -> None:
        self.where, self.ahead, self.log = where, ahead, log
        self.process: subprocess.Popen[bytes] | None = None
        self.seconds = 0.0  # of processor time, of those that have ended
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    def start(self) -> None:
        """Start it, and wait until it says that it serves."""
        command = [sys.executable, "-m", "allminds", "serve", self.where, "--port", str(self.port)]
        if self.ahead is not None:
            command = [sys.executable, "-uc", SHIFTED, self.where, str(self.port), str(self.ahead)]
        with open(self.log or os.devnull, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout is not None
        if not self.process.stdout.readline().startswith(b"serving"):
            raise RuntimeError(f"allminds serve did not start: exit code {self.process.wait()}")
        until = time.monotonic() + START
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.02)
        raise RuntimeError("allminds serve does not answer")

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        assert self.process is not None
        return self.process.pid

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it; SIGKILL leaves it no time to do anything."""
        if self.process is None:
            return
        self.seconds += cpu_seconds(self.pid)
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None


@contextlib.contextmanager
def serving(
    where: str, number: int, ahead: Path | None = None, log: Path | None = None
) -> Iterator[list[Server]]:
    """Some servers on one database."""
    servers = [Server(where, ahead, log) for _ in range(number)]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.kill(signal.SIGTERM)


def cpu_seconds(pid: int) -> float:
    """The processor time of a process, where the system says."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------- the database


class Postgres:
    """A throwaway PostgreSQL that syncs to disk as one in earnest does, and can be killed."""

    def __init__(self) -> None:
        self.bin, self.user = programs(), _somebody()
        self.folder = Path(tempfile.mkdtemp(prefix="am-pg-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        self.url = f"postgresql://tester@/postgres?host={self.folder}"
        self.process: subprocess.Popen[bytes] | None = None
        done = self._begun("initdb", "-U", "tester", "--auth=trust", "-E", "UTF8")
        if done.wait(120):
            raise Missing(f"initdb: {(self.folder / 'said').read_text()[-300:]}")

    def _begun(self, program: str, *words: str) -> subprocess.Popen[bytes]:
        command = [str(self.bin / program), "-D", str(self.folder / "data"), *words]
        with open(self.folder / "said", "wb") as said:
            return subprocess.Popen(
                command, stdout=said, stderr=said, user=self.user, cwd=self.folder
            )

    def start(self) -> None:
        """Start it and wait for it; after a kill it recovers from its log first."""
        import psycopg

        options = f"listen_addresses= unix_socket_directories={self.folder}".split()
        words = [word for option in options for word in ("-c", option)]
        self.process = self._begun("postgres", *words)
        until = time.monotonic() + START
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            time.sleep(0.1)
        raise Missing(f"postgres: {(self.folder / 'said').read_text()[-300:]}")

    def kill(self) -> None:
        """SIGKILL the postmaster and all its children at once, as if the machine had gone."""
        if self.process is None:
            return
        group = [self.process.pid, *_children(self.process.pid)]
        for one in group:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.process.wait()
        while not all(_dead(one) for one in group):
            time.sleep(0.02)
        self.process = None

    def close(self) -> None:
        """End it and remove all of it."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found


def _dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@contextlib.contextmanager
def database(kind: str) -> Iterator[tuple[str, Postgres | None]]:
    """A new database of a kind, and what runs it."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="am-load-") as folder:
            yield f"{folder}/study.db", None
        return
    server = Postgres()
    try:
        server.start()
        yield server.url, server
    finally:
        server.close()


# ---------------------------------------------------------------- what is there in the end


def choices_in(where: str) -> list[Move]:
    """Every choice that a database holds."""
    query = (
        select(ParticipantRow.label, EventRow.exercise_idx, EventRow.step, EventRow.choice)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .join(EventRow, EventRow.session_id == SessionRow.id)
        .where(EventRow.kind == "choice")
    )
    store = Store(where)
    with store.reading() as db:
        found = [(label, idx, step, choice) for label, idx, step, choice in db.execute(query)]
    store.close()
    return found


def wrong_in(diary: Diary, there: Sequence[Move]) -> dict[str, int]:
    """What was lost, doubled, or is there though nobody sent it; all should be 0."""
    counted = Counter(move[:3] for move in there)
    return {
        "lost": len(set(diary.acknowledged) - set(there)),
        "doubled": sum(count - 1 for count in counted.values())
        + len(diary.acknowledged) - len({move[:3] for move in diary.acknowledged}),
        "never sent": len(set(there) - diary.sent),
    }  # fmt: skip


def exported(where: str) -> int:
    """How many choices an export has, which plays every session again."""
    store = Store(where)
    with tempfile.TemporaryDirectory() as folder:
        made = export_folder(store, store.study(), Path(folder) / "people")
    store.close()
    return int(made["choices"])
