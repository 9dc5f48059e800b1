"""One counter-based source of randomness for Python, NumPy and Numba.

Every random word is a function of where it is used and of nothing else::

    word(seed, exercise, stream, step, j)

so there is no generator to carry about, no state to save, and a result cannot depend on the
order, the machine or the number of jobs in which exercises were played.

The streams of an exercise: `MAKING` builds it, `WORLD` moves its environment, and the mind in
slot s draws from stream ``MINDS + s``, in whichever line-up it is.

**Keys are one-way.** The key of stream t of exercise e is 64-bit word e mod 8, little-endian, of

    BLAKE2b-512(seed, t, e // 8 as three little-endian 64-bit words; person = "allminds streams")

so that eight exercises share one digest, and a mind that knows the key of one stream, or words
drawn from it, knows nothing of the seed or of any other stream. (A mind that guesses the seed can
compute all words: a test that minds may want to cheat needs a seed of 60 random bits, not 1.)

**Words** of a stream come from its key by a splitmix64 finaliser (Steele, Lea and Flood 2014),
which can be inverted: a mind's words tell its own key, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from functools import lru_cache
from hashlib import blake2b, scrypt
from struct import Struct
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error

MAKING, WORLD, MINDS = 0, 1, 2
ORDER_OF_STRATA = 0xFFFFFFFF  # the step of the making stream that `stratum` draws at

PERSON = b"allminds streams"  # 16 bytes: BLAKE2b's personalisation
SHARED = 8  # exercises whose keys are in one digest
_ENCODED = Struct("<QQQ")
_MOST = 2**32

Words = NDArray[np.uint64]
T = TypeVar("T")


class Functions(NamedTuple):
    """The four functions that random words are made with."""

    fold: Callable[[Any, Any], Any]  # (hash, number) -> hash
    word: Callable[[Any, Any, Any], Any]  # (key, step, j) -> 64 random bits
    below: Callable[[Any, Any], Any]  # (word, n) -> 0..n-1
    unit: Callable[[Any], Any]  # word -> [0, 1)


def functions(uint: Callable[[int], Any], compiled: Callable[[Any], Any]) -> Functions:
    """Build the four functions from one source: for `int`, for NumPy arrays or for Numba."""
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


# ---------------------------------------------------------------- keys


def check_seed(seed: int) -> None:
    """Reject a seed that is not a whole number from 0 to 2^63 - 1."""
    if not (isinstance(seed, int | np.integer) and 0 <= seed < 2**63):
        raise Error(f"a seed is a whole number from 0 to 2^63 - 1, not {seed!r}")


def _digest(seed: int, stream: int, run: int) -> bytes:
    """Compute the keys of one stream for exercises 8 run, 8 run + 1, … 8 run + 7."""
    return blake2b(_ENCODED.pack(seed, stream, run), digest_size=64, person=PERSON).digest()


_kept_digest = lru_cache(maxsize=256)(_digest)  # eight exercises, one after the other, share one


def key(seed: int, exercise: int, stream: int) -> int:
    """Compute the key of one stream of one exercise, from which step and j select words."""
    check_seed(seed)
    run, place = divmod(exercise, SHARED)
    return int.from_bytes(_kept_digest(seed, stream, run)[8 * place : 8 * place + 8], "little")


def keys(seed: int, exercises: NDArray[np.integer[Any]], stream: int) -> Words:
    """Compute `key` for many exercises at once."""
    check_seed(seed)
    runs, which = np.unique(np.asarray(exercises) // SHARED, return_inverse=True)
    digests = b"".join(_digest(seed, stream, run) for run in runs.tolist())
    table = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, SHARED)
    result: Words = table[which.reshape(-1), np.asarray(exercises) % SHARED]
    return result


def words(stream_keys: Words, step: int, j: int = 0) -> Words:
    """Compute `Random.word_at(j)` at one step, for many exercises at once."""
    place = np.array(
        [(step << 32) | j], np.uint64
    )  # an array, for NumPy warns of scalars that wrap
    result: Words = _numpy.fold(stream_keys, place)
    return result


def below(bits: Words, n: Any) -> Words:
    """Compute `Random.below` for many words at once; n may be an array too."""
    result: Words = _numpy.below(bits, np.asarray(n, np.uint64))
    return result


def units(bits: Words) -> NDArray[np.float64]:
    """Compute `Random.unit` for many words at once."""
    result: NDArray[np.float64] = _numpy.unit(bits)
    return result


# ---------------------------------------------------------------- words


class Random:
    """The words of one stream at one step.

    `word`, `unit`, `below` and what is made of them advance: every call draws the next word, and
    every step begins with word 0, so that a mind that draws once a step has no more to know.
    `word_at`, `unit_at` and `below_at` read the word at a place j, the same however often, and do
    not advance: for kernels and what has a compiled twin. Use one kind or the other in a step.

    Parameters
    ----------
    key : int
        The key of the stream; minds are given theirs.
    step : int
        The step whose words are read.

    Examples
    --------
    >>> from allminds import Random
    >>> random = Random(key=7)
    >>> draws = [random.below(6) for _ in range(5)]
    >>> again = Random(key=7)
    >>> draws == [again.below(6) for _ in range(5)]
    True
    """

    __slots__ = ("drawn", "key", "step")

    def __init__(self, key: int, step: int = 0) -> None:
        self.key = key
        self.step = step
        self.drawn = 0  # words drawn at this step so far

    # ------------------------------------------------------------ the next word

    def word(self) -> int:
        """Draw 64 random bits."""
        j = self.drawn
        self.drawn = j + 1
        return self.word_at(j)

    def below(self, n: int) -> int:
        """Draw a number from 0..n-1, uniform up to n in 2^32."""
        _check_count(n)
        return int(_python.below(self.word(), n))

    def unit(self) -> float:
        """Draw a number from [0, 1)."""
        return float(_python.unit(self.word()))

    def choice(self, sequence: Sequence[T]) -> T:
        """Draw one element of a sequence."""
        if len(sequence) == 0:
            raise Error("random.choice needs at least one element to choose from, not none")
        return sequence[self.below(len(sequence))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put a list into a random order, in place."""
        for place in range(len(items) - 1, 0, -1):
            other = self.below(place + 1)
            items[place], items[other] = items[other], items[place]

    def permutation(self, n: int) -> list[int]:
        """Draw the numbers 0..n-1 in a random order."""
        if n < 0:
            raise Error(f"random.permutation needs a number from 0 up, not {n!r}")
        order = list(range(n))
        self.shuffle(order)
        return order

    def generator(self) -> np.random.Generator:
        """Make a NumPy generator from the next word; the next call makes another one.

        NumPy may change what the methods of a generator return from one release to another.
        """
        return np.random.Generator(np.random.PCG64(self.word()))

    # ------------------------------------------------------------ the word at a place

    def word_at(self, j: int) -> int:
        """Read word j: 64 random bits."""
        return int(_python.word(self.key, self.step, j))

    def below_at(self, n: int, j: int) -> int:
        """Read word j as a number in 0..n-1."""
        _check_count(n)
        return int(_python.below(self.word_at(j), n))

    def unit_at(self, j: int) -> float:
        """Read word j as a number in [0, 1)."""
        return float(_python.unit(self.word_at(j)))

    # ------------------------------------------------------------ other words

    def at_step(self, step: int) -> Random:
        """Return the same stream at another step, or at the beginning of this one."""
        return Random(self.key, step)

    def part(self, number: int) -> Random:
        """Derive a stream for a part of a mind, such as a member that votes."""
        return Random(int(_python.fold(self.key, number)), self.step)


class Withheld(Random):
    """A stream without words, for what should need none: every draw raises `error`."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        super().__init__(0)
        self.error = error

    def word_at(self, _j: int) -> int:
        raise self.error

    def at_step(self, _step: int) -> Random:
        return self

    def part(self, _number: int) -> Random:
        return self


class Noted(Random):
    """Randomness that notes words that are read twice, or too late, for `check_mind`."""

    __slots__ = ("found", "over", "used")

    def __init__(self, random: Random, found: list[str], used: dict[tuple[int, int], None]) -> None:
        super().__init__(random.key, random.step)
        self.found, self.used, self.over = found, used, False

    def word_at(self, j: int) -> int:
        if self.over:
            self.found.append(
                "draws from the 'random' of an earlier step; draw from the one that 'act' is given"
            )
        elif (self.key, j) in self.used:
            self.found.append(
                f"reads random word {j} twice in one step, so that two choices are one; draw with "
                "unit(), below(n) or choice(sequence), which advance"
            )
        self.used[self.key, j] = None
        return super().word_at(j)

    def at_step(self, step: int) -> Random:
        return Noted(super().at_step(step), self.found, {})

    def part(self, number: int) -> Random:
        return Noted(super().part(number), self.found, self.used)


def _check_count(n: int) -> None:
    if not 0 < n <= _MOST:
        raise Error(f"random.below needs a number from 1 to 2^32, not {n!r}")


# ---------------------------------------------------------------- strata


def stratum(seed: int, exercise: int, count: int) -> int:
    """Assign an exercise to one of `count` strata: each comes once in every run, in random order.

    Exercises count·r … count·r + count - 1 are run r, and its order is drawn from the making stream
    of exercise r at a step of its own. So the first n exercises are an unbiased sample of the
    strata whatever n is.
    """
    run, place = divmod(exercise, count)
    return _order(seed, run, count)[place]


@lru_cache(maxsize=1024)
def _order(seed: int, run: int, count: int) -> tuple[int, ...]:
    return tuple(Random(key(seed, run, MAKING), ORDER_OF_STRATA).permutation(count))


# ---------------------------------------------------------------- numbers for what is shown


def fingerprint(shown: Any) -> int:
    """Hash what is shown to 63 bits, so that repeats of an item can be recognized."""
    digest = blake2b(str(shown).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def numbered(series: str, number: Any) -> Any:
    """Hash each number of a series to 63 bits, for one number or an array of numbers."""

    start = np.array([fingerprint(series)], np.uint64)
    mixed = start + np.atleast_1d(np.asarray(number, np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    found = (mixed >> np.uint64(1)).astype(np.int64)
    return int(found[0]) if np.ndim(number) == 0 else found


# ---------------------------------------------------------------- seeds in ids


SALT = b"the seed of a series of exercises"


@lru_cache(maxsize=256)
def public_seed(seed: int) -> str:
    """Name a seed in ids: as it is, or by a hash from 2**32 on, since it may then be a secret.

    Whoever knows the seed of a study can work out its exercises. The hash is slow on purpose.
    """
    if seed < 1 << 32:
        return str(seed)
    return "x" + scrypt(str(seed).encode(), salt=SALT, n=4096, r=8, p=1, dklen=8).hex()
