"""The gate for what is said about runs and courses."""

from __future__ import annotations

import gate
import pytest

from allminds.statistics.calibration import answers, courses


@pytest.mark.slow
@pytest.mark.parametrize("section", gate.sections(answers, courses))
def test_no_row_fails_the_gate(section):
    assert gate.failures(section) == []
