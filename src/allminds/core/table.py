"""The tidy table: a row per (exercise, slot), the same for programs, models and people.

Parquet on disk, pandas in the API. Times are not in it, so that two tables can be compared bit
for bit; they are sorted by instrument, exercise, mind and slot.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds import registry
from allminds.contracts import STATUSES, Exercise, Instrument
from allminds.core import arrow
from allminds.core.blocks import TENTHS, Block
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import numbered
from allminds.core.settings import settings_hash

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA = 2  # of the table; goes up when a column changes its meaning
ORDER = ["instrument", "settings", "seed", "index", "mind", "slot"]


def table(block: Block, run: str, tool: Instrument, line_up: LineUp, seed: int) -> pa.Table:
    """Build the rows of a block for one line-up."""
    import pyarrow as pa

    exercises, slots = block.score.shape
    rows = exercises * slots
    index = np.repeat(np.arange(block.first, block.first + exercises), slots)
    prefix = registry.exercise_prefix(tool, seed)
    columns: dict[str, Any] = {
        "run": _constant(run, rows),
        "exercise": arrow.numbered(prefix, index),
        "instrument": _constant(tool.name, rows),
        "settings": _constant(settings_hash(tool.settings), rows),
        "seed": arrow.numbers(np.full(rows, seed, np.int64)),
        "index": arrow.numbers(index),
    }
    items = numbered(prefix, np.arange(block.first, block.first + exercises))
    item = items if block.item is None else block.item
    cluster = item if block.cluster is None else block.cluster
    columns |= {
        "item": arrow.numbers(np.repeat(item, slots)),
        "cluster": arrow.numbers(np.repeat(cluster, slots)),
    }
    for name, values in (block.course | block.complexity).items():
        columns[name] = _column(np.repeat(values, slots))
    return pa.table(columns | _who(tool, line_up, exercises) | _what(block, index))


def units_of(exercise: Exercise) -> dict[str, int]:
    """Return the item and the cluster of an exercise, numbered as in `table`."""
    item = exercise.item
    if item is None:
        item = int(numbered(registry.exercise_prefix(exercise.tool, exercise.seed), exercise.index))
    return {"item": item, "cluster": item if exercise.cluster is None else exercise.cluster}


def _column(values: Any) -> Any:
    """Make a column of numbers, or of words, as the roles of a course are."""
    return arrow.numbers(values) if values.dtype.kind in "iuf" else arrow.words(values.tolist())


def _who(tool: Instrument, line_up: LineUp, exercises: int) -> dict[str, Any]:
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
        "slot": arrow.numbers(np.tile(np.array(slots, np.int32), exercises)),
        "team": arrow.numbers(np.tile(np.array([of[slot] for slot in slots], np.int32), exercises)),
    }


def _what(block: Block, index: Any) -> dict[str, Any]:
    exercises, slots = block.score.shape
    score, learning = block.score.reshape(-1), block.learning.reshape(-1)
    rows = exercises * slots
    why = [block.reasons.get(int(i)) for i in index] if block.reasons else []
    tenths = {} if block.tenths is None else _by_tenth(block.tenths.reshape(-1, TENTHS))
    return {
        "steps": arrow.numbers(np.repeat(block.steps, slots)),
        "score": arrow.numbers(score, ~np.isnan(score)),
        "learning": arrow.numbers(learning, ~np.isnan(learning)),
        "status": arrow.spelt(block.status.reshape(-1), STATUSES),
        "reason": arrow.words(why) if why else arrow.nothing(rows),
        **tenths,
        **{name: _told(values, name != "cost") for name, values in block.asked.items()},
    }


def _told(values: Any, whole: bool) -> Any:
    """Make a column of what was asked of models; null where nobody counted."""
    import pyarrow as pa

    flat = values.reshape(-1)
    kind = pa.int64() if whole else pa.float64()
    return pa.array([None if np.isnan(x) else int(x) if whole else x for x in flat], kind)


def _by_tenth(values: Any) -> dict[str, Any]:
    """Make a column of the mean rewards of each tenth of the steps."""
    return {
        f"tenth_{n}": arrow.numbers(of, ~np.isnan(of)) for n, of in enumerate(values.T.copy(), 1)
    }


def _constant(value: str, rows: int) -> Any:
    return _repeated([value], rows)


def _repeated(values: list[str], times: int) -> Any:
    """Repeat a short list `times` times, as a dictionary array."""
    known = sorted(set(values))
    return arrow.codes(
        np.tile(np.array([known.index(value) for value in values], np.int32), times), known
    )


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


# ---------------------------------------------------------------- what the columns mean


# column -> what it means, and its unit or range
COLUMNS = {
    "test": ("number of the test in its plan", "0, 1, …"),
    "run": ("name of the plan that was played; empty if there was none", "12 hex digits"),
    "exercise": ("id: minds are paired by it", "instrument@version/settings/seed/index"),
    "instrument": ("the test", "a name"),
    "settings": ("hash of the instrument's settings", "8 hex digits"),
    "seed": ("of the series of exercises", "0, 1, …"),
    "item": ("hash of what was shown: equal for repeats of an item", "a whole number"),
    "cluster": ("what makes errors alike, such as shifts of one series", "a whole number"),
    "index": ("number of the exercise in that series", "0, 1, …"),
    "course": ("number of the course, each taken by one life of a mind, or by a person", "0, 1, …"),
    "phase": ("phase of the course", "1, 2, …"),
    "role": ("whether it is trained on the exercise, or tested: a mind as a copy", "train, test"),
    "position": ("place of the exercise in its course", "0, 1, …"),
    "trained": ("training exercises of the course before this one", "0, 1, …"),
    "trained_steps": ("steps of those training exercises, without rehearsals", "0, 1, …"),
    "line_up": ("who played, in slot order; the mind itself if it filled all slots", "names"),
    "mind": ("who was in this slot", "a name"),
    "traits": ("what the mind declares about itself; empty if nothing", "words"),
    "group": ("the group that the slot belonged to; empty if none", "a name"),
    "slot": ("place in the environment", "0, 1, …"),
    "team": ("number of the slot's team", "0, 1, …"),
    "steps": ("steps that were played", "1, 2, …"),
    "score": ("mean or total of the rewards; a failed exercise counts too", "reward, −1 to 1"),
    "learning": ("mean reward of the second half of the steps minus the first", "reward, −2 to 2"),
    **{
        f"tenth_{n}": (f"mean reward of tenth {n} of the steps, in a course", "reward, −1 to 1")
        for n in range(1, TENTHS + 1)
    },
    "status": ("how it ended; void and missing have no score", ", ".join(STATUSES)),
    "reason": ("why it failed; missing if it did not", "a sentence"),
    "calls": ("replies of the language model in this slot; missing elsewhere", "1, 2, …"),
    "input_tokens": ("tokens that the model was sent, by its provider's count", "0, 1, …"),
    "output_tokens": ("tokens that the model replied, with those of reasoning", "0, 1, …"),
    "reasoning_tokens": ("those of reasoning, where the provider tells", "0, 1, …"),
    "cost": ("of these calls; missing if there is no price", "dollars"),
    "read": ("replies in which an answer was found", "0, 1, …"),
    "read_strictly": ("of these, those that were written as it was asked for", "0, 1, …"),
    "unread": ("replies in which no answer was found", "0, 1, …"),
    "defaults": ("steps at which a default action stood for the model's own", "0, 1, …"),
    "reply_seconds": ("that the provider took for a reply, on average", "seconds"),
    "model_settings": ("the generation settings of the model, in a log of Inspect", "JSON"),
    "repeat": ("number of the play, where an exercise was played more than once", "0, 1, …"),
    "person": ("label of the person", "a name"),
    "kind": ("what kind of mind it is", "words"),
    "source": ("where the row comes from", "a path"),
}  # fmt: skip


def codebook(frame: pd.DataFrame) -> pd.DataFrame:
    """Describe every column of a results table: name, type, meaning, range, what is there."""
    import pandas as pd

    rows = []
    known = COLUMNS | _complexities(frame)
    for name in frame.columns:
        meaning, values = known.get(name, ("see the instrument's page", "a number"))
        rows.append(
            {
                "column": name,
                "type": _type(frame[name]),
                "meaning": meaning,
                "values": values,
                "missing": int(frame[name].isna().sum()),
                "found": _found(frame[name]),
            }
        )
    return pd.DataFrame(rows).set_index("column")


def _complexities(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Explain the complexity columns; where instruments differ, each of them says so."""
    found: dict[str, dict[str, list[str]]] = {}
    values: dict[str, str] = {}
    for instrument in frame["instrument"].unique() if "instrument" in frame else ():
        with contextlib.suppress(Error):  # an instrument that is not installed here
            columns = registry.make_instrument(str(instrument)).presentation.columns
            for name, column in columns.items():
                found.setdefault(name, {}).setdefault(column.meaning, []).append(str(instrument))
                values.setdefault(name, column.values)
    return {name: (_meaning(meanings), values[name]) for name, meanings in found.items()}


def _meaning(meanings: dict[str, list[str]]) -> str:
    if len(meanings) == 1:
        return next(iter(meanings))
    return "; ".join(f"in {', '.join(names)}: {meaning}" for meaning, names in meanings.items())


def _type(column: pd.Series) -> str:
    kinds = {"i": "whole number", "u": "whole number", "f": "number", "b": "yes or no"}
    return kinds.get(column.dtype.kind, "text")


def _found(column: pd.Series) -> str:
    """Give the range of numbers, or count the different words."""
    known = column.dropna()
    if known.empty:
        return ""
    if _type(column) == "text":
        different = known.nunique()
        return str(known.iloc[0]) if different == 1 else f"{different:,} different"
    return f"{known.min():g} to {known.max():g}"


# where a spreadsheet begins a formula: in some countries also after a semicolon, or in full width
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])")


def harmless(value: Any) -> Any:
    """Quote words of a CSV file that a spreadsheet would run as a formula; numbers stay numbers."""
    return _FORMULA.sub("'", value) if isinstance(value, str) else value
