"""The command line: one verb each. Heavy imports wait until a command needs them."""

from allminds.cli import (
    calibrating,
    comparing,
    exchanging,
    giving,
    making,
    measuring,
    planning,
    predicting,
    reproducing,
    studying,
    testbeds,
)
from allminds.cli.app import main

__all__ = [
    "calibrating",
    "comparing",
    "exchanging",
    "giving",
    "main",
    "making",
    "measuring",
    "planning",
    "predicting",
    "reproducing",
    "studying",
    "testbeds",
]
