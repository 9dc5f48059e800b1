"""Is a group worth its cost: its score beside the best single mind that costs no more.

Every line-up plays the same exercises, and has a cost an exercise: a stated price a step of every
mind in it, or the tokens or dollars that its language models took. Seconds are told beside it and
decide nothing, for they are another machine's tomorrow.

The collaboration gain Γ is the score of the group minus that of the best of the single minds that
cost no more than the group. The best is chosen on one half of the exercises and compared with the
group on the other half, paired by exercise: chosen and compared on the same ones, the best of
several would seem better than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp, Seat
from allminds.core.spending import ledger_now
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.inference import MARGIN, Difference, Estimate, Plays, Rule, corrected, difference
from allminds.inference.estimates import estimate, plays_of
from allminds.inference.units import Values
from allminds.statistics.gains import EPISODES, check_replays
from allminds.statistics.selection import against_best
from allminds.statistics.worth import members_of

Unit = Literal["stated", "tokens", "dollars"]
Clock = Callable[[], float]
BANDS = 4  # of complexity, at most
NOTHING: Values = np.zeros(0)  # the values of a measure that is not there
SAME = 1e-9  # relative: costs this close are equal


@dataclass(frozen=True)
class Entry:
    """A line-up in settings of its own, with its score and its cost an exercise."""

    label: str  # as it was asked for
    group: bool
    cost: float
    score: Estimate
    plays: Plays = field(repr=False)
    complexity: Mapping[str, Values] = field(default_factory=dict, repr=False)  # [exercise]
    seconds: float | None = None  # an exercise

    def beats(self, other: Entry) -> bool:
        """Check whether this one is as good and as cheap, and better in one of them."""
        own, its = self.score.score or 0.0, other.score.score or 0.0
        as_good = own >= its and self.cost <= other.cost
        return as_good and (own > its or self.cost < other.cost)


@dataclass(frozen=True)
class Band:
    """Γ among the exercises of some complexities."""

    low: float
    high: float
    gain: Difference


@dataclass(frozen=True)
class Collaboration:
    """Γ of one group; None where no single mind costs as little, or exercises are too few."""

    group: str
    rivals: list[str]  # single minds that cost no more
    best: str | None = None  # of these, on the half it was chosen on
    gain: Difference | None = None
    beats_all: bool = False  # it is better than every rival, each compared on all exercises
    measure: str = ""  # of complexity
    bands: Sequence[Band] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the figures, as `--json` prints them."""
        bands = [{"from": b.low, "to": b.high} | _row(b.gain) for b in self.bands]
        found = _row(self.gain) if self.gain else None
        return {"group": self.group, "rivals": self.rivals, "best": self.best, "gain": found,
                "beats_all": self.beats_all, "measure": self.measure, "bands": bands}  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """Groups and single minds, cheapest first, and the collaboration gain of every group."""

    unit: Unit
    entries: list[Entry]
    gains: list[Collaboration]

    def frontier(self, entry: Entry) -> bool:
        """Check whether no other line-up is as cheap and scored as well, or better in one."""
        return not any(other.beats(entry) for other in self.entries)

    def as_json(self) -> dict[str, Any]:
        """Return all figures, as `--json` prints them."""
        entries = [
            {"mind": one.label, "group": one.group, "cost": one.cost, "score": one.score.score,
             "ci95": one.score.ci95, "failed": one.score.failed, "seconds": one.seconds,
             "frontier": self.frontier(one)}
            for one in self.entries
        ]  # fmt: skip
        gains = [one.as_json() for one in self.gains]
        return {"cost": self.unit, "entries": entries, "gains": gains}


def _row(found: Difference) -> dict[str, Any]:
    low, high = found.interval or (None, None)
    return {"gain": found.mean, "low": low, "high": high, "p_holm": found.p_holm,
            "units": found.units[0], "verdict": found.gained}  # fmt: skip


# ---------------------------------------------------------------- playing


@dataclass(frozen=True)
class Asked:
    """What is played: the instrument, its settings and the number of exercises."""

    instrument: str
    settings: Mapping[str, Any]
    prices: Mapping[str, float] = field(default_factory=dict)  # a step, by name; 1 if not stated
    unit: Unit = "stated"
    episodes: int = EPISODES
    seed: int = 1


def costs(
    asked: Asked, groups: Sequence[str], singles: Sequence[str], margin: float = MARGIN,
    clock: Clock | None = None,
) -> Costs:  # fmt: skip
    """Play groups and single minds, and compare each group with the best single of its cost.

    A single mind may have settings of its own behind semicolons: ``local-search; agents=1``.
    """
    if asked.unit not in get_args(Unit):
        raise Error(f"cost is stated, tokens or dollars, not '{asked.unit}'; "
                    f"{nearest(asked.unit, get_args(Unit))}")  # fmt: skip
    prepared = [_prepared(asked, text) for text in dict.fromkeys([*groups, *singles])]
    prices = _prices(prepared, asked.prices)
    first, watch = prepared[0].tool, Watch()
    check_replays(first, asked.episodes)
    with watch.running():
        entries = [
            _entry(asked, one, one.text in groups, price, watch, clock)
            for one, price in zip(prepared, prices, strict=True)
        ]
    _check_alike(entries)
    rule = first.rule()
    measure, values = _measured(entries[0], rule)
    mine = [one for one in entries if one.group]
    rivals = [one for one in entries if not one.group]
    found = [_gain(one, rivals, rule, measure, values, asked.seed, margin) for one in mine]
    right = iter(corrected([one.gain for one in found if one.gain]))
    found = [replace(one, gain=next(right) if one.gain else None) for one in found]
    return Costs(asked.unit, sorted(entries, key=lambda one: one.cost), found)


class Prepared(NamedTuple):
    """A line-up that was resolved, in its settings."""

    text: str
    tool: Instrument
    line_up: LineUp


def _prepared(asked: Asked, text: str) -> Prepared:
    """Resolve a line-up, and the settings of its own behind semicolons."""
    mind, *own = (part.strip() for part in text.split(";"))
    given = dict(part.partition("=")[::2] for part in own)
    tool = registry.make_instrument(asked.instrument, {**asked.settings, **given})
    return Prepared(text, tool, registry.line_up(mind, tool))


def _entry(
    asked: Asked, one: Prepared, group: bool, price: float, watch: Watch, clock: Clock | None
) -> Entry:
    """Play one line-up in its settings, and count what it costs."""
    ledger, begun = ledger_now(), clock() if clock else 0.0
    tokens, dollars = ledger.input_tokens + ledger.output_tokens, ledger.cost
    block = form(one.tool, one.line_up, watch).play(asked.seed, 0, asked.episodes, 0)
    seconds = (clock() - begun) / asked.episodes if clock else None
    if asked.unit == "stated":
        cost = price * float(block.steps.mean())
    elif asked.unit == "tokens":
        cost = (ledger.input_tokens + ledger.output_tokens - tokens) / asked.episodes
    elif ledger.cost is None or dollars is None:
        raise Error(f"{one.text}: the price of its models is not known; state it with --price")
    else:
        cost = (ledger.cost - dollars) / asked.episodes
    rule = one.tool.rule()
    plays = plays_of(block, rule)
    return Entry(one.text, group, cost, estimate(plays, rule), plays, block.complexity, seconds)


def _prices(prepared: Sequence[Prepared], stated: Mapping[str, float]) -> list[float]:
    """Return the price a step of every line-up: as stated for it, or the sum over its minds."""
    used = {one.text for one in prepared}
    found = [
        stated[text] if text in stated
        else sum(_of_seat(seat, stated, used) for seat in line_up.seats)
        for text, _, line_up in prepared
    ]  # fmt: skip
    unknown = set(stated) - used
    if unknown:
        raise Error(f"a price is stated for '{min(unknown)}', which is none of the minds; "
                    f"{nearest(min(unknown), used)}")  # fmt: skip
    return found


def _of_seat(seat: Seat, prices: Mapping[str, float], used: set[str]) -> float:
    """Return the price of a mind, or of all members of a group; 1 where none is stated."""
    name = seat.subject.name
    members = [] if name in prices else members_of(seat)
    used.update([name, *members])
    return sum(prices.get(one, 1.0) for one in members or [name])


def _check_alike(entries: Sequence[Entry]) -> None:
    """Reject settings that make other exercises, by items and complexity: they are no pairs."""
    first = entries[0]
    for one in entries[1:]:
        same = np.array_equal(one.plays.item, first.plays.item)
        for name in {*one.complexity, *first.complexity}:
            own, its = (entry.complexity.get(name, NOTHING) for entry in (one, first))
            same = same and np.array_equal(own, its, equal_nan=True)
        if not same:
            raise Error(f"the exercises of '{one.label}' are not those of '{first.label}'; its "
                        "settings may differ only in what a mind is given")  # fmt: skip


def _measured(entry: Entry, rule: Rule) -> tuple[str, Values]:
    """Return a measure of complexity, and its value in every exercise; NaN if there is none."""
    name = rule.strata or next(iter(entry.complexity), "")
    return name, entry.complexity.get(name, np.full(len(entry.plays), np.nan))


# ---------------------------------------------------------------- the collaboration gain


def _gain(
    group: Entry, singles: Sequence[Entry], rule: Rule, measure: str,
    values: Values, seed: int, margin: float,
) -> Collaboration:  # fmt: skip
    """Compare a group with the best single mind of its cost, on the half it was not chosen on."""
    rivals = [one for one in singles if one.cost <= group.cost * (1 + SAME)]
    found = Collaboration(group.label, [one.label for one in rivals])
    if not rivals:
        return found
    scores = np.stack([one.plays.score for one in rivals], axis=1)
    rng = np.random.default_rng(seed)
    chosen = against_best(scores, group.plays.score, rng, group.plays.cluster)
    if chosen is None:
        return found
    best = rivals[chosen.chosen]
    rows = np.zeros(len(group.plays), bool)
    rows[chosen.compared] = True

    def gain(where: NDArray[np.bool_], rival: Entry) -> Difference | None:
        one, other = group.plays.where(where), rival.plays.where(where)
        return difference(one, other, rule, (group.label, rival.label), margin)

    everywhere = np.ones(len(rows), bool)
    each = [gain(everywhere, one) for one in rivals]
    return replace(
        found,
        best=best.label,
        gain=gain(rows, best),
        beats_all=all(one is not None and one.sign > 0 for one in each),
        measure=measure,
        bands=_bands(lambda where: gain(where & rows, best), values),
    )


def _bands(gain: Callable[[NDArray[np.bool_]], Difference | None], values: Values) -> list[Band]:
    """Compare in bands of complexity with about as many exercises each, corrected over them."""
    if np.isnan(values).any() or len(np.unique(values)) < 2:
        return []
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, BANDS + 1)[1:-1], method="lower"))
    number = np.searchsorted(cuts, values, side="left")
    found = [(number == n, gain(number == n)) for n in np.unique(number)]
    known = [(where, one) for where, one in found if one is not None]
    right = corrected([one for _, one in known])
    return [
        Band(float(values[where].min()), float(values[where].max()), one)
        for (where, _), one in zip(known, right, strict=True)
    ]
