"""Chmait, Dowe, Li and Green (2017): a predictive model for the accuracy of agents.

Their items of the C-test are not public: scores on the 20 published induction items stand beside
theirs. Group A¹ is three min-distance minds, A² has one replaced by a better, A³ by a worse one.
Beyond the paper: which curve predicts answers, and how many items an adaptive test saves.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.core.seeding import Random, key
from allminds.papers import Claim, Erratum, Paper, Part, Statement, Worked
from allminds.papers import chmait_2017_figures as figures
from allminds.papers.chmait_2017_figures import (
    MIND,
    MIND_OF_TEXT,
    MINDS,
    answers,
    cut_off,
    group_curves,
    group_score,
    turning_ability,
)
from allminds.papers.plots import lines
from allminds.report.charts.drawing import FLOOR
from allminds.report.charts.plots import SCHEMES, calibration_panels, calibrations

if TYPE_CHECKING:
    from allminds.statistics.accuracy import Counts, Foreseen
    from allminds.statistics.accuracy.predict import Scheme

STUDENTS = 48
SITTINGS = 50  # simulated minds for each ability
PREDICTED = 200  # simulated minds for each truth


def _students() -> Counts:
    """Count the students' right answers to the published items."""
    from allminds.instruments.series.items import ABDUCTION, INDUCTION
    from allminds.statistics.accuracy import Counts

    items = INDUCTION + ABDUCTION
    hits = [round(item.students * STUDENTS) for item in items]
    return Counts.of([item.k for item in items], hits, STUDENTS, options=26)


def students() -> Part:
    """Fit the curves to the hit rates of the 48 students on the published items."""
    import pandas as pd

    from allminds.statistics.accuracy import compare, fit_curve

    counts = _students()
    found = compare(counts)
    level = counts.by_level()
    rates = level.hits[0] / level.trials[0]
    drawn = {"students": list(zip(level.difficulty, rates, strict=True))}
    for name in dict.fromkeys(("E1", found.winner("items"), found.winner("upper"))):
        p = fit_curve(counts, name).accuracy(level.difficulty)[0]
        drawn[name] = list(zip(level.difficulty, p, strict=True))
    plot = lines(drawn, "complexity k", "hit rate", (0, 1))
    return Part(
        "Eq. 1 beside what 48 students did",
        "Eq. 1 (E1) is far too flat for people. With items left out "
        f"{found.winner('items')} foresees them best, with the upper levels left out "
        f"{found.winner('upper')}. The students had five options and could leave blanks, so "
        "the chance level of 1/26 is not quite theirs.",
        pd.DataFrame(found.table()),
        [("Hit rates by complexity, and curves fitted to all of them.", plot)],
    )


def calibration(minds: Sequence[str], answers: Counts) -> Part:
    """Compare predicted with observed accuracy at complexities left out.

    The minds share their winning curve, as all are of one kind; the students have their own.
    """
    import pandas as pd

    groups = {"the minds": (list(minds), answers), "the students": (["students"], _students())}
    table, plots, won = [], [], []
    for who, (names, counts) in groups.items():
        level = counts.by_level()
        found = _foreseen(level)
        for scheme, one in found.items():
            table += [_errors(name, SCHEMES[scheme], one.mind(m)) for m, name in enumerate(names)]
            won.append(f"{who}, {SCHEMES[scheme]}: {one.curve}, {one.absolute_error:.3f}")
        ends = {"random": FLOOR}
        plots += [
            (f"{who[4:].capitalize()}, {panel['words']}.", panel["svg"])
            for panel in calibration_panels(calibrations(names, found), ends)
        ]
    return Part(
        "Predicted against observed accuracy, at complexities left out of the fit",
        "On the dashed line a prediction is right. The curve that won, and its mean absolute "
        f"error: {'; '.join(won)}. Minds have but few answers at each complexity, so that chance "
        "alone makes much of their error; its share is in the table.",
        pd.DataFrame(table),
        plots,
    )


def _foreseen(level: Counts) -> dict[Scheme, Foreseen]:
    """Predict by the winning curve.

    Each complexity is left out in turn, then the upper ones at once.
    """
    from allminds.statistics.accuracy import compare, foresee

    folds = len(level.difficulty)
    found = compare(level, folds=folds)
    return {scheme: foresee(level, found.winner(scheme), scheme, folds=folds) for scheme in SCHEMES}


def _errors(name: str, left_out: str, one: Foreseen) -> dict[str, Any]:
    return {
        "mind": name,
        "left out": left_out,
        "curve that won": one.curve,
        "answers": float(one.counts.trials.sum()),
        "predicted": float((one.predicted * one.counts.trials).sum() / one.counts.trials.sum()),
        "observed": float(one.counts.hits.sum() / one.counts.trials.sum()),
        "mean absolute error": one.absolute_error,
        "by chance alone": one.chance_error,
        "Brier score": one.brier,
        "log loss": one.log_loss,
    }


def beyond() -> Part:
    """Measure the coverage of 95 % intervals beyond the data, for truths on and off the curves.

    `COVERAGE` of `statistics.accuracy.beyond` is the column of steps here.
    """
    import pandas as pd

    from allminds.statistics.accuracy.beyond import trials_beyond

    made, refused = trials_beyond(np.random.default_rng(15), PREDICTED)
    lots = {name: [one for one in made if one.truth == name] for name in refused}
    lots |= {f"all, {n} beyond": [one for one in made if one.steps == n] for n in range(1, 6)}
    table = pd.DataFrame(
        {
            "truth": name,
            "predictions": len(lot),
            "nothing said of": refused.get(name, sum(refused.values())),
            "accuracy covered": np.mean([one.covered for one in lot]),
            "rate of 20 new items covered": np.mean([one.rate_covered for one in lot]),
            "mean width": np.mean([one.width for one in lot]),
        }
        for name, lot in lots.items()
    )
    covered = table.set_index("truth")["accuracy covered"]
    steps = [covered[f"all, {n} beyond"] for n in range(1, 6)]
    drawn = {"covered": [(float(n), p) for n, p in enumerate(steps, 1)]}
    plot = lines(drawn, "levels beyond the data", "coverage of 95 % intervals", (0.8, 1))
    return Part(
        "Prediction beyond the data: what 95 % intervals cover",
        f"{PREDICTED} minds of every truth, tried at 5, 8 or 12 levels with 5, 20 or 50 answers "
        "each, predicted one to five levels beyond. Coverage over all truths, by levels beyond: "
        f"{', '.join(f'{p:.3f}' for p in steps)}.",
        table,
        [("Coverage of stacked curves, widened as simulations say.", plot)],
    )


def adaptive() -> Part:
    """Count items until se(ln α) is .25: chosen adaptively, or in the order of a fixed form."""
    import pandas as pd

    abilities = (3.0, 6.0, 12.0, 24.0)
    found = {alpha: [_sitting(alpha, n) for n in range(SITTINGS)] for alpha in abilities}
    table = pd.DataFrame(
        {
            "ability": alpha,
            "adaptive items": np.mean([adaptive for adaptive, _, _ in runs]),
            "fixed items": np.mean([fixed for _, fixed, _ in runs]),
            "root mean square error of ln α": np.sqrt(np.mean([off**2 for _, _, off in runs])),
        }
        for alpha, runs in found.items()
    )
    drawn = {
        name: list(zip(np.log2(table["ability"]), table[name], strict=True))
        for name in ("adaptive items", "fixed items")
    }
    high = 1.1 * float(table["fixed items"].max())
    plot = lines(drawn, "log₂ α", "items to se(ln α) = .25", (0, high))
    return Part(
        "Items an adaptive test needs, beside a form in fixed order",
        f"{SITTINGS} simulated minds for each ability, five options, items of D = 1..40.",
        table,
        [("The same error with fewer items.", plot)],
    )


def _sitting(alpha: float, number: int) -> tuple[int, int, float]:
    """Count the items that either test asks of one mind, and the adaptive one's error of ln α."""
    from allminds.statistics.accuracy import AdaptiveTest, accuracy, administer

    bank = np.repeat(np.arange(1.0, 41.0), 10)
    order = np.argsort([Random(key(0, n, 0)).word() for n in range(len(bank))])
    random = Random(key(1, number, 0))
    right = accuracy(bank, alpha, options=5)
    hits = [random.at_step(n).unit() < p for n, p in enumerate(right)]
    test = AdaptiveTest.begin(bank, options=5, most_items=len(bank))
    best = administer(test, lambda item: hits[item])
    while not test.ended:
        item = int(order[len(test.asked)])
        test = test.answered(item, hits[item])
    return len(best.asked), len(test.asked), best.log_alpha - float(np.log(alpha))


# ---------------------------------------------------------------- numbers


OTHER_ITEMS = "theirs rests on items that are not public, ours on the 20 published ones"
A1 = "vote(min-distance,min-distance,min-distance)"
A4 = "vote(min-repetition,pattern(y=3),pattern(y=4))"


# ---------------------------------------------------------------- numbers that it prints


def claims() -> Sequence[Claim]:
    """Compare the numbers that the paper prints with ours."""
    return (*_of_the_model(), *_of_the_test(), *_of_groups())


def _of_the_model() -> Sequence[Claim]:
    from allminds.statistics.accuracy import accuracy

    at_once, guess = accuracy(0, MIND, options=26), accuracy(9, 0.01, options=2)
    ranges = [turning_ability(first, 10) for first in (1, 2, 3)]
    return (
        Claim("§4", "accuracy at difficulty 0", "1", float(at_once),
              r"\lim_{\mathcal{D} \rightarrow 0} P_{\mathcal{D}, \alpha, m} = 1", exact=True),
        Claim("§4", "coin toss, ability near 0", "0.5", float(guess),
              r"P_{\mathcal{D}, \alpha, m} \approx 0.5", exact=True),
        Claim("§6.1, Figure 3", "ability below which options matter more than difficulty", "3",
              ranges[0], r"poor abilities  $\alpha < 3$",
              note="over D = 1 to 20 and m = 2 to 10; the paper does not give its ranges. From "
              f"D = 2 on it is {ranges[1]:.2f}, which would agree; from D = 3 on {ranges[2]:.2f}"),
    )  # fmt: skip


def _of_the_test() -> Sequence[Claim]:
    from allminds.instruments.series.bank import shipped
    from allminds.instruments.series.minds import distances
    from allminds.statistics.accuracy import omega, scores

    counts = answers()
    fitted = omega(counts).omega
    found = dict(zip(MINDS, scores(counts), strict=True))
    ks = [question.k for question in shipped()]
    spread = r"7 \leq D \leq 15"
    return (
        Claim("§5", "least complexity of a series", "7", float(min(ks)), spread),
        Claim("§5", "greatest complexity of a series", "15", float(max(ks)), spread),
        Claim("Table 1", "distance of two consecutive letters", "1", float(distances("ab")[0]),
              "any two consecutive letters in the alphabet is 1"),
        Claim("Table 1", "distance from a to z", "25", float(distances("az")[0]), "26 - 1 = 25"),
        Claim("Figure 1", "minds", "9", float(len(MINDS)), "of 9 different agents"),
        Claim("Figure 1", "ω", "28", fitted, r"s.t.  $\omega = 28$", note=OTHER_ITEMS),
        Claim("Figure 2", "ability α = ω r̃ of the min-distance mind", "11.28",
              fitted * found["min-distance"], r"ability  $\alpha = 11.28$  over inference tasks",
              note=OTHER_ITEMS),
        Claim("§8", "C-test score of A¹", "0.38", group_score(A1), r"$0.51 > 0.38$",
              note=OTHER_ITEMS + "; copies of one deterministic mind vote as one"),
        Claim("§8", "C-test score of A⁴", "0.51", group_score(A4), r"$0.51 > 0.38$",
              note=OTHER_ITEMS + "; the paper does not say which minds have the abilities 4.56, "
              "16.33 and 15.18, these are our nearest"),
    )  # fmt: skip


def _of_groups() -> Sequence[Claim]:
    from allminds.voting import majority_accuracy

    wide = [m for m in range(2, 27) if abs(cut_off(m, MIND, "A1", "A4") - 14) <= 0.5]
    text = [cut_off(m, MIND_OF_TEXT, "A1", "A4") for m in (2, 26)]
    return (
        Claim("§7", "majority of three with .55, .55 and .63", "0.6144",
              majority_accuracy([0.55, 0.55, 0.63]), "= 0.6144"),
        Claim("§8", "cut-off of π and A¹ at m = 3, by -12 ln ¼", "16.64",
              cut_off(3, 12, "alone", "A1"), r"-12 \ln(\frac{1}{4}) = 16.64",
              note="with α = 12, which the formula has; see the errata for 12.0094 and 11.28"),
        Claim("§8", "cut-off of π and A² at m = 3", "22.64", cut_off(3, 12, "alone", "A2"),
              "= 22.64", note="where the better member, α = 16.33, is right half of the time"),
        Claim("§8", "difficulty at which A¹ and A⁴ are equal, m = 3", "14",
              cut_off(3, MIND, "A1", "A4"), r"inference tasks of  $\mathcal{D} < 14$",
              note=f"with α = {MIND}; the paper does not say m. m = {wide[0]} to {wide[-1]} would "
              f"agree ({cut_off(5, MIND, 'A1', 'A4'):.2f} at m = 5). With α = {MIND_OF_TEXT} no m "
              f"would: {text[0]:.1f} at m = 2 to {text[1]:.1f} at m = 26"),
    )  # fmt: skip


# ---------------------------------------------------------------- what it says in words


def statements() -> Sequence[Statement]:
    """Check what the paper says in words and what can be computed."""
    return (_more_options(), _equals(), _a4_over_a1(), _alike_when_hard())


def _more_options() -> Statement:
    from allminds.statistics.accuracy import accuracy

    p = [float(accuracy(10, MIND, options=m)) for m in range(2, 28)]
    steps = [a - b for a, b in itertools.pairwise(p)]
    return Statement(
        "§6", "one more option costs more accuracy where options are few",
        f"at D = 10 it costs {steps[0]:.4f} from 2 to 3 options and {steps[-1]:.4f} from 26 to 27",
        all(a > b for a, b in itertools.pairwise(steps)),
        "this difference is greater over smaller",
    )  # fmt: skip


def _equals() -> Statement:
    hard = np.arange(0.5, 40.5, 0.5)
    holds = True
    for m in (3, 5, 10):
        curves = group_curves(m)
        alone, group = curves["alone"](hard), curves["A1"](hard)
        holds &= bool(((group > alone) == (alone > 0.5)).all())
    return Statement(
        "§8", "a majority of equals is better than one of them where P > .5, and worse below",
        "for m = 3, 5 and 10 and D = .5, 1, … 40: without exception", holds,
        "while the opposite is true for",
    )  # fmt: skip


def _a4_over_a1() -> Statement:
    first, fourth = group_score(A1), group_score(A4)
    return Statement(
        "§8", "A⁴ scores higher than A¹ on the C-test",
        f"on the published items A⁴ gets {fourth:.3f} and A¹ {first:.3f}", fourth > first,
        "scores higher than",
    )  # fmt: skip


def _alike_when_hard() -> Statement:
    hard = np.arange(25.0, 121.0)
    apart = {
        m: np.abs(curves["A1"](hard) - curves["A2"](hard))
        for m in range(2, 27) for curves in [group_curves(m)]
    }  # fmt: skip
    widest = max(apart, key=lambda m: float(apart[m][0]))
    settled = max(float(hard[int(np.argmax(gap < 0.01))]) for gap in apart.values())
    return Statement(
        "§8", "for D > 25 A¹ and A² have very similar accuracies",
        f"at D = 25 they differ by {apart[widest][0]:.3f} (m = {widest}), which a plot shows; they "
        f"differ by less than .01 for all m from D = {settled:.0f} on", settled <= 25,
        "record very similar accuracies",
    )  # fmt: skip


def worked() -> Sequence[Worked]:
    """Compute values that the paper does not print."""
    from allminds.statistics.accuracy import accuracy
    from allminds.voting import plurality_accuracy

    gap = accuracy(10, MIND, options=2) - accuracy(10, MIND, options=3)
    return (
        Worked("plurality of three with .55, .55 and .63, m = 3",
               plurality_accuracy([0.55, 0.55, 0.63], 3), "votes for wrong options are split"),
        Worked("P(m = 2) - P(m = 3) at D = 10, α = 11.28", float(gap),
               "the formula of §6, as printed, gives .2353; see the errata"),
    )  # fmt: skip


ERRATA = (
    Erratum("§6, difference over m", "(1 + e^(-D/α))(m₂ - m₁)/(m₁m₂), and (1 + e^(-D/α))/(m² + m)",
            "(1 - e^(-D/α)) in both", "at D = 0 both accuracies are 1 and their difference is 0"),
    Erratum("§7, majority", "'at least 50 %' of the agents are right",
            "more than half, as the formula has it", "of four agents, two right are no majority"),
    Erratum("§8, gain of replacing a member", "2(1 - p₁)p₂(p₃' - p₃)",
            "(p₁ + p₂ - 2p₁p₂)(p₃' - p₃)", "they are the same only for p₁ = p₂"),
    Erratum("§8 and Figures 2, 4, 5: ability of π", "α = 11.28 in the captions of Figures 2 and 4; "
            "α = 12.0094 in §8, with a cut-off at 16.64 that 'can also be verified' in Figure 5",
            "contradictory, not settled: 16.64 needs α = 12 (12.0094 gives 16.65, 11.28 gives "
            "15.64), but A¹ and A⁴ crossing near 14 needs 11.28 (12.0094 gives 18.5 to 23.0)",
            "`allminds reproduce chmait-2017:figure-5`, the table of cut-offs"),
    Erratum("§8, score of A¹", ".38 on the C-test", "not settled: three copies of π get the score "
            "of π, which by α = 28 r̃ is .403 (α = 11.28) or .429 (α = 12.0094)",
            "11.28/28 and 12.0094/28"),
    Erratum("§5, α = ω r̃", "ability proportional to the score",
            "the α whose Eq. 1 predicts the score, or the likeliest",
            "r̃ = .8 gives α = 22.4 with ω = 28, which predicts r̃ = .63"),
    Erratum("§5, condition (i)", "moderate accuracy at D = 6 to 16 for every agent",
            "no ω meets it for all nine agents: their α are proportional to r̃, which differs "
            "by a factor of 19.5, and 16/6 is 2.7",
            "moderate accuracy is at D = α ln 2"),
    Erratum("Table 1, min- and max-distance", "text: the minimal distance; formula: the least "
            "frequent", "two different minds: `min-distance(by=value)` and `min-distance`",
            "they score .349 and .312 on the published items"),
)  # fmt: skip

PAPER = Paper(
    name="chmait-2017",
    cited="Chmait, Dowe, Li and Green (2017)",
    citation="N. Chmait, D. L. Dowe, Y.-F. Li, D. G. Green: An information-theoretic predictive "
    "model for the accuracy of AI agents adapted from psychometrics. AGI 2017",
    what="Accuracy from ability, difficulty and options; when a group beats its members.",
    parts={
        "table-1": figures.table_1,
        "figure-1": figures.figure_1,
        "figure-2": figures.figure_2,
        "figure-3": figures.figure_3,
        "figure-4": figures.figure_4,
        "figure-5": figures.figure_5,
        "students": students,
        "calibration": lambda: calibration(MINDS, answers()),
        "adaptive": adaptive,
        "beyond": beyond,
    },
    claims=claims,
    statements=statements,
    worked=worked,
    errata=ERRATA,
)
