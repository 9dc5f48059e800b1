"""LZ76 compiled: the bit-equal twin of `measures.lz76_reference`.

Every symbol keeps a row of bits, one per position where it has been seen. While a phrase grows, a
further row, `ends`, marks where its earlier occurrences could end next: AND with the row of the
symbol that comes, shift by one (Shift-And). When no bit is left the phrase occurs nowhere earlier,
so it is complete. A word of 64 positions costs one step, hence length² / 128 steps in all.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.core.compiled import kernel

Codes = NDArray[np.integer[Any]]
Bits = NDArray[np.uint64]

NONE = np.uint64(0)
ONE = np.uint64(1)
LAST = np.uint64(63)
ALL = np.uint64(2**64 - 1)


@kernel
def lz76_scratch(alphabet: int, length: int) -> Bits:
    """Allocate memory for `lz76_kernel`: codes below `alphabet`, up to `length` symbols."""
    return np.zeros((alphabet + 1, (length + 63) // 64), np.uint64)


@kernel
def lz76_kernel(codes: Codes, length: int, scratch: Bits) -> int:
    """Count the phrases K in the first `length` of the codes (0 of none).

    Nothing is checked: codes must be in 0..alphabet-1 of the scratch. The scratch holds zeros but
    for its last row, and does so again afterwards; it is made once and used for many sequences,
    but never by two threads at once.
    """
    if length <= 64:
        return _short(codes, length, scratch)
    return _long(codes, length, scratch)


@kernel
def _short(codes: Codes, length: int, scratch: Bits) -> int:
    """Count over up to 64 positions: a row is one word, and `ends` stays in a register."""
    phrases = 0
    ends = ALL
    here = ONE
    for n in range(length):
        code = np.uint64(codes[n])
        seen = scratch[code, 0]
        scratch[code, 0] = seen | here
        here <<= ONE
        ends &= seen
        if ends == NONE:
            phrases += 1
            ends = ALL
        else:
            ends <<= ONE
    for n in range(length):
        scratch[np.uint64(codes[n]), 0] = NONE
    # Within a phrase the shift has left the lowest bit empty.
    return phrases if ends == ALL else phrases + 1


@kernel
def _long(codes: Codes, length: int, scratch: Bits) -> int:
    """Count over any length, with as many words as there are positions so far."""
    phrases = 0
    ends = scratch[-1]
    complete = True
    for n in range(length):
        seen = scratch[np.uint64(codes[n])]
        words = (n >> 6) + 1
        if complete:
            ends[:words] = ALL
        left = NONE
        carry = NONE
        for w in range(words):
            matched = ends[w] & seen[w]
            left |= matched
            ends[w] = (matched << ONE) | carry
            carry = matched >> LAST
        seen[words - 1] |= ONE << np.uint64(n & 63)
        complete = left == NONE
        if complete:
            phrases += 1
    for n in range(length):
        scratch[np.uint64(codes[n]), n >> 6] = NONE
    return phrases if complete else phrases + 1
