"""Scores of the minds of a test, computed from blocks of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds import registry
from allminds.contracts import FAILURES, STATUSES, Instrument
from allminds.core.blocks import Block
from allminds.core.line_up import LineUp, ends
from allminds.core.seeding import numbered
from allminds.inference import Estimate, Tally
from allminds.inference.estimates import NOT_PLAYED, normalised
from allminds.runs.engine import Given, Part, Sitting
from allminds.runs.plan import Plan
from allminds.runs.store import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Score:
    """One line-up on one test: its plays, and the kinds of its failures."""

    line_up: LineUp
    tally: Tally
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)  # status -> exercises
    reason: str = ""  # of the first failure
    gap: str = ""  # why the first exercise that is missing is

    @property
    def mind(self) -> str:
        """The name of the line-up."""
        return self.line_up.name

    def add(self, block: Block, seconds: float = 0.0) -> None:
        """Add the next block of exercises."""
        self.tally.add(block)
        self.seconds += seconds
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
            "reason": self.reason or self.gap or None,  # missing ones matter if none failed
            "seconds": round(self.seconds, 6),
        }


class TestScores:
    """The scores of all minds of a test, filled part by part."""

    def __init__(self, tool: Instrument, line_ups: Sequence[LineUp]) -> None:
        self.tool = tool
        self.of = {line_up.name: Score(line_up, tool.tally()) for line_up in line_ups}

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
        fair = self.tool.fair_ceiling().score
        return {
            "instrument": self.tool.name,
            "settings": self.tool.settings.model_dump(mode="json"),
            "seed": seed,
            "episodes": episodes,
            "results": [self._row(score) | more for score in self.of.values()],
            **({} if fair is None else {"fair_ceiling": fair}),
        }

    def _row(self, score: Score) -> dict[str, Any]:
        floor, ceiling = self._ends(score.line_up)
        found = score.tally.estimate()
        place = self._place(score, floor, ceiling)
        if place is not None:
            found = replace(found, normalised=place[0], normalised_ci95=place[1])
        return score.row(found, {floor: "floor", ceiling: "ceiling"}.get(score.mind))

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
        if self.tool.adaptive or floor not in self.of or (ceiling and ceiling not in self.of):
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
        scores = TestScores(given.tool, given.line_ups)
        for part in folder.stored(number):
            scores.read(folder, part.name)
        tests.append(scores.summary(folder.plan.seed, test.exercises))
    return summary_of(folder.plan, tests)


def summary_of(plan: Plan, tests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the scores of a plan's tests together: its name, the minds asked about, the tests."""
    return {"run": plan.run, "yours": list(plan.yours), "tests": list(tests)}


def _line_ups(rows: pa.Table) -> pa.ChunkedArray:
    """Return the column of line-ups; a run made before there were any has minds only."""
    return rows["line_up" if "line_up" in rows.column_names else "mind"].cast("string")


def _block_again(rows: pa.Table, line_up: str, tool: Instrument) -> Block:
    """Rebuild a line-up's block from its rows, as far as a score needs it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    here = rows.filter(pc.equal(_line_ups(rows), line_up))

    def column(name: str) -> Any:
        return here[name].to_numpy().astype(float).reshape(-1, tool.slots)

    status = pc.index_in(here["status"], pa.array(STATUSES)).to_numpy().astype(np.int8)
    why = here.filter(pc.is_valid(here["reason"]))
    reasons = dict(zip(why["index"].to_pylist(), why["reason"].to_pylist(), strict=True))
    score = column("score")
    failed = np.isin(status.reshape(score.shape), [STATUSES.index(name) for name in FAILURES])
    score = np.where(
        failed & np.isnan(score), tool.lowest, score
    )  # of a run made before they counted
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
        status=status.reshape(-1, tool.slots),
        steps=column("steps")[:, 0].astype(np.int32),
        curve=np.zeros(0),
        actions=np.zeros((0, 0, tool.slots), np.int16),
        reasons=reasons,
        **kept,
    )
