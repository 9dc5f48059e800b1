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
from allminds.core.settings import settings_text
from allminds.core.text import Block, Code, Listing, Picture, as_html, as_markdown, as_text
from allminds.core.user_code import reason_of
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
    which = f"Exercise {drawn['index']} of seed {drawn['seed']}, {when}"
    if drawn["text"] in drawn["words"] and not drawn["picture"]:
        yield f"{which}, as slot {drawn['slot']} is shown it in words:"
    else:
        yield f"{which}, with all that is in it:"
        text, svg = drawn["text"], drawn["picture"]
        yield Picture(text, svg) if svg else Code(text)
        yield f"What slot {drawn['slot']} sees of it, in words:"
    yield Code(drawn["words"])


def _who_plays(players: Mapping[str, Any]) -> list[Block]:
    count, teams, unseen = players["slots"], players["teams"], players["unseen"]
    if count == 1:
        said = "One mind plays, in slot 0."
    else:
        said = f"{count} minds play, in slots {_span(count)}."
        shared = "; ".join(f"slot{'s' * (len(team) > 1)} {_listed(team)}" for team in teams)
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
        found.append(_line_ups(players))
    return [*filter(None, found)]


def _span(slots: int) -> str:
    return "0 and 1" if slots == 2 else f"0 to {slots - 1}"


def _line_ups(players: Mapping[str, Any]) -> str:
    """Say who sits in the slots, and what a score is a score against."""
    filled = "a mind that is named alone fills all slots with copies of itself"
    first, *rest = players["line_up"]
    named = (
        f"Names with commas between them fill the slots in order, such as "
        f'`--mind "{",".join((first, *rest))}"`; in Python a list of minds does.'
    )
    if not players["opponents"]:
        return f"{filled.capitalize()}. {named}"
    mates = ", also into those of its team" if len(players["teams"]) < players["slots"] else ""
    return (
        f"The score is that of slot 0, and {filled}: its score is then one against itself, which "
        'does not say how good it is. `--against random`, in Python `against="random"`, puts '
        f"another mind into all slots but slot 0{mates}. {named}"
    )


def _what_is_seen(seen: Mapping[str, Any]) -> Iterator[Block]:
    head = ("field", "type", "meaning", "sample")

    def rows(fields: Iterable[Mapping[str, str]]) -> list[tuple[str, ...]]:
        return [_row(one) for one in fields]

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
        what = "Slots" if actions["by_slot"] else "Exercises"
        told = "; `.allowed(observation)` lists them" if actions["by_slot"] else ""
        said = (
            f"An action is an int. {what} differ in their actions{most}: `begin` is told them "
            f"in `task.actions` (`.start`, `.n`, `.labels`{told}). In the exercise below: "
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
    if paid["said"] and paid["once"]:
        return [paid["said"]]
    if paid["lowest"] != paid["highest"]:
        at = " All of these came with the last step." if paid["only_at_the_end"] else ""
        said += (
            f" In the exercises that were played by lot for this page, {paid['payments']} rewards "
            f"lay between {number(paid['lowest'])} and {number(paid['highest'])}; "
            f"{paid['nonzero']} were not 0.{at}"
        )
    return [*([paid["said"]] if paid["said"] else []), said]


def _calls(data: Mapping[str, Any]) -> list[Block]:
    turns, question = data["players"]["turns"] == "by turns", data["steps"] == [1]
    acts = "once" if question else "at each of its turns" if turns else _each_step(data)
    theirs = ", the others' too" if turns else ""
    learns = (
        "once, after the answer, with its reward, `None` and `True`"
        if question
        else f"after every step{theirs}, with its own reward of that step and what is to be seen "
        "next; after the last one `observation` is None and `done` True"
    )
    rows = [
        ("begin(task)", "before the exercise, and before every rehearsal that the mind asked for"),
        (
            f"act(observation: {data['observation']['class']}, random)",
            f"{acts}; returns an action. `random.below(n)`, `random.unit()` and "
            "`random.choice(sequence)` draw by lot",
        ),
        ("learn(reward, observation, done)", learns),
    ]
    head = ("field", "type", "meaning", "sample")
    found: list[Block] = [
        "Only `act` is needed; a plain function is `act`. `begin` and `learn` are called on "
        "classes that have them, such as those that inherit from `allminds.MindBase`. A new mind "
        "is made for every exercise, and in every slot.",
        Listing(("call", "when"), rows),
        "What `begin` is told, in the exercise below:",
        Listing(head, [_row(one, "task.") for one in data["task"]], (0, 1, 3)),
    ]
    if data["facts"]:
        facts = [_row(one | {"name": f'task.facts["{one["name"]}"]'}) for one in data["facts"]]
        found.append(Listing(("fact", *head[1:]), facts, (0, 1, 3)))
    return found


def _each_step(data: Mapping[str, Any]) -> str:
    """Say how often a mind acts: a number, at most so often, or as the task says."""
    steps, most = data["steps"], " at most: it can end before" * data["ends_early"]
    if len(steps) == 1:
        return f"at each step ({steps[0]}{most})"
    return f"at each step; there are `task.steps`{most}, and exercises differ in it"


def _row(one: Mapping[str, str], before: str = "") -> tuple[str, str, str, str]:
    """Return a field, its type, meaning and sample; a bar would end the cell of a table."""
    return before + one["name"], one["type"].replace(" | ", " or "), one["meaning"], one["sample"]


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
    return [
        f"{said}.",
        ends,
        *filter(None, [_placed(score, slots), *fair_in_words(score), _units(score)]),
        *filter(None, [score["caution"]]),
    ]


def _placed(score: Mapping[str, Any], slots: int) -> str:
    """Say what the column `normalised` of a table is."""
    if score["administration"]:
        return ""
    others = " (in slot 0, with the others as they are; where the mind plays itself, in all slots)"
    others *= score["slots"] == [0] and slots > 1
    top = (
        f"at that of `{score['ceiling_mind']}`, the ceiling of the table"
        if score["ceiling_mind"]
        else f"at {number(score['ceiling'])}"
    )
    return (
        f"In a table, `normalised` is 0 at the score of the floor, `{score['floor_mind']}`"
        f"{others}, on the same exercises, and 1 {top}; it is empty where these exercises are too "
        "few to tell the two apart."
    )


def _units(score: Mapping[str, Any]) -> str:
    """Say how many exercises make one independent observation, if it is more than one."""
    one, together = score["administration"], score["together"]
    if one:
        return (
            f"An administration is one observation, so that an interval takes two or more: give "
            f"`--episodes` a multiple of {one}, {2 * one} at least."
        )
    if together > 1:
        return (
            f"{together} exercises make a test. They are not independent, so that an interval is "
            f"one over tests: give `--episodes` a multiple of {together}."
        )
    return ""


def fair_in_words(score: Mapping[str, Any]) -> list[str]:
    """State the fair ceiling, or why it is not computed; nothing where there is no way to it."""
    what = "The fair ceiling, the best expected score of a mind that does not see the future,"
    if score["fair_ceiling"] is not None:
        return [f"{what} is {number(score['fair_ceiling'])}."]
    reason = score["fair_ceiling_reason"]
    return [f"{what} is not computed here: {reason}."] if reason else []


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
    ends = f"The floor, `{minds['floor']}`, takes every test beside yours"
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
