"""Exercises one by one, as `reset` and `step` ask for them; observations as vectors, pictures.

What the numbers are is up to the instrument's presentation. They depend on the observation and
the number of slots alone, so that a mind that was trained on vectors can be given any observation.
"""

from __future__ import annotations

import io
import math
import operator
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Discrete, Instrument, Record, legal
from allminds.core.errors import Error
from allminds.episode import Episode
from allminds.presentation import Presentation

if TYPE_CHECKING:
    from gymnasium import spaces

Vector = NDArray[np.float32]
Pixels = NDArray[np.uint8]  # [row, column, red green blue]
MODES = ("ansi", "rgb_array")  # of rendering: text, pixels


@lru_cache(maxsize=64)
def presentation(instrument: str) -> Presentation:
    """Make the presentation of an instrument from its name, for minds that know only the name."""
    return registry.make_instrument(instrument).presentation


def vector(shown: Presentation, observation: Any, slots: int) -> Vector:
    """Convert an observation to a vector."""
    return np.array([*shown.vector(observation, slots)], np.float32)


def fields(tool: Instrument, slot: int = 0) -> dict[str, slice]:
    """Return the slice of the vector of a slot that each field takes up."""
    places, at = {}, 0
    for field in tool.presentation.fields_of(slot):
        places[field.name] = slice(at, at + field.size)
        at += field.size
    return places


def observation_space(tool: Instrument, slot: int = 0) -> spaces.Box:
    """Make the box that contains all vectors of a slot of an instrument."""
    from gymnasium import spaces

    found = tool.presentation.fields_of(slot)
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
    found = np.zeros(everything.n, np.int8)
    found[[action - everything.start for action in space.allowed(observation)]] = 1
    return found


def action_space(tool: Instrument, slot: int) -> spaces.Discrete[np.int64]:
    """Make the action space of a slot, with the instrument's own numbers."""
    from gymnasium import spaces

    own = actions(tool.presentation, tool.exercise(0, 0).environment.actions[slot])
    return spaces.Discrete(own.n, start=own.start)


# ---------------------------------------------------------------- one by one


class Series:
    """The exercises of an instrument, in the order in which calls of `reset` ask for them.

    ``begin(seed=s, options={"exercise": i})`` begins exercise i of seed s; without the option a
    seed begins at exercise 0, and without a seed the next exercise of the same seed follows. The
    exercises of an adaptive instrument depend on the records of the same administration, which are
    kept; an exercise that was not finished is begun again.
    """

    def __init__(self, instrument: str | type[Instrument], settings: Mapping[str, Any]) -> None:
        self.tool = registry.make_instrument(instrument, settings)
        self.shown = self.tool.presentation
        self.action_spaces = [action_space(self.tool, n) for n in range(self.tool.slots)]
        self.masked = self.shown.most_actions is not None or self._some_forbidden()
        self.seed, self.next = 0, 0
        self.records: dict[int, Record] = {}  # of this seed, where they matter
        self.episode: Episode | None = None

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> Episode:
        """Begin the exercise that a reset asks for."""
        if seed is not None and seed != self.seed:
            self.records = {}
        wanted = exercise_number(options)
        index = wanted if wanted is not None else 0 if seed is not None else self.next
        self.seed = self.seed if seed is None else seed
        first = index - index % self.tool.sitting
        missing = [n for n in range(first, index) if n not in self.records]
        if missing and self.tool.adaptive:
            if wanted is not None:
                raise Error(
                    f"exercise {index} of {self.tool.name} depends on those before it, of which "
                    f"{missing[0]} was not played to its end; begin with exercise {first}"
                )
            index = missing[0]
        history = [self.records[n] for n in range(first, index)] if self.tool.adaptive else []
        self.records = {n: record for n, record in self.records.items() if n < index}
        self.next = index + 1
        self.episode = Episode(self.tool.exercise(self.seed, index, history))
        return self.episode

    def playing(self) -> Episode:
        """Return the exercise that was begun last; raise an `Error` if there is none."""
        if self.episode is None:
            raise Error(f"{self.tool.name}: nothing was begun; call reset first")
        return self.episode

    def play(self, actions: Mapping[int, Any]) -> tuple[float, ...]:
        """Play one step and return the reward of each slot.

        An action that does not exist ends the exercise. The mind that took it then gets the
        difference between the score of a failure and its rewards so far, so that its return is
        that score and ending an exercise never pays; the other minds get 0.
        """
        episode = self.playing()
        made = episode.play({slot: _plain(action) for slot, action in actions.items()})
        if episode.record is not None and self.tool.adaptive:
            self.records[episode.exercise.index] = episode.record
        if not made:
            return tuple(self._forfeit(slot) for slot in range(self.tool.slots))
        return tuple(float(reward) for reward in episode.rewards[-1])

    def _forfeit(self, slot: int) -> float:
        """Compute the last reward of a slot in an exercise that ended early by a failure."""
        episode = self.playing()
        assert episode.record is not None
        score = episode.record.score[slot]
        if score is None:
            return 0.0
        whole = score * (1 if episode.environment.score == "total" else episode.environment.steps)
        return whole - math.fsum(made[slot] for made in episode.rewards)

    # ------------------------------------------------------------ what is seen

    def vector(self, slot: int) -> Vector:
        """Return what a slot sees now, as a vector."""
        return vector(self.shown, self.playing().observe(slot), self.tool.slots)

    def rendered(self, mode: str | None) -> str | Pixels | None:
        """Render the current state in a mode; return None if no mode is set."""
        if mode is None:
            return None
        if mode not in MODES:
            choice = " or ".join(MODES)
            raise Error(f"{self.tool.name} cannot be rendered as '{mode}'; choose {choice}")
        here = self.playing().environment, self.playing().state
        return self.shown.text(*here) if mode == "ansi" else pixels(self.shown.picture(*here))

    def ended(self) -> tuple[bool, bool]:
        """Return (terminated, truncated): whether it ended by itself, or its steps are used up."""
        episode = self.playing()
        if episode.record is None:
            return False, False
        steps = episode.environment.steps
        in_time = set(episode.record.status) == {"ok"} and episode.step == steps > 1
        truncated = in_time and legal(episode.observe(0)) != ()
        return not truncated, truncated

    def info(self, slot: int) -> dict[str, Any]:
        """Return the exercise's id, the actions allowed now and, at the end, status and score."""
        episode = self.playing()
        told: dict[str, Any] = {}
        if self.masked:
            told["action_mask"] = self.mask(slot)
        if episode.step == 0:
            told["exercise"] = episode.exercise.id
        if episode.record is not None:
            told |= {"status": episode.record.status[slot], "reason": episode.record.reason}
            if episode.record.score[slot] is not None:
                told["score"] = episode.record.score[slot]
        return told

    def mask(self, slot: int) -> NDArray[np.int8]:
        """Return 1 for every action that a slot may take now, and 0 for the others."""
        episode = self.playing()
        if slot not in episode.waiting:
            return np.zeros(int(self.action_spaces[slot].n), np.int8)
        own = episode.environment.actions[slot]
        return mask(self.shown, own, episode.waiting[slot])

    def _some_forbidden(self) -> bool:
        first = Episode(self.tool.exercise(0, 0))
        spaces: Any = first.environment.actions
        return any(
            hasattr(seen, "legal") or len(spaces[slot].allowed(seen)) < spaces[slot].n
            for slot, seen in first.waiting.items()
        )


def exercise_number(options: Mapping[str, Any] | None) -> int | None:
    """Read and check the exercise number in the options of a reset."""
    index = (options or {}).get("exercise")
    if index is None:
        return None
    try:
        number = operator.index(index)
    except TypeError:
        number = -1
    if number < 0:
        raise Error(f"options['exercise'] must be the number of an exercise, not {index!r}")
    return number


def _plain(action: Any) -> Any:
    """Convert NumPy's integers to Python's; leave anything else, to be rejected as malformed."""
    if isinstance(action, (np.integer, np.ndarray)):
        try:
            return operator.index(action)
        except TypeError:
            return action
    return action


# ---------------------------------------------------------------- pictures


def pixels(svg: str) -> Pixels:
    """Convert an SVG picture to pixels."""
    try:
        import vl_convert
        from PIL import Image
    except ImportError:
        raise Error(
            "pictures need Pillow and vl-convert-python, of which one is not installed: "
            "pip install 'allminds[rl]'"
        ) from None
    with Image.open(io.BytesIO(vl_convert.svg_to_png(svg))) as image:
        return np.array(image.convert("RGB"))
