"""Groups for Λ* (Chmait et al. 2016, §5.2.2); `fast.groups` has their compiled twins.

A protocol plays all slots of a group. Its members are minds (local search unless others are
named): each has a *wish*, the action that its own mind would take on its own observation, and the
protocol decides what becomes of the wishes from what the members tell each other. Members see
only their own observation and what the protocol shares; the protocol also knows their cells.

A group of one is local search, bit for bit, under every protocol but `crowd` and `imitation`.
To write a protocol of your own, subclass `Protocol` and decide in `choose`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from allminds.contracts import Task
from allminds.core.errors import Error
from allminds.core.groups import Team
from allminds.core.line_up import Subject
from allminds.core.seeding import Random
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.minds import (
    INSTRUMENT,
    Expert,
    LocalSearch,
    QLearning,
    Sarsa,
    TableLearner,
    moves_of,
    torus_of,
)
from allminds.instruments.lambda_star.world import View
from allminds.instruments.tables import uniform_best
from allminds.registry import group

DRAW = 1  # the word of the first member that a protocol draws from; word 0 breaks the wish's ties


@dataclass
class Protocol(Team):
    """A group on the torus whose members have minds of their own; override `choose`."""

    alone = "local-search"  # what a member is by itself, if none is named

    def begin(self, tasks: Sequence[Task]) -> None:
        """Make the members' minds, but for those that stay."""
        self.torus: Torus = torus_of(tasks[0])
        self.moves = [moves_of(task) for task in tasks]
        self.seat(self.members or [Subject("", LocalSearch)] * len(tasks), tasks)

    def act(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Return the action of every member; reject a test that does not show cells."""
        if not isinstance(observations[0], View):
            name, where = self.called, self.tasks[0].instrument
            raise Error(f"{name} goes by the rewards in cells of a torus, and {where} shows none")
        return super().act(observations, random)

    def wishes(self, observations: Sequence[View], random: Sequence[Random]) -> list[int]:
        """Ask each member's own mind for the action it would take on what it is shown."""
        self.step(observations, random)
        return self.ask()

    def all_toward(self, target: int, observations: Sequence[View]) -> list[int]:
        """Move every member one step toward a cell."""
        return [self.toward(me, view.cell, target) for me, view in enumerate(observations)]

    def toward(self, member: int, cell: int, target: int) -> int:
        """Return the member's move of one step toward a cell."""
        return self.torus.toward(cell, target, self.moves[member])


@dataclass
@group("stigmergy", INSTRUMENT)
class Stigmergy(Protocol):
    """Members leave fake rewards in the cells they see, and go by them (Chmait et al. 2016).

    All fake rewards start a step at 0; in slot order each member writes R + γ·max + (1-γ)·min of
    what it sees into the cells it sees, a later one overwriting.
    """

    gamma: float = 0.5  # γ, the weight of the best against the worst

    def __post_init__(self) -> None:
        """Require that γ is in (0, 1)."""
        super().__post_init__()
        if not 0 < self.gamma < 1:
            raise Error(f"stigmergy: gamma must be in (0, 1), not {self.gamma:g}")

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Show fake rewards to the members' own minds."""
        fake: dict[int, float] = {}
        for view in observations:
            extra = self.gamma * max(view.rewards) + (1 - self.gamma) * min(view.rewards)
            for cell, reward in zip(view.cells, view.rewards, strict=True):
                fake[cell] = reward + extra
        shown = [
            View(view.cells, tuple(fake[cell] for cell in view.cells)) for view in observations
        ]
        return self.wishes(shown, random)


@group("crowd", INSTRUMENT)
class Crowd(Protocol):
    """The wisdom of the crowd: one map of what any member has seen; all go to its best cell.

    What is not seen again fades by one half a step. If nothing on the map is above 0, each
    follows its own mind.
    """

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin with an empty map."""
        super().begin(tasks)
        self.map = dict.fromkeys(range(1, self.torus.cells + 1), 0.0)

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move all toward one best cell of the map, drawn once for all."""
        wishes = self.wishes(observations, random)
        seen = {
            cell: reward
            for view in observations
            for cell, reward in zip(view.cells, view.rewards, strict=True)
        }
        self.map = {cell: seen.get(cell, worth / 2) for cell, worth in self.map.items()}
        if max(self.map.values()) <= 0:
            return wishes
        cells = list(self.map)
        best = cells[uniform_best(list(self.map.values()), random[0], DRAW)]
        return self.all_toward(best, observations)


@dataclass
@group("auction", INSTRUMENT)
class Auction(Protocol):
    """The member that sees the highest reward names the cell that all go to; first among equals.

    If no member sees a reward above 0, each follows its own mind; with `fallback=false`, all go to
    the winner's cell even then.
    """

    fallback: bool = True

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move all toward the wish of the highest bidder."""
        wishes = self.wishes(observations, random)
        bids = [max(view.rewards) for view in observations]
        winner = bids.index(max(bids))
        if self.fallback and bids[winner] <= 0:
            return wishes
        target = self.torus.moved(observations[winner].cell, wishes[winner])
        return self.all_toward(target, observations)


@group("dictator", INSTRUMENT)
class Dictator(Protocol):
    """All step toward the cell that the first member steps into."""

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move all toward the first member's wish."""
        wishes = self.wishes(observations, random)
        target = self.torus.moved(observations[0].cell, wishes[0])
        return self.all_toward(target, observations)


@group("tree", INSTRUMENT)
class Tree(Protocol):
    """A hierarchy numbered as a heap: each heeds itself and its two children, never a parent."""

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move each toward the wish of the best-placed of three; ties: itself, the elder child."""
        wishes = self.wishes(observations, random)
        actions = []
        for me, view in enumerate(observations):
            family = [who for who in (me, 2 * me + 1, 2 * me + 2) if who < len(observations)]
            heeded = max(family, key=lambda who: max(observations[who].rewards))
            target = self.torus.moved(observations[heeded].cell, wishes[heeded])
            actions.append(self.toward(me, view.cell, target))
        return actions


@dataclass
@group("imitation", INSTRUMENT)
class Imitation(Protocol):
    """An unscored expert is in the grid; a member that has it in sight steps onto its cell.

    The expert starts on a uniform cell and moves once a step before the members do.
    """

    intercept: bool = True  # of the expert

    def __post_init__(self) -> None:
        """Declare that the group sees the future: the expert does, the members do not."""
        super().__post_init__()
        self.traits = replace(self.traits, sees="future")

    def begin(self, tasks: Sequence[Task]) -> None:
        """Create the expert along with the members."""
        super().begin(tasks)
        self.expert = Expert(self.intercept)
        self.expert.begin(tasks[0])
        self.at: int | None = None

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Move the expert; members that see it follow it, the others go by their own minds."""
        if self.at is None:
            self.at = 1 + random[0].below_at(self.torus.cells, DRAW)
        self.at = self.torus.moved(self.at, self.expert.act(View((self.at,), (0.0,)), random[0]))
        wishes = self.wishes(observations, random)
        return [
            self.toward(me, view.cell, self.at) if self.at in view.cells else wish
            for me, (view, wish) in enumerate(zip(observations, wishes, strict=True))
        ]


@group("majority", INSTRUMENT)
class Majority(Protocol):
    """Members vote for a direction, and all take the winner; uniform on ties.

    A member without that move makes the move of its own that leads nearest to where it would.
    """

    def choose(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Give all the direction with the most votes."""
        wishes = self.wishes(observations, random)
        votes: Counter[int] = Counter()
        for wish, weight in zip(wishes, self.weights(observations), strict=True):
            votes[wish] += weight  # type: ignore[assignment] # weights need not be whole
        winner = 1 + uniform_best([votes[a] for a in range(1, 10)], random[0], DRAW)
        return [
            winner if winner in self.moves[me]
            else self.toward(me, view.cell, self.torus.moved(view.cell, winner))
            for me, view in enumerate(observations)
        ]  # fmt: skip

    def weights(self, observations: Sequence[View]) -> list[float]:
        """Weigh the members' votes: all equal."""
        return [1.0] * len(observations)


@group("weighted-majority", INSTRUMENT)
class WeightedMajority(Majority):
    """As majority, but a vote counts as much as the best reward its member sees.

    If no member sees a reward above 0, each vote counts 1.
    """

    def weights(self, observations: Sequence[View]) -> list[float]:
        """Weigh the members' votes by the best reward they see."""
        best = [max(0.0, max(view.rewards)) for view in observations]
        return best if any(best) else super().weights(observations)


class SharedTable:
    """Learners that share one table, updated in slot order; each acts by it on its own."""

    is_group = True
    learner: ClassVar[type[TableLearner]]

    def start(self, learner: TableLearner, members: Sequence[Subject]) -> None:
        """Take over the parameters of a single learner."""
        if members:
            raise Error("a shared table has learners of its own; leave out the members")
        self.model, self.traits = learner, learner.traits
        self.learners: list[TableLearner] = []

    def begin(self, tasks: Sequence[Task]) -> None:
        """Keep the same learners in every rehearsal, round one table."""
        if not self.learners:
            import copy

            self.learners = [copy.copy(self.model) for _ in tasks]
        for learner, task in zip(self.learners, tasks, strict=True):
            learner.table = self.model.table
            learner.begin(task)

    def act(self, observations: Sequence[View], random: Sequence[Random]) -> Sequence[int]:
        """Ask each learner for its action by the common table."""
        pairs = zip(self.learners, observations, random, strict=True)
        return [learner.act(view, words) for learner, view, words in pairs]

    def learn(
        self, rewards: Sequence[float], observations: Sequence[View | None], done: bool
    ) -> None:
        """Let each learner write into the common table, in slot order."""
        for learner, reward, view in zip(self.learners, rewards, observations, strict=True):
            learner.learn(reward, view, done)


@dataclass
@group("shared-q-learning", INSTRUMENT)
class SharedQLearning(SharedTable):
    """Q-learning with one table for all (Chmait et al. 2016); the parameters of `q-learning`."""

    alone = "q-learning"
    carry: bool = field(default=False, kw_only=True)  # keeps the table over a course

    members: Sequence[Subject] = ()
    alpha: float = 0.3
    gamma: float = 0.3
    epsilon: float = 0.0
    initial: float = 2.0
    scale: float = 10.0
    sessions: int = 100

    learner: ClassVar[type[TableLearner]] = QLearning

    def __post_init__(self) -> None:
        """Make the model; learners follow when the number of slots is known."""
        given = (self.alpha, self.gamma, self.epsilon, self.initial, self.scale, self.sessions)
        self.start(self.learner(*given, carry=self.carry), self.members)


@dataclass
@group("shared-sarsa", INSTRUMENT)
class SharedSarsa(SharedQLearning):
    """SARSA with one table for all; the parameters of `sarsa`."""

    alone = "sarsa"
    learner: ClassVar[type[TableLearner]] = Sarsa
