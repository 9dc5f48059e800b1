"""Insa-Cabrera et al. (2011): people and Q-learning on Λ.

Our simulation stands beside the published figures: 20,000 tests show where 20 may lie. With the
authors' own rows (`--rows`, see `instruments.lambda_.rows`) theirs are recomputed as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from allminds.papers import Claim, Erratum, Paper, Statement
from allminds.papers import insa_cabrera_2011_figures as figures
from allminds.papers.insa_cabrera_2011_figures import (
    PUBLISHED,
    SAMPLE,
    SIZES,
    TABLE_2,
    TESTS,
    one_tailed,
    samples_of_20,
    simulated,
    summary,
)

if TYPE_CHECKING:
    import pandas as pd

PATTERN = "20122220022222200222222002"
# Mean, standard deviation of test means, and correlation with K, as printed.
PRINTED = {"people": ("0.237", "0.150", "-.257"), "q-learning": ("0.259", "0.122", "-.444")}
EFFECTS = {"subject": (".461", ".506", 1, 19), "cells": (".401", ".877", 6, 114),
           "subject × cells": (".693", ".656", 6, 114)}  # fmt: skip
TWENTY = "theirs are 20 tests: the error is two standard deviations of samples of 20"


# ---------------------------------------------------------------- numbers that it prints


def claims() -> Sequence[Claim]:
    """Compare the numbers that the paper prints with ours, without the authors' rows."""
    return (*_settings(), *_by_simulation(), *_anova_from_print(), *_tails_from_print())


def claims_with(rows: pd.DataFrame) -> Sequence[Claim]:
    """Compare the numbers that the paper prints with the authors' rows."""
    return (*_settings(), *_means(rows), *_anova(rows), *_table_2(rows))


def _settings() -> Sequence[Claim]:
    from allminds.complexity import measure

    found = figures.table_1().table
    steps = found["No. steps (m)"].tolist()
    total = steps.pop()
    return (
        *(
            Claim("Table 1", f"steps of the exercise with {n} cells", str(10 * (n - 1)),
                  float(step), f"{n - 2}\t{n}\t{10 * (n - 1)}\t1/{n}")
            for n, step in zip(SIZES, steps, strict=True)
        ),
        Claim("Table 1", "steps of a test", "350", float(total), "TOTAL\t-\t350\t-"),
        Claim("§5", "length of the printed pattern after compression", "19",
              float(measure(PATTERN, "zlib")), "The length of the compressed string is 19"),
    )  # fmt: skip


def _by_simulation() -> Sequence[Claim]:
    """Compare Q-learning's figures with our simulation, within what 20 tests can differ."""
    found, drawn = summary(simulated()), samples_of_20()
    quotes = ("Q-learning has an overall mean of 0.259", "The standard deviations are 0.122",
              "$r = -.444$")  # fmt: skip
    return tuple(
        Claim("§5", f"Q-learning: {name}", printed, found[name], quote,
              error=2 * float(drawn[name].std()), note=TWENTY)
        for name, printed, quote in zip(PUBLISHED, PRINTED["q-learning"], quotes, strict=True)
    )  # fmt: skip


def _anova_from_print() -> Sequence[Claim]:
    """Compute the printed p values from the printed F."""
    from scipy.stats import f as law

    result = []
    for name, (f, p, above, below) in EFFECTS.items():
        ends = [float(law.sf(float(f) + by, above, below)) for by in (-5e-4, 0, 5e-4)]
        result.append(Claim(
            "§5", f"ANOVA, P of {name}, from the printed F", p, ends[1],
            f"F_{{{above},{below}}} = {f}$ ,  $P = {p}$", error=(ends[0] - ends[2]) / 2,
            note="the error is that of rounding F",
        ))  # fmt: skip
    return tuple(result)


def _tails_from_print() -> Sequence[Claim]:
    """Compute the printed one-tailed p values from the printed correlations."""
    result = [_tail("§5", f"{who}: P of r = {r}, from the printed r", p, r, 140, quote)
              for who, r, p, quote in OVERALL]  # fmt: skip
    for who, printed in TABLE_2.items():
        for cells, (r, p) in zip(SIZES, printed, strict=True):
            note = "r is misprinted: -.528 has this p" if r == "-.538" else ""
            what = f"{who}, {cells} cells: p of r = {r}, from the printed r"
            result.append(_tail("Table 2", what, p, r, SAMPLE, f"{r} ({p})", note))
    return tuple(result)


OVERALL = (
    ("people", "-.257", ".001", "$r = -.257$ ,  $n = 140$ ,  $P = .001$"),
    ("q-learning", "-.444", "< .001", "$r = -.444$ ,  $n = 140$ ,  $P < .001$"),
)


def _tail(where: str, what: str, p: str, r: str, n: int, quote: str, note: str = "") -> Claim:
    low, middle, high = (one_tailed(float(r) + by, n) for by in (-5e-4, 0, 5e-4))
    return Claim(where, what, p, middle, quote, error=(high - low) / 2,
                 note=note or "the error is that of rounding r")  # fmt: skip


# ---------------------------------------------------------------- with the authors' rows


def _means(rows: pd.DataFrame) -> Sequence[Claim]:
    quotes = {"people": ("humans show a mean of 0.237", "0.122 and 0.150", "$r = -.257$"),
              "q-learning": ("an overall mean of 0.259", "deviations are 0.122",
                             "$r = -.444$")}  # fmt: skip
    result = []
    for who, printed in PRINTED.items():
        here = rows[rows["subject"] == who]
        tests = here.groupby("test")["score"].mean()
        found = (here["score"].mean(), tests.std(), here["score"].corr(here["K"]))
        names = ("mean", "standard deviation of test means", "correlation with K")
        result += [
            Claim("§5", f"{who}: {name}", number, float(ours), quote)
            for name, number, ours, quote in zip(names, printed, found, quotes[who], strict=True)
        ]
    return result


def _anova(rows: pd.DataFrame) -> Sequence[Claim]:
    from allminds.statistics.comparison import repeated_measures

    result = []
    for effect in repeated_measures(rows, "test", ["subject", "cells"]).effects:
        name = " × ".join(effect.factors)
        f, p, above, below = EFFECTS[name]
        quote = f"F_{{{above},{below}}} = {f}$ ,  $P = {p}$"
        result += [Claim("§5", f"ANOVA, F of {name}", f, effect.f or 0.0, quote),
                   Claim("§5", f"ANOVA, P of {name}", p, effect.p or 0.0, quote)]  # fmt: skip
    return result


def _table_2(rows: pd.DataFrame) -> Sequence[Claim]:
    result = []
    for who, _, p, quote in OVERALL:
        here = rows[rows["subject"] == who]
        ours = one_tailed(float(here["score"].corr(here["K"])), 140)
        result.append(Claim("§5", f"{who}: P of the correlation", p, ours, quote))
    for who, printed in TABLE_2.items():
        for cells, (r, p) in zip(SIZES, printed, strict=True):
            here = rows[(rows["subject"] == who) & (rows["cells"] == cells)]
            ours = float(here["score"].corr(here["K"]))
            note = "misprinted: the rows give -.528" if r == "-.538" else ""
            what = f"{who}, {cells} cells"
            result += [
                Claim("Table 2", f"{what}: r", r, ours, f"{r} ({p})", note=note),
                Claim("Table 2", f"{what}: p", p, one_tailed(ours, SAMPLE), f"{r} ({p})"),
            ]
    return result


# ---------------------------------------------------------------- what it says in words


def statements() -> Sequence[Statement]:
    """Check what the paper says in words about scores by number of cells."""
    by_cells = simulated().groupby("cells")["score"]
    mean, sd = by_cells.mean(), by_cells.std()
    return (
        Statement(
            "§5", "mean scores are around .2 and .3 at every number of cells",
            f"in {TESTS:,} simulated tests Q-learning falls from {mean.iloc[0]:.2f} at 3 cells to "
            f"{mean.iloc[-1]:.2f} at 9; 20 tests are too few to see it",
            bool(mean.between(0.15, 0.35).all()), "means are around 0.2 and 0.3",
        ),
        Statement(
            "§5", "variances are smaller the larger the number of cells",
            f"in the same tests the standard deviation falls from {sd.iloc[0]:.2f} to "
            f"{sd.iloc[-1]:.2f}, at every step",
            bool(sd.is_monotonic_decreasing),
            "variances are smaller the larger the number of cells",
        ),
    )  # fmt: skip


ERRATA = (
    Erratum("Table 2", "-.538 for Q-learning on 4 cells", "-.528",
            "the authors' rows; and the printed p of .008 is that of -.528 (-.538 has .007)"),
    Erratum("§5", "standard deviations .122 and .150", "those of the 20 test means; over the 140 "
            "exercises they are .325 and .334", "the authors' rows"),
    Erratum("§5", "no significant difference, read as no difference", "undecided: people minus "
            "Q-learning is -.022 with a 90 % interval of [-.077, .033]", "`allminds compare`"),
)  # fmt: skip

NAME, CITED = "insa-cabrera-2011", "Insa-Cabrera et al. (2011)"
CITATION = (
    "J. Insa-Cabrera, D. L. Dowe, S. España-Cubillo, M. V. Hernández-Lloreda, J. Hernández-Orallo: "
    "Comparing humans and AI agents. AGI 2011"
)
WHAT = "The same test for people and for Q-learning."
PARTS = {
    "figure-1": figures.figure_1, "table-1": figures.table_1, "figure-2": figures.figure_2,
    "figure-3": figures.figure_3, "figure-4": figures.figure_4, "table-2": figures.table_2,
    "samples": figures.samples, "parameters": figures.parameters,
}  # fmt: skip
IN_ROWS = "the scores of people are in the authors' rows alone: allminds reproduce … --rows FILE"


def with_rows(path: Path) -> Paper:
    """Compute figures and tables from the authors' rows."""
    rows = figures.read(path)
    drawn = {name: partial(getattr(figures, name.replace("-", "_")), rows)
             for name in ("figure-3", "figure-4", "table-2")}  # fmt: skip
    return Paper(
        NAME, CITED, CITATION, WHAT, PARTS | drawn, partial(claims_with, rows), statements,
        errata=ERRATA,
    )  # fmt: skip


PAPER = Paper(
    NAME, CITED, CITATION, WHAT, PARTS, claims, statements,
    errata=ERRATA,
    not_made={"§5, people": IN_ROWS + " (mean .237, standard deviation .150, r -.257; ANOVA F)"},
    with_rows=with_rows,
)  # fmt: skip
