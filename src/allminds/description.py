"""What a mind sees: the facts of an instrument as text, HTML, Markdown and JSON."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.core.frames import reason_of
from allminds.core.settings import settings_text
from allminds.core.writing import Block, Code, Listing, Picture, as_html, as_markdown, as_text
from allminds.facts import facts_of
from allminds.inference.words import number

WIDEST = 100  # columns of a text
NO_LOT = "Its actions are not discrete: no exercise was played, and no mind is written here."


class Description:
    """An instrument described: prints as text, and as HTML in a notebook.

    Parameters
    ----------
    data : dict
        Everything that is said, as plain values.

    Examples
    --------
    >>> import allminds
    >>> found = allminds.describe("matching-pennies")
    >>> found["observation"]["import"]
    'from allminds.instruments.games import Round'
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, as ``allminds show --json`` prints it."""
        return self._data

    def sections(self) -> Iterator[tuple[str, list[Block]]]:
        """Yield the sections in reading order: a title, and what stands below it."""
        return _sections(self._data)

    def __str__(self) -> str:
        return self.as_text(min(WIDEST, shutil.get_terminal_size().columns))

    __repr__ = __str__

    def as_text(self, width: int) -> str:
        """Write it for a terminal of so many columns."""
        parts = [f"{self['instrument']} (version {self['version']})"]
        for title, blocks in self.sections():
            parts.append(f"{title}\n{'-' * len(title)}")
            parts += [as_text(block, width) for block in blocks]
        return "\n\n".join(parts)

    def as_markdown(self) -> str:
        """Write it as a page of the documentation, with the picture inside."""
        parts = [f"# {self['instrument']}"]
        for title, blocks in self.sections():
            parts.append(f"## {title}")
            parts += [as_markdown(block) for block in blocks]
        return "\n\n".join(parts) + "\n"

    def _repr_html_(self) -> str:
        parts = [f"<h2>{html.escape(self['instrument'])}</h2>"]
        for title, blocks in self.sections():
            parts.append(f"<h3>{html.escape(title)}</h3>")
            parts += [as_html(block) for block in blocks]
        return "\n".join(parts)


def describe(
    instrument: str | type[Instrument], settings: Mapping[str, Any] | None = None
) -> Description:
    """Describe what a mind meets in an instrument, and how to write one that plays it.

    Parameters
    ----------
    instrument : str or class
        Its name, ``file.py:Class``, or a subclass of `Instrument`.
    settings : mapping
        Settings other than the defaults.

    Returns
    -------
    Description
        Prints as text, or as HTML in a notebook; `as_json` has the same as plain values.

    Examples
    --------
    >>> import allminds
    >>> found = allminds.describe("lambda-star", settings={"rows": 5})
    >>> [field["name"] for field in found["observation"]["fields"]]
    ['cells', 'rewards', 'cell']
    >>> found["actions"]["choices"][0]
    {'number': 1, 'label': 'up-left'}
    """
    tool = registry.make_instrument(instrument, settings)
    name = instrument if isinstance(instrument, str) else registry.reference(instrument)
    try:
        return Description(facts_of(tool, name, dict(settings or {})))
    except Error:
        raise
    except Exception as error:
        if type(tool).__module__.startswith("allminds."):
            raise
        raise Error(f"{name} cannot be described: {reason_of(error)}") from error


# ---------------------------------------------------------------- sections


def _sections(data: Mapping[str, Any]) -> Iterator[tuple[str, list[Block]]]:
    given = data["settings_given"]
    yield "What it is", [*data["about"], *([f"With {settings_text(given)}."] if given else [])]
    yield "The rules, as players are told them", list(_told(data["rules"]))
    yield "Who plays", _who_plays(data["players"])
    yield "What a mind sees", list(_what_is_seen(data["observation"]))
    yield "What it can do", _what_to_do(data["actions"])
    yield "What it gets", _what_it_gets(data["rewards"])
    yield "When it is called", _calls(data)
    yield "How the score is computed", _how_scored(data["score"], data["players"]["slots"])
    rows = [(one["name"], one["meaning"], one["values"], one["sample"])
            for one in data["complexity"]]  # fmt: skip
    yield (
        "What complexity means",
        [Listing(("column", "meaning", "values", "here"), rows)]
        if rows
        else ["There are no columns."],
    )
    yield "Settings", list(_set(data["settings"]))
    yield "Minds that there are", list(_who_there_is(data["minds"]))
    yield "One exercise", list(_one(data["exercise"]))
    code = data["mind"]
    yield "The smallest mind", [Code(code, "python")] if code else [NO_LOT]


def _told(rules: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Yield the rules that all slots are told, then what only some of them are."""
    parts = [re.split(r"(?<=[.!?]) ", one["text"]) for one in rules]
    alike = (len(set(same)) == 1 for same in zip(*parts, strict=False))
    shared = sum(takewhile(bool, alike))
    yield " ".join(parts[0][:shared])
    for one, part in zip(rules, parts, strict=True):
        if part[shared:]:
            yield f"Slot {_listed(one['slots'])}: {' '.join(part[shared:])}"


def _listed(slots: Sequence[int]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, slots[:-1])), str(slots[-1])]))


def _one(drawn: Mapping[str, Any]) -> Iterator[Block]:
    steps = drawn["step"]
    when = f"after {steps} step{'s' * (steps > 1)} played by lot" if steps else "at the start"
    yield f"Exercise {drawn['index']} of seed {drawn['seed']}, {when}, with all that is in it:"
    yield Picture(drawn["text"], drawn["picture"])
    yield f"What slot {drawn['slot']} sees of it, in words:"
    yield Code(drawn["words"])


def _who_plays(players: Mapping[str, Any]) -> list[Block]:
    count, teams, unseen = players["slots"], players["teams"], players["unseen"]
    if count == 1:
        said = "One mind plays, in slot 0."
    else:
        said = f"{count} minds play, in slots 0 to {count - 1}."
        shared = "; ".join(f"slots {_listed(team)}" for team in teams)
        said += (
            " All are one team, and get the same rewards."
            if len(teams) == 1
            else f" Teams: {shared}. The members of a team get the same rewards."
            if len(teams) < count
            else " Each is for itself."
        )
        order = ", ".join(_listed(turn) for turn in players["order"])
        said += (
            " All act at once: no mind sees what the others do before it has acted."
            if players["turns"] == "at once"
            else f" They act by turns: slot {order}, and so on."
        )
    found = [said, unseen]
    if count > 1:
        found.append(
            "A mind that is given alone fills all slots with copies of itself; names with commas "
            "between them, in Python a list of minds, fill the slots in order."
        )
    return [*filter(None, found)]


def _what_is_seen(seen: Mapping[str, Any]) -> Iterator[Block]:
    head = ("field", "type", "meaning", "sample")

    def rows(fields: Iterable[Mapping[str, str]]) -> list[tuple[str, ...]]:
        return [(one["name"], one["type"], one["meaning"], one["sample"]) for one in fields]

    yield f"`{seen['class']}`: {seen['meaning']}" if seen["meaning"] else f"`{seen['class']}`"
    if seen["import"]:
        yield Code(seen["import"], "python")
    yield Listing(head, rows(seen["fields"]), (0, 1, 3))
    for one in seen["made_of"]:
        yield f"`{one['class']}`: {one['meaning']}"
        yield Listing(head, rows(one["fields"]), (0, 1, 3))


def _what_to_do(actions: Mapping[str, Any]) -> list[Block]:
    more = [actions["said"]] if actions["said"] else []
    if actions["kind"] != "discrete":
        return [f"An action is what `task.actions`, a {actions['kind']}, contains.", *more]
    said = f"An action is an int: {actions['listed']}."
    if actions["differ"]:
        most = f", {actions['most']} at most" if actions["most"] else ""
        said = (
            f"An action is an int. Exercises differ in their actions{most}: `begin` is told them "
            "in `task.actions` (`.start`, `.n`, `.labels`). In the exercise below: "
            f"{actions['listed']}."
        )
    legal = (
        "Not all of them are legal at every step: `observation.legal` has those that are, and "
        "another one is a malformed answer, which fails the exercise."
        if actions["legal"]
        else "All of them are legal at every step."
    )
    return [said, *more, legal]


def _what_it_gets(paid: Mapping[str, Any]) -> list[Block]:
    said = "After every step each slot gets a reward, a number from -1 to 1."
    if paid["lowest"] != paid["highest"]:
        at = " All of these came with the last step." if paid["only_at_the_end"] else ""
        said += (
            f" In the exercises that were played by lot for this page, {paid['payments']} rewards "
            f"lay between {number(paid['lowest'])} and {number(paid['highest'])}; "
            f"{paid['nonzero']} were not 0.{at}"
        )
    return [*([paid["said"]] if paid["said"] else []), said]


def _calls(data: Mapping[str, Any]) -> list[Block]:
    steps, turns = data["steps"], data["players"]["turns"] == "by turns"
    count = str(steps[0]) if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    kind = data["observation"]["class"]
    question = steps == [1]
    acts = "once" if question else "at each of its turns" if turns else f"at each step ({count})"
    learns = (
        "once, after the answer, with `None` and `True`: the next exercise has a new mind"
        if question
        else "after every step, the others' too, with its own reward; after the last one "
        "`observation` is None and `done` True"
        if turns
        else "after every step, with its reward; after the last one `observation` is None and "
        "`done` True"
    )
    rows = [
        ("begin(task)", "before the exercise, and before every rehearsal that the mind asked for"),
        (
            f"act(observation: {kind}, random)",
            f"{acts}; returns an action. `random.below(n)`, `random.unit()` and "
            "`random.choice(sequence)` draw by lot",
        ),
        ("learn(reward, observation, done)", learns),
    ]
    found: list[Block] = [
        "Only `act` is needed; a plain function is `act`. A new mind is made for every exercise.",
        Listing(("call", "when"), rows),
    ]
    if data["facts"]:
        facts = [(one["name"], one["type"], one["meaning"], one["sample"]) for one in data["facts"]]
        found += [
            "`task` has `slot`, `slots`, `team`, `actions`, `steps` and these `facts`:",
            Listing(("fact", "type", "meaning", "sample"), facts, (0, 1, 3)),
        ]
    else:
        found.append("`task` has `slot`, `slots`, `team`, `actions` and `steps`.")
    return found


def _how_scored(score: Mapping[str, Any], slots: int) -> list[Block]:
    whole = score["of_a_play"] == "total"
    said = f"A play scores the {'sum' if whole else 'mean'} of the rewards"
    if slots > 1:
        said += " of slot 0" if score["slots"] == [0] else " of all slots"
    mean = "the score of a mind is the mean"
    if score["administration"]:
        said += (
            f". The figure of a mind is made of administrations of {score['administration']} "
            "exercises, as said at the top"
        )
    elif score["weighted"]:
        said += f"; {mean} over exercises, each weighing its {score['strata']}"
    elif score["strata"]:
        said += f"; {mean} over the values of {score['strata']}, of the mean at each"
    else:
        said += f"; {mean} over exercises"
    low, high, chance, ceiling = (
        number(score[key]) for key in ("lowest", "highest", "chance", "ceiling")
    )
    bound = "" if score["reached"] else ", a bound that no mind exceeds"
    lost = (
        "as the lowest result"
        if whole
        else "with the lowest reward for each step that was not made"
    )
    ends = (
        f"A play can score from {low} to {high}; {chance} is expected if all slots are played by "
        f"lot, and the ceiling is {ceiling}{bound}. A failed exercise counts, {lost}."
    )
    return [f"{said}.", ends, *([score["caution"]] if score["caution"] else [])]


def _set(settings: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    if not settings:
        yield "It has none."
        return
    rows = [
        (
            one["name"],
            one["values"],
            "" if one["required"] else _shown(one["default"]),
            one["meaning"],
        )
        for one in settings
    ]
    yield Listing(("setting", "values", "default", "meaning"), rows, (0, 2))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _who_there_is(minds: Mapping[str, Any]) -> Iterator[Block]:
    ends = f"The floor, `{minds['floor']}`, sits every test beside yours"
    yield (
        f"{ends}, and so does the ceiling, `{minds['ceiling']}`."
        if minds["ceiling"]
        else f"{ends}."
    )
    titles = {
        "single": "Single minds:",
        "future": "Minds that are told what comes (no fair rivals):",
        "group": "Minds made of others, which stand in brackets behind the name:",
        "anywhere": "For every instrument:",
    }
    for kind, title in titles.items():
        if minds[kind]:
            yield title
            yield Listing(("mind", "what"), [(one["name"], one["what"]) for one in minds[kind]])
