"""The results of a run, in a folder or in memory: scores, records, comparisons, files.

The command line prints what stands here. Modules are imported when they are used.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds.core.errors import Error
from allminds.core.files import path_of, write_bytes

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import pyarrow as pa

    from allminds.contracts import Instrument
    from allminds.runs.engine import Part, Sitting
    from allminds.runs.plan import Plan
    from allminds.runs.resolve import Resolved
    from allminds.runs.store import RunFolder
    from allminds.statistics.comparison import Difference
    from allminds.statistics.learning import Learning
    from allminds.statistics.recall import Recall

MARGIN = 0.05  # differences that are smaller do not matter, unless told otherwise
PAGE = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>allminds</title>\n{}\n'


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
    run : RunFolder or Memory, optional
        What they are the results of; without it there is neither a report nor a card.
    left_out : sequence of str
        Sentences on tests that a mind did not take, and why.
    number : int
        The number of the test in the plan, if these are results of one.

    Examples
    --------
    >>> import allminds
    >>> results = allminds.evaluate("c-test", ["random", "mode"])
    >>> results["results"][1]["mind"]
    'mode'
    >>> sorted(results.frame()["status"].unique())
    ['ok']
    """

    def __init__(
        self,
        summary: dict[str, Any],
        read: Callable[[], pd.DataFrame],
        run: RunFolder | Memory | None = None,
        left_out: Sequence[str] = (),
        number: int = 0,
    ) -> None:
        self.summary, self._read, self._run, self._number = summary, read, run, number
        self.left_out = list(left_out)

    @classmethod
    def of(cls, folder: RunFolder | str | Path) -> Results:
        """Open the results of a complete run; its records are read when they are asked for."""
        from allminds.runs.store import RunFolder

        run = folder
        if not isinstance(run, RunFolder):
            run = RunFolder.open(path_of(folder, "folder"))
        return cls(run.summary(), run.records, run)

    @property
    def folder(self) -> Path | None:
        """The run folder, or None if nothing was written."""
        return getattr(self._run, "path", None)

    @property
    def plan(self) -> Plan:
        """The plan of the run that these are results of."""
        if self._run is None:
            raise Error("these results have no plan: they are not those of a run")
        return self._run.plan

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
        yours = {"yours": self.summary.get("yours", [])}
        return [
            Results(test | yours, partial(self._of_test, number), self._run, number=number)
            for number, test in enumerate(self.summary["tests"])
        ]

    def _of_test(self, number: int) -> pd.DataFrame:
        frame = self._read()
        if len(self.summary["tests"]) > 1:
            frame = frame[frame["test"] == number].reset_index(drop=True)
        return frame.drop(columns="test")

    @property
    def scores(self) -> pd.DataFrame:
        """The scores as a table: a row for every mind of every test, in the order of the plan.

        `yours` marks the minds asked about, `end` floor and ceiling. `low` and `high` are the ends
        of the 95 % interval, `normalised` is the place between floor (0) and ceiling (1); of the
        `exercises` asked for some `failed`, which count, and some are `missing`.
        """
        import pandas as pd

        return pd.DataFrame(
            [
                _score_row(test, row, test._is_yours(row["mind"]))
                for test in self.tests
                for row in test["results"]
            ]
        )

    def _is_yours(self, line_up: str) -> bool:
        """Check whether a line-up's score is that of a mind asked about."""
        if self._run is not None:
            line_up = self._run.plan.tests[self._number].mind_of(line_up)
        return line_up in self.summary.get("yours", [])

    def __str__(self) -> str:
        from allminds.terminal import tables

        told = [tables.text_of(test.summary) for test in self.shown]
        if self.disguised and self._run is not None:
            from allminds.terminal.recall import recall_text

            told.append(recall_text(self.recalled()))
        return "\n\n".join([*told, *self.left_out])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from allminds.terminal import tables

        return "\n".join(tables.html_of(test.summary) for test in self.shown)

    @property
    def shown(self) -> list[Results]:
        """The tests whose tables are printed: beside plain ones, none that is in disguise."""
        worn = self.disguised
        return [test for test in self.tests if not (worn and "disguise" in test["settings"])]

    # ------------------------------------------------------------ records

    def frame(self) -> pd.DataFrame:
        """Return the tidy table: a row for every exercise, mind and slot; see `codebook`."""
        return self._read()

    def codebook(self) -> pd.DataFrame:
        """Explain the columns of `frame`: what they mean, and what is in them."""
        from allminds.core.table import codebook

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
        smaller than the margin, or undecided; both kinds of claim are corrected by Holm. Results of
        several tests are compared by `allminds.compare`.
        """
        import pandas as pd

        return pd.DataFrame([difference_row(one) for one in self._differences(margin)])

    def learning(self, margin: float = MARGIN, weight: float = 1.0) -> Learning:
        """Measure what minds learnt over courses, with `weight` λ on learning: docs/learning.md."""
        from allminds.statistics.learning import learning

        check_margin(margin)
        return learning([(test._tool(), test.frame()) for test in self.tests], margin, weight)

    def recall(self, margin: float = MARGIN) -> pd.DataFrame:
        """Return how much of each score is lost by disguise: a row for every mind and test.

        `recall` is the plain score minus the mean of those in disguise, paired by exercise, with
        its 95 % interval; the verdict is that of `compare`. Evaluate with `disguises` first.
        """
        import pandas as pd

        rows = [one.as_json() for one in self.recalled(margin)]
        if not rows:
            raise Error("no exercise was given both plain and in disguise; evaluate with disguises")
        return pd.DataFrame(rows)

    @property
    def disguised(self) -> bool:
        """True if some of the tests were given in disguise, beside plain ones."""
        worn = ["disguise" in test["settings"] for test in self.tests]
        return any(worn) and not all(worn)

    def recalled(self, margin: float = MARGIN) -> list[Recall]:
        """Measure what minds lost by disguise; see `recall`."""
        from allminds.statistics.recall import recall

        check_margin(margin)
        return recall([(test._tool(), test.frame()) for test in self.tests], margin)

    def causes(self, mind: str | None = None, rival: str | None = None) -> pd.DataFrame:
        """Return where a mind and a rival part: a row for every exercise chosen to show it.

        By default the minds asked about, and the best fair mind above each, or else floor or
        ceiling. `why` says how the exercise was chosen, `parted` is the first step at which they
        act differently, `step` that at which the gap in reward reaches half its final size, and
        `said` what happened. They illustrate; `compare` decides. The report has pictures.
        """
        import pandas as pd

        from allminds.report.causes import find_causes
        from allminds.report.sections.causes import as_json

        with self.opened() as folder:
            found = [as_json(one) for one in find_causes([folder], [mind] if mind else (), rival)]
        rows = [
            {name: one[name] for name in ("test", "mind", "rival")}
            | {name: cause[name] for name in ("exercise", "why", "parted", "step")}
            | {"score": cause["scores"][0], "rival_score": cause["scores"][1]}
            | {"said": " ".join(cause["said"])}
            for one in found
            for cause in one["causes"]
        ]
        names = ["test", "mind", "rival", "exercise", "why", "parted", "step", "score"]
        return pd.DataFrame(rows, columns=[*names, "rival_score", "said"])

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
        titles = (f"complexity {column}", "score, with 95 % intervals")
        return files.line_plot(marks, notebook.complexity_styles(list(scores), ends), titles)

    def _best_first(self) -> list[dict[str, Any]]:
        from allminds.terminal.tables import best_first

        return best_first(self._one().summary)

    def _drawn(self) -> tuple[str, Any, str, tuple[str | None, str | None]]:
        """Return what a plot shows: title, scores (None: by mind), complexity, floor, ceiling."""
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
        check_margin(margin)
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
        from allminds.report.charts.files import save

        path = path_of(path, "path")
        if path.suffix == ".json":
            text = json.dumps(self.summary, indent=2, ensure_ascii=False, allow_nan=False)
            return write_bytes(path, f"{text}\n".encode())
        if path.suffix == ".html":
            return write_bytes(path, PAGE.format(self._repr_html_()).encode())
        if path.suffix in (".svg", ".png"):
            return save(self._svg(), path)
        return write_results(self.frame(), path)

    def report(self, path: str | Path) -> Path:
        """Write the HTML report of the run that these are results of."""
        from allminds.report.page import write_report

        with self.opened() as folder:
            return write_report(folder, path_of(path, "path"))

    def card(self, path: str | Path) -> Path:
        """Write the result card of the run: one page, .svg, .png, .md or .json by its ending."""
        from allminds.report.card import write_card

        with self.opened() as folder:
            return write_card(folder, path_of(path, "path"))

    @contextlib.contextmanager
    def opened(self) -> Iterator[RunFolder]:
        """Open the run as a folder; one that is in memory is written to a temporary one."""
        if self._run is None:
            raise Error("there are no records of these results; evaluate with records=True")
        if not isinstance(self._run, Memory):
            yield self._run
            return
        with tempfile.TemporaryDirectory(prefix="allminds-") as place:
            yield self._run.save(Path(place) / "run", self.summary)


def _score_row(test: Results, row: dict[str, Any], yours: bool) -> dict[str, Any]:
    low, high = row["ci95"] or (None, None)
    return {
        "test": test._number, "instrument": test["instrument"], "mind": row["mind"], "yours": yours,
        "end": row["end"] or "", "score": row["score"], "low": low, "high": high,
        "normalised": row["normalised"], "exercises": row["episodes"], "failed": row["failed"],
        "missing": row["missing"], "coverage": row["coverage"], "ranked": row["ranked"],
    }  # fmt: skip


def difference_row(one: Difference) -> dict[str, Any]:
    """Convert a difference to a row of a table."""
    low, high = one.interval or (None, None)
    return {
        "first": one.first, "second": one.second, "difference": one.mean, "low": low, "high": high,
        "p_holm": one.p_holm, "units": one.units[0], "verdict": one.verdict,
    }  # fmt: skip


def check_margin(margin: Any) -> None:
    """Reject a margin that is not a positive number."""
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not margin > 0:
        raise Error(f"margin must be a number above 0, such as 0.05, not {margin!r}")


class Memory:
    """A run in memory: its plan, and what was played, held as blocks until a table is asked for."""

    def __init__(self, found: Resolved) -> None:
        self.plan = found.plan
        self.parts: list[tuple[int, Sitting, Part]] = []
        self.tables: list[tuple[tuple[int, int, int, int], dict[str, pa.Table]]] = []
        self._found: Resolved | None = found
        self._made: dict[str, Any] = {}

    def add(self, test: int, sitting: Sitting, part: Part) -> None:
        """Take the next part."""
        self.parts.append((test, sitting, part))

    def records(self) -> pd.DataFrame:
        """Put the records into their one order, with the number of their test."""
        import pandas as pd
        import pyarrow as pa

        from allminds.core.table import ordered
        from allminds.runs import run

        of_test: dict[int, list[pa.Table]] = {}
        for test, sitting, part in self.parts:
            of_test.setdefault(test, []).append(run.records(self.plan.run, sitting, part))
        for (test, *_), made in self.tables:
            of_test.setdefault(test, []).append(made["records"])
        frames = []
        for test in sorted(of_test):
            frame = ordered(pa.concat_tables(of_test.pop(test)).to_pandas())
            frame.insert(0, "test", test)
            frames.append(frame)
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    def save(self, path: Path, summary: Mapping[str, Any]) -> RunFolder:
        """Write a run folder, as if the plan had been run into it."""
        from allminds.runs.store import RunFolder
        from allminds.runs.summary import summary_of

        state = self.__getstate__()
        folder = RunFolder.create(path, self.plan, made=state["_made"])
        tests = summary.get("tests") or [{k: v for k, v in summary.items() if k != "yours"}]
        with folder.locked():
            for place, made in state["tables"]:
                folder.add(*place, **made)
            folder.write_json("summary.json", summary_of(self.plan, tests))
        return folder

    def __getstate__(self) -> dict[str, Any]:
        """Pickle tables: a mind that was played need not be there where they are read."""
        from allminds.runs import run
        from allminds.runs.provenance import plan_json

        made = [
            ((test, part.sitting, part.first, part.last), run.tables(self.plan.run, sitting, part))
            for test, sitting, part in self.parts
        ]
        kept = self._made or (plan_json(self.plan, self._found.tests) if self._found else {})
        bare = [test.without_objects() for test in self.plan.tests]
        return {
            "plan": self.plan.model_copy(update={"tests": bare}), "parts": [],
            "tables": [*self.tables, *made], "_found": None, "_made": kept,
        }  # fmt: skip
