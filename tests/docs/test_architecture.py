"""The page on the architecture says what each folder imports; the imports say the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "allminds"
EVERYBODY = {"contracts", "registry", "core"}  # which every folder may import


def stated() -> dict[str, tuple[set[str], str]]:
    """Folders or files of a row -> what its last column lists."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| folder | what it is for")[2].partition("\n\n")[0]
    found = {}
    for row in table.splitlines()[2:]:
        where, _, imports = (cell.strip() for cell in row.strip("|").split("|"))
        found[where] = set(re.findall(r"`([\w.]+?)(?:\.py|/)?`", imports)), imports
    return found


def files_of(where: str) -> Iterator[Path]:
    for name in re.findall(r"`([^`]+)`", where):
        yield from [SOURCE / name] if name.endswith(".py") else (SOURCE / name).rglob("*.py")


def imported(path: Path) -> Iterator[str]:
    """The folders that a file imports from, wherever in it; not those of annotations alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if id(node) in typed:
            continue
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{one.name}" for one in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("allminds."))


@pytest.mark.parametrize("where", stated())
def test_a_folder_imports_what_the_page_says_and_nothing_else(where):
    listed, words = stated()[where]
    if words.startswith("anything"):
        return
    own = {name.removesuffix(".py").rstrip("/") for name in re.findall(r"`([^`]+)`", where)}
    there = {room for path in files_of(where) for room in imported(path)}
    assert there - own - EVERYBODY == listed


def test_the_page_has_a_row_for_every_folder_and_file():
    rooms = {name for where in stated() for name in re.findall(r"`([^`]+)`", where)}
    there = {
        path.name + "/" * path.is_dir()
        for path in SOURCE.iterdir()
        if not path.name.startswith("__") and path.suffix in ("", ".py")
    }
    assert rooms == there
