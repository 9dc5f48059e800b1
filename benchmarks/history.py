"""Disturb a study in every way at once, and check the whole history against what is stored.

    python benchmarks/history.py [--minutes 5] [--people 16] [--seed 1] [--database sqlite]

Two servers on one database. Participants choose, click twice, send old forms again, load pages
anew, change devices and withdraw, while newcomers try an open link for places that get free.
Meanwhile a seed chooses what happens: a server is killed (SIGKILL), stopped (SIGTERM) or paused
(SIGSTOP); its clock jumps 25 hours ahead or back for some seconds; another program locks the
database; somebody guesses tokens and links from a participant's address; PostgreSQL is killed.

Every request and reply is kept, and `checker.py` compares them with the database and an export.
At the end everybody must be able to go on. The exit code is 1 if anything does not fit.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from checker import Kept, Stored, faults
from crowd import Connection, Diary, Lost, Participant
from hosting import Postgres, Server, database, serving, study
from load import DATABASES, shown
from sqlalchemy import select

from allminds.web.export import export_folder
from allminds.web.security import hashed
from allminds.web.store import Store
from allminds.web.tables import EventRow, ExerciseRow, ParticipantRow, SessionRow

DAY = 25 * 3_600_000  # milliseconds that a clock jumps
GUESSES = 30
PEACE = 8.0  # seconds at the end, and more if somebody has not gone on by then
NEWCOMERS = 0.4  # share of the time in which newcomers come; no clock jumps until then


class Restless(Participant):
    """A participant who also does what people do to a page when they are impatient."""

    over = ("done", "withdrawn")

    def __init__(self, *given: Any, own: bool = True, **more: Any) -> None:
        super().__init__(*given, **more)
        self.own = own  # a link of one's own, which can be opened on another device
        self.until = float("inf")  # when whoever has no session stops trying

    async def _join(self) -> None:
        if time.monotonic() > self.until:
            self.screen = "done"  # there was no place
            raise Lost("no place was free")
        await super()._join()

    async def _to_exercise(self) -> None:
        await super()._to_exercise()
        if self.screen == "closed":
            raise Lost("closed")  # by a clock that is wrong

    async def _choose(self) -> None:
        chance, form, choices = self.rng.random(), dict(self.form), list(self.choices)
        again = form | {"choice": self.rng.choice(choices), "rt_ms": "1", "input": "mouse"}
        if chance < 0.1:  # a second click, over another connection
            other = Connection(self.connection.source)
            twice = asyncio.create_task(self._ignored(other, again))
            await super()._choose()
            await twice
            other.close()
            return
        await super()._choose()
        if chance < 0.2:  # an old tab
            await self._ignored(self.connection, again)
        elif chance < 0.3:
            await self._asked("GET", "/", {})
        elif chance < 0.33 and self.own:  # another device
            await self._join()
            await self._asked("GET", "/", {})
        elif chance < 0.331:
            await self._asked("POST", "/withdraw", self.form)

    async def _ignored(self, connection: Connection, fields: dict[str, str]) -> None:
        with contextlib.suppress(Lost):
            await self._exchanged(connection, "POST", "/choice", fields)


# ---------------------------------------------------------------- what happens to the servers


class Trouble:
    """Everything that a seed can do to two servers and their database."""

    def __init__(
        self, servers: list[Server], postgres: Postgres | None, ahead: Path, rng: Random, token: str
    ) -> None:
        self.servers, self.postgres, self.ahead, self.rng = servers, postgres, ahead, rng
        self.token = token  # the researcher's
        self.done: Counter[str] = Counter()
        self.refused = 0  # times that the right token was not taken

    async def strike(self, clocks: bool) -> None:
        """Do one thing, and undo it."""
        kinds: dict[str, Callable[[], Any]] = {
            "SIGKILL": lambda: self._end(signal.SIGKILL),
            "SIGTERM": lambda: self._end(signal.SIGTERM),
            "SIGSTOP": self._pause,
            "lock": self._lock,
            "guesses": self._guess,
        }
        if clocks:
            kinds |= {
                "clock ahead": lambda: self._jump(DAY),
                "clock back": lambda: self._jump(-DAY),
            }
        if self.postgres is not None:
            kinds["SIGKILL of the database"] = self._crash
        name = self.rng.choice(list(kinds))
        await kinds[name]()
        self.done[name] += 1

    async def _end(self, how: signal.Signals) -> None:
        server = self.rng.choice(self.servers)
        await asyncio.to_thread(server.kill, how)
        await asyncio.to_thread(server.start)

    async def _pause(self) -> None:
        pid = self.rng.choice(self.servers).pid
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(self.rng.uniform(0.2, 4.0))
        os.kill(pid, signal.SIGCONT)

    async def _jump(self, by: int) -> None:
        set_clock(self.ahead, by)
        await asyncio.sleep(self.rng.uniform(0.5, 4.0))
        set_clock(self.ahead, 0)

    async def _lock(self) -> None:
        """Let another program hold a lock on the database for a while."""
        seconds = self.rng.uniform(0.5, 5.0)
        if self.postgres is None:
            await asyncio.to_thread(_held, self.servers[0].where, seconds)
            return
        import psycopg

        async with await psycopg.AsyncConnection.connect(self.postgres.url) as link:
            await link.execute("LOCK TABLE session IN ACCESS EXCLUSIVE MODE")
            await asyncio.sleep(seconds)
            await link.rollback()

    async def _guess(self) -> None:
        """Guess tokens and links from the address of a participant; then use the right token."""
        line = Connection("127.0.3.0")  # of the first participant
        port = self.rng.choice(self.servers).port
        with contextlib.suppress(Lost):
            for n in range(GUESSES):
                await line.sent(port, "GET", "/admin", "", {}, {"Authorization": f"Bearer {n}"})
                await line.sent(port, "POST", "/join", "", {"invite": f"guess-{n}"})
                await line.sent(port, "GET", "/", f"__Host-allminds=guess-{n}", {})
            right = {"Authorization": f"Bearer {self.token}"}
            status, _, _ = await line.sent(port, "GET", "/admin", "", {}, right)
            self.refused += status != 200
        line.close()

    async def _crash(self) -> None:
        assert self.postgres is not None
        await asyncio.to_thread(self.postgres.kill)
        await asyncio.to_thread(self.postgres.start)


def _held(where: str, seconds: float) -> None:
    """Hold the lock of an SQLite file."""
    with contextlib.closing(sqlite3.connect(where, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        other.execute("ROLLBACK")


def set_clock(file: Path, ahead: int) -> None:
    """Set how many milliseconds the servers' clocks are ahead; never half written."""
    part = file.with_suffix(".part")
    part.write_text(str(ahead))
    os.replace(part, file)


# ---------------------------------------------------------------- all of it


async def _lived(
    people: list[Restless], trouble: Trouble, seconds: float, every: float
) -> tuple[list[str], float]:
    """Let everybody play while trouble comes; return who did not go on then, and the seconds."""
    begin = time.monotonic()
    for one in people[len(people) * 3 // 4 :]:
        one.until = begin + seconds * NEWCOMERS
    crowd = [
        asyncio.create_task(one.take(begin + trouble.rng.random(), float("inf"), every))
        for one in people
    ]
    while time.monotonic() < begin + seconds:
        await asyncio.sleep(trouble.rng.uniform(0.3, 2.0))
        await trouble.strike(clocks=time.monotonic() > begin + seconds * NEWCOMERS)
    calm = time.monotonic()
    stuck = list(people)
    while stuck and time.monotonic() < calm + 15 * PEACE:
        await asyncio.sleep(0.5)
        went = {
            one.label for one in people[0].diary.history
            if one.sent > calm and one.status == 200 and one.at is not None
        }  # fmt: skip
        stuck = [one for one in people if one.label not in went and one.screen not in Restless.over]
        if time.monotonic() > calm + PEACE and not stuck:
            break
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    return [f"{one.label} at {one.screen}" for one in stuck], time.monotonic() - begin


def lived(
    kind: str,
    seconds: float,
    people: int = 16,
    seed: int = 1,
    every: float = 0.25,
    log: Path | None = None,
) -> dict[str, Any]:
    """Live through all of it on one kind of database; the figures, and what was wrong."""
    with database(kind) as (where, postgres), tempfile.TemporaryDirectory() as folder:
        ahead, places = Path(folder) / "ahead", people * 7 // 8
        set_clock(ahead, 0)
        made = study(places, participants=places, assignment="own")
        links, token, link = _opened(where, people * 3 // 4, made)
        diary, rng = Diary(), Random(seed)
        with serving(where, 2, ahead, log) as servers:

            def port() -> int:  # a proxy in front would do this: whoever is down is left out
                up = [one.port for one in servers if one.process is not None]
                return rng.choice(up or [servers[0].port])

            newcomers = [(f"new{n}", link) for n in range(people - len(links))]
            crowd = [
                Restless(
                    label, secret, port, diary, Random(f"{seed}/{label}"), f"127.0.3.{n}",
                    own=n < len(links),
                )
                for n, (label, secret) in enumerate([*links, *newcomers])
            ]  # fmt: skip
            trouble = Trouble(servers, postgres, ahead, Random(seed), token)
            stuck, took = asyncio.run(_lived(crowd, trouble, seconds, every))
        kept, names = _kept(where, places, crowd)
        history = [replace(one, label=names.get(one.label, one.label)) for one in diary.history]
        wrong = faults(history, kept)
        wrong += ["locked out: the right token was refused"] * trouble.refused
        wrong += [f"stuck: {who} did not go on" for who in stuck]
        return {
            "database": kind,
            "seconds": round(took, 1),
            "requests": len(history),
            "without a reply": sum(one.status == 0 for one in history),
            "answered by an error": sum(one.status not in (0, 200) for one in history),
            "choices sent": sum(one.at is not None for one in history),
            "choices in the database": len(kept.choices),
            "participants with a place": f"{kept.agreed} of {kept.places}",
            "withdrawn": len({one.label for one in history if one.screen == "withdrawn"}),
            **{name: trouble.done[name] for name in sorted(trouble.done)},
            "what does not fit": len(wrong),
            "wrong": wrong,
            "errors": dict(
                Counter(f"{one.path} {one.status}" for one in history if one.status not in (0, 200))
            ),
        }


def _opened(where: str, people: int, made: Any) -> tuple[list[tuple[str, str]], str, str]:
    """A new database: links of their own, the researcher's token, and a link for everybody."""
    store = Store(where, create=True)
    token = store.add_study(made, "history", 1)
    row = store.study()
    links = store.invite(row, [f"p{n}" for n in range(people)], 1)
    link = store.open_link(row)
    store.close()
    return links, token, link


def _kept(where: str, places: int, crowd: list[Restless]) -> tuple[Kept, dict[str, str]]:
    """What is there in the end, and the labels that newcomers were given."""
    query = (
        select(ParticipantRow, SessionRow, ExerciseRow, EventRow)
        .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
        .join(ExerciseRow, ExerciseRow.session_id == SessionRow.id)
        .join(
            EventRow,
            (EventRow.session_id == SessionRow.id) & (EventRow.exercise_idx == ExerciseRow.idx),
        )
        .where(EventRow.kind == "choice")
        .order_by(EventRow.id)
    )
    tokens = {hashed(one.cookie.partition("=")[2]): one.label for one in crowd}
    store = Store(where)
    with store.reading() as db:
        choices = [
            Stored(who.label, row.idx, event.step or 0, event.choice or "", row.number,
                   event.reward or 0.0)
            for who, _, row, event in db.execute(query)
        ]  # fmt: skip
        people = list(
            db.execute(
                select(ParticipantRow, SessionRow)
                .outerjoin(SessionRow, SessionRow.participant_id == ParticipantRow.id)
                .where(ParticipantRow.withdrawn_at.is_(None))
            )
        )
        agreed = [
            who for who, session in people
            if who.invited or (session.place > 0 and session.status != "abandoned")
        ]  # fmt: skip
        every = db.execute(
            select(ParticipantRow.label, ExerciseRow.number)
            .join(SessionRow, SessionRow.participant_id == ParticipantRow.id)
            .join(ExerciseRow, ExerciseRow.session_id == SessionRow.id)
        )
        numbers: dict[str, list[int]] = {}
        for label, number in every:
            numbers.setdefault(label, []).append(number)
        names = {
            tokens[session.token_hash]: who.label
            for who, session in people
            if session is not None and session.token_hash in tokens
        }
    with tempfile.TemporaryDirectory() as folder:
        export_folder(store, store.study(), Path(folder) / "out")
        with open(Path(folder) / "out" / "trials.csv", encoding="utf-8", newline="") as file:
            exported = [
                (row["label"], int(row["idx"]), int(row["step"]), row["choice"])
                for row in csv.DictReader(file)
            ]
    store.close()
    return Kept(choices, exported, numbers, len(agreed), places, own=True), names


def main() -> int:
    """Live through it, print the figures, and say what does not fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="of trouble, a database")
    parser.add_argument("--people", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", action="append", choices=DATABASES)
    parser.add_argument("--log", type=Path, help="a file for what the servers log")
    asked = parser.parse_args()
    wrong = 0
    for kind in asked.database or DATABASES:
        found = lived(kind, 60 * asked.minutes, asked.people, asked.seed, log=asked.log)
        found["load average"] = round(os.getloadavg()[0], 2)
        shown([{name: value for name, value in found.items() if name != "wrong"}])
        for sentence in found["wrong"][:20]:
            print(f"  {sentence}")
        wrong += len(found["wrong"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
