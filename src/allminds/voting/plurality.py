"""Plurality: the option with most votes wins, ties by lot."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from allminds.voting.counts import Floats, accuracies, number_of_options, number_right

NEGLIGIBLE = 1e-18  # a number of right votes less likely than this changes no digit


def plurality_accuracy(p: ArrayLike, options: int) -> float:
    """The probability that independent members with accuracies p elect the right one of m options.

    A wrong vote falls on each of the m - 1 wrong options alike. With two options this is a
    majority with ties by coin. Exact::

        P = Σ_{a>=1} d_a Σ_{t>=0} 1/(t+1) · C(m-1,t) · w! (a!)^(-t)
              · [z^(w-ta)] (Σ_{j<a} z^j/j!)^(m-1-t) / (m-1)^w,    w = n - a,

    where d_a is the chance of a right votes, and t wrong options tie with the right one.
    """
    return plurality_of(number_right(accuracies(p)), options)


def plurality_of(d: Floats, options: int) -> float:
    """The accuracy of a plurality whose number of right votes is distributed as d."""
    wrong_options = number_of_options(options) - 1
    n = d.size - 1
    counts = (a for a in range(1, n + 1) if d[a] > NEGLIGIBLE)
    return min(1.0, math.fsum(d[a] * _wins(a, n - a, wrong_options) for a in counts))


def _wins(right: int, wrong: int, options: int) -> float:
    """The chance that `right` votes win against `wrong` ones spread over the wrong options.

    The formula's z^j/j! are scaled to Poisson probabilities of mean wrong/options: each factor is
    a probability then, whatever the numbers of votes and options.
    """
    if right > wrong:
        return 1.0
    mean = wrong / options
    log_votes = [_log_poisson(j, mean) for j in range(right + 1)]
    fewer = np.exp(log_votes[:right])
    most_ties = min(options, wrong // right)
    rest = _power(fewer, options - most_ties, wrong + 1)
    total = 0.0
    for t in range(most_ties, -1, -1):
        left = wrong - t * right
        if left < rest.size:
            log_tied = math.log(math.comb(options, t)) + t * log_votes[right]
            total += math.exp(log_tied) * float(rest[left]) / (t + 1)
        rest = np.convolve(rest, fewer)[: wrong + 1]
    return min(1.0, total / math.exp(_log_poisson(wrong, wrong)))


def _log_poisson(j: int, mean: float) -> float:
    return j * math.log(mean) - mean - math.lgamma(j + 1)


def _power(polynomial: Floats, exponent: int, terms: int) -> Floats:
    """The lowest terms of a power of a polynomial, by squaring."""
    result = np.ones(1)
    square = polynomial[:terms]
    while exponent:
        if exponent % 2:
            result = np.convolve(result, square)[:terms]
        exponent //= 2
        if exponent:
            square = np.convolve(square, square)[:terms]
    return result
