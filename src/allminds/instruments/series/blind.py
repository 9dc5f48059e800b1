"""What a mind gets on a set of questions without looking at the series: it should be chance.

Every shortcut sees the options alone (or, with a free answer, nothing at all). They are printed
with every set, so that a score can be read against what the options give away.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from allminds.instruments.series.environment import LETTERS


@dataclass(frozen=True)
class Shortcut:
    """How often a shortcut hit, against how often chance does."""

    name: str
    hits: float
    stderr: float  # of chance, for as many questions
    chance: float

    @property
    def at_chance(self) -> bool:
        """Within four standard errors, so a fair set fails once in some 16,000 times."""
        return abs(self.hits - self.chance) <= 4 * self.stderr


def battery(options: Sequence[str], answers: Sequence[str]) -> list[Shortcut]:
    """The shortcuts for questions with these options; for free answers that is all letters."""
    learnt = _learnt(options, answers)
    ways: dict[str, Callable[[int], str]] = {"the likeliest, by other questions": learnt}
    if any(given != LETTERS for given in options):
        ways["the nearest to the others"] = lambda n: _nearest(options[n])
        ways["the farthest from the others"] = lambda n: _nearest(options[n], -1)
        for place in range(len(options[0])):
            ways[f"place {place + 1}"] = lambda n, place=place: options[n][place]  # type: ignore[misc]
            ways[f"number {place + 1} of the alphabet"] = lambda n, place=place: (  # type: ignore[misc]
                sorted(options[n])[place]
            )
    return [
        _shortcut(name, options, [way(n) == answers[n] for n in range(len(answers))])
        for name, way in sorted(ways.items())
    ]


def _shortcut(name: str, options: Sequence[str], hits: Sequence[bool]) -> Shortcut:
    chance = 1 / len(options[0])
    error = math.sqrt(chance * (1 - chance) / len(hits))
    return Shortcut(name, sum(hits) / len(hits), error, chance)


def _nearest(options: str, sign: int = 1) -> str:
    """The option with the least distance to the others round the circle; the first of equals."""

    def distance(one: str) -> int:
        apart = [abs(ord(one) - ord(other)) for other in options]
        return sign * sum(min(gap, len(LETTERS) - gap) for gap in apart)

    return min(options, key=distance)


def _learnt(options: Sequence[str], answers: Sequence[str]) -> Callable[[int], str]:
    """The letter that is right most often when on offer, learnt from the other half of the set."""
    halves = []
    for half in (0, 1):
        right = Counter(answers[half::2])
        offered = Counter(letter for given in options[half::2] for letter in given)
        halves.append({letter: right[letter] / max(offered[letter], 1) for letter in LETTERS})
    return lambda n: max(options[n], key=lambda letter: halves[(n + 1) % 2][letter])
