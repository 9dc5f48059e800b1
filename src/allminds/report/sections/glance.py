"""The summary at the top of the report: a few sentences, each with a link to its section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.inference import corrected
from allminds.report.data import TestData
from allminds.report.words import count, interval, listed, number

Sentence = tuple[str, str]  # what is said, and the anchor of its section
MOST_NAMED = 4  # minds


def sentences(
    tests: Sequence[TestData], parts: dict[str, Any], people: Sentence | None = None
) -> list[Sentence]:
    """Write what a reader should take away, in the order of the page."""
    found = [
        _above(tests),
        people,
        _groups(parts["groups"], parts["votes"]),
        _prediction(parts["prediction"]),
        _reliability(parts["reliability"]),
        _excluded(parts["excluded"]),
    ]
    return [sentence for sentence in found if sentence]


def _above(tests: Sequence[TestData]) -> Sentence | None:
    """Count the minds surely above the floor on all their tests, and those above it on none."""
    above: dict[str, list[bool]] = {}
    for data in tests:
        for mind, better in above_floor(data).items():
            above.setdefault(mind, []).append(better)
    if not above:
        return None
    always = sum(all(of) for of in above.values())
    nowhere = [mind for mind, of in above.items() if not any(of)]
    said = f"Of {count(len(above), 'mind')} besides floors and ceilings, {always} scored above the "
    said += (
        "floor on every test they took that has one for all minds on the same exercises (p below "
    )
    said += ".05, corrected for the minds of a test)"
    if nowhere:
        named = f" ({listed(nowhere)})" if len(nowhere) <= MOST_NAMED else ""
        said += f", {len(nowhere)} on none{named}"
    return f"{said}.", "profile" if len(tests) > 1 else tests[0].anchor


def above_floor(data: TestData) -> dict[str, bool]:
    """Check for each mind whether it surely did better than the floor on the same exercises."""
    rows = data.summary["results"]
    floor = next((n for n, row in enumerate(rows) if row["end"] == "floor"), None)
    if floor is None or data.tool.adaptive or not len(data.scores):
        return {}
    found = {
        row["mind"]: data.difference(
            data.scores[:, n] - data.scores[:, floor], (row["mind"], rows[floor]["mind"])
        )
        for n, row in enumerate(rows)
        if row["end"] is None
    }
    known = {mind: one for mind, one in found.items() if one is not None}
    decided = dict(zip(known, corrected(list(known.values())), strict=True))
    return {mind: mind in decided and decided[mind].sign > 0 for mind in found}


def _groups(groups: dict[str, Any] | None, votes: Sequence[dict[str, Any]]) -> Sentence | None:
    tables = [*groups["tables"], *groups["pooled"]] if groups else []
    found = [row["gain"] for table in (*tables, *votes) for row in table["rows"] if row["gain"]]
    if not found:
        return None
    signs = [one.sign for one in found]
    said = f"Of {count(len(found), 'group')} set against members alone, "
    said += f"{signs.count(1)} did better, {signs.count(-1)} worse"
    same = sum(one.verdict == "equivalent" for one in found)
    said += f", {same} neither by more than {found[0].margin:g}" if same else ""
    rest = signs.count(0) - same
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
    rows = found["rows"] if found else []
    known = [row for row in rows if row["generalisability"] is not None]
    if not known:
        return None
    low = [row for row in known if row["generalisability"] < 0.9]
    said = f"On {len(known) - len(low)} of {count(len(known), 'test')} in which it can be estimated"
    said += ", the generalisability Eρ² of the scores is .9 or more"
    if low:
        worst = min(low, key=lambda row: row["generalisability"])
        said += f"; the least is {number(worst['generalisability'])}"
        said += f" {interval(worst['interval'])}" if worst["interval"] else ""
        said += f" on {worst['data'].label}"
    rest = len(rows) - len(known)
    said += f". On {count(rest, 'test')} it cannot be estimated" if rest else ""
    return f"{said}.", "reliability"


def _excluded(rows: Sequence[dict[str, Any]]) -> Sentence:
    if not rows:
        return "No exercise failed, and none is missing.", "excluded"
    failed = sum(row["failed"] for row in rows)
    missing = sum(row["missing"] for row in rows)
    minds = len({row["mind"] for row in rows if row["failed"]})
    parts = []
    if failed:
        parts.append(
            f"{count(failed, 'play')} of {count(minds, 'mind')} failed and count as failures"
        )
    if missing:
        parts.append(f"missing are {count(missing, 'play')}, so the run is not complete")
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}.", "excluded"
