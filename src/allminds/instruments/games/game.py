"""What all games share as instruments: exercises, the score that is shown, words for actions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from allminds import registry
from allminds.contracts import Environment, Exercise, Failure, Instrument, Record
from allminds.core.errors import Error
from allminds.core.settings import Settings, checked


class GameSettings(Settings):
    """Settings of a game that is played for some rounds."""

    steps: int = Field(10, ge=1, le=10_000, description="rounds")


class Game(Instrument):
    """One environment, the same in every exercise but for what is drawn by lot.

    A line-up is named mind by mind (``tit-for-tat,defect``); one name fills all slots. The score
    of a line-up is that of its first mind, the one in slot 0.
    """

    Settings: ClassVar[type[Settings]] = GameSettings
    scored = "first"  # the others' gain is not one's own
    environment: Any

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(self.Settings, settings, self.name)
        self.environment = self.world()
        self.slots = len(self.environment.actions)

    @abstractmethod
    def world(self) -> Environment:
        """The environment that the settings make."""

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:  # noqa: ARG002
        """The same game again, with random words of its own."""
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return Exercise(place, self, seed, i, self.environment)

    # ------------------------------------------------------------ for people and models

    @abstractmethod
    def told(self, observation: Any) -> str:
        """An observation in plain words, without the choices."""

    def choices(self, observation: Any) -> dict[str, int]:
        """The actions that may be taken now, by name; all slots of our games have the same."""
        space = self.environment.actions[0]
        legal = getattr(observation, "legal", None)
        actions = range(space.start, space.start + space.n) if legal is None else legal
        return {space.labels[action - space.start]: action for action in actions}

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        """What happened, and what can be done now."""
        if form not in ("text", "html"):
            raise Error(f"{self.name} cannot be shown as {form}; choose text or html")
        told, choose = self.told(observation), f"Choose: {', '.join(self.choices(observation))}"
        if form == "text":
            return f"{told}\n{choose}"
        return f"<pre>{told}</pre><p>{choose}</p>"

    def read(self, answer: str, observation: Any) -> int | Failure:
        """An action by its name, or by its number."""
        choices, text = self.choices(observation), answer.strip().lower()
        numbers = {str(action): action for action in choices.values()}
        if text in choices or text in numbers:
            return choices[text] if text in choices else numbers[text]
        return Failure("malformed", f"'{answer[:60]}' is not one of {', '.join(choices)}")
