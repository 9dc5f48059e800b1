"""Prediction beyond the data: the accuracy at difficulties above all that a mind was tried at.

No curve is known to be right there, so several are stacked. Each rival's parameters have a
posterior on a grid, given one mind's hits. Its weight is how well it predicted that mind's own
*upper* levels from the lower ones, for every place to cut. The prediction is the mixture over
curves and parameters, widened by a factor that was calibrated by simulation, since truths need
not be on any of the curves; what its 95 % intervals covered there is printed beside them
(`COVERAGE`, made by ``allminds reproduce chmait-2017:beyond``). Where the data say nothing about
what lies beyond (few levels, no decline seen, too far away), that is said instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betainc, expit, gammaln, ndtr, xlogy

from allminds.core.errors import Error
from allminds.statistics.accuracy.curve import Values
from allminds.statistics.accuracy.fit import Counts

LEAST_LEVELS = 4  # tried, to predict anything beyond them
LEAST_TRIALS = 20  # answers of the mind, in all
FARTHEST = 5.0  # steps between levels that were simulated
WIDENING = 1.3  # of the mixture round its median, so that each simulated truth is covered
UNEVEN = 0.04  # standard deviation of a level's accuracy round any smooth curve
COVERAGE = {1: 0.973, 2: 0.976, 3: 0.976, 4: 0.972, 5: 0.967}  # by levels beyond
DECLINE = 0.025  # one-sided p below which a decline with difficulty is seen
NEAR_CHANCE = 0.15  # a mind surely this near chance throughout is predicted to stay there
ROUNDED = 5e-4  # intervals are printed to three decimals
BINS = 2000  # of accuracy, whose means stand for the points of the grids
_TINY = 1e-12


@dataclass(frozen=True)
class Grid:
    """One rival curve at all points of a grid of its parameters."""

    name: str
    accuracy: Callable[[Values], Values]  # [point, difficulty]


@dataclass(frozen=True)
class Mixture:
    """The predicted accuracy: values with their weights."""

    values: Values  # ascending
    weights: Values

    def quantile(self, share: float) -> float:
        """Find the value below which the given share of the weight lies."""
        middles = np.cumsum(self.weights) - self.weights / 2
        return float(np.interp(share, middles, self.values))

    def widened(self, factor: float, uneven: float) -> Mixture:
        """Move values away from the median by a factor, and add unevenness from level to level.

        Unevenness is normal, by Gauss and Hermite's three points; all stays within 0 to 1.
        """
        middle = self.quantile(0.5)
        far = middle + factor * (self.values - middle)
        values = np.concatenate([far + shift * uneven for shift in (-np.sqrt(3), 0, np.sqrt(3))])
        weights = np.concatenate([self.weights * share for share in (1 / 6, 2 / 3, 1 / 6)])
        order = np.argsort(values, kind="stable")
        return Mixture(np.clip(values[order], 0, 1), weights[order])

    def rate_interval(self, items: int, confidence: float) -> tuple[float, float]:
        """Compute the interval in which the rate of hits of `items` new items lies."""
        hits = np.arange(items + 1)
        below = np.where(
            hits[:-1, None] < items,
            1 - betainc(hits[:-1, None] + 1.0, items - hits[:-1, None], self.values),
            1.0,
        )
        chance = np.append(below @ self.weights, 1.0)  # P(hits or fewer)
        tail = (1 - confidence) / 2
        low = int(np.searchsorted(chance, tail, side="right"))
        high = int(np.searchsorted(chance, 1 - tail, side="left"))
        return low / items, min(high, items) / items


@dataclass(frozen=True)
class Beyond:
    """The prediction for a mind at a difficulty above all it was tried at."""

    difficulty: float
    steps: float  # beyond the hardest level, in distances between levels
    accuracy: float | None  # the median; None where nothing can be said
    interval: tuple[float, float] | None
    rate_interval: tuple[float, float] | None  # of the rate of `items` new items
    items: int | None
    weights: dict[str, float]  # of the stacked curves
    coverage: float | None  # of such 95 % intervals, as simulated
    why_not: str = ""  # why nothing can be said


def predict_beyond(
    counts: Counts,
    difficulty: float,
    mind: int = 0,
    *,
    items: int | None = None,
    confidence: float = 0.95,
) -> Beyond:
    """Predict the accuracy of one mind at a difficulty beyond its data.

    With `items`, also the rate of hits of so many new items. Only this mind's own answers count.
    The measured coverage is that of 95 % intervals.
    """
    if not 0.5 < confidence < 1:
        raise Error(f"confidence cannot be {confidence}: it lies between 0.5 and 1")
    own = tried_levels(counts, mind)
    steps = steps_beyond(own, difficulty)
    why_not = hopeless(own, steps)
    if why_not:
        return Beyond(difficulty, steps, None, None, None, items, {}, None, why_not)
    return Stack.of(own).beyond(difficulty, items, confidence)


def tried_levels(counts: Counts, mind: int) -> Counts:
    """Pool one mind's hits by level, without levels that have no trial."""
    own = counts.mind(mind).by_level()
    return own.items(own.trials[0] > 0)


def steps_beyond(own: Counts, difficulty: float) -> float:
    """Compute how far beyond the hardest level D lies, in mean distances between levels."""
    d = own.difficulty
    if not len(d) or not d[-1] < difficulty < np.inf:
        tried = f"{d[-1]:g} was the hardest tried" if len(d) else "the mind was never tried"
        raise Error(f"a difficulty of {difficulty:g} is not beyond the data: {tried}")
    return float((difficulty - d[-1]) / ((d[-1] - d[0]) / max(len(d) - 1, 1) or np.inf))


def hopeless(own: Counts, steps: float) -> str:
    """Say why nothing can be predicted beyond these data, or return an empty text."""
    hits, trials = own.hits[0], own.trials[0]
    if len(own.difficulty) < LEAST_LEVELS or trials.sum() < LEAST_TRIALS:
        return (
            f"{len(own.difficulty)} levels with {trials.sum():g} answers are too few to say what "
            f"lies beyond: {LEAST_LEVELS} levels and {LEAST_TRIALS} answers are the least"
        )
    if steps > FARTHEST + 1e-9:
        return f"it is {steps:.1f} levels beyond the hardest tried; {FARTHEST:g} are the most"
    if decline(own) < DECLINE:
        return ""
    rate, total = float(hits.sum() / trials.sum()), float(trials.sum())
    above = rate + 1.96 * np.sqrt(rate * (1 - rate) / total + 1 / total**2)
    if above <= own.chance + NEAR_CHANCE:
        return ""
    return "no decline with difficulty is seen, so that nothing says where it begins"


def decline(own: Counts) -> float:
    """Test (Cochran and Armitage) that hits fall with difficulty; return the one-sided p."""
    hits, trials = own.hits[0], own.trials[0]
    rate = float(hits.sum() / trials.sum())
    d = own.difficulty - float(trials @ own.difficulty / trials.sum())
    variance = rate * (1 - rate) * float(trials @ d**2)
    return float(ndtr((hits - trials * rate) @ d / np.sqrt(variance))) if variance > 0 else 1.0


# ---------------------------------------------------------------- the stack


@dataclass(frozen=True)
class Stack:
    """Rival curves with their weights, and the posterior of each on its grid."""

    own: Counts
    grids: tuple[Grid, ...]
    posteriors: tuple[Values, ...]
    weights: Values

    @classmethod
    def of(cls, own: Counts) -> Stack:
        """Stack the curves on one mind's levels."""
        grids = _grids(own)
        tables = [np.clip(grid.accuracy(own.difficulty), _TINY, 1 - _TINY) for grid in grids]
        logs = [_log_likelihood(own, table) for table in tables]  # [point, level]
        spread = _dispersion(own, tables, logs)
        evidence = np.array(
            [np.log(np.exp(log.sum(axis=1) / spread).mean() + 1e-300) for log in logs]
        )
        weights = _stacked([_upper_scores(log, spread) for log in logs], _posterior(evidence))
        return cls(own, grids, tuple(_posterior(log.sum(axis=1) / spread) for log in logs), weights)

    def mixture(self, difficulty: float) -> Mixture:
        """Mix the accuracy at a difficulty over all curves and parameters."""
        at = np.array([difficulty])
        values = np.concatenate([grid.accuracy(at)[:, 0] for grid in self.grids])
        weights = np.concatenate(
            [w * posterior for w, posterior in zip(self.weights, self.posteriors, strict=True)]
        )
        bins = np.minimum((values * BINS).astype(np.int64), BINS - 1)
        share = np.bincount(bins, weights, BINS)
        kept = share > _TINY
        means = np.bincount(bins, weights * values, BINS)[kept] / share[kept]
        return Mixture(means, share[kept] / share.sum())

    def beyond(self, difficulty: float, items: int | None, confidence: float) -> Beyond:
        """Predict the accuracy at a difficulty that is not `hopeless`."""
        mixture = self.mixture(difficulty).widened(WIDENING, UNEVEN)
        tail = (1 - confidence) / 2
        steps = steps_beyond(self.own, difficulty)
        return Beyond(
            difficulty=difficulty,
            steps=steps,
            accuracy=mixture.quantile(0.5),
            interval=(mixture.quantile(tail), mixture.quantile(1 - tail)),
            rate_interval=mixture.rate_interval(items, confidence) if items else None,
            items=items,
            weights={g.name: float(w) for g, w in zip(self.grids, self.weights, strict=True)},
            coverage=COVERAGE.get(int(np.ceil(steps - 1e-9))),
        )


def _grids(own: Counts) -> tuple[Grid, ...]:
    """Build grids of all rival curves over the parameters that the levels can tell."""
    low, high, c = float(own.difficulty[0]), float(own.difficulty[-1]), own.chance
    reach = high - low
    alpha = np.geomspace(low / 4, 8 * high, 60)
    beta = np.geomspace(0.5, 12, 24)
    middle = np.linspace(low - reach, high + 2 * reach, 60)
    width = np.geomspace(reach / 40, 2 * reach, 24)
    floor = np.linspace(0, 0.9, 13)

    def exponential(a: Values, b: Values) -> Callable[[Values], Values]:
        return lambda d: c + (1 - c) * np.exp(-np.minimum((d / a[:, None]) ** b[:, None], 700.0))

    def logistic(m: Values, w: Values, f: Values, t: Values) -> Callable[[Values], Values]:
        return lambda d: f[:, None] + (t - f)[:, None] * expit((m[:, None] - d) / w[:, None])

    many = np.geomspace(low / 4, 8 * high, 400)
    m, w, f = _all(middle[::2], width[::2], floor)
    m2, w2, t = _all(middle[::2], width[::2], np.linspace(max(c + 0.1, 0.5), 1, 11))
    m1, w1 = _all(middle, width)
    return (
        Grid("E1", exponential(many, np.ones(400))),
        Grid("E2", exponential(*_all(alpha, beta))),
        Grid("logistic", logistic(m1, w1, np.full(m1.size, c), np.ones(m1.size))),
        Grid("logistic free floor", logistic(m, w, f, np.ones(m.size))),
        Grid("logistic with lapses", logistic(m2, w2, np.full(m2.size, c), t)),
    )


def _all(*axes: Values) -> tuple[Values, ...]:
    return tuple(axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))


def _log_likelihood(own: Counts, table: Values) -> Values:
    """Compute ln of the binomial probability of each level's hits, [point, level]."""
    x, n = own.hits[0], own.trials[0]
    ways = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(ways + xlogy(x, table) + xlogy(n - x, 1 - table))


def _dispersion(own: Counts, tables: list[Values], logs: list[Values]) -> float:
    """Compute Pearson's χ² per degree of freedom at the best curve; 1 at least."""
    found = []
    for table, log in zip(tables, logs, strict=True):
        p = table[np.argmax(log.sum(axis=1))]
        n = own.trials[0]
        chi = float(((own.hits[0] - n * p) ** 2 / np.maximum(n * p * (1 - p), 0.05)).sum())
        found.append(chi / max(len(p) - 2, 1))
    return float(np.clip(min(found), 1.0, 10.0))


def _posterior(log: Values) -> Values:
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


def _upper_scores(log: Values, spread: float) -> Values:
    """Compute ln of the probability given to each upper level by the posterior of the lower ones.

    This is done for every cut that leaves three levels or more below, [cut and level].
    """
    levels = log.shape[1]
    scores = []
    for cut in range(min(3, levels - 1), levels):
        below = _posterior(log[:, :cut].sum(axis=1) / spread)
        scores.append([np.log(below @ np.exp(log[:, k]) + 1e-300) for k in range(cut, levels)])
    return np.concatenate(scores)


def _stacked(scores: list[Values], evidence: Values) -> Values:
    """Find the weights of greatest Σ ln Σ w p over the upper levels, by expectation-maximisation.

    They are drawn towards the evidence for each curve from all levels, which counts as one level
    for each curve: few levels should not choose one, and a curve that misfits should have none.
    """
    p = np.exp(np.array(scores))  # [curve, case]
    prior = len(p) * evidence
    weights = np.full(len(p), 1 / len(p))
    for _ in range(200):
        shares = weights[:, None] * p
        shares /= shares.sum(axis=0)
        weights = (shares.sum(axis=1) + prior) / (p.shape[1] + len(p))
    return weights


# ---------------------------------------------------------------- simulation

Truth = Callable[[Values], Values]


def truths(rng: np.random.Generator, levels: int, chance: float) -> dict[str, Truth]:
    """Draw accuracies at difficulty 1, 2, … to predict: truths on the rival curves, and others.

    Where each declines, how steeply and how far down is drawn anew.
    """
    at = rng.uniform(0.4, 1.1) * levels
    steep = float(np.exp(rng.uniform(np.log(1.5), np.log(6))))
    width = rng.uniform(0.05, 0.3) * levels
    plateau, rate = rng.uniform(chance, 0.6), rng.uniform(max(chance, 0.3), 0.9)
    noise = rng.normal(0, 0.06, size=4 * levels)

    def over(h: Values, floor: float = chance, top: float = 1.0) -> Values:
        return np.asarray(floor + (top - floor) * h)

    def logistic(d: Values) -> Values:
        return np.asarray(expit((at - d) / width))

    return {
        "E1": lambda d: over(np.exp(-d / at)),
        "E2": lambda d: over(np.exp(-((d / at) ** steep))),
        "logistic": lambda d: over(logistic(d)),
        "plateau": lambda d: over(logistic(d), plateau),
        "lapses": lambda d: over(logistic(d), chance, 0.85),
        "step": lambda d: over((d < at).astype(float)),
        "straight line": lambda d: over(np.clip(1 - d / (1.8 * at), 0, 1)),
        "uneven levels": lambda d: np.clip(over(logistic(d)) + noise[d.astype(int)], 0, 1),
        "constant": lambda d: np.full(len(d), rate),
    }


@dataclass(frozen=True)
class Trial:
    """One prediction of a simulated truth, and whether its intervals covered."""

    truth: str
    steps: int
    covered: bool  # the accuracy by its interval
    rate_covered: bool  # the rate of 20 new items by its interval
    width: float


def trials_beyond(
    rng: np.random.Generator,
    repeats: int,
    levels: Sequence[int] = (5, 8, 12),
    answers: Sequence[int] = (5, 20, 50),
    chances: Sequence[float] = (0.0, 1 / 26, 1 / 5),
) -> tuple[list[Trial], dict[str, int]]:
    """Predict every truth one to five levels beyond its data, `repeats` times.

    Levels, answers for each level and chance are drawn from those given. The second result counts,
    by truth, how often nothing could be said.
    """
    made: list[Trial] = []
    refused: dict[str, int] = {}
    for _ in range(repeats):
        chance, number = float(rng.choice(chances)), int(rng.choice(levels))
        each = int(rng.choice(answers))
        d = np.arange(1.0, number + 1)
        for name, truth in truths(rng, number, chance).items():
            own = tried_levels(Counts.of(d, rng.binomial(each, truth(d)), each, chance=chance), 0)
            refused.setdefault(name, 0)
            if hopeless(own, 1):
                refused[name] += 1
                continue
            stack = Stack.of(own)
            made += [_trial(rng, stack, name, truth, steps) for steps in range(1, 6)]
    return made, refused


def _trial(rng: np.random.Generator, stack: Stack, name: str, truth: Truth, steps: int) -> Trial:
    at = float(stack.own.difficulty[-1]) + steps
    found, p = stack.beyond(at, 20, 0.95), float(truth(np.array([at]))[0])
    (low, high), (few, many) = found.interval or (0, 1), found.rate_interval or (0, 1)
    covered = low - ROUNDED <= p <= high + ROUNDED
    return Trial(name, steps, covered, bool(few <= rng.binomial(20, p) / 20 <= many), high - low)


def simulate_beyond(
    rng: np.random.Generator, repeats: int, what: Literal["accuracy", "rate"] = "accuracy"
) -> tuple[int, int]:
    """Count the 95 % intervals beyond the data that miss what they predict, and all of them."""
    made, _ = trials_beyond(rng, repeats)
    hit = [one.covered if what == "accuracy" else one.rate_covered for one in made]
    return len(hit) - sum(hit), len(hit)
