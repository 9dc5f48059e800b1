"""The plays of a run, read from its parts some columns at a time, and the answer that they give.

No mind is made for this, and none is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES, STATUSES, Instrument
from allminds.inference import MARGIN, Plays
from allminds.inference.estimates import play_scores
from allminds.runs.store import RunFolder, read_part
from allminds.statistics.answer import FUTURE, Answer, Measured, answer, labels

if TYPE_CHECKING:
    import pyarrow as pa

Column = NDArray[Any]


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
        who = rows["line_up" if "line_up" in known else "mind"]
        codes = who.combine_chunks().dictionary_encode()
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
    import pyarrow as pa
    import pyarrow.compute as pc

    slots, scored = tool.slots, list(tool.scored_slots)

    def first(name: str) -> Column:
        return np.asarray(rows[name].to_numpy()[::slots])

    codes = pc.index_in(rows["status"].cast("string"), pa.array(STATUSES)).to_numpy()
    status = codes.reshape(-1, slots)[:, scored].astype(np.int8)
    each = rows["score"].to_numpy().astype(float).reshape(-1, slots)[:, scored]
    lost = np.isin(status, [STATUSES.index(name) for name in FAILURES]) & np.isnan(each)
    score, failed = play_scores(np.where(lost, tool.lowest, each), status)
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
