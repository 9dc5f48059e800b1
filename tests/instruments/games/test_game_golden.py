"""Golden playthroughs: whole games on file, so that no speed-up changes one step unnoticed.

To make them anew after a change that is meant to change results (then the game's version goes
up): ALLMINDS_GOLDEN=write pytest tests/instruments/games/test_game_golden.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playthroughs import on_file

from allminds import registry
from allminds.episode import Episode, play

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "matching-pennies": ("regret-matching, fictitious-play", {}),
    "rock-paper-scissors": ("roth-erev, best-reply", {}),
    "prisoners-dilemma": ("generous-tit-for-tat(slip=0.1), joss", {"steps": 20}),
    "stag-hunt": ("random, gradual", {"steps": 20}),
    "public-goods": ("conditional-cooperator, random, keep, q-learning(sessions=5)", {}),
    "commons": ("sustain, greedy, random, q-learning(sessions=5)", {}),
    "pluralistic-ignorance": ("conform, honest, best-reply, random, conform", {}),
    "noughts-and-crosses": ("random, minimax", {}),
    "predator-prey": ("greedy*3, random", {"rows": 5, "cols": 5}),
    "team-lambda-star": (
        "stigmergy(local-search*2), local-search, random",
        {"rows": 5, "cols": 5, "iterations": 12},
    ),
}


def transcript(game, line_up, settings):
    tool = registry.make_instrument(game, settings)
    lines = [f"{line_up} {settings}"]
    for index in (0, 5):
        exercise = tool.exercise(2026, index)
        record = play(exercise, registry.line_up(line_up, tool))
        lines.append(exercise.id)
        episode = Episode(exercise)
        for actions, rewards in zip(record.actions, record.rewards, strict=True):
            state = episode.state
            episode.play(actions)
            moves = " ".join(f"{slot}:{actions[slot]}" for slot in sorted(actions))
            lines.append(f"{state} -> {moves} : {[round(reward, 12) + 0.0 for reward in rewards]}")
        lines.append(f"score {[round(score, 12) + 0.0 for score in record.score]}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("game", CASES)
def test_the_game_on_file_is_played_again_step_by_step(game):
    path, played = GOLDEN / f"{game}.txt", transcript(game, *CASES[game])
    assert played == on_file(path, played)
