"""Ability on questions of graded difficulty, with an interval that is valid whenever one stops.

**Ability** is the complexity at which the rate of hits passes halfway between chance and 1. It is
reported on the scale of the test: from half a level below the easiest questions to half a level
above the hardest, which stand for "at most" and "at least".

**The model.** Answers are independent, and a question of level k is solved with probability
g + (1 - l - g)·σ(s·(ability - k) + o), where o makes the rate at the ability (1 + chance)/2. The
slope s, the share l of lapses and the guessing rate g are not known: s is one of `SLOPES`, l one
of `LAPSES`, g is chance or 0. The difficulty of a question is the k that its generator certifies;
questions of one k may differ, for only their mean rate matters.

**The interval.** For each candidate ability a, with L(a, s, l, g) the likelihood of all answers so
far, the test martingale of a is M(a) / L(a, s, l, g): M(a) is the likelihood averaged over all
curves, with more weight on abilities that are about the wanted width away from a. Whatever chose
the questions, M(a) / L has mean 1 if (a, s, l, g) is true, and by Ville's inequality it ever
reaches 1/α with probability α at most. So the candidates that are not refused, those for which
some curve has M(a) < L/α, contain the true ability at all times at once with probability 1 - α:
one may look after every answer, and stop when one likes (Wasserman, Ramdas and Balakrishnan 2020).

**The ordinary interval** is that of the profile likelihood ratio. It holds only if the number of
questions was fixed beforehand, and is here to show what freedom to stop costs.

**Without a curve.** If the rate of hits merely never rises with k, gamblers who bet that hits
at levels of x and above are more frequent than halfway refute that the ability is below x, and
likewise above. `Ability.free` is the interval of these gamblers, a level wide at best: what
remains if the true curve is none of the model's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from allminds.inference.intervals import LEVEL, Interval
from allminds.inference.units import Values

SLOPES = (0.35, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 8.0)
LAPSES = (0.0, 0.05)
STEP = 0.05  # between candidate abilities
BEYOND = 2.0  # of the scale: candidates that stand for its ends
BETS = np.arange(0.1, 1.0, 0.2)  # shares of the capital that gamblers put at stake
ORDINARY = 1.920729  # half the .95 quantile of χ² with one degree of freedom


@dataclass(frozen=True)
class Ability:
    """An ability and its intervals after some answers."""

    value: float  # the mean of the posterior, within the scale
    anytime: Interval
    ordinary: Interval  # for a number of questions that was fixed beforehand
    free: Interval  # if rates merely never rise with the level

    @property
    def width(self) -> float:
        """The width of the anytime interval."""
        return self.anytime[1] - self.anytime[0]

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the anytime interval, which is made for 95 % only."""
        if level != LEVEL:
            raise ValueError("the anytime interval of an ability is one of 95 %")
        return self.anytime


class Curves:
    """All curves of the model on some levels, and what answers say about them."""

    def __init__(self, chance: Mapping[float, float], width: float) -> None:
        """Prepare for levels with their chances, and for intervals of about some width."""
        self.levels: Values = np.array(sorted(chance), float)
        self.chance: Values = np.array([chance[level] for level in self.levels], float)
        self.scale = (float(self.levels[0]) - 0.5, float(self.levels[-1]) + 0.5)
        low, high = self.scale[0] - BEYOND, self.scale[1] + BEYOND
        self.abilities: Values = np.linspace(low, high, round((high - low) / STEP) + 1)
        self.rates = np.clip(self._rates(), 1e-9, 1 - 1e-9)  # [curve, ability, level]
        self.hit, self.miss = np.log(self.rates), np.log1p(-self.rates)
        away = np.abs(self.abilities[:, None] - self.abilities)
        weights = 1 / (away + width / 2) ** 2
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    def _rates(self) -> NDArray[np.float64]:
        made = []
        for guess in (self.chance, 0 * self.chance):
            for lapse in LAPSES:
                top = 1 - lapse - guess
                half = ((1 + self.chance) / 2 - guess) / top
                offset = np.log(half / (1 - half))
                for slope in SLOPES:
                    at = slope * (self.abilities[:, None] - self.levels) + offset
                    made.append(guess + top / (1 + np.exp(-at)))
        return np.array(made)

    def likelihood(self, level: Values, hits: Values) -> NDArray[np.float64]:
        """Compute the logarithm of the likelihood of answers, [curve, ability]."""
        at = np.searchsorted(self.levels, level)
        right = np.bincount(at, hits, len(self.levels))
        wrong = np.bincount(at, 1 - hits, len(self.levels))
        found: NDArray[np.float64] = self.hit @ right + self.miss @ wrong
        return found

    def ability(self, level: Values, hits: Values) -> Ability:
        """Estimate the ability and its intervals from hits (1 or 0) at some levels."""
        found = self.likelihood(level, hits)
        most = float(found.max())
        best = found.max(axis=0)  # over slopes, lapses and guessing
        posterior = np.exp(found - most).mean(axis=0)
        mixture = np.log(np.maximum(self.weights @ posterior, 1e-300)) + most
        value = float(posterior @ self.abilities / posterior.sum())
        return Ability(
            self._clipped(value),
            self._hull(mixture - best < -math.log(1 - LEVEL)),
            self._hull(best > most - ORDINARY),
            self._free(level, hits),
        )

    def _hull(self, kept: NDArray[np.bool_]) -> Interval:
        """Return the ends of the candidates kept, and one step beyond each, within the scale."""
        there = self.abilities[kept]
        if not len(there):  # no curve of the model gives such answers: nothing is known by it
            return self.scale
        return self._clipped(float(there[0]) - STEP), self._clipped(float(there[-1]) + STEP)

    def _clipped(self, value: float) -> float:
        return min(max(value, self.scale[0]), self.scale[1])

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

    def informative(self, level: Values, hits: Values) -> list[float]:
        """Sort the levels by what an answer there is expected to tell of the ability, most first.

        This is the information between the next answer and the ability (Kontsevich and Tyler 1999,
        with slope, lapses and guessing averaged out as by Prins 2013), by the posterior so far.
        """
        found = self.likelihood(level, hits)
        weight = np.exp(found - found.max())
        weight /= weight.sum()
        of_ability = weight.sum(axis=0)
        joint = np.einsum("ca,cal->al", weight, self.rates)
        given = joint / np.maximum(of_ability[:, None], 1e-300)
        told = _entropy(joint.sum(axis=0)) - (of_ability[:, None] * _entropy(given)).sum(axis=0)
        return [float(self.levels[n]) for n in np.argsort(-told.round(9), kind="stable")]


def _capital(shares: Values) -> float:
    """Compute the logarithm of a gambler's capital, averaged over the bets it may make."""
    logs = np.log1p(BETS[:, None] * (shares - 1)).sum(axis=1)
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))


def _entropy(rate: NDArray[np.float64]) -> NDArray[np.float64]:
    rate = np.clip(rate, 1e-12, 1 - 1e-12)
    return np.asarray(-(rate * np.log(rate) + (1 - rate) * np.log1p(-rate)))


@lru_cache(maxsize=16)
def curves(chance: tuple[tuple[float, float], ...], width: float) -> Curves:
    """Return the curves for (level, chance) pairs, made once."""
    return Curves(dict(chance), width)


@dataclass(frozen=True)
class Ladder:
    """A test that asks in rounds of a fixed size, and stops when the interval is narrow enough.

    Half of a round's questions, and the odd one, are at the most informative level, the others at
    the second; the first round is spread over all levels. What is asked depends on the answers of
    earlier rounds only, so the order in which those of a round arrive does not matter.
    """

    chance: tuple[tuple[float, float], ...]  # (level, chance) pairs
    width: float
    round: int = 10

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
        first, *others = self.curves.informative(level, hits)
        return [(others or [first])[0] if n % 2 else first for n in range(self.round)]

    def ability(self, level: Values, hits: Values) -> Ability:
        """Estimate the ability from the answers so far."""
        return self.curves.ability(level, hits)

    def is_done(self, level: Values, hits: Values) -> bool:
        """Return True if the anytime interval is as narrow as wanted."""
        return bool(len(level)) and self.ability(level, hits).width <= self.width + 1e-9

    def ordinary_length(self, level: Values, hits: Values) -> int | None:
        """Count the questions after which the ordinary interval was first as narrow; None: never.

        It is looked at after every round, as the anytime interval is.
        """
        for n in range(self.round, len(level) + self.round, self.round):
            low, high = self.ability(level[:n], hits[:n]).ordinary
            if high - low <= self.width + 1e-9:
                return min(n, len(level))
        return None
