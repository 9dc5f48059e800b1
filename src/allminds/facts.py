"""The facts of an instrument, read off its contract and off some exercises played by lot.

An instrument in a file of the user's needs no line of its own for it; what only its author can
say, such as the meaning of a field, is in its `Presentation`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from allminds import registry
from allminds.contracts import MOST_LISTED, Discrete, Instrument, Record, Task, legal
from allminds.core.seeding import Random
from allminds.core.settings import described, plain
from allminds.core.text import (
    classes_of,
    field_names,
    first_words,
    instance_of,
    sample_of,
    type_of,
)
from allminds.core.user_code import USERS
from allminds.episode import Episode
from allminds.presentation import Presentation

PLAYED = 3  # exercises that are played by lot, to see what is seen
SEED = 1
FEWEST = 20  # exercises that the smallest mind is given
MOST_TOGETHER = 100  # exercises of one test that are counted
OURS = "allminds.instruments."


def facts_of(tool: Instrument, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Collect, as plain values, what a mind meets in an instrument.

    `name` and `settings` are those by which the user asked for it.
    """
    played = ByLot(tool)
    given = {name: getattr(tool.settings, name) for name in settings}
    return {
        "instrument": tool.name,
        "version": tool.version,
        "settings_given": plain(given),
        "what": registry.first_line(tool),
        "about": _about(tool),
        "rules": _rules(tool, played),
        "players": _players(tool, played),
        "observation": _observation(tool, played),
        "actions": _actions(tool, played),
        "rewards": _rewards(tool, played),
        "facts": _facts(tool, played),
        "task": _task(played),
        "steps": sorted({one.environment.steps for one in played.exercises}),
        "ends_early": played.ends_early,
        "score": _score(tool, played),
        "complexity": _complexity(tool, played),
        "settings": described(tool.Settings),
        "minds": _minds(tool),
        "exercise": _drawn(tool, played),
        "mind": _smallest(tool, played, name, plain(given)),
    }


# ---------------------------------------------------------------- exercises played by lot


class ByLot:
    """The first exercises of an instrument, played by lot, and the moment with most to see."""

    def __init__(self, tool: Instrument) -> None:
        self.seen: list[Any] = []
        self.turns: list[tuple[int, ...]] = []
        self.rewards: list[tuple[float, ...]] = []
        self.last: list[tuple[float, ...]] = []  # the rewards of last steps
        self.limited = False  # some actions are not legal at times
        self.exercises = []
        self.ends_early = False  # before the last of its steps
        self.by_lot = True
        richest, history = -1, list[Record]()
        for i in range(min(PLAYED, tool.sitting) if tool.adaptive else PLAYED):
            episode = Episode(tool.exercise(SEED, i, history if tool.adaptive else ()))
            self.exercises.append(episode.exercise)
            for moment in self._moments(episode):
                rich = 2 * len(set(_atoms(moment[2]))) + (episode.step > 0)
                if rich > richest:
                    richest, self.episode = rich, episode
                    self.index, (self.state, self.slot, self.sample) = i, moment
                    self.step = episode.step
            self.rewards += episode.rewards
            self.last += episode.rewards[-1:]
            self.ends_early |= self.by_lot and episode.step < episode.environment.steps
            if episode.record is None:
                break
            history.append(episode.record)
        self.task: Task = self.episode.task(self.slot)

    def _moments(self, episode: Episode) -> Iterator[tuple[Any, int, Any]]:
        """Play an exercise by lot; yield the state and what the first awaited slot sees."""
        spaces = episode.environment.actions
        while episode.waiting:
            self.turns.append(tuple(episode.waiting))
            self.seen += episode.waiting.values()
            slot = min(episode.waiting)
            yield episode.state, slot, episode.waiting[slot]
            if not all(isinstance(spaces[slot], Discrete) for slot in episode.waiting):
                self.by_lot = False
                return
            actions = {}
            for slot, seen in episode.waiting.items():
                space = spaces[slot]
                assert isinstance(space, Discrete)
                choices = space.allowed(seen)
                self.limited |= legal(seen) is not None and len(choices) < space.n
                lot = Random(SEED, episode.step).part(slot)
                actions[slot] = choices[lot.below(len(choices))]
            episode.play(actions)


def _atoms(value: Any) -> Iterator[str]:
    """Yield the single values in an observation, as text."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        yield from value if isinstance(value, str) else [repr(value)]
    else:
        for one in value:
            yield from _atoms(one)


# ---------------------------------------------------------------- what is read off the contract


def _about(tool: Instrument) -> list[str]:
    """Return the paragraphs of the docstring that no other section repeats."""
    text = inspect.cleandoc(tool.__doc__ or "").partition("Version history")[0]
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    said = [part for part in parts if not part.lower().startswith("**actions**")]
    return [part.replace("**", "").replace("`", "") for part in said if part]


def _rules(tool: Instrument, played: ByLot) -> list[dict[str, Any]]:
    """Return the rules in words, once for all slots that are told the same."""
    found: list[dict[str, Any]] = []
    for slot in range(tool.slots):
        rules = tool.presentation.rules(played.episode.task(slot))
        same = next((one for one in found if one["text"] == rules.text), None)
        if same:
            same["slots"].append(slot)
        else:
            found.append({"slots": [slot], "text": rules.text, "answer": rules.answer})
    return found


def _players(tool: Instrument, played: ByLot) -> dict[str, Any]:
    everybody = tuple(range(tool.slots))
    together = all(turn == everybody for turn in played.turns)
    return {
        "slots": tool.slots,
        "teams": [list(team) for team in played.episode.environment.teams],
        "turns": "at once" if together else "by turns",
        "order": [list(turn) for turn in played.turns[:4]],
        "unseen": tool.presentation.unseen,
        "opponents": tool.scored == "first" and tool.slots > 1,
        "line_up": _line_up(played.episode.environment.teams, tool.slots),
    }


def _line_up(teams: Sequence[Sequence[int]], slots: int) -> list[str]:
    """Write an example of a line-up: a mind in the first team, or the first slot, and others."""
    first = len(teams[0]) if len(teams) > 1 else 1
    return [
        f"{who}*{count}" if count > 1 else who
        for who, count in (("mine.py:Mine", first), ("random", slots - first))
        if count
    ]


def _observation(tool: Instrument, played: ByLot) -> dict[str, Any]:
    """Describe the class of what is seen, its fields, and the classes that these are made of."""
    kind, *inner = classes_of(type(played.sample)) or [type(played.sample)]
    made_of = [
        _class(tool, one, instance_of(played.seen, one), f"{one.__name__}.") for one in inner
    ]
    return _class(tool, kind, played.sample, "") | {"made_of": made_of}


def _class(tool: Instrument, kind: type, sample: Any, prefix: str) -> dict[str, Any]:
    """Describe a class of values that a mind is shown, by a sample of it if there is one."""
    meanings, names = tool.presentation.meanings, field_names(kind)
    asked = {
        name: one
        for name, one in inspect.getmembers_static(kind, lambda one: isinstance(one, property))
        if names and not name.startswith("_")
    }
    types = {name: type_of(kind, name) for name in names}
    types |= {name: type_of(one.fget, "return") for name, one in asked.items()}
    fields = [
        {
            "name": name,
            "type": type_,
            "meaning": meanings.get(prefix + name) or first_words(asked.get(name)),
            "sample": "" if sample is None else sample_of(getattr(sample, name)),
        }
        for name, type_ in types.items()
    ] or [
        {
            "name": "observation",
            "type": kind.__name__,
            "meaning": meanings.get("observation", ""),
            "sample": sample_of(sample),
        }
    ]
    return {
        "class": kind.__name__,
        "import": _import(kind),
        "meaning": first_words(kind) if names else "",
        "fields": fields,
    }


def _import(kind: type) -> str:
    """Return the line that imports a class; "" if it has none, as in an interactive session."""
    module = kind.__module__
    if module in ("builtins", "__main__"):
        return ""
    if module.startswith(OURS):  # the folder of an instrument has its observations
        module = ".".join(module.split(".")[:3])
    elif module.startswith(USERS):
        module = Path(str(sys.modules[module].__file__)).stem
    return f"from {module} import {kind.__name__}"


def _actions(tool: Instrument, played: ByLot) -> dict[str, Any]:
    spaces = [space for one in played.exercises for space in one.environment.actions]
    space = played.task.actions
    discrete = isinstance(space, Discrete)
    found: dict[str, Any] = {
        "kind": "discrete" if discrete else type(space).__name__,
        "differ": len({str(one) for one in spaces}) > 1,
        "by_slot": any(len(set(map(str, one.environment.actions))) > 1 for one in played.exercises),
        "most": tool.presentation.most_actions,
        "legal": played.limited,
        "said": tool.presentation.moves,
        "choices": [],
        "listed": "",
    }
    if isinstance(space, Discrete):
        labels = space.labels or ("",) * space.n
        numbers = space.allowed(None)  # of all, those that the slot has
        found["listed"] = space.listed(numbers if space.n <= MOST_LISTED else None)
        found["choices"] = [{"number": n, "label": labels[n - space.start]} for n in numbers]
    return found


def _rewards(tool: Instrument, played: ByLot) -> dict[str, Any]:
    paid = [reward for step in played.rewards for reward in step]
    late = [reward for step in played.last for reward in step]
    nonzero = sum(reward != 0 for reward in paid)
    return {
        "said": tool.presentation.pay,
        "lowest": min(paid, default=None),
        "highest": max(paid, default=None),
        "payments": len(paid),
        "nonzero": nonzero,
        "once": all(one.environment.steps == 1 for one in played.exercises),
        "only_at_the_end": len(played.last) < len(played.rewards)
        and nonzero == sum(reward != 0 for reward in late),
    }


TOLD = {
    "slot": "its own slot, from 0",
    "slots": "how many slots there are",
    "team": "the slots of its team, its own included",
    "actions": "numbers from `.start`, `.n` of them, of which `.allowed(observation)` are legal; "
    "`.labels` if they have names",
    "steps": "the largest number of steps",
}


def _task(played: ByLot) -> list[dict[str, str]]:
    """Describe what every mind is told before an exercise, whatever the instrument."""
    types = {name: type_of(Task, name) for name in TOLD}
    types["actions"] = type(played.task.actions).__name__
    return [
        {"name": name, "type": types[name], "meaning": meaning,
         "sample": sample_of(getattr(played.task, name))}
        for name, meaning in TOLD.items()
    ]  # fmt: skip


def _facts(tool: Instrument, played: ByLot) -> list[dict[str, str]]:
    meanings = tool.presentation.facts
    return [
        {
            "name": name,
            "type": type(value).__name__,
            "meaning": meanings.get(name, ""),
            "sample": sample_of(value),
        }
        for name, value in played.task.facts.items()
    ]


def _score(tool: Instrument, played: ByLot) -> dict[str, Any]:
    rule, fair = tool.rule(), tool.fair_ceiling()
    return {
        "of_a_play": played.episode.environment.score,
        "slots": list(tool.scored_slots),
        "strata": rule.strata,
        "weighted": rule.weighted,
        "administration": tool.sitting if rule.figure else None,
        "lowest": tool.lowest,
        "highest": tool.highest,
        "chance": float(tool.chance),
        "ceiling": float(tool.ceiling),
        "reached": tool.ceiling_reached,
        "floor_mind": tool.floor_mind,
        "ceiling_mind": tool.ceiling_mind,
        "together": _together(tool),
        "fair_ceiling": fair.score,
        "fair_ceiling_reason": fair.reason,
        "caution": tool.caution,
    }


def _together(tool: Instrument) -> int:
    """Count the first exercises whose errors are alike, as those of one test are."""
    if tool.adaptive:
        return 1
    first, count = tool.exercise(SEED, 0).cluster, 1
    while first is not None and count < MOST_TOGETHER and count < (tool.length or MOST_TOGETHER):
        if tool.exercise(SEED, count).cluster != first:
            break
        count += 1
    return count


def _complexity(tool: Instrument, played: ByLot) -> list[dict[str, str]]:
    known = tool.presentation.columns
    return [
        {
            "name": name,
            "meaning": known[name].meaning if name in known else "",
            "values": known[name].values if name in known else "a number",
            "sample": f"{value:.4g}" if abs(value) < 1e6 else f"{value:.0f}",
        }
        for name, value in played.episode.environment.complexity.items()
    ]


def _minds(tool: Instrument) -> dict[str, Any]:
    found = {
        kind: [{"name": name, "what": registry.first_line(maker)} for name, maker in minds.items()]
        for kind, minds in registry.minds_by_kind(tool.name).items()
    }
    return {"floor": tool.floor_mind, "ceiling": tool.ceiling_mind, **found}


def _drawn(tool: Instrument, played: ByLot) -> dict[str, Any]:
    shown, environment = tool.presentation, played.episode.environment
    drawn = type(shown).picture is not Presentation.picture  # else it is the text once more
    return {
        "seed": SEED,
        "index": played.index,
        "step": played.step,
        "slot": played.slot,
        "words": shown.words(played.sample),
        "text": shown.text(environment, played.state),
        "picture": shown.picture(environment, played.state) if drawn else "",
    }


# ---------------------------------------------------------------- the smallest mind


def _smallest(tool: Instrument, played: ByLot, name: str, settings: Mapping[str, Any]) -> str:
    """Write a whole program: a mind that plays without a failed exercise, and its evaluation."""
    if not played.by_lot:
        return ""
    kind = type(played.sample).__name__
    line = _import(type(played.sample))
    space, given = played.task.actions, tool.presentation.example
    assert isinstance(space, Discrete)
    if not given and played.limited:
        given = "random.choice(observation.legal)"
    elif not (given or _actions(tool, played)["differ"] or len(space.allowed(None)) < space.n):
        given = f"{f'{space.start} + ' if space.start else ''}random.below({space.n})"
    options = f", settings={settings!r}" if settings else ""
    options += ', against="random"' if tool.scored == "first" and tool.slots > 1 else ""
    together = tool.sitting * _together(tool)
    episodes = max(-(-FEWEST // together) * together, tool.length or 2 * tool.sitting)
    if given:
        names, mind = "Random, evaluate", "mine"
        body = [f"def mine(observation: {kind}, random: Random) -> int:", f"    return {given}"]
    else:
        names, mind = "Discrete, MindBase, Random, Task, evaluate", "Mine"
        body = [
            "class Mine(MindBase):",
            "    def begin(self, task: Task) -> None:",
            "        assert isinstance(task.actions, Discrete)",
            "        self.actions = task.actions  # they differ from slot to slot, or exercise",
            "",
            f"    def act(self, observation: {kind}, random: Random) -> int:",
            "        return random.choice(self.actions.allowed(observation))",
        ]
    head = [f"from allminds import {names}", *([line] if line else [])]
    call = f'print(evaluate("{name}", [{mind}]{options}, episodes={episodes}))'
    return "\n".join([*head, "", "", *body, "", "", call])
