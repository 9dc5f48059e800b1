"""What a slot of a world has for its own: rewards, actions and sight, as settings state them.

A setting has one value for all slots, or several by commas: one for each team, or one for each
slot. Several that are equal become one, so that a world in which all are alike is the plain one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import SerializerFunctionWrapHandler

from allminds.contracts import Discrete, legal
from allminds.core.errors import Error
from allminds.core.settings import Settings

V = TypeVar("V")
Weights = tuple[float, float]  # what Good gives in its own cell, and what Evil gives in its own

PLAIN: Weights = (1.0, -1.0)
PLAIN_TEXT = "1:-1"
SEVERAL = "; several, by commas: for each team or slot"


@dataclass(frozen=True)
class Some(Discrete):
    """A space of numbered actions of which a slot has only some; the numbers mean what they do.

    Minds that ask for `allowed` actions, and the masks of training libraries, follow it.
    """

    only: tuple[int, ...] = ()

    def contains(self, action: Any) -> bool:
        """Return True for one of the slot's own actions."""
        return super().contains(action) and action in self.only

    def allowed(self, observation: Any) -> Sequence[int]:
        """Return the slot's own actions, or those of them that `legal` lists."""
        listed = legal(observation)
        return self.only if listed is None else [one for one in self.only if one in listed]

    @property
    def span(self) -> str:
        """The slot's own actions by their numbers, such as ``2, 4, 5``."""
        return ", ".join(map(str, self.only))

    def listed(self, actions: Sequence[Any] | None = None) -> str:
        """List some actions, or the slot's own, with their labels."""
        return super().listed(self.only if actions is None else actions)


# ---------------------------------------------------------------- settings with a value a slot


def canonical(value: Any, read: Callable[[Any], str]) -> str:
    """Write the values of a setting by commas, each as `read` writes it; equal ones once.

    `value` is a text with commas, a list, or one value.
    """
    parts = value.split(",") if isinstance(value, str) else value
    texts = [read(part) for part in (parts if isinstance(parts, (list, tuple)) else [parts])]
    if not texts:
        raise ValueError("it must not be empty")
    return texts[0] if len(set(texts)) == 1 else ",".join(texts)


def dumped(settings: Settings, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Dump settings without `moves` and `weights` where they are plain.

    So the ids of plain exercises are those they had before there were such settings.
    """
    made: dict[str, Any] = handler(settings)
    fields = type(settings).model_fields
    plain = [name for name in ("moves", "weights") if made.get(name) == fields[name].default]
    return {name: value for name, value in made.items() if name not in plain}


def each_slot(
    values: Any, teams: Sequence[Sequence[int]], name: str, where: str
) -> tuple[str, ...]:
    """Return the value of every slot: of one for all, of one for each team, or one for each."""
    found, slots = str(values).split(","), sum(map(len, teams))
    if len(found) == 1:
        return tuple(found * slots)
    if len(found) == slots:
        return tuple(found)
    if len(found) == len(teams):
        of = {slot: value for team, value in zip(teams, found, strict=True) for slot in team}
        return tuple(of[slot] for slot in range(slots))
    by_team = f", {len(teams)} (one for each team)" if len(teams) not in (1, slots) else ""
    raise Error(
        f"{where}: {name} has {len(found)} values, '{values}'; give 1{by_team} or {slots}, one for "
        "each slot"
    )


# ---------------------------------------------------------------- rewards


def weights_text(value: Any) -> str:
    """Check and write one pair of weights, given as GOOD:EVIL or as two numbers."""
    parts = value.split(":") if isinstance(value, str) else value
    try:
        good, evil = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise ValueError(f"'{value}' is not two weights as GOOD:EVIL, such as 1:-1") from None
    if not all(abs(one) <= 1 for one in (good, evil)):  # neither is nan
        raise ValueError(f"the weights {value} must be between -1 and 1")
    if good == evil == 0:
        raise ValueError("the weights 0:0 reward nothing; give one that is not 0")
    return f"{_short(good)}:{_short(evil)}"


def _short(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def weights_of(text: str) -> Weights:
    """Read a pair of weights that was checked."""
    good, evil = text.split(":")
    return float(good), float(evil)


def balanced(weights: Iterable[Weights]) -> bool:
    """Return whether what Good gives, Evil takes, for all: a random mind then expects 0."""
    return all(good == -evil for good, evil in weights)


def mean(values: Iterable[float]) -> float:
    """Average over slots, summed exactly."""
    found = list(values)
    return math.fsum(found) / len(found)


def signed(weight: float) -> str:
    """Write a weight as people read it: with its sign, without needless digits."""
    return f"{weight:+.3g}".replace("-", "−") if weight else "0"
