"""Exercises in Inspect: the samples, the solver that plays an `Episode`, and the scores.

One sample is one exercise. The solver plays it step by step, with the model in its slots and, if
wanted, minds of allminds in the others; the result is the episode's own record.

A failed sample (refused, malformed, out of time or tokens) counts, with the score that the
instrument gives a failure, as in `allminds evaluate`. A sample that the provider interrupted is not
scored: it is missing, and `inspect eval-retry` asks it again. The figures come from `inference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from inspect_ai.dataset import Sample
from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import (
    SampleScore,
    Score,
    Target,
    metric,
    scorer,
)
from inspect_ai.scorer import mean as share
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.util import LimitExceededError

from allminds import registry
from allminds.bridges.llm import Conversation, form_of, message, mind_name
from allminds.bridges.providers import rejected
from allminds.contracts import FAILURES, STATUSES, Exercise, Failure, Instrument, Record
from allminds.core.errors import Error
from allminds.core.line_up import Name, Seat, Subject, parse_all
from allminds.core.table import units_of
from allminds.core.watch import Watch
from allminds.episode import Episode, Player
from allminds.inference import Estimate, Plays, estimate
from allminds.inference.estimates import play_scores
from allminds.until import exercise_of

LIMITS = (
    "time",
    "working",
    "token",
    "message",
    "turn",
    "cost",
)  # of Inspect's: the mind used it up
MODEL = Name("model")  # in `against`: a slot that is the model's too
KEPT = "allminds"  # what the solver leaves in the sample's store for the scorer


# ---------------------------------------------------------------- samples


def samples(tool: Instrument, n: int, seed: int, form: str = "", against: str = "") -> list[Sample]:
    """Make a sample of each of the exercises 0..n-1 of a seed."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or value < least:
            raise Error(f"{name} must be a whole number, {least} or more, not {value!r}")
    if tool.adaptive:
        raise Error(
            f"{tool.name} chooses an exercise by what came of those before it, and Inspect asks "
            f"them all at once; give it by: allminds evaluate {tool.name} --mind 'llm(MODEL)', or "
            "as the task of its name with _adaptive"
        )
    seats(tool, against)  # a mind that will not do is found here
    return [sample_of(tool, tool.exercise(seed, i), form, against) for i in range(n)]


def sample_of(
    tool: Instrument, exercise: Exercise, form: str = "", against: str = "", **more: Any
) -> Sample:
    """Make the sample of an exercise; `more` is added to what its metadata have."""
    episode = Episode(exercise)
    about = {
        "exercise": exercise.id, "instrument": tool.name, "version": tool.version,
        "settings": tool.settings.model_dump(mode="json", exclude_defaults=True),
        "seed": exercise.seed, "index": exercise.index, "items": tool.items,
        "form": form_of(tool, form), "against": against,
        "complexity": dict(exercise.environment.complexity), **units_of(exercise), **more,
    }  # fmt: skip
    first = min(episode.waiting)
    talk = Conversation(tool, form)
    talk.begin(episode.task(first))
    asked = [message(talk.ask(episode.waiting[first]))]
    return Sample(input=asked, target=_target(episode), id=exercise.index, metadata=about)


def _target(episode: Episode) -> str:
    """Return the right answer to a question, for readers of the log; "" for longer exercises."""
    environment = episode.environment
    if environment.steps > 1:
        return ""
    secret = environment.secret(episode.state, 0, episode.random)
    labels = getattr(environment.actions[0], "labels", ())
    return labels[secret] if isinstance(secret, int) and labels else str(secret or "")


def seats(tool: Instrument, against: str) -> dict[int, Seat]:
    """Seat the minds named in `against`: one in all slots but the first, or one for each of these.

    Slots that `against` calls `model` are left to the model.
    """
    if not against:
        return {}
    if tool.slots < 2:
        raise Error(f"{tool.name} has one slot, so there is no opponent")
    named = [replace(name, times=1) for name in parse_all(against) for _ in range(name.times)]
    others = tool.slots - 1
    if len(named) not in (1, others):
        raise Error(
            f"{tool.name} has {others} slots beside the first; against names {len(named)} minds "
            f"for them, and should name 1 or {others}"
        )
    sitting = named * others if len(named) == 1 else named
    return {
        slot: Seat(_opponent(str(name), tool), (slot,))
        for slot, name in enumerate(sitting, 1)
        if name != MODEL
    }


def _opponent(name: str, tool: Instrument) -> Subject:
    who = registry.subject(name, tool)
    if who.group or who.traits.practice:
        raise Error(f"{name} cannot be played against here: it is a group, or rehearses")
    return who


# ---------------------------------------------------------------- the solver


class Speaker:
    """A language model in one slot: its own conversation, and its part of the transcript."""

    def __init__(self, model: Model, talk: Conversation, state: TaskState, shown: bool) -> None:
        self.model, self.talk, self.state = model, talk, state
        self.messages: list[Any] = state.messages if shown else []
        self.asked = shown  # the sample's input is the first question to the one shown

    async def act(self, observation: Any) -> Any | Failure:
        """Ask the model for an action, and read its reply."""
        turn = self.talk.ask(observation)
        if not self.asked:
            self.messages.append(message(turn))
        self.asked = False
        try:
            output = await self.model.generate(self.messages)
        except LimitExceededError:
            raise
        except Exception as error:  # every provider has its own
            found = rejected(error)
            if found is None:
                raise  # the provider's fault: Inspect retries it, or marks the sample as broken
            return found
        self.messages.append(output.message)
        self.state.output = output
        return self.talk.meant(output.completion, observation, str(output.stop_reason))


@solver
def play() -> Any:
    """Play the sample's exercise to its end.

    Every slot without a mind of `against` has a model: that of the role ``slot_0``, ``slot_1``, …
    if there is one, else the evaluated model.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - models of roles
        about = state.metadata
        tool = registry.make_instrument(about["instrument"], about["settings"])
        exercise = exercise_of(tool, about)
        episode = Episode(exercise)
        sitting = seats(tool, about["against"])
        ours = {slot: Player(seat, exercise, Watch()) for slot, seat in sitting.items()}
        for player in ours.values():
            player.begin(episode, rehearsal=False)
        models = _speakers(tool, episode, state, ours)
        names = [
            mind_name(str(models[slot].model), tool, about["form"])
            if slot in models
            else sitting[slot].subject.name
            for slot in range(tool.slots)
        ]
        asked: list[int] = []  # the slot that is being asked, for whoever breaks this off
        try:
            await _played(episode, models, ours, asked)
        finally:
            cut = episode.record is None
            if cut:
                episode.fail({slot: Failure("timeout", "broken off") for slot in asked})
            assert episode.record is not None
            found = kept(episode.record, names, exercise.environment.teams)
            replies = [one for model in models.values() for one in model.talk.readings]
            rates = {
                "lenient": sum(one.read for one in replies) / max(len(replies), 1),
                "strict": sum(one.read and one.strict for one in replies) / max(len(replies), 1),
            }
            state.store.set(KEPT, found | {"cut": cut} | rates)
        state.completed = True
        return state

    return solve


def _speakers(
    tool: Instrument, episode: Episode, state: TaskState, ours: Mapping[int, Any]
) -> dict[int, Speaker]:
    first = min(episode.waiting)
    made = {}
    for slot in range(tool.slots):
        if slot in ours:
            continue
        talk = Conversation(tool, state.metadata["form"])
        talk.begin(episode.task(slot))
        model = get_model(role=f"slot_{slot}", default=get_model())
        made[slot] = Speaker(model, talk, state, shown=slot == first)
    return made


async def _played(
    episode: Episode, models: Mapping[int, Speaker], ours: Mapping[int, Player], asked: list[int]
) -> None:
    while episode.record is None:
        actions: dict[int, Any] = {}
        for slot, observation in episode.waiting.items():
            if slot in models:
                asked[:] = [slot]
                actions[slot] = await models[slot].act(observation)
            else:
                actions |= ours[slot].act(episode.waiting, episode.step)
        if episode.play(actions):
            for slot, model in models.items():
                model.talk.told(episode.rewards[-1][slot])
            for player in ours.values():
                player.learn(episode)


def kept(record: Record, minds: Sequence[str], teams: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Convert a record to the form that the log stores, slot by slot."""
    return {
        "minds": list(minds),
        "team": [next(n for n, t in enumerate(teams) if s in t) for s in range(len(minds))],
        "score": list(record.score),
        "learning": list(record.learning),
        "status": list(record.status),
        "reason": record.reason,
        "steps": record.steps,
        "actions": [{str(slot): action for slot, action in at.items()} for at in record.actions],
    }


# ---------------------------------------------------------------- the scores


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
    **{status: [total()] for status in FAILURES},
}


@scorer(metrics=[{"score*": [mean(), stderr(), low(), high()], **COUNTS}])
def record() -> Any:
    """Report the score, those of the other slots, whether it was finished, and any failure."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        return score_of(state)

    return score


@scorer(metrics=[{"score": [weighted(), stderr(), low(), high()], "hit": [share()], **COUNTS}])
def weighted_record() -> Any:
    """Report the same as `record`, with hits weighted by complexity, and their plain share."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        found = score_of(state)
        if isinstance(found.value, dict):
            found.value["hit"] = found.value["score"]
        return found

    return score


def score_of(state: TaskState) -> Score:
    found = state.store.get(KEPT)
    if found is None:
        return Score.unscored(reason="not played to its end")
    if found["cut"]:
        limit = _limit()
        if limit not in LIMITS:
            return Score.unscored(reason="broken off by no fault of its own")
        found = found | {"reason": f"Inspect's limit on {limit}"}
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
    rates = {name: found[name] for name in ("strict", "lenient")}
    return Score(
        value=values | {"coverage": coverage} | rates | counts,
        answer=state.output.completion[-200:] if state.output.choices else None,
        explanation=found["reason"] or None,
        metadata=found,
    )


def _limit() -> str | None:
    """Return the limit of Inspect that ended this sample early, or None."""
    told = [event.type for event in transcript().events if isinstance(event, SampleLimitEvent)]
    return str(told[-1]) if told else None
