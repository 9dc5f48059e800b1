"""Hilton, Liao and Poggio: matrices in the style of Raven's, generated.

The paper describes a generator and shows one item of its own; it has no scores. So this module
draws items of the kinds of its two figures, the second with its answer key, and a sheet with an
item of every rule and attribute; it counts how far progressions go, and tries shortcuts on our
options.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from allminds.papers import Claim, Erratum, Paper, Part, Worked

if TYPE_CHECKING:
    import pandas as pd

    from allminds.instruments.matrices.dataset.battery import Entry
    from allminds.instruments.matrices.making.panel import Problem

PROBLEMS = 4_000


def sheet() -> Part:
    """Draw an item of every rule and attribute."""
    import pandas as pd

    from allminds.instruments.matrices.drawing.svg import sheet_svg
    from allminds.instruments.matrices.making.rules import CARRIED

    rows = [
        {"rule": kind, "layer": layer, "attribute": attribute}
        for kind, slots in CARRIED.items() for layer, attribute in slots
    ]  # fmt: skip
    return Part(
        "An item of every rule on every attribute that can carry it",
        "Rows are rules, columns attributes; the right option is framed.",
        pd.DataFrame(rows), [("The sheet.", sheet_svg())],
        wide=True,
    )  # fmt: skip


def _found(wanted: Sequence[tuple[str, str]]) -> Problem:
    """Make the first item with these kinds of rules on these attributes, none bound to another."""
    from allminds.instruments.matrices.making.generator import generate
    from allminds.instruments.matrices.making.rules import made

    kinds, attributes = (",".join(names) for names in zip(*wanted, strict=True))
    settings = made(rules=len(wanted), kinds=kinds, attributes=attributes)
    for index in count():
        item = generate(1, index, settings)
        rules = [(rule.kind, rule.attribute) for rule in item.rules if rule.layer == "figure"]
        if sorted(rules) == sorted(wanted) and not any(rule.bound for rule in item.rules):
            return item
    raise AssertionError  # numbers do not end


def _rules(item: Problem) -> pd.DataFrame:
    import pandas as pd

    rows = [{"kind": rule.kind, "attribute": rule.attribute} for rule in item.rules]
    return pd.DataFrame(rows)


THREE, CONSTANT = "distribution-of-three", "constant"


def figure_1() -> Part:
    """Draw an item with the rules that the caption of Figure 1 names."""
    from allminds.instruments.matrices.drawing.svg import composite_svg

    item = _found([(THREE, "shape"), (THREE, "colour"), (CONSTANT, "size")])
    return Part(
        "Figure 1, in kind: two distributions of three and a constant in a row",
        "The paper prints an example of Carpenter et al. (1990): shapes and textures follow a "
        "distribution of three, and a rotation is constant in a row. In this item, which our "
        f"generator made, shapes, colours and sizes do so. The answer is {item.letter}.",
        _rules(item), [("Eight figures, the blank, and the candidates.", composite_svg(item))],
    )  # fmt: skip


def figure_2() -> Part:
    """Draw an item with the rules that the caption of Figure 2 names, and its answer key."""
    from allminds.instruments.matrices.drawing.svg import key_svg, matrix_svg, options_svg

    item = _found([(THREE, "shape"), (CONSTANT, "colour")])
    return Part(
        "Figure 2, in kind: a generated item and its answer key",
        "A distribution of three and a constant in a row. `allminds make matrices` writes these "
        "three pictures with every item.",
        _rules(item),
        [
            ("The question.", matrix_svg(item)),
            ("The candidates: one is right, three are wrong.", options_svg(item)),
            (f"The answer key: {item.letter}.", key_svg(item)),
        ],
    )


@cache
def _steps() -> Counter[tuple[str, int, str]]:
    """Count how far progressions go: by attribute, number of rules and step."""
    from allminds.instruments.matrices.making.generator import problems
    from allminds.instruments.matrices.making.rules import made

    found: Counter[tuple[str, int, str]] = Counter()
    for item in problems(1, 0, PROBLEMS, made(kinds="progression")):
        for rule in item.rules:
            if rule.layer == "figure" and rule.attribute in FURTHEST:
                step = rule.parameters["step"]
                across = "diagonal" if isinstance(step, list) and all(step) else "straight"
                size = across if isinstance(step, list) else str(abs(step))
                found[rule.attribute, item.C, size] += 1
    return found


FURTHEST = {"size": "2", "shape": "3", "position": "diagonal"}  # the ends of the stated ranges
STEPS = {
    "size": "levels, of which two are the factor 1.5",
    "shape": "sides at once",
    "position": "direction of translation",
}


def ranges() -> Part:
    """Tabulate how far progressions go, by the number of rules."""
    import pandas as pd

    rows = [
        {"attribute": name, "rules": rules, "step": step, "of": STEPS[name], "items": number}
        for (name, rules, step), number in sorted(_steps().items())
    ]
    return Part(
        "How far progressions go",
        f"{PROBLEMS:,} items of one to three progressions. With one rule all steps are equally "
        "frequent. Three sides at once need shapes of up to nine sides, and a factor of 1.5 five "
        "sizes, for which a panel with many figures has no room.",
        pd.DataFrame(rows),
    )


@cache
def _battery(rules: int) -> list[Entry]:
    from allminds.instruments.matrices.dataset.battery import battery
    from allminds.instruments.matrices.making.generator import problems
    from allminds.instruments.matrices.making.rules import made

    return battery(list(problems(1, 0, PROBLEMS, made(rules=rules))))


def baselines() -> Part:
    """Tabulate the hits of shortcuts, by the number of rules."""
    import pandas as pd

    rows = [
        {
            "shortcut": entry.name, "sees the options alone": "yes" if entry.blind else "no",
            "rules": rules, "hits": entry.hits, "stderr": entry.stderr,
        }
        for rules in (1, 2, 3) for entry in _battery(rules)
    ]  # fmt: skip
    return Part(
        "What shortcuts get",
        f"{PROBLEMS:,} problems for each number of rules, four options, chance .25. Those that see "
        "the options alone must be at chance; the others show what a part of the matrix is worth.",
        pd.DataFrame(rows),
    )


def claims() -> Sequence[Claim]:
    """Compare what the generator makes with the numbers that the paper states."""
    from allminds.instruments.matrices.making.generator import problems
    from allminds.instruments.matrices.making.panel import scale
    from allminds.instruments.matrices.making.rules import made

    items = list(problems(1, 0, 1_000))
    items += problems(1, 0, 400, made(rules=1, kinds="progression"))
    rules = [rule for item in items for rule in item.rules]
    figures = [cell.figure for item in items for cell in item.cells if cell.figure]
    sides = [int(shape) for one in figures for shape in one.shape if shape.isdigit()]
    levels = [
        abs(rule.parameters["step"]) for rule in rules
        if (rule.kind, rule.attribute) == ("progression", "size")
    ]  # fmt: skip
    wrong = {len(item.options) - 1 for item in items}
    return tuple(
        Claim("§IV", what, printed, float(ours), quote, exact=True)
        for what, printed, ours, quote in (
            ("kinds of rules", "five", len({rule.kind for rule in rules}), "a set of five rules"),
            ("most rules of an item", "3", max(item.C for item in items), r"C \in [1, 2, 3]"),
            ("largest scale factor of a step", "1.5", scale(max(levels)) / scale(0), "[-1.5, 1.5]"),
            ("most shapes in a figure", "4", max(one.count for one in figures), "T = [1, 2, 3, 4]"),
            ("fewest sides of a polygon", "3", min(sides), "P_c = [3, 4, 5, ..., 9]"),
            ("most sides of a polygon", "9", max(sides), "P_c = [3, 4, 5, ..., 9]"),
            ("figures of a matrix", "nine", len(items[0].cells), "nine different figures"),
            ("wrong candidates", "three", max(wrong), "three other erroneous images"),
        )
    )


def worked() -> Sequence[Worked]:
    """Compute what the paper has no numbers for.

    Its own options are not described well enough to be tested.
    """
    from allminds.instruments.matrices.making.panel import ATTRIBUTES

    worst = max(
        abs(entry.hits - entry.chance) / entry.stderr
        for rules in (1, 2, 3) for entry in _battery(rules) if entry.blind and entry.stderr
    )  # fmt: skip
    return (
        Worked("attributes", float(len(ATTRIBUTES)), "those of the paper's list, §IV"),
        Worked("blind shortcuts: most standard errors from chance", worst,
               "of our options; 4 or more would be a fault"),
        *(
            Worked(f"progressions of {name} at the end of the range", _steps()[name, 1, far] / sum(
                number for (attribute, rules, _), number in _steps().items()
                if (attribute, rules) == (name, 1)
            ), f"with one rule: {said}")
            for (name, far), said in zip(FURTHEST.items(), (
                "the factor 1.5; half if factors are even", "three sides at once; a third",
                "diagonals; half",
            ), strict=True)
        ),
    )  # fmt: skip


ERRATA = (
    Erratum("scale factors", "S in [-1.5, 1.5]", "|S| above 1: larger or smaller by |S| a step",
            "a factor of 0 or below has no meaning, and one below 1 doubles another"),
    Erratum("colour as a progression", "changes to any other colour",
            "a sequence, or transitions that were shown",
            "in a free cycle of 4, 5 or 6 colours 25, 36 or 44 % have no answer"),
    Erratum("C rules", "four candidates for three rules", "eight",
            "each fair option pair decides one rule: four decide two"),
)  # fmt: skip

PAPER = Paper(
    name="hilton",
    cited="Hilton, Liao and Poggio",
    citation="E. Hilton, Q. Liao, T. Poggio: Spatial IQ test for AI. Center for Brains, Minds and "
    "Machines, MIT",
    what="Matrices in the style of Raven's, generated.",
    parts={
        "figure-1": figure_1, "figure-2": figure_2, "sheet": sheet, "ranges": ranges,
        "baselines": baselines,
    },
    claims=claims,
    worked=worked,
    errata=ERRATA,
)  # fmt: skip
