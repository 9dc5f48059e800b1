"""Scores of the minds of a test from blocks of records, and from the parts of a run on disk.

Parts are read some columns at a time: no mind is made for the answer that plays give, and none is
imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import FAILURES, STATUSES, Instrument
from allminds.core.blocks import Block
from allminds.core.line_up import LineUp, ends
from allminds.core.seeding import numbered
from allminds.inference import MARGIN, Estimate, Plays, Tally
from allminds.inference.estimates import NOT_PLAYED, normalised, play_scores
from allminds.runs.engine import Given, Part, Sitting
from allminds.runs.plan import Plan, sample_of
from allminds.runs.store import RunFolder, read_part

if TYPE_CHECKING:
    import pyarrow as pa

    from allminds.statistics.answer import Answer

Column = NDArray[Any]


@dataclass
class Score:
    """One line-up on one test: its plays, and the kinds of its failures."""

    line_up: LineUp
    tally: Tally
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)  # status -> exercises
    reason: str = ""  # of the first failure
    gap: str = ""  # why the first exercise that is missing is
    defaults: int | None = None  # actions that stood for replies of models that were not read

    @property
    def mind(self) -> str:
        """The name of the line-up."""
        return self.line_up.name

    def add(self, block: Block, seconds: float = 0.0) -> None:
        """Add the next block of exercises."""
        self.tally.add(block)
        self.seconds += seconds
        if "defaults" in block.asked:
            self.defaults = (self.defaults or 0) + int(np.nansum(block.asked["defaults"]))
        if not block.reasons:
            return
        status = block.status[:, list(self.tally.rule.scored)]
        at_fault = np.where(np.isin(status, NOT_PLAYED), 0, status).max(axis=1)
        for index, reason in sorted(block.reasons.items()):
            if at_fault[index - block.first]:
                self.reason = self.reason or reason
            else:
                self.gap = self.gap or reason
        for number in at_fault[at_fault > 0]:
            word = STATUSES[int(number)]
            self.failures[word] = self.failures.get(word, 0) + 1

    def row(self, found: Estimate, end: str | None) -> dict[str, Any]:
        """Convert the figures to a plain value; None stands for what cannot be estimated."""
        made = asdict(found) | {"coverage": found.coverage, "ranked": found.ranked}
        for name in ("ci95", "normalised_ci95", "bounds"):
            made[name] = None if made[name] is None else list(made[name])
        return {
            "mind": self.mind,
            **made,
            "end": end,  # floor, ceiling or neither
            "failures": self.failures,
            **({} if self.defaults is None else {"defaults": self.defaults}),
            "reason": self.reason or self.gap or None,  # missing ones matter if none failed
            "seconds": round(self.seconds, 6),
        }


class TestScores:
    """The scores of all minds of a test, filled part by part."""

    def __init__(
        self, tool: Instrument, line_ups: Sequence[LineUp], exercises: int, sampled: Sequence[str]
    ) -> None:
        self.tool = tool
        self.of = {line_up.name: Score(line_up, tool.tally()) for line_up in line_ups}
        paired = self._paired(exercises, sampled)
        for score in self.of.values():
            score.tally.paired = paired

    def _paired(self, exercises: int, sampled: Sequence[str]) -> list[tuple[int, int]] | None:
        """Find the exercises on which scores are normalised; None for all that there are."""
        pairs = [self._ends(score.line_up) for score in self.of.values()]
        there = {end for pair in pairs if self._has(*pair) for end in pair if end}
        if not there:
            return []
        return sample_of(exercises) if there <= set(sampled) else None

    def _has(self, floor: str, ceiling: str | None) -> bool:
        """Check whether floor and ceiling were measured here."""
        return floor in self.of and (ceiling is None or ceiling in self.of)

    def take(self, sitting: Sitting, part: Part) -> None:
        """Add a part that has just been played."""
        for line_up, block, seconds in zip(
            sitting.line_ups, part.blocks, part.seconds, strict=True
        ):
            self.of[line_up.name].add(block, seconds)

    def read(self, folder: RunFolder, name: str) -> None:
        """Add a part that is on disk."""
        rows = folder.read(f"records/{name}")
        there = set(_line_ups(rows).unique().to_pylist())
        spent = folder.read(f"timings/{name}").to_pylist()
        for line_up, score in self.of.items():
            if line_up in there:
                score.add(_block_again(rows, line_up, self.tool))
            score.seconds += sum(row["seconds"] for row in spent if row["mind"] == line_up)

    def summary(self, seed: int, episodes: int, mixed: str = "") -> dict[str, Any]:
        """Convert the test and its results to a plain value; `mixed` is a note on all of them."""
        more = {"mixed": mixed} if mixed else {}
        known = [self._row(score) | more for score in self.of.values()]
        for row in known:
            if row["end"] and row["episodes"] < episodes and not self.tool.adaptive:
                row["sampled"] = episodes  # of which it played a sample
        fair = self.tool.fair_ceiling().score
        return {
            "instrument": self.tool.name,
            "settings": self.tool.settings.model_dump(mode="json"),
            "seed": seed,
            "episodes": episodes,
            "results": known,
            **({} if fair is None else {"fair_ceiling": fair}),
        }

    def _row(self, score: Score) -> dict[str, Any]:
        floor, ceiling = self._ends(score.line_up)
        found = score.tally.estimate()
        place = self._place(score, floor, ceiling)
        if place is not None:
            found = replace(found, normalised=place[0], normalised_ci95=place[1])
        row = score.row(found, {floor: "floor", ceiling: "ceiling"}.get(score.mind))
        rule = score.tally.rule
        if rule.ability is not None and len(plays := score.tally.plays()):
            row["ability"] = rule.ability(plays.stratum, plays.score).as_json()
        return row

    def _ends(self, who: LineUp) -> tuple[str, str | None]:
        """Name the floor and ceiling of a line-up, of those that were measured here.

        A mind against itself has the name of a mind that fills all slots. Where the floor of such a
        line-up was not measured, its floor is the floor mind against the same others.
        """
        floor, ceiling = ends(who, self.tool)
        others = [seat.subject.name for seat in who.seats[1:]]
        against = ", ".join([self.tool.floor_mind, *others])
        if floor in self.of or against not in self.of:
            return floor, ceiling
        top = self.tool.ceiling_mind
        return against, top if {top} == set(others) else top and ", ".join([top, *others])

    def _place(
        self, score: Score, floor: str, ceiling: str | None
    ) -> tuple[float, tuple[float, float] | None] | None:
        """Locate a score between floor and ceiling, as they were measured here."""
        if self.tool.adaptive or not self._has(floor, ceiling):
            return None
        top = self.of[ceiling].tally.plays() if ceiling else float(self.tool.ceiling)
        low = self.of[floor].tally.plays()
        return normalised(score.tally.plays(), low, top, score.tally.rule)


def total_failures(tests: Sequence[dict[str, Any]]) -> list[str]:
    """Write a sentence for every mind that failed all exercises of a test."""
    return [
        f"{row['mind']} failed all {row['episodes']:,} exercises of {test['instrument']}; "
        "--strict stops at the first and shows where"
        for test in tests
        for row in test["results"]
        if 0 < row["episodes"] <= row["failed"]
    ]


def summarise(folder: RunFolder) -> dict[str, Any]:
    """Compute the scores of a run from its records, for a run whose summary is an old one."""
    tests = []
    for number, test in enumerate(folder.plan.tests):
        given = Given.of(test.instrument, test.settings, test.minds)
        scores = TestScores(given.tool, given.line_ups, test.exercises, test.sampled)
        for part in folder.stored(number):
            scores.read(folder, part.name)
        tests.append(scores.summary(folder.plan.seed, test.exercises))
    return summary_of(folder.plan, tests)


def summary_of(plan: Plan, tests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the scores of a plan's tests together: its name, the minds asked about, the tests."""
    return {"run": plan.run, "yours": list(plan.yours), "tests": list(tests)}


def _line_ups(rows: pa.Table) -> pa.ChunkedArray:
    """Return the column of line-ups; a run made before there were any has minds only."""
    return rows["line_up" if "line_up" in rows.column_names else "mind"]


def _scores(rows: pa.Table, tool: Instrument) -> tuple[Column, Column]:
    """Return scores and statuses [exercise, slot] of rows.

    A failure of a run that was made before failures counted gets the lowest score.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = pc.index_in(rows["status"].cast("string"), pa.array(STATUSES)).to_numpy()
    status = codes.astype(np.int8).reshape(-1, tool.slots)
    score = rows["score"].to_numpy().astype(float).reshape(-1, tool.slots)
    failed = np.isin(status, [STATUSES.index(name) for name in FAILURES])
    return np.where(failed & np.isnan(score), tool.lowest, score), status


def _block_again(rows: pa.Table, line_up: str, tool: Instrument) -> Block:
    """Rebuild a line-up's block from its rows, as far as a score needs it."""
    import pyarrow.compute as pc

    here = rows.filter(pc.equal(_line_ups(rows).cast("string"), line_up))

    def column(name: str) -> Any:
        return here[name].to_numpy().astype(float).reshape(-1, tool.slots)

    score, status = _scores(here, tool)
    why = here.filter(pc.is_valid(here["reason"]))
    reasons = dict(zip(why["index"].to_pylist(), why["reason"].to_pylist(), strict=True))
    prefix = registry.exercise_prefix(tool, here["seed"][0].as_py())
    own = numbered(prefix, here["index"].to_numpy().reshape(-1, tool.slots)[:, 0])
    kept = {
        name: values
        for name in ("item", "cluster")
        if name in here.column_names
        and not np.array_equal(
            values := here[name].to_numpy().reshape(-1, tool.slots)[:, 0], own
        )  # else it is the exercise's own, as in memory
    }
    return Block(
        first=int(here["index"][0].as_py()),
        complexity={
            name: column(name)[:, 0] for name in tool.exercise(0, 0).environment.complexity
        },
        score=score,
        learning=column("learning"),
        status=status,
        steps=column("steps")[:, 0].astype(np.int32),
        curve=np.zeros(0),
        actions=np.zeros((0, 0, tool.slots), np.int16),
        reasons=reasons,
        asked={"defaults": column("defaults")} if "defaults" in here.column_names else {},
        **kept,
    )


# ---------------------------------------------------------------- the answer that plays give


@dataclass(frozen=True)
class TestPlays:
    """The plays of the minds of one test, by the names that are shown, and their traits."""

    plays: dict[str, Plays]
    column: str  # of complexity; empty if there is none, or exercises do not differ in it
    complexity: dict[str, Column]  # of each mind's plays
    traits: dict[str, str]

    @property
    def clairvoyant(self) -> frozenset[str]:
        """The minds that see the future."""
        from allminds.statistics.answer import FUTURE

        return frozenset(mind for mind, traits in self.traits.items() if FUTURE in traits)


def read_plays(parts: Sequence[tuple[Path, Mapping[str, str]]], tool: Instrument) -> TestPlays:
    """Read the plays of a test; a part comes with the shown names of its line-ups."""
    import pyarrow.parquet as pq

    there = set(pq.read_schema(parts[0][0]).names) if parts else set()
    column = next((c for c in (tool.strata, "K", "k") if c and c in there), "")
    wanted = {"line_up", "mind", "traits", "index", "item", "cluster", "score", "status"}
    wanted |= {name for name in (tool.rule().strata, column) if name}
    lots: dict[str, list[dict[str, Column]]] = {}
    traits: dict[str, str] = {}
    for path, names in parts:
        known = set(pq.read_schema(path).names)
        rows = read_part(path, sorted(wanted & known))
        codes = _line_ups(rows).combine_chunks().dictionary_encode()
        number = codes.indices.to_numpy()[:: tool.slots]
        found = _columns(rows, tool, column)
        for n, name in enumerate(codes.dictionary.to_pylist()):
            here, shown = number == n, names.get(name)
            if shown is not None and here.any():
                lots.setdefault(shown, []).append({key: of[here] for key, of in found.items()})
                first = int(np.argmax(here)) * tool.slots
                traits.setdefault(shown, rows["traits"][first].as_py() or "")
    whole = {mind: _joined(lot) for mind, lot in lots.items()}
    values = [of["complexity"] for of in whole.values()]
    varies = bool(column) and any(len(np.unique(of[np.isfinite(of)])) > 1 for of in values)
    return TestPlays(
        {mind: _plays(of) for mind, of in whole.items()}, column if varies else "",
        {mind: of["complexity"] for mind, of in whole.items()} if varies else {}, traits,
    )  # fmt: skip


def _columns(rows: pa.Table, tool: Instrument, column: str) -> dict[str, Column]:
    """Convert the records of a part to one value for each play."""

    def first(name: str) -> Column:
        return np.asarray(rows[name].to_numpy()[:: tool.slots])

    score, failed = play_scores(*(of[:, list(tool.scored_slots)] for of in _scores(rows, tool)))
    index = first("index")
    made = {"index": index, "score": score, "failed": failed}
    made["item"] = first("item").astype(np.int64) if "item" in rows.column_names else index
    has = "cluster" in rows.column_names
    made["cluster"] = first("cluster").astype(np.int64) if has else made["item"]
    strata = tool.rule().strata
    zeros = np.zeros(len(index))
    made["stratum"] = first(strata).astype(float) if strata else zeros
    made["complexity"] = first(column).astype(float) if column else zeros
    return made


def _joined(lot: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """Join the parts of a mind's plays in the order of their exercises."""
    made = {name: np.concatenate([one[name] for one in lot]) for name in lot[0]}
    order = np.argsort(made["index"], kind="stable")
    return {name: values[order] for name, values in made.items()}


def _plays(of: Mapping[str, Column]) -> Plays:
    """Build the plays; where clusters are the items themselves, they are the same array."""
    item = of["item"]
    cluster = item if np.array_equal(item, of["cluster"]) else of["cluster"]
    nothing = np.full(len(item), np.nan)
    return Plays(item, cluster, of["stratum"], of["score"], of["failed"], nothing)


def answer_of_run(folder: RunFolder, margin: float = MARGIN) -> Answer:
    """Answer about the minds that a complete run was made for, or about its best fair ones."""
    from allminds.statistics.answer import Measured, answer, labels

    summaries, yours = folder.summary()["tests"], set(folder.plan.yours)
    told = labels([
        (one["instrument"], one["settings"], test.against)
        for one, test in zip(summaries, folder.plan.tests, strict=True)
    ])  # fmt: skip
    found = []
    for n, (test, summary) in enumerate(zip(folder.plan.tests, summaries, strict=True)):
        tool = folder.tool(n)
        minds = {row["mind"]: test.mind_of(row["mind"]) for row in summary["results"]}
        mine = {name for name, mind in minds.items() if mind in yours}
        if len(set(minds.values())) < len(minds):  # two line-ups of one mind
            minds = {name: name for name in minds}
        played = read_plays([(path, minds) for path in folder.parts(n)], tool)
        rows = {minds[row["mind"]]: row for row in summary["results"]}
        found.append(Measured(
            told[n], tool, rows, played.plays, played.column, played.complexity,
            played.clairvoyant, tuple(minds[name] for name in minds if name in mine),
        ))  # fmt: skip
    return answer(found, margin)
