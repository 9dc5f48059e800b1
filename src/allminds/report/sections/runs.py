"""The runs of a report: how to repeat each, how several differ, and the minds that took part.

A run is repeated from its plan as TOML; hashes of the figures check a repetition.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from allminds.report.data import TestData
from allminds.report.words import count, listed
from allminds.runs.plan import Plan
from allminds.runs.provenance import Portrait
from allminds.runs.store import RunFolder


def repeat_section(folder: RunFolder) -> dict[str, Any]:
    """Collect what the page shows about repeating one run."""
    plan = folder.plan
    return {
        "plan": plan_text(plan),
        "from_files": any(".py:" in mind for test in plan.tests for mind in test.minds),
        "seed": plan.seed,
        "run": plan.run,
        "figures": figures_hash(folder),
        "versions": folder.made["versions"],
    }


def figures_hash(folder: RunFolder) -> str:
    """Hash all scores to twelve hex digits, the same whenever all scores are, to the last bit."""
    tests = folder.summary()["tests"]
    kept = [
        [{name: row[name] for name in sorted(row) if name != "seconds"} for row in test["results"]]
        for test in tests
    ]
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


# ---------------------------------------------------------------- the plan as TOML


def plan_text(plan: Plan) -> str:
    """Write the plan as the TOML file that would repeat it."""
    values = plan.model_dump(mode="json")
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if name != "tests"]
    for test in values["tests"]:
        settings = test.pop("settings")
        given = {name: value for name, value in test.items() if value not in ("", {})}
        lines += ["", "[[tests]]", *(f"{name} = {_toml(value)}" for name, value in given.items())]
        lines += ["[tests.settings]"] if settings else []
        lines += [f"{_key(name)} = {_toml(value)}" for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml(name)


# ---------------------------------------------------------------- several runs side by side


def section(folders: Sequence[RunFolder], tests: Sequence[TestData]) -> dict[str, Any] | None:
    """Collect what the page shows about the runs; None if there is one run only."""
    if len(folders) < 2:
        return None
    return {
        "runs": [_run(number, folder) for number, folder in enumerate(folders, 1)],
        "differences": _differences(folders),
        "tests": [_test(data, len(folders)) for data in tests],
        "pairs": [row for data in tests for row in _pairs(data)],
    }


def _run(number: int, folder: RunFolder) -> dict[str, Any]:
    plan = folder.plan
    minds = {row["mind"] for test in folder.summary()["tests"] for row in test["results"]}
    return {
        "number": number,
        "path": folder.path.name,
        "run": plan.run,
        "figures": figures_hash(folder),
        "seed": plan.seed,
        "tests": len(plan.tests),
        "minds": len(minds),
        "version": folder.made["versions"].get("allminds", ""),
    }


def _differences(folders: Sequence[RunFolder]) -> list[str]:
    """Write in sentences how the plans and the versions differ from those of run 1."""
    said = []
    first = folders[0]
    for number, folder in enumerate(folders[1:], 2):
        if folder.plan.run == first.plan.run:
            said.append(f"Run {number} has the plan of run 1, to the letter.")
        elif folder.plan.seed != first.plan.seed:
            said.append(
                f"Run {number} has seed {folder.plan.seed} and run 1 has {first.plan.seed}: other "
                "exercises, so nothing is paired."
            )
        one, other = (run.plan.time_limit for run in (first, folder))
        if one != other:
            said.append(f"The time limit is {other:g} s in run {number}, {one:g} s in run 1.")
        versions = [run.made["versions"] for run in (first, folder)]
        changed = [
            f"{name} {versions[1].get(name, 'none')} instead of {versions[0].get(name, 'none')}"
            for name in sorted({*versions[0], *versions[1]})
            if versions[0].get(name) != versions[1].get(name)
        ]
        if changed:
            said.append(f"Run {number} was made with {listed(changed)}.")
    return said


def _test(data: TestData, runs: int) -> dict[str, Any]:
    """Count the minds that each run gave a test to."""
    given = {source.run: len(source.names) for source in data.sources}
    cells = [count(given[run], "mind") if run in given else "–" for run in range(1, runs + 1)]
    return {"data": data, "cells": cells, "common": len(given) > 1 and not data.tool.adaptive}


def _pairs(data: TestData) -> list[dict[str, Any]]:
    """Compare minds in more than one run: the later minus the first, on common exercises."""
    rows = []
    place = {mind: n for n, mind in enumerate(data.minds)}
    for mind in dict.fromkeys(data.bare.values()):
        own = [shown for shown in data.minds if data.bare[shown] == mind]
        for other in own[1:] if not data.tool.adaptive else ():
            later, before = (data.scores[:, place[shown]] for shown in (other, own[0]))
            found = data.difference(later - before, (other, own[0]))
            if found:
                runs = f"run {data.run_of(other)} − run {data.run_of(own[0])}"
                rows.append({"data": data, "mind": mind, "runs": runs, "gain": found})
    return rows


# ---------------------------------------------------------------- the minds


def minds_section(
    tests: Sequence[TestData], folded: Sequence[tuple[str, str, set[int]]] = ()
) -> list[dict[str, Any]]:
    """List the minds in the order of the tests; a folded design is named once, with its anchor."""
    places = {n: (label, anchor) for label, anchor, cells in folded for n in cells}
    found: dict[str, dict[str, Any]] = {}
    for data in tests:
        for mind in data.minds:
            name = data.bare.get(mind, mind)
            if name not in found:
                found[name] = {"mind": name, "about": [], "traits": "", "kind": "", "tests": []}
            row = found[name]
            about, kind = described(data.portraits.get(mind), bool(data.test.against))
            if about and about not in row["about"]:
                row["about"].append(about)
            row["kind"] = row["kind"] or kind
            row["traits"] = row["traits"] or data.traits.get(mind, "")
            place = places.get(data.number, (data.label, data.anchor))
            if place not in row["tests"]:
                row["tests"].append(place)
    return list(found.values())


def described(portrait: Portrait | None, against: bool) -> tuple[str, str]:
    """Describe a mind: the first line of its docstring, and whether it is one mind or several.

    Where minds play `against` others, the score and the name are those of the first alone.
    """
    if portrait is None:  # a mind of a file that is gone
        return "", ""
    if len(portrait.subjects) > 1 and not against:
        return f"One mind a slot; the score is that of {portrait.subjects[0]}.", "line-up"
    return portrait.about, "group" if portrait.group or portrait.members else "mind"
