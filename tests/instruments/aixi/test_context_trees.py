"""Context-tree weighting against its definition: a mixture of all prediction suffix trees."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds.core.seeding import Random
from allminds.instruments.aixi.tree import MOST, Code, Node, Trees, estimate

CODE = Code(actions=3, bits=2, rewards=(-1.0, 0.0, 1.0))


def suffix_trees(depth: int, context: tuple[int, ...] = ()) -> list[tuple[int, list]]:
    """All prediction suffix trees, as the contexts of their leaves, with the bits Γ of each."""
    if depth == 0:
        return [(0, [context])]
    halves = [suffix_trees(depth - 1, (*context, bit)) for bit in (0, 1)]
    split = [(1 + a + b, left + right) for a, left in halves[0] for b, right in halves[1]]
    return [(1, [context]), *split]


def closed_form(zeros: int, ones: int) -> Fraction:
    """The chance that the estimator gives a string: (1/2)(3/2)… for either bit, over (n)!"""
    halves = [Fraction(2 * n + 1, 2) for count in (zeros, ones) for n in range(count)]
    return math.prod(halves, start=Fraction(1)) / math.factorial(zeros + ones)


def mixture(predicted: list[tuple[tuple[int, ...], int]], depth: int) -> Fraction:
    """The chance of bits in their contexts, the last bit of a context first, by brute force."""
    total = Fraction(0)
    for bits, leaves in suffix_trees(depth):
        likely = Fraction(1, 2**bits)
        for leaf in leaves:
            here = [bit for context, bit in predicted if context[: len(leaf)] == leaf]
            likely *= closed_form(here.count(0), here.count(1))
        total += likely
    return total


def lived(trees: Trees, cycles: int, random: Random) -> tuple[list, float]:
    """Actions and percepts by lot: contexts and bits of each percept, and the trees' chance."""
    predicted, chance = [], 1.0
    for _ in range(cycles):
        trees.acted(random.below(CODE.actions))
        for place in range(trees.bits):
            bit = random.below(3) // 2
            context = tuple(reversed([*[0] * 9, *trees.history][-9:]))
            predicted.append((place, context, bit))
            one = trees.chance(place)
            chance *= one if bit else 1 - one
            trees.update(place, bit)
    return predicted, chance


def test_there_are_as_many_suffix_trees_as_there_should_be_and_their_weights_sum_to_one():
    for depth, count in enumerate((1, 2, 5, 26)):
        found = suffix_trees(depth)
        assert len(found) == count
        assert sum(Fraction(1, 2**bits) for bits, _ in found) == 1


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_estimator_is_its_closed_form(zeros, ones):
    node, chance = Node(), 1.0
    for bit in [0] * zeros + [1] * ones:
        chance *= node.chance(bit)
        node.seen[bit] += 1
    assert chance == pytest.approx(float(closed_form(zeros, ones)), rel=1e-12)
    gamma = math.lgamma(zeros + 0.5) + math.lgamma(ones + 0.5) - math.lgamma(zeros + ones + 1)
    assert chance == pytest.approx(math.exp(gamma) / math.pi, rel=1e-11)
    assert estimate(zeros, ones) == pytest.approx(node.chance(1), rel=0)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_one_tree_is_the_mixture_of_all_suffix_trees(depth, seed):
    trees = Trees(CODE, depth, factored=False)
    predicted, chance = lived(trees, 12, Random(seed))
    expected = mixture([(context, bit) for _, context, bit in predicted], depth)
    assert chance == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_for_each_bit_is_a_mixture_for_each_bit(seed):
    trees = Trees(CODE, 0)  # of depths 0, 1, 2 and 3
    predicted, chance = lived(trees, 15, Random(seed))
    expected = Fraction(1)
    for place in range(trees.bits):
        expected *= mixture([(c, bit) for at, c, bit in predicted if at == place], place)
    assert chance == pytest.approx(float(expected), rel=1e-12)


def test_chances_are_even_at_first_and_then_follow_what_came():
    trees = Trees(CODE, 3)
    assert [trees.chance(place) for place in range(4)] == [0.5] * 4
    trees.perceived(15)
    trees.forget()
    assert 0.5 < trees.chance(0) < 1


def everything(trees: Trees) -> list:
    """All nodes with all that they hold, and the history."""
    found = []

    def visit(node, where):
        if node is not None:
            found.append((where, list(node.seen), node.odds))
            for bit in (0, 1):
                visit(node.below[bit], f"{where}{bit}")

    for place, root in enumerate(trees.roots):
        visit(root, f"{place}:")
    return [found, list(trees.history)]


@pytest.mark.parametrize("factored", [False, True])
def test_what_was_imagined_is_undone_to_the_bit(factored):
    random, trees = Random(3), Trees(CODE, 5, factored)
    for _ in range(40):
        trees.acted(random.below(3))
        trees.perceived(random.below(16))
    before, length = everything(trees), len(trees.history)
    for _ in range(30):
        for _ in range(4):
            trees.acted(random.below(3))
            trees.imagined(random)
        assert everything(trees) != before
        trees.revert(0, length)
        assert everything(trees) == before


def test_actions_are_context_and_not_learnt():
    trees = Trees(CODE, 4)
    for _ in range(20):
        trees.acted(2)
    assert everything(trees)[0] == everything(Trees(CODE, 4))[0]
    # a percept that follows the action: after it has come often, it is foreseen by the action
    random = Random(8)
    for _ in range(300):
        action = random.below(2)
        trees.acted(action)
        trees.perceived(15 * action)
    trees.acted(1)
    assert trees.chance(0) > 0.9
    del trees.history[-2:]
    trees.acted(0)
    assert trees.chance(0) < 0.1


def test_odds_stay_finite_however_long_one_side_is_right():
    trees = Trees(Code(2, 1, (0.0, 1.0)), 1, factored=False)
    for n in range(6000):  # the bit before tells the next, so the root's own estimate is always bad
        trees.update(0, n % 2)
    assert trees.roots[0].odds == 1 / MOST
    assert 0 < trees.chance(0) < 1


def test_a_percept_is_its_observation_and_the_nearest_reward():
    assert CODE.percept(2, -1.0) == 0b1000
    assert CODE.percept(2, 0.4) == 0b1001
    assert CODE.percept(3, 0.6) == 0b1110
    assert CODE.worths() == [-1.0, 0.0, 1.0, 0.0]
    assert (CODE.action_bits, CODE.reward_bits, CODE.span) == (2, 2, 2.0)
    assert Code(2, 1, (1.0,)).span == 1.0
