"""What a run keeps of that which made it: versions, files of the user's, line-ups in words."""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.core.files import SUMS
from allminds.core.line_up import LineUp, Name, Subject, parse
from allminds.core.table import SCHEMA
from allminds.core.user_code import code_of
from allminds.runs.engine import Given
from allminds.runs.plan import Origin, Plan

DECISIVE = ("allminds", "python", "numpy", "numba")  # versions that a score may depend on


class Portrait(NamedTuple):
    """What a run keeps of a line-up, so that a report need not make its minds."""

    subjects: tuple[str, ...]  # the different minds in its seats
    seats: int
    about: str  # the first line that the first of them says of itself
    group: bool  # whether the first is one
    members: tuple[str, ...] = ()  # of the first
    alone: tuple[str, ...] = ()  # of a group: the mind that each member is by itself
    slots: tuple[int, ...] = ()  # of the first

    @classmethod
    def of(cls, line_up: LineUp, tool: Instrument) -> Portrait:
        """Describe a line-up."""
        seat = line_up.seats[0]
        who = seat.subject
        names = tuple(dict.fromkeys(one.subject.name for one in line_up.seats))
        members = tuple(member.name for member in who.members)
        alone = members or _alone(who, tool)
        about = registry.first_line(who.maker)
        return cls(names, len(line_up.seats), about, who.group, members, alone, seat.slots)


def _alone(group: Subject, tool: Instrument) -> tuple[str, ...]:
    """Name the mind that the members of a group are by themselves, where its name has none.

    It takes over the parameters in brackets that it has too.
    """
    if not group.alone:
        return ()
    try:
        single = registry.subject(group.alone, tool)
    except Error:  # the group knows no instrument, and names a mind of another
        return ()
    name, has = parse(group.name), inspect.signature(single.maker).parameters
    kept = tuple((key, value) for key, value in name.keywords if key in has)
    return (str(Name(group.alone, (), kept)),) * tool.slots


def versions() -> dict[str, str]:
    """List the versions of Python and of the packages that results may depend on."""
    import importlib.metadata as metadata

    packages = ("allminds", "numpy", "numba", "pandas", "pyarrow")
    return {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}


def origin_of(thing: Any) -> Origin:
    """Describe a mind that was given as a class, a function or an object: where it comes from."""
    if isinstance(thing, Subject):
        thing = thing.maker
    if isinstance(thing, str):  # a name of the user's for a mind that has another
        return Origin(kind="name", qualname=thing, module="", reference=thing)
    kind = "class" if isinstance(thing, type) else "function" if _is_function(thing) else "object"
    made = type(thing) if kind == "object" else thing
    made = registry.unwrapped(thing) if thing is not registry.unwrapped(thing) else made
    reference = None if kind == "object" else _reference(thing)
    return Origin(
        kind=kind, qualname=made.__qualname__, module=made.__module__ or "", reference=reference,
        source=_source_sum(made),
    )  # fmt: skip


def origin_of_instrument(cls: type[Instrument]) -> Origin:
    """Describe an instrument that is a class of a Python session."""
    return Origin(
        kind="instrument", qualname=cls.__qualname__, module=cls.__module__, source=_source_sum(cls)
    )


def _is_function(thing: Any) -> bool:
    return inspect.isfunction(thing) or inspect.isbuiltin(thing)


def _source_sum(made: Any) -> str | None:
    """Hash the source of a class or function, if Python has it."""
    try:
        return hashlib.sha256(inspect.getsource(made).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _reference(thing: Any) -> str | None:
    """Name the module and the class or function there, unless it is a script or a notebook."""
    module = sys.modules.get(str(thing.__module__))
    name, file = thing.__qualname__, getattr(module, "__file__", None)
    if thing.__module__ == "__main__" or file is None or getattr(module, name, None) is not thing:
        return None
    return registry.place_of(module, name)


def made_with(tests: Sequence[Given]) -> dict[str, Any]:
    """Collect the versions of the instruments, and the sums of the user's files behind minds.

    A mind that was given in Python without a name has a sum of its own in the plan.
    """
    makers, words = [], []
    for given in tests:
        makers += [given.tool.kind, *(part.kind for part in given.tool.parts)]
        apart = _without_name(given)
        for line_up in given.line_ups:
            words.append(line_up.name)
            for seat in line_up.seats:
                subjects = (seat.subject, *seat.subject.members)
                makers += [one.maker for one in subjects if one.name not in apart]
    return {
        "instruments": {
            tool.name: tool.version for given in tests for tool in (*given.tool.parts, given.tool)
        },
        "code": code_of(makers, words),
    }


def _without_name(given: Given) -> set[str]:
    """List the user's own minds of a test that no name leads to."""
    return {name for name, who in given.objects.items() if origin_of(who).reference is None}


def changed(before: Mapping[str, Any], tests: Sequence[Given]) -> list[str]:
    """Say how versions, instruments, files and objects differ from what plan.json has of them.

    What a run that was made earlier did not keep is not compared.
    """
    now = {"versions": versions(), **made_with(tests)}
    found = _other_objects(before["plan"].get("objects", {}), tests)
    for kind, of in now.items():
        was = before.get(kind)
        if not isinstance(was, dict):
            continue
        for name in sorted({*was, *of}):
            old, new = was.get(name), of.get(name)
            if old == new or (kind == "versions" and name not in DECISIVE):
                continue
            word = "version " if kind == "instruments" else ""
            said = "has changed" if kind == "code" else f"was {word}{old} and is {word}{new}"
            found.append(f"{name} {said}")
    return found


def _other_objects(origins: Mapping[str, Any], tests: Sequence[Given]) -> list[str]:
    """Say which objects that are supplied have another source than those of the run."""
    supplied = {name: who for given in tests for name, who in given.objects.items()}
    return [
        f"the source of {name} has changed"
        for name, who in supplied.items()
        if name in origins
        and origins[name].get("reference") is None
        and origins[name].get("source") != origin_of(who).source
    ]


def plan_json(plan: Plan, tests: Sequence[Given]) -> dict[str, Any]:
    """Collect what plan.json holds: the plan, and what a run is made with."""
    portraits = [
        {one.name: Portrait.of(one, given.tool) for one in given.line_ups} for given in tests
    ]
    return {
        "schema": SCHEMA,
        "sums": SUMS,
        "versions": versions(),
        "plan": plan.model_dump(mode="json"),
    } | (made_with(tests) | {"line_ups": portraits} if tests else {})
