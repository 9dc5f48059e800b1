"""What is fuzzed: everything that reads what a user wrote."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import shlex
import sys
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import seeds
from hunting import Broken, Slow, Target
from mutating import NUMBERS, ODD, mutated, mutated_bytes, mutated_json, odd_word

from allminds import registry
from allminds.bridges.lines import Process, Program
from allminds.cli import main
from allminds.cli.app import budget_of, settings_of
from allminds.contracts import Failure, Instrument
from allminds.core import line_up as names
from allminds.core import settings
from allminds.core.watch import Failed
from allminds.runs.imports import import_results, read_results
from allminds.runs.plan import read_plan
from allminds.runs.run import Resolved
from allminds.web.checking import read_study


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _from(texts: tuple[str, ...] | list[str], words: tuple[str, ...] = ()) -> Any:
    def make(rng: Random) -> bytes:
        return _bytes(mutated(rng, rng.choice(texts), texts, words))

    return make


# ---------------------------------------------------------------- names, settings, numbers


@functools.cache
def _tool(name: str) -> Instrument:
    return registry.make_instrument(name)


def run_names(data: bytes) -> None:
    """A name that can be read says itself again."""
    found = names.parse_all(_text(data))
    said = ", ".join(map(str, found))
    if names.parse_all(said) != found:
        raise Broken("a name does not read as it prints")


def run_line_ups(data: bytes) -> None:
    """The first word is the instrument."""
    name, _, who = _text(data).partition(" ")
    registry.line_up(who, _tool(name if name in seeds.INSTRUMENTS else seeds.INSTRUMENTS[0]))


def make_line_ups(rng: Random) -> bytes:
    return _bytes(f"{rng.choice(seeds.INSTRUMENTS)} ") + _from(seeds.NAMES, seeds.NAME_WORDS)(rng)


def make_settings(rng: Random) -> bytes:
    """An instrument and its settings, one a line; most of them known."""
    name, *given = rng.choice(seeds.SETTINGS).split()
    known = list(_settings(name)) or ["x"]
    for _ in range(rng.randint(1, 3)):
        value = rng.choice((odd_word(rng), rng.choice(NUMBERS), str(rng.randint(-3, 12))))
        given.append(f"{rng.choice(known)}={value}")
    if rng.random() < 0.2:
        name = mutated(rng, name, [])
    return _bytes("\n".join([name, *given]))


@functools.cache
def _settings(name: str) -> tuple[str, ...]:
    return tuple(registry.kind(name).Settings.model_fields)  # type: ignore[attr-defined]


def run_settings(data: bytes) -> None:
    """As --set says them; an exercise can be made of what is accepted."""
    name, *given = _text(data).split("\n")
    tool = registry.make_instrument(name, settings_of(given))
    if tool.slots <= 20:
        tool.exercise(1, 0)


def run_readings(data: bytes) -> None:
    name, _, text = _text(data).partition(" ")
    if name == "settings_of":
        settings_of([text])
    elif name == "budget_of":
        budget_of(text)
    else:
        found = {"ends": settings.ends, "whole_numbers": settings.whole_numbers}
        found.get(name, settings.numbers)(text, "--k")


# ---------------------------------------------------------------- files


def _written(ending: str, data: bytes) -> Path:
    path = Path(f"input.{ending}")
    path.write_bytes(data)
    return path


def run_plans(data: bytes) -> None:
    """Small ones are also looked into: making all minds of a big plan takes long."""
    plan = read_plan(_written("toml", data))
    if len(plan.tests) <= 4:
        Resolved.of(plan)


def run_studies(data: bytes) -> None:
    read_study(_written("toml", data))


def _importing(ending: str) -> Any:
    """Import a file; what was imported can be read."""

    def run(data: bytes) -> None:
        out = import_results(_written(ending, data), "imported")
        if not len(read_results(out)):
            raise Broken("an import without a row")

    return run


def make_py_irt(rng: Random) -> bytes:
    if rng.random() < 0.5:
        return _from(seeds.PY_IRT)(rng)
    told = [json.loads(line) for line in seeds.PY_IRT[0].splitlines()]
    return _bytes("\n".join(json.dumps(one) for one in mutated_json(rng, told) or [0]))


def make_inspect(rng: Random) -> bytes:
    if rng.random() < 0.2:
        return mutated_bytes(rng, seeds.zipped(seeds.log()))
    return seeds.zipped(mutated_json(rng, seeds.log()))


def make_parquet(rng: Random) -> bytes:
    """A table with odd columns, or a good file with odd bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {
        "exercise": ["a", "b"], "mind": ["x", "x"], "score": [1.0, 0.5], "status": ["ok", "ok"],
        "slot": [0, 0], "seed": [1, 1], "index": [0, 1],
    }  # fmt: skip
    whole = rng.random() < 0.4
    for _ in range(0 if whole else rng.randint(1, 3)):
        name = rng.choice([*columns, "learning", "steps", "reason", "k", odd_word(rng)])
        columns[name] = [rng.choice(ODD), rng.choice(ODD)]
        if rng.random() < 0.5:
            columns[name][1] = columns[name][0]
        if rng.random() < 0.15:
            del columns[name]
    out = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), out)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError):
        return make_parquet(rng)
    return mutated_bytes(rng, out.getvalue()) if whole else out.getvalue()


# ---------------------------------------------------------------- minds that are programs


@functools.cache
def _program(name: str) -> tuple[Program, Any]:
    from allminds.episode import Episode

    tool = _tool(name)
    seen = Episode(tool.exercise(1, 0)).waiting
    return Program(tool, sys.executable), next(iter(seen.values()))


def run_lines(data: bytes) -> None:
    """A line of a program is an action or a failure, and nothing else."""
    name, _, line = _text(data).partition(" ")
    program, seen = _program(name if name in seeds.INSTRUMENTS else seeds.INSTRUMENTS[0])
    found = program._meant(line, seen)
    if isinstance(found, Failure) and not found.reason:
        raise Broken("a failure without a reason")


def make_lines(rng: Random) -> bytes:
    line = mutated(rng, rng.choice(seeds.LINES), seeds.LINES)
    if rng.random() < 0.3:
        line = json.dumps({rng.choice(("action", "answer", "refuse", "x")): rng.choice(ODD)})
    return _bytes(f"{rng.choice(seeds.INSTRUMENTS)} {line}")


def run_processes(data: bytes) -> None:
    """The same bytes from a real process, which is a line or a failure."""
    path = _written("said", data)
    process = Process(["cat", str(path)], 5.0)
    try:
        for _ in range(3):
            _program("lambda-star")[0]._meant(process.line(), _program("lambda-star")[1])
    except Failed as failed:
        if not failed.failure.reason:
            raise Broken("a failure without a reason") from None
    finally:
        process.end()


def make_processes(rng: Random) -> bytes:
    text = _bytes("\n".join(mutated(rng, one, seeds.LINES) for one in seeds.LINES[:3]))
    return mutated_bytes(rng, text) if rng.random() < 0.5 else text


# ---------------------------------------------------------------- the command line

SIZES = ("-n", "--episodes", "--count", "--jobs", "--exercises", "--exercise", "--participants")
_FORBIDDEN = re.compile(
    r"/|^~|(^|=)\.\.?$|://|program\(|llm\(|policy\(|human|levin|^serve$|simulate"
)


_QUICK = {"--resume", "no-such-plan.toml"}


def make_cli(rng: Random) -> bytes:
    """The words of an example, some of them changed; sizes stay small, paths stay here."""
    words = shlex.split(rng.choice(seeds.CLI))
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, how = rng.randrange(len(words) + 1), rng.random()
        if how < 0.15 and words:
            del words[at - 1]
        elif how < 0.3:
            words.insert(at, rng.choice(shlex.split(rng.choice(seeds.CLI))))
        elif how < 0.45:
            words.insert(at, odd_word(rng))
        elif words:
            words[at - 1] = mutated(rng, words[at - 1], words)
    return json.dumps(_tamed(words)).encode()


def _tamed(words: list[str]) -> list[str]:
    """Nothing that takes long, asks anybody, or is elsewhere."""
    kept: list[str] = []
    for word in words:
        short = word[:3000]
        if _FORBIDDEN.search(short):
            short = "x"
        if kept and kept[-1] in SIZES and re.fullmatch(r"\d{2,}", short):
            short = short[:1]
        if word in ("report", "make") or (word == "run" and not _QUICK & set(words)):
            short = "list"  # for the others take long
        kept.append(re.sub(r"((?:rows|cols|iterations|steps|agents)=)\d{3,}", r"\g<1>9", short))
    return kept


def run_cli(data: bytes) -> None:
    """One line on standard error and exit code 2, or none and 0."""
    words = json.loads(data)
    if words != _tamed(words):
        return  # made shorter by the minimiser into something that is not for here
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in _STRICT)
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with mock.patch.object(sys, "argv", ["allminds", *words]):
                main()
        except SystemExit as ended:
            code = ended.code
    out.flush()
    err.flush()
    said = err.buffer.getvalue().decode()
    lines = [line for line in said.splitlines() if line.strip()]
    if code == 130:  # interrupted, and by nobody but the fuzzer's own watch
        raise Slow
    if code not in (0, 2, None):
        raise Broken(f"exit code {code}")
    helped = code == 2 and not lines and b"Usage:" in out.buffer.getvalue()
    if "Traceback" in said or (code == 2 and len(lines) != 1 and not helped):
        raise Broken(f"not one line on standard error: {said[:200]}")
    if code == 2:
        from allminds.core.errors import Error

        raise Error(said.strip() or "help was asked for")


_STRICT = ("strict", "backslashreplace")  # as Python has them for output and errors


def furnish() -> None:
    """What the command line's examples speak of, in this folder."""
    from allminds.runs.plan import Plan
    from allminds.runs.run import How, run
    from allminds.web.store import Store

    Path("good.csv").write_text(seeds.CSV[1] + seeds.CSV[0].partition("\n")[2].replace(
        "\n", ",ok,0,0,3\n"))  # fmt: skip
    Path("good.jsonl").write_text(seeds.PY_IRT[0])
    Path("study.toml").write_text(seeds.studies()[1])
    settings = {"rows": 3, "cols": 3, "iterations": 4}
    test = {"instrument": "lambda-star", "minds": ["random"], "episodes": 3, "settings": settings}
    run(Plan.model_validate({"tests": [test]}), Path("run"), How(jobs=1))
    store = Store("study.db", create=True)
    store.add_study(read_study("study.toml"), "fuzz", 1)
    store.close()


TARGETS = {
    target.name: target
    for target in (
        Target("names", 5400, _from(seeds.NAMES, seeds.NAME_WORDS), run_names),
        Target("line-ups", 520, make_line_ups, run_line_ups),
        Target("settings", 10, make_settings, run_settings),
        Target("readings", 3000, _from(seeds.READINGS, ("..", ",", "=", "rel=")), run_readings),
        Target("lines", 800, make_lines, run_lines),
        Target("processes", 3, make_processes, run_processes, files=True),
        Target("plans", 100, _from(seeds.plans()), run_plans, files=True),
        Target("studies", 60, _from(seeds.studies()), run_studies, files=True),
        Target("csv", 50, _from(seeds.CSV), _importing("csv"), files=True),
        Target("py-irt", 30, make_py_irt, _importing("jsonl"), files=True),
        Target("parquet", 20, make_parquet, _importing("parquet"), files=True),
        Target("inspect", 3, make_inspect, _importing("eval"), files=True),
        Target("cli", 10, make_cli, run_cli, files=True),
    )
}
