"""Golden playthroughs of the extensions of Λ*, so that no change alters one step unnoticed.

To make them anew after a change that is meant to change results (then the instrument's version
goes up): ALLMINDS_GOLDEN=write pytest, with the path of this file.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playthroughs import on_file, transcript

from allminds import registry

GOLDEN = Path(__file__).parent / "golden"
SMALL = {"rows": 5, "cols": 6, "iterations": 12}
CASES = {
    "coordination": ("lambda-star-coordination", "auction", {"agents": 3, "needed": 2}),
    "responsive": ("lambda-star-responsive", "local-search", {"agents": 2, "responsive": 0.5}),
    "coverage": ("lambda-star-coverage", "scouts", {"agents": 2, "rows": 9}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_game_on_file_is_played_again_step_by_step(name):
    instrument, mind, settings = CASES[name]
    played = transcript(registry.make_instrument(instrument, SMALL | settings), mind, settings)
    assert played == on_file(GOLDEN / f"{name}.txt", played)
