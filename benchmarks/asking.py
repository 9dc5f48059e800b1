"""Language models behind a scripted server: how long twenty questions take, and the books.

    .venv/bin/python benchmarks/asking.py

Every reply takes two seconds. Twenty questions are asked one at a time and twenty at once; the
tables must be the same. Then a run is killed at random moments and resumed: what was stored is
never asked for again, and the books agree with the server's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Table
from rich.console import Console

TESTS = Path(__file__).parents[1] / "tests"
sys.path += [str(TESTS / "bridges"), str(TESTS)]
from scripted_server import Request, Server, says, slow  # noqa: E402 - found by the line above

from allminds.bridges import providers  # noqa: E402 - the same
from allminds.core.spending import spending  # noqa: E402 - the same
from allminds.core.transcripts import read_journal  # noqa: E402 - the same
from allminds.runs.plan import Plan  # noqa: E402 - the same
from allminds.runs.run import How, resume, run  # noqa: E402 - the same

MIND = f"llm({Server.name})"


def by_item(seconds: float):
    """Answer by the conversation alone, after some seconds."""

    def reply(request: Request):
        turn = sum(map(ord, json.dumps(request.messages)))
        return slow(says(f"ANSWER: {1 + turn % 9}"), seconds)

    return reply


def at_once(items: int, seconds: float) -> Table:
    """Time items that are asked one at a time and all at once; stop unless the tables agree."""
    test = {"instrument": "lambda-star", "minds": [MIND], "episodes": items,
            "settings": {"iterations": 1}}  # fmt: skip
    rows, tables = [], []
    for connections in (1, items):
        providers.model_named.cache_clear()
        with tempfile.TemporaryDirectory() as place, Server(by=by_item(seconds)) as server:
            start = time.perf_counter()
            plan = Plan.model_validate({"tests": [test]})
            folder = run(plan, Path(place) / "run", How(jobs=1, connections=connections))
            took = time.perf_counter() - start
            tables.append(folder.records())
            rows.append([str(connections), str(server.peak), f"{took:.1f}"])
    assert tables[0].equals(tables[1])
    return Table(
        f"{items} items at {seconds:g} s a reply", "`allminds run`; the tables are the same.",
        ("connections", "at once at most", "seconds"), rows,
    )  # fmt: skip


def killed(kills: int, seed: int, connections: int) -> Table:
    """Kill a run at drawn moments and resume it; stop unless the books agree."""
    draw, lost, found = random.Random(seed), 0, []
    with tempfile.TemporaryDirectory() as place, Server(by=by_item(0.15)) as server:
        folder, out = Path(place), Path(place) / "run"
        (folder / "plan.toml").write_text(
            f'[[tests]]\ninstrument = "lambda-star"\nminds = ["{MIND}"]\nepisodes = 24\n'
            "settings = { iterations = 5 }\n"
        )
        for _ in range(kills):
            words = (
                ["--resume", out] if (out / "plan.json").exists() else ["plan.toml", "--out", out]
            )
            _kill(server, [*words, "--max-connections", connections], folder, draw)
            journal = read_journal(out / "transcripts/journal.jsonl", 0)
            places = [one.place for one in journal]
            assert len(set(places)) == len(places)  # nothing that was stored came twice
            lost = server.delivered.calls - len(places)  # on their way at a kill
            found.append(len(places))
        before = server.delivered
        providers.model_named.cache_clear()
        with spending() as ledger:
            whole = resume(out, How(jobs=1, connections=connections))
        new = server.delivered
        assert ledger.calls == new.calls - before.calls == 24 * 5 - found[-1]
        assert ledger.input_tokens == new.tokens_in - before.tokens_in
        assert ledger.output_tokens == new.tokens_out - before.tokens_out
        assert whole.records()["calls"].sum() == 24 * 5
    return Table(
        "A run killed again and again",
        f"SIGKILL at moments of seed {seed}, {connections} calls at once: replies in the journal "
        "after each kill, and those that were on their way at a kill and were asked for again.",
        ("kills", "stored", "on their way", "books agree to the token"),
        [[str(kills), " ".join(map(str, found)), str(lost), "yes"]],
    )  # fmt: skip


def _kill(server: Server, words: list[object], folder: Path, draw: random.Random) -> None:
    """Begin or resume a run in another process, and kill it a moment after some requests."""
    wanted = len(server.asked) + draw.randint(1, 4)
    child = subprocess.Popen(
        [sys.executable, "-c", "from allminds.cli import main; main()", "run", "--jobs", "1",
         *map(str, words)],
        cwd=folder, env=os.environ | server.environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while child.poll() is None and len(server.asked) < wanted:
        time.sleep(0.01)
    time.sleep(draw.random() * 0.3)
    child.kill()
    child.wait()
    while server.open:  # what it sends now reaches no process
        time.sleep(0.01)


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(description="Ask a scripted server, and kill who asks.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="that a reply takes")
    given = parser.parse_args()
    console = Console()
    console = console if console.is_terminal else Console(width=180)
    at_once(20, given.seconds).show(console)
    killed(given.kills, given.seed, 4).show(console)


if __name__ == "__main__":
    main()
