"""Golden playthroughs: whole games on file, so that no speed-up changes one step unnoticed.

To make them anew after a change that is meant to change results (then the instrument's version
goes up): ALLMINDS_GOLDEN=write pytest tests/instruments/lambda_star/test_golden.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playthroughs import on_file, walked

from allminds import registry
from allminds.episode import play

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = {
    "random-5x5": ("random", {"rows": 5, "cols": 5}),
    "local-search-5x5": ("local-search", {"rows": 5, "cols": 5}),
    "local-search-range-2": ("local-search", {"rows": 7, "cols": 6, "range": 2}),
    "expert-drift": ("expert", {"rows": 6, "cols": 4, "patterns": "drift"}),
    "optimum-released": ("optimum", {"rows": 5, "cols": 5, "patterns": "released"}),
    "q-learning-5x5": ("q-learning(sessions=10)", {"rows": 5, "cols": 5, "k": "any"}),
    "sarsa-2x3": ("sarsa(sessions=10)", {"rows": 2, "cols": 3}),
    "copies-3x3": ("local-search", {"rows": 3, "cols": 3, "agents": 3}),
}


def transcript(mind, settings):
    tool = registry.make_instrument("lambda-star", {"iterations": 20} | settings)
    lines = [f"{mind} {settings}"]
    for index in (0, 5):
        exercise = tool.exercise(2026, index)
        record = play(exercise, registry.line_up(mind, tool))
        complexity = " ".join(f"{k}={v:.6g}" for k, v in exercise.environment.complexity.items())
        lines.append(f"{exercise.id} {complexity}")
        lines += walked(exercise, record)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_game_on_file_is_played_again_step_by_step(name):
    path, played = GOLDEN / f"{name}.txt", transcript(*CASES[name])
    assert played == on_file(path, played)
