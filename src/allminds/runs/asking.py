"""Language models cost money: they are asked here, and each paid answer is stored at once.

Whatever the engine and the number of jobs, their exercises are played in this process one after
the other, so that `allminds.core.spending` counts every call, and each is handed on as soon
as it is over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from allminds.runs import engine
from allminds.runs.engine import Part, Sitting, Spread
from allminds.runs.plan import Plan
from allminds.runs.run import How, resolved
from allminds.runs.store import RunFolder


def _all_is_well() -> None:
    """Accept every exercise: the default check."""


@dataclass(frozen=True)
class Asking(How):
    """A `How` for language models; if `check` raises, the exercise is not kept."""

    check: Callable[[], None] = _all_is_well  # called after every exercise of theirs

    @contextlib.contextmanager
    def engaged(self) -> Iterator[Spread]:
        """Open the engine, and play the exercises of language models in this process instead."""
        with super().engaged() as spread:
            yield partial(_spread, spread, self.check)


def _spread(
    spread: Spread,
    check: Callable[[], None],
    sitting: Sitting,
    number: int,
    todo: Iterator[tuple[int, int]],
) -> Iterator[Part]:
    if not _asks(sitting):
        yield from spread(sitting, number, todo)
        return
    for part in _one_by_one(sitting, number, todo):
        check()
        yield part


def _one_by_one(sitting: Sitting, number: int, todo: Iterable[tuple[int, int]]) -> Iterator[Part]:
    """Play one exercise at a time, here; an administration of an adaptive test is never split."""
    size = sitting.tool.sitting if sitting.tool.adaptive else 1
    for first, last in todo:
        for low in range(first, last, size):
            yield engine.play(sitting, number, low, min(last, low + size))


def _asks(sitting: Sitting) -> bool:
    seats = (seat for line_up in sitting.line_ups for seat in line_up.seats)
    return any(seat.subject.paid for seat in seats)


def count_calls(plan: Plan, how: How, folder: RunFolder | None = None) -> None:
    """Play the language models of a plan, or what a run lacks of them, and keep nothing.

    This is for a dry run: the caller counts the calls with `spending(dry=True)`.
    """
    for number, (test, given) in enumerate(zip(plan.tests, resolved(plan), strict=True)):
        for n, sitting in enumerate(given.seats(plan.seed, 0, plan.time_limit)):
            if not _asks(sitting):
                continue
            gaps = [(0, test.episodes)]
            if folder:
                gaps = folder.gaps(number, n, test.episodes, remove=False)
            what = f"{test.instrument}, {sitting.line_ups[0].name}"
            for part in _one_by_one(sitting, n, gaps):
                how.progress(what, part.last, test.episodes)
