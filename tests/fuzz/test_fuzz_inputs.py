"""The corpus and a small budget of fresh nonsense; tests/fuzz/run.py tries a million."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hunting import Broken, Target, corpus, minimised, playground, tried
from run import hunt
from targets import TARGETS, furnish

from allminds.core.errors import Error

FACTOR = float(os.environ.get("ALLMINDS_FUZZ", "1"))  # CI may spend more
BUDGET = {
    "names": 4000, "readings": 4000, "lines": 1000, "line-ups": 300, "plans": 60, "studies": 60,
    "csv": 40, "py-irt": 40, "parquet": 40, "settings": 20, "processes": 10, "inspect": 5,
    "cli": 25,
}  # fmt: skip
SLOW = ("line-ups", "settings", "inspect", "cli")  # that import most of allminds, and more


def _kept() -> list[Any]:
    return [
        pytest.param(name, path, id=f"{name}-{path.name}")
        for name in TARGETS
        for path in corpus(name)
    ]


@pytest.fixture
def here():
    with playground() as folder:
        yield folder


@pytest.mark.parametrize(("name", "path"), _kept())
def test_what_once_was_a_finding_is_none_any_more(name, path, here):
    if name == "inspect":
        pytest.importorskip("inspect_ai")
    if name == "cli":
        furnish()
    finding = tried(TARGETS[name], path.read_bytes())
    assert finding is None, finding.told


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in TARGETS]
)
def test_nonsense_is_one_sentence(name, here):
    """Whatever is given: success or one sentence, and no file that is not complete."""
    if name == "inspect":
        pytest.importorskip("inspect_ai")
    if name == "cli":
        furnish()
    found = hunt(TARGETS[name], seed=7, first=0, last=int(BUDGET[name] * FACTOR))
    assert not found.findings, "\n".join(one.told for one in found.findings.values())
    assert not found.slow


# ---------------------------------------------------------------- the fuzzer itself


def test_every_input_depends_on_its_number_alone():
    for target in TARGETS.values():
        made = [target.make(Random(f"1/{target.name}/{n}")) for n in range(4)]
        assert target.make(Random(f"1/{target.name}/2")) == made[2] or target.name == "inspect"
        assert len(set(made)) > 1


def test_a_planted_fault_is_found_and_made_small(here):
    def faulty(data: bytes) -> None:
        if b"x" in data:
            raise ZeroDivisionError
        raise Error("one sentence")

    target = Target("planted", 1, lambda rng: bytes(rng.choices(b"abcx", k=40)), faulty)
    found = hunt(target, seed=1, first=0, last=5)
    (finding,) = found.findings.values()
    assert finding.data == b"x"
    assert finding.what.startswith("ZeroDivisionError")


def test_what_is_left_behind_by_a_failure_is_a_finding(here):
    def littering(data: bytes) -> None:
        Path(f"{data.decode()}.out").write_text("half")
        raise Error("cannot go on")

    finding = tried(Target("litter", 1, lambda rng: b"", littering, files=True), b"a")
    assert finding is not None
    assert "left behind" in finding.what
    assert not list(here.iterdir())


def test_nothing_is_written_outside_the_playground(here):
    outside = Path(os.sep, "escaped")  # wherever the tests are, perhaps in a temporary folder

    def escaping(data: bytes) -> None:
        outside.write_text("x")

    finding = tried(Target("escape", 1, lambda rng: b"", escaping), b"")
    assert finding is not None
    assert "PermissionError" in finding.what
    assert not outside.exists()


def test_a_broken_promise_is_told_in_its_own_words(here):
    def lying(data: bytes) -> None:
        raise Broken("it said otherwise")

    finding = minimised(TARGETS["names"], tried(Target("lie", 1, lambda rng: b"", lying), b"a"))
    assert finding.what == "it said otherwise"
