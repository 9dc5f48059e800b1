"""The survey of an instrument with some minds as a game: its profile, its test and reliability.

An `InstrumentGame` is exact where it can be, else played. Where not all minds can be crossed, some
are chosen by lot (`Some`), and the scores of all are estimated from line-ups that are drawn
(`drawn_scores`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from allminds import registry
from allminds.contracts import Instrument, Record
from allminds.core.errors import Error
from allminds.core.line_up import LineUp as Seated
from allminds.core.line_up import Subject
from allminds.core.seeding import MAKING, Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, play
from allminds.exact import Machine, Node, Outcome, Tree, Walker, outcome
from allminds.inference import plain_interval
from allminds.statistics.testbed.bed import (
    ActionSequence,
    Floats,
    Game,
    LineUp,
    Played,
    Sampling,
    Teams,
    Testbed,
    Weights,
    checked_line_up,
    name_of,
    slots,
)
from allminds.statistics.testbed.exact import Profile, exact_profile
from allminds.statistics.testbed.results import Property
from allminds.statistics.testbed.sampled import LEAST, crossed, sampled_profile
from allminds.statistics.testbed.trial import (
    Draws,
    Estimated,
    Reliance,
    check_record,
    estimate,
    literal_limit,
    repeated_tests,
)

RANDOM = "random"
MOST_SEQUENCES = 200_000  # of actions, that are followed


class InstrumentGame:
    """An instrument and some minds, by their names."""

    def __init__(self, tool: Instrument, minds: Sequence[str], watch: Watch | None = None) -> None:
        self.tool, self.watch = tool, watch or Watch()
        self.name, self.minds = tool.name, tuple(minds)
        self._exercise = tool.exercise(0, 0)
        self._machines: dict[tuple[int, int], Machine] = {}
        environment = self._exercise.environment
        self.teams: Teams = environment.teams
        self.steps: int = environment.steps
        self.score: Literal["mean", "total"] = environment.score
        self.subjects = [_single(registry.subject(mind, tool)) for mind in self.minds]

    @cached_property
    def random(self) -> int | None:
        """The uniformly random mind: one of the minds, or the one after them."""
        if RANDOM in self.minds:
            return self.minds.index(RANDOM)
        return len(self.minds) if RANDOM in registry.minds(self.name) else None

    def outcome(self, line_up: LineUp) -> Outcome:
        """Compute the expected outcome of a line-up, if the game and all its minds allow it."""
        names = [name_of(self, number) for number in checked_line_up(self, line_up)]
        return outcome(self.tool, names)

    def others(self, line_up: LineUp, slot: int) -> Mapping[ActionSequence, float]:
        """Compute what all slots but one may do, if it is not too much to be followed."""
        machines = [self._machine(number, place) for place, number in enumerate(line_up)]
        return acts_of_others(self._walker.tree(machines), slot, self.name)

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self.name, self._exercise.environment)

    def _machine(self, number: int, slot: int) -> Machine:
        if (number, slot) not in self._machines:
            subject = self._subject(number)
            task = Episode(self._exercise).task(slot, future=subject.traits.sees == "future")
            self._machines[number, slot] = Machine(subject, task)
        return self._machines[number, slot]

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """One exercise of the instrument."""
        seats = [self._subject(number) for number in checked_line_up(self, line_up)]
        seated = Seated.of(seats, self.tool.slots)
        return play(self.tool.exercise(seed, exercise), seated, self.watch)

    def _subject(self, number: int) -> Subject:
        return self.subjects[number] if number < len(self.minds) else self._chance

    @cached_property
    def _chance(self) -> Subject:
        return registry.subject(RANDOM, self.tool)


def acts_of_others(tree: Tree, slot: int, name: str) -> dict[ActionSequence, float]:
    """Compute the distribution of what all slots but one do; shared histories go on as one."""
    here: dict[tuple[ActionSequence, Node], float] = {((), tree.start): 1.0}
    found: dict[ActionSequence, float] = {}
    for layer in tree.layers:
        following: dict[tuple[ActionSequence, Node], float] = {}
        for (so_far, place), chance in here.items():
            if not layer[place]:
                found[so_far] = found.get(so_far, 0.0) + chance
            for move in layer[place]:
                done = (*so_far, move.joint[:slot] + move.joint[slot + 1 :])
                into = (done, move.after)
                following[into] = following.get(into, 0.0) + chance * move.chance
        if len(following) > MOST_SEQUENCES:
            raise Error(
                f"{name}: the others may act in more than {MOST_SEQUENCES:,} ways; set fewer steps"
            )
        here = following
    return found


def _single(subject: Subject) -> Subject:
    if subject.group:
        raise Error(f"{subject.name} is a group; a line-up has a mind in every slot")
    return subject


def default_minds(tool: Instrument) -> tuple[str, ...]:
    """Return the minds of a testbed when none is named."""
    found = tool.presentation.minds
    if not found:
        raise Error(
            f"{tool.name} has no usual minds; name some with --minds, see allminds list minds"
        )
    return found


# ---------------------------------------------------------------- the survey


class Some:
    """A game restricted to some of its minds."""

    def __init__(self, game: Played, chosen: Sequence[int]) -> None:
        self.game, self.chosen = game, tuple(chosen)
        self.name, self.teams = game.name, game.teams
        self.steps, self.score = game.steps, game.score
        self.minds = tuple(game.minds[n] for n in self.chosen)
        self.random: int | None = None
        if game.random is not None:
            there = game.random in self.chosen
            self.random = self.chosen.index(game.random) if there else len(self.chosen)
        self._numbers = (*self.chosen, game.random)

    teams: Teams
    score: Literal["mean", "total"]

    def play(self, line_up: LineUp, seed: int, exercise: int) -> Record:
        """Play the whole game, with these minds by their numbers there."""
        numbers = (self._numbers[n] for n in line_up)
        return self.game.play(tuple(n for n in numbers if n is not None), seed, exercise)


def crossable(game: Game, episodes: int) -> int:
    """Count the minds that can be crossed within so many episodes."""
    n = len(game.minds)
    while n > 1 and LEAST * line_up_count(game, n) > episodes:
        n -= 1
    return n


def line_up_count(game: Game, n: int) -> int:
    """Count line-ups of n minds, and those with π_r in one slot or two, if it may be extra."""
    places = slots(game)
    extra = game.random is not None and (n < len(game.minds) or game.random == n)
    with_random = places * n ** (places - 1) + math.comb(places, 2) * n ** max(0, places - 2)
    return int(n**places) + (with_random if extra else 0)


def by_lot(minds: int, wanted: int, seed: int) -> tuple[int, ...]:
    """Choose so many different minds by lot, each equally likely, in their old order."""
    words = [(Random(key(seed, mind, MAKING), 1).word(), mind) for mind in range(minds)]
    return tuple(sorted(mind for _, mind in sorted(words)[:wanted]))


@dataclass(frozen=True, eq=False)
class MindScores:
    """Υ̂(π) of every mind from line-ups that were drawn; NaN where a mind was not met enough."""

    values: Floats
    low: Floats  # of the 95 % interval
    high: Floats
    met: Floats  # how often


def drawn_scores(
    testbed: Testbed[Played], exercises: int, sampling: Sampling | None = None, seed: int = 1
) -> MindScores:
    """Draw line-ups and credit every mind in them, by Hájek's estimator; keep only sums."""
    draws, n = Draws(testbed, sampling), len(testbed.minds)
    p_pi = [float(chance) for chance in draws.p_pi]
    sums = np.zeros((6, n))  # of 1, a, a R, a², a² R, a² R² over all meetings, a the ratio w/p
    for e in range(exercises):
        what = draws.draw(seed, e)
        at, game = what.environment, testbed.games[what.environment]
        record = game.play(what.line_up, seed, e)
        check_record(game, record, what.line_up)
        outer = float(testbed.w_m[at] / draws.p_m[at])
        for slot, mind in enumerate(what.line_up):
            others = (p_pi[m] for j, m in enumerate(what.line_up) if j != slot)
            weight = outer * float(testbed.w_s[at][slot]) * testbed.w_l[at].of_others(
                what.line_up, slot)  # fmt: skip
            a, r = weight / math.prod(others), record.score[slot] or 0.0
            sums[:, mind] += (1.0, a, a * r, a * a, a * a * r, a * a * r * r)
    met, total, first, squares, mixed, second = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        values = first / total
        stderr = np.sqrt(np.maximum(second - 2 * values * mixed + values**2 * squares, 0)) / total
    ends = [
        plain_interval(v, s, m) or (math.nan, math.nan)
        for v, s, m in zip(values, stderr, met, strict=True)
    ]
    constant = testbed.weights.constant
    low, high = constant * np.array(ends).T
    return MindScores(constant * values, low, high, met)


# ---------------------------------------------------------------- the survey


MOST_EXACT = 20_000  # line-ups, unless exact results are asked for
MOST_TRIED = 1000  # episodes to find the reliability by
MOST_MINDS = 20  # that are tested for it
FEWEST = 3  # minds to cross, for grading
APART = 1 << 32  # added to a seed for exercises other than those of the profile

Bed = Testbed[InstrumentGame]


@dataclass(frozen=True, eq=False)
class Survey:
    """The profile of a testbed, its test Υ̂, and the reliability of that test."""

    minds: tuple[str, ...]
    properties: Mapping[str, Property]
    profile: Profile  # of all the minds, or of those that were crossed
    test: Estimated
    literal_bias: float  # of eq. 2 as printed
    reliance: Reliance

    def as_json(self) -> dict[str, Any]:
        """Convert the survey to what `--json` prints."""
        found = self.profile.as_json()
        some = {"crossed_minds": found["minds"]} if len(found["minds"]) < len(self.minds) else {}
        changed = {
            "minds": list(self.minds),
            "properties": {name: one.as_json() for name, one in self.properties.items()},
        }
        test = {
            "exercises": self.test.exercises, "hajek": self.test.hajek,
            "stderr": self.test.stderr, "ci95": list(self.test.ci95 or ()),
            "literal": self.test.literal, "literal_bias": self.literal_bias,
        }  # fmt: skip
        return found | changed | some | {"test": test, "reliability": self._reliability()}

    def _reliability(self) -> dict[str, Any]:
        rely = self.reliance
        by_second, by_step = rely.efficiency()
        return {
            "exercises": rely.exercises, "tests": rely.tests,
            "test_error": rely.total_error, "rel": rely.rel,
            "stderr_of_measurement": float(np.sqrt(rely.total_error)),
            "generalisability": rely.generalisability,
            "generalisability_in_common": rely.generalisability_in_common,
            "steps": rely.steps, "seconds": rely.seconds,
            "efficiency_per_step": by_step, "efficiency_per_second": by_second,
            "minds": [
                {"mind": self.minds[mind], "test_error": error.total, "bias2": error.bias**2,
                 "variance": error.variance, "rel": error.rel,
                 "stderr_of_measurement": error.stderr}
                for mind, error in zip(rely.minds, rely.errors, strict=True)
            ],
        }  # fmt: skip


def survey(
    tool: Instrument,
    minds: Sequence[str],
    exact: bool | None = None,
    episodes: int = 2000,
    seed: int = 1,
    weights: Weights | None = None,
) -> Survey:
    """Survey a game with these minds: exactly if it is small enough, unless `exact` says how."""
    game = InstrumentGame(tool, minds)
    testbed: Bed = Testbed([game], weights or Weights())
    with game.watch.running():
        profile, properties = _profiled(testbed, exact, episodes, seed)
        tried = max(2, min(episodes, MOST_TRIED))
        test = estimate(testbed, tried, seed=seed + APART)
        bias = test.literal - test.hajek
        if profile.made["exact"]:
            limit = testbed.weights.constant * literal_limit(Draws(testbed), testbed)
            bias = limit - float(properties["upsilon"].value or 0)
        rely = _reliance(testbed, properties, tried, seed)
    return Survey(game.minds, properties, profile, test, bias, rely)


def _profiled(
    testbed: Bed, exact: bool | None, episodes: int, seed: int
) -> tuple[Profile, dict[str, Property]]:
    """Profile the game, exactly if possible or as told; sampled results say why they are."""
    game = testbed.games[0]
    why = "asked for"
    if exact is not False:
        try:
            _check_exact(game, exact)
            profile = exact_profile(game, testbed.w_l[0], testbed.w_s[0])
            return profile, dict(profile.properties)
        except Error as error:
            if exact:
                raise
            why = str(error).partition(";")[0]
    profile, properties = _sampled(testbed, episodes, seed)
    return replace(profile, made={**profile.made, "why_sampled": why}), properties


def _check_exact(game: InstrumentGame, exact: bool | None) -> None:
    """Reject a game that cannot be exact before all line-ups are tried."""
    count = len(game.minds) ** game.tool.slots
    if exact is None and count > MOST_EXACT:
        raise Error(f"{count:,} line-ups are many; --exact tries them all")
    for number in range(len(game.minds)):
        game.outcome((number,) * game.tool.slots)


def _sampled(testbed: Bed, episodes: int, seed: int) -> tuple[Profile, dict[str, Property]]:
    """Cross all minds, or as many as possible, by lot; then draw the scores of all besides."""
    game = testbed.games[0]
    number = crossable(game, episodes)
    if number == len(game.minds):
        profile = sampled_profile(crossed(game, testbed.w_l[0], episodes, seed), testbed.w_s[0])
        return profile, dict(profile.properties)
    number = crossable(game, episodes // 2)
    if number < FEWEST:
        least = min(line_up_count(game, len(game.minds)), 2 * line_up_count(game, FEWEST)) * LEAST
        raise Error(
            f"{game.name}: {episodes:,} episodes are too few for its line-ups; give --episodes "
            f"{least}, or name fewer minds"
        )
    some = Some(game, by_lot(len(game.minds), number, seed))
    weights = Testbed([some]).w_l[0]
    profile = sampled_profile(crossed(some, weights, episodes // 2, seed), testbed.w_s[0])
    drawn = drawn_scores(testbed, episodes // 2, seed=seed + 3 * APART)
    test = estimate(testbed, episodes // 2, seed=seed + 3 * APART)
    properties = {"upsilon": _known(test.hajek, test.ci95)}
    for mind, value, low, high in zip(game.minds, drawn.values, drawn.low, drawn.high, strict=True):
        ends = None if np.isnan(low) else (float(low), float(high))
        properties[f"upsilon[{mind}]"] = _known(float(value), ends)
    rest = {name: one for name, one in profile.properties.items() if "upsilon" not in name}
    return profile, properties | rest


def _known(value: float, ci95: tuple[float, float] | None) -> Property:
    """Build a score that was drawn, with its interval or the reason why there is none."""
    if np.isnan(value):
        return Property(None, reason="it was never met; give more --episodes")
    why = "" if ci95 else "no interval: it was met less than 8 times, or always with one result"
    return Property(value, ci95=ci95, reason=why)


def _reliance(
    testbed: Bed, properties: Mapping[str, Property], episodes: int, seed: int
) -> Reliance:
    """Repeat tests of one exercise, for all minds or for some by lot."""
    scores = [properties[f"upsilon[{mind}]"] for mind in testbed.minds]
    known = [n for n, score in enumerate(scores) if score.value is not None]
    asked = [known[n] for n in by_lot(len(known), MOST_MINDS, seed)]
    noise = [0.0 if score.exact else _variance(score) for score in scores]
    return repeated_tests(
        testbed,
        truth=[float(score.value or 0.0) for score in scores],
        minds=asked,
        tests=max(2, episodes // max(1, len(asked))),
        seed=seed + 2 * APART,
        noise=float(np.mean([noise[n] for n in asked])),
    )


def _variance(score: Property) -> float:
    """Compute the squared standard error from an interval."""
    return 0.0 if score.ci95 is None else ((score.ci95[1] - score.ci95[0]) / 3.92) ** 2
