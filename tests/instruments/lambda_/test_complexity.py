"""Complexity of environments, and zlib's compiled twin."""

from __future__ import annotations

import zlib

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allminds.complexity import fast, lz76_reference
from allminds.instruments.lambda_.fast.forms import zlib_agrees
from allminds.instruments.lambda_.world import Space, columns

PRINTED = "20122220022222200222222002"
SPACE = Space.parse("12-|1-2--|1++2--")
MEMORY = fast.deflate_scratch()


def test_the_pattern_printed_in_the_paper_has_length_19():
    found = columns(SPACE, PRINTED, 0.0)
    assert found["K"] == 19
    assert found["K_prefix"] == len(zlib.compress(b"p" + PRINTED.encode(), 6)) == 20
    assert found["LZ"] == lz76_reference(PRINTED)
    assert found["pattern"] == 26
    assert (found["cells"], found["actions"]) == (3, 3)


def test_one_period_counts():
    assert columns(SPACE, "1212", 0.0)["LZ"] == columns(SPACE, "12", 0.0)["LZ"] == 2
    assert columns(SPACE, "1212", 0.0)["K"] != columns(SPACE, "12", 0.0)["K"]


def twin(text):
    codes = np.frombuffer(text.encode(), np.uint8)
    return fast.deflate_length(codes, 0, len(codes), MEMORY)


def test_this_zlib_is_the_one_that_the_kernel_knows():
    assert zlib_agrees() == (twin(PRINTED) == len(zlib.compress(PRINTED.encode(), 6)))


repeated = st.builds(
    lambda part, times, rest: (part * times + rest)[:199],
    st.text("012345678", min_size=1, max_size=20),
    st.integers(1, 60),
    st.text("012345678", max_size=20),
)


@given(
    st.text("012345678", min_size=1, max_size=199) | st.text("01", min_size=1) | repeated,
    st.sampled_from(["", "p"]),
)
@settings(max_examples=600)
@example(PRINTED, "p")
@example("0", "")
@example("0" * 199, "p")
def test_the_twin_of_zlib_gives_its_lengths(digits, prefix):
    if zlib_agrees():
        assert twin(prefix + digits) in (-1, len(zlib.compress((prefix + digits).encode(), 6)))
    assert twin(prefix + digits) > 0 or len(digits) > 100
