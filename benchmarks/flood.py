"""Flood a server from one address while 50 participants play, and measure what they notice.

    python benchmarks/flood.py [--people 50] [--seconds 10] [--seed 1] [--database sqlite]

The participants come from addresses of their own (127.0.4.1, …) and make one choice a second each,
under the default limits of a study. Some seconds of peace come first, then some of each kind of
flood, all from 127.0.0.66 (`flooding.py`), in another process with a lower priority: what is
measured is the server, not how two processes share a small machine.

Nobody may see an error or wait for more than two seconds; else the exit code is 1. Beside the waits
stands how late a timer of this program was at most: so much of a wait is not the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

from crowd import Diary, Participant
from flooding import KINDS
from hosting import START, Server, cpu_seconds, database, invited, serving, study

from allminds.web.study import DEFAULT_LIMITS

FLOODS = str(Path(__file__).with_name("flooding.py"))
LONGEST = 2.0  # seconds that a participant may wait
REST = 2.0  # seconds after a flood, which count as part of it


# ---------------------------------------------------------------- what participants notice


async def _watched(late: list[tuple[float, float]]) -> None:
    """Note how late the timers of this loop are."""
    while True:
        start = time.monotonic()
        await asyncio.sleep(0.05)
        late.append((start, time.monotonic() - start - 0.05))


async def _flooded(
    server: Server, links: list[tuple[str, str]], kinds: list[str], seconds: float, seed: int
) -> list[dict[str, Any]]:
    """Let the crowd play through peace and all floods; one row of figures for each."""
    diary, late = Diary(), list[tuple[float, float]]()
    people = [
        Participant(label, link, lambda: server.port, diary, Random(f"{seed}/{n}"), f"127.0.4.{n}")
        for n, (label, link) in enumerate(links[1:], 1)
    ]
    begin, starts = time.monotonic(), Random(seed)
    tasks = [
        asyncio.create_task(one.take(begin + 5 * starts.random(), float("inf"))) for one in people
    ]
    tasks.append(asyncio.create_task(_watched(late)))
    playing = set[str]()
    while len(playing) < len(people) and time.monotonic() < begin + START:
        await asyncio.sleep(0.5)
        playing = {one.label for one in diary.history if one.at is not None and one.status == 200}
    found = []
    for kind in ["", *kinds]:
        start, used = time.monotonic(), cpu_seconds(server.pid)
        told = await _attacked(kind, server.port, seconds, links[0][1])
        await asyncio.sleep(REST)
        end = time.monotonic()
        share = round((cpu_seconds(server.pid) - used) / (end - start), 2)
        found.append((kind, start, end, told, share, round(os.getloadavg()[0], 1)))
    await asyncio.sleep(LONGEST)  # what was asked by now and has not come is an error
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return [_row(diary, late, *phase) for phase in found]


async def _attacked(kind: str, port: int, seconds: float, link: str) -> dict[str, int]:
    if not kind:
        await asyncio.sleep(seconds)
        return {}
    command = [sys.executable, FLOODS, kind, str(port), str(seconds), link]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    found: dict[str, int] = json.loads(out)
    return found


def _row(
    diary: Diary, late: list[tuple[float, float]], kind: str, start: float, end: float,
    told: dict[str, int], share: float, load: float,
) -> dict[str, Any]:  # fmt: skip
    mine = [one for one in diary.history if start <= one.sent < end]
    waits = sorted(one.got - one.sent for one in mine)
    return {
        "flood": kind or "none",
        "requests": len(mine),
        "errors": sum(one.status != 200 for one in mine),
        "p50, ms": _ms(waits, 0.5),
        "p99, ms": _ms(waits, 0.99),
        "longest, ms": _ms(waits, 1.0),
        "own timer late, ms": round(1000 * max(by for at, by in late if start <= at < end)),
        "server's share of a core": share,
        "load average": load,
        "of the flood": told,
    }


def _ms(waits: list[float], share: float) -> int:
    return round(1000 * waits[min(len(waits) - 1, int(share * len(waits)))]) if waits else 0


def flooded(
    kind: str, people: int, seconds: float, seed: int = 1, floods: list[str] | None = None
) -> list[dict[str, Any]]:
    """All of it on one kind of database."""
    with database(kind) as (where, _):
        made = study(people + 1).model_copy(update={"limits": DEFAULT_LIMITS})
        links = invited(where, people + 1, made)
        with serving(where, 1) as (server,):
            kinds = list(KINDS) if floods is None else floods
            return asyncio.run(_flooded(server, links, kinds, seconds, seed))


def main() -> int:
    """Flood, print a table, and say whether anybody noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each flood")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", default="sqlite", choices=("sqlite", "postgresql"))
    parser.add_argument("--flood", action="append", choices=KINDS, help="only these")
    asked = parser.parse_args()
    print(f"load average before: {os.getloadavg()[0]:.2f}")
    rows = flooded(asked.database, asked.people, asked.seconds, asked.seed, asked.flood)
    for name in rows[0]:
        print(
            f"{name:<26}" + "".join(f"{row[name]!s:>10}" for row in rows if name != "of the flood")
        )
    for row in rows[1:]:
        print(f"  {row['flood']}: {row['of the flood']}")
    wrong = [row for row in rows if row["errors"] or row["longest, ms"] > 1000 * LONGEST]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
