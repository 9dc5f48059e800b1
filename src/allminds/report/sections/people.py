"""People in the report: a sample of people, beside the programs that had the same exercises.

Persons are the dots of the figures, programs the lines. People are compared with each program by
the model of `statistics.comparison.people`, as `allminds compare --baseline people` does it, and
never by a mean over rows. A person has a number here and no name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.contracts import FAILURES
from allminds.core.errors import Error
from allminds.inference import MARGIN, Difference, Estimate, corrected
from allminds.report.charts import drawing, plots
from allminds.report.charts.drawing import CEILING, FLOOR, STYLES, Dot, Mark
from allminds.report.data import TestData
from allminds.report.sources import batches
from allminds.report.words import count, interval, number
from allminds.runs.imports import provenance, read_results
from allminds.statistics.comparison.people import (
    PEOPLE,
    estimate_people,
    included,
    people_difference,
    person_scores,
    pooled,
)

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = (
    "The results do not say how people's test differed from the programs'; the folder that "
    "allminds study export writes does."
)


@dataclass(frozen=True)
class Export:
    """The results of people: the export of a study, or a table of results."""

    path: Path
    frame: pd.DataFrame  # a row for every play of a person, whose number is `person`
    source: str  # where it comes from
    parity: tuple[str, ...]  # how people's test differs from the programs'
    version: str  # of allminds, if known


@dataclass(frozen=True)
class PersonPoint:
    """One person at one complexity: the mean over the exercises there."""

    person: int
    k: float
    label: str
    exercises: int
    mean: float


@dataclass(frozen=True)
class People:
    """The people of one test, and how the programs that took it compare with them."""

    data: TestData
    found: Estimate
    persons: dict[int, float]  # number -> score
    plays: dict[int, int]
    exercises: int
    points: list[PersonPoint]
    differences: list[Difference]  # each mind less people, corrected over all of them
    notes: list[str]
    left_out: str = ""  # how many were excluded by the rule of their study, and why
    everybody: People | None = None  # the same with them

    @property
    def count(self) -> int:
        """The number of persons."""
        return len(self.persons)


@dataclass
class Numbers:
    """The numbers of persons in the report, from 1, in the order in which they come."""

    given: dict[tuple[int, str], int] = field(default_factory=dict)

    def of(self, export: int, person: str) -> int:
        """Return the number of a person, a new one if need be."""
        return self.given.setdefault((export, person), len(self.given) + 1)


# ---------------------------------------------------------------- reading


def read_exports(paths: Sequence[Path]) -> list[Export]:
    """Read the results of people; programs are taken from run folders only."""
    numbers = Numbers()
    return [_read(path, place, numbers) for place, path in enumerate(paths)]


def _read(path: Path, place: int, numbers: Numbers) -> Export:
    frame = read_results(path)
    kind = frame["kind"].fillna("").astype(str) if "kind" in frame else None
    if kind is None or not (kind == "person").any():
        raise Error(
            f"{path} has no people (no row whose kind is 'person'); the report takes run folders, "
            "and exports of studies: allminds study export"
        )
    if (kind != "person").any():
        mind = frame.loc[kind != "person", "mind"].iloc[0]
        raise Error(f"{path} has people and the program {mind}: give programs as run folders")
    who = frame["person"] if "person" in frame else frame["mind"]
    who = who.fillna("").astype(str).where(lambda name: name != "", frame["mind"].astype(str))
    number = {name: numbers.of(place, name) for name in sorted(who.unique())}
    made = provenance(path)
    return Export(
        path=path,
        frame=frame.assign(person=who.map(number)),
        source=str(made.get("source", path.name)),
        parity=tuple(made.get("parity") or (UNKNOWN,)),
        version=str(made.get("versions", {}).get("allminds", "")),
    )


# ---------------------------------------------------------------- people beside programs


def beside(tests: Sequence[TestData], exports: Sequence[Export]) -> tuple[list[People], list[str]]:
    """Find the people of every test, and say in sentences which exercises no program had."""
    import pandas as pd

    if not exports:
        return [], []
    rows = pd.concat([export.frame for export in exports], ignore_index=True)
    prefix = rows["exercise"].astype(str).str.rpartition("/")[0] + "/"
    made, taken = [], pd.Series(False, rows.index)
    for data in tests:
        here = (prefix == data.prefix) & _met(rows, data)
        if here.any():
            made.append(_people(data, rows[here]))
            taken |= here
    if not made:
        asked = ", ".join(prefix.drop_duplicates()[:3] + "…")
        raise Error(
            f"people and programs have no exercise in common: people took {asked}; run programs "
            "with the same instrument, settings and seed (and, in a game, opponent)"
        )
    left = rows[~taken].groupby(prefix[~taken], sort=False)["person"].nunique()
    known = {data.prefix for data in tests}
    said = []
    for name, persons in left.items():
        what = "met opponents that no program here met" if name in known else (
            "took exercises that no program here had"
        )  # fmt: skip
        said.append(f"{counted(persons)} {what} ({name}…): these plays are not in this report.")
    return made, said


def _met(rows: pd.DataFrame, data: TestData) -> pd.Series:
    """Select the plays with the opponents of a test, in the slot that is scored."""
    import pandas as pd

    if data.tool.slots == 1 or data.tool.scored == "all" or "line_up" not in rows:
        return pd.Series(True, rows.index)
    return rows["line_up"].astype(str) == rows["mind"].astype(str) + f", {data.test.against}"


def _people(data: TestData, rows: pd.DataFrame) -> People:
    """Analyse people as the rule of their study says; if it excludes some, also with them."""
    kept, said = included(rows)
    if not said:
        return _analysed(data, rows)
    everybody = _analysed(data, rows)
    if kept.empty:
        return replace(everybody, left_out=f"{said}; since nobody would be left, all are shown")
    return replace(_analysed(data, kept), left_out=said, everybody=everybody)


def _analysed(data: TestData, rows: pd.DataFrame) -> People:
    import pandas as pd

    rule, programs = data.tool.rule(), _programs(data)
    frame = pooled(pd.concat([rows.assign(kind="person"), programs], ignore_index=True))
    found, notes = [], list[str]()
    for row in data.summary["results"]:
        if row["score"] is not None:
            one, said = people_difference(frame, (row["mind"], PEOPLE), rule, MARGIN)
            found.append(one)
            notes += said
    persons = person_scores(frame, rule)
    return People(
        data=data,
        found=estimate_people(frame, rule),
        persons={int(person): score for person, score in persons.items()},
        plays=dict(Counter(rows["person"].tolist())),
        exercises=int(rows["exercise"].nunique()),
        points=list(_points(data, frame)),
        differences=corrected(found),
        notes=list(dict.fromkeys(notes)),
    )


def _programs(data: TestData) -> pd.DataFrame:
    """Read the records of a test that scores are made of, under the names of the report."""
    import pandas as pd
    import pyarrow.parquet as pq

    frames = []
    for source in data.sources:
        for part in source.parts:
            there = pq.read_schema(part).names
            wanted = {"item", "cluster", data.column or "item", data.tool.rule().strata or "item"}
            columns = ["exercise", "index", "who", "slot", "score", "status"]
            columns += sorted(wanted & set(there))
            for rows in batches(part, data.tool.slots, columns):
                frame = rows.to_pandas().rename(columns={"who": "mind"})
                frame["mind"] = frame["mind"].astype(str).map(source.names)
                frames.append(frame[frame["slot"].isin(data.tool.scored_slots)])
    whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return whole[whole["mind"].notna()].assign(kind="", person="")


def _points(data: TestData, frame: pd.DataFrame) -> Iterator[PersonPoint]:
    """Average the plays of every person at every complexity, as the plot of the test has them."""
    if not data.points or data.levels is None or data.tool.adaptive:
        return
    known = frame.dropna(subset=[data.column]).drop_duplicates("exercise")
    complexity = dict(zip(known["exercise"], known[data.column], strict=True))
    rows = frame[frame["mind"] == PEOPLE]
    values = rows["exercise"].map(complexity).to_numpy(float)
    score = rows["score"].to_numpy(dtype=float, na_value=np.nan)
    failed = rows["status"].astype(str).isin(FAILURES).to_numpy()
    rows = rows.assign(score=np.where(failed & np.isnan(score), data.tool.lowest, score))
    rows = rows[np.isfinite(values)].assign(level=data.levels.number(values[np.isfinite(values)]))
    for (person, level), own in rows.groupby(["person", "level"]):
        place, label = data.levels.place(int(level)), data.levels.label(int(level))
        yield PersonPoint(int(person), place, label, len(own), float(own["score"].mean()))


# ---------------------------------------------------------------- the figures


def panels(people: People) -> list[str]:
    """Draw score against complexity: a line for each program, and a dot for each person."""
    data = people.data
    marks = [plots.mark(point) for point in data.points]
    places = sorted({mark.x for mark in marks})
    if not people.points or len(places) < 2:
        return []
    gap = min(b - a for a, b in itertools.pairwise(places))
    offset = _offsets(sorted(people.persons), 0.6 * gap)
    dots = [
        Dot(point.k + offset[point.person], point.mean, _said(point, data.column or ""))
        for point in people.points
    ]
    values = [*marks, *(Mark("", dot.x, dot.y, dot.y, dot.y) for dot in dots)]
    reach = (places[0] - 0.4 * gap, places[-1] + 0.4 * gap)
    titles = (f"complexity {data.column}", "score, with 95 % intervals")
    return plots.panels(data, marks, titles, reach, drawing.y_domain(values), dots)


def _offsets(persons: Sequence[int], width: float) -> dict[int, float]:
    """Set persons apart from left to right, each at the same place at every complexity."""
    middle, step = (len(persons) - 1) / 2, width / max(len(persons) - 1, 1)
    return {person: (n - middle) * step for n, person in enumerate(persons)}


def _said(point: PersonPoint, column: str) -> str:
    return f"person {point.person}, {column} {point.label}: {number(point.mean)}"


def swarm(people: People) -> str:
    """Draw the score of every person on one row, and of every program on a row of its own."""
    data = people.data
    rows = [row for row in data.summary["results"] if row["score"] is not None]
    rows = sorted(rows, key=lambda row: -row["score"])
    found = people.found
    marks = [
        Mark(mind, 0, score, *(ends or (score, score)))
        for mind, score, ends in [
            (PEOPLE, found.score, found.ci95),
            *((row["mind"], row["score"], row["ci95"]) for row in rows),
        ]
    ]
    labels = drawing.short_names([mark.mind for mark in marks])
    ends = {row["mind"]: {"floor": FLOOR, "ceiling": CEILING}.get(row["end"] or "") for row in rows}
    styles = {mark.mind: ends.get(mark.mind) or STYLES[0] for mark in marks}
    styles[PEOPLE] = drawing.PERSON
    dots = [
        Dot(score, 0.0, f"person {person}: {number(score)}")
        for person, score in people.persons.items()
        if np.isfinite(score)
    ]
    domain = drawing.y_domain([*marks, *(Mark("", 0, dot.x, dot.x, dot.x) for dot in dots)])
    titles = ("", f"{'level' if data.tool.adaptive else 'score'}, with 95 % intervals")
    return drawing.dots(marks, styles, titles, domain, labels, dots)


# ---------------------------------------------------------------- the section


def section(
    found: Sequence[People], exports: Sequence[Export], left: Sequence[str]
) -> dict[str, Any] | None:
    """Collect what the page shows about people; None if there are none."""
    if not exports:
        return None
    return {
        "tests": [_test(people) for people in found],
        "exports": exports,
        "persons": len({number for people in found for number in people.persons}),
        "left": left,
        "margin": MARGIN,
    }


def _test(people: People) -> dict[str, Any]:
    data, found = people.data, people.found
    scores = {row["mind"]: row for row in data.summary["results"]}
    rows = [
        {"mind": one.first, "score": scores[one.first]["score"], "gain": one,
         "end": scores[one.first]["end"]}
        for one in people.differences
    ]  # fmt: skip
    return {
        "data": data,
        "people": people,
        "found": found,
        "rows": sorted(rows, key=lambda row: -row["gain"].mean),
        "panels": panels(people),
        "swarm": swarm(people),
        "persons": sorted(people.persons.items()),
        "measured": "level" if data.tool.adaptive else "score",
        "with_and_without": _with_and_without(people),
    }


def _with_and_without(people: People) -> list[dict[str, Any]]:
    """List every comparison as the study's rule has it, and with those whom it excludes."""
    if people.everybody is None:
        return []
    others = {one.first: one for one in people.everybody.differences}
    return [
        {"mind": one.first, "ruled": one, "everybody": others[one.first]}
        for one in people.differences
    ]


def counted(persons: int) -> str:
    """Write a number of people: 1 person, 2 people."""
    return "1 person" if persons == 1 else f"{persons:,} people"


def sentence(found: Sequence[People]) -> tuple[str, str] | None:
    """Sum up how people compare with programs, for the top of the page."""
    parts = []
    for people in found:
        signs = [one.sign for one in people.differences]
        ends = f" {interval(people.found.ci95)}" if people.found.ci95 else ""
        parts.append(
            f"{counted(people.count)} scored {number(people.found.score)}{ends} on "
            f"{people.data.label}, where of "
            f"{count(len(signs), 'program')} {signs.count(1)} did better, {signs.count(-1)} worse "
            f"and {signs.count(0)} neither for sure"
        )
    if not parts:
        return None
    return f"{'; '.join(parts)}: said of people like these on items like these.", "people"
