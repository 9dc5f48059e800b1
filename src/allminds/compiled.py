"""How kernels are compiled and kept: the only module that imports Numba at the top.

Import it from `kernels.py` files alone, and import those where a kernel runs, so that
``import allminds`` and ``allminds --help`` stay quick.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from allminds import seeding


def cache_folder() -> Path:
    """The user's cache folder for allminds (compiled kernels, catalogues of patterns)."""
    home = Path(os.path.expanduser("~"))
    default = home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or default) / "allminds"


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of this package that a file imports at its top."""
    found = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
    places = [_PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py") for name in found]
    return tuple(place for place in places if place.is_file() and _PACKAGE in place.parents)


@cache
def _folder(path: Path) -> Path:
    """Where the kernels of a file are kept: by a hash of it and of all it imports.

    Numba notices a change only in the file of the function it cached, not in the functions that
    one calls.
    """
    known: dict[Path, None] = {}
    waiting = [path, Path(__file__)]
    while waiting:
        one = waiting.pop()
        if one not in known:
            known[one] = None
            waiting += _imports(one)
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for one in sorted(known):
        digest.update(one.read_bytes())
    folder = _kernels / digest.hexdigest()[:16]
    _used.add(folder)
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_PACKAGE = Path(__file__).parent
_kernels = cache_folder() / "kernels"
_cached = _writable(_kernels)
_used: set[Path] = set()  # folders that kernels were looked for in


def is_warm() -> bool:
    """Whether the kernels imported so far are compiled and on disk already."""
    return _cached and all(any(folder.rglob("*.nbi")) for folder in _used)


def is_cold() -> bool:
    """Whether nothing was ever compiled here, though there is a place to keep it."""
    return _cached and not any(_kernels.rglob("*.nbi"))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with the GIL released; kept on disk where the home can be written to."""
    if not _cached:
        return numba.njit(nogil=True)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_folder(Path(function.__code__.co_filename)))  # read right here
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before


def inlined(function: Callable[..., Any]) -> Any:
    """Compile into every caller: for a helper that takes named tuples of arrays.

    Handed over in a call, every array in the tuple has its references counted up and down.
    """
    return numba.njit(nogil=True, inline="always")(function)


def _small(function: Callable[..., Any]) -> Any:
    return numba.njit(nogil=True)(function)


fold, word, below, unit = seeding.functions(np.uint64, _small)
