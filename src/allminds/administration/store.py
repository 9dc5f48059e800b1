"""The run folder: everything needed to repeat a run, and what came of it.

    plan.json                 the plan, versions and schema; written first
    records/part-*.parquet    the table, part by part
    curves/part-*.parquet     sums of rewards per mind and step, for the same parts
    traces/part-*.parquet     every action of the first exercises
    timings/part-*.parquet    seconds per mind, which are no part of the results
    summary.json              the scores; written last

A part is written under a temporary name, synced and renamed, its records last; so a part is
there whole or not at all, and killing a run loses at most the parts in flight.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from allminds.administration.plan import Plan
from allminds.errors import Error
from allminds.results import SCHEMA, ordered
from allminds.settings import checked

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_PART = re.compile(r"part-(\d+)-(\d+)-(\d+)-(\d+)\.parquet")
FOLDERS = ("timings", "curves", "traces", "records")  # records last: they say that a part is done


class RunFolder:
    """A run on disk."""

    def __init__(self, path: Path, plan: Plan, made: dict[str, Any]) -> None:
        self.path, self.plan, self.made = path, plan, made

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunFolder:
        """A new run folder; it may exist, but must be empty."""
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            hint = f"resume it with --resume {path}" if (path / "plan.json").exists() else ""
            raise Error(f"{path} is not empty; {hint or 'name a new folder with --out'}")
        made = {"schema": SCHEMA, "versions": versions(), "plan": plan.model_dump(mode="json")}
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)
            for kind in FOLDERS:
                (path / kind).mkdir(exist_ok=True)
        folder = cls(path, plan, made)
        folder.write("plan.json", lambda file: file.write(_json(made)))
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A run folder that is there."""
        try:
            made = json.loads((path / "plan.json").read_text(encoding="utf-8"))
            stored, schema = made["plan"], made["schema"]
        except (OSError, ValueError, KeyError, TypeError):
            raise Error(f"{path} is not a run folder: it has no readable plan.json") from None
        if schema > SCHEMA:
            raise Error(f"{path} was made by a newer allminds (schema {schema}); update allminds")
        return cls(path, checked(Plan, stored, f"{path}/plan.json"), made)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes here meanwhile; the lock dies with the process."""
        with _writing(self.path), open(self.path / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Error(f"{self.path} is in use by another run; wait for it to end") from None
            for folder in (".", *FOLDERS):
                for leftover in (self.path / folder).glob("*.tmp"):
                    leftover.unlink()
            yield

    # ------------------------------------------------------------ parts

    def parts(self, test: int | None = None, sitting: int | None = None) -> list[Path]:
        """The records that are there, in the order of tests, sittings and exercises."""
        found = []
        for path in sorted((self.path / "records").glob("part-*.parquet")):
            numbers = _numbers(path)
            if (test is None or numbers[0] == test) and (sitting is None or numbers[1] == sitting):
                found.append(path)
        return found

    def gaps(self, test: int, sitting: int, episodes: int) -> list[tuple[int, int]]:
        """The exercises that are missing, as ranges."""
        missing, reached = [], 0
        for path in self.parts(test, sitting):
            _, _, first, last = _numbers(path)
            if not _readable(path):
                path.unlink()  # a part damaged on disk is played again
                continue
            if first > reached:
                missing.append((reached, first))
            reached = max(reached, last)
        return [*missing, (reached, episodes)] if reached < episodes else missing

    def add(self, test: int, sitting: int, first: int, last: int, **tables: pa.Table) -> None:
        """Write one part, its records last."""
        import pyarrow.parquet as pq

        name = f"part-{test:03d}-{sitting:03d}-{first:012d}-{last:012d}.parquet"
        for kind in FOLDERS:
            if kind in tables:
                fill = partial(pq.write_table, tables[kind], compression="zstd")
                self.write(f"{kind}/{name}", fill)

    def write(self, name: str, fill: Callable[[IO[bytes]], Any]) -> None:
        """Write a file whole or not at all."""
        path = self.path / name
        temporary = path.with_name(path.name + ".tmp")
        with _writing(path):
            try:
                with open(temporary, "wb") as file:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file."""
        self.write(name, lambda file: file.write(_json(value)))

    # ------------------------------------------------------------ reading

    def records(self) -> pd.DataFrame:
        """The whole table, in its one order."""
        return ordered(self._read("records"))

    def rows(self, test: int, index: int, mind: str) -> dict[str, list[Any]]:
        """The rows of one exercise and mind, slot by slot, as columns."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        for path in self.parts(test):
            _, _, first, last = _numbers(path)
            if first <= index < last:
                found = pq.read_table(path)
                same = pc.equal(found["mind"].cast("string"), mind)
                found = found.filter(pc.and_(pc.equal(found["index"], index), same))
                if len(found):
                    columns: dict[str, list[Any]] = found.sort_by("slot").to_pydict()
                    return columns
        raise Error(f"{self.path} has no record of exercise {index} for {mind} yet")

    def curves(self) -> pd.DataFrame:
        """Sums of rewards: test, mind, step, count (exercises × slots), total."""
        return self._read("curves")

    def traces(self) -> pd.DataFrame:
        """Actions of the first exercises: test, mind, index, slot, step, action."""
        return self._read("traces")

    def seconds(self) -> dict[tuple[int, str], float]:
        """How long each (test, mind) took to play."""
        import pyarrow.parquet as pq

        spent: dict[tuple[int, str], float] = {}
        for path in sorted((self.path / "timings").glob("part-*.parquet")):
            for row in pq.read_table(path).to_pylist():
                place = (_numbers(path)[0], row["mind"])
                spent[place] = spent.get(place, 0.0) + row["seconds"]
        return spent

    def summary(self) -> dict[str, Any]:
        """The scores of a run that is complete."""
        try:
            found: dict[str, Any] = json.loads((self.path / "summary.json").read_text("utf-8"))
        except (OSError, ValueError):
            raise Error(
                f"the run in {self.path} is not complete; finish it with "
                f"allminds run --resume {self.path}"
            ) from None
        return found

    def _read(self, kind: str) -> pd.DataFrame:
        import pandas as pd
        import pyarrow.parquet as pq

        frames = []
        for path in sorted((self.path / kind).glob("part-*.parquet")):
            frame = pq.read_table(path).to_pandas()
            frame.insert(0, "test", _numbers(path)[0])
            frames.append(frame)
        if not frames:
            raise Error(f"the run in {self.path} has no {kind} yet")
        whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return whole


def versions() -> dict[str, str]:
    """What the results may depend on, for the record."""
    import importlib.metadata as metadata

    packages = ("allminds", "numpy", "numba", "pandas", "pyarrow")
    return {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}


def _numbers(path: Path) -> tuple[int, int, int, int]:
    match = _PART.fullmatch(path.name)
    if match is None:
        raise Error(f"{path} does not belong in a run folder; move it away")
    test, sitting, first, last = (int(group) for group in match.groups())
    return test, sitting, first, last


def _readable(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_table(path, columns=["index"])
    except (OSError, pa.ArrowException):
        return False
    return True


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What the disk says, as an error for people."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise Error(f"cannot write {path}: {reason}") from None
