"""Minds for many games: the same action always, a person at the terminal, and those that adapt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allminds import registry
from allminds.contracts import Discrete, Failure, MindBase, Task, Traits
from allminds.core.bases import PolicyMind
from allminds.core.errors import Error, nearest
from allminds.core.seeding import Random
from allminds.instruments.aixi.mind import Aixi
from allminds.instruments.aixi.tree import Code, width
from allminds.instruments.games.game import GAMES, MATRIX_GAMES, Joint, Repeated, Round
from allminds.instruments.tables import Tabular
from allminds.registry import mind


@mind("always", (*MATRIX_GAMES, "commons", "pluralistic-ignorance", "predator-prey"))
class Always(PolicyMind):
    """Always takes the same action, by name or number: `always(rock)`; the first if not named."""

    traits = Traits(deterministic=True)

    def __init__(self, action: str = "0") -> None:
        self.action = action

    def begin(self, task: Task) -> None:
        """Find the number of the action."""
        super().begin(task)
        labels = getattr(task.actions, "labels", ())
        known = [*labels, *(str(self.first + n) for n in range(self.n))]
        if self.action not in known:
            raise Error(
                f"{task.instrument} has no action '{self.action}'; {nearest(self.action, known)}"
            )
        self.number = known.index(self.action) % self.n

    def policy(self, observation: Any) -> Sequence[float]:
        """Take one action for certain."""
        return self.certain(self.number)


class Constant(Always):
    """Always takes the action called `name`; a subclass for each action is made below."""

    name: str

    def __init__(self) -> None:
        super().__init__(self.name)


CONSTANTS = {  # what each does, by game and action
    "matching-pennies": {
        "heads": "Always shows the side heads.",
        "tails": "Always shows the side tails.",
    },
    "rock-paper-scissors": {
        "rock": "Always plays the action rock.",
        "paper": "Always plays the action paper.",
        "scissors": "Always plays the action scissors.",
    },
    "prisoners-dilemma": {
        "cooperate": "Always cooperates with the other.",
        "defect": "Always defects on the other.",
    },
    "stag-hunt": {"stag": "Always hunts the stag.", "hare": "Always hunts the hare."},
    "public-goods": {"give": "Always gives its unit away.", "keep": "Always keeps its own unit."},
    "pluralistic-ignorance": {
        "oppose": "Always opposes the norm in public.",
        "support": "Always supports the norm in public.",
    },
}
for _game, _actions in CONSTANTS.items():
    for _action, _does in _actions.items():
        _body = {"name": _action, "__doc__": _does, "__module__": __name__}
        _made = type(_action.capitalize(), (Constant,), _body)
        globals()[_made.__name__] = mind(_action, _game)(_made)  # a name by which it is pickled


@mind("human", (*GAMES, "pettingzoo:"))
class Human(MindBase):
    """Asks a person at the terminal; an empty line is a refusal. Play with --jobs 1."""

    traits = Traits(one_at_a_time=True)

    def begin(self, task: Task) -> None:
        """Find the instrument that puts the game into words."""
        self.tool = registry.make_instrument(task.instrument)
        print(f"\n{self.tool.name}: you are slot {task.slot} of {task.slots}.")

    def act(self, observation: Any, random: Random) -> Any:
        """Ask until there is an answer."""
        print(self.tool.show(observation, "text"))
        while True:
            answer = input("> ")
            if not answer.strip():
                return Failure("refused", "gave no answer")
            action = self.tool.read(answer, observation)
            if not isinstance(action, Failure):
                return action
            print(action.reason)

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Print the reward of the action."""
        print(f"reward {reward:+.2f}" + (" (the end)" if done else ""))


class TableReader(PolicyMind):
    """A mind that knows the table of pay-offs."""

    def begin(self, task: Task) -> None:
        """Learn the table of pay-offs."""
        super().begin(task)
        self.slot, self.rules = task.slot, rules_of(task)

    def paid(self, own: int, others: Joint) -> float:
        """Return what an action pays against those of the others."""
        return self.rules.table[(*others[: self.slot], own, *others[self.slot :])][self.slot]


def rules_of(task: Task) -> Repeated:
    """Return the game in normal form that a task says it is."""
    rules = task.facts.get("rules")
    if not isinstance(rules, Repeated):
        raise Error(f"{task.instrument} is not a game in normal form")
    return rules


@mind("best-reply", MATRIX_GAMES)
class BestReply(TableReader):
    """Plays the best answer to what the others did last; the first action first (Cournot 1838)."""

    traits = Traits(deterministic=True)

    def policy(self, observation: Round) -> Sequence[float]:
        """Choose the best answer, the first among equals."""
        if not observation.others:
            return self.certain(0)
        worth = [self.paid(action, observation.others) for action in range(self.n)]
        return self.certain(worth.index(max(worth)))


@mind("fictitious-play", MATRIX_GAMES)
class FictitiousPlay(TableReader):
    """Plays the best answer to how often the others did what (Brown 1951); first among equals."""

    traits = Traits(deterministic=True)

    def begin(self, task: Task) -> None:
        """Begin with nothing seen."""
        super().begin(task)
        self.seen: tuple[tuple[Joint, int], ...] = ()  # in order, so that equal counts are equal

    def policy(self, observation: Round) -> Sequence[float]:
        """Count, then answer; before anything is seen, take the first action."""
        if not observation.others:
            return self.certain(0)
        counts = Counter(dict(self.seen))
        counts[observation.others] += 1
        self.seen = tuple(sorted(counts.items()))
        worth = [
            math.fsum(times * self.paid(action, others) for others, times in self.seen)
            for action in range(self.n)
        ]
        return self.certain(worth.index(max(worth)))


@mind("regret-matching", MATRIX_GAMES)
class RegretMatching(TableReader):
    """Acts in proportion to how much it regrets not having done so (Hart and Mas-Colell 2000)."""

    def begin(self, task: Task) -> None:
        """Begin with nothing to regret."""
        super().begin(task)
        self.regrets = (0.0,) * self.n

    def policy(self, observation: Round) -> Sequence[float]:
        """Choose by positive regrets; uniformly while there is nothing to regret."""
        if observation.others:
            got = self.paid(observation.own, observation.others)
            self.regrets = tuple(
                regret + self.paid(action, observation.others) - got
                for action, regret in enumerate(self.regrets)
            )
        wanted = [max(regret, 0.0) for regret in self.regrets]
        total = math.fsum(wanted)
        return [want / total for want in wanted] if total > 0 else [1 / self.n] * self.n


@dataclass
@mind("roth-erev", MATRIX_GAMES)
class RothErev(TableReader):
    """Acts in proportion to what each action has brought (Roth and Erev 1995).

    Rewards are counted from the least that the table has, and every action starts at `initial`.
    """

    initial: float = 1.0

    def __post_init__(self) -> None:
        """Require a starting value above 0."""
        if self.initial <= 0:
            raise Error(f"roth-erev: initial must be above 0, not {self.initial:g}")

    def begin(self, task: Task) -> None:
        """Begin with all actions alike."""
        super().begin(task)
        self.least = min(rewards[self.slot] for rewards in self.rules.payoffs)
        self.strengths = (self.initial,) * self.n

    def policy(self, observation: Round) -> Sequence[float]:
        """Strengthen what was done by what it brought."""
        if observation.others:
            gain = self.paid(observation.own, observation.others) - self.least
            self.strengths = tuple(
                strength + (gain if action == observation.own else 0.0)
                for action, strength in enumerate(self.strengths)
            )
        total = math.fsum(self.strengths)
        return [strength / total for strength in self.strengths]


@dataclass
@mind("q-learning", (*GAMES, "pettingzoo:"))
class GameQLearning(Tabular):
    """Q-learning over situations (Watkins and Dayan 1992), practising on the exercise itself.

    It rehearses `sessions` times with the same others, and then plays with its table frozen; with
    `sessions=0` it learns while it counts. A reward that comes at another's move is its own last
    action's. Greedy with uniform ties, but for a share `epsilon` of its actions while it learns.
    With `carry` it keeps its table over a course, and learns while it counts.
    """

    alpha: float = 0.2  # learning rate α
    gamma: float = 0.9  # discount γ
    epsilon: float = 0.1
    initial: float = 0.0
    sessions: int = 100

    name = "q-learning"

    def begin(self, task: Task) -> None:
        """Begin a new play; what was learnt stays."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"q-learning cannot choose an action of {task.instrument}")
        self.actions, self.first, self.n = task.actions, task.actions.start, task.actions.n
        self.learning = task.rehearsal or self.carry or self.sessions == 0
        self.owed: tuple[list[float], int] | None = None  # whose value is to be updated
        self.gain = 0.0

    def row(self, seen: Any) -> list[float]:
        return self.table.setdefault(seen.situation, [self.initial] * self.n)

    def act(self, observation: Any, random: Random) -> int:
        """Settle what the last action brought, then take a best one of those allowed."""
        row = self.row(observation)
        allowed = [action - self.first for action in self.actions.allowed(observation)]
        self._settle(max(row[action] for action in allowed))
        action = allowed[self.chosen([row[action] for action in allowed], random)]
        self.owed = (row, action)
        return self.first + action

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Add a reward to those since its last action."""
        self.gain += reward
        if done:
            self._settle(0.0)

    def _settle(self, ahead: float) -> None:
        if self.learning and self.owed is not None:
            self.update(*self.owed, self.gain, ahead)
        self.owed, self.gain = None, 0.0


@dataclass
@mind("mc-aixi", MATRIX_GAMES)
class GameAixi(Aixi):
    """MC-AIXI (Veness and others 2011): learns a model of the others bit by bit, and plans in it.

    Written in bits, an observation is what the others did, and a reward is its place among those in
    the table of pay-offs. Its model mixes all prediction suffix trees over the last `depth` bits,
    and it takes the best action by `simulations` simulations of the next `horizon` rounds, with the
    exploration constant `bound`. A share `explore` of its actions is drawn by lot; after every
    round this share is multiplied by `decay`. With `carry` it keeps its model over the exercises of
    a course.
    """

    depth: int = 12
    horizon: int = 3
    simulations: int = 100
    bound: float = 1.0

    def code(self, task: Task) -> Code:
        rules, self.wide = rules_of(task), width(task.actions.n)  # type: ignore[attr-defined] # Discrete
        rewards = sorted({gains[task.slot] for gains in rules.payoffs})
        return Code(len(rules.labels), (task.slots - 1) * self.wide, tuple(rewards))

    def bits(self, observation: Round) -> int:
        number = 0  # as before the first round
        for action in observation.others:
            number = number << self.wide | action
        return number
