"""How often the statements of allminds are wrong: simulated, shown as a table, held by a gate.

Rows are made in `one_mind`, `two_minds`, `figures` and `people`; to add one, append a `Row` there
with a function ``(rng, repeats) -> (wrong, total)``.
"""

from allminds.statistics.calibration import figures, one_mind, people, two_minds
from allminds.statistics.calibration.table import (
    CAPTIONS,
    REPEATS,
    Found,
    Row,
    calibrate,
    cells,
    chosen,
    failures,
    page,
)


def rows() -> list[Row]:
    """Collect all rows of the table."""
    return one_mind.rows() + two_minds.rows() + figures.rows() + people.rows()


__all__ = [
    "CAPTIONS", "REPEATS", "Found", "Row", "calibrate", "cells", "chosen", "failures", "page",
    "rows",
]  # fmt: skip
