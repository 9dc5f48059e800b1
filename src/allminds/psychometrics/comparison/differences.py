"""Differences between minds, pair by pair, and what may be said of them.

Never "equal" from a test that found nothing: a pair has *no difference* only if the 90 % interval
of its difference lies within ±δ, the margin below which a difference does not matter (two one-sided
tests at 5 %); it is *different* if p, corrected by Holm over all pairs, is below .05; anything else
is *undecided*. A difference that is sure but within the margin is no difference that matters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from allminds.errors import Error
from allminds.psychometrics.comparison.effects import Size, paired_dz, paired_g, unpaired_g
from allminds.psychometrics.comparison.table import Scores, Values, unit_means

Verdict = Literal["different", "no difference", "undecided"]
MARGIN = 0.05  # δ, in units of score
LEVEL = 0.05  # of a test


@dataclass(frozen=True)
class Difference:
    """The mean score of one mind minus that of another; None is what cannot be estimated."""

    first: str
    second: str
    paired: bool  # on common exercises, or on other ones
    units: tuple[int, ...]  # exercises, or tests: of the pair, or of each mind if unpaired
    mean: float
    stderr: float | None
    interval: tuple[float, float] | None  # 95 %, by t over units
    interval90: tuple[float, float] | None  # what the verdict is made from
    freedom: float | None
    p: float | None  # that there is no difference, two-sided
    p_holm: float | None  # the same, corrected for the number of pairs
    d_z: Size | None
    g: Size | None
    margin: float = MARGIN

    @property
    def verdict(self) -> Verdict:
        """What may be said."""
        if self.interval90 is None or self.p_holm is None:
            return "undecided"
        if -self.margin < self.interval90[0] and self.interval90[1] < self.margin:
            return "no difference"
        return "different" if self.p_holm < LEVEL else "undecided"


def paired(
    first: Values, second: Values, names: tuple[str, str] = ("first", "second"),
    margin: float = MARGIN,
) -> Difference:  # fmt: skip
    """The difference on common units: first[i] and second[i] are scores on the same unit i."""
    _check(first, second, margin)
    if len(first) != len(second):
        raise Error(f"{len(first)} and {len(second)} scores are no pairs")
    differences = first - second
    count = len(differences)
    stderr = None
    if count > 1:  # differences that are all the same have none, whatever rounding says
        same = np.ptp(differences) == 0
        stderr = 0.0 if same else float(differences.std(ddof=1) / np.sqrt(count))
    return _made(
        names, True, (count,), float(differences.mean()), stderr, count - 1, margin,
        paired_dz(first, second), paired_g(first, second),
    )  # fmt: skip


def unpaired(
    first: Values, second: Values, names: tuple[str, str] = ("first", "second"),
    margin: float = MARGIN,
) -> Difference:  # fmt: skip
    """The difference of minds that had other units, by Welch's t: variances may be unequal."""
    _check(first, second, margin)
    counts = (len(first), len(second))
    mean = float(first.mean() - second.mean())
    if min(counts) < 2:
        return _made(names, False, counts, mean, None, 0, margin, None, None)
    a, b = (
        0.0 if np.ptp(values) == 0 else float(values.var(ddof=1)) / len(values)
        for values in (first, second)
    )
    freedom = float(sum(counts) - 2)
    if a + b > 0:
        freedom = (a + b) ** 2 / (a**2 / (counts[0] - 1) + b**2 / (counts[1] - 1))
    return _made(
        names, False, counts, mean, float(np.sqrt(a + b)), freedom, margin, None,
        unpaired_g(first, second),
    )  # fmt: skip


def differences(
    scores: Scores, margin: float = MARGIN, allow_unpaired: bool = False
) -> list[Difference]:
    """The differences of all pairs of minds, with Holm's correction over all of them.

    A pair without a common exercise is an error, unless unpaired comparisons are allowed.
    """
    found = []
    for a, b in itertools.combinations(range(len(scores.minds)), 2):
        names = (scores.minds[a], scores.minds[b])
        if scores.common([a, b]).any():
            units = scores.by_unit([a, b])
            found.append(paired(units[:, 0], units[:, 1], names, margin))
        elif allow_unpaired:
            one, other = (_own(scores, mind) for mind in (a, b))
            found.append(unpaired(one, other, names, margin))
        else:
            raise Error(
                f"{names[0]} and {names[1]} have no common exercise; give them the same ones "
                "(the same test, settings and seed), or ask for --unpaired"
            )
    return corrected(found)


def _own(scores: Scores, mind: int) -> Values:
    rows = scores.common([mind])
    if not rows.any():
        raise Error(f"{scores.minds[mind]} has no score on any exercise")
    return unit_means(scores.means[rows, mind], scores.unit[rows])


def corrected(found: Sequence[Difference]) -> list[Difference]:
    """The same differences with Holm's correction over those that have a p."""
    places = [n for n, one in enumerate(found) if one.p is not None]
    values = dict(zip(places, holm([found[n].p or 0.0 for n in places]), strict=True))
    return [replace(one, p_holm=values.get(n)) for n, one in enumerate(found)]


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the k-th smallest of m p-values times m - k + 1, in order."""
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values, float)[order] * np.arange(len(values), 0, -1)
    made = np.empty(len(values))
    made[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(values) else steps
    return [float(p) for p in made]


def _check(first: Values, second: Values, margin: float) -> None:
    if not len(first) or not len(second):
        raise Error("there is nothing to compare: no scores")
    if np.isnan(first).any() or np.isnan(second).any():
        raise Error("a score is missing: leave out exercises that failed")
    if not 0 < margin < np.inf:
        raise Error(f"the margin must be above 0, not {margin:g}")


def _made(
    names: tuple[str, str], pairs: bool, units: tuple[int, ...], mean: float,
    stderr: float | None, freedom: float, margin: float, d_z: Size | None, g: Size | None,
) -> Difference:  # fmt: skip
    from scipy.special import stdtr, stdtrit

    interval = interval90 = p = None
    if stderr is not None:
        reach, reach90 = (float(stdtrit(freedom, q)) * stderr for q in (0.975, 0.95))
        interval = (mean - reach, mean + reach)
        interval90 = (mean - reach90, mean + reach90)
        if stderr > 0:
            p = float(2 * stdtr(freedom, -abs(mean) / stderr))
        else:
            p = 1.0 if mean == 0 else 0.0
    return Difference(
        first=names[0], second=names[1], paired=pairs, units=units, mean=mean, stderr=stderr,
        interval=interval, interval90=interval90, freedom=None if stderr is None else freedom,
        p=p, p_holm=p, d_z=d_z, g=g, margin=margin,
    )  # fmt: skip
