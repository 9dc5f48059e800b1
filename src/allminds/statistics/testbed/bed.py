"""A testbed: environments, minds, and what counts how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from allminds.core.errors import Error
from allminds.statistics.testbed.games import Game
from allminds.statistics.testbed.weights import Floats, LineUpWeights, Weights

G = TypeVar("G", bound=Game, covariant=True)


@dataclass(frozen=True, eq=False)
class Testbed(Generic[G]):
    """⟨Π, w_L, M, w_M, w_S⟩: games that the same minds play."""

    games: Sequence[G]
    weights: Weights = field(default_factory=Weights)
    __test__ = False  # or pytest would take it for one

    def __post_init__(self) -> None:
        """Weights sum to their constants, and there is one set of minds."""
        if not self.games:
            raise Error("a testbed needs at least one environment")
        for game in self.games[1:]:
            if game.minds != self.minds:
                raise Error(
                    f"{game.name} is played by {', '.join(game.minds)}, but {self.games[0].name} "
                    f"by {', '.join(self.minds)}; a testbed has one set of minds"
                )
        if not self.minds:
            raise Error(f"{self.games[0].name}: name at least one mind")
        if len(set(self.minds)) < len(self.minds):
            twice = next(mind for mind in self.minds if self.minds.count(mind) > 1)
            raise Error(f"{twice} is named twice; line-ups repeat minds by themselves")
        _ = self.w_m, self.w_s, self.w_l  # wrong weights are found here

    @property
    def minds(self) -> tuple[str, ...]:
        """Π."""
        return self.games[0].minds

    @cached_property
    def w_m(self) -> Floats:
        """Weights of the environments, as shares of one."""
        return self.weights.of_environments(self.games)

    @cached_property
    def w_s(self) -> list[Floats]:
        """Weights of the slots of every environment, as shares of one."""
        return self.weights.of_slots(self.games)

    @cached_property
    def w_l(self) -> list[LineUpWeights]:
        """Weights of the line-ups of every environment, as shares of one."""
        return [self.weights.of_line_ups(game) for game in self.games]
