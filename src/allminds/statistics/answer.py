"""The answer about some minds of a run: what report and terminal say first, as data.

Every sentence is a claim with an error rate. Scores and their intervals are those of the tables.
Better, worse and equivalent are verdicts of `inference.verdict` on common exercises, corrected by
Holm over *all* comparisons of the answer (all its minds, rivals and tests), so that a false one is
among them in at most 5 % of runs, whichever of them is singled out afterwards as "the best". Falls
are those of `falls`, corrected likewise over all tests and minds. Nothing is summed over tests.

A mind is fair if it does not see the future, is neither the floor nor the ceiling of the test, and
failed at most 5 % of its exercises. The best fair mind of a test is the one with the highest score,
which therefore flatters it. The median mind is the one in the middle of the fair minds by score, of
an even number the lower of the two. Both are chosen among the minds that the answer is not about.

Where the user asks about no mind in particular, the answer is about the best fair mind of each
test, and corrected as if all pairs of fair minds had been asked for, since it was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from allminds.core.errors import Error
from allminds.core.settings import settings_text
from allminds.inference import MARGIN, Difference, Plays, holm
from allminds.inference.estimates import difference
from allminds.inference.units import Values
from allminds.inference.verdict import ALPHA
from allminds.inference.words import best_first
from allminds.registry import make_instrument
from allminds.statistics.falls import Fall, fall
from allminds.statistics.planning import pair_spread

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Instrument

Pair = tuple[int, str, str]  # the number of a test, and the names of two minds on it
Outcome = Literal["better", "equivalent", "worse", "undecided"]
ASSURANCE = 0.8  # the chance with which a number of exercises is enough
FUTURE = "sees the future"  # of the traits of a clairvoyant


@dataclass(frozen=True)
class Measured:
    """One test with the figures and the plays of its minds, by the names that are shown."""

    label: str
    tool: Instrument
    rows: Mapping[str, Mapping[str, Any]]  # of the summary
    plays: Mapping[str, Plays]
    column: str = ""  # of complexity, if exercises differ in it
    complexity: Mapping[str, Values] | None = None  # of each mind's plays
    clairvoyant: frozenset[str] = frozenset()
    yours: tuple[str, ...] = ()

    @cached_property
    def fair(self) -> list[str]:
        """The fair minds, best first: neither clairvoyant, nor an end, nor failing often."""
        return [
            row["mind"]
            for row in best_first([dict(row) | {"mind": m} for m, row in self.rows.items()])
            if row["ranked"] and not row["end"] and row["mind"] not in self.clairvoyant
        ]

    @property
    def floor(self) -> str | None:
        """The mind that is the floor, if there is exactly one."""
        found = [mind for mind, row in self.rows.items() if row["end"] == "floor"]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class Need:
    """The exercises that would decide an undecided comparison, or why there is no number."""

    rival: str
    exercises: int | None
    why: str = ""


@dataclass(frozen=True)
class OnTest:
    """One mind on one test: its figures, its rivals and the verdicts on them."""

    mind: str
    test: Measured
    best: str | None  # the best fair mind that the answer is not about
    median: str | None
    differences: Mapping[str, Difference]  # by rival: this mind minus the rival
    fall: Fall | None = None
    needs: tuple[Need, ...] = ()

    @property
    def row(self) -> Mapping[str, Any]:
        """The figures of the mind in the summary of the run."""
        return self.test.rows[self.mind]

    @property
    def floor(self) -> str | None:
        """The floor, unless it is this mind."""
        return None if self.test.floor == self.mind else self.test.floor

    @property
    def rivals(self) -> list[str]:
        """The fair minds that it was compared with, best first."""
        return [name for name in self.test.fair if name in self.differences]

    def outcome(self, rival: str | None) -> Outcome | None:
        """Say how this mind did against another; None if they were not compared."""
        found = self.differences.get(rival or "")
        if found is None:
            return None
        if found.sign:
            return "better" if found.sign > 0 else "worse"
        return "equivalent" if found.verdict == "equivalent" else "undecided"

    def same_as(self, rival: str) -> bool:
        """Check whether a rival got the same score on every exercise."""
        one, other = (self.test.plays.get(name) for name in (self.mind, rival))
        return one is not None and other is not None and np.array_equal(one.score, other.score)

    def those(self, outcome: Outcome) -> list[str]:
        """List the fair rivals with an outcome, best first."""
        return [name for name in self.rivals if self.outcome(name) == outcome]

    @property
    def has_curve(self) -> bool:
        """True if exercises of several complexities were given, the same to all minds."""
        return _has_curve(self.test, self.mind)

    @property
    def falls(self) -> bool:
        """True if the score surely falls with complexity."""
        return bool(self.fall and self.fall.p_holm is not None and self.fall.p_holm < ALPHA)


@dataclass(frozen=True)
class MindAnswer:
    """The answer about one mind, or, without a name, about the best fair mind of each test."""

    mind: str | None
    tests: tuple[OnTest, ...]
    not_taken: tuple[str, ...] = ()  # labels of the tests that it did not take

    def outcomes(self, whom: Literal["floor", "best", "median"]) -> dict[Outcome, list[OnTest]]:
        """Sort the tests by how the mind did there against the floor, the best or the median."""
        found: dict[Outcome, list[OnTest]] = {
            "better": [], "equivalent": [], "worse": [], "undecided": []
        }  # fmt: skip
        for one in self.tests:
            outcome = one.outcome(getattr(one, whom))
            if outcome:
                found[outcome].append(one)
        return found

    def count(self, outcome: Outcome) -> int:
        """Count the comparisons with fair rivals, over all tests, that ended so."""
        return sum(len(one.those(outcome)) for one in self.tests)

    @property
    def weakest(self) -> list[OnTest]:
        """The tests with a place between floor and ceiling, lowest first."""
        placed = [one for one in self.tests if one.row["normalised"] is not None]
        return sorted(placed, key=lambda one: float(one.row["normalised"]))


@dataclass(frozen=True)
class Answer:
    """The answer about the minds of the user's, or about the best fair ones if there are none."""

    minds: tuple[MindAnswer, ...]
    yours: bool
    tests: int
    comparisons: int  # that verdicts are corrected for
    falls: int  # curves that falls are corrected for
    margin: float = MARGIN


def answer(tests: Sequence[Measured], margin: float = MARGIN) -> Answer:
    """Answer about the minds that are the user's, or else about the best fair mind of each test."""
    names = list(dict.fromkeys(mind for test in tests for mind in test.yours))
    asked = [list(test.yours) if names else test.fair[:1] for test in tests]
    pairs = [
        (n, mind, rival)
        for n, test in enumerate(tests)
        for mind in asked[n]
        for rival in _rivals(test, mind, asked[n])
    ]
    found = {key: _difference(tests[key[0]], key[1:], margin) for key in pairs}
    known = {key: one for key, one in found.items() if one is not None}
    family = len(known) if names else max(sum(map(_all_pairs, tests)), len(known))
    decided = _corrected(known, family)
    curves = {
        (n, mind): _fall(tests[n], mind)
        for n, own in enumerate(asked)
        for mind in own
        if _has_curve(tests[n], mind)
    }
    fallen = _corrected_falls(curves)
    on = {
        (n, mind): OnTest(
            mind, test, *_chosen(test, asked[n]), _of_mind(decided, n, mind), fallen.get((n, mind))
        )
        for n, test in enumerate(tests)
        for mind in asked[n]
    }
    on = {key: replace(one, needs=_needs(one, family, margin)) for key, one in on.items()}
    minds = tuple(
        MindAnswer(
            name,
            tuple(on[n, name] for n in range(len(tests)) if (n, name) in on),
            tuple(test.label for test in tests if name not in test.yours),
        )
        for name in names
    )
    if not names:
        gone = tuple(test.label for test, own in zip(tests, asked, strict=True) if not own)
        minds = (MindAnswer(None, tuple(on.values()), gone),)
    return Answer(minds, bool(names), len(tests), family, len(curves), margin)


def _rivals(test: Measured, mind: str, asked: Sequence[str]) -> list[str]:
    """List whom a mind is compared with: the floor, fair minds, and others asked about, once."""
    before = asked[: asked.index(mind) + 1]
    names = [*([test.floor] if test.floor else []), *test.fair, *asked]
    return [name for name in dict.fromkeys(names) if name not in before]


def _all_pairs(test: Measured) -> int:
    """Count the pairs of fair minds, and of fair minds with the floor."""
    k = len(test.fair)
    return k * (k - 1) // 2 + (k if test.floor else 0)


def _chosen(test: Measured, asked: Sequence[str]) -> tuple[str | None, str | None]:
    """Choose the best and the median of the fair minds that the answer is not about."""
    others = [name for name in test.fair if name not in asked]
    return (others[0], others[len(others) // 2]) if others else (None, None)


# ---------------------------------------------------------------- verdicts


def _difference(test: Measured, pair: tuple[str, str], margin: float) -> Difference | None:
    if not all(name in test.plays for name in pair):
        return None
    one, other = (test.plays[name] for name in pair)
    return difference(one, other, test.tool.rule(), pair, margin)


def _corrected(found: Mapping[Pair, Difference], family: int) -> dict[Pair, Difference]:
    """Correct both kinds of claim by Holm over `family` comparisons.

    Those of the family that were not computed count as p = 1, which leaves the correction valid.
    """
    known = [key for key, one in found.items() if one.p is not None]
    padding = [1.0] * (family - len(known))
    differ, same = (
        dict(zip(known, holm([*values, *padding]), strict=False))
        for values in (
            [found[key].p or 0.0 for key in known],
            [found[key].p_same or 0.0 for key in known],
        )
    )
    return {
        key: replace(one, p_holm=differ.get(key), p_same_holm=same.get(key))
        for key, one in found.items()
    }


def _of_mind(decided: Mapping[Pair, Difference], test: int, mind: str) -> dict[str, Difference]:
    """Collect the differences of a mind from its rivals on a test, by rival."""
    own = {}
    for (n, one, other), found in decided.items():
        if n == test and mind == one:
            own[other] = found
        elif n == test and mind == other:
            own[one] = reversed_difference(found)
    return own


def reversed_difference(found: Difference) -> Difference:
    """Turn the difference of two minds around: the second minus the first."""

    def turned(ends: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if ends is None else (-ends[1], -ends[0])

    return replace(
        found, first=found.second, second=found.first, units=found.units[::-1], mean=-found.mean,
        interval=turned(found.interval), interval90=turned(found.interval90),
    )  # fmt: skip


# ---------------------------------------------------------------- falls


def _has_curve(test: Measured, mind: str) -> bool:
    """Check for complexities; an adaptive test chooses them by the score, so it has no curve."""
    return not test.tool.adaptive and mind in (test.complexity or {})


def _fall(test: Measured, mind: str) -> Fall | None:
    """Find where a mind's score falls with complexity."""
    assert test.complexity is not None
    plays, rule = test.plays[mind], test.tool.rule()
    found = fall(
        test.complexity[mind], plays.score, plays.item, plays.cluster, (rule.low, rule.high)
    )
    return found and replace(found, column=test.column)


def _corrected_falls(
    found: Mapping[tuple[int, str], Fall | None],
) -> dict[tuple[int, str], Fall]:
    """Correct by Holm over all curves; one without a lower mean above any cut counts as p = 1."""
    values = dict(zip(found, holm([one.p if one else 1.0 for one in found.values()]), strict=True))
    return {key: replace(one, p_holm=values[key]) for key, one in found.items() if one}


# ---------------------------------------------------------------- what would make it surer


def _needs(on: OnTest, family: int, margin: float) -> tuple[Need, ...]:
    """Plan the exercises for the comparisons with the floor, the best and one's own others."""
    whom = [on.floor, on.best, *(name for name in on.test.yours if name != on.mind)]
    return tuple(
        _need(on, name, family, margin)
        for name in dict.fromkeys(whom)
        if name is not None and on.outcome(name) == "undecided"
    )


def _need(on: OnTest, rival: str, family: int, margin: float) -> Need:
    """Count the exercises that decide a comparison with the chance `ASSURANCE` or more.

    An interval no longer than δ either excludes 0 or lies within ±δ, so it decides. Its level is
    the one that the first of Holm's corrected tests needs.
    """
    tool, rows = on.test.tool, on.test.rows
    often = [name for name in (on.mind, rival) if not rows[name]["ranked"]]
    if often:
        return Need(rival, None, f"{often[0]} failed too many exercises")
    if tool.length:
        return Need(rival, None, f"this form has {tool.length} exercises and no more")
    spread = _spread(on.test, on.mind, rival)
    if isinstance(spread, str):
        return Need(rival, None, spread)
    from scipy.special import ndtri

    wider = float(ndtri(1 - ALPHA / 2 / family) / ndtri(1 - ALPHA / 2))
    try:
        exercises = spread.exercises_for(margin / 2 / wider, ASSURANCE)
    except Error as error:
        return Need(rival, None, str(error))
    if not spread.variance or exercises <= rows[on.mind]["episodes"]:
        return Need(rival, None, "they are too much alike on these exercises to say how many")
    return Need(rival, exercises)


def _spread(test: Measured, mind: str, rival: str) -> Any:
    """Estimate how much the difference of two minds varies, or say why that is impossible."""
    one, other = (test.plays[name] for name in (mind, rival))
    rule = test.tool.rule()
    if rule.figure is not None:
        figures = [plays.figures(rule) for plays in (one, other)]
        n = min(map(len, figures))
        zeros = np.zeros(n, np.intp)
        return pair_spread(figures[0][:n] - figures[1][:n], zeros, rule.sitting)
    if len(one) != len(other):
        return "they did not take the same exercises"
    strata = np.unique(one.stratum, return_inverse=True)[1].astype(np.intp)
    return pair_spread(one.score - other.score, strata)


# ---------------------------------------------------------------- from a table of results


def answer_of(
    summary: Mapping[str, Any],
    frame: pd.DataFrame,
    minds: Sequence[Mapping[str, str]] = (),
    tools: Sequence[Instrument] = (),
    margin: float = MARGIN,
) -> Answer:
    """Answer from the summary of a run, or of one test, and its records.

    The summary says whose minds are asked about (`yours`). `minds` has, for every test, the mind
    that each line-up's score belongs to, where that is not the line-up itself; `tools` are the
    instruments, which are made from the summary if they are not given.
    """
    tests = summary.get("tests", [summary])
    names = list(minds) or [{}] * len(tests)
    made = list(tools) or [make_instrument(one["instrument"], one["settings"]) for one in tests]
    told = labels([(one["instrument"], one["settings"], "") for one in tests])
    found = []
    for n, test in enumerate(tests):
        rows = frame if "tests" not in summary else frame[frame["test"] == n]
        rows = rows.drop(columns="test", errors="ignore")
        yours = summary.get("yours", ())
        found.append(measured(told[n], made[n], test["results"], rows, yours, names[n]))
    return answer(found, margin)


def labels(tests: Sequence[tuple[str, Mapping[str, Any], str]]) -> list[str]:
    """Label each test by its instrument, its opponents and the settings that tell it apart.

    A test is given as (instrument, settings, opponents).
    """
    made = []
    for name, settings, against in tests:
        like = [of for other, of, _ in tests if other == name]
        apart = {
            key: value
            for key, value in settings.items()
            if any(other.get(key) != value for other in like)
        }
        said = f"{name} against {against}" if against else name
        made.append(f"{said}, {settings_text(apart)}" if apart else said)
    return [
        label if made.count(label) == 1 else f"{label} (test {number})"
        for number, label in enumerate(made, 1)
    ]


def measured(
    label: str,
    tool: Instrument,
    results: Sequence[Mapping[str, Any]],
    frame: pd.DataFrame,
    yours: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> Measured:
    """Collect one test from the rows of its summary and its records.

    `names` has the name that is shown for each line-up; `yours` are the shown names of the minds
    that the user asks about.
    """
    from allminds.core.table import scored
    from allminds.statistics.comparison.table import plays_by_mind, scores_of

    shown = {row["mind"]: (names or {}).get(row["mind"], row["mind"]) for row in results}
    rows = {shown[row["mind"]]: row for row in results}
    who = "line_up" if "line_up" in frame else "mind"
    seats = frame.sort_values("slot", kind="stable") if "slot" in frame else frame
    first = seats.drop_duplicates(who)
    traits = dict(zip(first[who].astype(str), first["traits"].fillna(""), strict=True))
    counted, rule = scored(frame), tool.rule()
    played = {shown[mind]: plays for mind, plays in plays_by_mind(counted, rule).items()}
    names_of = [c for c in (tool.strata, "K", "k") if c and c in frame and frame[c].notna().any()]
    column = names_of[0] if names_of else ""
    complexity: dict[str, Values] = {}
    if column and not tool.adaptive and frame[column].nunique() > 1:
        values = scores_of(counted).exercises[column].to_numpy(float)
        complexity = {m: values for m, plays in played.items() if len(plays) == len(values)}
    return Measured(
        label, tool, rows, played, column if complexity else "", complexity,
        frozenset(shown[mind] for mind, of in traits.items() if FUTURE in of),
        tuple(mind for mind in rows if mind in yours),
    )  # fmt: skip
