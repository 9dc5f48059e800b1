"""What can befall a run: kills, full disks, broken parts, clocks that jump, two at a time."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "runs"))
from killing import killed, make_plan
from plainly import evaluate
from test_run import SMALL, plan, same

from allminds.core.errors import Error
from allminds.runs import engine
from allminds.runs.run import How, resume, run
from allminds.runs.store import RunFolder
from allminds.runs.summary import summarise

KILLS = int(os.environ.get("ALLMINDS_KILLS", "3"))  # benchmarks/faults.py kills 20 times


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return run(plan(episodes=600), tmp_path_factory.mktemp("run") / "a", How(jobs=1))


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 100)


@pytest.fixture
def parted(unbroken, small_parts, tmp_path):
    """A run of six parts that is complete."""
    return run(unbroken.plan, tmp_path / "parted", How(jobs=1))


# ---------------------------------------------------------------- kills


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_bit_identical(tmp_path):
    path, what = make_plan(tmp_path, 1 + KILLS // 4)
    found = killed(path, tmp_path / "killed", KILLS, seed=7)
    assert len(found) == KILLS
    assert found == sorted(found)  # nothing that was written is lost
    same(run(what, tmp_path / "unbroken", How(jobs=1)), RunFolder.open(tmp_path / "killed"))
    assert not list((tmp_path / "killed").rglob("*.tmp"))


def test_a_run_killed_before_it_began_can_be_started_again(unbroken, tmp_path):
    out = tmp_path / "out"
    (out / "records").mkdir(parents=True)
    (out / "lock").write_text("")
    (out / "plan.json.tmp").write_text("{")
    same(unbroken, run(unbroken.plan, out, How(jobs=1)))


def test_sums_of_a_part_whose_records_were_never_written_do_not_count(parted, unbroken):
    """Killed between its curves and its records, and cut otherwise when it is played again."""
    victim = parted.parts()[2]
    stray = victim.name.replace("300", "299")
    victim.unlink()
    (parted.path / "curves" / victim.name).rename(parted.path / "curves" / stray)
    same(unbroken, resume(parted.path, How(jobs=1)))


def test_a_process_that_is_killed_is_one_sentence(tmp_path, monkeypatch):
    file = tmp_path / "deadly.py"
    file.write_text("import os\ndef deadly(seen):\n    os.kill(os.getpid(), 9)\n")
    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 10)
    with pytest.raises(Error, match=r"a process that played .*deadly on lambda-star was killed"):
        evaluate("lambda-star", [f"{file}:deadly"], settings=SMALL, episodes=40, how=How(jobs=2))


ORPHAN = """
import os, pickle, sys, threading, time
from allminds.runs import dask_helper as engine_helper
order = pickle.load(sys.stdin.buffer)
threading.Thread(target=engine_helper.in_helper, args=(order,), daemon=True).start()
while not engine_helper._helpers:
    time.sleep(0.05)
print(engine_helper._helpers[0].process.pid, flush=True)
time.sleep(float(sys.argv[1]))
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_worker_was_at_ends_too(tmp_path):
    psutil = pytest.importorskip("psutil")
    from test_dask import order

    def slow(seen):
        time.sleep(99)

    command = [sys.executable, "-c", ORPHAN, "4"]
    done = subprocess.run(
        command, input=pickle.dumps(order(slow)), stdout=subprocess.PIPE, check=False
    )
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while psutil.pid_exists(int(done.stdout)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(int(done.stdout))


# ---------------------------------------------------------------- a full disk


@pytest.mark.parametrize("room", [0, 1, 2, 3, 4, 5, 12, 39])
def test_a_disk_that_is_full_at_any_write(unbroken, small_parts, tmp_path, monkeypatch, room):
    """The disk takes `room` writes more; 1 plan, 6 parts of 3 or 4, 1 summary, and sums of each."""
    left, sync = itertools.count(room, -1), os.fsync

    def fsync(descriptor: int) -> None:
        if next(left) <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(Error, match=r"^cannot write .*: No space left on device$"):
            run(unbroken.plan, out, How(jobs=1))
    assert not list(out.rglob("*.tmp"))
    if room > 1:
        same(unbroken, resume(out, How(jobs=1)))
    else:  # not even the plan could be written
        same(unbroken, run(unbroken.plan, out, How(jobs=1)))


FULL = """
set -e
mount -t tmpfs -o size=100k none "$1"
set +e
"$2" -m allminds run "$3" --out "$1/run" --jobs 1 2> "$4/said"
echo $? > "$4/code"
find "$1" -name "*.tmp" > "$4/left"
mount -o remount,size=100m "$1"
"$2" -m allminds run --resume "$1/run" --jobs 1 > /dev/null 2> "$4/later"
cp -r "$1/run" "$4/run"
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full(tmp_path):
    """A small file system of its own, where we may have one."""
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    disk = tmp_path / "disk"
    disk.mkdir()
    probe = [*alone, "mount", "-t", "tmpfs", "none", str(disk)]
    if not shutil.which("unshare") or subprocess.run(probe, check=False).returncode:
        pytest.skip("no file system of our own here")
    path, what = make_plan(tmp_path, 1)
    path.write_text(path.read_text().replace("episodes = 600", "episodes = 20000"))
    command = [*alone, "sh", "-c", FULL, "sh", disk, sys.executable, path, tmp_path]
    subprocess.run(command, check=True, timeout=120)
    said = (tmp_path / "said").read_text()
    assert (tmp_path / "code").read_text() == "2\n"
    assert said.count("\n") == 1
    assert said.startswith("allminds: cannot write")
    assert "No space left on device" in said
    assert (tmp_path / "left").read_text() == ""
    assert (tmp_path / "later").read_text() == ""
    test = what.tests[0].model_copy(update={"episodes": 20000})
    whole = run(what.model_copy(update={"tests": [test]}), tmp_path / "whole", How(jobs=1))
    same(whole, RunFolder.open(tmp_path / "run"))


# ---------------------------------------------------------------- broken parts


def flipped(whole: bytes) -> bytes:
    """One bit of the pages is wrong."""
    place = len(whole) // 3
    return whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :]


DAMAGE = {
    "empty": lambda whole: b"",
    "cut short": lambda whole: whole[: len(whole) // 2],
    "cut at its end": lambda whole: whole[:-1],
    "overwritten": lambda whole: bytes(len(whole)),
    "one bit": flipped,
}


@pytest.mark.parametrize("kind", ["records", "curves", "traces", "timings"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_broken_part_is_named_and_played_again(parted, unbroken, kind, damage):
    hurt, *others = parted.parts()
    before = {path: path.stat().st_mtime_ns for path in others}
    victim = parted.path / kind / hurt.name
    victim.write_bytes(DAMAGE[damage](victim.read_bytes()))
    read = (lambda: summarise(parted)) if kind == "timings" else getattr(parted, kind)
    with pytest.raises(Error) as caught:
        read()
    assert str(caught.value) == (
        f"{victim} is missing or damaged; "
        f"play that part again with allminds run --resume {parted.path}"
    )
    same(unbroken, resume(parted.path, How(jobs=1)))
    assert before == {path: path.stat().st_mtime_ns for path in others}  # and no other part


@pytest.mark.parametrize("damage", ["empty", "cut short"])
def test_a_broken_part_is_named_wherever_parts_are_asked_for(parted, damage):
    victim = parted.parts()[3]
    victim.write_bytes(DAMAGE[damage](victim.read_bytes()))
    with pytest.raises(Error, match=f"{victim.name} is missing or damaged; play that part again"):
        parted.parts(0)
    with pytest.raises(Error, match=f"{victim.name} is missing or damaged; play that part again"):
        parted.rows(0, 350, "random")


def test_a_part_that_lost_its_sums_is_played_again(parted, unbroken):
    (parted.path / "curves" / parted.parts()[1].name).unlink()
    same(unbroken, resume(parted.path, How(jobs=1)))


def test_a_broken_summary_and_a_broken_plan(parted, unbroken):
    (parted.path / "summary.json").write_text('{"tests": [')
    with pytest.raises(Error, match="is not complete; finish it with allminds run --resume"):
        parted.summary()
    same(unbroken, resume(parted.path, How(jobs=1)))
    (parted.path / "plan.json").write_bytes(b"\x00\x00")
    with pytest.raises(Error, match=r"not a run folder: it has no readable plan\.json"):
        resume(parted.path)


# ---------------------------------------------------------------- a clock that jumps


def test_a_clock_that_jumps_changes_nothing(unbroken, tmp_path, monkeypatch):
    rng = random.Random(3)
    monkeypatch.setattr(time, "time", lambda: 1e9 + rng.uniform(-1e8, 1e8))
    monkeypatch.setattr(time, "time_ns", lambda: rng.randrange(2**60))
    same(unbroken, run(unbroken.plan, tmp_path / "b", How(jobs=1)))


def test_time_limits_do_not_hear_the_clock(monkeypatch):
    """Neither does a quick mind run out of time when a day passes, nor may a slow one stay."""

    def dawdles(seen, random):
        if random.below(100) == 0:
            time.sleep(30)
        return 5

    def quick(seen):
        return 5

    days = itertools.count(0, 86_400)
    monkeypatch.setattr(time, "time", lambda: 1e9 - next(days))
    found = evaluate(
        "lambda-star", [dawdles, quick], settings=SMALL, episodes=12, time_limit=0.2, how=How(1)
    )
    slow, fast = found["results"]
    assert 0 < slow["failures"]["timeout"] < 12
    assert fast["failed"] == 0


# ---------------------------------------------------------------- two at a time


def test_two_runs_into_one_folder(tmp_path):
    """The second is refused while the first is at it, whether it resumes or starts anew."""
    (tmp_path / "mind.py").write_text(
        "import pathlib, time\ndef slow(seen):\n"
        "    pathlib.Path(__file__).with_name('begun').touch()\n    time.sleep(9)\n"
    )
    path = tmp_path / "plan.toml"
    path.write_text(
        f'[[tests]]\ninstrument = "lambda-star"\nminds = ["{tmp_path}/mind.py:slow"]\n'
        "episodes = 9\n"
    )
    out = tmp_path / "out"
    words = [sys.executable, "-m", "allminds", "run"]
    first = subprocess.Popen([*words, path, "--out", out, "--jobs", "1"])
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)  # it has written its plan, and locked the folder again
        with pytest.raises(Error, match="is not empty; resume it with --resume"):
            run(plan(), out)
        with pytest.raises(Error, match="in use by another run; wait for it to end"):
            resume(out)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    with RunFolder.open(out).locked():
        pass  # the lock died with its process


def test_of_two_runs_that_start_at_once_one_comes_first(tmp_path, monkeypatch):
    """Both found the folder empty; the one that is late must not change the other's plan."""
    looks = iter([None, None])
    check = RunFolder._check_unused

    def late(self):
        if next(looks, "again") is None and self.plan.seed == 5:
            RunFolder.create(self.path, plan(seed=4)) if not self.path.exists() else check(self)
        else:
            check(self)

    monkeypatch.setattr(RunFolder, "_check_unused", late)
    with pytest.raises(Error, match="is not empty; resume it"):
        RunFolder.create(tmp_path / "out", plan(seed=5))
    assert RunFolder.open(tmp_path / "out").plan.seed == 4
