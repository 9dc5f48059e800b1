"""Observations as vectors of numbers, and the spaces they and the actions lie in.

A vector is made of named fields. It depends on the observation and the number of slots alone, so
that a mind that was trained on vectors can be given any observation. Lists that vary in length are
filled up with -1, words with 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Discrete, Instrument
from allminds.core.errors import Error
from allminds.instruments.lambda_.space import MOST
from allminds.instruments.series.environment import BLANK, LETTERS

if TYPE_CHECKING:
    from gymnasium import spaces

Vector = NDArray[np.float32]
NOBODY = -1
LONGEST = 16  # letters of a series
CODES = f" {LETTERS}{BLANK}"  # 0 is nothing, 1..26 the letters, 27 the blank
LARGEST_CODE = 2**16 - 1  # of a panel


class Field(NamedTuple):
    """Some numbers of a vector."""

    name: str
    size: int
    low: float
    high: float


class Encoding(NamedTuple):
    """How the observations of an instrument become vectors."""

    fields: Callable[[Any], Sequence[Field]]  # of an instrument with its settings
    numbers: Callable[[Any, int], Iterable[float]]  # of an observation and the number of slots
    actions: int | None = None  # the most an exercise has, where they differ in it


def _filled(numbers: Sequence[float], size: int, filler: float = NOBODY) -> tuple[float, ...]:
    return (*numbers, *[filler] * (size - len(numbers)))


# ---------------------------------------------------------------- our instruments


def _torus_fields(tool: Any) -> Sequence[Field]:
    given = tool.settings
    sight = (2 * given.range + 1) ** 2
    return Field("cells", sight, 1, given.rows * given.cols), Field("rewards", sight, -1, 1)


def _torus_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return *seen.cells, *seen.rewards


def _cells_fields(tool: Any) -> Sequence[Field]:
    return (
        Field("symbols", 2, NOBODY, MOST - 1),
        Field("cell", 1, 0, MOST - 1),
        Field("reachable", MOST, NOBODY, MOST - 1),
        Field("others", tool.slots - 1, NOBODY, MOST - 1),
        Field("cells", 1, 0, MOST),
    )


def _cells_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return *seen.symbols, seen.cell, *_filled(seen.reachable, MOST), *seen.others, seen.cells


def _series_fields(tool: Any) -> Sequence[Field]:
    letters = len(LETTERS)
    return Field("shown", LONGEST, 0, letters + 1), Field(
        "options", tool.settings.options, 1, letters
    )


def _series_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    if len(seen.shown) > LONGEST:
        raise Error(f"c-test: '{seen.shown}' is longer than the {LONGEST} letters of a vector")
    shown = [CODES.index(letter) for letter in seen.shown]
    return *_filled(shown, LONGEST, 0), *(CODES.index(letter) for letter in seen.options)


def _matrices_fields(tool: Any) -> Sequence[Field]:
    panels = 8 + tool.settings.candidates
    seen = tool.exercise(0, 0).environment.observe(None, 0)
    return (Field("panels", panels * tool.show(seen, "array").shape[1], 0, LARGEST_CODE),)


def _matrices_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    from allminds.instruments.matrices.making.rules import encoded

    return [code for panel in (*seen.cells, *seen.options) for code in encoded(panel)]


def _round_fields(tool: Any) -> Sequence[Field]:
    last = len(tool.environment.labels) - 1
    return (
        Field("step", 1, 0, tool.environment.steps),
        Field("own", 1, NOBODY, last),
        Field("others", tool.slots - 1, NOBODY, last),
    )


def _round_numbers(seen: Any, slots: int) -> Iterable[float]:
    return seen.step, seen.own, *_filled(seen.others, slots - 1)


def _stock_fields(tool: Any) -> Sequence[Field]:
    world = tool.environment
    return Field("step", 1, 0, world.steps), Field("stock", 1, 0, world.capacity)


def _stock_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return seen.step, seen.stock


def _public_fields(tool: Any) -> Sequence[Field]:
    return (
        Field("step", 1, 0, tool.environment.steps),
        Field("attitude", 1, 0, 1),
        Field("others", tool.slots - 1, 0, 1),
    )


def _public_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return seen.step, seen.attitude, *seen.others


def _board_fields(tool: Any) -> Sequence[Field]:  # noqa: ARG001
    return Field("turn", 1, 1, 2), Field("board", 9, 0, 2)


def _board_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return seen.turn + 1, *(".xo".index(mark) for mark in seen.cells)


def _chase_fields(tool: Any) -> Sequence[Field]:
    world = tool.environment
    return (
        Field("step", 1, 0, world.steps),
        Field("slot", 1, 0, tool.slots - 1),
        Field("cells", tool.slots, 1, world.torus.cells),
    )


def _chase_numbers(seen: Any, slots: int) -> Iterable[float]:  # noqa: ARG001
    return seen.step, seen.slot, *seen.cells


_TORUS = Encoding(_torus_fields, _torus_numbers)
_CELLS = Encoding(_cells_fields, _cells_numbers, MOST)
_ROUND = Encoding(_round_fields, _round_numbers)

ENCODINGS: dict[str, Encoding] = {  # by instrument; an instrument of your own may be added
    "c-test": Encoding(_series_fields, _series_numbers),
    "commons": Encoding(_stock_fields, _stock_numbers),
    "lambda": _CELLS,
    "lambda-anytime": _CELLS,
    "lambda-staircase": _CELLS,
    "lambda-star": _TORUS,
    "lambda-star-coordination": _TORUS,
    "lambda-star-coverage": _TORUS,
    "lambda-star-responsive": _TORUS,
    "landscape": _TORUS,
    "matching-pennies": _ROUND,
    "matrices": Encoding(_matrices_fields, _matrices_numbers),
    "noughts-and-crosses": Encoding(_board_fields, _board_numbers),
    "pluralistic-ignorance": Encoding(_public_fields, _public_numbers),
    "predator-prey": Encoding(_chase_fields, _chase_numbers),
    "prisoners-dilemma": _ROUND,
    "public-goods": _ROUND,
    "rock-paper-scissors": _ROUND,
    "stag-hunt": _ROUND,
    "team-lambda": _CELLS,
    "team-lambda-star": _TORUS,
}


# ---------------------------------------------------------------- vectors and spaces


def encoding(instrument: str) -> Encoding:
    """How an instrument's observations become vectors."""
    if instrument not in ENCODINGS:
        raise Error(
            f"it is not known how observations of '{instrument}' become numbers; "
            "put an Encoding into allminds.bridges.gymnasium_spaces.ENCODINGS"
        )
    return ENCODINGS[instrument]


def vector(instrument: str, observation: Any, slots: int) -> Vector:
    """An observation as a vector."""
    return np.array([*encoding(instrument).numbers(observation, slots)], np.float32)


def fields(tool: Instrument) -> dict[str, slice]:
    """Where the fields of a vector are."""
    places, at = {}, 0
    for field in encoding(tool.name).fields(tool):
        places[field.name] = slice(at, at + field.size)
        at += field.size
    return places


def observation_space(tool: Instrument) -> spaces.Box:
    """The box that all vectors of an instrument lie in."""
    from gymnasium import spaces

    found = encoding(tool.name).fields(tool)
    sizes = [field.size for field in found]
    low = np.repeat([field.low for field in found], sizes).astype(np.float32)
    high = np.repeat([field.high for field in found], sizes).astype(np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def actions(instrument: str, space: Any) -> Discrete:
    """The actions of a slot in all exercises, from its actions in one."""
    if not isinstance(space, Discrete):
        raise Error(f"{instrument}: only discrete actions can be bridged, not {space!r}")
    return Discrete(encoding(instrument).actions or space.n, space.start)


def mask(instrument: str, space: Any, observation: Any) -> NDArray[np.int8]:
    """1 for each of the actions of all exercises that may be taken in this one, now."""
    everything = actions(instrument, space)
    legal = getattr(observation, "legal", None)
    chosen = range(space.start, space.start + space.n) if legal is None else legal
    found = np.zeros(everything.n, np.int8)
    found[[action - everything.start for action in chosen]] = 1
    return found


def action_space(tool: Instrument, slot: int) -> spaces.Discrete[np.int64]:
    """The actions of a slot, numbered as the instrument numbers them."""
    from gymnasium import spaces

    own = actions(tool.name, tool.exercise(0, 0).environment.actions[slot])
    return spaces.Discrete(own.n, start=own.start)
