"""The little language of names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.errors import Error
from allminds.core.line_up import Name, parse

WORDS = st.text("abcdefgh0123456789-./:_", min_size=1, max_size=8)


def names(depth: int = 2) -> st.SearchStrategy[Name]:
    inner = st.nothing() if depth == 0 else names(depth - 1)
    return st.builds(
        Name,
        WORDS,
        st.lists(inner, max_size=3).map(tuple) if depth else st.just(()),
        st.lists(st.tuples(WORDS, WORDS), max_size=2).map(tuple),
        st.integers(1, 12),
    )


@given(names())
def test_what_is_written_is_read_back(name):
    assert parse(str(name)) == name


def test_nested_members_with_repeats_and_parameters():
    name = parse("stigmergy(local-search*3, expert(intercept=false), gamma=0.5)")
    assert [str(argument) for argument in name.arguments] == [
        "local-search*3",
        "expert(intercept=false)",
    ]
    assert name.keywords == (("gamma", "0.5"),)
    assert parse("llm(openai/gpt-4o)").arguments[0].name == "openai/gpt-4o"


@pytest.mark.parametrize("text", ["", "(", "a(", "a(b", "a)", "a(b=)", "a*0", "a*x", "a b", "a(,)"])
def test_a_broken_name_is_one_sentence(text):
    with pytest.raises(Error, match="cannot read the name"):
        parse(text)


def test_a_crowd_that_nobody_can_seat_is_refused():
    with pytest.raises(Error, match="1000000000 copies are too many"):
        parse("crowd(random*1000000000)")
