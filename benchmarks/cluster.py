"""What a Dask cluster costs: the same exercises on it and on this machine's threads or processes.

    .venv/bin/python benchmarks/cluster.py           # this table alone

and what a plan of 10^9 episodes would take, from rates measured in the same run:

    .venv/bin/python benchmarks/cluster.py --plan
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil  # comes with Dask
from measure import Table
from rich.console import Console

from allminds.runs.dask import local_cluster
from allminds.runs.engine import Given
from allminds.runs.plan import Plan, Test
from allminds.runs.run import How, give, run

JOBS = 2
Seconds = tuple[float, float]  # by the clock, of the processor
MINE = f"{Path(__file__).parents[1]}/examples/plain_mind.py:Careful"
MINDS = {  # episodes that take some seconds
    "local-search": 6_000_000,
    "q-learning": 16_000,
    MINE: 60_000,
}
BILLION = 10**9
CORES = 100


def overhead(share: float = 1.0) -> Table:
    """Seconds here and on a cluster of as many processes of this machine, and their ratio."""
    rows = []
    with local_cluster(JOBS) as address:
        there, here = How(JOBS, address), How(JOBS)
        _spent("random", 100_000, there)  # all workers have loaded what they need
        fixed = _spent("random", 1, there)
        for mind, most in MINDS.items():
            episodes = int(most * share)
            _spent(mind, episodes // 10, there)  # kernels loaded
            _spent(mind, episodes // 10, here)
            turns = [(_spent(mind, episodes, here), _spent(mind, episodes, there)) for _ in "ab"]
            local, dask = (_least(of) for of in zip(*turns, strict=True))
            rows.append([_short(mind), f"{episodes:,}", *_compared(local, dask)])
        dask = _spent(mind, episodes, How(JOBS, address, progress=_killing(address)))
        name = f"{_short(mind)}, a worker killed halfway"
        rows.append([name, f"{episodes:,}", *_compared(local, dask)])
    return Table(
        "A Dask cluster on this machine",
        f"`evaluate` on lambda-star, 10x10, 50 iterations: {JOBS} threads (kernels) or processes "
        f"(minds in Python) against {JOBS} Dask workers of one thread, started beforehand; wall "
        "clock, and processor seconds of all processes together. Connecting, checking versions "
        f"and one episode take {fixed[0]:.2f} s ({fixed[1]:.2f} processor s).",
        ("mind", "episodes", "local s", "Dask s", "Dask / local", "local processor s",
         "Dask processor s", "Dask / local"),
        rows,
    )  # fmt: skip


def _compared(local: Seconds, dask: Seconds) -> list[str]:
    pairs = zip(local, dask, strict=True)
    return [text for a, b in pairs for text in (f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}")]


def _least(found: Iterable[Seconds]) -> Seconds:
    clocks, processors = zip(*found, strict=True)
    return min(clocks), min(processors)


def _short(mind: str) -> str:
    return mind.rpartition("/")[2]


def _spent(mind: str, episodes: int, how: How) -> Seconds:
    """Seconds by the clock, and of the processor in this process and all below it."""
    start, before = time.perf_counter(), _processor()
    give(Given.of("lambda-star", {}, [mind]), max(1, episodes), how=how)
    return time.perf_counter() - start, _processor() - before


def _processor() -> float:
    me = psutil.Process()
    return sum(sum(one.cpu_times()[:4]) for one in (me, *me.children(recursive=True)))


def _killing(address: str) -> Callable[[str, int, int], None]:
    """Kill one worker when half is done."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        victims = list(client.run(os.getpid).values())[:1]

    def kill(_what: str, done: int, total: int) -> None:
        if victims and 2 * done >= total:
            os.kill(victims.pop(), signal.SIGKILL)

    return kill


# ---------------------------------------------------------------- 10^9 episodes on paper


def billion(share: float = 1.0) -> Table:
    """How fast one core plays and one driver keeps, and what that comes to for 10^9 episodes."""
    rows = []
    for mind, most in {"random": 2_000_000, "local-search": 2_000_000, "q-learning": 8_000}.items():
        episodes = int(most * share)
        test = Test(instrument="lambda-star", minds=[mind], episodes=episodes)
        _spent(mind, 2000, How(1))  # kernels loaded
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            give(Given.of(test.instrument, test.settings, test.minds), episodes, how=How(1))
            middle = time.process_time()
            made = run(Plan(tests=[test]), Path(folder) / "run", How(1))
            play, both = middle - start, time.process_time() - middle
            size = sum(path.stat().st_size for path in made.path.rglob("part-*"))
        costs = _costed(play / episodes, (both - play) / episodes, size / episodes)
        rows.append([mind, *costs])
    return Table(
        "10^9 episodes, on paper",
        "lambda-star, 10x10, 50 iterations, one job, in processor seconds: `evaluate` plays, and "
        "what `run` takes beyond that is its driver's work of making tables, writing them and "
        f"summing up. Hours on {CORES} cores are those of playing or of the one driver, whichever "
        "are more.",
        ("mind", "played/s a core", "core-hours", "kept/s a driver", "driver-hours",
         f"hours on {CORES} cores", "bytes an episode", "GB"),
        rows,
    )  # fmt: skip


def _costed(play: float, keep: float, size: float) -> list[str]:
    """Seconds to play and to keep an episode, and its bytes, for 10^9 of them."""
    playing, keeping = play * BILLION / 3600, keep * BILLION / 3600
    hours = [f"{1 / play:,.0f}", f"{playing:,.2f}", f"{1 / keep:,.0f}", f"{keeping:,.2f}"]
    return [*hours, f"{max(playing / CORES, keeping):,.2f}", f"{size:.1f}", f"{size:,.0f}"]


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description="What a Dask cluster costs.")
    parser.add_argument("--plan", action="store_true", help="cost 10^9 episodes instead")
    parser.add_argument("--share", type=float, default=1.0, help="fewer episodes: 0.1 for a tenth")
    given = parser.parse_args()
    table = billion(given.share) if given.plan else overhead(given.share)
    console = Console()
    table.show(console if console.is_terminal else Console(width=180))


if __name__ == "__main__":
    main()
