"""Ability on questions of graded difficulty, with an interval that is valid whenever one stops.

**Ability** is the complexity at which the rate of hits passes halfway between chance and 1. It is
reported on the scale of the test: from half a level below the easiest questions to half a level
above the hardest, which stand for "at most" and "at least".

**The model.** Answers are independent, and a question of level k is solved with probability
g + (1 - l - g)·σ(s·(ability - k) + o), where o makes the rate at the ability (1 + chance)/2. The
slope s, the share l of lapses and the guessing rate g are not known: s is one of `slopes`, l one
of `LAPSES`, g is chance or 0. The difficulty of a question is the k that its generator certifies;
questions of one k may differ, for only their mean rate matters. A score between 0 and 1 counts as
that share of a hit, which makes intervals wider and never wrong: a^x·b^(1-x) is convex in x.

**The interval.** For each candidate ability a, with L(a, s, l, g) the likelihood of all answers so
far, the test martingale of a is M(a) / L(a, s, l, g): M(a) is the likelihood averaged over all
curves, with more weight on abilities that are about the wanted width away from a. Whatever chose
the questions, M(a) / L has mean 1 if (a, s, l, g) is true, and by Ville's inequality it ever
reaches 1/α with probability α at most. So the candidates that are not refused, those for which
some curve has M(a) < L/α, contain the true ability at all times at once with probability 1 - α:
one may look after every answer, and stop when one likes (Wasserman, Ramdas and Balakrishnan 2020).

**What to ask next.** The test ends when an ability half a width below the estimate is refused, and
one above it. So the next question is where an answer is expected to tell most against these two
rivals, each with the slope, lapses and guessing that suit it best (their Kullback-Leibler
divergences from the expected answer), each weighted by what it still lacks to be refused.

**The ordinary interval** is that of the profile likelihood ratio. It holds only if the number of
questions was fixed beforehand, and is here to show what freedom to stop costs.

**Without a curve.** If the rate of hits merely never rises with k, gamblers who bet that hits
at levels of x and above are more frequent than halfway refute that the ability is below x, and
likewise above. `Ability.free` is the interval of these gamblers, a level wide at best: what
remains if the true curve is none of the model's. Where the two have nothing in common, it is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.inference.intervals import LEVEL, Interval
from allminds.inference.units import Values

SHALLOW, STEEP = 0.35, 8.0  # slopes a level; on a long scale down to `ACROSS` / its length
ACROSS = 3.15
LAPSES = (0.0, 0.05)
STEP = 0.05  # between candidate abilities; on a long scale its 240th part
BEYOND = 2.0  # of the scale: candidates that stand for its ends
RIVAL = 0.6  # widths from the estimate at which questions are to tell most
BETS = np.arange(0.1, 1.0, 0.2)  # shares of the capital that gamblers put at stake
ORDINARY = 1.920729  # half the .95 quantile of χ² with one degree of freedom
NEAR = 1e-9  # widths that differ by less are the same


@dataclass(frozen=True)
class Ability:
    """An ability and its intervals after some answers."""

    value: float  # the mean of the posterior, within the scale
    anytime: Interval
    ordinary: Interval  # for a number of questions that was fixed beforehand
    free: Interval  # if rates merely never rise with the level
    scale: Interval
    items: int = 0  # answers
    wanted: float = 0.0  # the width at which the test ends
    ordinary_items: int | None = None  # after which the ordinary interval was as narrow
    refusal: tuple[Values, Values] = field(  # candidates, and ln of their e-values
        default_factory=lambda: (np.zeros(0), np.zeros(0)), repr=False, compare=False
    )

    @property
    def width(self) -> float:
        """The width of the anytime interval."""
        return self.anytime[1] - self.anytime[0]

    @property
    def agrees(self) -> bool:
        """False if the intervals with and without a curve have nothing in common."""
        return self.anytime[0] <= self.free[1] and self.free[0] <= self.anytime[1]

    @property
    def is_narrow(self) -> bool:
        """True if the anytime interval is as narrow as wanted."""
        return self.items > 0 and self.width <= self.wanted + NEAR

    def interval(self, level: float = LEVEL) -> Interval:
        """Compute the anytime interval."""
        candidates, refuted = self.refusal
        return _hull(candidates, refuted < -math.log(1 - level), self.scale)

    def tails(self, value: float) -> tuple[float, float]:
        """Compute anytime p-values of an ability at most, and at least, `value`: 1 / e-value."""
        candidates, refuted = self.refusal
        sides = (refuted[candidates <= value + NEAR], refuted[candidates >= value - NEAR])
        below, above = (
            math.exp(-max(0.0, float(side.min()))) if len(side) else 0.0 for side in sides
        )
        return below, above

    def as_json(self) -> dict[str, Any]:
        """Convert the figures to a plain value."""
        return {
            "value": self.value, "anytime": list(self.anytime), "ordinary": list(self.ordinary),
            "free": list(self.free), "scale": list(self.scale), "agrees": self.agrees,
            "items": self.items, "wanted": self.wanted, "narrow": self.is_narrow,
            "ordinary_items": self.ordinary_items,
        }  # fmt: skip


def slopes(span: float) -> list[float]:
    """List the slopes of the model on a scale of some length, each √2 times the one before."""
    least = min(SHALLOW, ACROSS / span)
    count = round(2 * math.log2(STEEP / 2 / least))
    return [*(float(least * 2 ** (n / 2)) for n in range(count + 1)), STEEP]


class Curves:
    """All curves of the model on some levels, and what answers say about them."""

    def __init__(self, chance: Mapping[float, float], width: float) -> None:
        """Prepare for levels with their chances, and for intervals of about some width."""
        self.width = width
        self.levels: Values = np.array(sorted(chance), float)
        self.chance: Values = np.array([chance[level] for level in self.levels], float)
        self.scale = (float(self.levels[0]) - 0.5, float(self.levels[-1]) + 0.5)
        span = self.scale[1] - self.scale[0]
        low, high = self.scale[0] - BEYOND, self.scale[1] + BEYOND
        count = round((high - low) / max(STEP, span / 240))
        self.abilities: Values = np.linspace(low, high, count + 1)
        self.rates = np.clip(self._rates(slopes(span)), 1e-9, 1 - 1e-9)  # [curve, ability, level]
        self.hit, self.miss = np.log(self.rates), np.log1p(-self.rates)
        away = np.abs(self.abilities[:, None] - self.abilities)
        weights = np.where(away < width / 4, 0.2, 1.0) / np.maximum(away, width / 2) ** 2
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    def _rates(self, slopes: list[float]) -> NDArray[np.float64]:
        made = []
        for guess in (self.chance, 0 * self.chance):
            for lapse in LAPSES:
                top = 1 - lapse - guess
                half = ((1 + self.chance) / 2 - guess) / top
                offset = np.log(half / (1 - half))
                for slope in slopes:
                    at = slope * (self.abilities[:, None] - self.levels) + offset
                    made.append(guess + top / (1 + np.exp(-at)))
        return np.array(made)

    def counts(self, level: Values, hits: Values) -> tuple[Values, Values]:
        """Count hits and misses by level."""
        at = np.searchsorted(self.levels, level)
        size = len(self.levels)
        right = np.bincount(at, hits, size).astype(float)
        return right, np.bincount(at, 1 - hits, size).astype(float)

    def likelihood(self, level: Values, hits: Values) -> NDArray[np.float64]:
        """Compute the logarithm of the likelihood of answers, [curve, ability]."""
        right, wrong = self.counts(level, hits)
        # einsum does not use BLAS, whose sums may depend on the number of threads
        of = "cal,l->ca"
        return np.asarray(np.einsum(of, self.hit, right) + np.einsum(of, self.miss, wrong))

    def refutation(self, found: NDArray[np.float64]) -> Values:
        """Compute ln M(a)/L for each candidate, at the curve that suits it best."""
        most = float(found.max())
        posterior = np.exp(found - most).mean(axis=0)
        mixture = np.log(np.maximum(np.einsum("ab,b->a", self.weights, posterior), 1e-300)) + most
        return np.asarray(mixture - found.max(axis=0))

    def ability(self, level: Values, hits: Values) -> Ability:
        """Estimate the ability and its intervals from hits (1 or 0) at some levels."""
        found = self.likelihood(level, hits)
        refuted = self.refutation(found)
        posterior = np.exp(found - found.max()).sum(axis=0)
        value = float((posterior * self.abilities).sum() / posterior.sum())
        best = found.max(axis=0)
        kept = refuted < -math.log(1 - LEVEL)
        return Ability(
            value=_clipped(value, self.scale),
            anytime=_hull(self.abilities, kept, self.scale),
            ordinary=_hull(self.abilities, best > best.max() - ORDINARY, self.scale),
            free=self._free(level, hits),
            scale=self.scale, items=len(level), wanted=self.width,
            refusal=(self.abilities, refuted),
        )  # fmt: skip

    def _free(self, level: Values, hits: Values) -> Interval:
        """Bound the ability by gamblers on hits above halfway, and on hits below it.

        Each level has a gambler of either kind with an equal share of the first capital. That the
        ability is below x is refused by those of the levels from x on, taken together: these
        hypotheses are nested, so that only one of the true ones can be refused first.
        """
        half = (1 + self.chance) / 2
        right, wrong = [], []
        for one, middle in zip(self.levels, half, strict=True):
            there = hits[level == one]
            right.append(_capital(there / middle))
            wrong.append(_capital((1 - there) / (1 - middle)))
        least = 2 / (1 - LEVEL) * len(self.levels)
        above = np.exp(np.minimum(right, 700.0))[::-1].cumsum()[::-1] >= least
        below = np.exp(np.minimum(wrong, 700.0)).cumsum() >= least
        low = float(self.levels[above][-1]) if above.any() else self.scale[0]
        high = float(self.levels[below][0]) if below.any() else self.scale[1]
        return (low, high) if low <= high else self.scale

    # ------------------------------------------------------------ what to ask next

    def telling(self, level: Values, hits: Values, count: int) -> list[float]:
        """Choose the levels of some questions that tell most against the rivals of the estimate.

        Within these, the answers that are still to come count as they are expected.
        """
        found = self.likelihood(level, hits)
        weight = np.exp(found - found.max())
        weight /= weight.sum()
        expected = np.einsum("ca,cal->l", weight, self.rates)  # rate by level
        rivals = self._rivals(float((weight.sum(axis=0) * self.abilities).sum()), found)
        right, wrong = self.counts(level, hits)
        chosen = []
        for _ in range(count):
            told = 1e-6 * expected * (1 - expected)  # where no rival is left
            for place, lacking in rivals:
                suits = (self.hit[:, place] * right + self.miss[:, place] * wrong).sum(axis=1)
                told = told + lacking * _divergence(expected, self.rates[suits.argmax(), place])
            at = int(np.argmax(told.round(9)))
            right[at] += expected[at]
            wrong[at] += 1 - expected[at]
            chosen.append(float(self.levels[at]))
        return chosen

    def _rivals(self, value: float, found: NDArray[np.float64]) -> list[tuple[int, float]]:
        """Return the candidates that are to be refused, with what they lack for it, below 0."""
        refuted, half = self.refutation(found), self.width / 2
        low, high = self.scale[0] + half, self.scale[1] - half
        centre = min(max(value, low), max(low, high))
        made = []
        for side, is_inside in ((-1, centre > low + NEAR), (1, centre < high - NEAR)):
            edge, rival = (
                int(np.abs(self.abilities - (centre + side * away)).argmin())
                for away in (half, RIVAL * self.width)
            )
            lacking = -math.log(1 - LEVEL) - float(refuted[edge])
            if is_inside and lacking > 0:
                made.append((rival, max(lacking, 0.3)))
        return made


def _hull(candidates: Values, kept: NDArray[np.bool_], scale: Interval) -> Interval:
    """Return the ends of the candidates kept, and one step beyond each, within the scale."""
    there = candidates[kept]  # the likeliest is always among them
    step = float(candidates[1] - candidates[0])
    return _clipped(float(there[0]) - step, scale), _clipped(float(there[-1]) + step, scale)


def _clipped(value: float, scale: Interval) -> float:
    return min(max(value, scale[0]), scale[1])


def _divergence(rate: Values, other: Values) -> Values:
    """Compute the Kullback-Leibler divergence of answers at one rate from those at another."""
    rate = np.clip(rate, 1e-9, 1 - 1e-9)
    return np.asarray(rate * np.log(rate / other) + (1 - rate) * np.log((1 - rate) / (1 - other)))


def _capital(shares: Values) -> float:
    """Compute the logarithm of a gambler's capital, averaged over the bets it may make."""
    logs = np.log1p(BETS[:, None] * (shares - 1)).sum(axis=1)
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))


@lru_cache(maxsize=16)
def curves(chance: tuple[tuple[float, float], ...], width: float) -> Curves:
    """Return the curves for (level, chance) pairs, made once."""
    return Curves(dict(chance), width)


@dataclass(frozen=True)
class Ladder:
    """A test that asks in rounds of a fixed size, and stops when the interval is narrow enough.

    The first round is spread over all levels. What is asked depends on the answers of earlier
    rounds only, so the order in which those of a round arrive does not matter.
    """

    chance: tuple[tuple[float, float], ...]  # (level, chance) pairs
    width: float
    round: int = 5

    @cached_property
    def curves(self) -> Curves:
        """The curves of the model on these levels."""
        return curves(self.chance, self.width)

    def next_levels(self, level: Values, hits: Values) -> list[float]:
        """Choose the levels of the next round, after all answers of the rounds before."""
        if not len(level):
            every = self.curves.levels
            places = np.linspace(0, len(every) - 1, self.round).round().astype(int)
            return [float(every[place]) for place in places]
        return self.curves.telling(level, hits, self.round)

    def ability(self, level: Values, hits: Values) -> Ability:
        """Estimate the ability from the answers so far."""
        return self.curves.ability(level, hits)

    def is_done(self, level: Values, hits: Values) -> bool:
        """Return True if the anytime interval is as narrow as wanted."""
        return bool(len(level)) and self.ability(level, hits).is_narrow

    def priced(self, level: Values, hits: Values) -> Ability:
        """Estimate the ability, and find when the ordinary interval was first as narrow.

        It is looked at after every round, as the anytime interval is.
        """
        found = self.ability(level, hits)
        for n in range(self.round, len(level) + self.round, self.round):
            low, high = self.ability(level[:n], hits[:n]).ordinary
            if high - low <= self.width + NEAR:
                return replace(found, ordinary_items=min(n, len(level)))
        return found
