"""Games: the kernel of the matrix games, and what our wrapper costs over bare PettingZoo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from measure import Contender, Effort, Table, costs, micro, times, verdict
from ratios import Unequal

from allminds import registry
from allminds.contracts import Fast, Instrument
from allminds.core.seeding import WORLD, Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, form
from allminds.instruments.games.foreign import made, made_with
from allminds.runs.engine import BLOCK

FEW = 8  # exercises at a time for the plain loop
TARGET = 100.0
OVERHEAD = 1.3  # of our wrapper over bare PettingZoo, at most
STRATEGIES = (
    "cooperate", "defect", "random", "tit-for-tat", "generous-tit-for-tat",
    "contrite-tit-for-tat", "win-stay-lose-shift", "grim", "tit-for-two-tats", "gradual",
)  # fmt: skip
PAIRS = {
    "matching-pennies": ("random,fictitious-play",),
    "rock-paper-scissors": ("random,best-reply",),
    "prisoners-dilemma": ("tit-for-tat,random", "gradual,joss"),
    "stag-hunt": ("win-stay-lose-shift,random",),
    "public-goods": ("conditional-cooperator,random*3",),
}
FOREIGN = {
    "classic/tictactoe_v3": {},
    "classic/connect_four_v3": {},
    "classic/rps_v2": {"steps": 100, "options": "max_cycles=100"},
}


def matrix_games(effort: Effort) -> Table:
    """Games a second, compiled and plain; all pairs of ten strategies in the last row."""
    rows = [_row(game, [line_up], effort) for game, ups in PAIRS.items() for line_up in ups]
    pairs = [f"{one},{other}" for one, other in product(STRATEGIES, repeat=2)]
    rows.append(_row("prisoners-dilemma", pairs, effort))
    return Table(
        "Games in normal form",
        "10 rounds, one core; games a second in the kernel and in the plain loop over the same "
        "minds, and how many times quicker the kernel is.",
        ("game", "line-up", "kernel games/s", "plain games/s", "x plain loop", "target"),
        rows,
        labels=2,
    )


def _row(game: str, names: Sequence[str], effort: Effort) -> list[str]:
    tool = registry.make_instrument(game)
    quick, plain = [], []
    for name in names:
        line_up = registry.line_up(name, tool)
        one, other = form(tool, line_up, Watch()), Plain(tool, line_up, Watch())
        if not one.compiled:
            raise Unequal(f"{name} has no kernel in {game}")
        scores = [way.play(1, 0, FEW, 0).score for way in (one, other)]
        if not np.array_equal(*scores):
            raise Unequal(f"{name}: kernel and plain loop differ in {game}")
        quick.append(one)
        plain.append(other)
    spent = costs(
        {
            "kernel": Contender(_all(quick), BLOCK),
            "plain": Contender(_all(plain), FEW if len(names) == 1 else 1),
        },
        effort,
    )
    each = {way: seconds / len(names) for way, seconds in spent.items()}
    ratio = each["plain"] / each["kernel"]
    what = names[0] if len(names) == 1 else f"all {len(names)} pairs"
    return [
        game, what, f"{1 / each['kernel']:,.0f}", f"{1 / each['plain']:,.0f}", times(ratio),
        verdict(ratio, TARGET),
    ]  # fmt: skip


def _all(ways: Sequence[Fast]) -> Callable[[int, int], object]:
    def play(first: int, last: int) -> None:
        for way in ways:
            way.play(1, first, last, 0)

    return play


# ---------------------------------------------------------------- PettingZoo


def pettingzoo(effort: Effort) -> Table:
    """Whole games of legal moves, ours against PettingZoo's own loop."""
    return Table(
        "PettingZoo",
        "Whole games of the same legal moves: an `Episode` of ours, with its observations, checks "
        "and record, against PettingZoo's own loop over the environment as it makes it; "
        "microseconds a game. Ours takes PettingZoo's checks of order and legality off, since it "
        "makes its own; unchecked is PettingZoo's loop with them off and nothing in their place.",
        ("environment", "ours µs", "bare µs", "unchecked µs", "ours/bare", "ours/unchecked",
         "target"),
        [_foreign_row(name, settings, effort) for name, settings in FOREIGN.items()],
    )  # fmt: skip


def _foreign_row(name: str, settings: dict[str, object], effort: Effort) -> list[str]:
    import pettingzoo as zoo

    tool = registry.make_instrument(f"pettingzoo:{name}", settings)
    wanted, options = name.replace("_v", "-v"), str(settings.get("options", ""))
    kind, loop = ("parallel", _together) if wanted in zoo.parallel_registry else ("aec", _turns)
    ways = {
        "ours": _ours(tool),
        "bare": loop(zoo.make(kind, wanted, **made_with(options)), _seed),
        "unchecked": loop(made(name, options), _seed),
    }
    found = [[play(i, i + 1) for i in range(20)] for play in ways.values()]
    if found[0] != found[1] or found[0] != found[2]:
        raise Unequal(f"{name}: ours and PettingZoo's own loop differ")
    spent = costs({way: Contender(play, 5) for way, play in ways.items()}, effort)
    ratio = spent["ours"] / spent["bare"]
    met = "met" if ratio <= OVERHEAD else "MISSED"
    return [
        name, *map(micro, spent.values()), f"{ratio:.2f} x",
        f"{spent['ours'] / spent['unchecked']:.2f} x", f"<= {OVERHEAD} x {met}",
    ]  # fmt: skip


def _seed(number: int) -> int:
    """The seed that exercise `number` of ours has."""
    return Random(key(1, number, WORLD)).word() >> 33


def _choice(number: int, step: int, slot: int) -> int:
    """Which of the legal actions: any number will do, if it is cheap and both sides use it."""
    return (7 * number + 5 * step + 3 * slot) % 1_000_003


def _ours(tool: Instrument) -> Callable[[int, int], float]:
    def play(first: int, last: int) -> float:
        total = 0.0
        for number in range(first, last):
            episode = Episode(tool.exercise(1, number))
            while episode.record is None:
                actions = {}
                for slot, seen in episode.waiting.items():
                    legal = seen.legal or (0, 1, 2)
                    actions[slot] = legal[_choice(number, episode.step, slot) % len(legal)]
                episode.play(actions)
            total += sum(rewards[0] for rewards in episode.rewards)
        return total

    return play


def _turns(env: object, seed: Callable[[int], int]) -> Callable[[int, int], float]:
    def play(first: int, last: int) -> float:
        total = 0.0
        for number in range(first, last):
            env.reset(seed=seed(number))
            step = 0
            for agent in env.agent_iter():
                seen, reward, terminated, truncated, _ = env.last()
                if agent == env.possible_agents[0]:
                    total += reward
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = seen["action_mask"].nonzero()[0]
                slot = env.possible_agents.index(agent)
                env.step(int(legal[_choice(number, step, slot) % len(legal)]))
                step += 1
        return total

    return play


def _together(env: object, seed: Callable[[int], int]) -> Callable[[int, int], float]:
    def play(first: int, last: int) -> float:
        total = 0.0
        for number in range(first, last):
            env.reset(seed=seed(number))
            step = 0
            while env.agents:
                actions = {a: _choice(number, step, s) % 3 for s, a in enumerate(env.agents)}
                _, rewards, _, _, _ = env.step(actions)
                total += rewards[env.possible_agents[0]]
                step += 1
        return total

    return play
