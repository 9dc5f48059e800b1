"""The scores on one test, best first, with floor and ceiling: as text and as HTML."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from allminds import registry

if TYPE_CHECKING:
    from allminds.contracts import Instrument

BAR = 120  # units of a bar from floor to ceiling
REPEATS = "A time-out depends on the machine: this table may not repeat to the bit."


def show_test(test: dict[str, Any]) -> None:
    """Print the scores on one test."""
    _print_test(test, Console())


def text_of(test: dict[str, Any]) -> str:
    """The scores on one test as they are printed, without colour."""
    out = io.StringIO()
    _print_test(test, Console(file=out, width=Console().width))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def html_of(test: dict[str, Any]) -> str:
    """The scores on one test as a small table that stands for itself."""
    from allminds.report.page import templates

    tool = _tool(test)
    template = templates(Path(__file__).parent).get_template("results.html.j2")
    rows = [
        row | {"end": _ends(tool).get(row["mind"]), "bar": _bar(row, tool), "ways": _ways(row)}
        for row in best_first(test)
    ]
    text: str = template.render(
        test=test,
        rows=rows,
        settings=_settings(test),
        chance=tool.chance,
        ceiling=tool.ceiling,
        caution=tool.caution,
        failed=any(row["failed"] for row in rows),
        repeats=REPEATS if timed_out(test) else "",
        width=BAR,
    )
    return text


def best_first(test: dict[str, Any]) -> list[dict[str, Any]]:
    """The minds of a test by their scores; those without one are last."""
    rows: list[dict[str, Any]] = test["results"]
    return sorted(rows, key=lambda row: (row["score"] is None, -(row["score"] or 0.0)))


# ---------------------------------------------------------------- the terminal


def _print_test(test: dict[str, Any], console: Console) -> None:
    tool, rows = _tool(test), best_first(test)
    console.print(_table(test, rows, _ends(tool)))
    if tool.caution:
        console.print(tool.caution, markup=False, highlight=False)
    for row in rows:
        if row["failed"]:
            console.print(f"{row['mind']} failed: {_ways(row)}. First: {row['reason']}",
                          style="yellow", markup=False)  # fmt: skip
    if timed_out(test):
        console.print(REPEATS, style="yellow", markup=False)


def _table(test: dict[str, Any], rows: list[dict[str, Any]], ends: dict[str | None, str]) -> Table:
    from allminds.report.page import interval, number

    table = Table(
        title=f"{test['instrument']}  ·  seed {test['seed']}", caption=_settings(test),
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, title_justify="left",
        caption_justify="left",
    )  # fmt: skip
    table.add_column("mind", overflow="fold")
    names = ["score", "95 % interval", "normalised", "learning", "exercises"]
    for name in names + ["failed"] * any(row["failed"] for row in rows):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        who = Text(row["mind"])
        if row["mind"] in ends:
            who.append(f"  {ends[row['mind']]}", style="dim")
        figures = [
            number(row["score"]),
            interval(row["ci95"]),
            number(row["normalised"]),
            number(row["learning"]),
            f"{row['episodes']:,}",
            f"{row['failed']:,}",
        ]
        table.add_row(who, *figures[: len(table.columns) - 1])
    return table


# ---------------------------------------------------------------- what both say


def _tool(test: dict[str, Any]) -> Instrument:
    return registry.make_instrument(test["instrument"], test["settings"])


def _ends(tool: Instrument) -> dict[str | None, str]:
    return {tool.floor_mind: "floor", tool.ceiling_mind: "ceiling"}


def timed_out(test: dict[str, Any]) -> bool:
    """Tell whether a time-out is in the scores of a test."""
    return any("timeout" in row["failures"] for row in test["results"] if row["failed"])


def _settings(test: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in test["settings"].items())


def _ways(row: dict[str, Any]) -> str:
    return ", ".join(f"{count} {status}" for status, count in row["failures"].items())


def _bar(row: dict[str, Any], tool: Instrument) -> dict[str, float] | None:
    """Where score and interval lie between floor and ceiling, in units of a bar."""
    if row["score"] is None or row["normalised"] is None:
        return None

    def place(value: float) -> float:
        share = (value - tool.chance) / (tool.ceiling - tool.chance)
        return round(BAR * min(max(share, 0.0), 1.0), 1)

    low, high = row["ci95"] or (row["score"], row["score"])
    return {"low": place(low), "high": place(high), "score": place(row["score"])}
