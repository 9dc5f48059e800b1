"""Scores, intervals and failures in words, the same in terminal, notebook and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NONE = "–"  # what cannot be estimated
FAIR = "fair ceiling"  # the last row of a table of scores, where it is known
COMPUTED = "computed"  # in place of its interval


def number(value: float | None) -> str:
    """Write three decimals with a real minus sign; zero has none."""
    if value is None:
        return NONE
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", "−")


def interval(ends: Sequence[float] | None) -> str:
    """Write both ends of an interval as [low, high]."""
    return NONE if ends is None else f"[{number(ends[0])}, {number(ends[1])}]"


def best_first(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the rows of a test by score, then those not ranked, then those without a score."""
    return sorted(
        rows,
        key=lambda row: (row["score"] is None, not row.get("ranked", True), -(row["score"] or 0.0)),
    )


def unit_columns(rows: Sequence[Mapping[str, Any]], adaptive: bool) -> list[str]:
    """Name the columns that count independent units, where these are not simply the plays."""
    names = []
    if any(row.get("units") and row["units"] != row["episodes"] - row["missing"] for row in rows):
        names.append("units")
    if not adaptive and any(row.get("clusters", 0) != row.get("units", 0) for row in rows):
        names.append("clusters")
    return names


def heading(column: str, adaptive: bool, course: bool = False) -> str:
    """Name the heading of a column of units."""
    units = "courses" if course else "sittings" if adaptive else "items"
    return {"units": units}.get(column, column)


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the notes below a table: failures, what they could have changed, missing plays."""
    said = [failure(row) for row in rows if row["failed"]]
    said += missing(rows)
    said += [
        f"{row['mind']} has no interval: one administration cannot tell its own error, nor can "
        "several that mostly give one figure. Give more, or longer ones."
        for row in rows
        if row["score"] is not None and row["ci95"] is None
    ]
    said += sampled(rows)
    said += abilities(rows)
    said += dict.fromkeys(row["mixed"] for row in rows if row.get("mixed"))
    if any(row["failures"].get("timeout") for row in rows):
        said.append("A time-out depends on the machine: this table may not repeat to the bit.")
    return said


def abilities(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say for every mind whose ability was sought what it took, and what an ordinary test takes."""
    return [f"{row['mind']}: {_ability(row['ability'])}" for row in rows if row.get("ability")]


def _ability(found: Mapping[str, Any]) -> str:
    """Say after how many exercises an interval was narrow enough, and what freedom to stop cost."""
    low, high = found["anytime"]
    said = f"{found['items']:,} exercises"
    if not found["narrow"]:
        said += f", and the interval is {high - low:.2f} wide, not {found['wanted']:g}"
    before = found["ordinary_items"]
    said += (
        f"; an ordinary interval, for a number fixed beforehand, was as narrow after {before:,}"
        if before
        else "; nor would an ordinary interval, for a number fixed beforehand, be as narrow"
    )
    if not found["agrees"]:
        said += "; the next interval contradicts the one above: do not trust that"
    if found["free"] != found["scale"]:
        said += f"; if rates merely never rise with complexity: {interval(found['free'])}"
    ends = [f"at most {number(high)}"] * (low <= found["scale"][0])
    ends += [f"at least {number(low)}"] * (high >= found["scale"][1])
    return f"{said}. {'The ability is ' + ends[0] + '.' if len(ends) == 1 else ''}".strip()


def sampled(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which floors and ceilings played a sample of the exercises only."""
    some = [row for row in rows if row.get("sampled")]
    if not some:
        return []
    minds = " and ".join(dict.fromkeys(row["mind"] for row in some))
    return [
        f"{minds} played {some[0]['episodes']:,} of the {some[0]['sampled']:,} exercises, evenly "
        "spread; scores are normalised, and compared with theirs, on these. In full: --full-ends."
    ]


def missing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which minds lack exercises of a test, how many, and why."""
    return [
        f"{row['mind']}: {row['missing']:,} of {row['episodes']:,} exercises are missing, through "
        f"no fault of its own, so this test is not complete{_why(row)}."
        for row in rows
        if row.get("missing")
    ]


def _why(row: Mapping[str, Any]) -> str:
    """Say why exercises are missing, unless the reason of a failure is printed already."""
    return "" if row["failed"] or not row.get("reason") else f". First: {row['reason']}"


def failure(row: Mapping[str, Any]) -> str:
    """Say how many exercises a mind failed, how, and what that does to its score."""
    kinds = row.get("failures", {})
    ways = ", ".join(f"{count:,} {status}" for status, count in kinds.items())
    said = f"{row['mind']} failed {row['failed']:,} of {row['episodes']:,} exercises"
    said += f" ({ways})" if ways else ""
    said += ", which count"
    if row.get("bounds"):
        finished = "none was finished"
        if row["finished"] is not None:
            finished = f"those finished scored {number(row['finished'])}"
        said += (
            f"; {finished}, and had all failures been the worst or the best, the score would be "
        )
        said += f"{number(row['bounds'][0])} or {number(row['bounds'][1])}"
    if not row.get("ranked", True):
        said += ". More than 5 % failed: not ranked"
    first = row.get("reason")
    return f"{said}. First: {first}" if first else f"{said}."
