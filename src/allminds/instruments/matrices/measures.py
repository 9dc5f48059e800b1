"""How much there is to find out, beyond C: measures of an ideal observer, not fitted to people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from allminds.instruments.matrices import beliefs, codes
from allminds.instruments.matrices.cases import Case
from allminds.instruments.matrices.codes import Code
from allminds.instruments.matrices.options import distance, needed_rules
from allminds.instruments.matrices.panel import KINDS

SLOTS = len(codes.FIELD_OF)


def measures(
    case: Case, cells: Sequence[Code], bound: Sequence[bool], candidates: int
) -> dict[str, float]:
    """All measures of a problem; the rules of `bound` add nothing to the bits of the answer.

    ``I_context``: bits of the answer that rows 1 and 2 must supply. ``I_answer``: bits of the
    answer. ``L_rules``: bits that describe the rules and their arrays. ``H_rule_row1``: doubt
    about the kinds of the rules after row 1. ``needed_rules``: rules one must know at least to
    tell the answer from the other options. ``option_distance``: attributes in which a wrong option
    differs from it, on average. ``elements``: things drawn in the nine cells.
    """
    context = answer = doubt = length = 0.0
    for carrier, bank, is_bound in zip(case.plan, case.banks, bound, strict=True):
        values = [cell[carrier.field] for cell in cells]
        belief = beliefs.of_cells(cells, carrier.field)
        length += math.log2(len(KINDS)) + math.log2(SLOTS) + math.log2(bank.size)
        if not is_bound:
            context += belief.left[values[6], values[7]]
            answer += belief.free
            doubt += belief.doubt[values[0], values[1], values[2]]
    return {
        "I_context": context,
        "I_answer": answer,
        "L_rules": length,
        "H_rule_row1": doubt,
        "needed_rules": float(needed_rules(len(case.plan), candidates)),
        "option_distance": distance(len(case.plan), candidates),
        "elements": float(sum(map(elements, cells))),
    }


def elements(cell: Code) -> int:
    """How many things are drawn in a panel: every glyph with all its shapes, sizes and lines."""
    glyph = [cell[field].bit_count() for field in (codes.SHAPE, codes.SIZE, codes.ANGLE)]
    copies = (codes.index(cell[codes.COUNT]) + 1) * cell[codes.PLACE].bit_count()
    return math.prod(glyph) * copies + cell[codes.PRESENT].bit_count()
