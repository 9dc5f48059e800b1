"""Four phenomena of groups, each with an exercise in which it must appear and one in which not.

Chmait et al. (2016, §6) ask of a robust test that it shows them: the wisdom of the crowd,
pluralistic ignorance and the tragedy of the commons; herding is added (Bikhchandani et al. 1992).
In each pair the minds are the same and the exercise differs. The urn is gone through draw by draw,
so its figures are exact; the two games draw nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from allminds import registry
from allminds.contracts import (
    Discrete,
    Exercise,
    Failure,
    Instrument,
    Message,
    MindBase,
    Record,
    Traits,
)
from allminds.core.bases import Question
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.episode import play
from allminds.instruments.groups import Conformist, Plurality, Relay
from allminds.papers import Part

MEMBERS = 9
CHANCE_OF_BLACK = 0.6  # of each ball, from the urn that there is
URN = Discrete(2, labels=("white", "black"))
BLACK = 1
TINY = 1e-9  # probabilities are sums of floats


# ---------------------------------------------------------------- an urn


class Balls(NamedTuple):
    """What there is to see: a ball for each member, of which it looks at its own."""

    balls: tuple[int, ...]


@dataclass(frozen=True)
class Urn(Question):
    """The question which urn the balls are from; it is the black one."""

    balls: tuple[int, ...]

    actions = (URN,)

    def observe(self, state: Any, slot: int) -> Balls:
        """Show all balls; a member looks at one of them."""
        return Balls(self.balls)

    def reward(self, answer: int) -> float:
        """Pay for the right urn."""
        return float(answer == BLACK)


class UrnSettings(Settings):
    """Settings of the urn."""

    shared: bool = Field(False, description="all members are shown the same ball")


class UrnTest(Instrument):
    """Which urn? All draws of nine balls, one after the other (Anderson and Holt 1997).

    The urn is mostly black: a ball is black with probability 0.6. Exercise i has the balls that
    the bits of i say. With `shared` all members are shown one and the same ball.
    """

    name = "urn"
    version = 1
    chance = 0.5
    ceiling = 1.0
    lowest = 0.0
    slots = 1
    length = 2**MEMBERS
    Settings: ClassVar[type[Settings]] = UrnSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Lay out the balls of one draw."""
        bits = tuple(i >> n & 1 for n in range(MEMBERS))
        balls = bits[:1] * MEMBERS if self.settings.shared else bits
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, Urn(balls))

    def weight(self, i: int) -> float:
        """Return the probability of a draw."""
        black = i.bit_count()
        return float(CHANCE_OF_BLACK**black * (1 - CHANCE_OF_BLACK) ** (MEMBERS - black))

    def show(self, observation: Balls, form: Literal["text", "html", "svg", "array"]) -> Any:
        """List the balls that were drawn, in words."""
        return " ".join(URN.labels[ball] for ball in observation.balls)

    def read(self, answer: str, observation: Balls) -> int | Failure:
        """Read the colour of an urn."""
        word = answer.strip().lower()
        found = URN.labels.index(word) if word in URN.labels else None
        return Failure("malformed", "answer white or black") if found is None else found


@dataclass
class Look(MindBase):
    """Looks at one ball, and answers its colour."""

    ball: int = 0

    traits = Traits(deterministic=True)

    def act(self, observation: Balls, random: Random) -> int:
        """Answer what the ball says."""
        return observation.balls[self.ball]


# ---------------------------------------------------------------- what groups do with it


def looking() -> list[Subject]:
    """Make nine members, each with a ball of its own."""
    return [Subject(f"look({n})", lambda n=n: Look(n), Look.traits, maker=Look)  # type: ignore[misc]
            for n in range(MEMBERS)]  # fmt: skip


def voting() -> Subject:
    """Make the vote of nine members."""
    members = tuple(looking())
    return Subject("vote", lambda: Plurality(members), Plurality(members).traits)


def following() -> Subject:
    """Make nine members that answer in turn, each as most of those before it and its own ball."""
    members = tuple(
        Subject(f"conformist({one.name})", lambda one=one: Conformist((one,)),  # type: ignore[misc]
                Conformist((one,)).traits, maker=Conformist)
        for one in looking()
    )  # fmt: skip
    return Subject("in turn", lambda: Relay(members, heard="all"), Relay(members).traits)


def played(who: Subject, shared: bool) -> list[tuple[float, Record]]:
    """Play all draws; return each result with its probability."""
    tool = UrnTest(shared=shared)
    line_up = registry.line_up(who, tool)
    return [(tool.weight(i), play(tool.exercise(1, i), line_up)) for i in range(UrnTest.length)]


def right(found: Sequence[tuple[float, Record]]) -> float:
    """Compute the probability of the right urn."""
    return math.fsum(weight * (record.score[0] or 0.0) for weight, record in found)


def crowd_gain(shared: bool) -> float:
    """Compute how much more often the vote of nine is right than one of them."""
    return right(played(voting(), shared)) - right(played(looking()[0], shared))


def herding(shared: bool) -> float:
    """Compute the share of members that answer against their own ball."""
    return math.fsum(
        weight * _against(record.messages) / MEMBERS
        for weight, record in played(following(), shared)
    )


def _against(messages: Sequence[Message]) -> int:
    """Count the members whose answer is not their own opinion."""
    answers = [one for one in messages if one.kind == "answers"]
    own = {one.sender.partition(".")[0]: one.answer for one in answers if "." in one.sender}
    if len(own) != MEMBERS:
        raise Error("the record of the urn lacks an opinion of a member")
    return sum(one.answer != own[one.sender] for one in answers if "." not in one.sender)


# ---------------------------------------------------------------- the games


def tragedy(capacity: int) -> float:
    """Compute what four minds that take all they can lose of the best harvest."""
    tool = registry.make_instrument("commons", {"capacity": capacity})
    exercise = tool.exercise(1, 0)
    world: Any = exercise.environment
    return float(world.tragedy(play(exercise, registry.line_up("greedy", tool))))


def ignorance(conformity: float) -> float:
    """Compute how far public acts of best replies are from private attitudes, if opposite."""
    tool = registry.make_instrument("pluralistic-ignorance", {"conformity": conformity})
    exercise = tool.exercise(1, 0)
    world: Any = exercise.environment
    size, opposite = world.ignorance(play(exercise, registry.line_up("best-reply", tool)))
    return size if opposite else 0.0


ROWS: tuple[tuple[str, str, Any, tuple[str, Any], tuple[str, Any]], ...] = (
    ("wisdom of the crowd", "vote of nine, right more often than one of them", crowd_gain,
     ("a ball for each member", False), ("one ball, shown to all", True)),
    ("herding", "members in turn that answer against their own ball", herding,
     ("a ball for each member", False), ("one ball, shown to all", True)),
    ("tragedy of the commons", "share of the best harvest lost by four that take all", tragedy,
     ("commons, capacity=24", 24), ("commons, capacity=1000", 1000)),
    ("pluralistic ignorance", "best replies: public acts against private attitudes", ignorance,
     ("conformity=0.8", 0.8), ("conformity=0.2", 0.2)),
)  # fmt: skip


def phenomena() -> Part:
    """Compute each phenomenon where it must appear and where it must not."""
    import pandas as pd

    rows = []
    for name, measure, compute, appears, absent in ROWS:
        for must, (where, setting) in (("yes", appears), ("no", absent)):
            value = compute(setting)
            rows.append({"phenomenon": name, "measure": measure, "exercise": where,
                         "must appear": must, "value": value,
                         "appears": "yes" if value > TINY else "no"})  # fmt: skip
    return Part(
        "Phenomena of groups",
        "The same minds in two exercises each. Votes gain where members err apart, and nothing "
        "where all see the same. Members that hear those before them disregard their own ball. "
        "A stock is destroyed only if it can be. A norm that most oppose lives on where agreement "
        "pays more than truth. All values are exact.",
        pd.DataFrame(rows),
    )
