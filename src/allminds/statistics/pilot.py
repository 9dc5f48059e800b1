"""Pilot studies: the variance of scores on one instrument, for the planning of a study."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from allminds.contracts import STATUSES, Instrument
from allminds.core.blocks import Block
from allminds.core.errors import Error
from allminds.core.table import scored
from allminds.inference import Rule, Tally
from allminds.statistics.comparison.table import ScoreTable, item_codes, scores_of
from allminds.statistics.reliability import LARGEST_BUDGET, Strata, Values

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-12  # what deviates less from a mean does not deviate
TRUST = 0.5  # of a variance's degrees of freedom, as a pilot sees too little of long tails
LEAST_FREEDOM = 10  # within strata, to plan for the mean of strata means


@dataclass(frozen=True)
class Spread:
    """How much a mean would differ from one sample of exercises to the next."""

    variance: float  # σ² of one exercise: the standard error of n is √(σ²/n)
    freedom: float  # how well it is known: χ²'s degrees of freedom; 0 if nobody can say
    exercises: int  # in the pilot, failures left out
    strata: int = 1  # whose means take away degrees of freedom
    unit: int = 1  # exercises that come together, as an administration
    lost: float = 0.0  # the share that fails
    most: float = math.inf  # what the variance of one exercise cannot exceed
    tails: float = 1.0  # degrees of freedom that a deviation is worth, fewer where tails are long
    trust: float = TRUST  # 1 for scores of two values, whose tails are known
    least: int = 0  # exercises, below which some stratum would have fewer than two
    alike: float = 1.0  # exercises a cluster: of those whose errors are alike, or repeats

    @classmethod
    def of_residuals(
        cls, residuals: Values, freedom: float, *, strata: int = 1, unit: int = 1, lost: float = 0.0
    ) -> Spread:
        """Estimate the spread from scores less the means of their strata."""
        varies = float(np.abs(residuals).max()) > ROUNDING
        variance = float((residuals**2).sum()) / freedom * unit if varies else 0.0
        known = known_by(residuals, freedom)
        tails = known / freedom if freedom else 1.0
        trust = 1.0 if len(np.unique(residuals.round(9))) < 3 else TRUST
        exercises = len(residuals) * unit
        return cls(variance, known, exercises, strata, unit, lost, tails=tails, trust=trust)

    def with_variance(self, variance: float) -> Spread:
        """Copy the spread with another variance."""
        return replace(self, variance=variance)

    def half_width(self, exercises: int, assurance: float | None = None) -> float:
        """Compute half the length of the 95 % interval that so many exercises would give, by t.

        Without `assurance` this is as if σ² were the pilot's, and the sample's too. With it, it is
        the length that is not exceeded with this chance: the variance of the sample to come over
        that of the pilot has an F distribution. (Of its degrees of freedom half are trusted: with
        all of them, the length was kept in .65 to .78 of studies with long tails, where .8 was
        asked for.)
        """
        from scipy.special import fdtri, stdtrit

        scored = exercises * (1 - self.lost)
        freedom = scored // self.unit - self.strata
        if self.alike > 1:  # as many as there are clusters, but one
            freedom = scored // self.alike - 1
        if freedom < 1 or (self.strata > 1 and scored < 2 * self.strata) or scored < self.least:
            return math.inf
        variance = self.variance
        if assurance is not None and self.freedom > 0:
            one, two = freedom * self.tails * self.trust, self.freedom * self.trust
            variance *= float(fdtri(max(1.0, one), max(1.0, two), assurance))
        elif assurance is not None:
            variance = self._alike_at_most(assurance)
        return float(stdtrit(freedom, 0.975)) * math.sqrt(variance / scored)

    def _alike_at_most(self, assurance: float) -> float:
        """Compute the variance if equal answers were a coincidence of probability 1 - assurance."""
        other = 1 - (1 - assurance) ** (1 / self.exercises)
        return float(max(self.variance, min(other * (1 - other), self.most)))

    def exercises_for(self, half_width: float, assurance: float | None = None) -> int:
        """Find the least number of exercises, in whole units, whose interval is no longer."""
        low, high = 0, 2
        while self.half_width(high * self.unit, assurance) > half_width:
            low, high = high, 2 * high
            if high * self.unit > LARGEST_BUDGET:
                raise Error(f"that would take more than {LARGEST_BUDGET:.0e} exercises")
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.half_width(middle * self.unit, assurance) <= half_width
            low, high = (low, middle) if enough else (middle, high)
        return high * self.unit

    def range(self) -> tuple[float, float]:
        """Compute the 95 % interval of the variance, by χ² with `freedom` degrees of freedom."""
        from scipy.special import chdtri

        if self.freedom <= 0:
            return 0.0, self.most
        low, high = (self.variance * self.freedom / chdtri(self.freedom, q) for q in (0.025, 0.975))
        return float(low), float(min(high, max(self.most, self.variance)))


def known_by(residuals: Values, freedom: float) -> float:
    """Compute the degrees of freedom of a variance, fewer where tails are long.

    Var(s²)/σ⁴ is 2/f for normal residuals; in general it is that of their squares over n.
    """
    squares = residuals**2
    if len(squares) < 2 or not squares.mean():
        return freedom
    relative = float(squares.var(ddof=1) / squares.mean() ** 2) / len(squares)
    return max(1.0, min(freedom, 2 / relative)) if relative else freedom


@dataclass(frozen=True)
class Pilot:
    """Some minds on some exercises of one instrument, and how much their scores vary."""

    instrument: str
    minds: tuple[str, ...]
    exercises: int  # that each mind was given, failures included
    unit: int  # exercises in an administration of an adaptive test, else 1
    units: Values  # [unit, mind]: the score of each; NaN where there is none
    strata: Strata  # [unit]
    spreads: dict[str, Spread | str]  # by mind; or the sentence that says why there is none
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: pd.DataFrame, tool: Instrument | None, name: str = "") -> Pilot:
        """Build a pilot from a results table; without `tool`, scores are plain means."""
        frame = scored(frame)
        if "index" in frame:
            frame = frame.sort_values("index", kind="stable", ignore_index=True)
        scores = scores_of(frame)
        whole = _Whole(scores, tool)
        unit = tool.sitting if tool is not None and tool.adaptive else 1
        own = {mind: scores_of(frame[frame["mind"] == mind]) for mind in scores.minds}
        units = scores.means
        if unit > 1:
            units = _administrations([own[mind] for mind in scores.minds], whole, unit)
        spreads = {mind: _spread(of, whole, unit) for mind, of in own.items()}
        return cls(
            instrument=name or (tool.name if tool else "imported"),
            minds=scores.minds,
            exercises=len(scores.exercises),
            unit=unit,
            units=units,
            strata=whole.strata(scores) if unit == 1 else np.zeros(len(units), np.intp),
            spreads=spreads,
            notes=tuple(_notes(tool, unit, scores)),
        )

    def common(self) -> tuple[Values, Strata]:
        """Select the units that all minds have, and their strata."""
        there = ~np.isnan(self.units).any(axis=1)
        return self.units[there], self.strata[there]

    def whole(self, units: float) -> int | None:
        """Convert units to exercises, rounded up; None if that is more than the largest budget."""
        if not units * self.unit < LARGEST_BUDGET:
            return None
        return max(1, math.ceil(units - 1e-9)) * self.unit


@dataclass(frozen=True)
class _Whole:
    """All scores of the pilot, and their instrument."""

    scores: ScoreTable
    tool: Instrument | None

    @property
    def hits(self) -> bool:
        """True if every answer is right (1) or wrong (0)."""
        known = self.scores.means[~np.isnan(self.scores.means)]
        return bool(np.isin(known, (0, 1)).all())

    def tally(self) -> Tally:
        """Make the tally by which the instrument computes one figure from scores."""
        rule = Rule() if self.tool is None else self.tool.rule()
        return Tally(replace(rule, scored=(0,)))  # plays are one value here

    def strata(self, scores: ScoreTable) -> Strata:
        """Return the number of each exercise's stratum."""
        column = self.tool.strata if self.tool is not None and not self.tool.adaptive else None
        if column is None or column not in scores.exercises:
            return np.zeros(len(scores.exercises), np.intp)
        values = scores.exercises[column].to_numpy(float)
        return np.unique(values, return_inverse=True)[1].astype(np.intp)


def _spread(own: ScoreTable, whole: _Whole, unit: int) -> Spread | str:
    """Estimate how much the score of one mind varies, or say why that is impossible."""
    values = own.means[:, 0]
    there = ~np.isnan(values)
    if not there.any():
        return "none of its exercises was played, so the pilot cannot say"
    if unit > 1:
        return _adaptive_spread(own, whole, unit)
    if there.sum() < 2:
        return "one exercise says nothing of how much scores vary; give two or more"
    lost = float(1 - there.mean())
    values, strata = values[there], whole.strata(own)[there]
    if np.ptp(values) == 0:
        return replace(_alike(values, whole.hits, lost), least=_least(strata))
    tally = whole.tally()
    tally.add(_block(own))
    stderr = tally.estimate().stderr
    residuals, freedom, groups = within(values, strata)
    if not freedom:
        return (
            f"its {len(values)} exercises are each of another complexity, so that the pilot may "
            f"lack the hardest; give it more than {len(values)}"
        )
    if freedom < LEAST_FREEDOM and groups > 1:  # too few in each stratum: as if there were none
        residuals, freedom, groups = within(values, np.zeros(len(values), np.intp))
    spread = Spread.of_residuals(residuals, freedom, strata=groups, lost=lost)
    spread = replace(spread, least=_least(strata))
    if stderr is not None and (groups == 1 or np.bincount(strata).min() > 1):
        spread = spread.with_variance(stderr**2 * len(values))
    clusters = len(np.unique(own.unit[there]))
    known = spread.freedom if clusters == len(values) else min(spread.freedom, clusters - 1.0)
    return replace(spread, alike=len(values) / clusters, freedom=known)


def _least(strata: Strata) -> int:
    """Count two exercises for every stratum, if there are several."""
    groups = len(np.unique(strata))
    return 2 * groups if groups > 1 else 0


def within(values: Values, strata: Strata) -> tuple[Values, float, int]:
    """Compute deviations from the means of strata, their degrees of freedom, and S."""
    _, codes, counts = np.unique(strata, return_inverse=True, return_counts=True)
    means = np.bincount(codes, values) / counts
    several = counts[codes] > 1
    freedom = float((counts - 1).sum())
    return (values - means[codes])[several], freedom, len(counts)


def _alike(values: Values, hits: bool, lost: float) -> Spread:
    """Build the spread of equal scores: hits still leave a chance of the other answer."""
    count = len(values)
    if not hits:
        return Spread(0.0, 0.0, count, lost=lost, most=0.0)
    share = 1 / (count + 2)  # (x + 1)/(n + 2)
    most = 3.84 / (count + 3.84)  # Wilson's other end
    return Spread(share * (1 - share), 0.0, count, lost=lost, most=most * (1 - most))


def _adaptive_spread(own: ScoreTable, whole: _Whole, unit: int) -> Spread | str:
    """Estimate the spread from one administration to the next; failures count in them."""
    figures = _administrations([own], whole, unit)[:, 0]
    if len(figures) > 1:
        return Spread.of_residuals(figures - figures.mean(), len(figures) - 1.0, unit=unit)
    return (
        f"{len(figures)} whole administrations of {unit} exercises say nothing of how much they "
        f"vary; give {2 * unit} exercises or more"
    )


def _administrations(minds: list[ScoreTable], whole: _Whole, unit: int) -> Values:
    """Compute the figure of each whole administration: [administration, mind]."""
    count = min(len(own.exercises) for own in minds) // unit
    made = np.full((count, len(minds)), np.nan)
    for n, own in enumerate(minds):
        block = _block(own)
        for a in range(count):
            tally = whole.tally()
            tally.add(_rows(block, slice(a * unit, (a + 1) * unit)))
            score = tally.estimate().score
            made[a, n] = np.nan if score is None else score
    return made


def _block(own: ScoreTable) -> Block:
    """Convert the scores of one mind to a block, which a tally accepts."""
    score = own.means[:, :1]
    rows = len(score)
    numbers = own.exercises.select_dtypes("number")
    return Block(
        first=0,
        complexity={str(name): numbers[name].to_numpy(float) for name in numbers},
        score=score,
        learning=np.full((rows, 1), np.nan),
        status=np.where(np.isnan(score), STATUSES.index("missing"), 0).astype(np.int8),
        steps=np.ones(rows, np.int32),
        curve=np.zeros(0),
        actions=np.zeros((0, 0, 1), np.int16),
        item=item_codes(own.exercises),
        cluster=own.unit.astype(np.int64),
    )


def _rows(block: Block, rows: slice) -> Block:
    return replace(
        block,
        complexity={name: values[rows] for name, values in block.complexity.items()},
        score=block.score[rows],
        learning=block.learning[rows],
        status=block.status[rows],
        steps=block.steps[rows],
        item=None if block.item is None else block.item[rows],
        cluster=None if block.cluster is None else block.cluster[rows],
    )


def _notes(tool: Instrument | None, unit: int, scores: ScoreTable) -> list[str]:
    """Write the notes that a reader of the numbers must know."""
    notes = []
    if tool is not None and tool.length is not None:
        notes.append(
            f"This form has {tool.length} different exercises; beyond that they come again, which "
            "tells nothing new about a mind that always answers the same."
        )
    if unit > 1:
        notes.append(f"Exercises come in administrations of {unit}.")
    for mind, failed in zip(scores.minds, scores.failed, strict=True):
        if failed:
            share = failed / len(scores.exercises)
            notes.append(f"{mind} failed {share:.1%} of its exercises; the numbers allow for it.")
    return notes
