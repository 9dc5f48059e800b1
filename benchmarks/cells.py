"""Λ: tests of seven exercises and 350 steps a second, compiled against the plain loop."""

from __future__ import annotations

from collections.abc import Sequence

from measure import Contender, Effort, Play, Table, costs, micro, times
from ratios import SEED, must_equal

from allminds import registry
from allminds.contracts import Fast
from allminds.core.watch import Watch
from allminds.episode import Plain, form
from allminds.instruments.lambda_.fast.forms import make_worlds
from allminds.runs.engine import BLOCK

SIZES = 7  # exercises in a test
TARGET = 50_000  # Q-learning tests a second
MANY = BLOCK // SIZES * SIZES
FEW = 2 * SIZES
MINDS = ("q-learning", "random", "sarsa", "q-lambda", "follower", "expert", "optimum")


def anew(way: Fast) -> Play:
    """A form that makes its worlds anew at every call, which it would else remember."""

    def play(first: int, last: int) -> object:
        make_worlds.cache_clear()
        return way.play(SEED, first, last, 0)

    return play


def paper_tests(effort: Effort, minds: Sequence[str] = MINDS) -> Table:
    """The paper's test: spaces, patterns, complexities, ways and rewards, all of it."""
    tool = registry.make_instrument("lambda")
    rows = []
    for who in minds:
        line_up = registry.line_up(who, tool)
        quick, plain = form(tool, line_up, Watch()), Plain(tool, line_up, Watch())
        found, wanted = (way.play(SEED, 0, FEW, 0).score for way in (quick, plain))
        must_equal(f"lambda, {who}", found, wanted)
        spent = costs(
            {"quick": Contender(anew(quick), MANY), "plain": Contender(anew(plain), FEW)}, effort
        )
        speed = 1 / spent["quick"] / SIZES
        verdict = "met" if speed >= TARGET else "MISSED"
        rows.append(
            [
                who,
                f"{speed:,.0f}",
                micro(spent["quick"] * SIZES),
                micro(spent["plain"] * SIZES),
                times(spent["plain"] / spent["quick"]),
                verdict if who == "q-learning" else "",
            ]
        )
    return Table(
        "Λ, the test of seven exercises",
        "Seven exercises with 3 to 9 cells, 350 steps, one core: spaces, patterns and their "
        "complexity, the ways of all, rewards. The plain loop is the readable reference. "
        f"Target for Q-learning: {TARGET:,} tests a second.",
        ("mind", "tests a second", "µs a test", "plain µs", "x plain", "target"),
        rows,
    )
