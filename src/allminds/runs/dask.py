"""The Dask engine: a cluster on this machine, or a running one by its scheduler's address.

Tasks are Dask futures, a few for every thread of the cluster. Results stay on the workers until
their turn comes. A worker that dies takes its tasks and results with it: Dask has the other workers
do them again, and as a task's value depends on nothing but the task, the results are the same.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import sysconfig
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from allminds.core.errors import Error
from allminds.runs.dask_helper import Order, dismiss, in_helper, on_thread, own_version
from allminds.runs.engine import Part, Sitting, Spread

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
CONNECTING = 10.0  # seconds to wait for a scheduler
PATIENCE = 30.0  # seconds to wait for a worker when there is none: a new one may be on its way
LOOK = 1.0  # seconds between looks at the workers while a part is awaited
AGAIN = "start it again; a run goes on with allminds run --resume"
AHEAD = 3  # tasks handed out for every thread: one at work, and some at hand


@contextlib.contextmanager
def cluster(name: str, jobs: int) -> Iterator[Spread]:
    """Open the cluster at an address, or for "dask" one of `jobs` processes on this machine."""
    try:
        import distributed  # noqa: F401 - whether it is there
    except ImportError:
        raise Error(
            f"--engine {name} needs Dask; install it with: pip install 'allminds[cluster]'"
        ) from None
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        address = stack.enter_context(local_cluster(jobs)) if name == "dask" else name
        client = stack.enter_context(_connected(address))
        driver = Driver(client, address, uuid.uuid4().hex)
        driver.check()
        stack.callback(driver.close)
        yield driver.spread


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's own loggers while this lasts; errors are one sentence of allminds."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def local_cluster(jobs: int) -> Iterator[str]:
    """Start a cluster on this machine, and yield its address.

    Its workers are commands of their own and not forks of this program, which would run a script
    without a main guard all over again; they end when this process does.
    """
    from distributed import Scheduler, SpecCluster
    from distributed.deploy.subprocess import SubprocessWorker

    place = {"host": "127.0.0.1", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    more = {"nthreads": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL}
    options = {"worker_class": "distributed.Worker", "worker_kwargs": place | more}
    workers = {number: {"cls": SubprocessWorker, "options": options} for number in range(jobs)}
    scheduler = {"cls": Scheduler, "options": place}
    with _quiet(), SpecCluster(workers, scheduler, silence_logs=False) as made:
        yield made.scheduler_address


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    from distributed import Client

    def connect() -> Client:
        asked = {"timeout": CONNECTING, "set_as_default": False, "name": "allminds"}
        try:
            return Client(address, **asked)
        except AssertionError:  # Dask gives its thread 10 s to start, which a busy machine exceeds
            return Client(address, **asked)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: see `check_versions`
            client = _in_time(connect)
    except OSError:
        raise Error(
            f"no Dask scheduler answers at {address}; start one with: dask scheduler"
        ) from None
    except (TypeError, RuntimeError, ValueError) as error:
        hint = " (name your certificates in Dask's own configuration)" * address.startswith("tls")
        raise Error(f"cannot connect to {address}{hint}: {error}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(TimeoutError):
            client.close(timeout=CONNECTING)


def _in_time(function: Callable[[], T]) -> T:
    """Call a function that may wait for an answer; raise TimeoutError if none comes."""
    found: list[T] = []
    raised: list[BaseException] = []

    def call() -> None:
        try:
            found.append(function())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(1.5 * CONNECTING)
    if raised:
        raise raised[0]
    if not found:
        raise TimeoutError
    return found[0]


@dataclass(frozen=True)
class Driver:
    """The driver's end of the cluster, for one run."""

    client: Client
    address: str
    run: str  # no other run has this name
    waiting: deque[Future] = field(default_factory=deque)  # tasks handed out, in order

    def check(self) -> None:
        """Require workers, and that their versions of allminds and Python are ours."""
        deadline = time.monotonic() + PATIENCE
        while not self.client.nthreads():
            if time.monotonic() > deadline:
                raise Error(
                    f"the Dask scheduler at {self.address} has no workers; start some with: "
                    f"dask worker {self.address}"
                )
            time.sleep(0.1)
        found = self.client.get_versions(packages=["allminds"])
        check_versions({self.address: found["scheduler"]} | found["workers"])

    def spread(
        self, sitting: Sitting, number: int, todo: Iterator[tuple[int, int]]
    ) -> Iterator[Part]:
        """Play the tasks of a sitting all over the cluster; yield the parts in order."""
        function = on_thread if sitting.compiled else in_helper
        pickled = packed(sitting)
        try:
            for first, last in todo:
                order = Order(self.run, own_version(), pickled, number, first, last)
                self.waiting.append(self.client.submit(function, order, pure=False))
                if len(self.waiting) >= AHEAD * sum(self.client.nthreads().values()):
                    yield self._next()
            while self.waiting:
                yield self._next()
        except (CancelledError, OSError):
            raise Error(f"the Dask scheduler at {self.address} is gone; {AGAIN}") from None

    def _next(self) -> Part:
        """Wait for the next result; give up after `PATIENCE` seconds without workers."""
        future = self.waiting.popleft()
        alone = 0.0
        while alone < PATIENCE:
            try:
                part: Part = future.result(timeout=LOOK)
                return part
            except Exception as error:
                if future.status == "error":
                    raise _mendable(future.exception()) from None
                if not isinstance(error, TimeoutError):
                    raise
            alone = 0.0 if self.client.nthreads() else alone + LOOK
        raise Error(f"all Dask workers at {self.address} are gone; {AGAIN}")

    def close(self) -> None:
        """Cancel the tasks that are left; do not wait for a cluster that does not answer."""
        with contextlib.suppress(Exception):
            _in_time(lambda: self.client.cancel(list(self.waiting), force=True))
            _in_time(lambda: self.client.run(dismiss, self.run, on_error="ignore"))


def _mendable(error: BaseException) -> BaseException:
    """Convert what a task raised to an `Error` where the user can correct it."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return Error(
            "some exercises ended one Dask worker after the other; "
            "a mind may need more memory than a worker has"
        )
    if isinstance(error, (ImportError, OSError)):
        return Error(f"a Dask worker lacks what the test needs: {error}")
    return error


# ---------------------------------------------------------------- what is sent to workers


def check_versions(cluster: Mapping[str, Any]) -> None:
    """Require our allminds and our Python everywhere: minds are sent as its byte code."""
    mine = (own_version(), f"{sys.version_info.major}.{sys.version_info.minor}")
    for address, found in cluster.items():
        theirs = found["packages"]["allminds"]
        if theirs is None:
            raise Error(f"Dask at {address} has no allminds; install allminds {mine[0]} there")
        python = ".".join(found["host"]["python"].split(".")[:2])
        if (theirs, python) != mine:
            raise Error(
                f"Dask at {address} has allminds {theirs} on Python {python}, but here it is "
                f"{mine[0]} on {mine[1]}; install the same on all"
            )


def packed(sitting: Sitting) -> bytes:
    """Pickle a sitting with its minds, so that a worker needs no file of the user's."""
    import cloudpickle

    sent = sitting.bare(every=True)
    sent.__dict__["line_ups"] = sitting.line_ups
    ours = own_modules()
    for module in ours:
        cloudpickle.register_pickle_by_value(module)
    try:
        made: bytes = cloudpickle.dumps(sent)
        return made
    except Exception as error:
        names = ", ".join(line_up.name for line_up in sitting.line_ups)
        raise Error(f"{names} cannot be sent to a Dask worker: {error}") from None
    finally:
        for module in ours:
            cloudpickle.unregister_pickle_by_value(module)


def own_modules() -> list[ModuleType]:
    """List the modules that are not installed, such as a mind's own file: no worker has them."""
    places = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    installed = (*places, str(Path(__file__).parents[1]))
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        packaged = "/site-packages/" in file or "/dist-packages/" in file
        own = file.endswith(".py") and not packaged and not file.startswith(installed)
        if own and name == module.__name__:
            found.append(module)
    return found
