"""People in a comparison: a sample of people, not a mind, crossed with the items they took.

All persons of a table are one side, `people`. Their mean has the wider of two intervals, over
persons and over items; their difference from a program is that of `crossed`, and so its verdict
speaks of people like these on items like these. An adaptive test gives everybody exercises of their
own: there a person has a level, as a program has one for every administration, and people are
compared by levels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import FAILURES
from allminds.inference import Difference, Estimate, Plays, Rule, estimate
from allminds.inference.estimates import over_figures
from allminds.inference.intervals import Student, level_tails
from allminds.inference.units import Numbers, Values
from allminds.statistics.comparison.crossed import Crossed, crossed
from allminds.statistics.comparison.logistic import logistic
from allminds.statistics.comparison.spreads import FEW
from allminds.statistics.comparison.table import item_codes

if TYPE_CHECKING:
    import pandas as pd

PEOPLE = "people"  # what they are called as one side of a comparison
MOST_LOGITS = 12.0  # a wider interval of log odds says nothing: right and wrong are separated


def pooled(frame: pd.DataFrame) -> pd.DataFrame:
    """Pool all persons of a table into one side; return it as it is where there are none."""
    if "kind" not in frame or not (frame["kind"] == "person").any():
        return frame
    import pandas as pd

    persons = (frame["kind"] == "person").to_numpy()
    who = _names(frame).where(persons, "")
    number = pd.Series(pd.factorize(who)[0], frame.index)
    before = frame["repeat"].fillna(0) if "repeat" in frame else 0
    several = (before + number * 1_000_000) if np.ndim(before) else number
    return frame.assign(
        mind=frame["mind"].astype(str).where(~persons, PEOPLE),
        person=who,
        repeat=np.where(persons, several, before),
    )


def sides(frame: pd.DataFrame) -> set[str]:
    """List the names that can be compared: minds, and `people` if there are persons."""
    return {*map(str, frame["mind"].unique()), *([PEOPLE] if has_people(frame) else [])}


def _names(frame: pd.DataFrame) -> pd.Series[str]:
    """Name every person by the label; by the mind as well where two minds have one label."""
    minds = frame["mind"].astype(str)
    if "person" not in frame:
        return minds
    labels = frame["person"].fillna("").astype(str)
    twice = minds.groupby(labels).transform("nunique") > 1
    return labels.where(~twice, labels + " of " + minds).where(labels != "", minds)


def has_people(frame: pd.DataFrame) -> bool:
    """Check whether the table has persons, which `pooled` makes one side."""
    return "kind" in frame and bool((frame["kind"] == "person").any())


def estimate_people(frame: pd.DataFrame, rule: Rule) -> Estimate:
    """Estimate the score of people, with the wider of the intervals over persons and items."""
    rows = frame[frame["mind"].astype(str) == PEOPLE]
    if rule.figure is not None:
        return _level_of_people(rows, rule)
    plays = _plays(rows, rule)
    item, person = plays.item, _codes(rows["person"])
    each = person * (int(item.max(initial=0)) + 1) + item
    over_persons = estimate(replace(plays, item=each, cluster=person), rule)
    over_items = estimate(plays, rule)
    ends = [one.ci95 for one in (over_persons, over_items)]
    if ends[0] is None or ends[1] is None:
        return over_persons
    wider = over_persons if _width(ends[0]) >= _width(ends[1]) else over_items
    return over_persons.with_interval(wider)


def person_scores(frame: pd.DataFrame, rule: Rule) -> dict[str, float]:
    """Compute the score of every person, or the level if the test is adaptive."""
    rows = frame[frame["mind"].astype(str) == PEOPLE]
    found: dict[str, float] = {}
    for person, own in rows.groupby("person", sort=False):
        if rule.figure is not None:
            found[str(person)] = float(_levels(own, rule)[0].mean())
        else:
            units = _plays(own, rule).units(rule)
            found[str(person)] = np.nan if units is None else units.mean
    return found


def _plays(rows: pd.DataFrame, rule: Rule) -> Plays:
    """Collect the plays of some people, each item as a cluster of its own."""
    score, failed = _scores(rows, rule)
    item, stratum = item_codes(rows), np.zeros(len(rows))
    if rule.strata and rule.strata in rows:
        stratum = rows[rule.strata].to_numpy(float)
    return Plays(item, item, stratum, score, failed, np.full(len(rows), np.nan))


def _level_of_people(rows: pd.DataFrame, rule: Rule) -> Estimate:
    """Estimate the mean level of people on an adaptive test; a person is one unit."""
    levels, _, person = _levels(rows, rule)
    each = np.bincount(_numbered(person), levels) / np.bincount(_numbered(person))
    error = over_figures(each)
    mean = float(each.mean())
    return Estimate(
        score=mean,
        stderr=None if error is None else error[0],
        ci95=None if error is None else Student(mean, *error).interval(),
        episodes=len(rows),
        units=len(each),
        clusters=len(each),
        failed=int(_scores(rows, rule)[1].sum()),
    )


def people_difference(
    frame: pd.DataFrame, pair: tuple[str, str], rule: Rule, margin: float
) -> tuple[Difference, list[str]]:
    """Estimate the difference of people and a program, and write the notes that go with it."""
    minds = frame["mind"].astype(str)
    rows = frame[minds.isin(pair)]
    score, failed = _scores(rows, rule)
    names = rows["mind"].astype(str).to_numpy()
    who, person = names.tolist(), rows["person"].tolist()
    items = [str(code) for code in item_codes(rows)]
    if rule.figure is not None:
        found = crossed(*_levels(rows, rule), None, *pair)
    else:
        stratum = rows[rule.strata].to_numpy(float) if rule.strata in rows else None
        found = crossed(
            score, who, person, items, *pair, low=rule.low, high=rule.high, stratum=stratum,
            weighted=rule.weighted,
        )  # fmt: skip
    often = any(failed[names == name].mean() > 0.05 for name in pair)
    notes = [f"{pair[0]} − {pair[1]}: {said}" for said in found.trouble]
    if rule.figure is not None:
        notes += _short(rows, rule)
    known = score[~np.isnan(score)]
    if rule.figure is None and np.isin(known, (0.0, 1.0)).all():
        beside = logistic(score, who, person, items, *pair)
        if beside.interval is not None and _width(beside.interval) < MOST_LOGITS:
            low, high = beside.interval
            notes.append(
                f"{pair[0]} − {pair[1]} in log odds, by a logistic crossed model that stands "
                f"beside: {beside.estimate:.2f} [{low:.2f}, {high:.2f}]."
            )
        if beside.trouble:
            notes.append(f"{pair[0]} − {pair[1]}, log odds: {beside.trouble}")
    return _difference(found, pair, margin, bool(often), bool(np.ptp(known) > 0)), notes


def _difference(
    found: Crossed, pair: tuple[str, str], margin: float, failed: bool, differs: bool
) -> Difference:
    """Convert a crossed comparison to a `Difference`, which has the verdict."""
    p, same = found.p, None
    if p is not None and found.p_exact is not None and min(max(found.people), found.items) < FEW:
        p = max(p, found.p_exact)
    if found.estimate is not None and found.interval is not None:
        low, high = (
            level_tails(lambda level: found.at(level) or (-np.inf, np.inf), found.estimate, end)
            for end in (-margin, margin)
        )
        same = max(low[0], high[1])
    units = (max(found.people), found.items)
    return Difference(
        *pair, bool(found.items), units, found.estimate or 0.0, found.stderr, found.interval,
        found.interval90, p, same, p, same, margin, differs, failed,
        "people × items" if found.items else "levels of people",
    )  # fmt: skip


def _levels(rows: pd.DataFrame, rule: Rule) -> tuple[Values, list[str], list[str]]:
    """Compute the level of every administration of an adaptive test: its mind, and its person."""
    score, failed = _scores(rows, rule)
    rows = rows.assign(mind=rows["mind"].astype(str), score=score, failed=failed)
    levels: list[float] = []
    minds: list[str] = []
    persons: list[str] = []
    for (mind, person), own in rows.groupby(["mind", "person"], sort=False):
        own = own.sort_values("index")
        places = own["index"].to_numpy(np.int64)
        nothing = np.full(len(own), np.nan)
        plays = Plays(
            places, places, own[str(rule.strata)].to_numpy(float), own["score"].to_numpy(float),
            own["failed"].to_numpy(bool), nothing,
        )  # fmt: skip
        found = plays.figures(rule).tolist()
        levels += found
        minds += [str(mind)] * len(found)
        persons += [str(person)] * len(found)
    return np.array(levels), minds, persons


def _short(rows: pd.DataFrame, rule: Rule) -> list[str]:
    """Say that people had a part of an administration only, if so: the levels are then unlike."""
    people = rows[rows["mind"].astype(str) == PEOPLE]
    fewest = int(people.groupby("person")["exercise"].nunique().min())
    if fewest >= rule.sitting:
        return []
    return [
        f"An administration has {rule.sitting:,} exercises, and some people had {fewest:,}: their "
        "levels may not be like those of programs, which had more."
    ]


def _numbered(values: list[str]) -> Numbers:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _scores(rows: pd.DataFrame, rule: Rule) -> tuple[Values, NDArray[np.bool_]]:
    """Return the scores of plays, failures counted, and which of them failed."""
    score = rows["score"].to_numpy(dtype=float, na_value=np.nan)
    status = rows["status"].astype(str).to_numpy(object) if "status" in rows else np.array(["ok"])
    failed = np.broadcast_to(np.isin(status, FAILURES), score.shape)
    return np.where(failed & np.isnan(score), rule.low, score), failed


def _codes(values: pd.Series) -> Numbers:
    import pandas as pd

    return pd.factorize(values.astype(str))[0].astype(np.int64)


def _width(ends: tuple[float, float]) -> float:
    return ends[1] - ends[0]
