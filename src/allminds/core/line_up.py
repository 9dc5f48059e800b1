"""From a text to who plays: names, the subjects they stand for, and the slots these sit in.

A name is ``name``, ``name(arg, key=value)`` or ``group(member*3, other)``. It may hold ``/ . : -``,
so ``llm(openai/gpt-4o)``, ``file.py:MyMind`` and
``stigmergy(local-search*3, expert(intercept=false))`` are all names. A value may have brackets of
its own, ``history=last(5)``, or stand in double quotes, ``system="Be brief."``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from allminds.contracts import FAILURES, Failure, Instrument, Traits
from allminds.core.errors import Error

_TOKEN = re.compile(r'\s*(?:([(),=*])|("[^"]*"|[^\s(),=*]+))')


MOST_COPIES = 100_000  # of a member: more than any environment has slots
MOST_DEEP = 50  # brackets within brackets


@dataclass(frozen=True)
class Name:
    """A parsed name: the word, its arguments and keywords, and how often it is repeated."""

    name: str
    arguments: tuple[Name, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    times: int = 1

    def __str__(self) -> str:
        inside = [str(argument) for argument in self.arguments]
        inside += [f"{key}={value}" for key, value in self.keywords]
        text = f"{self.name}({','.join(inside)})" if inside else self.name
        return text if self.times == 1 else f"{text}*{self.times}"


def parse(text: str) -> Name:
    """Parse one name; the error says where the text breaks off."""
    names = parse_all(text)
    if len(names) > 1:
        raise Error(f"cannot read the name '{text}': ',' is not expected after it")
    return names[0]


def parse_all(text: str) -> tuple[Name, ...]:
    """Parse names with commas between them, as of a line-up: ``tit-for-tat, defect*3``."""
    parser = _Parser(text)
    names = [parser.name()]
    while parser.peek() == ",":
        parser.take()
        names.append(parser.name())
    if parser.peek():
        raise parser.error(f"'{parser.peek()}' is not expected after it")
    return tuple(names)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [symbol or word for symbol, word in _TOKEN.findall(text)]
        self.at = 0
        self.deep = 0  # brackets that are open

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def error(self, what: str) -> Error:
        return Error(f"cannot read the name '{self.text}': {what}")

    def word(self, what: str) -> str:
        token = self.take()
        if not token or token in "(),=*":
            raise self.error(f"{what} is missing" + (f" before '{token}'" if token else ""))
        return token

    def name(self) -> Name:
        word = self.word("a name")
        arguments: list[Name] = []
        keywords: list[tuple[str, str]] = []
        if self.peek() == "(":
            self._brackets(arguments, keywords)
        return Name(word, tuple(arguments), tuple(keywords), self._times())

    def _brackets(self, arguments: list[Name], keywords: list[tuple[str, str]]) -> None:
        self.take()
        self.deep += 1
        if self.deep > MOST_DEEP:
            raise self.error(f"more than {MOST_DEEP} brackets are open")
        while self.peek() != ")":
            self._argument(arguments, keywords)
            if self.peek() not in (",", ")"):
                raise self.error("a closing bracket is missing")
            if self.peek() == ",":
                self.take()
        self.take()
        self.deep -= 1

    def _argument(self, arguments: list[Name], keywords: list[tuple[str, str]]) -> None:
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        if following == "=":
            key = self.word("a parameter")
            self.take()
            keywords.append((key, self._value(f"the value of {key}")))
        else:
            arguments.append(self.name())

    def _value(self, what: str) -> str:
        word = self.word(what)
        if self.peek() != "(":
            return word
        arguments: list[Name] = []
        keywords: list[tuple[str, str]] = []
        self._brackets(arguments, keywords)
        return str(Name(word, tuple(arguments), tuple(keywords)))

    def _times(self) -> int:
        if self.peek() != "*":
            return 1
        self.take()
        count = self.word("a number after '*'")
        if not count.isascii() or not count.isdigit() or not count.strip("0"):
            raise self.error(f"'{count}' after '*' is not a number of members")
        if len(count.lstrip("0")) > len(str(MOST_COPIES)) or int(count) > MOST_COPIES:
            raise self.error(f"{count} copies are too many; {MOST_COPIES} will do")
        return int(count)


# ---------------------------------------------------------------- subjects and their slots


@dataclass(frozen=True)
class Subject:
    """A mind or a group to be tested: its name, its traits, and how to make a fresh one."""

    name: str
    make: Callable[[], Any]
    traits: Traits = field(default_factory=Traits)
    group: bool = False
    members: tuple[Subject, ...] = ()  # of a group
    built_in: bool = False  # it and its members come with allminds: no time limit
    instruments: tuple[str, ...] = ()  # () means any
    maker: Any = None  # the class or function that `make` calls
    alone: str = ""  # of a group: the mind that a member is by itself, if the name has none
    stand_in: Callable[[], Any] | None = None  # makes who rehearses with others; by default `make`
    reads: bool = False  # it shows and reads exercises by the instrument's presentation

    @property
    def one_at_a_time(self) -> bool:
        """True if the subject or one of its members plays only one exercise at a time."""
        return self.traits.one_at_a_time or any(one.one_at_a_time for one in self.members)

    @property
    def reader(self) -> bool:
        """True if the subject or one of its members is shown exercises in words."""
        return self.reads or any(one.reader for one in self.members)

    @property
    def paid(self) -> bool:
        """True if the subject or one of its members costs money per call."""
        return self.traits.paid or any(one.paid for one in self.members)


@dataclass(frozen=True)
class Seat:
    """A subject and the slots it plays: one for a mind, several for a group."""

    subject: Subject
    slots: tuple[int, ...]


@dataclass(frozen=True)
class LineUp:
    """The minds and groups in all slots of an environment.

    Insa-Cabrera and Hernández-Orallo (2015) write it l.
    """

    name: str
    seats: tuple[Seat, ...]

    @classmethod
    def of(cls, subjects: Sequence[Subject], slots: int) -> LineUp:
        """Seat subjects in slot order; raise an `Error` unless they fill all slots exactly."""
        seats: list[Seat] = []
        taken = 0
        for subject in subjects:
            size = len(subject.members) or 1 if subject.group else 1
            seats.append(Seat(subject, tuple(range(taken, taken + size))))
            taken += size
        names = [seat.subject.name for seat in seats]
        if taken != slots:
            long = "short" if taken < slots else "long"
            raise Error(
                f"a line-up of {taken} is too {long} for an environment of {slots} slots: "
                f"{', '.join(names)}"
            )
        alike = len(set(names)) == 1 and not seats[0].subject.group  # named as if it sat alone
        return cls(names[0] if alike else ", ".join(names), tuple(seats))

    @classmethod
    def alone(cls, subject: Subject, slots: int) -> LineUp:
        """Seat one subject in every slot: a group once, a single mind as independent copies."""
        if subject.group:
            if subject.members and len(subject.members) != slots:
                raise Error(
                    f"{subject.name} has {len(subject.members)} members for {slots} slots; "
                    f"set agents={len(subject.members)}, or name {slots} members"
                )
            return cls(subject.name, (Seat(subject, tuple(range(slots))),))
        return cls(subject.name, tuple(Seat(subject, (slot,)) for slot in range(slots)))

    def shared(self, failures: Mapping[int, Failure]) -> dict[int, Failure]:
        """Extend failures to all slots of the minds at fault.

        Otherwise a copy of a mind could fail on purpose and spare its other slots a bad result.
        """
        found = dict(failures)
        for slot, failure in failures.items():
            if failure.status in FAILURES:
                name = next(seat.subject.name for seat in self.seats if slot in seat.slots)
                held = (seat.slots for seat in self.seats if seat.subject.name == name)
                found |= {other: failure for other in chain(*held) if other not in found}
        return found

    @property
    def practice(self) -> int:
        """The number of rehearsals before the play that counts."""
        return max(seat.subject.traits.practice for seat in self.seats)


# ---------------------------------------------------------------- floor and ceiling


def ends(who: LineUp, tool: Instrument) -> tuple[str, str | None]:
    """Name the line-ups that are floor and ceiling of this one.

    In a game whose score is that of the first mind they have its place, against the same others.
    """
    others = [seat.subject.name for seat in who.seats[1:]]
    alike = not others or {who.seats[0].subject.name} == set(others)

    def named(mind: str) -> str:
        if tool.scored == "all" or alike or set(others) == {mind}:
            return mind  # as a mind is called that fills all slots
        return ", ".join([mind, *others])

    return named(tool.floor_mind), named(tool.ceiling_mind) if tool.ceiling_mind else None


def missing_ends(line_ups: Sequence[LineUp], tool: Instrument) -> list[str]:
    """Name the floors and ceilings that some line-ups lack."""
    names = [one.name for one in line_ups]
    wanted = [end for one in line_ups for end in ends(one, tool)] or [
        tool.floor_mind, tool.ceiling_mind,
    ]  # fmt: skip
    return list(dict.fromkeys(end for end in wanted if end and end not in names))
