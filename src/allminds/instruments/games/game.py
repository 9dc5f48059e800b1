"""What all games share as instruments, and repeated games in normal form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from allminds import registry
from allminds.contracts import (
    Discrete,
    Environment,
    Exercise,
    Failure,
    Instrument,
    Record,
    default,
)
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.presentation import Presentation

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
        """How it is put to people, language models and libraries."""
        from allminds.instruments.games.present import presentation_of

        return presentation_of(self)

    @abstractmethod
    def told(self, observation: Any) -> str:
        """Describe an observation in plain words, without the choices."""

    def choices(self, observation: Any) -> dict[str, int]:
        """List the actions that may be taken now, by name; all slots of our games have the same."""
        space = self.environment.actions[0]
        legal = getattr(observation, "legal", None)
        actions = range(space.start, space.start + space.n) if legal is None else legal
        return {space.labels[action - space.start]: action for action in actions}

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
