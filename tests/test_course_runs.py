"""Courses: the bits do not depend on how they are played, and records say where they stand."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from coins import COINS, FORGETFUL, MEMO, course, parts, slow_memo

from allminds import How, Plan, Test, registry
from allminds.core.blocks import block_difference
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.evaluate import evaluate
from allminds.runs.run import resume, run

# ---------------------------------------------------------------- how it is played


def table(found: Any) -> Any:
    frame = found.frame() if hasattr(found, "frame") else found.records()
    return frame.drop(columns=["run"])


def same(one: Any, other: Any) -> bool:
    return bool(table(one).equals(table(other)))


def test_the_bits_do_not_depend_on_the_number_of_jobs():
    minds = [MEMO, FORGETFUL]
    one, two = (
        evaluate(COINS, minds, course="train=12,test=6", episodes=5, how=How(jobs=n))
        for n in (1, 2)
    )
    assert same(one, two)
    assert [row["score"] for row in one["results"]] == [row["score"] for row in two["results"]]


@pytest.mark.slow
def test_the_bits_are_the_same_on_a_cluster():
    pytest.importorskip("distributed")
    here, there = (
        evaluate(COINS, [MEMO], course="train=6,test=3", episodes=3, how=How(jobs=2, engine=engine))
        for engine in ("local", "dask")
    )
    assert same(here, there)


LONG = """
import sys
from pathlib import Path
from allminds import How, Plan, run
from allminds.runs.run import resume
out, plan, jobs, engine = sys.argv[1:]
how = How(jobs=int(jobs), engine=engine)
if Path(out).exists():
    resume(out, how)
else:
    run(Plan.model_validate_json(plan), out, how)
"""


def killed(
    out: Path, records: int, wait: float, jobs: int = 1, engine: str = "local", **more: str
) -> bool:
    """Run or resume the plan, and kill it a while after it has so many files; False if it ended."""
    command = [sys.executable, "-c", LONG, out, slow_memo().model_dump_json(), str(jobs), engine]
    child = subprocess.Popen(command, start_new_session=True, env=os.environ | more)
    deadline = time.monotonic() + 240
    while parts(out) < records and time.monotonic() < deadline:
        if child.poll() is not None:
            break
        time.sleep(0.005)
    time.sleep(wait)
    ended = child.poll() is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return not ended


def test_a_run_killed_in_the_midst_of_a_course_ends_with_the_same_bits(tmp_path):
    whole = run(slow_memo(), tmp_path / "whole", How(jobs=1))
    out = tmp_path / "killed"
    assert killed(out, 2, 0.1, WATCHED=str(out))  # after four of twelve exercises of the third
    ends = sorted(path.stem.split("-")[-2:] for path in out.glob("records/*.parquet"))
    assert all(int(low) % 12 == 0 and int(high) % 12 == 0 for low, high in ends)  # whole courses
    assert 2 <= len(ends) < 6
    finished = resume(out, How(jobs=1))
    assert same(whole, finished)
    assert [r["score"] for r in whole.summary()["tests"][0]["results"]] == [
        r["score"] for r in finished.summary()["tests"][0]["results"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "engine"), [(1, "local"), (2, "local"), (2, "dask")])
def test_a_run_killed_over_and_over_at_any_moment_ends_with_the_same_bits(tmp_path, jobs, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    whole = run(slow_memo(), tmp_path / "whole", How(jobs=1))
    out, moments = tmp_path / "killed", random.Random(jobs)
    kills = 0
    for records in (1, 2, 3):
        kills += killed(out, records, moments.uniform(0, 0.25), jobs, engine)
    assert kills
    assert same(whole, resume(out, How(jobs=jobs, engine=engine)))


def test_the_chosen_form_equals_the_plain_one():
    tool = course("train=5,test=3", name="lambda-star", iterations=10)
    for who in ("local-search", "q-learning(carry=true)"):
        line_up = registry.line_up(who, tool)
        quick = form(tool, line_up, Watch()).play(1, 8, 16, 16)
        assert not block_difference(quick, Plain(tool, line_up, Watch()).play(1, 8, 16, 16))


# ---------------------------------------------------------------- what is recorded


def test_every_exercise_has_its_place_in_the_table_and_a_meaning_in_the_code_book():
    found = evaluate("lambda-star", ["random"], course="train=4,times=2,test=3", episodes=2,
                     settings={"iterations": 7}, ends=False, how=How(jobs=1))  # fmt: skip
    frame = found.frame()
    assert frame["course"].tolist() == [0] * 11 + [1] * 11
    assert frame["role"].tolist() == (["train"] * 8 + ["test"] * 3) * 2
    assert frame["phase"].tolist() == ([1] * 8 + [2] * 3) * 2
    assert frame["position"].tolist() == list(range(11)) * 2
    assert frame["trained"].tolist() == [*range(8), 8, 8, 8] * 2
    assert frame["trained_steps"].tolist() == [7 * n for n in frame["trained"]]
    assert frame["item"][:4].tolist() == frame["item"][4:8].tolist()
    assert frame["cluster"].nunique() == 2
    meanings = found.codebook()["meaning"]
    for name in ("course", "phase", "role", "position", "trained", "trained_steps"):
        assert "see the instrument" not in meanings[name]
    row = found["results"][0]
    assert (row["episodes"], row["units"], row["clusters"]) == (22, 2, 2)
    assert found["episodes"] == 22


def test_the_score_is_the_mean_of_the_tests_and_the_interval_is_over_courses():
    found = evaluate(COINS, [MEMO], course="train=5,test=4", episodes=30, ends=False,
                     how=How(jobs=1))  # fmt: skip
    frame, row = found.frame(), found["results"][0]
    tests = frame[frame["role"] == "test"].groupby("course")["score"].mean()
    assert row["score"] == pytest.approx(tests.mean(), abs=1e-12)
    assert row["stderr"] == pytest.approx(tests.std() / len(tests) ** 0.5)
    low, high = row["ci95"]
    assert 0 <= low < row["score"] < high <= 1
    alone = evaluate(COINS, [MEMO], course="train=5", episodes=10, ends=False, how=How(jobs=1))
    assert alone["results"][0]["score"] == pytest.approx(alone.frame()["score"].mean())


def test_an_exercise_of_a_course_is_replayed(tmp_path):
    from allminds.runs.replay import replayed

    test = Test(
        instrument="lambda-star", minds=["q-learning(carry=true)"], episodes=2,
        course="train=4,test=3", settings={"iterations": 6},
    )  # fmt: skip
    plan = Plan(tests=[test])
    folder = run(plan, tmp_path / "run", How(jobs=1))
    for index in (0, 5, 12):
        again = replayed(folder, index, None, 0)
        assert again.record.index == index
        assert "score" in again.as_text()
    with pytest.raises(Error, match=r"0\.\.13"):
        replayed(folder, 14, None, 0)


def test_comparisons_pair_minds_by_courses():
    found = evaluate(COINS, [MEMO, FORGETFUL], course="train=40,test,again=1", episodes=20,
                     ends=False, how=How(jobs=1))  # fmt: skip
    (row,) = found.compare().to_dict("records")
    assert row["verdict"] == "different"
    assert abs(row["difference"]) > 0.3
