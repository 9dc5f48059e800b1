"""Tables that other tools made: read, and every column held against what its name promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error

if TYPE_CHECKING:
    import pandas as pd

WHOLE = ("seed", "index", "slot", "team", "steps", "repeat")  # columns of whole numbers
NUMBERS = ("score", "learning")
NAMES = ("exercise", "mind")  # which nothing can go without
_DAMAGE = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError)


def fits(word: Any) -> bool:
    """Whether a word of digits is a number that a table can hold."""
    return isinstance(word, str) and len(word) <= 20 and -(2**63) <= int(word) < 2**63


def read_foreign(form: str, path: Path) -> pd.DataFrame:
    """A file of another tool's as a sound table; whatever is wrong in it is one sentence."""
    from allminds.bridges.exchange import READERS

    try:
        frame = READERS[form](path)
    except (*_DAMAGE, ValueError) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise Error(f"{path} is damaged, or no {form} file as it should be: {said}") from None
    if not frame.columns.is_unique or any(not isinstance(name, str) for name in frame.columns):
        raise Error(f"{path}: every column needs a name of its own")
    made = {}
    for name in frame.columns:
        try:
            made[name] = _column(name, frame[name])
        except (*_DAMAGE, ValueError):
            what = "whole numbers" if name in WHOLE else "numbers, or text"
            raise Error(f"{path}: the column '{name}' must have {what}, and nothing else") from None
    return frame.assign(**made)


def _column(name: str, column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of whole numbers, of numbers, or of text; ValueError if it is neither."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if name in WHOLE:
        whole = pd.to_numeric(column).astype("int64")
        if (whole != column).any():
            raise ValueError
        return whole
    if name in NUMBERS:
        return pd.to_numeric(column).astype("float64")
    if name in NAMES and column.isna().any():
        raise ValueError
    if pd.api.types.is_numeric_dtype(column.dtype) or column.isna().all():
        return column
    if not all(isinstance(value, str) for value in column.dropna()):
        raise TypeError
    "".join(column.dropna()).encode()  # half a character is no text
    return column
