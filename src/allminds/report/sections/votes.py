"""Votes on questions: each compared with its members, and where the better choice changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from allminds.core.line_up import parse
from allminds.inference import Difference, corrected
from allminds.report.data import TestData
from allminds.report.sections.groups import shown_beside
from allminds.report.sections.prediction import Predicted
from allminds.report.sources import Floats
from allminds.statistics.accuracy import Fit, fit_curve
from allminds.statistics.redundancy import RULES, dependence, if_independent
from allminds.statistics.selection import AgainstBest, Curve, against_best, crossings

HALVES = 1  # the seed of the halves that best members are chosen and compared on


def section(tests: Sequence[TestData], found: Sequence[Predicted]) -> list[dict[str, Any]]:
    """Build a table for every test in which a mind is a vote of others that took it alone."""
    curves = {id(one.data): one for one in found}
    made = []
    for data in tests:
        rows = []
        for mind in data.minds if data.hits and len(data.scores) else ():
            members = _members(data, mind)
            if members:
                rows.append(_row(data, mind, members, curves.get(id(data))))
        known = [row for row in rows if row["gain"]]
        for row, gain in zip(known, corrected([row["gain"] for row in known]), strict=True):
            row["gain"] = gain
        if rows:
            made.append({"data": data, "rows": rows, "curve": _name(curves.get(id(data)))})
    return made


def _members(data: TestData, mind: str) -> list[str]:
    """List the members of a vote, in their order, if all of them took the test alone."""
    portrait = data.portraits.get(mind)
    if portrait is None or portrait.group or portrait.seats > 1:
        return []
    shown = [shown_beside(member, mind, data) for member in portrait.members]
    if not shown:
        return []
    return shown if all(name in data.minds for name in shown) else []


def _row(
    data: TestData, mind: str, members: Sequence[str], curves: Predicted | None
) -> dict[str, Any]:
    """Compare the vote with its best member: chosen on one half, compared on the other."""
    place = {name: n for n, name in enumerate(data.minds)}
    names = list(dict.fromkeys(members))
    alone = data.scores[:, [place[name] for name in names]]
    own = data.scores[:, place[mind]]
    found = against_best(alone, own, np.random.default_rng(HALVES), data.clusters)
    best = names[found.chosen] if found else None
    options = max(2, round(1 / data.tool.chance)) if data.tool.chance else 2
    return {
        "mind": mind,
        "score": _mean(data, place[mind]),
        "best": best,
        "best_score": _mean(data, place[best]) if best else None,
        "chosen_on": len(found.rows) - len(found.compared) if found else 0,
        "gain": _gain(data, found, (mind, best or "")) if found else None,
        "beats_all": bool(
            found and found.beats_all(lambda values: _better(data, found, mind, values))
        ),
        "independent": _independent(data.bare[mind], members, curves),
        "crossings": _crossings(mind, names, curves),
        **_dependence(data, data.bare[mind], [place[name] for name in members], options),
    }


def _gain(data: TestData, found: AgainstBest, names: tuple[str, str]) -> Difference | None:
    """Compare on the exercises that the best member was not chosen on."""
    values = np.full(len(data.scores), np.nan)
    values[found.compared] = found.differences
    return data.difference(values, names)


def _better(data: TestData, found: AgainstBest, mind: str, differences: Floats) -> bool:
    values = np.full(len(data.scores), np.nan)
    values[found.rows] = differences
    said = data.difference(values, (mind, "a member"))
    return said is not None and said.sign > 0


def _dependence(data: TestData, vote: str, members: Sequence[int], options: int) -> dict[str, Any]:
    """Estimate how dependent the members of a vote are, and what that says of the vote."""
    found = dependence(parse(vote).name, data.scores[:, members], options)
    return {
        "correlation": found.correlation, "correlated": found.correlated, "bounds": found.bounds,
    }  # fmt: skip


def _mean(data: TestData, mind: int) -> float:
    own = data.scores[:, mind]
    return float(np.nanmean(own)) if (~np.isnan(own)).any() else float("-inf")


def _independent(vote: str, members: Sequence[str], curves: Predicted | None) -> float | None:
    """Compute how often the vote would be right if its members erred independently."""
    rule = parse(vote).name
    if curves is None or rule not in RULES:
        return None
    rows = [curves.minds.index(member) for member in members]
    trials = curves.counts.trials[rows].min(axis=0)
    rates = curves.counts.hits[rows] / np.maximum(curves.counts.trials[rows], 1)
    options = max(2, round(1 / curves.counts.chance))
    right = [if_independent(rule, column, options) for column in rates.T]
    return float(np.average(right, weights=trials)) if trials.any() else None


def _name(curves: Predicted | None) -> str:
    return curves.compared.winner("items") if curves else ""


def _crossings(mind: str, members: Sequence[str], curves: Predicted | None) -> str:
    """Find where, by the curve that predicts best, the vote and a member are equally accurate."""
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
