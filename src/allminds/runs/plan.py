"""The plan of a run, which tests are given to which minds: TOML in a file, a value in Python."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from allminds import registry
from allminds.core.errors import Error
from allminds.core.names import parse_all
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.episode import play
from allminds.runs.design import crossed


class Test(Settings):
    """One instrument with its settings, given to some minds.

    In a game, minds that are named alone sit in the first slot and `against` in the others; without
    it they play themselves. Where it is one cell of a crossed design (see `design.crossed`),
    `levels` names its level of every factor, and `words` those of each of its minds.
    """

    __test__ = False  # no test of pytest's

    instrument: str
    minds: list[str] = Field(min_length=1)
    against: str = Field("", description="who sits in the other slots of a game, as random*3")
    episodes: int = Field(1000, ge=1, le=10**12)
    settings: dict[str, Any] = Field(default_factory=dict)
    levels: dict[str, str] = Field(default_factory=dict)
    words: dict[str, dict[str, str]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _seated(cls, values: Any) -> Any:
        """Replace minds by line-ups where they play `against` others."""
        given = values if isinstance(values, dict) else {}
        against, minds = given.get("against"), given.get("minds")
        if not (against and isinstance(against, str) and isinstance(minds, list)):
            return values
        return given | {"minds": [_line_up(mind, against) for mind in minds]}

    def mind_of(self, line_up: str) -> str:
        """Return the mind that a line-up's score belongs to (its first seat)."""
        return str(parse_all(line_up)[0]) if self.against else line_up


def _line_up(mind: Any, against: str) -> Any:
    """Name a line-up; what is one already, or is no name, stays as it is."""
    try:
        alone = isinstance(mind, str) and len(parse_all(mind)) == 1
    except Error:
        return mind  # said with the rest of the plan's mistakes
    return f"{mind}, {against}" if alone else mind


class Plan(Settings):
    """The tests, the seed and the limits: everything needed to repeat a run."""

    tests: list[Test] = Field(min_length=1)
    seed: int = Field(1, ge=0, lt=2**63)
    traces: int = Field(200, ge=0, description="exercises of which every action is kept")
    time_limit: float = Field(
        10.0,
        ge=0.001,
        le=86_400,
        description="seconds of processor time a mind of the user's may take for an action",
    )

    @property
    def run(self) -> str:
        """The name of every run of this plan: a hash of its content."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


BUILT_IN = Path(__file__).parent / "plans"
DEFAULT = "battery"


def built_in() -> list[str]:
    """List the names of the plans that come with allminds."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def plan_file(name: str) -> Path:
    """Locate the file of a plan: an existing path, or a built-in plan by its name."""
    path = Path(name)
    if name in built_in() and not path.exists():
        return BUILT_IN / f"{name}.toml"
    return path


def plan_text(name: str) -> str:
    """Read the text of a plan as it was written, comments included."""
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
    """Read a plan from a TOML file, or a built-in one, and expand its crossed designs."""
    where = f"the plan {name}"
    text = plan_text(str(name))
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number, or lists in lists, without end
        raise Error(f"{where} is not TOML: {error}") from None
    return checked(Plan, crossed(values, where), where)


def with_minds(plan: Plan, minds: Sequence[str]) -> tuple[Plan, list[str]]:
    """Add minds to every test that they can take, and say which tests each of them cannot take.

    A registered mind declares which instruments it is for. A mind from a user's file is tried: it
    takes the tests whose first exercise it ends. In a plan with one instrument no mind is left out.
    """
    alike = len({test.instrument for test in plan.tests}) == 1
    tests, reasons = [], dict[str, dict[str, str]]()
    for test in plan.tests:
        taken = []
        for mind in minds:
            reason = "" if alike else _cannot(mind, test, plan)
            if reason:
                reasons.setdefault(mind, {})[test.instrument] = reason
            else:
                taken.append(mind)
        values = test.model_dump() | {"minds": [*test.minds, *taken]}
        tests.append(checked(Test, values, f"the test {test.instrument}"))
    for mind, why in reasons.items():
        if len(why) == len({test.instrument for test in plan.tests}):
            name, reason = next(iter(why.items()))
            raise Error(f"{mind} can take none of the tests; {name}: {reason}")
    left = [f"{mind} takes no {name}: {why}" for mind, of in reasons.items()
            for name, why in of.items()]  # fmt: skip
    return plan.model_copy(update={"tests": tests}), left


def _cannot(mind: str, test: Test, plan: Plan) -> str:
    """Say why a mind cannot take a test; return an empty text if it can."""
    tool = registry.make_instrument(test.instrument, test.settings)
    try:
        line_up = registry.line_up(_line_up(mind, test.against) if test.against else mind, tool)
    except Error as error:
        return str(error)
    if ":" not in parse_all(mind)[0].name:
        return ""
    with Watch(plan.time_limit).running() as watch:
        record = play(tool.exercise(plan.seed, 0), line_up, watch)
    return "" if "ok" in record.status else record.reason
