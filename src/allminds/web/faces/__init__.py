"""How an instrument looks to a person: what is on the screen, and what may be chosen there.

A face turns what a mind sees into a view, a plain value that a screen can draw, and a choice made
on that screen back into the instrument's own action. It is given observations alone, so that what
no mind may see cannot reach the browser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from allminds.contracts import Failure, Instrument
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.web.faces.questions import questions
from allminds.web.sessions import Check, Step


class FaceBase(ABC):
    """What all faces share; see `sessions.Face` for what a session needs of them."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """What instructions and questions say of this form of the test; `kind` names its board."""

    @abstractmethod
    def view(self, observation: Any, before: Step | None, shuffle: Random) -> dict[str, Any]:
        """What the screen shows, as JSON values; `shuffle` is the same throughout an exercise."""

    @abstractmethod
    def choices(self, observation: Any) -> Sequence[str]:
        """What may be chosen now, as the form sends it."""

    @abstractmethod
    def chosen(self, choice: str, observation: Any) -> Any:
        """The instrument's action for one of the choices."""

    def action(self, choice: str, observation: Any) -> Any | Failure:
        """The instrument's action, or a failure for what was not on the screen."""
        choices = self.choices(observation)
        if choice in choices:
            return self.chosen(choice, observation)
        return Failure("malformed", f"'{choice[:60]}' is not one of {', '.join(choices)}")

    @property
    def checks(self) -> Sequence[Check]:
        """The comprehension questions without their words."""
        return [Check(one.name, tuple(one.answers), one.right) for one in questions(self.told())]


def face(tool: Instrument, slot: int = 0) -> FaceBase:
    """The face of an instrument; of a game, as it looks from a slot."""
    from allminds.instruments.games.matrix_games import MatrixGame
    from allminds.instruments.games.noughts import NoughtsAndCrosses
    from allminds.instruments.lambda_.instrument import CellsInstrument
    from allminds.instruments.lambda_star.instrument import LambdaStar
    from allminds.instruments.matrices.instrument import Matrices
    from allminds.instruments.series.instrument import CTest
    from allminds.web.faces.cells import CellsFace
    from allminds.web.faces.games import NoughtsFace, RoundsFace
    from allminds.web.faces.matrices import MatricesFace
    from allminds.web.faces.series import SeriesFace
    from allminds.web.faces.torus import TorusFace

    if isinstance(tool, CellsInstrument):  # lambda, lambda-anytime, lambda-staircase
        return CellsFace(tool)
    if isinstance(tool, LambdaStar):
        return TorusFace(tool)
    if isinstance(tool, CTest):
        return SeriesFace(tool)
    if isinstance(tool, Matrices):
        return MatricesFace(tool)
    if isinstance(tool, NoughtsAndCrosses):
        return NoughtsFace(slot)
    if isinstance(tool, MatrixGame) and tool.slots == 2:
        return RoundsFace(tool, slot)
    raise Error(
        f"people cannot take {tool.name} in a browser yet; choose lambda, lambda-star, c-test, "
        "matrices, prisoners-dilemma, matching-pennies, stag-hunt, rock-paper-scissors or "
        "noughts-and-crosses"
    )
