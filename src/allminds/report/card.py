"""The result card: one page on a run that can be put into a paper or a README.

It says which minds took which tests, their scores with intervals, what failed or is missing, and
how to repeat the run. The value is made by `card`; SVG, PNG, Markdown and JSON show the same.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allminds.core.errors import Error
from allminds.core.files import sums_of, write_bytes
from allminds.core.settings import settings_text
from allminds.inference.words import best_first, interval, number
from allminds.report.charts.card import draw
from allminds.report.charts.files import png
from allminds.report.sections.runs import figures_hash
from allminds.report.words import on_tests
from allminds.runs.plan import Plan, Test, built_in, narrowed, read_plan, seated
from allminds.runs.store import RunFolder, read_part
from allminds.statistics.answer import FUTURE, labels

SCHEMA = 1  # of the JSON form; docs/python.md explains every field
MOST = 3  # fair minds of a test, if nobody is asked about
PLACE = (
    "Place: 0 is the floor and 1 the ceiling, mostly the best mind that sees the future, or the "
    "best possible score where no mind is the ceiling."
)
ENDINGS = (".svg", ".png", ".md", ".json")
KINDS = {".svg": "image/svg+xml", ".md": "text/markdown", ".json": "application/json"}


def write_card(folder: RunFolder, out: Path) -> Path:
    """Write the card of a complete run to a file, by its ending: .svg, .png, .md or .json."""
    if out.suffix not in ENDINGS:
        raise Error(f"cannot write a card as '{out.name}'; name a file that ends in .svg, .png, "
                    ".md or .json")  # fmt: skip
    found = card(folder)
    if out.suffix == ".png":
        return write_bytes(out, png(as_svg(found), scale=2.0))
    return write_bytes(out, FORMS[out.suffix](found).encode())


def section(folder: RunFolder) -> dict[str, Any]:
    """Collect the card for the report: the picture, and its files as links that hold them.

    Where only the plan repeats the run, the command names the file that the report says to save.
    """
    found = card(folder, "PLAN.toml")
    files = []
    for ending, kind in KINDS.items():
        text = base64.b64encode(FORMS[ending](found).encode()).decode()
        files.append((f"card{ending}", f"data:{kind};base64,{text}"))
    return {"picture": as_svg(found), "files": files}


# ---------------------------------------------------------------- the value


def card(folder: RunFolder, plan_file: str = "") -> dict[str, Any]:
    """Collect what a card says of a complete run, as a plain value.

    Where only the plan itself repeats the run, the command names `plan_file`, or by default the
    plan in the run folder.
    """
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
        "command": None if lost else command(plan, folder.path, _ends(summary), plan_file),
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
    shown = mine if yours else _best_fair(folder, number, others)
    return {
        "instrument": summary["instrument"],
        "version": folder.made.get("instruments", {}).get(summary["instrument"]),
        "settings": dict(test.settings),
        "against": test.against,
        "exercises": test.exercises,
        "minds": [_row(row, test) for row in shown],
        "others": len(rows) - len(shown),
        "ends": [_row(row, test) | {"end": row["end"]} for row in rows if row["end"]],
    }


def _best_fair(
    folder: RunFolder, number: int, rows: Sequence[dict[str, Any]]
) -> Sequence[dict[str, Any]]:
    """Select the best of the rows that are ranked and do not see the future.

    If none of those that do not see the future is ranked, these are shown, as not ranked.
    """
    seers = _clairvoyant(folder, number)
    blind = [row for row in rows if row["mind"] not in seers]
    return ([row for row in blind if row["ranked"]] or blind)[:MOST]


def _clairvoyant(folder: RunFolder, number: int) -> set[str]:
    """List the line-ups of a test whose first mind sees the future, by its records."""
    import pyarrow.compute as pc

    found: set[str] = set()
    for path in folder.parts(number):
        rows = read_part(path, ["line_up", "slot", "traits"])
        first = rows.filter(pc.equal(rows["slot"], 0))
        sees = pc.match_substring(first["traits"].cast("string"), FUTURE)
        found |= set(first.filter(pc.fill_null(sees, False))["line_up"].unique().to_pylist())
    return found


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


def command(plan: Plan, folder: Path, ends: set[str], plan_file: str = "") -> str:
    """Write the command that gives the same scores to the bit.

    It is `evaluate` or a built-in plan where that says it all, or else the run of `plan_file`, by
    default the plan that the run folder has. The folder is written as it was given, from the
    working folder if it lies there, as the files of minds are.
    """
    here = Path.cwd()
    near = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return (
        _evaluate(plan, ends)
        or _built_in(plan)
        or f"allminds run {shlex.quote(plan_file or str(near / 'plan.json'))}"
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
    counts = {test.exercises for test in plan.tests}
    return [(only, None), *((only, counts.pop()) for _ in range(len(counts) == 1))]


def _adds(test: Test, more: Test, yours: Sequence[str]) -> bool:
    """Check whether a test is another with some of the user's minds."""
    added = more.minds[len(test.minds) :]
    wanted = [seated(mind, test.against) if test.against else mind for mind in yours]
    return more == test.joined(added, {}) and all(mind in wanted for mind in added)


# ---------------------------------------------------------------- in words


def title(found: Mapping[str, Any]) -> str:
    """Write the minds and the instruments in one line."""
    minds = found["yours"] or ["the best fair minds"]
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


def facts(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """List what identifies and repeats the run, as (name, value, what the value is)."""
    again = found["command"]
    if again is None:
        names = ", ".join(found["objects"])
        plural = "s" if len(found["objects"]) > 1 else ""
        again = f"cannot be repeated or resumed without the Python object{plural} {names}"
    made = f"allminds {found['version']}, Python {found['versions'].get('python')}"
    rows = [
        ("made with", made, ""),
        ("seed", str(found["seed"]), ""),
        ("repeat", again, ""),
        ("plan", found["run"], "a hash of the plan, which names the run"),
        ("records", found["records"], "SHA-256 of the checksums of all records"),
        ("scores", found["figures"], "a hash of all scores: a repetition has the same"),
    ]
    return [*rows, ("note", found["mixed"], "")] if found["mixed"] else rows


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
    for name, value, what in facts(found):
        written = f"`{value}`" if what or name in code else _md(value)
        lines.append(f"- {name}: {written}" + (f", {what}" if what else ""))
    return "\n".join(lines) + "\n"


def _md(text: str) -> str:
    """Escape what Markdown would read as its own."""
    text = html.escape(text, quote=False)
    return "".join(f"\\{one}" if one in "|*_`[]\\" else one for one in text)


def as_svg(found: Mapping[str, Any]) -> str:
    """Draw the card: each score on a bar from floor to ceiling, with its interval."""
    tests = [
        test | {"about": test_line(test), "minds": [row | {"said": _lost(row)} for row in
                                                    test["minds"]]}
        for test in found["tests"]
    ]  # fmt: skip
    notes = [_legend(found), not_taken(found)]
    return draw(title(found), [note for note in notes if note], tests, facts(found))


def _legend(found: Mapping[str, Any]) -> str:
    """Say what is drawn, and nothing of what is not."""
    places = [row["normalised"] for test in found["tests"] for row in test["minds"]]
    drawn = [place for place in places if place is not None]
    said = "A row has the mind's score and its 95 % interval."
    if drawn:
        said = (
            "A bar runs from the floor (left) to the ceiling (right): the dot is the place of the "
            "mind, the band its 95 % interval. Beside it: score and 95 % interval."
        )
        outside = [(min(drawn) < 0, "below the floor"), (max(drawn) > 1, "above the ceiling")]
        where = " or ".join(words for there, words in outside if there)
        said += f" A ring: {where}." if where else ""
    return said + (" No bar: the ceiling is not known." if len(drawn) < len(places) else "")


def _lost(row: Mapping[str, Any]) -> str:
    """Say how many of a mind's exercises failed or are missing, if any."""
    return f"{coverage(row)} of {row['episodes']:,} exercises" if coverage(row) else ""


def as_json(found: Mapping[str, Any]) -> str:
    """Write the card as JSON."""
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


FORMS = {".svg": as_svg, ".md": as_markdown, ".json": as_json}
