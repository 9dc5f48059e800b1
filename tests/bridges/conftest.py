"""What the tests of the bridges share."""

from __future__ import annotations

import pytest


@pytest.fixture
def given(tmp_path):
    """Evaluate a task of Inspect's: its log."""
    import inspect_ai

    def evaluate(task, who, **how):
        one = inspect_ai.eval(  # "none" draws tables that nobody sees
            task, model=who, display="log", log_realtime=False,
            log_dir=str(tmp_path / "logs"), **how,
        )  # fmt: skip
        assert len(one) == 1
        return one[0]

    return evaluate
