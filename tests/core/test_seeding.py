"""Randomness: one function of place, the same in Python, NumPy and Numba; keys are one-way."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import check
from allminds.contracts import MindBase, Task, Traits
from allminds.core import seeding
from allminds.core.errors import Error
from allminds.core.seeding import MAKING, MINDS, WORLD, Random, key
from allminds.episode import Episode, play_on
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.registry import line_up, make_instrument

NUMBERS = st.integers(0, 2**32 - 1)
MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


# ---------------------------------------------------------------- one function of place


@given(
    seed=st.integers(0, 2**63 - 1),
    exercise=st.integers(0, 2**40),
    stream=st.integers(0, 2**20),
    step=NUMBERS,
    j=st.integers(0, 2**20),
    n=st.integers(1, 2**31),
)
def test_python_numpy_and_numba_draw_the_same_words(seed, exercise, stream, step, j, n):
    from allminds.core import compiled

    random = Random(key(seed, exercise, stream), step)
    numbers = np.array([exercise])
    keys = seeding.keys(seed, numbers, stream)
    words = seeding.words(keys, step, j)
    assert int(keys[0]) == int(compiled.keys(seed, numbers, stream)[0]) == random.key
    assert int(words[0]) == random.word_at(j)
    assert int(seeding.below(words, n)[0]) == random.below_at(n, j)
    bits = np.uint64(compiled.word(np.uint64(random.key), np.uint64(step), np.uint64(j)))
    assert int(bits) == random.word_at(j)
    assert int(compiled.below(bits, np.uint64(n))) == random.below_at(n, j)
    assert float(compiled.unit(bits)) == random.unit_at(j)


@given(
    seed=st.integers(0, 2**63 - 1),
    exercises=st.lists(st.integers(0, 10**12), min_size=1, max_size=30),
    stream=st.integers(0, 100),
    count=st.integers(1, 30),
)
def test_many_keys_and_strata_are_those_of_one_exercise_after_the_other(
    seed, exercises, stream, count
):
    from allminds.core import compiled

    numbers = np.array(exercises)
    one_by_one = [key(seed, i, stream) for i in exercises]
    assert seeding.keys(seed, numbers, stream).tolist() == one_by_one
    assert compiled.keys(seed, numbers, stream).tolist() == one_by_one
    drawn = [seeding.stratum(seed, i, count) for i in exercises]
    assert compiled.strata(seed, numbers, count).tolist() == drawn


def test_a_key_is_a_word_of_a_digest_as_documented():
    """Written out by hand: what the docstring of the module says, and nothing else."""
    message = struct.pack("<3Q", 7, MINDS + 3, 21 // 8)
    digest = hashlib.blake2b(message, digest_size=64, person=b"allminds streams").digest()
    assert key(7, 21, MINDS + 3) == struct.unpack("<8Q", digest)[21 % 8]


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", None])
def test_a_seed_that_cannot_be_is_refused_in_one_sentence(seed):
    from allminds.core import compiled

    for keys in (
        lambda: key(seed, 0, 0),
        lambda: seeding.keys(seed, np.arange(3), 0),
        lambda: compiled.keys(seed, np.arange(3), 0),
        lambda: compiled.strata(seed, np.arange(3), 2),
    ):
        with pytest.raises(Error, match=r"a seed is a whole number from 0 to 2\^63 - 1"):
            keys()


def test_words_of_different_places_differ():
    places = [
        Random(key(seed, exercise, stream), step).word_at(j)
        for seed in range(4)
        for exercise in range(10)
        for stream in range(4)
        for step in range(4)
        for j in range(4)
    ]
    assert len(set(places)) == len(places)


def test_words_are_uniform_over_nine_actions_along_every_axis():
    """Chi-square on 8 degrees of freedom; a sound generator exceeds 27.9 in 1 of 2,000 runs."""
    count = 90_000
    numbers, random = np.arange(count), Random(key(7, 1, 2))
    axes = {
        "exercise": seeding.words(seeding.keys(7, numbers, 2), 0),
        "step": np.array([Random(key(7, 0, 2), t).word() for t in range(count)], np.uint64),
        "seed": np.array([Random(key(s, 0, 2)).word() for s in range(count)], np.uint64),
        "draw": np.array([random.word() for _ in range(count)], np.uint64),
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


# ---------------------------------------------------------------- draws advance


def test_draws_advance_and_every_step_begins_anew():
    random = Random(key(1, 2, 3), 4)
    drawn = [random.word() for _ in range(3)]
    assert drawn == [random.word_at(j) for j in range(3)]
    assert random.at_step(4).word() == drawn[0]
    assert random.at_step(5).word() != drawn[0]
    assert random.part(1).word() == random.part(1).word() != drawn[0]


def test_every_kind_of_draw_takes_words_in_turn():
    random, again = Random(key(1, 2, 3)), Random(key(1, 2, 3))
    assert random.choice("abcdef") == "abcdef"[again.below(6)]
    letters = list("abcdef")
    random.shuffle(letters)
    assert letters == ["abcdef"[n] for n in again.permutation(6)]
    assert sorted(letters) == list("abcdef")
    assert random.unit() == again.unit()
    one, other = random.generator().random(3).tolist(), random.generator().random(3).tolist()
    assert again.generator().random(3).tolist() == one != other
    assert random.drawn == 1 + 5 + 1 + 2


def test_permutations_are_all_equally_likely():
    """24 orders of four, 24,000 draws: 23 degrees of freedom, 1 in 2,000 exceed 51.2."""
    random = Random(key(5, 0, 0))
    seen = Counter(tuple(random.permutation(4)) for _ in range(24_000))
    assert len(seen) == 24
    assert sum((n - 1000) ** 2 / 1000 for n in seen.values()) < 51.2


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda random: random.below(0), r"random.below needs a number from 1 to 2\^32, not 0"),
        (lambda random: random.below(-3), r"random.below needs a number from 1 to 2\^32, not -3"),
        (lambda random: random.below(2**33), "random.below needs a number from 1"),
        (lambda random: random.below_at(0, 5), "random.below needs a number from 1"),
        (lambda random: random.choice([]), "random.choice needs at least one element"),
        (lambda random: random.permutation(-1), "random.permutation needs a number from 0 up"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, said):
    from allminds.instruments.lambda_star.fast.lockstep import Word

    word = Word(5)
    word.begin(0, 7)
    for random in (Random(5), word):
        with pytest.raises(Error, match=said):
            draw(random)


class Explorer(MindBase):
    """The trap: one word for whether to explore, and the same for where to."""

    def act(self, observation, random):
        action = 5
        if random.unit() < 0.2:
            action = 1 + random.below(9)
        return action


def test_a_mind_that_explores_explores_all_nine_actions():
    """And in equal shares: chi-square on 8 degrees of freedom, 27.9 is 1 in 2,000."""
    tool = make_instrument("lambda-star", {})
    played = play_on(tool, line_up(Explorer, tool), 1, 0, 60)
    acts = Counter(a[0] for _, record in played for a in record.actions)
    elsewhere = [acts[a] for a in range(1, 10) if a != 5]
    mean = sum(elsewhere) / 8
    assert min(elsewhere) > 0
    assert sum((n - mean) ** 2 / mean for n in elsewhere) < 27.9
    check.check_mind(Explorer, "lambda-star")


class Rereader(MindBase):
    """What the old trap is now: the same place read twice."""

    def act(self, observation, random):
        return 1 + random.below_at(9, 0) if random.unit_at(0) < 0.2 else 5


class Hoarder(MindBase):
    """Keeps the words of the first step."""

    def begin(self, task: Task) -> None:
        self.random = None

    def act(self, observation, random):
        self.random = self.random or random
        return 1 + self.random.below(9)


class Sworn(MindBase):
    """Says it is deterministic, and draws by every way there is."""

    traits = Traits(deterministic=True)

    def act(self, observation, random):
        return 1 + random.permutation(9)[0]


def test_check_mind_finds_words_that_are_read_twice_or_too_late():
    with pytest.raises(Error, match="reads random word 0 twice in one step"):
        check.check_mind(Rereader, "lambda-star")
    with pytest.raises(Error, match="'random' of an earlier step"):
        check.check_mind(Hoarder, "lambda-star")
    with pytest.raises(Error, match="deterministic, but draws"):
        check.check_mind(Sworn, "lambda-star")


# ---------------------------------------------------------------- keys are one-way


def unshifted(z: int, by: int) -> int:
    """Invert z ^ (z >> by)."""
    x = z
    for _ in range(64 // by + 1):
        x = z ^ (x >> by)
    return x


def unfolded(z: int, x: int) -> int:
    """Invert the splitmix64 finaliser: the h of fold(h, x)."""
    z = unshifted(z, 31) * pow(0x94D049BB133111EB, -1, 2**64) & MASK
    z = unshifted(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
    return (unshifted(z, 30) - GOLDEN * (x + 1)) & MASK


def folded_key(seed: int, exercise: int, stream: int) -> int:
    """The key of a stream as it was before: a chain of folds."""
    fold = seeding._python.fold
    return fold(fold(fold(0, seed), exercise), stream)


def stolen(word: int, place: int, mine: int, theirs: int) -> int:
    """The key of another stream, if keys were a chain of folds, from one word of my own."""
    return seeding._python.fold(unfolded(unfolded(word, place), mine), theirs)


def from_unit(unit: float, place: int, keep: list[int]) -> list[int]:
    """Of the 2^11 words that make a `unit`, the keys that another one confirms."""
    high = int(unit * 2**53) << 11
    step, expected = keep
    found = [unfolded(high | low, place) for low in range(2**11)]
    return [key for key in found if Random(key, step).unit() == expected]


def test_before_one_word_told_the_worlds_key_and_now_it_does_not():
    for seed, exercise in ((1, 0), (20, 7), (2**62 + 12345, 10**6)):
        own = folded_key(seed, exercise, MINDS)
        word = Random(own, 3).word()
        assert unfolded(word, 3 << 32) == own
        assert stolen(word, 3 << 32, MINDS, WORLD) == folded_key(seed, exercise, WORLD)
        assert unfolded(unfolded(unfolded(own, MINDS), exercise), seed) == 0  # down to the seed

        own = key(seed, exercise, MINDS)
        word = Random(own, 3).word()
        assert unfolded(word, 3 << 32) == own  # its own stream a mind may know
        others = {key(seed, exercise, stream) for stream in (MAKING, WORLD, *range(3, 20))}
        others |= {key(seed, exercise + n, stream) for n in range(1, 9) for stream in (0, 1, 2)}
        guesses = {
            stolen(word, 3 << 32, MINDS + s, stream) for s in range(9) for stream in range(9)
        }
        guesses |= {unfolded(own, n) for n in range(100)}
        guesses |= {unfolded(unfolded(own, n), exercise) for n in range(100)}
        guesses |= {Random(own).part(n).key for n in range(100)}
        assert not guesses & (others | {seed, 0})


def test_what_a_program_is_sent_told_the_world_before_and_tells_its_own_stream_now():
    """Two numbers in [0, 1) of 53 bits are enough to have a key back; no more than that."""
    seed, exercise = 31, 4
    for made, leaks in ((folded_key, True), (key, False)):
        own = made(seed, exercise, MINDS)
        sent = [Random(own, step).unit() for step in range(2)]
        (found,) = from_unit(sent[0], 0, [1, sent[1]])
        assert found == own
        world = seeding._python.fold(unfolded(found, MINDS), WORLD)
        assert (world == made(seed, exercise, WORLD)) == leaks


def test_the_world_of_an_episode_does_not_follow_from_what_its_minds_are_given():
    """The attack as a mind could make it: from `random.key` to where Good goes."""
    tool = LambdaStar()
    hits = 0
    for i in range(40):
        exercise = tool.exercise(9, i)
        random = Random(key(9, i, MINDS))
        guess = seeding._python.fold(unfolded(random.key, MINDS), WORLD)
        told = exercise.environment.reset(Random(guess))
        hits += told.good == Episode(exercise).state.good
    assert hits <= 4  # by luck, one cell in 100: 5 or more of 40 in fewer than 1 run of 10,000


# ---------------------------------------------------------------- strata


def test_every_run_of_strata_has_each_once_in_an_order_of_its_own():
    runs = [[seeding.stratum(3, 22 * r + n, 22) for n in range(22)] for r in range(50)]
    assert all(sorted(run) == list(range(22)) for run in runs)
    assert len({tuple(run) for run in runs}) == 50


def test_the_first_exercises_are_an_unbiased_sample_of_the_strata():
    """First of 7, over 7,000 seeds: 6 degrees of freedom, 1 in 2,000 exceed 24.1."""
    seen = Counter(seeding.stratum(seed, 0, 7) for seed in range(7000))
    assert sum((seen[n] - 1000) ** 2 / 1000 for n in range(7)) < 24.1


def test_five_exercises_of_lambda_star_are_not_the_five_lowest_k():
    tool = LambdaStar()
    lowest = sorted(tool.complexities)[:5]
    found = [sorted(tool.exercise(seed, i).environment.complexity["K"] for i in range(5))
             for seed in range(12)]  # fmt: skip
    assert all(len(set(some)) == 5 for some in found)
    assert lowest not in found
    mean = np.mean(found)  # the mean of S values: a standard error of 6.3 / sqrt(60)
    assert abs(mean - np.mean(tool.complexities)) < 4 * 6.3 / 60**0.5
