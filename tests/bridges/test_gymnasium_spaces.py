"""Whatever the settings, what is seen lies in the space that was declared, and tells all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

pytest.importorskip("gymnasium")

from allminds import registry
from allminds.bridges.vectors import Series, fields, observation_space

SETTINGS = [
    ("lambda-star", {"rows": 2, "cols": 3, "iterations": 5, "agents": 4, "range": 3}),
    ("lambda-star", {"rows": 1000, "cols": 1000, "iterations": 3, "k": "any"}),
    ("lambda", {"form": "general", "observation": "adjacent", "agents": 3, "disabled": 0.4}),
    ("lambda", {"rewards": "trail", "agents": 2, "teams": 1}),
    ("lambda", {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "12"}),
    ("lambda-anytime", {"time": 60, "cells": 9}),
    ("c-test", {"form": "generated", "task": "both", "options": 5}),
    ("matrices", {"rules": 3, "candidates": 8}),
    ("commons", {"players": 2, "steps": 3}),
    ("public-goods", {}),
    ("pluralistic-ignorance", {}),
    ("predator-prey", {"rows": 3, "cols": 8}),
    ("noughts-and-crosses", {}),
    ("team-lambda", {"agents": 6}),
    ("lambda-star-coordination", {"agents": 3, "rows": 4, "iterations": 5}),
    ("lambda-star-coverage", {"rows": 6, "cols": 6, "range": 2, "iterations": 5}),
    ("lambda-star-responsive", {"responsive": 1.0, "agents": 2}),
    ("landscape", {"rows": 12, "cols": 9, "drift": 0.5, "range": 2}),
]


@pytest.mark.parametrize(("name", "chosen"), SETTINGS)
@settings(max_examples=5)
@given(seed=some.integers(0, 2**31), lots=some.randoms(use_true_random=False))
def test_vectors_lie_in_their_box(name, chosen, seed, lots):
    series = Series(name, chosen)
    box = observation_space(series.tool)
    episode = series.begin(seed, None)
    for _ in range(12):
        for slot in range(series.tool.slots):
            assert series.vector(slot) in box
        if episode.record is not None:
            break
        actions = {}
        for slot in episode.waiting:
            legal = np.flatnonzero(series.mask(slot)).tolist()
            actions[slot] = int(series.action_spaces[slot].start) + lots.choice(legal)
        series.play(actions)
        assert episode.record is None or set(episode.record.status) == {"ok"}


@pytest.mark.parametrize("name", registry.instruments())
def test_fields_cover_the_vector(name):
    tool = registry.make_instrument(name)
    places = sorted(fields(tool).values(), key=lambda place: place.start)
    assert places[0].start == 0
    assert places[-1].stop == observation_space(tool).shape[0]
    assert all(a.stop == b.start for a, b in itertools.pairwise(places))


@pytest.mark.parametrize("name", registry.instruments())
def test_different_observations_are_different_vectors(name):
    """As far as exercises go that can be met: nothing that a mind is shown is lost."""
    series, shown = Series(name, {}), {}
    for i in range(1 if series.tool.adaptive else 12):
        episode = series.begin(3, {"exercise": i})
        for _ in range(6):
            for slot, seen in episode.waiting.items():
                shown.setdefault(series.vector(slot).tobytes(), set()).add(repr(seen))
            if episode.record is None:
                first = {s: np.flatnonzero(series.mask(s))[-1] for s in episode.waiting}
                series.play(
                    {s: int(series.action_spaces[s].start) + int(n) for s, n in first.items()}
                )
    assert all(len(seen) == 1 for seen in shown.values())
