"""The run folder: everything needed to repeat a run, and what came of it.

    plan.json                 the plan, versions and schema; written first
    records/part-*.parquet    the table, part by part
    curves/part-*.parquet     sums of rewards per mind and step, for the same parts
    traces/part-*.parquet     every action of the first exercises
    timings/part-*.parquet    seconds per mind, which are no part of the results
    messages/part-*.parquet   what members of groups said in these, if any did
    transcripts/part-*.parquet  what language models were asked and replied, if any played
    transcripts/journal.jsonl   their replies as they come, until the run is complete
    summary.json              the scores; written last
    SHA256SUMS                of all of these, as sha256sum -c reads them

A part is written under a temporary name, synced and renamed, its records last; so a part is
there whole or not at all, and killing a run loses at most the parts in flight. Every file is
checked against its sum when it is read: a part that was damaged is played again on resume. (A run
that was made before there were sums has those of Parquet's pages only.)
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from allminds import registry
from allminds.core.errors import Error
from allminds.core.files import SUMS, as_json, line, matches, sums_of, write_whole, writing
from allminds.core.messages import messages_of
from allminds.core.settings import checked
from allminds.core.table import SCHEMA, ordered
from allminds.core.transcripts import JOURNAL, Journal, Reply, read_journal, replies_of
from allminds.runs.plan import Plan
from allminds.runs.provenance import Portrait, changed, made_with, plan_json, versions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from allminds.contracts import Instrument, Message
    from allminds.runs.engine import Given

_PART = re.compile(r"part-(\d+)-(\d+)-(\d+)-(\d+)\.parquet")
FOLDERS = ("timings", "curves", "traces", "messages", "transcripts", "records")
# records last: they say that a part is done
OPTIONAL = ("traces/", "messages/", "transcripts/")  # of which not every part has a file
SELDOM = ("messages", "transcripts")  # folders that most runs do not have


class Stored(NamedTuple):
    """A part on disk: which exercises of which sitting it holds."""

    test: int
    sitting: int
    first: int
    last: int
    name: str  # of its file, in every folder that it is in


class RunFolder:
    """A run on disk: its folder, its plan and its tables.

    Attributes
    ----------
    path : Path
        The folder.
    plan : Plan
        The plan that it was made by.
    made : dict
        The rest of plan.json: versions, hashes, what is kept of line-ups.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from allminds import Plan, RunFolder, Test, run
    >>> plan = Plan(tests=[Test(instrument="matching-pennies", minds=["random"], episodes=8)])
    >>> folder = run(plan, Path(tempfile.mkdtemp()) / "run")
    >>> len(RunFolder.open(folder.path).records())
    16
    """

    def __init__(self, path: Path, plan: Plan, made: dict[str, Any]) -> None:
        self.path, self.plan, self.made = path, plan, made
        self._tools: dict[int, Instrument] = {}
        self._sound: dict[str, tuple[int, int]] = {}  # file -> time and size when it was checked
        self._sums: tuple[tuple[int, int], dict[str, set[str]]] = ((0, 0), {})

    @property
    def run(self) -> str:
        """The name of the run in new records; it changes with every change that was accepted."""
        changes = len(self.made.get("changes", ()))
        return f"{self.plan.run}~{changes}" if changes else self.plan.run

    def tool(self, test: int) -> Instrument:
        """Return the instrument of a test, made once."""
        if test not in self._tools:
            given = self.plan.tests[test]
            self._tools[test] = registry.make_instrument(given.instrument, given.settings)
        return self._tools[test]

    def portraits(self, test: int) -> dict[str, Portrait]:
        """Describe the line-ups of a test by name, without making minds of the user's."""
        if "line_ups" in self.made:
            stored = self.made["line_ups"][test]
            return {name: Portrait(*map(_tupled, values)) for name, values in stored.items()}
        found = {}
        for who in self.plan.tests[test].minds:  # of a run made before they were kept
            with contextlib.suppress(Error):
                line_up = registry.line_up(who, self.tool(test))
                found[line_up.name] = Portrait.of(line_up, self.tool(test))
        return found

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        tests: Sequence[Given] = (),
        made: dict[str, Any] | None = None,
    ) -> RunFolder:
        """Create a run folder; it may exist, but must be empty. `made` is as of `plan_json`."""
        made = plan_json(plan, tests) if made is None else made
        folder = cls(path, plan, made)
        folder._tools = {number: given.tool for number, given in enumerate(tests)}
        folder._check_unused()
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        with folder.locked():
            folder._check_unused()  # of two runs into one folder, one comes first
            folder.write_json("plan.json", made)
        return folder

    def _check_unused(self) -> None:
        """Reject a folder that is not empty.

        What a run leaves that was killed before it began does not count.
        """
        path, traces = self.path, {"lock", "plan.json.tmp", SUMS, *FOLDERS}
        if path.exists() and (not path.is_dir() or {one.name for one in path.iterdir()} - traces):
            hint = f"resume it with --resume {path}" if (path / "plan.json").exists() else ""
            raise Error(f"{path} is not empty; {hint or 'name a new folder with --out'}")

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Open an existing run folder and read its plan."""
        path = Path(path)
        try:
            made = json.loads((path / "plan.json").read_text(encoding="utf-8"))
            stored, schema = made["plan"], int(made["schema"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise Error(f"{path} is not a run folder: it has no readable plan.json") from None
        summed = "sums" in made or (path / SUMS).exists()
        if summed and not matches(path, "plan.json", sums_of(path)):
            raise Error(f"{path}/plan.json is damaged: it is not what the run has written")
        if schema > SCHEMA:
            raise Error(f"{path} was made by a newer allminds (schema {schema}); update allminds")
        plan = checked(Plan, stored, f"{path}/plan.json")
        for test in plan.tests:  # those in the user's files are known by their names then
            if ":" in test.instrument:
                with contextlib.suppress(Error):
                    registry.kind(test.instrument)
        return cls(path, plan, made)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other writers; the lock ends with the process."""
        with writing(self.path):
            file = open(self.path / "lock", "w")  # noqa: SIM115 - closed below
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Error(f"{self.path} is in use by another run; wait for it to end") from None
            except OSError:
                pass  # a file system without locks, as some clusters have: nobody is kept out
            with writing(self.path):
                self._tidy()
            yield

    def _tidy(self) -> None:
        """Remove what a killed run left behind: temporaries, and parts without their records."""
        for kind in (".", *FOLDERS):
            if kind not in SELDOM:
                (self.path / kind).mkdir(exist_ok=True)
            for leftover in (self.path / kind).glob("*.tmp"):
                leftover.unlink()
        done = {path.name for path in (self.path / "records").iterdir()}
        for kind in FOLDERS[:-1]:
            for path in (self.path / kind).glob("part-*.parquet"):
                if path.name not in done:
                    path.unlink()
        self.tidy_sums()

    # ------------------------------------------------------------ sums

    def sums(self) -> dict[str, set[str]]:
        """Return the sums of all files, which are read again only if they have changed."""
        try:
            state = (self.path / SUMS).stat()
        except OSError:
            return {}
        seen = (state.st_mtime_ns, state.st_size)
        if self._sums[0] != seen:
            self._sums = (seen, sums_of(self.path))
        return self._sums[1]

    def tidy_sums(self) -> None:
        """Remove the sums of files that are gone."""
        sums = self.sums()
        if any(not (self.path / name).exists() for name in sums):
            kept = {name: of for name, of in sums.items() if (self.path / name).exists()}
            lines = [line(name, digest) for name, of in kept.items() for digest in sorted(of)]
            write_whole(self.path / SUMS, lambda file: file.write("".join(lines).encode()))

    @property
    def summed(self) -> bool:
        """True if the run was made with sums of all files."""
        return "sums" in self.made

    def check(self, *names: str) -> None:
        """Reject a file that is missing, or is not what the run has written."""
        if not self.summed:
            return
        sums = self.sums()
        for name in names:
            try:
                state = (self.path / name).stat()
            except OSError:
                raise _damaged(self.path / name) from None
            seen = (state.st_mtime_ns, state.st_size)
            if self._sound.get(name) != seen:
                if not matches(self.path, name, sums):
                    raise _damaged(self.path / name)
                self._sound[name] = seen

    def _check_all_there(self) -> None:
        """Reject a complete run of which a file is gone."""
        if self.summed and (self.path / "summary.json").exists():
            for name in self.sums():
                if not (self.path / name).exists():
                    raise _damaged(self.path / name)

    def _files(self, part: Stored) -> list[str]:
        """List the files of a part; not every part has traces and transcripts."""
        files = [f"{kind}/{part.name}" for kind in FOLDERS]
        known = self.sums() if self.summed else ()
        return [
            name
            for name in files
            if not name.startswith(OPTIONAL) or name in known or (self.path / name).exists()
        ]

    # ------------------------------------------------------------ what it was made with

    def changes(self, tests: Sequence[Given]) -> list[str]:
        """Say what is not as it was when the run was begun: versions, instruments, files."""
        return changed(self.made, tests)

    def accept(self, tests: Sequence[Given], changes: Sequence[str]) -> None:
        """Go on with what has changed; what is recorded from now on is marked."""
        before = self.made.get("changes", [])
        self.made |= {"versions": versions(), **made_with(tests)}
        self.made["changes"] = [*before, list(changes)]
        self.write_json("plan.json", self.made)

    @property
    def mixed(self) -> str:
        """A sentence on changes that were accepted on the way, if there were any."""
        said = "; ".join(dict.fromkeys(one for of in self.made.get("changes", ()) for one in of))
        return f"This table is mixed: the run was resumed after changes ({said})." if said else ""

    # ------------------------------------------------------------ parts

    def parts(self, test: int | None = None, sitting: int | None = None) -> list[Path]:
        """List the records that are there, in the order of tests, sittings and exercises."""
        self._check_all_there()
        found = []
        for part in self.stored(test, sitting):
            path = self.path / "records" / part.name
            if not _ended(path):
                raise _damaged(path)
            self.check(*self._files(part))
            found.append(path)
        return found

    def stored(self, test: int | None = None, sitting: int | None = None) -> list[Stored]:
        """List the parts that are there, in the order of tests, sittings and exercises."""
        paths = sorted((self.path / "records").glob("part-*.parquet"))
        return [
            part
            for part in map(_stored, paths)
            if (test is None or part.test == test) and (sitting is None or part.sitting == sitting)
        ]

    def gaps(
        self, test: int, sitting: int, episodes: int, remove: bool = True
    ) -> list[tuple[int, int]]:
        """List the exercises still to be played, as ranges.

        A part that a disk damaged is played again, and so is one in which an exercise is `missing`
        by a fault of a provider or of a machine; unless `remove` is false they are removed here.
        """
        missing, reached = [], 0
        for part in self.stored(test, sitting):
            path = self.path / "records" / part.name
            if not self._whole(part) or _lacks(path):
                if remove:
                    with writing(path):
                        for kind in reversed(FOLDERS):
                            (self.path / kind / part.name).unlink(missing_ok=True)
                continue
            if part.first > reached:
                missing.append((reached, part.first))
            reached = max(reached, part.last)
        return [*missing, (reached, episodes)] if reached < episodes else missing

    def _whole(self, part: Stored) -> bool:
        """Check whether a part is there and sound, in all the folders it must be in."""
        try:
            for name in self._files(part):
                self.read(name)
        except Error:
            return False
        return True

    def read(self, name: str) -> pa.Table:
        """Read a file of a part, and check its sum."""
        self.check(name)
        return read_part(self.path / name)

    def check_version(self, test: int, tool: Instrument) -> None:
        """Reject a run that another version of the instrument has made."""
        for path in self.parts(test)[:1]:
            prefix = str(read_part(path)["exercise"][0].as_py()).partition("/")[0]
            name, at, version = prefix.rpartition("@")
            if at and version != str(tool.version):
                raise Error(
                    f"{self.path} was made with version {version} of {name}, and this allminds has "
                    f"version {tool.version}, whose exercises are others; use the allminds that "
                    "made it"
                )

    def is_complete(self) -> bool:
        """Check whether the scores are there, sound, and no exercise is `missing`."""
        try:
            self.summary()
            return not self.lacking()
        except Error:
            return False

    def lacking(self) -> bool:
        """Check whether some exercise is `missing`, so that resuming the run would ask it again."""
        return any(_lacks(path) for path in self.parts())

    def add(self, test: int, sitting: int, first: int, last: int, **tables: pa.Table) -> None:
        """Write one part, its records last."""
        import pyarrow.parquet as pq

        name = f"part-{test:03d}-{sitting:03d}-{first:012d}-{last:012d}.parquet"
        for kind in FOLDERS:
            if kind in tables:
                fill = partial(
                    pq.write_table, tables[kind], compression="zstd", write_page_checksum=True
                )
                if kind in SELDOM:
                    (self.path / kind).mkdir(exist_ok=True)
                self.write(f"{kind}/{name}", fill)

    # ------------------------------------------------------------ transcripts

    def journal(self, test: int) -> Journal:
        """Open the journal of replies, with all that were paid for in a test."""
        path = self.path / "transcripts" / JOURNAL
        kept = read_journal(path, test)
        known = {one.place for one in kept}
        for part in self.stored(test):
            with contextlib.suppress(Error):  # a damaged part is asked again, where it must be
                if (self.path / "transcripts" / part.name).exists():
                    found = replies_of(self.read(f"transcripts/{part.name}"))
                    kept += [one for one in found if one.place not in known]
        return Journal(path, test, kept)

    def transcript(self, test: int, index: int, mind: str) -> list[Reply]:
        """Read what was asked and replied in an exercise; empty if no language model played."""
        return [
            one
            for part in self.stored(test)
            if part.first <= index < part.last
            and (self.path / "transcripts" / part.name).exists()
            and (rows := self.read(f"transcripts/{part.name}"))["mind"][0].as_py() == mind
            for one in replies_of(rows)
            if one.index == index
        ]

    def messages(self, test: int, index: int, mind: str) -> list[Message]:
        """Read what members of a group said in an exercise; empty if none did or it is not kept."""
        import pyarrow.compute as pc

        found = []
        for part in self.stored(test):
            name = f"messages/{part.name}"
            if part.first <= index < part.last and (self.path / name).exists():
                rows = self.read(name)
                rows = rows.filter(
                    pc.and_(pc.equal(rows["index"], index), pc.equal(rows["mind"], mind))
                )
                found += messages_of(rows)
        return found

    def has_journal(self) -> bool:
        """Check whether replies of language models are in a journal, not only in parts."""
        return (self.path / "transcripts" / JOURNAL).exists()

    def end_journal(self) -> None:
        """Remove the journal of a run that is complete: its parts have all replies."""
        (self.path / "transcripts" / JOURNAL).unlink(missing_ok=True)

    # ------------------------------------------------------------ writing

    def write(self, name: str, fill: Callable[[IO[bytes]], Any]) -> None:
        """Write a file whole or not at all."""

        def note(digest: str) -> None:
            with open(self.path / SUMS, "a+b") as file:
                file.seek(max(0, file.tell() - 1))
                torn = file.read() not in (b"", b"\n")  # by a disk that was full
                file.write(b"\n" * torn + line(name, digest).encode())
                file.flush()
                os.fsync(file.fileno())

        write_whole(self.path / name, fill, note if self.summed else None)

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as a JSON file."""
        self.write(name, lambda file: file.write(as_json(value)))

    # ------------------------------------------------------------ reading

    def records(self) -> pd.DataFrame:
        """Read the whole table, in its one order."""
        return ordered(self._read("records"))

    def rows(self, test: int, index: int, mind: str) -> dict[str, list[Any]]:
        """Read the rows of one exercise and mind, slot by slot, as columns."""
        import pyarrow.compute as pc

        for part in self.stored(test):
            if part.first <= index < part.last:
                found = self.read(f"records/{part.name}")
                same = pc.equal(found["mind"].cast("string"), mind)
                found = found.filter(pc.and_(pc.equal(found["index"], index), same))
                if len(found):
                    columns: dict[str, list[Any]] = found.sort_by("slot").to_pydict()
                    return columns
        raise Error(f"{self.path} has no record of exercise {index} for {mind} yet")

    def curves(self) -> pd.DataFrame:
        """Read the sums of rewards: test, mind, step, count (exercises × slots), total."""
        return self._read("curves")

    def traces(self) -> pd.DataFrame:
        """Read the actions of the first exercises: test, mind, index, slot, step, action."""
        return self._read("traces")

    def summary(self) -> dict[str, Any]:
        """Read the scores of a run that is complete."""
        self._check_all_there()
        try:
            if (self.path / "summary.json").exists():
                self.check("summary.json")
            found: dict[str, Any] = json.loads((self.path / "summary.json").read_text("utf-8"))
        except (OSError, ValueError, Error):
            raise Error(
                f"the run in {self.path} is not complete; finish it with "
                f"allminds run --resume {self.path}"
            ) from None
        if any("clusters" not in row for test in found["tests"] for row in test["results"]):
            from allminds.runs.summary import summarise

            return summarise(self)  # of a run made before failures counted
        return {"yours": list(self.plan.yours)} | found

    def _read(self, kind: str) -> pd.DataFrame:
        import pandas as pd

        self._check_all_there()
        frames = []
        for path in sorted((self.path / kind).glob("part-*.parquet")):
            frame = self.read(f"{kind}/{path.name}").to_pandas()
            frame.insert(0, "test", _stored(path).test)
            frames.append(frame)
        if not frames:
            raise Error(f"the run in {self.path} has no {kind} yet")
        whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return whole


def _stored(path: Path) -> Stored:
    match = _PART.fullmatch(path.name)
    if match is None:
        raise Error(f"{path} does not belong in a run folder; move it away")
    test, sitting, first, last = (int(group) for group in match.groups())
    return Stored(test, sitting, first, last, path.name)


def read_part(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a part of a run, or some columns of it, and verify its check sums."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, columns=columns, page_checksum_verification=True)
    except (OSError, pa.ArrowException):
        raise _damaged(path) from None


def _lacks(path: Path) -> bool:
    """Check whether an exercise of a part is missing, by a fault of a provider or machine."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.equal(read_part(path, ["status"])["status"], "missing")).as_py())


def _damaged(path: Path) -> Error:
    folder = path.parents[1] if path.parent.name in FOLDERS else path.parent
    again = f"play that part again with allminds run --resume {folder}"
    return Error(f"{path} is missing or damaged; {again}")


def _ended(path: Path) -> bool:
    """Check whether a file ends as a Parquet file does: a quick look that finds one cut short."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 4))
        return file.read() == b"PAR1"


def _tupled(value: Any) -> Any:
    """Convert a list as JSON has it to a tuple, anything else to itself."""
    return tuple(value) if isinstance(value, list) else value
