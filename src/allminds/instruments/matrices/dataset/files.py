"""The files of a data set, a shard at a time; a shard depends on its items and nothing else.

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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from allminds.instruments.matrices.dataset.items import Recipe, columns, record, sha256
from allminds.instruments.matrices.drawing.composite import composite_png, matrix_png
from allminds.instruments.matrices.drawing.raster import panel_grey, panel_png
from allminds.instruments.matrices.making import text
from allminds.instruments.matrices.making.panel import ATTRIBUTES, KINDS, NAMES, Problem

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


class Pictures(NamedTuple):
    """All pictures of one problem, as PNG files."""

    panels: list[bytes]
    choices: list[bytes]
    whole: dict[str, bytes]  # question and composite, if they are wanted

    @property
    def sha256(self) -> str:
        """The checksum of panels and choices, one after the other."""
        return sha256(*self.panels, *self.choices)


def pictures(problem: Problem, recipe: Recipe) -> Pictures:
    """Draw eight panels, the options, and the composite."""
    size = recipe.size
    whole = {}
    if recipe.composites:
        whole = {"question": matrix_png(problem, size), "composite": composite_png(problem, size)}
    return Pictures(
        [panel_png(cell, size) for cell in problem.cells[:8]],
        [panel_png(option, size) for option in problem.options],
        whole,
    )


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False) + "\n"


# ---------------------------------------------------------------- parquet


def _parquet(problems: Sequence[Problem], shard: Shard, recipe: Recipe) -> Made:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, sizes, visible = [], [], []
    for problem in problems:
        drawn = pictures(problem, recipe)
        told = record(problem, recipe, shard.split) | {"sha256": drawn.sha256}
        visible.append(told["measures"]["min_visible_pixels"])
        stem = f"{problem.index:08d}"
        rows.append(
            {
                "panels": [_image(f"{stem}_cell_{n}", b) for n, b in enumerate(drawn.panels, 1)],
                "choices": [
                    _image(f"{stem}_choice_{name}", b)
                    for name, b in zip(NAMES, drawn.choices, strict=False)
                ],
                **{name: _image(f"{stem}_{name}", b) for name, b in drawn.whole.items()},
                **columns(told, problem),
            }
        )
        sizes.append([len(choice) for choice in drawn.choices])
    schema = _schema(rows[0])
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), file, compression="zstd")
    name = f"data/{shard.split}-{shard.number:05d}-of-{shard.of:05d}.parquet"
    return Made({name: file.getvalue()}, [], sizes, visible)


def _image(stem: str, data: bytes) -> dict[str, Any]:
    return {"bytes": data, "path": f"{stem}.png"}


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


# ---------------------------------------------------------------- image folder


def _imagefolder(problems: Sequence[Problem], shard: Shard, recipe: Recipe) -> Made:
    files: dict[str, bytes] = {}
    lines, sizes, visible = [], [], []
    for problem in problems:
        drawn = pictures(problem, recipe)
        told = record(problem, recipe, shard.split) | {"sha256": drawn.sha256}
        visible.append(told["measures"]["min_visible_pixels"])
        folder = f"part-{shard.number:05d}/{problem.index:08d}"
        panels = {f"{folder}/cell_{n}.png": data for n, data in enumerate(drawn.panels, 1)}
        choices = {
            f"{folder}/choice_{name}.png": data
            for name, data in zip(NAMES, drawn.choices, strict=False)
        }
        whole = {f"{folder}/{name}.png": data for name, data in drawn.whole.items()}
        for some in (panels, choices, whole):
            files |= {f"{shard.split}/{name}": data for name, data in some.items()}
        names = {f"{name}_file_name": f"{folder}/{name}.png" for name in drawn.whole}
        row = {"panels_file_names": list(panels), "choices_file_names": list(choices), **names}
        lines.append(_line(row | columns(told, problem)))
        sizes.append([len(choice) for choice in drawn.choices])
    return Made(files, lines, sizes, visible)


# ---------------------------------------------------------------- arrays


def _npz(problems: Sequence[Problem], shard: Shard, recipe: Recipe) -> Made:
    files: dict[str, bytes] = {}
    lines, visible = [], []
    ending = {"validation": "val"}.get(shard.split, shard.split)
    for problem in problems:
        panels = (*problem.cells[:8], *problem.options)
        image = np.stack([panel_grey(panel, recipe.size) for panel in panels])
        meta = meta_matrix(problem)
        name = f"part-{shard.number:05d}/matrices_{problem.index:08d}_{ending}.npz"
        files[f"{shard.split}/{name}"] = _packed(
            image=image, target=np.int64(problem.answer), meta_matrix=meta, meta_target=meta.max(0)
        )
        told = record(problem, recipe, shard.split) | {"sha256": sha256(image.tobytes())}
        lines.append(_line({"npz_file_name": name} | columns(told, problem)))
        visible.append(told["measures"]["min_visible_pixels"])
    return Made(files, lines, [], visible)


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


# ---------------------------------------------------------------- words


def _jsonl(problems: Sequence[Problem], shard: Shard, recipe: Recipe) -> Made:
    lines, visible = [], []
    for problem in problems:
        told = record(problem, recipe, shard.split)
        words = {"prose": text.prose(problem), "tuples": text.tuples(problem)}
        lines.append(_line(told | words))
        visible.append(told["measures"]["min_visible_pixels"])
    return Made({}, lines, [], visible)


MAKERS: dict[str, Callable[[Sequence[Problem], Shard, Recipe], Made]] = {
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
