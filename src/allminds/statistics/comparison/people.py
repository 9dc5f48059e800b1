"""People in a comparison: a sample of people, not a mind, crossed with the items they took.

All persons of a table are one side, `people`. Their mean has the wider of two intervals, over
persons and over items; their difference from a program is that of `crossed`, and so its verdict
speaks of people like these on items like these. A logistic crossed model of hits stands beside it.
An adaptive test gives everybody exercises of their own: there a person has a level, as a program
has one for every administration, and people are compared by levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allminds.contracts import FAILURES
from allminds.core.errors import Error
from allminds.inference import Difference, Estimate, Plays, Rule, estimate
from allminds.inference.estimates import over_figures
from allminds.inference.intervals import Student, level_tails
from allminds.inference.units import Numbers, Values
from allminds.statistics.comparison.crossed import Crossed, crossed
from allminds.statistics.comparison.mixed import Codes, differences
from allminds.statistics.comparison.spreads import FEW, name_of, numbers_of
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


def included(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Leave out participants whom the rule of their study excludes; say in a sentence how many.

    The rule was written into the study before the first of them came; `excluded` has the reasons.
    """
    if "excluded" not in frame or not has_people(frame):
        return frame, ""
    why = frame["excluded"].fillna("").astype(str)
    person, out = frame["kind"] == "person", why != ""
    gone = _names(frame[person & out]).nunique()
    if not gone:
        return frame, ""
    reasons = ", ".join(sorted({word for words in why[person & out] for word in words.split()}))
    kept = frame[~(person & out)].reset_index(drop=True)
    all_of = _names(frame[person]).nunique()
    return kept, f"{gone} of {all_of} participants are left out by their study's rule ({reasons})"


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
    """Compute the figure of every administration or course, with its mind and its person."""
    score, failed = _scores(rows, rule)
    rows = rows.assign(mind=rows["mind"].astype(str), score=score, failed=failed)
    levels: list[float] = []
    minds: list[str] = []
    persons: list[str] = []
    for (mind, person), own in rows.groupby(["mind", "person"], sort=False):
        own = own.sort_values("index")
        places = own["index"].to_numpy(np.int64)
        nothing = np.full(len(own), np.nan)
        asked = nothing if rule.strata is None else own[rule.strata].to_numpy(float)
        plays = Plays(
            places, places, asked, own["score"].to_numpy(float), own["failed"].to_numpy(bool),
            nothing,
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


# ---------------------------------------------------------------- the logistic model of hits


@dataclass(frozen=True)
class Logistic:
    """The log odds ratio of `first` against `second`; None where it is not estimable."""

    estimate: float | None
    stderr: float | None
    interval: tuple[float, float] | None  # 95 %, Wald
    p: float | None
    person: float | None  # variances, on the logit scale
    item: float | None
    trouble: str = ""


def logistic(
    hit: ArrayLike,
    who: Sequence[object],
    person: Sequence[object] | None,
    item: Sequence[object],
    first: str,
    second: str,
) -> Logistic:
    """Fit logit P(hit) = who + (1 | person) + (1 | item) by Laplace's approximation.

    This is as lme4's glmer with nAGQ = 1, with standard errors from the Hessian of the deviance. It
    stands beside `crossed`, which decides: where all are right or all wrong there is no log odds
    ratio, and with few people Wald's interval is too narrow.
    """
    from scipy.special import ndtr, ndtri

    y, kinds = np.asarray(hit, float), np.array([str(one) for one in who])
    used = ~np.isnan(y) & np.isin(kinds, (first, second))
    y, is_first = y[used], (kinds[used] == first).astype(float)
    if not np.isin(y, (0, 1)).all():
        raise Error("a logistic model is for hits: every score must be 0 or 1")
    for name, rows in ((first, is_first == 1), (second, is_first == 0)):
        if not rows.any():
            raise Error(f"{name} has no score, so that there is nothing to compare")
        if np.ptp(y[rows]) == 0:
            which = "right" if y[rows][0] else "wrong"
            return Logistic(None, None, None, None, None, None,
                            f"Not estimable (separation): {name} is always {which}.")  # fmt: skip
    people = [None] * len(used) if person is None else [name_of(one) for one in person]
    factors = [numbers_of(people, used), numbers_of([name_of(one) for one in item], used)]
    named = [k for k, codes in enumerate(factors) if len(np.unique(codes[codes >= 0])) > 1]
    design = np.column_stack([np.ones(len(y)), is_first])
    theta, estimate, stderr = LaplaceLogit(y, design, [factors[k] for k in named]).fitted()
    variances = {k: float(value) ** 2 for k, value in zip(named, theta, strict=True)}
    parts = variances.get(0), variances.get(1)
    if stderr is None:
        return Logistic(None, None, None, None, *parts,
                        "Not estimable: the likelihood has no clear maximum.")  # fmt: skip
    reach = float(ndtri(0.975)) * stderr
    p = float(2 * ndtr(-abs(estimate) / stderr))
    return Logistic(estimate, stderr, (estimate - reach, estimate + reach), p, *parts)


class LaplaceLogit:
    """The -2 log-likelihood of a logistic mixed model in (θ, β), random effects at their mode."""

    def __init__(self, y: Values, design: Values, factors: Sequence[Codes]) -> None:
        self.y, self.X, self.factors = y, design, list(factors)
        self.sizes = [int(codes.max()) + 1 for codes in factors]
        self.ends = np.cumsum([0, *self.sizes])
        self.u = np.zeros(self.ends[-1])

    def _spread(self, theta: Values, u: Values) -> Values:
        """Compute Λ u by row, summed over factors."""
        eta = np.zeros(len(self.y))
        for k, codes in enumerate(self.factors):
            there = codes >= 0
            eta[there] += theta[k] * u[self.ends[k] : self.ends[k + 1]][codes[there]]
        return eta

    def _gather(self, theta: Values, values: Values) -> Values:
        """Compute ΛZ' values, by level."""
        return np.concatenate([
            theta[k] * np.bincount(codes[codes >= 0], values[codes >= 0], self.sizes[k])
            for k, codes in enumerate(self.factors)
        ])  # fmt: skip

    def _matrix(self, theta: Values, weight: Values) -> Values:
        """Compute I + ΛZ'WZΛ, whose determinant is Laplace's correction."""
        made = np.eye(self.ends[-1])
        for k, one in enumerate(self.factors):
            for m, other in enumerate(self.factors):
                there = (one >= 0) & (other >= 0)
                flat = one[there] * self.sizes[m] + other[there]
                table = np.bincount(flat, weight[there], self.sizes[k] * self.sizes[m])
                block = theta[k] * theta[m] * table.reshape(self.sizes[k], self.sizes[m])
                made[self.ends[k] : self.ends[k + 1], self.ends[m] : self.ends[m + 1]] += block
        return made

    def deviance(self, values: Values) -> float:
        """Find the mode of the random effects by Newton's steps, and approximate around it."""
        from scipy.special import expit

        count = len(self.factors)
        theta, fixed = values[:count], self.X @ values[count:]

        def penalised(u: Values) -> tuple[float, Values]:
            eta = fixed + self._spread(theta, u)
            log = np.logaddexp(0, eta) - self.y * eta
            return 2 * float(log.sum()) + float(u @ u), eta

        u = self.u
        least, eta = penalised(u)
        for _ in range(100):
            mu = expit(eta)
            M = self._matrix(theta, mu * (1 - mu))
            step = np.linalg.solve(M, self._gather(theta, self.y - mu) - u)
            size = 1.0
            value, eta = penalised(u + step)
            while value > least + 1e-9 and size > 1e-6:
                size /= 2
                value, eta = penalised(u + size * step)
            u, gain, least = u + size * step, least - value, value
            if abs(gain) < 1e-11 * (1 + abs(least)):
                break
        self.u = u
        mu = expit(eta)
        _, log = np.linalg.slogdet(self._matrix(theta, mu * (1 - mu)))
        return least + float(log)

    def fitted(self) -> tuple[Values, float, float | None]:
        """Search (θ, β); return θ, the last effect and its standard error.

        The error is from the Hessian of the deviance; None if the maximum is not a clear one.
        """
        from scipy.optimize import minimize

        count = len(self.factors)
        shares = [float(self.y[self.X[:, -1] == k].mean()) for k in (0, 1)]
        odds = [math.log(one / (1 - one)) for one in shares]
        at = np.array([*[0.7] * count, odds[0], odds[1] - odds[0]])
        bounds = [(0.0, 50.0)] * count + [(None, None)] * 2
        for _ in range(1 + count):
            at = minimize(
                self.deviance, at, method="L-BFGS-B", jac="3-point", bounds=bounds,
                options={"ftol": 1e-13, "gtol": 1e-6},
            ).x  # fmt: skip
            zeros = [k for k in range(count) if at[k] < 1e-3]
            near = [np.where(np.arange(len(at)) == k, 0.05, at) for k in zeros]
            better = [one for one in near if self.deviance(one) < self.deviance(at) - 1e-9]
            if not better:  # the slope at 0 is always 0, so that a search can get stuck there
                break
            at = better[0]
        hessian = differences(lambda point: np.array([self.deviance(point)]), at)[2][..., 0]
        kept = [k for k in range(len(at)) if k not in zeros]
        values, vectors = np.linalg.eigh(hessian[np.ix_(kept, kept)])
        clear = values[0] > 1e-6 and abs(at[-1]) < 15
        stderr = math.sqrt(2 * float((vectors[-1] ** 2 / values).sum())) if clear else None
        return at[:count], float(at[-1]), stderr
