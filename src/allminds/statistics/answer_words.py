"""The answer in sentences, the same in terminal and report; each is a claim of `answer`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from allminds.inference.intervals import FEWEST
from allminds.inference.words import interval, number
from allminds.statistics.answer import ASSURANCE, Answer, MindAnswer, Need, OnTest, Outcome

Topic = Literal["did", "place", "rivals", "breaks", "surer"]
_ENDS: tuple[Literal["floor", "best"], ...] = ("floor", "best")
MOST_NAMED = 4  # tests or minds in a sentence
MOST_PAIRS = 3  # of the user's minds that are compared with each other in sentences
MANY_TIMES = 100  # as many exercises as there were are more than anybody gives


class Sentence(NamedTuple):
    """One sentence of the answer, and the question that it answers."""

    topic: Topic
    text: str


def sentences(found: Answer, mind: MindAnswer) -> list[Sentence]:
    """Write the answer about one mind, in the order of the questions."""
    if not mind.tests:
        return [Sentence("did", f"{_who(mind)} took none of the tests.")]
    one = mind.tests[0] if len(mind.tests) == 1 else None
    said: list[tuple[Topic, list[str]]] = [
        ("did", [_scored(one), _not_taken(mind)] if one else [_took(mind)]),
        ("did", _failed(mind)),
        ("place", _place(one) if one else _against(mind, found)),
        ("rivals", [_named_rivals(one, found) if one else _counted_rivals(mind, found)]),
        ("breaks", [*_falls(mind), *([] if one else _weakest(mind))]),
        ("surer", _surer(mind, found)),
    ]
    return [Sentence(topic, text) for topic, texts in said for text in texts if text]


def verdicts(found: Answer, mind: MindAnswer) -> list[str]:
    """Write what the answer about one mind says of it and others, for below a table of scores.

    Rivals are not named again if all of them are the user's, whom `between` compares.
    """
    if len(mind.tests) != 1:
        return [*_against(mind, found), _counted_rivals(mind, found)] if mind.tests else []
    (one,) = mind.tests
    if few := _too_few(one):
        return [few]
    known = all(rival in one.test.yours for rival in one.rivals) and found.yours
    return [text for text in _verdicts(one) if text] + (
        [] if known else [_named_rivals(one, found)]
    )


def between(found: Answer) -> list[str]:
    """Compare the user's minds with each other, by the same verdicts; none if there is one."""
    minds = found.minds if found.yours else ()
    pairs = [(one, other) for n, one in enumerate(minds) for other in minds[n + 1 :]]
    said = [text for one, other in pairs if (text := _between(one, other, found.margin))]
    if len(said) > MOST_PAIRS:
        rest = _count(len(said) - MOST_PAIRS, "more pair")
        said = [*said[:MOST_PAIRS], f"allminds compare has {rest} of your minds."]
    return said


def _between(mind: MindAnswer, other: MindAnswer, margin: float) -> str:
    """Say how one mind of the user's did against another on the tests that both took."""
    rival = other.mind or ""
    tests = [one for one in mind.tests if one.outcome(rival)]
    if len(tests) == 1:
        (one,) = tests
        return _verdict(one, rival, rival, mind.mind or "", f" on {one.test.label}")
    parts = []
    for outcome, words in _tally_words(margin).items():
        here = [one for one in tests if one.outcome(rival) == outcome]
        names = "; ".join(f"{one.test.label}{_alike(one, rival)}" for one in here)
        if here:
            parts.append(f"{words} {len(here)}" + (f" ({names})" if len(here) < 3 else ""))
    if not parts:
        return ""
    told = _listed(parts, most=len(parts))
    return f"{mind.mind} against {rival}: {told} of {len(tests)} tests that both took."


def _alike(on: OnTest, rival: str) -> str:
    """Say if two minds got the same score on every exercise."""
    return ", the same score on every exercise" if on.same_as(rival) else ""


def error_rates(found: Answer) -> str:
    """Say how often the verdicts of the answer are wrong."""
    chosen = "" if found.yours else ", counting all pairs of fair minds, since the best was chosen"
    said = (
        "Better, worse and equivalent are verdicts on exercises that both minds took, corrected by "
        f"Holm for all {found.comparisons:,} comparisons of this answer{chosen}: in at most 5 % of "
        "such runs is any “better” or “worse” among them false, and in at most 5 % any "
        f"“equivalent” (a difference within ±{found.margin:g})."
    )
    if found.falls:
        said += f" Falls are corrected likewise, for {_count(found.falls, 'curve')}."
    return said


# ---------------------------------------------------------------- how it did


def _took(mind: MindAnswer) -> str:
    """Say on how many tests a mind was better than the floor and than the best fair mind."""
    exercises = sum(one.row["episodes"] for one in mind.tests)
    if mind.mind is None:
        return (
            "No mind was asked about in particular, so this is about the best fair mind of each "
            f"of {_count(len(mind.tests), 'test')}: the one with the highest score that does not "
            "see the future. It is chosen by its score, which therefore flatters it."
        )
    floor, best = (
        {outcome: len(of) for outcome, of in mind.outcomes(whom).items()} for whom in _ENDS
    )
    parts = [
        f"better than {what} on {counts['better']} of {sum(counts.values())}"
        for counts, what in ((floor, "the floor"), (best, "the best fair mind"))
        if sum(counts.values())
    ]
    did = f"{mind.mind} did {' and '.join(parts)}. " if parts else f"{mind.mind}: "
    tests, rest = _count(len(mind.tests), "test"), len(mind.not_taken)
    if rest:
        tests = f"{len(mind.tests)} of {len(mind.tests) + rest} tests ({rest} not taken)"
    return f"{did}It took {tests}, {_count(exercises, 'exercise')} in all."


def _scored(on: OnTest) -> str:
    row = on.row
    if row["score"] is None:
        return f"{on.mind} has no score on {on.test.label}: none of its exercises was played."
    ends = f" {interval(row['ci95'])} (95 % interval)" if row["ci95"] else " (no interval)"
    on_what = _count(row["episodes"], "exercise")
    return f"{on.mind} scored {number(row['score'])}{ends} on {on_what} of {on.test.label}."


def _not_taken(mind: MindAnswer) -> str:
    """Say how many tests a mind with one test did not take, if there are any."""
    rest = len(mind.not_taken)
    others = "test" if rest == 1 else f"{rest:,} tests"
    return f"It did not take the other {others} of the run." if rest else ""


def _failed(mind: MindAnswer) -> list[str]:
    """Say how many exercises failed, which comes before all else that is said."""
    rows = [(one, one.row) for one in mind.tests if one.row["failed"]]
    if not rows:
        return []
    failed, given = (sum(row[key] for _, row in rows) for key in ("failed", "episodes"))
    where = _listed([f"{one.test.label} ({row['failed']:,})" for one, row in rows])
    if len(mind.tests) == 1:
        where = ""
    said = f"It failed {failed:,} of {_count(given, 'exercise')}{f' on {where}' if where else ''}"
    often = [one.test.label for one, row in rows if not row["ranked"]]
    said += "; failures count as the lowest score there"
    if often:
        said += ", and where more than 5 % failed it is not ranked"
    return [f"{said}."]


# ---------------------------------------------------------------- between floor and ceiling


def _place(on: OnTest) -> list[str]:
    """Locate a mind on its one test: floor, ceiling, the best fair mind and the median one."""
    row, rows = on.row, on.test.rows
    said = []
    if row["normalised"] is not None and on.floor:
        top = next((m for m, other in rows.items() if other["end"] == "ceiling"), None)
        bound = f"{top}, {number(rows[top]['score'])}" if top else "the best possible"
        ends = f" {interval(row['normalised_ci95'])}" if row["normalised_ci95"] else ""
        said.append(
            f"Between the floor ({on.floor}, {number(rows[on.floor]['score'])}) at 0 and the "
            f"ceiling ({bound}) at 1 it stands at {number(row['normalised'])}{ends}."
        )
    return said + _verdicts(on)


def _verdicts(on: OnTest) -> list[str]:
    """Say how a mind did on its one test against the floor, the best and the median fair mind."""
    if few := _too_few(on):
        return [few]
    said = []
    words = {"floor": "the floor", "best": "the best fair mind", "median": "the median fair mind"}
    for whom, what in words.items():
        rival = getattr(on, whom)
        if rival and not (whom == "median" and rival == on.best):
            said.append(_verdict(on, rival, f"{what} ({rival})"))
    return said


def _too_few(on: OnTest) -> str:
    """Say once that nothing is decided, if there were too few exercises for it."""
    found = on.differences
    undecided = all(on.outcome(rival) == "undecided" for rival in found)
    if not found or not undecided or max(max(one.units) for one in found.values()) >= FEWEST:
        return ""
    number = _count(max(max(one.units) for one in found.values()), "exercise")
    others = _listed(list(found))
    return f"{number} in common are too few to say whether it did better or worse than {others}."


def _verdict(on: OnTest, rival: str, whom: str, who: str = "It", where: str = "") -> str:
    """Say how a mind did against one rival, with the difference and its interval."""
    found, outcome = on.differences.get(rival), on.outcome(rival)
    if found is None or outcome is None:
        return ""
    by = f"by {number(abs(found.mean))}"
    small = f", though by less than {found.margin:g}" if "smaller" in found.verdict else ""
    ends = f" {interval(found.interval)}" if found.interval else ""
    gap = f"the difference is {number(found.mean)}{ends}"
    if found.at_odds:
        other = "by another method than the verdict's" if found.sign else "not corrected as that is"
        gap += f", an interval {other}"
    it = who if where else "it"
    said = {
        "better": f"{who} did better than {whom}{where} {by}{small}",
        "worse": f"{who} did worse than {whom}{where} {by}{small}",
        "equivalent": f"{who} did as well as {whom}{where}, within ±{found.margin:g}",
        "undecided": f"Whether {it} did better or worse than {whom}{where} is undecided",
    }[outcome]
    if on.same_as(rival):
        return f"{said}: they got the same score on every exercise."
    return f"{said}; {gap}."


def _against(mind: MindAnswer, found: Answer) -> list[str]:
    """Count how a mind did over several tests against the floor, the best and the median mind."""
    best = "the best fair mind" if found.yours else "the next best fair mind"
    said = []
    whom: tuple[tuple[Literal["floor", "best", "median"], str], ...] = (
        ("floor", "the floor"), ("best", best), ("median", "the median fair mind")
    )  # fmt: skip
    for who, what in whom:
        tests = mind.outcomes(who)
        counts: dict[Outcome, int] = {outcome: len(of) for outcome, of in tests.items()}
        if sum(counts.values()):
            said.append(f"Against {what} of each test: {_tallied(counts, found.margin)}.")
    return said


def _tallied(counts: dict[Outcome, int], margin: float) -> str:
    """Write counts of outcomes as: better on 3, worse on 1, undecided on 2 of 6."""
    words = _tally_words(margin)
    parts = [f"{words[outcome]} {count}" for outcome, count in counts.items() if count]
    return f"{_listed(parts, most=len(parts))} of {sum(counts.values())}"


def _tally_words(margin: float) -> dict[Outcome, str]:
    return {
        "better": "better on", "equivalent": f"equivalent within ±{margin:g} on",
        "worse": "worse on", "undecided": "undecided on",
    }  # fmt: skip


# ---------------------------------------------------------------- rivals


def _counted_rivals(mind: MindAnswer, found: Answer) -> str:
    beats, ties, loses, rest = (
        mind.count(outcome) for outcome in ("better", "equivalent", "worse", "undecided")
    )
    whole = beats + ties + loses + rest
    if not whole:
        return "No other fair mind took its tests."
    it = "they beat" if mind.mind is None else "it beats"
    lose = "lose" if mind.mind is None else "loses"
    return (
        f"Of {_count(whole, 'comparison')} with fair minds {it} {beats}, {lose} {loses} and "
        f"{'tie' if mind.mind is None else 'ties'} {ties} (equivalent within "
        f"±{found.margin:g}); {rest} {'is' if rest == 1 else 'are'} undecided."
    )


def _named_rivals(on: OnTest, found: Answer) -> str:
    """Name the rivals that a mind beats, ties with and loses to on its one test."""
    if not on.rivals:
        return "No other fair mind took this test."
    words = {
        "better": "it beats {}", "equivalent": f"it ties with {{}} (within ±{found.margin:g})",
        "worse": "it loses to {}", "undecided": "undecided against {}",
    }  # fmt: skip
    parts = [
        words[outcome].format(_listed(on.those(outcome), most=8))
        for outcome in ("better", "equivalent", "worse", "undecided")
        if on.those(outcome)
    ]
    return f"Of {_count(len(on.rivals), 'fair mind')}, {'; '.join(parts)}."


# ---------------------------------------------------------------- where it breaks


def _falls(mind: MindAnswer) -> list[str]:
    curves = [one for one in mind.tests if one.has_curve]
    fallen = [one for one in curves if one.falls]
    said = []
    for one in fallen[:MOST_NAMED]:
        drop = one.fall
        assert drop is not None
        whose = f" of {one.mind}" if mind.mind is None else ""
        said.append(
            f"On {one.test.label} the score{whose} falls with complexity: on average "
            f"{number(drop.before)} up to {drop.column} = {drop.last:g}, and "
            f"{number(drop.after)} from {drop.column} = {drop.at:g} on."
        )
    if len(fallen) > MOST_NAMED:
        rest = [one.test.label for one in fallen[MOST_NAMED:]]
        said.append(f"It falls with complexity on {_listed(rest)} too.")
    if curves and not fallen:
        of = "this test" if len(curves) == 1 else f"any of {_count(len(curves), 'test')}"
        with_them = " with exercises of several complexities" if len(curves) > 1 else ""
        said.append(f"No fall of the score with complexity was found on {of}{with_them}.")
    return said


def _weakest(mind: MindAnswer) -> list[str]:
    said = []
    below = [one.test.label for one in mind.outcomes("floor")["worse"]]
    if below:
        said.append(f"Worse than the floor: on {_listed(below)}.")
    placed = mind.weakest
    if len(placed) > 3:
        parts = [
            f"{one.test.label} {number(one.row['normalised'])} "
            f"{interval(one.row['normalised_ci95']) if one.row['normalised_ci95'] else ''}".strip()
            for one in placed[:3]
        ]
        said.append(
            f"The lowest places between floor (0) and ceiling (1): {'; '.join(parts)}. They are "
            f"chosen as the lowest of {len(placed)}, so that new exercises may well place them "
            "higher, and the units of two tests are alike in name only."
        )
    return said


# ---------------------------------------------------------------- what would make it surer


def _surer(mind: MindAnswer, found: Answer) -> list[str]:
    said = []
    if mind.not_taken and mind.mind is not None:
        said.append(f"{_who(mind)} did not take {_listed(list(mind.not_taken))}.")
    failed = sum(one.row["failed"] for one in mind.tests)
    if failed:
        said.append(
            f"{_count(failed, 'failed exercise')} could have been anything from the worst to the "
            "best: mend what made them fail."
        )
    missing = sum(one.row["missing"] for one in mind.tests)
    if missing:
        said.append(f"{_count(missing, 'exercise')} missing: resume the run to ask them again.")
    open_ones = [(one, need) for one in mind.tests for need in one.needs]
    if not open_ones:
        return said
    return [*said, *_more_exercises(open_ones, found)]


def _more_exercises(open_ones: Sequence[tuple[OnTest, Need]], found: Answer) -> list[str]:
    """Say how many exercises would decide what is undecided, the fewest first."""
    known: dict[str, tuple[int, int]] = {}
    for one, need in open_ones:
        given = int(one.row["episodes"])
        if need.exercises and need.exercises <= MANY_TIMES * given:
            most = max(need.exercises, known.get(one.test.label, (0, 0))[0])
            known[one.test.label] = most, given
    tests = {one.test.label for one, _ in open_ones}
    said = (
        f"{_count(len(open_ones), 'comparison')} with the floor, the best fair mind or another of "
        f"yours {'is' if len(open_ones) == 1 else 'are'} undecided"
    )
    if not found.yours:
        said = said.replace(" or another of yours", "").replace(", the best", " or the next best")
    ordered = sorted(known.items(), key=lambda one: one[1][0] / one[1][1])
    parts = [f"{_rounded(n)} on {label} (now {now:,})" for label, (n, now) in ordered]
    if parts:
        said += (
            f". With so many exercises the interval of the difference would, with a chance of "
            f"{ASSURANCE:g} or more, be no longer than {found.margin:g}, and so decide: "
            f"{_listed(parts)}"
        )
    rest = sorted(tests - set(known))
    if rest:
        said += (
            f". No number can be planned on {_listed(rest)} (a fixed form, or minds too much "
            "alike, or too few exercises to plan from)"
        )
    return [f"{said}."]


def _rounded(exercises: int) -> str:
    """Round up to two digits: a plan is no more exact than that."""
    scale = 10 ** max(len(str(exercises)) - 2, 0)
    return f"{-(-exercises // scale) * scale:,}"


# ---------------------------------------------------------------- helpers


def _who(mind: MindAnswer) -> str:
    return mind.mind or "The best fair mind"


def _count(value: int, what: str) -> str:
    return f"{value:,} {what}" + ("s" if value != 1 else "")


def _listed(names: Sequence[Any], most: int = MOST_NAMED) -> str:
    """Join names as in: one, two and three; or: one, two and 5 more."""
    shown = [str(name) for name in names]
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
