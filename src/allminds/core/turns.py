"""Threads that take turns: many may wait for something at once, and only one computes at a time.

So minds and instruments need not know of threads, and a language model's exercises can be asked
side by side: a thread that waits for a provider lets another one have the turn.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

_TURN = threading.Lock()
_mine = threading.local()  # whether this thread has the turn


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Hold the turn while the context lasts, as soon as no other thread does."""
    with _TURN:
        _mine.held = True
        try:
            yield
        finally:
            _mine.held = False


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Leave the turn to others while the context lasts; without a turn this does nothing."""
    if not getattr(_mine, "held", False):
        yield
        return
    _mine.held = False
    _TURN.release()
    try:
        yield
    finally:
        _TURN.acquire()
        _mine.held = True


def at_once(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks that mostly wait side by side, each in its turn; return their results in order."""
    if len(tasks) < 2:
        return [task() for task in tasks]

    def one(task: Callable[[], T]) -> T:
        with turn():
            return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        begun = [pool.submit(copy_context().run, one, task) for task in tasks]
        with waiting():
            wait(begun)
    return [task.result() for task in begun]
