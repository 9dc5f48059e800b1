"""Tests that end when the ability is known, as tasks of Inspect: rounds of samples.

``inspect eval allminds/c_test_adaptive -T width=1.0`` asks the exercises that ``allminds evaluate
c-test --until width=1.0`` asks, if the answers are the same, and reports the same figures. Inspect
asks the samples of a round at once, and calls for the next round when all of them have come; they
are then put in the order of their numbers. A sample that ended by an error of the provider is
missing. With ``--limit`` the test ends early, and its interval holds as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from inspect_ai import SampleSource, Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import SampleScore, Score, Target, metric, scorer
from inspect_ai.scorer import mean as share
from inspect_ai.solver import TaskState

from allminds import registry
from allminds.bridges.inspect_match import forget, play, seated
from allminds.bridges.inspect_play import sample_of
from allminds.bridges.inspect_scores import COUNTS, Metric, score_of
from allminds.bridges.manner import Manner
from allminds.contracts import Record
from allminds.core.errors import Error
from allminds.inference.ability import Ability
from allminds.until import UntilInstrument

SCORER = "ability_record"


def adaptive_task(tool: UntilInstrument, seed: int, manner: Manner) -> Task:
    """Make the task of an instrument that asks until the ability is known."""
    if not isinstance(seed, int) or seed < 0:
        raise Error(f"seed must be a whole number, 0 or more, not {seed!r}")
    if tool.slots > 1:
        raise Error(f"{tool.name} has {tool.slots} slots; one model is asked until it is known")
    return Task(
        dataset=Rounds(tool, seed, manner), setup=seated([]), solver=play(), cleanup=forget,
        scorer=ability_record(),
        metadata={"items": tool.items}, version=tool.version,
    )  # fmt: skip


class Rounds(SampleSource):  # type: ignore[misc] # its types are not read
    """The samples of one administration, round after round."""

    def __init__(self, tool: UntilInstrument, seed: int, manner: Manner) -> None:
        self.tool, self.seed, self.manner = tool, seed, manner
        self.records: list[Record] = []  # of all rounds that are over
        self.waiting: list[Sample] = []  # of the round that is being asked
        self.came: dict[int, Record] = {}

    def initial_samples(self) -> list[Sample]:
        """Make the samples of the first round."""
        return self._round()

    async def sample_complete(self, sample: Any) -> None:
        """Keep the record of a sample that is done."""
        if sample.epoch > 1:
            raise Error("an adaptive test asks every item once; leave --epochs out")
        self.came[int(sample.id)] = _record(sample)

    async def next_samples(self) -> list[Sample] | None:
        """Make the samples of the next round; None if the interval is as narrow as asked."""
        came = [self.came.get(int(sample.id or 0)) for sample in self.waiting]
        if not any(came):  # beyond a limit on samples, none is asked
            return None
        self.records += [
            found or _missing(sample.metadata or {})
            for found, sample in zip(came, self.waiting, strict=True)
        ]
        if len(self.records) >= self.tool.sitting or self.tool.is_over(self.records):
            return None
        return self._round()

    def _round(self) -> list[Sample]:
        tool, first = self.tool, len(self.records)
        self.waiting = []
        for i in range(first, min(first + tool.together, tool.sitting)):
            chosen = tool.asked(i, self.records)
            exercise = tool.placed(self.seed, i, *chosen)
            self.waiting.append(sample_of(tool, exercise, self.manner, chosen=list(chosen)))
        return list(self.waiting)


def _record(sample: Any) -> Record:
    """Read the record that the scorer left in a sample, or make that of a missing exercise."""
    about = sample.metadata
    score = (sample.scores or {}).get(SCORER)
    found = score.metadata if score is not None else None
    if sample.error is not None or not found or "status" not in found:
        return _missing(about)
    return Record(
        about["exercise"], about["index"], about["complexity"], found["steps"],
        tuple(found["score"]), tuple(found["learning"]), tuple(found["status"]), found["reason"],
    )  # fmt: skip


def _missing(about: dict[str, Any]) -> Record:
    return Record(
        about["exercise"], about["index"], about["complexity"], 0, (None,), (None,), ("missing",)
    )


# ---------------------------------------------------------------- the figures


def _found(scores: Sequence[SampleScore]) -> Ability | None:
    """Estimate the ability as `allminds evaluate` does, from the samples in their order."""
    rows = sorted(
        (dict(one.sample_metadata or {})["index"], one.score.as_float(), one.sample_metadata)
        for one in scores
        if not math.isnan(one.score.as_float())
    )
    if not rows:
        return None
    about: Any = rows[0][2]
    tool = registry.make_instrument(about["instrument"], about["settings"])
    assert isinstance(tool, UntilInstrument)
    level = [dict(one or {})["complexity"][tool.strata] for _, _, one in rows]
    return tool.ability(np.array(level, float), np.array([score for _, score, _ in rows]))


def _figure(read: Callable[[Ability], float | None]) -> Metric:
    """Make a metric that reads one figure of the ability; NaN if there is none."""

    def figure(scores: list[SampleScore]) -> float:
        found = _found(scores)
        value = None if found is None else read(found)
        return math.nan if value is None else float(value)

    return figure


@metric
def ability() -> Metric:
    """Compute the ability, in units of complexity."""
    return _figure(lambda found: found.value)


@metric
def low() -> Metric:
    """Compute the lower end of the interval of the ability, valid at any stopping time."""
    return _figure(lambda found: found.anytime[0])


@metric
def high() -> Metric:
    """Compute the upper end of the interval of the ability, valid at any stopping time."""
    return _figure(lambda found: found.anytime[1])


@metric
def items() -> Metric:
    """Count the exercises that were asked."""
    return _figure(lambda found: found.items)


@metric
def ordinary_items() -> Metric:
    """Count the exercises after which an ordinary interval was as narrow; NaN for never."""
    return _figure(lambda found: found.ordinary_items)


@scorer(
    name=SCORER,
    metrics=[
        {
            "score": [ability(), low(), high(), items(), ordinary_items()],
            "hit": [share()],
            **COUNTS,
        }
    ],
)
def ability_record() -> Any:
    """Report each exercise as `record` does; the metrics of the score are the ability's."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        found = await score_of(state)
        if isinstance(found.value, dict):
            found.value["hit"] = found.value["score"]
        return found

    return score
