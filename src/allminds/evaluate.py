"""Give an instrument to some minds: `evaluate`, and the `Results` that come of it.

The command line prints what stands here. Modules are imported when they are used: `import allminds`
imports this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import pyarrow as pa

    from allminds.contracts import Instrument
    from allminds.runs.engine import Part, Sitting
    from allminds.runs.run import How
    from allminds.runs.store import RunFolder
    from allminds.statistics.comparison import Difference

MARGIN = 0.05  # differences that are smaller do not matter, unless told otherwise
EPISODES = 1000  # of an instrument without a fixed form
PAGE = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{}</title>\n{}\n'


class Results(Mapping[str, Any]):
    """The scores of some minds on one test or several, and the records they come from.

    Prints as the command line does, and as a table in a notebook. As a mapping it is the summary,
    plain values throughout.

    Parameters
    ----------
    summary : dict
        The scores, as ``--json`` prints them.
    read : callable
        Returns the records, when they are asked for.

    Examples
    --------
    >>> import allminds
    >>> results = allminds.evaluate("c-test", ["random", "mode"])
    >>> results["results"][1]["mind"]
    'mode'
    >>> sorted(results.frame()["status"].unique())
    ['ok']
    """

    def __init__(self, summary: dict[str, Any], read: Callable[[], pd.DataFrame]) -> None:
        self.summary, self._read = summary, read

    @classmethod
    def of(cls, folder: RunFolder | str | Path) -> Results:
        """Open the results of a complete run; its records are read when they are asked for."""
        from allminds.runs.store import RunFolder

        run = folder if isinstance(folder, RunFolder) else RunFolder.open(Path(folder))
        return cls(run.summary(), run.records)

    # ------------------------------------------------------------ the summary

    def __getitem__(self, key: str) -> Any:
        return self.summary[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.summary)

    def __len__(self) -> int:
        return len(self.summary)

    @property
    def tests(self) -> list[Results]:
        """The tests of a run one by one, each with results of its own."""
        if "tests" not in self.summary:
            return [self]
        return [
            Results(test, partial(self._of_test, number))
            for number, test in enumerate(self.summary["tests"])
        ]

    def _of_test(self, number: int) -> pd.DataFrame:
        frame = self._read()
        return frame[frame["test"] == number].drop(columns="test").reset_index(drop=True)

    def __str__(self) -> str:
        from allminds.terminal import tables

        return "\n\n".join(tables.text_of(test.summary) for test in self.tests)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from allminds.terminal import tables

        return "\n".join(tables.html_of(test.summary) for test in self.tests)

    # ------------------------------------------------------------ records

    def frame(self) -> pd.DataFrame:
        """Return the tidy table: a row for every exercise, mind and slot; see `codebook`."""
        return self._read()

    def codebook(self) -> pd.DataFrame:
        """Explain the columns of `frame`: what they mean, and what is in them."""
        from allminds.terminal.codebook import codebook

        return codebook(self.frame())

    def wide(self) -> pd.DataFrame:
        """Return the response matrix: scores of minds (rows) on exercises; NaN where missing."""
        import pandas as pd

        from allminds.core.table import scored
        from allminds.statistics.comparison import scores_of

        scores = scores_of(scored(self.frame()))
        columns = pd.Index(scores.exercises["exercise"], name="exercise")
        index = pd.Index(scores.minds, name="mind")
        matrix = pd.DataFrame(scores.means.T, index=index, columns=columns)
        return matrix.reindex(list(dict.fromkeys(self._minds())))

    def _minds(self) -> list[str]:
        return [row["mind"] for test in self.tests for row in test["results"]]

    # ------------------------------------------------------------ what they say

    def compare(self, margin: float = MARGIN) -> pd.DataFrame:
        """Compute paired differences of all minds on the exercises they have in common.

        The verdict is different, equivalent (the 90 % interval lies within ±margin), different but
        smaller than the margin, or undecided; both kinds of claim are corrected by Holm.
        """
        import pandas as pd

        rows = [
            {
                "first": one.first, "second": one.second, "difference": one.mean,
                "low": None if one.interval is None else one.interval[0],
                "high": None if one.interval is None else one.interval[1],
                "p_holm": one.p_holm, "units": one.units[0], "verdict": one.verdict,
            }
            for one in self._differences(margin)
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def plot(self) -> alt.LayerChart:
        """Score against complexity, or by mind where all exercises are alike. An Altair chart.

        It needs the extra `plot`; `save("scores.svg")` draws the same without it.
        """
        from allminds.report.charts.notebook import complexity_chart, score_chart

        title, scores, column, ends = self._drawn()
        if scores is None:
            return score_chart(self._best_first(), title)
        return complexity_chart(scores, column, ends)

    def _svg(self) -> str:
        """Draw what `plot` shows as SVG."""
        from allminds.report.charts import files, notebook

        title, scores, column, ends = self._drawn()
        if scores is None:
            return files.score_plot(self._best_first(), title)
        marks = notebook.marks_of(notebook.complexity_points(scores))
        styles = notebook.complexity_styles(list(scores), ends)
        titles = (f"complexity {column}", "score, with 95 % intervals")
        return files.line_plot(marks, styles, titles)

    def _best_first(self) -> list[dict[str, Any]]:
        from allminds.terminal.tables import best_first

        return best_first(self._one().summary)

    def _drawn(self) -> tuple[str, Any, str, tuple[str | None, str | None]]:
        """Return what a plot shows: title, scores by mind or None, complexity, floor and ceiling.

        None stands for a plot by mind.
        """
        from allminds.core.table import scored
        from allminds.statistics.comparison import scores_of

        test = self._one()
        tool = test._tool()
        scores = scores_of(scored(test.frame()))
        names = (tool.strata, "K", "k")
        column = next((name for name in names if name and name in scores.exercises), None)
        title, ends = f"score on {tool.name}", (tool.floor_mind, tool.ceiling_mind)
        if column is None or tool.adaptive or scores.exercises[column].nunique() < 2:
            return title, None, "", ends
        at = scores.exercises[column].to_numpy(float)
        points = {
            mind: (at, scores.means[:, n])
            for n, mind in enumerate(scores.minds)
            if scores.common([n]).any()
        }
        return title, {m: points[m] for m in test._minds() if m in points}, column, ends

    def plot_differences(self, margin: float = MARGIN) -> alt.LayerChart:
        """Draw the paired differences with their intervals, over the band of the margin."""
        from allminds.report.charts.notebook import difference_chart

        return difference_chart([(one.pair, one) for one in self._differences(margin)])

    def _differences(self, margin: float) -> list[Difference]:
        import numpy as np

        from allminds.core.table import scored
        from allminds.statistics.comparison import compare

        test = self._one()
        tool, frame = test._tool(), scored(test.frame())
        if frame["mind"].nunique() < 2:
            raise Error("a comparison needs two or more minds with scores; evaluate another too")
        return list(compare(frame, np.random.default_rng(1), tool=tool, margin=margin).differences)

    def _tool(self) -> Instrument:
        from allminds.registry import make_instrument

        return make_instrument(self["instrument"], self["settings"])

    def _one(self) -> Results:
        tests = self.tests
        if len(tests) > 1:
            raise Error(f"there are {len(tests)} tests; take one of them, such as results.tests[0]")
        return tests[0]

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> Path:
        """Write a file by its ending, whole or not at all.

        .csv, .parquet and .jsonl (py-irt) hold the records, .json the summary, .html the table
        of scores, .svg and .png the plot.
        """
        from allminds.bridges.exchange import write_results
        from allminds.report.charts.files import save, write_whole

        path = Path(path)
        if path.suffix == ".json":
            text = json.dumps(self.summary, indent=2, ensure_ascii=False, allow_nan=False)
            return write_whole(path, f"{text}\n".encode())
        if path.suffix == ".html":
            return write_whole(path, PAGE.format("allminds", self._repr_html_()).encode())
        if path.suffix in (".svg", ".png"):
            return save(self._svg(), path)
        return write_results(self.frame(), path)


def evaluate(
    instrument: str | type[Instrument],
    minds: Sequence[Any] | Mapping[str, Any],
    *,
    settings: dict[str, Any] | None = None,
    episodes: int | None = None,
    seed: int = 1,
    time_limit: float = 10.0,
    ends: bool = True,
    records: bool = True,
    how: How | None = None,
) -> Results:
    """Give one instrument to some minds. Nothing is written.

    Parameters
    ----------
    instrument : str or class
        A name, ``file.py:Class``, or a subclass of `Instrument`.
    minds : sequence or mapping
        Names, classes, functions or objects; or these under names of yours,
        ``{"bold": MyMind(0.9), "shy": MyMind(0.1)}``.
    settings : dict, optional
        The settings of the instrument.
    episodes : int, optional
        The exercises of each mind; by default 1,000, or all of a fixed form.
    seed : int
        The same seed gives the same exercises.
    time_limit : float
        The seconds of processor time that a mind of yours may take for an action.
    ends : bool
        Give the test to the instrument's floor and ceiling too.
    records : bool
        Hold all records in memory; if false, the scores are all there is.
    how : How, optional
        Jobs, engine and strictness.

    Returns
    -------
    Results
        The scores with their intervals, and the records.

    Examples
    --------
    >>> import allminds
    >>> def always_tails(observation):
    ...     return 1
    >>> results = allminds.evaluate("matching-pennies", [always_tails], episodes=20)
    >>> [row["mind"] for row in results["results"]]
    ['always_tails', 'random']
    """
    from allminds import registry
    from allminds.runs.engine import Given
    from allminds.runs.run import give

    tool = registry.make_instrument(instrument, settings)
    named = _named(minds, tool)
    line_ups = [registry.line_up(who, tool) for who in named]
    given = Given(registry.reference(instrument), tool, settings or {}, named, line_ups)
    more = registry.missing_ends(line_ups, tool) if ends else []
    given = given.joined(more, [registry.line_up(end, tool) for end in more])
    kept = Records()
    number = (tool.length or EPISODES) if episodes is None else episodes
    keep = kept.add if records else None
    summary = give(given, number, seed, time_limit, how, keep)
    summary["yours"] = [one.name for one in line_ups]
    return Results(summary, kept.frame if records else _no_frame)


def _named(minds: Sequence[Any] | Mapping[str, Any], tool: Instrument) -> Sequence[Any]:
    if isinstance(minds, Mapping):
        from allminds.registry import subject

        return [replace(subject(who, tool), name=name) for name, who in minds.items()]
    if isinstance(minds, str) or not isinstance(minds, Sequence):
        raise Error(f"minds are a list, such as ['random', MyMind], not {minds!r}")
    return minds


class Records:
    """What was played, held as blocks until a table of it is asked for."""

    def __init__(self) -> None:
        self.parts: list[tuple[Sitting, Part]] = []
        self.tables: list[pa.Table] = []

    def add(self, sitting: Sitting, part: Part) -> None:
        """Take the next part."""
        self.parts.append((sitting, part))

    def frame(self) -> pd.DataFrame:
        """Put the records into their one order."""
        import pyarrow as pa

        from allminds.core.table import ordered

        return ordered(pa.concat_tables(self._made()).to_pandas())

    def _made(self) -> list[pa.Table]:
        from allminds.runs.run import records

        return self.tables or [records("", sitting, part) for sitting, part in self.parts]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle tables: a mind that was played need not be there where they are read."""
        return {"parts": [], "tables": self._made()}


def _no_frame() -> pd.DataFrame:
    raise Error("no records were kept; evaluate with records=True")
