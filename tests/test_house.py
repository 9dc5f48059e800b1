"""The house rules: what imports what, and what a start costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_folders_import_only_from_those_above_them():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def loaded_by(code: str) -> set[str]:
    out = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(out.stdout.split("\n")[-2].split())


HEAVY = {"numba", "pandas", "pyarrow", "altair", "joblib", "scipy", "jinja2", "vl_convert"}


def test_import_and_help_load_nothing_heavy():
    assert not loaded_by("import allminds") & (HEAVY | {"numpy", "typer", "rich", "pydantic"})
    help_ = "import sys\nsys.argv = ['allminds', '--help']\nfrom allminds.cli import main\nmain()"
    assert not loaded_by(help_) & (HEAVY | {"numpy", "pydantic"})


def test_every_public_name_can_be_imported():
    import allminds

    for name in allminds.__all__:
        assert getattr(allminds, name) is not None
