"""The gate for curves, shares, reliability, ranks and plans, and for people."""

from __future__ import annotations

import gate
import pytest

from allminds.statistics.calibration import figures, people


@pytest.mark.slow
@pytest.mark.parametrize("section", gate.sections(figures, people))
def test_no_row_fails_the_gate(section):
    assert gate.failures(section) == []
