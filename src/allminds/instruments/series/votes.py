"""Votes on the same item: several minds in one slot, one answer."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from allminds.contracts import Failure, MindBase, Subject, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.watch import Failed, malformed
from allminds.instruments.series.environment import NO_ANSWER, Answers, Item
from allminds.instruments.series.minds import INSTRUMENT
from allminds.registry import mind
from allminds.voting import majority_vote, vote, vote_weights

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
