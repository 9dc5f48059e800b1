"""Run the app: on this machine alone, or beyond it with TLS; its connections are bounded.

A request must have arrived whole some seconds after its first byte. When there are too many
connections, those that wait for nothing but their client are closed, the oldest of the address
that has most of them first, so that whoever opens many closes their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import resource
import signal
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sqlalchemy import select
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from allminds.core.errors import Error
from allminds.web.app import create_app
from allminds.web.debrief import Machines
from allminds.web.security import LOOPBACK
from allminds.web.store import Store
from allminds.web.study import Limits, Study, stored
from allminds.web.tables import StudyRow

BRIEF = 0.005  # seconds in which a lock may hold up everybody; then only whoever needs it waits
GRACE = 10  # seconds for replies that are on their way when the server is stopped
SIGNALS = (signal.SIGTERM, signal.SIGHUP)
SLIGHT = 60  # seconds by which the machine's clock may be set at once, and is followed at once
LASTING = 3600  # seconds after which it is followed wherever it was set
HEAD_BYTES = 16_384  # of the first line and all headers of a request
RECEIVE = 10.0  # seconds in which a request must have come, from its first byte on
FILES = 200  # left for the database and everything else that is open
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


class SteadyClock:
    """The time of day in milliseconds, which follows a jump of the machine's clock once it lasts.

    By a clock that is set a day ahead for some minutes, everybody who is there would look gone, and
    newcomers would get their places.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] | None = None
    ) -> None:
        self._wall, self._ticks = wall, ticks or _ticks
        self._ahead = self._wall() - self._ticks()  # of the time of day, before the ticks
        self._apart: float | None = None  # ticks since when the two clocks differ

    def __call__(self) -> int:
        """Read the clock, in milliseconds since 1970."""
        ticks = self._ticks()
        ahead = self._wall() - ticks
        if abs(ahead - self._ahead) <= SLIGHT:
            self._ahead, self._apart = ahead, None
        elif self._apart is None:
            self._apart = ticks
        elif ticks - self._apart >= LASTING:
            self._ahead, self._apart = ahead, None
        return int((ticks + self._ahead) * 1000)


def _ticks() -> float:
    """Count seconds that nobody sets; on Linux also while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


def check_address(
    host: str, url: str, cert: Path | None, key: Path | None, proxies: Sequence[str] = ()
) -> None:
    """Reject an address that would send cookies over an unencrypted line."""
    if (cert is None) != (key is None):
        raise Error("TLS needs both --tls-cert and --tls-key")
    for file in (cert, key):
        if file is not None and not file.is_file():
            raise Error(f"there is no file {file} for TLS")
    if url:
        check_url(url)
    if host not in LOOPBACK and cert is None:
        raise Error(
            f"{host} can be reached from outside, and without TLS the session cookie would not "
            "hold: give --tls-cert and --tls-key, or stay on 127.0.0.1 behind a server that has "
            "TLS, and name its address with --url https://…"
        )
    for proxy in proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            raise Error(f"--proxy '{proxy}' is not an address; write it as 127.0.0.1") from None
    if host in LOOPBACK and url and cert is None and not proxies:
        raise Error(
            "say where the server in front is, whose word on where people come from is taken: "
            "--proxy 127.0.0.1 if it is on this machine"
        )
    if host not in LOOPBACK and not url:
        raise Error("say how people reach this server: --url https://study.example.org")


def check_url(url: str, here: bool = False) -> None:
    """Require TLS of the address that people see; `here` also accepts this machine's own."""
    try:
        parts = urlsplit(url)
        trusted = parts.scheme == "https" or (here and parts.hostname in LOOPBACK)
        fits = trusted and parts.netloc and not parts.path.strip("/") and not parts.query
    except ValueError:  # of half an IPv6 address
        fits = False
    if not fits:
        raise Error(f"--url '{url}' will not do; write it as https://study.example.org")


def studies(store: Store) -> list[Study]:
    """List all studies of a database."""
    with store.reading() as db:
        found = [stored(plan) for plan in db.scalars(select(StudyRow.plan).order_by(StudyRow.id))]
    if not found:
        raise Error("there is no study in this database; make one with allminds study new")
    return found


def overdue(studies: list[Study], today: date) -> list[str]:
    """List what should have been deleted by now, a sentence each."""
    return [
        f"the data of '{study.slug}' were to be deleted by {study.retention}: export what may be "
        "kept, then allminds study withdraw --everybody"
        for study in studies
        if study.retention < today
    ]


def widest(limits: list[Limits]) -> Limits:
    """Combine the limits of several studies on one server: of each the widest."""
    names = list(Limits.model_fields)
    return Limits(**{name: max(getattr(one, name) for one in limits) for name in names})


def serve(
    where: str, host: str = "127.0.0.1", port: int = 8000, url: str = "",
    cert: Path | None = None, key: Path | None = None, said: Callable[[str], None] = print,
    proxies: Sequence[str] = (), clock: Callable[[], int] | None = None,
) -> None:  # fmt: skip
    """Serve until interrupted; call `said` with the address, once everything is in order."""
    import uvicorn

    check_address(host, url, cert, key, proxies)
    clock = clock or SteadyClock()
    shown = url or f"{'https' if cert else 'http'}://{host}:{port}"
    with (
        _stopping(),
        contextlib.closing(Store(where, wait=BRIEF)) as store,
        contextlib.closing(Machines()) as machines,
    ):
        found = studies(store)
        for sentence in overdue(found, datetime.fromtimestamp(clock() / 1000, UTC).date()):
            print(f"allminds: {sentence}", file=sys.stderr)
        for study in found:
            study.resolve()
            machines.warm(study)
        limits = widest([study.limits for study in found])
        app = create_app(store, limits=limits, public=url, machines=machines, clock=clock)
        config = uvicorn.Config(
            app, ssl_certfile=cert, ssl_keyfile=key, access_log=False, server_header=False,
            timeout_graceful_shutdown=GRACE, proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies), http=Connection, backlog=512, ws="none",
            log_level="error",  # a warning for everything that is no request would fill a disk
        )  # fmt: skip
        _load(config)
        Connection.most = most_connections()
        server, ended = uvicorn.Server(config), list[int]()

        def end(number: int, frame: Any) -> None:
            ended.append(number)
            server.handle_exit(number, frame)

        with _listening(host, port) as listener:
            for one in SIGNALS:  # a mark, since an exception may get lost in a garbage collection
                signal.signal(one, end)
            said(f"serving at {shown}, the researcher's page at {shown}/admin; stop with Ctrl-C")
            sys.setswitchinterval(0.0005)  # programs in threads give way to people soon
            gc.collect()
            gc.freeze()  # all that was loaded stays; else people wait while it is gone through
            server.run([listener])
            if signal.SIGTERM in ended:  # which uvicorn raises again when it has ended
                raise _Stopped(signal.SIGTERM)


class _Stopped(BaseException):
    """A signal that asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _stopping() -> Iterator[None]:
    """Obey SIGTERM and SIGHUP only after what is inside has been closed.

    Ctrl-C is an exception anyway. A second signal while things are being closed is ignored.
    """

    def stop(number: int, _frame: Any) -> None:
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        raise _Stopped(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, stop) for one in SIGNALS}
    try:
        yield
    except _Stopped as stopped:
        signal.signal(stopped.number, signal.SIG_DFL)
        signal.raise_signal(stopped.number)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _load(config: Any) -> None:
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        raise Error(
            f"--tls-cert and --tls-key do not hold a certificate and its key: {error}"
        ) from None


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Error(f"cannot listen on {host}, port {port}: {reason}; try another --port") from None


@contextlib.contextmanager
def running(app: Any) -> Iterator[str]:
    """Run the app on a free port of this machine, in a thread; yield its address."""
    import uvicorn

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, http=Connection
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise Error("the server did not start")
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


# ---------------------------------------------------------------- connections


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
