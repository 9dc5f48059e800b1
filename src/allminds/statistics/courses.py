"""The records of courses as arrays: what every mind did at every place of every course.

A course is one unit: whatever is said of learning is said from one figure a course. `Design` reads
off a course which of its test phases give the same exercises, and what was trained on before each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.core.blocks import TENTHS, tenth_of
from allminds.core.errors import Error
from allminds.course import Course, CourseInstrument, Phase
from allminds.inference.estimates import too_many
from allminds.inference.units import Units, Values
from allminds.statistics.comparison.people import PEOPLE
from allminds.statistics.comparison.table import scores_of

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 10  # of a training curve
Kind = tuple[str, tuple[tuple[str, str], ...]]  # instrument and settings of a phase


# ---------------------------------------------------------------- what a course asks


@dataclass(frozen=True)
class Design:
    """The phases of a course: their places, their kinds, and which share their exercises."""

    course: Course
    name: str  # of the instrument

    @cached_property
    def phase_of(self) -> NDArray[np.int64]:
        """The phase of every position, counted from 0."""
        sizes = [p.times * self.course.count(n) for n, p in enumerate(self.course.phases)]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def training(self) -> NDArray[np.int64]:
        """The positions of the training exercises."""
        return np.flatnonzero(np.array(self.course.roles) == "train")

    @cached_property
    def tests(self) -> NDArray[np.int64]:
        """The positions that the score is made of: tests, or all if there are none."""
        found = np.flatnonzero(np.array(self.course.roles) == "test")
        return found if len(found) else np.arange(len(self.course))

    def positions(self, phase: int) -> NDArray[np.int64]:
        """Return the positions of a phase."""
        return np.flatnonzero(self.phase_of == phase)

    def root(self, phase: int) -> int:
        """Find the phase that the exercises of a phase were drawn for."""
        again = self.course.phases[phase].again
        return phase if again is None else self.root(again - 1)

    def kind(self, phase: int) -> Kind:
        """Return the instrument and the settings of a phase."""
        drawn: Phase = self.course.phases[self.root(phase)]
        given = sorted((name, str(value)) for name, value in drawn.settings.items())
        return drawn.instrument or self.name, tuple(given)

    def label(self, phase: int) -> str:
        """Name the kind of a phase's exercises: its settings, its instrument if there are more."""
        name, given = self.kind(phase)
        words = [f"{key}={value}" for key, value in given]
        alone = len({self.kind(n)[0] for n in range(len(self.course.phases))}) == 1
        return " ".join(words if alone and words else [name, *words])

    def trained_before(self, phase: int, since: int = -1) -> list[int]:
        """List the training phases before a phase, and after phase `since`."""
        phases = self.course.phases
        return [n for n in range(since + 1, phase) if phases[n].role == "train"]

    def kinds_before(self, phase: int, since: int = -1) -> list[Kind]:
        """List the different kinds that were trained on before a phase, in their order."""
        return list(dict.fromkeys(map(self.kind, self.trained_before(phase, since))))

    @cached_property
    def chains(self) -> list[list[int]]:
        """The test phases that give the same exercises, with two phases or more, by chain."""
        found: dict[int, list[int]] = {}
        for number, phase in enumerate(self.course.phases):
            if phase.role == "test":
                found.setdefault(self.root(number), []).append(number)
        return [chain for chain in found.values() if len(chain) > 1]

    def met(self, phase: int) -> bool:
        """Check whether the exercises of a test phase were themselves trained on before it."""
        return self.root(phase) in {self.root(n) for n in self.trained_before(phase)}


def design_of(tool: Instrument) -> Design | None:
    """Return the design of a test that is given as a course; None for any other."""
    return Design(tool.course, tool.name) if isinstance(tool, CourseInstrument) else None


def experience(design: Design, where: NDArray[np.int64]) -> float:
    """Average the number of training exercises before some positions."""
    return float(np.mean(np.searchsorted(design.training, where)))


def lines(design: Design) -> list[tuple[str, list[NDArray[np.int64]]]]:
    """List the curves of a course: a name, and the positions of each of its points."""
    found: list[tuple[str, list[NDArray[np.int64]]]] = []
    phases = [n for n, phase in enumerate(design.course.phases) if phase.role == "train"]
    size = max(1, -(-len(design.training) // MOST_POINTS))
    stretches: list[NDArray[np.int64]] = []
    for n in phases:
        where = design.positions(n)
        parts = max(1, round(len(where) / size))
        stretches += np.array_split(where, parts)
    if stretches:
        found.append(("training", stretches))
    chained = [n for chain in design.chains for n in chain]
    alone = [
        [n]
        for n, phase in enumerate(design.course.phases)
        if phase.role == "test" and n not in chained
    ]
    for chain in [*design.chains, *alone]:
        found += [(_tests_named(design, chain[-1]), [design.positions(n) for n in chain])]
    return found


def _tests_named(design: Design, phase: int) -> str:
    """Name the tests of a phase: the phase that drew them, their kind, whether they were met."""
    met = ", met in training" if design.met(phase) else ""
    return f"test {design.root(phase) + 1}: {design.label(phase)}{met}"


# ---------------------------------------------------------------- courses to write


def crossed_courses(
    kinds: Sequence[Mapping[str, Any]], train: int, test: int
) -> list[list[dict[str, Any]]]:
    """Write the courses of a transfer matrix, one for each kind of exercises that is trained on.

    A kind is what a phase says besides its role and number: ``{"settings": {"k": "2..6"}}``, or
    ``{"instrument": "landscape"}``. Each course gives the tests of all kinds, trains on its own
    kind, gives all tests again, trains on the next kind, and gives the tests of its own kind once
    more: learning and transfer are its row of the matrix, and the last tests show forgetting.
    """
    if len(kinds) < 2:
        raise Error("a transfer matrix needs two kinds of exercises or more")
    made = []
    for own in range(len(kinds)):
        following = kinds[(own + 1) % len(kinds)]
        again = [{"role": "test", "again": n + 1} for n in range(len(kinds))]
        made.append([
            *({"role": "test", "exercises": test, **kind} for kind in kinds),
            {"role": "train", "exercises": train, **kinds[own]}, *again,
            {"role": "train", "exercises": train, **following}, again[own],
        ])  # fmt: skip
    return made


def staged_course(stages: Sequence[int], test: int, same: int = 0) -> list[dict[str, Any]]:
    """Write a course with the same tests before training and after every stage of it.

    Training exercises are fresh ones, as many as each stage says. With `same`, so many exercises
    are trained on over and over, each stage says how often, and they are tests too, beside tests
    that are never trained on.
    """
    phases: list[dict[str, Any]] = [{"role": "test", "exercises": test}]
    again = [{"role": "test", "again": 1}]
    if same:
        phases.append({"role": "test", "exercises": same})
        again.append({"role": "test", "again": 2})
    for stage in stages:
        lesson = {"again": 2, "times": stage} if same else {"exercises": stage}
        phases += [{"role": "train", **lesson}, *again]
    return phases


# ---------------------------------------------------------------- what was done


@dataclass(frozen=True)
class Lives:
    """All courses of one mind: arrays [course, position], NaN where an exercise is missing."""

    mind: str
    carries: bool
    score: Values
    reward: Values  # mean reward a step: the score, unless that is a total
    first_half: Values  # the same of the first half of the steps; of all where there is one step
    weighted: Values  # mean reward with steps weighed by `weight`, or NaN if it is not known
    level: Values  # complexity by which exercises are spread; 0 where there is none
    steps: Values  # of the training before
    fails_too_often: bool
    scale: tuple[float, float]  # of rewards a step
    bounds: tuple[float, float]  # of scores
    leveled: bool  # whether exercises are spread over levels of complexity
    rows: NDArray[np.int64]  # [course]: where minds that took all courses have the same one


def weight(share: NDArray[Any], weight_on_learning: float) -> Values:
    """Compute w at places of a life or an exercise, from 0 (its beginning) to 1 (its end).

    w = 1 + λ (2 place - 1): with λ = 0 all steps weigh the same; with λ = 1 the weight rises from 0
    to 2. The mean of w over evenly spread places is 1, so a mind that does not change has the same
    score with every λ.
    """
    return np.asarray(1 + weight_on_learning * (2 * np.asarray(share, float) - 1), float)


def check_weight(value: float) -> None:
    """Reject a weight on learning outside 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise Error(f"the weight on learning must be from 0 to 1, not {value!r}")


def read_lives(frame: pd.DataFrame, tool: Instrument, on_learning: float) -> list[Lives]:
    """Read the courses of every mind from the records of a test that is a course.

    The scoring slots of an exercise are one value, and failures count, as in any score. People are
    one mind, of which each person is one life.
    """
    if "course" not in frame or "position" not in frame:
        raise Error("the records have no courses; give the test with --course")
    persons = _persons(frame)
    if persons.any():
        each = frame["person"].astype(str)
        frame = frame.assign(mind=frame["mind"].astype(str).where(~persons, each))
    table = scores_of(frame, lowest=tool.lowest)
    about = table.exercises
    courses, row = np.unique(about["course"].to_numpy(int), return_inverse=True)
    place = about["position"].to_numpy(int)
    shape = (len(courses), tool.sitting)
    means = _slot_means(frame, table.minds, about["exercise"].astype(str))
    total = tool.exercise(0, 0).environment.score == "total"

    def placed(values: Any, fill: float = np.nan) -> Values:
        made = np.full(shape, fill)
        made[row, place] = values
        return made

    column = tool.strata
    level = placed(about[column].to_numpy(float)) if column in about else np.zeros(shape)
    found: list[Lives] = []
    people: list[Lives] = []
    failures: list[tuple[int, int]] = []
    for m, mind in enumerate(table.minds):
        own = frame[frame["mind"].astype(str) == mind]
        score, failed = table.means[:, m], np.asarray(table.at_fault[:, m].any(axis=1))
        steps = np.nan_to_num(np.maximum(means("steps", m), 1), nan=1.0)
        reward = score / steps if total else score
        halves = np.nan_to_num(means("learning", m)) / 2
        first = np.where(failed, reward, reward - halves)
        heavy = _weighed(reward, failed, steps, means, m, on_learning)
        failures.append((int(failed.sum()), int((~np.isnan(score)).sum())))
        (people if _persons(own).any() else found).append(Lives(
            mind, _carries(own), placed(score), placed(reward), placed(first), placed(heavy),
            level, placed(means("trained_steps", m)),
            too_many(*failures[-1]),
            (-1.0, 1.0) if total else (tool.lowest, tool.highest), (tool.lowest, tool.highest),
            column is not None, np.arange(len(courses)),
        ))  # fmt: skip
    if people:
        taken = [bad for one, bad in zip(table.minds, failures, strict=True)
                 if one in {life.mind for life in people}]  # fmt: skip
        often = too_many(sum(bad for bad, _ in taken), sum(of for _, of in taken))
        found.append(replace(_joined(people), fails_too_often=often))
    return found


def _persons(frame: pd.DataFrame) -> pd.Series:
    """Mark the rows that are plays of persons."""
    import pandas as pd

    return frame["kind"] == "person" if "kind" in frame else pd.Series(False, frame.index)


def _joined(persons: Sequence[Lives]) -> Lives:
    """Join the lives of persons as those of one mind; a course not taken is no life."""
    taken = [~np.isnan(one.score).all(axis=1) for one in persons]

    def joined(name: str) -> Any:
        pairs = zip(persons, taken, strict=True)
        return np.concatenate([getattr(one, name)[own] for one, own in pairs])

    arrays = ("score", "reward", "first_half", "weighted", "level", "steps", "rows")
    changed: dict[str, Any] = {name: joined(name) for name in arrays}
    return replace(persons[0], mind=PEOPLE, **changed)


def _slot_means(frame: pd.DataFrame, minds: Sequence[str], exercises: pd.Series) -> Any:
    """Return a function that averages a column over slots, by exercise, for a number of a mind."""
    import pandas as pd

    codes = pd.Index(exercises).get_indexer(pd.Index(frame["exercise"].astype(str)))
    which = pd.Index(minds).get_indexer(pd.Index(frame["mind"].astype(str)))
    size = len(exercises)

    def means(name: str, m: int) -> Values:
        if name not in frame:
            return np.full(size, np.nan)
        values = frame[name].to_numpy(dtype=float, na_value=np.nan)
        rows = (which == m) & ~np.isnan(values)
        count = np.bincount(codes[rows], minlength=size)
        total = np.bincount(codes[rows], values[rows], minlength=size)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    return means


def _weighed(
    reward: Values, failed: NDArray[np.bool_], steps: Values, means: Any, m: int, on_learning: float
) -> Values:
    """Weigh the steps of each exercise by the tenth that they are in; NaN if none is known."""
    tenths = np.stack([means(f"tenth_{n}", m) for n in range(1, TENTHS + 1)], axis=1)
    sizes = {int(n): np.bincount(tenth_of(int(n)), minlength=TENTHS) for n in np.unique(steps)}
    w = weight(np.arange(TENTHS) / (TENTHS - 1), on_learning)
    mass = np.array([sizes[int(n)] for n in steps]) * w
    there = ~np.isnan(tenths)
    mass = np.where(there, mass, 0.0)
    whole = mass.sum(axis=1)
    made = (mass * np.where(there, tenths, 0.0)).sum(axis=1) / np.where(whole > 0, whole, 1.0)
    known = (whole > 0) & ~failed & ~np.isnan(reward)
    alone = failed | (steps <= 1)
    return np.where(known, made, np.where(alone, reward, np.nan))


def _carries(own: pd.DataFrame) -> bool:
    """Check whether a mind carries what it learnt, as people do."""
    if _persons(own).any():
        return True
    traits = set(own["traits"].astype(str)) if "traits" in own else set()
    return any("carries" in words.split(", ") for words in traits)


def over_courses(values: Values, low: float, high: float) -> Units | None:
    """Take one value of each course as a unit; None if no course has one."""
    there = values[~np.isnan(values)]
    n = len(there)
    if not n:
        return None
    return Units(there, np.zeros(n, np.int64), np.arange(n), np.ones(1), low, high)


def mean_of(values: Values) -> Values:
    """Average over the positions of each course that are not missing; NaN if all are."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    total = np.where(there, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
