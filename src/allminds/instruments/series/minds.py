"""Minds for letter series, the ceiling by construction, and votes of several minds.

Chmait et al. (2017, Table 1) define them for the next letter. Asked for a letter inside, they
continue the part before the blank; where that is shorter than two letters, the part after it read
backwards (decided). A letter that is not among the options is answered by lot among them (decided).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from allminds.contracts import MindBase, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.series.items import BLANK, LETTERS, NO_ANSWER, Item
from allminds.registry import mind

INSTRUMENT = "c-test"


def run_up(item: Item) -> str:
    """Return the letters that lead to the blank."""
    before, _, after = item.shown.partition(BLANK)
    return before if len(before) >= 2 or len(after) < 2 else after[::-1]


def later(letter: str, distance: int) -> str:
    """Return the letter so many places on, round the alphabet."""
    return LETTERS[(LETTERS.index(letter) + distance) % 26]


def distances(letters: str, apart: int = 1) -> list[int]:
    """List d(θ_{i+y} - θ_i), 0..25, between letters y apart (Chmait et al. 2017, Definition 2)."""
    pairs = zip(letters, letters[apart:], strict=False)
    return [(LETTERS.index(b) - LETTERS.index(a)) % 26 for a, b in pairs]


class LetterMind(MindBase):
    """A mind that answers with a letter; override `letter`."""

    def letter(self, item: Item) -> str | None:
        """Return the letter for the blank, or None for none."""
        raise NotImplementedError

    def act(self, observation: Item, random: Random) -> int:
        """Find its letter among the options."""
        letter = self.letter(observation)
        if letter is None:
            return NO_ANSWER
        place = observation.options.find(letter)
        return place if place >= 0 else random.below(len(observation.options))


@mind("mode", INSTRUMENT)
class Mode(LetterMind):
    """Answers the most frequent letter, the left-most among equals."""

    def letter(self, item: Item) -> str:
        """Return the most frequent of all letters shown."""
        shown = item.shown.replace(BLANK, "")
        return max(shown, key=shown.count)


@dataclass
@mind("blind", INSTRUMENT)
class Blind(LetterMind):
    """Answers one letter without looking: z is right most often among fresh series."""

    always: str = "z"

    def __post_init__(self) -> None:
        """Require one letter of the alphabet."""
        if len(self.always) != 1 or self.always not in LETTERS:
            raise Error(f"blind: always must be one of a..z, not '{self.always}'")

    def letter(self, item: Item) -> str:
        """Return its letter, whatever is shown."""
        return self.always


@mind("min-repetition", INSTRUMENT)
class MinRepetition(LetterMind):
    """Answers the least frequent letter, the left-most among equals."""

    def letter(self, item: Item) -> str:
        """Return the least frequent of all letters shown."""
        shown = item.shown.replace(BLANK, "")
        return min(shown, key=shown.count)


@dataclass
class Distance(LetterMind):
    """Shared by the two distance minds: a distance between neighbours is added to the last letter.

    The text and the formula of Chmait et al. (2017) disagree: by `frequency` is the formula (the
    least or most frequent distance, the first among equals), by `value` the text (the smallest or
    largest).
    """

    by: Literal["frequency", "value"] = "frequency"

    def __post_init__(self) -> None:
        """Require that `by` is one of the two choices."""
        if self.by not in ("frequency", "value"):
            raise Error(f"by must be frequency or value, not '{self.by}'")

    def choose(self, found: list[int]) -> int:
        """Choose one of the distances."""
        raise NotImplementedError

    def letter(self, item: Item) -> str:
        """Return the last letter, moved on by the chosen distance."""
        letters = run_up(item)
        return later(letters[-1], self.choose(distances(letters) or [0]))


@dataclass
@mind("min-distance", INSTRUMENT)
class MinDistance(Distance):
    """Adds the least frequent distance between neighbours to the last letter."""

    def choose(self, found: list[int]) -> int:
        """Choose the least frequent, or the smallest."""
        return min(found) if self.by == "value" else min(found, key=found.count)


@dataclass
@mind("max-distance", INSTRUMENT)
class MaxDistance(Distance):
    """Adds the most frequent distance between neighbours to the last letter."""

    def choose(self, found: list[int]) -> int:
        """Choose the most frequent, or the largest."""
        return max(found) if self.by == "value" else max(found, key=found.count)


@dataclass
@mind("pattern", INSTRUMENT)
class Pattern(LetterMind):
    """Continues the pattern of distances between letters y apart (Chmait et al. 2017, Table 1)."""

    y: int = 1

    traits = Traits(deterministic=True)

    def __post_init__(self) -> None:
        """Require that `y` is at least 1."""
        if self.y < 1:
            raise Error(f"pattern: y must be 1 or more, not {self.y}")

    def letter(self, item: Item) -> str | None:
        """Return the letter y before the blank, moved on; none where the series is too short."""
        letters = run_up(item)
        found = distances(letters, self.y)
        if not found:
            return None
        return later(letters[len(letters) - self.y], next_distance(found))


def next_distance(found: list[int]) -> int:
    """Repeat the stretch between two occurrences of the list of unique distances.

    So do Chmait et al. (2017, Table 1). An index past the end of the pattern falls back to its
    first element (decided).
    """
    unique = list(Counter(found))
    span = len(unique)
    starts = [i for i in range(len(found) - span + 1) if found[i : i + span] == unique]
    if len(starts) > 1:
        pattern = found[starts[0] : starts[1]]
    elif len(found) > 1:
        pattern = [found[-2]]  # the paper's D_y(|D_y| - 1), counted from 1
    else:
        pattern = found
    index = len(found) - len(pattern) * len(starts)
    return pattern[index] if 0 <= index < len(pattern) else pattern[0]


@dataclass
@mind("levin-search", INSTRUMENT)
class LevinSearch(LetterMind):
    """Answers by the cheapest program that prints all that is shown: a ceiling by design.

    A search that was made when the question was certified is not made again.
    """

    limit: int = 10  # instructions in a program
    most_k: int = 15  # gives up where no program of this k or less fits

    traits = Traits(deterministic=True)

    def __post_init__(self) -> None:
        """Check the bounds, beyond which a search does not end in time."""
        for name, most in (("limit", 13), ("most_k", 17)):
            if not 1 <= getattr(self, name) <= most:
                raise Error(f"levin-search: {name} must be in 1..{most}, not {getattr(self, name)}")

    def letter(self, item: Item) -> str | None:
        """Return the cheapest program's letter at the blank; none where no program fits."""
        return _cheapest_letter(item.shown, self.limit, self.most_k)


@lru_cache(maxsize=4096)
def _cheapest_letter(shown: str, limit: int, most_k: int) -> str | None:
    from allminds.complexity.levin import levin
    from allminds.instruments.series.bank import known
    from allminds.instruments.series.fresh import certificate

    certified = known().get(shown) or certificate(shown)
    if certified and len(certified.program) <= limit and certified.k <= most_k:
        return certified.answer
    try:
        return levin(shown, limit=limit, most_k=most_k).letter
    except Error:
        return None
