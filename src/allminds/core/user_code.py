"""The user's own code: importing it, and the origin of an exception in it, as text.

Text can be sent from another process, kept in a record and shown in a table. Frames of allminds, of
Python's library and of installed packages are left out, as long as any other is left.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from allminds.core.errors import Error, nearest, printable

USERS = "allminds_user_"  # begins the names of modules that are files of the user's
SHORT, LONG = 3, 20  # frames in a line of text, and in a paragraph
WIDEST = 100  # letters of a line of source
CHAIN = 3  # exceptions that followed from each other
NOTEBOOK = re.compile(r"^<ipython-input|[/\\]ipykernel_\d+[/\\]")
OURS = str(Path(__file__).parents[1])
INSTALLED = tuple(
    {
        path + os.sep
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if (path := sysconfig.get_path(name))
    }
)


class Frame(NamedTuple):
    """A line of code on the way to an exception."""

    file: str
    line: int
    function: str
    source: str = ""

    @property
    def place(self) -> str:
        """The frame without its source: ``my.py:12, in act``."""
        return f"{self.file}:{self.line}{f', in {self.function}' if self.function else ''}"

    def __str__(self) -> str:
        return f"{self.place}: {self.source}" if self.source else self.place


def shown(thing: Any, how: Callable[[Any], str]) -> str:
    """Show in one line what an object says of itself, cut short and fit for a file.

    An object whose own method fails is shown by its type.
    """
    try:
        text = " ".join(how(thing)[:200].split())
    except KeyboardInterrupt:
        raise
    except BaseException:  # it is somebody else's, and may raise anything
        text = f"<{type(thing).__name__}>"
    return printable(text.encode("utf-8", "backslashreplace").decode())


def reason_of(error: BaseException, folder: str = "") -> str:
    """Write one line: what was raised, then the last frames of the user's code, innermost first.

    Paths below `folder`, or below the working directory, are shown relative to it.
    """
    places = dict.fromkeys(str(frame) for frame in reversed(frames_of(error, folder)))
    at = "; from ".join(list(places)[:SHORT])
    return f"{_named(error)} at {at}" if at else _named(error)


def story_of(error: BaseException, folder: str = "") -> str:
    """Write what was raised, and below it the frames of the user's code, innermost last."""
    lines: list[str] = []
    link: BaseException | None = error
    for number in range(CHAIN):
        if link is None:
            break
        lines += [_named(link) if number == 0 else f"which followed from {_named(link)}"]
        lines += _paragraph(frames_of(link, folder))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n".join(lines)


def frames_of(error: BaseException, folder: str = "") -> list[Frame]:
    """List the frames of the user's own code, innermost last; the nearest ones if there are none.

    For a group of exceptions, these are the frames of the first, if it was raised before it was put
    into the group.
    """
    leaf = _leaf(error)
    error = leaf if leaf.__traceback__ else error
    found = [
        (frame.f_code, line or frame.f_code.co_firstlineno, frame.f_globals)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    own = [one for one in found if _whose(one[0].co_filename) == "user"]
    theirs = [one for one in found if _whose(one[0].co_filename) == "installed"]
    kept = own or theirs or found[-1:]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        source = " ".join((error.text or "").split())[:WIDEST]
        own_frames = [_frame(*one, folder) for one in own]
        return [*own_frames, Frame(_path(error.filename, folder), error.lineno, "", source)]
    return [_frame(*one, folder) for one in kept]


def _frame(code: CodeType, line: int, names: dict[str, Any], folder: str) -> Frame:
    file = code.co_filename
    linecache.checkcache(file)
    source = " ".join(linecache.getline(file, line, names).split())[:WIDEST]
    clean = source.encode("utf-8", "backslashreplace").decode()
    return Frame(_path(file, folder), line, code.co_name, clean)


def _paragraph(frames: list[Frame]) -> list[str]:
    """Write frames line by line; a frame that repeats, as in endless recursion, is shown once."""
    lines: list[str] = []
    repeats = 0
    for n, frame in enumerate(frames):
        if n + 1 < len(frames) and frames[n + 1] == frame:
            repeats += 1
            continue
        lines.append(f"  {frame.place}" + (f" ({repeats + 1} times)" if repeats else ""))
        lines += [f"    {frame.source}"] if frame.source else []
        repeats = 0
    return lines[-2 * LONG :]


def _leaf(error: BaseException) -> BaseException:
    """Find the first exception that a group holds, or return the exception itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _named(error: BaseException) -> str:
    """Write an exception as its type and message."""
    text = error.msg if isinstance(error, SyntaxError) else shown(error, str)
    name = f"{type(error).__name__}: {text}" if text else type(error).__name__
    leaf = _leaf(error)
    return name if leaf is error else f"{name}, first {_named(leaf)}"


@functools.lru_cache(maxsize=4096)
def _whose(file: str) -> str:
    """Tell whether a file of code is the user's, allminds' own, or installed."""
    if file.startswith(OURS + os.sep):
        return "allminds"
    packaged = "/site-packages/" in file or "/dist-packages/" in file
    return "installed" if packaged or file.startswith((*INSTALLED, "<frozen ")) else "user"


def _path(file: str, folder: str) -> str:
    """Shorten a path to what the user would write."""
    if NOTEBOOK.search(file):
        return "notebook cell"
    try:
        return str(Path(file).relative_to(folder or working_folder()))
    except ValueError:  # not below it
        return file


def working_folder() -> str:
    """Find the working directory, or the root if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


# ---------------------------------------------------------------- files behind minds


def code_of(makers: Iterable[Any], words: Iterable[str] = ()) -> dict[str, str]:
    """Hash the user's files behind makers of minds, with the files of the user's they import.

    So are files that names mention, such as the program of ``program(./mine.py)``.
    """
    todo = [sys.modules.get(str(getattr(thing, "__module__", ""))) for thing in makers]
    known: dict[str, str] = {}
    seen = set()
    while todo:
        module = todo.pop()
        file = getattr(module, "__file__", None) or ""
        if module is None or file in seen or not file.endswith(".py") or _whose(file) != "user":
            continue
        seen.add(file)
        known[_path(file, "")] = _digest(Path(file))
        for value in list(vars(module).values()):
            home = value if isinstance(value, ModuleType) else None
            todo.append(home or sys.modules.get(str(getattr(value, "__module__", ""))))
    for word in {part for text in words for part in re.split(r"[\s(),=*]+", text)}:
        if word and ":" not in word and Path(word).is_file():
            known[word] = _digest(Path(word))
    for name, text in sources_of(makers):  # cells of a notebook
        known[_path(name, "")] = hashlib.sha256(text.encode()).hexdigest()
    return dict(sorted(known.items()))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------- source that is sent along


def sources_of(makers: Iterable[Any], every: bool = False) -> tuple[tuple[str, str], ...]:
    """Collect the source files of the user's code behind makers of minds, as (file, text).

    Only sources that are no file on this machine, such as cells of a notebook, unless `every`.
    """
    files = sorted({code.co_filename for maker in makers for code in _codes(maker)})
    texts = ((file, "".join(linecache.getlines(file))) for file in files if _whose(file) == "user")
    return tuple(
        (file, text) for file, text in texts if text and (every or not Path(file).exists())
    )


def remember_sources(sources: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
    """Register source that is no file here, so that `frames_of` finds it."""
    for file, text in dict(sources).items():
        if file not in linecache.cache and not Path(file).exists():
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def _codes(thing: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of all methods of a class."""
    if isinstance(thing, FunctionType):
        yield thing.__code__
    elif isinstance(thing, type):
        for base in thing.__mro__:
            for value in vars(base).values():
                if isinstance(value, FunctionType):
                    yield value.__code__


# ---------------------------------------------------------------- importing it


def imported(name: str, what_for: str) -> Any:
    """Import ``package.module:Name`` or ``path/to/file.py:Name``."""
    where, _, what = name.rpartition(":")
    if os.getcwd() not in sys.path:  # as for ``python -m``: a module of the current folder
        sys.path.append(os.getcwd())
    try:
        module = (
            _from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        )
    except ModuleNotFoundError as error:
        if what_for == "instrument":
            raise Error(
                f"there is no instrument '{name}': cannot import {where}: {error}"
            ) from None
        raise Error(f"cannot import '{where}' for the {what_for} '{name}': {error}") from None
    except (Exception, SystemExit) as error:
        raise Error(f"importing '{where}' failed: {reason_of(error)}") from error
    if not hasattr(module, what):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise Error(f"'{where}' has no '{what}'; {nearest(what, public)}")
    return getattr(module, what)


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise ModuleNotFoundError(f"there is no file {path}")
    name = f"{USERS}{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def mind_in(file: str) -> str:
    """Find what is most likely a mind in a file, without running it: a class with `act` first."""
    try:
        body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError):
        return "NAME"
    classes = [one for one in body if isinstance(one, ast.ClassDef)]
    acting = [one for one in classes if "act" in {getattr(part, "name", "") for part in one.body}]
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    names = [one.name for one in (*acting, *classes)] + [one.name for one in functions]
    return names[0] if names else "NAME"
