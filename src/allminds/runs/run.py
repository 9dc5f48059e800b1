"""Run a plan into a folder, resume it, or give one test without a folder."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds import registry
from allminds.contracts import LineUp
from allminds.core import table as results
from allminds.core.blocks import Block
from allminds.core.errors import Error, nearest
from allminds.core.names import parse_all
from allminds.core.settings import checked
from allminds.core.watch import Watch
from allminds.episode import play
from allminds.runs import engine
from allminds.runs.engine import Given, Part, Sitting, Spread, compiling_ahead
from allminds.runs.plan import Plan, Test, seated
from allminds.runs.store import RunFolder
from allminds.runs.summary import TestScores, summary_of

if TYPE_CHECKING:
    import pyarrow as pa


def _nobody(_what: str, _done: int, _total: int) -> None:
    """Ignore the progress: the default."""


def _all_is_well() -> None:
    """Accept every exercise: the default check."""


@dataclass(frozen=True)
class How:
    """How exercises are played: jobs, engine, strictness; the results do not depend on it.

    Minds that are paid by the call are always played in this process, one exercise after the other,
    so that `core.spending` counts every call, and each exercise is kept as soon as it is over.

    Parameters
    ----------
    jobs : int
        The number of threads or processes; by default one for each core.
    engine : str
        local, dask, or the address of a Dask scheduler.
    strict : bool
        Stop at the first exercise that fails.
    progress : callable
        Called with what is played, the exercises done, and how many there are in all.
    check : callable
        Called after each exercise of a mind that is paid by the call; it raises to stop.

    Examples
    --------
    >>> from allminds import How, evaluate
    >>> one, two = (
    ...     evaluate("lambda-star", ["random"], episodes=44, how=How(jobs=n)) for n in (1, 2)
    ... )
    >>> one["results"][0]["score"] == two["results"][0]["score"]
    True
    """

    jobs: int = os.cpu_count() or 1
    engine: str = "local"
    strict: bool = False  # stop at the first exercise that fails
    progress: Callable[[str, int, int], None] = _nobody  # what, exercises done, in all
    check: Callable[[], None] = _all_is_well  # after each exercise of a paid mind; raise to stop

    def __post_init__(self) -> None:
        """Require one job or more, and an engine that exists."""
        if self.jobs < 1:
            raise Error(f"jobs must be 1 or more, not {self.jobs}")
        engine.check_engine(self.engine)

    @contextlib.contextmanager
    def engaged(self) -> Iterator[Spread]:
        """Open the engine while the context lasts."""
        with engine.opened(self.engine, self.jobs) as spread:
            yield partial(self._spread, spread)

    def _spread(
        self, spread: Spread, sitting: Sitting, number: int, todo: Iterator[tuple[int, int]]
    ) -> Iterator[Part]:
        if not _is_paid(sitting):
            yield from spread(sitting, number, todo)
            return
        for part in _one_by_one(sitting, number, todo):
            self.check()
            yield part


def _is_paid(sitting: Sitting) -> bool:
    seats = (seat for line_up in sitting.line_ups for seat in line_up.seats)
    return any(seat.subject.paid for seat in seats)


def _one_by_one(sitting: Sitting, number: int, todo: Iterable[tuple[int, int]]) -> Iterator[Part]:
    """Play one exercise at a time, here; an administration of an adaptive test is never split."""
    size = sitting.tool.sitting if sitting.tool.adaptive else 1
    for first, last in todo:
        for low in range(first, last, size):
            yield engine.play(sitting, number, low, min(last, low + size))


# ---------------------------------------------------------------- names, resolved once


@dataclass(frozen=True)
class Resolved:
    """A plan with its names resolved, so that what is wrong is found before anything is played."""

    plan: Plan
    tests: Sequence[Given]
    left_out: Sequence[str] = ()  # which tests an added mind cannot take, and why

    @classmethod
    def of(cls, plan: Plan, minds: Sequence[str] = ()) -> Resolved:
        """Resolve the names of a plan, and add minds to every test that they can take.

        A registered mind declares which instruments it is for. A mind from a user's file is tried:
        it takes the tests whose first exercise it ends. In a plan with one instrument no mind is
        left out.
        """
        given = [Given.of(test.instrument, test.settings, test.minds) for test in plan.tests]
        names = {test.instrument for test in plan.tests}
        tests, reasons = [], dict[str, dict[str, str]]()
        yours = dict.fromkeys(plan.yours)
        for number, test in enumerate(plan.tests):
            taken: dict[str, LineUp] = {}
            for mind in minds:
                name = seated(mind, test.against) if test.against else mind
                found = _tried(name, given[number], plan, certain=len(names) == 1)
                if isinstance(found, str):
                    reasons.setdefault(mind, {})[test.instrument] = found
                    continue
                yours[test.mind_of(found.name)] = None
                if found.name not in {one.name for one in given[number].line_ups}:
                    taken[name] = found
            values = test.model_dump() | {"minds": [*test.minds, *taken]}
            tests.append(checked(Test, values, f"the test {test.instrument}"))
            given[number] = given[number].joined(list(taken), list(taken.values()))
        for mind, why in reasons.items():
            if len(why) == len(names):
                name, reason = next(iter(why.items()))
                raise Error(f"{mind} can take none of the tests; {name}: {reason}")
        left = [f"{mind} takes no {on}: {why}" for mind in reasons
                for on, why in reasons[mind].items()]  # fmt: skip
        whole = plan.model_copy(update={"tests": tests, "yours": list(yours)})
        _check_yours(whole, given)
        return cls(whole, given, left)


def _check_yours(plan: Plan, tests: Sequence[Given]) -> None:
    """Reject a name in `yours` that no test of the plan has."""
    pairs = zip(plan.tests, tests, strict=True)
    known = {test.mind_of(one.name) for test, given in pairs for one in given.line_ups}
    for name in plan.yours:
        if name not in known:
            raise Error(f"yours: no test of the plan has the mind '{name}'; {nearest(name, known)}")


def _tried(name: str, given: Given, plan: Plan, certain: bool) -> LineUp | str:
    """Resolve a line-up for a test, or say why it cannot take it; try a mind from a file."""
    try:
        line_up = registry.line_up(name, given.tool)
    except Error as error:
        if certain:
            raise
        return str(error)
    if certain or ":" not in parse_all(name)[0].name:
        return line_up
    with Watch(plan.time_limit).running() as watch:
        record = play(given.tool.exercise(plan.seed, 0), line_up, watch)
    return line_up if "ok" in record.status else record.reason


# ---------------------------------------------------------------- giving tests


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


def run(plan: Plan | Resolved, out: Path, how: How | None = None) -> RunFolder:
    """Play a plan into a new run folder.

    Parameters
    ----------
    plan : Plan
        What is given to whom.
    out : Path
        A folder that is empty or not there yet.
    how : How, optional
        Jobs, engine and strictness.

    Returns
    -------
    RunFolder
        The run on disk.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from allminds import Plan, Test, run
    >>> plan = Plan(tests=[Test(instrument="matching-pennies", minds=["random"], episodes=8)])
    >>> folder = run(plan, Path(tempfile.mkdtemp()) / "run")
    >>> folder.summary()["tests"][0]["episodes"]
    8
    """
    found = plan if isinstance(plan, Resolved) else Resolved.of(plan)
    how = how or How()
    with how.engaged() as spread:  # first: a cluster that is not there leaves no folder behind
        return _fill(RunFolder.create(out, found.plan, found.tests), found.tests, how, spread)


def resume(
    out: Path | RunFolder,
    how: How | None = None,
    plan: Resolved | None = None,
    accept_changes: bool = False,
) -> RunFolder:
    """Finish a run that was interrupted; it ends bit-identical to an uninterrupted one.

    Parameters
    ----------
    out : Path or RunFolder
        The run.
    how : How, optional
        Jobs, engine and strictness.
    plan : Resolved, optional
        The plan of the run, if its names have been resolved already.
    accept_changes : bool
        Resume though minds, instruments, allminds or Python have changed since, and mark the table
        as mixed. Otherwise that is an error.

    Returns
    -------
    RunFolder
        The run on disk.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from allminds import Plan, Test, resume, run
    >>> plan = Plan(tests=[Test(instrument="matching-pennies", minds=["random"], episodes=8)])
    >>> folder = run(plan, Path(tempfile.mkdtemp()) / "run")
    >>> resume(folder.path).summary() == folder.summary()
    True
    """
    folder = out if isinstance(out, RunFolder) else RunFolder.open(out)
    found = plan or Resolved.of(folder.plan)
    how = how or How()
    with how.engaged() as spread:
        changes = folder.changes(found.tests)
        if changes and _is_complete(folder, found):
            changes = []
        if changes and not accept_changes:
            raise Error(
                f"{folder.path} cannot be resumed as it was begun: {'; '.join(changes)}; undo "
                "that, or resume with --accept-changes, which marks the table as mixed"
            )
        if changes:
            with folder.locked():
                folder.accept(found.tests, changes)
        return _fill(folder, found.tests, how, spread)


def _is_complete(folder: RunFolder, plan: Resolved) -> bool:
    """Check whether nothing is left to be played."""
    return not any(
        folder.gaps(number, n, test.episodes, remove=False)
        for number, (test, given) in enumerate(zip(plan.plan.tests, plan.tests, strict=True))
        for n in range(len(given.seats(plan.plan.seed, 0, plan.plan.time_limit)))
    )


def count_calls(plan: Resolved, how: How, folder: RunFolder | None = None) -> None:
    """Play the paid minds of a plan, or what a run lacks of them, and keep nothing.

    This is for a dry run: the caller counts the calls with `spending(dry=True)`.
    """
    what = plan.plan
    for number, (test, given) in enumerate(zip(what.tests, plan.tests, strict=True)):
        for n, sitting in enumerate(given.seats(what.seed, 0, what.time_limit)):
            if not _is_paid(sitting):
                continue
            gaps = [(0, test.episodes)]
            if folder:
                gaps = folder.gaps(number, n, test.episodes, remove=False)
            told = f"{test.instrument}, {sitting.line_ups[0].name}"
            for part in _one_by_one(sitting, n, gaps):
                how.progress(told, part.last, test.episodes)


def _fill(folder: RunFolder, tests: Sequence[Given], how: How, spread: Spread) -> RunFolder:
    here = how.jobs > 1 and how.engine == "local"
    with folder.locked(), compiling_ahead(tests) if here else contextlib.nullcontext():
        found = [_fill_test(folder, n, given, how, spread) for n, given in enumerate(tests)]
        folder.tidy_sums()
        folder.write_json("summary.json", summary_of(folder.plan, found))
    return folder


def _fill_test(
    folder: RunFolder, number: int, given: Given, how: How, spread: Spread
) -> dict[str, Any]:
    """Play what a test lacks, and return its summary; scores are summed on the way to disk.

    Parts that are on disk already are added where they belong: each mind's exercises are always
    summed in the same order.
    """
    plan, test = folder.plan, folder.plan.tests[number]
    sittings = given.seats(plan.seed, plan.traces, plan.time_limit)
    gaps = [folder.gaps(number, n, test.episodes) for n in range(len(sittings))]
    if any(gaps) and "instruments" not in folder.made:  # else `resume` has compared versions
        folder.check_version(number, given.tool)
    scores = TestScores(given.tool, given.line_ups)
    stored = [deque(folder.stored(number, n)) for n in range(len(sittings))]

    def add_stored(sitting: int, before: int) -> None:
        while stored[sitting] and stored[sitting][0].first < before:
            scores.read(folder, stored[sitting].popleft().name)

    def take(part: Part) -> None:
        add_stored(part.sitting, part.first)
        sitting = sittings[part.sitting]
        folder.add(
            number, part.sitting, part.first, part.last, **_tables(folder.run, sitting, part)
        )
        scores.take(sitting, part)

    what = f"{test.instrument} ({number + 1} of {len(plan.tests)})"
    _play(sittings, gaps, how, spread, what, take)
    for n in range(len(sittings)):
        add_stored(n, test.episodes)
    return scores.summary(plan.seed, test.episodes, folder.mixed)


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


def _tables(run: str, sitting: Sitting, part: Part) -> dict[str, pa.Table]:
    import pyarrow as pa

    pairs = list(zip(sitting.line_ups, part.blocks, strict=True))
    made = {
        "timings": pa.table(
            {"mind": [line_up.name for line_up, _ in pairs], "seconds": part.seconds}
        ),
        "curves": pa.concat_tables([_curve(line_up, block) for line_up, block in pairs]),
        "records": records(run, sitting, part),
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
