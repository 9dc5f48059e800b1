"""Run a plan into a folder, resume it, or give one test without a folder."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.core import arrow, messages, transcripts
from allminds.core import table as results
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.files import path_of
from allminds.core.line_up import LineUp
from allminds.core.settings import checked
from allminds.core.transcripts import CONNECTIONS
from allminds.runs import asking, engine
from allminds.runs.engine import Ahead, Given, Part, Sitting, Spread, compiling_ahead
from allminds.runs.plan import Plan, Test
from allminds.runs.resolve import Resolved
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

    Minds that are paid by the call are always played in this process, so that `core.spending`
    counts every call, and each reply is kept as soon as it is there. Their exercises are played
    side by side, as many as there may be `connections`; one after the other if a mind of the user's
    plays too, whose time is limited.

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
        Called when an exercise of a mind that is paid by the call is missing; it raises to stop.
    connections : int
        The most calls of language models at once.

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
    check: Callable[[], None] = _all_is_well  # if a paid mind's exercise is missing; raise to stop
    connections: int = CONNECTIONS  # calls of language models at once

    def __post_init__(self) -> None:
        """Require one job or more, and an engine that exists."""
        if not isinstance(self.jobs, int) or self.jobs < 1:
            raise Error(f"jobs must be a whole number, 1 or more, not {self.jobs!r}")
        if not isinstance(self.engine, str):
            raise Error(f"engine must be local, dask or an address, not {self.engine!r}")
        if not isinstance(self.connections, int) or self.connections < 1:
            raise Error(f"connections must be a whole number, 1 or more, not {self.connections!r}")
        engine.check_engine(self.engine)

    @contextlib.contextmanager
    def engaged(self) -> Iterator[Spread]:
        """Open the engine while the context lasts."""
        with engine.opened(self.engine, self.jobs) as spread:
            yield partial(self._spread, spread)

    def _spread(
        self, spread: Spread, sitting: Sitting, number: int, todo: Iterator[tuple[int, int]]
    ) -> Iterator[Part]:
        if not asking.is_paid(sitting):
            yield from spread(sitting, number, todo)
            return
        yield from asking.side_by_side(sitting, number, todo, self.connections, self.check)


def checked_how(how: How | None) -> How:
    """Return how to play, by default as `How()` says; reject what is not a `How`."""
    if how is not None and not isinstance(how, How):
        raise Error(f"how must be an allminds.How, such as How(jobs=2), not {how!r}")
    return how or How()


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
    plan = checked(Plan, what, f"evaluate {name}")
    how = checked_how(how)
    with how.engaged() as spread:
        sittings = given.seats(seed, 0, time_limit, episodes)
        return _give(given, plan, episodes, sittings, how, spread, name, keep)


def give_all(
    found: Resolved, how: How | None, keep: Callable[[int, Sitting, Part], None] | None
) -> dict[str, Any]:
    """Give all tests of a plan and return the summary. Nothing is written; see `give`."""
    plan, how, tests = found.plan, checked_how(how), []
    traced = plan.traces if keep else 0
    with how.engaged() as spread:
        for n, (test, given) in enumerate(zip(plan.tests, found.tests, strict=True)):
            name = given.tool.name
            what = name if len(plan.tests) == 1 else f"{name} ({n + 1} of {len(plan.tests)})"
            sittings = given.seats(plan.seed, traced, plan.time_limit, test.exercises, test.sampled)
            one = None if keep is None else partial(keep, n)
            tests.append(_give(given, plan, test.exercises, sittings, how, spread, what, one))
    return summary_of(plan, tests)


def _give(
    given: Given,
    plan: Plan,
    episodes: int,
    sittings: Sequence[Sitting],
    how: How,
    spread: Spread,
    what: str,
    keep: Callable[[Sitting, Part], None] | None,
) -> dict[str, Any]:
    sampled = [who.name for one in sittings if one.sampled for who in one.line_ups]
    scores = TestScores(given.tool, given.line_ups, episodes, sampled)

    def take(part: Part) -> None:
        scores.take(sittings[part.sitting], part)
        if keep is not None:
            keep(sittings[part.sitting], part)

    _play(sittings, [one.wanted for one in sittings], how, spread, what, take)
    return scores.summary(plan.seed, episodes)


def run(plan: Plan | Resolved, out: str | Path, how: How | None = None) -> RunFolder:
    """Play a plan into a new run folder.

    Parameters
    ----------
    plan : Plan
        What is given to whom.
    out : str or Path
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
    if not isinstance(plan, (Plan, Resolved)):
        raise Error(f"plan must be a Plan, such as read_plan('battery'), not {plan!r}")
    out = path_of(out, "out")
    found = plan if isinstance(plan, Resolved) else Resolved.of(plan)
    how = checked_how(how)
    with how.engaged() as spread:  # first: a cluster that is not there leaves no folder behind
        return _fill(RunFolder.create(out, found.plan, found.tests), found.tests, how, spread)


def resume(
    out: str | Path | RunFolder,
    how: How | None = None,
    plan: Resolved | None = None,
    accept_changes: bool = False,
    minds: Mapping[str, Any] | None = None,
) -> RunFolder:
    """Finish a run that was interrupted; it ends bit-identical to an uninterrupted one.

    Parameters
    ----------
    out : str, Path or RunFolder
        The run.
    how : How, optional
        Jobs, engine and strictness.
    plan : Resolved, optional
        The plan of the run, if its names have been resolved already.
    accept_changes : bool
        Resume though minds, instruments, allminds or Python have changed since, and mark the table
        as mixed. Otherwise that is an error.
    minds : mapping, optional
        The run's minds that were given in Python and that no name leads to, such as closures, by
        the names that they have in the run. One whose source has changed counts as a change.

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
    folder = out if isinstance(out, RunFolder) else RunFolder.open(path_of(out, "out"))
    how = checked_how(how)
    if not isinstance(minds or {}, Mapping):
        raise Error(f"minds must be a mapping of names to minds, not {minds!r}")
    if minds is None and folder.plan.objects and folder.is_complete():
        return folder  # minds that were given in Python need not be there
    found = plan or Resolved.of(folder.plan, objects=minds or {})
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
    what = plan.plan
    return not any(
        _lacking(folder, number, n, sitting, remove=False)
        for number, (test, given) in enumerate(zip(what.tests, plan.tests, strict=True))
        for n, sitting in enumerate(
            given.seats(what.seed, 0, what.time_limit, test.exercises, test.sampled)
        )
    )


def _lacking(
    folder: RunFolder, test: int, number: int, sitting: Sitting, remove: bool = True
) -> list[tuple[int, int]]:
    """List the exercises that a sitting still has to play, as ranges."""
    return [
        (max(low, first), min(high, last))
        for low, high in folder.gaps(test, number, sitting.episodes, remove)
        for first, last in sitting.wanted
        if max(low, first) < min(high, last)
    ]


def count_calls(plan: Resolved, how: How, folder: RunFolder | None = None) -> None:
    """Play the paid minds of a plan, or what a run lacks of them, and keep nothing.

    This is for a dry run: the caller counts the calls with `spending(dry=True)`.
    """
    what = plan.plan
    for number, (test, given) in enumerate(zip(what.tests, plan.tests, strict=True)):
        seats = given.seats(what.seed, 0, what.time_limit, test.exercises, test.sampled)
        for n, sitting in enumerate(seats):
            if not asking.is_paid(sitting):
                continue
            gaps = sitting.wanted
            if folder:
                gaps = _lacking(folder, number, n, sitting, remove=False)
            told = f"{test.instrument}, {sitting.line_ups[0].name}"
            for part in asking.side_by_side(sitting, n, gaps, 1):
                how.progress(told, part.last, test.exercises)


def _fill(folder: RunFolder, tests: Sequence[Given], how: How, spread: Spread) -> RunFolder:
    here = how.jobs > 1 and how.engine == "local"
    counts = [test.exercises for test in folder.plan.tests]
    alone = contextlib.nullcontext(Ahead(range(len(tests))))
    with folder.locked(), compiling_ahead(tests, counts) if here else alone as ahead:
        of: dict[int, dict[str, Any]] = {}
        for n in ahead.order:
            ahead.wait(n)
            of[n] = _fill_test(folder, n, tests[n], how, spread, ahead.cold)
        found = [of[n] for n in range(len(tests))]
        if folder.has_journal() and not folder.lacking():
            folder.end_journal()
        folder.tidy_sums()
        folder.write_json("summary.json", summary_of(folder.plan, found))
    return folder


def _fill_test(
    folder: RunFolder, number: int, given: Given, how: How, spread: Spread, cold: bool
) -> dict[str, Any]:
    """Play what a test lacks, and return its summary; scores are summed on the way to disk.

    Parts that are on disk already are added where they belong: each mind's exercises are always
    summed in the same order.
    """
    plan, test = folder.plan, folder.plan.tests[number]
    sittings = given.seats(
        plan.seed, plan.traces, plan.time_limit, test.exercises, test.sampled, cold
    )
    paid = any(map(asking.is_paid, sittings))
    journal = folder.journal(number) if paid else None  # before parts that lack something go
    gaps = [_lacking(folder, number, n, one) for n, one in enumerate(sittings)]
    if any(gaps) and "instruments" not in folder.made:  # else `resume` has compared versions
        folder.check_version(number, given.tool)
    scores = TestScores(given.tool, given.line_ups, test.exercises, test.sampled)
    stored = [deque(folder.stored(number, n)) for n in range(len(sittings))]

    def add_stored(sitting: int, before: int) -> None:
        while stored[sitting] and stored[sitting][0].first < before:
            scores.read(folder, stored[sitting].popleft().name)

    def write(part: Part) -> None:
        made = tables(folder.run, sittings[part.sitting], part)
        folder.add(number, part.sitting, part.first, part.last, **made)

    name = test.instrument
    what = name if len(plan.tests) == 1 else f"{name} ({number + 1} of {len(plan.tests)})"
    with asking.kept_in(journal), _merging(sittings, write) as add:

        def take(part: Part) -> None:
            add_stored(part.sitting, part.first)
            add(part)
            scores.take(sittings[part.sitting], part)

        _play(sittings, gaps, how, spread, what, take)
    for n in range(len(sittings)):
        add_stored(n, test.exercises)
    return scores.summary(plan.seed, test.exercises, folder.mixed)


@contextlib.contextmanager
def _merging(
    sittings: Sequence[Sitting], write: Callable[[Part], None]
) -> Iterator[Callable[[Part], None]]:
    """Join quick tasks that follow each other to one part before it is written.

    A long run would else have a file of every kind for some milliseconds of play. What is held
    back is written too if the run breaks off; if it is killed, it is played again.
    """
    held: list[Part] = []

    def flush() -> None:
        if held:
            write(Part.join(held))
            held.clear()

    def add(part: Part) -> None:
        if held and (held[-1].sitting, held[-1].last) != (part.sitting, part.first):
            flush()
        held.append(part)
        sitting = sittings[part.sitting]
        if len(held) >= sitting.merged or part.last >= sitting.wanted[-1][1]:
            flush()  # enough, or all of a sitting: what comes next may take long

    try:
        yield add
    finally:
        flush()


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


def tables(run: str, sitting: Sitting, part: Part) -> dict[str, pa.Table]:
    """Build the tables of a part as a run folder has them, by kind."""
    import pyarrow as pa

    pairs = list(zip(sitting.line_ups, part.blocks, strict=True))
    took = {"reply_seconds": [sum(one.seconds for one in part.replies)]} if part.replies else {}
    made = {
        "timings": pa.table(
            {
                "mind": arrow.words([line_up.name for line_up, _ in pairs]),
                "seconds": arrow.numbers(np.array(part.seconds, np.float64)),
                **took,
            }
        ),
        "curves": pa.concat_tables([_curve(line_up, block) for line_up, block in pairs]),
        "records": records(run, sitting, part),
    }
    traces = [_trace(line_up, block) for line_up, block in pairs if len(block.actions)]
    if part.replies:
        made["transcripts"] = transcripts.table(sitting.line_ups[0].name, part.replies)
    said = [messages.table(who.name, block.messages) for who, block in pairs if block.messages]
    if said:
        made["messages"] = pa.concat_tables(said)
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
            "mind": arrow.spelt(np.zeros(steps, np.int8), [line_up.name]),
            "step": arrow.numbers(np.arange(1, steps + 1, dtype=np.int32)),
            "count": arrow.numbers((len(made) - reached) * block.score.shape[1]),
            "total": arrow.numbers(block.curve),
        }
    )


def _trace(line_up: LineUp, block: Block) -> pa.Table:
    import pyarrow as pa

    index, step, slot = np.indices(block.actions.shape).reshape(3, -1)
    return pa.table(
        {
            "mind": arrow.spelt(np.zeros(len(index), np.int8), [line_up.name]),
            "index": arrow.numbers(index + block.first),
            "slot": arrow.numbers(slot.astype(np.int32)),
            "step": arrow.numbers((step + 1).astype(np.int32)),
            "action": arrow.numbers(block.actions.reshape(-1)),
        }
    )
