"""Exercises of a course as they are drawn: which of them are alike, and in what order they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from allminds.contracts import Environment, Exercise, Instrument
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, Random, key

Order = Literal["drawn", "rising", "falling", "blocked", "interleaved"]
ALIKE = 8  # exercises that are looked at to see whether all are one, as in a game
ORDER_OF_COURSE = 0xFFFFFFFE  # the step of the making stream that orders are drawn at


# ---------------------------------------------------------------- what has been met


@dataclass
class Met:
    """Exercises that were drawn for one role, to be known again."""

    marks: set[Any] = field(default_factory=set)
    worlds: dict[Any, list[Environment]] = field(default_factory=dict)

    def add(self, exercise: Exercise) -> None:
        """Remember an exercise by its item or its world."""
        self.marks |= _marks(exercise)
        self.worlds.setdefault(_kind(exercise), []).append(exercise.environment)

    def __contains__(self, exercise: Exercise) -> bool:
        if marks := _marks(exercise):
            return not marks.isdisjoint(self.marks)
        return exercise.environment in self.worlds.get(_kind(exercise), ())


def _marks(exercise: Exercise) -> set[Any]:
    """Collect what an exercise is known by: item and cluster, or what its world says."""
    if exercise.item is not None:
        return {exercise.item} | ({exercise.cluster} - {None})
    known = exercise.environment.known_by
    return set() if known is None else {(type(exercise.environment), known)}


def _kind(exercise: Exercise) -> Any:
    """Return what equal environments have in common, to compare few of them."""
    return type(exercise.environment), *sorted(exercise.environment.complexity.items())


def actions_of(tool: Instrument) -> set[str]:
    """Collect the actions of the first exercises of a test; several if exercises differ."""
    return {str(tool.exercise(0, i).environment.actions) for i in range(ALIKE)}


def is_one(tool: Instrument, seed: int) -> bool:
    """Check whether all exercises of a test are one world, as those of a game are."""
    first = tool.exercise(seed, 0)
    others = (tool.exercise(seed, i).environment for i in range(1, ALIKE))
    same = first.item is None and all(other == first.environment for other in others)
    return same or tool.length == 1


# ---------------------------------------------------------------- orders


def in_order(exercises: Sequence[Exercise], order: Order, column: str | None) -> list[Exercise]:
    """Put exercises in an order of their complexity, by `column` or else by their first column.

    Rising and falling sort by it, equals as they were drawn. Blocked gives all of one complexity
    after another, in a random order of complexities; interleaved gives one of each in turn.
    """
    if order == "drawn":
        return list(exercises)
    column = column or next(iter(exercises[0].environment.complexity), None)
    if column is None:
        raise Error(f"course: {exercises[0].instrument} has no complexity to put exercises in "
                    f"order={order}; leave the order out")  # fmt: skip
    level = {id(one): float(one.environment.complexity[column]) for one in exercises}
    if order in ("rising", "falling"):
        sign = 1 if order == "rising" else -1
        return sorted(exercises, key=lambda one: sign * level[id(one)])
    values = sorted(set(level.values()))
    first = exercises[0]
    random = Random(key(first.seed, first.index, MAKING), ORDER_OF_COURSE)
    blocks = [
        [one for one in exercises if level[id(one)] == values[place]]
        for place in random.permutation(len(values))
    ]
    if order == "blocked":
        return [one for block in blocks for one in block]
    longest = max(len(block) for block in blocks)
    return [block[turn] for turn in range(longest) for block in blocks if turn < len(block)]
