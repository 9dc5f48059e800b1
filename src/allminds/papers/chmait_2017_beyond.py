"""Beyond Chmait et al. (2017): which curve predicts answers, and how well.

Also the number of items that an adaptive test saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.core.seeding import Random, key
from allminds.papers.drawing import lines
from allminds.papers.paper import Part
from allminds.report.charts.calibration import SCHEMES, calibrations, panels
from allminds.report.charts.drawing import FLOOR

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
            for panel in panels(calibrations(names, found), ends)
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
