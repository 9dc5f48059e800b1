"""Minds that always take the same action, and a person at the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allminds import registry
from allminds.contracts import Failure, MindBase, PolicyMind, Task, Traits
from allminds.core.errors import Error, nearest
from allminds.core.seeding import Random
from allminds.instruments.games.game import GAMES, MATRIX_GAMES
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
