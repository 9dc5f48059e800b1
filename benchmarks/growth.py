"""How the time of an agent-step grows with the grid, the number of minds and the iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from measure import Contender, Effort, Table, costs
from ratios import LEARNERS, SEED, lambda_star, ours

from allminds import registry
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.instruments.lambda_star.fast.arrays import LANES
from allminds.runs.engine import BLOCK

MINDS = ("random", "local-search", "expert", "q-learning")


def growth(effort: Effort, quick: bool) -> list[Table]:
    """One setting is changed at a time; the others are 10x10, one mind, 100 iterations."""
    grids, agents, iterations = [5, 10, 20, 50], [1, 2, 5, 10, 20], [20, 50, 100, 200, 500]
    if quick:
        grids, agents, iterations = grids[::3], agents[::2], iterations[::2]
    return [
        _along("grid", grids, effort, lambda n: {"rows": n, "cols": n}, "{0}x{0}"),
        _along("minds", agents, effort, lambda n: {"agents": n}),
        _along("iterations", iterations, effort, lambda n: {"iterations": n}),
    ]


def _along(
    what: str, values: Sequence[int], effort: Effort, settings: Any, label: str = "{0}"
) -> Table:
    return Table(
        f"Growth with {what}",
        "Kernels, one core: ns an agent-step, worlds made anew and included, the catalogue not. "
        "For q-learning the 100 sessions of training are in the figure.",
        (what, *MINDS),
        [[label.format(value), *_per_step(settings(value), effort)] for value in values],
    )


def _per_step(settings: dict[str, Any], effort: Effort) -> list[str]:
    tool = lambda_star(**settings)
    entered = {}
    for who in MINDS:
        way = form(tool, registry.line_up(who, tool), Watch())
        way.play(SEED, 0, 1, 0)  # makes the catalogue, and compiles what is not yet compiled
        entered[who] = Contender(ours(way), LANES if who in LEARNERS else BLOCK)
    steps = tool.settings.iterations * tool.settings.agents
    each = [seconds / steps * 1e9 for seconds in costs(entered, effort).values()]
    return [f"{ns:.3g}" if ns < 100 else f"{ns:,.0f}" for ns in each]
