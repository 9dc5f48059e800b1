"""One folder per test. Importing this package registers all of them and their minds."""

from allminds.instruments import chance, landscape, matrices, series
from allminds.instruments import games as social
from allminds.instruments import lambda_ as cells
from allminds.instruments import lambda_star as torus
from allminds.instruments.lambda_star import extensions

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
