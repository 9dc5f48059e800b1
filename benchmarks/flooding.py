"""Kinds of floods from one address, each by workers that do the same until time is over.

    python benchmarks/flooding.py KIND PORT SECONDS LINK

`flood.py` starts it in a process of its own, which imports nothing large. It prints what came of it
as JSON: replies by their status, connections, and errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import secrets
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from crowd import Connection, Lost

FROM = "127.0.0.66"  # where floods come from
COOKIE = "__Host-allminds"
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Flood:
    """The workers of one kind of flood, and what they count."""

    def __init__(self, port: int, seconds: float, link: str) -> None:
        self.port, self.until, self.link = port, time.monotonic() + seconds, link
        self.counts: Counter[str] = Counter()
        self.cookie = ""
        self.opening = asyncio.Semaphore(200)  # so many at a time, or none is done in time

    async def run(self, kind: str) -> None:
        """Let the workers of a kind work."""
        worker, number = KINDS[kind]
        if kind == "reloads":
            await self._join()
        await asyncio.gather(*(self._work(worker, n) for n in range(number)))

    async def _work(self, worker: Worker, n: int) -> None:
        while time.monotonic() < self.until:
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + self.left):
                    await worker(self, n)
            except (OSError, EOFError, TimeoutError, Lost) as error:
                if time.monotonic() < self.until:
                    self.counts[type(error).__name__] += 1
                    await asyncio.sleep(0.01)

    @property
    def left(self) -> float:
        """Seconds until it is over."""
        return max(0.01, self.until - time.monotonic())

    async def _join(self) -> None:
        line = Connection(FROM)
        _, headers, _ = await line.sent(self.port, "POST", "/join", "", {"invite": self.link})
        self.cookie = headers["set-cookie"].partition(";")[0]
        line.close()

    async def open(self) -> Stream:
        """Open a connection from the one address."""
        async with self.opening:
            stream = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(FROM, 0))
        self.counts["connections"] += 1
        return stream

    async def requests(self, n: int) -> None:
        """Ask for pages, wrong links and wrong tokens without a session."""
        line = Connection(FROM)
        asked = [("GET", "/"), ("GET", "/j/x"), ("POST", "/join"), ("GET", "/admin")]
        with contextlib.closing(line):
            while time.monotonic() < self.until:
                method, path = asked[n % 4]
                await self._count(line, method, path, "", {"invite": "x"})
                n += 1

    async def static(self, _n: int) -> None:
        """Load static files, which are not limited."""
        line = Connection(FROM)
        with contextlib.closing(line):
            while time.monotonic() < self.until:
                await self._count(line, "GET", "/static/icon.svg", "", {})

    async def cookies(self, _n: int) -> None:
        """Send a made-up session with every request, and hundreds of other cookies."""
        line = Connection(FROM)
        more = "; ".join(f"c{k}={k}" for k in range(500))
        with contextlib.closing(line):
            while time.monotonic() < self.until:
                cookie = f"{COOKIE}={secrets.token_urlsafe(32)}; {more}"
                await self._count(line, "GET", "/", cookie, {})

    async def reloads(self, _n: int) -> None:
        """Load the page of one real session anew, without end."""
        line = Connection(FROM)
        with contextlib.closing(line):
            while time.monotonic() < self.until:
                await self._count(line, "GET", "/", self.cookie, {})

    async def _count(
        self, line: Connection, method: str, path: str, cookie: str, fields: dict[str, str]
    ) -> None:
        status, headers, _ = await line.sent(self.port, method, path, cookie, fields)
        self.counts[str(status)] += 1
        if headers.get("connection") == "close":
            line.close()

    async def heads(self, _n: int) -> None:
        """Send a head of a megabyte."""
        reader, writer = await self.open()
        with contextlib.closing(writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            for _ in range(64):
                writer.write(b"X-Long: " + b"x" * 16_000 + b"\r\n")
                await writer.drain()
            self.counts[(await reader.read(12)).decode() or "closed"] += 1

    async def bodies(self, _n: int) -> None:
        """Announce ten megabytes and send them."""
        reader, writer = await self.open()
        with contextlib.closing(writer):
            head = b"POST /choice HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\n"
            writer.write(head)
            for _ in range(100):
                writer.write(b"x" * 100_000)
                await writer.drain()
            self.counts[(await reader.read(12)).decode() or "closed"] += 1

    async def halves(self, _n: int) -> None:
        """Send half a request, and hold the connection open."""
        reader, writer = await self.open()
        with contextlib.closing(writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: 127")
            await reader.read(1)
            self.counts["closed"] += 1

    async def slow(self, _n: int) -> None:
        """Send a request by one byte a second (slow loris)."""
        reader, writer = await self.open()
        with contextlib.closing(writer):
            for byte in b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: 1\r\n\r\n":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1.0)
            await reader.read(1)

    async def connects(self, _n: int) -> None:
        """Connect and hang up at once."""
        _, writer = await self.open()
        writer.close()


Worker = Callable[[Flood, int], Awaitable[None]]
KINDS: dict[str, tuple[Worker, int]] = {  # and how many at once
    "requests": (Flood.requests, 100),
    "static": (Flood.static, 100),
    "cookies": (Flood.cookies, 100),
    "reloads": (Flood.reloads, 100),
    "heads": (Flood.heads, 20),
    "bodies": (Flood.bodies, 20),
    "halves": (Flood.halves, 5000),
    "slow": (Flood.slow, 3000),
    "connects": (Flood.connects, 50),
}


def attack(kind: str, port: int, seconds: float, link: str) -> None:
    """Flood a server from this process; print what came of it."""
    os.nice(5)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    flood = Flood(port, seconds, link)
    asyncio.run(flood.run(kind))
    print(json.dumps(flood.counts))


if __name__ == "__main__":
    attack(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
