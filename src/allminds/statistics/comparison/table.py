"""Scores by exercise and mind, ready to be compared.

All slots of an exercise are one value (`play_scores`), and failures count in it. Repeats of an item
(an epoch of a language model, another seed, the same series under another id) are one unit; units
of one cluster, such as the tests that exercises come in, are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES
from allminds.core.blocks import LESSON, TENTHS
from allminds.core.errors import Error, nearest
from allminds.inference import Plays, Rule

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Instrument

Values = NDArray[np.float64]
NEEDED = ("exercise", "mind", "score")
OTHER = frozenset((
    "run", "exercise", "item", "cluster", "instrument", "settings", "seed", "index", "mind",
    "traits", "group", "slot", "team", "steps", "score", "learning", "status", "reason", "repeat",
    "test", "person", "kind", "seconds", "rt_ms", "correct", "practice", "reloaded",
    *LESSON, "trained_steps", *(f"tenth_{n}" for n in range(1, TENTHS + 1)),
))  # fmt: skip  # columns of the results that do not say how complex an exercise is


@dataclass(frozen=True)
class ScoreTable:
    """The scores of some minds on some exercises."""

    minds: tuple[str, ...]
    values: Values  # [exercise, mind, repeat]; failures count; NaN where there is none
    exercises: pd.DataFrame  # a row per exercise: its id, its complexity, and what else is known
    unit: NDArray[np.intp]  # by exercise, the number of its unit: its cluster, or the test it is in
    at_fault: NDArray[np.bool_]  # [exercise, mind, repeat]: the plays that failed
    given: NDArray[np.bool_]  # [exercise, mind, repeat]: the plays that there are

    @property
    def failed(self) -> tuple[int, ...]:
        """The number of plays that failed, by mind."""
        return tuple(int(n) for n in self.at_fault.sum(axis=(0, 2)))

    @cached_property
    def means(self) -> Values:
        """The mean over repeats, [exercise, mind]."""
        there = ~np.isnan(self.values)
        count = there.sum(axis=2)
        total = np.where(there, self.values, 0.0).sum(axis=2)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def common(self, minds: Sequence[int]) -> NDArray[np.bool_]:
        """Check for each exercise whether all of these minds have a score on it."""
        missing = np.isnan(self.means[:, list(minds)]).sum(axis=1)
        return np.asarray(missing == 0)

    def by_unit(self, minds: Sequence[int]) -> Values:
        """Average over the exercises of a unit that all of these minds have: [unit, mind]."""
        rows = self.common(minds)
        return unit_means(self.means[rows][:, list(minds)], self.unit[rows])


def unit_means(values: Values, unit: NDArray[np.intp]) -> Values:
    """Average values[exercise, …] over the exercises of each unit: [unit, …]."""
    _, codes = np.unique(unit, return_inverse=True)
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums / counts.reshape(-1, *[1] * (values.ndim - 1))


def plays_by_mind(frame: pd.DataFrame, rule: Rule, unit: str | None = None) -> dict[str, Plays]:
    """Collect the plays of every mind of a results table, in the order of its exercises.

    `unit` names a column of clusters, such as the tests that exercises come in.
    """
    import pandas as pd

    scores = scores_of(frame, unit, rule.low)
    about = scores.exercises
    items = pd.factorize(_of_exercise(frame, about, "item"))[0].astype(np.int64)
    stratum = np.zeros(len(about))
    if rule.strata and rule.strata in about and not rule.figure:
        stratum = about[rule.strata].to_numpy(float)
    found = {}
    for m, mind in enumerate(scores.minds):
        values, failed = scores.values[:, m], scores.at_fault[:, m]
        rows, repeats = np.nonzero(scores.given[:, m])
        xi = stratum[rows]
        if rule.figure:  # an adaptive test asks every mind for complexities of its own
            own = frame[frame["mind"].astype(str) == mind].drop_duplicates("exercise")
            if rule.strata:
                xi = own.sort_values("index")[rule.strata].to_numpy(float)
            rows = rows[np.argsort(about["index"].to_numpy()[rows], kind="stable")]
        found[mind] = Plays(
            items[rows], scores.unit[rows].astype(np.int64), xi, values[rows, repeats],
            failed[rows, repeats], np.full(len(rows), np.nan),
        )  # fmt: skip
    return found


def item_codes(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Assign a number to the item of every row: plays of the same item have the same."""
    import pandas as pd

    exercises = frame["exercise"].astype(str)
    if "item" not in frame:
        return pd.factorize(exercises)[0].astype(np.int64)
    known = exercises.map(frame["item"].groupby(exercises).first())
    return pd.factorize(known.astype(object).where(known.notna(), exercises))[0].astype(np.int64)


def rule_of(frame: pd.DataFrame, tool: Instrument | None) -> Rule:
    """Return the instrument's rule.

    For an unknown instrument it is the plain mean on a scale that holds all scores.
    """
    if tool is not None:
        return tool.rule()
    score = column(frame, "score").to_numpy(dtype=float, na_value=np.nan)
    low, high = float(np.nanmin(score, initial=0.0)), float(np.nanmax(score, initial=1.0))
    return Rule(low=-1.0 if low < 0 else 0.0, high=1.0 if high <= 1 else high)


def scores_of(
    frame: pd.DataFrame, unit: str | None = None, lowest: float | None = None
) -> ScoreTable:
    """Collect the scores in a results table; `unit` names the column of tests, if there is one.

    A failed play without a score of its own has `lowest`, that of the table by default.
    """
    import pandas as pd

    for name in NEEDED:
        column(frame, name)
    if frame.empty:
        raise Error("there are no results to compare: the table is empty")
    if lowest is None:
        lowest = rule_of(frame, None).low
    exercise, ids = pd.factorize(frame["exercise"].astype(str))
    mind, minds = pd.factorize(frame["mind"].astype(str))
    shape = (len(ids), len(minds), 1)
    place = exercise * len(minds) + mind
    if "repeat" in frame:
        repeat = (
            frame["repeat"].fillna(0).groupby(place).rank("dense").to_numpy().astype(np.intp) - 1
        )
        shape = (len(ids), len(minds), int(repeat.max()) + 1)
        place = place * shape[2] + repeat
    score = frame["score"].to_numpy(dtype=float, na_value=np.nan)
    status = np.full(len(frame), "ok", object)
    if "status" in frame:
        status = frame["status"].astype(str).to_numpy(object)
    fault = np.isin(status, FAILURES)
    score = np.where(fault & np.isnan(score), lowest, score)
    size = int(np.prod(shape))

    def summed(rows: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Values]:
        """Count the rows of each play, and sum their scores."""
        weights = np.where(rows, score, 0.0)
        count = np.bincount(place[rows], minlength=size)
        return count, np.asarray(np.bincount(place, weights, size), float)

    count, total = summed(np.ones(len(frame), bool))
    faults, lost = summed(fault)
    values = np.where(faults > 0, lost / np.maximum(faults, 1), total / np.maximum(count, 1))
    gone = np.bincount(place[~fault & (status != "ok")], minlength=size) > 0
    values[(count == 0) | (gone & (faults == 0))] = np.nan
    exercises = frame.drop_duplicates("exercise").reset_index(drop=True)
    return ScoreTable(
        minds=tuple(str(name) for name in minds),
        values=values.reshape(shape),
        exercises=exercises,
        unit=_units(frame, exercises, unit),
        at_fault=(faults > 0).reshape(shape),
        given=(count > 0).reshape(shape),
    )


def _units(frame: pd.DataFrame, exercises: pd.DataFrame, unit: str | None) -> NDArray[np.intp]:
    import pandas as pd

    if unit is None:
        name = "cluster" if "cluster" in frame else "item"
        return pd.factorize(_of_exercise(frame, exercises, name))[0].astype(np.intp)
    check_constant(frame, unit)
    codes, _ = pd.factorize(column(exercises, unit))
    if (codes < 0).any():
        missing = exercises["exercise"][codes < 0].iloc[0]
        raise Error(f"column '{unit}' is empty for exercise {missing}; it must name its test")
    return codes.astype(np.intp)


def _of_exercise(frame: pd.DataFrame, exercises: pd.DataFrame, name: str) -> pd.Series:
    """Return a column by exercise; where it is missing, the exercise itself."""
    ids = exercises["exercise"].astype(str)
    if name not in frame:
        return ids
    known = frame[name].groupby(frame["exercise"].astype(str)).first()
    found = ids.map(known)
    return found.astype(object).where(found.notna(), ids)


def check_constant(frame: pd.DataFrame, name: str) -> None:
    """Reject a column that differs between two plays of one exercise."""
    kinds = column(frame, name).groupby(frame["exercise"].astype(str)).nunique(dropna=False)
    if (kinds > 1).any():
        where = kinds.index[kinds > 1][0]
        raise Error(f"column '{name}' differs between the plays of exercise {where}")


def complexities(frame: pd.DataFrame) -> list[str]:
    """List the columns that say how complex an exercise is, as far as exercises differ in them."""
    import pandas as pd

    return [
        str(name)
        for name in frame.columns
        if name not in OTHER
        and pd.api.types.is_numeric_dtype(frame[name])
        and frame[name].nunique() > 1
    ]


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return a column by name; the error suggests the nearest name."""
    if name not in frame:
        hint = nearest(name, (str(column) for column in frame.columns))
        raise Error(f"the results have no column '{name}'; {hint}")
    return frame[name]
