"""Who plays: minds and groups with what makes fresh ones of them, and the slots they sit in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from allminds.contracts import FAILURES, Failure, Instrument, Traits
from allminds.core.errors import Error


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

    @property
    def one_at_a_time(self) -> bool:
        """True if the subject or one of its members plays only one exercise at a time."""
        return self.traits.one_at_a_time or any(one.one_at_a_time for one in self.members)

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
