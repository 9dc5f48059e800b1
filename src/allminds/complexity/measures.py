"""Complexity of strings: length after zlib, entropy, and the phrases of Lempel and Ziv."""

from __future__ import annotations

import functools
import math
import warnings
import zlib
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error

PATTERN = "20122220022222200222222002"  # the example of Insa-Cabrera et al. (2011), with its length
LENGTH = 19


def zlib_length(text: str | bytes, level: int = 6) -> int:
    """Compute K_approx: the bytes of the text after zlib.

    The default level gives the paper's 19 for its example.
    """
    _warn_once()
    return _length(text, level)


@functools.cache
def checks_out() -> bool:
    """Check whether this build of zlib gives the published 19; others, such as zlib-ng, may not."""
    return _length(PATTERN, 6) == LENGTH


def _length(text: str | bytes, level: int) -> int:
    return len(zlib.compress(text.encode() if isinstance(text, str) else text, level))


@functools.cache
def _warn_once() -> None:
    if not checks_out():
        warnings.warn(
            f"zlib {zlib.ZLIB_RUNTIME_VERSION} gives {_length(PATTERN, 6)} bytes, not {LENGTH}, "
            "for the example of the Λ paper: lengths will differ from published ones",
            stacklevel=3,
        )


# ---------------------------------------------------------------- entropies, in bits


def shannon(symbols: Sequence[Hashable] | str) -> float:
    """Compute the bits per symbol of the sequence's own distribution, whatever the order."""
    if len(symbols) == 0:
        raise Error("an empty sequence has no entropy: give at least one symbol")
    total = len(symbols)
    return sum(n / total * math.log2(total / n) for n in Counter(symbols).values())


def search_space(rows: int, cols: int) -> float:
    """Compute H(μ) = log2(mn(mn-1)), the bits that place Good and Evil on an m-by-n grid.

    After Chmait et al. (2016), section 4.3. Good and Evil are never in one cell, so Evil has one
    cell less to choose from.
    """
    cells = rows * cols
    if min(rows, cols) < 1 or cells < 2:
        raise Error(f"a grid of {rows} by {cols} has no room for Good and Evil: it needs 2 cells")
    return math.log2(cells * (cells - 1))


# ---------------------------------------------------------------- the phrases of Lempel and Ziv


EMPTY = "an empty sequence has no complexity: give at least one symbol"


def lz76_reference(symbols: Sequence[Hashable] | str) -> int:
    """Count the phrases K in the exhaustive history of a sequence (Lempel and Ziv 1976).

    Each phrase is the shortest that does not occur earlier; the earlier occurrence may overlap the
    phrase itself. The last phrase counts one even if the sequence ends before it is new, which is
    the count of Kaspar and Schuster (1987): 1·0·01·1110·1100·0010 has 6.
    """
    if len(symbols) == 0:
        raise Error(EMPTY)
    sequence = list(symbols)
    phrases = 0
    start = 0
    while start < len(sequence):
        size = 1
        while start + size <= len(sequence) and _occurs_earlier(sequence, start, size):
            size += 1
        phrases += 1
        start += size
    return phrases


def _occurs_earlier(sequence: list[Hashable], start: int, size: int) -> bool:
    """Check whether the phrase of this size at `start` also begins at some earlier place."""
    phrase = sequence[start : start + size]
    return any(sequence[place : place + size] == phrase for place in range(start))


def lz76(symbols: Sequence[Hashable] | str) -> int:
    """Count the phrases K of any symbols, or characters of a text; a compiled `lz76_reference`."""
    numbers: dict[Hashable, int] = {}
    return lz76_codes(np.array([numbers.setdefault(s, len(numbers)) for s in symbols], np.int64))


def lz76_codes(codes: NDArray[np.integer[Any]]) -> int:
    """Count the phrases K of an array of integers.

    The memory used is about (distinct codes) x length / 8 bytes.
    """
    from allminds.complexity import fast

    if len(codes) == 0:
        raise Error(EMPTY)
    if codes.min() < 0 or codes.max() >= len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
    codes = codes.astype(np.int64, casting="same_kind", copy=False)
    scratch = fast.lz76_scratch(int(codes.max()) + 1, len(codes))
    return int(fast.lz76_kernel(codes, len(codes), scratch))


def lz78(symbols: Sequence[Hashable] | str) -> int:
    """Count the phrases in the parse of Ziv and Lempel (1978).

    Each phrase is the shortest that differs from all phrases before it; a last phrase that the end
    cuts short counts one.
    """
    if len(symbols) == 0:
        raise Error(EMPTY)
    longer: dict[tuple[int, Hashable], int] = {}  # (phrase, next symbol) -> phrase; 0 is empty
    phrase = 0
    for symbol in symbols:
        known = longer.get((phrase, symbol))
        if known is None:
            longer[phrase, symbol] = len(longer) + 1
            phrase = 0
        else:
            phrase = known
    return len(longer) + (phrase != 0)
