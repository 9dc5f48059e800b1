"""Exercises in Inspect: a sample for each, and the minds that a model plays with.

How a sample is played is in `inspect_match`, and how it is scored in `inspect_scores`.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from inspect_ai.dataset import Sample

from allminds import registry
from allminds.bridges.conversation import Conversation
from allminds.bridges.manner import Manner, form_of
from allminds.bridges.messages import messages
from allminds.contracts import Exercise, Instrument
from allminds.core.errors import Error
from allminds.core.line_up import Name, Seat, Subject, parse_all
from allminds.core.table import units_of
from allminds.episode import Episode

MODEL = Name("model")  # in `against`: a slot that is the model's too


# ---------------------------------------------------------------- samples


def samples(tool: Instrument, n: int, seed: int, manner: Manner, against: str = "") -> list[Sample]:
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
    return [sample_of(tool, tool.exercise(seed, i), manner, against) for i in range(n)]


def sample_of(
    tool: Instrument, exercise: Exercise, manner: Manner, against: str = "", **more: Any
) -> Sample:
    """Make the sample of an exercise; `more` is added to what its metadata have."""
    episode = Episode(exercise)
    about = {
        "exercise": exercise.id, "instrument": tool.name, "version": tool.version,
        "settings": tool.settings.model_dump(mode="json", exclude_defaults=True),
        "seed": exercise.seed, "index": exercise.index, "items": tool.items,
        "form": form_of(tool, manner.form), "against": against, "manner": asdict(manner),
        "complexity": dict(exercise.environment.complexity), **units_of(exercise), **more,
    }  # fmt: skip
    first = min(episode.waiting)
    talk = Conversation(tool, manner)
    talk.begin(episode.task(first))
    talk.see(episode.waiting[first])
    asked = messages(talk.question())
    return Sample(input=asked, target=_target(episode), id=exercise.index, metadata=about)


def _target(episode: Episode) -> str:
    """Return the right answer to a question, for readers of the log; "" for longer exercises."""
    environment = episode.environment
    if environment.steps > 1:
        return ""
    secret = environment.secret(episode.state, 0, episode.random)
    labels = getattr(environment.actions[0], "labels", ())
    plain = labels[secret] if isinstance(secret, int) and labels else str(secret or "")
    skin = episode.exercise.tool.skin
    return plain if skin is None else skin.target(plain)


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
