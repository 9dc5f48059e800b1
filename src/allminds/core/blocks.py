"""Records by the thousand: the fields of `Record`, as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.contracts import STATUSES, Message, Record

Number = TypeVar("Number", np.int64, np.float64)
LATTICE = 2.0**-26
LESSON = ("course", "phase", "role", "position", "trained")  # columns that a course adds
TENTHS = 10  # stretches of an exercise's steps whose mean rewards a course keeps


def on_lattice(rewards: ArrayLike) -> NDArray[np.float64]:
    """Round rewards to multiples of 2^-26, of which 10^8 can be added in any order exactly.

    So a learning curve is the same however exercises were cut into blocks.
    """
    return np.rint(np.asarray(rewards, float) / LATTICE) * LATTICE


@dataclass
class Block:
    """The records of exercises first, first + 1, … for one line-up, as arrays [exercise, slot]."""

    first: int
    complexity: dict[str, NDArray[np.float64]]  # [exercise]
    score: NDArray[np.float64]  # NaN where it is missing: another slot's mind failed
    learning: NDArray[np.float64]
    status: NDArray[np.int8]  # index into STATUSES
    steps: NDArray[np.int32]  # [exercise]
    curve: NDArray[np.float64]  # [step]: `on_lattice` rewards of all slots, over ok exercises
    actions: NDArray[np.int16]  # [exercise, step, slot] of the traced ones, 0 where none was
    reasons: dict[int, str] = field(default_factory=dict)  # exercise -> why it failed
    item: NDArray[np.int64] | None = None  # [exercise]; None if no two exercises show the same
    cluster: NDArray[np.int64] | None = None  # [exercise]; None if each item is one of its own
    course: dict[str, NDArray[Any]] = field(default_factory=dict)  # [exercise]: see `LESSON`
    tenths: NDArray[np.float64] | None = None  # [exercise, slot, tenth]: mean rewards, in a course
    asked: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # what models took
    messages: list[tuple[int, Message]] = field(default_factory=list)  # of the traced exercises

    @classmethod
    def of(cls, records: Sequence[Record], steps: int, traced: int = 0) -> Block:
        """Convert the records of consecutive exercises of at most `steps` steps to arrays."""

        def numbers(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
            return np.array([[np.nan if x is None else x for x in row] for row in rows], float)

        curve = np.zeros(steps)
        kept, slots = max(0, min(traced, len(records))), len(records[0].score)
        actions = np.zeros((kept, steps, slots), np.int16)
        for n, record in enumerate(records):
            if set(record.status) == {"ok"}:
                curve[: record.steps] += on_lattice(record.rewards).sum(axis=1)
            for step, made in enumerate(record.actions if n < kept else ()):
                for slot, action in made.items():
                    actions[n, step, slot] = action
        return cls(
            first=records[0].index,
            complexity={
                name: np.array([record.complexity.get(name, np.nan) for record in records], float)
                for name in dict.fromkeys(name for one in records for name in one.complexity)
            },
            score=numbers([record.score for record in records]),
            learning=numbers([record.learning for record in records]),
            status=np.array([[STATUSES.index(s) for s in r.status] for r in records], np.int8),
            steps=np.array([record.steps for record in records], np.int32),
            curve=curve,
            actions=actions,
            reasons={record.index: record.reason for record in records if record.reason},
            item=_whole([record.item for record in records]),
            cluster=_whole([record.cluster for record in records]),
            course=_places(records),
            tenths=tenths_of(records) if steps > 1 and records[0].lesson else None,
            messages=[(record.index, one) for record in records[:kept] for one in record.messages],
        )

    @classmethod
    def join(cls, blocks: Sequence[Block]) -> Block:
        """Join consecutive blocks into one."""
        curve = np.zeros(max(len(block.curve) for block in blocks))
        for block in blocks:
            curve[: len(block.curve)] += block.curve
        traced = [block.actions for block in blocks if len(block.actions)] or [blocks[0].actions]
        longest = max(actions.shape[1] for actions in traced)
        padded = [np.pad(a, ((0, 0), (0, longest - a.shape[1]), (0, 0))) for a in traced]
        reasons: dict[int, str] = {}
        for block in blocks:
            reasons |= block.reasons
        return cls(
            first=blocks[0].first,
            complexity={
                name: np.concatenate([block.complexity[name] for block in blocks])
                for name in blocks[0].complexity
            },
            score=np.concatenate([block.score for block in blocks]),
            learning=np.concatenate([block.learning for block in blocks]),
            status=np.concatenate([block.status for block in blocks]),
            steps=np.concatenate([block.steps for block in blocks]),
            curve=curve,
            actions=np.concatenate(padded),
            reasons=reasons,
            item=_joined([block.item for block in blocks]),
            cluster=_joined([block.cluster for block in blocks]),
            course={
                name: np.concatenate([block.course[name] for block in blocks])
                for name in blocks[0].course
            },
            tenths=_joined([block.tenths for block in blocks]),
            asked={
                name: np.concatenate([block.asked[name] for block in blocks])
                for name in blocks[0].asked
            },
            messages=[one for block in blocks for one in block.messages],
        )


def _places(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Return the places of exercises in a course as columns; none if there is no course."""
    lessons = [record.lesson for record in records if record.lesson is not None]
    if not lessons:
        return {}
    found: dict[str, NDArray[Any]] = {
        name: np.array([getattr(lesson, name) for lesson in lessons]) for name in LESSON
    }
    return found | {"trained_steps": np.array([record.trained_steps for record in records])}


def tenth_of(steps: int) -> NDArray[np.int64]:
    """Assign each step of an exercise to a tenth of its steps; of fewer, some have none."""
    return np.arange(steps) * TENTHS // max(steps, 1)


def tenths_of(records: Sequence[Record]) -> NDArray[np.float64]:
    """Average the rewards of each slot over each tenth of the steps; NaN where there is no step."""
    made = np.full((len(records), len(records[0].score), TENTHS), np.nan)
    for n, record in enumerate(records):
        if record.rewards:
            rewards, place = np.array(record.rewards, float), tenth_of(len(record.rewards))
            for tenth in np.unique(place):
                here = rewards[place == tenth]
                made[n, :, tenth] = [math.fsum(column) / len(here) for column in here.T]
    return made


def _whole(numbers: Sequence[int | None]) -> NDArray[np.int64] | None:
    return None if numbers[0] is None else np.array(numbers, np.int64)


def _joined(parts: Sequence[NDArray[Number] | None]) -> NDArray[Number] | None:
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None


def block_difference(a: Block, b: Block) -> str:
    """Describe the first difference between two blocks, bit by bit; empty if they are equal."""
    if a.first != b.first:
        return f"first: {a.first} and {b.first}"
    if set(a.complexity) != set(b.complexity):
        return f"complexity columns: {sorted(a.complexity)} and {sorted(b.complexity)}"
    pairs = {name: (values, b.complexity[name]) for name, values in a.complexity.items()}
    for name in ("actions", "score", "learning", "status", "steps", "curve"):
        pairs[name] = (getattr(a, name), getattr(b, name))
    for name, (one, other) in pairs.items():
        if not np.array_equal(one, other, equal_nan=name in ("score", "learning")):
            if one.shape != other.shape:
                return f"{name}: shapes {one.shape} and {other.shape}"
            where = tuple(int(n) for n in np.argwhere(one != other)[0])
            return f"{name}{list(where)}: {one[where]} and {other[where]}"
    if a.messages != b.messages:
        return f"messages: {len(a.messages)} and {len(b.messages)}"
    return "" if a.reasons == b.reasons else f"reasons: {a.reasons} and {b.reasons}"
