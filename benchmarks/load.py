"""Many participants at once against `allminds serve`, on SQLite and on PostgreSQL.

    python benchmarks/load.py [--people 200] [--seconds 60] [--database sqlite] [--json FILE]

Participants come one after the other in the first quarter of a minute, and then make one choice a
second each. They are divided between two servers at two ports, and in the middle third of the time
everybody moves to the other one, one by one. At the end every acknowledged choice must be in the
database once, and nothing else. Nothing is asserted about time: the figures are printed, with the
machine's load beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from crowd import crowded
from hosting import choices_in, cpu_seconds, database, exported, invited, serving, wrong_in

DATABASES = ("sqlite", "postgresql")


def measured(kind: str, people: int, seconds: float, processes: int, seed: int) -> dict[str, Any]:
    """One load on one kind of database."""
    with database(kind) as (where, _):
        links = invited(where, people)
        with serving(where, processes) as servers:
            begin, own = time.monotonic(), time.process_time()
            before = sum(cpu_seconds(server.pid) for server in servers)

            def port(number: int) -> int:
                moved = time.monotonic() - begin > seconds * (1 + number / people) / 3
                return servers[(number + moved) % len(servers)].port

            busy = os.getloadavg()[0]
            diary, late = asyncio.run(crowded(links, port, seconds, seed))
            own = (time.process_time() - own) / (time.monotonic() - begin)
            used = sum(cpu_seconds(server.pid) for server in servers) - before
        there = choices_in(where)
        times = sorted(diary.seconds)
        return {
            "database": kind,
            "server processes": len(servers),
            "participants": people,
            "seconds": seconds,
            "choices sent": len(diary.sent),
            "acknowledged": len(diary.acknowledged),
            "in the database": len(there),
            **wrong_in(diary, there),
            "errors": sum(diary.errors.values()),
            "p50, ms": _ms(times, 0.5),
            "p95, ms": _ms(times, 0.95),
            "p99, ms": _ms(times, 0.99),
            "max, ms": _ms(times, 1.0),
            "choices a second": round(len(diary.acknowledged) / seconds, 1),
            "servers' processor ms a choice": round(1000 * used / max(1, len(times)), 1),
            "crowd's share of a core": round(own, 2),
            "crowd's timers late, p99 ms": round(1000 * late, 1),
            "load average before": round(busy, 2),
            "in an export": exported(where),
            "what errors": diary.errors,
        }


def _ms(times: list[float], share: float) -> float:
    if not times:
        return float("nan")
    return round(1000 * times[min(len(times) - 1, int(share * len(times)))], 1)


def shown(found: list[dict[str, Any]]) -> None:
    """The figures side by side."""
    for name in found[0]:
        values = [str(one[name]) for one in found]
        print(f"{name:<30}" + "".join(f"{value:>14}" for value in values))


def main() -> int:
    """Measure, print, and say whether a choice was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", action="append", choices=DATABASES)
    parser.add_argument("--servers", type=int, default=2, help="processes of allminds serve")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    asked = parser.parse_args()
    found = []
    for kind in asked.database or DATABASES:
        found.append(measured(kind, asked.people, asked.seconds, asked.servers, asked.seed))
        print(f"{kind} done", file=sys.stderr)
    shown(found)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")
    wrong = sum(one["lost"] + one["doubled"] + one["never sent"] for one in found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
