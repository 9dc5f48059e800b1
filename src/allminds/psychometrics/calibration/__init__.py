"""How often what allminds prints is wrong: simulated, shown as a table, and held by a gate.

The rows are lists of `Row` in `one_mind`, `two_minds` and `figures`; to add one, append a `Row` with
a function ``(rng, repeats) -> (wrong, total)`` there.
"""

from allminds.psychometrics.calibration import one_mind, two_minds
from allminds.psychometrics.calibration.page import CAPTIONS, cells, page
from allminds.psychometrics.calibration.table import (
    REPEATS,
    Found,
    Row,
    calibrate,
    chosen,
    failures,
)


def rows() -> list[Row]:
    """All rows of the table."""
    return one_mind.rows() + two_minds.rows()


__all__ = [
    "CAPTIONS", "REPEATS", "Found", "Row", "calibrate", "cells", "chosen", "failures", "page", "rows",
]  # fmt: skip
