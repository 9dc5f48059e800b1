"""What minds learn over courses: the figures of docs/learning.md, and studies of minds that do not.

    .venv/bin/python benchmarks/learning.py                  # everything, in about ten minutes
    .venv/bin/python benchmarks/learning.py curve            # or some parts, see PARTS
    .venv/bin/python benchmarks/learning.py nulls --courses 400

Every part prints its tables as Markdown. Twenty courses a mind unless told otherwise.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from allminds import MindBase, Traits, evaluate, registry
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.minds import QLearning
from allminds.statistics.courses import crossed_courses, staged_course
from allminds.statistics.learning import WORDS, Learning, learning
from allminds.statistics.learning_words import markdown_of, sheets

GRADIENT = "policy-gradient(carry=true)"
TABLE = "q-learning(carry=true,epsilon=0.1)"
VIEW = "q-learning(carry=true,state=view,epsilon=0.1)"
SMALL = {"rows": 5, "cols": 5, "iterations": 20}  # of Λ*
SIZES = (2, 8, 20)  # courses of a study of nothing


class Memoriser(MindBase):
    """Answers a series that it has met as it was right, and any other by the first letter."""

    traits = Traits(learns=True, deterministic=True, carries=True)

    def __init__(self) -> None:
        self.wrong: dict[str, set[int]] = {}
        self.right: dict[str, int] = {}

    def act(self, observation: Any, random: Random) -> int:  # noqa: ARG002
        """Answer what was right, or the first letter that was not wrong."""
        self.shown = observation.shown
        tried = self.wrong.get(self.shown, set())
        guess = next((n for n in range(26) if n not in tried), 0)
        self.said = self.right.get(self.shown, guess)
        return self.said

    def learn(self, reward: float, observation: Any, done: bool) -> None:  # noqa: ARG002
        """Store what was said, as right or as wrong."""
        if reward:
            self.right[self.shown] = self.said
        else:
            self.wrong.setdefault(self.shown, set()).add(self.said)


class Idle(MindBase):
    """Moves by lot, and declares that it carries."""

    traits = Traits(carries=True)

    def act(self, observation: Any, random: Random) -> int:  # noqa: ARG002
        """Draw a move."""
        return 1 + random.below(9)


class Amnesiac(QLearning):
    """Q-learning that learns within an exercise, and forgets all of it before the next."""

    def __init__(self) -> None:
        super().__init__(epsilon=0.1, carry=True, state="view")

    def begin(self, task: Any) -> None:
        """Clear the table."""
        self.table = {}
        super().begin(task)


# ---------------------------------------------------------------- parts


def show(found: Learning, leave_out: Sequence[str] = ()) -> None:
    """Print the tables of a part, without some of them."""
    for sheet in sheets(found):
        if sheet.name not in leave_out:
            print(f"\n**{sheet.title}**\n\n{markdown_of(sheet)}", flush=True)
    for note in found.notes:
        print(f"\n{note}")


def measured(
    instrument: str, minds: Sequence[Any], courses: Mapping[str, Any], episodes: int,
    ends: bool = True, **settings: Any,
) -> Learning:  # fmt: skip
    """Give some courses of an instrument to some minds, by default with floor and ceiling."""
    tests = []
    for course in courses.values():
        taken = evaluate(
            instrument, minds, settings=settings, course=course, episodes=episodes, ends=ends
        )
        tool = registry.make_instrument(taken["instrument"], taken["settings"])
        tests.append((tool, taken.frame()))
    return learning(tests, labels=list(courses))


def curve(episodes: int) -> None:
    """Print Q-learning's curve in Λ*: five patterns over and over, and ten that stay fresh."""
    course = staged_course([1, 1, 2, 4, 8, 16], test=10, same=5)
    minds = [TABLE, VIEW, "local-search"]
    show(measured("lambda-star", minds, {"same and fresh": course}, episodes, **SMALL))


def fresh(episodes: int) -> None:
    """Print curves in Λ* over training exercises that are all different."""
    course = staged_course([5, 5, 10, 20, 40], test=11)
    minds = [VIEW, GRADIENT, "local-search"]
    show(measured("lambda-star", minds, {"fresh": course}, episodes, **SMALL))


def crossed(instrument: str, minds: Sequence[Any], kinds: Sequence[Mapping[str, Any]],
            train: int, test: int, episodes: int, **settings: Any) -> None:  # fmt: skip
    """Print the transfer matrix and the forgetting of some minds."""
    courses = crossed_courses(kinds, train, test)
    labelled = {f"course {n}": course for n, course in enumerate(courses, 1)}
    found = measured(instrument, minds, labelled, episodes, ends=False, **settings)
    show(found, ("curve", "weighted", "efficiency", "practice", "speed"))


def c_test(episodes: int) -> None:
    """Print what an item-memorising mind learns, transfers and forgets on the C-test."""
    kinds = [{"settings": {"k": k}} for k in ("7..9", "13..15")]
    crossed("c-test", [Memoriser], kinds, 60, 20, episodes, form="generated")
    met = {"met": staged_course([4, 8, 16], test=20, same=20)}
    found = measured("c-test", [Memoriser], met, episodes, form="generated")
    show(found, ("weighted", "practice", "speed"))


def lambda_(episodes: int) -> None:
    """Print learning, transfer and forgetting of Q-learning over spaces of Λ."""
    kinds = [{"settings": {"cells": cells}} for cells in (3, 5)]
    crossed("lambda", ["q-learning(carry=true)"], kinds, 40, 10, episodes,
            form="general", cells=3, actions=3, steps=20)  # fmt: skip


def landscape(episodes: int) -> None:
    """Print the same of policy gradient, over landscapes with few hills and with many."""
    kinds = [{"settings": {"peaks": peaks}} for peaks in ("1..2", "12..20")]
    crossed("landscape", [GRADIENT], kinds, 30, 10, episodes, iterations=40)


def instruments(episodes: int) -> None:
    """Print transfer between Λ* and landscapes, whose moves are the same."""
    kinds = [
        {"instrument": "lambda-star", "settings": dict(SMALL)},
        {"instrument": "landscape", "settings": {"iterations": 40}},
    ]
    crossed("lambda-star", [GRADIENT], kinds, 30, 10, episodes)


def nulls(episodes: int) -> None:
    """Count what is said of minds that carry nothing over, in studies of few courses."""
    course = "test=4,train=9,test,again=1,train=4,k=6..7,test,again=1"
    settings = {"rows": 5, "cols": 5, "iterations": 12, "k": "2..4"}
    taken = evaluate("lambda-star", [Idle, Amnesiac], settings=settings, course=course,
                     episodes=20 * episodes, ends=False)  # fmt: skip
    tool = registry.make_instrument(taken["instrument"], taken["settings"])
    frame = taken.frame()
    print("\n| mind | courses | studies | " + " | ".join(WORDS) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(WORDS))
    for mind in ("Idle", "Amnesiac"):
        own = frame[frame["mind"] == mind]
        for size in SIZES:
            print(f"| {mind} | {size} | {_counted(own, tool, size)} |", flush=True)


def _counted(own: Any, tool: Any, size: int) -> str:
    """Count the studies of some courses in which each kind of change is claimed."""
    studies = min(400, int(own["course"].max() + 1) // size)
    claimed = dict.fromkeys(WORDS, 0)
    for study in range(studies):
        here = own[own["course"] // size == study]
        for change in learning([(tool, here)]).changes:
            claimed[change.what] += change.found.sign != 0
    return " | ".join([str(studies), *(f"{n / studies:.3f}" for n in claimed.values())])


PARTS: dict[str, Callable[[int], None]] = {
    "curve": curve, "fresh": fresh, "c-test": c_test, "lambda": lambda_, "landscape": landscape,
    "instruments": instruments, "nulls": nulls,
}  # fmt: skip


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--courses", type=int, default=20)
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        begun = time.perf_counter()
        print(f"\n## {part}: {asked.courses} courses", flush=True)
        PARTS[part](asked.courses)
        print(f"\n({time.perf_counter() - begun:.0f} s)")


if __name__ == "__main__":
    main()
