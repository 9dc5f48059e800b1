"""Hilton, Liao and Poggio: matrices in the style of Raven's, generated.

The paper describes a generator and shows one item; it has no scores. So this module shows a sheet
with an item of every rule and attribute, an item of Figure 2's kind, and the scores of shortcuts on
our options.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from allminds.papers.paper import Claim, Erratum, Paper, Part, Worked

if TYPE_CHECKING:
    from allminds.instruments.matrices.dataset.battery import Entry

PROBLEMS = 4_000


def sheet() -> Part:
    """Draw an item of every rule and attribute."""
    import pandas as pd

    from allminds.instruments.matrices.drawing.sheet import sheet_svg
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


def figure_2() -> Part:
    """Draw an item with a distribution of three and a constant in a row."""
    import pandas as pd

    from allminds.instruments.matrices.drawing.sheet import sheet_items
    from allminds.instruments.matrices.drawing.svg import composite_svg

    item = next(item.problem for item in sheet_items() if "Fig. 2" in item.told)
    rows = [
        {"kind": rule.kind, "layer": rule.layer, "attribute": rule.attribute}
        for rule in item.rules
    ]  # fmt: skip
    return Part(
        "An item with a distribution of three and a constant in a row",
        f"The answer is {'ABCDEFGH'[item.answer]}.",
        pd.DataFrame(rows), [("As in the paper's Figure 2.", composite_svg(item))],
    )  # fmt: skip


@cache
def _battery(rules: int) -> list[Entry]:
    from allminds.instruments.matrices.dataset.battery import battery
    from allminds.instruments.matrices.environment import made
    from allminds.instruments.matrices.making.generator import problems

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
    """Compare the generator with the numbers that the paper states."""
    from allminds.instruments.matrices.environment import made
    from allminds.instruments.matrices.making.panel import KINDS

    return (
        Claim("§IV", "rules", "five", float(len(KINDS)), "a set of five rules"),
        Claim("§IV", "wrong candidates", "three", float(made().candidates - 1),
              "along with three other erroneous images"),
    )  # fmt: skip


def worked() -> Sequence[Worked]:
    """Count attributes, and see how far shortcuts are from chance; the paper has no such numbers.

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
    parts={"figure-2": figure_2, "sheet": sheet, "baselines": baselines},
    claims=claims,
    worked=worked,
    errata=ERRATA,
    not_made={"figure-1": "an example of Carpenter et al. (1990), which is not ours to print"},
)
