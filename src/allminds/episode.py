"""One exercise being played: the slots that must act, what they see, and what they do.

`Episode` is the loop turned inside out, so that the runner, a browser, a language model and a
training library can all drive the same object. `play` is the plain loop over it, the reference that
every quicker form must equal bit for bit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MethodType
from typing import Any

from allminds.contracts import (
    FAILURES,
    CourseTask,
    Environment,
    Exercise,
    Failure,
    Fast,
    Instrument,
    Lesson,
    MindBase,
    Record,
    Status,
    Task,
)
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Seat, Subject
from allminds.core.messages import overheard
from allminds.core.seeding import MINDS, WORLD, Random, key
from allminds.core.spending import is_dry
from allminds.core.transcripts import PLAYING
from allminds.core.turns import at_once
from allminds.core.user_code import shown
from allminds.core.watch import Watch, malformed


class Episode:
    """One exercise, open until `record` is filled.

    ``waiting`` maps each slot that is to act to what it sees; `play` takes the actions of these
    slots.
    """

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.environment: Environment = exercise.environment
        self.spaces = self.environment.actions
        self.random = Random(key(exercise.seed, exercise.index, WORLD))
        self.state = self.environment.reset(self.random.at_step(0))
        self.step = 0
        self.actions: list[Mapping[int, Any]] = []
        self.rewards: list[tuple[float, ...]] = []
        self.record: Record | None = None
        self.waiting: Mapping[int, Any] = {}
        self._look()

    def task(
        self, slot: int, rehearsal: bool = False, future: bool = False, rated: bool = False
    ) -> Task:
        """Describe to the mind in a slot what it may know; the complexity only if it is `rated`."""
        environment = self.environment
        return Task(
            instrument=self.exercise.instrument,
            slot=slot,
            slots=len(environment.actions),
            team=next(team for team in environment.teams if slot in team),
            actions=environment.actions[slot],
            steps=environment.steps,
            facts=environment.told(slot),
            rehearsal=rehearsal,
            secret=environment.secret(self.state, slot, self.random.at_step(0)) if future else None,
            complexity=environment.complexity if rated or future else None,
        )

    def play(self, actions: Mapping[int, Any | Failure]) -> bool:
        """Play one step with the actions of all slots that are awaited.

        Returns
        -------
        bool
            True if a step was made; False if an action was a failure, or not allowed, which closes
            the exercise instead.
        """
        if self.record is not None:
            raise Error(f"exercise {self.exercise.id} is over; it accepts no more actions")
        if actions.keys() != self.waiting.keys():
            raise Error(f"slots {sorted(self.waiting)} are awaited, not {sorted(actions)}")
        for slot, action in actions.items():
            if isinstance(action, Failure) or not self._allowed(slot, action):
                self.fail(self._failures(actions))
                return False
        self.step += 1
        words = self.random.at_step(self.step)
        self.state, rewards = self.environment.step(self.state, actions, words)
        check_rewards(self.environment, rewards, self._where)
        self.actions.append(dict(actions))
        self.rewards.append(tuple(rewards))
        self._look()
        return True

    def _where(self) -> str:
        return f"{self.exercise.instrument}, exercise {self.exercise.index}, step {self.step}"

    def observe(self, slot: int) -> Any:
        """Return what a slot sees now, whether or not it is its turn."""
        if slot in self.waiting:
            return self.waiting[slot]
        return self.environment.observe(self.state, slot)

    def _allowed(self, slot: int, action: Any) -> bool:
        """Check whether an action is in the slot's space and legal now."""
        legal = getattr(self.waiting[slot], "legal", None)
        there = self.spaces[slot].contains(action)
        return there and (legal is None or action in legal)

    def _failures(self, actions: Mapping[int, Any | Failure]) -> dict[int, Failure]:
        """Collect the failures among actions, and describe those that are not allowed."""
        return {
            slot: action if isinstance(action, Failure) else self._malformed(slot, action)
            for slot, action in actions.items()
            if isinstance(action, Failure) or not self._allowed(slot, action)
        }

    def _malformed(self, slot: int, action: Any) -> Failure:
        legal = getattr(self.waiting[slot], "legal", None)
        return malformed(action, self.spaces[slot], legal)

    def _look(self) -> None:
        awaited = self.environment.awaited(self.state)
        self.waiting = {slot: self.environment.observe(self.state, slot) for slot in awaited}
        if not awaited:
            slots = range(len(self.spaces))
            each = [[rewards[slot] for rewards in self.rewards] for slot in slots]
            self._close(
                tuple(_score(rewards, self.environment.score) for rewards in each),
                tuple(_learning(rewards) for rewards in each),
                tuple("ok" for _ in slots),
            )

    def fail(self, failures: Mapping[int, Failure]) -> None:
        """Close the exercise: slots at fault get the score of a failure, others get none."""
        if self.record is not None:
            raise Error(f"exercise {self.exercise.id} is over; it cannot fail any more")
        slots = range(len(self.spaces))
        self.waiting = {}
        failed_score = self.exercise.tool.failed_score
        self._close(
            tuple(
                failed_score(self.environment, slot, [made[slot] for made in self.rewards])
                if slot in failures and failures[slot].status in FAILURES
                else None
                for slot in slots
            ),
            (None,) * len(slots),
            tuple(failures[slot].status if slot in failures else "void" for slot in slots),
            next(iter(failures.values())).reason,
        )

    def _close(
        self,
        score: tuple[float | None, ...],
        learning: tuple[float | None, ...],
        status: tuple[Status, ...],
        reason: str = "",
    ) -> None:
        self.record = Record(
            exercise=self.exercise.id,
            index=self.exercise.number,
            complexity=self.environment.complexity,
            steps=self.step,
            score=score,
            learning=learning,
            status=status,
            reason=reason,
            actions=tuple(self.actions),
            rewards=tuple(self.rewards),
            item=self.exercise.item,
            cluster=self.exercise.cluster,
            lesson=self.exercise.lesson,
        )


def check_rewards(
    environment: Environment, rewards: Sequence[float], where: Callable[[], str]
) -> None:
    """Require rewards in [-1, 1] that are equal within a team, whatever minds play.

    This is Definition 1 of Insa-Cabrera and Hernández-Orallo (2015).
    """
    for slot, reward in enumerate(rewards):
        if not -1.0 <= reward <= 1.0:
            raise Error(f"{where()}: slot {slot} got {reward}, outside [-1, 1]")
    for team in environment.teams:
        if len(team) > 1 and len({rewards[slot] for slot in team}) > 1:
            raise Error(f"{where()}: slots {team} are one team but were rewarded differently")


def _one_each(actions: Any, slots: Sequence[int]) -> bool:
    """Check whether a group gave an action for every slot."""
    return (
        not isinstance(actions, str) and hasattr(actions, "__len__") and len(actions) == len(slots)
    )


def _score(rewards: Sequence[float], kind: str) -> float:
    total = math.fsum(rewards)  # rounded once: `sum` rounds otherwise from Python 3.12 on
    return total if kind == "total" else total / len(rewards)


def _learning(rewards: Sequence[float]) -> float | None:
    half = len(rewards) // 2
    if half == 0:
        return None
    return math.fsum(rewards[-half:]) / half - math.fsum(rewards[:half]) / half


# ---------------------------------------------------------------- minds at play


class Player:
    """A mind or a group on its slots, which the loop can call without exceptions."""

    def __init__(
        self, seat: Seat, exercise: Exercise, watch: Watch, stands_in: bool = False
    ) -> None:
        subject = seat.subject
        self.slots, self.group, self.paid = seat.slots, subject.group, subject.paid
        self.future = subject.traits.sees == "future"
        self.spaces = exercise.environment.actions
        skin = exercise.tool.skin
        self.skin = None if skin is None else skin.given_to(subject)
        self.rated = subject.traits.sees == "complexity"
        self.watch = watch.over(subject)
        self.failure: Failure | None = None
        met = exercise.lesson.met * exercise.tool.slots if exercise.lesson else 0
        self.randoms = [
            Random(key(exercise.seed, exercise.index, MINDS + s + met)) for s in seat.slots
        ]
        self.mind = self._safely((stands_in and subject.stand_in) or subject.make)
        self.learns = hasattr(self.mind, "learn")

    def begin(self, episode: Episode, rehearsal: bool) -> None:
        if not hasattr(self.mind, "begin"):
            return
        tasks = [episode.task(n, rehearsal, self.future, self.rated) for n in self.slots]
        if self.skin is not None:
            tasks = [self.skin.task(task) for task in tasks]
        self._safely(self.mind.begin, tasks if self.group else tasks[0])

    def act(self, seen: Mapping[int, Any], clock: int) -> dict[int, Any | Failure]:
        if not self.group:
            slot = self.slots[0]
            view = self._view(seen[slot], slot)
            answer = self._safely(self.mind.act, view, self.randoms[0].at_step(clock))
            return {slot: self._plain(answer, slot) if self.failure is None else self.failure}
        slots = [slot for slot in self.slots if slot in seen]
        randoms = [self.randoms[self.slots.index(slot)].at_step(clock) for slot in slots]
        actions = self._safely(self.mind.act, [self._view(seen[s], s) for s in slots], randoms)
        if self.failure is None and not _one_each(actions, slots):
            said = f"gave {shown(actions, repr)}; an action for each of {len(slots)} slots was due"
            self.failure = Failure("malformed", said)
        if self.failure is not None:
            return dict.fromkeys(slots, self.failure)
        acted = dict(zip(slots, actions, strict=True))
        if self.skin is None:
            return acted
        return {slot: self._plain(action, slot) for slot, action in acted.items()}

    def _view(self, observation: Any, slot: int) -> Any:
        """Show an observation as the mind sees it: in disguise, if it wears one."""
        if self.skin is None:
            return observation
        return self.skin.observation(observation, self.spaces[slot])

    def _plain(self, action: Any, slot: int) -> Any:
        """Translate an action in disguise into the plain one."""
        if self.skin is None or isinstance(action, Failure):
            return action
        return self.skin.action(action, self.spaces[slot])

    def learn(self, episode: Episode) -> None:
        if self.failure is not None or not self.learns or _learns_nothing(self.mind.learn):
            return
        done = episode.record is not None
        rewards = [episode.rewards[-1][slot] for slot in self.slots]
        seen = [None if done else self._view(episode.observe(slot), slot) for slot in self.slots]
        if self.group:
            self._safely(self.mind.learn, rewards, seen, done)
        else:
            self._safely(self.mind.learn, rewards[0], seen[0], done)

    def _safely(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a mind's own code: what it raises, or that it hangs, becomes its failure."""
        if self.failure is not None:
            return None
        answer = self.watch.call(function, *arguments)
        if isinstance(answer, Failure):
            self.failure = answer
            return None
        return answer


def _learns_nothing(learn: Callable[..., Any]) -> bool:
    """Check whether a mind's `learn` is the one that does nothing."""
    return isinstance(learn, MethodType) and learn.__func__ is MindBase.learn


def play(exercise: Exercise, line_up: LineUp, watch: Watch | None = None) -> Record:
    """Play one exercise: the rehearsals that its minds asked for, then the play that counts.

    A mind that asked for p rehearsals lives through the last p of them; in earlier ones, and for
    minds that asked for none, a fresh copy fills the slot. Random words are numbered by play (0 is
    the one that counts) and step, so that they do not depend on the rehearsals.
    """
    watch = watch or Watch()
    players: dict[int, Player] = {}
    for left in range(line_up.practice, -1, -1):
        number = line_up.practice - left + 1 if left else 0
        for place, seat in enumerate(line_up.seats):
            if seat.subject.traits.practice <= left:
                stands_in = seat.subject.traits.practice < left
                players[place] = Player(seat, exercise, watch, stands_in)
        record = _one_play(exercise, line_up, list(players.values()), number)
        if set(record.status) != {"ok"}:
            break
    return _never_begun(exercise, record) if number else record


def _never_begun(exercise: Exercise, rehearsal: Record) -> Record:
    """Rescore the record of a mind that failed in a rehearsal: gains there do not count."""
    score = tuple(
        None if one is None else exercise.tool.failed_score(exercise.environment, slot, [])
        for slot, one in enumerate(rehearsal.score)
    )
    return replace(rehearsal, steps=0, score=score, actions=(), rewards=(), messages=())


def _one_play(
    exercise: Exercise, line_up: LineUp, players: Sequence[Player], number: int
) -> Record:
    episode = Episode(exercise)
    start = number * episode.environment.steps
    with overheard() as said:
        for player in players:
            player.begin(episode, rehearsal=number > 0)
        while episode.record is None:
            said.step = episode.step + 1
            if episode.play(_acted(players, episode.waiting, start + episode.step)):
                for player in players:
                    player.learn(episode)
    return replace(_shared(episode, line_up), messages=said.ordered())


def _acted(
    players: Sequence[Player], seen: Mapping[int, Any], clock: int
) -> dict[int, Any | Failure]:
    """Collect the actions of the slots that are awaited; minds that are paid act at once."""
    awaited = [player for player in players if not seen.keys().isdisjoint(player.slots)]
    paid = [player for player in awaited if player.paid]
    if len(paid) > 1:
        calls = [partial(player.act, seen, clock) for player in paid]
        of = dict(zip(map(id, paid), at_once(calls), strict=True))
    else:
        of = {}
    actions: dict[int, Any | Failure] = {}
    for player in awaited:
        actions |= of[id(player)] if id(player) in of else player.act(seen, clock)
    return actions


def _shared(episode: Episode, line_up: LineUp) -> Record:
    """Spread a failure to all slots of the mind that failed, and return the record."""
    record = episode.record
    assert record is not None
    at_fault = {n: Failure(word) for n, word in enumerate(record.status) if word in FAILURES}
    status, score = list(record.status), list(record.score)
    for slot, failure in line_up.shared(at_fault).items():
        made = [rewards[slot] for rewards in record.rewards]
        score[slot] = episode.exercise.tool.failed_score(episode.environment, slot, made)
        status[slot] = failure.status
    return replace(record, status=tuple(status), score=tuple(score))


def play_on(
    tool: Instrument, line_up: LineUp, seed: int, first: int, last: int, watch: Watch | None = None
) -> list[tuple[Exercise, Record]]:
    """Play exercises first..last-1, one after the other.

    What an adaptive instrument asks depends on the answers before, and what a mind knows in a
    course on the exercises before, so the administration that `first` belongs to is played from
    its beginning.
    """
    played: list[tuple[Exercise, Record]] = []
    start = first - first % tool.sitting
    for begun in range(start, last, tool.sitting):
        played += _administered(
            tool,
            line_up,
            seed,
            range(begun, begun + tool.sitting)[: last - begun],
            watch or Watch(),
        )
    return [pair for pair in played if pair[0].number >= first]


def _administered(
    tool: Instrument, line_up: LineUp, seed: int, numbers: range, watch: Watch
) -> list[tuple[Exercise, Record]]:
    """Play one administration from its beginning, as far as it goes; in rounds, if it has any."""
    company, played = Company(line_up, watch), list[tuple[Exercise, Record]]()
    at_once_too = tool.together > 1 and _is_asked(line_up)
    for first in range(0, len(numbers), tool.together):
        history = [record for _, record in played]
        if tool.is_over(history) and not is_dry():
            break
        if at_once_too:
            made = [tool.exercise(seed, i, history) for i in numbers[first : first + tool.together]]
            calls = [partial(_played, company, one, history) for one in made]
            played += zip(made, at_once(calls), strict=True)
            continue
        for i in numbers[first : first + tool.together]:
            history = [record for _, record in played]
            exercise = tool.exercise(seed, i, history)
            played.append((exercise, _played(company, exercise, history)))
    return played


def _played(company: Company, exercise: Exercise, history: Sequence[Record]) -> Record:
    PLAYING.set(exercise.number)
    return company.play(exercise, history)


def _is_asked(line_up: LineUp) -> bool:
    """Return True if a paid mind plays, and no mind of the user's, whose time is limited."""
    subjects = [seat.subject for seat in line_up.seats]
    return any(one.paid for one in subjects) and all(one.built_in for one in subjects)


# ---------------------------------------------------------------- minds in a course


class Company:
    """The line-up of one administration: in a course, minds that carry live through its training.

    Outside a course they are made anew for every exercise, as all minds are.
    """

    def __init__(self, line_up: LineUp, watch: Watch) -> None:
        self.line_up, self.watch = line_up, watch
        self.pupils = {
            place: Pupil(seat.subject)
            for place, seat in enumerate(line_up.seats)
            if seat.subject.traits.carries
        }

    def play(self, exercise: Exercise, history: Sequence[Record]) -> Record:
        """Play one exercise, after the records of those before it in the administration."""
        lesson = exercise.lesson
        record = play(exercise, self.seated(lesson), self.watch)
        if lesson is None:
            return record
        if lesson.last:
            for pupil in self.pupils.values():
                self.watch.call(pupil.end)  # no exercise is left that could fail by it
        taught = [one for one in history if one.lesson and one.lesson.role == "train"]
        return replace(record, trained_steps=sum(one.steps for one in taught))

    def seated(self, lesson: Lesson | None) -> LineUp:
        """Seat the minds themselves for training, and copies of them for a test."""
        if lesson is None:
            return self.line_up
        seats = list(self.line_up.seats)
        for place, pupil in self.pupils.items():
            pupil.task = lesson.task
            make = pupil.itself if lesson.role == "train" else pupil.copied
            subject = replace(seats[place].subject, make=make, stand_in=pupil.copied)
            seats[place] = replace(seats[place], subject=subject)
        return replace(self.line_up, seats=tuple(seats))


class Pupil:
    """A mind that carries, made when it is first needed."""

    def __init__(self, subject: Subject) -> None:
        self.make = subject.make
        self.mind: Any = None
        self.task = CourseTask(0, 0)

    def itself(self) -> Any:
        """Return the one mind of the course, and begin the course if it has not begun."""
        if self.mind is None:
            mind = self.make()
            if hasattr(mind, "begin_course"):
                mind.begin_course(self.task)
            self.mind = mind
        return self.mind

    def copied(self) -> Any:
        """Copy the mind as it stands, so that what the copy learns is lost."""
        mind = self.itself()
        try:
            return copy.deepcopy(mind)
        except Exception as error:
            raise Error(
                f"a copy of the mind takes each test, and {type(mind).__name__} cannot be copied: "
                f"{shown(error, str)}; give it a method __deepcopy__"
            ) from None

    def end(self) -> None:
        """Tell the mind that the course is over."""
        if hasattr(self.mind, "end_course"):
            self.mind.end_course()


class Plain:
    """The plain loop as a `Fast` form: the reference for all others."""

    compiled = False

    def __init__(self, tool: Instrument, line_up: LineUp, watch: Watch) -> None:
        self.tool, self.line_up, self.watch = tool, line_up, watch

    def play(self, seed: int, first: int, last: int, traced: int) -> Block:
        """Play exercise by exercise, and join the records to a block."""
        played = play_on(self.tool, self.line_up, seed, first, last, self.watch)
        steps = max(exercise.environment.steps for exercise, _ in played)
        return Block.of([record for _, record in played], steps, traced - first)


def form(tool: Instrument, line_up: LineUp, watch: Watch) -> Fast:
    """Choose the fastest form that every mind in the line-up has; some play one at a time."""
    if any(seat.subject.one_at_a_time for seat in line_up.seats):
        return Plain(tool, line_up, watch)
    try:
        return tool.fast(line_up, watch) or Plain(tool, line_up, watch)
    except Exception as error:
        if isinstance(error, Error) or all(seat.subject.built_in for seat in line_up.seats):
            raise
        return Plain(tool, line_up, watch)  # where a mind that breaks is told to the user
