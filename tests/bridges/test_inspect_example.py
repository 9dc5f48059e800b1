"""The example with a mock model runs, without network."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "inspect_mock.py"


def test_the_example_puts_its_logs_into_one_table(capsys):
    pytest.importorskip("inspect_ai")
    runpy.run_path(str(EXAMPLE))["main"]()
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["c-test", "fresh", "llm(mockllm/model)", "18", "0.222222"] in words
    assert ["tit-for-tat", "2", "-0.640000"] in words
