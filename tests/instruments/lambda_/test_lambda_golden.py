"""Golden playthroughs of Λ: whole exercises on file, so that no change alters a step unnoticed.

To make them anew after a change that is meant to change results (then the instrument's version
goes up): ALLMINDS_GOLDEN=write pytest tests/instruments/lambda_/test_golden.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playthroughs import on_file, walked

from allminds import registry
from allminds.episode import play_on

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = {
    "lambda-q-learning": ("lambda", "q-learning", {}, (0, 3)),
    "lambda-sarsa": ("lambda", "sarsa", {"form": "general", "steps": 15}, (1, 4)),
    "lambda-q-lambda": ("lambda", "q-lambda", {"form": "general", "steps": 15}, (1, 4)),
    "lambda-model-based": ("lambda", "model-based", {}, (0, 3)),
    "lambda-follower-adjacent": ("lambda", "follower", {"observation": "adjacent"}, (0, 3)),
    "lambda-optimum-disabled": ("lambda", "optimum", {"disabled": 0.2}, (0, 3)),
    "lambda-expert-trail": ("lambda", "expert", {"rewards": "trail", "agents": 2}, (0,)),
    "lambda-random-teams": ("lambda", "random", {"agents": 4, "teams": 2}, (0,)),
    "lambda-anytime": ("lambda-anytime", "q-learning", {"time": 130}, (3, 2, 5)),
    "lambda-staircase": ("lambda-staircase", "q-learning", {"time": 60, "steps": 20}, (2, 4)),
}


def transcript(instrument, mind, settings, numbers):
    tool = registry.make_instrument(instrument, settings)
    lines = [f"{mind} {settings}"]
    for index in numbers:
        ((exercise, record),) = play_on(tool, registry.line_up(mind, tool), 2026, index, index + 1)
        world = exercise.environment
        complexity = " ".join(f"{k}={v:.15g}" for k, v in world.complexity.items())
        lines += [f"{exercise.id} {complexity}", f"{world.space} {world.pattern}"]
        lines += walked(exercise, record)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_exercise_on_file_is_played_again_step_by_step(name):
    path, played = GOLDEN / f"{name}.txt", transcript(*CASES[name])
    assert played == on_file(path, played)
