"""What every column of a results table means, and what values it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allminds.contracts import STATUSES

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
COMPLEXITIES = {
    "K": ("complexity of the pattern: LZ76 phrases in Λ*, bytes after zlib in Λ", "1, 2, …"),
    "K_prefix": ("bytes after zlib, with the authors' prefix", "bytes"),
    "LZ": ("LZ76 phrases in one period of the pattern", "1, 2, …"),
    "H": ("log₂ of the places where what is sought may be", "bits"),
    "bits": ("description length: of H and K in Λ*, of the space in Λ", "bits"),
    "segment": ("length of the segment that Good and Evil repeat", "cells"),
    "pattern": ("length of the pattern", "actions"),
    "cells": ("cells of the space; in Λ*, different ones that are visited", "1, 2, …"),
    "actions": ("actions of the space", "2, 3, …"),
    "xi": ("ξ, the complexity an adaptive test asked for", "1 to 40"),
    "identity": ("number of the environment", "a whole number"),
    "upsilon": ("Υ before the exercise, in the anytime test", "a number"),
    "k": ("Levin complexity of the series", "7 to 15"),
    "letters": ("letters of the series that are shown", "1, 2, …"),
    "rounds": ("rounds of the game", "1, 2, …"),
    "C": ("rules of the matrix", "1, 2, …"),
    "I_context": ("of the answer, what rows 1 and 2 must supply", "bits"),
    "I_answer": ("information in the answer", "bits"),
    "L_rules": ("description length of the rules", "bits"),
    "H_rule_row1": ("doubt about the kinds of the rules after row 1", "bits"),
    "needed_rules": ("rules one must know to tell the answer from other options", "1, 2, …"),
    "option_distance": ("attributes in which a wrong option differs, on average", "a number"),
    "optima": ("local optima of the landscape", "1, 2, …"),
    "basin": ("share of cells from which a climber comes to the highest top", "0 to 1"),
    "autocorrelation": ("of the fitness of neighbouring cells", "−1 to 1"),
    "drift": ("chance that a hill moves in a step", "0 to 1"),
    "elements": ("things drawn in the nine cells", "1, 2, …"),
}


def codebook(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for every column of a results table: its name, type, meaning, range, what is there."""
    import pandas as pd

    rows = []
    for name in frame.columns:
        known = COLUMNS | COMPLEXITIES
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


def _type(column: pd.Series) -> str:
    kinds = {"i": "whole number", "u": "whole number", "f": "number", "b": "yes or no"}
    return kinds.get(column.dtype.kind, "text")


def _found(column: pd.Series) -> str:
    """The range of numbers, or how many different words there are."""
    known = column.dropna()
    if known.empty:
        return ""
    if _type(column) == "text":
        different = known.nunique()
        return str(known.iloc[0]) if different == 1 else f"{different:,} different"
    return f"{known.min():g} to {known.max():g}"
