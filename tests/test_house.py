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


COUNTED = """
import collections, sys
from allminds import registry
calls = collections.Counter()


def counted(name):
    real = getattr(registry, name)

    def call(*arguments):
        calls[name] += 1
        return real(*arguments)

    setattr(registry, name, call)


for name in ("make_instrument", "line_up", "subject"):
    counted(name)
sys.argv = "allminds evaluate lambda-star --mind local-search --episodes 22 --jobs 1".split()
from allminds.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
print(*calls.values())
"""


def test_evaluating_resolves_names_once_and_imports_what_it_needs():
    """One instrument, three line-ups (the mind, floor, ceiling), nothing of other instruments."""
    out = subprocess.run(
        [sys.executable, "-c", f"{COUNTED}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    assert out[-3].split() == ["1", "3", "3"]
    ours = {name for name in out[-2].split() if name.startswith("allminds.")}
    rooms = {name.split(".")[1] for name in ours}
    assert not rooms & {"report", "bridges", "web", "papers", "statistics", "voting"}
    folders = {name.split(".")[2] for name in ours if name.startswith("allminds.instruments.")}
    assert folders == {"chance", "lambda_star"}
    assert not any("extensions" in name for name in ours)
    assert len(ours) < 80
