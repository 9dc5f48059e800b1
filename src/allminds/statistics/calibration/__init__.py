"""How often the statements of allminds are wrong: simulated, shown as a table, held by a gate.

A row simulates a world whose truth is known, calls the functions that allminds prints from, and
counts how often the statement is wrong. The gate: a 95 % interval may miss in at most 7 % and, if
it is an approximation, must miss in at least 2 %; a verdict may be false in at most 5 %. A row
fails only if the 99.9 % interval of its own simulation lies wholly outside. Rows are made in
`one_mind`, `two_minds`, `answers`, `figures`, `courses` and `people`; to add one, append a `Row`
there with a function ``(rng, repeats) -> (wrong, total)``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from allminds.core.errors import Error
from allminds.inference.intervals import clopper_pearson

Kind = Literal["approximate", "bounded", "verdict", "outside"]
Simulation = Callable[[np.random.Generator, int], tuple[int, int]]
REPEATS = {"quick": 400, "medium": 1000, "full": 5000}
AT_LEAST = 20  # repeats of the slowest row
SURE = 0.999  # level of a row's own Monte Carlo interval
ALLOWED: dict[Kind, tuple[float, float]] = {  # shares of wrong statements
    "approximate": (0.02, 0.07),
    "bounded": (0.0, 0.07),
    "verdict": (0.0, 0.05),
    "outside": (0.0, 1.0),
}


@dataclass(frozen=True)
class Row:
    """One statement in one situation; `simulate` returns how many were wrong, and of how many.

    A row is "approximate" if its interval is meant to be neither too short nor too long (20 units
    or more, away from the ends of the scale), "bounded" if it is exact, holds for any scores of a
    bounded scale, or rests on fewer units, and a "verdict" if a word is counted. "Outside" is a
    world that breaks what an interval assumes: it is counted and shown, and no gate holds it.
    """

    section: str
    name: str
    kind: Kind
    simulate: Simulation
    nominal: float = 0.05  # share of wrong statements that is claimed
    cost: float = 1.0  # how many times as slow as most rows, so that it has fewer repeats
    most: float | None = None  # share of wrong statements that passes, if not that of its kind

    @property
    def allowed(self) -> tuple[float, float]:
        """The least and the greatest share of wrong statements that pass the gate."""
        least, greatest = ALLOWED[self.kind]
        return least, greatest if self.most is None else self.most


@dataclass(frozen=True)
class Found:
    """The result of a row: how many statements were wrong, of how many."""

    row: Row
    wrong: int
    total: int

    @property
    def rate(self) -> float:
        """The share of wrong statements."""
        return self.wrong / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 99.9 % interval of that share, by Clopper and Pearson."""
        return clopper_pearson(self.wrong, self.total, (1 - SURE) / 2)

    @property
    def passes(self) -> bool:
        """True if the interval of the share overlaps what is allowed."""
        (low, high), (least, greatest) = self.interval, self.row.allowed
        return low <= greatest and high >= least


def rows() -> list[Row]:
    """Collect all rows of the table."""
    from allminds.statistics.calibration import (
        answers,
        courses,
        figures,
        one_mind,
        people,
        two_minds,
    )

    parts = (one_mind, two_minds, answers, figures, courses, people)
    found = [row for part in parts for row in part.rows()]
    return sorted(found, key=lambda row: row.kind == "outside")  # which come last on the page


def chosen(rows: Sequence[Row], word: str | None) -> list[Row]:
    """Select the rows whose section or name contains a word."""
    if word is None:
        return list(rows)
    found = [row for row in rows if word.lower() in f"{row.section}: {row.name}".lower()]
    if not found:
        sections = "; ".join(dict.fromkeys(row.section for row in rows))
        raise Error(f"no row contains '{word}'; the sections are: {sections}")
    return found


def calibrate(rows: Sequence[Row], repeats: int, seed: int) -> Iterator[Found]:
    """Simulate rows one after the other, each with its own random stream, named after it."""
    for row in rows:
        name = zlib.crc32(f"{row.section}: {row.name}".encode())
        times = max(round(repeats / row.cost), min(repeats, AT_LEAST))
        yield Found(row, *row.simulate(np.random.default_rng([seed, name]), times))


def failures(found: Sequence[Found]) -> list[str]:
    """Write a sentence for every row that fails the gate."""
    return [
        f"{one.row.section}: {one.row.name}: wrong in {one.rate:.3f} "
        f"[{one.interval[0]:.3f}, {one.interval[1]:.3f}] of {one.total:,}, "
        f"allowed is {one.row.allowed[0]:.2f} to {one.row.allowed[1]:.2f}"
        for one in found
        if not one.passes
    ]


# ---------------------------------------------------------------- the page


CAPTIONS = ("claimed", "observed", "Monte Carlo 99.9 %", "counted", "gate")
HEAD = """\
# How often is it wrong?

This page counts how often the intervals and verdicts of allminds are wrong. Each row simulates
many studies in a situation where the truth is known, including small samples and scores near the
ends of the scale, and calls the same functions that print the results of a real study. The page
is written by

```text
{command}
```

**What is claimed.** A 95 % interval contains the truth in 95 % of studies. A verdict
("different", "equivalent") is false in at most 5 % of studies; a study with several verdicts
counts as false if one of them is.

**The gate.** An interval passes if it contains the truth in at least .93 of the studies. An
approximate interval from 20 units or more must not contain it in more than .98 either, because it
would then be longer than necessary. Exact intervals, intervals for any scores on a bounded scale,
intervals near the ends of the scale and intervals from fewer than 20 units have no upper limit:
with 5 exercises and a chance of .03, only a coverage of .859 or .992 is possible. A verdict passes
if it is false in at most .05 of the studies. A row fails only if the 99.9 % interval of the
simulation itself, which is printed beside it, lies wholly outside the limits; {passing} of {rows}
rows pass. The last sections have rows without a gate: situations that break the assumptions of an
interval. A test of the project runs the same rows as `--quick` does, with another seed.

**"counted"** is the number of statements made in the simulation. An interval that is not printed
is not counted, and nothing is claimed about it. Slow rows have fewer repeats. Each row has its own
random stream, made from the seed and the name of the row, so `--only WORD` gives the same figures
as the whole page.
"""
SECTIONS = {
    "Score of hits": (
        "Right or wrong, one stratum: Clopper and Pearson below 20, Wilson from there on."
    ),
    "Weighted score r̃ of the C-test": ("Σ k·hit / Σ k with k from 7 to 15 in turn."),
    "Mean of bounded scores": (
        "Student's t, or the betting interval where the sample is too small or too uneven for t. "
        "All or nothing: Beta with a + b = ½; alike: a + b = 20."
    ),
    "Mean over 22 strata, as in Λ*": (
        "Every complexity is given once, in random order, before any is given again. The truth is"
        " the mean over all 22, even where fewer were given."
    ),
    "Items given several times": (
        "A mind that answers at random, with a chance that differs by item (Beta with a + b = 2)."
        " The truth is the mean over all items of this kind."
    ),
    "Exercises that come in clusters": (
        "Exercises of one test, or shifts of one series, share an error (Beta with a + b = 3). "
        "The truth is the mean over all clusters of this kind."
    ),
    "Failures count": ("Failures count as wrong; the truth is the score with failures counted."),
    "Normalised between floor and ceiling": (
        "Mind, floor and ceiling take the same exercises; an easy exercise is easy for all three."
    ),
    "Level of an adaptive test": (
        "A staircase of 40 exercises; the truth is the mean level of 200,000 administrations."
    ),
    "Difference of paired hits": (
        "Tango's interval. Gains: exercises that only the first mind solves; loses: only the "
        "second."
    ),
    "Difference of paired scores": (
        "Rewards from -1 to 1 on the same exercises; an easy exercise is easy for both minds."
    ),
    "Difference on other exercises": (
        "No exercise in common: Welch's t, or an interval made from those of both minds."
    ),
    'Falsely "different"': (
        "Minds with equal means; a study is wrong if any pair is called different."
    ),
    'Falsely "equivalent", δ = .05': (
        "True differences of exactly δ; a study is wrong if any mind is called equivalent to, or "
        '"different, but smaller than δ" from, the first.'
    ),
    'The answer about a mind: falsely "better" or "worse"': (
        "The first page of a report, and what the terminal prints: two minds asked about, or the "
        "best fair one, against the floor, all fair minds and each other, on two tests. All "
        "means are equal; a run is wrong if any comparison is said to be decided."
    ),
    'The answer about a mind: falsely "ties with", δ = .05': (
        "Every mind is δ better than the one before it; a run is wrong if any two are said to tie. "
        "Minds that all failed get no verdict at all."
    ),
    "Falls of the score with complexity": (
        "Curves that are flat, or rise, and are said to fall; p is corrected for the choice of the "
        "cut. With two exercises nothing is ever said."
    ),
    "The lowest of several places: outside what is claimed": (
        "The answer names the tests on which a mind has the lowest places. They are chosen for "
        "being low, so that their intervals miss more often than 5 %, which the sentence says. "
        "Here all places are equal, where this is worst."
    ),
    "Correlation with complexity": (
        "Fisher's z, or resampling of clusters. Normal: r = .6; none: r = 0; hits: five levels of"
        " complexity; clustered: tests of five exercises."
    ),
    "Places of all minds at once": (
        "A study is wrong if the printed places of a mind leave out its true place. Minds with "
        "equal means share all places of their tie."
    ),
    "Capability": (
        "Curves over 20 levels of difficulty; capability is the mean difficulty that a mind "
        "reaches."
    ),
    "Spread": (
        "The same curves; spread is the standard deviation of the difficulty that a mind reaches."
    ),
    "Shares of factors where none does anything": (
        "Every interval of a factor or an interaction is counted; it is wrong if it excludes 0."
    ),
    "Shares of factors": (
        "Two factors and their interaction; the truth is the share that the simulation was set to."
    ),
    "Generalisability Eρ²": ("Three minds with true means .1, .3 and .9."),
    "Planned number of exercises, assured in .8": (
        "A study is wrong if its interval is longer than the length that was planned."
    ),
    "Level within one administration": (
        "ξ varies around 10 with this autocorrelation time; a short administration has no interval."
    ),
    "A vote against its best member": (
        "The member is chosen on half of the exercises and compared on the others; errors share a"
        " latent correlation of .3. A verdict is wrong if it is not true of the member named."
    ),
    "Prediction beyond the data": (
        "Some of the true curves are of none of the fitted kinds. Five levels of each study are "
        "counted, so the Monte Carlo interval is somewhat too short."
    ),
    'Falsely "learns", "transfers", "forgets"': (
        "Three minds that carry and learn nothing; a study is wrong if the change is claimed of any"
        " of them. Exercises of one course share an error."
    ),
    "Score against experience": ("The mean of six tests, over courses that differ."),
    "Gain over a course": ("The same tests after training minus before it, paired by course."),
    "Experience to a share of the way": (
        "Scores rise from 0 to .6 over 160 exercises, so a goal of .7 is never reached; learners "
        "differ. The interval is wrong if the true experience is outside."
    ),
    "People against a program": (
        "People and items are both samples; the name of the row says how much people differ."
    ),
    "People against a program, near the ceiling": (
        "Hits: chances differ on the logit scale, people and items by ±1. Scores: items are Beta "
        "with a + b = 4, so that most are at the upper end; the program's are around .99."
    ),
    "Median reaction time": (
        "The geometric mean of the persons' medians, over persons; people differ by ±.3 on the "
        "log scale. Below eight persons no interval is given."
    ),
    "Ratio of reaction times": (
        "The crossed model of log time: the effect of a complexity, which slows some people more "
        "than others, and the difference of two arms of people, which varies from item to item."
    ),
    "No unit differs": ("All minds do the same on every exercise."),
    "People of two kinds: outside what is claimed": (
        "The crossed model assumes that people differ by a normal distribution. If half of all "
        "people are good and half are bad, a small sample often has one kind only, and then "
        "nothing in the data points to the other."
    ),
}
FOOT = """
## What is not covered

- Only the situations named above were simulated. If a score in the middle of the scale is nearly
  always the same and very rarely far from it, any interval based on the observed variance can be
  wrong: until the rare score has occurred, nothing in the data points to it.
- Exercises are drawn at random, and plays of different clusters are independent. A mind that
  learns from one exercise to the next, or a test that was chosen for its results, breaks this
  assumption.
- Tests compare the models (the mixed model, analysis of variance) with R and with published
  figures; apart from the rows above, they are not simulated here.
- A row says how often a statement is wrong. It does not say how short an interval is, or how often
  a difference is found.
"""


def page(found: Sequence[Found], command: str) -> str:
    """Write the whole page, as made by `command`."""
    gated = [one for one in found if one.row.kind != "outside"]
    passing = sum(one.passes for one in gated)
    parts = [HEAD.format(command=command, passing=passing, rows=len(gated))]
    for section in dict.fromkeys(one.row.section for one in found):
        rows = [one for one in found if one.row.section == section]
        verdict = rows[0].row.kind == "verdict"
        names = ("situation", CAPTIONS[0], "false" if verdict else CAPTIONS[1], *CAPTIONS[2:])
        lines = ["", f"## {section}", "", SECTIONS.get(section, ""), ""]
        lines += [f"| {' | '.join(names)} |", "| --- | ---: | ---: | ---: | ---: | --- |"]
        lines += [f"| {' | '.join((one.row.name, *cells(one)))} |" for one in rows]
        parts.append("\n".join(lines) + "\n")
    return "".join([*parts, FOOT])


def cells(one: Found) -> tuple[str, str, str, str, str]:
    """Write the cells of a row: claimed, observed, Monte Carlo interval, counted, and gate."""
    low, high = one.interval
    gate = "pass" if one.passes else "FAIL"
    gate = "none" if one.row.kind == "outside" else gate
    if not one.total:
        return f"{1 - one.row.nominal:.2f}", "never said", "–", "0", "pass"
    if one.row.kind == "verdict":
        ends = f"[{low:.3f}, {high:.3f}]"
        return f"≤ {one.row.nominal:.2f}", f"{one.rate:.3f}", ends, f"{one.total:,}", gate
    ends = f"[{1 - high:.3f}, {1 - low:.3f}]"
    return f"{1 - one.row.nominal:.2f}", f"{1 - one.rate:.3f}", ends, f"{one.total:,}", gate
