"""The meaning of `reset` and `step`, for one mind or several: exercises are played one by one."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.bridges import gymnasium_spaces as spaces
from allminds.contracts import Instrument, Record
from allminds.core.errors import Error
from allminds.episode import Episode


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
        self.action_spaces = [spaces.action_space(self.tool, n) for n in range(self.tool.slots)]
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

    def vector(self, slot: int) -> spaces.Vector:
        """Return what a slot sees now, as a vector."""
        return spaces.vector(self.shown, self.playing().observe(slot), self.tool.slots)

    def ended(self) -> tuple[bool, bool]:
        """Return (terminated, truncated): whether it ended by itself, or its steps are used up."""
        episode = self.playing()
        if episode.record is None:
            return False, False
        steps = episode.environment.steps
        in_time = set(episode.record.status) == {"ok"} and episode.step == steps > 1
        truncated = in_time and getattr(episode.observe(0), "legal", None) != ()
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
        return spaces.mask(self.shown, own, episode.waiting[slot])

    def _some_forbidden(self) -> bool:
        first = Episode(self.tool.exercise(0, 0))
        return any(hasattr(seen, "legal") for seen in first.waiting.values())


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
