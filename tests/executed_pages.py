"""Run a page of documentation: what its blocks say is done, and what they show is compared.

- a block with a title is a file: it is written;
- ``console``: lines that begin with ``$`` are commands (one may go on after a backslash at the
  end of its line), what follows is what they print;
- ``python``: is run; a ``text`` block right after it is what it prints;
- everything else (``sh``, ``text``, ``json`` …) is only read.

``...`` in what is shown stands for anything, any white space for any other, and so does a rule
under the head of a table.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<kind>[\w-]*)(?P<rest>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.M)
TITLE = re.compile(r'title="([^"]+)"')
SECONDS = 300


@dataclass(frozen=True)
class Block:
    """A fenced block, where it stands, and what stands between it and the one before."""

    kind: str
    title: str
    text: str
    line: int
    near: bool  # follows right after the block before it


@dataclass(frozen=True)
class Wrong:
    """What a page shows and what really came."""

    where: str
    shown: str
    came: str

    def __str__(self) -> str:
        return f"{self.where}\n--- shown\n{self.shown}\n--- came\n{self.came}"


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found, end = [], 0
    for match in FENCE.finditer(page):
        title = TITLE.search(match["rest"])
        near = not page[end : match.start()].strip()
        line = page.count("\n", 0, match.start()) + 1
        found.append(Block(match["kind"], title[1] if title else "", match["text"], line, near))
        end = match.end()
    return found


def agrees(shown: str, came: str) -> bool:
    """Whether what came is what was shown, ``...`` and white space aside."""
    parts = [re.escape(part.strip()) for part in _spaced(shown).split("...")]
    return re.fullmatch(".*".join(parts), _spaced(came), re.DOTALL) is not None


def run(page: str, folder: Path) -> list[Wrong]:
    """Do what a page says in a folder; the first thing that goes wrong ends it."""
    with contextlib.closing(Python(folder)) as python:
        return _first_wrong(blocks(page), folder, python)


def _first_wrong(found: list[Block], folder: Path, python: Python) -> list[Wrong]:
    for number, block in enumerate(found):
        where = f"line {block.line}"
        if block.title:
            target = folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            for command, shown in _commands(block.text):
                wrong = _differs(where, shown, _done(["bash", "-c", command], folder), command)
                if wrong:
                    return [wrong]
        elif block.kind == "python":
            after = found[number + 1] if number + 1 < len(found) else None
            shown = after.text if after and after.near and after.kind == "text" else None
            done = python.run(block.text)
            wrong = _differs(where, shown if shown is not None else "...", done, block.text)
            if wrong:
                return [wrong]
    return []


def _commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", "").splitlines():  # a command may go on in the next line
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


# what a page's Python runs in: a block a line, with the exit code said where nothing else is
SESSION = """
def _blocks():
    import json, os, sys, traceback
    told = os.fdopen(int(sys.argv.pop()), "w")
    for line in sys.stdin:
        code = 0
        try:
            exec(compile(json.loads(line), "<string>", "exec"), sys.modules["__main__"].__dict__)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        print(code, file=told, flush=True)
_blocks()
"""


class Python:
    """The Python of one page: a block finds the names of those before it, as in a notebook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a block; what it and the processes that it starts print."""
        if self.process is None:
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        before = self.output.tell()
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        in_time = select.select([self.told], [], [], SECONDS)[0]
        if not in_time:
            self.process.kill()
        code = int(self.told.readline() or 1)
        self.output.seek(before)
        came = self.output.read() + ("" if in_time else f"not done within {SECONDS} s")
        return subprocess.CompletedProcess(text, code, came)

    def _start(self) -> None:
        read, write = os.pipe()
        self.told = os.fdopen(read)
        self.output = tempfile.TemporaryFile("a+", encoding="utf-8")  # noqa: SIM115 - see `close`
        self.process = subprocess.Popen(
            [sys.executable, "-c", SESSION, str(write)], cwd=self.folder, env=_settings(),
            stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT,
            pass_fds=[write], text=True, encoding="utf-8",
        )  # fmt: skip
        os.close(write)

    def close(self) -> None:
        """End it, if it ever began; it ends the processes that it has started."""
        if self.process is not None:
            self.process.communicate()
            self.told.close()
            self.output.close()


def _settings() -> dict[str, str]:
    tools = str(Path(sys.executable).parent)
    return os.environ | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def _done(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=_settings(), text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
    )  # fmt: skip


def _differs(
    where: str, shown: str, done: subprocess.CompletedProcess[str], what: str
) -> Wrong | None:
    said = shown.strip()
    failed = done.returncode != 0 and not said.startswith("allminds: ")  # an error may be shown
    if failed or not agrees(said, done.stdout):
        return Wrong(f"{where} (exit code {done.returncode}): {what}", said, done.stdout)
    return None


def _spaced(text: str) -> str:
    return re.sub("─+", "─", " ".join(text.split()))
