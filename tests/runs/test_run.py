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
from plainly import evaluate

from allminds.core.errors import Error
from allminds.runs import engine
from allminds.runs.plan import Plan, read_plan
from allminds.runs.run import How, Resolved, resume, run
from allminds.runs.store import RunFolder

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
    assert table["exercise"][0].startswith("lambda-star@2/")
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
from allminds.runs import engine
from allminds.runs.plan import Plan
from allminds.runs.run import How, run, resume
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
        "import resource, sys\n"
        "sys.dont_write_bytecode = True\n"  # it would be cut off too, and stay so
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from allminds.cli import main\n"
        "sys.argv = ['allminds', 'run', sys.argv[1], '--out', sys.argv[2], '--jobs', '1']\n"
        "main()\n"
    )
    path = tmp_path / "plan.toml"
    path.write_text(
        '[[tests]]\ninstrument = "lambda-star"\nminds = ["random"]\nepisodes = 20000\n'
        "[tests.settings]\nrows = 5\ncols = 5\niterations = 20\n"
    )
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", code, path, out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert "cannot write" in done.stderr
    assert "File too large" in done.stderr
    assert not list(out.rglob("*.tmp"))
    finished = resume(out)  # with room again, the run can be finished
    assert finished.summary()["tests"][0]["results"][0]["episodes"] == 20000


def test_the_limit_of_file_sizes_is_real():
    """The test above rests on it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert soft == resource.RLIM_INFINITY or soft > 20_000
    assert hard == resource.RLIM_INFINITY or hard > 20_000


def test_a_folder_in_use_is_refused(tmp_path):
    folder = RunFolder.create(tmp_path / "a", plan())
    with folder.locked(), pytest.raises(Error, match="in use by another run"):
        resume(folder.path)


def test_folders_that_will_not_do(tmp_path):
    with pytest.raises(Error, match="not a run folder"):
        resume(tmp_path)
    (tmp_path / "x").write_text("")
    with pytest.raises(Error, match="is not empty"):
        run(plan(), tmp_path)
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "plan.json").write_text(json.dumps({"schema": 99, "plan": {}}))
    with pytest.raises(Error, match="newer allminds"):
        resume(tmp_path / "newer")


def test_an_unwritable_place_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Error, match="cannot write"):
        run(plan(), tmp_path / "file" / "run")


def test_nothing_is_written_when_the_plan_is_wrong(tmp_path):
    with pytest.raises(Error, match="no mind 'nobody'"):
        run(plan(["nobody"]), tmp_path / "a")
    assert not (tmp_path / "a").exists()


# ---------------------------------------------------------------- failures and strictness


def test_failures_are_counted_with_their_reason():
    def now_and_then(observation, random):
        return 10 if random.below(200) == 0 else 5

    found = evaluate("lambda-star", [now_and_then], settings=SMALL, episodes=300, how=How(jobs=1))[
        "results"
    ][0]
    assert 0 < found["failed"] == found["failures"]["malformed"] < 300
    assert found["reason"] == "10 is not one of the actions 1..9"
    assert found["score"] is not None
    with pytest.raises(Error, match=r"failed exercise .* 10 is not one of the actions"):
        evaluate(
            "lambda-star", [now_and_then], settings=SMALL, episodes=300,
            how=How(jobs=1, strict=True),
        )  # fmt: skip


def test_a_mind_that_fails_everything_has_the_lowest_score_and_is_not_ranked():
    row = evaluate("lambda-star", [lambda seen: 0], settings=SMALL, episodes=20)["results"][0]
    assert (row["failed"], row["failures"]) == (20, {"malformed": 20})
    assert (row["score"], row["bounds"], row["finished"]) == (-1.0, [-1.0, 1.0], None)
    assert (row["coverage"], row["ranked"]) == (0, False)
    assert row["ci95"][0] == -1 < row["ci95"][1]  # 20 that are alike do not prove that all are
    assert row["normalised"] is None  # floor and ceiling were not asked for


def test_objects_serve_as_minds_on_any_number_of_jobs(monkeypatch):
    """A dataclass with its own equality has no hash; that must not matter."""
    from allminds.instruments.lambda_star.minds import LocalSearch, QLearning

    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 100)
    found = [
        evaluate(
            "lambda-star", [QLearning(sessions=2), LocalSearch(slip=0.1), MineToo(3)],
            settings=SMALL, episodes=450, how=How(jobs=jobs),
        )["results"]
        for jobs in (1, 2)
    ]  # fmt: skip
    assert [row["score"] for row in found[0]] == [row["score"] for row in found[1]]
    assert [row["mind"] for row in found[0]] == ["QLearning", "LocalSearch", "MineToo"]


@dataclasses.dataclass
class MineToo:
    """A user's dataclass, handed over as an object."""

    action: int

    def act(self, observation, random):
        return self.action


# ---------------------------------------------------------------- plans


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = 1", "lacks 'tests'"),
        ("tests = []", "tests must not be empty"),
        ('[[tests]]\ninstrument = "x"\nminds = ["a"]\nepisode = 3', "did you mean 'episodes'"),
        ('sed = 1\n[[tests]]\ninstrument = "x"\nminds = ["a"]', "did you mean 'seed'"),
        ('[[tests]]\ninstrument = "x"\nminds = []', "tests.0.minds must"),
        ('[[tests]]\ninstrument = "x"\nminds = ["a"]\nepisodes = -1', "episodes must be"),
        ("seed = ", "is not TOML"),
        ('seed = -1\n[[tests]]\ninstrument = "x"\nminds = ["a"]', "seed must be"),
    ],
)
def test_a_wrong_plan_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(Error) as caught:
        read_plan(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_that_cannot_be_read(tmp_path):
    with pytest.raises(Error, match="No such file"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "bin.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Error, match="not UTF-8"):
        read_plan(tmp_path / "bin.toml")


def test_the_minds_asked_about_are_in_plan_and_summary(tmp_path):
    game = {"instrument": "stag-hunt", "minds": ["stag", "hare"], "against": "random"}
    pennies = {"instrument": "matching-pennies", "minds": ["random"]}
    tests = [test | {"episodes": 4} for test in (game, pennies)]
    given = Resolved.of(Plan.model_validate({"tests": tests}), ["hare", "random"])
    assert given.plan.yours == ["hare", "random"]  # as scores are named, not as line-ups are
    made = run(given, tmp_path / "run", How(jobs=1))
    assert made.summary()["yours"] == RunFolder.open(made.path).plan.yours == ["hare", "random"]
    assert resume(made.path).plan.yours == ["hare", "random"]
    with pytest.raises(Error, match="yours: no test of the plan has the mind 'har'; did you mean"):
        Resolved.of(Plan.model_validate({"tests": tests, "yours": ["har"]}))


def test_a_plan_about_nobody_has_the_name_and_the_file_that_it_always_had(tmp_path):
    test = {"instrument": "matching-pennies", "minds": ["random"], "episodes": 4}
    nobody = Plan.model_validate({"tests": [test]})
    assert nobody.run == "b8e49f834cb0"
    assert nobody.run != nobody.model_copy(update={"yours": ["random"]}).run
    made = run(nobody, tmp_path / "run", How(jobs=1))
    stored = json.loads((made.path / "plan.json").read_text())["plan"]
    assert "yours" not in stored
    old = json.loads((made.path / "summary.json").read_text())
    del old["yours"]
    made.write_json("summary.json", old)  # as one that was made before
    assert RunFolder.open(made.path).summary()["yours"] == []


def test_the_same_mind_twice_is_refused(tmp_path):
    with pytest.raises(Error, match="given twice"):
        run(plan(["random", "random"]), tmp_path / "a")


@pytest.mark.slow
def test_a_million_episodes_stay_within_500_mb(tmp_path):
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from allminds.runs.plan import Plan\n"
        "from allminds.runs.run import How, run\n"
        "test = {'instrument': 'lambda-star', 'minds': ['local-search'], 'episodes': 10**6}\n"
        "run(Plan.model_validate({'tests': [test]}), Path(sys.argv[1]), How(jobs=2))\n"
        # Linux hands the peak of whoever started it on to a process; VmHWM is its own
        "status = Path('/proc/self/status')\n"
        "lines = status.read_text().splitlines() if status.exists() else []\n"
        "own = [int(line.split()[1]) / 2**10 for line in lines if line.startswith('VmHWM')]\n"
        "print(*own or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "million"],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    assert float(done.stdout) < 500


# ---------------------------------------------------------------- another version


def test_what_another_version_has_made_is_read_but_neither_replayed_nor_continued(
    tmp_path, monkeypatch
):
    from allminds.instruments.lambda_star.instrument import LambdaStar
    from allminds.runs.replay import replayed

    folder = run(plan(["random"], episodes=30), tmp_path / "old")
    assert replayed(folder, 3, None, 0).record.index == 3
    before = folder.records()
    monkeypatch.setattr(LambdaStar, "version", LambdaStar.version + 1)
    with pytest.raises(
        Error, match=r"was made with version 2 of lambda-star, and this .* version 3"
    ):
        replayed(folder, 3, None, 0)
    assert (
        resume(tmp_path / "old").records().equals(before)
    )  # nothing is missing: nothing is played
    for part in (tmp_path / "old").glob("*/part-*"):  # as if ten exercises had not been played
        part.rename(part.with_name(part.name.replace("000000000030", "000000000020")))
    with pytest.raises(Error, match="was version 2 and is version 3"):
        resume(tmp_path / "old")


def test_a_mind_against_itself_has_the_floor_of_the_others_in_its_test(tmp_path):
    test = {"instrument": "prisoners-dilemma", "minds": ["random", "tit-for-tat"],
            "against": "tit-for-tat", "episodes": 30}  # fmt: skip
    [found] = run(Plan(tests=[test]), tmp_path / "run", How(jobs=1)).summary()["tests"]
    rows = {row["mind"]: row for row in found["results"]}
    assert rows["random, tit-for-tat"]["normalised"] == pytest.approx(0)
    assert rows["tit-for-tat"]["normalised"] > 0.1
