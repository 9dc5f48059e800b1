"""Groups: hand-worked playthroughs of every protocol, and one property that each must have.

The playthroughs are on a 7x7 torus where Good stands in row 3, column 3 and Evil in row 0,
column 6 (from 0); cells are written (row, column). Members with a script wish for one fixed move
a step, so that every message and move follows by hand.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plainly import evaluate

from allminds import registry
from allminds.contracts import MindBase
from allminds.core.line_up import LineUp, Subject
from allminds.core.seeding import MINDS, Random, key
from allminds.core.watch import Watch
from allminds.episode import form, play
from allminds.instruments.lambda_star import groups as collectives
from allminds.instruments.lambda_star.grid import Torus
from allminds.instruments.lambda_star.patterns import Recurrent
from allminds.instruments.lambda_star.world import Foresight, State, View, World

TORUS = Torus(7, 7)
GOOD, EVIL = (3, 3), (0, 6)


class Scripted(MindBase):
    """Wishes for one move after the other."""

    def __init__(self, moves):
        self.moves = list(moves)

    def act(self, observation, random):
        return self.moves.pop(0)


def script(*moves):
    return Subject("scripted", lambda: Scripted(moves))


def cell(place):
    return TORUS.cell(*place)


def playthrough(group, starts, steps=4, prepare=None):
    """The cells (row, column) of all members after each step, and their rewards."""
    world = World(TORUS, steps, len(starts), 1, Recurrent((5,), (5,)), {})
    state = State(0, cell(GOOD), cell(EVIL), tuple(map(cell, starts)))
    randoms = [Random(key(1, 0, MINDS + slot)) for slot in range(len(starts))]
    future = Foresight((cell(GOOD),) * (steps + 1), (cell(EVIL),) * (steps + 1))
    task = play_task(world)
    group.begin([dataclasses.replace(task, slot=s, secret=future) for s in range(len(starts))])
    if prepare:
        prepare(group)
    cells, rewards = [], []
    for step in range(steps):
        views = [world.observe(state, slot) for slot in range(len(starts))]
        actions = group.act(views, [random.at_step(step) for random in randoms])
        state, got = world.step(state, dict(enumerate(actions)), Random(0))
        cells.append([TORUS.place(at) for at in state.minds])
        rewards.append(list(got))
    return cells, rewards


def play_task(world):
    from allminds.contracts import Task
    from allminds.instruments.lambda_star.world import MOVE

    return Task("lambda-star", 0, world.agents, (0,), MOVE, world.steps, world.facts)


STARTS = [(3, 1), (4, 4), (0, 3)]  # A sees .5 at most, B sees Good itself, C sees nothing
MEMBERS = [script(6, 6, 5, 5), script(1, 5, 5, 5), script(8, 8, 8, 5)]
HOME = [GOOD, GOOD, GOOD]


def test_dictator_by_hand():
    """A names (3, 2), then Good's cell; B and C step after it."""
    cells, rewards = playthrough(collectives.Dictator(MEMBERS), STARTS)
    assert cells == [[(3, 2), GOOD, (1, 2)], [GOOD, GOOD, (2, 3)], HOME, HOME]
    assert rewards == [[0.5, 1, 0], [1, 1, 0.5], [1, 1, 1], [1, 1, 1]]


def test_auction_by_hand():
    """B bids 1 against A's .5 and names Good's cell; then A, the first of two that bid 1."""
    cells, _ = playthrough(collectives.Auction(MEMBERS), STARTS)
    assert cells == [[(3, 2), GOOD, (1, 3)], [GOOD, GOOD, (2, 3)], HOME, HOME]


def test_an_auction_without_a_bid_leaves_each_to_itself():
    wishes = [script(2), script(4), script(9)]
    cells, _ = playthrough(collectives.Auction(wishes), [(6, 1), (6, 2), (0, 2)], steps=1)
    assert cells == [[(5, 1), (6, 1), (1, 3)]]


def test_tree_by_hand():
    """A heeds its child B at first, then itself on a tie; B and C have nobody below them."""
    cells, _ = playthrough(collectives.Tree(MEMBERS), STARTS)
    assert cells == [[(3, 2), GOOD, (1, 3)], [GOOD, GOOD, (2, 3)], HOME, HOME]


def test_a_tree_heeds_the_elder_child_among_equals():
    """Both children see Good: A goes after B's wish, not C's."""
    members = [script(1), script(5), script(5)]
    cells, _ = playthrough(collectives.Tree(members), [(6, 3), (4, 3), (2, 3)], steps=1)
    assert cells == [[(5, 3), (4, 3), (2, 3)]]


def test_majority_by_hand():
    members = [script(6, 6, 5, 2), script(6, 8, 5, 2), script(1, 8, 1, 2)]
    cells, _ = playthrough(collectives.Majority(members), STARTS)
    assert cells == [
        [(3, 2), (4, 5), (0, 4)],  # right, by two to one
        [(4, 2), (5, 5), (1, 4)],  # down, by two to one
        [(4, 2), (5, 5), (1, 4)],  # stay, by two to one
        [(3, 2), (4, 5), (0, 4)],  # up, by all
    ]


def test_a_tied_vote_is_drawn_once_for_all_by_the_first_members_word():
    seen = set()
    for seed in range(40):
        group = collectives.Majority([script(6), script(1), script(8)])
        world = World(TORUS, 1, 3, 1, Recurrent((5,), (5,)), {})
        state = State(0, cell(GOOD), cell(EVIL), tuple(map(cell, STARTS)))
        group.begin([play_task(world)] * 3)
        views = [world.observe(state, slot) for slot in range(3)]
        actions = group.act(views, [Random(key(seed, 0, MINDS + slot)) for slot in range(3)])
        assert len(set(actions)) == 1
        seen.add(actions[0])
    assert seen == {1, 6, 8}


def test_weighted_majority_by_hand():
    """B sees Good, so its vote outweighs both others; from where A and C get, they see nothing."""
    members = [script(6, 8, 6, 2), script(1, 5, 4, 6), script(6, 8, 6, 2)]
    cells, _ = playthrough(collectives.WeightedMajority(members), STARTS)
    assert cells == [
        [(2, 0), GOOD, (6, 2)],  # up-left: 1 against .5 and 0
        [(2, 0), GOOD, (6, 2)],  # stay
        [(2, 6), (3, 2), (6, 1)],  # left
        [(2, 0), GOOD, (6, 2)],  # right
    ]


def test_a_weighted_vote_of_those_who_see_nothing_counts_one_each():
    members = [script(6), script(6), script(1)]
    cells, _ = playthrough(collectives.WeightedMajority(members), [(6, 1), (6, 2), (0, 2)], steps=1)
    assert cells == [[(6, 2), (6, 3), (0, 3)]]


def test_stigmergy_by_hand():
    """γ = .5. Step 1: A and B write 1.5 on Good; C at (5, 1) sees .5 at (4, 2) alone, and writes
    .75 there. Step 2: C, now at (4, 2), overwrites Good's 1.75 by 1.5, which is still the most.
    """
    cells, rewards = playthrough(collectives.Stigmergy(), [(3, 2), (4, 4), (5, 1)])
    assert cells == [[GOOD, GOOD, (4, 2)], HOME, HOME, HOME]
    assert rewards[0] == [1, 1, 0.5]


def test_stigmergy_writes_in_slot_order_and_a_later_one_overwrites():
    shown = []

    class Watching(MindBase):
        def act(self, observation, random):
            shown.append(observation)
            return 5

    members = [Subject("watching", Watching)] * 2
    playthrough(collectives.Stigmergy(members, gamma=0.25), [(3, 2), (4, 3)], steps=1)
    of_a = dict(zip(shown[0].cells, shown[0].rewards, strict=True))
    # A sees 0..1: R + .25; B, last, sees 0..1 as well: R + .25
    assert of_a[cell((3, 3))] == 1 + 0.25
    assert of_a[cell((2, 1))] == 0.25
    # B alone wrote (5, 3); A does not see it
    of_b = dict(zip(shown[1].cells, shown[1].rewards, strict=True))
    assert of_b[cell((5, 3))] == 0.25
    assert cell((5, 3)) not in of_a


def test_crowd_by_hand():
    """A sees Good, so it is on the map: B and C come from anywhere."""
    members = [script(5, 5, 5, 5)] * 3
    cells, _ = playthrough(collectives.Crowd(members), [(3, 2), (6, 6), (0, 3)])
    assert cells == [[GOOD, (5, 5), (1, 3)], [GOOD, (4, 4), (2, 3)], HOME, HOME]


def test_the_crowds_map_fades_by_one_half_and_is_kept_to():
    group = collectives.Crowd([script(5, 5, 5), script(5, 5, 5)])
    world = World(TORUS, 3, 2, 1, Recurrent((5,), (5,)), {})
    group.begin([play_task(world)] * 2)
    here, there = cell((3, 3)), cell((6, 0))
    empty = View(TORUS.around(there, 1), (0.0,) * 9)
    found = View(TORUS.around(here, 1), (0.0,) * 8 + (1.0,))  # a reward at (4, 4)
    random = [Random(0), Random(1)]
    assert group.act([empty, found], random)[1] == 9
    assert group.map[cell((4, 4))] == 1.0
    assert group.act([empty, empty], random) == [TORUS.toward(there, cell((4, 4)))] * 2
    assert group.map[cell((4, 4))] == 0.5
    group.act([empty, empty], random)
    assert group.map[cell((4, 4))] == 0.25


def test_imitation_by_hand():
    """The expert comes from (3, 5): B has it in sight at (3, 4), A at Good's cell, C on the way."""

    def call_in(group):
        group.at = cell((3, 5))

    cells, _ = playthrough(collectives.Imitation(MEMBERS), STARTS, prepare=call_in)
    assert cells == [
        [(3, 2), (3, 4), (1, 3)],  # expert at (3, 4): B follows; A and C by their own minds
        [GOOD, GOOD, (2, 3)],  # expert on Good: A and B see it
        HOME,  # C sees it too
        HOME,
    ]


def test_two_learners_write_into_one_table_in_slot_order():
    """Both in one cell with one action: α = .5, R = 1, nothing ahead, from 2: 6 then 8."""
    group = collectives.SharedQLearning(alpha=0.5, gamma=0.0, sessions=1)
    world = World(TORUS, 1, 2, 1, Recurrent((5,), (5,)), {})
    state = State(0, cell(GOOD), cell(EVIL), (cell(GOOD),) * 2)
    task = dataclasses.replace(play_task(world), rehearsal=True)
    group.begin([task, task])
    words = Random(key(1, 0, 5))
    view = world.observe(state, 0)
    first, second = group.act([view, view], [words, words])
    assert first == second
    group.learn([1.0, 1.0], [None, None], True)
    row = group.model.table[cell(GOOD), 0]
    assert row[first - 1] == 8.0
    assert [value for n, value in enumerate(row) if n != first - 1] == [2.0] * 8


# ---------------------------------------------------------------- one property each


def tool_of(**made):
    return registry.make_instrument("lambda-star", made)


def test_a_crowd_that_sees_good_from_anywhere_converges_on_it():
    tool = tool_of(rows=5, cols=5, range=2, agents=4, iterations=8, k="2")
    for i in range(20):
        record = play(tool.exercise(3, i), registry.line_up("crowd", tool))
        assert record.rewards[-1] == (1.0,) * 4 or min(record.rewards[-1]) >= 0.5


def test_an_auctions_target_is_a_cell_somebody_sees():
    tool = tool_of(rows=6, cols=6, agents=4)
    targets = []

    class Open(collectives.Auction):
        def all_toward(self, target, observations):
            targets.append(target in {seen for view in observations for seen in view.cells})
            return super().all_toward(target, observations)

    for i in range(10):
        play(tool.exercise(3, i), LineUp.alone(registry.subject(Open, tool), 4))
    assert len(targets) > 50
    assert all(targets)


@given(st.integers(0, 30), st.integers(1, 6))
@settings(max_examples=40)
def test_in_a_tree_nobody_follows_a_parent(i, who):
    """Blind a member's whole line of ancestors: it does the same."""
    tool = tool_of(rows=6, cols=6, agents=7, iterations=10)
    world = tool.exercise(3, i).environment
    state = world.reset(Random(key(3, i, 1)))
    views = [world.observe(state, slot) for slot in range(7)]
    randoms = [Random(key(3, i, MINDS + slot)) for slot in range(7)]

    def actions(given):
        group = collectives.Tree()
        group.begin([play_task(world)] * 7)
        return group.act(given, randoms)

    blinded, ancestor = list(views), who
    while ancestor > 0:
        ancestor = (ancestor - 1) // 2
        blinded[ancestor] = View(views[ancestor].cells, (1.0,) * 9)
    assert actions(views)[who] == actions(blinded)[who]


def test_imitators_end_on_the_experts_cell():
    """Who once stands on the expert's cell never leaves it."""
    tool = tool_of(rows=6, cols=6, agents=3, iterations=40)
    joined = 0
    for i in range(20):
        positions = []

        class Followed(collectives.Imitation):
            def choose(self, observations, random):
                acts = super().choose(observations, random)
                after = [
                    self.torus.moved(view.cell, act)
                    for view, act in zip(observations, acts, strict=True)
                ]
                positions.append([place == self.at for place in after])  # noqa: B023
                return acts

        play(tool.exercise(3, i), LineUp.alone(registry.subject(Followed, tool), 3))
        on = np.array(positions)
        assert (np.diff(on.astype(int), axis=0) >= 0).all()
        joined += on[-1].sum()
    assert joined > 40


def test_shared_tables_learn_faster_than_single_ones():
    """Five learners, 20 sessions: .1 apart at standard errors below .01."""
    minds = [
        f"{share}{name}"
        for name in ("q-learning(sessions=20)", "sarsa(sessions=20,epsilon=0.05)")
        for share in ("shared-", "")
    ]
    found = evaluate(
        "lambda-star", minds, settings={"rows": 5, "cols": 5, "agents": 5}, episodes=1000
    )["results"]
    shared_q, q, shared_sarsa, sarsa = (row["score"] for row in found)
    assert max(row["stderr"] for row in found) < 0.01
    assert shared_q > q + 0.1
    assert shared_sarsa > sarsa + 0.1


def test_a_dictator_itself_is_local_search_bit_for_bit():
    tool = tool_of(rows=8, cols=6, agents=5)
    group = form(tool, registry.line_up("dictator", tool), Watch()).play(3, 0, 300, 0)
    alone = form(tool, registry.line_up("local-search", tool), Watch()).play(3, 0, 300, 0)
    assert np.array_equal(group.score[:, 0], alone.score[:, 0])
    assert abs(group.score.mean() - group.score[:, 0].mean()) < 0.05
