"""Results from run folders and from other tools: read, joined, and imported into a folder.

`read_results` reads a run folder, an imported folder or a file; `read_together` joins several.
`import_results` writes the results of another tool into a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error, nearest
from allminds.core.files import SUMS, as_json, matches, new_folder, sums_of
from allminds.core.settings import settings_hash
from allminds.core.table import SCHEMA, scored
from allminds.runs.formats import ENDINGS, FORMATS, formats
from allminds.runs.provenance import versions
from allminds.runs.store import RunFolder

if TYPE_CHECKING:
    import pandas as pd

IMPORTED, RECORDS = "imported.json", "records.parquet"
TRIALS = "trials.csv"  # choices of people, in the export of a study
CHOICES = "choices.csv"  # the same in older ones, with the number of rows in a last line
TIMED = ("test", "practice", "step", "correct", "rt_ms", "reloaded")  # their columns of numbers


def read_results(path: str | Path) -> pd.DataFrame:
    """Read the common table of a run folder, an imported folder, or a file by its ending."""
    path = Path(path)
    if path.is_file():
        return FORMATS[ENDINGS.get(path.suffix, "csv")](path)
    if (path / IMPORTED).is_file():
        return _read_imported(path)
    if (path / "plan.json").is_file():  # the number of a test in its plan is no matter here
        return RunFolder.open(path).records().drop(columns="test")
    raise Error(f"{path} holds no results: name a run folder, an imported folder or a CSV file")


def read_together(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read the tables of several places as one, with the column `source`.

    A mind that took one instrument in two places is one mind if it has the same scores on the
    exercises they share, as the floor and the ceiling of two runs have; otherwise its name gets the
    place added. Line-ups count as one mind each.
    """
    import pandas as pd

    names = [str(Path(path)) for path in paths]
    twice = [name for n, name in enumerate(names) if name in names[:n]]
    if twice:
        raise Error(f"{twice[0]} is named twice; it would be compared with itself")
    tables = [
        scored(read_results(path)).assign(source=name)
        for path, name in zip(paths, names, strict=True)
    ]
    whole = pd.concat(tables, ignore_index=True)
    whole["mind"] = whole["mind"].astype(str)
    play = [name for name in ("mind", "exercise", "slot", "repeat") if name in whole]
    what = whole["instrument"].astype(str) if "instrument" in whole else whole["mind"]
    places = whole.groupby(["mind", what])["source"].nunique()
    for mind, instrument in places.index[places > 1]:
        its = (whole["mind"] == mind) & (what == instrument)
        score = whole[its].groupby(play, dropna=False)["score"]
        if score.size().max() > 1 and score.nunique(dropna=False).max() == 1:
            kept = ~(its & whole.duplicated(play))
            whole, what = whole[kept], what[kept]
        else:
            whole.loc[its, "mind"] = mind + " in " + whole.loc[its, "source"]
    return whole.reset_index(drop=True)


def read_choices(paths: Sequence[str | Path]) -> pd.DataFrame | None:
    """Read the choices of people that exports of studies keep beside their results, a row each.

    None if no place has any.
    """
    import pandas as pd

    files = [
        (path, (path.parent if path.name == "results.csv" else path) / name)
        for path in map(Path, paths)
        for name in (TRIALS, CHOICES)
    ]
    tables = [_choices(file).assign(source=str(path)) for path, file in files if file.is_file()]
    return pd.concat(tables, ignore_index=True) if tables else None


def _choices(file: Path) -> pd.DataFrame:
    import pandas as pd

    _check(file.parent, file.name)
    try:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        rows, whole = frame, True
        if file.name == CHOICES:
            rows, (_, count) = frame.iloc[:-1], frame.iloc[-1, :2]
            whole = frame.iloc[-1, 0] == "#rows" and int(count) == len(rows)
        labels = rows["label"].str.replace(r"^'(?=[=+\-@\t\r])", "", regex=True)
        numbers = {name: pd.to_numeric(rows[name]) for name in TIMED}
    except (OSError, KeyError, IndexError, ValueError):
        raise Error(f"{file} is damaged: export the study again") from None
    if not whole:
        raise Error(f"{file} was cut short, or has lines added: export the study again")
    return pd.DataFrame({"person": labels, "exercise": rows["exercise"], **numbers})


def tools_of(paths: Sequence[str | Path]) -> dict[tuple[str, str], Instrument]:
    """Collect the instruments of results, by name and hash of their settings.

    Those of runs are in their plans; for other results, the instruments with default settings are
    known.
    """
    found: dict[tuple[str, str], Instrument] = {}
    for path in paths:
        if (Path(path) / "plan.json").is_file():
            folder = RunFolder.open(Path(path))
            for number in range(len(folder.plan.tests)):
                tool = folder.tool(number)
                found[tool.name, settings_hash(tool.settings)] = tool
    for name in registry.instruments():
        with contextlib.suppress(Error):
            tool = registry.make_instrument(name)
            found.setdefault((name, settings_hash(tool.settings)), tool)
    return found


def provenance(path: Path) -> dict[str, Any]:
    """Read what an imported folder says of itself; empty for anything else.

    The export of a study has `parity`: sentences on how people's test differs from the programs'.
    """
    return _made(path) if (path / IMPORTED).is_file() else {}


def _made(path: Path) -> dict[str, Any]:
    try:
        made: dict[str, Any] = json.loads((path / IMPORTED).read_bytes())
        schema = int(made["schema"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(path) from None
    _check(path, IMPORTED, "sums" in made)
    if schema > SCHEMA:
        raise Error(f"{path} was made by a newer allminds (schema {schema}); update allminds")
    return made


def _check(path: Path, name: str, summed: bool = False) -> None:
    """Reject a file of a folder that is not what was written; folders of long ago have no sums."""
    if (summed or (path / SUMS).exists()) and not matches(path, name, sums_of(path)):
        raise _damaged(path)


def _damaged(path: Path) -> Error:
    return Error(f"{path} is damaged: import it again, or export the study again, into a new one")


def _read_imported(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = _made(path)
    _check(path, RECORDS, "sums" in made)
    try:
        frame: pd.DataFrame = pq.read_table(path / RECORDS).to_pandas()
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        raise _damaged(path) from None
    return frame


# ---------------------------------------------------------------- importing


def import_results(source: str | Path, out: str | Path, form: str = "") -> Path:
    """Put another tool's results into a new folder, in the common table; whole or not at all.

    Without a format, the ending of the file says what it is.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    source, out = Path(source), Path(out)
    form = form or ENDINGS.get(source.suffix, "csv")
    known = formats()
    if form not in known:
        raise Error(f"there is no format '{form}'; {nearest(form, known)}")
    if source.exists() and not (source.is_file() or source.is_dir()):  # it may have no end
        raise Error(f"cannot read {source}: it is not a plain file")
    frame = known[form](source)
    made = {
        "schema": SCHEMA,
        "source": str(source),
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "format": form,
        "rows": len(frame),
        "exercises": int(frame["exercise"].nunique()),
        "minds": sorted(frame["mind"].unique()),
        "versions": versions(),
        "sums": SUMS,
    }
    with new_folder(out) as folder:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        pq.write_table(table, folder / RECORDS, compression="zstd")
        (folder / IMPORTED).write_bytes(as_json(made))
    return out
