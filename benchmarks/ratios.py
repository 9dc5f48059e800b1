"""Our ways of playing against plain Python loops and NumPy, in this one process on one core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import naive
import numpy as np
import vectorised
from measure import Contender, Effort, Play, Table, costs, micro, times, verdict
from numpy.typing import NDArray
from own import OWN

from allminds import registry
from allminds.contracts import Fast
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_star import LambdaStar
from allminds.instruments.lambda_star.fast.arrays import LANES
from allminds.instruments.lambda_star.fast.forms import make_worlds
from allminds.runs.engine import BLOCK, Sitting

SEED = 1
MINDS = (
    "random", "local-search", "expert(intercept=false)", "expert", "optimum", "q-learning", "sarsa",
)  # fmt: skip
LEARNERS = ("q-learning", "sarsa")
PLAIN_TARGETS = {"random": 1000.0, "local-search": 1000.0, "q-learning": 100.0}
NUMPY_TARGETS = {"random": 5.0, "local-search": 5.0}
LOCKSTEP_TARGETS = {"random": 10.0, "local-search": 5.0}
NUMPY_SIZES = {False: (4 * BLOCK, 16 * BLOCK), True: (64,)}  # learner? the best is taken
FEW = {1: 22, 10: 4}  # minds -> exercises of a slow baseline at a time
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


def kernels(effort: Effort, agents: Sequence[int], minds: Sequence[str] = MINDS) -> Table:
    """Every built-in mind against the plain loop, the lean loop and NumPy."""
    return Table(
        "Kernels",
        "10x10, 100 iterations, one core; microseconds an episode (all minds of it), and how many "
        "times quicker the kernel is. Worlds are made anew in every one of them.",
        ("mind", "minds", "kernel µs", "plain loop µs", "lean loop µs", "NumPy µs",
         "x plain loop", "x lean loop", "x NumPy", "targets"),
        [_kernel_row(who, n, effort) for n in agents for who in minds],
    )  # fmt: skip


def _kernel_row(who: str, agents: int, effort: Effort) -> list[str]:
    tool = lambda_star(agents=agents)
    line_up = registry.line_up(who, tool)
    kernel, plain = form(tool, line_up, Watch()), Plain(tool, line_up, Watch())
    if not kernel.compiled:
        raise Unequal(f"{who} has no kernel here")
    learner = who in LEARNERS
    few = 1 if learner else FEW[agents]
    size = LANES if learner else BLOCK
    found = scores(kernel, MIDDLE, MIDDLE + size)
    must_equal(f"{who}, plain loop", found[:few], scores(plain, MIDDLE, MIDDLE + few))
    entered = {
        "kernel": Contender(ours(kernel), size),
        "plain": Contender(ours(plain), few, MIDDLE),
    }
    if who in naive.MINDS_HERE:
        lean = partial(naive.play, tool, who, SEED)
        arrays = partial(vectorised.play, tool, who, SEED)
        some = min(size, NUMPY_SIZES[learner][0])
        must_equal(f"{who}, lean loop", found[:few], lean(MIDDLE, MIDDLE + few))
        must_equal(f"{who}, NumPy", found[:some], arrays(MIDDLE, MIDDLE + some))
        entered["lean"] = Contender(lean, few, MIDDLE)
        entered |= {f"NumPy {n}": Contender(arrays, n) for n in NUMPY_SIZES[learner]}
    spent = costs(entered, effort)
    own, slow, lean_cost = spent["kernel"], spent["plain"], spent.get("lean")
    numpy_cost = min((spent[name] for name in spent if name.startswith("NumPy")), default=None)
    targets = []
    if who in PLAIN_TARGETS:
        targets.append(f"plain {verdict(slow / own, PLAIN_TARGETS[who])}")
    if who in NUMPY_TARGETS and numpy_cost is not None:
        targets.append(f"NumPy {verdict(numpy_cost / own, NUMPY_TARGETS[who])}")
    baselines = (slow, lean_cost, numpy_cost)
    return [
        who, str(agents), micro(own), *(micro(each) for each in baselines),
        *(times(each / own if each else None) for each in baselines), ", ".join(targets),
    ]  # fmt: skip


# ---------------------------------------------------------------- a user's own minds


def own_minds(effort: Effort, agents: Sequence[int]) -> Table:
    """A user's minds in lock-step against the plain loop over the same class."""
    return Table(
        "A user's own mind",
        "10x10, 100 iterations, one core; microseconds an episode, and how many times quicker than "
        "the plain loop over the same class with `act`. The lean loop, written by hand for this "
        "one mind, makes no observations; below 1 it is quicker than lock-step.",
        ("mind", "minds", "plain loop µs", "lean µs", "act µs", "act_many µs", "compiled µs",
         "x act", "x act_many", "x compiled", "act against lean", "targets"),
        [_own_row(who, n, effort) for n in agents for who in OWN],
    )  # fmt: skip


def _own_row(who: str, agents: int, effort: Effort) -> list[str]:
    tool, few = lambda_star(agents=agents), FEW[agents]
    wanted = scores(form(tool, registry.line_up(who, tool), Watch()), MIDDLE, MIDDLE + BLOCK)
    plain = Plain(tool, registry.line_up(OWN[who].act, tool), Watch())
    must_equal(f"{who} of a user", wanted[:few], scores(plain, MIDDLE, MIDDLE + few))
    entered = {
        "plain": Contender(ours(plain), few, MIDDLE),
        "lean": Contender(partial(naive.play, tool, who, SEED), few, MIDDLE),
    }
    for name, maker in OWN[who]._asdict().items():
        way, size = form(tool, registry.line_up(maker, tool), Watch()), _as_run(maker, agents)
        must_equal(f"{who} by {name}", wanted[:size], scores(way, MIDDLE, MIDDLE + size))
        entered[name] = Contender(ours(way), size)
    spent = costs(entered, effort)
    ratios = [spent["plain"] / spent[name] for name in OWN[who]._fields]
    return [
        who, str(agents), *(micro(each) for each in spent.values()), *map(times, ratios),
        times(spent["lean"] / spent["act"]),
        f"act {verdict(ratios[0], LOCKSTEP_TARGETS[who])}",
    ]  # fmt: skip


def _as_run(maker: Any, agents: int) -> int:
    """How many exercises of such a mind the runner plays together."""
    settings = (("agents", agents), ("iterations", 100))
    return min(BLOCK, Sitting("lambda-star", settings, (maker,), SEED).chunk())
