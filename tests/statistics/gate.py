"""The gate of `allminds calibrate` with as few simulated studies as still find what is wrong.

An approximate interval has 400 studies a row, the least with which one that is never wrong is seen
to be too long. Verdicts and bounded intervals, which are only held from above, have 160 (slow rows
as much fewer as in `calibrate`): a verdict that is false in .2 of studies instead of .05 fails in
its own row with probability .998. So that less is found too, the rows of a section are also held as
a whole: ten rows with 1,600 studies show .09 with probability .999. A row or a section that is
wrong as often as it may be fails with probability .0005.
"""

from __future__ import annotations

from itertools import groupby

from allminds.statistics import calibration
from allminds.statistics.calibration import Found, Row

SEED = 2026
REPEATS = {"approximate": 400, "bounded": 160, "verdict": 160, "outside": calibration.AT_LEAST}


def sections(*parts):
    """The names of the sections of some modules of `calibration`, in their order."""
    return list(dict.fromkeys(row.section for part in parts for row in part.rows()))


def failures(section, rows=None):
    """Simulate the rows of a section; a sentence for every one that fails, and for their sum."""
    rows = [row for row in rows or calibration.rows() if row.section == section]
    found = []
    for kind, those in groupby(sorted(rows, key=lambda row: row.kind), lambda row: row.kind):
        found += calibration.calibrate(list(those), REPEATS[kind], SEED)
    return calibration.failures([*found, *_sums(found)])


def _sums(found):
    """What all rows with the same limits say together."""
    for limits in dict.fromkeys((one.row.kind, one.row.allowed) for one in found):
        those = [one for one in found if (one.row.kind, one.row.allowed) == limits]
        (kind, (_, most)), section = limits, those[0].row.section
        row = Row(section, f"all {len(those)} rows, {kind}", kind, those[0].row.simulate, most=most)
        yield Found(row, sum(one.wrong for one in those), sum(one.total for one in those))
