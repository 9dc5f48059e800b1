"""What people are shown: scores in a terminal and in a notebook, lists, and progress."""

from allminds.screen.profile import show_profiles
from allminds.screen.results import Results, evaluate
from allminds.screen.tables import show_test
from allminds.screen.terminal import listing, show_listing, watching, working

__all__ = [
    "Results",
    "evaluate",
    "listing",
    "show_listing",
    "show_profiles",
    "show_test",
    "watching",
    "working",
]
