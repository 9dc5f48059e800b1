"""Simulated participants of a study: each in its own session, one choice a second, over HTTP.

A browser as thin as it can be, so that many of them cost little: a connection that is kept open,
a cookie, and the form on the present page. When a reply does not come, a participant does what a
person does: it loads the page anew and goes on from what it shows.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any
from urllib.parse import urlencode

from checker import Exchange

PATIENCE = 30.0  # seconds for a reply, before the page is loaded anew
NONE: Mapping[str, str] = {}
PAUSE = 1.0  # seconds until somebody who got no reply tries again
_CHOICES = re.compile(r'name="choice" value="([^"]*)"')
_FIELDS = re.compile(r'name="(token|place|exercise|step)" value="([^"]*)"')
_REWARD = re.compile(r'data-reward="([^"]*)"')
_TOKENS = re.compile(r'name="token" value="[^"]*"')


class Lost(Exception):
    """No reply, or not the one of a server that is well."""


class Connection:
    """One connection to a server, opened when it is needed, from an address of this machine."""

    def __init__(self, source: str = "127.0.0.1") -> None:
        self.port, self.source = 0, source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def sent(
        self, port: int, method: str, path: str, cookie: str, fields: dict[str, str],
        headers: Mapping[str, str] = NONE,
    ) -> tuple[int, dict[str, str], bytes]:  # fmt: skip
        """A request and its reply: status, headers, body."""
        try:
            async with asyncio.timeout(PATIENCE):
                body = urlencode(fields).encode()
                return await self._sent(port, method, path, cookie, body, headers)
        except (OSError, EOFError, TimeoutError, ValueError, IndexError) as error:
            self.close()
            raise Lost(f"{type(error).__name__}: {error}") from None

    async def _sent(
        self, port: int, method: str, path: str, cookie: str, body: bytes, more: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if self._streams is None or self.port != port:
            self.close()
            self._streams = await asyncio.open_connection(
                "127.0.0.1", port, limit=1 << 20, local_addr=(self.source, 0)
            )
            self.port = port
        reader, writer = self._streams
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
            f"Cookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in more.items())
            + "\r\n"
        )
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in lines[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        found = await reader.readexactly(int(headers.get("content-length", "0")))
        return int(lines[0].split()[1]), headers, found

    def close(self) -> None:
        """Let go of it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


Move = tuple[str, int, int, str]  # label, exercise, step, choice


@dataclass
class Diary:
    """What a crowd did, and what it was told."""

    sent: set[Move] = field(default_factory=set)
    acknowledged: list[Move] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of every choice that was answered
    errors: dict[str, int] = field(default_factory=dict)
    history: list[Exchange] = field(default_factory=list)
    joined: int = 0

    def failed(self, what: str) -> None:
        """Count an error by its first words."""
        self.errors[what[:60]] = self.errors.get(what[:60], 0) + 1


class Participant:
    """One of the crowd. `port` says where the server is that it talks to now."""

    over: tuple[str, ...] = ("done", "closed")  # screens after which nothing is left to do

    def __init__(
        self, label: str, invite: str, port: Callable[[], int], diary: Diary, rng: Random,
        source: str = "127.0.0.1", external: str = "",
    ) -> None:  # fmt: skip
        self.external = external  # id in a panel
        self.label, self.invite, self.port, self.diary, self.rng = label, invite, port, diary, rng
        self.connection = Connection(source)
        self.cookie, self.screen = "", ""
        self.exercise, self.step = -1, -1
        self.form: dict[str, str] = {}
        self.choices: list[str] = []

    async def take(self, start: float, until: float, every: float = 1.0) -> None:
        """Join at a moment, then a choice whenever one is due, until the end."""
        await asyncio.sleep(max(0.0, start - time.monotonic()))
        due = start
        while time.monotonic() < until and self.screen not in self.over:
            try:
                if not self.cookie:
                    await self._join()
                await self._to_exercise()
                due = max(due + every, time.monotonic())
                await asyncio.sleep(max(0.0, min(due, until) - time.monotonic()))
                if time.monotonic() < until and self.screen == "exercise":
                    await self._choose()
            except Lost as lost:
                self.diary.failed(str(lost))
                self.screen = ""  # whatever is on the screen, it is no longer to be trusted
                await asyncio.sleep(PAUSE)
        self.connection.close()

    async def _join(self) -> None:
        fields = {"invite": self.invite} | ({"external_id": self.external} if self.external else {})
        status, headers, _ = await self.connection.sent(self.port(), "POST", "/join", "", fields)
        cookie = headers.get("set-cookie", "").partition(";")[0]
        if status != 303 or not cookie:
            raise Lost(f"POST /join was answered by {status}")
        self.cookie = cookie
        self.diary.joined += 1

    async def _to_exercise(self) -> None:
        """Whatever comes before the next choice: consent, instructions, pauses."""
        while self.screen not in ("exercise", "closed", *self.over):
            if not self.screen:
                await self._asked("GET", "/", {})
            elif self.screen == "consent":
                await self._asked("POST", "/consent", self.form | {"accept": "yes"})
            else:
                await self._asked("POST", "/next", self.form)

    async def _choose(self) -> None:
        at = (self.exercise, self.step)
        choice = self.rng.choice(self.choices)
        move = (self.label, *at, choice)
        self.diary.sent.add(move)
        start = time.monotonic()
        more = {"choice": choice, "rt_ms": "512", "input": "mouse"}
        await self._asked("POST", "/choice", self.form | more)
        self.diary.seconds.append(time.monotonic() - start)
        if (self.exercise, self.step) != at:  # the server showed what comes after it
            self.diary.acknowledged.append(move)
        else:
            self.diary.failed("a choice was shown again")

    async def _asked(self, method: str, path: str, fields: dict[str, str]) -> None:
        status, found = await self._exchanged(self.connection, method, path, fields)
        if status != 200:
            raise Lost(f"{method} {path} was answered by {status}")
        self.screen = found["screen"]
        none = found["exercise"] is None
        self.exercise, self.step = (-1, -1) if none else (found["exercise"], found["step"])
        self.form = dict(_FIELDS.findall(found["html"]))
        self.choices = _CHOICES.findall(found["html"])

    async def _exchanged(
        self, connection: Connection, method: str, path: str, fields: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        """Send a request over a connection and note it with its reply, or that there was none."""
        begun, status, found = time.monotonic(), 0, dict[str, Any]()
        try:
            status, _, body = await connection.sent(self.port(), method, path, self.cookie, fields)
            if status == 200:
                found = json.loads(body)
            return status, found
        finally:
            html, sent = found.get("html", ""), path == "/choice"
            none = found.get("exercise") is None
            reward = _REWARD.search(html)
            self.diary.history.append(
                Exchange(
                    self.label, begun, time.monotonic(), path,
                    (int(fields["exercise"]), int(fields["step"])) if sent else None,
                    fields["choice"] if sent else "", status, found.get("screen", ""),
                    None if none else (found["exercise"], found["step"]),
                    reward[1] if reward else "",
                    hashlib.sha256(_TOKENS.sub("", html).encode()).hexdigest()[:16],
                )
            )  # fmt: skip


async def crowded(
    invites: Sequence[tuple[str, str]], port: Callable[[int], int], seconds: float, seed: int,
    ramp: float = 15.0, every: float = 1.0, diary: Diary | None = None,
) -> tuple[Diary, float]:  # fmt: skip
    """Let everybody take part for some seconds, from starts spread over `ramp`.

    They write into `diary`, if one is given. The second value says how late this loop's own timers
    were, in seconds: above a few hundredths, what is measured is partly this program.
    """
    diary, begin = diary if diary is not None else Diary(), time.monotonic()
    until, rng = begin + seconds, Random(seed)
    people = [
        Participant(label, invite, partial(port, n), diary, Random(f"{seed}/{n}"))
        for n, (label, invite) in enumerate(invites)
    ]
    late = asyncio.create_task(_lateness(until))
    await asyncio.gather(*(one.take(begin + ramp * rng.random(), until, every) for one in people))
    return diary, await late


async def _lateness(until: float) -> float:
    """The 99th percentile of how late a timer of this loop is."""
    found = [0.0]
    while time.monotonic() < until:
        start = time.monotonic()
        await asyncio.sleep(0.05)
        found.append(time.monotonic() - start - 0.05)
    return sorted(found)[len(found) * 99 // 100]
