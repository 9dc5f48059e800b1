"""The page on testing a language model does what it says, with a real model and a scripted one."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from executed_pages import run
from scripted_server import Server, says

from allminds.bridges.offline import Offline, answers_to, find_weights
from allminds.core.errors import Error
from allminds.registry import make_instrument

pytest.importorskip("openai")
pytest.importorskip("inspect_ai")
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "test-a-language-model.md"


@pytest.mark.slow
def test_the_page_is_right_with_a_scripted_provider(tmp_path, monkeypatch):
    with Server(says("ANSWER: a")) as one, Server(says("Hm.\nANSWER: z")) as other:
        for name, server in (("OFFLINE", one), ("WARM", other)):
            monkeypatch.setenv(f"{name}_BASE_URL", server.environment["SCRIPTED_BASE_URL"])
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        wrong = run(PAGE.read_text(encoding="utf-8"), tmp_path)
        assert not wrong, wrong[0]
        assert one.books.calls == other.books.calls == 8, "the replay asks nobody"


@pytest.mark.slow
def test_the_page_is_right_with_a_real_model(tmp_path):
    try:
        find_weights()
    except Error as error:
        pytest.skip(str(error))
    letters = answers_to(make_instrument("c-test"))
    with contextlib.ExitStack() as stack:
        stack.enter_context(Offline(answers=letters))
        stack.enter_context(Offline("warm", temperature=1.0, answers=letters))
        wrong = run(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert not wrong, wrong[0]
