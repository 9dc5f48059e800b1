"""Tokens, forged forms, floods, and what every reply says about itself."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

COOKIE = "__Host-allminds"
_HOST = re.compile(r"([a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # not no-referrer: then forms would be posted with Origin: null, and refused
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


# ---------------------------------------------------------------- tokens


def new_token() -> str:
    """Draw 256 random bits, fit for a link or a cookie."""
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """Hash a token for the database; a token has 256 bits, so no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def form_token(session_token: str) -> str:
    """Derive the token that the forms of a session carry; it lasts as long as the session."""
    return hmac.new(session_token.encode(), b"form", hashlib.sha256).hexdigest()


def signature(key: str, external_id: str) -> str:
    """Sign a panel's id: HMAC-SHA256 with the key's text, in hex."""
    return hmac.new(key.encode(), external_id.encode(), hashlib.sha256).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Return whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


# ---------------------------------------------------------------- where a request comes from


class Origins:
    """The pages that may post to this server: its own, by the address they were asked for.

    `public` is the address that people see where a server in front handles TLS; without it only
    this machine's own names are accepted.
    """

    def __init__(self, public: str = "") -> None:
        self.public = public.rstrip("/")
        self.host = urlsplit(self.public).netloc

    def knows(self, host: str) -> bool:
        """Return whether a request names this server, not a foreign name that points to it."""
        if self.host and host == self.host:
            return True
        found = _HOST.fullmatch(host)
        return found is not None and found[1].strip("[]") in LOOPBACK

    def refuses(self, headers: Mapping[str, str]) -> bool:
        """Return whether a posted form was made by another site's page."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = headers.get("origin")
        if origin is None:
            return False
        host = headers.get("host", "")
        if self.host and host == self.host:
            return origin != self.public
        return origin not in (f"http://{host}", f"https://{host}")


# ---------------------------------------------------------------- floods


class Rate:
    """So many at once, and so many a while: a bucket for every key, in memory only."""

    MOST = 10_000  # keys remembered

    def __init__(
        self, count: float, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.count, self.seconds, self.clock = count, seconds, clock
        self._left: dict[str, tuple[float, float]] = {}  # key -> what is left, and since when
        self._lock = threading.Lock()

    def allows(self, key: str, take: float = 1.0) -> bool:
        """Take one from the bucket and return True if there is one; with take=0 only ask."""
        with self._lock:
            now = self.clock()
            key = key[:64]  # whoever sends long ones does not fill the memory with them
            left, since = self._left.get(key, (self.count, now))
            left = min(self.count, left + max(0.0, now - since) * self.count / self.seconds)
            allowed = left >= 1.0
            self._left[key] = (left - take if allowed else left, now)
            if len(self._left) > self.MOST:
                self._forget(now)
            return allowed

    def _forget(self, now: float) -> None:
        """Forget full buckets, which say nothing; if there are still too many, the oldest half."""
        kept = {k: v for k, v in self._left.items() if now - v[1] < self.seconds}
        if len(kept) > self.MOST:
            kept = dict(sorted(kept.items(), key=lambda item: item[1][1])[len(kept) // 2 :])
        self._left = kept


# ---------------------------------------------------------------- around every request


FORM = "application/x-www-form-urlencoded"
TOO_MANY = {"Connection": "close", "Content-Type": "text/plain; charset=utf-8"}


class Guard:
    """ASGI middleware that checks every request first: its host, its origin and its length.

    A body that is longer than it says is cut off at the limit, and replies carry `HEADERS`. What
    fails inside is answered here, so that no server logs it with all that was sent.
    """

    def __init__(
        self, app: Any, body_bytes: int, origins: Origins, secure: bool,
        refuse: Callable[[Request, HTTPException], Response],
        fail: Callable[[Request, Exception], Response], allows: Callable[[Request], bool],
    ) -> None:  # fmt: skip
        self.app, self.body_bytes, self.origins, self.refuse = app, body_bytes, origins, refuse
        self.fail, self.allows = fail, allows
        self.headers = dict(HEADERS)
        if secure:
            self.headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check and pass on one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read, started, request = 0, False, Request(scope)

        async def limited() -> Any:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.body_bytes:
                raise HTTPException(413, "too-large")
            return message

        async def marked(message: Any) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers[name] = value
            await send(message)

        status = self._refused(scope["method"], Headers(scope=scope))
        if not self.allows(request):
            await Response("Too many requests.", 429, TOO_MANY)(scope, limited, marked)
        elif status:
            await self.refuse(request, HTTPException(status))(scope, limited, marked)
        else:
            try:
                await self.app(scope, limited, marked)
            except Exception as error:
                reply = self.fail(request, error)
                if not started:
                    await reply(scope, limited, marked)

    def _refused(self, method: str, headers: Headers) -> int:
        """Return the status of a request that is not let in; 0 if it is."""
        if not self.origins.knows(headers.get("host", "")):
            return 404
        if announced(headers) > self.body_bytes:
            return 413
        if method != "POST":
            return 0
        if headers.get("content-type", FORM).partition(";")[0].strip().lower() != FORM:
            return 415  # our pages send no files, and no texts in one of a hundred encodings
        return 403 if self.origins.refuses(headers) else 0


def announced(headers: Headers) -> int:
    """Return how long a request says that its body is."""
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else 0
