"""Several runs side by side: what they have in common, what differs, and who is in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds.report.data import TestData
from allminds.report.repeat import figures_hash
from allminds.report.words import count, listed
from allminds.runs.store import RunFolder


def section(folders: Sequence[RunFolder], tests: Sequence[TestData]) -> dict[str, Any] | None:
    """What the page says about the runs; nothing if there is but one."""
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
    """In sentences, how the plans and the versions differ from those of run 1."""
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
    """Which runs gave a test, and to how many minds each."""
    given = {source.run: len(source.names) for source in data.sources}
    cells = [count(given[run], "mind") if run in given else "–" for run in range(1, runs + 1)]
    return {"data": data, "cells": cells, "common": len(given) > 1 and not data.tool.adaptive}


def _pairs(data: TestData) -> list[dict[str, Any]]:
    """The minds that are in more than one run: the later less the first, on common exercises."""
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
