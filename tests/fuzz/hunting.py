"""Try an input on a target; what must not happen is a finding, which is made small and kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from allminds.core.errors import Error
from allminds.core.files import cache_folder

CORPUS = Path(__file__).with_name("corpus")
SECONDS = 8.0  # of processor time; an input that takes longer is broken off and counted as slow
_TEMPORARY = tempfile.gettempdir()  # asked for here: a hook that asks could wait for itself
_CACHE = str(cache_folder())  # of compiled kernels
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "os.truncate")
_SQLITE = ("-wal", "-shm")  # beside a database as long as somebody has it open
_OWN = (".nbi", ".nbc", ".pyc")  # caches of Python and Numba may be written anywhere


@dataclass(frozen=True)
class Target:
    """Something that takes what a user wrote, and how inputs for it are made."""

    name: str
    share: int  # of ten thousand inputs
    make: Callable[[Random], bytes]
    run: Callable[[bytes], None]  # raises Error for what a user can mend; works in this folder
    files: bool = False  # whether it may write some


@dataclass(frozen=True)
class Finding:
    """What must not happen."""

    target: str
    what: str  # the exception or the broken promise, and where
    data: bytes
    told: str  # a traceback

    @property
    def key(self) -> str:
        """By which two findings are taken for one."""
        return f"{self.target}: {self.what}"


class Broken(Exception):
    """A promise to users that was not kept."""


class Slow(KeyboardInterrupt):
    """An input took too long; the one exception that nobody here swallows."""


# ---------------------------------------------------------------- a place where nothing can break


class _Guard:
    """Nothing is written outside a folder, started or dialled while it is armed."""

    def __init__(self) -> None:
        self.folder = ""
        self.hooked = False

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.folder:
            return
        if event == "open" and isinstance(arguments[0], str):
            flags = arguments[2]
            if isinstance(flags, int) and flags & _WRITES:
                self._check(event, arguments[0])
        elif event in _CHANGES and isinstance(arguments[0], (str, os.PathLike)):
            self._check(event, os.fspath(arguments[0]))
        elif event in ("os.system", "socket.connect", "os.exec", "os.kill"):
            raise PermissionError(1, f"the fuzzer forbids {event}")

    def _check(self, event: str, path: object) -> None:
        where = os.path.abspath(str(path))
        inside = where.startswith((self.folder, _TEMPORARY, _CACHE, "/dev/"))
        if not inside and not where.endswith(_OWN) and "__pycache__" not in where:
            raise PermissionError(1, f"the fuzzer forbids {event} of {where}")


_guard = _Guard()


@contextlib.contextmanager
def playground() -> Iterator[Path]:
    """An empty folder to be in; warnings are errors, since a user would see them."""
    if not _guard.hooked:
        sys.addaudithook(_guard.hook)
        _guard.hooked = True
    here = Path.cwd()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where syncing is free
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory) as folder,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        os.chdir(folder)
        before = signal.signal(signal.SIGVTALRM, _too_slow)
        _guard.folder = folder
        try:
            yield Path(folder)
        finally:
            _guard.folder = ""
            signal.signal(signal.SIGVTALRM, before)
            os.chdir(here)


def _too_slow(_number: int, _frame: object) -> None:
    raise Slow


# ---------------------------------------------------------------- one input


def tried(target: Target, data: bytes) -> Finding | None:
    """Run one input in the playground; Slow is raised if it takes too long."""
    before = _listing() if target.files else {}
    failed = False
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        target.run(data)
    except Error as error:
        failed = True
        if "Traceback" in str(error) or not str(error).strip():
            return Finding(target.name, "an Error without a sentence", data, repr(error))
    except Exception as error:
        return _found(target, data, error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        left = _cleaned(before) if target.files else []
    left = [name for name in left if not name.endswith(_SQLITE)]
    unfinished = [name for name in left if failed or "tmp" in Path(name).name]
    if unfinished:
        return Finding(target.name, "left behind unfinished", data, ", ".join(unfinished))
    return None


def _found(target: Target, data: bytes, error: Exception) -> Finding:
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [code for code in codes if f"{os.sep}allminds{os.sep}" in code.co_filename] or codes
    where = Path(ours[-1].co_filename).name
    if not isinstance(error, RecursionError):  # which may happen at any depth of it
        where += f":{ours[-1].co_name}"
    what = str(error) if isinstance(error, Broken) else f"{type(error).__name__} in {where}"
    told = "".join(traceback.format_exception(error, limit=-5, chain=False))
    return Finding(target.name, what, data, told)


def _listing() -> dict[str, tuple[int, int]]:
    found = {}
    for folder, _, names in os.walk("."):
        found[folder] = (0, 0)
        for name in names:
            path = os.path.join(folder, name)
            state = os.stat(path)
            found[path] = (state.st_size, state.st_mtime_ns)
    return found


def _cleaned(before: dict[str, tuple[int, int]]) -> list[str]:
    """Remove what was not there before, but for the input itself; its names."""
    new = [name for name in _listing() if name not in before and not name.startswith("./input.")]
    for name in sorted(new):
        if os.path.isdir(name):
            shutil.rmtree(name, ignore_errors=True)
        elif os.path.exists(name):
            os.remove(name)
    return new


# ---------------------------------------------------------------- a finding, made small and kept


def minimised(target: Target, finding: Finding, tries: int = 400) -> Finding:
    """The same finding from a shorter input: spans are left out as long as it stays."""
    size = max(1, len(finding.data) // 2)
    while size and tries:
        at = 0
        while at < len(finding.data) and tries:
            tries -= 1
            shorter = finding.data[:at] + finding.data[at + size :]
            try:
                again = tried(target, shorter)
            except Slow:
                again = None
            if again is not None and again.key == finding.key:
                finding = again
            else:
                at += size
        size //= 2
    return finding


def kept(finding: Finding) -> Path:
    """Put the input of a finding into the corpus."""
    name = hashlib.sha256(finding.key.encode() + finding.data).hexdigest()[:12]
    path = CORPUS / finding.target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.data)
    return path


def corpus(target: str) -> list[Path]:
    """The inputs that once were findings."""
    return sorted(path for path in (CORPUS / target).glob("*") if path.is_file())
