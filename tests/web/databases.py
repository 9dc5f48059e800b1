"""A real PostgreSQL for the tests: found or installed, started in a folder of its own, stopped."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


class Missing(Exception):
    """There is none, and why."""


def programs() -> Path:
    """The folder of initdb and pg_ctl, installed first where that can be done."""
    found = _found()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "--no-install-recommends", "postgresql"]
        subprocess.run(install, capture_output=True, timeout=600, check=False)
        found = _found()
    if found is None:
        raise Missing("there is no PostgreSQL here: install it so that initdb is on the PATH")
    return found


def _found() -> Path | None:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        places.insert(0, Path(on_path).resolve().parent)
    return next((p for p in places if (p / "initdb").exists() and (p / "pg_ctl").exists()), None)


def _somebody() -> str | None:
    """Who runs it: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            return name
    raise Missing("there is neither a user postgres nor nobody to run PostgreSQL as")


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a server while this lasts.

    It listens at a socket in its own folder, and at no port.
    """
    bin_, user = programs(), _somebody()
    folder = Path(tempfile.mkdtemp(prefix="am-pg-"))
    if user:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, user=user, cwd=folder, timeout=120, check=False
        )
        if done.returncode:
            raise Missing(f"{Path(command[0]).name} failed: {done.stderr[-300:]}")

    data, log = str(folder / "data"), str(folder / "log")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    try:
        run(str(bin_ / "initdb"), "-D", data, "-U", "tester", "--auth=trust", "-E", "UTF8")
        run(str(bin_ / "pg_ctl"), "-D", data, "-l", log, "-w", "-o", options, "start")
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run(str(bin_ / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh(server: str, name: str) -> str:
    """A corner of its own on a server, as good as a database; its URL."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    return f"{server}&options=-csearch_path%3D{name}"
