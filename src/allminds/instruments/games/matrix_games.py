"""Games in normal form: a table of pay-offs each, in [-1, 1], versioned with the game."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any, ClassVar

from pydantic import Field, model_validator

from allminds.contracts import Fast, LineUp, PolicyMind, Traits
from allminds.core.settings import Settings
from allminds.core.watch import Watch
from allminds.instruments.games.game import Game, GameSettings, Joint, Repeated, Round
from allminds.registry import instrument, mind


class MatrixGame(Game):
    """A game of `labels`, the same for everyone, and a table of `payoffs`."""

    labels: ClassVar[tuple[str, ...]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        mine = [rewards[0] for rewards in self.environment.payoffs]
        self.chance, self.ceiling = fmean(mine), max(mine)
        self.lowest, self.highest = min(mine), max(mine)

    @abstractmethod
    def reward(self, slot: int, joint: Joint) -> float:
        """Return what a slot gets for a joint action."""

    def world(self) -> Repeated:
        """Build so many rounds of the game."""
        slots = range(getattr(self.settings, "players", 2))
        payoffs = tuple(
            tuple(self.reward(slot, joint) for slot in slots)
            for joint in product(range(len(self.labels)), repeat=len(slots))
        )
        return Repeated(self.settings.steps, len(slots), self.labels, payoffs)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if every mind is a finite machine."""
        from allminds.instruments.games.fast import fast_form

        return fast_form(self, line_up)

    def told(self, observation: Round) -> str:
        """Tell what happened in the round before."""
        if not observation.others:
            return f"Round 1 of {self.settings.steps}."
        others = ", ".join(self.labels[action] for action in observation.others)
        return (
            f"Round {observation.step + 1} of {self.settings.steps}. "
            f"In the last you chose {self.labels[observation.own]}, the others {others}."
        )


@instrument
class MatchingPennies(MatrixGame):
    """Matching pennies: slot 0 wins when both show the same side, slot 1 when they do not.

    Pay-offs ±1. Pure competition, and not symmetric: the slots want different things.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "matching-pennies"
    version = 2
    labels = ("heads", "tails")

    def reward(self, slot: int, joint: Joint) -> float:
        """Pay ±1: slot 0 wins if both are the same."""
        return 1.0 if (joint[0] == joint[1]) == (slot == 0) else -1.0


@instrument
class RockPaperScissors(MatrixGame):
    """Rock, paper, scissors: each beats the one before it, in a cycle.

    Pay-offs ±1, and 0 for a tie.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "rock-paper-scissors"
    version = 2
    labels = ("rock", "paper", "scissors")

    def reward(self, slot: int, joint: Joint) -> float:
        """Pay 1 for the next in the cycle, -1 for the one before, 0 for a tie."""
        return (0.0, 1.0, -1.0)[(joint[slot] - joint[1 - slot]) % 3]


@instrument
class PrisonersDilemma(MatrixGame):
    """The prisoner's dilemma, one-shot (`steps=1`) or iterated.

    Pay-offs 5, 3, 1, 0 by 2x/5 - 1: temptation T = 1, reward R = 0.2, punishment P = -0.6,
    sucker's S = -1.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "prisoners-dilemma"
    version = 2
    labels = ("cooperate", "defect")

    def reward(self, slot: int, joint: Joint) -> float:
        """Look up the pay-off: own action by row, the other's by column."""
        points = ((3, 0), (5, 1))[joint[slot]][joint[1 - slot]]
        return 2 * points / 5 - 1


@instrument
class StagHunt(MatrixGame):
    """The stag hunt: the stag needs both; a hare can be had alone.

    Pay-offs: both stag 1, alone at the stag -1, hare 0.5 against stag and 0 against hare.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "stag-hunt"
    version = 2
    labels = ("stag", "hare")

    def reward(self, slot: int, joint: Joint) -> float:
        """Look up the pay-off: own action by row, the other's by column."""
        return ((1.0, -1.0), (0.5, 0.0))[joint[slot]][joint[1 - slot]]


class PublicGoodsSettings(GameSettings):
    """Settings of the public goods game."""

    players: int = Field(4, ge=2, le=8, description="how many play")
    factor: float = Field(1.6, gt=1, description="by which what is given grows")

    @model_validator(mode="after")
    def _it_is_a_dilemma(self) -> PublicGoodsSettings:
        if self.factor >= self.players:
            raise ValueError(f"factor must be below the {self.players} players, or giving is best")
        return self


@instrument
class PublicGoods(MatrixGame):
    """Public goods: everyone has one unit, to keep or to give; what is given grows and is shared.

    4 players and factor 1.6 unless set: x = own share kept + factor · givers / players, rescaled
    from its range (giving alone .. keeping while all others give) to [-1, 1].

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "public-goods"
    version = 2
    labels = ("give", "keep")
    Settings: ClassVar[type[Settings]] = PublicGoodsSettings

    def reward(self, slot: int, joint: Joint) -> float:
        """Compute the pay-off, linear in the number of givers."""
        share = self.settings.factor / self.settings.players
        least, most = share, 1 + share * (self.settings.players - 1)
        worth = joint[slot] + share * joint.count(0)
        return float(2 * (worth - least) / (most - least) - 1)


GIVE, KEEP = 0, 1


@mind("conditional-cooperator", "public-goods")
class ConditionalCooperator(PolicyMind):
    """Gives first, and then if at least half of the others gave (Fischbacher et al. 2001)."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Round) -> Sequence[float]:
        """Give if at least half of the others gave."""
        gave = observation.others.count(GIVE)
        return self.certain(GIVE if 2 * gave >= len(observation.others) else KEEP)
