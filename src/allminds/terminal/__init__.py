"""What people are shown: scores in a terminal and in a notebook, lists, and progress."""

from allminds.terminal.progress import (
    listing,
    show_lines,
    show_listing,
    show_minds,
    watching,
    working,
)
from allminds.terminal.tables import show_profiles, show_test

__all__ = [
    "listing",
    "show_lines",
    "show_listing",
    "show_minds",
    "show_profiles",
    "show_test",
    "watching",
    "working",
]
