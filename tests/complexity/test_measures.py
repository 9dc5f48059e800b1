"""The other measures, and measuring by name."""

from __future__ import annotations

import math
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import complexity as deflate
from allminds.complexity import MEASURES, growth, measure, search_space, shannon, zlib_length
from allminds.core.errors import Error

PATTERN = "20122220022222200222222002"


@pytest.fixture
def fresh_check():
    """Forget whether zlib was checked, before and after."""

    def forget():
        deflate.checks_out.cache_clear()
        deflate._warn_once.cache_clear()

    forget()
    yield
    forget()


@pytest.mark.skipif(not deflate.checks_out(), reason="another build of zlib")
def test_zlib_gives_the_published_length():
    assert zlib_length(PATTERN) == 19
    assert zlib_length(PATTERN.encode()) == 19


def test_zlib_takes_a_level():
    assert zlib_length(b"abc" * 99, level=0) == len(zlib.compress(b"abc" * 99, 0))


@pytest.mark.usefixtures("fresh_check")
def test_another_zlib_is_warned_of_once(monkeypatch, recwarn):
    monkeypatch.setattr(deflate, "LENGTH", -1)
    assert not deflate.checks_out()
    zlib_length(PATTERN)
    zlib_length(PATTERN)
    assert ["published" in str(warning.message) for warning in recwarn] == [True]


def test_shannon():
    assert shannon("aaaa") == 0.0
    assert shannon("abab") == 1.0
    assert shannon([1, 2, 3, 4]) == 2.0
    assert shannon("aaab") == pytest.approx(0.811278, abs=1e-6)


@given(st.lists(st.integers(0, 9), min_size=1))
def test_shannon_is_within_its_bounds_and_blind_to_order(symbols):
    assert 0 <= shannon(symbols) <= math.log2(len(set(symbols))) + 1e-12
    assert shannon(symbols) == pytest.approx(shannon(sorted(symbols)))


def test_search_space():
    assert search_space(1, 2) == 1.0
    assert search_space(10, 10) == pytest.approx(math.log2(9900))


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (0, 5), (-2, -3)])
def test_a_grid_too_small_for_good_and_evil_is_an_error(rows, cols):
    with pytest.raises(Error, match="2 cells"):
        search_space(rows, cols)


def test_an_empty_sequence_has_no_entropy():
    with pytest.raises(Error, match="at least one symbol"):
        shannon("")


def test_text_is_characters_or_a_list():
    assert measure("1001111011000010", "lz76") == 6
    assert measure("7,3,4,9,8," * 3 + "7,3,4,9,8", "lz76") == 6
    assert measure("10, 11,10 ,11", "lz78") == measure("abab", "lz78") == 3
    assert measure("10, 11,10 ,11", "entropy") == 1.0


def test_zlib_compresses_the_text_as_given():
    assert measure("7, 3,4", "zlib") == zlib_length("7, 3,4")
    assert MEASURES["zlib"].function([7, 3, 4]) == zlib_length("7,3,4")


@pytest.mark.parametrize("name", list(MEASURES))
def test_every_measure_has_a_description_and_gives_a_number(name):
    assert MEASURES[name].description
    assert "\n" not in MEASURES[name].description
    assert measure("abcabc", name) > 0
    assert MEASURES[name].function(["a", "b", "a"]) > 0


def test_an_unknown_measure_names_the_nearest():
    with pytest.raises(Error, match=r"no measure 'entropie': did you mean 'entropy'\?"):
        measure("0110", "entropie")


@pytest.mark.parametrize("name", list(MEASURES))
def test_nothing_to_measure_is_an_error(name):
    with pytest.raises(Error, match="empty"):
        measure("", name)
    with pytest.raises(Error, match="symbol 2 of '7,,3' is empty"):
        measure("7,,3", name)


def test_importing_the_measures_does_not_import_numba():
    code = "import sys, allminds.complexity; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("sequence", "first"), [("7,3,4,9", 1), ("17,3,4,9", 2), ("7349", 1)])
def test_growth_is_the_complexity_of_every_beginning(sequence, first):
    found = growth(sequence, "lz76")
    assert [n for n, _ in found] == list(range(first, 5))
    assert found[-1] == (4, measure(sequence, "lz76"))
