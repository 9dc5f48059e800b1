"""Public conformance checks: run them on your own mind or instrument before you trust a score.

Both raise `Error` with the first thing that is wrong, and return nothing if all is well.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from allminds import registry
from allminds.contracts import Discrete, Environment, Exercise, Failure, Instrument, Record
from allminds.core.blocks import block_difference
from allminds.core.errors import Error
from allminds.core.leaks import changed, holdings
from allminds.core.line_up import LineUp, Subject
from allminds.core.seeding import Noted, Random, Withheld, key
from allminds.core.watch import Watch
from allminds.course import CourseInstrument
from allminds.episode import Company, Episode, Plain, form, play, play_on
from allminds.inference.estimates import plays_of
from allminds.inference.intervals import Betting, betting_of

SEED = 20
PLAYS = 200  # exercises whose mean is compared with the stated chance and ceiling
ERROR_RATE = 0.001  # at most, of refusing an instrument whose chance and ceiling are right
_EXERCISES = 4
_ROUNDING = 1e-9  # by which a score may differ from what is stated


def check_mind(
    who: Any, instrument: str | type[Instrument], settings: Mapping[str, Any] | None = None
) -> None:
    """Check that a mind keeps the contract on an instrument.

    The mind answers every exercise with an action that there is, repeats itself given the same
    random words, stores nothing between exercises, carries in a course only what is in its
    instance, reads no random word twice and none of an earlier step, draws no words if it says it
    is deterministic, and gives the same results in its quick form as in the plain loop.

    Parameters
    ----------
    who : str, class, function or object
        The mind, as `evaluate` takes it.
    instrument : str or class
        The test that it is tried on.
    settings : mapping, optional
        The settings of the test.

    Raises
    ------
    Error
        If it does not, with what it did.

    Examples
    --------
    >>> from allminds import check_mind
    >>> check_mind(lambda observation: 0, "matching-pennies")
    >>> check_mind(lambda observation: 7, "matching-pennies")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    allminds.core.errors.Error: ...
    """
    tool = registry.make_instrument(instrument, settings)
    line_up = registry.line_up(who, tool)
    watch = Watch()
    with watch.running():
        first, held = _played_first(tool, line_up, watch)
        alone = [record for _, record in play_on(tool, line_up, SEED, 0, _EXERCISES, watch)]
        for record in alone:
            _require(
                set(record.status) == {"ok"},
                f"{line_up.name} fails exercise {record.index}: {record.status}, {record.reason}",
            )
        backwards = [
            play(tool.exercise(SEED, i, _history(tool, alone, i)), line_up, watch)
            for i in range(_EXERCISES)[::-1]
        ]
        _require(
            [_outcome(record) for record in alone] == [_outcome(r) for r in backwards[::-1]],
            f"{line_up.name} does not repeat itself: it has randomness or memory of its own; "
            "draw from the 'random' it is given and keep nothing outside the instance",
        )
        _require(
            first is None or _outcome(first) == _outcome(alone[-1]),
            f"{line_up.name} plays exercise {_EXERCISES - 1} otherwise after others than alone: it "
            "carries something from one into the next, which it may do in a course only",
        )
        _check_holdings(line_up, held)
        _check_carrying(tool, line_up, watch)
        _check_draws(tool, line_up, alone[0], watch)
        _check_traits(tool, line_up, alone[0], watch)
        _check_forms(tool, line_up, watch)


def _played_first(
    tool: Instrument, line_up: LineUp, watch: Watch
) -> tuple[Record | None, list[dict[str, int]]]:
    """Play the last exercise before any other, and note what the minds' code holds after it.

    What a mind loads once, when it is first used, is there then.
    """
    if tool.adaptive:
        return None, []
    record = play(tool.exercise(SEED, _EXERCISES - 1), line_up, watch)
    return record, [holdings(maker) for maker in _makers(line_up)]


def _makers(line_up: LineUp) -> list[Any]:
    """List the classes and functions of the user's minds."""
    subjects = (one for seat in line_up.seats for one in (seat.subject, *seat.subject.members))
    return [one.maker for one in subjects if one.maker is not None and not one.built_in]


def _check_holdings(line_up: LineUp, before: list[dict[str, int]]) -> None:
    """Check that classes, modules and functions hold what they held before the exercises."""
    for maker, was in zip(_makers(line_up), before, strict=False):
        where = changed(was, holdings(maker))
        _require(
            where is None,
            f"{line_up.name} stores in {where} between exercises; keep it in the instance (for a "
            "course, with Traits(carries=True)), and what a pure function returns in lru_cache",
        )


def _check_carrying(tool: Instrument, line_up: LineUp, watch: Watch) -> None:
    """Check that a mind that carries repeats a course, and that tests teach it nothing.

    Another course comes first: what a mind loads once, when a course begins, is there then.
    """
    if tool.adaptive or not any(seat.subject.traits.carries for seat in line_up.seats):
        return
    course = CourseInstrument(tool, "train=2,test,again=1")
    play_on(course, line_up, SEED + 1, 0, 4, watch)
    held = [holdings(maker) for maker in _makers(line_up)]
    given = [course.exercise(SEED, i) for i in range(4)]
    found = []
    for order in ((0, 1, 2, 3), (0, 1, 3, 2)):
        company = Company(line_up, watch)
        found.append({i: company.play(given[i], []) for i in order})
    for i, record in found[0].items():
        _require(
            set(record.status) == {"ok"},
            f"{line_up.name} fails exercise {i} of a course: {record.reason}",
        )
        _require(
            _outcome(record) == _outcome(found[1][i]),
            f"{line_up.name} plays exercise {i} of a course otherwise if tests come in another "
            "order: its copies must share nothing with it",
        )
    _check_holdings(line_up, held)


def _history(tool: Instrument, records: list[Record], i: int) -> list[Record]:
    """Select the earlier records of exercise i's administration, from those of exercises 0, 1, …"""
    return records[i - i % tool.sitting : i]


def _outcome(record: Record) -> tuple[Any, ...]:
    return record.actions, record.rewards, record.score, record.status


def _check_draws(tool: Instrument, line_up: LineUp, before: Record, watch: Watch) -> None:
    """Check that a mind uses every random word once, and only in the step it belongs to."""
    found: list[str] = []
    noted = _drawing_from(line_up, lambda words: Noted(words, found, {}))
    record = play(tool.exercise(SEED, 0), noted, watch)
    _require(not found, f"{line_up.name} {found[0] if found else ''}")
    _require(
        _outcome(record) == _outcome(before),
        f"{line_up.name} plays otherwise when its draws are counted: {record.reason}",
    )


def _check_traits(tool: Instrument, line_up: LineUp, before: Record, watch: Watch) -> None:
    """Check that a mind that says it is deterministic plays the same without random words."""
    subjects = [seat.subject for seat in line_up.seats]
    if any(one.group or not one.traits.deterministic for one in subjects):
        return
    sealed = _drawing_from(line_up, lambda _: Withheld(RuntimeError("a word was drawn")))
    record = play(tool.exercise(SEED, 0), sealed, watch)
    _require(
        _outcome(record) == _outcome(before),
        f"{line_up.name} says it is deterministic, but draws random words: {record.reason}",
    )


def _drawing_from(line_up: LineUp, give: Callable[[Random], Random]) -> LineUp:
    """Copy a line-up, so that its minds draw from what `give` makes of their random words."""

    def make(subject: Subject) -> Any:
        mind = subject.make()
        act = mind.act

        def acting(observation: Any, random: Any) -> Any:
            one = isinstance(random, Random)
            given = [give(words) for words in ([random] if one else random)]
            answer = act(observation, given[0] if one else given)
            for words in given:
                if isinstance(words, Noted):
                    words.over = True
            return answer

        mind.act = acting
        return mind

    seats = (
        replace(seat, subject=replace(seat.subject, make=partial(make, seat.subject)))
        for seat in line_up.seats
    )
    return LineUp(line_up.name, tuple(seats))


def _check_forms(tool: Instrument, line_up: LineUp, watch: Watch) -> None:
    quick = form(tool, line_up, watch).play(SEED, 3, 3 + _EXERCISES, 5)
    plain = Plain(tool, line_up, watch).play(SEED, 3, 3 + _EXERCISES, 5)
    difference = block_difference(quick, plain)
    _require(not difference, f"{line_up.name}: the quick form differs from the plain: {difference}")


# ---------------------------------------------------------------- instruments


def check_instrument(
    which: str | Instrument,
    settings: Mapping[str, Any] | None = None,
    seed: int = SEED,
    plays: int = PLAYS,
) -> None:
    """Check that an instrument keeps the contract.

    Its exercises are reproducible and independent of each other, its environments are values with
    bounded rewards that are equal within a team, and it can be shown and answered in text. The mind
    `random` and the ceiling mind play `plays` exercises each (0 for none), and their mean scores
    must agree with the stated `chance` and `ceiling`. Those are refused if the betting interval of
    Waudby-Smith and Ramdas (2024) excludes them, so that an instrument whose statements are right
    is refused at most once in a thousand times (`ERROR_RATE`), by any distribution of scores.

    Parameters
    ----------
    which : str or Instrument
        The instrument, or its name.
    settings : mapping, optional
        The settings to make it with, if it is named.
    seed : int
        The seed of the exercises.
    plays : int
        The exercises that the random and the ceiling mind play.

    Raises
    ------
    Error
        If it does not, with what was found.

    Examples
    --------
    >>> from allminds import check_instrument
    >>> check_instrument("matching-pennies", plays=0)
    """
    tool = registry.make_instrument(which, settings) if isinstance(which, str) else which
    _require(
        re.fullmatch(r"[a-z][a-z0-9:/._-]*", tool.name) is not None and tool.version >= 1,
        f"'{tool.name}' version {tool.version}: a name is kebab-case, a version 1 or more",
    )
    _require(tool.chance < tool.ceiling, f"{tool.name}: chance must be below the ceiling")
    _require(bool((type(tool).__doc__ or "").strip()), f"{tool.name} has no docstring")
    for name in filter(None, (tool.floor_mind, tool.ceiling_mind)):
        registry.line_up(name, tool)
    differing: set[tuple[int, int]] = set()
    environment: Any = tool.exercise(seed, 0).environment
    _require(
        isinstance(environment, Environment),
        f"{tool.name}: its environment, of class {type(environment).__name__}, is no subclass of "
        "allminds.Environment",
    )
    columns = set(environment.complexity)
    records: list[Record] = []
    for i in range(_EXERCISES):
        history = _history(tool, records, i)
        exercise = tool.exercise(seed, i, history)
        _check_exercise(tool, exercise, columns, history)
        records.append(_check_play(tool, exercise))
        differing |= _different_slots(records[-1])
    _warn_of_equals(tool, differing)
    _check_levels(tool, seed)
    if plays:
        _check_ends(tool, seed, plays)


def _check_levels(tool: Instrument, seed: int) -> None:
    """Check that the easiest and the hardest level have exercises of their own complexity."""
    if not tool.levels:
        return
    column = tool.rule().strata
    _require(column is not None, f"{tool.name} has levels, so its rule must name their column")
    for level in (tool.levels[0], tool.levels[-1]):
        made = [tool.at_level(seed, level, n) for n in (0, 1)]
        found = {one.environment.complexity.get(column or "") for one in made}
        _require(
            found == {level} and made[0].index != made[1].index,
            f"{tool.name}: exercises of level {level:g} should differ, and have {column} = "
            f"{level:g}, not {', '.join(map(str, found))}",
        )


def _check_exercise(
    tool: Instrument, exercise: Exercise, columns: set[str], history: list[Record]
) -> None:
    environment, where = exercise.environment, f"{tool.name}, exercise {exercise.index}"
    again = tool.exercise(exercise.seed, exercise.index, history)
    _require(again.id == exercise.id, f"{where}: its id changes from call to call")
    _require(again.environment == environment, f"{where}: it changes from call to call")
    awaited = f"{registry.exercise_prefix(tool, exercise.seed)}{exercise.index}"
    _require(exercise.id == awaited, f"{where}: its id is '{exercise.id}', not '{awaited}'")
    slots = sorted(slot for team in environment.teams for slot in team)
    _require(
        slots == list(range(tool.slots)) == list(range(len(environment.actions))),
        f"{where}: its teams {environment.teams} are not a partition of {tool.slots} slots",
    )
    _require(set(environment.complexity) == columns, f"{where}: its complexity columns change")
    _require(
        all(math.isfinite(value) for value in environment.complexity.values()),
        f"{where}: a complexity is not a finite number",
    )
    _require(
        tool.strata is None or tool.strata in columns, f"{where}: it lacks column '{tool.strata}'"
    )


def _check_play(tool: Instrument, exercise: Exercise) -> Record:
    """Play twice at random: the exercise must end in time, repeat, and be shown and answered."""
    where = f"{tool.name}, exercise {exercise.index}"
    first, second = Episode(exercise), Episode(exercise)
    for episode in (first, second):
        while episode.record is None:
            _require(
                episode.step < exercise.environment.steps,
                f"{where}: it goes on after {exercise.environment.steps} steps",
            )
            actions = {}
            for slot, seen in episode.waiting.items():
                actions[slot] = _any_action(exercise, slot, episode.step, seen)
                _check_words(tool, seen, actions[slot], exercise, slot)
            episode.play(actions)
    assert first.record is not None
    _require(
        first.record == second.record and first.state == second.state,
        f"{where}: the same actions lead to another state",
    )
    _require(
        all(score is not None and -1 <= score <= 1 for score in first.record.score),
        f"{where}: a score lies outside [-1, 1]",
    )
    return first.record


def _any_action(exercise: Exercise, slot: int, step: int, seen: Any) -> Any:
    space = exercise.environment.actions[slot]
    if not isinstance(space, Discrete):
        raise Error(f"{exercise.id}: only discrete actions can be checked")
    actions = space.allowed(seen) or space.numbers
    return actions[Random(key(SEED, exercise.index, 2 + slot), step).below(len(actions))]


def _check_words(tool: Instrument, seen: Any, action: Any, exercise: Exercise, slot: int) -> None:
    shown = tool.show(seen, "text")
    _require(isinstance(shown, str) and bool(shown), f"{tool.name}: an observation has no text")
    space = exercise.environment.actions[slot]
    answer = str(action)
    if isinstance(space, Discrete) and space.labels:
        answer = space.labels[action - space.start]
    said = tool.read(answer, seen)
    _require(
        said == action, f"{tool.name}: the answer '{answer}' is read as {said!r}, not {action!r}"
    )
    nonsense = tool.read("\N{SNOWMAN} no such answer", seen)
    _require(isinstance(nonsense, Failure), f"{tool.name}: nonsense is read as {nonsense!r}")


def _check_ends(tool: Instrument, seed: int, plays: int) -> None:
    """Compare the stated chance and ceiling with what minds score."""
    _check_end(tool, "chance", tool.floor_mind, seed, plays)
    if tool.ceiling_mind is not None:
        _check_end(tool, "ceiling", tool.ceiling_mind, seed, plays)
        return
    _require(
        abs(tool.ceiling - tool.highest) <= _ROUNDING,
        f"{tool.name}: without a ceiling mind its ceiling must be {tool.highest:g}, the highest "
        f"score there can be, not {tool.ceiling:g}",
    )


def _check_end(
    tool: Instrument, end: Literal["chance", "ceiling"], mind: str, seed: int, plays: int
) -> None:
    stated = tool.chance if end == "chance" else tool.ceiling
    evidence = _evidence(tool, mind, seed, plays)
    level = 1 - ERROR_RATE / 2  # of each end
    above, below = (2 * p < 1 - level for p in evidence.tails(stated))
    only_bound = end == "ceiling" and not tool.ceiling_reached
    low, high = evidence.interval(level)
    hint = ""
    if below and end == "ceiling":
        hint = "; if it is a bound that no mind reaches, set ceiling_reached = False"
    _require(
        not above and (only_bound or not below),
        f"{tool.name}: its stated {end} is {stated:g}, but in {plays} exercises {mind} scores "
        f"{float((evidence.weights * evidence.scores).sum()):.3f} (expected between {low:.3f} and "
        f"{high:.3f}){hint}",
    )


def _evidence(tool: Instrument, mind: str, seed: int, plays: int) -> Betting:
    """Play a mind, and return what its scores say about the mean by the instrument's rule.

    In an adaptive test every exercise counts alike: what comes depends on what was, but a bet on
    the next score is as fair after it.
    """
    watch = Watch()
    with watch.running():
        block = form(tool, registry.line_up(mind, tool), watch).play(seed, 0, plays, 0)
    rule = tool.rule()
    found = plays_of(block, rule)
    _require(
        not found.failed.any() and not np.isnan(found.score).any(),
        f"{tool.name}: {mind} fails: {next(iter(block.reasons.values()), '')}",
    )
    least, most = float(found.score.min()), float(found.score.max())
    _require(
        rule.low - _ROUNDING <= least and most <= rule.high + _ROUNDING,
        f"{tool.name}: {mind} scores from {least:g} to {most:g} in an exercise, beyond the stated "
        f"lowest and highest, {rule.low:g} and {rule.high:g}",
    )
    scores = np.clip(found.score, rule.low, rule.high)
    for limit in (rule.low, rule.high):
        scores = np.where(np.abs(scores - limit) <= _ROUNDING, limit, scores)
    if tool.adaptive:
        return Betting(scores, np.full(plays, 1 / plays), rule.low, rule.high)
    units = found.scored_as(scores).units(rule)
    assert units is not None
    return betting_of(units)


def _different_slots(record: Record) -> set[tuple[int, int]]:
    pairs = list(combinations(range(len(record.score)), 2))
    return {(a, b) for got in record.rewards for a, b in pairs if got[a] != got[b]}


def _warn_of_equals(tool: Instrument, differing: set[tuple[int, int]]) -> None:
    """Warn of slots in different teams that were always rewarded alike: they may be one team."""
    teams = tool.exercise(SEED, 0).environment.teams
    of = {slot: team for team in teams for slot in team}
    for a, b in combinations(range(tool.slots), 2):
        if of[a] != of[b] and (a, b) not in differing:
            warnings.warn(
                f"{tool.name}: slots {a} and {b} are in different teams, but were rewarded "
                "alike at every step",
                stacklevel=3,
            )


def _require(held: bool, otherwise: str) -> None:
    if not held:
        raise Error(otherwise)
