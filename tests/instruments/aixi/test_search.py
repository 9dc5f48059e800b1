"""ρUCT: the compiled form is the plain one, and both find what is best."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest

from allminds.core.seeding import Random
from allminds.instruments.aixi.fast import FastAgent
from allminds.instruments.aixi.search import PlainAgent, Search, best_of
from allminds.instruments.aixi.tree import Code

CODES = [Code(3, 2, (-1.0, 0.0, 1.0)), Code(2, 1, (0.0, 1.0)), Code(5, 3, (-10.0, -1.0, 10.0))]


def nodes(agent) -> list:
    """What every tree holds: the bits seen and the odds, by context."""
    found = []
    if isinstance(agent, PlainAgent):
        waiting = [(root, "") for root in agent.trees.roots]
        while waiting:
            node, where = waiting.pop()
            found.append((where, *node.seen, node.odds))
            below = [(node.below[bit], f"{where}{bit}") for bit in (0, 1)]
            waiting += [(child, place) for child, place in below if child is not None]
    else:
        waiting = [(root, "") for root in agent.roots]
        while waiting:
            node, where = waiting.pop()
            forest = agent.forest
            found.append((where, *forest.seen[node].tolist(), float(forest.odds[node])))
            below = [(forest.below[node, bit], f"{where}{bit}") for bit in (0, 1)]
            waiting += [(child, place) for child, place in below if child >= 0]
    return found


@pytest.mark.parametrize("factored", [True, False])
@pytest.mark.parametrize("code", CODES)
def test_the_compiled_agent_is_the_plain_one_to_the_bit(code, factored):
    plain, fast = PlainAgent(code, 6, factored), FastAgent(code, 6, factored)
    words, percepts = Random(9), 1 << (code.bits + code.reward_bits)
    for cycle in range(40):
        search = Search(horizon=1 + cycle % 4, simulations=1 + 7 * (cycle % 3), bound=0.7)
        chosen = [agent.plan(search, Random(11, cycle)) for agent in (plain, fast)]
        assert chosen[0] == chosen[1]
        percept = words.below(percepts) if cycle % 3 else 1
        for agent in (plain, fast):
            if cycle == 25:
                agent.forget()
                agent.given(percept)
            agent.acted(chosen[0])
            agent.perceived(percept)
    assert nodes(plain) == nodes(fast)


def test_both_draw_as_many_words_and_leave_the_trees_as_they_were():
    plain, fast = PlainAgent(CODES[0], 6), FastAgent(CODES[0], 6)
    for agent in (plain, fast):
        for percept in (3, 9, 14, 3, 9):
            agent.acted(1)
            agent.perceived(percept)
    before, first, second = nodes(fast), Random(2), Random(2)
    search = Search(horizon=5, simulations=60, bound=1.0)
    assert plain.plan(search, first) == fast.plan(search, second)
    assert first.drawn == second.drawn > 60
    assert nodes(plain) == nodes(fast) == before


def test_room_is_made_as_the_trees_grow():
    fast, plain, random = FastAgent(CODES[2], 40), PlainAgent(CODES[2], 40), Random(1)
    start = len(fast.forest.odds)
    for _ in range(300):
        percept = random.below(32)
        for agent in (fast, plain):
            agent.acted(2)
            agent.perceived(percept)
    assert len(fast.forest.odds) > start
    assert nodes(fast) == nodes(plain)


def test_an_agent_can_be_kept_on_disk():
    fast = FastAgent(CODES[0], 6)
    fast.acted(1)
    fast.perceived(9)
    again = pickle.loads(pickle.dumps(fast))
    search = Search(horizon=3, simulations=50, bound=1.0)
    assert again.plan(search, Random(4)) == fast.plan(search, Random(4))
    assert nodes(again) == nodes(fast)


def test_the_best_action_is_found_where_only_a_sacrifice_leads_to_it():
    """Action 1 costs 1 and opens the door, after which action 0 gives 1 twice: by brute force."""
    code = Code(2, 1, (-1.0, 0.0, 1.0))

    def world(actions):
        open_, total = 0, []
        for action in actions:
            reward = open_ if action == 0 else -1
            open_ = 2 if action == 1 else max(open_ - 1, 0)
            total.append((int(open_ > 0), min(reward, 1)))
        return total

    agent, random, lived = FastAgent(code, 12), Random(5), []
    for _ in range(3000):
        lived.append(random.below(2))
        seen, reward = world(lived[-6:])[-1]
        agent.acted(lived[-1])
        agent.perceived(code.percept(seen, float(reward)))
    for _ in range(3):  # the door is shut
        lived.append(0)
        seen, reward = world(lived[-6:])[-1]
        agent.acted(0)
        agent.perceived(code.percept(seen, float(reward)))
    ways = {way: sum(r for _, r in world(way)) for way in product((0, 1), repeat=3)}
    assert max(ways, key=ways.get)[0] == 1
    plans = [agent.plan(Search(3, 2000, 0.7), Random(6, n)) for n in range(5)]
    assert plans == [1] * 5
    assert agent.plan(Search(1, 2000, 0.7), Random(7)) == 0


def test_ties_are_broken_by_lot_among_actions_that_were_tried():
    found = [best_of([1, 0, 1, 1], [0.5, 9.0, 0.5, 0.1], Random(3, n)) for n in range(400)]
    counts = np.bincount(found, minlength=4)
    assert counts[1] == counts[3] == 0
    assert 140 < counts[0] < 260  # 6 standard deviations
    assert {best_of([0, 0], [0.0, 0.0], Random(3, n)) for n in range(30)} == {0, 1}
