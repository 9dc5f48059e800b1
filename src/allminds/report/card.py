"""The result card: one page on a run that can be put into a paper or a README.

It says which minds took which tests, their scores with intervals, what failed or is missing, and
how to repeat the run. The value is made by `card`; SVG, PNG, Markdown and JSON show the same.
"""

from __future__ import annotations

import hashlib
import html
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allminds.core.errors import Error
from allminds.core.settings import settings_text
from allminds.inference.words import best_first, interval, number
from allminds.report.charts.files import png, write_whole
from allminds.report.sections.runs import figures_hash
from allminds.report.words import on_tests
from allminds.runs.files import sums_of
from allminds.runs.plan import Plan, Test, built_in, narrowed, read_plan, seated
from allminds.runs.store import RunFolder
from allminds.statistics.answer import labels

SCHEMA = 1  # of the JSON form; docs/python.md explains every field
MOST = 3  # minds of a test, if nobody is asked about
PLACE = (
    "Place: 0 is the floor and 1 the ceiling, mostly the best mind that sees the future, or the "
    "best possible score where no mind is the ceiling."
)
ENDINGS = (".svg", ".png", ".md", ".json")


def write_card(folder: RunFolder, out: Path) -> Path:
    """Write the card of a complete run to a file, by its ending: .svg, .png, .md or .json."""
    if out.suffix not in ENDINGS:
        raise Error(f"cannot write a card as '{out.name}'; name a file that ends in .svg, .png, "
                    ".md or .json")  # fmt: skip
    found = card(folder)
    if out.suffix == ".json":
        return write_whole(out, (json.dumps(found, indent=2, ensure_ascii=False) + "\n").encode())
    if out.suffix == ".md":
        return write_whole(out, as_markdown(found).encode())
    svg = as_svg(found)
    return write_whole(out, svg.encode() if out.suffix == ".svg" else png(svg, scale=2.0))


# ---------------------------------------------------------------- the value


def card(folder: RunFolder) -> dict[str, Any]:
    """Collect what a card says of a complete run, as a plain value."""
    plan, summary = folder.plan, folder.summary()
    told = labels([(one.instrument, one.settings, one.against) for one in plan.tests])
    tests = [
        _test(folder, n, summary["tests"][n]) | {"label": told[n]} for n in range(len(plan.tests))
    ]
    lost = [name for name, origin in plan.objects.items() if origin.reference is None]
    return {
        "card": SCHEMA,
        "yours": list(plan.yours),
        "tests": [test for test in tests if test["minds"] or not plan.yours],
        "given": len(tests),
        "seed": plan.seed,
        "run": folder.run,
        "version": folder.made["versions"].get("allminds", ""),
        "versions": folder.made["versions"],
        "mixed": folder.mixed or None,
        "objects": lost,
        "command": None if lost else command(plan, folder.path, _ends(summary)),
        "records": records_hash(folder),
        "figures": figures_hash(folder),
    }


def _ends(summary: Mapping[str, Any]) -> set[str]:
    """List the line-ups that are floor or ceiling: `evaluate` adds them by itself."""
    return {row["mind"] for test in summary["tests"] for row in test["results"] if row["end"]}


def _test(folder: RunFolder, number: int, summary: Mapping[str, Any]) -> dict[str, Any]:
    test, rows = folder.plan.tests[number], summary["results"]
    yours = set(folder.plan.yours)
    others = [row for row in best_first(rows) if row["end"] is None]
    mine = [row for row in others if test.mind_of(row["mind"]) in yours]
    mine += [row for row in rows if row["end"] and test.mind_of(row["mind"]) in yours]
    return {
        "instrument": summary["instrument"],
        "version": folder.made.get("instruments", {}).get(summary["instrument"]),
        "settings": dict(test.settings),
        "against": test.against,
        "exercises": test.episodes,
        "minds": [_row(row, test) for row in (mine if yours else others[:MOST])],
        "others": len(rows) - len(mine if yours else others[:MOST]),
        "ends": [_row(row, test) | {"end": row["end"]} for row in rows if row["end"]],
    }


def _row(row: Mapping[str, Any], test: Test) -> dict[str, Any]:
    kept = (
        "score", "ci95", "normalised", "normalised_ci95", "episodes", "failed", "missing",
        "coverage", "ranked",
    )  # fmt: skip
    return {"mind": test.mind_of(row["mind"])} | {name: row.get(name) for name in kept}


def records_hash(folder: RunFolder) -> str:
    """Hash the records of a run: SHA-256 of the lines of SHA256SUMS on records, sorted by name.

    All records are checked against their sums first.
    """
    paths = folder.parts()
    sums = sums_of(folder.path) if folder.summed else {}
    lines = []
    for path in sorted(paths):
        name = f"records/{path.name}"
        of = hashlib.sha256(path.read_bytes()).hexdigest() if name not in sums else None
        lines += [f"{digest}  {name}\n" for digest in ([of] if of else sorted(sums[name]))]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


# ---------------------------------------------------------------- the command that repeats it


def command(plan: Plan, folder: Path, ends: set[str]) -> str:
    """Write the command that gives the same scores to the bit.

    It is `evaluate` or a built-in plan where that says it all, or else the run of the plan that the
    run folder has. The folder is written as it was given, from the working folder if it lies there,
    as the files of minds are.
    """
    here = Path.cwd()
    near = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return (
        _evaluate(plan, ends)
        or _built_in(plan)
        or f"allminds run {shlex.quote(str(near / 'plan.json'))}"
    )


def _evaluate(plan: Plan, ends: set[str]) -> str | None:
    """Write the command as `evaluate`, if one line can say what the plan says."""
    first = plan.tests[0]
    alike = all(
        not test.levels and not test.words and (test.against, test.episodes)
        == (first.against, first.episodes)
        for test in plan.tests
    )  # fmt: skip
    settings = _given(first.settings)
    several = len(plan.tests) > 1
    minds = list(dict.fromkeys(mind for test in plan.tests for mind in _alone(test, ends)))
    if not alike or settings is None or plan.objects or (several and (settings or first.against)):
        return None
    if several and any(test.settings for test in plan.tests):
        return None
    mine = [mind for mind in minds if mind in plan.yours] or list(plan.yours) or minds
    words = ["allminds", "evaluate", *(test.instrument for test in plan.tests)]
    for mind in mine:
        words += ["--mind", mind]
    rivals = [mind for mind in minds if mind not in mine]
    if first.against:
        mine_too = [word for mind in rivals for word in ("--mind", mind)]
        words += [*mine_too, "--against", first.against]
    else:
        words += [word for mind in rivals for word in ("--against", mind)]
    for setting in settings:
        words += ["--set", setting]
    words += ["--episodes", str(first.episodes), "--seed", str(plan.seed)]
    if plan.time_limit != Plan.model_fields["time_limit"].default:
        words += ["--time-limit", f"{plan.time_limit:g}"]
    return shlex.join(words)


def _alone(test: Test, ends: set[str]) -> list[str]:
    """Name the minds of a test that one must name: not the ends, and without opponents."""
    tail = f", {test.against}"
    names = [mind.removesuffix(tail) if test.against else mind for mind in test.minds]
    pairs = zip(names, test.minds, strict=True)
    return [name for name, mind in pairs if mind not in ends]


def _given(settings: Mapping[str, Any]) -> list[str] | None:
    """Write settings as --set takes them; None if one of them cannot be written so."""
    words = []
    for name, value in settings.items():
        if not isinstance(value, (str, int, float)):
            return None
        words.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
    return words


def _built_in(plan: Plan) -> str | None:
    """Write the command as the run of a built-in plan with some minds, if it is one."""
    for name in built_in() if not plan.objects else ():
        own = read_plan(name)
        for only, episodes in _narrowings(own, plan):
            tests = narrowed(own, only, episodes, None).tests
            if len(tests) != len(plan.tests) or own.time_limit != plan.time_limit:
                continue
            if all(_adds(*pair, plan.yours) for pair in zip(tests, plan.tests, strict=True)):
                words = ["allminds", "run", name]
                words += [word for mind in plan.yours for word in ("--mind", mind)]
                words += [word for one in only or () for word in ("--only", one)]
                words += ["--episodes", str(episodes)] if episodes else []
                return shlex.join([*words, "--seed", str(plan.seed)])
    return None


def _narrowings(own: Plan, plan: Plan) -> list[tuple[list[str] | None, int | None]]:
    """List what --only and --episodes may have been, if a plan was made from a built-in one."""
    wanted = list(dict.fromkeys(test.instrument for test in plan.tests))
    known = {test.instrument for test in own.tests}
    if not known.issuperset(wanted):
        return []
    only = None if known == set(wanted) else wanted
    counts = {test.episodes for test in plan.tests}
    return [(only, None), *((only, counts.pop()) for _ in range(len(counts) == 1))]


def _adds(test: Test, more: Test, yours: Sequence[str]) -> bool:
    """Check whether a test is another with some of the user's minds."""
    added = more.minds[len(test.minds) :]
    wanted = [seated(mind, test.against) if test.against else mind for mind in yours]
    return more == test.joined(added, {}) and all(mind in wanted for mind in added)


# ---------------------------------------------------------------- in words


def title(found: Mapping[str, Any]) -> str:
    """Write the minds and the instruments in one line."""
    minds = found["yours"] or ["the best minds"]
    taken = [test["instrument"] for test in found["tests"]]
    return f"{', '.join(minds)} on {on_tests(taken, found['given'])}"


def not_taken(found: Mapping[str, Any]) -> str:
    """Say how many tests of the run none of the minds took, if there are any."""
    rest = found["given"] - len(found["tests"])
    minds = "this mind" if len(found["yours"]) == 1 else "these minds"
    return f"{rest} of {found['given']} tests of the run not taken by {minds}" if rest else ""


def test_line(test: Mapping[str, Any]) -> str:
    """Describe a test: opponents, settings as given, exercises."""
    against = f"against {test['against']}" if test["against"] else ""
    parts = [against, settings_text(test["settings"]), f"{test['exercises']:,} exercises"]
    return " · ".join(part for part in parts if part)


def coverage(row: Mapping[str, Any]) -> str:
    """Say how many exercises failed or are missing."""
    said = [f"{row[name]:,} {name}" for name in ("failed", "missing") if row[name]]
    return ", ".join([*said, *(["not ranked"] if not row["ranked"] else [])])


def facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List what identifies and repeats the run, as (name, value)."""
    again = found["command"]
    if again is None:
        names = ", ".join(found["objects"])
        plural = "s" if len(found["objects"]) > 1 else ""
        again = f"cannot be repeated or resumed without the Python object{plural} {names}"
    rows = [
        ("made with", f"allminds {found['version']}, Python {found['versions'].get('python')}"),
        ("seed", str(found["seed"])),
        ("run", found["run"]),
        ("repeat", again),
        ("records", found["records"]),
        ("figures", found["figures"]),
    ]
    return [*rows, ("note", found["mixed"])] if found["mixed"] else rows


def as_markdown(found: Mapping[str, Any]) -> str:
    """Write the card as Markdown: a table of scores, and what repeats the run."""
    lines = [f"### {_md(title(found))}", ""]
    lines += ["| test | mind | score | 95 % interval | place | exercises |"]
    lines += ["| --- | --- | ---: | :---: | ---: | --- |"]
    for test in found["tests"]:
        for row in [*test["minds"], *test["ends"]]:
            name = _md(row["mind"]) + (f" ({row['end']})" if "end" in row else "")
            count = ", ".join(filter(None, [f"{row['episodes']:,}", coverage(row)]))
            lines.append(
                f"| {_md(test['label'])} | {name} | {number(row['score'])} | "
                f"{interval(row['ci95'])} | {number(row['normalised'])} | {count} |"
            )
    rest = not_taken(found)
    lines += ["", PLACE + (f" {rest[0].upper()}{rest[1:]}." if rest else ""), ""]
    code = {"repeat"} if found["command"] else set()
    for name, value in facts(found):
        lines.append(f"- {name}: " + (f"`{value}`" if name in code else _md(value)))
    return "\n".join(lines) + "\n"


def _md(text: str) -> str:
    """Escape what Markdown would read as its own."""
    text = html.escape(text, quote=False)
    return "".join(f"\\{one}" if one in "|*_`[]\\" else one for one in text)


# ---------------------------------------------------------------- as a picture

WIDTH, PAD, ROW = 560, 24, 22
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
EM = 0.65  # of the size: a letter's mean width in the widest of common fonts
INK, SOFT, LINE, BAND, YOURS = "#1a1a1a", "#5a5a5a", "#d8d8d8", "#eef1f4", "#0b5cad"
NAME, BAR, SCORE, ENDS = 176, 132, 68, 136  # widths of the columns


def as_svg(found: Mapping[str, Any]) -> str:
    """Draw the card: each score on a bar from floor to ceiling, with its interval."""
    parts, y = _heading(found)
    for test in found["tests"]:
        y = _draw_test(parts, test, y)
    y = _draw_facts(parts, found, y + 10)
    height = y + PAD - 6
    box = f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="10" '
    box += f'fill="#fff" stroke="{LINE}"/>'
    told = html.escape(f"Result card: {title(found)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}" style="max-width:100%;height:auto" '
        f'font-family="{FONT}" font-size="13" fill="{INK}">'
        f"<title>{told}</title>{box}{''.join(parts)}</svg>"
    )


def _heading(found: Mapping[str, Any]) -> tuple[list[str], int]:
    lines, parts, y = _wrapped(title(found), WIDTH - 2 * PAD, 17), [], PAD + 14
    for line in [*lines[:2], *([] if len(lines) < 3 else [" ".join(lines[2:])])]:
        parts.append(_text(PAD, y, line, WIDTH - 2 * PAD, 17, weight="bold"))
        y += 22
    for said in ("place from floor to ceiling, score, 95 % interval", not_taken(found)):
        if said:
            parts.append(_text(PAD, y, said, WIDTH - 2 * PAD, 12, fill=SOFT))
            y += 16
    return parts, y - 4


def _draw_test(parts: list[str], test: Mapping[str, Any], y: int) -> int:
    """Draw one test below `y`, and return where it ends."""
    parts.append(f'<path d="M{PAD} {y}H{WIDTH - PAD}" stroke="{LINE}"/>')
    y += 19
    parts.append(_text(PAD, y, test["instrument"], NAME - 8, 13, weight="bold"))
    about = test_line(test)
    parts.append(_text(PAD + NAME, y, about, WIDTH - 2 * PAD - NAME, 11, fill=SOFT))
    y += 7
    for row in test["minds"]:
        parts += _draw_row(row, y, YOURS)
        y += ROW + 15 * (len(_named(row["mind"])) - 1)
        if coverage(row):
            said = f"{coverage(row)} of {row['episodes']:,} exercises"
            parts.append(_text(PAD + NAME, y + 10, said, BAR + SCORE + ENDS, 11, fill="#9a3412"))
            y += 16
    ends = [f"{row['end']}: {row['mind']}, {number(row['score'])}" for row in test["ends"]]
    placed = any(row["normalised"] is not None for row in test["minds"])
    if placed and not any(row["end"] == "ceiling" for row in test["ends"]):
        ends.append("ceiling: the best possible score")
    for said in ends:
        parts.append(_text(PAD + NAME, y + 11, said, WIDTH - 2 * PAD - NAME, 11, fill=SOFT))
        y += 14
    return y + 8


def _draw_row(row: Mapping[str, Any], y: int, colour: str) -> list[str]:
    left, middle = PAD + NAME, y + ROW / 2
    made = [
        _text(PAD, y + 15 + 15 * n, line, NAME - 8, 13)
        for n, line in enumerate(_named(row["mind"]))
    ]
    made.append(
        f'<rect x="{left}" y="{middle - 4}" width="{BAR}" height="8" rx="4" fill="{BAND}"/>'
    )
    if row["normalised"] is not None:
        ends = row["normalised_ci95"] or [row["normalised"]] * 2
        low, at, high = (left + BAR * min(1, max(0, v)) for v in (ends[0], row["normalised"],
                                                                  ends[1]))  # fmt: skip
        width = max(high - low, 1)
        made.append(f'<rect x="{low:.1f}" y="{middle - 4}" width="{width:.1f}" height="8" rx="3" '
                    f'fill="{colour}" opacity=".28"/>')  # fmt: skip
        inside = 0 <= row["normalised"] <= 1  # beyond the bar the dot is hollow
        fill, edge = (colour, "#fff") if inside else ("#fff", colour)
        made.append(f'<circle cx="{at:.1f}" cy="{middle}" r="5" fill="{fill}" stroke="{edge}"/>')
    score, right = number(row["score"]), left + BAR + SCORE
    made.append(_text(right, y + 15, score, SCORE - 8, 12, weight="bold", anchor="end"))
    made.append(_text(WIDTH - PAD, y + 15, interval(row["ci95"]), ENDS, 12, anchor="end"))
    return made


def _named(mind: str) -> list[str]:
    """Break the name of a mind into two lines at the most; the second is cut if need be."""
    first, *more = _wrapped(mind, NAME - 8, 13)
    return [first, "".join(more)] if more else [first]


def _draw_facts(parts: list[str], found: Mapping[str, Any], y: int) -> int:
    parts.append(f'<path d="M{PAD} {y - 10}H{WIDTH - PAD}" stroke="{LINE}"/>')
    for name, value in facts(found):
        room = WIDTH - 2 * PAD - 76
        code = name in ("records", "run", "figures") or (name == "repeat" and found["command"])
        size = 10 if code else 11
        parts.append(_text(PAD, y + 10, name, 70, 11, fill=SOFT))
        for line in _wrapped(value, room, size):
            parts.append(_text(PAD + 76, y + 10, line, room, size, family=MONO if code else ""))
            y += 15
        y += 3
    return y


def _wrapped(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines that fit, at spaces where there are any."""
    most, lines, line = max(8, int(width / (EM * size))), [], ""
    for word in text.split(" "):
        while len(word) > most:
            room = most - len(line) - bool(line)
            if room < 8:
                lines.append(line)
                line, room = "", most
            lines.append(f"{line} {word[:room]}".strip())
            line, word = "", word[room:]
        if line and len(line) + 1 + len(word) > most:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines


def _text(
    x: float, y: float, text: str, width: float, size: float, *, weight: str = "",
    fill: str = "", anchor: str = "", family: str = "",
) -> str:  # fmt: skip
    """Write a text, cut in its middle if it may not fit; the whole of it shows on hover."""
    most = int(width / (EM * size))
    shown, half = text, (most - 1) // 2
    if len(text) > most:
        shown = f"{text[: most - 1 - half]}…{text[-half:]}"
    given = {"font-weight": weight, "fill": fill, "text-anchor": anchor, "font-family": family}
    more = "".join(f' {key}="{html.escape(value)}"' for key, value in given.items() if value)
    hover = "" if shown == text else f"<title>{html.escape(text)}</title>"
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{more} xml:space="preserve">{hover}'
        f"{html.escape(shown)}</text>"
    )
