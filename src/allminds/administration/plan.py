"""A plan says what is given to whom: TOML in a file, a value in Python."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from allminds import registry
from allminds.administration.cross import crossed
from allminds.contracts import Instrument
from allminds.errors import Error
from allminds.settings import Settings, checked


class Test(Settings):
    """One instrument with its settings, given to some minds.

    Where it is one cell of a crossed design (see `cross`), `levels` names its level of every
    factor, and `words` those of each of its minds.
    """

    __test__ = False  # no test of pytest's

    instrument: str
    minds: list[str] = Field(min_length=1)
    episodes: int = Field(1000, ge=1, le=10**12)
    settings: dict[str, Any] = Field(default_factory=dict)
    levels: dict[str, str] = Field(default_factory=dict)
    words: dict[str, dict[str, str]] = Field(default_factory=dict)


class Plan(Settings):
    """Everything needed to repeat a run."""

    tests: list[Test] = Field(min_length=1)
    seed: int = Field(1, ge=0, lt=2**63)
    traces: int = Field(200, ge=0, description="exercises of which every action is kept")
    time_limit: float = Field(
        10.0, ge=0.001, le=86_400, description="seconds a mind may take for an action"
    )

    @property
    def run(self) -> str:
        """The name of every run of this plan: a hash of what it says."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


BUILT_IN = Path(__file__).parent / "plans"
DEFAULT = "battery"


def built_in() -> list[str]:
    """The names of the plans that come with allminds."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def plan_file(name: str) -> Path:
    """The file of a plan: one that is there, or a built-in one by its name."""
    path = Path(name)
    if name in built_in() and not path.exists():
        return BUILT_IN / f"{name}.toml"
    return path


def plan_text(name: str) -> str:
    """A plan as it was written, comments and all."""
    path = plan_file(name)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        names = ", ".join(built_in())
        raise Error(
            f"cannot read the plan {name}: {error.strerror}; give a TOML file or one of {names}"
        ) from None
    except UnicodeDecodeError:
        raise Error(f"cannot read the plan {name}: it is not UTF-8 text") from None


def read_plan(name: str | Path = DEFAULT) -> Plan:
    """A plan from a TOML file, or a built-in one, with its crossed designs worked out."""
    where = f"the plan {name}"
    try:
        return checked(Plan, crossed(tomllib.loads(plan_text(str(name))), where), where)
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{where} is not TOML: {error}") from None


def with_minds(plan: Plan, minds: list[str]) -> Plan:
    """A plan with some more minds in every test."""
    tests = [test.model_copy(update={"minds": test.minds + minds}) for test in plan.tests]
    return plan.model_copy(update={"tests": tests})


def check(plan: Plan) -> None:
    """Find what is wrong with a plan before anything is played."""
    for test in plan.tests:
        distinct(test.minds, registry.make_instrument(test.instrument, test.settings))


def distinct(minds: Sequence[Any], tool: Instrument) -> Sequence[Any]:
    """The minds as given, if they are all good for the instrument and none is named twice."""
    names = [registry.line_up(who, tool).name for who in minds]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Error(f"the mind '{twice}' is given twice to {tool.name}; name it once")
    return minds
