"""Every quick form equals the plain Python, bit for bit, over many sizes and seeds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allminds import registry
from allminds.contracts import Failure, MindBase
from allminds.core.bases import BatchMind
from allminds.core.blocks import block_difference
from allminds.core.line_up import LineUp
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_star.fast import lockstep
from allminds.instruments.lambda_star.fast.forms import Compiled
from allminds.instruments.lambda_star.fast.lockstep import Lockstep
from allminds.instruments.lambda_star.minds import LocalSearch, compiled_mind
from allminds.instruments.tables import uniform_best

MINDS = [
    "random",
    "local-search",
    "expert",
    "expert(intercept=false)",
    "optimum",
    "q-learning(sessions=3)",
    "q-learning(sessions=2,epsilon=0.3,alpha=0.7,gamma=0.9,initial=0,scale=1)",
    "q-learning(sessions=4,epsilon=0.2,bootstrap=released)",
    "sarsa(sessions=3)",
    "sarsa(sessions=2,epsilon=0.5)",
]


@st.composite
def worlds(draw):
    kind = draw(st.sampled_from(["cyclic", "drift", "released"]))
    rows = draw(st.integers(2, 9))
    made = {
        "rows": rows,
        "cols": rows if kind == "released" else draw(st.integers(2, 9)),
        "iterations": draw(st.sampled_from([1, 2, 7, 20])),
        "agents": draw(st.integers(1, 4)),
        "range": draw(st.integers(1, 2)),
        "patterns": kind,
    }
    if draw(st.booleans()):
        made["k"] = "any"
    return made


def compare(tool, line_up, seed, first, last):
    watch = Watch()
    quick = form(tool, line_up, watch)
    a = quick.play(seed, first, last, traced=first + 3)
    b = Plain(tool, line_up, watch).play(seed, first, last, traced=first + 3)
    assert block_difference(a, b) == ""
    return quick


@pytest.mark.parametrize("mind", MINDS)
@given(made=worlds(), seed=st.integers(0, 2**40), first=st.integers(0, 2**30))
@example(made={}, seed=7, first=0)
@example(made={"rows": 3, "cols": 3, "agents": 3}, seed=1, first=1000)
@settings(max_examples=12)
def test_kernels_equal_the_reference(mind, made, seed, first):
    tool = registry.make_instrument("lambda-star", made)
    quick = compare(tool, registry.line_up(mind, tool), seed, first, first + 4)
    side = min(tool.torus.rows, tool.torus.cols)
    assert isinstance(quick, Compiled) == (side >= 3 and 2 * tool.settings.range < side)


def test_the_optimum_plans_in_16_bits_however_long_an_episode_is():
    """Values grow to 48,000 sixteenths of a half unit, of which the plan keeps differences."""
    made = {"rows": 3, "cols": 3, "iterations": 1500, "patterns": "released"}
    tool = registry.make_instrument("lambda-star", made)
    compare(tool, registry.line_up("optimum", tool), 5, 0, 2)


def test_any_block_of_exercises_gives_the_same_records():
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 5, "agents": 2})
    quick = form(tool, registry.line_up("local-search", tool), Watch())
    whole = quick.play(4, 0, 700, 0)
    for first, last in [(0, 1), (127, 129), (5, 300), (699, 700)]:
        part = quick.play(4, first, last, 0)
        assert np.array_equal(part.score, whole.score[first:last])
        assert np.array_equal(part.learning, whole.learning[first:last])


def test_copies_are_independent_of_each_other():
    """Slot 0 does the same whoever else is there."""
    one = registry.make_instrument("lambda-star", {"rows": 6, "cols": 6, "agents": 1})
    many = registry.make_instrument("lambda-star", {"rows": 6, "cols": 6, "agents": 5})
    for mind in ("local-search", "q-learning(sessions=3)", "random"):
        a = form(one, registry.line_up(mind, one), Watch()).play(4, 0, 50, 0)
        b = form(many, registry.line_up(mind, many), Watch()).play(4, 0, 50, 0)
        assert np.array_equal(a.score[:, 0], b.score[:, 0])


def test_different_minds_in_one_line_up():
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 6, "agents": 3})
    subjects = [registry.subject(name, tool) for name in ("optimum", "random", "expert")]
    quick = compare(tool, LineUp.of(subjects, 3), 3, 0, 20)
    assert isinstance(quick, Compiled)


# ---------------------------------------------------------------- users' own minds


class Plainly(MindBase):
    """Local search once more, as a user would write it."""

    def begin(self, task):
        self.inner = LocalSearch()
        self.inner.begin(task)

    def act(self, observation, random):
        return self.inner.act(observation, random)


class Batched(BatchMind):
    """The same for many episodes at once."""

    def act_many(self, observations, words):
        rewards = observations.rewards
        best = rewards == rewards.max(axis=1, keepdims=True)
        pick = ((words[:, 0] >> np.uint64(32)) * best.sum(axis=1).astype(np.uint64)) >> np.uint64(
            32
        )
        rank = best.cumsum(axis=1) - 1
        return 1 + ((rank == pick[:, None].astype(int)) & best).argmax(axis=1)


@compiled_mind
def compiled_search(cells, rewards, step, bits):
    """The same compiled."""
    best, count = rewards.max(), 0
    for reward in rewards:
        count += reward == best
    pick = ((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    for place in range(len(rewards)):
        if rewards[place] == best:
            if pick == np.uint64(0):
                return place + 1
            pick -= np.uint64(1)
    return 0


@pytest.mark.parametrize("agents", [1, 3])
@pytest.mark.parametrize(
    ("mind", "how"), [(Plainly, Lockstep), (Batched, Lockstep), (compiled_search, Compiled)]
)
def test_a_users_mind_in_all_three_forms_is_local_search(mind, how, agents):
    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 7, "agents": agents})
    line_up = registry.line_up(mind, tool)
    assert isinstance(compare(tool, line_up, 8, 20, 60), how)
    theirs = form(tool, line_up, Watch()).play(8, 0, 200, 200)
    ours = form(tool, registry.line_up("local-search", tool), Watch()).play(8, 0, 200, 200)
    assert block_difference(theirs, ours) == ""


@pytest.mark.parametrize("most", [0, 1 << 19])
def test_views_are_the_same_whether_they_are_kept_or_not(monkeypatch, most):
    monkeypatch.setattr(lockstep, "MOST_VIEWS", most)
    tool = registry.make_instrument("lambda-star", {"rows": 6, "cols": 7, "range": 2})
    assert isinstance(compare(tool, registry.line_up(Plainly, tool), 5, 0, 20), Lockstep)


def test_a_table_of_values_makes_each_once_and_all_when_as_many_were_asked_for():
    made = []

    def squares(numbers):
        made.extend(numbers)
        return [number**2 for number in numbers]

    kept = lockstep.Kept(10, squares)
    assert kept.at(np.array([3, 3, 4])) == [9, 9, 16]
    assert kept.at(np.array([4, 3])) == [16, 9]
    assert sorted(made) == [3, 4]
    assert kept.at(np.array([5] * 7)) == [25] * 7
    assert sorted(made) == list(range(10))


class Remembers(MindBase):
    """Learns in the midst of an episode: repeats what paid, else draws."""

    def __init__(self):
        self.last, self.paid = 5, False

    def act(self, observation, random):
        if not self.paid:
            self.last = 1 + random.below_at(9, 3)
        return self.last

    def learn(self, reward, observation, done):
        self.paid = reward > 0


class Clairvoyant(MindBase):
    """Sees the future."""

    from allminds.contracts import Traits

    traits = Traits(sees="future")

    def begin(self, task):
        self.good, self.step = task.secret.good, 0

    def act(self, observation, random):
        self.step += 1
        wanted = self.good[self.step]
        return 1 + (observation.cells.index(wanted) if wanted in observation.cells else 4)


class Ending(MindBase):
    """Notes how it was told that the play is over."""

    told: ClassVar[list] = []

    def act(self, observation, random):
        return 5

    def learn(self, reward, observation, done):
        self.told.append((observation is None, done))


def test_lock_step_says_when_it_is_over_as_the_plain_loop_does():
    tool = registry.make_instrument(
        "lambda-star", {"rows": 5, "cols": 5, "iterations": 3, "k": "any"}
    )
    line_up = registry.line_up(Ending, tool)
    for way in (form(tool, line_up, Watch()), Plain(tool, line_up, Watch())):
        Ending.told.clear()
        way.play(1, 0, 1, 0)
        assert Ending.told == [(False, False), (False, False), (True, True)]


class Refuses(MindBase):
    """Says no now and then, in so many words."""

    def act(self, observation, random):
        return Failure("refused", "not today") if random.below(40) == 0 else 5


def test_a_refusal_is_the_same_in_every_form():
    tool = registry.make_instrument(
        "lambda-star", {"rows": 5, "cols": 5, "iterations": 9, "k": "any"}
    )
    compare(tool, registry.line_up(Refuses, tool), 2, 0, 40)


@pytest.mark.parametrize("mind", [Remembers, Clairvoyant])
def test_lock_step_serves_minds_that_learn_or_see_the_future(mind):
    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "agents": 2})
    assert isinstance(compare(tool, registry.line_up(mind, tool), 2, 0, 30), Lockstep)


# ---------------------------------------------------------------- failures


class Faulty(MindBase):
    """Fails in some way at some step of some exercises, by its random word."""

    def __init__(self):
        self.step = 0

    def act(self, observation, random):
        self.step += 1
        if self.step == 3:
            what = random.below_at(24, 1)
            if what < 3:
                return (0, 10, "5")[what]
            if what == 3:
                raise ValueError("I would rather not")
        return uniform_best(observation.rewards, random) + 1

    def learn(self, reward, observation, done):
        if self.step == 5 and reward > 0.5:
            raise KeyError("learnt too much")


@compiled_mind
def faulty_compiled(cells, rewards, step, bits):
    """Answers 0 or 10 now and then."""
    if step == 2 and bits % np.uint64(3) == np.uint64(0):
        return 10
    if step == 4 and bits % np.uint64(3) == np.uint64(0):
        return 0
    return 5


class FaultyBatch(BatchMind):
    """Answers 10 now and then."""

    def act_many(self, observations, words):
        return np.where(words[:, 0] % np.uint64(50) == 0, 10, 5)


@pytest.mark.parametrize("mind", [Faulty, faulty_compiled, FaultyBatch])
@pytest.mark.parametrize("agents", [1, 3])
def test_failures_are_the_same_in_every_form(mind, agents):
    tool = registry.make_instrument(
        "lambda-star", {"rows": 5, "cols": 5, "agents": agents, "iterations": 12}
    )
    line_up = registry.line_up(mind, tool)
    compare(tool, line_up, 2, 0, 60)
    block = form(tool, line_up, Watch()).play(2, 0, 60, 0)
    assert 0 < (block.status > 0).any(axis=1).sum() < 60
    assert len(block.reasons) == (block.status > 0).any(axis=1).sum()


def test_a_batch_of_the_wrong_shape_fails_every_exercise():
    class Odd(BatchMind):
        def act_many(self, observations, words):
            return np.array([5, 5, 5])

    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "iterations": 5})
    block = form(tool, registry.line_up(Odd, tool), Watch()).play(1, 0, 8, 0)
    assert (block.status == 2).all()
    assert "8 whole numbers were awaited" in block.reasons[0]


def test_a_mind_that_hangs_in_lock_step_fails_only_its_exercise():
    class Hangs(MindBase):
        def act(self, observation, random):
            hangs = random.below(40) == 0
            while hangs:
                pass
            return 5

    tool = registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "iterations": 4})
    watch = Watch(0.15)
    with watch.running():
        block = form(tool, registry.line_up(Hangs, tool), watch).play(1, 0, 30, 0)
    hung = (block.status == 3).any(axis=1)
    assert 0 < hung.sum() < 15
    assert (block.status[~hung] == 0).all()
