"""Backups of a study's database, taken while people are at it, and restored as a new database.

A backup shows one moment: all that was acknowledged before it began, and no half transaction. Of
SQLite it is a database again, which every command opens. Of PostgreSQL it is an archive of pg_dump.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from sqlalchemy import inspect, make_url, text

from allminds.core.errors import Error
from allminds.web.store import Store
from allminds.web.tables import Base

ARCHIVE = b"PGDMP"  # how an archive of pg_dump begins
TABLES = (*Base.metadata.tables, "alembic_version")


def backup(where: str, out: Path) -> int:
    """Write a backup of a database to a new file; return its size in bytes."""
    if out.exists():
        raise Error(f"{out} is there already; name a new file with --out")
    part = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    with contextlib.closing(Store(where)) as store:
        try:
            if store.sqlite:
                with contextlib.closing(store.engine.raw_connection()) as connection:
                    connection.cursor().execute("VACUUM INTO ?", (str(part),))
            else:
                schema = _schema(store)
                tables = [f'--table="{schema}".{name}' for name in TABLES]
                _run(store, "pg_dump", "--format=custom", f"--file={part}", *tables)
            _keep(part, out)
        except (OSError, sqlite3.Error) as error:
            raise Error(
                f"cannot write {out}: {getattr(error, 'strerror', None) or error}"
            ) from None
        finally:
            part.unlink(missing_ok=True)
    return out.stat().st_size


def restore(source: Path, where: str) -> None:
    """Make a new database of a backup, whole or not at all, and open it once."""
    if not source.is_file():
        raise Error(f"there is no backup {source}")
    with open(source, "rb") as file:
        archive = file.read(len(ARCHIVE)) == ARCHIVE
    if archive != where.startswith("postgresql"):
        kinds = ("a new file", "the URL of a PostgreSQL database")
        raise Error(f"{source} can only be restored to {kinds[archive]}, not to {where}")
    if archive:
        _restore_archive(source, where)
        return
    out = Path(where)
    if out.exists():
        raise Error(f"{out} is there already; name a new file with --out")
    with contextlib.closing(Store(source)):
        pass  # what is no study, or broken, is found before anything is written
    part = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(source, part)
        _check(part)
        _keep(part, out)
    except OSError as error:
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _check(path: Path) -> None:
    """Require that a copy of an SQLite database is whole."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute("PRAGMA integrity_check").fetchone()
    if found != "ok":
        raise Error(f"the backup is damaged: {str(found).splitlines()[0]}")


def _keep(part: Path, out: Path) -> None:
    """Put a file in its place, once all of it is on the disk."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    os.rename(part, out)


# ---------------------------------------------------------------- PostgreSQL


def _restore_archive(source: Path, where: str) -> None:
    with contextlib.closing(Store(where, create=True, empty=True)) as store:
        there = set(inspect(store.engine).get_table_names()) & set(TABLES)
        if there:
            raise Error(f"{store.shown} holds a study already; restore to an empty database")
        _run(
            store, "pg_restore", "--single-transaction", "--no-owner", "--no-privileges",
            "--exit-on-error", str(source),
        )  # fmt: skip
    with contextlib.closing(Store(where)):
        pass


def _schema(store: Store) -> str:
    with store.reading() as db:
        return str(db.scalar(text("SELECT current_schema()")))


def _run(store: Store, program: str, *words: str) -> None:
    """Run a program of PostgreSQL's; the password goes by the environment, not by its words."""
    url = make_url(store.where).set(drivername="postgresql")
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    address = url.set(password=None).render_as_string(hide_password=False)
    try:
        done = subprocess.run(
            [program, f"--dbname={address}", *words], env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise Error(f"{program} is missing: install the client programs of PostgreSQL") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()[:1] or [f"exit code {done.returncode}"]
        raise Error(f"{program} failed: {said[0]}")
