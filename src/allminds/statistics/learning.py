"""What minds learn over courses: curves, sample efficiency, transfer, forgetting, speed, weights.

Every figure is computed course by course, and courses are the units of its interval: exercises of
one course are not independent, because one life of a mind went through them. Changes of a mind are
differences on the same exercises, paired by course, with the verdicts of `inference.verdict`,
corrected by Holm within each kind of change over all minds and all pairs of phases. Minds that do
not carry cannot change: they stand in the curves as the untrained baseline.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.core.table import scored
from allminds.inference.intervals import FEWEST, Interval, of_mean
from allminds.inference.units import Units, Values
from allminds.inference.verdict import MARGIN, Difference, corrected, paired
from allminds.statistics.courses import (
    Design,
    Lives,
    check_weight,
    design_of,
    experience,
    lines,
    mean_of,
    over_courses,
    read_lives,
    weight,
)
from allminds.statistics.reaching import SHARES, Reached, check_shares, reached

if TYPE_CHECKING:
    import pandas as pd

Over = Literal["tests", "training"]
What = Literal["learning", "practice", "transfer", "forgetting", "speed"]
WORDS: dict[What, tuple[str, str]] = {  # what is said of a change that is sure: upward, downward
    "learning": ("learns", "gets worse"),
    "practice": ("learns", "gets worse"),
    "transfer": ("transfers", "interferes"),
    "forgetting": ("improves", "forgets"),
    "speed": ("gets faster", "gets slower"),
}
TITLES: dict[What, str] = {
    "learning": "Learning: tests after training minus the same tests before",
    "practice": "Practice: last third of training minus its first third, at equal complexity",
    "transfer": "Transfer: trained on one kind, tested on another, minus the same tests before",
    "forgetting": "Forgetting: the same tests after training on something else, minus before it",
    "speed": "Learning to learn: first half of the steps, last third of training minus first third",
}
PART = 3  # the first and the last third of training are compared


@dataclass(frozen=True)
class Point:
    """The mean score of a mind at some experience, with its 95 % interval over courses."""

    test: str
    mind: str
    line: str  # training, or the tests whose curve it is
    trained: float  # training exercises lived through
    steps: float  # of these exercises
    score: float
    interval: Interval | None
    courses: int


@dataclass(frozen=True)
class Change:
    """The change of a mind between two moments of its courses, with its verdict."""

    test: str
    what: What
    mind: str
    trained: str  # the kinds of exercises that the mind was trained on
    tested: str  # the kind that the change is measured with
    met: bool  # whether these very exercises were trained on
    before: float
    after: float
    found: Difference

    @property
    def verdict(self) -> str:
        """The verdict in the word for this change, such as learns, forgets or undecided."""
        up, down = WORDS[self.what]
        word = {1: up, -1: down, 0: self.found.verdict}[self.found.sign]
        small = self.found.sign and "smaller" in self.found.verdict
        return f"{word}, but less than {self.found.margin:g}" if small else word

    def row(self) -> dict[str, Any]:
        """Convert the change to a row of a table."""
        one = self.found
        low, high = one.interval or (None, None)
        return {
            "test": self.test, "what": self.what, "mind": self.mind, "trained": self.trained,
            "tested": self.tested, "met": self.met, "before": self.before, "after": self.after,
            "change": one.mean, "low": low, "high": high, "p_holm": one.p_holm,
            "courses": one.units[0], "verdict": self.verdict,
        }  # fmt: skip


@dataclass(frozen=True)
class Weighted:
    """Mean scores of a mind without and with weight on learning, with 95 % intervals.

    `tests` weighs the steps of each test exercise by their place in it, `training` the training
    exercises by their place in the course.
    """

    test: str
    mind: str
    over: Over
    plain: float
    plain_interval: Interval | None
    weighted: float
    weighted_interval: Interval | None


@dataclass(frozen=True)
class Learning:
    """What was measured over some courses; `notes` say in sentences what could not be."""

    courses: int  # of each mind, the most of any test
    weight: float  # λ, on learning
    points: tuple[Point, ...]
    reached: tuple[Reached, ...]
    changes: tuple[Change, ...]
    weighted: tuple[Weighted, ...]
    notes: tuple[str, ...]

    def of(self, what: What) -> list[Change]:
        """Return the changes of one kind."""
        return [one for one in self.changes if one.what == what]

    def as_json(self) -> dict[str, Any]:
        """Convert everything to plain values."""
        return {
            "courses": self.courses, "weight": self.weight,
            "curve": [asdict(one) for one in self.points],
            "efficiency": [one.as_json() for one in self.reached],
            "changes": [one.row() for one in self.changes],
            "weighted": [asdict(one) for one in self.weighted],
            "notes": list(self.notes),
        }  # fmt: skip

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return everything as data frames: curve, efficiency, changes, weighted."""
        import pandas as pd

        plain = self.as_json()
        names = ("curve", "efficiency", "changes", "weighted")
        return {name: pd.DataFrame(plain[name]) for name in names}

    def __str__(self) -> str:
        from allminds.statistics.learning_words import text_of

        return text_of(self)

    __repr__ = __str__


def learning(
    tests: Sequence[tuple[Instrument, pd.DataFrame]], margin: float = MARGIN,
    on_learning: float = 1.0, shares: Sequence[float] = SHARES, labels: Sequence[str] = (),
) -> Learning:  # fmt: skip
    """Measure what minds learnt in tests that are courses, each with its records.

    Other tests are left out; changes in all tests are one family for Holm's correction.
    """
    check_weight(on_learning)
    check_shares(shares)
    points: list[Point] = []
    efficient: list[Reached] = []
    changes: list[Change] = []
    weighed: list[Weighted] = []
    notes: list[str] = []
    courses = 0
    for label, (tool, frame) in zip(labels or _labels(tests), tests, strict=True):
        design = design_of(tool)
        if design is None:
            continue
        lives = read_lives(scored(frame), tool, on_learning)
        courses = max(courses, *(len(one.score) for one in lives))
        points += [p for one in lives for p in _points(label, one, design)]
        asked = [one for one in lives if one.mind not in (tool.floor_mind, tool.ceiling_mind)]
        carrying = [one for one in asked if one.carries]
        for one in carrying:
            efficient += reached(label, one, lives, design, tool, shares)
            changes += changes_of(label, one, design, margin)
        for one in asked:
            weighed += _weighted(label, one, design, on_learning)
        notes += _notes(label, design, carrying)
    if not courses:
        raise Error("no test was given as a course; see evaluate --course")
    return Learning(
        courses, on_learning, tuple(points), tuple(efficient), tuple(corrected_changes(changes)),
        tuple(weighed), tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _labels(tests: Sequence[tuple[Instrument, pd.DataFrame]]) -> list[str]:
    """Name tests by their instruments, with a number where two have the same."""
    names = [tool.name for tool, _ in tests]
    return [
        name if names.count(name) == 1 else f"{name} {names[: n + 1].count(name)}"
        for n, name in enumerate(names)
    ]


def corrected_changes(changes: Sequence[Change]) -> list[Change]:
    """Apply Holm's correction within each kind of change."""
    made: list[Change] = []
    for what in WORDS:
        own = [one for one in changes if one.what == what]
        found = corrected([one.found for one in own])
        made += [replace(one, found=new) for one, new in zip(own, found, strict=True)]
    return made


# ---------------------------------------------------------------- curves


def _points(test: str, one: Lives, design: Design) -> Iterator[Point]:
    """Average the scores of each stretch of training, and of each test phase, over courses."""
    for line, places in lines(design):
        for where in places:
            units = over_courses(mean_of(one.score[:, where]), *one.bounds)
            if units is not None:
                yield Point(
                    test, one.mind, line, experience(design, where),
                    float(np.nanmean(one.steps[:, where])), units.mean, _interval(units),
                    len(units.score),
                )  # fmt: skip


# ---------------------------------------------------------------- changes


def changes_of(test: str, one: Lives, design: Design, margin: float = MARGIN) -> Iterator[Change]:
    """Compute the changes that the phases of a course allow for one mind."""

    def change(
        what: What, trained: str, tested: str, met: bool, ends: tuple[Values, Values],
        scale: Interval = one.bounds,
    ) -> Iterator[Change]:  # fmt: skip
        gap, width = ends[1] - ends[0], scale[1] - scale[0]
        units = over_courses(gap, -width, width)
        if units is not None:
            before, after = (float(end[~np.isnan(gap)].mean()) for end in ends)
            found = paired(units, False, ("after", "before"), margin, one.fails_too_often)
            yield Change(test, what, one.mind, trained, tested, met, before, after, found)

    def tests(phase: int) -> Values:
        return mean_of(one.score[:, design.positions(phase)])

    for first, last, what in _pairs(design):
        ends = tests(first), tests(last)
        trained = " then ".join(_names(design, last, first if what == "forgetting" else -1))
        yield from change(what, trained, design.label(last), design.met(last), ends)
    stepwise = not np.array_equal(one.reward, one.first_half, equal_nan=True)
    for label, where in _trained_kinds(design, one.leveled):
        yield from change("practice", label, label, False, _early_and_late(one.score, one, where))
        if stepwise:  # else there is one step, and no half comes first
            ends = _early_and_late(one.first_half, one, where)
            yield from change("speed", label, label, False, ends, one.scale)


def _names(design: Design, last: int, since: int) -> list[str]:
    """Name the different kinds that were trained on before a phase."""
    return list(dict.fromkeys(map(design.label, design.trained_before(last, since))))


def _pairs(design: Design) -> Iterator[tuple[int, int, What]]:
    """List the pairs of test phases with the same exercises, and what their difference says."""
    for chain in design.chains:
        own = design.kind(chain[0])
        latest: dict[tuple[Any, ...], int] = {}
        if not design.trained_before(chain[0]):
            for phase in chain[1:]:
                kinds = design.kinds_before(phase)
                if kinds:
                    latest[(*kinds, design.met(phase))] = phase
        single = [phase for phase in latest.values() if len(design.kinds_before(phase)) == 1]
        for phase in single or latest.values():
            before = design.kinds_before(phase)
            yield chain[0], phase, "learning" if own in before else "transfer"
        for first, last in itertools.pairwise(chain):
            between = design.kinds_before(last, first)
            if own in design.kinds_before(first) and between and own not in between:
                yield first, last, "forgetting"


def _trained_kinds(design: Design, leveled: bool) -> Iterator[tuple[str, Values]]:
    """List the kinds that are trained on, with their positions, where early and late are alike.

    Without levels of complexity, exercises must come as they were drawn to be comparable.
    """
    phases = design.course.phases
    for kind in design.kinds_before(len(phases)):
        own = [n for n in design.trained_before(len(phases)) if design.kind(n) == kind]
        where = np.concatenate([design.positions(n) for n in own])
        drawn = all(phases[n].order == "drawn" for n in own)
        if len(where) > 1 and (drawn or leveled):
            yield design.label(own[0]), where


def _early_and_late(values: Values, one: Lives, where: Values) -> tuple[Values, Values]:
    """Average the first and the last third of the training exercises of each course.

    Thirds are taken at each level of complexity (one exercise at least), and every level that both
    have counts the same, so that neither the order of exercises nor a mixture of levels matters.
    """
    made = np.full((2, len(values)), np.nan)
    for course, levels in enumerate(one.level):
        pairs = []
        for level in np.unique(levels[where]):
            here = values[course, where[levels[where] == level]]
            here = here[~np.isnan(here)]
            if len(here) > 1:
                size = max(1, len(here) // PART)
                pairs.append((here[:size].mean(), here[-size:].mean()))
        if pairs:
            made[:, course] = np.mean(pairs, axis=0)
    return made[0], made[1]


# ---------------------------------------------------------------- weights and notes


def _weighted(test: str, one: Lives, design: Design, on_learning: float) -> Iterator[Weighted]:
    """Compute the scores with and without weight on learning."""

    def both(over: Over, plain: Values, heavy: Values, scale: Interval) -> Iterator[Weighted]:
        units = [over_courses(values, *scale) for values in (plain, heavy)]
        if units[0] is not None and units[1] is not None:
            (a, one_end), (b, other) = ((u.mean, _interval(u)) for u in units if u is not None)
            yield Weighted(test, one.mind, over, a, one_end, b, other)

    by_step = one.weighted[:, design.tests]
    if not np.isnan(by_step).all():
        plain = np.where(np.isnan(by_step), np.nan, one.reward[:, design.tests])
        yield from both("tests", mean_of(plain), mean_of(by_step), one.scale)
    where = design.training
    if len(where) > 1:
        w = weight(np.arange(len(where)) / (len(where) - 1), on_learning)
        score = one.score[:, where]
        there = ~np.isnan(score)
        whole = np.where(there, w, 0.0).sum(axis=1)
        total = np.where(there, score * w, 0.0).sum(axis=1)
        heavy = np.where(whole > 0, total / np.where(whole > 0, whole, 1.0), np.nan)
        yield from both("training", mean_of(score), heavy, one.bounds)


def _interval(units: Units) -> Interval | None:
    """Compute the 95 % interval of a mean over courses; None of a single course."""
    return of_mean(units).interval() if len(units.score) > 1 else None


def _notes(test: str, design: Design, carrying: Sequence[Lives]) -> Iterator[str]:
    """Say what could not be measured, and why."""
    if not carrying:
        yield f"{test}: no mind carries what it learnt, so there is nothing to measure but scores."
        return
    pairs = [what for _, _, what in _pairs(design)]
    if not {"learning", "transfer"} & set(pairs):
        yield (f"{test}: no tests are given both before and after training, so tests show no change"
               "; begin with test=20 and end with test,again=1.")  # fmt: skip
    orders = {phase.order for phase in design.course.phases if phase.role == "train"}
    if orders - {"drawn"} and not carrying[0].leveled:
        yield (f"{test}: training comes in order={'/'.join(sorted(orders))}, and the test has no "
               "levels of complexity, so early and late training are not compared.")  # fmt: skip
    if len(carrying[0].score) < FEWEST:
        yield (f"{test}: {len(carrying[0].score)} courses are few; eight or more give shorter "
               "intervals and surer verdicts.")  # fmt: skip
