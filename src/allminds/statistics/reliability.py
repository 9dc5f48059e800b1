"""The reliability of scores: three figures, never one.

- **Rel** = e^(-TE) of Insa-Cabrera and Hernández-Orallo (2015), where TE, the mean squared error
  of a mind's mean score, is bias² + σ²/n over n exercises, averaged over minds. It depends on the
  scale of rewards, and is near 1 for anything averaged over a few exercises.
- **√TE**, the standard error of measurement, in units of score.
- **Generalisability** Eρ² = σ²_p / (σ²_p + (σ²_pe + σ²_r/r)/n), from minds × exercises × repeats:
  how much of the variance in the mean scores of the minds measured is not chance; **dependability**
  Φ has σ²_e/n below as well, for minds that are each measured on exercises of their own.

Each has its own budget: the number of exercises at which it reaches a wanted value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allminds.core.errors import Error, nearest

Values = NDArray[np.float64]
Strata = NDArray[np.intp]  # [exercise]
BUDGETS = ("rel", "generalisability")
LEAST_SUBJECTS = 20  # of one population, for alpha
LARGEST_BUDGET = 10**12
MOST_GROUPS = 50  # of exercises, left out one after the other
ALIKE = "not estimable: some mind scored the same throughout"
_NIL = 1e-24  # of the mean squares: what is below is rounding
_FAR = 5000.0  # noncentralities beyond this are taken as normal


@dataclass(frozen=True)
class Components:
    """Variance components of scores: of minds, exercises, both together, and repeats."""

    minds: float  # σ²_p, over the minds measured: they are the population
    exercises: float  # σ²_e
    interaction: float  # σ²_pe; with a single repeat, σ²_r is in it
    repeats: float  # σ²_r, of one repeat
    repeated: float  # r, the (harmonic) mean number of repeats
    counts: tuple[int, int]  # minds and exercises

    @property
    def relative_error(self) -> float:
        """σ²_δ = σ²_pe + σ²_r/r: the error of one exercise when minds are compared on it."""
        return self.interaction + self.repeats / self.repeated

    def generalisability(self, exercises: int) -> float | None:
        """Compute Eρ² of a mean over so many exercises that all minds have in common."""
        return share(self.minds, self.relative_error / exercises)

    def dependability(self, exercises: int) -> float | None:
        """Compute Φ of a mean over so many exercises, whichever they are."""
        return share(self.minds, (self.relative_error + self.exercises) / exercises)


@dataclass(frozen=True)
class Reliability:
    """The three figures of some minds on common exercises; None for what cannot be estimated."""

    exercises: int  # or units, where exercises come several in one
    total_error: tuple[float, ...] | None  # TE by mind
    rel: float | None  # e^(-TE), TE averaged over minds
    stderr: tuple[float, ...] | None  # √TE by mind
    components: Components | None
    generalisability: float | None  # Eρ²
    interval: tuple[float, float] | None  # 95 %, of Eρ²
    dependability: float | None  # Φ
    why: str  # what is not estimable of Eρ², and why

    def budget(self, figure: str, wanted: float) -> int:
        """Count the exercises at which rel or generalisability reaches a wanted value."""
        if figure not in BUDGETS:
            raise Error(f"there is no budget for '{figure}'; {nearest(figure, BUDGETS)}")
        if figure == "rel" and self.total_error is not None:
            errors = self.total_error
            return exercises_for_rel(wanted, self.exercises * sum(errors) / len(errors))
        if figure == "generalisability" and self.components is not None:
            parts = self.components
            return exercises_for_generalisability(wanted, parts.minds, parts.relative_error)
        raise Error(f"there is no budget: {self.why or ALIKE}")


def unknown(why: str, exercises: int = 0) -> Reliability:
    """Build a result without any figure, with the reason."""
    return Reliability(exercises, None, None, None, None, None, None, None, why)


def counted_minds(
    minds: Sequence[str], traits: Mapping[str, str], ends: Collection[str | None] = ()
) -> tuple[list[int], str]:
    """Locate the minds that reliability is about, and write a sentence on those left out.

    Neither an instrument's floor and ceiling minds (`ends`) nor minds that see the future count:
    that they differ from all others says nothing of how well those others are told apart. `traits`
    has the text of each mind's traits.
    """
    out = [
        name.partition("(")[0] in ends or "sees the future" in traits.get(name, "")
        for name in minds
    ]
    left = [name for name, gone in zip(minds, out, strict=True) if gone]
    said = (
        f"Reliability leaves out {', '.join(left)}: floor, ceiling or clairvoyant." if left else ""
    )
    return [n for n, gone in enumerate(out) if not gone], said


def reliability(values: Values, unit: Strata | None = None) -> Reliability:
    """Estimate the three figures from values[exercise, mind, repeat], NaN where there is none.

    Only exercises that every mind has count. Where `unit` has the number of each exercise's unit
    (an item that came several times, the test of one person), the means over units are taken, and
    `exercises` counts units. The bias of a mean over exercises is taken as 0.
    """
    values = np.asarray(values, float)
    if values.shape[1] == 0:
        why = "not estimable: there is no mind besides floor, ceiling and clairvoyant ones"
        return unknown(why)
    there = (~np.isnan(values)).sum(axis=2).min(axis=1) > 0
    values = values[there]
    if unit is not None and len(np.unique(unit[there])) < len(values):
        values = _by_unit(_cell_means(values), unit[there])[:, :, None]
    exercises, minds, _ = values.shape
    if exercises < 2:
        why = "not estimable: fewer than two exercises in common"
        return unknown(why, exercises)
    errors = _errors(_cell_means(values))
    rel = None if errors is None else reliance(errors)
    stderr = None if errors is None else tuple(math.sqrt(te) for te in errors)
    if minds < 2:
        why = "not estimable: there is one mind"
        return Reliability(exercises, errors, rel, stderr, None, None, None, None, why)
    parts = components(values)
    value, interval = parts.generalisability(exercises), _by_both(values)
    why = ""
    if value is None:
        why = "not estimable: no score varies"
    elif interval is None:  # chance is nil in the sample, which says nothing of what it is
        value, why = None, "not estimable: minds differ alike in all exercises"
    elif interval[1] <= 0:
        interval, why = None, "no interval: minds differ less than chance alone makes them"
    phi = parts.dependability(exercises) if value is not None else None
    return Reliability(exercises, errors, rel, stderr, parts, value, interval, phi, why)


def _errors(cells: Values) -> tuple[float, ...] | None:
    """Compute TE by mind; None if a mind scored alike throughout, which shows no error of 0."""
    errors = cells.var(axis=0, ddof=1) / len(cells)
    return None if (np.ptp(cells, axis=0) <= 1e-12).any() else tuple(float(te) for te in errors)


def _by_unit(values: Values, unit: Strata) -> Values:
    """Average values[exercise, mind] over the exercises of each unit: [unit, mind]."""
    _, codes, counts = np.unique(unit, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, codes, values)
    return sums / counts[:, None]


def reliance(total_errors: Sequence[float]) -> float:
    """Compute Rel = e^(-TE), TE averaged over minds.

    After Insa-Cabrera and Hernández-Orallo (2015).
    """
    if not len(total_errors) or min(total_errors) < 0:
        raise Error("Rel needs the total error TE of one or more minds, 0 or more each")
    return math.exp(-sum(total_errors) / len(total_errors))


def components(values: Values, strata: Strata | None = None) -> Components:
    """Estimate the variance components of values[exercise, mind, repeat], by mean squares.

    Minds and exercises are crossed, and every cell has a repeat or more (NaN where there are fewer
    than elsewhere). An estimate below 0 is taken as 0. Where a score is the mean of the means over
    strata, `strata` has the stratum of each exercise, and exercises vary within strata alone.
    """
    there = ~np.isnan(values)
    count = there.sum(axis=2)
    exercises, minds = count.shape
    strata = _one_stratum(exercises) if strata is None else strata
    if minds < 2 or exercises <= len(np.unique(strata)) or count.min() < 1:
        raise Error("variance components need two or more minds, all on two or more exercises")
    cells = _cell_means(values)
    within = np.where(there, values - cells[:, :, None], 0.0)
    freedom = int((count - 1).sum())
    repeats = float((within**2).sum()) / freedom if freedom else 0.0
    repeated = float(1 / (1 / count).mean())
    of_minds, of_exercises, rest = _mean_squares(cells, strata)
    return Components(
        minds=max(0.0, (of_minds - rest) / _size(strata)) * (minds - 1) / minds,
        exercises=max(0.0, (of_exercises - rest) / minds),
        interaction=max(0.0, rest - repeats / repeated),
        repeats=repeats,
        repeated=repeated,
        counts=(minds, exercises),
    )


def _one_stratum(exercises: int) -> Strata:
    return np.zeros(exercises, np.intp)


def _size(strata: Strata) -> float:
    """Compute the size of an even spread over strata that says as much: S² / Σ 1/n_h."""
    _, counts = np.unique(strata, return_counts=True)
    return float(len(counts) ** 2 / (1 / counts).sum())


def _mean_squares(cells: Values, strata: Strata) -> tuple[float, float, float]:
    """Compute the mean squares of minds, of exercises and of both together, within strata.

    The scores are cells[exercise, mind].
    """
    exercises, minds = cells.shape
    middle, by_mind = _stratum_means(cells, strata)
    by_exercise = (cells - middle).mean(axis=1)
    rest = cells - middle - by_exercise[:, None]
    freedom = exercises - len(np.unique(strata))
    return (
        float(by_mind.var(ddof=1)) * _size(strata),
        float((by_exercise**2).sum()) * minds / freedom,
        float((rest**2).sum()) / (freedom * (minds - 1)),
    )


def _stratum_means(cells: Values, strata: Strata) -> tuple[Values, Values]:
    """Average by stratum [exercise, mind], and over the strata [mind]."""
    _, codes, counts = np.unique(strata, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), cells.shape[1]))
    np.add.at(sums, codes, cells)
    means = sums / counts[:, None]
    return means[codes], means.mean(axis=0)


def of_measured(
    values: Values, strata: Strata | None = None, ends: tuple[float, float] = (0.025, 0.975)
) -> tuple[float, float] | None:
    """Compute the interval of Eρ², 95 % unless asked, for the minds measured, which are no sample.

    The mean square of minds over that of the rest has a noncentral F distribution, whose
    noncentrality λ is the number of minds times Eρ²/(1 - Eρ²).
    """
    from scipy.special import fdtr, ncfdtrinc, ndtri

    exercises, minds, _ = values.shape
    strata = _one_stratum(exercises) if strata is None else strata
    of_minds, _, rest = _mean_squares(_cell_means(values), strata)
    if rest <= _NIL * (of_minds + rest):
        return None
    within = exercises - len(np.unique(strata))
    f, one, two = of_minds / rest, minds - 1, (minds - 1) * within
    tops = [1 - q for q in ends]
    if one * f > _FAR:  # where the inverse ends, λ is as good as normal
        reach = math.sqrt(4 * one * f + 2 * one + 2 * (one * f) ** 2 / two)
        found = [one * f - one + float(ndtri(q)) * reach for q in ends]
    else:
        found = [float(ncfdtrinc(one, two, q, f)) if fdtr(one, two, f) > q else 0.0 for q in tops]
    low, high = (end / (end + minds) for end in found)
    return low, high


def _by_both(values: Values) -> tuple[float, float] | None:
    """Compute the 95 % interval of Eρ² by the noncentral F, or by the jackknife if wider.

    F supposes that all scores vary alike. Those of right or wrong answers do not: near 0 and 1 they
    vary less, and F alone held Eρ² in .85 of studies where minds lay at .1, .3 and .9.
    """
    from scipy.special import stdtrit

    plain = of_measured(values)
    cells = _cell_means(values)
    exercises = len(cells)
    groups = np.arange(exercises) % min(exercises, MOST_GROUPS)
    count = int(groups.max()) + 1
    left = [_log_odds(cells[groups != g]) for g in range(count)] if exercises > 4 else []
    whole = _log_odds(cells)
    if plain is None or not left or not np.isfinite([whole, *left]).all():
        return plain
    reach = float(stdtrit(count - 1, 0.975)) * math.sqrt((count - 1) * float(np.var(left)))
    low, high = (1 / (1 + math.exp(-(whole + end))) for end in (-reach, reach))
    return min(plain[0], low), max(plain[1], high)


def _log_odds(cells: Values) -> float:
    """Compute ln Eρ²/(1 - Eρ²) of the mean over these exercises; NaN where minds are equal."""
    of_minds, _, rest = _mean_squares(cells, _one_stratum(len(cells)))
    if rest <= 0 or of_minds <= rest:
        return math.nan
    minds = cells.shape[1]
    return math.log((of_minds / rest - 1) * (minds - 1) / minds)


# ---------------------------------------------------------------- budgets


def exercises_for_rel(wanted: float, variance: float, bias: float = 0.0) -> int:
    """Find the least n with e^(-TE) >= wanted: n = σ²/(-ln Rel - bias²), σ² of one exercise."""
    _check_wanted(wanted)
    room = -math.log(wanted) - bias * bias
    if room <= 0:
        raise Error(
            f"Rel = {wanted:g} is out of reach with a bias of {bias:g}: however many exercises, "
            f"it stays below {math.exp(-bias * bias):.3g}"
        )
    return _whole(variance / room)


def exercises_for_generalisability(wanted: float, minds: float, error: float) -> int:
    """Find the least n with Eρ² >= wanted: n = σ²_δ ρ / (σ²_p (1 - ρ)).

    With σ²_δ + σ²_e as error it is the least n for Φ.
    """
    _check_wanted(wanted)
    if minds <= 0:
        raise Error("no number of exercises is enough: the minds do not differ beyond chance")
    return _whole(error * wanted / (minds * (1 - wanted)))


def _check_wanted(wanted: float) -> None:
    if not 0 < wanted < 1:
        raise Error(f"a wanted reliability lies between 0 and 1, such as 0.9, not {wanted:g}")


def _whole(exercises: float) -> int:
    if not exercises < LARGEST_BUDGET:
        raise Error(f"that would take more than {LARGEST_BUDGET:.0e} exercises")
    return max(1, math.ceil(exercises - 1e-9))


# ---------------------------------------------------------------- alpha


@dataclass(frozen=True)
class Alpha:
    """Cronbach's α, with the numbers of subjects and items it comes from."""

    value: float | None
    interval: tuple[float, float] | None  # 95 %
    subjects: int
    items: int
    why: str  # "not estimable", and why


def alpha(scores: Values) -> Alpha:
    """Compute Cronbach's α of scores[subject, item] of subjects from one population.

    It is not estimated from fewer than 20 subjects.
    """
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or np.isnan(scores).any():
        raise Error("alpha needs a table of subjects by items without gaps")
    subjects, items = scores.shape
    total = float(scores.sum(axis=1).var(ddof=1)) if subjects > 1 else 0.0
    why = ""
    if subjects < LEAST_SUBJECTS:
        why = f"{subjects} subjects, and {LEAST_SUBJECTS} of one population are the least"
    elif items < 2:
        why = "one item has no consistency with others"
    elif total == 0:
        why = "all subjects have the same score"
    if why:
        return Alpha(None, None, subjects, items, f"not estimable: {why}")
    of_items = float(scores.var(axis=0, ddof=1).sum())
    value = items / (items - 1) * (1 - of_items / total)
    return Alpha(value, _feldt(value, subjects, items), subjects, items, "")


def kr20(hits: Values) -> Alpha:
    """Compute Kuder and Richardson's formula 20.

    This is α where every answer is right (1) or wrong (0).
    """
    if not np.isin(hits, (0, 1)).all():
        raise Error("KR-20 is for answers that are right (1) or wrong (0); take alpha")
    return alpha(hits)


def _feldt(value: float, subjects: int, items: int) -> tuple[float, float]:
    """Compute Feldt's 95 % interval of α, the subjects being a sample of their population."""
    from scipy.special import fdtri

    one, two = subjects - 1, (subjects - 1) * (items - 1)
    low, high = (1 - (1 - value) * float(fdtri(one, two, q)) for q in (0.975, 0.025))
    return low, high


def _cell_means(values: Values) -> Values:
    there = ~np.isnan(values)
    means: Values = np.where(there, values, 0.0).sum(axis=2) / there.sum(axis=2)
    return means


def share(wanted: float, error: float) -> float | None:
    """Compute the share that is wanted of all variance; None if there is no variance."""
    return wanted / (wanted + error) if wanted + error > 0 else None
