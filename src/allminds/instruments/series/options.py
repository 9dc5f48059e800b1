"""Five options for a question: the answer among letters that a mind may well think of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from allminds.core.seeding import Random
from allminds.instruments.series.environment import BLANK, LETTERS, Item
from allminds.instruments.series.minds import (
    LetterMind,
    MaxDistance,
    MinDistance,
    Mode,
    Pattern,
    later,
)

TEMPTED: tuple[LetterMind, ...] = (
    MinDistance(), MaxDistance(), Mode(), Pattern(1), Pattern(2), Pattern(3), Pattern(4)
)  # fmt: skip


def five_options(shown: str, answer: str, rivals: Iterable[str], random: Random) -> str:
    """Draw the answer and four distractors, shuffled by words 0..4.

    Distractors are distinct letters from the cheapest rival explanations, then what simple minds
    answer, then letters within two of those shown.
    """
    found = [answer]
    for letter in (*rivals, *_tempting(shown), *_near(shown), *LETTERS):
        if letter not in found:
            found.append(letter)
        if len(found) == 5:
            break
    for place in range(4, 0, -1):
        other = random.below_at(place + 1, place)
        found[place], found[other] = found[other], found[place]
    return "".join(found)


def _tempting(shown: str) -> Iterator[str]:
    item = Item(shown, LETTERS)
    for mind in TEMPTED:
        letter = mind.letter(item)
        if letter is not None:
            yield letter


def _near(shown: str) -> Iterator[str]:
    for distance in (1, -1, 2, -2):
        for letter in shown.replace(BLANK, ""):
            yield later(letter, distance)
