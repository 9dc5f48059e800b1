"""The settings of matrices, and the environment: one matrix with a blank, and its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from allminds.contracts import Discrete, Question
from allminds.core.errors import nearest
from allminds.core.seeding import Random
from allminds.core.settings import Settings, checked
from allminds.instruments.matrices.making import rules
from allminds.instruments.matrices.making.panel import (
    ATTRIBUTES,
    KINDS,
    NAMES,
    Attribute,
    Kind,
    Panel,
    Problem,
)


class MatricesSettings(Settings):
    """Settings of the instrument matrices."""

    rules: Literal[1, 2, 3, "any"] = Field(
        "any", description="C, the rules of a matrix: 1, 2, 3, or any of these in turn"
    )
    candidates: Literal[4, 8] = Field(4, description="options: 4, or 8 with three rules")
    kinds: tuple[Kind, ...] = Field(KINDS, description="kinds of rules, with commas between")
    attributes: tuple[Attribute, ...] = Field(
        ATTRIBUTES, description="attributes that rules may govern, with commas between"
    )

    @model_validator(mode="before")
    @classmethod
    def _what_fits(cls, values: Any) -> Any:
        """Restrict kinds to the named attributes, or attributes to the named kinds."""
        if not isinstance(values, dict) or ("kinds" in values) == ("attributes" in values):
            return values
        if "kinds" in values:
            kinds = _chosen(values["kinds"], KINDS)
            return values | {"attributes": rules.able(kinds)}
        attributes = _chosen(values["attributes"], ATTRIBUTES)
        return values | {"kinds": rules.fitting(attributes)}

    @field_validator("rules", "candidates", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return int(value) if isinstance(value, str) and value.strip().isdigit() else value

    @field_validator("kinds", "attributes", mode="before")
    @classmethod
    def _known(cls, value: Any, info: ValidationInfo) -> Any:
        return _chosen(value, KINDS if info.field_name == "kinds" else ATTRIBUTES)

    @model_validator(mode="after")
    def _can_be_made(self) -> MatricesSettings:
        if self.candidates == 8 and self.rules != 3:
            raise ValueError("candidates=8 needs three rules; set rules=3")
        rules.check(self.kinds, self.attributes)
        return self

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of rules that matrices have in turn."""
        return (1, 2, 3) if self.rules == "any" else (self.rules,)


def made(**values: Any) -> MatricesSettings:
    """Build settings of matrices from keyword values and check them."""
    return checked(MatricesSettings, values, "matrices")


def _chosen(value: Any, known: tuple[str, ...]) -> Any:
    """Parse names from a list or from words with commas: in canonical order, each once."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"{value!r} will not do; choose from {', '.join(known)}")
    names = [str(name).strip() for name in given]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no '{name}'; {nearest(name, known)}")
    if not names:
        raise ValueError(f"choose from {', '.join(known)}")
    return tuple(name for name in known if name in names)


DEFAULT = made()


# ---------------------------------------------------------------- a matrix with a blank


class Item(NamedTuple):
    """What a mind sees: eight cells, row by row, and the options for the ninth."""

    cells: tuple[Panel, ...]
    options: tuple[Panel, ...]


@dataclass(frozen=True)
class MatrixQuestion(Question):
    """One problem. The reward is 1 for the right option and 0 for another."""

    problem: Problem
    settings: MatricesSettings

    @property
    def actions(self) -> Sequence[Discrete]:
        """The options, numbered from 0."""
        count = len(self.problem.options)
        return (Discrete(count, labels=tuple(NAMES[:count])),)

    @property
    def complexity(self) -> Mapping[str, float]:
        """The number of rules, and the measures."""
        return {"C": float(self.problem.C), **self.problem.measures}

    @property
    def facts(self) -> Mapping[str, Any]:
        """The kinds of rules there may be: a mind may have seen other such problems."""
        return {"settings": self.settings}

    def observe(self, state: int | None, slot: int) -> Item:
        """Show the matrix without its ninth cell, and the options."""
        return Item(self.problem.cells[:8], self.problem.options)

    def reward(self, answer: int) -> float:
        """Reward the right option with 1 and any other with 0."""
        return float(answer == self.problem.answer)

    def secret(self, state: int | None, slot: int, random: Random) -> int:
        """Return the number of the right option."""
        return self.problem.answer
