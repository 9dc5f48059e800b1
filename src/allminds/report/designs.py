"""Crossed designs: the tests of a plan that are cells of one design, and its factors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from allminds.runs.plan import Test

MOST_SECTIONS = 6  # a design of more cells than this has one table instead of a section a cell


@dataclass
class Design:
    """The cells of one crossed design, by their numbers in the plan, and the levels they have."""

    cells: list[int] = field(default_factory=list)
    levels: dict[str, list[str]] = field(default_factory=dict)  # of settings, in plan order
    words: dict[str, list[str]] = field(default_factory=dict)  # that minds' names are made of

    @property
    def folded(self) -> bool:
        """True if there are too many cells for a section each."""
        return len(self.cells) > MOST_SECTIONS

    @property
    def full(self) -> bool:
        """True if every combination of levels has its cell."""
        return len(self.cells) == math.prod(map(len, self.levels.values()))

    def add(self, number: int, test: Test) -> None:
        """Add one more cell with its levels and words."""
        self.cells.append(number)
        for name, level in test.levels.items():
            _note(self.levels, name, level)
        for words in test.words.values():
            for name, word in words.items():
                _note(self.words, name, word)


def designs(tests: Sequence[Test]) -> list[Design]:
    """Find the crossed designs of a plan: tests in a row that differ in their levels only."""
    found: list[Design] = []
    last, seen = None, set[tuple[str, ...]]()
    for number, test in _crossed(tests):
        like = (test.instrument, test.episodes, tuple(test.levels))
        levels = tuple(test.levels.values())
        if like != last or levels in seen or number - 1 not in found[-1].cells:
            found.append(Design())
            seen = set()
        last = like
        seen.add(levels)
        found[-1].add(number, test)
    return found


def by_words(words: dict[str, dict[str, str]]) -> dict[str, str]:
    """Name minds by their words (auction / local-search), unless two would look alike."""
    short = {mind: " / ".join(own.values()) or mind for mind, own in words.items()}
    all_short = list(short.values())
    return {mind: text if all_short.count(text) == 1 else mind for mind, text in short.items()}


def _crossed(tests: Sequence[Test]) -> Iterator[tuple[int, Test]]:
    return (
        (number, test)
        for number, test in enumerate(tests)
        if test.levels or any(test.words.values())
    )


def _note(table: dict[str, list[str]], name: str, level: str) -> None:
    levels = table.setdefault(name, [])
    if level not in levels:
        levels.append(level)
