"""Check the history of a crowd: what was sent and shown, against what a database holds.

A history is every request of every participant with its reply, as the client saw it. `faults`
compares it with the choices in the database and in an export, and names whatever does not fit. A
request without a reply may have been carried out or not; everything else must have been, once.

A step of an exercise is *passed* once a page was shown that comes after it. What is stored of a
passed step must be one of the choices that were sent for it before that page came; usually there is
only one, and it must be that one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Place = tuple[int, int]  # exercise and step
AFTER = ("between", "done")  # screens that come after the last step of an exercise


@dataclass(frozen=True)
class Exchange:
    """One request and its reply, by the client's clock; status 0 if no reply came."""

    label: str
    sent: float
    got: float
    path: str
    at: Place | None = None  # of the choice that was sent
    choice: str = ""
    status: int = 0
    screen: str = ""
    shown: Place | None = None  # on the page that came back
    reward: str = ""  # the sign on that page
    page: str = ""  # a hash of that page, without its tokens


@dataclass(frozen=True)
class Stored:
    """One choice in the database; `number` is the index of its exercise in the series."""

    label: str
    exercise: int
    step: int
    choice: str
    number: int = 0
    reward: float = 0.0

    @property
    def place(self) -> Place:
        """Exercise and step."""
        return self.exercise, self.step


@dataclass(frozen=True)
class Kept:
    """What a database holds in the end: choices in the order in which they were written."""

    choices: Sequence[Stored]
    exported: Sequence[tuple[str, int, int, str]]  # label, exercise, step, choice
    numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)  # exercises of each label
    agreed: int = 0  # participants with a place
    places: int = 0  # that the study has
    own: bool = False  # whether no two participants may have the same exercise


def faults(history: Iterable[Exchange], kept: Kept) -> list[str]:
    """List everything in which a history and a database differ; an empty list is right."""
    exchanges: dict[str, list[Exchange]] = defaultdict(list)
    for one in history:
        exchanges[one.label].append(one)
    stored: dict[str, list[Stored]] = defaultdict(list)
    for choice in kept.choices:
        stored[choice.label].append(choice)
    found = []
    for label in sorted({*exchanges, *stored}):
        told, there = exchanges[label], stored[label]
        if any(one.screen == "withdrawn" for one in told):
            found += [f"{label}: withdrawn, and a choice is there"] * bool(there)
            continue
        found += [f"{label}: {what}" for what in (
            *_order(there), *_sent(told, there), *_passed(told, there), *_pages(told, there),
            *_backwards(told),
        )]  # fmt: skip
    return found + _export(kept) + _design(kept)


def _order(there: Sequence[Stored]) -> Iterable[str]:
    """Every step is there once, after the one before it."""
    for place, count in Counter(one.place for one in there).items():
        if count > 1:
            yield f"doubled: {place} is there {count} times"
    places = [one.place for one in there]
    for before, after in pairwise(places):
        follows = after == (before[0], before[1] + 1) or (after[0] > before[0] and after[1] == 0)
        if not follows and before != after:
            yield f"out of order: {after} was written after {before}"
    if places and places[0][1] != 0:
        yield f"out of order: {places[0]} is the first"


def _sent(told: Sequence[Exchange], there: Sequence[Stored]) -> Iterable[str]:
    """Nothing is there that was not sent."""
    sent = {(one.at, one.choice) for one in told if one.at is not None}
    for one in there:
        if (one.place, one.choice) not in sent:
            yield f"never sent: {one.place} {one.choice!r}"


def _passed(told: Sequence[Exchange], there: Sequence[Stored]) -> Iterable[str]:
    """Every step that was passed is there, with a choice that was sent before it was passed."""
    tried: dict[Place, list[Exchange]] = defaultdict(list)
    for one in told:
        if one.at is not None:
            tried[one.at].append(one)
    waiting = sorted(tried, reverse=True)
    passed: dict[Place, float] = {}  # when a page that comes after it was first shown
    for one in sorted(told, key=lambda one: one.got):
        beyond = _beyond(one)
        while waiting and waiting[-1] < beyond:
            passed[waiting.pop()] = one.got
    choices = {one.place: one.choice for one in there}
    for place, when in sorted(passed.items()):
        if place not in choices:
            yield f"lost: {place} was acknowledged"
            continue
        might = {one.choice for one in tried[place] if one.sent < when}
        if choices[place] not in might:
            yield f"altered: {place} is {choices[place]!r}, acknowledged was {sorted(might)}"


def _beyond(one: Exchange) -> Place:
    """Return the first step that the reply does not show to be passed."""
    if one.screen == "exercise" and one.shown is not None:
        return one.shown
    if one.screen in AFTER and one.at is not None:
        return one.at[0], one.at[1] + 1
    return -1, -1


def _pages(told: Sequence[Exchange], there: Sequence[Stored]) -> Iterable[str]:
    """Every page shows the state after the choices that are there before its step."""
    places = {one.place: one for one in there}
    steps = Counter(one.exercise for one in there)
    pages: dict[Place, set[tuple[str, str]]] = defaultdict(set)
    for one in told:
        if one.screen != "exercise" or one.shown is None:
            continue
        exercise, step = one.shown
        pages[one.shown].add((one.page, one.reward))
        if steps[exercise] < step:
            yield f"page: {one.shown} was shown, and only {steps[exercise]} choices are there"
        before = places.get((exercise, step - 1))
        wanted = "" if before is None else str((before.reward > 0) - (before.reward < 0))
        if one.reward != wanted:
            yield f"page: {one.shown} showed the reward {one.reward!r}, it was {wanted!r}"
    for place, seen in pages.items():
        if len(seen) > 1:
            yield f"page: {place} was shown in {len(seen)} ways"


def _backwards(told: Sequence[Exchange]) -> Iterable[str]:
    """A page that was asked for after another had come is not of an earlier step."""
    events = sorted(
        [(one.got, 1, one.shown) for one in told if one.shown is not None]
        + [(one.sent, 0, None) for one in told if one.shown is not None],
        key=lambda event: event[:2],
    )
    furthest: Place = (-1, -1)
    floor = {}  # by the time at which a request was sent: how far it must at least be
    for when, come, shown in events:
        if come and shown is not None:
            furthest = max(furthest, shown)
        elif not come:
            floor[when] = furthest
    for one in told:
        if one.shown is not None and one.shown < floor[one.sent]:
            yield f"backwards: {one.shown} was shown after {floor[one.sent]}"


def _export(kept: Kept) -> list[str]:
    """The export has the choices of the database, in their order."""
    of_label: dict[str, list[tuple[str, int, int, str]]] = defaultdict(list)
    exported: dict[str, list[tuple[str, int, int, str]]] = defaultdict(list)
    for choice in kept.choices:
        of_label[choice.label].append((choice.label, *choice.place, choice.choice))
    for row in kept.exported:
        exported[row[0]].append(row)
    labels = sorted({*of_label, *exported})
    return [f"{one}: the export differs" for one in labels if of_label[one] != exported[one]]


def _design(kept: Kept) -> list[str]:
    """No two participants share what is their own, and there are not more than places."""
    found = []
    if kept.places and kept.agreed > kept.places:
        found.append(f"quota: {kept.agreed} have agreed, for {kept.places} places")
    if kept.own:
        owners: dict[int, set[str]] = defaultdict(set)
        for label, numbers in kept.numbers.items():
            for number in numbers:
                owners[number].add(label)
        shared = {number: who for number, who in owners.items() if len(who) > 1}
        found += [f"shared: exercise {n} by {', '.join(sorted(w))}" for n, w in shared.items()]
    return found
