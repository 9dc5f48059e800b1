"""The formats of other tools' results: CSV and those of bridges, read into the common table.

Every column is checked against what its name promises.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import registry
from allminds.contracts import STATUSES
from allminds.core.blocks import LESSON
from allminds.core.errors import Error, nearest
from allminds.core.table import ordered

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("exercise", "mind")  # which nothing can go without
NEEDED = (*NAMES, "score")
WHOLE = ("seed", "index", "slot", "team", "steps", "repeat")  # columns of whole numbers
NUMBERS = ("score", "learning")
TEXT = ("run", "instrument", "settings", "traits", "group", "person", "kind", "reason")
UNITS = ("item", "cluster")
BEFORE = ("run", "exercise", "instrument", "settings", "seed", "index")  # complexity, and then:
AFTER = (
    "mind", "traits", "group", "slot", "team", "steps", "score", "learning", "status", "reason",
)  # fmt: skip
_ID = re.compile(
    r"([^@/]+)@\d+/([^/]+)/(-?[0-9]+|x[0-9a-f]{16})/([0-9]+)"
)  # of an exercise of ours
_DAMAGE = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError)


def fits(word: Any) -> bool:
    """Check whether a word of digits is a number that a table can hold."""
    return isinstance(word, str) and len(word) <= 20 and -(2**63) <= int(word) < 2**63


def read_foreign(form: str, path: Path) -> pd.DataFrame:
    """Read another tool's file as a sound table; the error is one sentence."""
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
    """Convert a column to whole numbers, numbers or text.

    Raise ValueError or TypeError if it is none of these.
    """
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


# ---------------------------------------------------------------- CSV


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read a CSV file into the common table, and check every value.

    Required columns: exercise, mind, score (in -1..1; empty where the status is not ok). Known
    ones: instrument, slot, repeat, status, and those of the common table. Any other column is kept:
    as numbers, such as a complexity, if it has nothing else, and as text if it has no numbers.
    """
    import pandas as pd

    path = Path(path)
    names, lines, rows = _cells(path)
    columns: dict[str, list[Any]] = {}
    for place, name in enumerate(names):
        words = [row[place].strip() for row in rows]
        try:
            columns[name] = _values(name, words, lines)
        except _Wrong as wrong:
            raise Error(f"{path}, line {wrong.line}: {wrong.what}") from None
    for line, score, status in zip(
        lines, columns["score"], columns.get("status", ["ok"] * len(rows)), strict=True
    ):
        if status == "ok" and math.isnan(score):
            raise Error(f"{path}, line {line}: no score; a play without one needs a status")
    _no_twins(path, columns, lines)
    return _common(pd.DataFrame(columns), path.stem)


class _Wrong(Exception):
    def __init__(self, line: int, what: str) -> None:
        self.line, self.what = line, what


def _cells(path: Path) -> tuple[list[str], list[int], list[list[str]]]:
    """Read the names of the columns, the number of every line, and its cells."""
    lines, rows = [], []
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            names = [name.strip() for name in next(reader, [])]
            _check_names(path, names)
            for row in reader:
                if not any(word.strip() for word in row):
                    continue
                if len(row) != len(names):
                    raise Error(
                        f"{path}, line {reader.line_num}: {len(row)} values for the "
                        f"{len(names)} columns of line 1"
                    )
                lines.append(reader.line_num)
                rows.append(row)
    except csv.Error as error:
        raise Error(f"{path}, line {reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise Error(f"cannot read {path}: it is not text in UTF-8") from None
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror or error}") from None
    if not rows:
        raise Error(f"{path} is empty: there is no result below line 1")
    return names, lines, rows


def _check_names(path: Path, names: list[str]) -> None:
    if not any(names):
        raise Error(f"{path} is empty; line 1 must name the columns, such as exercise,mind,score")
    if "observation_hash" in names:
        raise Error(f"{path} has a row for every choice; name results.csv, or its folder")
    for name in NEEDED:
        if name not in names:
            hint = "; columns are parted by commas" if ";" in "".join(names) else ""
            there = ", ".join(names) if not hint else names[0][:40]
            raise Error(f"{path}, line 1: there is no column '{name}' among {there}{hint}")
    for n, name in enumerate(names):
        if not name or name in names[:n]:
            what = f"is named '{name}' like another" if name else "has no name"
            raise Error(f"{path}, line 1: column {n + 1} {what}")


def _values(name: str, words: list[str], lines: list[int]) -> list[Any]:
    """Convert the words of a CSV column to the values that its name promises."""
    check = _CHECKS.get(name)
    if check is not None:
        made = []
        for line, word in zip(lines, words, strict=True):
            try:
                made.append(check(word))
            except ValueError as error:
                raise _Wrong(line, f"{name} {error}") from None
        return made
    if name in UNITS:  # hashes are too long for a float, and other tools may have names
        whole = all(re.fullmatch(r"[0-9]+", word) and fits(word) for word in words)
        return [int(word) if whole else word or None for word in words]
    if name in (*LESSON, "trained_steps") and all(re.fullmatch(r"[0-9]{1,18}", w) for w in words):
        return [int(word) for word in words]
    numbers = [_float_or_none(word) for word in words]
    known = [word != "" for word in words]
    if name in TEXT or not any(n is not None for n in numbers):
        return list(words)
    for line, word, number, there in zip(lines, words, numbers, known, strict=True):
        if there and number is None:
            raise _Wrong(line, f"'{word}' in column {name} is not a number, as others there are")
    return [math.nan if n is None else n for n in numbers]


def _float_or_none(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _name(word: str) -> str:
    if not word:
        raise ValueError("is missing")
    return word


def _score(word: str) -> float:
    if not word:
        return math.nan
    value = _float_or_none(word)
    if value is None:
        raise ValueError(f"'{word}' is not a number")
    if abs(value) > 1:
        side = "above 1" if value > 1 else "below -1"
        raise ValueError(f"{word} is {side}; scores lie in -1..1, so rescale it")
    return value


def _learning(word: str) -> float:
    value = _float_or_none(word) if word else math.nan
    if value is None:
        raise ValueError(f"'{word}' is not a number")
    return value


def _status(word: str) -> str:
    if word and word not in STATUSES:
        raise ValueError(f"'{word}' is unknown; {nearest(word, STATUSES)}")
    return word or "ok"


def _whole(word: str) -> int:
    if not re.fullmatch(r"[0-9]+", word) or not fits(word):
        raise ValueError(f"'{word[:40]}' is not a whole number from 0 on, or too big")
    return int(word)


_CHECKS: dict[str, Callable[[str], Any]] = {
    "exercise": _name, "mind": _name, "score": _score, "learning": _learning, "status": _status,
    **dict.fromkeys(WHOLE, _whole),
}  # fmt: skip


def _no_twins(path: Path, columns: dict[str, list[Any]], lines: list[int]) -> None:
    """Reject a play that is in the file twice."""
    names = [n for n in ("instrument", "exercise", "mind", "slot", "repeat") if n in columns]
    seen: dict[tuple[Any, ...], int] = {}
    for line, place in zip(
        lines, zip(*(columns[name] for name in names), strict=True), strict=True
    ):
        if place in seen:
            where = ", ".join(f"{n} {v}" for n, v in zip(names, place, strict=True) if v != "")
            raise Error(
                f"{path}, line {line}: the same play as in line {seen[place]} ({where}); number "
                "repeats in a column 'repeat'"
            )
        seen[place] = line


# ---------------------------------------------------------------- the common table


def _common(frame: pd.DataFrame, run: str) -> pd.DataFrame:
    """Add the columns that every results table has, and put all in their order."""
    import numpy as np
    import pandas as pd

    ids = frame["exercise"].str.extract(_ID)  # exercises of ours say what they are
    named = ids[2].str.startswith("x", na=False)  # a seed that is not told
    ours = ids[2].mask(named, "0").map(fits) & ids[3].map(fits)
    ids = ids.where(ours, None)
    defaults: dict[str, Any] = {
        "run": run,
        "instrument": ids[0].fillna(""),
        "settings": ids[1].fillna(""),
        "seed": pd.to_numeric(ids[2].where(ours & ~named, "0")).astype(np.int64),
        "index": pd.to_numeric(ids[3]).where(ours, pd.factorize(frame["exercise"])[0]),
        "traits": "",
        "group": "",
        "slot": 0,
        "team": frame.get("slot", 0),
        "steps": 1,
        "learning": np.nan,
        "status": "ok",
        "reason": None,
    }
    for name, value in defaults.items():
        if name not in frame:
            frame[name] = value
    frame["index"] = frame["index"].astype(np.int64)
    others = [name for name in frame.columns if name not in (*BEFORE, *AFTER)]
    return ordered(frame[[*BEFORE, *others, *AFTER]])


def _bridged(form: str, path: Path) -> pd.DataFrame:
    return _common(read_foreign(form, path), path.stem)


ENDINGS = {".eval": "inspect", ".parquet": "parquet", ".jsonl": "py-irt"}
FORMATS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "csv": read_csv,
    **{form: functools.partial(_bridged, form) for form in ENDINGS.values()},
}


def formats() -> dict[str, Callable[[Path], pd.DataFrame]]:
    """Return the formats that can be read, those of the instruments' own files included."""
    found = dict(FORMATS)
    for name in registry.instruments():
        with contextlib.suppress(Error):
            for form, read in registry.make_instrument(name).presentation.readers.items():
                found[form] = functools.partial(_read, read)
    return found


def _read(read: Callable[[Path], Any], path: Path) -> pd.DataFrame:
    return _common(read(path), path.stem)
