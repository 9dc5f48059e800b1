"""The records of a report: the tests of one run or of several, read some columns at a time.

Tests of several runs that have the same exercises (`instrument@version/settings/seed`) are one
test here, so that minds of different runs are compared on what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Instrument
from allminds.runs.plan import Test
from allminds.runs.provenance import Portrait
from allminds.runs.store import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
BATCH = 1 << 18  # records in memory at once


@dataclass(frozen=True)
class Source:
    """A test of a run, and the names of its minds in the report."""

    run: int  # number of the run in the report, from 1
    names: dict[str, str]  # in the records -> in the report
    minds: dict[str, str]  # in the records -> whose score it is
    parts: tuple[Path, ...]  # its records
    portraits: dict[str, Portrait]  # of its line-ups, by their names in the records
    yours: frozenset[str] = frozenset()  # the line-ups of minds that the user asks about

    @property
    def curves(self) -> list[Path]:
        """The files with its sums of rewards, as far as there are any."""
        found = [part.parents[1] / "curves" / part.name for part in self.parts]
        return [path for path in found if path.exists()]


@dataclass(frozen=True)
class Given:
    """One test as it was given: the plan's words, the instrument, the scores, the records."""

    test: Test
    tool: Instrument
    summary: dict[str, Any]
    prefix: str  # of its exercises' ids
    sources: tuple[Source, ...]


# ---------------------------------------------------------------- tests of several runs


def given(folders: Sequence[RunFolder]) -> list[Given]:
    """Collect the tests of all runs; tests with the same exercises become one."""
    found: list[list[Given]] = []
    for run, folder in enumerate(folders, 1):
        taken: set[int] = set()
        for number, summary in enumerate(folder.summary()["tests"]):
            one = _given(folder, run, number, summary)
            like = (n for n, lot in enumerate(found) if n not in taken and _same(lot[0], one))
            place = next(like, len(found)) if run > 1 else len(found)
            taken.add(place)
            if place == len(found):
                found.append([])
            found[place].append(one)
    marked = _in_several([one for lot in found for one in lot])
    return [_together(lot, marked) for lot in found]


def _in_several(tests: Sequence[Given]) -> set[str]:
    """Find the minds that are in more than one run: everywhere they are marked by their run."""
    runs: dict[str, set[int]] = {}
    for one in tests:
        for source in one.sources:
            for mind in source.minds.values():
                runs.setdefault(mind, set()).add(source.run)
    return {mind for mind, of in runs.items() if len(of) > 1}


def _given(folder: RunFolder, run: int, number: int, summary: dict[str, Any]) -> Given:
    test = folder.plan.tests[number]
    tool = folder.tool(number)
    minds = {row["mind"]: test.mind_of(row["mind"]) for row in summary["results"]}
    yours = frozenset(name for name, mind in minds.items() if mind in folder.plan.yours)
    if len(set(minds.values())) < len(minds):  # two line-ups of one mind
        minds = {name: name for name in minds}
    parts, portraits = tuple(folder.parts(number)), folder.portraits(number)
    source = Source(run, dict(minds), minds, parts, portraits, yours)
    prefix = _prefix(source.parts) or registry.exercise_prefix(tool, folder.plan.seed)
    rows = [row | {"mind": minds[row["mind"]]} for row in summary["results"]]
    return Given(test, tool, summary | {"results": rows}, prefix, (source,))


def _same(one: Given, other: Given) -> bool:
    return (one.prefix, one.test.against) == (other.prefix, other.test.against)


def _prefix(parts: Sequence[Path]) -> str:
    """Read the prefix of exercises from the records, for the instrument may have changed since."""
    import pyarrow.parquet as pq

    for part in parts:
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(1, columns=["exercise"]):
                head, slash, _ = str(batch.column(0)[0]).rpartition("/")
                return head + slash
    return ""


def _together(lot: Sequence[Given], marked: set[str]) -> Given:
    """Join several runs' shares of one test."""
    if len(lot) == 1 and not marked & set(lot[0].sources[0].minds.values()):
        return lot[0]
    sources, rows = [], []
    for one in lot:
        (source,) = one.sources
        names = {
            name: f"{mind} · run {source.run}" if mind in marked else source.names[name]
            for name, mind in source.minds.items()
        }
        sources.append(replace(source, names=names))
        shown = {source.names[name]: names[name] for name in names}
        rows += [row | {"mind": shown[row["mind"]]} for row in one.summary["results"]]
    episodes = max(one.test.exercises for one in lot)
    test = lot[0].test.model_copy(
        update={"episodes": episodes, "minds": [row["mind"] for row in rows], "words": {}}
    )
    summary = lot[0].summary | {"results": rows, "episodes": episodes}
    return Given(test, lot[0].tool, summary, lot[0].prefix, tuple(sources))


# ---------------------------------------------------------------- records


def who(part: Path) -> str:
    """Name the column that identifies a record's mind: the line-up's, in records that have it."""
    import pyarrow.parquet as pq

    return "line_up" if "line_up" in pq.read_schema(part).names else "mind"


def batches(part: Path, slots: int, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read some columns of a part's records, some rows at a time, but never half an exercise.

    The column `who` is the line-up or the mind.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = who(part)
    wanted = [name if column == "who" else column for column in columns]
    with pq.ParquetFile(part, read_dictionary=["status"]) as file:
        rest: pa.Table | None = None
        for batch in file.iter_batches(BATCH, columns=wanted):
            rows = pa.Table.from_batches([batch])
            if rest is not None and len(rest):
                rows = pa.concat_tables([rest, rows])
            whole = len(rows) - len(rows) % slots
            rest = rows.slice(whole)
            if whole:
                here = rows.slice(0, whole)
                yield here.rename_columns(["who" if c == name else c for c in here.column_names])


def numbered(rows: pa.Table, names: dict[str, str], minds: Sequence[str]) -> NDArray[np.intp]:
    """Convert each record's mind to its number in the report; -1 if it is not in the plan."""
    coded = rows["who"].combine_chunks().dictionary_encode()
    place = {mind: n for n, mind in enumerate(minds)}
    known = [place.get(names.get(name, ""), -1) for name in coded.dictionary.to_pylist()]
    numbers: NDArray[np.intp] = np.array(known, np.intp)[coded.indices.to_numpy()]
    return numbers


def exercise_means(
    sources: Iterable[Source],
    tool: Instrument,
    episodes: int,
    minds: Sequence[str],
    wanted: Iterable[tuple[str, tuple[int, ...]]],
) -> dict[tuple[str, tuple[int, ...]], Floats]:
    """Average, by exercise, the score of a mind in some slots; NaN where it is missing.

    If the mind of a slot failed, that slot has its score, and the others of the exercise have none:
    the result is then the mean of the slots at fault.
    """
    found = {key: np.full(episodes, np.nan) for key in wanted}
    slots, places = tool.slots, {mind: n for n, mind in enumerate(minds)}
    for source in sources if found else ():
        for part in source.parts:
            for rows in batches(part, slots, ["index", "who", "score"]):
                index = rows["index"].to_numpy()[::slots]
                mind = numbered(rows, source.names, minds)[::slots]
                score = rows["score"].to_numpy().reshape(-1, slots)
                for (name, these), values in found.items():
                    here = mind == places[name]
                    values[index[here]] = _mean_there(score[here][:, these])
    return found


def _mean_there(scores: Floats) -> Floats:
    """Average over the slots that have a score; NaN where none has."""
    there = ~np.isnan(scores)
    count = there.sum(axis=1)
    total = np.where(there, scores, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
