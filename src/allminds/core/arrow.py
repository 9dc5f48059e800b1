"""Columns for Arrow, made from the memory they lie in.

`pyarrow.array` imports pandas, which takes half a second, to see whether it was given a part of
it. A run that is written needs none of that, so its columns are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def numbers(values: Any, valid: NDArray[np.bool_] | None = None) -> pa.Array:
    """Make a column of numbers; those that are not `valid` are missing."""
    import pyarrow as pa

    held = np.ascontiguousarray(values)
    gaps = None if valid is None or valid.all() else _bits(valid)
    return pa.Array.from_buffers(_type(held.dtype), len(held), [gaps, pa.py_buffer(held)])


def _type(kind: np.dtype[Any]) -> pa.DataType:
    import pyarrow as pa

    name = {"i": "int", "u": "uint", "f": "float"}[kind.kind] + str(8 * kind.itemsize)
    return getattr(pa, name)()


def _bits(valid: NDArray[np.bool_]) -> pa.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def words(values: Sequence[str | None]) -> pa.Array:
    """Make a column of words; None stands for a missing one."""
    import pyarrow as pa

    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(one) for one in encoded], out=ends[1:])
    valid = np.array([value is not None for value in values], np.bool_)
    gaps = None if valid.all() else _bits(valid)
    buffers = [gaps, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def nothing(rows: int) -> pa.Array:
    """Make a column of words that are all missing."""
    import pyarrow as pa

    return pa.nulls(rows, pa.string())


def codes(places: NDArray[np.signedinteger[Any]], known: Sequence[str]) -> pa.Array:
    """Make a column of words as places in a list of `known` ones: a dictionary array."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(numbers(places), words(known))


def spelt(places: NDArray[np.signedinteger[Any]], known: Sequence[str]) -> pa.Array:
    """Make a plain column of words, given as places in a list of `known` ones."""
    import pyarrow as pa

    if len(places) and (places == places[0]).all():  # as nearly always
        one = np.frombuffer(known[int(places[0])].encode(), np.uint8)
        ends = np.arange(len(places) + 1, dtype=np.int32) * len(one)
        buffers = [
            None,
            pa.py_buffer(ends.astype(np.int32)),
            pa.py_buffer(np.tile(one, len(places))),
        ]
        return pa.Array.from_buffers(pa.string(), len(places), buffers)
    return words([known[place] for place in places.tolist()])


def numbered(prefix: str, index: NDArray[np.int64]) -> pa.Array:
    """Make a column of words: a prefix, and then a number from 0 up; numbers never fall."""
    import pyarrow as pa

    head = np.frombuffer(prefix.encode(), np.uint8)
    parts, lengths, at, size = [], [], 0, 1
    while at < len(index):
        upto = int(np.searchsorted(index, 10**size)) if size < 19 else len(index)
        some = index[at:upto]
        text = np.empty((len(some), len(head) + size), np.uint8)
        text[:, : len(head)] = head
        for digit in range(size):
            text[:, len(head) + digit] = 48 + some // 10 ** (size - 1 - digit) % 10
        parts.append(text.reshape(-1))
        lengths.append(np.full(len(some), text.shape[1], np.int32))
        at, size = upto, size + 1
    ends = np.zeros(len(index) + 1, np.int32)
    if parts:
        np.cumsum(np.concatenate(lengths), out=ends[1:])
    data = np.concatenate(parts) if parts else np.empty(0, np.uint8)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(index), buffers)
