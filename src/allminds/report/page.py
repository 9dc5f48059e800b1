"""The page: what a run found, in one file that opens anywhere, offline, on a phone and in print."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.administration.plan import Plan
from allminds.administration.store import RunFolder
from allminds.psychometrics.groups import Gain
from allminds.report import cells, factors, groups
from allminds.report.data import Stretch, TestData, read_tests, settings_text
from allminds.report.designs import designs
from allminds.report.files import write_whole

NONE = "–"  # what cannot be estimated


def write_report(folder: RunFolder, out: Path) -> Path:
    """Write the report of a complete run as one HTML file, whole or not at all."""
    return write_whole(out, render(folder).encode("utf-8"))


def render(folder: RunFolder) -> str:
    """The page as text. It holds no date: the same run gives the same page."""
    tests, found = read_tests(folder), designs(folder.plan.tests)
    inside = {number for design in found if design.folded for number in design.cells}
    together = groups.section(folder, tests, found)
    sizes = [set(figure["tests"]) for figure in together["figures"]] if together else []
    crossed = [factors.section(folder, d, tests, set(d.cells) in sizes) for d in found]
    template = templates(Path(__file__).parent).get_template("page.html.j2")
    text: str = template.render(
        title=_title(tests),
        said=_sentence(tests),
        groups=together,
        factors=[section for section in crossed if section],
        tests=[_section(data) for data in tests if data.number not in inside],
        folded=[cells.section(design, tests) for design in found if design.folded],
        ids=[_ids(data, folder.plan.seed) for data in tests],
        plan=plan_text(folder.plan),
        from_files=any(".py:" in mind for test in folder.plan.tests for mind in test.minds),
        seed=folder.plan.seed,
        run=folder.plan.run,
        versions=folder.made["versions"],
    )
    return text


def templates(*folders: Path) -> Any:
    """Everything is escaped except the plots, which are made of escaped text already."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (number, interval, decided, count, wraps, percent, percents, drawn, listed, pre)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


# ---------------------------------------------------------------- figures as text


def number(value: float | None) -> str:
    """Three decimals with a real minus sign; zero has none."""
    if value is None:
        return NONE
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", "−")


def interval(ends: Sequence[float] | None) -> str:
    """[low, high]."""
    return NONE if ends is None else f"[{number(ends[0])}, {number(ends[1])}]"


def decided(found: Gain) -> str:
    """A gain's interval; an end so near 0 that it looks like 0 keeps its sign if it counts."""
    low, high = found.interval or (0.0, 0.0)
    text = interval(found.interval)
    if found.verdict == "loses" and number(high) == "0.000":
        return text.replace(" 0.000]", " −0.000]")
    if found.verdict == "gains" and number(low) == "0.000":
        return text.replace("[0.000", "[+0.000")
    return text


def percent(share: float) -> str:
    """A share in per cent, one decimal."""
    return NONE if math.isnan(share) else f"{100 * share:.1f}"


def percents(ends: Sequence[float]) -> str:
    """[low, high] in per cent."""
    return NONE if math.isnan(ends[0]) else f"[{percent(ends[0])}, {percent(ends[1])}]"


def count(value: int, what: str = "") -> str:
    """A whole number with its thousands apart, and what is counted: 1 mind, 2 minds."""
    return f"{value:,}" + (f" {what}" + ("s" if value != 1 else "") if what else "")


def wraps(name: str) -> Any:
    """A name as HTML that breaks after its brackets and commas rather than within a word."""
    from markupsafe import Markup

    pieces = re.findall(r"[^(,*/]+[(,*/]*|[(,*/]+", name)
    if len(pieces) < 2 or max(map(len, pieces)) > 32:
        return name
    return Markup("<wbr>").join(Markup("<span>{}</span>").format(piece) for piece in pieces)


def drawn(svg: str) -> Any:
    """A plot as HTML."""
    from markupsafe import Markup

    return Markup(svg)


def pre(text: str) -> Any:
    """Text of an element: quotes may stay, and there are many in a plan."""
    from markupsafe import Markup

    return Markup(html.escape(text, quote=False))


# ---------------------------------------------------------------- what was measured


def _title(tests: Sequence[TestData]) -> str:
    names = dict.fromkeys(data.tool.name for data in tests)
    return f"How {_minds_in(tests)} did on {listed(list(names))}"


def _sentence(tests: Sequence[TestData]) -> str:
    """Instruments, exercises and minds in one sentence."""
    exercises = sum(data.test.episodes for data in tests)
    parts = []
    for name in dict.fromkeys(data.tool.name for data in tests):
        times = sum(data.tool.name == name for data in tests)
        parts.append(name if times == 1 else f"{name} in {times} settings")
    same = len({tuple(data.minds) for data in tests}) == 1
    return (
        f"{_minds_in(tests)} took {count(len(tests), 'test')} ({listed(parts)}), "
        f"{count(exercises, 'exercise')} in all, each given to every mind"
        + ("." if same else " of its test.")
    )


def _minds_in(tests: Sequence[TestData]) -> str:
    return count(len({mind for data in tests for mind in data.minds}), "mind")


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---------------------------------------------------------------- one test


def _ids(data: TestData, seed: int) -> str:
    """The ids of a test's exercises."""
    prefix = registry.exercise_prefix(data.tool, seed)
    return f"{prefix}i with i from 0 to {data.test.episodes - 1}"


def _section(data: TestData) -> dict[str, Any]:
    """What the page says about one test."""
    tool, results = data.tool, data.summary["results"]
    given = data.settings_given
    return {
        "anchor": f"test-{data.number + 1}",
        "heading": f"{tool.name}: {given}" if given else tool.name,
        "about": (tool.__doc__ or "").strip().partition("\n")[0],
        "settings": settings_text(data.summary["settings"]),
        "chance": tool.chance,
        "ceiling": tool.ceiling,
        "spread_over": None if tool.adaptive else tool.strata,
        "caution": tool.caution,
        "rows": _rows(data),
        "failures": [_failure(row) for row in results if row["failed"]],
        "figures": _figures(data),
    }


def _best_first(row: dict[str, Any]) -> tuple[bool, float]:
    """By score, those without one last."""
    return row["score"] is None, -(row["score"] or 0.0)


def _rows(data: TestData) -> list[dict[str, Any]]:
    """The table of scores, best first: a mind's figures, its end of the scale and its traits."""
    from allminds.report.drawing import short_names

    ends = {data.tool.floor_mind: "floor", data.tool.ceiling_mind: "ceiling"}
    numbers = {mind: short.rpartition(" #") for mind, short in short_names(data.minds).items()}
    rows = []
    for row in sorted(data.summary["results"], key=_best_first):
        mind = row["mind"]
        sign = f"#{numbers[mind][2]}" if numbers[mind][1] else ""  # as in the plots
        traits = data.traits.get(mind, "")
        rows.append(row | {"note": ends.get(mind, sign), "traits": traits})
    return rows


def _failure(row: dict[str, Any]) -> dict[str, Any]:
    how = [f"{status} {count(times)}" for status, times in row["failures"].items()]
    return {
        "mind": row["mind"],
        "how_often": f"{count(row['failed'])} of {count(row['episodes'], 'exercise')}",
        "how": ", ".join(how),
        "reason": row["reason"] or "",
    }


def _figures(data: TestData) -> list[dict[str, Any]]:
    """The plots with their captions and their figures; none where there is nothing to plot."""
    from allminds.report import plots

    found: list[dict[str, Any]] = []
    if data.points:
        caption = f"Score against complexity {data.column}, with 95 % intervals."
        caption += f" {data.column} is put into bins of equal width." if data.binned else ""
        if plots.cut_intervals(data):
            caption += " Intervals that leave the picture are cut; the table has them whole."
        panels, kind = plots.score_panels(data), "score"
        found.append({"kind": kind, "caption": caption, "panels": panels, "points": data.points})
    if data.curve:
        caption = "Learning inside an episode: mean reward at each step."
        if data.curve[0].last > data.curve[0].first:
            caption = "Learning inside an episode: mean reward a step, over stretches of steps."
        panels, kind = plots.learning_panels(data), "learning"
        found.append({"kind": kind, "caption": caption, "panels": panels, "across": "step"})
        found[-1] |= {"curve": data.curve, "minds": _with_a_line(data, data.curve)}
    if data.path:
        caption = "The path: complexity given to each mind, as it rises and falls with its success."
        panels, kind = plots.path_panels(data), "path"
        found.append({"kind": kind, "caption": caption, "panels": panels, "across": "exercise"})
        found[-1] |= {"curve": data.path, "minds": _with_a_line(data, data.path)}
    for figure in found:
        figure["column"] = data.column
    return found


def _with_a_line(data: TestData, stretches: Sequence[Stretch]) -> list[str]:
    """The minds that have a line."""
    return [mind for mind in data.minds if any(mind in stretch.means for stretch in stretches)]


# ---------------------------------------------------------------- the plan as TOML


def plan_text(plan: Plan) -> str:
    """The plan as the TOML file that would repeat it."""
    values = plan.model_dump(mode="json")
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if name != "tests"]
    for test in values["tests"]:
        settings = test.pop("settings")
        lines += ["", "[[tests]]", *(f"{name} = {_toml(value)}" for name, value in test.items())]
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
