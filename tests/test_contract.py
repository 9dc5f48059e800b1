"""The contract holds what is to come: questions, turns, teams, groups, rehearsals, failures.

A throwaway question and a throwaway game are written here against it, and nothing in the
contract had to change for them.
"""

from __future__ import annotations

import doctest
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import pytest

from allminds import contracts, registry
from allminds.check import check_instrument
from allminds.contracts import (
    Discrete,
    Environment,
    Exercise,
    Failure,
    Instrument,
    MindBase,
    Traits,
)
from allminds.core.bases import Question, Wrapper
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Subject
from allminds.core.seeding import MAKING, Random, key
from allminds.core.settings import Settings, checked
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, play

# ---------------------------------------------------------------- a question of one step


@dataclass(frozen=True)
class Sum(Question):
    """What is a + b? One step, ten options, the reward is the hit."""

    a: int
    b: int
    actions = (Discrete(10),)

    @property
    def complexity(self) -> Mapping[str, float]:
        return {"size": float(self.a + self.b)}

    def observe(self, state: int | None, slot: int) -> tuple[int, int]:
        return self.a, self.b

    def reward(self, answer: int) -> float:
        return 1.0 if answer == self.a + self.b else 0.0

    def secret(self, state: int | None, slot: int, random: Random) -> int:
        return self.a + self.b


class Sums(Instrument):
    """Little sums."""

    name = "sums"
    version = 1
    chance = 0.1
    ceiling = 1.0
    lowest = 0.0
    Settings = Settings
    slots = 1

    def __init__(self, **settings: Any) -> None:
        self.settings = checked(Settings, settings, self.name)

    def exercise(self, seed: int, i: int, history: Sequence[Any] = ()) -> Exercise:
        random = Random(key(seed, i, MAKING))
        prefix = registry.exercise_prefix(self, seed)
        return Exercise(
            f"{prefix}{i}", self, seed, i, Sum(random.below_at(5, 0), random.below_at(5, 1))
        )

    def show(self, observation: Any, form: str) -> Any:
        return f"{observation[0]} + {observation[1]} =" if form == "text" else observation

    def read(self, answer: str, observation: Any) -> int | Failure:
        return int(answer) if answer.isdigit() else Failure("malformed", answer)


def test_a_question_is_an_environment_of_one_step():
    tool = Sums()
    check_instrument(tool)
    right = LineUp.alone(registry.subject(lambda seen: seen[0] + seen[1], tool), 1)
    wrong = LineUp.alone(registry.subject(lambda seen: (seen[0] + seen[1] + 1) % 10, tool), 1)
    assert [play(tool.exercise(1, i), right).score for i in range(5)] == [(1.0,)] * 5
    assert [play(tool.exercise(1, i), wrong).score for i in range(5)] == [(0.0,)] * 5
    assert play(tool.exercise(1, 0), right).learning == (None,)


# ---------------------------------------------------------------- a game in turns, two teams


@dataclass(frozen=True)
class Nim(Environment):
    """Two players in turn take one or two of seven; who takes the last wins: total +1 and -1."""

    steps = 7
    score: Literal["mean", "total"] = "total"
    actions = (Discrete(2, start=1), Discrete(2, start=1))
    facts: ClassVar[Mapping[str, Any]] = {"heap": 7}

    def reset(self, random: Random) -> tuple[int, int]:
        return 7, 0  # heap, who moves

    def awaited(self, state: tuple[int, int]) -> tuple[int, ...]:
        return (state[1],) if state[0] > 0 else ()

    def observe(self, state: tuple[int, int], slot: int) -> int:
        return state[0]

    def step(self, state: tuple[int, int], actions: Mapping[int, int], random: Random):
        heap, mover = state
        left = max(0, heap - actions[mover])
        won = 1.0 if left == 0 else 0.0
        return (left, 1 - mover), [won if slot == mover else -won for slot in (0, 1)]


class NimTest(Sums):
    """A game in turns."""

    name = "nim"
    chance = 0.0
    lowest = -1.0
    slots = 2

    def exercise(self, seed: int, i: int, history: Sequence[Any] = ()) -> Exercise:
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Nim())

    def show(self, observation: Any, form: str) -> Any:
        return f"{observation} left"


def strategist(heap: int) -> int:
    return heap % 3 or 1


def test_players_move_in_turn_and_totals_are_scored():
    tool = NimTest()
    check_instrument(tool)
    episode = Episode(tool.exercise(1, 0))
    movers = []
    while episode.record is None:
        (slot,) = episode.waiting
        movers.append(slot)
        episode.play({slot: strategist(episode.waiting[slot])})
    assert movers == [0, 1] * (len(movers) // 2) + [0] * (len(movers) % 2)
    assert episode.record.score == (1.0, -1.0)  # seven is won by who begins


def test_a_line_up_puts_minds_in_slots_and_refuses_what_does_not_fit():
    tool = NimTest()
    first, other = (registry.subject(who, tool) for who in (strategist, lambda heap: 1))
    record = play(tool.exercise(1, 0), LineUp.of([other, first], 2))
    assert record.score == (-1.0, 1.0)
    with pytest.raises(Error, match="too short"):
        LineUp.of([first], 2)
    with pytest.raises(Error, match="a line-up of 3 is too long for an environment of 2 slots"):
        LineUp.of([other, first, first], 2)


def test_learn_is_told_every_step_to_every_slot():
    told = []

    class Listener(MindBase):
        def act(self, observation, random):
            return 1

        def learn(self, reward, observation, done):
            told.append((reward, observation, done))

    tool = NimTest()
    play(tool.exercise(1, 0), LineUp.alone(registry.subject(Listener, tool), 2))
    assert len(told) == 14  # seven steps, two slots
    assert told[-2:] == [(1.0, None, True), (-1.0, None, True)]


# ---------------------------------------------------------------- groups


class Whisper:
    """A group whose second member does what the first saw: one takes one, so both do."""

    is_group = True

    def begin(self, tasks):
        self.slots = [task.slot for task in tasks]

    def act(self, observations, random):
        assert len(random) == len(observations)
        return [1] * len(observations)

    def learn(self, rewards, observations, done):
        self.last = rewards, observations, done


def test_a_group_plays_several_slots_as_one():
    tool = NimTest()
    subject = registry.subject(Whisper, tool)
    assert subject.group
    record = play(tool.exercise(1, 0), LineUp.alone(subject, 2))
    assert record.score == (1.0, -1.0)
    assert len(record.actions) == 7


# ---------------------------------------------------------------- rehearsals


def test_a_mind_lives_through_the_rehearsals_it_asked_for_and_no_others():
    plays = []

    class Practised(MindBase):
        traits = Traits(learns=True, practice=3)

        def __init__(self):
            self.seen = 0

        def begin(self, task):
            self.seen += 1
            plays.append((self.seen, task.rehearsal))

        def act(self, observation, random):
            return 0

    class Untaught(MindBase):
        def __init__(self):
            self.plays = 0

        def begin(self, task):
            self.plays += 1
            assert self.plays == 1

        def act(self, observation, random):
            return 0

    tool = Sums()
    play(tool.exercise(1, 0), LineUp.alone(registry.subject(Practised, tool), 1))
    assert plays == [(1, True), (2, True), (3, True), (4, False)]
    both = LineUp.of([registry.subject(Practised, tool), registry.subject(Untaught, tool)], 2)
    play(NimTest().exercise(1, 0), both)


def test_random_words_of_the_play_that_counts_do_not_depend_on_practice():
    def drawn(practice):
        words = []

        class Drawing(MindBase):
            traits = Traits(practice=practice)

            def act(self, observation, random):
                words.append(random.word_at(0))
                return 0

        tool = Sums()
        play(tool.exercise(1, 0), LineUp.alone(registry.subject(Drawing, tool), 1))
        return words

    assert drawn(0)[-1] == drawn(4)[-1]
    assert len(set(drawn(4))) == 5


# ---------------------------------------------------------------- failures


class Mute:
    """Will not be looked at."""

    def __repr__(self):
        raise RuntimeError

    def __index__(self):
        raise ValueError


class Unspeakable(Exception):
    """Will not say what is wrong."""

    def __str__(self):
        raise RuntimeError


def broken(error):
    raise error


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (lambda seen: 10, "malformed"),
        (lambda seen: -1, "malformed"),
        (lambda seen: "5", "malformed"),
        (lambda seen: True, "malformed"),
        (lambda seen: None, "malformed"),
        (lambda seen: 5.0, "malformed"),
        (lambda seen: 10**5000, "malformed"),
        (lambda seen: Mute(), "malformed"),
        (lambda seen: Failure("refused"), "refused"),
        (lambda seen: 1 / 0, "error"),
        (lambda seen: sys.exit(0), "error"),
        (lambda seen: broken(GeneratorExit()), "error"),
        (lambda seen: broken(ValueError("\ud800")), "error"),
        (lambda seen: broken(Unspeakable()), "error"),
    ],
)
def test_a_wrong_answer_fails_the_exercise_with_its_status(answer, status):
    tool = Sums()
    record = play(tool.exercise(1, 0), LineUp.alone(registry.subject(answer, tool), 1))
    assert record.status == (status,)
    assert record.score == (0.0,)  # a question that is not answered is wrong
    assert record.learning == (None,)
    assert record.reason.encode("utf-8")


@pytest.mark.parametrize("status", ["void", "missing"])
def test_what_is_no_fault_of_the_mind_has_no_score(status):
    tool = Sums()
    answer = registry.subject(lambda seen: Failure(status, "429"), tool)
    record = play(tool.exercise(1, 0), LineUp.alone(answer, 1))
    assert (record.status, record.score, record.reason) == ((status,), (None,), "429")


@dataclass(frozen=True)
class Walk(Sum):
    """Four steps in a row, the reward of each being the action's number from -1 to 1."""

    steps = 4
    actions = (Discrete(3, start=-1),)

    def reset(self, random: Random) -> int:
        return 0

    def awaited(self, state: int) -> tuple[int, ...]:
        return (0,) if state < 4 else ()

    def observe(self, state: int, slot: int) -> int:
        return state

    def step(self, state: int, actions: Mapping[int, int], random: Random):
        return state + 1, [float(actions[0])]


class Walks(Sums):
    """Four steps."""

    name = "walks"
    lowest = -1.0

    def exercise(self, seed: int, i: int, history: Sequence[Any] = ()) -> Exercise:
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Walk(0, 0))


@pytest.mark.parametrize("made", range(5))
def test_steps_made_keep_their_rewards_and_those_not_made_count_the_lowest(made):
    def quits(step):
        return 1 if step < made else 1 / 0

    tool = Walks()
    record = play(tool.exercise(1, 0), LineUp.alone(registry.subject(quits, tool), 1))
    assert record.status == ("ok" if made == 4 else "error",)
    assert record.score == ((made - (4 - made)) / 4,)


def test_an_instrument_may_say_otherwise_what_a_failure_counts():
    class Guessing(Sums):
        def failed_score(self, environment, slot, rewards):
            return -0.25

    line_up = LineUp.alone(registry.subject(lambda seen: 99, Sums()), 1)
    assert play(Guessing().exercise(1, 0), line_up).score == (-0.25,)


def test_who_hangs_is_broken_off_and_who_waits_is_not_blamed():
    tool, watch = NimTest(), Watch(0.2)

    def hangs(heap):
        while True:
            try:
                heap += 1
            except Exception:
                heap -= 1

    line_up = LineUp.of([registry.subject(who, tool) for who in (strategist, hangs)], 2)
    with watch.running():
        record = play(tool.exercise(1, 0), line_up, watch)
    assert record.status == ("void", "timeout")
    assert record.score == (None, -1.0)  # the game is lost to the one, and the other has no result
    assert record.steps == 1


def test_a_sleeping_mind_is_broken_off_too():
    import time

    tool, watch = Sums(), Watch(0.05)
    line_up = LineUp.alone(registry.subject(lambda seen: time.sleep(60), tool), 1)
    with watch.running():
        assert play(tool.exercise(1, 0), line_up, watch).status == ("timeout",)


def test_rewards_that_differ_within_a_team_are_an_error_of_the_environment():
    class Torn(Nim):
        teams = ((0, 1),)

    exercise = Exercise("torn/0", NimTest(), 1, 0, Torn())
    episode = Episode(exercise)
    for _ in range(6):
        episode.play(dict.fromkeys(episode.waiting, 1))
    with pytest.raises(Error, match=r"step 7: slots \(0, 1\) are one team"):
        episode.play(dict.fromkeys(episode.waiting, 1))


def test_rewards_out_of_bounds_are_an_error_of_the_environment():
    class Rich(Sum):
        def step(self, state, actions, random):
            return 1, [2.0]

    episode = Episode(Exercise("rich/0", Sums(), 1, 0, Rich(1, 1)))
    with pytest.raises(Error, match=r"slot 0 got 2.0, outside \[-1, 1\]"):
        episode.play({0: 1})


# ---------------------------------------------------------------- defaults and wrappers


class Counted(NamedTuple):
    step: int


@dataclass(frozen=True)
class Least(Environment):
    """The least that an environment must have: every action is worth a tenth of itself."""

    steps: int  # a field where the base has a property
    actions = (Discrete(10),) * 3

    def reset(self, random: Random) -> Counted:
        return Counted(0)

    def step(self, state: Counted, actions: Mapping[int, int], random: Random):
        return Counted(state.step + 1), [actions[slot] / 10 for slot in range(3)]


def test_an_environment_has_defaults_for_all_but_actions_reset_and_step():
    world, random = Least(2), Random(0)
    assert (world.teams, world.score, world.steps) == (((0,), (1,), (2,)), "mean", 2)
    assert (dict(world.complexity), dict(world.facts)) == ({}, {})
    assert (world.observe(Counted(1), 0), world.secret(Counted(0), 0, random)) == (Counted(1), None)
    assert [world.awaited(Counted(n)) for n in (0, 1, 2)] == [(0, 1, 2), (0, 1, 2), ()]
    assert world == Least(2) != Least(3)
    with pytest.raises(TypeError, match=r"abstract methods? .*reset.*step"):
        Environment()
    bare = type("Bare", (Question,), {"reward": lambda self, answer: 0.0})()
    with pytest.raises(NotImplementedError, match="Bare lacks 'actions'"):
        Episode(Exercise("bare/0", Sums(), 1, 0, bare)).task(0)


def test_the_least_environment_is_played_to_its_end():
    episode = Episode(Exercise("least/0", Sums(), 1, 0, Least(2)))
    while episode.record is None:
        assert episode.play({0: 1, 1: 2, 2: 3})
    assert episode.record.score == (0.1, 0.2, 0.3)


@dataclass(frozen=True)
class Shortened(Wrapper):
    """An environment that is broken off after `most` steps."""

    most: int

    @property
    def steps(self) -> int:
        return self.most


MEMBERS = ("actions", "teams", "steps", "score", "complexity", "facts")


@pytest.mark.parametrize("name", registry.instruments())
def test_a_wrapper_does_all_as_the_environment_inside(name):
    exercise = registry.make_instrument(name).exercise(3, 0)
    inner = exercise.environment
    wrapped = replace(exercise, environment=Wrapper(inner))
    for member in MEMBERS:
        assert getattr(wrapped.environment, member) == getattr(inner, member)
    first, second = Episode(exercise), Episode(wrapped)
    assert second.task(0) == first.task(0)
    secrets = [episode.task(0, future=True).secret for episode in (first, second)]
    assert secrets[0] == secrets[1] or "Random" in str(secrets)  # streams have no equality
    while first.record is None:
        assert second.waiting == first.waiting
        actions = {
            slot: (getattr(seen, "legal", None) or (inner.actions[slot].start,))[0]
            for slot, seen in first.waiting.items()
        }
        assert first.play(actions) == second.play(actions) is True
    assert second.record == first.record


def test_a_wrapper_changes_what_it_overrides_and_nothing_else():
    exercise = Exercise("short/0", Sums(), 1, 0, Shortened(Nim(), 3))
    assert (exercise.environment.steps, exercise.environment.score) == (3, "total")
    assert exercise.environment == Shortened(Nim(), 3)


def test_the_examples_in_the_contract_run():
    tried = doctest.testmod(contracts)
    assert tried.attempted > 0
    assert not tried.failed


def test_playing_says_whether_a_step_was_made():
    episode = Episode(NimTest().exercise(1, 0))
    assert episode.play({0: 1})
    assert not episode.play({1: 5})  # which is no action
    assert (episode.record.status, episode.step) == (("void", "malformed"), 1)


def test_an_environment_that_does_not_derive_from_the_base_is_refused():
    class Loose(Sums):
        """Sums that are no environments."""

        def exercise(self, seed: int, i: int, history: Sequence[Any] = ()) -> Exercise:
            return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, object())

    with pytest.raises(Error, match=r"of class object, is no subclass of allminds\.Environment"):
        check_instrument(Loose())


def test_an_episode_takes_the_actions_of_those_it_awaits():
    episode = Episode(NimTest().exercise(1, 0))
    with pytest.raises(Error, match=r"slots \[0\] are awaited"):
        episode.play({1: 1})


def test_records_and_blocks_hold_the_same():
    tool = NimTest()
    line_up = LineUp.alone(registry.subject(strategist, tool), 2)
    block = Plain(tool, line_up, Watch()).play(1, 5, 9, traced=7)
    assert block.score.tolist() == [[1.0, -1.0]] * 4
    assert block.actions.shape == (2, 7, 2)
    assert block.curve.tolist() == [0.0] * 7  # zero-sum


def test_a_subject_knows_for_which_instruments_it_is():
    tool = Sums()
    with pytest.raises(Error, match="not for sums"):
        registry.subject(Subject("x", object, instruments=("nim",)), tool)
