"""How an instrument is put to people, language models and libraries; every part has a default."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from allminds.core.errors import Error
from allminds.core.seeding import WORLD, Random, key

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from allminds.disguise import Skin


from allminds.contracts import MOST_LISTED, Discrete, Exercise, Failure, Instrument, Task

FILLER = -1.0  # fills up a vector where a list is shorter than it can be
LETTER, LINE, EDGE = 9, 18, 12  # of text as a picture: width, height of a line, margin
_PROBED = 3  # exercises that are played to find how long the lists of an observation are


class Rules(NamedTuple):
    """The rules of a test in full sentences, and the form of an answer, such as ``<letter>``."""

    text: str
    answer: str


class Field(NamedTuple):
    """A part of a vector: the name it has in the observation, its size and its bounds."""

    name: str
    size: int
    low: float
    high: float


class Column(NamedTuple):
    """The meaning of a complexity column, and its unit or range."""

    meaning: str
    values: str = "a number"


class Move(NamedTuple):
    """One move of a participant: what was seen and chosen, the action, and its reward."""

    observation: Any
    choice: str
    action: Any
    reward: float


class Face(ABC):
    """A test on the screen of a participant: what is drawn, and what can be chosen.

    A face receives observations only, so that nothing hidden from minds can reach the browser.
    The key `kind` of `told` names the board, whose templates draw it.
    """

    def __init__(self, tool: Any, slot: int = 0) -> None:
        self.tool, self.slot = tool, slot

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """Return what instructions and questions say about this test; `kind` names its board."""

    @abstractmethod
    def view(self, observation: Any, before: Move | None, shuffle: Random) -> dict[str, Any]:
        """Describe in JSON values what to draw; leave out answers, seeds and roles of symbols.

        `before` is the participant's last move, or None at the start. `shuffle` gives the same
        random words at every step of an exercise, and other ones in other exercises or sessions.
        """

    @abstractmethod
    def choices(self, observation: Any) -> Sequence[str]:
        """List the choices that are open now, as the browser sends them."""

    @abstractmethod
    def chosen(self, choice: str, observation: Any) -> Any:
        """Translate a choice into an action; if several have the same effect, take the lowest."""

    def parity(self, numbers: bool) -> Sequence[str]:
        """List, in sentences, what people see or do here that programs do otherwise.

        `numbers` is True if the study shows rewards as numbers.
        """
        return ()

    def action(self, choice: str, observation: Any) -> Any | Failure:
        """Translate a choice into an action, or a failure if it was not on the screen."""
        choices = self.choices(observation)
        if choice in choices:
            return self.chosen(choice, observation)
        return Failure("malformed", f"'{choice[:60]}' is not one of {', '.join(choices)}")


def signs(numbers: bool) -> str:
    """Say how much of a reward people saw, in a test in which programs get the number."""
    how = "and the number of a reward" if numbers else "of a reward only"
    return f"People saw the sign {how}; programs get the number."


class PlainFace(Face):
    """The default face, for discrete actions: the text form, and a button for each action."""

    def __init__(self, presentation: Presentation, slot: int) -> None:
        tool = presentation.tool
        super().__init__(tool, slot)
        self.presentation = presentation
        environment = tool.exercise(0, 0).environment
        self.space = _discrete(tool.name, environment.actions[slot])
        team = next(team for team in environment.teams if slot in team)
        told, steps = environment.told(slot), environment.steps
        self.task = Task(tool.name, slot, tool.slots, team, self.space, steps, told)

    def told(self) -> dict[str, Any]:
        rules = self.presentation.rules(self.task)
        return {"kind": "plain", "title": self.presentation.title, "rules": rules.text}

    def view(self, observation: Any, before: Move | None, shuffle: Random) -> dict[str, Any]:
        text = str(self.tool.show(observation, "text"))
        return self.told() | {"text": text, "labels": list(self.choices(observation))}

    def parity(self, numbers: bool) -> Sequence[str]:
        seen = "People read the text form and pressed a button; programs are given values."
        return (seen, signs(numbers)) if self.task.steps > 1 else (seen,)

    def choices(self, observation: Any) -> Sequence[str]:
        space = self.space
        return [
            space.labels[n - space.start] if space.labels else str(n)
            for n in space.allowed(observation)
        ]

    def chosen(self, choice: str, observation: Any) -> int:
        labels, start = self.space.labels, self.space.start
        return start + labels.index(choice) if labels else int(choice)


class Copies(Protocol):
    """Many exercises of equal length, for one mind each, that are played step by step at once."""

    @property
    def step(self) -> int:
        """The number of steps played so far."""
        ...

    def begin(self, seed: int, first: int, last: int) -> None:
        """Begin exercises first..last-1 of a seed."""
        ...

    def observe(self) -> NDArray[np.float32]:
        """Return the observation of each copy as a vector."""
        ...

    def play(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Take an action in each copy, and return the rewards."""
        ...

    def scores(self) -> NDArray[np.float64]:
        """Return the score of each copy so far."""
        ...


class DataSet(NamedTuple):
    """A data set that was made: a sentence, its figures for --json, and a table below it."""

    said: str
    figures: dict[str, Any]
    table: list[dict[str, str]]
    points: Sequence[tuple[str, float, float]] = ()  # line, x and y of its plot


class Generator(ABC):
    """A maker of data sets of questions; it is the command ``allminds make NAME``.

    Its docstring is the help of the command, and the fields of `Settings` are the options.
    """

    Settings: ClassVar[Any]  # a model of `core.settings.Settings`
    example: str = ""
    axes: tuple[str, str] | None = None  # the titles of a plot, if there is one

    @abstractmethod
    def make(
        self, settings: Any, out: Path, jobs: int, progress: Callable[[str, int, int], None]
    ) -> DataSet:
        """Write a data set into a new folder, whole or not at all."""


class Presentation:
    """How an instrument is presented to people, language models and libraries.

    Everything has a default. To change some of it, write a subclass and return an instance from
    `Instrument.presentation`.
    """

    columns: ClassVar[Mapping[str, Column]] = {}  # what each complexity column means
    meanings: ClassVar[Mapping[str, str]] = {}  # what each field of an observation means
    facts: ClassVar[Mapping[str, str]] = {}  # what each fact of a task means
    moves: str = ""  # what the actions do, beyond their labels
    pay: str = ""  # when rewards come, and for what
    unseen: str = ""  # what minds are not shown
    example: str = ""  # an action as a Python expression of `observation` and `random`
    readers: ClassVar[Mapping[str, Callable[[Path], Any]]] = {}  # of results in files of its own
    pictured: bool = False  # a language model is shown `image`, unless text is asked for
    most_actions: int | None = None  # that an exercise has, where exercises differ in it
    asked: int | None = None  # exercises that a language model is given when no number is named
    fresh: ClassVar[Mapping[str, Any]] = {}  # settings of items that no language model has read
    minds: tuple[str, ...] = ()  # that a testbed is made of when none is named
    legend: str = ""  # what the signs of `picture` mean, as a sentence
    default_action: Any = None  # stands for a reply that cannot be read; None draws a legal action

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    @property
    def title(self) -> str:
        """The name of the test on a participant's screen."""
        return str(self.tool.name)

    # ------------------------------------------------------------ words

    def rules(self, task: Task) -> Rules:
        """Write what a language model and a person are told before an exercise."""
        page = " ".join((self.tool.__doc__ or "").strip().split("\n\n")[0].split())
        which = f"This is {self.tool.name}." if ":" in self.tool.name or not page else ""
        space, answer = task.actions, "<your choice>"
        if isinstance(space, Discrete) and space.labels and space.n <= MOST_LISTED:
            answer = either(space.labels)
        elif isinstance(space, Discrete):
            answer = f"<a number, {space.start} to {space.start + space.n - 1}>"
        return Rules(joined(which, page, lasts(task)), answer)

    def words(self, observation: Any) -> str:
        """Write an observation as a language model reads it after the rules."""
        return str(self.tool.show(observation, "text"))

    def text(self, environment: Any, state: Any) -> str:
        """Write the whole state if the instrument can show it, else what the first mind sees."""
        if type(self.tool).show_state is not Instrument.show_state:
            return str(self.tool.show_state(environment, state))
        return str(self.tool.show(environment.observe(state, 0), "text"))

    def skin(self, n: int) -> Skin:
        """Return skin number `n`: by default other numbers and names for the actions."""
        from allminds.disguise import Skin

        return Skin(self.tool, n)

    # ------------------------------------------------------------ pictures

    @property
    def drawn(self) -> bool:
        """True if `picture` shows the whole state, not only what the first slot is told."""
        own = type(self).picture is not Presentation.picture
        return own or type(self.tool).show_state is not Instrument.show_state

    def picture(self, environment: Any, state: Any) -> str:
        """Draw the whole state as SVG."""
        return text_svg(self.text(environment, state))

    def remark(self, environment: Any, before: Any, after: Any, slot: int, action: Any) -> str:
        """Say in a clause what a slot's action between two states meant; by default nothing.

        Only what is computed from the states: a report puts it below the pictures of a play.
        """
        return ""

    def image(self, observation: Any) -> bytes:
        """Draw an observation as a PNG picture; needed if the class is `pictured`."""
        raise Error(f"{self.tool.name} is shown to language models as text, not as an image")

    # ------------------------------------------------------------ numbers

    def fields(self) -> Sequence[Field]:
        """Return the fields of the vector that an observation becomes.

        By default they are the fields of the observation, a NamedTuple of numbers and of sequences
        of numbers. The greatest length of a sequence is found by playing some exercises.
        """
        sizes: dict[str, int] = {}
        for seen in _observations(self.tool):
            for name, numbers in _flat(self.tool.name, seen).items():
                sizes[name] = max(sizes.get(name, 0), len(numbers))
        return [Field(name, size, -math.inf, math.inf) for name, size in sizes.items()]

    def fields_of(self, slot: int) -> Sequence[Field]:
        """Return the fields of the vector of a slot; by default `fields`, the same for all."""
        return self.fields()

    def vector(self, observation: Any, slots: int) -> Iterable[float]:
        """Return an observation as the numbers of `fields`, in their order.

        `slots` is the number of minds; the lengths of some fields may depend on it.
        """
        flat = _flat(self.tool.name, observation)
        for name, size, _, _ in self._fields:
            numbers = flat[name]
            if len(numbers) > size:
                raise Error(
                    f"{self.tool.name}: '{name}' has {len(numbers)} numbers, more than the {size} "
                    "of a vector; write `fields` and `vector` in a Presentation"
                )
            yield from (*numbers, *[FILLER] * (size - len(numbers)))

    @cached_property
    def _fields(self) -> Sequence[Field]:
        return self.fields()

    def copies(self) -> Copies | None:
        """Return the form that plays many copies at once, or None if there is none."""
        return None

    # ------------------------------------------------------------ people and items

    def face(self, slot: int) -> Face:
        """Make the screen of the participant in a slot."""
        return PlainFace(self, slot)

    def generators(self) -> Mapping[str, Generator]:
        """Return the makers of data sets, by the names of their commands."""
        return {}

    @property
    def bank(self) -> bool:
        """True if exercises are questions with one answer: for one mind, of one step."""
        tool: Instrument = self.tool
        return tool.slots == 1 and not tool.adaptive and tool.exercise(0, 0).environment.steps == 1

    def item(self, exercise: Exercise) -> dict[str, Any]:
        """Return an exercise of a bank as question, options and answer (the best-paid action)."""
        world, random = exercise.environment, Random(key(exercise.seed, exercise.index, WORLD))
        space = _discrete(self.tool.name, world.actions[0])
        state = world.reset(random.at_step(0))
        actions = space.numbers
        paid = [world.step(state, {0: one}, random.at_step(1))[1][0] for one in actions]
        labels = list(space.labels or map(str, actions))
        question = self.tool.show(world.observe(state, 0), "text")
        return {"question": question, "options": labels, "answer": labels[paid.index(max(paid))]}


# ---------------------------------------------------------------- sentences of rules


def joined(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(filter(None, sentences))


def lasts(task: Task, of: str = "steps") -> str:
    """Say how many steps there are, if there is more than one."""
    return f"There are {task.steps} {of}." if task.steps > 1 else ""


def either(words: Sequence[str]) -> str:
    """List the possible answers as <a, b or c>."""
    return f"<{', '.join(words[:-1])} or {words[-1]}>" if len(words) > 1 else f"<{words[0]}>"


def labels(task: Task) -> Sequence[str]:
    """Return the names of a player's actions."""
    space: Any = task.actions
    return tuple(space.labels)


# ---------------------------------------------------------------- numbers of observations


def _discrete(instrument: str, space: Any) -> Discrete:
    if not isinstance(space, Discrete):
        raise Error(f"{instrument}: actions that are not discrete need a Presentation of their own")
    return space


def _flat(instrument: str, observation: Any) -> dict[str, list[float]]:
    """Collect the numbers of each field of an observation."""
    names = getattr(observation, "_fields", None)
    if names is None:
        observation, names = (observation,), ("observation",)
    try:
        return {name: [*_numbers(part)] for name, part in zip(names, observation, strict=True)}
    except (TypeError, ValueError):
        raise Error(
            f"{instrument}: its observations are not made of numbers; write `fields` and `vector` "
            "in a Presentation"
        ) from None


def _numbers(part: Any) -> Iterable[float]:
    if isinstance(part, str):
        raise TypeError(part)
    if hasattr(part, "__iter__"):
        for one in part:
            yield from _numbers(one)
    else:
        yield float(part)


def _observations(tool: Instrument) -> Iterable[Any]:
    """Yield what all slots see in the first exercises if each always takes its first action."""
    for i in range(1 if tool.adaptive else _PROBED):
        world = tool.exercise(0, i).environment
        state = world.reset(Random(0))
        for step in range(1, world.steps + 2):
            seen = {slot: world.observe(state, slot) for slot in range(tool.slots)}
            yield from seen.values()
            awaited = world.awaited(state)
            if not awaited:
                break
            spaces: Any = world.actions
            actions = {
                slot: (spaces[slot].allowed(seen[slot]) or spaces[slot].numbers)[0]
                for slot in awaited
            }
            state = world.step(state, actions, Random(0, step))[0]


# ---------------------------------------------------------------- text as a picture


def text_svg(text: str) -> str:
    """Draw lines of text, every letter in a place of its own, whatever fonts there are."""
    lines = text.split("\n")
    width = max(len(line) for line in lines) * LETTER + 2 * EDGE
    parts = []
    for number, line in enumerate(lines):
        y = EDGE + LINE * number + 13
        for at, letter in enumerate(line):
            if letter != " ":
                x = EDGE + LETTER * (at + 0.5)
                parts.append(
                    f'<text x="{x}" y="{y}" text-anchor="middle">{html.escape(letter)}</text>'
                )
    style = f'<g font-size="14" font-family="DejaVu Sans Mono, monospace">{"".join(parts)}</g>'
    return sheet(width, len(lines) * LINE + 2 * EDGE, style)


def sheet(width: int, height: int, inside: str) -> str:
    """Return a white SVG of this size with something drawn on it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="white"/>{inside}</svg>'
    )
