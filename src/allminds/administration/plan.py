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
from allminds.contracts import Instrument
from allminds.errors import Error
from allminds.settings import Settings, checked


class Test(Settings):
    """One instrument with its settings, given to some minds."""

    __test__ = False  # no test of pytest's

    instrument: str
    minds: list[str] = Field(min_length=1)
    episodes: int = Field(1000, ge=1, le=10**12)
    settings: dict[str, Any] = Field(default_factory=dict)


class Plan(Settings):
    """Everything needed to repeat a run."""

    tests: list[Test] = Field(min_length=1)
    seed: int = Field(1, ge=0, lt=2**63)
    traces: int = Field(200, ge=0, description="exercises of which every action is kept")
    time_limit: float = Field(10.0, ge=0, description="seconds a mind may take for an action")

    @property
    def run(self) -> str:
        """The name of every run of this plan: a hash of what it says."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_plan(path: Path) -> Plan:
    """A plan from a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read the plan {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Error(f"cannot read the plan {path}: it is not UTF-8 text") from None
    try:
        return checked(Plan, tomllib.loads(text), f"the plan {path}")
    except tomllib.TOMLDecodeError as error:
        raise Error(f"the plan {path} is not TOML: {error}") from None


BATTERY = """\
# The built-in battery. Change what you like and give it to: allminds run PLAN.toml

seed = 1          # the same seed gives the same exercises, to the bit
traces = 200      # exercises of which every action is kept for replay
time_limit = 10.0 # seconds a mind may take for one action

# One [[tests]] block for every instrument (allminds list instruments). Its minds are names with
# parameters in brackets (allminds list minds), package.module:Name or path/to/file.py:Name.

[[tests]]
instrument = "lambda-star"
episodes = 4400   # spread evenly over the complexities K
minds = ["random", "local-search", "q-learning", "sarsa(epsilon=0.1)", "expert", "optimum"]
[tests.settings]
rows = 10
cols = 10
iterations = 50

[[tests]]
instrument = "lambda-star"
episodes = 4400
minds = ["random", "local-search", "q-learning", "sarsa(epsilon=0.1)", "expert", "optimum"]
[tests.settings]
rows = 5
cols = 5
iterations = 50
"""


def battery() -> Plan:
    """The built-in plan."""
    return checked(Plan, tomllib.loads(BATTERY), "the battery")


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
