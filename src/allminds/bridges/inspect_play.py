"""How Inspect gives an exercise: samples, the solver that drives an `Episode`, and the scores.

One sample is one exercise. The solver plays it step by step with the model in its slots and, if
wanted, a mind of ours in the others; what came of it is the episode's own record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import (
    SampleScore,
    Score,
    Target,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, TaskState, solver

from allminds import registry
from allminds.bridges import items_of
from allminds.bridges.inspect_words import Conversation, form_of, mind_name
from allminds.bridges.llm import message
from allminds.contracts import Failure, Instrument, Record, Seat, Subject
from allminds.episode import Episode, Player
from allminds.errors import Error
from allminds.names import Name, parse_all
from allminds.watch import Watch

FAILURES = ("refused", "malformed", "timeout", "error")  # a number of its own for each
MODEL = Name("model")  # in `against`: a slot that is the model's too
KEPT = "allminds"  # what the solver leaves in the sample's store for the scorer


# ---------------------------------------------------------------- samples


def samples(tool: Instrument, n: int, seed: int, form: str = "", against: str = "") -> list[Sample]:
    """Exercises 0..n-1 of a seed."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or value < least:
            raise Error(f"{name} must be a whole number, {least} or more, not {value!r}")
    if tool.adaptive:
        raise Error(
            f"{tool.name} chooses an exercise by what came of those before it, and Inspect asks "
            f"them all at once; give it by: allminds evaluate {tool.name} --mind 'llm(MODEL)'"
        )
    settings = tool.settings.model_dump(mode="json", exclude_defaults=True)
    seats(tool, against)  # a mind that will not do is found here
    made = []
    for i in range(n):
        exercise = tool.exercise(seed, i)
        episode = Episode(exercise)
        about = {
            "exercise": exercise.id, "instrument": tool.name, "version": tool.version,
            "settings": settings, "seed": seed, "index": i, "items": items_of(tool),
            "form": form_of(tool, form), "against": against,
            "complexity": dict(exercise.environment.complexity),
        }  # fmt: skip
        first = min(episode.waiting)
        talk = Conversation(tool, form)
        talk.begin(episode.task(first))
        asked = [message(talk.ask(episode.waiting[first]))]
        made.append(Sample(input=asked, target=_target(episode), id=i, metadata=about))
    return made


def _target(episode: Episode) -> str:
    """The right answer to a question, for whoever reads the log."""
    environment = episode.environment
    if environment.steps > 1:
        return ""
    secret = environment.secret(episode.state, 0, episode.random)
    labels = getattr(environment.actions[0], "labels", ())
    return labels[secret] if isinstance(secret, int) and labels else str(secret or "")


def seats(tool: Instrument, against: str) -> dict[int, Seat]:
    """Who of our minds sits where: one in all slots but the first, or one for each of these.

    Slots that `against` calls `model` are the model's own.
    """
    if not against:
        return {}
    if tool.slots < 2:
        raise Error(f"{tool.name} has one slot, so there is nobody to play against")
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
    """A language model in one slot: its own conversation, and its share of the transcript."""

    def __init__(self, model: Model, talk: Conversation, state: TaskState, shown: bool) -> None:
        self.model, self.talk, self.state = model, talk, state
        self.messages: list[Any] = state.messages if shown else []
        self.asked = shown  # the sample's input is the first question to the one shown

    async def act(self, observation: Any) -> Any | Failure:
        """Ask, and read the reply."""
        turn = self.talk.ask(observation)
        if not self.asked:
            self.messages.append(message(turn))
        self.asked = False
        output = await self.model.generate(self.messages)
        self.messages.append(output.message)
        self.state.output = output
        return self.talk.meant(output.completion, observation, str(output.stop_reason))


@solver
def play() -> Any:
    """Play the sample's exercise to its end.

    Every slot that no mind of ours has is a model: the one of the role ``slot_0``, ``slot_1``, …
    if there is one, else the evaluated model.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - models of roles
        about = state.metadata
        tool = registry.make_instrument(about["instrument"], about["settings"])
        exercise = tool.exercise(about["seed"], about["index"])
        episode = Episode(exercise)
        sitting = seats(tool, about["against"])
        ours = {slot: Player(seat, exercise, Watch()) for slot, seat in sitting.items()}
        for player in ours.values():
            player.begin(episode, rehearsal=False)
        models = _speakers(tool, episode, state, ours)
        await _played(episode, models, ours)
        assert episode.record is not None
        names = [
            mind_name(str(models[slot].model), tool, about["form"])
            if slot in models
            else sitting[slot].subject.name
            for slot in range(tool.slots)
        ]
        state.store.set(KEPT, kept(episode.record, names, exercise.environment.teams))
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
    episode: Episode, models: Mapping[int, Speaker], ours: Mapping[int, Player]
) -> None:
    while episode.record is None:
        actions: dict[int, Any] = {}
        for slot, observation in episode.waiting.items():
            if slot in models:
                actions[slot] = await models[slot].act(observation)
            else:
                actions |= ours[slot].act(episode.waiting, episode.step)
        before = len(episode.rewards)
        episode.play(actions)
        if len(episode.rewards) > before:
            for slot, model in models.items():
                model.talk.told(episode.rewards[-1][slot])
            for player in ours.values():
                player.learn(episode)


def kept(record: Record, minds: Sequence[str], teams: Sequence[Sequence[int]]) -> dict[str, Any]:
    """A record as the log keeps it, slot by slot."""
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


@metric
def total() -> Callable[[list[SampleScore]], float]:
    """How many there are."""

    def count(scores: list[SampleScore]) -> float:
        return math.fsum(score.score.as_float() for score in scores)

    return count


@metric
def weighted() -> Callable[[list[SampleScore]], float]:
    """r̃: hits weighed by the complexity k of their item, as the C-test scores them."""

    def mean_by_k(scores: list[SampleScore]) -> float:
        pairs = [
            (float((score.sample_metadata or {})["complexity"]["k"]), score.score.as_float())
            for score in scores
        ]
        weight = math.fsum(k for k, _ in pairs)
        return math.fsum(k * hit for k, hit in pairs) / weight if weight else math.nan

    return mean_by_k


_COUNTS = {status: [total()] for status in FAILURES}


@scorer(metrics=[{"score*": [mean(), stderr()], **_COUNTS}])
def record() -> Any:
    """The score of slot 0 (and of the others), and whether the exercise failed, and how."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        return _score_of(state)

    return score


@scorer(metrics=[{"score*": [weighted(), mean(), stderr()], **_COUNTS}])
def weighted_record() -> Any:
    """As `record`, with hits weighed by complexity."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the record has it
        return _score_of(state)

    return score


def _score_of(state: TaskState) -> Score:
    found = state.store.get(KEPT)
    if found is None:
        return Score.unscored(reason="not played to its end")
    names = ["score", *(f"score_{slot}" for slot in range(1, len(found["score"])))]
    values = {
        name: math.nan if score is None else score
        for name, score in zip(names, found["score"], strict=True)
    }
    counts = {status: float(status in found["status"]) for status in FAILURES}
    return Score(
        value=values | counts,
        answer=state.output.completion[-200:] if state.output.choices else None,
        explanation=found["reason"] or None,
        metadata=found,
    )
