"""The instrument `lambda`: the authors' test, the general class Λ, or given environments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from allminds import registry
from allminds.contracts import Exercise, Failure, FairCeiling, Fast, Instrument, Record
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, Random, key, numbered
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.instruments.lambda_.unequal import (
    ALL,
    EXERCISES,
    SEED,
    SIGHTS,
    Own,
    Unequal,
    actions_text,
    ceiling_of,
    expected,
    own_of,
    sight_text,
)
from allminds.instruments.lambda_.world import (
    FEWEST,
    HIDDEN,
    MOST,
    Rewards,
    Sight,
    Space,
    State,
    View,
    World,
    check_pattern,
    columns,
    draw_cells,
    draw_pattern,
    draw_space,
)
from allminds.instruments.unequal import (
    PLAIN_TEXT,
    SEVERAL,
    balanced,
    canonical,
    dumped,
    each_slot,
    mean,
    weights_text,
)
from allminds.presentation import Presentation

SIZES = range(3, 10)  # cells n_c of the seven exercises of the test of Insa-Cabrera et al. (2011)
OTHER_NAMES = {"2011": "test", "geometric": "general"}
ADAPTIVE = ("anytime", "staircase")


class SpaceSettings(Settings):
    """What is common to all instruments in spaces of cells."""

    disabled: float = Field(0.0, ge=0, le=0.5, description="chance that an action is disabled")
    rewards: Rewards = Field("position", description="position, or trail: left in cells, fading")
    observation: Sight = Field("full", description="full, or adjacent: own and adjacent cells")
    agents: int = Field(1, ge=1, le=100, description="minds in the space at once")
    teams: int = Field(0, ge=0, description="equal teams that share rewards; 0: each for itself")


class LambdaSettings(SpaceSettings):
    """Settings of the instrument Λ."""

    form: Literal["test", "general", "given"] = Field(
        "test", description="the paper's seven exercises, the general class, or given environments"
    )
    cells: int | None = Field(
        None, ge=FEWEST, le=MOST, description="n_c in form=general; by default 2^-n on 2..9"
    )
    actions: int | None = Field(
        None, ge=2, le=MOST, description="n_a in form=general; by default uniform on 2..n_c"
    )
    steps: int | None = Field(
        None, ge=1, le=100_000, description="steps of an exercise, not in form=test; 10(n_c - 1)"
    )
    space: str = Field("", description="form=given: spaces by commas, such as 12-|1-2--|1++2--")
    pattern: str = Field("", description="form=given: a pattern for each space, by commas")
    observation: Sight | str = Field(  # type: ignore[assignment] # wider
        "full", description=f"full, or adjacent: own and adjacent cells{SEVERAL}"
    )
    moves: str = Field(
        ALL, description=f"how many of the space's actions a mind has, stay included{SEVERAL}"
    )
    weights: str = Field(
        PLAIN_TEXT, description=f"what Good and Evil give in their cells, GOOD:EVIL{SEVERAL}"
    )

    @field_validator("observation", mode="before")
    @classmethod
    def _sight(cls, value: Any) -> str:
        return canonical(value, sight_text)

    @field_validator("moves", mode="before")
    @classmethod
    def _moves(cls, value: Any) -> str:
        return canonical(value, actions_text)

    @field_validator("weights", mode="before")
    @classmethod
    def _weights(cls, value: Any) -> str:
        return canonical(value, weights_text)

    @model_serializer(mode="wrap")
    def _dumped(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return dumped(self, handler)

    @field_validator("form", mode="before")
    @classmethod
    def _known_form(cls, value: Any) -> str:
        name = str(value)
        if name in ADAPTIVE:
            raise ValueError(f"'{name}' is an instrument of its own: lambda-{name}")
        return OTHER_NAMES.get(name, name)


class CellsInstrument(Instrument):
    """What all instruments in spaces of cells share: worlds, and how they are shown."""

    version = 2
    chance = 0.0
    ceiling = 1.0
    ceiling_reached = False  # it takes some steps to reach Good
    settings: Any
    own: tuple[Own, ...] = ()  # what each slot has for its own, if anything

    def begin(self) -> None:
        """Compute what follows from the settings."""
        given = self.settings
        self.slots = given.agents
        self.ceiling_mind = "optimum" if given.rewards == "position" else "expert"
        if given.teams and given.agents % given.teams:
            raise Error(
                f"{self.name}: {given.agents} agents make no {given.teams} equal teams; set "
                "agents to a multiple of teams"
            )
        size = given.agents // given.teams if given.teams else 1
        self.teams = tuple(
            tuple(range(first, first + size)) for first in range(0, given.agents, size)
        )

    def world(self, space: Space, pattern: str, steps: int, making: Random) -> World:
        """Build an environment; word 1 of its making says which symbol is Good."""
        given = self.settings
        kind = partial(Unequal, own=self.own) if self.own else World
        return kind(
            space=space,
            pattern=pattern,
            steps=steps,
            agents=given.agents,
            teams=self.teams,
            good_symbol=making.below_at(2, 1),
            rewards=given.rewards,
            sight=given.observation,
            complexity=columns(space, pattern, given.disabled),
        )

    def in_place(self, seed: int, i: int, world: World) -> Exercise:
        """Make exercise i of a world."""
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, world, cluster=self.cluster(seed, i))

    def cluster(self, seed: int, i: Any) -> Any:
        """Return the cluster of an exercise, or of many; None if each is one of its own."""
        return None

    # ------------------------------------------------------------ for people and models

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.lambda_.present import CellsPresentation

        return CellsPresentation(self)

    def show(self, observation: View, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show where all are, and what each action does."""
        if form == "text":
            return as_text(observation)
        if form == "html":
            return as_html(observation)
        raise Error(f"{self.name} cannot be shown as {form}; choose text or html")

    def read(self, answer: str, observation: View) -> int | Failure:
        """Parse an action by its number, or the word stay."""
        return read_action(answer, observation)

    def show_state(self, environment: World, state: State) -> str:
        """Draw every cell with those in it: + Good, - Evil, digits the minds."""
        return state_as_text(environment, state)


@registry.instrument
class Lambda(CellsInstrument):
    """Λ (Lambda): find out which symbol is Good, and be where it will be, in a graph of cells.

    After Insa-Cabrera and others (2011). Good and Evil travel through a space of n_c cells by the
    same pattern of actions, from different cells, over and over. A mind sees where both symbols
    are, but not which is Good, and moves at the same time as they do: +1 in Good's cell, -1 in
    Evil's. The score is the mean reward a step: 0 for a random mind.

    `form=test` is the paper's test of seven exercises with 3 to 9 cells: exercise i is number
    i mod 7 of test i // 7, with 10(n_c - 1) steps and p_stop = 1/n_c. `form=general` draws n_c with
    chances 2^-n on 2..9. `form=given` takes spaces and patterns from the settings.

    **Actions** 0..n_a - 1, action 0 stays. **Observation** `View`.
    **Episode end** after the exercise's number of steps.

    Slots can differ: `observation`, `moves` and `weights` have one value, one for each team, or one
    for each slot. With weights GOOD:EVIL a mind gets GOOD in Good's cell and EVIL in Evil's. A
    random mind still expects 0 where the two are opposite; elsewhere the chance level is the mean
    of its exact expectation over 700 exercises, or over all that are given.

    Version history: 1, first version; 2, randomness is one-way and advances, and scores are
    summed exactly.
    """

    name = "lambda"
    Settings = LambdaSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(LambdaSettings, settings, self.name)
        self.begin()
        given = self.settings
        self.strata = "cells" if given.form == "test" else None
        self._check_form()
        self.given = self._given() if given.form == "given" else ()
        self.length = len(self.given) or None
        self.own = self._own()
        if self.own:
            self._state_ends()

    def _own(self) -> tuple[Own, ...]:
        """List what every slot has for its own; nothing if all are plain and see as much."""
        given = self.settings
        if given.weights == PLAIN_TEXT and given.moves == ALL and given.observation in SIGHTS:
            return ()
        values = (
            each_slot(getattr(given, name), self.teams, name, self.name)
            for name in ("weights", "moves", "observation")
        )
        return tuple(own_of(*one) for one in zip(*values, strict=True))

    def _state_ends(self) -> None:
        """Compute the bound of all scores, and reject what has no chance level."""
        even = balanced(one.weights for one in self.own)
        if self.settings.rewards == "position":
            self.ceiling = ceiling_of(self.own)
        elif not even:
            raise Error(
                f"{self.name}: with rewards=trail the two weights of a slot must be opposite, such "
                f"as 1:-1, not '{self.settings.weights}'"
            )
        else:
            self.ceiling_mind = None  # the way of a trail depends on all minds

    @cached_property
    def chance(self) -> float:  # type: ignore[override] # worked out when it is asked for
        """The expected score of random minds, in all slots."""
        return mean(self.slot_chances)

    @cached_property
    def slot_chances(self) -> tuple[float, ...]:
        """The expected score of a random mind in each slot: 0 where all weights are opposite."""
        if balanced(one.weights for one in self.own):
            return (0.0,) * self.slots
        return _slot_chances(self.settings)

    def cluster(self, seed: int, i: Any) -> Any:
        """Return the test of seven that an exercise belongs to; None in the other forms."""
        if self.settings.form != "test":
            return None
        return numbered(f"{registry.exercise_prefix(self, seed)}test", i // len(SIZES))

    def _check_form(self) -> None:
        """Reject settings of another form, which would be ignored."""
        given = self.settings
        needs = {"cells": "general", "actions": "general", "space": "given", "pattern": "given"}
        for name, form in needs.items():
            if getattr(given, name) and given.form != form:
                raise Error(f"{self.name}: '{name}' is a setting of form={form}, not {given.form}")
        if given.steps and given.form == "test":
            raise Error(
                f"{self.name}: form=test has 10(n_c - 1) steps; set form=general for others"
            )
        if given.cells and given.actions and given.actions > given.cells:
            raise Error(
                f"{self.name}: {given.actions} actions are too many for {given.cells} cells; "
                f"there are at most as many as cells"
            )
        if given.actions and not given.cells:
            raise Error(f"{self.name}: a number of actions needs a number of cells; set cells too")

    def _given(self) -> tuple[tuple[Space, str], ...]:
        """List the environments that the settings name."""
        spaces = [Space.parse(text) for text in self.settings.space.split(",")]
        patterns = [text.strip() for text in self.settings.pattern.split(",")]
        if len(spaces) != len(patterns):
            raise Error(f"{self.name}: {len(spaces)} spaces but {len(patterns)} patterns")
        for space, pattern in zip(spaces, patterns, strict=True):
            check_pattern(pattern, space)
        return tuple(zip(spaces, patterns, strict=True))

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make exercise i: its space, its pattern and its number of steps."""
        making = Random(key(seed, i, MAKING))
        if self.given:
            space, pattern = self.given[i % len(self.given)]
        else:
            cells = self._cells(i, making)
            space = draw_space(cells, self.settings.actions, self.settings.disabled, making)
            pattern = draw_pattern(space.actions, 1 / cells, making.part(1))
        steps = self.settings.steps or 10 * (space.cells - 1)
        return self.in_place(seed, i, self.world(space, pattern, steps, making))

    def _cells(self, i: int, making: Random) -> int:
        if self.settings.form == "test":
            return SIZES[i % len(SIZES)]
        return self.settings.cells or draw_cells(making)

    def fair_ceiling(self, asked: bool = False) -> FairCeiling:
        """Compute it with 2 or 3 cells, over all spaces and patterns that may be drawn."""
        from allminds.instruments.lambda_.bayes import fair_ceiling

        return fair_ceiling(self.settings, asked)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if its mind has a kernel and is alone in a world fit for kernels.

        Where slots have something of their own, the plain loop plays.
        """
        if self.own:
            return None
        from allminds.instruments.lambda_.fast.forms import fast_form

        return fast_form(self, line_up)


@lru_cache(maxsize=32)
def _slot_chances(settings: LambdaSettings) -> tuple[float, ...]:
    """Average over exercises what random minds expect in each slot; teams share it."""
    tool = Lambda(**settings.model_dump())
    worlds = [tool.exercise(SEED, i).environment for i in range(len(tool.given) or EXERCISES)]
    alone = [expected(world) for world in worlds if isinstance(world, Unequal)]
    each = [mean(one[slot] for one in alone) for slot in range(tool.slots)]
    return tuple(mean(each[mate] for mate in team) for team in tool.teams for _ in team)


# ---------------------------------------------------------------- in words


SYMBOLS = ("◆", "★")  # neutral signs: which is Good differs from exercise to exercise
YOU, OTHER = "○", "△"


def as_text(seen: View) -> str:
    """Put the view into words: where every player is, and what each action does."""
    places = [
        f"{sign} is out of sight" if cell == HIDDEN else f"{sign} is in cell {cell}"
        for sign, cell in [*zip(SYMBOLS, seen.symbols, strict=True), *_others(seen)]
    ]
    lines = [
        f"There are {seen.cells} cells, 0 to {seen.cells - 1}. You ({YOU}) are in cell "
        f"{seen.cell}; {', '.join(places)}.",
        "Actions:",
        "0: stay",
    ]
    lines += [f"{n}: to cell {to}" for n, to in enumerate(seen.reachable) if n]
    return "\n".join(lines)


def as_html(seen: View) -> str:
    """Draw the cells as a table: what is in each, and the actions that lead there."""
    rows = []
    for cell in range(seen.cells):
        here = [sign for sign, place in zip(SYMBOLS, seen.symbols, strict=True) if place == cell]
        here += [YOU] if seen.cell == cell else []
        here += [sign for sign, place in _others(seen) if place == cell]
        actions = [str(n) for n, to in enumerate(seen.reachable) if to == cell]
        rows.append(
            f"<tr><th>{cell}</th><td>{' '.join(here)}</td><td>{', '.join(actions)}</td></tr>"
        )
    head = "<tr><th>cell</th><th>who is there</th><th>actions that lead there</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _others(seen: View) -> list[tuple[str, int]]:
    return [(f"{OTHER}{n}" if n else OTHER, cell) for n, cell in enumerate(seen.others)]


def read_action(answer: str, seen: View) -> int | Failure:
    """Read an action by its number, or the word stay."""
    text, last = answer.strip().lower(), len(seen.reachable) - 1
    if text == "stay":
        return 0
    if text.isascii() and text.isdigit() and int(text) <= last:
        return int(text)
    return Failure("malformed", f"'{answer[:60]}' is not one of the actions 0..{last}")


def state_as_text(world: World, state: State) -> str:
    """Every cell with those in it: + Good, - Evil, digits the minds; and the next action."""
    parts = []
    for cell in range(world.space.cells):
        signs = "+" * (cell == state.good) + "-" * (cell == state.evil)
        signs += "".join(str(slot % 10) for slot, at in enumerate(state.minds) if at == cell)
        parts.append(f"{cell}[{signs}]")
    following = world.pattern[state.step % len(world.pattern)]
    return f"{' '.join(parts)}  next {following} of {world.pattern}"
