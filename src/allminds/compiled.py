"""How kernels are compiled and kept: the only module that imports Numba at the top.

Import it from `kernels.py` files alone, and import those where a kernel runs, so that
``import allminds`` and ``allminds --help`` stay quick.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
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


def _source_hash() -> str:
    """A hash of every source file that holds kernels.

    Numba notices a change only in the file of the function it cached, not in the functions that
    one calls; so the folder is keyed by all of them.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if path.name in ("seeding.py", "compiled.py") or b"allminds.compiled" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_folder = cache_folder() / "kernels" / _source_hash()
_cached = _writable(_folder)


def is_warm() -> bool:
    """Whether compiled kernels are on disk already."""
    return _cached and any(_folder.rglob("*.nbi"))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with the GIL released; kept on disk where the home can be written to."""
    if not _cached:
        return numba.njit(nogil=True)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_folder)  # read once, while decorating
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
