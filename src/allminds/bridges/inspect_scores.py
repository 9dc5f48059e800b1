"""The scores of exercises in Inspect, whatever solver played them.

A failed sample (refused, malformed, out of time or tokens, not played to its end) counts, with the
score that the instrument gives a failure, as in `allminds evaluate`. A sample that the provider
interrupted is not scored: it is missing, and `inspect eval-retry` asks it again. The figures come
from `inference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from inspect_ai.event import SampleLimitEvent, SpanBeginEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import (
    SampleScore,
    Score,
    Target,
    metric,
    scorer,
)
from inspect_ai.scorer import mean as share
from inspect_ai.solver import TaskState

from allminds import registry
from allminds.bridges.inspect_match import MATCHES
from allminds.contracts import FAILURES, STATUSES
from allminds.core.spending import COUNTED
from allminds.inference import Estimate, Plays, estimate
from allminds.inference.estimates import play_scores

LIMITS = (
    "time",
    "working",
    "token",
    "message",
    "turn",
    "cost",
)  # of Inspect's: the mind used it up
KEPT = "allminds"  # the record, in the sample's store
OURS = ("seated", "play")  # solvers that are no agent


Metric = Callable[[list[SampleScore]], float]


@metric
def total() -> Metric:
    """Count the samples with this status."""

    def count(scores: list[SampleScore]) -> float:
        return math.fsum(score.score.as_float() for score in scores)

    return count


def _estimated(scores: list[SampleScore]) -> Estimate:
    """Estimate the score that `allminds evaluate` prints; repeats are averaged already."""
    about = [dict(score.sample_metadata or {}) for score in scores]
    rule = registry.make_instrument(about[0]["instrument"], about[0]["settings"]).rule()
    values = np.array([score.score.as_float() for score in scores])
    item = np.array([one.get("item", one["index"]) for one in about], np.int64)
    plays = Plays(
        item=item,
        cluster=np.array([one.get("cluster", i) for one, i in zip(about, item, strict=True)]),
        stratum=np.array([one["complexity"][rule.strata] if rule.strata else 0.0 for one in about]),
        score=values,
        failed=np.zeros(len(values), bool),  # their scores count; how many, `coverage` says
        learning=np.full(len(values), np.nan),
    )
    return estimate(plays, rule)


def _figure(read: Callable[[Estimate], float | None]) -> Metric:
    """Make a metric that reads one figure of the estimate; NaN if there is none."""

    def figure(scores: list[SampleScore]) -> float:
        value = read(_estimated(scores)) if scores else None
        return math.nan if value is None else value

    return figure


@metric
def weighted() -> Metric:
    """Compute r̃: hits weighted by the complexity k of their items, as the C-test scores them."""
    return _figure(lambda found: found.score)


@metric
def mean() -> Metric:
    """Compute the score as `allminds evaluate` does: all levels of complexity weigh the same."""
    return _figure(lambda found: found.score)


@metric
def stderr() -> Metric:
    """Compute the standard error of the score, clustered by groups of similar items."""
    return _figure(lambda found: found.stderr)


@metric
def low() -> Metric:
    """Compute the lower end of the 95 % interval of the score."""
    return _figure(lambda found: None if found.ci95 is None else found.ci95[0])


@metric
def high() -> Metric:
    """Compute the upper end of the 95 % interval of the score."""
    return _figure(lambda found: None if found.ci95 is None else found.ci95[1])


COUNTS: dict[str, list[Any]] = {
    "coverage": [share()],
    "strict": [share()],  # of all replies, those with an answer written as it was asked for
    "lenient": [share()],  # those in which an answer was found at all
    "defaults": [total()],  # steps at which a default action stood for the model's own
    **{status: [total()] for status in FAILURES},
}


@scorer(metrics=[{"score*": [mean(), stderr(), low(), high()], **COUNTS}])
def record() -> Any:
    """Report the score, those of the other slots, whether it was finished, and any failure."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        return await score_of(state)

    return score


@scorer(metrics=[{"score": [weighted(), stderr(), low(), high()], "hit": [share()], **COUNTS}])
def weighted_record() -> Any:
    """Report the same as `record`, with hits weighted by complexity, and their plain share."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        found = await score_of(state)
        if isinstance(found.value, dict):
            found.value["hit"] = found.value["score"]
        return found

    return score


async def _record(state: TaskState) -> dict[str, Any] | str:
    """Return the record of a sample in the form of the log, or why there is none."""
    match = MATCHES.get(state.uuid)
    if match is None:  # a log that is scored again
        found: dict[str, Any] | None = state.store.get(KEPT)
        return "not played to its end" if found is None else found
    limit = _limit()
    if match.record is None and limit is not None and limit not in LIMITS:
        return "broken off by no fault of its own"
    cut = match.record is None and limit is not None
    await match.close(limit)
    kept = match.kept("" if match.plain else _solver())
    kept |= {"reason": f"Inspect's limit on {limit}"} if cut else {}
    state.store.set(KEPT, kept)
    return kept


async def score_of(state: TaskState) -> Score:
    """Score what the solver left of a sample; what is unfinished has failed."""
    found = await _record(state)
    if isinstance(found, str):
        return Score.unscored(reason=found)
    about = state.metadata
    rule = registry.make_instrument(about["instrument"], about["settings"]).rule()
    scores = [math.nan if score is None else score for score in found["score"]]
    status = [STATUSES.index(one) for one in found["status"]]
    scored = list(rule.scored)
    one, failed = play_scores(
        np.array([scores])[:, scored], np.array([status], np.int8)[:, scored]
    )  # of all slots that count, as in the table of a run
    values = {"score": float(one[0])} | {
        f"score_{slot}": score for slot, score in enumerate(scores) if slot
    }
    coverage = math.nan if math.isnan(one[0]) else float(not failed[0])
    counts = {word: float(word in found["status"]) for word in FAILURES}
    rates = _rates([one for one in found["counts"] if one is not None])
    return Score(
        value=values | {"coverage": coverage} | rates | counts,
        answer=state.output.completion[-200:] if state.output.choices else None,
        explanation=found["reason"] or None,
        metadata=found,
    )


def _rates(counts: list[dict[str, int]]) -> dict[str, float]:
    """Compute the shares of replies that were read, and count the default actions."""
    read, strictly, unread, defaults = (sum(one[name] for one in counts) for name in COUNTED)
    replies = max(read + unread, 1)
    return {"strict": strictly / replies, "lenient": read / replies, "defaults": float(defaults)}


def _solver() -> str:
    """Return the name of the solver or agent that played this sample."""
    spans = [one for one in transcript().events if isinstance(one, SpanBeginEvent)]
    names = [one.name for one in spans if one.type in ("solver", "agent") and one.name not in OURS]
    return names[0].rpartition("/")[2] if names else "solver"


def _limit() -> str | None:
    """Return the limit of Inspect that ended this sample early, or None."""
    told = [event.type for event in transcript().events if isinstance(event, SampleLimitEvent)]
    return str(told[-1]) if told else None
