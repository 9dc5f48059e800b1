"""Every test of sessions runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from databases import Missing, fresh, postgresql
from studio import Clock, Person, Server, make, study

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server."""
    try:
        server = postgresql()
        url = server.__enter__()
    except Missing as missing:
        pytest.skip(f"not tried on PostgreSQL: {missing}")
    yield url
    server.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return fresh(request.getfixturevalue("postgres"), f"t{next(_numbers)}")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(where, clock) -> Iterator[Callable[..., Any]]:
    """Make a study on the database and serve it: server, researcher's token, links."""
    servers = []

    def open_(count: int = 1, screens: Any = None, limits: Any = None, **changes: Any) -> Any:
        planned = study(**changes)
        token, links = make(where, planned, count, clock)
        server = Server(where, clock, screens)
        server.limits = limits or planned.limits
        servers.append(server.start())
        return server, token, links

    yield open_
    for server in servers:
        server.stop()


@pytest.fixture
def person(opened) -> Person:
    """Somebody in the first exercise of a short study."""
    server, _, links = opened()
    somebody = Person(server)
    somebody.join(links[0])
    somebody.begin()
    return somebody
