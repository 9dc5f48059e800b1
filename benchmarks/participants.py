"""A whole study with simulated participants: who is marked, and what the report says.

    python benchmarks/participants.py [--people 40] [--database sqlite] [--out FOLDER]

Careful, careless (who click on one place, who also lie about their times, who choose at random),
quitting and returning participants take a study with two arms, a Latin square, four kinds of
questions, two attention checks, a time limit and a bonus, over HTTP. The study is closed, exported,
and reported together with programs on the same exercises.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

import pandas as pd
import panel
from databases import fresh, postgresql
from studio import Clock, make
from typer.testing import CliRunner

from allminds.cli import app
from allminds.web.export import export_folder
from allminds.web.store import Store
from allminds.web.study import Study

DATABASES = ("sqlite", "postgresql")
DAY = 24 * 3_600_000  # milliseconds


@contextlib.contextmanager
def opened(kind: str, folder: Path) -> Iterator[str]:
    """Open an empty database."""
    if kind == "sqlite":
        yield str(folder / "study.db")
        return
    with postgresql() as server:
        yield fresh(server, "panel")


def called(*words: str) -> str:
    """Run a command of allminds, and return what it printed."""
    done = CliRunner().invoke(app, list(words))
    if done.exit_code:
        raise SystemExit(f"allminds {' '.join(words)}: {done.output} {done.exception}")
    return done.stdout


def programs(plan: Study, folder: Path) -> None:
    """Run programs on the exercises of the study."""
    lines = [f"seed = {plan.seed}"]
    for given, minds in zip(
        plan.tests, (["random", "q-learning"], ["random", "mode"]), strict=True
    ):
        settings = ", ".join(f"{k} = {json.dumps(v)}" for k, v in given.settings.items())
        lines += ["[[tests]]", f'instrument = "{given.instrument}"', f"settings = {{ {settings} }}",
                  f"minds = {json.dumps(minds)}", f"episodes = {given.exercises}"]  # fmt: skip
    (folder / "programs.toml").write_text("\n".join(lines))
    called("run", str(folder / "programs.toml"), "--out", str(folder / "programs"))


def shares(people: pd.DataFrame) -> list[dict[str, Any]]:
    """Count for each kind who was marked, by what, and who was excluded."""
    found = []
    for kind in panel.KINDS:
        mine = people[people["kind"] == kind]
        signs = mine["marks"].str.split().explode().value_counts()
        careless = mine["marks"].str.replace("unfinished", "").str.strip() != ""
        found.append({
            "kind": kind, "people": len(mine),
            "finished": int((mine["status"] == "finished").sum()),
            "marked as careless": int(careless.sum()),
            "excluded": int((mine["excluded"] != "").sum()),
            "by": ", ".join(f"{name} {count}" for name, count in signs.items()),
        })  # fmt: skip
    return found


def measured(kind: str, count: int, folder: Path) -> None:
    """Let a panel take the study on one kind of database, and print what came of it."""
    clock, plan, who = Clock(), panel.made(panel.study(count)), panel.kinds(count)
    folder.mkdir(parents=True)
    with opened(kind, folder) as where:
        _, links = make(where, plan, count, clock)
        begin = time.monotonic()
        panel.take_all(where, plan, links, clock, who)
        print(f"{kind}: {count} participants in {time.monotonic() - begin:.0f} s, "
              f"load average {os.getloadavg()[0]:.1f}")  # fmt: skip
        store = Store(where)
        store.set_state(store.study(), "closed", ends=clock())
        clock.now += DAY
        export_folder(store, store.study(), folder / "people", now=clock())
        store.close()
    people = pd.read_csv(folder / "people" / "participants.csv", keep_default_na=False)
    people["kind"] = who
    print(pd.DataFrame(shares(people)).to_string(index=False))
    print("arms and orders:", people.groupby(["arm", "order"]).size().to_dict())
    programs(plan, folder)
    both = str(folder / "people"), str(folder / "programs")
    called("report", *both, "-o", str(folder / "page.html"))
    notes = json.loads(called("compare", *both, "--json"))["notes"]
    print("compare:", *[note for note in notes if "left out" in note])
    print(f"page: {(folder / 'page.html').stat().st_size:,} bytes")


def main() -> None:
    """Measure on each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--database", action="append", choices=DATABASES)
    parser.add_argument("--out", type=Path, help="a new folder to keep exports and pages in")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in asked.database or DATABASES:
            measured(kind, asked.people, (asked.out or Path(folder)) / kind)


if __name__ == "__main__":
    main()
