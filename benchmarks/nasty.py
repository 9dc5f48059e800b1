"""Nasty command lines: each ends by itself, with one sentence if something is wrong.

``python benchmarks/nasty.py`` gives the command line 1,000 lines: those of nasty_lines.py, chosen
by hand, and others drawn with a seed, half of them a quick line with one word replaced, half any
command with any options. Each runs in a folder of its own, in a process forked after the imports
(every 20th in a new one, as a user starts it). A line fails if its exit code is not 0, 1 or 2; if
an error is not one printable line; if there is a traceback; if an error leaves files behind (but
for the run folder of what was played); after 60 s by the clock, so that the machine must be quiet;
or with more than 2 GB. The exit code is 1 if one failed. ``--count 60`` gives fewer,
``--line 'vote nan'`` one, ``--jobs 2`` two at a time.
"""

from __future__ import annotations

import argparse
import atexit
import collections
import contextlib
import hashlib
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nasty_files
import nasty_lines as given
import typer

import allminds.cli
from allminds.cli.app import app

SECONDS = 60.0
MEGABYTES = 2048
ADDRESSES = 6 * 2**30  # bytes, so that a run-away process does not take the machine with it
OWN_PROCESS = 20  # of so many lines one is started as a user does
CODES = (0, 1, 2)


class Outcome(NamedTuple):
    """What came of a line."""

    words: list[str]
    code: int
    seconds: float
    megabytes: int
    wrong: str  # why it fails, or nothing
    said: str


# ---------------------------------------------------------------- the lines


def lines(count: int, seed: int) -> list[list[str]]:
    """The lines chosen by hand, and drawn ones up to the count; fewer are a sample of all."""
    rng = random.Random(seed)
    found = [shlex.split(line) for line in given.LINES]
    commands = dict(_commands(typer.main.get_command(app)))
    while len(found) < max(count, 1000):
        found.append(_replaced(rng) if rng.random() < 0.5 else _drawn(commands, rng))
    return found if len(found) <= count else rng.sample(found, count)


def _commands(of: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[Any]]]:
    """Every command of the command line, by what one types, with its parameters."""
    if not hasattr(of, "commands"):
        yield " ".join(path), of.params
        return
    with typer.Context(of) as context:
        for name in of.list_commands(context):
            yield from _commands(of.get_command(context, name), (*path, name))


def _nasty(rng: random.Random) -> str:
    return rng.choice(rng.choice([given.NUMBERS, given.TEXTS, given.PATHS]))


def _replaced(rng: random.Random) -> list[str]:
    """A quick line with one word replaced, doubled, left out or added."""
    words = shlex.split(rng.choice(given.SEEDS))
    place = rng.randrange(1, len(words))
    way = rng.random()
    if way < 0.75:
        name, equals, _ = words[place].partition("=")
        words[place] = f"{name}={_nasty(rng)}" if equals and rng.random() < 0.7 else _nasty(rng)
    elif way < 0.85 and words[place] not in given.ALWAYS.get(words[0], []):
        del words[place]  # but for the word without which it is a long job, and right
    else:
        words.insert(place, rng.choice([words[place], _nasty(rng)]))
    return words


def _drawn(commands: dict[str, list[Any]], rng: random.Random) -> list[str]:
    """Any command, with any of its arguments and options."""
    name = rng.choice(list(commands))
    words = name.split()
    for one in commands[name]:
        if one.param_type_name == "argument":
            words += [_value(one, rng)] if one.required or rng.random() < 0.6 else []
        elif one.required or rng.random() < 0.25:
            words += [rng.choice(one.opts)] + ([] if one.is_flag else [_value(one, rng)])
    always = given.ALWAYS.get(name, [])
    return words if always and always[0] in words else [*words, *always]


def _value(parameter: Any, rng: random.Random) -> str:
    """A value for a parameter: two thirds of them of its kind, as far as its name tells."""
    kinds = {
        "instrument": ["lambda-star", "c-test", "stag-hunt", "matrices", "lambda"],
        "mind": ["random", "mode", "local-search", "mine.py:Mine", "tit-for-tat", "a=12:1"],
        "setting": ["rows=5", "k=2..9", "steps=3", "form=generated"],
        "seed": ["1", "2"], "jobs": ["1"], "options": ["3"], "engine": ["local"],
    }  # fmt: skip
    like = {"int": given.NUMBERS, "float": given.NUMBERS, "Path": given.PATHS}
    if rng.random() < 0.66:
        of = str(parameter.type_descriptor.annotation)
        alike = [pool for word, pool in like.items() if word in of]
        return rng.choice(kinds.get(parameter.name) or (alike or [given.TEXTS])[0])
    return _nasty(rng)


# ---------------------------------------------------------------- one line


def play(words: list[str], files: Path, own_process: bool) -> Outcome:
    """Run one line in a copy of the files, and judge it."""
    with _folder() as folder:
        here = folder / "here"
        subprocess.run(["cp", "-a", str(files), str(here)], check=True)
        before = _contents(here)
        begun = time.monotonic()
        code, megabytes = _ended(_started(words, here, folder, own_process), begun)
        seconds = time.monotonic() - begun
        out, said = (
            (folder / name).read_bytes().decode("utf-8", "replace") for name in ("out", "err")
        )
        left = _contents(here)
        (here / "locked").chmod(0o700)
        changed = (name for name in left if left[name] != before.get(name))
        new = sorted(name for name in changed if not name.startswith("runs/"))  # played, and kept
    wrong = _judged(code, out, said, new)
    if megabytes > MEGABYTES:
        wrong = f"{megabytes:,} MB"
    return Outcome(words, code, seconds, megabytes, wrong, said)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder for a while; unlike TemporaryDirectory it survives the end of a forked process."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judged(code: int, out: str, said: str, new: list[str]) -> str:
    """Say what is wrong with how a line ended, if anything is."""
    if code == -signal.SIGKILL:
        return f"not over after {SECONDS:.0f} s"
    if code not in CODES:
        return f"exit code {code}"
    if "Traceback" in said + out:
        return "a traceback"
    if not all(one.isprintable() or one in "\n\t" for one in out + said):
        return "it steers the terminal"
    first, _, frames = said.partition("\n")  # of the user's own code, below the sentence
    indented = all(line.startswith("  ") for line in frames.splitlines())
    helped = not said and "Usage: " in out
    if code == 2 and not helped and not (first.startswith("allminds: ") and indented):
        return "not one sentence"
    return f"an error left {', '.join(new)}"[:200] if code == 2 and new else ""


def _contents(folder: Path) -> dict[str, str]:
    """A hash of every file in a folder."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _started(words: list[str], here: Path, logs: Path, own_process: bool) -> int:
    """Start a line, and return its process."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))  # for the others' sake
        os.chdir(here)
        streams = [("/dev/null", os.O_RDONLY)]
        streams += [(str(logs / name), os.O_WRONLY | os.O_CREAT) for name in ("out", "err")]
        for number, (path, flags) in enumerate(streams):
            os.dup2(os.open(path, flags, 0o600), number)
        if own_process:
            os.execv(sys.executable, [sys.executable, "-m", "allminds", *words])
        sys.argv = ["allminds", *words]
        allminds.cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # as at the end of a process; `os._exit` does none of it
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _ended(pid: int, begun: float) -> tuple[int, int]:
    """Wait for a process: its exit code, and the megabytes that it or a child of its held."""
    while True:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() - begun > SECONDS:
            os.killpg(pid, signal.SIGKILL)
            _, status, used = os.wait4(pid, 0)
            break
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024


# ---------------------------------------------------------------- all lines


def play_all(todo: list[list[str]], files: Path, jobs: int, talkative: bool) -> list[Outcome]:
    """Play lines, some at a time, each share in a process of its own; print those that fail."""
    workers = []
    for share in range(jobs):
        log = files.with_name(f"share-{share}")
        pid = os.fork()
        if not pid:
            with log.open("w", encoding="utf-8") as file:
                for n in range(share, len(todo), jobs):
                    one = play(todo[n], files, n % OWN_PROCESS == 0)
                    if one.wrong or talkative:
                        _say(one)
                    file.write(json.dumps(one) + "\n")
                    file.flush()
            os._exit(0)
        workers.append((pid, log))
    found = []
    for pid, log in workers:
        os.waitpid(pid, 0)
        found += [Outcome(*json.loads(line)) for line in log.read_text("utf-8").splitlines()]
    return found


def _say(one: Outcome) -> None:
    print(f"{one.wrong or one.code}: allminds {shlex.join(one.words)[:200]!r}")
    print(f"    {one.said[-600:]!r}", flush=True)


def _import() -> None:
    """Import what commands import, so that a forked process need not."""
    import allminds.evaluate
    import allminds.report
    import allminds.runs.run
    import allminds.statistics.comparison
    import allminds.terminal
    import allminds.web.store  # noqa: F401 - for the processes to come
    from allminds import registry

    for name in registry.instruments():
        registry.minds(name)


def main() -> None:
    """Play the lines, print those that fail and what the others came to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--line", action="append")
    asked = parser.parse_args()
    todo = [shlex.split(line) for line in asked.line or ()] or lines(asked.count, asked.seed)
    with _folder() as folder:
        files = folder / "files"
        files.mkdir()
        nasty_files.write_files(files)
        _import()
        found = play_all(todo, files, asked.jobs, talkative=bool(asked.line))
    codes = collections.Counter(one.code for one in found)
    print(f"{len(found):,} lines; exit codes {dict(sorted(codes.items()))}")
    print(f"the slowest {max(one.seconds for one in found):.1f} s, the largest "
          f"{max(one.megabytes for one in found):,} MB; "
          f"load average {os.getloadavg()[0]:.1f}")  # fmt: skip
    failed = sum(bool(one.wrong) for one in found)
    print(f"{failed} failed" if failed else "none failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
