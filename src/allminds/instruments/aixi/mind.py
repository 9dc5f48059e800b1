"""The mind MC-AIXI: subclasses say how the world of their instrument is written in bits."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from allminds.contracts import Discrete, MindBase, Task, Traits
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.instruments.aixi.search import PlainAgent, Search
from allminds.instruments.aixi.tree import Code

MOST_BITS = 20  # of a percept
LIMITS = {"depth": (0, 200), "horizon": (1, 100), "simulations": (1, 1_000_000)}


@dataclass
class Aixi(MindBase):
    """MC-AIXI (Veness and others 2011): it learns a model of the world, and plans in it.

    The model is the mixture of all prediction suffix trees over the last `depth` bits of what it
    did and saw, one tree for each bit of a percept (`tree`). The plan is the best action by
    `simulations` simulations of the next `horizon` steps (`search`), with the exploration constant
    `bound`. A share `explore` of its actions is drawn by lot; after every step this share is
    multiplied by `decay`. With `carry` it keeps its model for the exercises that follow, as long as
    they are written in the same bits; each begins with an empty history.
    """

    depth: int = 24
    horizon: int = 4
    simulations: int = 100
    bound: float = 1.4  # the constant C of upper confidence bounds
    explore: float = 0.0
    decay: float = 1.0
    carry: bool = False

    name: ClassVar[str] = "mc-aixi"
    plain: ClassVar[bool] = False  # whether to go by the specification; the bits are the same

    def __post_init__(self) -> None:
        """Check that the parameters are in range."""
        for key, (least, most) in LIMITS.items():
            if not least <= getattr(self, key) <= most:
                said = f"must be in {least}..{most}, not {getattr(self, key)}"
                raise Error(f"{self.name}: {key} {said}")
        for key in ("explore", "decay"):
            if not 0 <= getattr(self, key) <= 1:
                raise Error(f"{self.name}: {key} must be in [0, 1], not {getattr(self, key):g}")
        if not self.bound >= 0:
            raise Error(f"{self.name}: bound must be 0 or more, not {self.bound:g}")
        self.traits = Traits(learns=True, carries=self.carry)
        self.agents: dict[Code, Any] = {}  # by how a world is written in bits
        self.share = self.explore  # of actions drawn by lot, now

    # ------------------------------------------------------------ how a world is written

    @abstractmethod
    def code(self, task: Task) -> Code:
        """Say how the world of a task is written in bits."""

    @abstractmethod
    def bits(self, observation: Any) -> int:
        """Write an observation as a number of as many bits as the code says."""

    # ------------------------------------------------------------ what it does

    def begin(self, task: Task) -> None:
        """Begin with an empty history, and with an empty model unless it carries one."""
        if not isinstance(task.actions, Discrete):
            raise Error(f"{self.name} cannot choose an action of {task.instrument}")
        if not self.carry:
            self.agents, self.share = {}, self.explore
        self.first, self.left, self.started = task.actions.start, task.steps, False
        self.written = self.code(task)
        bits = self.written.bits + self.written.reward_bits
        if bits > MOST_BITS:
            raise Error(
                f"{self.name}: a percept of {task.instrument} would have {bits} bits, more than "
                f"{MOST_BITS}; choose settings with less to see"
            )
        if self.written not in self.agents:
            self.agents[self.written] = self._made()
        self.agent = self.agents[self.written]
        self.agent.forget()

    def act(self, observation: Any, random: Random) -> int:
        """Search for the best action, or draw one by lot to explore."""
        if not self.started:  # no action led to what it sees first
            middle = (self.written.rewards[0] + self.written.rewards[-1]) / 2
            self.agent.given(self.written.percept(self.bits(observation), middle))
            self.started = True
        lot = self.share > 0 and random.unit() < self.share
        self.share *= self.decay
        if lot:
            action = random.below(self.written.actions)
        else:
            horizon = max(1, min(self.horizon, self.left))
            action = self.agent.plan(Search(horizon, self.simulations, self.bound), random)
        self.agent.acted(action)
        self.left -= 1
        return self.first + int(action)

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Learn the percept of a step; after the last one nothing is seen, so nothing is learnt."""
        if observation is not None:
            self.agent.perceived(self.written.percept(self.bits(observation), reward))

    def _made(self) -> Any:
        if self.plain:
            return PlainAgent(self.written, self.depth)
        from allminds.instruments.aixi.fast import FastAgent

        return FastAgent(self.written, self.depth)
