"""Scores side by side: what every mind made of every exercise, ready to be compared.

All slots of an exercise are one value, and so are all repeats of it (an epoch of a language model,
another seed): the exercise is the unit. Where exercises come in tests that one person sat, the
tests are the units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.errors import Error, nearest

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]
NEEDED = ("exercise", "mind", "score")
OTHER = frozenset((
    "run", "exercise", "instrument", "settings", "seed", "index", "mind", "traits", "group", "slot",
    "team", "steps", "score", "learning", "status", "reason", "repeat", "test", "person", "kind",
    "seconds",
))  # fmt: skip  # columns of the results that do not say how complex an exercise is


@dataclass(frozen=True)
class Scores:
    """The scores of some minds on some exercises."""

    minds: tuple[str, ...]
    values: Values  # [exercise, mind, repeat]; NaN where there is none, or where it failed
    exercises: pd.DataFrame  # a row per exercise: its id, its complexity, and what else is known
    unit: NDArray[np.intp]  # by exercise, the number of its unit: itself, or the test it is in
    failed: tuple[int, ...]  # by mind, the plays that failed

    @cached_property
    def means(self) -> Values:
        """[exercise, mind]: the mean over repeats."""
        there = ~np.isnan(self.values)
        count = there.sum(axis=2)
        total = np.where(there, self.values, 0.0).sum(axis=2)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def common(self, minds: Sequence[int]) -> NDArray[np.bool_]:
        """By exercise, whether all of these minds have a score on it."""
        missing = np.isnan(self.means[:, list(minds)]).sum(axis=1)
        return np.asarray(missing == 0)

    def by_unit(self, minds: Sequence[int]) -> Values:
        """[unit, mind]: means over the exercises of a unit that all of these minds have."""
        rows = self.common(minds)
        return unit_means(self.means[rows][:, list(minds)], self.unit[rows])


def unit_means(values: Values, unit: NDArray[np.intp]) -> Values:
    """[unit, …]: the means of values[exercise, …] over the exercises of each unit there is."""
    _, codes = np.unique(unit, return_inverse=True)
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums / counts.reshape(-1, *[1] * (values.ndim - 1))


def scores_of(frame: pd.DataFrame, unit: str | None = None) -> Scores:
    """The scores in a results table; `unit` names the column of tests, if exercises come in tests.

    Plays whose status is not ok have no score. A play of which one slot failed has none either.
    """
    import pandas as pd

    for name in NEEDED:
        column(frame, name)
    if frame.empty:
        raise Error("there are no results to compare: the table is empty")
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
    score = frame["score"].to_numpy(dtype=float, na_value=np.nan).copy()
    if "status" in frame:
        score[(frame["status"].astype(str) != "ok").to_numpy()] = np.nan
    size = int(np.prod(shape))
    count = np.bincount(place, minlength=size)
    total = np.bincount(place, weights=score, minlength=size)
    values = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(shape)
    lost = (count > 0).reshape(shape) & np.isnan(values)
    exercises = frame.drop_duplicates("exercise").reset_index(drop=True)
    return Scores(
        minds=tuple(str(name) for name in minds),
        values=values,
        exercises=exercises,
        unit=_units(frame, exercises, unit),
        failed=tuple(int(n) for n in lost.sum(axis=(0, 2))),
    )


def _units(frame: pd.DataFrame, exercises: pd.DataFrame, unit: str | None) -> NDArray[np.intp]:
    import pandas as pd

    if unit is None:
        return np.arange(len(exercises))
    check_constant(frame, unit)
    codes, _ = pd.factorize(column(exercises, unit))
    if (codes < 0).any():
        missing = exercises["exercise"][codes < 0].iloc[0]
        raise Error(f"column '{unit}' is empty for exercise {missing}; it must name its test")
    return codes.astype(np.intp)


def check_constant(frame: pd.DataFrame, name: str) -> None:
    """A column that describes exercises may not differ between two plays of one exercise."""
    kinds = column(frame, name).groupby(frame["exercise"].astype(str)).nunique(dropna=False)
    if (kinds > 1).any():
        where = kinds.index[kinds > 1][0]
        raise Error(f"column '{name}' differs between the plays of exercise {where}")


def complexities(frame: pd.DataFrame) -> list[str]:
    """The columns that say how complex an exercise is, as far as exercises differ in them."""
    import pandas as pd

    return [
        str(name)
        for name in frame.columns
        if name not in OTHER
        and pd.api.types.is_numeric_dtype(frame[name])
        and frame[name].nunique() > 1
    ]


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column by name, or what would be right."""
    if name not in frame:
        hint = nearest(name, (str(column) for column in frame.columns))
        raise Error(f"the results have no column '{name}'; {hint}")
    return frame[name]
