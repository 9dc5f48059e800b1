"""Golden playthroughs of the extensions of Λ*, so that no change alters one step unnoticed.

To make them anew after a change that is meant to change results (then the instrument's version
goes up): ALLMINDS_GOLDEN=write pytest tests/extensions/test_extension_golden.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from allminds import registry
from allminds.episode import Episode, play

GOLDEN = Path(__file__).parent / "golden"
SMALL = {"rows": 5, "cols": 6, "iterations": 12}
CASES = {
    "coordination": ("lambda-star-coordination", "auction", {"agents": 3, "needed": 2}),
    "responsive": ("lambda-star-responsive", "local-search", {"agents": 2, "responsive": 0.5}),
    "coverage": ("lambda-star-coverage", "scouts", {"agents": 2, "rows": 9}),
}


def transcript(name, mind, settings):
    tool = registry.make_instrument(name, SMALL | settings)
    lines = [f"{mind} {settings}"]
    for index in (0, 5):
        exercise = tool.exercise(2026, index)
        record = play(exercise, registry.line_up(mind, tool))
        lines.append(exercise.id)
        episode = Episode(exercise)
        for actions, rewards in zip(record.actions, record.rewards, strict=True):
            state = episode.state
            episode.play(actions)
            lines.append(
                f"{state} -> {actions} : {[round(reward, 12) + 0.0 for reward in rewards]}"
            )
        lines.append(f"score {[round(score, 12) + 0.0 for score in record.score]}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_game_on_file_is_played_again_step_by_step(name):
    path, played = GOLDEN / f"{name}.txt", transcript(*CASES[name])
    if os.environ.get("ALLMINDS_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(played)
    assert played == path.read_text()
