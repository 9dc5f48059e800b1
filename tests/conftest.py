"""Shared by all tests: a quiet hypothesis, and tools to make small runs."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What the tests start would else compile all of allminds anew, a third of what a small one costs.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""

# The matrices of the tests are small: threads for them cost many times what they save, most of all
# where several tests run at once. NumPy reads this when it is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import pytest
from hypothesis import HealthCheck, settings

from allminds import registry

settings.register_profile(
    "allminds",
    deadline=None,  # the first example compiles kernels
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("allminds")
sys.dont_write_bytecode = False

# What a shell may say of its terminal: tests, and the programs they start, have one and the same.
os.environ["COLUMNS"] = "80"
for name in ("LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

# A shell starts what it puts in the background with interrupts ignored, and programs inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

RUNS = Path.cwd() / "runs"  # where `allminds evaluate` saves what tests let it do
BEFORE = set(RUNS.glob("*"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that hold most slow tests, then with the longest: small ones end it."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    size = {path: path.stat().st_size for path in {item.path for item in items}}
    items.sort(key=lambda item: (-slow[item.path], -size[item.path], item.path))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take what is imported and collected by now out of the garbage collector's sight.

    It stays to the end anyway; looking through it took 2.4 of 16 s of two files, and now 1.2 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the runs that tests have left in the working directory, once all workers are done."""
    if not hasattr(session.config, "workerinput"):
        for made in set(RUNS.glob("*")) - BEFORE:
            shutil.rmtree(made, ignore_errors=True)
        if RUNS.is_dir() and not BEFORE:
            shutil.rmtree(RUNS, ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def _no_names_left_behind() -> Iterator[None]:
    """Remove the instruments and minds that the tests of a file have registered for themselves."""
    tables = (registry._instruments, registry._minds, registry._families)
    before = [set(table) for table in tables]
    yield
    for table, known in zip(tables, before, strict=True):
        for name in set(table) - known:
            if not table[name].__module__.startswith("allminds."):
                del table[name]


SHARED = Path(__file__).parents[2] / "shared" / "reference"


@pytest.fixture
def reference() -> Path:
    """The authors' figures, where they lie beside the project."""
    if not SHARED.is_dir():
        pytest.skip("the reference figures are not beside this checkout")
    return SHARED


FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium for the tests of a file, that reaches nothing but this machine.

    Not for all files of a session: as long as it is there, nothing else may run an event loop.
    """
    driver = pytest.importorskip("playwright.sync_api")
    wished = os.environ.get("ALLMINDS_CHROMIUM")
    found = wished or next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("there is no Chromium here: apt install chromium, or set ALLMINDS_CHROMIUM")
    driver.expect.set_options(timeout=60_000)  # a machine may be busy
    with driver.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield made
        made.close()
