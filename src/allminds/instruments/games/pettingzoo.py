"""Any PettingZoo environment by name: ``pettingzoo:classic/tictactoe_v3``.

A PettingZoo environment changes as it is played; ours are values. So a state here is what led to
it, a seed and the actions so far, and one live environment is kept that is set to whatever state
is asked for: while a game goes on that is where it stands already, and nothing is played again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from allminds import registry
from allminds.contracts import Discrete, Environment, Exercise, Failure, Instrument, Record
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.instruments.games.foreign import Live, live, made, made_with, spaces

PREFIX = "pettingzoo"
MEASURED = 200  # games by lot, from which an unstated chance level is estimated


class Seen(NamedTuple):
    """What a mind sees: PettingZoo's observation as it is, and what is legal (None for all)."""

    observation: Any
    legal: tuple[int, ...] | None

    @property
    def situation(self) -> Hashable:
        """The key by which a learner tells situations apart."""
        return _frozen(self.observation)


def _frozen(thing: Any) -> Hashable:
    if isinstance(thing, Mapping):
        return tuple((key, _frozen(value)) for key, value in sorted(thing.items()))
    return thing.tobytes() if hasattr(thing, "tobytes") else repr(thing)


class Replay:
    """A state: the seed, and the actions of all steps so far.

    States that follow each other share one list, of which each counts the first `length`.
    """

    __slots__ = ("length", "log", "seed")

    def __init__(self, seed: int, log: list[dict[int, int]], length: int) -> None:
        self.seed, self.log, self.length = seed, log, length

    @property
    def actions(self) -> list[dict[int, int]]:
        """The actions of all steps so far, by slot."""
        return self.log[: self.length]

    def followed_by(self, actions: dict[int, int]) -> Replay:
        """Return the state one step on; another way from here gets a list of its own."""
        log = self.log if len(self.log) == self.length else self.actions
        log.append(actions)
        return Replay(self.seed, log, self.length + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replay) and (self.seed, self.actions) == (
            other.seed,
            other.actions,
        )

    def __hash__(self) -> int:
        return hash((self.seed, self.length))

    def __repr__(self) -> str:
        return f"Replay(seed={self.seed}, actions={self.actions})"


@dataclass(frozen=True)
class Foreign(Environment):
    """A PettingZoo environment as one of ours."""

    name: str
    options: str
    steps: int
    teams: tuple[tuple[int, ...], ...]
    actions: tuple[Discrete, ...]
    score: Literal["mean", "total"]
    low: float
    high: float
    live: Live = field(compare=False, repr=False)

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of agents; nothing more is known."""
        return {"agents": float(len(self.actions))}

    def reset(self, random: Random) -> Replay:
        """Draw a seed of its own for every exercise."""
        state = Replay(random.word_at(0) >> 33, [], 0)
        self.live.restart(state)
        return state

    def awaited(self, state: Replay) -> tuple[int, ...]:
        """Await the agents that PettingZoo names, until the steps are over."""
        return () if state.length >= self.steps else self.live.at(state).awaited

    def observe(self, state: Replay, slot: int) -> Seen:
        """Show what PettingZoo shows."""
        return Seen(*self.live.at(state).observe(slot))

    def step(
        self, state: Replay, actions: Mapping[int, int], random: Random
    ) -> tuple[Replay, Sequence[float]]:
        """Make PettingZoo's step, with rewards rescaled."""
        live = self.live.at(state)
        after = state.followed_by({slot: int(action) for slot, action in actions.items()})
        rewards = live.advance(after)
        return after, [self.rescaled(reward, slot, after) for slot, reward in enumerate(rewards)]

    def rescaled(self, reward: float, slot: int, state: Replay) -> float:
        """Rescale by the declared bounds: low..high to -1..1; where totals count, 0 stays 0."""
        total = self.live.totals[slot] if self.score == "total" else reward
        if not self.low <= total <= self.high:
            what = "in total" if self.score == "total" else "a step"
            raise Error(
                f"{self.name}, step {state.length}: slot {slot} got {total:g} {what}, outside the "
                f"declared bounds {self.low:g}..{self.high:g}; set low and high"
            )
        if self.score == "total":
            return reward / max(abs(self.low), abs(self.high))
        return 2 * (reward - self.low) / (self.high - self.low) - 1


class ForeignSettings(Settings):
    """Settings of a PettingZoo environment."""

    steps: int = Field(500, ge=1, le=100_000, description="most steps of a game")
    low: float = Field(-1.0, description="least reward: of a step, or in all if by turns")
    high: float = Field(1.0, description="largest reward")
    chance: float | None = Field(
        None, description="score of a random mind, as rescaled; measured if not stated"
    )
    teams: str = Field("", description="slots by team, such as '0 1/2 3'; all alone if empty")
    options: str = Field("", description="the environment's own, such as max_cycles=25")

    @field_validator("options")
    @classmethod
    def _can_be_read(cls, value: str) -> str:
        made_with(value)
        return value

    @model_validator(mode="after")
    def _bounds_in_order(self) -> ForeignSettings:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, not {self.low:g} and {self.high:g}")
        return self


class PettingZoo(Instrument):
    """An environment of PettingZoo (Terry et al. 2021), simultaneous or by turns.

    Agents are slots, in PettingZoo's order; each is a team of its own unless `teams` says more.
    Rewards are rescaled to [-1, 1] by the declared bounds `low` and `high`: simultaneous games
    step by step; in games by turns the total counts, and rewards are divided by the larger bound.
    The score is that of slot 0. An action that the action mask forbids is a malformed answer.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly; 3, the chance level is measured where it is not stated (it was 0).
    """

    version = 3
    ceiling = 1.0
    scored = "first"
    Settings: ClassVar[type[ForeignSettings]] = ForeignSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)
        self.environment  # noqa: B018 - what cannot be made is found here
        self.slots = len(self.environment.actions)

    @cached_property
    def chance(self) -> float:  # type: ignore[override] # computed when it is asked for
        """The score of a random mind: as stated, or the mean of `MEASURED` games by lot."""
        if self.settings.chance is not None:
            return float(self.settings.chance)
        watch = Watch()
        with watch.running():
            by_lot = form(self, registry.line_up("random", self), watch)
            return float(by_lot.play(0, 0, MEASURED, 0).score[:, 0].mean())

    @cached_property
    def environment(self) -> Foreign:
        """The environment, and the live one behind it."""
        given = self.settings
        env = made(self.name.partition(":")[2], given.options)
        actions = spaces(self.name, env)
        kept = live(env)
        return Foreign(
            self.name, given.options, given.steps, self._teams(len(actions)), actions,
            kept.score, given.low, given.high, kept,
        )  # fmt: skip

    def _teams(self, slots: int) -> tuple[tuple[int, ...], ...]:
        text = self.settings.teams
        if not text:
            return tuple((slot,) for slot in range(slots))
        parts = [part.replace(",", " ").split() for part in text.split("/")]
        numbers = [[int(word) if word.isdigit() else -1 for word in part] for part in parts]
        if sorted(slot for part in numbers for slot in part) != list(range(slots)):
            raise Error(f"{self.name}: teams='{text}' must name each of slots 0..{slots - 1} once")
        return tuple(tuple(sorted(part)) for part in numbers)

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Set the same environment with another seed."""
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, self.environment)

    def show(self, observation: Seen, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show the observation as it is, and the numbers of the legal actions."""
        if form == "array":
            return observation.observation
        if form not in ("text", "html"):
            raise Error(f"{self.name} cannot be shown as {form}; choose text, html or array")
        choose = ", ".join(map(str, self.choices(observation)))
        text = f"{observation.observation}\nChoose: {choose}"
        return text if form == "text" else f"<pre>{text}</pre>"

    def choices(self, observation: Seen) -> Sequence[int]:
        """List the actions that may be taken now; without a mask, those of any slot."""
        if observation.legal is not None:
            return observation.legal
        spaces = self.environment.actions
        low = min(space.start for space in spaces)
        return range(low, max(space.start + space.n for space in spaces))

    def read(self, answer: str, observation: Seen) -> int | Failure:
        """Parse an action by its number."""
        for action in self.choices(observation):
            if answer.strip() == str(action):
                return action
        return Failure("malformed", f"'{answer[:60]}' is not the number of an action")


@registry.family(PREFIX)
@cache
def pettingzoo(name: str) -> type[Instrument]:
    """Make the class of the instrument of this name."""
    return type(PettingZoo.__name__, (PettingZoo,), {"name": name, "__doc__": PettingZoo.__doc__})
