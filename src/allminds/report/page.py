"""The page of the report: the results of one run or several, in one file that opens anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from allminds.core.errors import Error
from allminds.core.files import write_bytes
from allminds.report.card import section as card_section
from allminds.report.data import TestData, read_tests
from allminds.report.sections import (
    answer,
    causes,
    factors,
    groups,
    people,
    profile,
    reliability,
    runs,
)
from allminds.report.sections.one_test import section as test_section
from allminds.report.sections.one_test import table_of_cells
from allminds.report.sections.runs import plan_text
from allminds.report.words import (
    count,
    decided,
    drawn,
    interval,
    listed,
    number,
    on_tests,
    p_value,
    percent,
    percents,
    pre,
    wraps,
)
from allminds.runs.designs import Design, designs
from allminds.runs.store import RunFolder

__all__ = [
    "count", "decided", "interval", "number", "percent", "percents", "plan_text", "render",
    "templates", "write_report",
]  # fmt: skip

HERE = Path(__file__).parent
MOST_OPEN = 3  # tests whose sections are unfolded
MOST_NAMED = 5  # instruments in a sentence


def write_report(
    folders: RunFolder | Sequence[RunFolder],
    out: Path,
    weights: Mapping[str, float] | None = None,
    exports: Sequence[Path] = (),
) -> Path:
    """Write the report of a complete run, or of several side by side, as one HTML file.

    With weights of instruments there is a weighted total too. `exports` are results of people (what
    `allminds study export` writes) on exercises of the runs. The file is written whole or not at
    all.
    """
    several = [folders] if isinstance(folders, RunFolder) else list(folders)
    return write_bytes(out, render(several, weights or {}, exports).encode("utf-8"))


def render(
    folders: Sequence[RunFolder], weights: Mapping[str, float], exports: Sequence[Path] = ()
) -> str:
    """Render the page as text without a date: the same runs give the same page."""
    if not folders:
        raise Error("there is no run to report; name a run folder")
    results = people.read_exports(exports)
    tests = read_tests(*folders)
    found_people, left = people.beside(tests, results)
    found = designs(folders[0].plan.tests) if len(folders) == 1 else []
    inside = {number for design in found if design.folded for number in design.cells}
    single = [data for data in tests if data.number not in inside]
    parts = _parts(tests, single, found, weights)
    parts["people"] = people.section(found_people, results, left)
    together = parts["groups"]
    of = {one.data.number: one for one in found_people}
    sizes = [set(figure["tests"]) for figure in together["figures"]] if together else []
    crossed = [factors.section(design, tests, set(design.cells) in sizes) for design in found]
    template = templates(HERE, HERE / "sections").get_template("page.html.j2")
    text: str = template.render(
        title=_title(tests, len(folders), parts["people"]),
        said=_sentence(tests),
        causes=causes.section(single, folders),
        answer=_answer(tests, single),
        people_said=people.sentence(found_people),
        gists={
            "groups": groups.gist(together, parts["votes"]),
            "prediction": prediction_gist(parts["prediction"]),
            "reliability": reliability.gist(parts["reliability"]),
            "excluded": excluded_gist(parts["excluded"]),
        },
        matrices=answer.matrices(single),
        runs=runs.section(folders, tests),
        factors=[section for section in crossed if section],
        tests=[test_section(data, of.get(data.number)) for data in single],
        unfolded=len(single) <= MOST_OPEN,
        folded=[table_of_cells(design, tests) for design in found if design.folded],
        ids=[f"{data.prefix}i with i from 0 to {data.test.exercises - 1}" for data in tests],
        cards=[card_section(folder) for folder in folders],
        repeats=[runs.repeat_section(folder) for folder in folders],
        **parts,
    )
    return text


def _parts(
    tests: Sequence[TestData],
    single: Sequence[TestData],
    found: Sequence[Design],
    weights: Mapping[str, float],
) -> dict[str, Any]:
    """Compute the sections that other sections refer to."""
    from allminds.report.sections import learning, prediction, votes  # these need SciPy

    foreseen = [one for one in map(prediction.predicted, single) if one]
    return {
        "who": runs.minds_section(tests, _folded(found, tests)),
        "total": profile.section(single, weights),
        "groups": groups.section(tests, found),
        "learning": learning.section(single),
        "prediction": prediction.section(single, foreseen),
        "votes": votes.section(single, foreseen),
        "reliability": reliability.section(single),
        "excluded": _excluded(tests),
    }


def _answer(tests: Sequence[TestData], single: Sequence[TestData]) -> dict[str, Any] | None:
    """Answer about the user's minds on all tests, or about the best on those not in a design."""
    asked = tests if any(data.yours for data in tests) else single
    return answer.section(asked) if asked else None


def _folded(found: Sequence[Design], tests: Sequence[TestData]) -> list[tuple[str, str, set[int]]]:
    """List the designs with one table for all cells: name, anchor and numbers of the cells."""
    folded = [design for design in found if design.folded]
    return [
        (f"{tests[one.cells[0]].tool.name}, {len(one.cells)} cells", f"cells-{n}", set(one.cells))
        for n, one in enumerate(folded, 1)
    ]


@cache
def templates(*folders: Path) -> Any:
    """Load templates that escape everything except plots, whose text is escaped already."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["persons"] = people.counted
    filters = (
        number, interval, decided, count, wraps, percent, percents, p_value, drawn, listed, pre
    )  # fmt: skip
    environment.filters |= {function.__name__: function for function in filters}
    return environment


# ---------------------------------------------------------------- what was measured


def _title(tests: Sequence[TestData], runs: int, found: dict[str, Any] | None) -> str:
    taken = [data for data in tests if data.yours] or tests
    on = on_tests([data.tool.name for data in taken], len(tests))
    also = f" and {people.counted(found['persons'])}" if found else ""
    side = f", {runs} runs side by side" * (runs > 1)
    yours = answer.title(tests, on)
    return f"{yours}{side}" if yours else f"How {_minds_in(tests)}{also} did on {on}{side}"


def _sentence(tests: Sequence[TestData]) -> str:
    """Write instruments, exercises and minds in one sentence."""
    exercises = sum(data.test.exercises for data in tests)
    parts = []
    for name in dict.fromkeys(data.tool.name for data in tests):
        times = sum(data.tool.name == name for data in tests)
        parts.append(name if times == 1 else f"{name} in {times} settings")
    same = len({tuple(data.minds) for data in tests}) == 1
    on = f"({listed(parts)})" if len(parts) <= MOST_NAMED else f"of {len(parts)} instruments"
    own = list(dict.fromkeys(data.tool.name for data in tests if data.tool.adaptive))
    to = "each given to every mind" + ("" if same else " of its test")
    if len(own) == len(parts):
        to = "as many chosen for each mind by its scores"
    elif own:
        to += f", but in adaptive tests ({listed(own)}) as many chosen for each mind by its scores"
    return (
        f"{_minds_in(tests)} took {count(len(tests), 'test')} {on}, "
        f"{count(exercises, 'exercise')} in all, {to}."
    )


def _minds_in(tests: Sequence[TestData]) -> str:
    return count(len({data.bare.get(m, m) for data in tests for m in data.minds}), "mind")


# ---------------------------------------------------------------- failed and missing plays


def _excluded(tests: Sequence[TestData]) -> list[dict[str, Any]]:
    """List the minds that failed or missed exercises, with kinds and reasons."""
    return [
        {
            "data": data,
            "mind": row["mind"],
            "failed": row["failed"],
            "missing": row["missing"],
            "episodes": row["episodes"],
            "finished": row["finished"],
            "bounds": row["bounds"],
            "ranked": row["ranked"],
            "how": ", ".join(f"{s} {count(times)}" for s, times in row["failures"].items()),
            "reason": row["reason"] or "",
        }
        for data in tests
        for row in data.summary["results"]
        if row["failed"] or row["missing"]
    ]


def excluded_gist(rows: Sequence[dict[str, Any]]) -> str:
    """Count the plays that failed, and those that are missing."""
    if not rows:
        return "No exercise failed, and none is missing."
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
    return f"{said[0].upper()}{said[1:]}."


def prediction_gist(found: dict[str, Any] | None) -> str:
    """Say how well the curves that won foresaw accuracy at complexities left out."""
    if not found or not found["questions"]:
        return ""
    parts = []
    for one in found["questions"]:
        scheme = one["schemes"][0]
        parts.append(f"{one['data'].label} {number(scheme['error'])} ({scheme['winner']})")
    said = "Accuracy at complexities left out was foreseen with a mean absolute error of "
    return f"{said}{'; '.join(parts)}: the error, and the curve that won."
