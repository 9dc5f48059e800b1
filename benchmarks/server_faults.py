"""Kill the server, and the database, while participants are at it; nothing acknowledged is lost.

    python benchmarks/server_faults.py [--kills 20] [--people 50] [--seed 1] [--database sqlite]
    python benchmarks/server_faults.py --stops 30

With `--stops` one server is ended by SIGTERM, SIGINT and SIGKILL in turn. After each of them its
files are copied: `study.db` alone (with its `-wal` after a SIGKILL) must hold every choice that was
acknowledged until then, once; of PostgreSQL the database is read. At the end a backup is taken
under load and restored, and some participants withdraw: no file may hold their panel's id.

Otherwise one of two servers dies by SIGKILL at moments that a seed chooses and is started again; so
does PostgreSQL, every fourth time, while the servers go on and find it again by themselves.
Participants who get no reply load the page anew. At the end every acknowledged choice must be in
the database once, nothing that nobody sent, and every session must play again in an export.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from crowd import Diary, Lost, Move, Participant, crowded
from hosting import (
    Postgres,
    Server,
    choices_in,
    database,
    exported,
    invited,
    serving,
    study,
    wrong_in,
)
from load import DATABASES, shown
from sqlalchemy import select

from allminds.web.backup import backup, restore
from allminds.web.store import Store
from allminds.web.tables import ParticipantRow

SERVERS = 2  # processes of allminds serve
LONGEST = 30.0  # seconds that a server lives, if choices come too slowly
AFTER = 5.0  # seconds of peace at the end, in which everybody must get on again


async def struck(
    servers: list[Server], postgres: Postgres | None, kills: int, rng: Random, diary: Diary
) -> tuple[int, int]:
    """Kill and start again, so many times; how often the server, and how often the database.

    A kill comes some choices after the last start, and a moment later, so that it falls anywhere
    in the life of a request, however slow the machine is.
    """
    of_server = of_database = 0
    for number in range(kills):
        wanted = len(diary.acknowledged) + rng.randint(0, 40)
        until = time.monotonic() + LONGEST
        while len(diary.acknowledged) < wanted and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await asyncio.sleep(rng.uniform(0, 0.3))
        if postgres is not None and number % 4 == 3:
            postgres.kill()
            await asyncio.to_thread(postgres.start)
            of_database += 1
        else:
            server = rng.choice(servers)
            server.kill()
            await asyncio.to_thread(server.start)
            of_server += 1
    return of_server, of_database


async def _together(
    links: list[tuple[str, str]], servers: list[Server], postgres: Postgres | None, kills: int,
    seed: int, every: float, most: float,
) -> tuple[Diary, tuple[int, int], int]:  # fmt: skip
    """The crowd and the killer at once; the crowd goes on for a while after the last kill."""
    ports = [server.port for server in servers]

    def port(number: int) -> int:  # a proxy in front would do this: whoever is down is left out
        up = [one.port for one in servers if one.process is not None] or ports
        return up[number % len(up)]

    diary = Diary()
    crowd = asyncio.create_task(crowded(links, port, most, seed, 1.0, every, diary))
    done = await struck(servers, postgres, kills, Random(seed), diary)
    before = len(diary.acknowledged)
    until = time.monotonic() + 12 * AFTER
    await asyncio.sleep(AFTER)
    while len(diary.acknowledged) - before < len(links) and time.monotonic() < until:
        await asyncio.sleep(0.5)
    crowd.cancel()
    await asyncio.gather(crowd, return_exceptions=True)
    return diary, done, len(diary.acknowledged) - before


def killed(
    kind: str, kills: int, people: int, seed: int = 1, every: float = 1.0, most: float = 900.0
) -> dict[str, Any]:
    """All of it on one kind of database."""
    with database(kind) as (where, postgres):
        links = invited(where, people)
        with serving(where, SERVERS) as servers:
            start = time.monotonic()
            diary, (of_server, of_database), after = asyncio.run(
                _together(links, servers, postgres, kills, seed, every, most)
            )
            took = time.monotonic() - start
        there = choices_in(where)
        return {
            "database": kind,
            "kills of a server": of_server,
            "kills of the database": of_database,
            "participants": people,
            "seconds": round(took, 1),
            "choices sent": len(diary.sent),
            "acknowledged": len(diary.acknowledged),
            "after the last kill": after,
            "sent, never answered": len(diary.sent) - len(diary.acknowledged),
            "in the database": len(there),
            **wrong_in(diary, there),
            "requests that failed": sum(diary.errors.values()),
            "in an export": exported(where),
        }


# ---------------------------------------------------------------- what is in the files


STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
WRONG = (
    "lost", "doubled", "never sent", "not in a backup under load", "never sent, in it",
    "traces of them",
)  # fmt: skip
GONE = 5  # participants who withdraw at the end


async def _stopped(
    server: Server, crowd: list[Participant], stops: int, seed: int, every: float, folder: Path
) -> dict[str, int]:
    """The crowd, and a stop now and then; what was wrong in the files after any of them."""
    diary, rng = crowd[0].diary, Random(seed)
    start = time.monotonic()
    tasks = [asyncio.create_task(one.take(start + rng.random(), math.inf, every)) for one in crowd]
    found: Counter[str] = Counter()
    for number in range(stops):
        wanted = len(diary.acknowledged) + rng.randint(1, 40)
        until = time.monotonic() + LONGEST
        while len(diary.acknowledged) < wanted and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await asyncio.sleep(rng.uniform(0, 0.3))
        how = STOPS[number % len(STOPS)]
        await asyncio.to_thread(server.kill, how)
        found.update(wrong_in(_copied(diary), await asyncio.to_thread(_in_files, server, how)))
        found[how.name] += 1
        await asyncio.to_thread(server.start)
    known = _copied(diary)
    kept = await asyncio.to_thread(_backed_up, server.where, folder / "copy")
    found["not in a backup under load"] += wrong_in(known, kept)["lost"]
    found["never sent, in it"] += wrong_in(_copied(diary), kept)["never sent"]
    gone = [one for one in crowd if one.cookie][:GONE]
    for one in gone:
        tasks[crowd.index(one)].cancel()
        await asyncio.gather(tasks[crowd.index(one)], return_exceptions=True)
        one.connection.close()
        found["with traces before"] += bool(_traces(one, server.where, folder))
        await _withdrawn(one)
    await asyncio.sleep(1.0)  # the others go on
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    found["withdrawn"] = len(gone)
    found["traces of them"] = sum(len(_traces(one, server.where, folder)) for one in gone)
    return {"acknowledged": len(diary.acknowledged), **found}


def _copied(diary: Diary) -> Diary:
    """What is known by now."""
    return Diary(sent=set(diary.sent), acknowledged=list(diary.acknowledged))


def _in_files(server: Server, how: signal.Signals) -> list[Move]:
    """The choices in the files after a stop: `study.db` alone, with its log after a SIGKILL."""
    if "://" in server.where:
        return choices_in(server.where)
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal") if how == signal.SIGKILL else ("",):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(server.where + end, f"{folder}/study.db{end}")
        return choices_in(f"{folder}/study.db")


def _backed_up(where: str, out: Path) -> list[Move]:
    """The choices in a backup that is made now and restored; it must export whole."""
    backup(where, out)
    with contextlib.ExitStack() as stack:
        again = f"{out}.db"
        if "://" in where:
            again, _ = stack.enter_context(database("postgresql"))
        restore(out, again)
        exported(again)
        return choices_in(again)


async def _withdrawn(one: Participant) -> None:
    """Withdraw, however often it takes."""
    while one.screen != "withdrawn":
        try:
            await one._asked("GET", "/", {})
            await one._asked("POST", "/withdraw", one.form)
        except Lost:
            await asyncio.sleep(0.5)


def _traces(one: Participant, where: str, folder: Path) -> list[str]:
    """The files in which the panel's id of a participant still is; of PostgreSQL, the columns."""
    if "://" in where:
        store = Store(where)
        with store.reading() as db:
            ids = set(db.scalars(select(ParticipantRow.external_id)))
        store.close()
        return ["participant"] * (one.external in ids)
    files = [path for path in folder.iterdir() if not path.name.startswith("copy")]
    return [path.name for path in files if one.external.encode() in path.read_bytes()]


def stopped(
    stops: int, people: int, seed: int = 1, every: float = 1.0, kind: str = "sqlite"
) -> dict[str, int]:
    """End one server so many times, and look into its files after each of them."""
    with database(kind) as (where, _), tempfile.TemporaryDirectory() as other:
        folder = Path(other) if "://" in where else Path(where).parent
        links = invited(where, people, study(people, external_id="PANEL"))
        with serving(where, 1, log=folder / "log") as (server,):
            diary = Diary()
            crowd = [
                Participant(
                    label, link, lambda: server.port, diary, Random(f"{seed}/{n}"),
                    external=f"PANEL-{seed}-{n:04d}-XYZ",
                )
                for n, (label, link) in enumerate(links)
            ]  # fmt: skip
            return asyncio.run(_stopped(server, crowd, stops, seed, every, folder))


def main() -> int:
    """Kill, print, and say whether a choice was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stops", type=int, help="look into the files after so many stops")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", action="append", choices=DATABASES)
    asked = parser.parse_args()
    kinds = asked.database or DATABASES
    if asked.stops:
        files = [stopped(asked.stops, asked.people, asked.seed, kind=kind) for kind in kinds]
        shown([{"database": kind} | one for kind, one in zip(kinds, files, strict=True)])
        return 1 if any(one[name] for one in files for name in WRONG) else 0
    found = [killed(kind, asked.kills, asked.people, asked.seed) for kind in kinds]
    shown(found)
    wrong = sum(one["lost"] + one["doubled"] + one["never sent"] for one in found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
