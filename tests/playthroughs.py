"""Golden playthroughs: games on file that are played again, step by step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allminds.contracts import Exercise, Instrument, Record
from allminds.episode import Episode, play
from allminds.registry import line_up


def transcript(tool: Instrument, mind: str, settings: dict[str, Any]) -> str:
    """Two exercises of a mind: every state, what was done, and what it brought."""
    lines = [f"{mind} {settings}"]
    for index in (0, 5):
        exercise = tool.exercise(2026, index)
        record = play(exercise, line_up(mind, tool))
        lines.append(exercise.id)
        episode = Episode(exercise)
        for actions, rewards in zip(record.actions, record.rewards, strict=True):
            state = episode.state
            episode.play(actions)
            lines.append(f"{state} -> {actions} : {_rounded(rewards)}")
        lines.append(f"score {_rounded(record.score)}")
    return "\n".join(lines) + "\n"


def walked(exercise: Exercise, record: Record) -> Iterator[str]:
    """The steps in a world with Good and Evil, one a line, and the score."""
    episode = Episode(exercise)
    for actions, rewards in zip(record.actions, record.rewards, strict=True):
        state: Any = episode.state
        episode.play(actions)
        moves = " ".join(str(actions[slot]) for slot in sorted(actions))
        yield (
            f"{state.step:2} good {state.good} evil {state.evil} minds {list(state.minds)} "
            f"-> {moves} : {list(rewards)}"
        )
    yield f"score {list(record.score)} learning {list(record.learning)}"


def _rounded(values: Any) -> list[float]:
    return [round(value, 12) + 0.0 for value in values]


def on_file(path: Path, played: str) -> str:
    """What is on file; with ALLMINDS_GOLDEN=write, what was played is put there first."""
    if os.environ.get("ALLMINDS_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(played)
    return path.read_text()
