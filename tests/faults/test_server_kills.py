"""SIGKILL of the server and of its database under load: what was acknowledged is there, once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

pytest.importorskip("fastapi")
from databases import Missing
from server_faults import WRONG, killed, stopped

KILLS = int(os.environ.get("ALLMINDS_SERVER_KILLS", "2"))  # benchmarks/server_faults.py kills 20


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "kills"), [("sqlite", KILLS), ("postgresql", 4)])
def test_no_acknowledged_choice_is_lost_or_doubled(kind, kills):
    """On PostgreSQL the fourth kill is of the database; both servers find it again."""
    try:
        found = killed(kind, kills, people=8, seed=5, every=0.3, most=240.0)
    except Missing as missing:
        pytest.skip(f"not tried on PostgreSQL: {missing}")
    assert found["kills of a server"] + found["kills of the database"] == kills
    assert found["acknowledged"] > 0
    assert found["after the last kill"] >= 8  # everybody gets on again
    assert (found["lost"], found["doubled"], found["never sent"]) == (0, 0, 0)
    assert found["in an export"] == found["in the database"] >= found["acknowledged"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_after_every_stop_the_files_hold_what_was_acknowledged(kind):
    """`study.db` alone after SIGTERM and SIGINT, with its log after SIGKILL; then a backup."""
    try:
        found = stopped(6, people=6, seed=7, every=0.2, kind=kind)
    except Missing as missing:
        pytest.skip(f"not tried on PostgreSQL: {missing}")
    assert [found[name] for name in ("SIGTERM", "SIGINT", "SIGKILL")] == [2, 2, 2]
    assert found["acknowledged"] > 0
    assert found["withdrawn"] == found["with traces before"] == 5
    assert [found[name] for name in WRONG] == [0] * len(WRONG)
