"""A real browser before the real server.

Chromium comes from the system (`apt install chromium`), Playwright and axe from PyPI; where one of
them is missing these tests are skipped, and say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from laboratory import Laboratory

NEEDED = ("playwright", "axe_playwright_python", "fastapi", "babel")
MISSING = [name for name in NEEDED if find_spec(name) is None]
if MISSING:
    warnings.warn(f"no tests in a browser: {', '.join(MISSING)} is not installed", stacklevel=1)
collect_ignore_glob = ["test_*.py"] if MISSING else []


@pytest.fixture
def new_page(browser: Any, laboratory: Any) -> Iterator[Callable[..., Any]]:
    """Make a page of its own; what it complains of, or asks of others, fails the test.

    Pages are closed before their server is, which is why this asks for `laboratory`.
    """
    contexts, wrong = [], []

    def watch(page: Any) -> None:
        page.set_default_timeout(60_000)  # a machine may be busy
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", outside)

    def outside(request: Any) -> None:
        if not request.url.startswith("http://127.0.0.1:"):
            wrong.append(f"asked for {request.url}")

    def make(**options: Any) -> Any:
        options.setdefault("viewport", {"width": 1000, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        context.on("page", watch)
        page = context.new_page()
        page.expected = wrong  # those who break the line on purpose empty it
        return page

    yield make
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A page on a desk."""
    return new_page()


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Callable[..., Laboratory]]:
    """Make a study with these tests, and serve it."""
    from laboratory import Laboratory

    made: list[Laboratory] = []

    def make(*tests: dict[str, Any], **study: Any) -> Laboratory:
        made.append(Laboratory(tmp_path / f"study-{len(made)}.db", list(tests), study))
        return made[-1]

    yield make
    for one in made:
        one.close()
