"""What the report shows, added up part by part, so that memory stays flat however long the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
    traits: dict[str, str] = field(default_factory=dict)
    column: str | None = None  # of complexity
    points: list[Point] = field(default_factory=list)
    curve: list[Stretch] = field(default_factory=list)

    @property
    def minds(self) -> list[str]:
        """The minds in the order of the plan."""
        return [row["mind"] for row in self.summary["results"]]

    @property
    def binned(self) -> bool:
        """Whether a point stands for a range of complexities."""
        return any(point.label.startswith("[") for point in self.points)


def read_tests(folder: RunFolder) -> list[TestData]:
    """Everything the report shows of a complete run."""
    summaries = folder.summary()["tests"]
    return [
        _read_test(folder, number, test, summary)
        for number, (test, summary) in enumerate(zip(folder.plan.tests, summaries, strict=True))
    ]


def _read_test(folder: RunFolder, number: int, test: Test, summary: dict[str, Any]) -> TestData:
    tool = registry.make_instrument(test.instrument, test.settings)
    found = TestData(test, tool, summary)
    parts = folder.parts(number)
    found.column = _complexity_column(parts, tool)
    levels = _levels(parts, found.column) if found.column else Levels(np.zeros(1))
    sums = Sums(found.minds, levels)
    for part in parts:
        for rows in _batches(part, tool.slots, found.column):
            sums.add(rows, tool.slots, found.column)
    found.traits = sums.traits
    found.points = sums.points() if found.column and len(levels) > 1 else []
    found.curve = _curve(folder, parts, found.minds)
    return found


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
    """The column that exercises are spread over, or else K if the instrument measures it."""
    import pyarrow.parquet as pq

    wanted = tool.strata or "K"
    return wanted if parts and wanted in pq.read_schema(parts[0]).names else None


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


def _batches(part: Path, slots: int, column: str | None) -> Iterator[pa.Table]:
    """The records of a part, some at a time, but never half an exercise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = ["mind", "traits", "score", "status", *([column] if column else [])]
    with pq.ParquetFile(part, read_dictionary=["status"]) as file:
        rest: pa.Table | None = None
        for batch in file.iter_batches(_BATCH, columns=columns):
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
        """Each record's mind as its number; -1 for one that is not in the plan."""
        coded = rows["mind"].combine_chunks().dictionary_encode()
        names = coded.dictionary.to_pylist()
        for code, name in enumerate(names):
            first = -1 if name in self.traits else coded.indices.index(code).as_py()
            if first >= 0:
                self.traits[name] = rows["traits"][first].as_py() or ""
        known = [self.minds.index(name) if name in self.minds else -1 for name in names]
        numbers: NDArray[np.intp] = np.array(known, np.intp)[coded.indices.to_numpy()]
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


def _stretches(sums: Floats, minds: Sequence[str]) -> list[Stretch]:
    steps = sums.shape[2]
    size = -(-steps // MOST_STEPS)
    found = []
    for first in range(0, steps, size):
        count, total = sums[:, :, first : first + size].sum(axis=2)
        means = {mind: float(total[m] / count[m]) for m, mind in enumerate(minds) if count[m] > 0}
        found.append(Stretch(first + 1, min(first + size, steps), means))
    return found
