"""Transcripts: the replies of language models, kept as they come, and never paid for twice.

Every reply is appended to a journal in the run folder before anything else is done with it. A run
that is resumed finds it there by what was asked, where and in which order; so even an exercise
that a kill cut in the middle goes on from its last reply. When an exercise is over, its replies
go into a part of the run, beside its records.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.files import writing
from allminds.core.messages import MEMBER
from allminds.core.spending import COUNTED

if TYPE_CHECKING:
    import pyarrow as pa

JOURNAL = "journal.jsonl"
CONNECTIONS = 10  # calls at once, as Inspect has it
Place = tuple[int, int, str, str, str]
# columns of the records in which a language model played
ASKED = ("calls", "input_tokens", "output_tokens", "reasoning_tokens", "cost")
NOTED = COUNTED  # and what became of the replies


@dataclass(frozen=True)
class Reply:
    """One question to a model and its reply, with what it took."""

    index: int  # of the exercise
    slot: int
    model: str
    request: str  # hash of all that was sent
    asked: str  # what was new in it
    reply: str
    stop: str  # why the reply ended
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int | None
    cost: float | None
    seconds: float  # that the provider took
    output: str  # the whole reply, as Inspect has it
    member: str = ""  # of a group, counted from 1: whom it is booked to
    left_out: int = 0  # earlier steps of the conversation that were not sent

    @property
    def place(self) -> Place:
        """What the reply is found by: where it was asked for, and all that was sent."""
        return self.index, self.slot, self.member, self.model, self.request


class Journal:
    """The replies to one mind in one test of a run, in a file that is appended to."""

    def __init__(self, path: Path | None, test: int = 0, kept: Iterable[Reply] = ()) -> None:
        self.path, self.test, self.kept = path, test, list(kept)
        self._lock = threading.Lock()
        self._known: dict[Place, deque[Reply]] = {}
        for one in self.kept:
            self._known.setdefault(one.place, deque()).append(one)

    def find(self, place: Place) -> Reply | None:
        """Return a reply that was paid for before, once."""
        with self._lock:
            known = self._known.get(place)
            return known.popleft() if known else None

    def add(self, sitting: int, reply: Reply) -> None:
        """Append a reply, and return when it is on disk."""
        if self.path is None:
            return
        where = {"test": self.test, "sitting": sitting}
        line = json.dumps(where | asdict(reply), ensure_ascii=False).encode()
        with self._lock, writing(self.path):
            self.path.parent.mkdir(exist_ok=True)
            with open(self.path, "a+b") as file:
                file.seek(max(0, file.tell() - 1))
                torn = file.read() not in (b"", b"\n")  # by a kill
                file.write(b"\n" * torn + line + b"\n")
                file.flush()
                os.fsync(file.fileno())


def read_journal(path: Path, test: int) -> list[Reply]:
    """Read the replies of a test from a journal; a line that a kill cut short is left out."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
            if entry["test"] == test:
                found.append(_reply(entry))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _reply(entry: Mapping[str, Any]) -> Reply:
    """Read a reply; one that was stored before there was `left_out` has none."""
    return Reply(**{one.name: entry[one.name] for one in fields(Reply) if one.name in entry})


class Sheet:
    """The replies in one part of a run, as it is played."""

    def __init__(
        self,
        journal: Journal,
        sitting: int,
        stopped: threading.Event,
        connections: int = CONNECTIONS,
    ) -> None:
        self.journal, self.sitting, self.stopped = journal, sitting, stopped
        self.connections = connections  # calls at once, over all sheets
        self.replies: list[Reply] = []
        self.counts: dict[tuple[int, int], Mapping[str, int]] = {}  # by exercise and slot

    def note(self, slot: int, counts: Mapping[str, int]) -> None:
        """Add to what became of the replies in the exercise that is being played."""
        place = PLAYING.get(), slot
        before = self.counts.get(place, {})
        self.counts[place] = {name: before.get(name, 0) + counts[name] for name in NOTED}

    def find(self, slot: int, model: str, request: str) -> Reply | None:
        """Return the stored reply to a request in the exercise that is being played, if any."""
        found = self.journal.find((PLAYING.get(), slot, MEMBER.get(), model, request))
        if found is not None:
            self.replies.append(found)
        return found

    def add(self, reply: Reply) -> None:
        """Keep a reply that has just come."""
        self.journal.add(self.sitting, reply)
        self.replies.append(reply)

    def ordered(self) -> list[Reply]:
        """Return the replies by exercise, slot and member; those of one in the order they came."""
        return sorted(self.replies, key=lambda one: (one.index, one.slot, one.member))


PLAYING: ContextVar[int] = ContextVar("allminds_exercise", default=0)  # its number
SHEET: ContextVar[Sheet | None] = ContextVar("allminds_sheet", default=None)
JOURNALS: ContextVar[Journal | None] = ContextVar("allminds_journal", default=None)


def sums(sheet: Sheet, first: int, exercises: int, slots: int) -> dict[str, NDArray[np.float64]]:
    """Sum what replies took by exercise and slot; NaN where no model was asked, or none told."""
    made = {name: np.full((exercises, slots), np.nan) for name in (*ASKED, *NOTED)}
    for (index, slot), counts in sheet.counts.items():
        for name, count in counts.items():
            made[name][index - first, slot] = count
    for one in sheet.replies:
        place = one.index - first, one.slot
        for name in ASKED:
            value = 1 if name == "calls" else getattr(one, name)
            if value is not None:
                made[name][place] = np.nansum([made[name][place], value])
    return made


def table(mind: str, replies: Sequence[Reply]) -> pa.Table:
    """Build the table of replies, as a run folder has it."""
    import pyarrow as pa

    kinds = {"index": pa.int64(), "slot": pa.int32(), "cost": pa.float64(), "seconds": pa.float64()}
    kinds |= dict.fromkeys((*ASKED[1:4], "left_out"), pa.int64())
    columns: dict[str, Any] = {"mind": pa.array([mind] * len(replies), pa.string())}
    for one in fields(Reply):
        values = [getattr(reply, one.name) for reply in replies]
        columns[one.name] = pa.array(values, kinds.get(one.name, pa.string()))
    return pa.table(columns)


def replies_of(rows: pa.Table) -> list[Reply]:
    """Read replies from such a table."""
    return [_reply(row) for row in rows.to_pylist()]


def by_member(replies: Iterable[Reply]) -> dict[tuple[int, str], dict[str, float]]:
    """Sum what replies took by slot and member; a mind outside a group has no member's number."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    for one in replies:
        booked = found.setdefault((one.slot, one.member), dict.fromkeys(ASKED, 0.0))
        for name in ASKED:
            booked[name] += 1 if name == "calls" else getattr(one, name) or 0
    return found
