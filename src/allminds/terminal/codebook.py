"""What every column of a results table means, and what values it takes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from allminds import registry
from allminds.contracts import STATUSES
from allminds.core.errors import Error

if TYPE_CHECKING:
    import pandas as pd

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
    "line_up": ("who played, in slot order; the mind itself if it filled all slots", "names"),
    "mind": ("who was in this slot", "a name"),
    "traits": ("what the mind declares about itself; empty if nothing", "words"),
    "group": ("the group that the slot belonged to; empty if none", "a name"),
    "slot": ("place in the environment", "0, 1, …"),
    "team": ("number of the slot's team", "0, 1, …"),
    "steps": ("steps that were played", "1, 2, …"),
    "score": ("mean or total of the rewards; a failed exercise counts too", "reward, −1 to 1"),
    "learning": ("mean reward of the second half of the steps minus the first", "reward, −2 to 2"),
    "status": ("how it ended; void and missing have no score", ", ".join(STATUSES)),
    "reason": ("why it failed; missing if it did not", "a sentence"),
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
