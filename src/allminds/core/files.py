"""Files that are there whole or not at all, and their sums."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from allminds.core.errors import Error

SUMS = "SHA256SUMS"


def cache_folder() -> Path:
    """Locate the user's cache folder for allminds (compiled kernels, catalogues of patterns)."""
    home = Path(os.path.expanduser("~"))
    default = home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or default) / "allminds"


def kernel_folder() -> Path:
    """Locate the folder of compiled kernels."""
    return cache_folder() / "kernels"


def is_cold() -> bool:
    """Check whether no kernel was ever compiled here."""
    return not any(kernel_folder().rglob("*.nbi"))


def sums_of(folder: Path) -> dict[str, set[str]]:
    """Read SHA256SUMS: the sums that each file may have, which has two while it is replaced."""
    found: dict[str, set[str]] = {}
    try:
        text = (folder / SUMS).read_bytes().decode("utf-8", "replace")
    except OSError:
        return found
    for one in filter(None, text.split("\n")):  # not at \v, which is a \n with one bit flipped
        digest, _, name = one.partition("  ")
        found.setdefault(name, set()).add(digest)
    return found


def matches(folder: Path, name: str, sums: Mapping[str, set[str]]) -> bool:
    """Check whether a file is there and has one of its sums."""
    try:
        with open(folder / name, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() in sums.get(name, ())
    except OSError:
        return False


def line(name: str, digest: str) -> str:
    """Write a line of SHA256SUMS."""
    return f"{digest}  {name}\n"


def write_whole(
    path: Path, fill: Callable[[IO[bytes]], Any], note: Callable[[str], None] | None = None
) -> None:
    """Write a file whole or not at all; `note` is told its sum before it is there."""
    temporary = path.with_name(path.name + ".tmp")
    with writing(path):
        try:
            with open(temporary, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            if note is not None:
                with open(temporary, "rb") as file:
                    note(hashlib.file_digest(file, "sha256").hexdigest())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Make a folder whole or not at all: what is written into the one given, and the sums of it."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Error(f"{out} is not empty; name a new folder with --out")
    if not out.name:  # "." cannot be made anew and renamed
        raise Error(f"{out} has no name of its own; name a new folder with --out")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        with writing(out):
            temporary.mkdir(parents=True)
            yield temporary
            lines = []
            for path in sorted(path for path in temporary.rglob("*") if path.is_file()):
                with open(path, "rb") as file:
                    name = path.relative_to(temporary).as_posix()
                    lines.append(line(name, hashlib.file_digest(file, "sha256").hexdigest()))
                    os.fsync(file.fileno())
            write_whole(temporary / SUMS, lambda file: file.write("".join(lines).encode()))
            os.rename(temporary, out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_bytes(out: Path, made: bytes) -> Path:
    """Write a file that the user named, whole or not at all; a full disk leaves the old file."""
    if out.is_dir():
        raise Error(f"cannot write {out}: it is a folder; name a file in it")
    write_whole(out, lambda file: file.write(made))
    return out


def keep(path: Path, fill: Callable[[IO[bytes]], Any]) -> None:
    """Keep a file in the user's cache: whole, by its own temporary name; a read-only home is fine.

    Several processes may keep the same file at the same time.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                fill(file)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def as_json(value: Any) -> bytes:
    """Convert a value to JSON as run folders have it."""
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an error of the disk to an `Error` that names the path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise Error(f"cannot write {path}: {reason}") from None


def path_of(path: Any, argument: str) -> Path:
    """Convert a path that was given as an argument, str or Path; the error names the argument."""
    if not isinstance(path, (str, Path)) or not str(path):
        raise Error(f"{argument} must be a path, such as 'runs/mine', not {path!r}")
    return Path(path)
