"""Who was measured: every mind with a line on what it is, and what it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds import registry
from allminds.contracts import Instrument, Subject
from allminds.core.errors import Error
from allminds.report.data import TestData
from allminds.report.words import first_line


def section(
    tests: Sequence[TestData], folded: Sequence[tuple[str, str, set[int]]] = ()
) -> list[dict[str, Any]]:
    """The minds in the order of the tests; a folded design is named once, with its anchor."""
    places = {n: (label, anchor) for label, anchor, cells in folded for n in cells}
    found: dict[str, dict[str, Any]] = {}
    for data in tests:
        for mind in data.minds:
            name = data.bare.get(mind, mind)
            if name not in found:
                found[name] = {"mind": name, "about": [], "traits": "", "kind": "", "tests": []}
            row = found[name]
            about, kind = described(name, data.tool)
            if about and about not in row["about"]:
                row["about"].append(about)
            row["kind"] = row["kind"] or kind
            row["traits"] = row["traits"] or data.traits.get(mind, "")
            place = places.get(data.number, (data.label, data.anchor))
            if place not in row["tests"]:
                row["tests"].append(place)
    return list(found.values())


def described(mind: str, tool: Instrument) -> tuple[str, str]:
    """The first line of what a mind says of itself, and whether it is one mind or several."""
    try:
        seats = registry.line_up(mind, tool).seats
    except Error:  # a mind of a file that is gone
        return "", ""
    subjects = list(dict.fromkeys(seat.subject.name for seat in seats))
    if len(subjects) > 1:
        return f"One mind a slot; the score is that of {subjects[0]}.", "line-up"
    subject = seats[0].subject
    return _first_line(subject), "group" if subject.group or subject.members else "mind"


def _first_line(subject: Subject) -> str:
    """Of the class or function that makes it."""
    maker: Any = subject.make
    maker = getattr(maker, "func", maker)
    if maker is registry.FunctionMind:
        maker = subject.make.args[0]  # type: ignore[attr-defined]
    return first_line(maker)
