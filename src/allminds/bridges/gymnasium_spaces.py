"""Observations as vectors of numbers, and the spaces they and the actions lie in.

What the numbers are is up to the instrument's presentation. They depend on the observation and
the number of slots alone, so that a mind that was trained on vectors can be given any observation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Discrete, Instrument
from allminds.core.errors import Error
from allminds.presentation import Presentation

if TYPE_CHECKING:
    from gymnasium import spaces

Vector = NDArray[np.float32]


@lru_cache(maxsize=64)
def presentation(instrument: str) -> Presentation:
    """Make the presentation of an instrument from its name, for minds that know only the name."""
    return registry.make_instrument(instrument).presentation


def vector(shown: Presentation, observation: Any, slots: int) -> Vector:
    """Convert an observation to a vector."""
    return np.array([*shown.vector(observation, slots)], np.float32)


def fields(tool: Instrument) -> dict[str, slice]:
    """Return the slice of the vector that each field takes up."""
    places, at = {}, 0
    for field in tool.presentation.fields():
        places[field.name] = slice(at, at + field.size)
        at += field.size
    return places


def observation_space(tool: Instrument) -> spaces.Box:
    """Make the box that contains all vectors of an instrument."""
    from gymnasium import spaces

    found = tool.presentation.fields()
    sizes = [field.size for field in found]
    low = np.repeat([field.low for field in found], sizes).astype(np.float32)
    high = np.repeat([field.high for field in found], sizes).astype(np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def actions(shown: Presentation, space: Any) -> Discrete:
    """Extend the actions of a slot in one exercise to those it has in all exercises."""
    if not isinstance(space, Discrete):
        raise Error(f"{shown.tool.name}: only discrete actions can be bridged, not {space!r}")
    return Discrete(shown.most_actions or space.n, space.start)


def mask(shown: Presentation, space: Any, observation: Any) -> NDArray[np.int8]:
    """Return 1 for every action that is allowed now, and 0 for all other actions."""
    everything = actions(shown, space)
    legal = getattr(observation, "legal", None)
    chosen = range(space.start, space.start + space.n) if legal is None else legal
    found = np.zeros(everything.n, np.int8)
    found[[action - everything.start for action in chosen]] = 1
    return found


def action_space(tool: Instrument, slot: int) -> spaces.Discrete[np.int64]:
    """Make the action space of a slot, with the instrument's own numbers."""
    from gymnasium import spaces

    own = actions(tool.presentation, tool.exercise(0, 0).environment.actions[slot])
    return spaces.Discrete(own.n, start=own.start)
