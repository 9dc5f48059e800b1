"""Protocols for groups on every instrument: votes, debates, judges, relays, samples and routes.

All but `talk` are committees: they have one slot, and their members see what it sees. `talk` has a
slot for each member. What a member that fails does is said in brackets (``fails=abstain`` or
``fails=group``); by default a published vote fails with it, and every other protocol goes on
without it. ``mute=2`` and ``drop=1/3`` show what a message or a member is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from allminds.contracts import Discrete, Failure, Message, Task, Traits, can_hear
from allminds.core.errors import Error, nearest
from allminds.core.groups import Committee, Team
from allminds.core.line_up import Subject
from allminds.core.messages import MOST_ROUNDS
from allminds.core.seeding import Random
from allminds.core.user_code import shown
from allminds.core.watch import Failed
from allminds.registry import group, mind
from allminds.voting import RANKED_RULES, majority_vote, ranked_vote, vote, vote_weights

MOST_SAMPLES = 1000


# ---------------------------------------------------------------- votes


@dataclass
@mind("vote")
class Vote(Committee):
    """Takes the answer of more than half of those that answered, else none (Chmait et al. 2017).

    Where a test has no action for no answer, it is then one of the answers by lot.
    """

    how = "The answer that more than half of its members give is the group's."

    def choose(self, observation: Any, random: Random) -> Any:
        """Elect the answer of more than half."""
        return majority_vote(self.ask(), random)


@dataclass
@mind("plurality")
class Plurality(Committee):
    """Takes the answer with most votes, by lot on ties."""

    how = "The answer that most of its members give is the group's."

    def choose(self, observation: Any, random: Random) -> Any:
        """Elect the answer with most votes."""
        return vote(self.ask(), random)


@dataclass
@mind("weighted-vote")
class WeightedVote(Committee):
    """A vote counts log((m-1)p/(1-p)), p its member's accuracy: p=0.4/0.5/0.6, in their order."""

    p: str = ""

    how = "Every member's answer counts by how often it was right; the heaviest is the group's."

    def __post_init__(self) -> None:
        """Require as many accuracies as members."""
        super().__post_init__()
        self.accuracies = _numbers(self.p)
        count = len(self.members)
        if len(self.accuracies) != count or not all(0 < p < 1 for p in self.accuracies):
            raise Error(
                f"weighted-vote: p must be {count} numbers in (0, 1) with / between, not '{self.p}'"
            )

    def choose(self, observation: Any, random: Random) -> Any:
        """Elect the answer with most weight."""
        answers, options = self.ask(), self.options
        if len(options) < 2:
            return vote(answers, random)
        weights = vote_weights(self.accuracies, len(options))
        return vote(answers, random, weights.tolist(), options)


@dataclass
@mind("ranked-vote")
class RankedVote(Committee):
    """Members rank all answers, and Borda, harmonic, maximin or Copeland elects one: rule=borda.

    A mind ranks by its method `rank`. One that has only an answer ranks it first and the others
    by lot. Ties are broken by lot (ties=coin), or the group cannot decide (ties=fail).
    """

    rule: str = "borda"
    ties: Literal["coin", "fail"] = "coin"
    fails: str = field(default="abstain", kw_only=True)

    how = "Every member ranks the answers, and the one that is ranked best by all is the group's."

    def __post_init__(self) -> None:
        """Require a rule that there is."""
        super().__post_init__()
        if self.rule not in RANKED_RULES:
            raise Error(f"ranked-vote: there is no rule '{self.rule}'; "
                        f"{nearest(self.rule, RANKED_RULES)}")  # fmt: skip
        if self.ties not in ("coin", "fail"):
            raise Error(f"ranked-vote: ties must be coin or fail, not '{self.ties}'")

    def choose(self, observation: Any, random: Random) -> Any:
        """Elect an answer from the rankings."""
        options = self.options
        self.answered = [None] * len(self.seated)
        ballots = self.each(lambda n: self._ballot(n, options))
        self.answered = [ballot[0] if ballot else None for ballot in ballots]
        return ranked_vote(ballots, random, self.rule, self.ties)

    def _ballot(self, place: int, options: Sequence[int]) -> list[int] | None:
        """Ask a member for its ranking, or make one of its answer; None if it has none."""
        member, seen, words = self.minds[place], self.observations[place], self.words[place]
        ranked = member.rank(seen, words) if hasattr(member, "rank") else None
        if ranked is None:
            answer = self.checked(member.act(seen, words), place, seen)
            if answer is None:
                return None
            rest = [option for option in options if option != answer]
            return [answer, *(rest[n] for n in words.part(0).permutation(len(rest)))]
        try:
            found = [int(option) for option in ranked]
        except (TypeError, ValueError):
            found = []
        if sorted(found) != sorted(options):
            said = f"rank gave {shown(ranked, repr)}; each of {list(options)} was due once"
            raise Failed(Failure("malformed", said))
        return found


# ---------------------------------------------------------------- one mind, often


@dataclass
@mind("samples")
class Samples(Committee):
    """Asks one mind several times, each time afresh, and takes the answer with most votes.

    ``samples(llm(openai/gpt-4o),5)``: self-consistency (Wang et al. 2023).
    """

    n: int = 0
    fails: str = field(default="abstain", kw_only=True)

    def __post_init__(self) -> None:
        """Repeat the one member `n` times; without `n` the members are the samples."""
        if self.n and len(self.members) != 1:
            raise Error(f"samples repeats one mind, not {len(self.members)}; name one, or leave "
                        "out the number")  # fmt: skip
        if not 0 <= self.n <= MOST_SAMPLES:
            raise Error(f"samples: n must be 1 to {MOST_SAMPLES}, not {self.n}")
        if self.n:
            self.members = tuple(self.members) * self.n
        if len({member.name for member in self.members}) > 1:
            raise Error("samples repeats one mind; plurality asks several")
        super().__post_init__()

    def told(self, member: int) -> str:
        """Tell a sample nothing of the others."""
        return ""

    def choose(self, observation: Any, random: Random) -> Any:
        """Elect the answer with most votes."""
        return vote(self.ask(), random)


# ---------------------------------------------------------------- members that talk


@dataclass
class Talking(Committee):
    """A committee whose members tell each other their answers before they decide."""

    rounds: int = 1
    hears: str = "all"
    size: int = 1000
    fails: str = field(default="abstain", kw_only=True)

    def __post_init__(self) -> None:
        """Require a number of rounds within its bounds."""
        super().__post_init__()
        _check_rounds(self.called, self.rounds)


@dataclass
@mind("debate")
class Debate(Talking):
    """Members tell each other their answers and reasons for some rounds, then the most win.

    ``debate(a,b,c,rounds=2,hears=ring)``; hears is all, ring, star, tree or a mapping such as
    1:2+3/2:1. Members that cannot hear keep their answer (Du et al. 2023).
    """

    rounds: int = 2

    how = (
        "Each member answers, then hears what others answered and may change its mind; the answer "
        "that most of them give at the end is the group's."
    )

    def choose(self, observation: Any, random: Random) -> Any:
        """Let them talk, then elect the answer with most votes."""
        return vote(self.talk(self.rounds), random)


@dataclass
@mind("judge")
class Judge(Talking):
    """The last member hears the answers of all others, and decides: judge(a,b,the-judge).

    With rounds above 1 the others talk to each other before.
    """

    decides = "judge"
    how = "The last member hears what all others answer, and what it then answers is the group's."

    def __post_init__(self) -> None:
        """Require a judge that can hear, and somebody to hear."""
        super().__post_init__()
        _check_listeners("judge", self.members[-1:])
        if len(self.members) < 2:
            raise Error("judge has one member; name at least one more, whom it is to hear")

    def choose(self, observation: Any, random: Random) -> Any:
        """Ask all but the judge, then tell it, then ask it."""
        last = len(self.members) - 1
        self.ask(places=range(last))
        others = {m: tuple(n for n in of if n <= last) for m, of in self.audience.items()}
        for _ in range(self.rounds - 1):
            said = self.speak(range(last), {m: of for m, of in others.items() if m <= last})
            listening = [n for n in range(last) if self.listen(n, said)]
            self.rounds_held += 1
            self.ask(places=listening)
        everyone = {last + 1: tuple(range(1, last + 1))}
        self.listen(last, self.speak(range(last), everyone))
        self.rounds_held += 1
        return self.ask(places=[last])[last]


@dataclass
@mind("relay")
class Relay(Talking):
    """Each member hears the answer before it and answers in its turn; the last answer counts.

    With heard=all, each hears all answers before it. One that abstains passes on what it heard.
    """

    heard: str = "last"

    how = "Members answer in turn, each after it heard the answer before; the last is the group's."

    def __post_init__(self) -> None:
        """Require members that can hear."""
        super().__post_init__()
        if self.heard not in ("last", "all"):
            raise Error(f"relay: heard must be last or all, not '{self.heard}'")
        _check_listeners("relay", self.members[1:])

    def choose(self, observation: Any, random: Random) -> Any:
        """Ask one after the other."""
        said: list[Message] = []
        last = None
        for n in range(len(self.members)):
            self.listen(n, said if self.heard == "all" else said[-1:])
            last = answer if (answer := self.ask(places=[n])[n]) is not None else last
            following = n + 2 if self.heard == "last" else len(self.members)
            later = {m: (n + 1,) for m in range(n + 2, following + 1) if m <= len(self.members)}
            said += self.speak([n], later)
            self.rounds_held += 1
        return last


@dataclass
@mind("dictator")
class Dictator(Committee):
    """The first member decides for all; what the others answer does not count."""

    decides = "dictator"
    how = "What its first member answers is the group's."

    def choose(self, observation: Any, random: Random) -> Any:
        """Take the first member's answer."""
        return self.ask()[0]


@dataclass
@mind("conformist")
class Conformist(Committee):
    """A mind that answers as most of those it heard and itself do; its own answer on ties.

    It has one member, which has its own opinion, and can be a member of groups that talk.
    """

    def __post_init__(self) -> None:
        """Require that there is one member."""
        super().__post_init__()
        if len(self.members) != 1:
            raise Error(f"conformist has one member, its own opinion, not {len(self.members)}")

    def begin(self, task: Task) -> None:
        """Begin with nothing heard."""
        super().begin(task)
        self.opinion: tuple[int, Any] = -1, None  # the step, and the opinion in it
        self.heard: list[Any] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Keep the answers that were heard until it is asked."""
        self.heard = [one.answer for one in messages if one.answer is not None]

    def act(self, observation: Any, random: Random) -> Any:
        """Answer as most do; the own opinion is asked for once a step."""
        if self.opinion[0] != random.step:
            self.opinion = random.step, super().act(observation, random)
        own = self.opinion[1]
        space = self.tasks[0].actions
        silent = isinstance(space, Discrete) and own == space.none
        given = [*self.heard, *([] if silent and self.heard else [own])]
        most = max(given.count(answer) for answer in given)
        tied = [answer for answer in dict.fromkeys(given) if given.count(answer) == most]
        self.heard = []
        self.chosen = own if own in tied else tied[random.below(len(tied))]
        return self.chosen

    def choose(self, observation: Any, random: Random) -> Any:
        """Ask its own opinion."""
        return self.ask()[0]


# ---------------------------------------------------------------- the right member for the task


@dataclass
@mind("route")
class Route(Committee):
    """Gives each exercise to one member by its complexity: route(easy,hard,at=9,by=k).

    ``at`` are the bounds between members, ascending with / between: a member plays below its bound,
    the last one from the last bound on. ``by`` is the column of complexity, by default the first.
    This is the selection of Chmait et al. (2017) as a group, and the group is told the complexity;
    ``allminds select`` finds the bounds.
    """

    at: str = ""
    by: str = ""

    def __post_init__(self) -> None:
        """Require a bound between each two members."""
        super().__post_init__()
        self.bounds, count = _numbers(self.at), len(self.members)
        ascending = all(a < b for a, b in pairwise([-math.inf, *self.bounds]))  # NaN is not
        if len(self.bounds) != count - 1 or not ascending:
            raise Error(
                f"route: at must be {count - 1} ascending numbers with / between, not '{self.at}'"
            )

    def traits_of(self, members: Sequence[Subject]) -> Traits:
        """Declare that the group is told the complexity."""
        found = super().traits_of(members)
        return found if found.sees == "future" else replace(found, sees="complexity")

    def told(self, member: int) -> str:
        """Tell a member nothing: it answers alone."""
        return ""

    def begin(self, task: Task) -> None:
        """Choose the member by the complexity of the exercise."""
        measured = dict(task.complexity or {})
        by = self.by or next(iter(measured), "")
        if by not in measured:
            has = f"; it has {', '.join(measured)}" if measured else ""
            raise Error(f"route: {task.instrument} has no measure of complexity '{by}'{has}")
        self.place = sum(measured[by] >= bound for bound in self.bounds)
        super().begin(task)
        self.present = [n for n in self.present if n == self.place]

    def choose(self, observation: Any, random: Random) -> Any:
        """Ask the one member."""
        return self.ask()[self.place]


# ---------------------------------------------------------------- a slot for each member


@dataclass
@group("talk")
class Talk(Team):
    """Members with a slot each tell each other what they want to do, then each decides.

    ``talk(a,b,c,rounds=1,hears=ring)``. Members that cannot hear do what they would do alone.
    """

    rounds: int = 1
    hears: str = "all"
    size: int = 1000
    mute: str = field(default="", kw_only=True)

    how = (
        "Each member acts in its own place. Before every step it hears what others want to do, "
        "and may change its mind."
    )

    def __post_init__(self) -> None:
        """Require a number of rounds within its bounds."""
        super().__post_init__()
        _check_rounds("talk", self.rounds)

    def choose(self, observations: Sequence[Any], random: Sequence[Random]) -> Sequence[Any]:
        """Let them talk; each then does what it wants."""
        return self.talk(self.rounds)


# ---------------------------------------------------------------- parameters


def _check_rounds(name: str, rounds: int) -> None:
    if not 1 <= rounds <= MOST_ROUNDS:
        raise Error(f"{name}: rounds must be 1 to {MOST_ROUNDS}, not {rounds}")


def _check_listeners(name: str, members: Sequence[Subject]) -> None:
    """Require that members can hear, without which the protocol would be another one."""
    for member in members:
        if not can_hear(member.maker):
            raise Error(
                f"{name}: {member.name} cannot hear what others answer; name a language model, a "
                f"mind with a method 'hear', or conformist({member.name})"
            )


def _numbers(text: str) -> list[float]:
    """Parse numbers with / between; a part that is no finite number is NaN."""
    found = []
    for part in text.split("/") if text else ():
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        found.append(number if math.isfinite(number) else math.nan)
    return found
