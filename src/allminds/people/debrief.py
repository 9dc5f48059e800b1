"""The participant's own result, beside what programs make of the very same exercises.

Programs play in the background, each exercise once, and are remembered while the server runs. Who
is not ready within a few seconds is left out; the page can be loaded again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReady

from allminds import registry
from allminds.blocks import Block
from allminds.contracts import Instrument, Record
from allminds.episode import play
from allminds.people.sessions import MindResult, Role, Screen, TestResult
from allminds.people.study import Study, stored
from allminds.watch import Watch

PATIENCE = 5.0  # seconds a page waits for programs


class Machines:
    """Programs that take the exercises of people."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._at_work = ThreadPoolExecutor(1, thread_name_prefix="debrief")
        self._played: dict[tuple[str, str, tuple[int, ...]], Future[tuple[Record, ...]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Play no more."""
        self._at_work.shutdown(wait=False, cancel_futures=True)

    def warm(self, study: Study) -> None:
        """Begin with what everybody will be shown at the end."""
        if study.assignment == "same":
            for test in range(len(study.tests)):
                for mind, _ in _minds(study, test):
                    self._ask(study.tool(test), study.seed, mind, study.numbers(test, 0))

    def results(self, screen: Screen) -> list[TestResult]:
        """What the last screen shows."""
        study = stored(screen.plan)
        until = time.monotonic() + self.patience
        return [
            self._result(study, test, records, until) for test, records in enumerate(screen.records)
        ]

    def _result(
        self, study: Study, test: int, records: Sequence[Record], until: float
    ) -> TestResult:
        tool = study.tool(test)
        done = [record for record in records if record.status == ("ok",)]
        taken = list(records) if tool.adaptive else done  # an adaptive test is one whole
        minds: list[MindResult] = []
        for mind, role in _minds(study, test) if done else []:
            asked = self._ask(tool, study.seed, mind, [record.index for record in taken])
            try:
                played = [
                    record
                    for future in asked
                    for record in future.result(max(0.0, until - time.monotonic()))
                ]
            except NotReady:
                continue
            minds.append({"mind": mind, "role": role, "score": score(tool, played)})
        return {
            "face": tool.name,
            "exercises": len(done),
            "score": score(tool, taken),
            "chance": tool.chance,
            "ceiling": tool.ceiling,
            "minds": minds,
        }

    def _ask(
        self, tool: Instrument, seed: int, mind: str, numbers: Sequence[int]
    ) -> list[Future[tuple[Record, ...]]]:
        """Exercises are asked for one by one, those of an adaptive test together."""
        parts = [tuple(numbers)] if tool.adaptive else [(number,) for number in numbers]
        prefix = registry.exercise_prefix(tool, seed)
        with self._lock:
            for part in parts:
                if (prefix, mind, part) not in self._played:
                    self._played[prefix, mind, part] = self._at_work.submit(
                        _played, tool, seed, mind, part
                    )
            return [self._played[prefix, mind, part] for part in parts]


def _minds(study: Study, test: int) -> list[tuple[str, Role]]:
    """Floor and ceiling, and those that the study names."""
    tool = study.tool(test)
    named: list[tuple[str, Role]] = [(tool.floor_mind, "floor")]
    named += [(mind, "mind") for mind in study.tests[test].minds]
    named += [(tool.ceiling_mind, "ceiling")] if tool.ceiling_mind else []
    return list({mind: (mind, role) for mind, role in reversed(named)}.values())[::-1]


def _played(tool: Instrument, seed: int, mind: str, numbers: Sequence[int]) -> tuple[Record, ...]:
    line_up = registry.line_up(mind, tool)
    made: list[Record] = []
    for number in numbers:
        exercise = tool.exercise(seed, number, made if tool.adaptive else ())
        made.append(play(exercise, line_up, Watch(0)))
    return tuple(made)


def score(tool: Instrument, records: Sequence[Record]) -> float | None:
    """One figure for some exercises, by the instrument's own rule."""
    if not records:
        return None
    tally = tool.tally()
    for record in records:
        tally.add(Block.of([record], record.steps, 0))
    return tally.estimate().score
