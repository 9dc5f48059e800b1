"""A run folder says when it was damaged, and when what made it has changed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from allminds.core.errors import Error
from allminds.runs import provenance
from allminds.runs.plan import Plan
from allminds.runs.run import How, resume, run
from allminds.runs.store import RunFolder

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import flips

SMALL = {"rows": 5, "cols": 5, "iterations": 10}
MINE = """
from helper import choice
class Mine:
    def act(self, observation, random):
        return choice()
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return flips.made(tmp_path_factory.mktemp("run") / "a")


def test_one_bit_anywhere_is_found_or_harmless(kept):
    """10,000 of them by benchmarks/flips.py."""
    rng = random.Random(8)
    found = [flips.outcome(kept, rng) for _ in range(250)]
    assert not [word for word in found if word.startswith("SILENT")]
    assert found.count("found") > 100


@pytest.mark.parametrize("name", ["plan.json", "summary.json", "SHA256SUMS"])
def test_every_bit_of_some_bytes_is_found(kept, name):
    whole = (kept / name).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 12)):
        hurt = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        (kept / name).write_bytes(hurt)
        with pytest.raises(Error):
            flips.read(kept)
    (kept / name).write_bytes(whole)
    flips.read(kept)


def test_one_bit_of_imported_results_is_found(tmp_path):
    folder, rng = flips.imported(tmp_path / "in"), random.Random(8)
    assert {flips.outcome(folder, rng) for _ in range(250)} == {"found"}
    flips.read(folder)
    sums = (folder / "SHA256SUMS").read_bytes()
    (folder / "SHA256SUMS").write_bytes(sums.replace(b"\n", b"\v", 1))  # ends a line, for some
    with pytest.raises(Error, match="is damaged"):
        flips.read(folder)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(Error, match="is damaged: import it again"):
        flips.read(folder)


def test_imported_results_of_before_there_were_sums_are_read(tmp_path):
    folder = flips.imported(tmp_path / "in")
    made = json.loads((folder / "imported.json").read_text())
    del made["sums"]
    (folder / "imported.json").write_text(json.dumps(made))
    (folder / "SHA256SUMS").unlink()
    flips.read(folder)


def test_a_part_that_is_gone_is_missed(kept, tmp_path):
    shutil.copytree(kept, tmp_path / "a")
    RunFolder.open(tmp_path / "a").parts()[0].unlink()
    with pytest.raises(Error, match="is missing or damaged"):
        RunFolder.open(tmp_path / "a").records()


def test_sums_are_as_other_tools_read_them(kept):
    done = subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=kept, check=False)
    assert done.returncode == 0


def test_a_folder_without_sums_is_read_as_before(kept, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(kept, old)
    made = json.loads((old / "plan.json").read_text())
    for name in ("sums", "instruments", "code", "line_ups"):
        del made[name]
    (old / "plan.json").write_text(json.dumps(made))
    (old / "SHA256SUMS").unlink()
    flips.read(old)
    next((old / "records").iterdir()).unlink()
    resume(old, How(jobs=1))
    assert RunFolder.open(old).records().equals(RunFolder.open(kept).records())


# ---------------------------------------------------------------- what has changed


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A run with a mind of the user's, of which some parts are missing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("helper.py").write_text("def choice():\n    return 5\n")
    Path("mine.py").write_text(MINE)
    test = {"instrument": "lambda-star", "minds": ["mine.py:Mine"], "episodes": 22}
    plan = Plan.model_validate({"tests": [test | {"settings": SMALL}]})
    folder = run(plan, Path("out"), How(jobs=1))
    yield folder
    for name in [one for one in sys.modules if one == "helper" or one.startswith("allminds_user_")]:
        del sys.modules[name]


def cut(folder):
    folder.parts()[0].unlink()


def test_files_and_versions_are_in_the_plan(begun):
    made = json.loads(Path("out/plan.json").read_text())
    assert set(made["code"]) == {"mine.py", "helper.py"}
    assert made["instruments"] == {"lambda-star": 2}
    assert {"python", "allminds"} <= set(made["versions"])


@pytest.mark.parametrize("name", ["mine.py", "helper.py"])
def test_an_edited_mind_is_refused(begun, name):
    cut(begun)
    Path(name).write_text(Path(name).read_text() + "# another\n")
    with pytest.raises(Error, match=f"{name} has changed; undo that, or resume with --accept-ch"):
        resume(Path("out"), How(jobs=1))


def test_another_version_is_refused_and_can_be_accepted(begun, monkeypatch):
    cut(begun)
    now = provenance.versions() | {"allminds": "9.9.9"}
    monkeypatch.setattr(provenance, "versions", lambda: now)
    with pytest.raises(Error, match=r"allminds was .* and is 9\.9\.9"):
        resume(Path("out"), How(jobs=1))
    folder = resume(Path("out"), How(jobs=1), accept_changes=True)
    assert "mixed" in folder.summary()["tests"][0]["results"][0]["mixed"]
    assert set(folder.records()["run"]) == {f"{folder.plan.run}~1"}  # all parts are new ones


def test_a_run_that_is_complete_is_not_refused(begun):
    Path("mine.py").write_text(MINE + "# another\n")
    resume(Path("out"), How(jobs=1))


def test_accepting_changes_needs_a_run_to_resume(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from allminds.cli.app import app

    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["run", "--accept-changes"])
    assert "name its folder by --resume" in str(found.exception)
    assert not list(tmp_path.iterdir())
