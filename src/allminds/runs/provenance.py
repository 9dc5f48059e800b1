"""What a run keeps of that which made it: versions, files of the user's, line-ups in words."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from allminds import registry
from allminds.contracts import Instrument, LineUp, Subject
from allminds.core.errors import Error
from allminds.core.frames import code_of
from allminds.core.names import Name, parse
from allminds.runs.engine import Given

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


def made_with(tests: Sequence[Given]) -> dict[str, Any]:
    """Collect the versions of the instruments, and the sums of the user's files behind minds."""
    makers, words = [], []
    for given in tests:
        makers.append(type(given.tool))
        for line_up in given.line_ups:
            words.append(line_up.name)
            for seat in line_up.seats:
                makers += [one.maker for one in (seat.subject, *seat.subject.members)]
    return {
        "instruments": {given.tool.name: given.tool.version for given in tests},
        "code": code_of(makers, words),
    }


def changed(before: Mapping[str, Any], tests: Sequence[Given]) -> list[str]:
    """Say how versions, instruments and files differ from what plan.json has of them.

    What a run that was made earlier did not keep is not compared.
    """
    now = {"versions": versions(), **made_with(tests)}
    found = []
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
