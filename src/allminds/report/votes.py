"""Votes on questions: each against its members, and where the better choice changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from allminds import registry
from allminds.errors import Error
from allminds.names import parse
from allminds.psychometrics.accuracy import Fit, fit_curve
from allminds.psychometrics.selection import Curve, crossings
from allminds.report.data import TestData
from allminds.report.groups import shown_beside
from allminds.report.prediction import Predicted
from allminds.report.sources import Floats
from allminds.voting import majority_accuracy, plurality_accuracy

RULES: dict[str, Callable[[Floats, int], float]] = {
    "vote": lambda p, _options: majority_accuracy(p, "fail"),
    "plurality": plurality_accuracy,
}


def section(tests: Sequence[TestData], found: Sequence[Predicted]) -> list[dict[str, Any]]:
    """A table for every test in which some mind is a vote of others that took it alone."""
    curves = {id(one.data): one for one in found}
    made = []
    for data in tests:
        rows = []
        for mind in data.minds if data.hits and len(data.scores) else ():
            members = _members(data, mind)
            if members:
                rows.append(_row(data, mind, members, curves.get(id(data))))
        if rows:
            made.append({"data": data, "rows": rows, "curve": _name(curves.get(id(data)))})
    return made


def _members(data: TestData, mind: str) -> list[str]:
    """The members of a vote, in their order, if all of them took the test alone."""
    try:
        seats = registry.line_up(data.plain[mind], data.tool).seats
    except Error:
        return []
    subject = seats[0].subject
    if subject.group or len(seats) > 1 or not subject.members:
        return []
    shown = [shown_beside(member.name, mind, data) for member in subject.members]
    return shown if all(name in data.minds for name in shown) else []


def _row(
    data: TestData, mind: str, members: Sequence[str], curves: Predicted | None
) -> dict[str, Any]:
    """The vote beside the best of its members, on the exercises they have in common."""
    place = {name: n for n, name in enumerate(data.minds)}
    means = {name: _mean(data, place[name]) for name in members}
    best = max(means, key=lambda name: means[name])
    vote, member = (data.scores[:, place[name]] for name in (mind, best))
    found = data.difference(vote - member, (mind, best))
    return {
        "mind": mind,
        "score": _mean(data, place[mind]),
        "best": best,
        "best_score": means[best],
        "gain": found,
        "independent": _independent(data.bare[mind], members, curves),
        "crossings": _crossings(mind, list(means), curves),
    }


def _mean(data: TestData, mind: int) -> float:
    own = data.scores[:, mind]
    return float(np.nanmean(own)) if (~np.isnan(own)).any() else float("-inf")


def _independent(vote: str, members: Sequence[str], curves: Predicted | None) -> float | None:
    """How often the vote would be right if its members erred independently of each other."""
    rule = parse(vote).name
    if curves is None or rule not in RULES:
        return None
    rows = [curves.minds.index(member) for member in members]
    trials = curves.counts.trials[rows].min(axis=0)
    rates = curves.counts.hits[rows] / np.maximum(curves.counts.trials[rows], 1)
    options = max(2, round(1 / curves.counts.chance))
    right = [RULES[rule](column, options) for column in rates.T]
    return float(np.average(right, weights=trials)) if trials.any() else None


def _name(curves: Predicted | None) -> str:
    return curves.compared.winner("items") if curves else ""


def _crossings(mind: str, members: Sequence[str], curves: Predicted | None) -> str:
    """Where, by the curves that foresee best, the vote and a member are equally accurate."""
    if curves is None or mind not in curves.minds or _name(curves) == "constant":
        return "–"
    fit = fit_curve(curves.counts, _name(curves))
    low, high = float(curves.counts.difficulty.min()), float(curves.counts.difficulty.max())
    said = []
    for member in members:
        if member in curves.minds:
            one, other = (_curve(fit, curves.minds.index(name)) for name in (mind, member))
            found = crossings(one, other, low, high)
            said += [f"{member} at {at:.1f}" for at in found.at]
    return ", ".join(said) or "none"


def _curve(fit: Fit, mind: int) -> Curve:
    return lambda difficulties: fit.accuracy(difficulties)[mind]
