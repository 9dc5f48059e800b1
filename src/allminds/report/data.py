"""The data of the report, added up part by part, so that memory stays flat however long the run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES, STATUSES, Instrument
from allminds.core.settings import settings_text
from allminds.inference import Difference, Plays, plain_interval
from allminds.inference.estimates import play_scores
from allminds.inference.intervals import of_mean
from allminds.inference.verdict import paired
from allminds.report import sources
from allminds.report.sources import Floats, Source, batches, numbered
from allminds.runs.designs import designs
from allminds.runs.plan import Test
from allminds.runs.provenance import Portrait
from allminds.runs.store import RunFolder, read_part
from allminds.runs.summary import read_plays
from allminds.statistics.answer import Measured, labels

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LEVELS = 24  # more values of K than this are put into bins
BINS = 16
MOST_STEPS = 60  # more steps than this are put together
MOST_EXERCISES = 20_000  # whose scores are kept one by one, for what needs pairs of minds


@dataclass(frozen=True)
class Point:
    """One mind at one complexity: the mean over its exercises there, with a 95 % interval."""

    mind: str
    k: float  # where it is drawn: the value, or the middle of the bin
    label: str  # how it is written: the value, or the bin as [low, high)
    exercises: int
    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Stretch:
    """Some steps of an episode, and the mean reward a step of each mind that got through it."""

    first: int
    last: int
    means: dict[str, float]

    @property
    def label(self) -> str:
        """The step, or the first and the last step of the stretch."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass
class TestData:
    """One test of the report: its minds, its instrument and its results."""

    __test__ = False  # no test of pytest's

    test: Test
    tool: Instrument
    summary: dict[str, Any]
    number: int = 0  # its place in the report
    traits: dict[str, str] = field(default_factory=dict)
    column: str | None = None  # of complexity
    levels: Levels | None = None  # of complexity, as plots have them
    points: list[Point] = field(default_factory=list)
    curve: list[Stretch] = field(default_factory=list)
    path: list[Stretch] = field(default_factory=list)  # of an adaptive test: complexity as it goes
    label: str = ""  # its name among the tests of the report
    prefix: str = ""  # of its exercises' ids
    sources: tuple[Source, ...] = ()
    scores: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # [exercise, mind], the first
    hits: bool = False  # whether every score is 0 or 1
    about: Floats = field(default_factory=lambda: np.zeros((3, 0)))  # item, cluster, stratum

    @property
    def minds(self) -> list[str]:
        """The minds in the order of the plan."""
        return [row["mind"] for row in self.summary["results"]]

    @property
    def anchor(self) -> str:
        """The anchor of the test's section in the page."""
        return f"test-{self.number + 1}"

    @property
    def words(self) -> dict[str, dict[str, str]]:
        """The words that each mind's name is made of, if the plan says so."""
        pairs = zip(self.test.minds, self.minds, strict=True)
        return {mind: self.test.words.get(text, {}) for text, mind in pairs}

    @property
    def settings_given(self) -> str:
        """The settings as the plan gives them, in words."""
        return settings_text(self.test.settings)

    @property
    def binned(self) -> bool:
        """True if a point stands for a range of complexities."""
        return any(point.label.startswith("[") for point in self.points)

    @cached_property
    def plain(self) -> dict[str, str]:
        """The name that each mind has in its records."""
        return {shown: name for source in self.sources for name, shown in source.names.items()}

    @cached_property
    def portraits(self) -> dict[str, Portrait]:
        """What is known of the line-up behind each mind."""
        return {
            shown: source.portraits[name]
            for source in self.sources
            for name, shown in source.names.items()
            if name in source.portraits
        }

    @cached_property
    def bare(self) -> dict[str, str]:
        """The mind that each line-up's score belongs to: its name without opponents and runs."""
        return {
            shown: source.minds[name]
            for source in self.sources
            for name, shown in source.names.items()
        }

    def difference(self, values: Floats, names: tuple[str, str]) -> Difference | None:
        """Compare two minds by their differences exercise by exercise; NaN is missing."""
        units = self._plays(values).units(self.tool.rule())
        if units is None:
            return None
        low, high = self.tool.rule().range
        hits = self.hits and bool(np.isin(units.score, (-1.0, 0.0, 1.0)).all())
        often = any(not row["ranked"] for row in self.summary["results"] if row["mind"] in names)
        return paired(replace(units, low=low, high=high), hits, names, failed=often)

    @property
    def yours(self) -> tuple[str, ...]:
        """The minds that the user asks about."""
        mine = {source.names[name] for source in self.sources for name in source.yours}
        return tuple(mind for mind in self.minds if mind in mine)

    def measured(self) -> Measured:
        """Collect the plays of all minds, for the answer about some of them."""
        parts = [(part, source.names) for source in self.sources for part in source.parts]
        found = read_plays(parts, self.tool)
        rows = {row["mind"]: row for row in self.summary["results"]}
        return Measured(
            self.label, self.tool, rows, found.plays, found.column, found.complexity,
            found.clairvoyant, self.yours,
        )  # fmt: skip

    @property
    def clusters(self) -> NDArray[np.int64]:
        """The cluster of every exercise whose scores are kept one by one."""
        return self.about[1, : len(self.scores)].view(np.int64)

    def interval(self, values: Floats) -> tuple[float, float] | None:
        """Compute the 95 % interval of the mean score of exercises of one kind; NaN is missing."""
        rule = replace(self.tool.rule(), strata=None, weighted=False)
        there = np.flatnonzero(~np.isnan(values))
        item, cluster = (column[: len(values)][there].view(np.int64) for column in self.about[:2])
        zeros, nothing = np.zeros(len(there)), np.full(len(there), np.nan)
        none = np.zeros(len(there), bool)
        units = Plays(item, cluster, zeros, values[there], none, nothing).units(rule)
        return None if units is None or units.clusters < 2 else of_mean(units).interval()

    def _plays(self, values: Floats) -> Plays:
        item, cluster, stratum = self.about[:, : len(values)]
        none = np.zeros(len(values), bool)
        whole = item.view(np.int64), cluster.view(np.int64)
        return Plays(*whole, stratum, values, none, np.full(len(values), np.nan))

    def run_of(self, mind: str) -> int:
        """Find the number of the run that a mind is in."""
        return next(source.run for source in self.sources if mind in source.names.values())

    def exercise_means(
        self, wanted: Iterable[tuple[str, tuple[int, ...]]]
    ) -> dict[tuple[str, tuple[int, ...]], Floats]:
        """Average, by exercise, the score of a mind in some slots; NaN where it is missing."""
        return sources.exercise_means(
            self.sources, self.tool, self.test.exercises, self.minds, wanted
        )


def read_tests(*folders: RunFolder) -> list[TestData]:
    """Read the data of each test of complete runs; only figures of folded designs."""
    found = sources.given(folders)
    folded: set[int] = set()
    if len(folders) == 1:
        folded = {n for d in designs(folders[0].plan.tests) if d.folded for n in d.cells}
    tests = [
        TestData(one.test, one.tool, one.summary, number, prefix=one.prefix, sources=one.sources)
        for number, one in enumerate(found)
    ]
    told = labels([(d.tool.name, d.summary["settings"], d.test.against) for d in tests])
    for data, label in zip(tests, told, strict=True):
        data.label = label
        if data.number in folded:
            _read_items(data)
        else:
            _read_test(data)
    return tests


def _read_test(found: TestData) -> None:
    """Add what the plots show, in one pass over the records."""
    tool = found.tool
    parts = [part for source in found.sources for part in source.parts]
    found.column = _complexity_column(parts, tool)
    levels = _levels(parts, found.column) if found.column else Levels(np.zeros(1))
    found.levels = levels
    sums = LevelSums(found.minds, levels, tool)
    sums.hits = tool.exercise(0, 0).environment.steps == 1
    found.scores = np.full((min(found.test.exercises, MOST_EXERCISES), len(found.minds)), np.nan)
    found.about = _numbered_items(found.test.exercises)
    strata = tool.rule().strata
    columns = {"index", "who", "traits", "score", "status", "item", "cluster"}
    columns |= {name for name in (found.column, strata) if name}
    for source in found.sources:
        for part in source.parts:
            there = sorted(columns & {"who", *pq_names(part)})
            for rows in batches(part, tool.slots, there):
                mind = numbered(rows, source.names, found.minds)
                sums.add(rows, mind, found.column, found.scores)
                _note_items(found.about, rows, tool.slots, strata)
    found.traits = sums.traits
    found.hits = sums.hits
    if found.column and len(levels) > 1:
        found.points = sums.points(found)
    found.curve = _curve(found)
    if tool.adaptive and found.column:
        found.path = _path(found)


def pq_names(part: Path) -> list[str]:
    """List the names of the columns of a part."""
    import pyarrow.parquet as pq

    names: list[str] = pq.read_schema(part).names
    return names


def _numbered_items(episodes: int) -> Floats:
    """Give each exercise its own item number, before the records are read."""
    about = np.zeros((3, episodes))
    about[0] = about[1] = np.arange(episodes, dtype=np.int64).view(np.float64)
    return about


def _read_items(found: TestData) -> None:
    """Read items, clusters and strata alone, for a cell of a folded design."""
    found.about, strata = _numbered_items(found.test.exercises), found.tool.rule().strata
    for source in found.sources:
        for part in source.parts:
            wanted = {"index", "item", "cluster", strata or "index"}
            names = sorted(wanted & set(pq_names(part)))
            for rows in batches(part, found.tool.slots, ["who", *names]):
                _note_items(found.about, rows, found.tool.slots, strata)


def _note_items(about: Floats, rows: pa.Table, slots: int, strata: str | None) -> None:
    """Note item, cluster and stratum of exercises; whole numbers are kept as their bits."""
    index = rows["index"].to_numpy()[::slots]
    for place, name in enumerate(("item", "cluster")):
        if name in rows.column_names:
            values = rows[name].to_numpy()[::slots].astype(np.int64)
            about[place, index] = values.view(np.float64)
    if strata in rows.column_names:
        about[2, index] = rows[strata].to_numpy()[::slots]


# ---------------------------------------------------------------- complexities


@dataclass(frozen=True)
class Levels:
    """The complexities on a plot's axis: every value, or bins of equal width if too many."""

    starts: Floats
    width: float = 0.0  # of a bin; 0 where each value stands for itself

    def __len__(self) -> int:
        return len(self.starts)

    def number(self, values: Floats) -> NDArray[np.intp]:
        """Find the level that each value belongs to."""
        return np.clip(np.searchsorted(self.starts, values, side="right") - 1, 0, None)

    def place(self, number: int) -> float:
        """Compute where a level is drawn."""
        return float(self.starts[number]) + self.width / 2

    def label(self, number: int) -> str:
        """Write the label of a level: its value or its bin."""
        low = float(self.starts[number])
        return f"[{low:g}, {low + self.width:g})" if self.width else f"{low:g}"


def _complexity_column(parts: Sequence[Path], tool: Instrument) -> str | None:
    """Choose the column that exercises are spread over, or else K or k if there is one."""
    import pyarrow.parquet as pq

    there = pq.read_schema(parts[0]).names if parts else []
    return next((name for name in (tool.strata, "K", "k") if name in there), None)


def _levels(parts: Sequence[Path], column: str) -> Levels:
    import pyarrow.compute as pc

    values: set[float] = set()
    low, high = math.inf, -math.inf
    for part in parts:
        found = pc.unique(read_part(part, [column])[column]).to_numpy(False)
        found = found[np.isfinite(found)]
        if len(found):
            low, high = min(low, float(found.min())), max(high, float(found.max()))
        if len(values) <= MOST_LEVELS:
            values.update(found.tolist())
    if len(values) <= MOST_LEVELS:
        return Levels(np.array(sorted(values)))
    width = _round_step((high - low) / BINS)
    first = math.floor(low / width)
    steps = np.arange(first, math.floor(high / width) + 1, dtype=np.float64)
    return Levels(steps * width, width)


def _round_step(least: float) -> float:
    """Round up to the first of 1, 2, 5, 10, 20, 50, … (or .1, .2, .5, …)."""
    scale = 10.0 ** math.floor(math.log10(least))
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= least)


# ---------------------------------------------------------------- records


class LevelSums:
    """Count, sum and sum of squares for each mind at each complexity.

    The scored slots of an exercise are one value, as `play_scores` makes it: failures count. The
    records of a mind come exercise by exercise, slot by slot.
    """

    def __init__(self, minds: Sequence[str], levels: Levels, tool: Instrument) -> None:
        self.minds, self.levels, self.tool = list(minds), levels, tool
        self.sums = np.zeros((3, len(minds), max(len(levels), 1)))
        self.traits: dict[str, str] = {}
        self.hits = False  # whether every score is that of a question, 0 or 1
        self.level = np.zeros(0, np.intp)  # of each exercise that is kept one by one

    def add(
        self, rows: pa.Table, numbers: NDArray[np.intp], column: str | None, scores: Floats
    ) -> None:
        """Add some whole exercises, and put those that are kept one by one into `scores`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self._note_traits(rows, numbers)
        slots, scored = self.tool.slots, list(self.tool.scored_slots)
        mind, index = numbers[::slots], rows["index"].to_numpy()[::slots]
        codes = pc.index_in(rows["status"].cast("string"), pa.array(STATUSES)).to_numpy()
        status = codes.reshape(-1, slots)[:, scored].astype(np.int8)
        each = rows["score"].to_numpy().reshape(-1, slots)[:, scored]
        lost = np.isin(status, [STATUSES.index(name) for name in FAILURES]) & np.isnan(each)
        score, _ = play_scores(np.where(lost, self.tool.lowest, each), status)
        ok = np.isfinite(score) & (mind >= 0)
        kept = ok & (index < len(scores))
        scores[index[kept], mind[kept]] = score[kept]
        complexity = rows[column].to_numpy()[::slots] if column else np.zeros(len(score))
        ok &= np.isfinite(complexity)
        if len(self.level) != len(scores):
            self.level = np.full(len(scores), -1, np.intp)
        here = ok & (index < len(scores))
        self.level[index[here]] = self.levels.number(complexity[here])
        mind, score, level = mind[ok], score[ok], self.levels.number(complexity[ok])
        self.hits &= bool(((score == 0) | (score == 1)).all())
        place, shape = mind * self.sums.shape[2] + level, self.sums.shape[1:]
        for total, weights in zip(self.sums, (None, score, score * score), strict=True):
            total += np.bincount(place, weights, minlength=total.size).reshape(shape)

    def _note_traits(self, rows: pa.Table, numbers: NDArray[np.intp]) -> None:
        """Note the traits of minds that are new."""
        for number in np.unique(numbers[numbers >= 0]):
            mind = self.minds[number]
            if mind not in self.traits:
                first = int(np.argmax(numbers == number))
                self.traits[mind] = rows["traits"][first].as_py() or ""

    def points(self, data: TestData) -> list[Point]:
        """Compute mean and interval wherever there was an exercise.

        The interval is made from the exercises one by one; where there are more of them than are
        kept, by Student's t from the sums, and on an adaptive test, whose exercises are each mind's
        own, likewise.
        """
        whole = data.test.exercises <= len(data.scores) and not self.tool.adaptive
        found = []
        for m, mind in enumerate(self.minds):
            for level in range(len(self.levels)):
                n, total, squares = (float(x) for x in self.sums[:, m, level])
                if n:
                    place, label = self.levels.place(level), self.levels.label(level)
                    one_by_one = np.where(self.level == level, data.scores[:, m], np.nan)
                    ends = data.interval(one_by_one) if whole else _interval(n, total, squares)
                    found.append(Point(mind, place, label, int(n), total / n, ends))
        return found


def _interval(n: float, total: float, squares: float) -> tuple[float, float] | None:
    """Compute the 95 % t interval of a mean, from the sums of its values and of their squares."""
    variance = max(squares - total * total / n, 0.0) / max(n - 1, 1)
    return plain_interval(total / n, math.sqrt(variance / n), n)


# ---------------------------------------------------------------- curves


def _curve(data: TestData) -> list[Stretch]:
    """Average the reward at each step within an episode; empty for episodes of one step."""
    minds = data.minds
    place = {mind: n for n, mind in enumerate(minds)}
    sums = np.zeros((2, len(minds), 0))  # count, total
    for source in data.sources:
        for path in source.curves:
            rows = read_part(path, ["mind", "step", "count", "total"])
            names = (source.names.get(name, "") for name in rows["mind"].to_pylist())
            mind = np.array([place.get(name, -1) for name in names], np.intp)
            step = rows["step"].to_numpy().astype(np.intp) - 1
            longer = max(int(step.max(initial=-1)) + 1 - sums.shape[2], 0)
            sums = np.pad(sums, ((0, 0), (0, 0), (0, longer)))
            at = (mind[mind >= 0], step[mind >= 0])
            for total, name in zip(sums, ("count", "total"), strict=True):
                np.add.at(total, at, rows[name].to_numpy()[mind >= 0])
    return _stretches(sums, minds) if sums.shape[2] > 1 and sums[0].any() else []


def _path(data: TestData) -> list[Stretch]:
    """Average the complexity that each mind was given at every place of its administrations."""
    slots, sitting = data.tool.slots, data.tool.sitting
    sums = np.zeros((2, len(data.minds), sitting))  # count, total
    for source in data.sources:
        for part in source.parts:
            for rows in batches(part, slots, ["index", "who", str(data.column)]):
                mind = numbered(rows, source.names, data.minds)[::slots]
                place = rows["index"].to_numpy()[::slots] % sitting
                np.add.at(sums[0], (mind, place), 1)
                np.add.at(sums[1], (mind, place), rows[data.column].to_numpy()[::slots])
    return _stretches(sums, data.minds)


def _stretches(sums: Floats, minds: Sequence[str]) -> list[Stretch]:
    steps = sums.shape[2]
    size = -(-steps // MOST_STEPS)
    found = []
    for first in range(0, steps, size):
        count, total = sums[:, :, first : first + size].sum(axis=2)
        means = {mind: float(total[m] / count[m]) for m, mind in enumerate(minds) if count[m] > 0}
        found.append(Stretch(first + 1, min(first + size, steps), means))
    return found
