"""Compilation and caching of kernels: the only module that imports Numba at the top.

Import it from `kernels.py` files alone, and import those where a kernel runs, so that ``import
allminds`` and ``allminds --help`` stay quick.
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
from numpy.typing import NDArray

from allminds.core import seeding
from allminds.core.files import kernel_folder


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """List the files of this package that a file imports at its top."""
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
    """Locate the kernels of a file: by a hash of the file and of all it imports.

    Numba notices a change only in the file of the function it cached, not in the functions that
    this function calls.
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
        digest.update(os.path.relpath(one, _PACKAGE).encode())  # what is kept names its module
        digest.update(one.read_bytes())
    folder = _kernels / digest.hexdigest()[:16]
    _used[path] = folder
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_PACKAGE = Path(__file__).parents[1]
_kernels = kernel_folder()
_cached = _writable(_kernels)
_used: dict[Path, Path] = {}  # files with kernels -> folders that they were looked for in


def is_warm(near: Path = _PACKAGE) -> bool:
    """Check whether the kernels imported so far, of files in a folder, are compiled and on disk."""
    wanted = (folder for file, folder in _used.items() if near in file.parents)
    return _cached and all(any(folder.rglob("*.nbi")) for folder in wanted)


def can_keep() -> bool:
    """Check whether there is a place on disk where compiled kernels are kept."""
    return _cached


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with the GIL released, and cache it on disk if the home is writable."""
    before = numba.config.CACHE_DIR
    if _cached:  # it is read right here
        numba.config.CACHE_DIR = str(_folder(Path(function.__code__.co_filename)))
    try:
        return numba.njit(nogil=True, cache=_cached)(function)
    finally:
        numba.config.CACHE_DIR = before


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into every caller: for a helper that takes named tuples of arrays.

    In an ordinary call, the references of every array in the tuple are counted up and down.
    """
    return numba.njit(nogil=True, inline="always")(function)


def small(function: Callable[..., Any]) -> Any:
    """Compile a function that is kept on disk with its callers, not by itself."""
    return numba.njit(nogil=True)(function)


fold, word, below, unit = seeding.functions(np.uint64, small)


# ---------------------------------------------------------------- keys and strata


def _blake2b_start() -> tuple[tuple[np.uint64, ...], tuple[np.uint64, ...]]:
    """Return the chaining value h and the working vector v before the only block (RFC 7693)."""
    fractions = (
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    )  # fmt: skip
    h, v = list(fractions), list(fractions)
    h[0] ^= 0x01010000 ^ 64  # a tree of one node, no key, a digest of 64 bytes
    h[6] ^= int.from_bytes(seeding.PERSON[:8], "little")
    h[7] ^= int.from_bytes(seeding.PERSON[8:], "little")
    v[4] ^= 24  # bytes of the message
    v[6] ^= 0xFFFFFFFFFFFFFFFF  # the last block
    return tuple(map(np.uint64, h)), tuple(map(np.uint64, h + v))


_H, _V = _blake2b_start()
_0, _16, _24, _32, _63 = (np.uint64(n) for n in (0, 16, 24, 32, 63))
_1, _40, _48 = (np.uint64(n) for n in (1, 40, 48))


@small
def _mix(a, b, c, d, x, y):  # type: ignore[no-untyped-def]
    a = a + b + x
    d = d ^ a
    d = (d >> _32) | (d << _32)
    c = c + d
    b = b ^ c
    b = (b >> _24) | (b << _40)
    a = a + b + y
    d = d ^ a
    d = (d >> _16) | (d << _48)
    c = c + d
    b = b ^ c
    return a, (b >> _63) | (b << _1), c, d


@small
def _round(v, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15):  # type: ignore[no-untyped-def]
    a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 = v
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m0, m1)
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m2, m3)
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m4, m5)
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m6, m7)
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m8, m9)
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m10, m11)
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m12, m13)
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m14, m15)
    return a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3


@small
def _digest(s, t, r):  # type: ignore[no-untyped-def]
    """Compute `seeding._digest` of seed, stream and run as eight words.

    Each line is one round with its σ.
    """
    v = _V
    v = _round(v, s, t, r, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0)
    v = _round(v, _0, _0, _0, _0, _0, _0, _0, _0, t, _0, s, r, _0, _0, _0, _0)
    v = _round(v, _0, _0, _0, s, _0, r, _0, _0, _0, _0, _0, _0, _0, t, _0, _0)
    v = _round(v, _0, _0, _0, t, _0, _0, _0, _0, r, _0, _0, _0, _0, s, _0, _0)
    v = _round(v, _0, s, _0, _0, r, _0, _0, _0, _0, t, _0, _0, _0, _0, _0, _0)
    v = _round(v, r, _0, _0, _0, s, _0, _0, _0, _0, _0, _0, _0, _0, _0, t, _0)
    v = _round(v, _0, _0, t, _0, _0, _0, _0, _0, s, _0, _0, _0, _0, r, _0, _0)
    v = _round(v, _0, _0, _0, _0, _0, t, _0, _0, _0, s, _0, _0, _0, _0, r, _0)
    v = _round(v, _0, _0, _0, _0, _0, _0, s, _0, _0, r, _0, _0, t, _0, _0, _0)
    v = _round(v, _0, r, _0, _0, _0, _0, t, _0, _0, _0, _0, _0, _0, _0, _0, s)
    v = _round(v, s, t, r, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0, _0)
    v = _round(v, _0, _0, _0, _0, _0, _0, _0, _0, t, _0, s, r, _0, _0, _0, _0)
    return (
        _H[0] ^ v[0] ^ v[8], _H[1] ^ v[1] ^ v[9], _H[2] ^ v[2] ^ v[10], _H[3] ^ v[3] ^ v[11],
        _H[4] ^ v[4] ^ v[12], _H[5] ^ v[5] ^ v[13], _H[6] ^ v[6] ^ v[14], _H[7] ^ v[7] ^ v[15],
    )  # fmt: skip


@kernel
def _fill_keys(seed, exercises, stream, out):  # type: ignore[no-untyped-def]
    run, digest = -1, _digest(_0, _0, _0)
    for n in range(len(out)):
        if exercises[n] // seeding.SHARED != run:
            run = exercises[n] // seeding.SHARED
            digest = _digest(np.uint64(seed), np.uint64(stream), np.uint64(run))
        out[n] = digest[exercises[n] % seeding.SHARED]


def keys(seed: int, exercises: NDArray[np.int64], stream: int) -> seeding.Words:
    """Compute `seeding.keys`, with one digest for every eight consecutive exercises."""
    seeding.check_seed(seed)
    out = np.empty(len(exercises), np.uint64)
    _fill_keys(seed, exercises, stream, out)
    return out


@kernel
def _fill_strata(seed, exercises, count, key, out):  # type: ignore[no-untyped-def]
    order = np.empty(count, np.int64)
    run, step = -1, np.uint64(seeding.ORDER_OF_STRATA)
    for n in range(len(out)):
        if exercises[n] // count != run:
            run = exercises[n] // count
            _fill_keys(seed, np.array([run]), seeding.MAKING, key)
            for place in range(count):
                order[place] = place
            for place in range(count - 1, 0, -1):  # by the words in order, as `shuffle` does
                bits = word(key[0], step, np.uint64(count - 1 - place))
                other = np.int64(below(bits, np.uint64(place + 1)))
                order[place], order[other] = order[other], order[place]
        out[n] = order[exercises[n] % count]


def strata(seed: int, exercises: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Compute `seeding.stratum` for many exercises at once."""
    seeding.check_seed(seed)
    out = np.empty(len(exercises), np.int64)
    _fill_strata(seed, exercises, count, np.empty(1, np.uint64), out)
    return out
