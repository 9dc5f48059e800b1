"""Exercises of minds that are paid by the call: played side by side, and stored reply by reply.

A part is one exercise, or one administration of an adaptive test, which is never split. Parts
come in the order of their exercises, however many are played at once, so results do not depend on
it. Only one thread computes at a time; see `core.turns`.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from allminds.contracts import STATUSES
from allminds.core.errors import Error
from allminds.core.transcripts import JOURNALS, SHEET, Journal, Sheet, sums
from allminds.core.turns import turn
from allminds.runs import engine
from allminds.runs.engine import Part, Sitting

AHEAD = 16  # times the connections: exercises that may be over before an earlier one is
MISSING = STATUSES.index("missing")
GRACE = 10.0  # seconds for replies on their way when a run is stopped: they will be billed


def is_paid(sitting: Sitting) -> bool:
    """Return True if a mind of the sitting costs money by the call."""
    seats = (seat for line_up in sitting.line_ups for seat in line_up.seats)
    return any(seat.subject.paid for seat in seats)


@contextlib.contextmanager
def kept_in(journal: Journal | None) -> Iterator[None]:
    """Keep the replies to what is played meanwhile in a journal, and take those in it."""
    token = JOURNALS.set(journal)
    try:
        yield
    finally:
        JOURNALS.reset(token)


def side_by_side(
    sitting: Sitting,
    number: int,
    todo: Iterable[tuple[int, int]],
    connections: int,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Part]:
    """Play exercises of a paid mind, some at once; yield parts in their order.

    `check` is called for every part in which an exercise is missing; if it raises, that part is
    dropped, no other is begun, and its error is raised when those that were begun have come.
    """
    size = sitting.tool.sitting if sitting.tool.adaptive else 1
    tasks = (
        (low, min(last, low + size)) for first, last in todo for low in range(first, last, size)
    )
    watched = any(not seat.subject.built_in for one in sitting.line_ups for seat in one.seats)
    journal, stopped = JOURNALS.get() or Journal(None), threading.Event()
    jobs = (
        (sitting, number, *task, Sheet(journal, number, stopped, connections)) for task in tasks
    )
    alone = connections == 1 or watched  # a time limit needs the main thread
    parts: Iterator[Part] = (
        itertools.starmap(_played, jobs) if alone else _spread(jobs, connections, stopped)
    )
    error: Error | None = None
    for part in parts:
        if _lacks(part):
            try:
                check()
            except Error as found:
                error = found
                stopped.set()
        if error is None or not _lacks(part):
            yield part
        if error is not None and alone:
            break
    if error is not None:
        raise error


def _spread(
    jobs: Iterable[tuple[Any, ...]], connections: int, stopped: threading.Event
) -> Iterator[Part]:
    """Play parts on as many threads as there may be connections; yield them in their order."""
    begun = deque[Future[Part]]()
    pool = ThreadPoolExecutor(connections, thread_name_prefix="allminds-asking")
    try:
        for job in jobs:
            if stopped.is_set():
                break
            begun.append(pool.submit(copy_context().run, _in_turn, *job))
            while begun and (begun[0].done() or len(begun) >= AHEAD * connections):
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    except BaseException as error:
        stopped.set()
        _end(begun, 0.0 if isinstance(error, KeyboardInterrupt) else GRACE)
        raise
    finally:
        pool.shutdown()


def _lacks(part: Part) -> bool:
    """Return True if an exercise of the part is missing."""
    return any((block.status == MISSING).any() for block in part.blocks)


def _end(begun: Iterable[Future[Part]], grace: float) -> None:
    """Begin no exercise any more, wait a little for the replies on their way, give up the rest."""
    running = [one for one in begun if not one.cancel()]
    wait(running, grace)
    from allminds.bridges.providers import Call

    Call.cancel_all()


def _in_turn(sitting: Sitting, number: int, first: int, last: int, sheet: Sheet) -> Part:
    with turn():
        return _played(sitting, number, first, last, sheet)


def _played(sitting: Sitting, number: int, first: int, last: int, sheet: Sheet) -> Part:
    """Play one part, and add to its blocks what its replies took."""
    token = SHEET.set(sheet)
    try:
        part = engine.play(sitting, number, first, last)
    finally:
        SHEET.reset(token)
    replies = sheet.ordered()
    if replies:
        for block in part.blocks:
            block.asked = sums(sheet, first, *block.score.shape)
    return replace(part, replies=replies)
