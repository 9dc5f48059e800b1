"""One folder per test. Importing this package registers all of them and their minds."""

from allminds.instruments import (
    cells,
    chance,
    extensions,
    landscape,
    matrices,
    series,
    social,
    torus,
)

__all__ = [
    "cells",
    "chance",
    "extensions",
    "landscape",
    "matrices",
    "series",
    "social",
    "torus",
]
