"""Randomness: one function of place, the same in Python, NumPy and Numba."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allminds import seeding
from allminds.seeding import Random, key

NUMBERS = st.integers(0, 2**32 - 1)


@given(
    seed=st.integers(0, 2**63 - 1),
    exercise=st.integers(0, 2**40),
    stream=st.integers(0, 2**20),
    step=NUMBERS,
    j=st.integers(0, 2**20),
    n=st.integers(1, 2**31),
)
def test_python_numpy_and_numba_draw_the_same_words(seed, exercise, stream, step, j, n):
    from allminds import compiled

    random = Random(key(seed, exercise, stream), step)
    keys = seeding.keys(seed, np.array([exercise]), stream)
    words = seeding.words(keys, step, j)
    assert int(keys[0]) == random.key
    assert int(words[0]) == random.word(j)
    assert int(seeding.below(words, n)[0]) == random.below(n, j)
    bits = np.uint64(compiled.word(np.uint64(random.key), np.uint64(step), np.uint64(j)))
    assert int(bits) == random.word(j)
    assert int(compiled.below(bits, np.uint64(n))) == random.below(n, j)
    assert float(compiled.unit(bits)) == random.unit(j)


def test_a_word_is_the_same_however_often_it_is_asked_for():
    random = Random(key(1, 2, 3), 4)
    assert random.word() == random.word() == random.at(4).word()
    assert random.word() != random.at(5).word()


def test_words_of_different_places_differ():
    places = [
        Random(key(seed, exercise, stream), step).word(j)
        for seed in range(4)
        for exercise in range(4)
        for stream in range(4)
        for step in range(4)
        for j in range(4)
    ]
    assert len(set(places)) == len(places)


def test_words_are_uniform_over_nine_actions_along_every_axis():
    """Chi-square on 8 degrees of freedom; a sound generator exceeds 27.9 in 1 of 2,000 runs."""
    count = 90_000
    numbers = np.arange(count)
    axes = {
        "exercise": seeding.words(seeding.keys(7, numbers, 2), 0),
        "step": np.array([Random(key(7, 0, 2), t).word() for t in range(count)], np.uint64),
        "seed": np.array([Random(key(s, 0, 2)).word() for s in range(count)], np.uint64),
    }
    for name, words in axes.items():
        seen = np.bincount(seeding.below(words, 9).astype(int), minlength=9)
        chi = float(((seen - count / 9) ** 2 / (count / 9)).sum())
        assert chi < 27.9, f"{name}: {chi}"


def test_every_bit_of_a_word_is_fair():
    """Each of 64 bits over 100,000 words: 5 standard deviations, 1 in 27,000 for all bits."""
    words = seeding.words(seeding.keys(3, np.arange(100_000), 1), 9)
    ones = np.array([int(((words >> np.uint64(b)) & np.uint64(1)).sum()) for b in range(64)])
    assert np.abs(ones - 50_000).max() < 5 * np.sqrt(25_000)
