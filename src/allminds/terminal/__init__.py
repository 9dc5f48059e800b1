"""What people are shown: scores in a terminal and in a notebook, lists, and progress."""

from allminds.terminal.progress import listing, show_listing, watching, working
from allminds.terminal.tables import show_profiles, show_test

__all__ = [
    "listing",
    "show_listing",
    "show_profiles",
    "show_test",
    "watching",
    "working",
]
