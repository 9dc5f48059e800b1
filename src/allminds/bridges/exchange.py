"""Results and items for other tools: CSV, Parquet, py-irt's JSON lines, and item banks as JSONL.

`write_results` exports results and ``allminds import`` reads them again; CSV and Parquet keep
everything. py-irt knows only right and wrong answers: one line for each mind, with its answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import registry
from allminds.bridges import items_of
from allminds.contracts import FAILURES, STATUSES, Instrument
from allminds.core.errors import Error, nearest

if TYPE_CHECKING:
    import pandas as pd


# ---------------------------------------------------------------- results


def write_results(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a results table as .csv, .parquet, or .jsonl for py-irt; never leave a partial file."""
    path = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet, ".jsonl": _py_irt}
    if path.suffix not in writers:
        raise Error(f"cannot write results as '{path.name}'; {nearest(path.suffix, writers)}")
    _put(path, writers[path.suffix](frame))
    return path


def _csv(frame: pd.DataFrame) -> bytes:
    return str(frame.to_csv(index=False, lineterminator="\n")).encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), out, compression="zstd")
    return bytes(out.getvalue().to_pybytes())


def _py_irt(frame: pd.DataFrame) -> bytes:
    """Write failures as wrong answers, and leave out void and missing plays, as items not given."""
    failed = frame["status"].isin(FAILURES)
    played = frame.assign(score=frame["score"].mask(failed, 0.0))
    played = played[failed | (frame["status"] == "ok")]
    wrong = played.loc[~played["score"].isin([0, 1])]
    if len(wrong):
        raise Error(
            f"py-irt takes answers that are right (1) or wrong (0), not the score "
            f"{wrong['score'].iloc[0]:g} of {wrong['exercise'].iloc[0]}"
        )
    twice = played.duplicated(["mind", "exercise"])
    if twice.any():
        first = played[twice].iloc[0]
        raise Error(f"{first['mind']} has {first['exercise']} twice; py-irt takes one answer each")
    lines = []
    for mind, its in played.groupby("mind", sort=True, observed=True):
        answers = dict(zip(its["exercise"], its["score"].astype(int), strict=True))
        lines.append(_line({"subject_id": str(mind), "responses": answers}))
    return "".join(lines).encode()


def read_py_irt(path: Path) -> pd.DataFrame:
    """Read a file of py-irt: one row for each answer."""
    import pandas as pd

    made: list[dict[str, Any]] = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            told = json.loads(line)
            mind, answers = str(told["subject_id"]), dict(told["responses"])
        except (ValueError, KeyError, TypeError):
            raise Error(f"{where}: needs subject_id and responses, as py-irt has them") from None
        for exercise, answer in answers.items():
            if isinstance(answer, bool) or answer not in (0, 1):
                raise Error(f"{where}: the response to {exercise} is {answer!r}, not 0 or 1")
            made.append({"exercise": str(exercise), "mind": mind, "score": float(answer)})
    if not made:
        raise Error(f"{path} is empty: there is no response in it")
    pairs = [(row["mind"], row["exercise"]) for row in made]
    if len(set(pairs)) < len(pairs):
        mind = next(pair[0] for n, pair in enumerate(pairs) if pair in pairs[:n])
        raise Error(f"{path}: the subject {mind} answers an item twice")
    return pd.DataFrame(made)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a table that has at least exercise, mind and score; keep its other columns."""
    import pandas as pd
    import pyarrow as pa

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise Error(f"{path} is no Parquet file: {' '.join(str(error).split())[:120]}") from None
    missing = [name for name in ("exercise", "mind", "score") if name not in frame]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise Error(f"{path}: there is no column '{missing[0]}' among {there}")
    if not pd.api.types.is_numeric_dtype(frame["score"]) or (frame["score"].abs() > 1).any():
        raise Error(f"{path}: the scores are not all numbers in -1..1; rescale them")
    status = frame["status"].map(str) if "status" in frame else pd.Series("ok", frame.index)
    unknown = [word for word in status.unique() if word not in STATUSES]
    if unknown:
        raise Error(
            f"{path}: the status '{unknown[0]}' is unknown; {nearest(unknown[0], STATUSES)}"
        )
    if (frame["score"].isna() & (status == "ok")).any():
        raise Error(f"{path}: a play without a score needs a status, such as refused")
    return frame.assign(exercise=frame["exercise"].astype(str), mind=frame["mind"].astype(str))


def read_inspect(path: Path) -> pd.DataFrame:
    """Read a log of Inspect: one row for each sample and slot."""
    import pandas as pd

    from allminds.bridges.inspect_log import rows

    frame = pd.DataFrame(rows(path))
    numbers = ["score", "learning", "input_tokens", "output_tokens", "cost"]
    return frame.astype(dict.fromkeys(numbers, "float64"))


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "inspect": read_inspect,
    "parquet": read_parquet,
    "py-irt": read_py_irt,
}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Error(f"cannot read {path}: it is not text in UTF-8") from None
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror or error}") from None


# ---------------------------------------------------------------- items


def items(tool: Instrument, n: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield questions 0..n-1 of a seed, as in `evaluate`: id, text, options, answer, complexity.

    The field `items` says whether they are published or fresh, so that they cannot be confused.
    """
    shown = tool.presentation
    if not shown.bank:
        banks = [name for name in registry.instruments() if _is_bank(name)]
        raise Error(f"{tool.name} has no items with one answer; choose {' or '.join(banks)}")
    for i in range(n):
        exercise = tool.exercise(seed, i)
        yield {
            "id": exercise.id,
            "instrument": tool.name,
            "items": items_of(tool),
            **shown.item(exercise),
            **exercise.environment.complexity,
        }


def _is_bank(name: str) -> bool:
    return registry.make_instrument(name).presentation.bank


def write_items(tool: Instrument, n: int, path: str | Path, seed: int = 1) -> Path:
    """Write questions as JSON lines; never leave a partial file."""
    path = Path(path)
    if n < 1:
        raise Error(f"there must be 1 item or more, not {n}")
    if tool.length is not None and n > tool.length:
        raise Error(f"{tool.name} has {tool.length} published items, not {n}")
    _put(path, "".join(_line(item) for item in items(tool, n, seed)).encode())
    return path


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"


def _put(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)
