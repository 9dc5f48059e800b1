"""The participant's own result, beside what programs make of the very same exercises.

Programs play in the background, each exercise once, and are remembered while the server runs. A
program that is not ready within a few seconds is left out; the page can be loaded again. `parity`
says how the test of a participant differs from that of a program.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReady
from typing import Any

from allminds import registry
from allminds.contracts import Instrument, Record
from allminds.core.blocks import Block
from allminds.core.line_up import LineUp, Subject
from allminds.core.watch import Watch
from allminds.episode import Company
from allminds.web.questions import face
from allminds.web.replays import ENDED, own_side
from allminds.web.screens import MindResult, Role, Screen, TestResult
from allminds.web.study import GivenTest, Study, stored

BROKEN_OFF = (ENDED["void"][1], ENDED["replaced"][1])  # reasons: what the rules for gaps ended
PATIENCE = 5.0  # seconds a page waits for programs


class Machines:
    """Programs that take the exercises of participants."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._at_work = ThreadPoolExecutor(1, thread_name_prefix="debrief")
        self._played: dict[tuple[Any, ...], Future[tuple[Record, ...]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Cancel all waiting plays."""
        self._at_work.shutdown(wait=False, cancel_futures=True)

    def warm(self, study: Study) -> None:
        """Start playing the exercises that every participant will be shown at the end."""
        if study.assignment == "same":
            for test in range(len(study.tests)):
                for mind, _ in _minds(study, test):
                    slot = study.tests[test].slot
                    self._ask(study, test, slot, mind, study.numbers(test, 0))

    def results(self, screen: Screen) -> list[TestResult]:
        """Compute what the last screen shows."""
        study = stored(screen.plan)
        if not study.debrief.results:
            return []
        until = time.monotonic() + self.patience
        return [
            self._result(study, test, screen.slots.get(test, 0), records, until)
            for test, records in enumerate(screen.records)
        ]

    def _result(
        self, study: Study, test: int, slot: int, records: Sequence[Record], until: float
    ) -> TestResult:
        tool = study.tool(test)
        done = [record for record in records if set(record.status) == {"ok"}]
        counted = [record for record in records if record.score[0] is not None]  # failures too
        taken = list(records) if tool.adaptive else counted  # an adaptive test is one whole
        minds: list[MindResult] = []
        for mind, role in _minds(study, test) if taken else []:
            asked = self._ask(study, test, slot, mind, [record.index for record in taken])
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
            "told": face(tool, slot).told(),
            "exercises": len(done),
            "score": score(tool, taken),
            "chance": tool.chance,
            "ceiling": tool.ceiling,
            "minds": minds,
            "other": study.tests[test].machine if study.tests[test].opponent else "",
        }

    def _ask(
        self, study: Study, test: int, slot: int, mind: str, numbers: Sequence[int]
    ) -> list[Future[tuple[Record, ...]]]:
        """Ask for exercises one by one, for those of an adaptive test together."""
        tool = study.tool(test)
        parts = [tuple(numbers)] if tool.adaptive else [(number,) for number in numbers]
        prefix = registry.exercise_prefix(tool, study.seed)
        who = (mind, slot, study.tests[test].machine)
        with self._lock:
            for part in parts:
                if (prefix, who, part) not in self._played:
                    self._played[prefix, who, part] = self._at_work.submit(
                        _played, study, test, slot, mind, part
                    )
            return [self._played[prefix, who, part] for part in parts]


def _minds(study: Study, test: int) -> list[tuple[str, Role]]:
    """List floor and ceiling, and the minds that the study names."""
    tool = study.tool(test)
    named: list[tuple[str, Role]] = [(tool.floor_mind, "floor")]
    named += [(mind, "mind") for mind in study.tests[test].minds]
    named += [(tool.ceiling_mind, "ceiling")] if tool.ceiling_mind else []
    return list({mind: (mind, role) for mind, role in reversed(named)}.values())[::-1]


def _played(
    study: Study, test: int, slot: int, mind: str, numbers: Sequence[int]
) -> tuple[Record, ...]:
    tool = study.tool(test)
    line_up = registry.line_up(mind, tool)
    if study.tests[test].opponent:
        line_up = against(registry.subject(mind, tool), study.machine(test), slot)
    made: list[Record] = []
    company = Company(line_up, Watch(0))
    for number in numbers:
        exercise = tool.exercise(study.seed, number, made if tool.adaptive else ())
        made.append(company.play(exercise, made))
    return tuple(own_side(record, slot) for record in made)


def against(mind: Subject, other: Subject, slot: int) -> LineUp:
    """Seat a mind in a slot of a game for two, and another in the other slot."""
    return LineUp.of([mind, other] if slot == 0 else [other, mind], 2)


def score(tool: Instrument, records: Sequence[Record]) -> float | None:
    """Compute one figure for some exercises, by the instrument's own rule."""
    if not records:
        return None
    tally = tool.tally()
    for record in records:
        tally.add(Block.of([record], record.steps, 0))
    return tally.estimate().score


# ---------------------------------------------------------------- how the two differ


def parity(study: Study, rows: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """List how a participant's test differs from a program's: to be said with comparisons.

    `rows` are the results, of which those are counted that a gap ended.
    """
    courses = any(given.settings.get("course") for given in study.tests)
    found = [
        *_of_tests(study),
        "People are not reset between exercises; programs begin each anew"
        + (", unless they carry in a course." if courses else "."),
        _time(study),
        "An exercise that a participant left unfinished counts as failed.",
    ]
    gaps = {"replace": "replaced by fresh ones", "void": "broken off and not scored"}
    if study.resume.policy in gaps:
        ended = [row["person"] for row in rows if row["reason"] in BROKEN_OFF]
        found.append(
            f"Exercises with a long gap were {gaps[study.resume.policy]}, at most "
            f"{study.resume.most} of a participant: in all {len(ended)} exercises, in "
            f"{len(set(ended))} sessions."
        )
    return found


def _of_tests(study: Study) -> list[str]:
    """List what differs in the tests, each with the instruments and arms that it is true of."""
    said: dict[str, list[tuple[str, str]]] = {}
    there: list[tuple[str, str]] = []
    for made in study.variants:
        for test, given in enumerate(made.tests):
            slot, here = given.slot if given.opponent else 0, (given.instrument, made.arm)
            there.append(here)
            for sentence in (*face(made.tool(test), slot).parity(made.show_numbers), *_told(given)):
                said.setdefault(sentence, []).append(here)
    several = len({name for name, _ in there}) > 1
    found = []
    for sentence, where in said.items():
        names = list(dict.fromkeys(name for name, _ in where))
        arms = list(dict.fromkeys(arm for _, arm in where))
        partly = any(name in names and arm not in arms for name, arm in there)
        said_of = [", ".join(names)] * several + [f"arm {', '.join(arms)}"] * partly
        found.append(f"{', '.join(said_of)}: {sentence}" if said_of else sentence)
    return found


def _time(study: Study) -> str:
    """Say how people's time was limited, if it was."""
    limits = [
        f"{seconds:g} s for {what} of {name}"
        for name, given in zip(study.names, study.tests, strict=True)
        for seconds, what in (
            (given.choice_seconds, "a choice"), (given.exercise_seconds, "an exercise")
        )
        if seconds
    ]  # fmt: skip
    if not limits:
        return "Time was free and is recorded, not scored."
    return f"People had {', '.join(limits)}; an exercise that took longer counts as failed."


def _told(given: GivenTest) -> list[str]:
    """List what people were told or given in a test that no program is."""
    count = f"{given.practice} exercise" + "s" * (given.practice > 1)
    trials = f" and {count} to practise on" if given.practice else ""
    said = [f"People had instructions{trials}; a program's rehearsals are in its traits."]
    if given.settings.get("course"):
        said.append("People remember what they met in the tests of a course; programs are copied.")
    if given.feedback and not given.opponent:
        said.append("People were told after every question whether they were right.")
    return said
