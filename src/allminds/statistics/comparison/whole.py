"""The whole comparison of some minds on one instrument: scores, pairs, ranks, reliability."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.core.errors import Error, nearest
from allminds.inference import MARGIN, Difference, Estimate, Plays, Rule, corrected
from allminds.inference.estimates import difference, estimate
from allminds.statistics.comparison.effects import (
    Anova,
    Correlation,
    Size,
    correlations,
    paired_g,
    repeated_measures,
)
from allminds.statistics.comparison.people import (
    PEOPLE,
    estimate_people,
    has_people,
    people_difference,
    pooled,
)
from allminds.statistics.comparison.ranks import DRAWS, Rank, by_verdicts, ranks
from allminds.statistics.comparison.reaction import ReactionTimes, reaction_times
from allminds.statistics.comparison.table import (
    ScoreTable,
    check_constant,
    column,
    complexities,
    plays_by_mind,
    rule_of,
    scores_of,
)
from allminds.statistics.reliability import Reliability, counted_minds, reliability, unknown

if TYPE_CHECKING:
    import pandas as pd

    from allminds.contracts import Instrument

MOST_LEVELS = 40  # of a factor
OWN_EXERCISES = "not estimable: an adaptive test gives every mind exercises of its own"


@dataclass(frozen=True)
class Standing:
    """One mind: the score that `evaluate` gives it, and its place among the others."""

    mind: str
    found: Estimate
    rank: int | None
    ranks: tuple[int, int] | None  # 95 %, for all minds at once


@dataclass(frozen=True)
class Comparison:
    """Minds side by side; `notes` say in sentences what could not be estimated, and why."""

    minds: tuple[str, ...]  # in the order of the table
    unit: str  # what is drawn anew in thought: "exercise", or the column of tests
    exercises: int
    common: int  # exercises that all minds have
    standings: tuple[Standing, ...]  # best first, those that are not ranked last
    differences: tuple[Difference, ...]
    sizes: tuple[Size | None, ...]  # Hedges' g of every difference
    correlations: tuple[Correlation, ...]
    reliability: Reliability
    reliable: tuple[str, ...]  # the minds that it is about
    anova: Anova | None
    times: ReactionTimes | None  # of people, where they are known
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Convert the whole comparison to plain values."""
        made = asdict(self)
        made["standings"] = [
            {"mind": one.mind, **asdict(one.found), "rank": one.rank, "ranks": one.ranks,
             "ranked": one.found.ranked, "coverage": one.found.coverage}
            for one in self.standings
        ]  # fmt: skip
        for row, one, size in zip(
            made["differences"], self.differences, made.pop("sizes"), strict=True
        ):
            row |= {"verdict": one.verdict, "g": size}
        for name in ("total_error", "stderr"):
            values = made["reliability"][name]
            made["reliability"][name] = values and dict(zip(self.reliable, values, strict=True))
        return made


def compare(
    frame: pd.DataFrame,
    rng: np.random.Generator,
    *,
    tool: Instrument | None = None,
    minds: Sequence[str] = (),
    baseline: str | None = None,
    unit: str | None = None,
    by: str | None = None,
    margin: float = MARGIN,
    allow_unpaired: bool = False,
    draws: int = DRAWS,
    choices: pd.DataFrame | None = None,
) -> Comparison:
    """Compare the minds of a results table: scores, pairs, ranks, complexity, reliability.

    Scores and differences are of the figure that `tool` makes of plays. All pairs of `minds` are
    asked for, or each against a `baseline`; without them, all pairs but those of the instrument's
    floor and ceiling. `unit` names the column of the tests that exercises come in; `by` a factor,
    at whose values the correlation with complexity is shown and, within tests, the analysis of
    variance is made. `choices` has the choices of people with their times, where those are known.
    """
    if not 0 < margin < np.inf:
        raise Error(f"the margin must be above 0, not {margin:g}")
    rule = rule_of(frame, tool)
    if unit == "person":
        column(frame, unit)
    people = unit in (None, "person") and has_people(frame)
    timed = frame
    if unit in (None, "person"):
        frame, unit = pooled(frame), None
    frame = _asked(frame, minds, baseline)
    scores = scores_of(frame, unit, rule.low)
    plays = plays_by_mind(frame, rule, unit)
    idle = [name for name, own in plays.items() if np.isnan(own.score).all()]
    notes = [f"{name} has no score: none of its exercises was played." for name in idle]
    if len(plays) - len(idle) < 2:
        hint = "; people are compared as one sample: add the results of a program" * people
        hint = hint or "; name another by --mind, or leave --mind out" * bool(minds)
        raise Error(f"a comparison needs two or more minds with scores{hint}")
    if idle:
        frame = frame[~frame["mind"].astype(str).isin(idle)]
        scores = scores_of(frame, unit, rule.low)
        plays = {name: own for name, own in plays.items() if name not in idle}
    if by is not None:
        _check_factor(frame, by)
    pairs = _pairs(list(plays), tool, minds, baseline)
    found = []
    for pair in pairs:
        if PEOPLE in pair and people:
            one, more = people_difference(frame, pair, rule, margin)
            notes += more
        else:
            one = _difference(plays, pair, rule, margin, allow_unpaired)
        found.append(one)
    own = rule.figure is not None
    found = corrected(found)
    notes += _partly(plays, found, rule)
    kept, left = _counted(frame, scores, people)
    anova, said = _anova(frame, unit, by)
    measures = [name for name in complexities(scores.exercises) if name != by]
    return Comparison(
        minds=scores.minds,
        unit=unit or "exercise",
        exercises=len(scores.exercises),
        common=int(scores.common(range(len(scores.minds))).sum()),
        standings=_standings(
            _estimates(frame if people else None, plays, rule),
            plays,
            rule,
            found if people else None,
            rng,
            draws,
        ),
        differences=tuple(found),
        sizes=tuple(
            None if own or (people and PEOPLE in (one.first, one.second)) else _size(scores, one)
            for one in found  # of people, who vary among themselves, g by items would say little
        ),
        correlations=() if own else tuple(correlations(scores, measures, by)),
        reliability=(
            unknown(OWN_EXERCISES) if own else reliability(scores.values[:, kept], scores.unit)
        ),
        reliable=tuple(scores.minds[n] for n in kept),
        anova=anova,
        times=None if minds and PEOPLE not in minds else _times(timed, choices, rule),
        notes=(*dict.fromkeys(notes), *said, *([left] if left and not own else [])),
    )


def _times(frame: pd.DataFrame, choices: pd.DataFrame | None, rule: Rule) -> ReactionTimes | None:
    """Summarise the times of people; their complexity is the one that scores are stratified by."""
    strata = rule.strata if rule.strata in frame and frame[rule.strata].nunique() > 1 else None
    return reaction_times(frame, choices, strata)


def _counted(frame: pd.DataFrame, scores: ScoreTable, sample: bool) -> tuple[list[int], str]:
    """Select the minds that reliability is about, by traits and instrument in the table."""
    from allminds import registry

    traits: dict[str, str] = {}
    if "traits" in frame:
        rows = frame.assign(mind=frame["mind"].astype(str)).drop_duplicates("mind")
        traits = dict(zip(rows["mind"], rows["traits"].fillna("").astype(str), strict=True))
    names = frame["instrument"].astype(str).unique() if "instrument" in frame else ()
    known = [registry.instruments().get(name) for name in names]
    ends = {end for cls in known if cls for end in (cls.floor_mind, cls.ceiling_mind)}
    kept, said = counted_minds(scores.minds, traits, ends - {None})
    if not sample or PEOPLE not in scores.minds:
        return kept, said
    people = "Reliability leaves out people, who are a sample and no one mind."
    return [n for n in kept if scores.minds[n] != PEOPLE], f"{said} {people}".strip()


def _asked(frame: pd.DataFrame, minds: Sequence[str], baseline: str | None) -> pd.DataFrame:
    """Select the rows of the minds that were asked for."""
    wanted = list(dict.fromkeys([*minds, *([baseline] if baseline else [])]))
    known = [str(name) for name in frame["mind"].unique()]
    for name in wanted:
        if name not in known:
            raise Error(f"there is no mind '{name}' in the results; {nearest(name, known)}")
    if not minds:
        return frame
    return frame[frame["mind"].astype(str).isin(wanted)].reset_index(drop=True)


def _pairs(
    names: list[str], tool: Instrument | None, minds: Sequence[str], baseline: str | None
) -> list[tuple[str, str]]:
    """List the pairs that are asked for; p-values are corrected over these and no others.

    Of two `minds` the first is subtracted from the second, in the order in which they are named.
    """
    if baseline:
        return [(name, baseline) for name in names if name != baseline]
    if minds:
        named = [name for name in dict.fromkeys(minds) if name in names]
        return [(second, first) for first, second in itertools.combinations(named, 2)]
    ends = {tool.floor_mind, tool.ceiling_mind} if tool is not None else set()
    asked = list(itertools.combinations(names, 2))
    between = [pair for pair in asked if not set(pair) <= ends]
    return between or asked


def _difference(
    plays: Mapping[str, Plays], pair: tuple[str, str], rule: Rule, margin: float, unpaired: bool
) -> Difference:
    one, other = (plays[name] for name in pair)
    found = difference(one, other, rule, pair, margin, unpaired)
    if found is None:
        raise Error(
            f"{pair[0]} and {pair[1]} have no common exercise; give them the same ones "
            "(the same test, settings and seed), or ask for --unpaired"
        )
    return found


def _size(scores: ScoreTable, pair: Difference) -> Size | None:
    """Compute Hedges' g of a pair, on the units they have in common."""
    places = [scores.minds.index(name) for name in (pair.first, pair.second)]
    if not pair.paired or not scores.common(places).any():
        return None
    one, other = scores.by_unit(places).T
    return paired_g(one, other)


def _standings(
    found: Mapping[str, Estimate], plays: Mapping[str, Plays], rule: Rule,
    verdicts: Sequence[Difference] | None, rng: np.random.Generator, draws: int,
) -> tuple[Standing, ...]:  # fmt: skip
    """Sort the scores, best first; a mind that failed too often has no rank.

    With people among them, who are a sample, ranks are by `verdicts`.
    """
    able = [mind for mind in plays if found[mind].ranked]
    places: dict[str, Rank] = {}
    if rule.figure is None and len(able) > 1:
        if verdicts is not None:
            places = by_verdicts({mind: found[mind].score or 0.0 for mind in able}, verdicts)
        else:
            places = {one.mind: one for one in ranks({m: plays[m] for m in able}, rule, rng, draws)}
    made = [
        Standing(
            mind, one, places[mind].rank if mind in places else None,
            places[mind].interval if mind in places else None,
        )
        for mind, one in found.items()
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda one: (not one.found.ranked, -(one.found.score or 0.0))))


def _estimates(
    people: pd.DataFrame | None, plays: Mapping[str, Plays], rule: Rule
) -> dict[str, Estimate]:
    """Estimate the score of every mind, and of people as a sample of people."""
    found = {mind: estimate(own, rule) for mind, own in plays.items()}
    if PEOPLE in found and people is not None:
        found[PEOPLE] = estimate_people(people, rule)
    return found


def _partly(plays: Mapping[str, Plays], pairs: Sequence[Difference], rule: Rule) -> list[str]:
    """Say which differences rest on a part of the items of a mind, so that scores may not match."""
    said = []
    for one in pairs if rule.figure is None else ():
        first, second = (
            np.unique(plays[name].item[~np.isnan(plays[name].score)])
            for name in (one.first, one.second)
        )
        common = len(np.intersect1d(first, second))
        if one.paired and common < max(len(first), len(second)):
            said.append(
                f"{one.pair} is on the {common:,} items that both have; their scores are on "
                f"{len(first):,} and {len(second):,}."
            )
    return said


def _check_factor(frame: pd.DataFrame, by: str) -> None:
    check_constant(frame, by)
    levels = frame[by].nunique()
    if levels > MOST_LEVELS:
        raise Error(f"'{by}' has {levels} values; compare by a column of at most {MOST_LEVELS}")


def _anova(
    frame: pd.DataFrame, unit: str | None, by: str | None
) -> tuple[Anova | None, tuple[str, ...]]:
    """Test mind and factor within tests, where every test has every value of the factor."""
    if by is None or unit is None or by == unit:
        return None, ()
    good = frame[frame["score"].notna()]
    try:
        return repeated_measures(good, unit, ("mind", by)), ()
    except Error as error:
        return None, (f"No analysis of variance: {error}.",)
