"""Resume rules: what a gap means when a participant comes back.

    shorter than short_minutes     it goes on
    up to long_hours               it goes on; in the midst of an exercise of several moves the
                                   instructions come first and the exercise is flagged
                                   `interrupted`; by the study's policy it may be replaced, or void
    longer, or the study closed    the session is over; what was done is kept

Before the first exercise there is nothing that a gap could spoil, so it never ends a session.
"""

from __future__ import annotations

from typing import Literal

from allminds.web.study import Study

Meaning = Literal["go on", "again", "replace", "void", "over"]
MINUTE, HOUR = 60_000, 3_600_000  # milliseconds


def meaning(study: Study, gap: int, begun: bool, midst: bool) -> Meaning:
    """Return what a gap of so many milliseconds means; `midst`: between two moves."""
    rules = study.resume
    if begun and gap > rules.long_hours * HOUR:
        return "over"
    if not midst or gap < rules.short_minutes * MINUTE:
        return "go on"
    if rules.policy == "continue":
        return "again"
    return rules.policy
