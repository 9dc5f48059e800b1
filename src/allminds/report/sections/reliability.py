"""The reliability of the scores of each test, and the precision that more exercises would give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from allminds.core.errors import Error
from allminds.report.data import TestData
from allminds.report.sources import Floats
from allminds.report.words import count, interval, number
from allminds.statistics.reliability import Reliability, counted_minds, reliability, reliance

Z = 1.959963984540054  # of a 95 % interval
WANTED = 0.9  # Eρ²
TIMES = (1, 2, 4, 10)  # as many exercises
NEAR = 0.02  # half-width of an interval


def section(tests: Sequence[TestData]) -> dict[str, Any] | None:
    """Collect what the page shows about reliability, with a row for each test."""
    if not tests:
        return None
    rows = [row_of(data) for data in tests]
    return {"rows": rows, "wanted": WANTED, "times": TIMES, "near": NEAR}


def row_of(data: TestData) -> dict[str, Any]:
    """Compute the three figures of one test, and the precision of more exercises.

    None stands for what cannot be estimated.
    """
    kept, left = counted(data)
    results = data.summary["results"]
    errors = [results[n]["stderr"] for n in kept if results[n]["stderr"] is not None]
    widest = max((row["stderr"] for row in results if row["stderr"] is not None), default=None)
    found = figures(data)
    components = found.components if found else None
    exercises = data.test.exercises
    if found and len(data.scores) == exercises:
        exercises = found.exercises  # in common; else they are a sample of all
    return {
        "data": data,
        "exercises": exercises,
        "minds": len(errors),
        "left": left,
        "rel": reliance([error**2 for error in errors]) if errors else None,
        "sem": (min(errors), max(errors)) if errors else None,
        "generalisability": components and components.generalisability(exercises),
        "interval": found.interval if found and found.exercises == exercises else None,
        "dependability": components and components.dependability(exercises),
        "why": found.why if found else _why(data),
        "budget": _budget(found),
        "no_more": _no_more(data, widest is not None),
        "bought": None if widest is None else _bought(data, widest),
        "for_near": None if widest is None else _for_near(data, widest),
    }


def _why(data: TestData) -> str:
    """Say why the third figure has no estimate."""
    if data.tool.adaptive:
        return "not estimable: each mind had exercises of its own"
    return "not estimable: no mind besides floor, ceiling and clairvoyant ones has a score"


def counted(data: TestData) -> tuple[list[int], str]:
    """Locate the minds that reliability is about, and write a sentence on those left out."""
    ends = {data.tool.floor_mind, data.tool.ceiling_mind} - {None}
    bare = [data.bare.get(mind, mind) for mind in data.minds]
    traits = {name: data.traits.get(mind, "") for name, mind in zip(bare, data.minds, strict=True)}
    return counted_minds(bare, traits, ends)


def figures(data: TestData) -> Reliability | None:
    """Estimate reliability over the exercises that every mind with a score has.

    Repeats of a fixed form count as such.
    """
    scored = [n for n in counted(data)[0] if not np.isnan(data.scores[:, n]).all()]
    if data.tool.adaptive or not scored:
        return None
    return reliability(_repeats(data.scores[:, scored], data.tool.length))


def _repeats(scores: Floats, length: int | None) -> Floats:
    """Reshape to [exercise, mind, repeat].

    Exercise i of a fixed form is item i modulo its length.
    """
    if length is None or len(scores) <= length:
        return scores[:, :, None]
    times = math.ceil(len(scores) / length)
    whole = np.full((times * length, scores.shape[1]), np.nan)
    whole[: len(scores)] = scores
    return whole.reshape(times, length, -1).transpose(1, 2, 0)


def _budget(found: Reliability | None) -> str:
    """Count the exercises at which Eρ² is as wanted, or say in words why there is no number."""
    if found is None or found.components is None:
        return "not estimable"
    try:
        return f"{found.budget('generalisability', WANTED):,}"
    except Error:
        return "none will do" if found.components.minds <= 0 else "more than 10¹²"


def _bought(data: TestData, error: float) -> list[float] | None:
    """Compute half the widest interval at once, twice, … as many exercises.

    A fixed form has no more exercises, so the result is None.
    """
    return None if data.tool.length else [Z * error / math.sqrt(times) for times in TIMES]


def _no_more(data: TestData, known: bool) -> str:
    """Say why nothing is predicted for more exercises."""
    if data.tool.length:
        return f"a fixed form of {data.tool.length}: there are no more of them"
    return "" if known else "not estimable"


def _for_near(data: TestData, error: float) -> int | None:
    """Count the exercises at which the widest interval has the half-width `NEAR`."""
    if data.tool.length or data.tool.adaptive:
        return None
    return max(1, math.ceil(data.test.exercises * (Z * error / NEAR) ** 2))


def gist(found: dict[str, Any] | None) -> str:
    """Say on how many tests scores are reliable, and which is the least so."""
    rows = found["rows"] if found else []
    known = [row for row in rows if row["generalisability"] is not None]
    if not known:
        return ""
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
    return f"{said}."
