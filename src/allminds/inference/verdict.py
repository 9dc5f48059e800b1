"""Verdicts on a difference: four words, the same wherever allminds prints them.

- **different**: p, corrected by Holm (1979) over all that was asked, is below .05.
- **equivalent**: the 90 % interval lies within ±δ (two one-sided tests), corrected likewise.
- **different, but smaller than δ**: both of them.
- **undecided**: everything else, and always if no unit differs.

p of paired hits is exact (all assignments of signs where at most twelve units differ, the sign
test otherwise). Of scores it is by Student's t, and also by all assignments of signs where at most
twelve units differ; where the sample cannot bear Student's t, by the betting evidence, since
assignments of signs say nothing of the mean of lopsided differences. A mind that failed more than
5 % of its exercises is never "equivalent".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from allminds.inference.intervals import (
    LEVEL,
    Evidence,
    Interval,
    Student,
    level_tails,
    mostly_alike,
    of_difference,
)
from allminds.inference.units import Units, Values, differing, standard_error, sums

Verdict = Literal["different", "equivalent", "different, but smaller than δ", "undecided"]
MARGIN = 0.05  # δ, in units of score
ALPHA = 0.05  # the error rate of a verdict, over all that was asked
MOST_FAILED = 0.05  # share of exercises that a mind may fail and still be ranked
LEVELS = "administrations"  # the note of a difference of levels
MOST_FLIPPED = 12  # differing units, up to which all assignments of signs are gone through


@dataclass(frozen=True)
class Difference:
    """The score of one mind minus that of another; None stands for what cannot be estimated."""

    first: str
    second: str
    paired: bool  # on the same units, or on other ones
    units: tuple[int, ...]  # of the pair, or of each if unpaired
    mean: float
    stderr: float | None
    interval: Interval | None  # 95 %
    interval90: Interval | None  # within ±δ: equivalent
    p: float | None  # of no difference, two-sided
    p_same: float | None  # of a difference of δ or more, either way
    p_holm: float | None = None
    p_same_holm: float | None = None
    margin: float = MARGIN
    differs: bool = True  # whether any unit does
    failed: bool = False  # whether one of them failed more than 5 % of its exercises
    note: str = ""  # how it was compared, if not as usual

    @property
    def pair(self) -> str:
        """The names of both minds, as a difference."""
        return f"{self.first} − {self.second}"

    @property
    def verdict(self) -> Verdict:
        """The verdict that the corrected p-values support."""
        if not self.differs or self.p_holm is None or self.p_same_holm is None:
            return "undecided"
        same = self.p_same_holm < ALPHA and not self.failed
        if self.p_holm < ALPHA:
            return "different, but smaller than δ" if same else "different"
        return "equivalent" if same else "undecided"

    @property
    def sign(self) -> int:
        """1 if the first mind is better, -1 if the second is, 0 if neither is "different"."""
        if not self.verdict.startswith("different"):
            return 0
        return 1 if self.mean > 0 else -1

    @property
    def gained(self) -> str:
        """The verdict on a group (first) against its members (second): gains, loses or other."""
        word = {1: "gains", -1: "loses", 0: self.verdict}[self.sign]
        return f"{word}, but less than {self.margin:g}" if "smaller" in self.verdict else word

    @property
    def at_odds(self) -> bool:
        """True if the interval leaves out 0 without a difference, or holds 0 beside one."""
        if self.interval is None or not self.differs:
            return False
        low, high = self.interval
        return (low <= 0 <= high) == bool(self.sign)

    @property
    def words(self) -> str:
        """The verdict with its reason, as part of a sentence."""
        if not self.differs:
            return "undecided: they did the same on every unit"
        if self.interval90 is None and min(self.units) > 1:
            return "undecided: most units are alike, which does not show how much others differ"
        if self.interval90 is None:
            return "undecided: there are too few units to tell"
        low, high = self.interval90
        where = f"90 % interval [{low:.3f}, {high:.3f}]".replace("-", "−")
        delta = f"±{self.margin:g}"
        if self.verdict == "different":
            return f"different; p = {self.p_holm:.2g}, corrected for all that was asked"
        if self.verdict == "undecided":
            why = ", and more than 5 % of the exercises failed" if self.failed else ""
            inside = -self.margin < low and high < self.margin
            lies = f"lies within {delta}, but not surely enough for all that was asked"
            return f"undecided; {where} {lies if inside else f'is not within {delta}'}{why}"
        word = self.verdict.replace("δ", f"{self.margin:g}")
        return f"{word}; {where} lies within {delta}"


def odds_explained(found: Iterable[Difference]) -> list[str]:
    """Say why verdicts and intervals may seem to contradict each other, where some do."""
    odd = [bool(one.sign) for one in found if one.at_odds]
    said = []
    if False in odd:
        said.append(
            "An interval is of its pair alone, while p and the verdict are corrected for all "
            "pairs; so an interval may leave out 0 where the verdict is not “different”."
        )
    if True in odd:
        said.append(
            "p and the interval are computed by two methods, each valid by itself; so an interval "
            "may hold 0 where the verdict is “different”."
        )
    return said


def paired(
    units: Units, hits: bool, names: tuple[str, str], margin: float = MARGIN, failed: bool = False
) -> Difference:
    """Compare two minds on common units: `units.score` is the first's score minus the second's."""
    n, mean, differs = units.clusters, units.mean, differing(units)
    evidence = of_difference(units, hits) if n > 1 else None
    stderr = standard_error(units)
    p = None if evidence is None else _p_of_none(units, evidence, differs, hits)
    made = _made(names, True, (n,), mean, stderr, evidence, p, margin, failed)
    return replace(made, differs=differs > 0)


def of_levels(
    units: Units, names: tuple[str, str], margin: float = MARGIN, failed: bool = False
) -> Difference:
    """Compare levels, each the mean of many plays, by Student's t from two administrations on."""
    n, mean = len(units.score), units.mean
    spread = float(units.score.std(ddof=1)) / n**0.5
    evidence = None if mostly_alike(units.score) else Student(mean, spread, n - 1)
    p = None if evidence is None else min(1.0, 2 * min(evidence.tails(0.0)))
    made = _made(names, True, (n,), mean, spread, evidence, p, margin, failed)
    return replace(made, differs=bool(units.score.any()), note=LEVELS)


def apart(
    first: tuple[float, int, Evidence | None], second: tuple[float, int, Evidence | None],
    names: tuple[str, str], margin: float = MARGIN, failed: bool = False,
) -> Difference:  # fmt: skip
    """Compare minds that had different units; each is given as (mean, units, evidence)."""
    (one, n, here), (other, m, there) = first, second
    evidence = None if here is None or there is None else Apart(here, there, one, other)
    p = None
    if evidence is not None:
        p = min(1.0, 2 * min(evidence.tails(0.0)))
    stderr = None if evidence is None else evidence.stderr
    made = _made(names, False, (n, m), one - other, stderr, evidence, p, margin, failed)
    return replace(made, note="on exercises of their own each")


@dataclass(frozen=True)
class Apart:
    """The difference of two independent means: Welch's t, or from both intervals (MOVER)."""

    first: Evidence
    second: Evidence
    one: float
    other: float

    @property
    def stderr(self) -> float | None:
        """√(se² + se²), where both have a standard error."""
        if isinstance(self.first, Student) and isinstance(self.second, Student):
            return math.hypot(self.first.stderr, self.second.stderr)
        return None

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute Welch's interval if both are Student's, else Zou and Donner's (2008)."""
        mean, a, b = self.one - self.other, self.first, self.second
        if isinstance(a, Student) and isinstance(b, Student):
            return self._welch(a, b).interval(level)
        (low, high), (under, over) = a.interval(level), b.interval(level)
        down, up = (
            math.hypot(self.one - low, over - self.other),
            math.hypot(high - self.one, self.other - under),
        )
        return mean - down, mean + up

    def tails(self, value: float) -> tuple[float, float]:
        """Compute one-sided p-values of a true difference at most, and at least, `value`."""
        a, b = self.first, self.second
        if isinstance(a, Student) and isinstance(b, Student):
            return self._welch(a, b).tails(value)
        return level_tails(self.interval, self.one - self.other, value)

    def _welch(self, a: Student, b: Student) -> Student:
        stderr = math.hypot(a.stderr, b.stderr)
        parts = a.stderr**4 / a.freedom + b.stderr**4 / b.freedom
        width = a.high - b.low, b.high - a.low
        return Student(self.one - self.other, stderr, stderr**4 / parts, -width[1], width[0])


def corrected(found: Sequence[Difference]) -> list[Difference]:
    """Apply Holm's correction over all differences, for both kinds of claim."""
    places = [n for n, one in enumerate(found) if one.p is not None]
    both = {
        name: dict(zip(places, holm([getattr(found[n], name) or 0.0 for n in places]), strict=True))
        for name in ("p", "p_same")
    }
    return [
        replace(one, p_holm=both["p"].get(n), p_same_holm=both["p_same"].get(n))
        for n, one in enumerate(found)
    ]


def holm(values: Sequence[float]) -> list[float]:
    """Correct by Holm's step-down rule: the k-th smallest of m p-values times m - k + 1."""
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values, float)[order] * np.arange(len(values), 0, -1)
    made = np.empty(len(values))
    made[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(values) else steps
    return [float(p) for p in made]


# ---------------------------------------------------------------- p-values


def _p_of_none(units: Units, evidence: Evidence, differs: int, hits: bool) -> float:
    """Compute the two-sided p of no difference, which is exact for hits."""
    if differs == 0:
        return 1.0
    pulls, p = _pulls(units), min(1.0, 2 * min(evidence.tails(0.0)))
    if differs <= MOST_FLIPPED and len(pulls):
        return _flipped(pulls) if hits else max(p, _flipped(pulls))
    if isinstance(evidence, Student) or not hits:
        return p
    return _sign_test(int((pulls > 0).sum()), len(pulls))


def _pulls(units: Units) -> Values:
    """Compute what each cluster adds to the mean difference, without those that add nothing."""
    found = sums(units.cluster, units.weights * units.score)
    return found[np.abs(found) > 1e-15]


def _flipped(pulls: Values) -> float:
    """Compute the share of assignments of signs whose sum is as far from 0 as the observed."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(pulls))))
    sums = np.abs(signs @ pulls)
    return float((sums >= abs(pulls.sum()) * (1 - 1e-12)).mean())


def _sign_test(above: int, n: int) -> float:
    """Test exactly, two-sided, that as many of n are above as below (binomial)."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(above, n - above), n, 0.5)))


def _made(
    names: tuple[str, str], pairs: bool, units: tuple[int, ...], mean: float,
    stderr: float | None, evidence: Evidence | None, p: float | None, margin: float, failed: bool,
) -> Difference:  # fmt: skip
    interval = interval90 = same = None
    if evidence is not None:
        interval, interval90 = evidence.interval(), evidence.interval(0.9)
        same = max(evidence.tails(-margin)[0], evidence.tails(margin)[1])
    return Difference(
        names[0], names[1], pairs, units, mean, stderr, interval, interval90, p, same, p, same,
        margin, failed=failed,
    )  # fmt: skip
