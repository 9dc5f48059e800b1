"""The files of a data set, a shard at a time, and its card; a shard depends on its items alone.

parquet      data/SPLIT-00000-of-00009.parquet: panels and choices as lists of images
imagefolder  SPLIT/part-00000/INDEX/cell_1.png, …; SPLIT/metadata.jsonl
npz          SPLIT/part-00000/matrices_INDEX_train.npz with image, target, meta_matrix and
             meta_target, as loaders of RAVEN expect; SPLIT/metadata.jsonl
jsonl        SPLIT.jsonl: attributes and words, no images
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from allminds.instruments.matrices.dataset.battery import Entry
from allminds.instruments.matrices.dataset.items import (
    REGIMES,
    SPLITS,
    Chosen,
    Recipe,
    columns,
    record,
    sha256,
)
from allminds.instruments.matrices.drawing.raster import (
    composite_png,
    key_png,
    matrix_png,
    panel_grey,
    panel_png,
)
from allminds.instruments.matrices.making import text
from allminds.instruments.matrices.making.panel import ATTRIBUTES, KINDS, NAMES, Problem
from allminds.instruments.matrices.making.rules import DEFAULT

META = (*KINDS, *ATTRIBUTES, "marks")  # the columns of meta_matrix
MOST_RULES = 3


class Shard(NamedTuple):
    """Some items of one split."""

    split: str
    number: int
    of: int
    indices: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its folder while the set is being made."""
        return f"{self.split}-{self.number:05d}"


class Made(NamedTuple):
    """What a shard comes to: files by their place in the set, and lines for its split."""

    files: dict[str, bytes]
    lines: list[str]
    sizes: list[list[int]]  # bytes of each option's picture, item by item; none without pictures
    visible: list[float]  # the least number of pixels that tell two options apart, item by item


class Filed(NamedTuple):
    """What one item comes to: its row, and its own files by their place in the split."""

    row: dict[str, Any]
    files: dict[str, bytes]
    sizes: list[int]  # bytes of each option's picture


def make_shard(problems: Iterable[Problem], shard: Shard, recipe: Recipe) -> Made:
    """Make the files and the lines of a shard."""
    found = Made({}, [], [], [])
    rows = []
    for problem in problems:
        told = record(problem, recipe, shard.split)
        found.visible.append(told["measures"]["min_visible_pixels"])
        item = MAKERS[recipe.format](problem, told, shard, recipe)
        rows.append(item.row)
        found.files.update((f"{shard.split}/{name}", data) for name, data in item.files.items())
        if item.sizes:
            found.sizes.append(item.sizes)
    if recipe.format == "parquet":
        name = f"data/{shard.name}-of-{shard.of:05d}.parquet"
        found.files[name] = _table(rows)
    else:
        found.lines.extend(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return found


# ---------------------------------------------------------------- with pictures


class Pictures(NamedTuple):
    """All pictures of one problem, as PNG files by their names."""

    panels: dict[str, bytes]
    choices: dict[str, bytes]
    whole: dict[str, bytes]  # question, composite and answer key, if they are wanted

    @property
    def sha256(self) -> str:
        """The checksum of panels and choices, one after the other."""
        return sha256(*self.panels.values(), *self.choices.values())

    @property
    def sizes(self) -> list[int]:
        """The bytes of each option's picture."""
        return [len(data) for data in self.choices.values()]


def pictures(problem: Problem, recipe: Recipe) -> Pictures:
    """Draw eight panels, the options, and the whole problem without its answer and with it."""
    size = recipe.size
    whole = {}
    if recipe.composites:
        draw = {"question": matrix_png, "composite": composite_png, "key": key_png}
        whole = {name: png(problem, size) for name, png in draw.items()}
    named = zip(NAMES, problem.options, strict=False)
    return Pictures(
        {f"cell_{n}": panel_png(cell, size) for n, cell in enumerate(problem.cells[:8], 1)},
        {f"choice_{name}": panel_png(option, size) for name, option in named},
        whole,
    )


def _parquet(problem: Problem, told: dict[str, Any], shard: Shard, recipe: Recipe) -> Filed:  # noqa: ARG001
    drawn = pictures(problem, recipe)

    def images(some: dict[str, bytes]) -> dict[str, dict[str, Any]]:
        stem = f"{problem.index:08d}"
        return {name: {"bytes": b, "path": f"{stem}_{name}.png"} for name, b in some.items()}

    row = {
        "panels": list(images(drawn.panels).values()),
        "choices": list(images(drawn.choices).values()),
        **images(drawn.whole),
        **columns(told | {"sha256": drawn.sha256}, problem),
    }
    return Filed(row, {}, drawn.sizes)


def _table(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, _schema(rows[0])), file, compression="zstd")
    return file.getvalue()


def _schema(row: dict[str, Any]) -> Any:
    """Describe the columns of a table, with the features that Hugging Face's `datasets` reads."""
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    small = {"C": pa.uint8(), "target": pa.uint8()}
    kinds: dict[type, Any] = {
        list: pa.list_(image), dict: image, str: pa.string(), float: pa.float64(), int: pa.int64()
    }  # fmt: skip
    schema = pa.schema([(name, small.get(name, kinds[type(row[name])])) for name in row])
    features = {
        field.name: {"feature": {"_type": "Image"}, "_type": "Sequence"}
        if pa.types.is_list(field.type)
        else {"_type": "Image"}
        if pa.types.is_struct(field.type)
        else {"dtype": _DTYPES.get(str(field.type), str(field.type)), "_type": "Value"}
        for field in schema
    }
    told = json.dumps({"info": {"features": features}})
    return schema.with_metadata({"huggingface": told})


_DTYPES = {"double": "float64"}


def _imagefolder(problem: Problem, told: dict[str, Any], shard: Shard, recipe: Recipe) -> Filed:
    drawn = pictures(problem, recipe)
    folder = f"part-{shard.number:05d}/{problem.index:08d}"
    panels, choices, whole = (
        {f"{folder}/{name}.png": data for name, data in some.items()} for some in drawn
    )
    row = {
        "panels_file_names": list(panels),
        "choices_file_names": list(choices),
        **{f"{name}_file_name": file for name, file in zip(drawn.whole, whole, strict=True)},
        **columns(told | {"sha256": drawn.sha256}, problem),
    }
    return Filed(row, panels | choices | whole, drawn.sizes)


# ---------------------------------------------------------------- arrays and words


def _npz(problem: Problem, told: dict[str, Any], shard: Shard, recipe: Recipe) -> Filed:
    panels = (*problem.cells[:8], *problem.options)
    image = np.stack([panel_grey(panel, recipe.size) for panel in panels])
    meta = meta_matrix(problem)
    ending = {"validation": "val"}.get(shard.split, shard.split)
    name = f"part-{shard.number:05d}/matrices_{problem.index:08d}_{ending}.npz"
    data = _packed(
        image=image, target=np.int64(problem.answer), meta_matrix=meta, meta_target=meta.max(0)
    )
    told = told | {"sha256": sha256(image.tobytes())}
    return Filed({"npz_file_name": name} | columns(told, problem), {name: data}, [])


def meta_matrix(problem: Problem) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Encode the rules, at most three: a row each with its kind, attribute, and if on marks."""
    meta = np.zeros((MOST_RULES, len(META)), np.uint8)
    for row, rule in zip(meta, problem.rules, strict=False):
        row[META.index(rule.kind)] = row[META.index(rule.attribute)] = 1
        row[META.index("marks")] = rule.layer == "marks"
    return meta


def _packed(**arrays: Any) -> bytes:
    """Write an npz file with quick compression and fixed time stamps."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, values in arrays.items():
            array = io.BytesIO()
            np.save(array, values)
            info = zipfile.ZipInfo(f"{name}.npy")  # of 1980, so that bytes are always the same
            packed.writestr(info, array.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)
    return file.getvalue()


def _jsonl(problem: Problem, told: dict[str, Any], shard: Shard, recipe: Recipe) -> Filed:  # noqa: ARG001
    return Filed(told | {"prose": text.prose(problem), "tuples": text.tuples(problem)}, {}, [])


MAKERS: dict[str, Callable[[Problem, dict[str, Any], Shard, Recipe], Filed]] = {
    "parquet": _parquet,
    "imagefolder": _imagefolder,
    "npz": _npz,
    "jsonl": _jsonl,
}


def lines_file(recipe: Recipe, split: str) -> str:
    """Name the file that has a line for each item of a split."""
    return f"{split}.jsonl" if recipe.format == "jsonl" else f"{split}/metadata.jsonl"


def payload(folder: Path) -> list[Path]:
    """List the files below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------- the card


CANARY = "allminds-matrices canary 4d1f6c52-8a0e-4b57-9c3d-5e2f70b9a861"
LOADING = {
    "parquet": """\
```python
pandas.read_parquet("{first}")  # images are PNG bytes
datasets.load_dataset("path/to/this/folder")  # images are decoded
```
`panels` has eight images, `choices` the options.""",
    "imagefolder": """\
```python
datasets.load_dataset("imagefolder", data_dir="path/to/this/folder")
```
Each item has a folder of PNG files; `metadata.jsonl` of a split names them.""",
    "npz": """\
```python
item = numpy.load("{first}")
item["image"]        # [8 cells row by row, then the options; row; column], grey, uint8
item["target"]       # which option, from 0
item["meta_matrix"]  # [rule, column] of 0 and 1; unused rows are 0
item["meta_target"]  # [column]: whether any rule has it
```
Columns: {meta}.""",
    "jsonl": """\
```python
pandas.read_json("{first}", lines=True)
```
`prose` and `tuples` are the item in words, `cells` and `options` its attributes; no images.""",
}


class Findings(NamedTuple):
    """What was found out about a set."""

    entries: list[Entry]  # the battery
    judged: int  # items it was tried on
    kinds: Counter[tuple[int, str]]  # how many rules there are, by (C, kind)
    visible: float  # the least number of pixels that tell two options of an item apart


def card(
    recipe: Recipe, chosen: Sequence[Chosen], findings: Findings, total_bytes: int, first: str
) -> str:
    """Write the README of a data set; `first` is one of its files."""
    splits = Counter(item.split for item in chosen)
    loading = LOADING[recipe.format].format(first=first, meta=", ".join(META))
    letters = NAMES[: recipe.settings.candidates]
    return f"""\
---
license: mit
task_categories: [visual-question-answering]
tags: [raven-progressive-matrices, abstract-reasoning, synthetic]
---

# Matrices in the style of Raven's progressive matrices

{len(chosen):,} problems: the ninth panel of a 3 x 3 matrix is to be found among {len(letters)}
options, {letters[0]} to {letters[-1]}. Made by allminds after Hilton, Liao and Poggio, *Spatial IQ
Test for AI*. Exactly one option satisfies the rules, found by a solver that is not told them; no
matrix occurs twice; every two options of a problem differ in {findings.visible:.0f} pixels or more
of a panel of 160 x 160.

- made by: `{command(recipe)}`
- regime `{recipe.regime}`: {REGIMES[recipe.regime].told}
- bytes an item: {total_bytes / len(chosen):,.0f}
- licence: MIT; canary: `{CANARY}`

| split | items |
| --- | ---: |
{_rows((name, f"{splits[name]:,}") for name in SPLITS)}

The split is the canonical hash mod 10: 0 to 5 train, 6 and 7 validation, 8 and 9 test; in a regime
train and validation show nothing that is held out, and test is about it. An item is made from
(seed, index) alone; the set has the first indices whose matrices are new.

| rules (C) | {" | ".join(KINDS)} |
| --- |{" ---: |" * len(KINDS)}
{_kinds(findings.kinds)}

## Reading it

{loading}

`target` (`answer` in JSON lines) is the right option from 0, `metadata` the whole record as JSON:
`id, seed, index, hash, split, C, cells` (nine attribute records, the ninth the answer), `options`,
`answer`, `letter`, `rules`, `measures`. Measures are bits of an ideal observer: `I_context` that
rows 1 and 2 must supply, `I_answer` of the answer, `L_rules` to describe the rules, `H_rule_row1`
of doubt after one row; `needed_rules`, `option_distance`, `elements` drawn, `min_visible_pixels`
between two options. `SHA256SUMS` has a line for every file: `sha256sum -c SHA256SUMS`.

## What the set gives away

Accuracy of shortcuts on {findings.judged:,} items. Blind ones see the options alone and must be at
chance, within four standard errors; the others are printed, for no design removes them all.

| shortcut | accuracy | chance | standard error | |
| --- | ---: | ---: | ---: | --- |
{battery_rows(findings.entries)}
"""


def command(recipe: Recipe) -> str:
    """Write the command that makes the set again."""
    given = recipe.settings
    words = [
        f"allminds make matrices --count {recipe.count} --rules {given.rules}",
        f"--format {recipe.format} --seed {recipe.seed} --regime {recipe.regime}",
        f"--candidates {given.candidates} --size {recipe.size}",
    ]
    words += [
        f"--{name} {','.join(getattr(given, name))}"
        for name in ("kinds", "attributes")
        if getattr(given, name) != getattr(DEFAULT, name)
    ]
    return " ".join(words + ["--no-composites"] * (not recipe.composites) + ["--out DIR"])


def battery_rows(entries: Sequence[Entry]) -> str:
    """Format the battery as rows of a table."""
    return _rows(
        (entry.name, f"{entry.hits:.3f}", f"{entry.chance:.3f}", f"{entry.stderr:.3f}", said(entry))
        for entry in entries
    )


def said(entry: Entry) -> str:
    """Tell whether a blind shortcut is at chance, as it must be."""
    if not entry.blind:
        return "sees cells"
    return "blind, at chance" if entry.fair else "blind, NOT AT CHANCE"


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _kinds(kinds: Counter[tuple[int, str]]) -> str:
    counts = sorted({count for count, _ in kinds})
    return _rows((str(count), *(f"{kinds[count, kind]:,}" for kind in KINDS)) for count in counts)
