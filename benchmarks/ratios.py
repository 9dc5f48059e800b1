"""Our ways of playing against plain Python loops and NumPy, in this one process on one core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive
import numpy as np
import vectorised
from measure import Effort, Play, Table, cost, micro, times, verdict
from numpy.typing import NDArray
from own import OWN

from allminds import registry
from allminds.administration.engine import BLOCK
from allminds.contracts import Fast
from allminds.episode import Plain, form
from allminds.instruments.torus import LambdaStar
from allminds.instruments.torus.fast import make_worlds
from allminds.watch import Watch

SEED = 1
MINDS = (
    "random", "local-search", "expert(intercept=false)", "expert", "optimum", "q-learning", "sarsa",
)  # fmt: skip
LEARNERS = ("q-learning", "sarsa")
PLAIN_TARGETS = {"random": 1000.0, "local-search": 1000.0, "q-learning": 100.0}
NUMPY_TARGETS = {"random": 5.0, "local-search": 5.0}
LOCKSTEP_TARGETS = {"random": 10.0, "local-search": 5.0}
NUMPY_SIZES = {False: (BLOCK, 4 * BLOCK, 16 * BLOCK), True: (64,)}  # learner? the best is taken
MIDDLE = 10  # where a baseline too slow for all complexities begins: among the middle ones


class Unequal(SystemExit):
    """Two ways of playing gave different scores, so that timing them would mean nothing."""


def lambda_star(**settings: Any) -> LambdaStar:
    """Λ* as measured here: 10x10, 100 iterations, unless said otherwise."""
    tool = registry.make_instrument("lambda-star", {"iterations": 100} | settings)
    assert isinstance(tool, LambdaStar)
    return tool


def ours(way: Fast) -> Play:
    """A form that makes its worlds anew at every call, which it would else remember."""

    def play(first: int, last: int) -> object:
        make_worlds.cache_clear()
        return way.play(SEED, first, last, 0)

    return play


def scores(way: Fast, first: int, last: int) -> NDArray[np.float64]:
    """What a form makes of some exercises."""
    make_worlds.cache_clear()
    return way.play(SEED, first, last, 0).score


def must_equal(what: str, one: NDArray[np.float64], other: NDArray[np.float64]) -> None:
    """Stop the benchmark unless scores are the same bits."""
    if one.shape != other.shape or not (one == other).all():
        raise Unequal(f"{what}: scores differ, so there is nothing to compare")


# ---------------------------------------------------------------- kernels


def kernels(effort: Effort, agents: tuple[int, ...] = (1, 10)) -> Table:
    """Every built-in mind against the plain loop, the lean loop and NumPy."""
    rows = [row for n in agents for who in MINDS for row in _kernel_rows(who, n, effort)]
    return Table(
        "Kernels",
        "10x10, 100 iterations, one core; microseconds an episode (all minds of it), and how many "
        "times quicker the kernel is. Worlds are made anew in every one of them.",
        ("mind", "minds", "kernel µs", "plain loop µs", "lean loop µs", "NumPy µs",
         "x plain loop", "x lean loop", "x NumPy", "targets"),
        rows,
    )  # fmt: skip


def _kernel_rows(who: str, agents: int, effort: Effort) -> Iterator[list[str]]:
    tool = lambda_star(agents=agents)
    line_up = registry.line_up(who, tool)
    kernel, plain = form(tool, line_up, Watch()), Plain(tool, line_up, Watch())
    if not kernel.compiled:
        raise Unequal(f"{who} has no kernel here")
    learner, known = who in LEARNERS, who in naive.MINDS_HERE
    few = 1 if learner else 22 if agents == 1 else 4
    size = BLOCK // 4 if learner else BLOCK

    found = scores(kernel, MIDDLE, MIDDLE + size)
    must_equal(f"{who}, plain loop", found[:few], scores(plain, MIDDLE, MIDDLE + few))
    slow = Effort(effort.seconds, max(1, effort.repeats - 2))
    ours_cost = cost(ours(kernel), size, effort)
    plain_cost = cost(ours(plain), few, slow, MIDDLE)
    lean_cost = numpy_cost = None
    if known:
        some = 64 if learner else size
        must_equal(f"{who}, lean loop", found[:few], naive.play(tool, who, SEED, MIDDLE, MIDDLE + few))
        must_equal(f"{who}, NumPy", found[:some], vectorised.play(tool, who, SEED, MIDDLE, MIDDLE + some))
        lean_cost = cost(lambda a, b: naive.play(tool, who, SEED, a, b), few, slow, MIDDLE)
        numpy_cost = min(
            cost(lambda a, b: vectorised.play(tool, who, SEED, a, b), chunk, slow)
            for chunk in NUMPY_SIZES[learner]
        )
    targets = []
    if who in PLAIN_TARGETS:
        targets.append(f"plain {verdict(plain_cost / ours_cost, PLAIN_TARGETS[who])}")
    if who in NUMPY_TARGETS and numpy_cost is not None:
        targets.append(f"NumPy {verdict(numpy_cost / ours_cost, NUMPY_TARGETS[who])}")
    yield [
        who, str(agents), micro(ours_cost), micro(plain_cost), micro(lean_cost), micro(numpy_cost),
        times(plain_cost / ours_cost),
        times(lean_cost / ours_cost if lean_cost else None),
        times(numpy_cost / ours_cost if numpy_cost else None),
        ", ".join(targets),
    ]  # fmt: skip


# ---------------------------------------------------------------- a user's own minds


def own_minds(effort: Effort, agents: tuple[int, ...] = (1, 10)) -> Table:
    """A user's minds in lock-step against the plain loop over the same class."""
    return Table(
        "A user's own mind",
        "10x10, 100 iterations, one core; microseconds an episode, and how many times quicker than "
        "the plain loop over the same class with `act`. `lean` is the hand-written loop.",
        ("mind", "minds", "plain loop µs", "lean µs", "act µs", "act_many µs", "compiled µs",
         "x act", "x act_many", "x compiled", "x lean over act", "targets"),
        [_own_row(who, n, effort) for n in agents for who in OWN],
    )  # fmt: skip


def _own_row(who: str, agents: int, effort: Effort) -> list[str]:
    tool = lambda_star(agents=agents)
    wanted = scores(form(tool, registry.line_up(who, tool), Watch()), MIDDLE, MIDDLE + BLOCK)
    spent = []
    for maker in OWN[who]:
        way = form(tool, registry.line_up(maker, tool), Watch())
        must_equal(f"{who} as {maker.__name__}", wanted, scores(way, MIDDLE, MIDDLE + BLOCK))
        spent.append(cost(ours(way), BLOCK, effort))
    few = 22 if agents == 1 else 4
    plain = Plain(tool, registry.line_up(OWN[who].act, tool), Watch())
    must_equal(f"{who} of a user", wanted[:few], scores(plain, MIDDLE, MIDDLE + few))
    plain_cost = cost(ours(plain), few, effort, MIDDLE)
    lean_cost = cost(lambda a, b: naive.play(tool, who, SEED, a, b), few, effort, MIDDLE)
    return [
        who, str(agents), micro(plain_cost), micro(lean_cost), *(micro(each) for each in spent),
        *(times(plain_cost / each) for each in spent), times(lean_cost / spent[0]),
        f"act {verdict(plain_cost / spent[0], LOCKSTEP_TARGETS[who])}",
    ]  # fmt: skip
