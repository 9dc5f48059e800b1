"""The release: it builds, holds everything, and works when it is installed elsewhere.

The environment is a clean one, with the wheel alone in it; what allminds depends on is lent from
the environment of the tests, as downloading it (some 900 MB) takes minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "allminds"
HEAVY = ("numba", "pandas", "pyarrow", "altair", "scipy", "statsmodels", "joblib", "rich", "typer")


def done(*words, cwd, check=True):
    """Run a command that knows nothing of this checkout."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=check, cwd=cwd,
        env=environment | {"COLUMNS": "100"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The source archive, and the wheel that is built from it."""
    there = tmp_path_factory.mktemp("release")
    made = done(sys.executable, "-m", "build", "--outdir", there, ROOT, cwd=there, check=False)
    if made.returncode and "hatchling" in made.stdout + made.stderr:
        pytest.skip("no package index to get hatchling from")
    assert made.returncode == 0, made.stderr
    return there


@pytest.fixture(scope="module")
def wheel(release):
    (path,) = release.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of an environment of its own, outside the checkout."""
    there = tmp_path_factory.mktemp("elsewhere")
    done(sys.executable, "-m", "venv", "--without-pip", there / "env", cwd=there)
    made = there / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", made]
    done(*pip, "install", "--no-deps", wheel, cwd=there)
    site = done(made, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=there)
    # a path in a .pth file comes last, and no .pth file there is read: not this checkout's either
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site.stdout.strip()) / "lent.pth").write_text("\n".join(sorted(lent)) + "\n")
    return made


def test_a_package_index_would_accept_both_files_and_show_the_readme(release):
    files = sorted(release.iterdir())
    assert [path.suffix for path in files] == [".whl", ".gz"]
    checked = done(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=release)
    assert checked.stdout.count("PASSED") == 2, checked.stdout


def test_the_wheel_holds_every_file_of_the_package(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = [
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert not set(files) - inside
    for ending in (".j2", ".css", ".js", ".toml", ".po", ".typed"):
        assert any(name.endswith(ending) for name in files), ending
    for folder in ("runs/plans", "web/migrations", "instruments/series/data"):
        assert any(name.startswith(f"allminds/{folder}/") for name in inside), folder
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    assert not any(name.startswith(("tests/", "docs/", "benchmarks/")) for name in inside)


def test_it_is_imported_from_the_wheel_and_loads_nothing_heavy(python):
    code = "import allminds, sys; print(allminds.__file__); print(*sys.modules)"
    place, modules = done(python, "-c", code, cwd=python.parent).stdout.splitlines()
    assert Path(place).is_relative_to(python.parents[1])
    assert not set(HEAVY) & set(modules.split())


def test_the_command_line_works(python):
    command = python.with_name("allminds")
    assert done(command, "--version", cwd=python.parent).stdout.startswith("allminds ")
    assert "lambda-star" in done(command, "list", cwd=python.parent).stdout
    assert "[[tests]]" in done(command, "run", "--write-plan", cwd=python.parent).stdout
    found = done(command, "evaluate", "c-test", "-m", "mode", "--json", cwd=python.parent)
    row, *ends = json.loads(found.stdout)["results"]
    assert row["mind"] == "mode"
    assert row["episodes"] == 20
    assert [one["end"] for one in ends] == ["floor", "ceiling"]


def test_a_run_writes_its_report(python, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('[[tests]]\ninstrument = "c-test"\nminds = ["random", "mode"]\nepisodes = 20\n')
    command = python.with_name("allminds")
    done(command, "run", plan, "--out", tmp_path / "run", "--jobs", 1, cwd=tmp_path)
    assert "<svg" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_python_api_works(python, tmp_path):
    code = (
        "import allminds as am\n"
        "results = am.evaluate('c-test', ['random', 'mode'], how=am.How(jobs=1))\n"
        "assert '<table' in results._repr_html_()\n"
        "results.save('a.svg')\n"
        "print(results)"
    )
    assert "mode" in done(python, "-c", code, cwd=tmp_path).stdout
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
