"""Data sets: the same bytes however they are made, whole or not at all, and readable elsewhere."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import allminds
from test_raster_matrices import read_png

from allminds.core.errors import Error
from allminds.instruments.matrices.dataset import writing as datasets
from allminds.instruments.matrices.dataset.files import META
from allminds.instruments.matrices.dataset.items import FORMATS, REGIMES, Recipe, split_of
from allminds.instruments.matrices.dataset.writing import make
from allminds.instruments.matrices.drawing.raster import panel_grey, panel_rgb
from allminds.instruments.matrices.making import rules as codes
from allminds.instruments.matrices.making.generator import batch, generate
from allminds.instruments.matrices.making.panel import Problem
from allminds.instruments.matrices.making.rules import made

SMALL = 23
SPLITS = ("train", "validation", "test")


def contents(folder):
    """Every file below a folder with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def records(folder):
    """The items of a set of JSON lines, by split."""
    return {
        split: [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]
        for split in SPLITS
        if (folder / f"{split}.jsonl").exists()
    }


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(datasets, "SHARD", 5)


# ---------------------------------------------------------------- which items


def test_a_set_has_the_first_new_matrices_and_splits_them_by_hash(tmp_path):
    found = make(Recipe(count=200, seed=3, format="jsonl"), tmp_path / "set")
    items = records(tmp_path / "set")
    assert found.items == 200
    assert {split: len(rows) for split, rows in items.items()} == found.splits
    rows = [row for split in SPLITS for row in items[split]]
    some = batch(3, range(400))
    hashes = [some.hash(n) for n in range(len(some))]
    first = [n for n, hash_ in enumerate(hashes) if hash_ not in hashes[:n]]
    assert sorted(row["index"] for row in rows) == first[:200]
    for split, some in items.items():
        assert {row["split"] for row in some} == {split} == {split_of(row["hash"]) for row in some}
        tens = {int(row["hash"], 16) % 10 for row in some}
        assert tens <= {"train": {*range(6)}, "validation": {6, 7}, "test": {8, 9}}[split]


def test_every_item_can_be_made_again_alone(tmp_path):
    make(Recipe(count=SMALL, seed=4, format="jsonl", settings=made(rules=2)), tmp_path / "set")
    for rows in records(tmp_path / "set").values():
        for row in rows:
            problem = generate(4, row["index"], made(rules=2))
            again = Problem.from_record(row)
            assert (again.cells, again.options, again.answer) == (
                problem.cells, problem.options, problem.answer,
            )  # fmt: skip
            assert row["id"].endswith(f"/4/{row['index']}")
            assert row["C"] == 2 == len(row["rules"])
            assert row["measures"]["min_visible_pixels"] >= 120
            assert row["options"][row["answer"]] == row["cells"][8]


@pytest.mark.parametrize("regime", [name for name in REGIMES if name != "neutral"])
def test_what_is_held_out_is_in_test_alone(tmp_path, regime):
    make(Recipe(count=150, seed=5, format="jsonl", regime=regime), tmp_path / "set")
    items = records(tmp_path / "set")
    assert set(items) == {*SPLITS}
    for split, rows in items.items():
        coded = batch(5, [row["index"] for row in rows])
        for n in range(len(rows)):
            one = coded.coded(n)
            if split == "test":
                assert REGIMES[regime].asks(one)
            else:
                assert not REGIMES[regime].shows(one)


def test_interpolation_never_shows_a_size_in_between(tmp_path):
    make(Recipe(count=100, seed=6, format="jsonl", regime="interpolation"), tmp_path / "set")
    items = records(tmp_path / "set")
    for row in (*items["train"], *items["validation"]):
        for panel in (*row["cells"], *row["options"]):
            figure = panel["figure"] or {"size": [], "shape": []}
            assert not {1, 3} & set(figure["size"])
            assert not {"5", "7"} & set(figure["shape"])


# ---------------------------------------------------------------- formats


def test_pandas_reads_parquet(tmp_path):
    import pandas as pd

    make(Recipe(count=SMALL, seed=7), tmp_path / "set")
    files = sorted((tmp_path / "set/data").glob("*.parquet"))
    assert {path.name.split("-")[0] for path in files} <= {*SPLITS}
    table = pd.concat([pd.read_parquet(path) for path in files])
    assert len(table) == SMALL
    for row in table.to_dict("records"):
        problem = generate(7, row["index"])
        drawn = [*row["panels"], *row["choices"]]
        assert len(row["panels"]) == 8
        for image, panel in zip(drawn, (*problem.cells[:8], *problem.options), strict=True):
            assert (read_png(image["bytes"]) == panel_rgb(panel)).all()
        assert (row["target"], row["letter"]) == (problem.answer, problem.letter)
        assert row["I_context"] == problem.measures["I_context"]
        told = json.loads(row["metadata"])
        assert told["sha256"] == hashlib.sha256(b"".join(i["bytes"] for i in drawn)).hexdigest()
        assert row["text"].startswith("Nine cells")
        assert read_png(row["composite"]["bytes"]).shape == (782, 720, 3)
        assert read_png(row["question"]["bytes"]).shape == (548, 548, 3)


def test_image_folders_name_all_their_images(tmp_path):
    recipe = Recipe(count=SMALL, seed=8, format="imagefolder", size=64, composites=False)
    make(recipe, tmp_path / "set")
    named = set()
    for path in (tmp_path / "set").glob("*/metadata.jsonl"):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            named |= {path.parent / one for one in row["panels_file_names"]}
            named |= {path.parent / one for one in row["choices_file_names"]}
            assert len(row["panels_file_names"]) + len(row["choices_file_names"]) == 12
    assert named == set((tmp_path / "set").rglob("*.png"))
    assert read_png(named.pop().read_bytes()).shape == (64, 64, 3)


def test_arrays_are_laid_out_as_loaders_of_raven_expect(tmp_path):
    recipe = Recipe(count=SMALL, seed=9, format="npz", settings=made(rules=3, candidates=8))
    make(recipe, tmp_path / "set")
    files = sorted((tmp_path / "set").rglob("*.npz"))
    assert len(files) == SMALL
    assert {path.stem.split("_")[-1] for path in files} <= {"train", "val", "test"}
    for path in files:
        problem = generate(9, int(path.stem.split("_")[1]), recipe.settings)
        item = np.load(path)
        assert item["image"].shape == (16, 160, 160)
        assert item["image"].dtype == np.uint8
        assert (item["image"][8 + int(item["target"])] == panel_grey(problem.cells[8])).all()
        meta = item["meta_matrix"]
        assert meta.shape == (3, len(META))
        for row, rule in zip(meta, problem.rules, strict=True):
            named = {name for name, value in zip(META, row, strict=True) if value}
            assert named - {"marks"} == {rule.kind, rule.attribute}
            assert ("marks" in named) == (rule.layer == "marks")
        assert (item["meta_target"] == meta.max(axis=0)).all()


@pytest.mark.parametrize("form", FORMATS)
def test_sums_card_and_battery_come_with_every_set(tmp_path, form):
    found = make(Recipe(count=SMALL, seed=10, format=form, size=64), tmp_path / "set")
    files = contents(tmp_path / "set")
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert set(sums) == set(files) - {"SHA256SUMS"}
    for name, expected in sums.items():
        assert hashlib.sha256(files[name]).hexdigest() == expected
    card = files["README.md"].decode()
    assert "| majority vote | 0.250 | 0.250 |" in card
    assert "bytes an item: " in card
    assert "allminds make matrices --count 23" in card
    assert found.total_bytes == sum(map(len, files.values()))
    blind = {entry.name for entry in found.battery if entry.blind}
    assert ("largest file" in blind) == (form in ("parquet", "imagefolder"))
    told = json.loads(files["dataset.json"])
    assert told["splits"] == {split: n for split, n in found.splits.items() if n}


def test_the_datasets_library_reads_both_layouts_where_it_is_installed(tmp_path, monkeypatch):
    library = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    make(Recipe(count=40, format="parquet"), tmp_path / "table")
    make(Recipe(count=40, format="imagefolder"), tmp_path / "folder")
    cache = str(tmp_path / "cache")
    table = library.load_dataset(str(tmp_path / "table"), cache_dir=cache)
    folder = library.load_dataset("imagefolder", data_dir=str(tmp_path / "folder"), cache_dir=cache)
    for loaded in (table, folder):
        assert sum(len(rows) for rows in loaded.values()) == 40
        assert len(loaded["train"][0]["panels"]) == 8
        assert loaded["train"][0]["composite"].size == (720, 782)


# ---------------------------------------------------------------- the same, whatever happens


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "imagefolder"])
def test_alone_and_in_parallel_a_set_has_the_same_bytes(tmp_path, form, small_shards):
    recipe = Recipe(count=SMALL, seed=11, format=form, size=64)
    make(recipe, tmp_path / "alone", jobs=1)
    make(recipe, tmp_path / "parallel", jobs=2)
    assert contents(tmp_path / "alone") == contents(tmp_path / "parallel")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "parallel"]


KILLED = """
import os, sys
from pathlib import Path
from allminds.instruments.matrices.dataset import writing as datasets
from allminds.instruments.matrices.dataset.items import Recipe

datasets.SHARD = 5
real, left = datasets.os.replace, [int(sys.argv[3])]

def replace(one, other):
    if left[0] == 0:
        os._exit(9)
    left[0] -= 1
    real(one, other)

datasets.os.replace = replace
datasets.make(Recipe.model_validate_json(sys.argv[2]), Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "renamings"), [("parquet", 4), ("imagefolder", 40)]
)  # it is killed while it draws, and while it puts things together
def test_a_set_that_was_killed_goes_on_and_has_the_same_bytes(
    tmp_path, form, renamings, small_shards
):
    recipe = Recipe(count=SMALL, seed=12, format=form, size=64)
    out = tmp_path / "killed"
    words = [sys.executable, "-c", KILLED, str(out), recipe.model_dump_json(), str(renamings)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    assert not out.exists()
    make(recipe, out)
    make(recipe, tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")
    assert not (tmp_path / "killed.partial").exists()


def test_a_full_disk_leaves_no_set_and_the_same_command_goes_on(
    tmp_path, monkeypatch, small_shards
):
    recipe = Recipe(count=SMALL, seed=13, format="imagefolder", size=64)
    make(recipe, tmp_path / "whole")
    real, room = Path.write_bytes, [100]

    def write_bytes(path, data):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with pytest.raises(Error, match=r"No space left on device; run the same command again"):
        make(recipe, tmp_path / "set")
    assert not (tmp_path / "set").exists()
    assert list((tmp_path / "set.partial/shards").glob("*.tmp")) == []
    assert len(list((tmp_path / "set.partial/shards").iterdir())) > 0
    monkeypatch.undo()
    monkeypatch.setattr(datasets, "SHARD", 5)
    make(recipe, tmp_path / "set")
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")


# ---------------------------------------------------------------- bad input


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("…")
    recipe = Recipe(count=SMALL, format="jsonl")
    with pytest.raises(Error, match=r"mine is not empty; name a new folder"):
        make(recipe, tmp_path / "mine")
    (tmp_path / "other.partial").mkdir()
    (tmp_path / "other.partial/thesis.tex").write_text("…")
    with pytest.raises(Error, match="holds something else"):
        make(recipe, tmp_path / "other")
    assert (tmp_path / "other.partial/thesis.tex").exists()
    (tmp_path / "empty").mkdir()
    make(recipe, tmp_path / "empty")
    assert (tmp_path / "empty/README.md").exists()


def test_an_unfinished_set_with_other_settings_is_not_mixed_in(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "write_shard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(Recipe(count=SMALL, seed=1, format="jsonl"), tmp_path / "set")
    monkeypatch.undo()
    with pytest.raises(Error, match="unfinished set with other settings"):
        make(Recipe(count=SMALL, seed=2, format="jsonl"), tmp_path / "set")
    make(Recipe(count=SMALL, seed=1, format="jsonl"), tmp_path / "set")


def test_more_items_than_there_are_is_an_error_that_leaves_nothing(tmp_path):
    narrow = made(rules=1, kinds=["constant"], attributes=["count"])
    with pytest.raises(Error, match=r"at most 9,072 such matrices; ask for 9,072 or fewer"):
        make(Recipe(count=10_000, settings=narrow, format="jsonl"), tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_a_regime_that_leaves_nothing_is_an_error(tmp_path):
    recipe = Recipe(count=10, settings=made(rules=2), regime="held-out-C", format="jsonl")
    with pytest.raises(Error, match="held-out-C leaves nothing for test"):
        make(recipe, tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- the command


def test_the_command_makes_a_set_and_prints_its_battery(tmp_path):
    words = ("--count", 30, "--rules", 2, "--format", "jsonl", "--seed", 4, "--out")
    done = allminds("make", "matrices", *words, tmp_path / "set")
    assert done.returncode == 0, done.stderr
    assert "30 matrices in" in done.stdout
    assert "bytes each" in done.stdout
    assert "majority vote" in done.stdout
    assert {row["C"] for rows in records(tmp_path / "set").values() for row in rows} == {2}
    again = allminds("make", "matrices", *words, tmp_path / "set")
    assert again.returncode == 2
    assert again.stderr.strip().count("\n") == 0
    assert "is not empty" in again.stderr


def test_codes_of_items_are_what_their_panels_say():
    made_ = batch(14, range(20))
    for n in range(20):
        assert made_.hash(n) == made_[n].hash
        assert [codes.encoded(cell) for cell in made_[n].cells] == list(made_.coded(n).cells)


def test_bytes_in_memory_are_bytes_on_disk(tmp_path):
    found = make(Recipe(count=SMALL, seed=15, format="npz", size=64), tmp_path / "set")
    path = next((tmp_path / "set").rglob("*.npz"))
    assert np.load(io.BytesIO(path.read_bytes()))["image"].shape == (12, 64, 64)
    assert found.path == tmp_path / "set"
