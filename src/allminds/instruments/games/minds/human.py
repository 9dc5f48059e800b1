"""A person at the terminal."""

from __future__ import annotations

from typing import Any

from allminds import registry
from allminds.contracts import Failure, MindBase, Task, Traits
from allminds.core.seeding import Random
from allminds.instruments.games.minds.base import GAMES
from allminds.registry import mind


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
