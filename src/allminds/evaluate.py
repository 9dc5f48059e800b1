"""Give instruments to minds: `evaluate`, `battery`, and then `compare`, `report`, `list`.

The command line does what stands here. Modules are imported when they are used: `import allminds`
imports this one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from allminds.core.errors import Error, nearest
from allminds.core.files import path_of
from allminds.results import MARGIN, Memory, Results, check_margin, difference_row

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Instrument
    from allminds.runs.plan import Test
    from allminds.runs.resolve import Resolved
    from allminds.runs.run import How
    from allminds.runs.store import RunFolder


def evaluate(
    instruments: str | type[Instrument] | Test | Mapping[str, Any] | Sequence[Any],
    minds: Sequence[Any] | Mapping[str, Any],
    *,
    against: Any = None,
    settings: Mapping[str, Any] | None = None,
    episodes: int | None = None,
    seed: int = 1,
    time_limit: float = 10.0,
    ends: bool | Literal["full"] = True,
    records: bool = True,
    out: str | Path | None = None,
    how: How | None = None,
    course: Any = None,
    disguises: int = 0,
    until: Any = None,
) -> Results:
    """Give one instrument or several to some minds. Nothing is written, unless `out` is given.

    Parameters
    ----------
    instruments : str, class, Test, mapping, or a list of these
        A name, ``file.py:Class``, or a subclass of `Instrument`. A `Test`, or a mapping such as
        ``{"instrument": "lambda-star", "settings": {"rows": 5}, "episodes": 100}``, has settings
        of its own.
    minds : sequence or mapping
        Names, classes, functions or objects; or these under names of yours,
        ``{"bold": MyMind(0.9), "shy": MyMind(0.1)}``. They are the minds asked about. Of several
        instruments, each mind takes those that it can.
    against : name, class, function or object, or a list of these, optional
        Whom the minds are measured against. In a game each of these in turn sits in the other
        slots; a test without other slots is given to them too, as rivals to compare with.
    settings : mapping, optional
        The settings of the instrument, if it is one.
    episodes : int, optional
        The exercises of each mind; by default 1,000, or all of a fixed form. With a course, the
        number of courses; by default 20.
    seed : int
        The same seed gives the same exercises.
    time_limit : float
        The seconds of processor time that a mind of yours may take for an action.
    ends : bool or "full"
        Give the test to the instrument's floor and ceiling too. Beyond 20,000 exercises they are
        given an evenly spread sample of 20,000, and scores are normalised on it; ``"full"`` gives
        them all.
    records : bool
        Hold all records in memory; if false, the scores are all there is.
    out : str or Path, optional
        A new folder for the run, which `RunFolder`, `resume` and the command line can open.
    how : How, optional
        Jobs, engine and strictness.
    course : str, mapping, or a list of phases, optional
        Give the exercises as a course, over which minds that carry keep what they learnt:
        ``"train=50,order=rising,test=20"``; see `docs/howto/let-a-mind-learn.md`.
    disguises : int
        Give every exercise plain and in so many skins too; `Results.recall` then tells how much of
        the score is lost by disguise, see `docs/disguises.md`.
    until : str, mapping or float, optional
        Choose exercises by the answers, and end when the interval of the ability is as narrow as
        ``"width=1.0"`` says, or after ``most`` of them: ``"width=1.0,most=300"``. The score is the
        ability, in units of complexity; see `docs/adaptive.md`.

    Returns
    -------
    Results
        The scores with their intervals, and the records; of several instruments, see `tests`.

    Examples
    --------
    >>> import allminds
    >>> def always_tails(observation):
    ...     return 1
    >>> results = allminds.evaluate("matching-pennies", [always_tails], episodes=20)
    >>> [row["mind"] for row in results["results"]]
    ['always_tails', 'random']
    >>> both = allminds.evaluate(["c-test", "matching-pennies"], ["random"], episodes=20)
    >>> both.scores["instrument"].tolist()
    ['c-test', 'c-test', 'matching-pennies']
    """
    from allminds.runs.resolve import prepared

    found = prepared(
        instruments, minds, against=against, settings=settings, episodes=episodes, seed=seed,
        time_limit=time_limit, ends=ends, course=course, disguises=disguises, until=until,
    )  # fmt: skip
    return played(found, out, how, records)


def battery(
    minds: Sequence[Any] | Mapping[str, Any],
    *,
    plan: str | Path = "battery",
    only: str | Sequence[str] | None = None,
    episodes: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    how: How | None = None,
) -> Results:
    """Give a built-in plan, or one of a file, to some minds beside those that it has.

    Parameters
    ----------
    minds : sequence or mapping
        The minds asked about, as for `evaluate`; each takes the tests that it can.
    plan : str or Path
        battery, groups, factors, or a TOML file.
    only : str or sequence of str, optional
        Only the tests of these instruments; ``lambda*`` stands for all that begin so.
    episodes : int, optional
        The exercises of every test; by default as the plan says.
    seed : int, optional
        The seed of all exercises; by default as the plan says.
    out : str or Path, optional
        A new folder for the run; without it nothing is written.
    how : How, optional
        Jobs, engine and strictness.

    Returns
    -------
    Results
        The scores of all tests, see `tests`, and the records.

    Examples
    --------
    >>> import allminds
    >>> def fives(observation):
    ...     return 5
    >>> found = allminds.battery([fives], only="lambda-star", episodes=22)
    >>> found["yours"]
    ['fives']
    """
    from allminds.runs.plan import narrowed, read_plan
    from allminds.runs.resolve import Resolved, check_minds

    check_minds(minds)
    chosen = [only] if isinstance(only, str) else only
    whole = narrowed(read_plan(path_of(plan, "plan")), chosen, episodes, seed)
    return played(Resolved.of(whole, minds), out, how)


def played(
    found: Resolved, out: str | Path | None = None, how: How | None = None, records: bool = True
) -> Results:
    """Play a plan in memory, or into a new folder."""
    from allminds.runs.run import give_all, run

    alone = len(found.plan.tests) == 1
    if out is not None:
        made = Results.of(run(found, out, how))
    else:
        memory = Memory(found)
        summary = give_all(found, how, memory.add if records else None)
        made = Results(summary, memory.records, memory) if records else Results(summary, _no_frame)
    if alone:
        made = made.tests[0]
    made.left_out = list(found.left_out)
    return made


def _no_frame() -> pd.DataFrame:
    raise Error("no records were kept; evaluate with records=True")


# ---------------------------------------------------------------- what there is


def listed(
    what: str = "instruments", *, instrument: str | type[Instrument] | None = None
) -> pd.DataFrame:
    """List what there is, as a table with a line on each: instruments, minds or papers.

    Parameters
    ----------
    what : str
        instruments, minds or papers.
    instrument : str or class, optional
        List the minds of this instrument only.

    Returns
    -------
    DataFrame
        A row for each.

    Examples
    --------
    >>> import allminds
    >>> "mode" in set(allminds.list("minds", instrument="c-test")["mind"])
    True
    """
    import pandas as pd

    from allminds import registry
    from allminds.terminal import listing

    kinds = ("instruments", "minds", "papers")
    if what not in kinds:
        raise Error(f"what must be instruments, minds or papers, not {what!r}")
    if instrument is not None and what != "minds":
        raise Error(f"instrument is for minds; leave it out to list {what}")
    rows = listing(what)
    if instrument is not None:
        name = registry.kind(instrument).name
        rows = [
            {"mind": mind, "what": registry.first_line(maker)}
            for mind, maker in registry.minds(name).items()
        ]
    return pd.DataFrame(rows)


# ---------------------------------------------------------------- several results at once


def report(runs: Any, path: str | Path, *, weights: Mapping[str, float] | None = None) -> Path:
    """Write the HTML report of results or runs, side by side if there are several.

    Parameters
    ----------
    runs : Results, RunFolder, path, or a list of these
        What is reported.
    path : str or Path
        The file to write.
    weights : mapping, optional
        Weights of instruments by name, for a weighted total.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import allminds, tempfile
    >>> found = allminds.evaluate("c-test", ["random", "mode"])
    >>> allminds.report(found, tempfile.mkdtemp() + "/mine.html").name
    'mine.html'
    """
    from allminds.report.page import write_report

    out = path_of(path, "path")
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(one.opened()) for one in _results(runs, "runs")]
        return write_report(folders, out, weights)


def compare(
    runs: Any,
    *,
    minds: Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float = MARGIN,
    seed: int = 1,
) -> pd.DataFrame:
    """Compare minds of one run or several on the exercises that they have in common.

    Parameters
    ----------
    runs : Results, RunFolder, path, or a list of these
        Where the scores come from.
    minds : sequence of str, optional
        Compare these minds only; by default all.
    baseline : str, optional
        Compare every mind with this one only.
    margin : float
        Differences that are smaller do not matter.
    seed : int
        The seed of the resampling.

    Returns
    -------
    DataFrame
        A row for every pair on every instrument: the difference with its 95 % interval, the p-value
        corrected by Holm over the pairs of the instrument, and the verdict.

    Examples
    --------
    >>> import allminds
    >>> found = allminds.evaluate("c-test", ["mode", "min-distance"], ends=False)
    >>> allminds.compare(found)["verdict"].tolist()
    ['different']
    """
    import pandas as pd

    check_margin(margin)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise Error(f"seed must be a whole number, 0 or more, not {seed!r}")
    if isinstance(minds, str) or not isinstance(minds or [], Sequence):
        raise Error(f"minds must be a list of names, such as ['random'], not {minds!r}")
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(one.opened()) for one in _results(runs, "runs")]
        rows = _compared(folders, list(minds or ()), baseline, margin, seed)
    return pd.DataFrame(rows)


def _compared(
    folders: Sequence[RunFolder], minds: list[str], baseline: str | None, margin: float, seed: int
) -> list[dict[str, Any]]:
    """Compare instrument by instrument; scores of different ones are never put side by side."""
    import numpy as np

    from allminds.runs.imports import read_together, tools_of
    from allminds.statistics.comparison import compare as compared

    paths = [folder.path for folder in folders]
    frame, tools = read_together(paths), tools_of(paths)
    for n, path in enumerate(paths, 1):  # a temporary folder has no name that says anything
        if "allminds-" in str(path):
            frame["mind"] = frame["mind"].str.replace(f" in {path}", f" in results {n}")
    known = set(frame["mind"])
    for name in (*minds, *([] if baseline is None else [baseline])):
        if name not in known:
            what = "baseline" if name == baseline else "minds"
            raise Error(f"{what}: there is no mind '{name}' in the results; {nearest(name, known)}")
    rows = []
    groups: Any = frame.groupby(["instrument", "settings"], sort=False, observed=True)
    for key, part in groups:
        there = set(part["mind"])
        if len(there) < 2 or (baseline is not None and baseline not in there):
            continue
        part = part.loc[:, part.notna().any() | part.columns.isin(["score"])]
        found = compared(
            part.reset_index(drop=True), np.random.default_rng(seed), margin=margin,
            tool=tools.get(key), minds=[one for one in minds if one in there], baseline=baseline,
        )  # fmt: skip
        rows += [{"instrument": key[0]} | difference_row(one) for one in found.differences]
    if not rows:
        raise Error("runs: no two minds took the same instrument, so there is nothing to compare")
    return rows


def _results(runs: Any, argument: str) -> list[Results]:
    """Open what was given as runs: results, run folders or paths, one or several."""
    from allminds.runs.store import RunFolder

    several = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not several:
        raise Error(f"{argument} must not be empty; give results or run folders")
    made = []
    for one in several:
        if not isinstance(one, (Results, RunFolder, str, Path)):
            raise Error(f"{argument} must be results, run folders or paths, not {one!r}")
        made.append(one if isinstance(one, Results) else Results.of(one))
    return made
