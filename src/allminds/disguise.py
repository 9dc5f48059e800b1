"""Disguises: the same exercises in other skins, so that recall can be told from solving.

A skin renames what an exercise shows (glyphs, colours, cells, actions, the story) and leaves its
structure as it is. Skin number n of an instrument is drawn from n alone, and 0 is none. A mind in
disguise is shown the skin and acts through it; what it did is recorded as plain actions, so that
scores are comparable and plays can be shown again.

What may be renamed, an instrument says by `Presentation.skin`. Without one its actions are put into
another order, their labels with them, and a reader is told other names for them.

Who is given what: a language model and a program read the skin's words. A mind of the user's is
given the skin's values. Built-in minds are given the values where the skin says so (worlds, and
games whose rules they read), and the plain exercise in questions. A mind that sees the future is
always given the plain exercise, for what it is told is not in disguise.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from allminds import registry
from allminds.contracts import (
    MOST_LISTED,
    Discrete,
    Environment,
    Exercise,
    Failure,
    FairCeiling,
    Fast,
    Instrument,
    Record,
    Space,
    Task,
)
from allminds.core.errors import Error
from allminds.core.seeding import Random, fingerprint
from allminds.core.settings import Extended

if TYPE_CHECKING:
    from allminds.core.line_up import LineUp, Subject
    from allminds.core.watch import Watch
    from allminds.inference import Rule, Tally
    from allminds.presentation import Presentation, Rules

MOST = 10**6  # the greatest number of a skin
NAMES = (
    "amber", "birch", "cobalt", "delta", "ember", "fern", "garnet", "hazel", "indigo", "jasper",
    "kelp", "linen", "maple", "nickel", "ochre", "pearl", "quartz", "russet", "sable", "teal",
    "umber", "velvet", "willow", "xenon", "yarrow", "zinc", "basil", "coral", "dune", "flint",
)  # fmt: skip


class Skin:
    """Skin number `n` of an instrument: by default other numbers and names for its actions."""

    def __init__(self, tool: Instrument, n: int) -> None:
        self.tool, self.n = tool, n
        self.presentation = tool.presentation

    def drawn(self, part: int) -> Random:
        """Return a stream of random words that depends on the number of the skin alone."""
        return Random(fingerprint(f"skin {self.n}")).part(part)

    def order(self, count: int, part: int = 0) -> tuple[int, ...]:
        """Draw the numbers 0..count-1 in another order, if there is another one."""
        random, plain = self.drawn(part), tuple(range(count))
        found = plain
        while found == plain and count > 1:
            found = tuple(random.permutation(count))
        return found

    # ------------------------------------------------------------ who

    def given_to(self, subject: Subject) -> Skin | None:
        """Return the skin for a mind that is shown its values, and None for one that is not.

        Minds that read (`MindBase.reads`) are shown the skin by the instrument's words.
        """
        if subject.reader or subject.traits.sees == "future":
            return None
        return self if not subject.built_in or self.suits(subject) else None

    def suits(self, subject: Subject) -> bool:  # noqa: ARG002 - for skins that suit some
        """Check whether a built-in mind acts through the skin; by default none does."""
        return False

    # ------------------------------------------------------------ values

    def task(self, task: Task) -> Task:
        """Describe the exercise in disguise: the labels of actions go where the actions went."""
        return replace(task, actions=self.space(task.actions))

    def space(self, space: Space) -> Space:
        """Put the actions of a plain space into another order."""
        order = self._order_of(space)
        if order is None or not isinstance(space, Discrete):
            return space
        labels = space.labels or tuple(map(str, space.numbers))
        return replace(space, labels=tuple(labels[n] for n in order))

    def observation(self, observation: Any, space: Space) -> Any:
        """Show an observation in disguise: by default as it is, but for the actions in `legal`."""
        legal = getattr(observation, "legal", None)
        if legal is None or self._order_of(space) is None:
            return observation
        worn = sorted(self.worn(one, space) for one in legal)
        return _with_legal(observation, type(legal)(worn), self.tool.name)

    def action(self, action: Any, space: Space) -> Any:
        """Translate an action in disguise into the plain one; leave what is none as it is."""
        order = self._order_of(space)
        if order is None or not isinstance(space, Discrete) or not space.contains(action):
            return action
        return space.start + order[int(action) - space.start]

    def worn(self, action: Any, space: Space) -> Any:
        """Translate a plain action into the one in disguise: the inverse of `action`."""
        order = self._order_of(space)
        if order is None or not isinstance(space, Discrete) or not space.contains(action):
            return action
        return space.start + order.index(int(action) - space.start)

    def _order_of(self, space: Space) -> tuple[int, ...] | None:
        """Draw the order of the actions; None for a space that is not plainly discrete."""
        return self.order(space.n) if type(space) is Discrete else None

    # ------------------------------------------------------------ words

    def rules(self, task: Task) -> Rules:
        """Write the rules in disguise: by default the plain ones, and other names for actions."""
        from allminds.presentation import Rules, either

        plain = self.presentation.rules(task)
        names = self._names(task.actions)
        if not names:
            return plain
        told = ", ".join(f"{name} stands for {label}" for name, label in names.items())
        return Rules(f"{plain.text} The answers have other names here: {told}.", either([*names]))

    def words(self, observation: Any) -> str:
        """Write an observation in disguise as a language model reads it."""
        return self.presentation.words(observation)

    def image(self, observation: Any) -> bytes:
        """Draw an observation in disguise as a PNG picture."""
        return self.presentation.image(observation)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        """Read the plain action from an answer in the words of the disguise."""
        names = self._names(self.tool.exercise(0, 0).environment.actions[0])
        label = names.get(answer.strip().lower()) if names else answer
        if label is None:
            return Failure("malformed", f"'{answer[:60]}' is not one of {', '.join(names)}")
        return self.tool.read(label, observation)

    def target(self, right: str) -> str:
        """Write the right answer to a question in the words of the disguise, for logs."""
        names = self._names(self.tool.exercise(0, 0).environment.actions[0])
        return next((name for name, label in names.items() if label == right), right)

    def _names(self, space: Space) -> dict[str, str]:
        """Choose a name for every label of a space; none if they are too many to be listed."""
        if not isinstance(space, Discrete) or space.n > min(MOST_LISTED, len(NAMES)):
            return {}
        labels = self.space(space)
        assert isinstance(labels, Discrete)
        shown = labels.labels or tuple(map(str, space.numbers))
        return dict(zip(self.names(space.n), shown, strict=True))

    def names(self, count: int) -> tuple[str, ...]:
        """Draw different words that mean nothing here."""
        return tuple(NAMES[n] for n in self.order(len(NAMES), 1)[:count])


def _with_legal(observation: Any, legal: Any, instrument: str) -> Any:
    """Copy an observation with other actions in its field `legal`."""
    if "legal" in getattr(observation, "_fields", ()):
        return observation._replace(legal=legal)
    if dataclasses.is_dataclass(observation) and not isinstance(observation, type):
        return replace(observation, legal=legal)
    raise Error(
        f"{instrument}: `legal` is no field of its observations, so that actions cannot be put "
        "into another order; write `skin` in a Presentation"
    )


class Isomorph(Skin):
    """A skin under which an exercise becomes another one of the same instrument.

    Its cells are renumbered or its board is turned, and observations mean what they always do: so
    every mind for the instrument can act through it, and the instrument's own words describe it,
    in another story. Subclasses have `task`, `observation`, `action` and `worn`.
    """

    stories: ClassVar[Sequence[Mapping[str, str]]] = ()  # other words for some words of the rules

    def suits(self, subject: Subject) -> bool:  # noqa: ARG002 - all of them
        """Let every built-in mind act through the skin."""
        return True

    @property
    def story(self) -> Mapping[str, str]:
        """The words that this skin has for others."""
        return self.stories[(self.n - 1) % len(self.stories)] if self.stories else {}

    def rules(self, task: Task) -> Rules:
        from allminds.presentation import Rules

        text, answer = self.presentation.rules(self.task(task))
        return Rules(retold(text, self.story), retold(answer, self.story))

    def words(self, observation: Any) -> str:
        shown = self.presentation.words(self.observation(observation, self._space(observation)))
        return retold(shown, self.story)

    def image(self, observation: Any) -> bytes:
        worn = self.observation(observation, self._space(observation))
        return self.presentation.image(worn)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        space = self._space(observation)
        found = self.tool.read(self.meant(answer), self.observation(observation, space))
        return found if isinstance(found, Failure) else self.action(found, space)

    def meant(self, answer: str) -> str:
        """Translate words of the story in an answer into the plain ones."""
        return retold(answer, {new: old for old, new in self.story.items()})

    def _space(self, observation: Any) -> Space:  # noqa: ARG002 - for skins of unequal spaces
        """Return the space of the actions that may follow an observation."""
        return self.tool.exercise(0, 0).environment.actions[0]


def retold(text: str, words: Mapping[str, str]) -> str:
    """Replace whole words of a text by others, all at once, the longest first."""
    if not words:
        return text
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: words[found[0]], text)


# ---------------------------------------------------------------- the instrument in disguise


class DisguisedInstrument(Instrument):
    """An instrument whose exercises wear one skin; their numbers and scores are the plain ones."""

    def __init__(self, inner: Instrument, n: Any) -> None:
        self.inner = inner
        if isinstance(n, bool) or not str(n).isascii() or not str(n).isdigit() or int(n) > MOST:
            raise Error(
                f"{inner.name}: disguise is the number of a skin, 0 for none, to {MOST}, not {n!r}"
            )
        for name in vars(Instrument).keys() & Instrument.__annotations__.keys():
            setattr(self, name, getattr(inner, name))  # others, `__getattr__` finds
        self.settings = Extended(inner.settings, disguise=int(n))
        self.skin = inner.presentation.skin(int(n))

    def __getattr__(self, name: str) -> Any:
        """Return what is special about the instrument inside."""
        if name.startswith("__") or "inner" not in vars(self):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def kind(self) -> type[Instrument]:
        """The class of the instrument inside."""
        return self.inner.kind

    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make the plain exercise, with an id of its own: the skin is put on it as it is shown."""
        place = f"{registry.exercise_prefix(self, seed)}{i}"
        return replace(self.inner.exercise(seed, i, history), tool=self, id=place)

    @property
    def presentation(self) -> Presentation:
        """The presentation of the instrument inside, which reads and writes in disguise."""
        made, skin = self.inner.presentation, self.skin
        assert skin is not None
        vars(made).update(rules=skin.rules, words=skin.words, image=skin.image)
        return made

    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        return self.inner.show(observation, form)

    def read(self, answer: str, observation: Any) -> Any | Failure:
        assert self.skin is not None
        return self.skin.read(answer, observation)

    def show_state(self, environment: Any, state: Any) -> str:
        return self.inner.show_state(environment, state)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Return the faster form if every mind is given the plain exercise."""
        return None if self._worn_by(line_up) else self.inner.fast(line_up, watch)

    def small(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Return the small form if every mind is given the plain exercise."""
        return None if self._worn_by(line_up) else self.inner.small(line_up, watch)

    def _worn_by(self, line_up: LineUp) -> bool:
        skin = self.skin
        return skin is not None and any(skin.given_to(seat.subject) for seat in line_up.seats)

    def fair_ceiling(self, asked: bool = False) -> FairCeiling:
        return self.inner.fair_ceiling(asked)

    def cautioned(self, exercises: int) -> str:
        return self.inner.cautioned(exercises)

    def failed_score(self, environment: Environment, slot: int, rewards: Sequence[float]) -> float:
        return self.inner.failed_score(environment, slot, rewards)

    def rule(self) -> Rule:
        return self.inner.rule()

    def tally(self) -> Tally:
        return self.inner.tally()
