"""Disguises: skins keep the structure, and minds act through them."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import MindBase, registry
from allminds.contracts import Discrete, Environment, Exercise, Failure, Instrument
from allminds.core.bases import Question
from allminds.core.errors import Error
from allminds.core.settings import Settings
from allminds.core.watch import Watch
from allminds.disguise import Skin, retold
from allminds.episode import Episode, form, play
from allminds.instruments.games.boards import LINES
from allminds.instruments.games.skins import FIFTEEN, TURNS
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.series.items import LETTERS

SKINS = st.integers(1, 10**6)
EVERY = [name for name, cls in registry.instruments().items() if not cls.adaptive]


def worn(name: str, n: int, **given: Any) -> tuple[Instrument, Skin]:
    tool = registry.make_instrument(name, given | {"disguise": n})
    assert tool.skin is not None
    return tool, tool.skin


# ---------------------------------------------------------------- what every skin keeps


@pytest.mark.parametrize("name", EVERY)
@given(n=SKINS, i=st.integers(0, 50))
@settings(max_examples=8, deadline=None)
def test_an_action_that_is_put_on_and_off_is_the_same(name, n, i):
    tool, skin = worn(name, n)
    for space in tool.exercise(1, i).environment.actions:
        assert isinstance(space, Discrete)
        plain = [one for one in space.numbers if space.contains(one)]
        there = [skin.worn(one, space) for one in plain]
        assert sorted(there) == plain
        assert [skin.action(one, space) for one in there] == plain
        for wrong in (None, "up", 10**9, -7, 1.5, True):
            assert skin.action(wrong, space) is wrong


@pytest.mark.parametrize("name", EVERY)
def test_a_skin_is_drawn_from_its_number_alone(name):
    task = Episode(registry.make_instrument(name).exercise(1, 0)).task(0)
    tool, skin = worn(name, 5)
    again, same = worn(name, 5)
    assert skin.rules(task) == same.rules(task)
    seen = {slot: tool.exercise(1, 3) for slot in (0,)}[0]
    episode, other = Episode(seen), Episode(again.exercise(1, 3))
    slot = min(episode.waiting)
    space = episode.environment.actions[slot]
    first, second = (skin.observation(one.waiting[slot], space) for one in (episode, other))
    assert first == second
    assert seen.id != registry.make_instrument(name).exercise(1, 3).id
    assert tool.settings.model_dump(mode="json")["disguise"] == 5


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_reader_can_answer_every_action_in_the_words_of_the_skin(name, n):
    """Whatever is asked for in the rules or the text reaches every plain action that is allowed."""
    tool = worn(name, n)[0]
    episode = Episode(tool.exercise(1, 1))
    slot = min(episode.waiting)
    seen, space = episode.waiting[slot], episode.environment.actions[slot]
    assert isinstance(space, Discrete)
    told = f"{tool.presentation.rules(episode.task(slot)).text}\n{tool.presentation.words(seen)}"
    words = set(re.split(r"[\s,<>:]+", told)) | set("ABCDEFGH")
    words |= {word.rstrip(".;") for word in words}
    found = {tool.read(word, seen) for word in words}
    assert {one for one in found if not isinstance(one, Failure)} >= set(space.allowed(seen))
    assert isinstance(tool.read("no such word", seen), Failure)


# ---------------------------------------------------------------- each instrument's structure


@given(n=SKINS, i=st.integers(0, 34))
@settings(max_examples=60, deadline=None)
def test_glyphs_are_renamed_and_their_new_order_is_told(n, i):
    tool, skin = worn("c-test", n, task="both", options=5)
    episode = Episode(tool.exercise(1, i))
    seen, task = episode.waiting[0], skin.task(episode.task(0))
    shown, order = skin.observation(seen, task.actions), task.facts["alphabet"]
    assert len(set(order)) == len(LETTERS)
    assert order != LETTERS
    back = str.maketrans(order, LETTERS)
    assert (shown.shown.translate(back), shown.options.translate(back)) == tuple(seen)
    assert list(task.actions.labels) == list(shown.options)  # type: ignore[attr-defined]
    told = skin.rules(episode.task(0)).text
    assert " ".join(order) in told
    assert skin.words(seen) == " ".join(shown.shown)
    for place, glyph in enumerate(shown.options):
        assert tool.read(f" {glyph.upper()} ", seen) == place
    assert tool.read("none", seen) == -1
    other = next(one for one in "zя" if one not in order or one not in shown.options)
    assert isinstance(tool.read(other, seen), Failure)


@given(n=SKINS, i=st.integers(0, 200))
@settings(max_examples=40, deadline=None)
def test_the_rule_solver_finds_the_same_answer_in_a_matrix_of_other_colours(n, i):
    tool, skin = worn("matrices", n)
    exercise = tool.exercise(1, i)
    question: Any = exercise.environment
    space = question.actions[0]
    seen = skin.observation(question.observe(None, 0), space)
    right = skin.worn(question.problem.answer, space)
    mind = registry.subject("rule-induction", tool).make()
    mind.begin(Episode(exercise).task(0))
    from allminds.core.seeding import Random

    assert mind.act(seen, Random(1)) == right
    assert skin.action(right, space) == question.problem.answer


@pytest.mark.parametrize(
    "given_", [{}, {"rows": 4, "cols": 7, "k": "any"}, {"range": 2}, {"moves": "12358"}]
)
@given(n=SKINS)
@settings(max_examples=15, deadline=None)
def test_a_turned_torus_is_a_torus(given_, n):
    """Observations mean the same: neighbours in reading order, and moves lead where they say."""
    tool, skin = worn("lambda-star", n, **given_)
    torus = Torus(tool.settings.rows, tool.settings.cols)
    episode = Episode(tool.exercise(n, n % 22))
    space: Any = episode.environment.actions[0]
    for step in range(6):
        seen = skin.observation(episode.waiting[0], space)
        assert seen.cells == torus.around(seen.cell, tool.settings.range)
        plain = dict(zip(episode.waiting[0].cells, episode.waiting[0].rewards, strict=True))
        assert sorted(plain.values()) == sorted(dict(zip(*seen, strict=True)).values())
        move = space.allowed(seen)[(n + step) % len(space.allowed(seen))]
        episode.play({0: skin.action(move, space)})
        after = skin.observation(episode.waiting[0], space)
        assert after.cell == torus.moved(seen.cell, move)


@given(n=SKINS, i=st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_renumbered_cells_are_a_space_of_cells(n, i):
    tool, skin = worn("lambda", n, agents=2)
    episode = Episode(tool.exercise(1, i))
    space = episode.environment.actions[0]
    arrows: dict[int, tuple[int, ...]] = {}
    for step in range(8):
        seen = skin.observation(episode.waiting[0], space)
        assert seen.reachable[0] == seen.cell
        assert arrows.setdefault(seen.cell, seen.reachable) == seen.reachable
        move = (n + step) % len(seen.reachable)
        episode.play({0: skin.action(move, space), 1: 0})
        if episode.record is None:
            after = skin.observation(episode.waiting[0], space)
            assert after.cell == seen.reachable[move]
            assert len(set(after.symbols)) == len(set(episode.waiting[0].symbols))


@pytest.mark.parametrize("name", ["prisoners-dilemma", "rock-paper-scissors", "public-goods"])
@given(n=SKINS)
@settings(max_examples=10, deadline=None)
def test_the_table_in_disguise_pays_what_the_game_pays(name, n):
    tool, skin = worn(name, n)
    episode = Episode(tool.exercise(1, 0))
    told = skin.task(episode.task(0))
    table, spaces = told.facts["rules"].table, episode.environment.actions
    actions = range(len(told.facts["rules"].labels))
    assert told.facts["rules"].labels == told.actions.labels  # type: ignore[attr-defined]
    for joint in product(actions, repeat=tool.slots):
        one = Episode(tool.exercise(1, 0))
        one.play({s: skin.action(a, spaces[s]) for s, a in enumerate(joint)})
        assert tuple(one.rewards[0]) == tuple(table[joint])
        after = skin.observation(one.waiting[0], spaces[0])
        assert (after.own, *after.others) == joint
        named = tool.presentation.words(one.waiting[0])
        assert f"you chose {told.actions.labels[joint[0]]}" in named  # type: ignore[attr-defined]


def test_the_game_of_fifteen_is_noughts_and_crosses():
    threes = {
        frozenset((a, b, c))
        for a, b, c in product(range(1, 10), repeat=3)
        if a < b < c and a + b + c == 15
    }
    assert {frozenset(FIFTEEN[n] for n in line) for line in LINES} == threes
    lines = {frozenset(line) for line in LINES}
    assert len(set(TURNS)) == 7
    for turn in TURNS:
        assert {frozenset(turn[n] for n in line) for line in lines} == lines


def test_words_are_replaced_whole_and_all_at_once():
    words = {"Good": "Evil", "Evil": "x"}
    assert retold("Good's cell, Goods; Evil", words) == "Evil's cell, Goods; x"


# ---------------------------------------------------------------- who is given what


def scores(tool: Instrument, who: str, count: int) -> np.ndarray:
    with (watch := Watch()).running():
        return form(tool, registry.line_up(who, tool), watch).play(1, 0, count, 0).score


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("c-test", "random"), ("c-test", "mode"), ("c-test", "min-distance"),
        pytest.param("c-test", "levin-search", marks=pytest.mark.slow),
        ("matrices", "random"), ("matrices", "rule-induction"),
    ],
)  # fmt: skip
def test_built_in_minds_answer_questions_the_same_to_the_bit_under_100_skins(name, who):
    count = 3 if name == "matrices" else 8
    plain = scores(registry.make_instrument(name), who, count)
    for n in range(1, 101):
        assert np.array_equal(scores(worn(name, n)[0], who, count), plain)


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("prisoners-dilemma", "minimax, tit-for-tat"), ("stag-hunt", "minimax, stag"),
        ("prisoners-dilemma", "tit-for-tat, random"), ("noughts-and-crosses", "minimax"),
        ("lambda", "optimum"),
    ],
)  # fmt: skip
def test_solvers_without_ties_play_the_same_to_the_bit_under_100_skins(name, who):
    """Minimax has one best action here; opponents keep the actions that they are made of."""
    count = 7 if name == "lambda" else 3
    plain = scores(registry.make_instrument(name), who, count)
    for n in range(1, 101):
        assert np.array_equal(scores(worn(name, n)[0], who, count), plain)


class Uphill(MindBase):
    """Goes to the best cell in sight: the same one however the torus is turned, but for ties."""

    def act(self, observation, random):
        return 1 + observation.rewards.index(max(observation.rewards))


@pytest.mark.parametrize("name", ["landscape"])
def test_a_mind_of_the_users_acts_through_the_skin_and_its_record_is_plain(name):
    """On a landscape no two cells are of the same height, so a climber is the same to the bit."""
    bare = registry.make_instrument(name, {"iterations": 20})
    who = registry.line_up(Uphill, bare)
    for n in range(1, 21):
        tool, skin = worn(name, n, iterations=20)
        plain, disguised = (play(one.exercise(1, n), who) for one in (bare, tool))
        assert disguised.score == plain.score
        assert disguised.actions == plain.actions
        assert skin.given_to(who.seats[0].subject) is skin


class Noted(MindBase):
    """Keeps what it is shown."""

    seen: list[Any]

    def begin(self, task):
        Noted.seen = [task]

    def act(self, observation, random):
        Noted.seen.append(observation)
        return Noted.seen[0].actions.start

    def learn(self, reward, observation, done):
        Noted.seen.append(observation)


def test_what_a_mind_learns_from_wears_the_skin_too():
    tool, skin = worn("lambda-star", 3, iterations=2)
    exercise = tool.exercise(1, 0)
    play(exercise, registry.line_up(Noted, tool))
    episode = Episode(exercise)
    space = episode.environment.actions[0]
    first = skin.observation(episode.waiting[0], space)
    episode.play({0: skin.action(1, space)})
    assert Noted.seen[1] == first
    assert Noted.seen[2] == Noted.seen[3] == skin.observation(episode.waiting[0], space)


# ---------------------------------------------------------------- an instrument of the user's


class Legal(NamedTuple):
    step: int
    legal: tuple[int, ...]


class Doors(Environment):
    """Four doors, of which one pays; it may not be the last one."""

    actions = (Discrete(4, start=1, labels=("red", "blue", "green", "grey")),)
    steps = 3

    def reset(self, random):
        return Legal(0, (1, 2, 3))

    def step(self, state, actions, random):
        return state._replace(step=state.step + 1), [float(actions[0] == 2)]


class DoorTest(Instrument):
    """Doors: open the one that pays."""

    name, version, slots, chance, ceiling = "doors-of-a-test", 1, 1, 0.0, 1.0
    Settings = Settings

    def __init__(self, **given):
        self.settings = Settings(**given)

    def exercise(self, seed, i, history=()):
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Doors())

    def show(self, observation, form):
        return f"Doors {observation.legal} can be opened."

    def read(self, answer, observation):
        labels = Doors.actions[0].labels
        if answer in labels:
            return 1 + labels.index(answer)
        return Failure("malformed", answer)


class ByNumber(MindBase):
    def act(self, observation, random):
        return 2 if 2 in observation.legal else observation.legal[0]


class ByLabel(ByNumber):
    def begin(self, task):
        self.door = task.actions.start + task.actions.labels.index("blue")

    def act(self, observation, random):
        assert self.door in observation.legal
        return self.door


def test_by_default_actions_change_their_order_and_labels_go_with_them():
    tools = [registry.make_instrument(DoorTest, {"disguise": n}) for n in range(9)]
    results = {
        who: [play(tool.exercise(1, 0), registry.line_up(who, tool)) for tool in tools]
        for who in (ByNumber, ByLabel)
    }
    assert [one.score for one in results[ByLabel]] == [(1.0,)] * 9
    assert all(one.actions[0] == {0: 2} for one in results[ByLabel])
    assert results[ByNumber][0].score == (1.0,)
    assert sum(one.score == (1.0,) for one in results[ByNumber]) < 6
    assert all(one.status == ("ok",) for one in results[ByNumber])
    skin = tools[1].skin
    assert skin is not None
    told = skin.rules(Episode(tools[1].exercise(1, 0)).task(0))
    name = told.text.partition(" stands for blue")[0].split()[-1]
    assert name in told.answer
    assert tools[1].read(name, Legal(0, (1, 2, 3))) == 2
    assert isinstance(tools[1].read("blue", Legal(0, (1, 2, 3))), Failure)


class Hidden(NamedTuple):
    legal_ones: tuple[int, ...]

    @property
    def legal(self):
        return self.legal_ones


class Odd(Question):
    actions = (Discrete(3),)

    def observe(self, state, slot):
        return Hidden((0, 2))

    def reward(self, answer):
        return float(answer)


class OddTest(DoorTest):
    """Odd: `legal` is no field."""

    name = "odd-of-a-test"

    def exercise(self, seed, i, history=()):
        return Exercise(f"{registry.exercise_prefix(self, seed)}{i}", self, seed, i, Odd())


def test_actions_that_cannot_change_their_order_are_said():
    tool = registry.make_instrument(OddTest, {"disguise": 1})
    with pytest.raises(Error, match="write `skin` in a Presentation"):
        play(tool.exercise(1, 0), registry.line_up(ByNumber, tool))


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("wrong", [-1, "x", 1.5, True, 10**7, None, "²"])
def test_a_disguise_is_the_number_of_a_skin(wrong):
    with pytest.raises(Error, match="c-test: disguise is the number of a skin"):
        registry.make_instrument("c-test", {"disguise": wrong})


def test_none_is_no_skin_and_a_course_has_none():
    assert registry.make_instrument("c-test", {"disguise": 0}).skin is None
    assert registry.make_instrument("c-test", {"disguise": "0"}).skin is None
    with pytest.raises(Error, match="a course is not given in disguise"):
        registry.make_instrument("c-test", {"disguise": 1, "course": "train=1,test=1"})
