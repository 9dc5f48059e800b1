"""Kill the server, and the database, while participants are at it; nothing acknowledged is lost.

    python benchmarks/server_faults.py [--kills 20] [--people 50] [--seed 1] [--database sqlite]
    python benchmarks/server_faults.py --stops 30

With `--stops` one server on SQLite is ended by SIGTERM, SIGINT and SIGKILL in turn. After each of
them its files are copied: `study.db` alone (with its `-wal` after a SIGKILL) must hold every choice
that was acknowledged until then, once.

Otherwise one of two servers dies by SIGKILL at moments that a seed chooses and is started again; so
does PostgreSQL, every fourth time, while the servers go on and find it again by themselves.
Participants who get no reply load the page anew. At the end every acknowledged choice must be in
the database once, nothing that nobody sent, and every session must play again in an export.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from random import Random
from typing import Any

from crowd import Diary, crowded
from hosting import Postgres, Server, choices_in, database, exported, invited, serving, wrong_in
from load import DATABASES, shown

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


async def _stopped(
    server: Server, links: list[tuple[str, str]], stops: int, seed: int, every: float
) -> dict[str, int]:
    """The crowd, and a stop now and then; what was wrong in the files after any of them."""
    diary, rng = Diary(), Random(seed)
    crowd = asyncio.create_task(
        crowded(links, lambda _: server.port, 3600, seed, 1.0, every, diary)
    )
    found: Counter[str] = Counter()
    for number in range(stops):
        wanted = len(diary.acknowledged) + rng.randint(1, 40)
        until = time.monotonic() + LONGEST
        while len(diary.acknowledged) < wanted and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await asyncio.sleep(rng.uniform(0, 0.3))
        how = STOPS[number % len(STOPS)]
        await asyncio.to_thread(server.kill, how)
        told = Diary(sent=set(diary.sent), acknowledged=list(diary.acknowledged))
        with tempfile.TemporaryDirectory() as folder:
            ends = ("", "-wal") if how == signal.SIGKILL else ("",)
            for end in ends:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(server.where + end, f"{folder}/study.db{end}")
            found.update(wrong_in(told, choices_in(f"{folder}/study.db")))
        found[how.name] += 1
        await asyncio.to_thread(server.start)
    crowd.cancel()
    await asyncio.gather(crowd, return_exceptions=True)
    return {"acknowledged": len(diary.acknowledged), **found}


def stopped(stops: int, people: int, seed: int = 1, every: float = 1.0) -> dict[str, int]:
    """End one server so many times, and look into its files after each of them."""
    with database("sqlite") as (where, _):
        links = invited(where, people)
        with serving(where, 1) as (server,):
            return asyncio.run(_stopped(server, links, stops, seed, every))


def main() -> int:
    """Kill, print, and say whether a choice was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stops", type=int, help="look into the files after so many stops")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", action="append", choices=DATABASES)
    asked = parser.parse_args()
    if asked.stops:
        files = stopped(asked.stops, asked.people, asked.seed)
        shown([files])
        return 1 if files["lost"] + files["doubled"] + files["never sent"] else 0
    kinds = asked.database or DATABASES
    found = [killed(kind, asked.kills, asked.people, asked.seed) for kind in kinds]
    shown(found)
    wrong = sum(one["lost"] + one["doubled"] + one["never sent"] for one in found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
