"""Runs: the same bits on any jobs, any chunks, after any kill; nothing half-written."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from allminds.administration import engine
from allminds.administration.plan import Plan, read_plan
from allminds.administration.run import How, evaluate, resume, run
from allminds.administration.store import RunFolder
from allminds.errors import Error

SMALL = {"rows": 5, "cols": 5, "iterations": 20}
MINE = f"{Path(__file__).parents[2]}/examples/plain_mind.py:Careful"


def plan(minds=("random", "local-search", "q-learning(sessions=5)"), episodes=3000, **more):
    test = {"instrument": "lambda-star", "minds": list(minds), "episodes": episodes}
    return Plan.model_validate({"tests": [test | {"settings": SMALL}], "seed": 4, **more})


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return run(plan(), tmp_path_factory.mktemp("run") / "a", How(jobs=1))


def same(a: RunFolder, b: RunFolder) -> None:
    pd.testing.assert_frame_equal(a.records(), b.records(), check_exact=True)
    strip = [[row | {"seconds": 0} for row in t["results"]] for t in a.summary()["tests"]]
    other = [[row | {"seconds": 0} for row in t["results"]] for t in b.summary()["tests"]]
    assert strip == other
    curves = [f.curves().groupby(["mind", "step"])[["count", "total"]].sum() for f in (a, b)]
    pd.testing.assert_frame_equal(*curves, check_exact=True)
    traces = [
        f.traces().sort_values(["mind", "index", "step"]).reset_index(drop=True) for f in (a, b)
    ]
    pd.testing.assert_frame_equal(*traces, check_exact=True)


@pytest.mark.parametrize(("jobs", "chunk"), [(2, None), (1, 100), (2, 256), (3, 999)])
def test_jobs_and_chunks_do_not_change_one_bit(unbroken, tmp_path, monkeypatch, jobs, chunk):
    if chunk:
        monkeypatch.setattr(engine.Sitting, "chunk", lambda self: chunk)
        monkeypatch.setattr(engine, "BLOCK", 77)
    same(unbroken, run(plan(), tmp_path / "b", How(jobs=jobs)))


def test_python_minds_on_processes_give_the_same_as_in_one(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "PYTHON_WORK", 1 << 11)
    made = plan([MINE, "random"], episodes=400)
    same(run(made, tmp_path / "a", How(jobs=1)), run(made, tmp_path / "b", How(jobs=2)))


def test_the_table_is_tidy(unbroken):
    table = unbroken.records()
    assert len(table) == 3 * 3000
    assert not table.duplicated(["exercise", "mind", "slot"]).any()
    assert (table["run"] == unbroken.plan.run).all()
    assert table["exercise"][0].startswith("lambda-star@1/")
    assert table.sort_values(["index", "mind", "slot"]).index.tolist() == list(range(len(table)))
    assert (table.groupby("index")["exercise"].nunique() == 1).all()


def test_evaluate_and_run_give_the_same_scores(unbroken):
    found = evaluate("lambda-star", plan().tests[0].minds, settings=SMALL, episodes=3000, seed=4)
    kept = unbroken.summary()["tests"][0]
    for a, b in zip(found["results"], kept["results"], strict=True):
        assert a | {"seconds": 0} == b | {"seconds": 0}


# ---------------------------------------------------------------- killed and resumed

LONG = """
from pathlib import Path
import sys
from allminds.administration import engine
from allminds.administration.plan import Plan
from allminds.administration.run import How, run, resume
engine.Sitting.chunk = lambda self: 150
out = Path(sys.argv[1])
plan = Plan.model_validate_json(sys.argv[2])
print("begun", flush=True)
resume(out, How(jobs=2)) if (out / "plan.json").exists() else run(plan, out, How(jobs=2))
"""


def test_a_run_killed_at_random_moments_ends_bit_identical(unbroken, tmp_path):
    out, kills, rng = tmp_path / "killed", 0, random.Random(5)
    text = plan().model_dump_json()
    for attempt in range(60):
        child = subprocess.Popen([sys.executable, "-c", LONG, out, text], stdout=subprocess.PIPE)
        child.stdout.readline()
        parts = len(list((out / "records").glob("*.parquet"))) if out.exists() else 0
        if attempt < 6:
            deadline = time.monotonic() + 60
            target = parts + rng.randint(0, 3)
            while child.poll() is None and time.monotonic() < deadline:
                now = len(list((out / "records").glob("*.parquet"))) if out.exists() else 0
                if now >= target:
                    time.sleep(rng.random() * 0.05)
                    break
                time.sleep(0.002)
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                kills += 1
        child.wait()
        if child.returncode == 0:
            break
    assert kills >= 3
    finished = resume(out, How(jobs=1))
    same(unbroken, finished)
    assert not list(out.rglob("*.tmp"))


def test_a_damaged_part_is_played_again(unbroken, tmp_path):
    again = run(plan(), tmp_path / "a", How(jobs=1))
    (again.path / "summary.json").unlink()
    again.parts()[0].write_bytes(b"PAR1 broken")
    same(unbroken, resume(again.path))


def test_a_run_that_is_complete_has_nothing_left_to_resume(unbroken):
    before = {path: path.stat().st_mtime_ns for path in unbroken.parts()}
    resume(unbroken.path)
    assert before == {path: path.stat().st_mtime_ns for path in unbroken.parts()}


# ---------------------------------------------------------------- a full disk, a folder in use


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(tmp_path):
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from allminds.administration.plan import Plan\n"
        "from allminds.administration.run import How, run\n"
        "test = {'instrument': 'lambda-star', 'minds': ['local-search'], 'episodes': 10**6}\n"
        "run(Plan.model_validate({'tests': [test]}), Path(sys.argv[1]), How(jobs=2))\n"
        "status = Path('/proc/self/status')\n"
        # Linux hands the peak of whoever started it on to a process; VmHWM is its own
        "lines = status.read_text().splitlines() if status.exists() else []\n"
        "own = [int(line.split()[1]) / 2**10 for line in lines if line.startswith('VmHWM')]\n"
        "print(*own or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "million"],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    assert float(done.stdout) < 500
