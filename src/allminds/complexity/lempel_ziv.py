"""The phrases of Lempel and Ziv: K(μ) of the Λ* framework (P4 §4.2), and its cousin of 1978.

A sequence is read from left to right and cut into phrases, each new when it is cut; the more
phrases, the less the sequence repeats itself. `lz76_reference` is the definition, to be read;
`lz76` gives the same numbers from compiled code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error

EMPTY = "an empty sequence has no complexity: give at least one symbol"


def lz76_reference(symbols: Sequence[Hashable] | str) -> int:
    """K: the phrases in the exhaustive history of a sequence (Lempel and Ziv 1976).

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
    """Does the phrase of this size at `start` also begin at some earlier place?"""
    phrase = sequence[start : start + size]
    return any(sequence[place : place + size] == phrase for place in range(start))


def lz76(symbols: Sequence[Hashable] | str) -> int:
    """K of any symbols, a text being a sequence of characters; as `lz76_reference`, compiled."""
    numbers: dict[Hashable, int] = {}
    return lz76_codes(np.array([numbers.setdefault(s, len(numbers)) for s in symbols], np.int64))


def lz76_codes(codes: NDArray[np.integer[Any]]) -> int:
    """K of an array of integers; takes about (distinct codes) x length / 8 bytes of memory."""
    from allminds.complexity import kernels

    if len(codes) == 0:
        raise Error(EMPTY)
    if codes.min() < 0 or codes.max() >= len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
    codes = codes.astype(np.int64, casting="same_kind", copy=False)
    scratch = kernels.lz76_scratch(int(codes.max()) + 1, len(codes))
    return int(kernels.lz76_kernel(codes, len(codes), scratch))


def lz78(symbols: Sequence[Hashable] | str) -> int:
    """The phrases in the parse of Ziv and Lempel (1978).

    Each phrase is the shortest that differs from all phrases before it; a last one that the end
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
