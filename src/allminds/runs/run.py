"""Run a plan into a folder, resume it, or evaluate some minds without a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.contracts import LineUp
from allminds.core import table as results
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.settings import checked
from allminds.runs import engine
from allminds.runs.engine import Given, Part, Sitting, Spread
from allminds.runs.plan import Plan, Test
from allminds.runs.store import RunFolder
from allminds.runs.summary import TestScores, summarise
from allminds.runs.warming import compiling_ahead

if TYPE_CHECKING:
    import pyarrow as pa


def _nobody(_what: str, _done: int, _total: int) -> None:
    """Ignore the progress: the default."""


@dataclass(frozen=True)
class How:
    """How exercises are played: jobs, engine, strictness; the results do not depend on it."""

    jobs: int = os.cpu_count() or 1
    engine: str = "local"
    strict: bool = False  # stop at the first exercise that fails
    progress: Callable[[str, int, int], None] = _nobody  # what, exercises done, in all

    def __post_init__(self) -> None:
        """Require one job or more, and an engine that exists."""
        if self.jobs < 1:
            raise Error(f"jobs must be 1 or more, not {self.jobs}")
        engine.check_engine(self.engine)

    def engaged(self) -> AbstractContextManager[Spread]:
        """Open the engine while the context lasts."""
        return engine.opened(self.engine, self.jobs)


def give(
    given: Given,
    episodes: int,
    seed: int = 1,
    time_limit: float = 10.0,
    how: How | None = None,
    keep: Callable[[Sitting, Part], None] | None = None,
) -> dict[str, Any]:
    """Give one test to its minds and return the summary. Nothing is written.

    What was played is handed to `keep`, part by part, for `records`; if there is none, memory
    stays flat.
    """
    name = given.tool.name
    test = {"instrument": name, "minds": ["-"], "episodes": episodes}
    checked(Test, test, f"evaluate {name}")
    what = {"tests": [test], "seed": seed, "time_limit": time_limit}
    checked(Plan, what, f"evaluate {name}")
    sittings = given.seats(seed, 0, time_limit)
    scores = TestScores(given.tool, given.line_ups)

    def take(part: Part) -> None:
        scores.take(sittings[part.sitting], part)
        if keep is not None:
            keep(sittings[part.sitting], part)

    how = how or How()
    with how.engaged() as spread:
        _play(sittings, [[(0, episodes)]] * len(sittings), how, spread, name, take)
    return scores.summary(seed, episodes)


def resolved(plan: Plan) -> list[Given]:
    """Resolve all names of a plan, so that what is wrong is found before anything is played."""
    return [Given.of(test.instrument, test.settings, test.minds) for test in plan.tests]


def run(plan: Plan, out: Path, how: How | None = None) -> RunFolder:
    """Play a plan into a new run folder."""
    given = resolved(plan)
    how = how or How()
    with how.engaged() as spread:  # first: a cluster that is not there leaves no folder behind
        return _fill(RunFolder.create(out, plan), given, how, spread)


def resume(out: Path, how: How | None = None) -> RunFolder:
    """Finish a run that was interrupted; it ends bit-identical to an uninterrupted one."""
    folder = RunFolder.open(out)
    given = resolved(folder.plan)
    how = how or How()
    with how.engaged() as spread:
        return _fill(folder, given, how, spread)


def _fill(folder: RunFolder, given: Sequence[Given], how: How, spread: Spread) -> RunFolder:
    ahead = (
        compiling_ahead(folder.plan) if how.jobs > 1 and how.engine == "local" else nullcontext()
    )
    with folder.locked(), ahead:
        for number, test in enumerate(given):
            _fill_test(folder, number, test, how, spread)
        folder.write_json("summary.json", summarise(folder))
    return folder


def _fill_test(folder: RunFolder, number: int, given: Given, how: How, spread: Spread) -> None:
    plan, test = folder.plan, folder.plan.tests[number]
    sittings = given.seats(plan.seed, plan.traces, plan.time_limit)
    gaps = [folder.gaps(number, n, test.episodes) for n in range(len(sittings))]
    if any(gaps) and sittings:
        folder.check_version(number, sittings[0].tool)

    def keep(part: Part) -> None:
        tables = _tables(plan, sittings[part.sitting], part)
        folder.add(number, part.sitting, part.first, part.last, **tables)

    what = f"{test.instrument} ({number + 1} of {len(plan.tests)})"
    _play(sittings, gaps, how, spread, what, keep)


def _play(
    sittings: Sequence[Sitting],
    gaps: Sequence[list[tuple[int, int]]],
    how: How,
    spread: Spread,
    what: str,
    take: Callable[[Part], None],
) -> None:
    """Play what is missing, and hand every part to `take`."""
    counts = [sum(high - low for low, high in missing) for missing in gaps]
    total = sum(n * len(sitting.minds) for n, sitting in zip(counts, sittings, strict=True))
    done = 0
    how.progress(what, done, total)
    for part in engine.play_all(sittings, gaps, spread):
        sitting = sittings[part.sitting]
        if how.strict:
            _stop_at_failure(sitting, part, what)
        take(part)
        done += (part.last - part.first) * len(sitting.minds)
        how.progress(what, done, total)


def _stop_at_failure(sitting: Sitting, part: Part, what: str) -> None:
    for line_up, block in zip(sitting.line_ups, part.blocks, strict=True):
        if block.reasons:
            index = min(block.reasons)
            reason = block.reasons[index]
            said, _, frames = part.stories.get(reason, reason).partition("\n")
            error = Error(f"{line_up.name} failed exercise {index} of {what}: {said}")
            error.detail = frames
            raise error


# ---------------------------------------------------------------- tables of a part


def _tables(plan: Plan, sitting: Sitting, part: Part) -> dict[str, pa.Table]:
    import pyarrow as pa

    pairs = list(zip(sitting.line_ups, part.blocks, strict=True))
    made = {
        "timings": pa.table(
            {"mind": [line_up.name for line_up, _ in pairs], "seconds": part.seconds}
        ),
        "curves": pa.concat_tables([_curve(line_up, block) for line_up, block in pairs]),
        "records": records(plan.run, sitting, part),
    }
    traces = [_trace(line_up, block) for line_up, block in pairs if len(block.actions)]
    return made | ({"traces": pa.concat_tables(traces)} if traces else {})


def records(run: str, sitting: Sitting, part: Part) -> pa.Table:
    """Build the rows of a part, line-up by line-up."""
    import pyarrow as pa

    tables = [
        results.table(block, run, sitting.tool, line_up, sitting.seed)
        for line_up, block in zip(sitting.line_ups, part.blocks, strict=True)
    ]
    return pa.concat_tables(tables).unify_dictionaries()


def _curve(line_up: LineUp, block: Block) -> pa.Table:
    import pyarrow as pa

    made = block.steps[(block.status == 0).all(axis=1)]
    steps = len(block.curve)
    reached = np.searchsorted(np.sort(made), np.arange(1, steps + 1))  # fewer steps than this
    return pa.table(
        {
            "mind": [line_up.name] * steps,
            "step": np.arange(1, steps + 1, dtype=np.int32),
            "count": (len(made) - reached) * block.score.shape[1],
            "total": block.curve,
        }
    )


def _trace(line_up: LineUp, block: Block) -> pa.Table:
    import pyarrow as pa

    index, step, slot = np.indices(block.actions.shape).reshape(3, -1)
    return pa.table(
        {
            "mind": [line_up.name] * len(index),
            "index": index + block.first,
            "slot": slot.astype(np.int32),
            "step": (step + 1).astype(np.int32),
            "action": block.actions.reshape(-1),
        }
    )
