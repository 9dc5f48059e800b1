"""Any instrument with its minds as a game of a testbed, exact where it can be, else played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from allminds import registry
from allminds.contracts import Instrument, Record, Subject
from allminds.contracts import LineUp as Seated
from allminds.core.errors import Error
from allminds.core.watch import Watch
from allminds.episode import Episode, play
from allminds.exact import Machine, Node, Outcome, Tree, Walker, outcome
from allminds.statistics.testbed.bed import ActionSequence, LineUp, Teams, checked_line_up, name_of

RANDOM = "random"
MOST_SEQUENCES = 200_000  # of actions, that are followed


class InstrumentGame:
    """An instrument and some minds, by their names."""

    def __init__(self, tool: Instrument, minds: Sequence[str], watch: Watch | None = None) -> None:
        self.tool, self.watch = tool, watch or Watch()
        self.name, self.minds = tool.name, tuple(minds)
        self._exercise = tool.exercise(0, 0)
        self._machines: dict[tuple[int, int], Machine] = {}
        environment = self._exercise.environment
        self.teams: Teams = environment.teams
        self.steps: int = environment.steps
        self.score: Literal["mean", "total"] = environment.score
        self.subjects = [_single(registry.subject(mind, tool)) for mind in self.minds]

    @cached_property
    def random(self) -> int | None:
        """The uniformly random mind: one of the minds, or the one after them."""
        if RANDOM in self.minds:
            return self.minds.index(RANDOM)
        return len(self.minds) if RANDOM in registry.minds(self.name) else None

    def outcome(self, line_up: LineUp) -> Outcome:
        """Compute the expected outcome of a line-up, if the game and all its minds allow it."""
        names = [name_of(self, number) for number in checked_line_up(self, line_up)]
        return outcome(self.tool, names)

    def others(self, line_up: LineUp, slot: int) -> Mapping[ActionSequence, float]:
        """Compute what all slots but one may do, if it is not too much to be followed."""
        machines = [self._machine(number, place) for place, number in enumerate(line_up)]
        return acts_of_others(self._walker.tree(machines), slot, self.name)

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self.name, self._exercise.environment)

    def _machine(self, number: int, slot: int) -> Machine:
        if (number, slot) not in self._machines:
            subject = self._subject(number)
            task = Episode(self._exercise).task(slot, future=subject.traits.sees == "future")
            self._machines[number, slot] = Machine(subject, task)
        return self._machines[number, slot]

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """One exercise of the instrument."""
        seats = [self._subject(number) for number in checked_line_up(self, line_up)]
        seated = Seated.of(seats, self.tool.slots)
        return play(self.tool.exercise(seed, exercise), seated, self.watch)

    def _subject(self, number: int) -> Subject:
        return self.subjects[number] if number < len(self.minds) else self._chance

    @cached_property
    def _chance(self) -> Subject:
        return registry.subject(RANDOM, self.tool)


def acts_of_others(tree: Tree, slot: int, name: str) -> dict[ActionSequence, float]:
    """Compute the distribution of what all slots but one do; shared histories go on as one."""
    here: dict[tuple[ActionSequence, Node], float] = {((), tree.start): 1.0}
    found: dict[ActionSequence, float] = {}
    for layer in tree.layers:
        following: dict[tuple[ActionSequence, Node], float] = {}
        for (so_far, place), chance in here.items():
            if not layer[place]:
                found[so_far] = found.get(so_far, 0.0) + chance
            for move in layer[place]:
                done = (*so_far, move.joint[:slot] + move.joint[slot + 1 :])
                into = (done, move.after)
                following[into] = following.get(into, 0.0) + chance * move.chance
        if len(following) > MOST_SEQUENCES:
            raise Error(
                f"{name}: the others may act in more than {MOST_SEQUENCES:,} ways; set fewer steps"
            )
        here = following
    return found


def _single(subject: Subject) -> Subject:
    if subject.group:
        raise Error(f"{subject.name} is a group; a line-up has a mind in every slot")
    return subject


def default_minds(tool: Instrument) -> tuple[str, ...]:
    """Return the minds of a testbed when none is named."""
    found = tool.presentation.minds
    if not found:
        raise Error(
            f"{tool.name} has no usual minds; name some with --minds, see allminds list minds"
        )
    return found
