"""What a server remembers of the sessions that are being played, so as not to read them again.

Nothing depends on it: a visit is remembered after it was kept, and taken up again only if the
session's version in the database says that nothing changed since, neither through another server
nor with another token. Else, and after a restart, the session is read and replayed.
"""

from __future__ import annotations

from collections import OrderedDict

from allminds.web.sessions_visit import Visit


class Memory:
    """The visits that were kept last, by token; each can be taken up once."""

    def __init__(self, most: int = 2_000) -> None:
        self.most = most
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def take(self, digest: str) -> Visit | None:
        """Return the last visit with this token, if it is remembered, and forget it."""
        return self._visits.pop(digest, None)

    def put(self, digest: str, visit: Visit) -> None:
        """Remember a visit that was kept; the oldest are forgotten."""
        self._visits[digest] = visit
        if len(self._visits) > self.most:
            self._visits.popitem(last=False)
