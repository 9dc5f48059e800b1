"""A mind in any language: a program that exchanges JSON lines on its standard input and output.

It is sent one JSON object a line and answers only `act`:

    {"type": "begin", "instrument": "lambda-star", "slot": 0, "slots": 1, "team": [0], "steps": 50,
     "actions": {"n": 9, "start": 1, "labels": ["up-left", …]}, "facts": {…}, "rehearsal": false}
    {"type": "act", "observation": {…}, "text": "…", "legal": [1, 2, …], "random": 0.1234}
    {"type": "learn", "reward": 0.5, "observation": {…}, "done": false}

and writes ``{"action": 3}``, or ``{"answer": "up"}`` in words, or ``{"refuse": "why"}``. Anything
else is malformed. `random` is its own uniform number for this step: a program that uses no
other random numbers is reproducible. The program is started for every exercise and ended with it.
One that dies, hangs, refuses or writes anything else has failed the exercise, which counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import IO, Any

from allminds.bridges.conversation import legal_actions
from allminds.contracts import Failure, Instrument, MindBase, Status, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.watch import Failed, away
from allminds.registry import mind

LONGEST = 1 << 20  # bytes in a line of a program
_TELLING = re.compile(r"[\w. ]*(Error|Exception|panicked)\b.*")  # a line that names an error
_MACHINE = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # no fault of the program
LINGER = 1.0  # seconds that a program has to end by itself, when its input has


@mind("program")
class Program(MindBase):
    """A program that reads and writes JSON lines, given by its command: program(node,mind.js)."""

    takes_instrument = reads = True
    runs_code = True
    traits = Traits(one_at_a_time=True)  # a process each: a thousand at once would be too many

    def __init__(self, tool: Instrument, *command: str, seconds: float = 60.0) -> None:
        if not command:
            raise Error("name the program and its words: program(node,mind.js)")
        if shutil.which(command[0]) is None:
            raise Error(f"there is no program '{command[0]}' to run; give its name or its path")
        if not seconds > 0:
            raise Error(f"program: seconds must be above 0, not {seconds:g}")
        self.tool, self.command, self.seconds = tool, command, seconds
        self.process: Process | None = None

    def begin(self, task: Task) -> None:
        """Start the program, unless it still runs from a rehearsal, and describe the exercise."""
        self.task, skin = task, self.tool.skin
        if self.process is None:
            self.process = Process(self.command, self.seconds)
        task = task if skin is None else skin.task(task)
        told = {
            "instrument": task.instrument,
            "slot": task.slot,
            "slots": task.slots,
            "team": task.team,
            "steps": task.steps,
            "actions": task.actions,
            "facts": task.facts,
            "rehearsal": task.rehearsal,
        }
        self._sent("begin", told)

    def act(self, observation: Any, random: Random) -> Any:
        """Send the observation, and read the action that the program writes."""
        legal = legal_actions(self.task, observation)
        told = {
            "observation": self._worn(observation),
            "text": self.tool.presentation.words(observation),
            "legal": sorted(map(self._worn_action, legal)) if self.tool.skin else legal,
            "random": random.unit(),
        }
        self._sent("act", told)
        assert self.process is not None
        return self._meant(self.process.line(), observation)

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Send the reward to the program; at the end of the play that counts, end the program."""
        over = done and not self.task.rehearsal
        told = {"reward": reward, "observation": self._worn(observation), "done": done}
        self._sent("learn", told)
        if over and self.process is not None:
            self.process.finish()

    def _sent(self, kind: str, told: Mapping[str, Any]) -> None:
        assert self.process is not None
        self.process.send(json.dumps({"type": kind} | plain(told), ensure_ascii=False))

    def _worn(self, observation: Any) -> Any:
        """Show an observation in the disguise of the exercise, if it wears one."""
        skin = self.tool.skin
        if skin is None or observation is None:
            return observation
        return skin.observation(observation, self.task.actions)

    def _worn_action(self, action: Any) -> Any:
        skin = self.tool.skin
        return action if skin is None else skin.worn(action, self.task.actions)

    def _meant(self, line: str, observation: Any) -> Any:
        """Read the action in a line, or return a failure."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if isinstance(said, dict) and len(said) == 1:
            if "action" in said:
                skin, action = self.tool.skin, said["action"]
                return action if skin is None else skin.action(action, self.task.actions)
            if isinstance(said.get("answer"), str):
                return self.tool.read(said["answer"], observation)
            if "refuse" in said:
                return Failure("refused", str(said["refuse"])[:200])
        return Failure("malformed", f"wrote '{line[:60]}' where {{\"action\": …}} is awaited")


class Process:
    """A running program that gets and writes single lines, with a time limit on each."""

    def __init__(self, command: Iterable[str], seconds: float) -> None:
        self.seconds = seconds
        self._said = b""  # written by the program and not read yet
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        try:
            self._popen = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            whose: Status = "missing" if error.errno in _MACHINE else "error"
            raise Failed(Failure(whose, f"cannot be started: {error.strerror}")) from None
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in, self._out = self._popen.stdin.fileno(), self._popen.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        # ends with this object, whatever became of the exercise, and with the interpreter
        self.end = weakref.finalize(self, _ended, self._popen, self._errors)

    def send(self, line: str) -> None:
        """Write a line to the program."""
        left = line.encode() + b"\n"
        until = time.monotonic() + self.seconds
        while left:
            self._wait(self._in, selectors.EVENT_WRITE, until)
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._gone() from None

    def line(self) -> str:
        """Wait for the next line that the program writes."""
        until = time.monotonic() + self.seconds
        while b"\n" not in self._said:
            self._wait(self._out, selectors.EVENT_READ, until)
            with contextlib.suppress(BlockingIOError):
                new = os.read(self._out, 1 << 16)
                if not new:
                    raise self._gone()
                self._said += new
            if len(self._said) > LONGEST:
                self.end()
                raise Failed(Failure("malformed", f"wrote {LONGEST:,} bytes without a new line"))
        line, _, self._said = self._said.partition(b"\n")
        return line.decode(errors="backslashreplace").strip()

    def finish(self) -> None:
        """Close the input of the program, give it a moment to end by itself, then end it."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(LINGER)
        self.end()

    def _wait(self, file: int, event: int, until: float) -> None:
        with away(), selectors.DefaultSelector() as selector:
            selector.register(file, event)
            if not selector.select(max(0.0, until - time.monotonic())):
                self.end()
                raise Failed(Failure("timeout", f"gave no answer within {self.seconds:g} s"))

    def _gone(self) -> Failed:
        """Describe the failure of a program that ended too early, with its last error message."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(1.0)
        code = self._popen.poll()
        how = "closed its output" if code is None else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode(errors="backslashreplace").strip().splitlines()
        self.end()
        # some runtimes say last what they are called, and before that what was wrong
        told = [line for line in words if _TELLING.match(line)] or words
        return Failed(Failure("error", f"{how}{f': {told[-1][:160]}' if told else ''}"))


def _ended(popen: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """Kill the program and all its child processes, and close all files."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    for file in (popen.stdin, popen.stdout, errors):
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


def plain(value: Any) -> Any:
    """Convert a value for JSON: things with fields become objects, sequences become lists."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {str(key): plain(inside) for key, inside in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inside) for inside in value]
    return str(value)
