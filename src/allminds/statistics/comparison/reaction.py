"""Reaction times of people: quantiles by person, their mean over people, and ratios by a model.

A person's quantiles are taken on the log scale. The person is the unit of what is said of a group:
the geometric mean of the persons' medians, with Student's interval over persons, which there is
from eight persons on; it speaks of people like these on these items.

Ratios are from a crossed mixed model, log time ~ who + test + wrong + complexity + (1 | person) +
(1 | item), fitted to the mean log time of every person on every item. A term that varies within
persons has a slope by person as well, and one that varies within items a slope by item: without
them its error would count rows instead of people (Barr, Levy, Scheepers and Tily 2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.inference import plain_interval
from allminds.inference.intervals import Interval
from allminds.statistics.comparison.mixed import (
    EDGE,
    Codes,
    Contrast,
    LinearMixed,
    Values,
    reach_of,
    separable,
)
from allminds.statistics.comparison.people import has_people, pooled
from allminds.statistics.comparison.table import complexities, item_codes

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
RIGHT = {"all": None, "right": 1.0, "wrong": 0.0}  # the answers that are shown apart
PRACTICE, FAILED, OPEN = "of practice", "in exercises that failed", "in exercises still open"
RELOADED, NO_TIME = "after the page was loaded again", "without a time above 0"


@dataclass(frozen=True)
class PersonTimes:
    """Quantiles of one person's times, in milliseconds; None where the times are too few."""

    person: str
    answers: str  # all, right or wrong
    choices: int
    quantiles: tuple[float | None, ...]  # at `QUANTILES`


@dataclass(frozen=True)
class GroupTimes:
    """Geometric means over persons of their quantiles, each with its 95 % interval."""

    answers: str
    people: int
    choices: int
    quantiles: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]  # over persons; None with fewer than eight


@dataclass(frozen=True)
class Ratio:
    """How many times as long a choice takes, by one term of the model."""

    term: str
    ratio: float
    interval: Interval  # 95 %
    df: float
    p: float


@dataclass(frozen=True)
class ReactionTimes:
    """What the times of people's choices say; `notes` tell what was left out, and why."""

    people: int
    items: int
    choices: int
    left_out: dict[str, int]
    groups: tuple[GroupTimes, ...]
    persons: tuple[PersonTimes, ...]
    ratios: tuple[Ratio, ...]
    notes: tuple[str, ...]


def reaction_times(
    frame: pd.DataFrame, choices: pd.DataFrame | None = None, complexity: str | None = None
) -> ReactionTimes | None:
    """Summarise the reaction times of the people in a results table; None if there are none.

    Parameters
    ----------
    frame
        The results of people, a row a play, with the column `rt_ms` unless `choices` has it.
    choices
        The choices of people, a row each, as an export of a study has them: `person`, `exercise`,
        `rt_ms`, and where known `correct`, `practice`, `reloaded`, `test`, `source`.
    complexity
        The column of `frame` whose effect is estimated; the first complexity by default.
    """
    rows = _timed(frame, choices)
    if rows is None:
        return None
    rows, left = _kept(rows)
    if rows.empty:
        return ReactionTimes(0, 0, 0, left, (), (), (), _left_out(left))
    found = [(answers, _by_person(rows, answers, code)) for answers, code in RIGHT.items()]
    apart = [one for one in found if one[1]] if rows["correct"].notna().any() else found[:1]
    ratios, notes = _ratios(rows, complexity or next(iter(complexities(frame)), None))
    return ReactionTimes(
        people=rows["person"].nunique(),
        items=rows["item"].nunique(),
        choices=len(rows),
        left_out=left,
        groups=tuple(_group(answers, of) for answers, of in apart),
        persons=tuple(one for _, of in apart for one in of),
        ratios=tuple(ratios),
        notes=(*_left_out(left), *notes),
    )


# ---------------------------------------------------------------- the times that count


def _timed(frame: pd.DataFrame, choices: pd.DataFrame | None) -> pd.DataFrame | None:
    """Build a row for every choice of a person: from a table of choices, or from the plays."""
    if not has_people(frame):
        return None
    plays = pooled(frame)
    plays = plays.assign(label=frame.get("person", frame["mind"]), item=item_codes(frame))
    plays = plays[frame["kind"] == "person"]
    if choices is None:
        if "rt_ms" not in frame or plays["rt_ms"].isna().all():
            return None
        return _answered(plays)
    keys = [name for name in ("source", "exercise") if name in plays and name in choices]
    plays = plays.drop(columns=[n for n in ("rt_ms", "correct", "test", "steps") if n in plays])
    rows = choices.rename(columns={"person": "label"})
    again = [name for name in rows if name in plays and name not in (*keys, "label")]
    rows = rows.drop(columns=again).merge(plays, "left", on=["label", *keys])
    given = [name for name in ("source", "test") if name in rows]
    if given:  # tests of which no exercise is in these results are of other instruments
        here = rows.groupby(given, dropna=False)["item"].transform("count") > 0
        rows = rows[here]
    return None if rows["item"].isna().all() else rows.reset_index(drop=True)


def _answered(plays: pd.DataFrame) -> pd.DataFrame:
    """Take a score of 1 for right and 0 for wrong, where there are no others."""
    score = plays["score"].to_numpy(dtype=float, na_value=np.nan)
    if "correct" in plays or not np.isin(score[~np.isnan(score)], (0.0, 1.0)).all():
        return plays.reset_index(drop=True)
    return plays.assign(correct=score).reset_index(drop=True)


def _kept(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Leave out what is not the time of a choice that counts, and say how many of each kind."""
    import pandas as pd

    time = pd.to_numeric(rows["rt_ms"], errors="coerce").to_numpy(float)
    status = rows["status"].fillna("ok").astype(str) if "status" in rows else "ok"

    def true(name: str) -> NDArray[np.bool_]:
        if name not in rows:
            return np.zeros(len(rows), bool)
        return np.asarray(pd.to_numeric(rows[name], errors="coerce").fillna(0) > 0)

    reasons = {
        PRACTICE: true("practice"),
        OPEN: rows["item"].isna().to_numpy(),
        FAILED: np.broadcast_to(np.asarray(status != "ok"), len(rows)),
        RELOADED: true("reloaded"),
        NO_TIME: ~(np.isfinite(time) & (time > 0)),
    }
    kept, left = np.ones(len(rows), bool), {}
    for reason, out in reasons.items():
        left[reason] = int((kept & out).sum())
        kept &= ~out
    right = pd.to_numeric(rows["correct"], errors="coerce") if "correct" in rows else np.nan
    rows = rows.assign(log=np.log(np.where(kept, time, 1.0)), correct=right)
    return rows[kept].reset_index(drop=True), {why: count for why, count in left.items() if count}


def _left_out(left: dict[str, int]) -> tuple[str, ...]:
    if not left:
        return ()
    return (f"Times left out: {', '.join(f'{n:,} {why}' for why, n in left.items())}.",)


# ---------------------------------------------------------------- quantiles


def _by_person(rows: pd.DataFrame, answers: str, code: float | None) -> list[PersonTimes]:
    """Compute the quantiles of every person, over all answers or those that are right or wrong."""
    chosen = rows if code is None else rows[rows["correct"] == code]
    return [
        PersonTimes(str(person), answers, len(times), tuple(_quantiles(times.to_numpy())))
        for person, times in chosen.groupby("person", sort=True)["log"]
    ]


def _quantiles(logs: Values) -> Iterator[float | None]:
    """Yield the quantiles; one beyond the outermost of n times cannot be estimated."""
    for q, found in zip(QUANTILES, np.exp(np.quantile(logs, QUANTILES)), strict=True):
        enough = len(logs) * min(q, 1 - q) >= 1 or q == 0.5
        yield float(found) if enough else None


def _group(answers: str, persons: Sequence[PersonTimes]) -> GroupTimes:
    made = [_over_persons([one.quantiles[k] for one in persons]) for k in range(len(QUANTILES))]
    return GroupTimes(
        answers, len(persons), sum(one.choices for one in persons),
        tuple(mean for mean, _ in made), tuple(interval for _, interval in made),
    )  # fmt: skip


def _over_persons(values: Sequence[float | None]) -> tuple[float | None, Interval | None]:
    """Compute the geometric mean of one quantile of all persons; None if some have none."""
    known = [one for one in values if one is not None]
    if len(known) < len(values):
        return None, None
    logs = np.log(known)
    mean, n = float(logs.mean()), len(logs)
    found = plain_interval(mean, float(logs.std(ddof=1)) / n**0.5 if n > 1 else 0.0, n)
    return math.exp(mean), None if found is None else (math.exp(found[0]), math.exp(found[1]))


# ---------------------------------------------------------------- the model


@dataclass(frozen=True)
class _Term:
    name: str
    column: Values


def _ratios(rows: pd.DataFrame, complexity: str | None) -> tuple[list[Ratio], list[str]]:
    """Fit the crossed model; where that is not possible, say why in a sentence."""
    import pandas as pd

    by = [name for name in ("person", "item", "source", "test") if name in rows]
    columns = [n for n in ("log", "correct", complexity) if n is not None and n in rows]
    cells = rows.groupby(by, dropna=False)[columns].mean().reset_index()
    person, item = (pd.factorize(cells[name])[0].astype(np.intp) for name in ("person", "item"))
    for codes, what in ((person, "person is not a sample of people"),
                        (item, "item is not a sample of items")):  # fmt: skip
        if codes.max() == 0:
            return [], [f"No ratios of times: one {what}."]
    terms = list(_terms(cells, complexity))
    terms, lost = _estimable(terms, len(cells))
    notes = [
        f"The effect of {one.name} on times cannot be told from that of others." for one in lost
    ]
    if not terms or np.ptp(cells["log"]) < 1e-12:
        why = "nothing that times could depend on varies" if not terms else "all times are alike"
        return [], [f"No ratios of times: {why}.", *notes]
    found = fit(cells["log"].to_numpy(float), terms, {"person": person, "item": item})
    if found is None:
        return [], ["No ratios of times: there are too few for the model.", *notes]
    return found, notes


def _terms(cells: pd.DataFrame, complexity: str | None) -> Iterator[_Term]:
    """Yield the fixed effects: the source of people, the test, wrong answers, the complexity."""
    for name in ("source", "test"):
        levels = sorted(cells[name].dropna().unique()) if name in cells else []
        for level in levels[1:]:
            label = f"{name} {_level(level)} against {_level(levels[0])}"
            yield _Term(label, (cells[name] == level).to_numpy(float))
    if cells["correct"].notna().all():
        yield _Term("wrong against right", 1 - cells["correct"].to_numpy(float))
    if complexity in cells and cells[complexity].notna().all():
        yield _Term(f"{complexity}, one more", cells[complexity].to_numpy(float))


def _level(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _estimable(terms: Sequence[_Term], rows: int) -> tuple[list[_Term], list[_Term]]:
    """Keep the terms that vary and are not made of those before them, and return the others."""
    kept: list[_Term] = []
    lost: list[_Term] = []
    for one in terms:
        if np.ptp(one.column) == 0:
            continue
        columns = [np.ones(rows), *(term.column for term in (*kept, one))]
        full = np.linalg.matrix_rank(np.column_stack(columns)) == len(columns)
        (kept if full and len(columns) + 1 < rows else lost).append(one)
    return kept, lost


def fit(log: Values, terms: Sequence[_Term], groups: dict[str, Codes]) -> list[Ratio] | None:
    """Estimate the ratio of every term; None if nothing is left over to judge by."""
    columns = [term.column - term.column.mean() for term in terms]
    effects: list[tuple[str, Codes, Values]] = []  # the term that an effect is about, or ""
    ones = np.ones(len(log))
    kept = separable(groups)
    for name, codes in kept.items():
        effects.append((name, codes, ones))
        effects += [
            (f"{name} {n}", codes, column)
            for n, column in enumerate(columns)
            if _within(column, codes)
        ]
    design = np.column_stack([ones, *columns])
    fitted = LinearMixed(log, design, [e[1] for e in effects], [e[2] for e in effects])
    if fitted.exact:
        return None
    edges = {
        name: codes.max()
        for (name, codes, _), part in zip(effects, fitted.components, strict=True)
        if part < EDGE * fitted.residual
    }
    made = []
    for n, (term, column) in enumerate(zip(terms, columns, strict=True)):
        own = [f"{name} {n}" if _within(column, codes) else name for name, codes in kept.items()]
        most = min((float(edges[name]) for name in own if name in edges), default=math.inf)
        found = fitted.contrast(np.eye(len(terms) + 1)[n + 1])
        found = Contrast(found.estimate, found.stderr, max(1.0, min(found.df, most)))
        reach = reach_of(found.stderr, found.df, 0.95)
        ends = math.exp(found.estimate - reach), math.exp(found.estimate + reach)
        made.append(Ratio(term.name, math.exp(found.estimate), ends, found.df, found.p))
    return made


def _within(column: Values, codes: Codes) -> bool:
    """Check whether a column varies within some level of a factor."""
    counts = np.bincount(codes)
    means = np.bincount(codes, column) / counts
    return bool(np.abs(column - means[codes]).max() > 1e-12)
