"""Columns made from memory are those that pyarrow makes of the same values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core import arrow


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float64"])
def test_numbers(kind):
    values = np.array([3, 1, 2, 0, 7], kind)
    assert arrow.numbers(values).equals(pa.array(values))
    assert arrow.numbers(values[::2]).equals(pa.array(values[::2].copy()))


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False))))
def test_numbers_with_gaps(values):
    held = np.array([np.nan if one is None else one for one in values], float)
    found = arrow.numbers(held, ~np.isnan(held))
    found.validate(full=True)
    assert found.to_pylist() == values
    assert found.null_count == values.count(None)


@given(st.lists(st.one_of(st.none(), st.text())))
def test_words(values):
    found = arrow.words(values)
    found.validate(full=True)
    assert found.equals(pa.array(values, pa.string()))


@given(st.lists(st.integers(0, 10**18), max_size=30), st.text(max_size=5))
def test_numbered(index, prefix):
    index = sorted([*index, 0, 9, 10, 11, 99, 100])
    found = arrow.numbered(prefix, np.array(index))
    found.validate(full=True)
    assert found.to_pylist() == [f"{prefix}{n}" for n in index]


@given(st.lists(st.integers(0, 2)))
def test_places_in_a_list_of_words(places):
    known = ["ok", "Λ*", ""]
    held = np.array(places, np.int8)
    assert arrow.spelt(held, known).to_pylist() == [known[n] for n in places]
    assert arrow.codes(held, known).to_pylist() == [known[n] for n in places]


def test_nothing():
    assert arrow.nothing(3).to_pylist() == [None] * 3
    assert arrow.numbered("a", np.empty(0, np.int64)).to_pylist() == []
