"""Scores of some minds alone, without floor and ceiling, as plain values."""

from __future__ import annotations

from allminds.runs.engine import Given
from allminds.runs.run import give


def evaluate(instrument, minds, *, settings=None, episodes=1000, seed=1, time_limit=10.0, how=None,
             keep=None):  # fmt: skip
    given = Given.of(instrument, settings or {}, minds)
    return give(given, episodes, seed, time_limit, how, keep)
