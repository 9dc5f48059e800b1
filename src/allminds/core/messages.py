"""Messages between members of a group: who hears whom, and what is kept of what they said.

A round of talk is bounded: every member says one thing of at most so many characters, to those who
hear it. `Overheard` collects what was said in a play, for its record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from allminds.contracts import Discrete, Message, Space
from allminds.core.errors import Error, nearest

if TYPE_CHECKING:
    import pyarrow as pa

Audience = Mapping[int, tuple[int, ...]]
"""The members that each member hears, all counted from 1."""

TOPOLOGIES = ("all", "ring", "star", "tree")
MOST_ROUNDS = 100
MOST_WORDS = 100_000  # characters of a message

MEMBER: ContextVar[str] = ContextVar("allminds_member", default="")  # that is being asked
_HEARD: ContextVar[Overheard | None] = ContextVar("allminds_messages", default=None)


# ---------------------------------------------------------------- who hears whom


def topology(hears: str | Mapping[int, Sequence[int]], members: int) -> Audience:
    """Return which members each member hears.

    Parameters
    ----------
    hears
        ``all``; ``ring``, each its two neighbours; ``star``, the first all and all the first;
        ``tree``, each its two children, numbered as a heap; or any mapping, in a name
        ``1:2+3/2:1`` (1 hears 2 and 3, and 2 hears 1).
    members
        The number of members.

    Examples
    --------
    >>> topology("ring", 4)[1]
    (2, 4)
    >>> topology("1:2+3/2:1", 3)
    {1: (2, 3), 2: (1,), 3: ()}
    """
    found = _mapping(hears, members) if isinstance(hears, str) else hears
    wrong = [n for one in found.items() for n in (one[0], *one[1]) if n not in _all(members)]
    if wrong:
        raise Error(f"hears names member {wrong[0]}; the members are 1 to {members}")
    return {n: tuple(sorted({*found.get(n, ())} - {n})) for n in _all(members)}


def _all(members: int) -> range:
    return range(1, members + 1)


def _mapping(hears: str, members: int) -> dict[int, tuple[int, ...]]:
    everyone = tuple(_all(members))
    if hears == "all":
        return dict.fromkeys(everyone, everyone)
    if hears == "ring":
        return {n: ((n - 2) % members + 1, n % members + 1) for n in everyone}
    if hears == "star":
        return {n: everyone if n == 1 else (1,) for n in everyone}
    if hears == "tree":
        return {n: tuple(c for c in (2 * n, 2 * n + 1) if c <= members) for n in everyone}
    found: dict[int, tuple[int, ...]] = {}
    try:
        for part in hears.split("/"):
            listener, heard = part.split(":")
            found[int(listener)] = tuple(int(n) for n in heard.split("+") if n)
    except ValueError:
        raise Error(
            f"hears is all, ring, star, tree or a mapping such as 1:2+3/2:1, not '{hears}'; "
            f"{nearest(hears, TOPOLOGIES)}"
        ) from None
    return found


def some_members(text: str, members: int, where: str) -> frozenset[int]:
    """Parse numbers of members with / between, such as 1/3."""
    try:
        found = frozenset(int(part) for part in text.split("/")) if text else frozenset()
    except ValueError:
        found = frozenset({0})
    if not found <= set(_all(members)):
        raise Error(f"{where} must be members from 1 to {members} with / between, not '{text}'")
    return found


# ---------------------------------------------------------------- what was said


class Overheard:
    """What members of groups said in one play; `step` is the one that is being played."""

    def __init__(self) -> None:
        self.step = 1
        self.messages: list[Message] = []

    def ordered(self) -> tuple[Message, ...]:
        """Return the messages by step, slot, round and sender, however threads took turns."""
        return tuple(sorted(self.messages, key=_place))


def _place(message: Message) -> tuple[Any, ...]:
    sender = [int(number) for number in message.sender.split(".")]
    return message.step, message.slot, message.round, sender


@contextlib.contextmanager
def overheard() -> Iterator[Overheard]:
    """Collect what members say while the context lasts."""
    found = Overheard()
    token = _HEARD.set(found)
    try:
        yield found
    finally:
        _HEARD.reset(token)


def note(message: Message) -> None:
    """Keep a message of a member for the record of the play."""
    found = _HEARD.get()
    if found is not None:
        outer = MEMBER.get()
        sender = f"{outer}.{message.sender}" if outer else message.sender
        found.messages.append(replace(message, step=found.step, sender=sender))


@contextlib.contextmanager
def speaking(member: int) -> Iterator[None]:
    """Let a member be the one that is asked, so that what it costs is booked to it."""
    outer = MEMBER.get()
    token = MEMBER.set(f"{outer}.{member}" if outer else str(member))
    try:
        yield
    finally:
        MEMBER.reset(token)


# ---------------------------------------------------------------- in words and on disk


def in_words(message: Message, space: Space | None = None) -> str:
    """Write a message as one sentence, its answer by the label that the action has."""
    answer = message.answer
    if answer is not None and isinstance(space, Discrete):
        answer = space.word(int(answer))
    words = " ".join(message.text.split())
    if message.kind == "abstains":
        return f"Member {message.sender} gave no answer{words and ': '}{words}"
    said = [] if answer is None else [f"answers {answer}"]
    said += [f"says “{words}”"] if words else []
    return f"Member {message.sender} {' and '.join(said) or 'has no answer'}"


def table(mind: str, messages: Sequence[tuple[int, Message]]) -> pa.Table:
    """Build the table of messages, each with the number of its exercise, as a run folder has it."""
    import pyarrow as pa

    rows = [asdict(message) for _, message in messages]
    numbers = {name: pa.int32() for name in ("round", "step", "slot")}
    columns: dict[str, Any] = {
        "mind": pa.array([mind] * len(rows), pa.string()),
        "index": pa.array([index for index, _ in messages], pa.int64()),
    }
    for one in fields(Message):
        values = [row[one.name] for row in rows]
        if one.name == "hearers":
            values = [" ".join(map(str, heard)) for heard in values]
        elif one.name == "answer":
            values = [None if answer is None else str(answer) for answer in values]
        columns[one.name] = pa.array(values, numbers.get(one.name, pa.string()))
    return pa.table(columns)


def messages_of(rows: pa.Table) -> list[Message]:
    """Read messages from such a table."""
    found = []
    for row in rows.to_pylist():
        given = {one.name: row[one.name] for one in fields(Message)}
        heard = tuple(int(number) for number in given["hearers"].split())
        found.append(Message(**given | {"hearers": heard, "answer": _answer(given["answer"])}))
    return found


def _answer(text: str | None) -> Any:
    """Read an answer back: a number, where it is one."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return text
