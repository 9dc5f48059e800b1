"""One counter-based source of randomness for Python, NumPy and Numba.

Every random word is a function of where it is used and of nothing else::

    word(seed, exercise, stream, step, j)

so there is no generator to carry about, no state to save, and a result cannot depend on the
order, the machine or the number of jobs in which exercises were played. The function is a chain
of splitmix64 finalisers (Steele, Lea and Flood 2014), one per argument.

The streams of an exercise: `MAKING` builds it, `WORLD` moves its environment, and the mind in
slot s draws from stream ``MINDS + s``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAKING, WORLD, MINDS = 0, 1, 2

Words = NDArray[np.uint64]


class Functions(NamedTuple):
    """The four functions all randomness is made of."""

    fold: Callable[[Any, Any], Any]  # (hash, number) -> hash
    word: Callable[[Any, Any, Any], Any]  # (key, step, j) -> 64 random bits
    below: Callable[[Any, Any], Any]  # (word, n) -> 0..n-1
    unit: Callable[[Any], Any]  # word -> [0, 1)


def functions(uint: Callable[[int], Any], compiled: Callable[[Any], Any]) -> Functions:
    """The source of the functions, written once: for `int`, for NumPy arrays and for Numba."""
    golden, mask = uint(0x9E3779B97F4A7C15), uint(0xFFFFFFFFFFFFFFFF)
    first, second = uint(0xBF58476D1CE4E5B9), uint(0x94D049BB133111EB)
    s11, s27, s30, s31, s32, one = (uint(n) for n in (11, 27, 30, 31, 32, 1))

    @compiled
    def fold(h, x):  # type: ignore[no-untyped-def]
        z = (h + golden * (x + one)) & mask
        z = ((z ^ (z >> s30)) * first) & mask
        z = ((z ^ (z >> s27)) * second) & mask
        return z ^ (z >> s31)

    @compiled
    def word(key, step, j):  # type: ignore[no-untyped-def]
        return fold(key, (step << s32) | j)

    @compiled
    def below(bits, n):  # type: ignore[no-untyped-def]
        return ((bits >> s32) * n) >> s32

    @compiled
    def unit(bits):  # type: ignore[no-untyped-def]
        return (bits >> s11) * 2.0**-53

    return Functions(fold, word, below, unit)


def _as_it_is(function: Any) -> Any:
    return function


_python = functions(int, _as_it_is)
_numpy = functions(np.uint64, _as_it_is)


def key(seed: int, exercise: int, stream: int) -> int:
    """The key of one stream of one exercise: what is left is to choose step and j."""
    fold = _python.fold
    return int(fold(fold(fold(0, seed), exercise), stream))


def keys(seed: int, exercises: NDArray[np.integer[Any]], stream: int) -> Words:
    """`key` for many exercises at once."""
    start = np.array([_python.fold(0, seed)], np.uint64)
    by_exercise = _numpy.fold(start, exercises.astype(np.uint64))
    result: Words = _numpy.fold(by_exercise, np.array([stream], np.uint64))
    return result


def words(stream_keys: Words, step: int, j: int = 0) -> Words:
    """`Random.word(j)` at one step, for many exercises at once."""
    place = np.array(
        [(step << 32) | j], np.uint64
    )  # an array, for NumPy warns of scalars that wrap
    result: Words = _numpy.fold(stream_keys, place)
    return result


def below(bits: Words, n: Any) -> Words:
    """`Random.below` for many words at once; n may be an array too."""
    result: Words = _numpy.below(bits, np.asarray(n, np.uint64))
    return result


class Random:
    """The words of one stream at one step: an argument, never a state.

    ``word(j)`` is the same 64 bits however often it is asked for; ask for another j to get
    another word.
    """

    __slots__ = ("key", "step")

    def __init__(self, key: int, step: int = 0) -> None:
        self.key = key
        self.step = step

    def word(self, j: int = 0) -> int:
        """64 random bits."""
        return int(_python.word(self.key, self.step, j))

    def below(self, n: int, j: int = 0) -> int:
        """A number in 0..n-1, uniform up to n in 2^32."""
        return int(_python.below(self.word(j), n))

    def unit(self, j: int = 0) -> float:
        """A number in [0, 1)."""
        return float(_python.unit(self.word(j)))

    def at(self, step: int) -> Random:
        """The same stream at another step."""
        return Random(self.key, step)

    def part(self, number: int) -> Random:
        """A stream of its own for a part of a mind, such as a member that votes."""
        return Random(int(_python.fold(self.key, number)), self.step)
