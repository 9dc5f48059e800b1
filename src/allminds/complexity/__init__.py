"""Measures of the complexity of a sequence, and these by name, for commands and for plans.

Length after zlib, entropy, and phrases of Lempel and Ziv are here; program search is in `levin`.
"""

from __future__ import annotations

import functools
import math
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error, nearest

__all__ = [
    "MEASURES",
    "Measure",
    "growth",
    "lz76",
    "lz76_codes",
    "lz76_reference",
    "lz78",
    "measure",
    "search_space",
    "shannon",
    "zlib_length",
]


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


SHORT = 1000  # symbols that are counted without a kernel
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
    """Count the phrases K of any symbols, or characters of a text: a quick `lz76_reference`."""
    if 0 < len(symbols) <= SHORT:
        return _lz76_short(symbols)
    numbers: dict[Hashable, int] = {}
    return lz76_codes(np.array([numbers.setdefault(s, len(numbers)) for s in symbols], np.int64))


def lz76_codes(codes: NDArray[np.integer[Any]]) -> int:
    """Count the phrases K of an array of integers.

    The memory used is about (distinct codes) x length / 8 bytes.
    """
    if len(codes) == 0:
        raise Error(EMPTY)
    if len(codes) <= SHORT:
        return _lz76_short(codes.astype(np.int64, casting="same_kind", copy=False).tolist())
    from allminds.complexity import fast

    if codes.min() < 0 or codes.max() >= len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
    codes = codes.astype(np.int64, casting="same_kind", copy=False)
    scratch = fast.lz76_scratch(int(codes.max()) + 1, len(codes))
    return int(fast.lz76_kernel(codes, len(codes), scratch))


def _lz76_short(symbols: Iterable[Hashable]) -> int:
    """Count as the kernel in `fast` does, which explains it, with whole numbers for rows of bits.

    Loading the kernel takes longer than this does, unless the sequence is long.
    """
    rows: dict[Hashable, int] = {}
    phrases, ends, here = 0, -1, 1
    for symbol in symbols:
        seen = rows.get(symbol, 0)
        rows[symbol] = seen | here
        here <<= 1
        ends &= seen
        if ends == 0:
            phrases, ends = phrases + 1, -1
        else:
            ends <<= 1
    return phrases if ends == -1 else phrases + 1


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


# ---------------------------------------------------------------- measures by name


@dataclass(frozen=True)
class Measure:
    """A measure of complexity: a number for a sequence of symbols."""

    description: str
    function: Callable[[Sequence[Hashable]], float]
    of_text: bool = False  # measures the text as it was written, its commas included
    slow: bool = False  # only when asked for by name


def _zlib(symbols: Sequence[Hashable]) -> int:
    if isinstance(symbols, str | bytes):
        return zlib_length(symbols)
    return zlib_length(",".join(map(str, symbols)))


def _levin(symbols: Sequence[Hashable]) -> float:
    from allminds.complexity.levin import complexity

    return complexity("".join(map(str, symbols))).value


MEASURES: dict[str, Measure] = {
    "lz76": Measure("phrases of Lempel and Ziv 1976: K of a Λ* pattern", lz76),
    "lz78": Measure("phrases of Ziv and Lempel 1978", lz78),
    "zlib": Measure("bytes after zlib, level 6: K_approx of a Λ pattern", _zlib, of_text=True),
    "entropy": Measure("bits per symbol of the symbols' frequencies", shannon),
    "levin": Measure(
        "instructions + log2 steps of the cheapest program: k of a letter series", _levin, slow=True
    ),
    # A new measure is one more line here.
}


def measure(sequence: str, name: str) -> float | int:
    """Measure the complexity of a sequence written as text, by the measure of that name.

    With a comma in it the text is a list of symbols; without, each character is one.
    """
    if name not in MEASURES:
        raise Error(f"there is no measure '{name}': {nearest(name, MEASURES)}")
    chosen = MEASURES[name]
    symbols = _symbols(sequence)
    return chosen.function(sequence if chosen.of_text else symbols)


def growth(sequence: str, name: str) -> list[tuple[int, float]]:
    """Measure every beginning of a sequence, and pair it with its number of symbols."""
    measure(sequence, name)  # what is wrong with it is found here
    symbols = _symbols(sequence)
    joint = "," if "," in sequence else ""
    # one letter is no series, and a first symbol of several letters would be taken for several
    first = 2 if MEASURES[name].slow or len(symbols[0]) > 1 else 1
    return [(n, measure(joint.join(symbols[:n]), name)) for n in range(first, len(symbols) + 1)]


def _symbols(text: str) -> Sequence[str]:
    if not text:
        raise Error("the sequence is empty: write symbols such as 0110 or 7,3,4")
    if "," not in text:
        return text
    symbols = [symbol.strip() for symbol in text.split(",")]
    if "" in symbols:
        place = symbols.index("") + 1
        raise Error(f"symbol {place} of '{text}' is empty: write one symbol between two commas")
    return symbols
