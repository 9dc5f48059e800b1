"""The house rules: what imports what, and what a start costs."""

from __future__ import annotations

import ast
import collections
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "allminds"


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
    reached = loaded_by("import allminds\nallminds.evaluate, allminds.Results")
    assert not reached & (HEAVY | {"statsmodels"})
    help_ = "import sys\nsys.argv = ['allminds', '--help']\nfrom allminds.cli import main\nmain()"
    assert not loaded_by(help_) & (HEAVY | {"numpy", "pydantic"})


def test_every_public_name_can_be_imported():
    import allminds

    for name in allminds.__all__:
        assert getattr(allminds, name) is not None
    assert set(dir(allminds)) == {*allminds.__all__, "__version__"}
    assert allminds.__version__[0].isdigit()
    assert callable(allminds.evaluate), "a module of that name would hide it"


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
from allminds.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
print(*(calls[name] for name in ("make_instrument", "line_up", "subject")))
print(*sys.modules)
"""


def counted(command: str, cwd: Path | None = None) -> tuple[list[int], set[str]]:
    """How often a command makes instruments and resolves line-ups and minds, and its modules."""
    code = COUNTED.replace("from allminds.cli", f"sys.argv = {command.split()}\nfrom allminds.cli")
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=cwd
    ).stdout.split("\n")
    return [int(word) for word in out[-3].split()], set(out[-2].split())


def test_evaluating_resolves_names_once_and_imports_what_it_needs(tmp_path):
    """One instrument, three line-ups (the mind, floor, ceiling), nothing of other instruments.

    A job of the usual size compiles nothing, and is written without pandas.
    """
    command = "allminds evaluate lambda-star --mind local-search"
    calls, modules = counted(command, tmp_path)
    assert (tmp_path / "runs/1/summary.json").exists()
    assert calls == [1, 3, 3]
    ours = {name for name in modules if name.startswith("allminds.")}
    rooms = {name.split(".")[1] for name in ours}
    assert not rooms & {"report", "bridges", "web", "papers", "statistics", "voting"}
    folders = {name.split(".")[2] for name in ours if name.startswith("allminds.instruments.")}
    assert not modules & (HEAVY - {"pyarrow"}) | modules & {"pyarrow.compute", "multiprocessing"}
    shared = {"aixi", "chance", "gradient", "rules", "tables", "unequal"}
    assert folders == {*shared, "lambda_star"}, "files that all share"
    assert not any("extensions" in name for name in ours)
    assert len(ours) < 82


def test_reporting_loads_no_compiler_and_no_drawing_library(tmp_path):
    counted("allminds evaluate lambda-star --mind local-search --episodes 44", tmp_path)
    _, modules = counted("allminds report runs/1", tmp_path)
    assert not modules & {"numba", "joblib", "altair", "vl_convert", "matplotlib"}
    assert len({name for name in modules if name.startswith("allminds.")}) < 140


PLAN = """
[[tests]]
instrument = "lambda-star"
minds = ["random", "local-search"]
episodes = 22
settings = { rows = 5, cols = 5, iterations = 10 }
[[tests]]
instrument = "prisoners-dilemma"
minds = ["tit-for-tat", "defect"]
against = "random"
episodes = 10
"""


def test_a_run_with_its_report_resolves_names_once(tmp_path):
    """Two instruments; two minds on one, and on the other two with an opponent each."""
    (tmp_path / "plan.toml").write_text(PLAN)
    calls, _ = counted("allminds run plan.toml --out run --jobs 1", tmp_path)
    assert calls == [2, 4, 6]
    calls, _ = counted("allminds run plan.toml -m cooperate --out more --jobs 1", tmp_path)
    assert calls == [2, 6, 9]  # it is looked for in both tests, and taken with an opponent in one


def test_scores_are_summed_on_the_way_to_disk_and_not_read_back(tmp_path, monkeypatch):
    from allminds.runs import store
    from allminds.runs.plan import read_plan
    from allminds.runs.run import How, run

    read = []
    monkeypatch.setattr(store, "read_part", lambda path, *_: read.append(path))
    (tmp_path / "plan.toml").write_text(PLAN)
    assert run(read_plan(tmp_path / "plan.toml"), tmp_path / "run", How(jobs=1)).summary()
    assert read == []


# ---------------------------------------------------------------- an instrument is one folder

FREE = ("instruments", "papers", "runs/plans")  # where instruments may be named
EXCEPTIONS = {}


def known_instruments(path: Path, names: set[str]) -> Iterator[str]:
    """Instruments that a file imports or names, in its code but not in its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            modules = [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.Constant) and node.value in names and id(node) not in docstrings:
            yield f"line {node.lineno}: '{node.value}'"
        for module in modules:
            if f"{module}.".startswith("allminds.instruments."):
                yield f"line {node.lineno}: import of {module}"


def test_nothing_outside_its_folder_knows_an_instrument_by_name():
    """What others need to know of it, its presentation tells."""
    from allminds import registry

    names = {name for name, cls in registry.instruments().items() if _is_ours(cls)}
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        if not where.startswith(FREE):
            found[where] = list(known_instruments(path, names))
    known = {where: lines for where, lines in found.items() if lines}
    assert {where: known[where] for where in known if where not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) <= set(known), "an exception that is no longer needed"


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("allminds.instruments.")


def test_evaluating_does_not_import_presentations():
    code = (
        "import allminds as am\nam.evaluate('c-test', ['random'], episodes=3, how=am.How(jobs=1))"
    )
    assert not [name for name in loaded_by(code) if name.endswith(".present")]


MINDS_AND_TOOLS = {"mind", "subject", "who", "maker", "machine", "member", "tool", "instrument"}


def read_by_name(path: Path) -> Iterator[str]:
    """Attributes of minds, subjects and instruments that a file reads without a contract."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr == "func":
            yield f"line {node.lineno}: .func"
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id == "getattr" and isinstance(node.args[1], ast.Constant):
            name = ast.unparse(node.args[0]).rpartition(".")[2].removesuffix("()")
            if name in MINDS_AND_TOOLS:
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_the_whole_contract_is_in_the_contract():
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name not in ("contracts.py", "registry.py") and (lines := list(read_by_name(path)))
    }
    assert found == {}


def test_a_word_has_one_meaning():
    """No class is called as two others are, and none has a name that says nothing."""
    names = collections.Counter(
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 2] == []
    vague = {"Place", "Scores", "Table", "Sums", "Walk"}
    assert vague.isdisjoint(names)
    assert names["Results"] == 1
