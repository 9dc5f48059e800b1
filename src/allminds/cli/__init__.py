"""The command line: one verb each. Heavy imports wait until a command needs them."""

from allminds.cli import giving, predicting
from allminds.cli.app import main

__all__ = ["giving", "main", "predicting"]
