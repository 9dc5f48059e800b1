"""One property of a testbed: its value, how sure it is, and why if there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allminds.statistics.testbed.weights import Floats


@dataclass(frozen=True, eq=False)
class Property:
    """A value, the graded form beside it if there is one, and an interval unless it is exact.

    The interval is that of the graded form, where there is one. What has no value has a reason.
    """

    value: float | bool | None
    graded: float | None = None
    ci95: tuple[float, float] | None = None
    exact: bool = False
    reason: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    draws: Floats | None = field(default=None, repr=False)  # of the bootstrap, for means of several

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        found: dict[str, Any] = {"value": self.value}
        if self.graded is not None:
            found["graded"] = self.graded
        if self.exact:
            found["exact"] = True
        elif self.ci95 is not None:
            found["ci95"] = list(self.ci95)
        if self.reason:
            found["reason"] = self.reason
        return found | dict(self.more)

    @property
    def figure(self) -> float | None:
        """The number to draw: the graded form, or else the value."""
        if self.graded is not None:
            return self.graded
        return None if self.value is None else float(self.value)


def exactly(value: float, reason: str, graded: float | None = None, **more: Any) -> Property:
    """An exact property; NaN is none, for the reason given."""
    if math.isnan(value):
        return Property(None, exact=True, reason=reason, more=more)
    return Property(value, graded, exact=True, more=more)


def sampled(value: float, draws: Floats, reason: str, graded: bool = False) -> Property:
    """A sampled property with its bootstrap interval; NaN is none, for the reason given."""
    if math.isnan(value):
        return Property(None, reason=reason)
    ci95 = interval(draws)
    if graded:
        only = "the binary form is for exact results only"
        return Property(None, value, ci95, reason=only, draws=draws)
    return Property(value, ci95=ci95, draws=draws)


def interval(draws: Floats) -> tuple[float, float] | None:
    """The middle 95 % of the draws that have a value."""
    there = draws[~np.isnan(draws)]
    if len(there) < len(draws) / 2:
        return None
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)


def combined(each: Sequence[Property], weights: Floats) -> Property:
    """A property of several environments: the weighted mean of those that have it.

    Whether something holds is whether it holds in all of them.
    """
    if any(isinstance(one.value, bool) for one in each):
        values = [one.value for one in each]
        holds = False if False in values else None if None in values else True
        reason = next((one.reason for one in each if one.value is None), "")
        return Property(holds, exact=all(one.exact for one in each), reason=reason)
    there = [n for n, one in enumerate(each) if one.figure is not None and weights[n] > 0]
    if not there:
        return Property(None, exact=each[0].exact, reason=each[0].reason)
    share = weights[there] / weights[there].sum()

    def mean(of: list[float | None]) -> float | None:
        return None if None in of else float(share @ np.array(of, float))

    kept = [each[n] for n in there]
    draws = [one.draws for one in kept]
    exact = all(one.exact for one in kept)
    mixed = None if exact or any(d is None for d in draws) else share @ np.array(draws)
    value = mean([None if one.value is None else float(one.value) for one in kept])
    return Property(
        value, mean([one.graded for one in kept]), None if mixed is None else interval(mixed),
        exact, kept[0].reason if value is None else "", draws=mixed,
    )  # fmt: skip
