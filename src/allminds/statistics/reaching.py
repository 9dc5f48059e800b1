"""Sample efficiency: the experience that a mind needs to come a share of the way to the ceiling.

The way is from the floor mind to the ceiling mind on the same exercises of the same course, or to
the fair ceiling where it is known. The interval holds every experience at which the mean gap to the
goal may be 0, by the 95 % interval of that mean over courses: if scores rise with experience, it
misses the true one in at most 5 % of studies, however few the courses, where resampling few courses
would miss it more often.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.course import CourseInstrument
from allminds.inference.intervals import Interval, of_difference
from allminds.inference.units import Units, Values
from allminds.statistics.courses import Design, Lives, experience, lines, mean_of

SHARES = (0.5, 0.8)  # of the way from floor to ceiling
BETWEEN = 8  # places that are looked at between two points of a curve


@dataclass(frozen=True)
class Reached:
    """The experience at which a mind reaches a share of the way; infinite if it never does."""

    test: str
    mind: str
    line: str  # the curve: training, or some tests
    share: float
    ceiling: str  # what the way leads to: the ceiling mind, the fair ceiling or a known bound
    trained: float  # training exercises
    interval: Interval
    longest: float  # the experience that the curve ends at
    courses: int

    def words(self, value: float) -> str:
        """Write an experience; one beyond the curve as more than its end."""
        return f"{value:.0f}" if math.isfinite(value) else f"> {self.longest:.0f}"

    @property
    def interval_words(self) -> str:
        """The interval in words; a mind that surely stays below has its lower end only."""
        low, high = self.interval
        if low >= self.longest:
            return self.words(math.inf)
        return f"[{self.words(low)}, {self.words(high)}]"

    def as_json(self) -> dict[str, Any]:
        """Convert to plain values; None stands for more than `longest`."""

        def plain(value: float) -> float | None:
            return value if math.isfinite(value) else None

        low, high = self.interval
        made = asdict(self) | {"trained": plain(self.trained)}
        return made | {"interval": [plain(low), plain(high)]}


def check_shares(shares: Sequence[float]) -> None:
    """Reject shares of the way that are not between 0 and 1."""
    for share in shares:
        if isinstance(share, bool) or not 0 < share <= 1:
            raise Error(f"a share of the way to the ceiling is above 0 and at most 1, not {share}")


def reached(
    test: str, one: Lives, lives: Sequence[Lives], design: Design, tool: Instrument,
    shares: Sequence[float] = SHARES,
) -> Iterator[Reached]:  # fmt: skip
    """Compute the experience to each share of the way, from tests if they come at least twice."""
    curves = [(line, places) for line, places in lines(design) if len(places) > 1]
    tests = [(line, places) for line, places in curves if line != "training"]
    low, high = tool.lowest - tool.highest, tool.highest - tool.lowest
    for line, places in tests or curves:
        x = np.array([experience(design, where) for where in places])
        own = _along(one.score, places)
        bottom, top, named = _way(lives, places, tool, one.rows)
        for share in shares:
            gap = own - bottom - share * (top - bottom)
            gap = gap[~np.isnan(gap).any(axis=1)]
            if len(gap) > 1:
                value, interval = crossing(x, gap, (low, high))
                yield Reached(
                    test, one.mind, line, share, named, value, interval, float(x[-1]), len(gap)
                )


def _along(score: Values, places: Sequence[NDArray[np.int64]]) -> Values:
    """Average the scores of each course at each point of a curve: [course, point]."""
    return np.stack([mean_of(score[:, where]) for where in places], axis=1)


def _way(
    lives: Sequence[Lives], places: Sequence[NDArray[np.int64]], tool: Instrument,
    rows: NDArray[np.int64],
) -> tuple[Values, Values, str]:  # fmt: skip
    """Return floor and ceiling at each point of some courses, and the name of the ceiling."""
    of, shape = {one.mind: one for one in lives}, (len(rows), len(places))
    floor, ceiling = of.get(tool.floor_mind), of.get(tool.ceiling_mind or "")
    bottom = _along(floor.score[rows], places) if floor else np.full(shape, tool.chance)
    fair = _fair(tool)
    if fair is not None:
        return bottom, np.full(shape, fair), "fair ceiling"
    if ceiling is not None:
        return bottom, _along(ceiling.score[rows], places), ceiling.mind
    return bottom, np.full(shape, tool.ceiling), "known bound"


def _fair(tool: Instrument) -> float | None:
    """Return the fair ceiling of a course whose phases are all the instrument as it is."""
    if isinstance(tool, CourseInstrument) and all(part is tool.inner for part in tool.parts):
        return tool.inner.fair_ceiling().score
    return None


def crossing(x: Values, gap: Values, scale: Interval) -> tuple[float, Interval]:
    """Find where the mean of gap[course, point] reaches 0, and the interval of that experience.

    The estimate is from the rising curve nearest to the means; between points all is linear.
    """
    end = float(x[-1])
    means = rising(gap.mean(axis=0))
    value = math.inf
    if means[0] >= 0:
        value = 0.0
    elif means[-1] >= 0:
        at = int(np.argmax(means >= 0))
        low, high = means[at - 1], means[at]
        value = float(x[at - 1] + (x[at] - x[at - 1]) * -low / (high - low))
    fine = np.unique(np.concatenate([
        np.linspace(a, b, BETWEEN, endpoint=False) for a, b in itertools.pairwise(x)
    ] + [[end]]))  # fmt: skip
    ends = np.array([_interval(_at(x, gap, place), scale) for place in fine])
    possible = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    below, above = ends[:, 1] < 0, ends[:, 0] > 0
    low = float(fine[np.flatnonzero(below)[-1]]) if below.any() else 0.0
    if possible.any():
        low = 0.0 if possible[0] else float(fine[np.flatnonzero(possible)[0] - 1])
    elif below.all():
        return value, (end, math.inf)
    high = math.inf
    if above[-1]:
        last = np.flatnonzero(possible)
        high = float(fine[last[-1] + 1]) if len(last) else float(fine[np.argmax(above)])
    return value, (min(low, value), max(high, value))


def _at(x: Values, gap: Values, place: float) -> Values:
    """Interpolate the gap of every course at an experience."""
    return np.array([np.interp(place, x, course) for course in gap])


def _interval(values: Values, scale: Interval) -> Interval:
    n = len(values)
    units = Units(values, np.zeros(n, np.int64), np.arange(n), np.ones(1), *scale)
    return of_difference(units, hits=False).interval()


def rising(means: Values) -> Values:
    """Fit the rising curve nearest to the means (isotonic regression by its minimax formula)."""
    n = len(means)
    total = np.concatenate([[0.0], np.cumsum(means)])
    fitted = np.full(n, -np.inf)
    for a in range(n):
        runs = (total[a + 1 :] - total[a]) / np.arange(1, n - a + 1)
        lowest = np.minimum.accumulate(runs[::-1])[::-1]
        fitted[a:] = np.maximum(fitted[a:], lowest)
    return fitted
