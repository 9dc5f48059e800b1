"""What all games share as instruments, and games in normal form, each with a table of pay-offs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from allminds import registry
from allminds.contracts import (
    Discrete,
    Environment,
    Exercise,
    Failure,
    Fast,
    Instrument,
    Record,
    Traits,
    default,
)
from allminds.core.bases import PolicyMind
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.presentation import Presentation
from allminds.registry import instrument, mind

MATRIX_GAMES = (
    "matching-pennies", "rock-paper-scissors", "prisoners-dilemma", "stag-hunt", "public-goods",
)  # fmt: skip
GAMES = (
    *MATRIX_GAMES, "commons", "pluralistic-ignorance", "noughts-and-crosses", "predator-prey",
)  # fmt: skip


class GameSettings(Settings):
    """Settings of a game that is played for some rounds."""

    steps: int = Field(10, ge=1, le=10_000, description="rounds")


class Game(Instrument):
    """One environment, the same in every exercise but for what is drawn by lot.

    A line-up is named mind by mind (``tit-for-tat,defect``); one name fills all slots. The score
    of a line-up is that of its first mind, the one in slot 0.
    """

    Settings: ClassVar[type[Settings]] = GameSettings
    scored = "first"  # the others' gain is not one's own
    environment: Any

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)
        self.environment = self.world()
        self.slots = len(self.environment.actions)

    @abstractmethod
    def world(self) -> Environment:
        """Build the environment that the settings describe."""

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Set the same game again, with random words of its own."""
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, self.environment)

    # ------------------------------------------------------------ for people and models

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.games.present import presentation_of

        return presentation_of(self)

    @abstractmethod
    def told(self, observation: Any) -> str:
        """Describe an observation in plain words, without the choices."""

    def choices(self, observation: Any) -> dict[str, int]:
        """List the actions that may be taken now, by name; all slots of our games have the same."""
        space = self.environment.actions[0]
        return {space.labels[n - space.start]: n for n in space.allowed(observation)}

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Tell what happened, and what can be done now."""
        if form not in ("text", "html"):
            raise Error(f"{self.name} cannot be shown as {form}; choose text or html")
        told, choose = self.told(observation), f"Choose: {', '.join(self.choices(observation))}"
        if form == "text":
            return f"{told}\n{choose}"
        return f"<pre>{told}</pre><p>{choose}</p>"

    def read(self, answer: str, observation: Any) -> int | Failure:
        """Parse an action by its name, or by its number."""
        choices, text = self.choices(observation), answer.strip().lower()
        numbers = {str(action): action for action in choices.values()}
        if text in choices or text in numbers:
            return choices[text] if text in choices else numbers[text]
        return Failure("malformed", f"'{answer[:60]}' is not one of {', '.join(choices)}")


# ---------------------------------------------------------------- rounds


class Rounds(Environment):
    """A game of `steps` rounds in which all act at once, each for itself, with known rules."""

    steps: int
    players: int

    @default
    def labels(self) -> Sequence[str]:
        """The names of the actions, which are the same for everyone."""
        raise NotImplementedError

    @cached_property
    def actions(self) -> Sequence[Discrete]:
        """The same named actions for everyone."""
        return (Discrete(len(self.labels), labels=tuple(self.labels)),) * self.players

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of rounds."""
        return {"rounds": float(self.steps)}

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The rules, which are known."""
        return {"rules": self}


# ---------------------------------------------------------------- a game in normal form


Joint = tuple[int, ...]  # the action of every slot, numbered from 0


class Round(NamedTuple):
    """What a mind sees before a round: what it and the others did in the round before.

    Actions are numbered from 0; before the first round `own` is -1 and `others` is empty.
    """

    step: int  # rounds played
    own: int
    others: tuple[int, ...]  # the other slots in their order

    @property
    def situation(self) -> tuple[int, tuple[int, ...]]:
        """The key by which a learner tells situations apart, without the number of the round."""
        return self.own, self.others


class Played(NamedTuple):
    """The state after `step` rounds: the joint action of the last."""

    step: int
    last: Joint


@dataclass(frozen=True)
class Repeated(Rounds):
    """`steps` rounds of a game given by its table of pay-offs; all slots have the same actions."""

    steps: int
    players: int
    labels: tuple[str, ...]
    payoffs: tuple[tuple[float, ...], ...]  # reward of every slot, by joint action in order

    @cached_property
    def table(self) -> Mapping[Joint, tuple[float, ...]]:
        """The pay-offs by joint action: the last slot's action changes fastest."""
        joints = product(range(len(self.labels)), repeat=self.players)
        return dict(zip(joints, self.payoffs, strict=True))

    def reset(self, random: Random) -> Played:
        """Begin with nothing played."""
        return Played(0, ())

    def observe(self, state: Played, slot: int) -> Round:
        """Show the round before, from a slot's own side."""
        if not state.last:
            return Round(0, -1, ())
        return Round(state.step, state.last[slot], state.last[:slot] + state.last[slot + 1 :])

    def step(
        self, state: Played, actions: Mapping[int, int], random: Random
    ) -> tuple[Played, Sequence[float]]:
        """Pay every mind by the table."""
        joint = tuple(int(actions[slot]) for slot in range(self.players))
        return Played(state.step + 1, joint), self.table[joint]


class MatrixGame(Game):
    """A game of `labels`, the same for everyone, and a table of `payoffs`."""

    labels: ClassVar[tuple[str, ...]]
    neutral: ClassVar[bool] = True  # readers are told A, B, …: the labels would name the game

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the actions for people and language models."""
        return tuple("ABCDEFGH"[: len(self.labels)]) if self.neutral else self.labels

    @property
    def players(self) -> int:
        """The number of players: two, unless the settings of a game have another."""
        return 2

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
        payoffs = tuple(
            tuple(self.reward(slot, joint) for slot in range(self.players))
            for joint in product(range(len(self.labels)), repeat=self.players)
        )
        return Repeated(self.settings.steps, self.players, self.labels, payoffs)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if every mind is a finite machine."""
        from allminds.instruments.games.fast import fast_form

        return fast_form(self, line_up)

    def told(self, observation: Round, labels: Sequence[str] = ()) -> str:
        """Tell what happened in the round before, in these names of the actions."""
        if not observation.others:
            return f"Round 1 of {self.settings.steps}."
        names = labels or self.labels
        others = ", ".join(names[action] for action in observation.others)
        return (
            f"Round {observation.step + 1} of {self.settings.steps}. "
            f"In the last you chose {names[observation.own]}, the others {others}."
        )

    def read(self, answer: str, observation: Any) -> int | Failure:
        """Parse an action by its neutral name too."""
        text = answer.strip().upper()
        if self.neutral and text in self.names:
            return self.names.index(text)
        return super().read(answer, observation)


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
    neutral = False  # the rules tell what is given, whatever it is called
    Settings: ClassVar[type[Settings]] = PublicGoodsSettings

    @property
    def players(self) -> int:
        """The number of players that was set."""
        players: int = self.settings.players
        return players

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
