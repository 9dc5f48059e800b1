"""One folder per test. Importing this package registers all of them and their minds."""

from allminds.instruments import chance, series, torus

__all__ = ["chance", "series", "torus"]
