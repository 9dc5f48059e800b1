"""A Dask worker's tasks: kernels on its threads, minds in Python in helper processes.

A worker runs its tasks on threads. That suits kernels, but a mind that hangs is stopped by a
signal, which only a main thread gets; and minds in Python would wait for each other there. So a
worker hands their tasks to helpers, each a process of its own (``python -m`` this module) that
reads tasks from its standard input and writes the results to its standard output.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from functools import cache, lru_cache

from allminds.core.errors import Error
from allminds.runs.engine import Part, Sitting, play


@dataclass(frozen=True)
class Order:
    """A task as it is sent: names and numbers, and the minds as the driver found them."""

    run: str  # who ordered it: see `dismiss`
    version: str  # of allminds, which the worker must have too
    sitting: bytes  # a pickled `Sitting`
    number: int
    first: int
    last: int


@cache
def own_version() -> str:
    """Return the version of allminds that is installed here."""
    return importlib.metadata.version("allminds")


def on_thread(order: Order) -> Part:
    """Do a task on this thread: it is compiled, and lets other threads work."""
    if own_version() != order.version:
        raise Error(
            f"a Dask worker has allminds {own_version()}, but here it is {order.version}; "
            "install the same version on all"
        )
    with _preparing:  # one thread makes ready what the others wait for
        sitting = _ready(order.sitting)
    return play(sitting, order.number, order.first, order.last)


_preparing = threading.Lock()


@lru_cache(maxsize=8)
def _ready(pickled: bytes) -> Sitting:
    """Unpickle a sitting and prepare its forms; the tasks of a run share it."""
    sitting: Sitting = pickle.loads(pickled)
    assert sitting.forms
    return sitting


# ---------------------------------------------------------------- helpers, from the worker


class Helper:
    """A process that does one task at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "allminds.runs.dask_helper", str(os.getpid())]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.run: str | None = None  # for whom it is at work

    def do(self, order: Order) -> Part:
        """Do a task in the helper; raise here what it raises there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump(order, self.process.stdin)
            self.process.stdin.flush()
            value = pickle.load(self.process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise Error(
                f"the process that played exercises {order.first} to {order.last - 1} on a Dask "
                f"worker was killed; it may have needed more memory than the worker has"
            ) from None
        if isinstance(value, BaseException):
            raise value
        part: Part = value
        return part

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()


_helpers: list[Helper] = []
_choosing = threading.Lock()


def in_helper(order: Order) -> Part:
    """Do a task in a free helper, or in a new one."""
    with _choosing:
        free = [helper for helper in _helpers if helper.run is None]
        helper = free[0] if free else Helper()
        helper.run = order.run
        if not free:
            _helpers.append(helper)
    try:
        part = helper.do(order)
    except BaseException:
        _end([helper])
        raise
    helper.run = None
    return part


def dismiss(run: str) -> None:
    """End the helpers that work for a run, and those that are free."""
    with _choosing:
        ended = [helper for helper in _helpers if helper.run in (run, None)]
    _end(ended)


def _end(ended: list[Helper]) -> None:
    for helper in ended:
        with contextlib.suppress(ValueError):  # another thread ended it already
            _helpers.remove(helper)
        helper.end()


# ---------------------------------------------------------------- helpers, from within


def main() -> None:
    """Do tasks until there are no more; minds read nothing, and print to standard error."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            answers.write(_done(pickle.load(orders)))
            answers.flush()


def _end_with(worker: int) -> None:
    """Exit as soon as the worker with this process id is gone."""
    while os.getppid() == worker:
        time.sleep(1)
    os._exit(1)


def _done(order: Order) -> bytes:
    """Do a task and pickle its result: a part or an exception."""
    try:
        return pickle.dumps(on_thread(order))
    except Exception as error:
        error.add_note(traceback.format_exc())  # the worker's own traceback ends at the pipe
        try:
            return pickle.dumps(error)
        except Exception:  # somebody's exception that cannot travel
            return pickle.dumps(RuntimeError(traceback.format_exc()))


if __name__ == "__main__":
    main()
