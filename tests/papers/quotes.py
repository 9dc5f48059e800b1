"""What every paper must pass, in its own file of tests, where its simulations are made once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from allminds.papers import PAPERS, paper

TEXTS = Path(__file__).parents[3] / "shared" / "papers"


def text_of(name):
    """The text of a paper, with every run of blanks as one, if it lies beside this checkout."""
    if not TEXTS.is_dir():
        pytest.skip("the papers are not beside this checkout")
    files = dict(zip(PAPERS, sorted(TEXTS.glob("*.txt")), strict=True))
    return plain(files[name].read_text(encoding="utf-8"))


def plain(text):
    """A text with every run of blanks as one."""
    return re.sub(r"\s+", " ", text)


def assert_quoted(name):
    """Every claim and every statement is in the text of its paper, with its number."""
    text = text_of(name)
    for one in paper(name).claims():
        assert plain(one.quote) in text, one
        number = re.escape(one.printed.removeprefix("< "))
        assert re.search(rf"(?<![\d.]){number}(?!\d|\.\d)", one.quote), one
    for said in paper(name).statements():
        assert plain(said.quote) in text, said
