"""The plan of a run, which tests are given to which minds: TOML in a file, a value in Python."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from allminds.core.errors import Error, nearest
from allminds.core.line_up import parse_all
from allminds.core.settings import Settings, checked, file_text
from allminds.course import COURSES, Course

if TYPE_CHECKING:
    from allminds.contracts import Instrument


def with_course(values: Any) -> Any:
    """Put the course of a test, in its one form, among its settings; return it as it is if none."""
    given = dict(values) if isinstance(values, dict) else {}
    settings = given.get("settings") or {}
    course = given.pop("course", None)
    if not isinstance(settings, Mapping) or (course is None and "course" not in settings):
        return values
    if course is not None and "course" in settings:
        raise ValueError("the course is given twice, beside the settings and among them")
    made = Course.of(settings["course"] if course is None else course)
    return {**given, "settings": {**settings, "course": made.plain()}}


MOST = 10_000  # tests of a plan, and minds of a test
MOST_ENDS = 20_000  # exercises that floor and ceiling play, unless they are asked for in full
PIECES = 20  # stretches that their sample has


def sample_of(exercises: int) -> list[tuple[int, int]]:
    """Choose the exercises that floor and ceiling play: `PIECES` stretches, evenly spread."""
    if exercises <= MOST_ENDS:
        return [(0, exercises)]
    starts = [n * exercises // PIECES for n in range(PIECES)]
    return [(first, first + MOST_ENDS // PIECES) for first in starts]


class Test(Settings):
    """One instrument with its settings, given to some minds.

    In a game, minds that are named alone sit in the first slot and `against` in the others; without
    it they play themselves. Where it is one cell of a crossed design (see `runs.designs`),
    `levels` names its level of every factor, and `words` those of each of its minds.

    Attributes
    ----------
    instrument : str
        Its name, or ``file.py:Class``; in Python also the class.
    minds : list of str
        The names of the minds. In Python also classes, functions and objects, or these under names
        of yours in a mapping; they are kept in `objects`, and here are their names.
    against : str
        The minds in the other slots of a game.
    episodes : int
        The exercises that each mind is given; with a course, the number of courses; with `until`
        in the settings, the number of administrations, 1.
    settings : dict
        The settings of the instrument. A `course` is kept here too: text, a mapping or a list of
        phases, over whose exercises a mind can learn (see `allminds.course`).

    Examples
    --------
    >>> from allminds import Test
    >>> Test(instrument="stag-hunt", minds=["random"], against="stag", episodes=50).minds
    ['random, stag']
    """

    __test__ = False  # no test of pytest's

    instrument: str
    minds: list[str] = Field(min_length=1)
    against: str = Field("", description="who sits in the other slots of a game, as random*3")
    episodes: int = Field(1000, ge=1, le=10**12)
    settings: dict[str, Any] = Field(default_factory=dict)
    levels: dict[str, str] = Field(default_factory=dict)
    words: dict[str, dict[str, str]] = Field(default_factory=dict)
    sampled: list[str] = Field(default_factory=list)  # floors and ceilings that play a sample
    _objects: dict[str, Any] = PrivateAttr(default_factory=dict)

    if TYPE_CHECKING:  # what validation accepts is more than what the fields hold

        def __init__(
            self,
            *,
            instrument: str | type[Instrument],
            minds: Sequence[Any] | Mapping[str, Any],
            against: Any = "",
            episodes: int = 1000,
            settings: Mapping[str, Any] = ...,
            levels: Mapping[str, str] = ...,
            words: Mapping[str, Mapping[str, str]] = ...,
            course: Any = None,
        ) -> None: ...

    @property
    def exercises(self) -> int:
        """The number of exercises that each mind plays: those of all courses, or at most."""
        course, until = self.settings.get("course"), self.settings.get("until")
        if until is not None:
            from allminds.until import Until

            return self.episodes * Until.of(until).most
        return self.episodes * (1 if course is None else len(Course.of(course)))

    @property
    def objects(self) -> dict[str, Any]:
        """The minds that were given as classes, functions or objects, by their names."""
        return self._objects

    @model_serializer(mode="wrap")
    def _dumped(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an empty `sampled`, so that runs have the names that they always had."""
        made: dict[str, Any] = handler(self)
        return made if self.sampled else {k: v for k, v in made.items() if k != "sampled"}

    def joined(self, minds: Iterable[str], objects: Mapping[str, Any]) -> Test:
        """Add minds by name, with the objects that these names stand for."""
        made = self.model_copy(update={"minds": [*self.minds, *minds]})
        made._objects = {**self._objects, **objects}
        return made

    def without_objects(self) -> Test:
        """Copy the test without the minds that were given as objects; their names stay."""
        made = self.model_copy()
        made._objects = {}
        return made

    @model_validator(mode="wrap")
    @classmethod
    def _named(cls, values: Any, handler: ModelWrapValidatorHandler[Test]) -> Test:
        """Replace classes, functions and objects by their names, and keep them beside."""
        if not isinstance(values, dict):
            return handler(values)
        objects: dict[str, Any] = {}
        made = handler(without_objects(values, objects))
        made._objects.update(objects)
        return made

    @model_validator(mode="before")
    @classmethod
    def _taught(cls, values: Any) -> Any:
        """Put a course among the settings; courses are 20 unless it is said."""
        given = with_course(values)
        return given if given is values else {"episodes": COURSES, **given}

    @model_validator(mode="before")
    @classmethod
    def _ended(cls, values: Any) -> Any:
        """Write `until` in its one form; there is one administration."""
        settings = values.get("settings") if isinstance(values, dict) else None
        if not isinstance(settings, Mapping) or "until" not in settings:
            return values
        if values.get("episodes", 1) != 1:
            raise ValueError("until ends the test; leave episodes out, and say most=… in until")
        from allminds.until import Until

        plain = Until.of(settings["until"]).plain()
        return {**values, "episodes": 1, "settings": {**settings, "until": plain}}

    @model_validator(mode="before")
    @classmethod
    def _seated(cls, values: Any) -> Any:
        """Replace minds by line-ups where they play `against` others."""
        given = values if isinstance(values, dict) else {}
        against, minds = given.get("against"), given.get("minds")
        if not (against and isinstance(against, str) and isinstance(minds, list)):
            return values
        return given | {"minds": [seated(mind, against) for mind in minds]}

    def mind_of(self, line_up: str) -> str:
        """Return the mind that a line-up's score belongs to (its first seat)."""
        return str(parse_all(line_up)[0]) if self.against else line_up


def seated(mind: Any, against: str) -> Any:
    """Name the line-up of a mind against others; a line-up, or what is no name, stays as it is."""
    try:
        alone = isinstance(mind, str) and len(parse_all(mind)) == 1
    except Error:
        return mind  # said with the rest of the plan's mistakes
    return f"{mind}, {against}" if alone else mind


def without_objects(given: dict[str, Any], objects: dict[str, Any]) -> dict[str, Any]:
    """Replace what a test has besides names by names; minds are put into `objects`."""
    from allminds import registry

    made = dict(given)
    if not isinstance(made.get("instrument", ""), str):
        made["instrument"] = registry.reference(made["instrument"])
    if isinstance(made.get("minds"), (Mapping, list, tuple)):
        made["minds"] = names_of(made["minds"], objects)
    if not isinstance(made.get("against") or "", str):
        made["against"] = _text(made["against"], objects)
    if made.get("against"):
        for name in objects:
            check_word(name)
    return made


def names_of(minds: Sequence[Any] | Mapping[str, Any], objects: dict[str, Any]) -> list[str]:
    """Name minds as a plan does; what is no name is put into `objects`."""
    if isinstance(minds, Mapping):
        return [_text(who, objects, str(name)) for name, who in minds.items()]
    return [_text(who, objects) for who in minds]


def _text(who: Any, objects: dict[str, Any], name: str = "") -> str:
    """Name a mind or a line-up; what is no name is put into `objects`."""
    from allminds.registry import name_of

    if isinstance(who, str) and name in ("", who):
        return who
    several = isinstance(who, (list, tuple)) or (isinstance(who, str) and len(parse_all(who)) > 1)
    if several:
        if name:
            raise Error(f"minds: a line-up is called by its minds; leave out the name '{name}'")
        said = ", ".join(_text(one, objects) for one in who)
        for one in objects:
            check_word(one)
        return said
    if not (isinstance(who, str) or callable(who) or hasattr(who, "act") or hasattr(who, "make")):
        raise Error(
            f"minds: {who!r} is not a mind: give a name, a class, a function, or an object with a "
            "method 'act'"
        )
    name = name or name_of(who)
    if name in objects and objects[name] is not who:
        raise Error(
            f"minds: two of them are called '{name}'; give them names of yours, such as "
            "{'one': …, 'two': …}"
        )
    objects[name] = who
    return name


def check_word(name: str) -> None:
    """Reject a name of the user's that a line-up cannot have."""
    try:
        if len(parse_all(name)) == 1 and str(parse_all(name)[0]) == name:
            return
    except Error:
        pass
    raise Error(f"minds: '{name}' cannot be the name of a mind in a line-up; use letters and '-'")


class Origin(Settings):
    """What a plan keeps of a mind or an instrument that was given as an object of Python's."""

    kind: str  # class, function, object, name or instrument
    qualname: str
    module: str
    source: str | None = None  # SHA-256 of its source, if Python has it
    reference: str | None = None  # the name by which another process finds it, if there is one


class Plan(Settings):
    """The tests, the seed and the limits: everything needed to repeat a run.

    Attributes
    ----------
    tests : list of Test
        What is given to whom.
    seed : int
        The seed of all exercises.
    traces : int
        The exercises of which every action is kept.
    time_limit : float
        The seconds of processor time that a mind of the user's may take for an action.
    yours : list of str
        The minds that the user asks about, by the names that scores have (see `Test.mind_of`);
        empty if it is nobody's in particular.
    objects : dict
        What is kept of minds and instruments that were given as classes, functions or objects: a
        run with one that no other process finds is resumed only with it (see `resume`).

    Examples
    --------
    >>> from allminds import Plan, Test
    >>> Plan(tests=[Test(instrument="c-test", minds=["random"])]).seed
    1
    """

    tests: list[Test] = Field(min_length=1, max_length=MOST)
    seed: int = Field(1, ge=0, lt=2**63)
    traces: int = Field(200, ge=0, description="exercises of which every action is kept")
    time_limit: float = Field(
        10.0,
        ge=0.001,
        le=86_400,
        description="seconds of processor time a mind of the user's may take for an action",
    )
    yours: list[str] = Field(default_factory=list, description="the minds that are asked about")
    objects: dict[str, Origin] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `yours` and `objects` if they are empty: older plans keep their names."""
        made: dict[str, Any] = handler(self)
        for name in ("yours", "objects"):
            if not made.get(name):
                made.pop(name, None)
        for origin in made.get("objects", {}).values():  # None is no value in TOML
            for key in [key for key, value in origin.items() if value is None]:
                del origin[key]
        return made

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
        return file_text(path)
    except OSError as error:
        names = ", ".join(built_in())
        raise Error(
            f"cannot read the plan {name}: {error.strerror}; give a TOML file or one of {names}"
        ) from None
    except UnicodeDecodeError:
        raise Error(f"cannot read the plan {name}: it is not UTF-8 text") from None


def read_plan(name: str | Path = DEFAULT) -> Plan:
    """Read a plan from a TOML file, or a built-in one, and expand its crossed designs.

    Parameters
    ----------
    name : str or Path
        A TOML file, the plan.json of a run, or battery, groups or factors.

    Returns
    -------
    Plan
        The plan, checked but for the names of minds, which `run` resolves.

    Examples
    --------
    >>> from allminds import read_plan
    >>> len(read_plan("battery").tests) > 10
    True
    """
    where = f"the plan {name}"
    text = plan_text(str(name))
    try:
        values = _stored(text) if str(name).endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number, or lists in lists, without end
        kind = "JSON" if str(name).endswith(".json") else "TOML"
        raise Error(f"{where} is not {kind}: {error}") from None
    from allminds.runs.designs import expanded

    return checked(Plan, expanded(values, where), where)


def _stored(text: str) -> dict[str, Any]:
    """Take the plan out of the plan.json of a run."""
    found = json.loads(text)
    values = found.get("plan", found) if isinstance(found, dict) else found
    if not isinstance(values, dict):
        raise ValueError("it has no plan")
    return values


def narrowed(
    plan: Plan, only: Sequence[str] | None, episodes: int | None, seed: int | None
) -> Plan:
    """Select tests by instrument (`lambda*` is a pattern), and change exercises or seed."""
    tests = plan.tests
    if only is not None:
        for pattern in only:
            if not any(fnmatchcase(test.instrument, pattern) for test in plan.tests):
                names = {test.instrument for test in plan.tests}
                raise Error(
                    f"only: no test of the plan has an instrument '{pattern}'; "
                    f"{nearest(pattern, names)}"
                )
        tests = [one for one in tests if any(fnmatchcase(one.instrument, p) for p in only)]
    made = plan.model_dump() | {"tests": [test.model_dump() for test in tests]}
    if episodes is not None:
        made["tests"] = [test | {"episodes": episodes} for test in made["tests"]]
    if seed is not None:
        made["seed"] = seed
    return checked(Plan, made, "the plan")
