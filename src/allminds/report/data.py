"""What the report shows, added up part by part, so that memory stays flat however long the run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.administration.plan import Test
from allminds.administration.store import RunFolder
from allminds.contracts import Instrument
from allminds.estimate import t_interval
from allminds.report.designs import designs

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

MOST_LEVELS = 24  # more values of K than this are put into bins
BINS = 16
MOST_STEPS = 60  # more steps than this are put together
_BATCH = 1 << 18  # records in memory at once


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
        """The step, or the first and last of them."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass
class TestData:
    """One test of the plan: who took it, what it was, and what came of it."""

    __test__ = False  # no test of pytest's

    test: Test
    tool: Instrument
    summary: dict[str, Any]
    number: int = 0  # its place in the plan
    traits: dict[str, str] = field(default_factory=dict)
    column: str | None = None  # of complexity
    points: list[Point] = field(default_factory=list)
    curve: list[Stretch] = field(default_factory=list)
    path: list[Stretch] = field(default_factory=list)  # of an adaptive test: complexity as it goes

    @property
    def minds(self) -> list[str]:
        """The minds in the order of the plan."""
        return [row["mind"] for row in self.summary["results"]]

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
        """Whether a point stands for a range of complexities."""
        return any(point.label.startswith("[") for point in self.points)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings in words: rows 5, cols 5."""
    return ", ".join(f"{name} {_plain(value)}" for name, value in settings.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_tests(folder: RunFolder) -> list[TestData]:
    """What the report shows of each test of a complete run; only figures of folded designs."""
    folded = {n for design in designs(folder.plan.tests) if design.folded for n in design.cells}
    tests = []
    for number, summary in enumerate(folder.summary()["tests"]):
        test = folder.plan.tests[number]
        tool = registry.make_instrument(test.instrument, test.settings)
        tests.append(TestData(test, tool, summary, number))
        if number not in folded:
            _read_test(folder, tests[-1])
    return tests


def _read_test(folder: RunFolder, found: TestData) -> None:
    """Add what the plots show."""
    tool, parts = found.tool, folder.parts(found.number)
    found.column = _complexity_column(parts, tool)
    levels = _levels(parts, found.column) if found.column else Levels(np.zeros(1))
    sums = Sums(found.minds, levels)
    columns = ["mind", "traits", "score", "status", *([found.column] if found.column else [])]
    for part in parts:
        for rows in batches(part, tool.slots, columns):
            sums.add(rows, tool.slots, found.column)
    found.traits = sums.traits
    found.points = sums.points() if found.column and len(levels) > 1 else []
    found.curve = _curve(folder, parts, found.minds)
    if tool.adaptive and found.column:
        found.path = _path(parts, found)


# ---------------------------------------------------------------- complexities


@dataclass(frozen=True)
class Levels:
    """The complexities a plot goes through: every value, or bins of equal width if too many."""

    starts: Floats
    width: float = 0.0  # of a bin; 0 where each value stands for itself

    def __len__(self) -> int:
        return len(self.starts)

    def number(self, values: Floats) -> NDArray[np.intp]:
        """To which level each value belongs."""
        return np.clip(np.searchsorted(self.starts, values, side="right") - 1, 0, None)

    def place(self, number: int) -> float:
        """Where a level is drawn."""
        return float(self.starts[number]) + self.width / 2

    def label(self, number: int) -> str:
        """How a level is written."""
        low = float(self.starts[number])
        return f"[{low:g}, {low + self.width:g})" if self.width else f"{low:g}"


def _complexity_column(parts: Sequence[Path], tool: Instrument) -> str | None:
    """The column that exercises are spread over, or else K or k if the instrument has one."""
    import pyarrow.parquet as pq

    there = pq.read_schema(parts[0]).names if parts else []
    return next((name for name in (tool.strata, "K", "k") if name in there), None)


def _levels(parts: Sequence[Path], column: str) -> Levels:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    values: set[float] = set()
    low, high = math.inf, -math.inf
    for part in parts:
        found = pc.unique(pq.read_table(part, columns=[column])[column]).to_numpy(False)
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
    """The first of 1, 2, 5, 10, 20, 50, … (or .1, .2, .5, …) that is not less."""
    scale = 10.0 ** math.floor(math.log10(least))
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= least)


# ---------------------------------------------------------------- records


def batches(part: Path, slots: int, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Some columns of a part's records, some rows at a time, but never half an exercise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(part, read_dictionary=["status"]) as file:
        rest: pa.Table | None = None
        for batch in file.iter_batches(_BATCH, columns=list(columns)):
            rows = pa.Table.from_batches([batch])
            if rest is not None and len(rest):
                rows = pa.concat_tables([rest, rows])
            whole = len(rows) - len(rows) % slots
            rest = rows.slice(whole)
            if whole:
                yield rows.slice(0, whole)


class Sums:
    """Count, sum and sum of squares for each mind at each complexity.

    All slots of an exercise are one value, their mean; an exercise in which some slot failed is
    none. The records of a mind come exercise by exercise, slot by slot.
    """

    def __init__(self, minds: Sequence[str], levels: Levels) -> None:
        self.minds, self.levels = list(minds), levels
        self.sums = np.zeros((3, len(minds), max(len(levels), 1)))
        self.traits: dict[str, str] = {}

    def add(self, rows: pa.Table, slots: int, column: str | None) -> None:
        """Take some whole exercises."""
        import pyarrow.compute as pc

        mind = self._minds_of(rows)[::slots]
        score = rows["score"].to_numpy().reshape(-1, slots).mean(axis=1)
        status = pc.equal(rows["status"].cast("string"), "ok").to_numpy()
        complexity = rows[column].to_numpy()[::slots] if column else np.zeros(len(score))
        ok = status.reshape(-1, slots).all(axis=1) & np.isfinite(score)
        ok &= np.isfinite(complexity) & (mind >= 0)
        mind, score, level = mind[ok], score[ok], self.levels.number(complexity[ok])
        place, shape = mind * self.sums.shape[2] + level, self.sums.shape[1:]
        for total, weights in zip(self.sums, (None, score, score * score), strict=True):
            total += np.bincount(place, weights, minlength=total.size).reshape(shape)

    def _minds_of(self, rows: pa.Table) -> NDArray[np.intp]:
        """Each record's mind as its number, with a look at what traits the new ones have."""
        numbers = minds_of(rows, self.minds)
        for number in np.unique(numbers[numbers >= 0]):
            mind = self.minds[number]
            if mind not in self.traits:
                first = int(np.argmax(numbers == number))
                self.traits[mind] = rows["traits"][first].as_py() or ""
        return numbers

    def points(self) -> list[Point]:
        """Mean and t interval wherever there was an exercise."""
        found = []
        for m, mind in enumerate(self.minds):
            for level in range(len(self.levels)):
                n, total, squares = (float(x) for x in self.sums[:, m, level])
                if n:
                    place, label = self.levels.place(level), self.levels.label(level)
                    interval = _interval(n, total, squares)
                    found.append(Point(mind, place, label, int(n), total / n, interval))
        return found


def minds_of(rows: pa.Table, minds: Sequence[str]) -> NDArray[np.intp]:
    """Each record's mind as its number; -1 for one that is not in the plan."""
    coded = rows["mind"].combine_chunks().dictionary_encode()
    names = coded.dictionary.to_pylist()
    known = [minds.index(name) if name in minds else -1 for name in names]
    numbers: NDArray[np.intp] = np.array(known, np.intp)[coded.indices.to_numpy()]
    return numbers


def exercise_means(
    folder: RunFolder, data: TestData, wanted: Iterable[tuple[str, tuple[int, ...]]]
) -> dict[tuple[str, tuple[int, ...]], Floats]:
    """By exercise, the mean score of a mind in some slots; NaN where it failed."""
    found = {key: np.full(data.test.episodes, np.nan) for key in wanted}
    slots, places = data.tool.slots, {mind: n for n, mind in enumerate(data.minds)}
    for part in folder.parts(data.number) if found else ():
        for rows in batches(part, slots, ["index", "mind", "score"]):
            index = rows["index"].to_numpy()[::slots]
            mind = minds_of(rows, data.minds)[::slots]
            score = rows["score"].to_numpy().reshape(-1, slots)
            for (name, these), values in found.items():
                here = mind == places[name]
                values[index[here]] = score[here][:, these].mean(axis=1)
    return found


def _interval(n: float, total: float, squares: float) -> tuple[float, float] | None:
    """The 95 % t interval of a mean; none from a single value."""
    if n < 2:
        return None
    variance = max(squares - total * total / n, 0.0) / (n - 1)
    return t_interval(total / n, math.sqrt(variance / n), n - 1)


# ---------------------------------------------------------------- curves


def _curve(folder: RunFolder, parts: Sequence[Path], minds: Sequence[str]) -> list[Stretch]:
    """Mean reward a step within an episode; nothing to show of an episode of one step."""
    import pyarrow.parquet as pq

    sums = np.zeros((2, len(minds), 0))  # count, total
    for part in parts:
        path = folder.path / "curves" / part.name
        if not path.exists():
            continue
        rows = pq.read_table(path, columns=["mind", "step", "count", "total"])
        names = rows["mind"].to_pylist()
        mind = np.array([minds.index(name) if name in minds else -1 for name in names], np.intp)
        step = rows["step"].to_numpy().astype(np.intp) - 1
        longer = max(int(step.max(initial=-1)) + 1 - sums.shape[2], 0)
        sums = np.pad(sums, ((0, 0), (0, 0), (0, longer)))
        for total, name in zip(sums, ("count", "total"), strict=True):
            np.add.at(total, (mind[mind >= 0], step[mind >= 0]), rows[name].to_numpy()[mind >= 0])
    return _stretches(sums, minds) if sums.shape[2] > 1 and sums[0].any() else []


def _path(parts: Sequence[Path], data: TestData) -> list[Stretch]:
    """The mean complexity that each mind was given at every place of its administrations."""
    import pyarrow.parquet as pq

    sums = np.zeros((2, len(data.minds), data.tool.sitting))  # count, total
    for part in parts:
        rows = pq.read_table(part, columns=["index", "mind", "slot", data.column])
        first = rows["slot"].to_numpy() == 0
        mind, place = minds_of(rows, data.minds)[first], rows["index"].to_numpy()[first]
        where = (mind, place % data.tool.sitting)
        np.add.at(sums[0], where, 1)
        np.add.at(sums[1], where, rows[data.column].to_numpy()[first])
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
