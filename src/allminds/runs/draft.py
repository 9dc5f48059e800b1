"""The plan of an evaluation, made from instruments and minds as a caller gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.core.line_up import parse_all
from allminds.core.settings import checked
from allminds.course import COURSES, Course
from allminds.runs.engine import Given
from allminds.runs.plan import Plan, Test
from allminds.runs.resolve import Resolved

EPISODES = 1000  # of an instrument without a fixed form
FIELDS = (
    "instrument",
    "settings",
    "episodes",
    "minds",
    "against",
    "course",
)  # of a test in a mapping


def prepared(
    instruments: Any,
    minds: Sequence[Any] | Mapping[str, Any],
    *,
    against: Any = None,
    settings: Mapping[str, Any] | None = None,
    episodes: int | None = None,
    seed: int = 1,
    time_limit: float = 10.0,
    ends: bool = True,
    course: Any = None,
) -> Resolved:
    """Make the plan that `evaluate` plays, with all names resolved."""
    check_minds(minds)
    drafts = [_taught(draft, course) for draft in _drafts(instruments, settings, episodes)]
    opponents = _opponents(against)
    left_out: list[str] = []
    tests: list[Test] = []
    given: list[Given] = []
    rivals: dict[int, Any] = {}
    for draft in drafts:
        one = Given.of(draft["instrument"], draft.get("settings") or {}, [])
        fit = _fitting(opponents, one.tool, len(drafts) > 1, left_out)
        for test, who in _seated(draft, one, fit):
            if who:
                rivals[len(tests)] = who
            tests.append(test)
            given.append(replace(one, objects=dict(test.objects)))
    values = {"tests": tests, "seed": seed, "time_limit": time_limit}
    plan = checked(Plan, values, "evaluate")
    bare = [test.model_copy(update={"minds": []}) for test in plan.tests]
    found = Resolved(plan.model_copy(update={"tests": bare}), given, no_opponents=left_out)
    found = found.joined(minds) if minds else found
    for number, who in rivals.items():
        found = found.joined(who, yours=False, only=number)
    found = found.with_ends() if ends else found
    for test in found.plan.tests:
        if not test.minds:
            raise Error(f"minds: there is none for {test.instrument}; give one")
    return found.whole()


def _drafts(
    instruments: Any, settings: Mapping[str, Any] | None, episodes: int | None
) -> list[dict[str, Any]]:
    """Convert instruments as they were given to mappings with the fields of a test."""
    one = not isinstance(instruments, (list, tuple))
    found = [_draft(what) for what in ([instruments] if one else instruments)]
    if not found:
        raise Error("instruments must not be empty; see allminds.list('instruments')")
    if settings is not None:
        if not isinstance(settings, Mapping):
            raise Error(f"settings must be a mapping, such as {{'rows': 5}}, not {settings!r}")
        if len(found) > 1:
            raise Error(
                "settings are those of one instrument; give several instruments their own, as "
                "[{'instrument': 'lambda-star', 'settings': {'rows': 5}}, 'c-test']"
            )
        found[0]["settings"] = {**(found[0].get("settings") or {}), **settings}
    for draft in found:
        if episodes is not None:
            draft.setdefault("episodes", episodes)
        if sum(_alike(draft, other) for other in found) > 1:
            raise Error(f"instruments: {_named(draft)} is given twice with the same settings")
    return found


def _taught(draft: dict[str, Any], course: Any) -> dict[str, Any]:
    """Put a course among the settings; a test's own course goes before that of all."""
    own = draft.pop("course", None)
    settings = dict(draft.get("settings") or {})
    chosen = settings.get("course", course if own is None else own)
    if chosen is None:
        return draft
    return draft | {"settings": settings | {"course": Course.of(chosen).plain()}}


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("instrument", "settings", "against"))


def _named(draft: Mapping[str, Any]) -> str:
    which = draft["instrument"]
    return which if isinstance(which, str) else str(getattr(which, "name", which))


def _draft(what: Any) -> dict[str, Any]:
    if isinstance(what, Test):
        known = what.model_fields_set
        given = {name: getattr(what, name) for name in FIELDS if name in known}
        return given | {"minds": {name: what.objects.get(name, name) for name in what.minds}}
    if isinstance(what, Mapping):
        wrong = next((name for name in what if name not in FIELDS), None)
        if wrong is not None or "instrument" not in what:
            said = f"not '{wrong}'" if wrong is not None else "and 'instrument' is missing"
            raise Error(f"instruments: a mapping has {', '.join(FIELDS)}, {said}")
        return dict(what)
    if not isinstance(what, (str, type)) or not what:
        raise Error(
            "instruments must be a name such as 'lambda-star', a subclass of Instrument, a Test, a "
            f"mapping or a list of these, not {what!r}"
        )
    return {"instrument": what}


def _opponents(against: Any) -> list[Any]:
    if against is None:
        return []
    found = list(against) if isinstance(against, (list, tuple)) else [against]
    if not found or "" in found:
        raise Error("against must not be empty; name a mind, or leave it out")
    return found


def _is_game(tool: Instrument) -> bool:
    """Check whether a test has opponents: other slots, which do not count for the score."""
    return tool.scored == "first" and tool.slots > 1


def _fitting(
    opponents: Sequence[Any], tool: Instrument, several: bool, left_out: list[str]
) -> Sequence[Any]:
    """Select the opponents that play a game; of several instruments, each has its own."""
    if not _is_game(tool) or not several:
        return opponents
    fit = []
    for opponent in opponents:
        try:
            names = [one.name for one in parse_all(opponent)] if isinstance(opponent, str) else []
            for name in names or [opponent]:
                registry.subject(name, tool)
            fit.append(opponent)
        except Error as error:
            left_out.append(f"nobody plays {tool.name} against {opponent}: {error}")
    if opponents and not fit:
        raise Error(f"against: none of them plays {tool.name}; {left_out[-1].partition(': ')[2]}")
    return fit


def _seated(
    draft: Mapping[str, Any], given: Given, opponents: Sequence[Any]
) -> list[tuple[Test, Any]]:
    """Make the tests of a draft, each with the rivals that take it too.

    In a game there is a test for each opponent, who fills the other slots.
    """
    tool, rivals = given.tool, draft.get("minds") or []
    values = {name: value for name, value in draft.items() if name != "minds"} | {
        "minds": ["-"],
        "episodes": draft.get("episodes", COURSES if tool.parts else tool.length or EPISODES),
    }
    where = f"evaluate {tool.name}"
    if not _is_game(tool) or draft.get("against") or not opponents:
        mine = checked(Test, values, where)
        return [(mine, rivals or (opponents if not mine.against else []))]
    made = []
    for opponent in opponents:
        test = checked(Test, values | {"against": opponent}, where)
        alone = "," not in test.against and "*" not in test.against
        if alone and tool.slots > 2:
            full = f"{test.against}*{tool.slots - 1}"
            test = test.model_copy(update={"against": full})
        made.append((test, rivals))
    return made


def check_minds(minds: Any) -> None:
    """Reject what is not a list or a mapping of minds."""
    if isinstance(minds, str) or not isinstance(minds, (Sequence, Mapping)):
        raise Error(f"minds are a list, such as ['random', MyMind], not {minds!r}")
