"""Who does the work: what each member adds to its group, by replays without some of the members.

The group plays some exercises, and so does every coalition of its members, on the same exercises
with the same random words. v(S) is the score of coalition S. A committee plays without the members
that are not in S, and without any it is chance: the floor mind, which draws from the group's own
words. In a team, which has a slot for each member, the floor mind takes the place of those that are
not in S; what such a team of floor minds scores above chance is the work of the protocol.

The contribution of a member is its Shapley value (Shapley 1953): what it adds to those before it,
averaged over all orders of the members. Up to eight members all coalitions are played. Of more,
every exercise has an order drawn for it and the reverse of that order (Castro, Gómez and Tejada
2009), so that the interval over exercises holds the error of the sample of orders too. Language
models are left out one by one, which is cheaper and does not sum to the value of the group.

Scores are whole multiples of 2^-40 here, and contributions whole multiples of 2^-40/n!, so that
they sum to the group's score minus chance exactly in every exercise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import factorial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Instrument, MindBase, Task, Traits
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.groups import OWN
from allminds.core.line_up import LineUp, Name, Seat, Subject, parse, parse_all
from allminds.core.seeding import Random
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.inference import MARGIN, Difference, Estimate, Plays, corrected, difference, estimate
from allminds.inference.estimates import plays_of
from allminds.statistics.gains import EPISODES, check_replays
from allminds.statistics.redundancy import Redundancy, redundancy

MOST_EXACT = 8  # members, up to which all coalitions are played
MOST_MEMBERS = 62  # a coalition is the bits of a number
CHANCE = -1  # the number that chance has among the coalitions of a team
FINE = 2.0**40  # scores are multiples of 1 / FINE
Whole = NDArray[np.int64]
How = Literal["exact", "sampled", "left out"]


@dataclass(frozen=True)
class Share:
    """What a member, or what it says, adds to the score of its group."""

    member: int  # from 1; 0 is the protocol of a team
    name: str
    found: Difference  # from nothing
    beside: Difference | None = None  # from the mean of the other members
    alone: float | None = None  # its score as a group of one

    @property
    def word(self) -> str:
        """The verdict: adds, harms, equivalent or undecided; nothing, if in no exercise."""
        if not self.found.differs:
            return "nothing"
        return self.found.gained.replace("gains", "adds").replace("loses", "harms")

    @property
    def unlike(self) -> str:
        """The verdict beside the other members: more, less, equivalent or undecided."""
        if self.beside is None:
            return "–"
        return {1: "more", -1: "less", 0: self.beside.verdict}[self.beside.sign]

    def as_json(self) -> dict[str, Any]:
        """Return the share as a row of a table."""
        low, high = self.found.interval or (None, None)
        row = {"member": self.member, "name": self.name, "alone": self.alone,
               "adds": self.found.mean, "low": low, "high": high, "p_holm": self.found.p_holm,
               "units": self.found.units[0], "verdict": self.word}  # fmt: skip
        if self.beside is not None:
            row |= {"more_than_others": self.beside.mean, "unlike_others": self.unlike}
        return row


@dataclass(frozen=True)
class Worth:
    """What the members of a group add to its score, and what their messages do."""

    group: str
    how: How
    score: Estimate
    chance: float | None  # the score of the empty group, where it was played
    shares: list[Share]
    senders: list[Share]  # what is lost if nobody hears a member; of those that say something
    redundancy: Redundancy | None
    parts: Whole  # [member, exercise]: contributions, in units of 1 / `unit`; then the protocol's
    whole: Whole  # [exercise]: the group's score minus chance, in the same units
    unit: float

    def as_json(self) -> dict[str, Any]:
        """Return all figures, as `--json` prints them."""
        return {
            "group": self.group, "how": self.how, "score": self.score.score,
            "ci95": self.score.ci95, "chance": self.chance, "failed": self.score.failed,
            "members": [one.as_json() for one in self.shares],
            "messages": [one.as_json() for one in self.senders],
            "redundancy": None if self.redundancy is None else self.redundancy.as_json(),
        }  # fmt: skip


def worth(
    tool: Instrument, group: str, *, episodes: int = EPISODES, seed: int = 1, margin: float = MARGIN
) -> Worth:
    """Measure what each member adds to a group, which is the first mind of a line-up.

    Parameters
    ----------
    tool : Instrument
        The instrument, with its settings.
    group : str
        The group by its name, such as ``vote(a,b,c)``; in a game, others may follow it.
    episodes : int
        The exercises that each coalition plays.
    seed : int
        The same seed gives the same exercises.
    margin : float
        Contributions that are smaller do not matter.

    Examples
    --------
    What a dictator's subjects answer does not count:

    >>> from allminds import registry
    >>> tool = registry.make_instrument("c-test", {"form": "generated", "k": "7..8"})
    >>> found = worth(tool, "dictator(pattern(y=2),random)", episodes=40)
    >>> [one.word for one in found.shares][1], found.shares[1].found.mean
    ('nothing', 0.0)
    """
    check_replays(tool, episodes)
    watch = Watch()
    with watch.running():
        game = Coalitions(tool, group, seed, episodes, watch)
        how: How = "left out" if game.group.paid else "exact" if game.n <= MOST_EXACT else "sampled"
        parts, unit = {"left out": _left_out, "exact": _exact, "sampled": _sampled}[how](game)
        return _worth(game, how, parts, unit, margin)


# ---------------------------------------------------------------- coalitions


class Coalitions:
    """A group of n members and its coalitions, numbers whose bit i says that member i is there."""

    def __init__(
        self, tool: Instrument, group: str, seed: int, episodes: int, watch: Watch
    ) -> None:
        self.tool, self.seed, self.episodes, self.watch = tool, seed, episodes, watch
        self.name = parse_all(group)[0]
        self.line_up = registry.line_up(group, tool)
        self.group = self.line_up.seats[0].subject
        self.members = self._members()
        self.n, self.all = len(self.members), (1 << len(self.members)) - 1
        self.floor = registry.subject(tool.floor_mind, tool)
        self.kept: dict[int, Plays] = {}
        self.rule = tool.rule()

    def _members(self) -> list[str]:
        """List the members of the group; reject what is no group, and what names no members."""
        names = members_of(self.line_up.seats[0])
        if not names:
            raise Error(f"{self.group.name} is no group whose members could be left out; name one "
                        "with its members, such as vote(a,b,c)")  # fmt: skip
        if self.group.paid and len(names) < 2:
            raise Error(f"{self.group.name} has one member, and there is none to leave out")
        if len(names) > MOST_MEMBERS:
            raise Error(f"{self.group.name} has {len(names)} members; {MOST_MEMBERS} is the most")
        given = {key for key, value in self.name.keywords} & {"drop", "mute"}
        if given:
            raise Error(f"{self.group.name} leaves out members already; give it without "
                        f"{' and '.join(sorted(given))}")  # fmt: skip
        return names

    def subjects(self, coalition: int) -> Callable[[Seat], list[Seat]]:
        """Return what turns a seat of the group into seats of the coalition."""
        away = [n for n in range(self.n) if not coalition >> n & 1]
        if not coalition and not self.group.group:
            lot = Subject("chance", partial(Lot, self.floor), Lot.traits, built_in=True, maker=Lot)
            return lambda seat: [Seat(lot, seat.slots)]
        if not away:
            return lambda seat: [seat]
        if self.group.group:
            names = [parse(self.floor.name if n in away else m) for n, m in enumerate(self.members)]
            numbers = tuple(one for one in self.name.arguments if one.name.isdigit())
            new = replace(self.name, arguments=(*names, *numbers), times=1)
        else:
            new = self._with("drop", "/".join(str(n + 1) for n in away))
        subject = registry.subject(str(new), self.tool)
        return lambda seat: [Seat(subject, seat.slots)]

    def _with(self, keyword: str, value: str) -> Name:
        return replace(self.name, keywords=(*self.name.keywords, (keyword, value)), times=1)

    def played(
        self, seats: Callable[[Seat], list[Seat]], first: int, last: int, traced: int = 0
    ) -> Block:
        """Play some exercises with other seats in the place of the group's."""
        found: list[Seat] = []
        for seat in self.line_up.seats:
            found += seats(seat) if seat.subject.name == self.group.name else [seat]
        line_up = LineUp(self.line_up.name, tuple(found))
        return form(self.tool, line_up, self.watch).play(self.seed, first, last, traced)

    def plays(self, coalition: int) -> Plays:
        """Return the plays of a coalition on all exercises."""
        if coalition not in self.kept:
            block = self.played(self.subjects(coalition), 0, self.episodes)
            self.kept[coalition] = plays_of(block, self.rule)
        return self.kept[coalition]

    def chance(self) -> Plays:
        """Return the plays of chance, which in a team is the floor mind in every slot."""
        if not self.group.group:
            return self.plays(0)
        if CHANCE not in self.kept:
            seats = self.played(lambda seat: [Seat(self.floor, (slot,)) for slot in seat.slots],
                                0, self.episodes)  # fmt: skip
            self.kept[CHANCE] = plays_of(seats, self.rule)
        return self.kept[CHANCE]

    def score(self, coalition: int) -> Whole:
        """Return the scores of a coalition, in units of 1 / FINE."""
        return _whole(self.plays(coalition).score, self.group.name)

    def keep_common(self) -> None:
        """Keep the exercises that no coalition misses; reject plays without any."""
        there = np.all([~np.isnan(plays.score) for plays in self.kept.values()], axis=0)
        if not there.any():
            raise Error(f"{self.group.name}: no exercise was finished by all that were asked")
        self.kept = {key: plays.where(there) for key, plays in self.kept.items()}

    def silent(self, member: int) -> Plays:
        """Return the plays of the group in which nobody hears a member, numbered from 0."""
        subject = registry.subject(str(self._with("mute", str(member + 1))), self.tool)
        block = self.played(lambda seat: [Seat(subject, seat.slots)], 0, self.episodes)
        return plays_of(block, self.rule)

    def speakers(self) -> list[int]:
        """Play the whole group again, and list the members that said something, numbered from 0."""
        if "mute" not in inspect.signature(self.group.maker).parameters:
            return []
        block = self.played(lambda seat: [seat], 0, self.episodes, self.episodes)
        said = {one.sender for _, one in block.messages if one.kind == "says"}
        return [n for n in range(self.n) if str(n + 1) in said]


def members_of(seat: Seat) -> list[str]:
    """List the members of a group by their names; a single mind has none."""
    group = seat.subject
    if registry.takes_members(group.maker):
        names = [one.name for one in group.make().members]
        if names:
            return names
    return [group.alone] * len(seat.slots) if group.group and group.alone else []


class Lot(MindBase):
    """The empty group: the floor mind, with the words that the group draws its own lots from."""

    traits = Traits(one_at_a_time=True)

    def __init__(self, floor: Subject) -> None:
        self.mind = floor.make()

    def begin(self, task: Task) -> None:
        """Begin a play of the floor mind."""
        if hasattr(self.mind, "begin"):
            self.mind.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Act as the floor mind does."""
        return self.mind.act(observation, random.part(OWN))


def _whole(score: NDArray[np.float64], name: str) -> Whole:
    """Convert scores to multiples of 1 / FINE; reject those that are missing."""
    if np.isnan(score).any():
        raise Error(f"{name}: {int(np.isnan(score).sum())} exercises are missing, through no fault "
                    "of the group's; play it again")  # fmt: skip
    return np.rint(score * FINE).astype(np.int64)


# ---------------------------------------------------------------- contributions


def _exact(game: Coalitions) -> tuple[Whole, float]:
    """Sum s!(n-s-1)! (v(S ∪ i) - v(S)) over all coalitions S without i, of s members."""
    n = game.n
    for coalition in range(game.all + 1):
        game.plays(coalition)
    game.chance()
    game.keep_common()
    parts = np.zeros((n, len(game.plays(0))), np.int64)
    for coalition in range(game.all):
        size = coalition.bit_count()
        times, before = factorial(size) * factorial(n - size - 1), game.score(coalition)
        for member in range(n):
            if not coalition >> member & 1:
                parts[member] += times * (game.score(coalition | 1 << member) - before)
    return parts, FINE * factorial(n)


def _sampled(game: Coalitions) -> tuple[Whole, float]:
    """Sum what members add in one order and in its reverse, drawn for each exercise."""
    parts = np.zeros((game.n, game.episodes), np.int64)
    whole, chance = game.score(game.all), game.score(0)
    for exercise in range(game.episodes):
        order = np.random.default_rng([game.seed, exercise]).permutation(game.n)
        for one in (order, order[::-1]):
            there, before = 0, int(chance[exercise])
            for member in one:
                there |= 1 << int(member)
                now = _one(game, there, exercise) if there != game.all else int(whole[exercise])
                parts[member, exercise] += now - before
                before = now
    return parts, FINE * 2


def _one(game: Coalitions, coalition: int, exercise: int) -> int:
    """Return the score of a coalition in one exercise."""
    block = game.played(game.subjects(coalition), exercise, exercise + 1)
    return int(_whole(plays_of(block, game.rule).score, game.group.name)[0])


def _left_out(game: Coalitions) -> tuple[Whole, float]:
    """Subtract the scores of the group without each member from those of the group."""
    for coalition in (game.all, *(game.all & ~(1 << member) for member in range(game.n))):
        game.plays(coalition)
    game.keep_common()
    whole = game.score(game.all)
    parts = [whole - game.score(game.all & ~(1 << member)) for member in range(game.n)]
    return np.stack(parts), FINE


# ---------------------------------------------------------------- estimates


def _worth(game: Coalitions, how: How, parts: Whole, unit: float, margin: float) -> Worth:
    """Estimate contributions, what messages add, and the redundancy of the members."""
    paid = how == "left out"
    senders = [] if paid else _senders(game, margin)
    plays, scale = game.plays(game.all), round(unit / FINE)
    whole = game.score(game.all)
    if not paid:
        chance = _whole(game.chance().score, game.group.name)
        whole = whole - chance
        if game.group.group:
            parts = np.vstack([parts, scale * (game.score(0) - chance)])
    alone = None
    if not paid and not game.group.group:
        alone = np.stack([game.plays(1 << n).score for n in range(game.n)], axis=1)
    return Worth(
        group=game.group.name,
        how=how,
        score=estimate(plays, game.rule),
        chance=None if paid else estimate(game.chance(), game.rule).score,
        shares=_shares(game, how, parts / unit, margin),
        senders=senders,
        redundancy=None if alone is None else redundancy(
            game.name.name, alone, plays.score, game.tool.chance, plays.cluster),
        parts=parts,
        whole=whole * scale,
        unit=unit,
    )  # fmt: skip


def _shares(game: Coalitions, how: How, parts: NDArray[np.float64], margin: float) -> list[Share]:
    """Compare every contribution with nothing and with the mean of the others'."""
    plays, rule = game.plays(game.all), game.rule
    nothing = np.zeros(len(plays))
    # two Shapley values differ by a mean of v(S ∪ i) - v(S ∪ j); sampled orders can by twice that
    wide = replace(rule, low=0.0, high=(2 if how == "sampled" else 1) * (rule.high - rule.low))
    names = [*game.members, *(["the protocol"] if len(parts) > game.n else [])]
    found, beside = [], []
    for member, name in enumerate(names):
        own = plays.scored_as(parts[member])
        found.append(_compared(own, plays.scored_as(nothing), rule, (name, "nothing"), margin))
        if 1 < game.n > member:
            rest = np.delete(parts[: game.n], member, axis=0).mean(axis=0)
            beside.append(_compared(own, plays.scored_as(rest), wide, (name, "the others"), margin))
    unlike: list[Difference | None] = [*corrected(beside)]
    unlike += [None] * (len(names) - len(unlike))
    return [
        Share(member + 1 if member < game.n else 0, names[member], one, other, _alone(game, member))
        for member, (one, other) in enumerate(zip(corrected(found), unlike, strict=True))
    ]


def _alone(game: Coalitions, member: int) -> float | None:
    """Return the score of a member as a group of one; None in a team, where others are there."""
    plays = None if game.group.group else game.kept.get(1 << member)
    return None if plays is None else estimate(plays, game.rule).score


def _compared(
    first: Plays, second: Plays, rule: Any, names: tuple[str, str], margin: float
) -> Difference:
    found = difference(first, second, rule, names, margin)
    assert found is not None  # both have all exercises
    return found


def _senders(game: Coalitions, margin: float) -> list[Share]:
    """Compare the group with itself while nobody hears a member, for each that says something."""
    speakers = game.speakers()
    whole = game.plays(game.all)
    found = [
        _compared(whole, game.silent(n), game.rule, (game.members[n], "muted"), margin)
        for n in speakers
    ]
    both = zip(speakers, corrected(found), strict=True)
    return [Share(n + 1, game.members[n], one) for n, one in both]
