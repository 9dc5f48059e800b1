"""Connections to the server, bounded: how many there are, how large a head is, and how slow.

A request must have arrived whole some seconds after its first byte. When there are too many
connections, those that wait for nothing but their client are closed, the oldest of the address
that has most of them first, so that whoever opens many closes their own.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 16_384  # of the first line and all headers of a request
RECEIVE = 10.0  # seconds in which a request must have come, from its first byte on
FILES = 200  # left for the database and everything else that is open
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


def most_connections() -> int:
    """Allow this process as many files as the system does; return how many may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(4096, hard) if hard != resource.RLIM_INFINITY else 4096
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(50, min(soft, wanted) - FILES)


class Connection(HttpToolsProtocol):
    """A connection of uvicorn's that cannot be held open for nothing."""

    most: ClassVar[int] = 800  # set by `serve`

    def connection_made(self, transport: Any) -> None:
        """Begin to count; make room first if there are too many."""
        super().connection_made(transport)
        self._head, self._heading = 0, True
        self._since = self.loop.time()
        self._receiving: asyncio.TimerHandle | None = None
        self._await_request()
        if len(self.connections) > self.most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on what has come, unless the head of a request is too large."""
        if self._heading:
            self._head += len(data)
        super().data_received(data)
        if self._heading and self._head > HEAD_BYTES:
            self._refuse()

    def on_message_begin(self) -> None:
        """Begin a request: it has some seconds to arrive."""
        self._heading = True
        self._await_request()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Pass a request on, unless its head came at once and is too large."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        self._heading, self._head = False, 0
        if size > HEAD_BYTES:
            self._refuse()
            raise ValueError("the head of a request is too large")  # ends the parser
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Stop the clock: all of it has come."""
        self._arrived()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, unless it was answered already."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    @property
    def idle(self) -> bool:
        """True if no reply is being made."""
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        self._arrived()
        self._receiving = self.loop.call_later(RECEIVE, self.transport.abort)

    def _arrived(self) -> None:
        if self._receiving is not None:
            self._receiving.cancel()
            self._receiving = None

    def _refuse(self) -> None:
        self._arrived()
        self.transport.write(_TOO_LARGE)
        self.transport.close()

    def _make_room(self) -> None:
        """Close a tenth of all, of those whose address has most, the oldest first."""
        others: set[Any] = self.connections - {self}
        waiting = [one for one in others if one.idle]
        of = Counter(one.client[0] if one.client else "" for one in waiting)
        waiting.sort(key=lambda one: (-of[one.client[0] if one.client else ""], one._since))
        for one in waiting[: max(1, self.most // 10)]:
            one.transport.abort()
