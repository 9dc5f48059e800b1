"""Minds for letter series, the ceiling by construction, and votes of several minds.

Chmait et al. (2017, Table 1) define them for the next letter. Asked for a letter inside, they
continue the part before the blank; where that is shorter than two letters, the part after it read
backwards (decided). A letter that is not among the options is answered by lot among them (decided).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from allminds.contracts import Failure, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.seeding import Random
from allminds.core.watch import Failed, malformed
from allminds.instruments.series.items import BLANK, LETTERS, NO_ANSWER, Answers, Item
from allminds.registry import mind
from allminds.voting import majority_vote, vote, vote_weights

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


# ---------------------------------------------------------------- votes on the same item


_MEMBERS = 1  # part 0 of the random words is the vote's own, part 1 + i is member i's


@dataclass
class Ballot(MindBase):
    """Members answer apart, each with random words of its own; override `elect`."""

    members: Sequence[Subject]

    takes_members = True

    def __post_init__(self) -> None:
        """Require members that are single minds and do not practise."""
        name = type(self).__name__.lower()
        if not self.members:
            raise Error(f"{name} has no members; name them in brackets, as {name}(mode,pattern)")
        if any(member.group or member.traits.practice for member in self.members):
            raise Error(f"{name}: a member must be a single mind that does not practise")
        sure = all(member.traits.deterministic for member in self.members)
        self.traits = Traits(deterministic=sure and len(self.members) == 1)

    def begin(self, task: Task) -> None:
        """Make the minds of the members."""
        self.minds = [member.make() for member in self.members]
        for member in self.minds:
            if hasattr(member, "begin"):
                member.begin(task)

    def act(self, observation: Item, random: Random) -> int:
        """Return what the members elect; no answer where they cannot agree."""
        space = Answers(len(observation.options), labels=tuple(observation.options))
        answers = []
        for n, member in enumerate(self.minds):
            answer = member.act(observation, random.part(_MEMBERS + n))
            if not space.contains(answer):
                raise Failed(answer if isinstance(answer, Failure) else malformed(answer, space))
            answers.append(operator.index(answer))
        given = [None if answer == NO_ANSWER else answer for answer in answers]
        elected = self.elect(given, observation, random.part(0))
        return NO_ANSWER if elected is None else elected

    def elect(self, answers: list[int | None], item: Item, random: Random) -> int | None:
        """Return one of the answers, or None."""
        raise NotImplementedError


@dataclass
@mind("vote", INSTRUMENT)
class Vote(Ballot):
    """Takes the answer of more than half of those that answered, else none (Chmait et al. 2017)."""

    def elect(self, answers: list[int | None], item: Item, random: Random) -> int | None:
        """Elect the answer of more than half."""
        return majority_vote(answers, random)


@dataclass
@mind("plurality", INSTRUMENT)
class Plurality(Ballot):
    """Takes the answer with most votes, by lot on ties."""

    def elect(self, answers: list[int | None], item: Item, random: Random) -> int | None:
        """Elect the answer with most votes."""
        return vote(answers, random)


@dataclass
@mind("weighted-vote", INSTRUMENT)
class WeightedVote(Ballot):
    """A vote counts log((m-1)p/(1-p)), p its member's accuracy: p=0.4/0.5/0.6, in their order."""

    p: str = ""

    def __post_init__(self) -> None:
        """Require as many accuracies as members."""
        super().__post_init__()
        try:
            self.accuracies = [float(text) for text in self.p.split("/")]
        except ValueError:
            self.accuracies = []
        count = len(self.members)
        if len(self.accuracies) != count or not all(0 < p < 1 for p in self.accuracies):
            raise Error(
                f"weighted-vote: p must be {count} numbers in (0, 1) with / between, not '{self.p}'"
            )

    def elect(self, answers: list[int | None], item: Item, random: Random) -> int | None:
        """Elect the answer with most weight."""
        weights = vote_weights(self.accuracies, len(item.options))
        return vote(answers, random, weights.tolist(), range(len(item.options)))
