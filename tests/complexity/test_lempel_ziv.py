"""LZ76 and LZ78: known values, and three definitions of LZ76 that must agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds.complexity import lz76, lz76_codes, lz76_reference, lz78
from allminds.core.errors import Error

LENGTHS = st.one_of(st.integers(1, 70), st.sampled_from([63, 64, 65, 127, 128, 129, 300]))
EDGES = [1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 300]


@st.composite
def sequences(draw: st.DrawFn) -> list[int]:
    """Random, or cyclic as the patterns of Λ* are, over an alphabet of 1 to 400 symbols."""
    length = draw(LENGTHS)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    period = draw(st.sampled_from([length, 1 + length // 2, 1 + length // 7]))
    alphabet = draw(st.sampled_from([1, 2, 3, 5, 26, 100, 400]))
    return [int(s) for s in np.resize(random.integers(0, alphabet, period), length)]


def by_search(sequence: list[int]) -> int:
    """A phrase goes on while Python finds it in all that stands before its last symbol."""
    text = "".join(map(chr, sequence))
    phrases, start = 0, 0
    for end in range(1, len(text) + 1):
        if text[start:end] not in text[: end - 1]:
            phrases, start = phrases + 1, end
    return phrases + (start < len(text))


def by_longest_match(sequence: list[int]) -> int:
    """As Kaspar and Schuster count: from each start the longest match with any place before it."""
    phrases, start = 0, 0
    while start < len(sequence):
        longest = 0
        for place in range(start):
            pairs = zip(sequence[place:], sequence[start:], strict=False)
            longest = max(
                longest, sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], pairs))
            )
        phrases, start = phrases + 1, start + longest + 1
    return phrases


@pytest.mark.parametrize("count", [lz76, lz76_reference])
@pytest.mark.parametrize(
    ("sequence", "phrases"),
    [
        ([7, 3, 4, 9, 8] * 4, 6),
        ("1001111011000010", 6),
        ("0", 1),
        ("00", 2),
        ("0" * 50, 2),
        ("0" * 500, 2),
        ("01" * 300, 3),
        (["up", None, ("stay", 2)], 3),
    ],
)
def test_known_counts(count, sequence, phrases):
    assert count(sequence) == phrases


def test_short_sequences_all_agree():
    for length in range(1, 8):
        for sequence in itertools.product(range(3), repeat=length):
            assert lz76(sequence) == by_search(list(sequence))


@pytest.mark.parametrize("length", EDGES)
@pytest.mark.parametrize("alphabet", [1, 2, 26, 400])
def test_the_compiled_count_holds_at_the_edges_of_its_words(length, alphabet):
    random = np.random.default_rng(length)
    for _ in range(5):
        codes = random.integers(0, alphabet, length)
        assert lz76_codes(codes) == by_search(codes.tolist())


@settings(max_examples=100, deadline=None)
@given(sequences())
def test_the_reference_the_compiled_count_and_the_oracles_agree(sequence):
    expected = by_search(sequence)
    assert lz76_reference(sequence) == expected
    assert by_longest_match(sequence) == expected
    assert lz76(sequence) == expected
    assert lz76_codes(np.array(sequence)) == expected


@settings(deadline=None)
@given(sequences(), st.integers(-(10**12), 10**12))
def test_only_which_symbols_are_equal_matters(sequence, shift):
    codes = np.array(sequence)
    assert lz76_codes(codes + shift) == lz76_codes(codes)
    assert lz76_codes(codes.astype(np.uint16)) == lz76_codes(codes)
    assert lz76([f"cell {s}" for s in sequence]) == lz76(sequence)


@settings(max_examples=50, deadline=None)
@given(sequences())
def test_a_longer_sequence_never_has_fewer_phrases(sequence):
    counts = [lz76(sequence[:n]) for n in range(1, len(sequence) + 1)]
    assert all(later - earlier in (0, 1) for earlier, later in itertools.pairwise(counts))


@settings(deadline=None)
@given(sequences(), st.integers(2, 5))
def test_repeating_adds_at_most_one_phrase(sequence, times):
    assert lz76(sequence) <= lz76(sequence * times) <= lz76(sequence) + 1


@settings(deadline=None)
@given(sequences())
def test_there_are_at_least_as_many_phrases_as_symbols(sequence):
    assert len(set(sequence)) <= lz76(sequence) <= len(sequence)


def test_a_scratch_serves_many_sequences():
    from allminds.complexity.fast import lz76_kernel, lz76_scratch

    random = np.random.default_rng(0)
    scratch = lz76_scratch(100, 300)
    for length in [50, 300, 64, 65, 1, 200, 2]:
        codes = random.integers(0, 100, 300)
        assert lz76_kernel(codes, length, scratch) == by_search(codes[:length].tolist())
        assert not scratch[:-1].any()


def test_the_kernel_counts_a_row_of_another_kernels_array():
    from allminds.complexity.fast import lz76_kernel, lz76_scratch

    table = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert lz76_kernel(table[1], 3, lz76_scratch(6, 3)) == 3


@pytest.mark.parametrize(
    ("sequence", "phrases"),
    [("0", 1), ("00", 2), ("000", 2), ("0000", 3), ("1011010100010", 7), ([7, 3, 4, 9, 8] * 4, 12)],
)
def test_lz78_counts(sequence, phrases):
    assert lz78(sequence) == phrases


@given(sequences())
def test_lz78_agrees_with_a_set_of_phrases(sequence):
    phrases: set[tuple[int, ...]] = set()
    current: tuple[int, ...] = ()
    for symbol in sequence:
        current = (*current, symbol)
        if current not in phrases:
            phrases.add(current)
            current = ()
    assert lz78(sequence) == len(phrases) + bool(current)


@pytest.mark.parametrize("count", [lz76, lz76_reference, lz78])
@pytest.mark.parametrize("nothing", ["", [], ()])
def test_an_empty_sequence_is_an_error(count, nothing):
    with pytest.raises(Error, match="at least one symbol"):
        count(nothing)


def test_an_empty_array_is_an_error():
    with pytest.raises(Error, match="at least one symbol"):
        lz76_codes(np.array([], np.int64))


def test_an_array_of_fractions_is_refused():
    with pytest.raises(TypeError):
        lz76_codes(np.array([0.5, 0.7]))
