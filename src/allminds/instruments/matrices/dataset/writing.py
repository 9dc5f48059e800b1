"""Data sets of matrices: made in parallel, resumed if interrupted, there whole or not at all.

A set is made in the folder OUT.partial, a shard at a time, and becomes OUT by one renaming when
all is there. Shards are written under another name and renamed too. So whatever happens on the
way, OUT is complete or missing, and the same command goes on where it stopped. A set depends on
its recipe alone: made alone, in parallel or resumed, it has the same bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from allminds.core.errors import Error
from allminds.core.settings import Settings, checked
from allminds.instruments.matrices.dataset.battery import Entry, Sight, of_sights
from allminds.instruments.matrices.dataset.files import (
    CANARY,
    Findings,
    Made,
    Shard,
    card,
    command,
    lines_file,
    make_shard,
    payload,
    said,
)
from allminds.instruments.matrices.dataset.items import (
    SPLITS,
    Chosen,
    Recipe,
    choose,
    look,
    sha256,
)
from allminds.instruments.matrices.instrument import Matrices
from allminds.instruments.matrices.making.generator import batch
from allminds.instruments.matrices.making.rules import made
from allminds.presentation import DataSet, Generator

SHARD = 500  # items
JUDGED = 20_000  # items on which shortcuts are tried at most
ITEMS = "items.json"  # which items were chosen

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Written:
    """A data set that was made."""

    path: Path
    items: int
    splits: dict[str, int]
    total_bytes: int
    battery: list[Entry]


def make(recipe: Recipe, out: Path, jobs: int = 1, progress: Progress | None = None) -> Written:
    """Make a data set in a new folder, or resume one that was interrupted."""
    tell = progress or (lambda *_: None)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Error(f"{out} is not empty; name a new folder with --out")
    if not out.name:  # "." cannot be made anew and renamed
        raise Error(f"{out} has no name of its own; name a new folder with --out")
    work = out.with_name(out.name + ".partial")
    with _working(work, recipe, out):
        chosen = _chosen(recipe, work, jobs, tell)
        shards = _shards(chosen)
        _draw(shards, recipe, work, jobs, tell)
        ready = work / "ready"
        entries = _assemble(chosen, shards, recipe, work, ready)
        total = sum(path.stat().st_size for path in payload(ready))
        os.replace(ready, out)
    shutil.rmtree(work, ignore_errors=True)
    counts = Counter(item.split for item in chosen)
    return Written(out, len(chosen), {name: counts[name] for name in SPLITS}, total, entries)


@contextlib.contextmanager
def _working(work: Path, recipe: Recipe, out: Path) -> Iterator[None]:
    """Work in a folder of this recipe's own, locked against other processes."""
    again = f"run the same command again to go on, or remove {work}"
    try:
        work.mkdir(parents=True, exist_ok=True)
        with open(work / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Error(f"{out} is being made by another process; wait for it") from None
            _begin(work, recipe)
            try:
                yield
            except BaseException:
                if not (work / ITEMS).exists():  # nothing was made that would be worth keeping
                    shutil.rmtree(work, ignore_errors=True)
                raise
    except OSError as error:
        where = error.filename or out
        raise Error(f"cannot write {where}: {error.strerror or error}; {again}") from None


def _begin(work: Path, recipe: Recipe) -> None:
    """Write down the recipe of the folder; raise an error if it holds another one."""
    told = recipe.model_dump(mode="json") | {"version": Matrices.version}
    begun = work / "recipe.json"
    if not begun.exists() and {path.name for path in work.iterdir()} - {"lock"}:
        raise Error(f"{work} holds something else; name another folder with --out")
    if (work / ITEMS).exists() and json.loads(begun.read_text("utf-8")) != told:
        raise Error(
            f"{work} holds an unfinished set with other settings; remove it, or name another "
            "folder with --out"
        )
    _write(begun, json.dumps(told, indent=2).encode())


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _each(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Any]:
    """Yield the values of many calls, in order, on `jobs` processes; make no needless calls."""
    if jobs == 1:
        for arguments in calls:
            yield function(*arguments)
        return
    from joblib import Parallel, delayed

    with Parallel(n_jobs=jobs) as parallel:
        while some := list(itertools.islice(calls, 2 * jobs)):
            yield from parallel(delayed(function)(*arguments) for arguments in some)


# ---------------------------------------------------------------- which items


def _chosen(recipe: Recipe, work: Path, jobs: int, tell: Progress) -> list[Chosen]:
    kept = work / ITEMS
    if kept.exists():
        return [Chosen(*row) for row in json.loads(kept.read_text("utf-8"))]

    def blocks(firsts: Iterator[int]) -> Iterator[list[Chosen]]:
        return _each(look, ((recipe, first) for first in firsts), jobs)

    found = []
    for item in choose(recipe, blocks):
        found.append(item)
        if len(found) % 100 == 0 or len(found) == recipe.count:
            tell("choosing matrices", len(found), recipe.count)
    _write(kept, json.dumps(found).encode())
    return found


def _shards(chosen: Sequence[Chosen]) -> list[Shard]:
    found = []
    for split in SPLITS:
        indices = [item.number for item in chosen if item.split == split]
        parts = [tuple(indices[n : n + SHARD]) for n in range(0, len(indices), SHARD)]
        found += [Shard(split, n, len(parts), part) for n, part in enumerate(parts)]
    return found


# ---------------------------------------------------------------- shards


def _draw(shards: list[Shard], recipe: Recipe, work: Path, jobs: int, tell: Progress) -> None:
    folder = work / "shards"
    folder.mkdir(exist_ok=True)
    for leftover in folder.glob("*.tmp"):
        shutil.rmtree(leftover)
    missing = [shard for shard in shards if not (folder / shard.name).exists()]
    total = sum(len(shard.indices) for shard in shards)
    done = total - sum(len(shard.indices) for shard in missing)
    tell("drawing matrices", done, total)
    calls = iter([(shard, recipe, folder) for shard in missing])
    for count in _each(write_shard, calls, jobs):
        done += count
        tell("drawing matrices", done, total)


def write_shard(shard: Shard, recipe: Recipe, folder: Path) -> int:
    """Make a shard and write it whole or not at all; return how many items it has."""
    found = make_shard(batch(recipe.seed, shard.indices, recipe.settings), shard, recipe)
    temporary = folder / f"{shard.name}.tmp"
    try:
        _write_files(temporary, found)
        os.replace(temporary, folder / shard.name)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return len(shard.indices)


def _write_files(folder: Path, shard: Made) -> None:
    for name, data in shard.files.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    folder.mkdir(exist_ok=True)
    sums = [f"{sha256(data)}  {name}\n" for name, data in sorted(shard.files.items())]
    (folder / "sums").write_text("".join(sums), encoding="utf-8")
    (folder / "lines").write_text("".join(shard.lines), encoding="utf-8")
    facts = {"sizes": shard.sizes, "visible": min(shard.visible)}
    (folder / "facts").write_text(json.dumps(facts), encoding="utf-8")


# ---------------------------------------------------------------- all together


def _assemble(
    chosen: list[Chosen], shards: list[Shard], recipe: Recipe, work: Path, ready: Path
) -> list[Entry]:
    """Put the shards together; this can be interrupted and started again."""
    ready.mkdir(exist_ok=True)
    sums = []
    for shard in shards:
        folder = work / "shards" / shard.name
        for path in payload(folder / "files"):
            place = ready / path.relative_to(folder / "files")
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, place)
        sums.append((folder / "sums").read_text("utf-8"))
    for split in SPLITS:
        parts = [work / "shards" / shard.name for shard in shards if shard.split == split]
        lines = b"".join((part / "lines").read_bytes() for part in parts)
        if lines:
            sums.append(_put(ready, lines_file(recipe, split), lines))
    findings = _findings(chosen, shards, recipe, work)
    told = {
        "recipe": recipe.model_dump(mode="json"),
        "command": command(recipe),
        "version": Matrices.version,
        "items": len(chosen),
        "splits": dict(Counter(item.split for item in chosen)),
        "min_visible_pixels": findings.visible,
        "canary": CANARY,
        "battery": [vars(entry) for entry in findings.entries],
    }
    sums.append(_put(ready, "dataset.json", (json.dumps(told, indent=2) + "\n").encode()))
    data = [path for path in payload(ready) if path.name not in ("README.md", "SHA256SUMS")]
    total, first = sum(path.stat().st_size for path in data), "".join(sums).split()[1]
    text = card(recipe, chosen, findings, total, first)
    sums.append(_put(ready, "README.md", text.encode()))
    _write(ready / "SHA256SUMS", "".join(sums).encode())
    return findings.entries


def _put(folder: Path, name: str, data: bytes) -> str:
    """Write a file, and return its checksum."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, data)
    return f"{sha256(data)}  {name}\n"


def _findings(chosen: list[Chosen], shards: list[Shard], recipe: Recipe, work: Path) -> Findings:
    """Compute the battery on the first items, counts of kinds, and visibility of options."""
    sizes: dict[int, list[int]] = {}
    visible = []
    for shard in shards:
        facts = json.loads((work / "shards" / shard.name / "facts").read_text("utf-8"))
        sizes |= dict(zip(shard.indices, facts["sizes"], strict=False))
        visible.append(facts["visible"])
    kinds: Counter[tuple[int, str]] = Counter()
    sights: list[Sight] = []
    for start in range(0, len(chosen), SHARD):
        numbers = [item.number for item in chosen[start : start + SHARD]]
        some = batch(recipe.seed, numbers, recipe.settings)
        for n in range(len(some)):
            one = some.coded(n)
            kinds.update((len(one.case.plan), carrier.kind) for carrier in one.case.plan)
            if len(sights) < JUDGED:
                sights.append(Sight(one.cells[:8], one.options, one.answer))
    judged = chosen[: len(sights)]
    measured = {"file": [sizes[item.number] for item in judged]} if sizes else {}
    entries = of_sights(sights, measured) if len(sights) > 1 else []
    return Findings(entries, len(sights), kinds, min(visible))


class MatricesOptions(Settings):
    """The options of `allminds make matrices`."""

    count: int = Field(1000, ge=1, le=10**7, description="How many, all different.")
    rules: str = Field("any", description="Rules of a matrix: 1, 2, 3, or any.")
    format: Literal["parquet", "imagefolder", "npz", "jsonl"] = Field(
        "parquet", description="parquet, imagefolder, npz or jsonl"
    )
    candidates: int = Field(4, description="Options: 4, or 8 with --rules 3.")
    size: int = Field(160, description="Pixels along a panel, 64 to 1024.")
    regime: str = Field(
        "neutral", description="What is held out of train: neutral for nothing; see the docs."
    )
    kinds: str | None = Field(None, description="Kinds of rules, with commas; by default all.")
    attributes: str | None = Field(None, description="Attributes they govern; by default all.")
    composites: bool = Field(True, description="With pictures of whole problems.")
    seed: int = Field(1, description="The same seed makes the same questions.")


class MatricesGenerator(Generator):
    """Matrices in the style of Raven, with images, attributes and a data card.

    If it is interrupted, the same command goes on where it stopped.
    """

    Settings = MatricesOptions
    example = (
        "Example: allminds make matrices --count 10000 --rules 2 --format parquet --out matrices"
    )

    def make(
        self,
        settings: MatricesOptions,
        out: Path,
        jobs: int,
        progress: Callable[[str, int, int], None],
    ) -> DataSet:
        of_matrices = {"rules", "candidates", "kinds", "attributes"}
        given = settings.model_dump(include=of_matrices, exclude_none=True)
        asked = settings.model_dump(exclude=of_matrices) | {"settings": made(**given)}
        found = make(checked(Recipe, asked, "make matrices"), out, jobs, progress)
        each = found.total_bytes / found.items
        splits = ", ".join(f"{number:,} {name}" for name, number in found.splits.items())
        battery = [
            {"shortcut": one.name, "hits": one.hits, "chance": one.chance, "stderr": one.stderr}
            for one in found.battery
        ]
        table = [
            {
                "shortcut": one.name, "accuracy": f"{one.hits:.3f}",
                "chance": f"{one.chance:.3f} ± {one.stderr:.3f}", "": said(one),
            }
            for one in found.battery
        ]  # fmt: skip
        return DataSet(
            f"{found.items:,} matrices in {out} ({splits}), {each:,.0f} bytes each",
            {
                "out": str(out), "items": found.items, "splits": found.splits, "bytes": each,
                "battery": battery,
            },
            table,
        )  # fmt: skip
