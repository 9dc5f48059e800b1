"""The tidy table: a row per (exercise, slot), the same for programs, models and people.

Parquet on disk, pandas in the API. Times are not in it, so that two tables can be compared bit
for bit; they are sorted by instrument, exercise, mind and slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from allminds import registry
from allminds.contracts import STATUSES, Exercise, Instrument
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import numbered

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA = 2  # of the table; goes up when a column changes its meaning
ORDER = ["instrument", "settings", "seed", "index", "mind", "slot"]


def table(block: Block, run: str, tool: Instrument, line_up: LineUp, seed: int) -> pa.Table:
    """Build the rows of a block for one line-up."""
    import pyarrow as pa
    import pyarrow.compute as pc

    exercises, slots = block.score.shape
    rows = exercises * slots
    index = np.repeat(np.arange(block.first, block.first + exercises), slots)
    prefix = registry.exercise_prefix(tool, seed)
    number = pc.cast(pa.array(index), pa.string())
    columns: dict[str, Any] = {
        "run": _constant(run, rows),
        "exercise": pc.binary_join_element_wise(pa.scalar(prefix), number, ""),
        "instrument": _constant(tool.name, rows),
        "settings": _constant(registry.settings_hash(tool.settings), rows),
        "seed": pa.array(np.full(rows, seed, np.int64)),
        "index": pa.array(index),
    }
    items = numbered(prefix, np.arange(block.first, block.first + exercises))
    item = items if block.item is None else block.item
    cluster = item if block.cluster is None else block.cluster
    columns |= {
        "item": pa.array(np.repeat(item, slots)),
        "cluster": pa.array(np.repeat(cluster, slots)),
    }
    for name, values in block.complexity.items():
        columns[name] = pa.array(np.repeat(values, slots))
    return pa.table(columns | _who(tool, line_up, exercises) | _what(block, index))


def units_of(exercise: Exercise) -> dict[str, int]:
    """Return the item and the cluster of an exercise, numbered as in `table`."""
    item = exercise.item
    if item is None:
        item = int(numbered(registry.exercise_prefix(exercise.tool, exercise.seed), exercise.index))
    return {"item": item, "cluster": item if exercise.cluster is None else exercise.cluster}


def _who(tool: Instrument, line_up: LineUp, exercises: int) -> dict[str, Any]:
    import pyarrow as pa

    seats = sorted((slot, seat) for seat in line_up.seats for slot in seat.slots)
    teams = tool.exercise(0, 0).environment.teams
    of = {slot: number for number, team in enumerate(teams) for slot in team}
    names = [seat.subject.name for _, seat in seats]
    traits = [str(seat.subject.traits) for _, seat in seats]
    groups = [seat.subject.name if seat.subject.group else "" for _, seat in seats]
    slots = [slot for slot, _ in seats]
    return {
        "line_up": _constant(line_up.name, exercises * len(slots)),
        "mind": _repeated(names, exercises),
        "traits": _repeated(traits, exercises),
        "group": _repeated(groups, exercises),
        "slot": pa.array(np.tile(np.array(slots, np.int32), exercises)),
        "team": pa.array(np.tile(np.array([of[slot] for slot in slots], np.int32), exercises)),
    }


def _what(block: Block, index: Any) -> dict[str, Any]:
    import pyarrow as pa

    exercises, slots = block.score.shape
    score, learning = block.score.reshape(-1), block.learning.reshape(-1)
    status = pa.DictionaryArray.from_arrays(pa.array(block.status.reshape(-1)), pa.array(STATUSES))
    reasons = [block.reasons.get(int(i)) for i in index] if block.reasons else None
    return {
        "steps": pa.array(np.repeat(block.steps, slots)),
        "score": pa.array(score, mask=np.isnan(score)),
        "learning": pa.array(learning, mask=np.isnan(learning)),
        "status": status.cast(pa.string()),
        "reason": pa.array(reasons or [None] * (exercises * slots), pa.string()),
    }


def _constant(value: str, rows: int) -> Any:
    return _repeated([value], rows)


def _repeated(values: list[str], times: int) -> Any:
    """Repeat a short list `times` times, as a dictionary array."""
    import pyarrow as pa

    words = sorted(set(values))
    codes = np.tile(np.array([words.index(value) for value in values], np.int32), times)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words))


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort the table in its one order; categories become words, for codes sort as they came."""
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].astype(frame[name].cat.categories.dtype)
    return frame.sort_values(ORDER, kind="stable", ignore_index=True)


# ---------------------------------------------------------------- rows that count


def scored(frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows that scores are made of, with every line-up as one mind.

    In a game that is slot 0, elsewhere all slots, as the instrument says. A person is always a mind
    of its own, in whichever slot.
    """
    frame = frame.reset_index(drop=True)
    person = np.zeros(len(frame), bool)
    if "kind" in frame:
        person |= frame["kind"].to_numpy(object) == "person"
    if "line_up" in frame:
        frame["mind"] = frame["mind"].where(person, frame["line_up"].fillna(frame["mind"]))
    if "slot" not in frame or "instrument" not in frame:
        return frame
    counts = np.ones(len(frame), bool)
    for name, slots in frame["slot"].fillna(0).groupby(frame["instrument"].astype(str)):
        counts[slots.index] = slots.isin(scoring_slots(str(name), int(slots.max()) + 1))
    return frame[counts | person].reset_index(drop=True)


def scoring_slots(instrument: str, slots: int) -> tuple[int, ...]:
    """List the slots whose rewards are in the score; all of them if the instrument is unknown."""
    try:
        first = registry.kind(instrument).scored == "first"
    except Error:
        first = False
    return (0,) if first else tuple(range(slots))
