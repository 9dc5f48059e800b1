"""The whole idea in one file: minds in the slots of an environment.

An environment has slots, teams, steps, observations, actions, bounded rewards and a measured
complexity. A question is an environment of one step. So a letter series, a matrix, a grid of
cells and a game between teams share this one contract, one runner and one results table.

Slots are numbered from 0. To add a mind, write a class with `act` (or a plain function of an
observation); to add an instrument, subclass `Instrument` and give it environments.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from allminds.core.errors import Error
from allminds.core.seeding import Random, stratum

if TYPE_CHECKING:
    from allminds.core.blocks import Block
    from allminds.core.line_up import LineUp
    from allminds.core.watch import Watch
    from allminds.disguise import Skin
    from allminds.inference import Rule, Tally
    from allminds.presentation import Presentation

Status = Literal["ok", "refused", "malformed", "timeout", "error", "void", "missing"]
STATUSES: tuple[Status, ...] = (
    "ok",
    "refused", "malformed", "timeout", "error",  # failures of the mind: they count
    "void",  # another mind failed, or the study broke it off: no result, and no failure
    "missing",  # a fault of the provider or of the machine: likewise, and to be asked again
)  # fmt: skip
FAILURES = STATUSES[1:5]
MOST_LISTED = 30  # actions that a sentence lists


# ---------------------------------------------------------------- what a mind may do and know


class Space(Protocol):
    """The actions that the mind in a slot may take. Most instruments use `Discrete`."""

    def contains(self, action: Any) -> bool:
        """Return True if `action` is one of these actions; never raise, whatever it is."""
        ...


def legal(observation: Any) -> Sequence[Any] | None:
    """Return the actions that an observation lists as allowed now in `legal`; None for all."""
    found: Sequence[Any] | None = getattr(observation, "legal", None)
    return found


@dataclass(frozen=True)
class Discrete:
    """A space of `n` actions, numbered from `start`, with optional names in `labels`.

    Parameters
    ----------
    n : int
        The number of actions.
    start : int
        The number of the first action.
    labels : tuple of str
        The names of the actions, in their order, or none.

    Examples
    --------
    >>> from allminds import Discrete
    >>> Discrete(2, labels=("cooperate", "defect")).listed()
    '0 cooperate, 1 defect'
    >>> Discrete(9, start=1).contains(0)
    False
    """

    n: int
    start: int = 0
    labels: tuple[str, ...] = ()

    none: ClassVar[int | None] = None  # the action by which a mind gives no answer, if there is one

    def contains(self, action: Any) -> bool:
        """Return True for an integer in range, of any integer type; a bool is not accepted."""
        if isinstance(action, bool):
            return False
        try:
            return self.start <= operator.index(action) < self.start + self.n
        except Exception:  # a mind may hand over anything
            return False

    @property
    def numbers(self) -> range:
        """The numbers of all actions, in their order."""
        return range(self.start, self.start + self.n)

    def allowed(self, observation: Any) -> Sequence[int]:
        """Return the actions that may be taken now: those that `legal` lists, or all."""
        listed = legal(observation)
        return self.numbers if listed is None else listed

    @property
    def span(self) -> str:
        """The range of the action numbers, such as ``1..9``."""
        return f"{self.start}..{self.start + self.n - 1}" if self.n > 1 else str(self.start)

    def word(self, action: int) -> str:
        """Write an action by its label, or its number if it has none."""
        place = action - self.start
        return self.labels[place] if 0 <= place < len(self.labels) else str(action)

    def listed(self, actions: Sequence[Any] | None = None) -> str:
        """List some actions, or all of them, with their labels: ``0 cooperate, 1 defect``."""
        if actions is None:
            actions = self.numbers
            if not self.labels:
                return self.span
        labels = dict(enumerate(self.labels, self.start))
        named = [f"{number} {labels.get(number, '')}".strip() for number in actions]
        return ", ".join(named if len(named) <= MOST_LISTED else [*named[:MOST_LISTED], "…"])


@dataclass(frozen=True)
class Task:
    """Everything that a mind is told before an exercise begins.

    Parameters
    ----------
    instrument : str
        The name of the test.
    slot, slots : int
        The mind's own slot, counted from 0, and the number of slots.
    team : tuple of int
        The slots of the mind's team, its own included.
    actions : Space
        The actions it may take.
    steps : int
        The largest number of steps in the play.
    facts : mapping
        What the environment tells every mind.
    rehearsal : bool
        True while it practises, False when it counts.
    secret : Any
        What comes, for minds whose traits say that they see the future; else None.
    complexity : mapping or None
        The measured complexity, for minds whose traits say that they are told it; else None.
    protocol : str
        What a member of a group is told of how the group decides; empty for other minds.
    abstains : bool
        True for a member of a group that goes on without it if it returns a `Failure`.

    Examples
    --------
    A mind keeps what it needs of it in `begin`:

    >>> from allminds import MindBase, evaluate
    >>> class First(MindBase):
    ...     def begin(self, task):
    ...         self.action = task.actions.start
    ...     def act(self, observation, random):
    ...         return self.action
    >>> evaluate("matching-pennies", [First], episodes=8)["results"][0]["failed"]
    0
    """

    instrument: str
    slot: int
    slots: int
    team: tuple[int, ...]
    actions: Space
    steps: int
    facts: Mapping[str, Any]
    rehearsal: bool = False
    secret: Any = None
    complexity: Mapping[str, float] | None = None
    protocol: str = ""
    abstains: bool = False


@dataclass(frozen=True)
class CourseTask:
    """Everything that a mind that carries is told before a course begins.

    Parameters
    ----------
    train : int
        The training exercises to come, which the same mind lives through.
    tests : int
        The test exercises, each of which a copy of the mind takes.
    """

    train: int
    tests: int


@dataclass(frozen=True)
class Traits:
    """The properties that a mind declares about itself; every results table shows them.

    Parameters
    ----------
    deterministic : bool
        It draws no random words.
    learns : bool
        It changes with what it meets in an exercise.
    sees : "own", "complexity" or "future"
        It sees what its slot is shown, or is also told how complex the exercise is, or also what
        will come, as a ceiling does.
    practice : int
        The rehearsals on the same exercise before it counts.
    one_at_a_time : bool
        It plays exercise by exercise, never many side by side.
    paid : bool
        It costs money by the call.
    carries : bool
        It can keep what it learnt over the exercises of a course (see `MindBase`).

    Examples
    --------
    >>> from allminds import Traits
    >>> str(Traits(learns=True, practice=100))
    'learns, practises 100x'
    """

    deterministic: bool = False
    learns: bool = False
    sees: Literal["own", "complexity", "future"] = "own"
    practice: int = 0  # rehearsals on the same exercise before it counts
    one_at_a_time: bool = False  # it plays exercise by exercise, never many side by side
    paid: bool = False  # it costs money by the call
    carries: bool = False  # it can keep what it learnt over the exercises of a course

    def __post_init__(self) -> None:
        """Reject a negative number of rehearsals."""
        if self.practice < 0:
            raise Error(f"a mind's practice must be 0 or more, not {self.practice}")

    def __str__(self) -> str:
        words = [
            "deterministic" if self.deterministic else "",
            "learns" if self.learns else "",
            "sees the future" if self.sees == "future" else "",
            "is told the complexity" if self.sees == "complexity" else "",
            f"practises {self.practice}x" if self.practice else "",
            "carries" if self.carries else "",
        ]
        return ", ".join(word for word in words if word)


# ---------------------------------------------------------------- what members of a group say


@dataclass(frozen=True)
class Message:
    """What a member of a group told others, or answered, within a step.

    Parameters
    ----------
    sender : str
        The member, counted from 1; ``2.1`` is member 1 of a group that is member 2.
    kind : "says", "answers" or "abstains"
        It told others, or gave its answer to the protocol, or gave none, with the reason in `text`.
    hearers : tuple of int
        The members that heard it, counted from 1.
    answer : Any
        The action that it would take, or None.
    text : str
        Its words, or nothing.
    round, step, slot : int
        The round of talk within the step, the step, both counted from 1, and the group's slot.

    Examples
    --------
    >>> from allminds.contracts import Message
    >>> Message("2", "says", (1, 3), 4, "It is the fourth.").hearers
    (1, 3)
    """

    sender: str
    kind: Literal["says", "answers", "abstains"]
    hearers: tuple[int, ...] = ()
    answer: Any = None
    text: str = ""
    round: int = 1
    step: int = 1
    slot: int = 0


# ---------------------------------------------------------------- who acts


class Mind(Protocol):
    """One mind in one slot. Only `act` is required; `MindBase` has the optional methods.

    A mind is made anew for every exercise, so its constructor should only store parameters and
    what it learns cannot leak from one exercise into the next. `begin` is called at the start of
    every rehearsal it asked for and of the play that counts. Only in a course does a mind whose
    traits say that it carries live through several exercises.

    Optional: ``act_many``, see `BatchMind`.
    """

    def act(self, observation: Any, random: Random, /) -> Any:
        """Choose one of the actions of the `Task`, drawing random numbers only from `random`."""
        ...


class MindBase:
    """A base class for minds: override `act`, and the other methods if the mind needs them.

    As they are here, all methods but `act` do nothing. A mind is made anew for every exercise.

    In a course a mind with ``Traits(carries=True)`` is made once, and lives through all training
    exercises: `begin` is still called before each of them and decides what is reset, such as the
    position, and what stays, such as a table of values. A test exercise is taken by a deep copy of
    the mind as it stands, which is thrown away, so that tests teach nothing.

    Attributes
    ----------
    traits : Traits
        What the mind declares about itself.

    Examples
    --------
    >>> from allminds import MindBase, Traits, evaluate
    >>> class StayAtHome(MindBase):
    ...     traits = Traits(deterministic=True)
    ...     def act(self, observation, random):
    ...         return 5
    >>> evaluate("lambda-star", [StayAtHome], episodes=22)["results"][0]["mind"]
    'StayAtHome'
    """

    traits = Traits()
    is_group: ClassVar[bool] = False  # it plays several slots; set by `registry.group`
    takes_members: ClassVar[bool] = False  # its first argument is a tuple of subjects
    takes_instrument: ClassVar[bool] = False  # its first argument is the instrument
    runs_code: ClassVar[bool] = False  # it runs a program or a file that its name has
    reads: ClassVar[bool] = False  # it shows and reads exercises by the instrument's presentation

    def begin_course(self, course: CourseTask) -> None:
        """Prepare for a course; called once, and only for minds that carry."""

    def end_course(self) -> None:
        """Release what a course needed; called once, after its last exercise."""

    def begin(self, task: Task) -> None:
        """Prepare for a play, of which `task` says what is known beforehand."""

    def act(self, observation: Any, random: Random) -> Any:
        """Choose one of the actions of the `Task`, drawing random numbers only from `random`."""
        raise NotImplementedError

    def learn(self, reward: float, observation: Any, done: bool) -> None:
        """Learn from the last step: its reward, and the new observation (None if `done`)."""

    # ------------------------------------------------------------ in a group

    def hear(self, messages: Sequence[Message]) -> None:
        """Take in what other members of a group said.

        A mind that overrides this is asked again after a round of talk; others keep their answer.
        """

    def say(self) -> str:
        """Return the words that go with the last answer to other members; by default none."""
        return ""

    def rank(self, observation: Any, random: Random) -> Sequence[Any] | None:
        """Rank all actions that are allowed, the best first; None if it only has one answer."""
        return None


def can_hear(mind: Any) -> bool:
    """Return True for a mind, or a class of them, that takes in what members of its group say."""
    hear = getattr(mind if isinstance(mind, type) else type(mind), "hear", None)
    return hear is not None and hear is not MindBase.hear


class Group(Protocol):
    """Several minds that act as one in several slots and may share what they see."""

    def begin(self, tasks: Sequence[Task]) -> None:
        """Prepare for a play, with a task for each slot of the group."""
        ...

    def act(self, observations: Sequence[Any], random: Sequence[Random]) -> Sequence[Any]:
        """Choose an action for each slot whose turn it is, in the order of `observations`."""
        ...

    def learn(self, rewards: Sequence[float], observations: Sequence[Any], done: bool) -> None:
        """Learn from the last step: rewards and new observations of all slots of the group."""
        ...


# ---------------------------------------------------------------- what they act in


if TYPE_CHECKING:
    default = property
else:

    class default:
        """A property that a class attribute or a dataclass field of the same name replaces.

        A `property` would not do: it rejects the value that a field puts in the instance.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute, self.__doc__ = compute, compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:  # a dataclass asks whether its field has a default value
                raise AttributeError("only environments have it, not their class")
            return self.compute(instance)


class Environment(ABC):
    """What minds act in: a world or a question, which `reset` begins and `step` continues.

    Subclasses must have `actions`, `reset` and `step`; everything else has a default. What is a
    property here may also be a class attribute or a field of a dataclass.

    An environment keeps no state of its own. `reset` and `step` return the state, and the caller
    hands it to the other methods, so the same exercise and actions always give the same play.
    Environments with equal contents should be equal, as frozen dataclasses are: `check_instrument`
    compares them.

    Attributes
    ----------
    actions : sequence of Space
        The actions of each slot, in slot order.
    teams : tuple of tuples of int
        The slots of each team. Default: each slot is a team.
    steps : int
        The largest number of steps in a play. Default: 1.
    score : "mean" or "total"
        The way in which the rewards of a slot become its score. Default: their mean.
    complexity : mapping of str to float
        The measures of complexity, columns of the results table. Default: none.
    facts : mapping
        What every mind is told before the play. Default: nothing.

    Examples
    --------
    A coin that is to be called, over and over:

    >>> from typing import NamedTuple
    >>> from allminds import Discrete, Environment
    >>> class Tossed(NamedTuple):
    ...     step: int
    >>> class Coin(Environment):
    ...     actions = (Discrete(2, labels=("heads", "tails")),)
    ...     steps = 10
    ...     def reset(self, random):
    ...         return Tossed(0)
    ...     def step(self, state, actions, random):
    ...         return Tossed(state.step + 1), [float(actions[0] == random.below(2))]
    >>> Coin().teams, Coin().awaited(Tossed(10))
    (((0,),), ())
    """

    @default
    def actions(self) -> Sequence[Space]:
        """The actions of each slot, in slot order."""
        raise NotImplementedError(f"{type(self).__name__} lacks 'actions', a space for each slot")

    @default
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """The slots of each team, whose minds get equal rewards; by default each slot is a team."""
        return tuple((slot,) for slot in range(len(self.actions)))

    @default
    def steps(self) -> int:
        """The largest number of steps in a play; by default 1, as in a question."""
        return 1

    @default
    def score(self) -> Literal["mean", "total"]:
        """The way in which the rewards of a slot become its score; by default their mean."""
        return "mean"

    @default
    def known_by(self) -> Any:
        """What a mind could know it by if it came again, a hashable value; None for all of it.

        No test exercise of a course is known by the same as one of its training exercises.
        """
        return None

    @default
    def complexity(self) -> Mapping[str, float]:
        """The measures of complexity by name, columns of the results table; by default none."""
        return {}

    @default
    def facts(self) -> Mapping[str, Any]:
        """The facts that every mind is told before the play, in its `Task`; by default none."""
        return {}

    def told(self, slot: int) -> Mapping[str, Any]:
        """Return the facts that the mind in a slot is told; by default `facts`, as all others."""
        return self.facts

    @abstractmethod
    def reset(self, random: Random) -> Any:
        """Return the state before the first step.

        Parameters
        ----------
        random : Random
            The environment's own stream of random words, at step 0.
        """

    def awaited(self, state: Any) -> tuple[int, ...]:
        """Return the slots that must act now: all, or the one whose turn it is; () at the end.

        By default all slots act at once until `steps` steps are made, which the state counts in
        its attribute `step`.
        """
        return tuple(range(len(self.actions))) if state.step < self.steps else ()

    def observe(self, state: Any, slot: int) -> Any:
        """Return what a slot sees; by default the whole state.

        The optional attribute `legal` of an observation lists the actions allowed now.
        """
        return state

    @abstractmethod
    def step(
        self, state: Any, actions: Mapping[int, Any], random: Random
    ) -> tuple[Any, Sequence[float]]:
        """Return the next state, and a reward in [-1, 1] for every slot.

        Parameters
        ----------
        state
            The state that `reset` or the last step returned.
        actions : mapping of int to action
            The action of each slot that was awaited.
        random : Random
            The environment's own stream at this step; steps are counted from 1.
        """

    def secret(self, state: Any, slot: int, random: Random) -> Any:
        """Return what to tell a mind that sees the future, such as the answer.

        By default None: there is nothing to tell, since what comes depends on the minds.
        """
        return None


@dataclass(frozen=True)
class Lesson:
    """The place of an exercise in a course."""

    number: int  # of the exercise, counted over all courses
    course: int  # number of the course: one life of a mind that carries
    position: int  # in the course
    phase: int  # of the course, counted from 1
    role: Literal["train", "test"]
    trained: int  # training exercises before this one
    met: int  # times that the mind was trained on this very exercise before
    last: bool  # no other comes after it
    task: CourseTask  # what minds that carry are told


@dataclass(frozen=True)
class Exercise:
    """One environment and where it comes from: number `index` of the series of `seed`."""

    id: str  # instrument@version/settings-hash/seed/index: people and programs are paired by it
    tool: Instrument
    seed: int
    index: int
    environment: Environment
    item: int | None = None  # a hash of what is shown, where another exercise may show the same
    cluster: int | None = None  # what makes errors alike, as shifts of one series do; else the item
    lesson: Lesson | None = None  # its place in a course, if it is given in one

    @property
    def number(self) -> int:
        """The number in the test that is given: `index`, unless the test is a course."""
        return self.index if self.lesson is None else self.lesson.number

    @property
    def instrument(self) -> str:
        """The name of the instrument."""
        return self.tool.name


@dataclass(frozen=True)
class Failure:
    """A failure in place of an action: a mind refused, answered nonsense, hung or crashed."""

    status: Status
    reason: str = ""

    def __post_init__(self) -> None:
        """Require a known status; without a reason, the status is the reason."""
        if self.status not in STATUSES[1:]:
            raise Error(f"a failure's status is one of {', '.join(STATUSES[1:])}")
        if not self.reason:
            object.__setattr__(self, "reason", self.status)


@dataclass(frozen=True)
class Record:
    """The result of one exercise, slot by slot.

    A slot whose mind failed also has a score (`Instrument.failed_score`); the other slots of that
    exercise have none.
    """

    exercise: str
    index: int
    complexity: Mapping[str, float]
    steps: int
    score: tuple[float | None, ...]
    learning: tuple[float | None, ...]
    status: tuple[Status, ...]
    reason: str = ""
    actions: tuple[Mapping[int, Any], ...] = field(default=(), repr=False)  # per step
    rewards: tuple[tuple[float, ...], ...] = field(default=(), repr=False)  # per step
    item: int | None = None
    cluster: int | None = None
    lesson: Lesson | None = None  # its place in a course
    trained_steps: int = 0  # steps of the training exercises before it
    messages: tuple[Message, ...] = field(default=(), repr=False)  # of members of groups


# ---------------------------------------------------------------- what is given to whom


class Fast(Protocol):
    """A faster way to play one line-up, with bit-equal results to the plain one."""

    compiled: bool  # releases the GIL, so that threads do

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play exercises first..last-1 of a seed; keep the actions of those below `traced`."""
        ...


class FairCeiling(NamedTuple):
    """The best expected score of a mind that does not see the future, or why there is none."""

    score: float | None
    reason: str = ""  # why there is no score; empty where nobody has a program for it


class Instrument(ABC):
    """A test: an endless, numbered series of exercises of known complexity.

    To add an instrument, write a subclass with `exercise`, `show` and `read`. The docstring of
    the class is its page of documentation. Settings come as keyword arguments of the model
    `Settings`. Increase `version` whenever a result could change.

    Attributes
    ----------
    name, version : str, int
        What exercise ids begin with.
    chance, ceiling : float
        The expected score of the floor mind, and the best there is.
    lowest, highest : float
        The range of scores.
    strata : str or None
        The complexity column over whose values exercises are spread.
    levels : sequence of float
        The levels of complexity that `at_level` can make, for tests that choose them by the
        answers; by default none.
    floor_mind, ceiling_mind : str
        The minds that sit every test beside those that are asked for.
    settings : Settings
        The settings it was made with.

    Examples
    --------
    `docs/howto/write-an-instrument.md` has one in a file of a user's.

    >>> from allminds import registry
    >>> tool = registry.make_instrument("c-test", {"form": "generated"})
    >>> exercise = tool.exercise(seed=1, i=0)
    >>> exercise == tool.exercise(seed=1, i=0), exercise.environment.steps
    (True, 1)
    """

    name: str
    version: int
    chance: float  # expected score of `floor_mind`, in all slots
    ceiling: float  # expected score of `ceiling_mind`; without one, `highest`
    lowest: float = -1.0  # score that there can be
    highest: float = 1.0
    adaptive: bool = False  # exercises depend on the subject's own history
    sitting: int = 1  # exercises in one administration: i is number i % sitting of i // sitting
    together: int = 1  # exercises of an adaptive administration that are chosen at once
    levels: Sequence[float] = ()  # of complexity that `at_level` can make, easiest first
    length: int | None = None  # different exercises in a fixed form; None is no end of them
    items: Literal["fresh", "public", "published"] = "fresh"  # a model may know all but fresh ones
    strata: str | None = None  # the complexity column over whose values exercises are spread
    scored: Literal["all", "first"] = "all"  # slots whose score that of a line-up is
    caution: str = ""  # what a reader of its scores must know; below every table
    caution_by_settings: bool = False  # whether that depends on settings
    floor_mind: str = "random"
    ceiling_mind: str | None = None
    ceiling_reached: bool = True  # False if `ceiling` is a bound that no mind exceeds
    slots: int
    parts: tuple[Instrument, ...] = ()  # of a course: the instruments of its phases
    skin: Skin | None = None  # that its exercises wear: see `allminds.disguise`
    Settings: ClassVar[Any]  # a pydantic model; `core.settings.Settings` is its base
    settings: Any  # an instance of it

    @abstractmethod
    def exercise(self, seed: int, i: int, history: Sequence[Record] = ()) -> Exercise:
        """Make exercise number `i` of the series of `seed`.

        The same seed and number must always make the same exercise. Only an adaptive instrument
        may also use `history`: the subject's records of the same administration so far.
        """

    def at_level(self, seed: int, level: float, n: int) -> Exercise:
        """Make exercise number `n` of those of a level of complexity, one of `levels`.

        A level is a value of the complexity column that the `rule` calls strata. By default it is
        assumed that exercise i has level number ``core.seeding.stratum(seed, i, len(levels))``.
        """
        count, wanted = len(self.levels), list(self.levels).index(level)
        run = range(n * count, (n + 1) * count)
        return self.exercise(seed, next(i for i in run if stratum(seed, i, count) == wanted))

    def is_over(self, history: Sequence[Record]) -> bool:
        """Return True if an adaptive administration ends after these records, before `sitting`."""
        return False

    @abstractmethod
    def show(self, observation: Any, form: Literal["text", "html", "svg", "array"]) -> Any:
        """Show an observation to a person or a language model, in one of these forms."""

    @abstractmethod
    def read(self, answer: str, observation: Any) -> Any | Failure:
        """Read the action from a written answer to an observation, or return a `Failure`."""

    def show_state(self, environment: Any, state: Any) -> str:
        """Show the whole state as text for a replay, including what minds may not see."""
        return str(state)

    @property
    def presentation(self) -> Presentation:
        """The way the test is presented to people, models and libraries; import its module here."""
        from allminds.presentation import Presentation

        return Presentation(self)

    @property
    def kind(self) -> type[Instrument]:
        """The class that is registered under the name: that of the instrument inside a course."""
        return type(self)

    def fast(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Return a faster form for the line-up, or None if one of its minds has no such form."""
        return None

    def small(self, line_up: LineUp, watch: Watch) -> Fast | None:
        """Return a form that needs no compiler, for a line-up whose faster form is compiled.

        The engine plays small jobs in it, and large ones until the kernels are compiled. None if
        there is no such form.
        """
        return None

    def fair_ceiling(self, asked: bool = False) -> FairCeiling:
        """Return the best expected score of a mind that does not see the future, if it is known.

        A value that takes more than some seconds is computed only if it is asked for.
        """
        return FairCeiling(None)

    def cautioned(self, exercises: int) -> str:
        """State what a reader of scores in so many exercises must know; by default `caution`."""
        return self.caution

    @property
    def scored_slots(self) -> tuple[int, ...]:
        """The slots whose mean score is the score of a line-up."""
        return (0,) if self.scored == "first" else tuple(range(self.slots))

    def failed_score(
        self,
        environment: Environment,
        slot: int,
        rewards: Sequence[float],
    ) -> float:
        """Score a mind that failed after these rewards, so that it never pays to give up.

        Steps that were played keep their rewards, and every other step counts as the lowest
        reward. So a question counts as wrong, and an unfinished game as its lowest result.
        """
        if environment.score == "total":
            return self.lowest
        left = environment.steps - len(rewards)
        return math.fsum([*rewards, *[self.lowest] * left]) / environment.steps

    def rule(self) -> Rule:
        """Describe how the plays of a mind become one score with its confidence interval."""
        from allminds.inference import Rule

        return Rule(
            strata=self.strata,
            low=self.lowest,
            high=self.highest,
            scored=self.scored_slots,
            sitting=self.sitting,
        )

    def tally(self) -> Tally:
        """Make an empty `Tally`, which computes the score by this instrument's `rule`."""
        from allminds.inference import Tally

        return Tally(self.rule())
