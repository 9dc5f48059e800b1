"""Groups of minds: what every protocol shares, so that a protocol of your own is a few lines.

A `Committee` has one slot: its members see the same, and it gives one answer. A `Team` has a slot
for each member: each sees its own, and each acts. In both, `choose` is the protocol. It can `ask`
the members for their answers, and let them `talk`: each tells its answer to those who hear it, and
members that can hear are asked again.

Members are numbered from 1, and each draws from random words of its own; so muting or dropping one
changes no word of the others.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from allminds.contracts import (
    FAILURES,
    CourseTask,
    Discrete,
    Failure,
    Message,
    MindBase,
    Space,
    Task,
    Traits,
    can_hear,
    legal,
)
from allminds.core.errors import Error
from allminds.core.line_up import Subject
from allminds.core.messages import MOST_ROUNDS, MOST_WORDS, note, some_members, speaking, topology
from allminds.core.seeding import Random
from allminds.core.turns import at_once
from allminds.core.user_code import reason_of, shown
from allminds.core.watch import Failed, malformed

OWN, FIRST = 0, 1  # parts of a committee's random words: its own, and that of its first member
ROUNDS = 1 << 32  # the parts of a member's words for later rounds begin here
FAILS = ("abstain", "group")


@dataclass
class Members:
    """Minds that are asked by a protocol: made, begun, asked, heard and taught."""

    members: Sequence[Subject] = ()

    how = ""  # how the group decides, as its members are told
    fails = "group"  # what a member that fails does: fail the `group`, or `abstain`
    mute = ""  # members whose messages nobody hears, such as 1/3
    drop = ""  # members that are not there
    hears = "all"  # or any that `messages.topology` takes, as a mapping
    size = 1000  # characters of a message, of which the last are kept

    def __post_init__(self) -> None:
        """Reject members that the protocol cannot have, and declare the group's traits."""
        name, count = self.called, len(self.members)
        if self.fails not in FAILS:
            raise Error(f"{name}: fails must be abstain or group, not '{self.fails}'")
        if not 0 <= self.size <= MOST_WORDS:
            raise Error(f"{name}: size must be 0 to {MOST_WORDS:,} characters, not {self.size}")
        for member in self.members:
            if member.group:
                raise Error(f"{name}: {member.name} is a group; a member must be a single mind")
        if self.members:
            self.muted = some_members(self.mute, count, f"{name}: mute")
            self.dropped = some_members(self.drop, count, f"{name}: drop")
            if len(self.dropped) == count:
                raise Error(f"{name}: drop leaves no member")
            topology(self.hears, count)
        self.traits = self.traits_of(self.members)
        self.kept: dict[int, Any] = {}  # members that live through a course or rehearsals
        self.answered: list[Any] = []  # the last answers of all members in this step
        self.rounds_held = 0  # rounds of talk in this step

    @property
    def called(self) -> str:
        """The name of the protocol, as its class has it."""
        return re.sub("(?<!^)(?=[A-Z])", "-", type(self).__name__).lower()

    def traits_of(self, members: Sequence[Subject]) -> Traits:
        """Declare what follows from the traits of the members."""
        seen = {member.traits.sees for member in members}
        return Traits(
            sees="future" if "future" in seen else "complexity" if "complexity" in seen else "own",
            carries=any(member.traits.carries for member in members),
        )

    # ------------------------------------------------------------ their lives

    def begin_course(self, course: CourseTask) -> None:
        """Make the members that carry; they stay for the whole course."""
        for place, member in enumerate(self.members):
            if member.traits.carries:
                self.kept[place] = member.make()
                if hasattr(self.kept[place], "begin_course"):
                    self.kept[place].begin_course(course)

    def end_course(self) -> None:
        """Tell the members that the course is over."""
        for mind in self.kept.values():
            if hasattr(mind, "end_course"):
                mind.end_course()

    def seat(self, members: Sequence[Subject], tasks: Sequence[Task]) -> None:
        """Make the minds of the members, but for those that stay, and begin a play."""
        if not self.members:  # of a protocol that has members of its own
            self.muted = self.dropped = frozenset()
        self.seated, self.tasks = list(members), list(tasks)
        self.audience = topology(self.hears, len(members))
        self.present = [n for n in range(len(members)) if n + 1 not in self.dropped]
        self.minds: list[Any] = self.each(self._begun)
        self.present = [n for n in self.present if self.minds[n] is not None]

    def _begun(self, place: int) -> Any:
        """Return the mind of a member, which has begun the play."""
        member, task = self.seated[place], self.tasks[place]
        mind = self.kept[place] if place in self.kept else member.make()
        if member.traits.practice:
            self.kept[place] = mind
        if hasattr(mind, "begin"):
            sees = member.traits.sees
            told = replace(
                task,
                secret=task.secret if sees == "future" else None,
                complexity=task.complexity if sees != "own" else None,
                protocol=self.told(place + 1),
                abstains=self.fails == "abstain",
            )
            mind.begin(told)
        return mind

    def told(self, member: int) -> str:
        """Write what a member is told of the group and of how it decides."""
        return f"You are member {member} of a group of {len(self.seated)}. {self.how}".strip()

    # ------------------------------------------------------------ asking them

    def each(self, call: Callable[[int], Any], places: Sequence[int] | None = None) -> list[Any]:
        """Call for each member, those that are paid at once; None for one that abstains."""
        found: list[Any] = [None] * len(self.seated)
        there = [n for n in self.present if places is None or n in places]
        paid = [n for n in there if self.seated[n].paid]
        calls = [partial(self._safely, n, call) for n in paid]
        replies = dict(zip(paid, at_once(calls), strict=True)) if len(paid) > 1 else {}
        for n in there:
            found[n] = replies[n] if n in replies else self._safely(n, call)
        return found

    def _safely(self, place: int, call: Callable[[int], Any]) -> Any:
        """Call for one member; what it raises is the group's failure, or its own abstention.

        A provider's fault is neither: the exercise is missing. A member that hangs fails the group.
        """
        try:
            with speaking(place + 1):
                return call(place)
        except (Exception, SystemExit) as error:
            if isinstance(error, Error) or self.fails == "group":
                raise
            failure = (
                error.failure if isinstance(error, Failed) else Failure("error", reason_of(error))
            )
            if failure.status not in FAILURES:
                raise
            self._note("abstains", place, text=f"{failure.status}: {failure.reason}")
            return None

    def _note(self, kind: Any, place: int, **more: Any) -> None:
        round_ = more.pop("round", self.rounds_held + 1)
        slot = self.tasks[0].slot
        note(Message(str(place + 1), kind, slot=slot, round=round_, **more))

    def step(self, observations: Sequence[Any], random: Sequence[Random]) -> None:
        """Begin a step: what each member sees, and its random words."""
        self.observations, self.words = list(observations), list(random)
        self.answered, self.rounds_held = [], 0

    def ask(
        self, observations: Sequence[Any] | None = None, places: Sequence[int] | None = None
    ) -> list[Any]:
        """Ask members for their answers to what they see, or are shown here; None abstains."""
        shown_to = self.observations if observations is None else observations
        held = self.rounds_held
        words = [one.part(ROUNDS + held) if held else one for one in self.words]

        def answer(n: int) -> Any:
            return self.checked(self.minds[n].act(shown_to[n], words[n]), n, shown_to[n])

        found = self.each(answer, places)
        if not self.answered:
            self.answered = [None] * len(self.seated)
        for n in range(len(found)) if places is None else places:
            self.answered[n] = found[n]
        return list(self.answered)

    def checked(self, answer: Any, place: int, seen: Any) -> Any:
        """Return an answer as an action; None if it says that there is none; fail if it is none."""
        space: Space = self.tasks[place].actions
        if isinstance(answer, Failure):
            raise Failed(answer)
        listed = legal(seen)
        if not space.contains(answer) or (listed is not None and answer not in listed):
            raise Failed(malformed(answer, space, listed))
        if not isinstance(space, Discrete):
            return answer
        number = operator.index(answer)
        return None if number == space.none else number

    # ------------------------------------------------------------ letting them talk

    def talk(self, rounds: int = 1) -> list[Any]:
        """Let members tell their answers to those who hear them; return the answers after it.

        Members that can hear, and heard something, are asked again; all others keep their answer.
        """
        if not 0 <= rounds <= MOST_ROUNDS:
            raise Error(f"{self.called}: rounds must be 0 to {MOST_ROUNDS}, not {rounds}")
        if not self.answered:
            self.ask()
        for _ in range(rounds):
            said = self.speak(range(len(self.seated)), self.audience)
            listening = [n for n in range(len(self.seated)) if self.listen(n, said)]
            self.rounds_held += 1
            self.ask(places=listening)
        return list(self.answered)

    def speak(self, places: Sequence[int], audience: Mapping[int, Sequence[int]]) -> list[Message]:
        """Collect what some members say, and note it; those that are muted say nothing."""
        texts = self.each(self._words_of, places)
        said = []
        for n in places:
            heard_by = tuple(m for m, heard in audience.items() if n + 1 in heard)
            silent = self.answered[n] is None and not texts[n]
            if n + 1 not in self.muted and heard_by and not silent:
                more = {"hearers": heard_by, "answer": self.answered[n], "text": texts[n] or ""}
                said.append(Message(str(n + 1), "says", round=self.rounds_held + 1, **more))
                self._note("says", n, **more)
        return said

    def _words_of(self, place: int) -> str:
        mind = self.minds[place]
        words = mind.say() if hasattr(mind, "say") else ""
        if not isinstance(words, str):
            said = f"say gave {shown(words, repr)}; a text was due"
            raise Failed(Failure("malformed", said))
        return words if len(words) <= self.size else f"…{words[len(words) - self.size :]}"

    def listen(self, place: int, said: Sequence[Message]) -> bool:
        """Let a member hear what is said to it; return True if it can hear, and heard something."""
        heard = [one for one in said if place + 1 in one.hearers]
        if not heard or place not in self.present or not can_hear(self.minds[place]):
            return False
        self.each(lambda n: self.minds[n].hear(heard), [place])
        return True


@dataclass
class Committee(Members, MindBase):
    """Members that see the same and give one answer together: override `choose`.

    It plays one slot of any instrument. In `choose`, ``self.ask()`` returns the answers of all
    members, None for one that abstains, and ``self.talk(rounds)`` lets them tell each other theirs
    and returns the answers after it. A member learns from the steps in which its answer was the
    group's; to another one, the reward would speak of an action that it did not choose.

    Parameters
    ----------
    members : sequence of Subject
        The members, as registered names in brackets are resolved to them.
    fails : "group" or "abstain"
        What a member that fails does.
    mute, drop : str
        Members whose messages nobody hears, and members that are not there, such as ``1/3``.

    Examples
    --------
    >>> from allminds import Committee, evaluate, mind
    >>> @mind("last-word")
    ... class LastWord(Committee):
    ...     def choose(self, observation, random):
    ...         return self.talk()[-1]
    >>> evaluate("matching-pennies", ["last-word(heads,tails)"], episodes=8)["results"][0]["failed"]
    0
    """

    fails: str = field(default="group", kw_only=True)
    mute: str = field(default="", kw_only=True)
    drop: str = field(default="", kw_only=True)

    takes_members = True
    decides = ""  # the member without whose answer there is none, if there is such a member

    def __post_init__(self) -> None:
        """Require members, and the same practice of all that practise."""
        if not self.members:
            name = self.called
            raise Error(f"{name} has no members; name them in brackets, as {name}(random*3)")
        super().__post_init__()
        if len({member.traits.practice for member in self.members} - {0}) > 1:
            raise Error(f"{self.called}: members that practise must practise equally often")

    def traits_of(self, members: Sequence[Subject]) -> Traits:
        """Declare what follows from the members; a committee plays exercise by exercise."""
        return replace(
            super().traits_of(members),
            deterministic=len(members) == 1 and members[0].traits.deterministic,
            learns=any(member.traits.learns for member in members),
            practice=max(member.traits.practice for member in members),
            one_at_a_time=True,
        )

    def begin(self, task: Task) -> None:
        """Begin a play: all members are told the same."""
        self.seat(self.members, [task] * len(self.members))

    def told(self, member: int) -> str:
        """Write what a member is told: all see the same, and one answer counts."""
        count = len(self.seated)
        group = f"You are member {member} of a group of {count} that gives one answer together."
        return f"{group} {self.how}".strip()

    def act(self, observation: Any, random: Random) -> Any:
        """Return the answer that the protocol chooses."""
        count = len(self.members)
        self.step([observation] * count, [random.part(FIRST + n) for n in range(count)])
        lot = random.part(OWN)
        chosen = self.choose(observation, lot)
        for n, answer in enumerate(self.answered):
            if answer is not None:
                self._note("answers", n, answer=answer)
        self.chosen = self.undecided(lot) if chosen is None else chosen
        return self.chosen

    def choose(self, observation: Any, random: Random) -> Any:
        """Choose the group's answer, drawing lots from `random`; None if it cannot decide."""
        raise NotImplementedError

    def undecided(self, random: Random) -> Any:
        """Return the group's action if it could not decide: no answer, or one of them by lot.

        If no member gave an answer, the group gives none; where the test has no such action, it
        fails.
        """
        space: Space = self.tasks[0].actions
        if isinstance(space, Discrete) and space.none is not None:
            return space.none
        given = [answer for answer in self.answered if answer is not None]
        if not given or self.decides:
            who = f"the {self.decides}" if self.decides else "no member of the group"
            said = "gave no answer" if self.decides else "gave an answer"
            raise Failed(Failure("refused", f"{who} {said}"))
        return given[random.below(len(given))]

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Teach the members whose answer was the group's."""

        def taught(n: int) -> None:
            if hasattr(self.minds[n], "learn"):
                self.minds[n].learn(reward, observation, done)

        agreed = [n for n, answer in enumerate(self.answered) if answer == self.chosen]
        self.each(taught, agreed)

    @property
    def options(self) -> list[int]:
        """The actions that are allowed now; reject a test that does not list its actions."""
        space = self.tasks[0].actions
        if not isinstance(space, Discrete):
            name = self.tasks[0].instrument
            raise Error(f"{self.called} counts answers from a list, and {name} has no list of them")
        return [int(action) for action in space.allowed(self.observations[0])]


@dataclass
class Team(Members):
    """Members that each have a slot and act in it: override `choose`.

    It plays as many slots of any instrument as it has members. In `choose`, ``self.ask()`` returns
    the action that each member would take, and ``self.talk(rounds)`` lets them tell each other
    first; what `choose` returns is done, slot by slot.

    Parameters
    ----------
    members : sequence of Subject
        The members, as registered names in brackets are resolved to them.

    Examples
    --------
    >>> from allminds import Team, evaluate, group
    >>> @group("contrary")
    ... class Contrary(Team):
    ...     def choose(self, observations, random):
    ...         return self.ask()[::-1]
    >>> evaluate("prisoners-dilemma", ["contrary(cooperate,defect)"], episodes=8)["results"][0]["failed"]
    0
    """  # noqa: E501

    is_group = True
    alone = ""  # what a member is by itself, if none is named

    def __post_init__(self) -> None:
        """Reject members that practise: they would learn from actions that were not their own."""
        super().__post_init__()
        for member in self.members:
            if member.traits.practice:
                raise Error(f"{self.called}: {member.name} learns by practice, which a team has "
                            "no room for")  # fmt: skip

    def begin(self, tasks: Sequence[Task]) -> None:
        """Make the members' minds, each with the task of its slot."""
        if not self.members:
            raise Error(f"{self.called} has no members; name them in brackets, one for each slot")
        self.seat(self.members, tasks)

    def act(self, observations: Sequence[Any], random: Sequence[Random]) -> Sequence[Any]:
        """Return the action of every member whose turn it is, in slot order."""
        if len(observations) < len(self.seated):
            raise Error(f"{self.called} needs all its members to act at once, and in "
                        f"{self.tasks[0].instrument} they take turns")  # fmt: skip
        self.step(observations, random)
        return self.choose(observations, random)

    def choose(
        self,
        observations: Sequence[Any],
        random: Sequence[Random],
    ) -> Sequence[Any]:
        """Decide what the members do; here, each does what it wants."""
        return self.ask()

    def learn(self, rewards: Sequence[float], observations: Sequence[Any], done: bool) -> None:
        """Tell the members what their actions brought, if they have a `learn`."""
        for mind, reward, view in zip(self.minds, rewards, observations, strict=True):
            if hasattr(mind, "learn"):
                mind.learn(reward, view, done)
