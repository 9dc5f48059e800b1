"""Groups: every protocol's kernel against the plain loop, and growth with the size of the group."""

from __future__ import annotations

from collections.abc import Sequence

from measure import Contender, Effort, Table, costs, micro, times, verdict
from ratios import MIDDLE, Unequal, lambda_star, must_equal, ours, scores

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_star.fast.arrays import LANES
from allminds.runs.engine import BLOCK

PROTOCOLS = (
    "stigmergy", "crowd", "auction", "dictator", "tree", "imitation", "majority",
    "weighted-majority", "shared-q-learning", "shared-sarsa",
)  # fmt: skip
TARGET = 200.0  # for protocols without tables


def protocols(effort: Effort, sizes: Sequence[int], which: Sequence[str] = PROTOCOLS) -> Table:
    """Kernel against plain loop at some sizes."""
    return Table(
        "Groups",
        "10x10, 100 iterations, one core; microseconds an episode (the whole group), and how many "
        "times quicker the kernel is than the plain loop over the same protocol.",
        ("protocol", "members", "kernel µs", "plain loop µs", "x plain loop", "target"),
        [_row(name, size, effort) for size in sizes for name in which],
    )


def _row(name: str, size: int, effort: Effort) -> list[str]:
    tool = lambda_star(agents=size)
    line_up = registry.line_up(name, tool)
    kernel, plain = form(tool, line_up, Watch()), Plain(tool, line_up, Watch())
    if not kernel.compiled:
        raise Unequal(f"{name} has no kernel here")
    tables = name.startswith("shared")
    few = 1 if tables else 2
    found = scores(kernel, MIDDLE, MIDDLE + few)
    must_equal(f"{name} of {size}", found, scores(plain, MIDDLE, MIDDLE + few))
    entered = {
        "kernel": Contender(ours(kernel), 16 if tables else BLOCK // 4),
        "plain": Contender(ours(plain), few, MIDDLE),
    }
    spent = costs(entered, effort)
    ratio = spent["plain"] / spent["kernel"]
    target = "" if tables else verdict(ratio, TARGET)
    return [name, str(size), micro(spent["kernel"]), micro(spent["plain"]), times(ratio), target]


def growth(effort: Effort, sizes: Sequence[int]) -> Table:
    """Nanoseconds a member and step, by the size of the group."""
    which = [name for name in PROTOCOLS if not name.startswith("shared")]
    return Table(
        "Growth with the size of a group",
        "Kernels, 10x10, 100 iterations, one core: ns a member and step.",
        ("members", *which),
        [[str(size), *_per_step(which, size, effort)] for size in sizes],
    )


def _per_step(which: Sequence[str], size: int, effort: Effort) -> list[str]:
    tool = lambda_star(agents=size)
    entered = {}
    for name in which:
        way = form(tool, registry.line_up(name, tool), Watch())
        way.play(1, 0, 1, 0)
        entered[name] = Contender(ours(way), 2 * LANES)
    spent = costs(entered, effort)
    return [f"{seconds / (100 * size) * 1e9:.3g}" for seconds in spent.values()]
