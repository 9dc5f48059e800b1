"""At a glance: a few sentences, computed from the results, each with where to read on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.psychometrics.groups import Gain
from allminds.report.data import TestData
from allminds.report.profile import places
from allminds.report.strips import MIND
from allminds.report.words import count, interval, listed, number

Sentence = tuple[str, str]  # what is said, and the anchor of its section
MOST_NAMED = 4  # minds


def sentences(tests: Sequence[TestData], parts: dict[str, Any]) -> list[Sentence]:
    """What a reader should take away, in the order of the page."""
    found = [
        _above(tests),
        _groups(parts["groups"], parts["votes"]),
        _prediction(parts["prediction"]),
        _reliability(parts["reliability"]),
        _excluded(parts["excluded"]),
    ]
    return [sentence for sentence in found if sentence]


def _above(tests: Sequence[TestData]) -> Sentence | None:
    """How many minds are surely above chance wherever they were measured, and how many nowhere."""
    above: dict[str, list[bool]] = {}
    for data in tests:
        for place in places(data):
            if place.kind == MIND:
                sure = place.interval is not None and place.interval[0] > 0
                above.setdefault(place.mind, []).append(sure)
    if not above:
        return None
    always = sum(all(of) for of in above.values())
    nowhere = [mind for mind, of in above.items() if not any(of)]
    said = f"Of {count(len(above), 'mind')} besides floors and ceilings, {always} scored above "
    said += "chance, by their 95 % intervals, on every test they took"
    if nowhere:
        named = f" ({listed(nowhere)})" if len(nowhere) <= MOST_NAMED else ""
        said += f", {len(nowhere)} on none{named}"
    return f"{said}.", "profile" if len(tests) > 1 else tests[0].anchor


def _verdicts(groups: dict[str, Any] | None, votes: Sequence[dict[str, Any]]) -> list[Gain]:
    tables = [*groups["tables"], *groups["pooled"]] if groups else []
    return [row["gain"] for table in (*tables, *votes) for row in table["rows"] if row["gain"]]


def _groups(groups: dict[str, Any] | None, votes: Sequence[dict[str, Any]]) -> Sentence | None:
    verdicts = [one.verdict for one in _verdicts(groups, votes)]
    if not verdicts:
        return None
    said = f"Of {count(len(verdicts), 'group')} set against members alone, "
    said += f"{verdicts.count('gains')} did better, {verdicts.count('loses')} worse"
    rest = len(verdicts) - verdicts.count("gains") - verdicts.count("loses")
    return said + (f"; {rest} cannot be told apart." if rest else "."), "groups"


def _prediction(found: dict[str, Any] | None) -> Sentence | None:
    if not found or not found["questions"]:
        return None
    parts = []
    for one in found["questions"]:
        scheme = one["schemes"][0]
        parts.append(f"{one['data'].label} {number(scheme['error'])} ({scheme['winner']})")
    said = "Accuracy at complexities left out was foreseen with a mean absolute error of "
    return f"{said}{'; '.join(parts)}: the error, and the curve that won.", "prediction"


def _reliability(found: dict[str, Any] | None) -> Sentence | None:
    rows = [row for row in found["rows"] if row["generalisability"] is not None] if found else []
    if not rows:
        return None
    low = [row for row in rows if row["generalisability"] < 0.9]
    some = f"{len(rows) - len(low)} of {count(len(rows), 'test')}" if low else "All tests"
    said = f"{some} that gave minds the same exercises tell them apart with a generalisability "
    said += "Eρ² of .9 or more"
    if low:
        worst = min(low, key=lambda row: row["generalisability"])
        said += f"; the least is {number(worst['generalisability'])}"
        said += f" {interval(worst['interval'])}" if worst["interval"] else ""
        said += f" on {worst['data'].label}"
    return f"{said}.", "reliability"


def _excluded(rows: Sequence[dict[str, Any]]) -> Sentence:
    if not rows:
        return "No exercise failed: nothing was left out.", "excluded"
    failed = sum(row["failed"] for row in rows)
    minds = len({row["mind"] for row in rows})
    return (
        f"{count(failed, 'play')} of {count(minds, 'mind')} failed and are in no mean.",
        "excluded",
    )
