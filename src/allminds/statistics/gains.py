"""Who gains from whom: how the score of one slot changes if another slot's mind is replaced.

The line-up plays some exercises. Then each party in turn, a mind, a group or a team, is replaced by
another mind, and all play the same exercises again. The world and every mind draw the same random
words as before, so that what differs comes of the replacement. The difference of a party's scores,
exercise by exercise, is what it gains from the one that was replaced, as compared with the one that
replaced it. Intervals and verdicts are those of `inference`, corrected over all ordered pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Seat, Subject
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.inference import MARGIN, Difference, corrected, difference
from allminds.inference.estimates import plays_of

EPISODES = 200


@dataclass(frozen=True)
class Party:
    """A mind or a group in its slots, or a team."""

    name: str
    slots: tuple[int, ...]

    @property
    def label(self) -> str:
        """The name and the slots: ``random [2]``, ``stigmergy [0 1]``."""
        return f"{self.name} [{' '.join(map(str, self.slots))}]"


@dataclass(frozen=True)
class Gain:
    """What one party gains from another, as compared with the mind that replaced the other."""

    whose: Party
    source: Party
    found: Difference

    @property
    def word(self) -> str:
        """The verdict: gains, loses, equivalent or undecided; no change, if in no exercise."""
        return self.found.gained if self.found.differs else "no change"

    def as_json(self) -> dict[str, Any]:
        """Return the gain as a row of a table."""
        low, high = self.found.interval or (None, None)
        return {
            "whose": self.whose.name, "slots": list(self.whose.slots),
            "source": self.source.name, "source_slots": list(self.source.slots),
            "gain": self.found.mean, "low": low, "high": high, "p_holm": self.found.p_holm,
            "units": self.found.units[0], "verdict": self.word,
        }  # fmt: skip


def gains(
    instrument: str | type[Instrument] | Instrument,
    minds: Any,
    *,
    by: Any = "random",
    teams: bool = False,
    settings: Mapping[str, Any] | None = None,
    episodes: int = EPISODES,
    seed: int = 1,
    margin: float = MARGIN,
) -> list[Gain]:
    """Measure what each party of a line-up gains from each other party.

    Parameters
    ----------
    instrument : str, class or Instrument
        An instrument with at least two slots.
    minds : name, class, function or object, or a list of these
        The line-up, in slot order; one mind sits in every slot.
    by : name, class, function or object
        The mind that sits in the slots of whoever is replaced.
    teams : bool
        Replace whole teams, and measure what teams gain; else minds and groups.
    settings : mapping, optional
        The settings of the instrument, if it is named.
    episodes : int
        The exercises that are played, by each line-up.
    seed : int
        The same seed gives the same exercises.
    margin : float
        Gains that are smaller do not matter.

    Returns
    -------
    list of Gain
        One for every party and every other one that is not itself the mind `by`.

    Examples
    --------
    A mind that always cooperates is worth .6 a round to its partner, compared with a random one:

    >>> from allminds.statistics.gains import gains
    >>> found = gains("prisoners-dilemma", ["cooperate", "cooperate"], settings={"steps": 1})
    >>> [one.word for one in found], 0.5 < found[0].found.mean < 0.7
    (['gains', 'gains'], True)
    """
    tool = instrument
    if not isinstance(tool, Instrument):
        tool = registry.make_instrument(tool, settings)
    line_up = registry.line_up(minds, tool)
    parties, new = _parties(tool, line_up, teams), registry.subject(by, tool)
    sources = [party for party in parties if party.name != new.name]
    _check(tool, line_up, parties, episodes)
    if not sources or new.group:
        what = "is a group" if new.group else "is in every slot already"
        raise Error(f"{new.name} {what}; name another single mind that replaces each in turn")
    watch = Watch()
    with watch.running():
        whole = _played(tool, line_up, seed, episodes, watch)
        without = {
            party: _played(tool, _replaced(line_up, party, new), seed, episodes, watch)
            for party in sources
        }
    pairs = [(one, other) for one in parties for other in sources if one != other]
    found = [_change(tool, one, other, whole, without[other], margin) for one, other in pairs]
    both = zip(pairs, corrected(found), strict=True)
    return [Gain(one, other, change) for (one, other), change in both]


def _parties(tool: Instrument, line_up: LineUp, teams: bool) -> list[Party]:
    """List the minds and groups of a line-up, or its teams, with their slots."""
    if not teams:
        return [Party(seat.subject.name, seat.slots) for seat in line_up.seats]
    found = []
    for slots in tool.exercise(0, 0).environment.teams:
        seats = [seat for seat in line_up.seats if set(seat.slots) & set(slots)]
        for seat in seats:
            if not set(seat.slots) <= set(slots):
                raise Error(
                    f"{seat.subject.name} plays in two teams, so that they cannot be replaced one "
                    "by one; give each team minds of its own"
                )
        names = dict.fromkeys(seat.subject.name for seat in seats)
        found.append(Party(", ".join(names), tuple(slots)))
    return found


def _check(tool: Instrument, line_up: LineUp, parties: Sequence[Party], episodes: int) -> None:
    """Reject what cannot be replayed with another mind on the same exercises."""
    if len(parties) < 2:
        raise Error(
            f"{tool.name}: who gains from whom takes two minds or teams, and there is one; set "
            "more agents, or name minds for the slots"
        )
    check_replays(tool, episodes)
    paid = next((seat.subject.name for seat in line_up.seats if seat.subject.paid), None)
    if paid:
        raise Error(f"{paid} costs money by the call; who gains from whom is for programs")


def check_replays(tool: Instrument, episodes: int) -> None:
    """Reject exercises that other minds cannot be given again, and a number that is none."""
    if tool.adaptive or tool.parts:
        raise Error(
            f"{tool.name}: its exercises depend on the results before them, so that others cannot "
            "be given the same"
        )
    if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 1:
        raise Error(f"episodes must be a whole number, 1 or more, not {episodes!r}")


def _replaced(line_up: LineUp, party: Party, new: Subject) -> LineUp:
    """Seat another mind in all slots of a party."""
    seats: list[Seat] = []
    for seat in line_up.seats:
        if set(seat.slots) <= set(party.slots):
            seats += [Seat(new, (slot,)) for slot in seat.slots]
        else:
            seats.append(seat)
    return LineUp(f"{line_up.name} without {party.label}", tuple(seats))


def _played(tool: Instrument, line_up: LineUp, seed: int, episodes: int, watch: Watch) -> Block:
    return form(tool, line_up, watch).play(seed, 0, episodes, 0)


def _change(
    tool: Instrument, one: Party, other: Party, whole: Block, without: Block, margin: float
) -> Difference:
    """Estimate how much more a party scores with the other than with its replacement."""
    rule = replace(tool.rule(), scored=one.slots)
    names = (f"{one.label} with {other.label}", "without")
    found = difference(
        plays_of(whole, rule), plays_of(without, rule), rule, names, margin, unpaired=False
    )
    if found is None:
        reason = next(iter({**whole.reasons, **without.reasons}.values()), "")
        raise Error(f"{tool.name}: no exercise was finished both times, for {reason}")
    return found
