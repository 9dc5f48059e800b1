"""The instrument `lambda-star`: settings, and exercises spread over complexity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from allminds import registry
from allminds.complexity import lz76
from allminds.contracts import Environment, Exercise, Failure, Fast, Instrument, Record
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.seeding import MAKING, Random, key, stratum
from allminds.core.settings import MOST, Settings, checked
from allminds.core.watch import Watch
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import (
    Catalogue,
    Kind,
    Pattern,
    Recurrent,
    Released,
    Segment,
    catalogue,
    complexity_columns,
    draw_segment,
)
from allminds.instruments.lambda_star.unequal import (
    FARTHEST,
    Own,
    Unequal,
    bounded_weights,
    ceiling_of,
    chance_of,
    digits_of,
    moves_text,
    own_of,
    reach_text,
)
from allminds.instruments.lambda_star.world import State, View, World, read_move, show_view
from allminds.instruments.unequal import (
    PLAIN_TEXT,
    SEVERAL,
    canonical,
    dumped,
    each_slot,
    mean,
)
from allminds.presentation import Presentation

W = TypeVar("W", bound=World)
DEFAULT_K = "2..23"  # cut to what there is; any other range must be there whole


class TorusSettings(Settings):
    """Settings of Λ* and its extensions; `k` is a value, a range such as 4..9, or `any`."""

    rows: int = Field(10, ge=2, le=1000, description="rows m of the torus")
    cols: int = Field(10, ge=2, le=1000, description="columns n of the torus")
    iterations: int = Field(50, ge=1, le=10_000, description="steps ϑ of an episode")
    agents: int = Field(1, ge=1, description="minds on the torus at once")
    range: int = Field(1, ge=1, le=10, description="how far a mind sees")
    patterns: Kind = Field("cyclic", description="how Good and Evil move: cyclic, drift, released")
    k: str = Field(DEFAULT_K, description="complexities K: a value, low..high, or any")

    @field_validator("k", mode="before")
    @classmethod
    def _k_is_a_range(cls, value: Any) -> str:
        text = str(value).strip()
        if text == "any":
            return text
        low, dots, high = text.partition("..")
        if low.isdigit() and (high.isdigit() if dots else True):
            if int(low[:19]) + MOST < int((high or low)[:19]):
                raise ValueError(f"'{text[:60]}' is no range of at most {MOST} steps")
            if int(low[:19]) <= int((high or low)[:19]):
                return text
            raise ValueError(f"'{text}' is empty: the first number must not exceed the second")
        raise ValueError(f"'{text}' is not a value, a range such as 2..23, or 'any'")


class LambdaStarSettings(TorusSettings):
    """Settings of Λ*, of which each slot can have range, moves and weights for its own."""

    range: Annotated[int, Field(ge=1, le=FARTHEST)] | str = Field(  # type: ignore[assignment] # wider
        1, description=f"how far a mind sees{SEVERAL}"
    )
    moves: str = Field(
        "king", description=f"king, rook, bishop (both may stay), or digits of 1..9{SEVERAL}"
    )
    weights: str = Field(
        PLAIN_TEXT, description=f"what Good and Evil give in their cells, GOOD:EVIL{SEVERAL}"
    )

    @field_validator("range", mode="before")
    @classmethod
    def _reach(cls, value: Any) -> int | str:
        text = canonical(value, reach_text)
        return int(text) if "," not in text else text

    @field_validator("moves", mode="before")
    @classmethod
    def _moves(cls, value: Any) -> str:
        return canonical(value, moves_text)

    @field_validator("weights", mode="before")
    @classmethod
    def _weights(cls, value: Any) -> str:
        return canonical(value, bounded_weights)

    @model_serializer(mode="wrap")
    def _dumped(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return dumped(self, handler)


@registry.instrument
class LambdaStar(Instrument):
    """Λ* (Lambda Star): search for Good and keep away from Evil on a torus.

    Good and Evil travel over an m-by-n torus in patterns of equal complexity K. A mind sees the
    cells round it and the rewards that lie there, and makes one king move a step: +1 on Good,
    +0.5 next to it, the negatives for Evil. The score Υ is the mean reward a step: 0 for a
    random mind, 1 for one that sits on Good throughout.

    **Actions** 1..9: up-left, up, up-right, left, stay, right, down-left, down, down-right.
    **Observation** `View`: cells and rewards of the Moore neighbourhood in reading order.
    **Episode end** after `iterations` steps.

    Slots can differ: `range`, `moves` and `weights` have one value, or one for each slot. With
    weights GOOD:EVIL a cell gives GOOD on Good and half of it next to it, and EVIL likewise. A
    random mind still expects 0 where the two are opposite; elsewhere its expectation is computed.

    Version history: 1, first version; 2, randomness is one-way and advances, strata are in random
    order, and scores are summed exactly.
    """

    name = "lambda-star"
    version = 2
    chance = 0.0
    ceiling = 1.0
    ceiling_mind: str | None = "optimum"
    ceiling_reached = False  # it takes some steps to reach Good
    Settings: ClassVar[type[TorusSettings]] = LambdaStarSettings
    settings: Any  # of that kind

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)
        given = self.settings
        self.torus = Torus(given.rows, given.cols)
        self.slots = given.agents
        self.strata = None if given.patterns == "released" or given.k == "any" else "K"
        if given.agents > self.torus.cells:
            raise Error(
                f"{self.name}: {given.agents} minds do not fit on {given.rows}x{given.cols} "
                f"= {self.torus.cells} cells; set agents to at most {self.torus.cells}"
            )
        if given.patterns == "released" and given.rows != given.cols:
            raise Error(
                f"{self.name}: patterns=released needs a square grid, not "
                f"{given.rows}x{given.cols}; set rows and cols to the same number"
            )
        if self.strata and given.k != DEFAULT_K:
            self.complexities  # noqa: B018 - a K that no pattern has is found here
        self.own = self._own() if isinstance(given, LambdaStarSettings) else ()
        if self.own:
            self.chance = mean(self.slot_chances)
            self.ceiling = ceiling_of(self.own)

    @property
    def slot_chances(self) -> tuple[float, ...]:
        """The expected score of a random mind in each slot, which is exact."""
        return tuple(chance_of(self.torus, one) for one in self.own or (Own(),) * self.slots)

    def _own(self) -> tuple[Own, ...]:
        """List what every slot has for its own; nothing if all are plain and see equally far."""
        given, teams = self.settings, [(slot,) for slot in range(self.slots)]
        if given.weights == PLAIN_TEXT and given.moves == "king" and isinstance(given.range, int):
            return ()
        values = (
            each_slot(getattr(given, name), teams, name, self.name)
            for name in ("weights", "moves", "range")
        )
        return tuple(own_of(*one) for one in zip(*values, strict=True))

    def reach(self, slot: int) -> int:
        """Return how far the mind in a slot sees."""
        return self.own[slot].reach if self.own else int(self.settings.range)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Segments by K for this torus and number of steps."""
        return catalogue(self.settings.patterns, self.torus, self.settings.iterations)

    @cached_property
    def complexities(self) -> tuple[int, ...]:
        """The values of K that exercises run through; none if K is not controlled."""
        if not self.strata:
            return ()
        low, _, high = self.settings.k.partition("..")
        wanted = range(int(low), int(high or low) + 1)
        there = self.catalogue.values()
        if self.settings.k == DEFAULT_K:
            return tuple(k for k in there if k <= wanted[-1])
        missing = [k for k in wanted if k not in there]
        if missing:
            raise Error(
                f"{self.name}: no {self.settings.patterns} pattern of {self.settings.iterations} "
                f"steps on {self.torus.rows}x{self.torus.cols} has K = {missing[0]}; "
                f"K runs from {there[0]} to {there[-1]}"
            )
        return tuple(wanted)

    # ------------------------------------------------------------ exercises

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make exercise i; every run of S exercises has each of the S values of K once, by lot."""
        given = self.settings
        pattern = self._pattern(seed, i)
        visited = pattern.cells(self.torus, given.iterations)
        columns = complexity_columns(
            self.torus, given.iterations, lz76(visited), pattern.length, len(set(visited))
        )
        world = self.world(pattern, columns)
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, world)

    def world(self, pattern: Pattern, columns: Mapping[str, float]) -> Environment:
        """Build the environment in which Good and Evil move by this pattern."""
        if self.own:
            return self.built(Unequal, pattern, columns, own=self.own)
        return self.built(World, pattern, columns)

    def built(
        self, kind: type[W], pattern: Pattern, columns: Mapping[str, float], **rule: Any
    ) -> W:
        """Build a kind of world from the settings, with what its further rule needs."""
        given = self.settings
        reach = max(map(self.reach, range(self.slots)))
        return kind(self.torus, given.iterations, given.agents, reach, pattern, columns, **rule)

    def _pattern(self, seed: int, i: int) -> Pattern:
        """Draw the segments of Good and Evil: equal K, and different ones from K = 3 on."""
        kind, random = self.settings.patterns, Random(key(seed, i, MAKING))
        if kind == "released":
            return Released.draw(self.torus, random)
        if self.complexities:
            k = self.complexities[stratum(seed, i, len(self.complexities))]
            good = self.catalogue.segment(k, random.below_at(self.catalogue.size(k), 0))
            evil = self._evil(random, k, good)
            assert evil is not None
            return Recurrent(good, evil)
        attempt = 0
        while True:
            attempt += 1
            good = draw_segment(kind, self.torus, self.settings.iterations, random.at_step(attempt))
            k = lz76(Recurrent(good, good).cells(self.torus, self.settings.iterations))
            evil = self._evil(random, k, good)
            if evil is not None:
                return Recurrent(good, evil)

    def _evil(self, random: Random, k: int, good: Segment) -> Segment | None:
        """Draw a segment of complexity K, not Good's if K >= 3; None if there is no other."""
        size = self.catalogue.size(k)
        if size == 0 or (k >= 3 and size == 1 and self.catalogue.segment(k, 0) == good):
            return None
        j = 1
        while True:
            evil = self.catalogue.segment(k, random.below_at(size, j))
            if k < 3 or evil != good:
                return evil
            j += 1

    # ------------------------------------------------------------ for people and models

    @property
    def presentation(self) -> Presentation:
        from allminds.instruments.lambda_star.present import LambdaStarPresentation

        return LambdaStarPresentation(self)

    def show(self, observation: View, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show the neighbourhood as a small table of rewards."""
        return show_view(observation, form, self.name, digits_of(self.own))

    def read(self, answer: str, observation: View) -> int | Failure:
        """Parse an action by its number 1..9 or its name."""
        return read_move(answer)

    def show_state(self, environment: World, state: State) -> str:
        """Draw the whole torus: + Good, - Evil, digits the minds (* for several in a cell)."""
        torus = environment.torus
        marks: dict[int, str] = {}
        for slot, cell in enumerate(state.minds):
            marks[cell] = "*" if cell in marks else str(slot % 10)
        for cell, sign in ((state.good, "+"), (state.evil, "-")):
            marks[cell] = sign + marks.get(cell, "")
        grid = [
            " ".join(f"{marks.get(torus.cell(row, col), '.'):<2}" for col in range(torus.cols))
            for row in range(torus.rows)
        ]
        return "\n".join(line.rstrip() for line in grid)

    # ------------------------------------------------------------ the quick forms

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Compile the line-up if every mind has a kernel, else play in lock-step.

        Where slots have something of their own, the plain loop plays.
        """
        if self.own:
            return None
        from allminds.instruments.lambda_star.fast.walks import fast_form

        return fast_form(self, line_up, watch)

    def small(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Play single minds that have `act_many` with NumPy."""
        if self.own or type(self) is not LambdaStar:  # a subclass has another world
            return None
        from allminds.instruments.lambda_star.fast.lockstep import small_form

        return small_form(self, line_up, watch)
