"""The examples run, and say what their docstrings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from allminds import registry
from allminds.check import block_difference, check_mind
from allminds.core.watch import Watch
from allminds.episode import form

EXAMPLES = Path(__file__).parents[1] / "examples"
FORMS = ["plain_mind.py:Careful", "batched_mind.py:Careful", "numba_mind.py:careful"]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_users_mind_keeps_the_contract(name):
    check_mind(f"{EXAMPLES}/{name}", "lambda-star", {"rows": 6, "cols": 6, "agents": 2})


def test_the_three_forms_are_one_mind():
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 7})
    blocks = [
        form(tool, registry.line_up(f"{EXAMPLES}/{name}", tool), Watch()).play(3, 0, 150, 20)
        for name in FORMS
    ]
    assert block_difference(blocks[0], blocks[1]) == ""
    assert block_difference(blocks[0], blocks[2]) == ""
