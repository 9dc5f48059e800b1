"""Groups: each compared with its members on the same exercises, and scores by group size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allminds.core.line_up import Name, parse
from allminds.core.settings import settings_text
from allminds.inference import Difference, corrected
from allminds.report.charts import drawing
from allminds.report.charts.drawing import CEILING, FLOOR, STYLES, Mark, Style
from allminds.report.data import TestData
from allminds.report.sources import Floats
from allminds.report.words import count
from allminds.runs.designs import Design

Slots = tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """A group of a test, and the single minds its members are when alone, with their slots."""

    mind: str
    kinds: dict[str, Slots]  # none where it is not known who they are
    name: str  # as in the records: without its run

    @property
    def protocol(self) -> str:
        """The group's name without its members."""
        name = parse(self.name)
        marked = self.mind.removeprefix(self.name)
        return str(Name(name.name, (), name.keywords)) + marked

    @property
    def members(self) -> str:
        """The kinds of members, and how many of each if they differ."""
        kinds = self.kinds.items()
        if len(self.kinds) == 1:
            return next(iter(self.kinds))
        return ", ".join(f"{len(slots)} {kind}" for kind, slots in kinds)

    @property
    def label(self) -> str:
        """The label: protocol / members, or the protocol alone if no members are named."""
        return f"{self.protocol} / {self.members}" if parse(self.name).arguments else self.protocol


# ---------------------------------------------------------------- members of a group


def groups_of(data: TestData) -> list[Group]:
    """Find the groups of a test."""
    found = []
    for mind in data.minds:
        portrait = data.portraits.get(mind)
        if portrait is None or not portrait.group:
            continue
        kinds: dict[str, Slots] = {}
        for slot, name in zip(portrait.slots, portrait.alone, strict=False):
            shown = shown_beside(name, mind, data)
            kinds[shown] = (*kinds.get(shown, ()), slot)
        found.append(Group(mind, kinds, data.plain[mind]))
    return found


def shown_beside(member: str, mind: str, data: TestData) -> str:
    """Name a member as the report does: of the same run if it is there, else of any."""
    by_run = {data.run_of(shown): shown for shown, name in data.plain.items() if name == member}
    return by_run.get(data.run_of(mind), next(iter(by_run.values()), member))


# ---------------------------------------------------------------- groups against their members


@dataclass(frozen=True)
class Pair:
    """A group and its members alone: the difference by exercise, of all slots and by kind."""

    group: Group
    all: Floats
    by_kind: dict[str, Floats]


def pairs(data: TestData, groups: Sequence[Group]) -> Iterator[Pair]:
    """Yield the differences, slot by slot, of every group whose members are in the test alone."""
    able = [group for group in groups if _comparable(group, data)]
    wanted = {
        (mind, slots): None
        for group in able
        for kind, slots in group.kinds.items()
        for mind in (group.mind, kind)
    }
    means = data.exercise_means(wanted)
    for group in able:
        by_kind = {
            kind: means[group.mind, slots] - means[kind, slots]
            for kind, slots in group.kinds.items()
        }
        whole = np.zeros(data.test.exercises)
        for kind, slots in group.kinds.items():
            whole += by_kind[kind] * (len(slots) / data.tool.slots)
        yield Pair(group, whole, by_kind)


def _comparable(group: Group, data: TestData) -> bool:
    everybody = sum(map(len, group.kinds.values())) == data.tool.slots
    return everybody and all(kind in data.minds for kind in group.kinds)


def _row(group: Group, found: Difference) -> dict[str, Any]:
    return {"protocol": group.protocol, "members": group.members, "gain": found, "kinds": []}


def _corrected(rows: Sequence[dict[str, Any]]) -> None:
    """Correct the verdicts of some rows for their number, by Holm."""
    for row, found in zip(rows, corrected([row["gain"] for row in rows]), strict=True):
        row["gain"] = found


def gains(data: TestData, groups: Sequence[Group]) -> dict[str, Any]:
    """Estimate the gains of one test's groups, largest first, and list those left out."""
    rows = []
    for pair in pairs(data, groups):
        found = data.difference(pair.all, (pair.group.mind, "its members alone"))
        if found is None:
            continue
        rows.append(_row(pair.group, found))
        if len(pair.by_kind) > 1:
            kinds = [
                {"kind": kind, "slots": len(pair.group.kinds[kind]), "gain": gain}
                for kind, values in pair.by_kind.items()
                if (gain := data.difference(values, (pair.group.mind, kind)))
            ]
            rows[-1]["kinds"] = sorted(kinds, key=_largest)
    _corrected(rows)
    _corrected([kind for row in rows for kind in row["kinds"]])
    levels = ", ".join(f"{name} {level}" for name, level in data.test.levels.items())
    return {
        "heading": levels or f"{data.tool.name} {data.settings_given}".strip(),
        "rows": sorted(rows, key=_largest),
        "without": [group.mind for group in groups if not _comparable(group, data)],
    }


def _largest(row: dict[str, Any]) -> float:
    return -float(row["gain"].mean)


def pooled_gains(cells: Sequence[TestData], groups: dict[int, list[Group]]) -> dict[str, Any]:
    """Estimate the gains over all cells of a design from mean differences by exercise."""
    sums: dict[str, Floats] = {}
    first: dict[str, Group] = {}
    alone: dict[str, list[dict[str, Any]]] = {}  # by label, the verdict of every cell
    for data in cells:
        for pair in pairs(data, groups[data.number]):
            label = pair.group.label
            first.setdefault(label, pair.group)
            sums[label] = sums.get(label, np.zeros(len(pair.all))) + pair.all
            found = data.difference(pair.all, (pair.group.mind, "its members alone"))
            alone.setdefault(label, []).extend([{"gain": found}] if found else [])
    _corrected([cell for cells_of in alone.values() for cell in cells_of])
    rows = []
    for label, group in first.items():
        found = cells[0].difference(sums[label] / len(alone[label]), (label, "its members alone"))
        if found is not None:
            signs = [cell["gain"].sign for cell in alone[label]]
            counted = {"gains": signs.count(1), "loses": signs.count(-1)}
            rows.append(_row(group, found) | counted | {"cells": len(signs)})
    _corrected(rows)
    return {"rows": sorted(rows, key=_largest), "cells": len(cells)}


# ---------------------------------------------------------------- score against size


def size_series(tests: Iterable[TestData]) -> list[list[TestData]]:
    """Find tests that differ in `agents` only, smallest first."""
    found: dict[str, dict[int, TestData]] = {}
    for data in tests:
        settings = dict(data.summary["settings"])
        agents = settings.pop("agents", None)
        if agents is not None:
            like = f"{data.tool.name} {data.test.exercises} {settings}"
            found.setdefault(like, {}).setdefault(agents, data)
    return [[of[size] for size in sorted(of)] for of in found.values() if len(of) > 1]


def size_figure(
    series: Sequence[TestData], groups: dict[int, list[Group]]
) -> dict[str, Any] | None:
    """Draw score against size: a line for every group, and its members alone beside it."""
    marks: list[Mark] = []
    rows: list[dict[str, Any]] = []
    kinds: dict[str, list[str]] = {}  # of each group
    for data in series:
        names = {group.mind: group.label for group in groups[data.number]}
        kinds |= {group.label: list(group.kinds) for group in groups[data.number]}
        singles = {kind for group in groups[data.number] for kind in group.kinds}
        for row in data.summary["results"]:
            if row["score"] is None or row["mind"] not in names.keys() | singles:
                continue
            name = names.get(row["mind"], row["mind"])
            low, high = row["ci95"] or (row["score"], row["score"])
            agents = data.summary["settings"]["agents"]
            marks.append(Mark(name, agents, row["score"], low, high))
            rows.append(row | {"group": name, "agents": agents})
    drawn = [mark.mind for mark in marks]
    lines = [name for name in dict.fromkeys(drawn) if drawn.count(name) > 1]
    if not any(name in kinds for name in lines):
        return None
    marks = [mark for mark in marks if mark.mind in lines]
    rows = [row for row in rows if row["group"] in lines]
    rows.sort(key=lambda row: lines.index(row["group"]))
    settings = {key: value for key, value in series[0].test.settings.items() if key != "agents"}
    return {
        "tool": series[0].tool.name,
        "settings": settings_text(settings),
        "tests": [data.number for data in series],
        "panels": _size_panels(marks, _shares(lines, kinds)),
        "rows": rows,
    }


def _shares(lines: Sequence[str], kinds: dict[str, list[str]]) -> list[dict[str, Style]]:
    """Choose the lines of each panel: some groups, and the single minds of their members."""
    shares = []
    for lot in drawing.evenly([name for name in lines if name in kinds], len(STYLES)):
        singles = [kind for name in lot for kind in kinds[name] if kind in lines]
        reference = dict(zip(dict.fromkeys(singles), (CEILING, FLOOR), strict=False))
        shares.append(reference | dict(zip(lot, STYLES, strict=False)))
    return shares


def _size_panels(marks: Sequence[Mark], shares: Sequence[dict[str, Style]]) -> list[str]:
    sizes = sorted({mark.x for mark in marks})
    margin = 0.03 * (sizes[-1] - sizes[0])
    labels = drawing.short_names([name for share in shares for name in share])
    return drawing.panels(
        marks, shares, labels,
        ("agents", (sizes[0] - margin, sizes[-1] + margin)),
        ("score, with 95 % intervals", drawing.y_domain(marks)),
        tuple(sizes),
    )  # fmt: skip


# ---------------------------------------------------------------- the section


def section(tests: Sequence[TestData], designs: Sequence[Design]) -> dict[str, Any] | None:
    """Collect what the page shows about groups; None if no test has any."""
    groups = {data.number: groups_of(data) for data in tests}
    if not any(groups.values()):
        return None
    folded = [design for design in designs if design.folded]
    inside = {number for design in folded for number in design.cells}
    single = [data for data in tests if data.number not in inside and groups[data.number]]
    tables = [gains(data, groups[data.number]) for data in single]
    pooled = [pooled_gains([tests[n] for n in d.cells], groups) for d in folded]
    figures = (size_figure(series, groups) for series in size_series(single))
    return {
        "tables": [table for table in tables if table["rows"]],
        "pooled": [table for table in pooled if table["rows"]],
        "without": sorted({mind for table in tables for mind in table["without"]}),
        "figures": [figure for figure in figures if figure],
    }


def gist(groups: dict[str, Any] | None, votes: Sequence[dict[str, Any]]) -> str:
    """Count the groups that did better, worse or neither than their members alone."""
    tables = [*groups["tables"], *groups["pooled"]] if groups else []
    found = [row["gain"] for table in (*tables, *votes) for row in table["rows"] if row["gain"]]
    if not found:
        return ""
    signs = [one.sign for one in found]
    said = f"Of {count(len(found), 'group')} set against members alone, "
    said += f"{signs.count(1)} did better, {signs.count(-1)} worse"
    same = sum(one.verdict == "equivalent" for one in found)
    said += f", {same} neither by more than {found[0].margin:g}" if same else ""
    rest = signs.count(0) - same
    return said + (f"; {rest} cannot be told apart." if rest else ".")
