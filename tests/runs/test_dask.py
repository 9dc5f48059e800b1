"""A Dask cluster, a real one on loopback: the same table bit for bit, whoever dies."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from plainly import evaluate
from test_run import MINE, SMALL, plan, same

from allminds.core.errors import Error
from allminds.runs import dask as engine_dask
from allminds.runs import dask_helper as engine_helper
from allminds.runs import engine
from allminds.runs.dask import check_versions, packed
from allminds.runs.dask_helper import Order, dismiss, in_helper, own_version
from allminds.runs.engine import Sitting
from allminds.runs.run import How, run

pytest.importorskip("distributed")
EXAMPLES = Path(__file__).parents[2] / "examples"


class Cluster:
    """A scheduler and workers as a user would start them by hand."""

    def __init__(self, workers: int = 2, tls: tuple[str, ...] = (), **environment: str) -> None:
        self.tls, self.environment = tls, os.environ | environment
        with tempfile.TemporaryDirectory() as folder:
            said = Path(folder) / "scheduler.json"  # it takes a free port, and says which
            place = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(said))
            self.scheduler = self.dask("scheduler", *place)
            self.address = self.awaited(said)
        self.workers = [self.worker() for _ in range(workers)]

    def awaited(self, said: Path) -> str:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
                return json.loads(said.read_text())["address"]
            time.sleep(0.1)
        self.scheduler.kill()
        raise TimeoutError("the scheduler did not start")

    def worker(self, *python: str, **environment: str) -> subprocess.Popen:
        options = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        return self.dask("worker", self.address, *options, python=python, **environment)

    def dask(self, *words, python=(), **environment) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, *python, "-m", "dask", *words, "--no-dashboard", *self.tls],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=self.environment | environment,
        )  # fmt: skip

    def kill(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextlib.contextmanager
def started(*arguments, **keywords):
    made = Cluster(*arguments, **keywords)
    try:
        yield made
    finally:
        made.kill()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A busy machine is no fault of a cluster that is there."""
    monkeypatch.setattr(engine_dask, "CONNECTING", 60.0)
    monkeypatch.setattr(engine_dask, "PATIENCE", 120.0)


@pytest.fixture(scope="module")
def cluster():
    with started() as made:
        yield made


# ---------------------------------------------------------------- the same table


def hangs(observation, random):
    if random.below(150) == 0:
        time.sleep(60)
    return 5


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return run(plan([*plan().tests[0].minds, MINE]), tmp_path_factory.mktemp("run") / "a", How(1))


def test_a_cluster_by_address_gives_the_same_table(unbroken, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 400)
    same(unbroken, run(unbroken.plan, tmp_path / "b", How(engine=cluster.address)))


def test_a_worker_that_dies_is_not_missed(unbroken, cluster, tmp_path, monkeypatch):
    """Later tests have the one that is left."""
    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 100)
    first, *others = cluster.workers

    def kill(_what: str, done: int, total: int) -> None:
        if 0.8 * total < done:  # the mind in Python is at play, and much of it is on its way
            first.kill()

    how = How(engine=cluster.address, progress=kill)
    same(unbroken, run(unbroken.plan, tmp_path / "b", how))
    assert first.poll() == -signal.SIGKILL
    assert [other.poll() for other in others] == [None] * len(others)


@pytest.mark.parametrize(
    "kinds",
    [
        ("batched_mind.py:Careful", "object", "function"),
        pytest.param(("numba_mind.py:careful",), marks=pytest.mark.slow),  # compiles twice
    ],
)
def test_minds_of_every_kind_travel(cluster, kinds):
    own = {"object": Mine(3), "function": lambda seen: 5}
    minds = [own.get(kind, f"{EXAMPLES}/{kind}") for kind in kinds]
    found = [
        evaluate("lambda-star", minds, settings=SMALL, episodes=600, how=How(1, where))["results"]
        for where in ("local", cluster.address)
    ]
    assert [row | {"seconds": 0} for row in found[0]] == [row | {"seconds": 0} for row in found[1]]
    assert not any(row["failed"] for row in found[0])


@dataclasses.dataclass
class Mine:
    """A user's dataclass: without a hash, in a module that no worker has."""

    action: int = 2

    def act(self, observation, random):
        return self.action


@pytest.mark.slow
def test_a_cluster_of_this_machine_needs_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import allminds as am\n"
        "for engine in ('local', 'dask'):\n"
        "    found = am.evaluate('lambda-star', ['random', lambda seen: 5], episodes=50,\n"
        "                        how=am.How(1, engine))\n"
        "    print([row['score'] for row in found['results']])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    here, there = done.stdout.splitlines()
    assert here == there
    assert done.stderr == ""


# ---------------------------------------------------------------- minds in helpers of a worker


def order(mind, time_limit=10.0, last=20, seed=4, **more) -> Order:
    sitting = Sitting("lambda-star", tuple(SMALL.items()), (mind,), seed, 0, time_limit)
    given = {"run": "a", "version": own_version(), "sitting": packed(sitting), "number": 0}
    return Order(**given | {"first": 0, "last": last} | more)


@pytest.fixture(scope="module", autouse=True)
def _no_helpers_left():
    yield
    dismiss("a")
    assert engine_helper._helpers == []


def test_a_mind_that_hangs_on_a_worker_is_broken_off():
    (block,) = in_helper(order(hangs, time_limit=0.3, seed=2)).blocks
    here = evaluate("lambda-star", [hangs], settings=SMALL, episodes=20, seed=2, time_limit=0.3)
    assert here["results"][0]["failures"] == {"timeout": len(block.reasons)}
    assert 0 < len(block.reasons) < 20


def test_a_worker_needs_no_file_of_the_users(tmp_path):
    beside, file = tmp_path / "beside_dask_test.py", tmp_path / "mind.py"
    beside.write_text("CHOICE = 4\n")
    file.write_text("from beside_dask_test import CHOICE\ndef mine(seen):\n    return CHOICE\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        made = order(f"{file}:mine")
    file.unlink()
    beside.unlink()
    (block,) = in_helper(made).blocks
    assert not block.reasons


def test_what_a_mind_prints_and_reads_is_kept_apart(capfd):
    def talker(seen):
        os.write(1, b"\x80\x05hello\n")
        return 5 if os.read(0, 10) == b"" else 0

    assert not in_helper(order(talker)).blocks[0].reasons


def test_a_mind_that_ends_its_process_is_one_sentence():
    with pytest.raises(Error, match="exercises 0 to 19 on a Dask worker was killed"):
        in_helper(order(lambda seen: os._exit(3)))
    assert not in_helper(order(lambda seen: 5)).blocks[0].reasons


def test_a_worker_of_another_version_refuses():
    with pytest.raises(Error, match=r"has allminds .* but here it is 9\.9"):
        in_helper(order(lambda seen: 5, version="9.9"))


def test_helpers_are_used_again_and_end_with_their_run():
    in_helper(order(lambda seen: 5))
    (helper,) = engine_helper._helpers
    in_helper(order(lambda seen: 4))
    assert engine_helper._helpers == [helper]
    helper.run = "a"
    dismiss("another run")
    assert helper.process.poll() is None
    helper.run = None
    dismiss("another run")  # nobody has work for it
    assert helper.process.poll() is not None


def test_what_cannot_travel_is_one_sentence():
    lock = threading.Lock()
    with pytest.raises(Error, match=r"cannot be sent to a Dask worker: .*lock"):
        order(lambda seen: lock)


# ---------------------------------------------------------------- errors, one sentence each


def tried(address: str, **more) -> str:
    with pytest.raises(Error) as caught:
        evaluate("lambda-star", [MINE], settings=SMALL, episodes=600, how=How(1, address, **more))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_all_workers_and_then_the_scheduler_are_lost(monkeypatch, tmp_path):
    monkeypatch.setattr(engine.Sitting, "chunk", lambda self: 50)
    levels = {name: logging.getLogger(name).level for name in ("distributed", "distributed.client")}
    with started(1) as made:

        def leave(_what: str, done: int, _total: int) -> None:
            if done:
                monkeypatch.setattr(engine_dask, "PATIENCE", 1.0)
                made.workers[0].kill()

        assert "all Dask workers at tcp://" in tried(made.address, progress=leave)
        assert "has no workers; start some with: dask worker" in tried(made.address)
        monkeypatch.setattr(engine_dask, "PATIENCE", 120.0)
        made.workers.append(made.worker())

        def end(_what: str, done: int, _total: int) -> None:
            if done:
                monkeypatch.setattr(engine_dask, "CONNECTING", 2.0)
                made.scheduler.kill()

        assert "is gone; start it again" in tried(made.address, progress=end)
        assert f"no Dask scheduler answers at {made.address}" in tried(made.address)
        with pytest.raises(Error, match="no Dask scheduler answers"):
            run(plan(), tmp_path / "none", How(1, made.address))
        assert not (tmp_path / "none").exists()
    assert levels == {name: logging.getLogger(name).level for name in levels}


def test_something_else_at_the_address_holds_nobody_up(monkeypatch):
    """It takes the connection and says nothing, for which Dask itself would wait for ever."""
    monkeypatch.setattr(engine_dask, "CONNECTING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert f"no Dask scheduler answers at {address}" in tried(address)


def test_tls_needs_certificates():
    assert "name your certificates in Dask's own configuration" in tried("tls://127.0.0.1:1")


@pytest.mark.slow
def test_tls_with_certificates(tmp_path):
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    words = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    made = ["openssl", "req", *words, "-keyout", key, "-out", cert]
    if not shutil.which("openssl") or subprocess.run(made, check=False).returncode:
        pytest.skip("no openssl here")
    place = "DASK_DISTRIBUTED__COMM__TLS__"
    environment = {f"{place}CA_FILE": cert}
    environment |= {
        f"{place}CLIENT__{what}": where for what, where in (("CERT", cert), ("KEY", key))
    }
    options = ("--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key, "--protocol", "tls")
    with started(1, options) as made:
        words = ("evaluate", "lambda-star", "-m", "random", "--episodes", "20", "--json")
        child = command(*words, "--engine", made.address, **environment)
        out, said = child.communicate(timeout=180)
    assert said == ""
    assert json.loads(out)["results"][0]["episodes"] == 20


def test_a_worker_without_allminds_is_named(tmp_path, monkeypatch):
    for path in Path(pytest.__file__).parents[1].iterdir():
        if "allminds" not in path.name:
            (tmp_path / path.name).symlink_to(path)
    with started(0) as made:
        made.workers.append(made.worker("-S", PYTHONPATH=str(tmp_path)))
        assert "has no allminds; install allminds" in tried(made.address)


@pytest.mark.parametrize(
    ("package", "python", "said"),
    [
        (None, sys.version, "Dask at tcp://w:1 has no allminds; install allminds"),
        ("9.9", sys.version, "has allminds 9.9 on Python 3"),
        (own_version(), "3.2.1", r"on Python 3\.2, but here it is .*; install the same on all"),
    ],
)
def test_workers_of_other_versions_are_refused(package, python, said):
    fine = {"host": {"python": sys.version}, "packages": {"allminds": own_version()}}
    other = {"host": {"python": python}, "packages": {"allminds": package}}
    check_versions({"tcp://w:0": fine})
    with pytest.raises(Error, match=said):
        check_versions({"tcp://w:0": fine, "tcp://w:1": other})


@pytest.mark.parametrize("name", ["tcp://localhost", "http://localhost:8786", "tcp://:x", "tls://"])
def test_what_is_no_address_is_one_sentence(name):
    with pytest.raises(
        Error, match=f"'{name}' is not an address of a Dask scheduler, such as tcp://"
    ):
        How(engine=name)


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name in ("dask", "tcp://localhost:8786"):
        said = f"--engine {name} needs Dask; install it with: pip install 'allminds[cluster]'"
        assert tried(name) == said


def test_a_task_that_kills_its_workers_is_one_sentence():
    from distributed import KilledWorker

    error = engine_dask._mendable(KilledWorker("a", None, 3))
    assert "may need more memory than a worker has" in str(error)


# ---------------------------------------------------------------- from the command line


def command(*words: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "allminds", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | environment,
    )  # fmt: skip


def test_the_command_line_takes_an_address(cluster):
    words = ["evaluate", "lambda-star", "-m", "random", "-m", MINE, "--episodes", "40", "--json"]
    children = [command(*words), command(*words, "--engine", cluster.address)]
    said = [child.communicate(timeout=180) for child in children]
    assert [errors for _, errors in said] == ["", ""]
    found = [json.loads(out)["results"] for out, _ in said]
    assert [row["score"] for row in found[0]] == [row["score"] for row in found[1]]


@pytest.mark.slow
def test_an_interrupt_takes_the_work_back(cluster, tmp_path):
    (tmp_path / "mind.py").write_text(
        "import time\ndef slow(seen):\n    time.sleep(1)\n    return 5"
    )
    (tmp_path / "plan.toml").write_text(
        f'[[tests]]\ninstrument = "lambda-star"\nminds = ["random", "{tmp_path}/mind.py:slow"]\n'
        "episodes = 5000\n"
    )
    words = ["run", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out")]
    child = command(*words, "--engine", cluster.address)
    deadline = time.monotonic() + 120
    while not helpers_of(cluster) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert helpers_of(cluster)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=180)
    assert child.returncode == 130
    assert said == f"allminds: stopped; go on with: allminds run --resume {tmp_path / 'out'}\n"
    assert not helpers_of(cluster)


def helpers_of(cluster: Cluster) -> list[int]:
    import psutil  # comes with distributed

    workers = [psutil.Process(one.pid) for one in cluster.workers if one.poll() is None]
    return [child.pid for worker in workers for child in worker.children()]
