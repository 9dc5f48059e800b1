"""Shared by all tests: a quiet hypothesis, and tools to make small runs."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

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
    """Begin with the files that hold most slow tests, so that what is left at the end is small."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


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
