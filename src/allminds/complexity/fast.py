"""Compiled measures of strings: LZ76, and the length of a short text after deflate.

LZ76 is the bit-equal twin of `lz76_reference`. Every symbol keeps a row of bits, one per
position where it has been seen. While a phrase grows, a further row, `ends`, marks where its
earlier occurrences could end next: AND with the row of the symbol that comes, shift by one
(Shift-And). When no bit is left the phrase occurs nowhere earlier, so it is complete. A word of 64
positions costs one step, hence length² / 128 steps in all.

The length after deflate is K_approx without calling zlib, which takes longer than playing an
exercise does: a twin of what zlib does at level 6 with one block (RFC 1951), its lazy search for
repeats, then the cheaper of its fixed code and a Huffman code of its own, whose description counts
as well. The compiled form of Λ checks on start that the zlib in use agrees.
"""

# mypy: disable-error-code="no-any-return"
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

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
    if length <= 128:
        return _double(codes, length, scratch)
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
def _double(codes: Codes, length: int, scratch: Bits) -> int:
    """Count over up to 128 positions: as `_short`, with two words."""
    phrases = 0
    low, high = ALL, ALL
    here, there = ONE, NONE
    for n in range(length):
        seen = scratch[np.uint64(codes[n])]
        low &= seen[0]
        high &= seen[1]
        seen[0] |= here
        seen[1] |= there
        here, there = here << ONE, (there << ONE) | (here >> LAST)
        if low | high == NONE:
            phrases += 1
            low, high = ALL, ALL
        else:
            low, high = low << ONE, (high << ONE) | (low >> LAST)
    for n in range(length):
        scratch[np.uint64(codes[n])][:2] = NONE
    return phrases if low == ALL else phrases + 1


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


# ---------------------------------------------------------------- deflate


LONGEST = 200  # bytes it is sure of; longer texts are left to zlib
_GOOD, _LAZY, _NICE, _CHAIN = 8, 16, 128, 128  # zlib's limits at level 6
_LITERALS, _DISTANCES, _LENGTHS = 286, 30, 19  # symbols of the three codes
_END = 256
_HEAD = 84  # bits that the description of a code of its own takes at least
_SHARE = np.arange(LONGEST + 2) * np.log2(np.maximum(1, np.arange(LONGEST + 2)))  # n log2 n
_ORDER = np.array([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])


# Rows of the one array of memory, for a tuple of arrays would be counted in and out of every call.
_LITERAL, _DISTANCE, _LENGTH = 0, 1, 2  # how often each symbol of the three codes is used
_LITERAL_BITS, _DISTANCE_BITS, _LENGTH_BITS = 3, 4, 5  # of the codes of its own
_HEAP, _DEPTH, _WEIGHT, _PARENT, _BITS = 6, 7, 8, 9, 10
_TOKENS, _FEW = 11, 12


@kernel
def deflate_scratch():
    """Allocate the memory for `deflate_length`."""
    return np.zeros((13, 2 * _LITERALS + 1), np.int32)


# ---------------------------------------------------------------- repeats


@kernel
def _length_code(length):
    """Encode the length of a repeat as its symbol and its number of extra bits."""
    if length == 258:
        return 285, 0
    rest = length - 3
    if rest < 8:
        return 257 + rest, 0
    extra = 0
    while rest >> extra >= 8:
        extra += 1
    return 257 + 4 * extra + (rest >> extra), extra


@kernel
def _distance_code(distance):
    """Encode the distance of a repeat as its symbol and its number of extra bits."""
    rest = distance - 1
    if rest < 4:
        return rest, 0
    extra = 0
    while rest >> extra >= 4:
        extra += 1
    return 2 * extra + (rest >> extra), extra


@kernel
def _tokens(text, begin, size, memory):
    """Cut a text into bytes and repeats: (bits in the fixed code, extra bits in any, symbols).

    The symbols go to the memory, a repeat being its length and then its distance. The search is
    zlib's: a byte waits for a longer repeat at the next place; the newest of the longest counts,
    of so many tried; and no repeat begins at the very first byte.
    """
    fixed, more, used, at = 7, 0, 0, 0
    length, where = 2, -1  # of the repeat that begins at `at`
    pending = False  # whether the byte before waits for a better repeat
    while at < size:
        before, before_where = length, where
        length, left = 2, size - at
        if left >= 3 and before < _LAZY:
            length, where = before, -1
            tries = _CHAIN >> 2 if before >= _GOOD else _CHAIN
            here, start = begin + at, begin + at - 1
            while start > begin and tries > 0 and (where < 0 or length < min(_NICE, left)):
                same = 0
                while same < left and text[start + same] == text[here + same]:
                    same += 1
                if same > length:
                    length, where = same, start - begin
                tries -= same >= 3
                start -= 1
        if before >= 3 and length <= before:
            symbol, extra = _length_code(before)
            other, further = _distance_code(at - 1 - before_where)
            memory[_TOKENS, used], memory[_TOKENS, used + 1] = symbol, other
            fixed += 5 + (7 if symbol < 280 else 8)
            more += extra + further
            used += 2
            at += before - 1
            pending, length = False, 2
        else:
            if pending:
                memory[_TOKENS, used] = text[begin + at - 1]
                fixed += 8
                used += 1
            pending = True
            at += 1
    if pending:
        memory[_TOKENS, used] = text[begin + size - 1]
        fixed += 8
        used += 1
    return fixed + more, more, used


@kernel
def _tally(memory, used):
    """Count how often each symbol is used."""
    memory[_LITERAL, :_LITERALS] = 0
    memory[_DISTANCE, :_DISTANCES] = 0
    memory[_LITERAL, _END] = 1
    k = 0
    while k < used:
        symbol = memory[_TOKENS, k]
        memory[_LITERAL, symbol] += 1
        if symbol > _END:
            k += 1
            memory[_DISTANCE, memory[_TOKENS, k]] += 1
        k += 1


# ---------------------------------------------------------------- codes


@kernel
def _smaller(weight, depth, n, m):
    return weight[n] < weight[m] or (weight[n] == weight[m] and depth[n] <= depth[m])


@kernel
def _sink(heap, size, k, weight, depth):
    """Restore the heap below place k."""
    value = heap[k]
    j = 2 * k
    while j <= size:
        if j < size and _smaller(weight, depth, heap[j + 1], heap[j]):
            j += 1
        if _smaller(weight, depth, value, heap[j]):
            break
        heap[k] = heap[j]
        k = j
        j *= 2
    heap[k] = value


@kernel
def _huffman(memory, used, code, symbols):
    """Build zlib's Huffman code, the bits of every symbol: (last symbol, longest).

    See zlib's `build_tree`. How often symbols are used stands in row `used` of the memory, the bits
    go to row `code`.
    """
    counts, code_bits = memory[used], memory[code]
    heap, depth, weight = memory[_HEAP], memory[_DEPTH], memory[_WEIGHT]
    parent, bits = memory[_PARENT], memory[_BITS]
    size, last = 0, -1
    code_bits[: symbols + 1] = 0
    depth[:symbols] = 0
    weight[:symbols] = counts[:symbols]
    for n in range(symbols):
        if counts[n]:
            size += 1
            heap[size] = last = n
    while size < 2:  # a code has two symbols at least
        last, n = (last + 1, last + 1) if last < 2 else (last, 0)
        size += 1
        heap[size] = n
        weight[n] = 1
    for k in range(size // 2, 0, -1):
        _sink(heap, size, k, weight, depth)
    node = symbols
    while size >= 2:
        n = heap[1]
        heap[1] = heap[size]
        size -= 1
        _sink(heap, size, 1, weight, depth)
        m = heap[1]
        weight[node] = weight[n] + weight[m]
        depth[node] = max(depth[n], depth[m]) + 1
        parent[n] = parent[m] = node
        heap[1] = node
        node += 1
        _sink(heap, size, 1, weight, depth)
    bits[node - 1] = longest = 0
    for n in range(node - 2, symbols - 1, -1):
        bits[n] = bits[parent[n]] + 1
    for n in range(last + 1):
        if weight[n]:
            code_bits[n] = bits[parent[n]] + 1
            longest = max(longest, code_bits[n])
    return last, longest


@kernel
def _describe(code_bits, last, lengths):
    """Count the symbols that describe a code, runs taken together; see zlib's `scan_tree`."""
    before, count = -1, 0
    most, least = (138, 3) if code_bits[0] == 0 else (7, 4)
    for n in range(last + 1):
        here = code_bits[n]
        following = code_bits[n + 1] if n < last else -1
        count += 1
        if count < most and here == following:
            continue
        if count < least:
            lengths[here] += count
        elif here != 0:
            if here != before:
                lengths[here] += 1
            lengths[16] += 1
        elif count <= 10:
            lengths[17] += 1
        else:
            lengths[18] += 1
        count, before = 0, here
        most, least = (138, 3) if following == 0 else (6, 3) if here == following else (7, 4)


@kernel
def _own_bits(memory):
    """Count the bits of the text in its own code and of the code; -1 if a code is too deep."""
    last, longest = _huffman(memory, _LITERAL, _LITERAL_BITS, _LITERALS)
    last_distance, longest_too = _huffman(memory, _DISTANCE, _DISTANCE_BITS, _DISTANCES)
    lengths, length_bits = memory[_LENGTH], memory[_LENGTH_BITS]
    lengths[:_LENGTHS] = 0
    _describe(memory[_LITERAL_BITS], last, lengths)
    _describe(memory[_DISTANCE_BITS], last_distance, lengths)
    _, deepest = _huffman(memory, _LENGTH, _LENGTH_BITS, _LENGTHS)
    if longest > 15 or longest_too > 15 or deepest > 7:
        return -1
    bits = 14
    for n in range(last + 1):
        bits += memory[_LITERAL, n] * memory[_LITERAL_BITS, n]
    for n in range(last_distance + 1):
        bits += memory[_DISTANCE, n] * memory[_DISTANCE_BITS, n]
    for n in range(_LENGTHS):
        extra = 2 if n == 16 else 3 if n == 17 else 7 if n == 18 else 0
        bits += lengths[n] * (length_bits[n] + extra)
    shown = 18
    while shown > 3 and length_bits[_ORDER[shown]] == 0:
        shown -= 1
    return bits + 3 * (shown + 1)


@kernel
def _least(memory, used):
    """Bound from below the bits of the symbols in an own code: their entropy, and the distances.

    Most texts are too short for such a code to pay; this finds out without making it. All repeats
    are taken for one symbol, and bytes that share their last four bits for another.
    """
    counts, repeats, k = memory[_FEW], 0, 0
    counts[:16] = 0
    while k < used:
        symbol = memory[_TOKENS, k]
        if symbol > _END:
            repeats += 1
            k += 1
        else:
            counts[symbol & 15] += 1
        k += 1
    total = used - repeats + 1
    bits = _SHARE[total] - _SHARE[repeats]
    for n in range(16):
        bits -= _SHARE[counts[n]]
    return np.int64(bits) + repeats + (16 if repeats < 4 else 0)  # few distances: one has 1 bit


@kernel
def deflate_length(text, begin, size, memory):
    """Count the bytes of a part of a text (bytes below 144) after zlib; -1 if not sure."""
    if size > LONGEST:
        return -1
    if size < 5:  # nothing can repeat
        return size + 8
    fixed, extra, used = _tokens(text, begin, size, memory)
    best = (fixed + 10) >> 3
    if fixed > _HEAD + used + extra and fixed > _HEAD + extra + _least(memory, used):
        _tally(memory, used)
        own = _own_bits(memory)
        if own < 0:
            return -1
        best = min(best, (own + extra + 10) >> 3)
    if size + 4 <= best:  # stored as it is
        best = size + 5
    return best + 6
