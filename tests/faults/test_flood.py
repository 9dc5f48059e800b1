"""Floods from one address while others play: nobody else sees an error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

pytest.importorskip("fastapi")
from flood import flooded
from flooding import KINDS


@pytest.mark.slow
def test_a_flood_from_one_address_is_no_error_for_others():
    """Times are measured by `benchmarks/flood.py`: here, only that everybody gets on."""
    rows = flooded("sqlite", people=10, seconds=2.0, seed=1)
    assert [row["flood"] for row in rows] == ["none", *KINDS]
    assert [row["errors"] for row in rows] == [0] * len(rows)
    assert all(row["requests"] > 0 for row in rows)
    assert all(sum(row["of the flood"].values()) > 0 for row in rows[1:])
