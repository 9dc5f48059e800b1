"""What a user may ask for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from allminds.core.errors import nearest
from allminds.core.settings import Settings, checked
from allminds.instruments.matrices import rules
from allminds.instruments.matrices.panel import ATTRIBUTES, KINDS, Attribute, Kind


class MatricesSettings(Settings):
    """Settings of matrices."""

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
        """Where only kinds or only attributes are named, the others are those that fit."""
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

    @field_validator("kinds", mode="before")
    @classmethod
    def _known_kinds(cls, value: Any) -> Any:
        return _chosen(value, KINDS)

    @field_validator("attributes", mode="before")
    @classmethod
    def _known_attributes(cls, value: Any) -> Any:
        return _chosen(value, ATTRIBUTES)

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
    """Settings, checked."""
    return checked(MatricesSettings, values, "matrices")


def _chosen(value: Any, known: tuple[str, ...]) -> Any:
    """Names from a list or from words with commas, in their own order, each once."""
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
