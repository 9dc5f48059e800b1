"""What an installation costs: megabytes on disk by package, and what imports cost beyond Python.

python benchmarks/install.py
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measure import Table, best_of
from rich.console import Console

AIM = 700  # megabytes of all packages together
SHOWN = 12  # packages; the rest are one line
IMPORTS = {
    "Python alone": "pass",
    "`import allminds`": "import allminds",
    "`allminds.evaluate` and `Results`": "import allminds; allminds.evaluate",
    "`allminds --help`": "import sys; sys.argv = ['allminds', '--help']; "
    "from allminds.cli import main; main()",
    "`import pandas`, for scale": "import pandas",
}


def needed(name: str = "allminds") -> Iterator[str]:
    """The packages that an installation without extras brings, allminds included."""
    waiting, seen = [name], set()
    while waiting:
        one = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if one in seen:
            continue
        seen.add(one)
        try:
            requires = importlib.metadata.requires(one) or []
        except importlib.metadata.PackageNotFoundError:  # for another system or Python
            continue
        yield one
        plain = (line for line in requires if "extra ==" not in line)
        waiting += [re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0] for line in plain]


def megabytes(name: str) -> float:
    """What a package's files take on disk; of one installed in place, its sources."""
    files = importlib.metadata.files(name) or []
    total = sum(
        Path(str(file.locate())).stat().st_size for file in files if file.locate().is_file()
    )
    if name == "allminds":
        import allminds

        folder = Path(allminds.__file__).parent
        inside = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
        total = sum(path.stat().st_size for path in inside if path.is_file())
    return total / 1e6


def sizes() -> Table:
    """The packages of an installation without extras, largest first."""
    found = sorted(((megabytes(name), name) for name in needed()), reverse=True)
    total = sum(size for size, _ in found)
    own = next(size for size, name in found if name == "allminds")
    rest = [size for size, name in found[SHOWN:] if name != "allminds"]
    rows = [[name, f"{size:.1f}", f"{size / total:.0%}"] for size, name in found[:SHOWN]]
    rows.append([f"{len(rest)} others", f"{sum(rest):.1f}", f"{sum(rest) / total:.0%}"])
    rows.append(["allminds itself", f"{own:.1f}", f"{own / total:.0%}"])
    rows.append(["together", f"{total:.1f}", f"<= {AIM} MB {'met' if total <= AIM else 'MISSED'}"])
    return Table(
        "Installation",
        "Megabytes on disk of what `pip install allminds` brings, without extras and bytecode.",
        ("package", "MB", "share"),
        rows,
    )


def imports(repeats: int) -> Table:
    """How long a fresh interpreter takes, as a multiple of one that does nothing."""
    spent = {name: best_of(partial(_python, code), repeats) for name, code in IMPORTS.items()}
    bare = spent["Python alone"]
    rows = [[name, f"{1000 * s:.0f}", f"{s / bare:.1f}"] for name, s in spent.items()]
    return Table(
        "Starting",
        "A fresh interpreter from start to end, the quickest of several; the ratio is to one that "
        "does nothing.",
        ("what", "ms", "times Python alone"),
        rows,
    )


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    for table in (sizes(), imports(5)):
        table.show(Console())
