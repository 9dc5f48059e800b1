"""The routes of the web app: the participants' forms, and the researcher's pages.

The researcher's pages are for reading only, with the token that `allminds study new` printed.
Programs send it as ``Authorization: Bearer …``; a browser asks for it, with any user name. There
is no cookie for them, and nothing can be changed there.
"""

from __future__ import annotations

import base64
import binascii
import logging
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import random
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from anyio import CapacityLimiter, sleep, to_thread
from fastapi import FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import select
from sqlalchemy.exc import DatabaseError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.staticfiles import StaticFiles

from allminds.web import forms
from allminds.web import screens as own_screens
from allminds.web.debrief import Machines
from allminds.web.export import Lines, events_jsonl, trials_csv
from allminds.web.monitor import monitor
from allminds.web.pages import refused
from allminds.web.pairing import decide
from allminds.web.screens import Screen, Screens
from allminds.web.security import COOKIE, Guard, Origins, Rate, form_token, hashed, same
from allminds.web.session import Act
from allminds.web.sessions import NO_SESSION, Sessions, device
from allminds.web.store import Store, locked
from allminds.web.study import DEFAULT_LIMITS, Limits
from allminds.web.tables import StudyRow

_ASK = {"WWW-Authenticate": 'Basic realm="allminds", charset="UTF-8"'}


def _add_researcher(app: FastAPI) -> None:
    """Add GET /admin and its exports."""

    @app.get("/admin")
    def page(request: Request) -> Response:
        """Show where each participant is."""
        service, study = _admitted(request)
        with service.sessions.store.reading() as db:
            screen = monitor(db, study)
        return service.reply(request, screen)

    @app.get("/admin/export.csv")
    def csv(request: Request, external: bool = False) -> Response:
        """Export every choice, one row each."""
        service, study = _admitted(request)
        lines = _streamed(service, study, external, trials_csv)
        return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=_file("csv"))

    @app.get("/admin/export.jsonl")
    def jsonl(request: Request, external: bool = False) -> Response:
        """Export everything that happened, one line each."""
        service, study = _admitted(request)
        lines = _streamed(service, study, external, events_jsonl)
        kind = "application/jsonl; charset=utf-8"
        return StreamingResponse(lines, media_type=kind, headers=_file("jsonl"))


def _streamed(service: Service, study: StudyRow, external: bool, lines: Lines) -> Iterator[str]:
    with service.sessions.store.reading() as db:
        yield from lines(db, study, external)


def _file(ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="export.{ending}"'}


def _admitted(request: Request) -> tuple[Service, StudyRow]:
    """Return the study whose token was sent; count wrong tokens by address."""
    service: Service = request.app.state.service
    digest = hashed(_token(request.headers.get("authorization", "")))
    with service.sessions.store.reading() as db:
        study = db.scalar(select(StudyRow).where(StudyRow.admin_hash == digest))
        db.expunge_all()
    if study is None or not same(digest, study.admin_hash):  # a right one is never locked out
        if not service.failures.allows(address(request)):
            raise HTTPException(429)
        raise HTTPException(401, "token", _ASK)
    return service, study


def _token(header: str) -> str:
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return ""
    return ""


# ---------------------------------------------------------------- the app


STATIC = Path(__file__).with_name("static")
LONGEST = 200  # characters of a cookie or a link
PATIENCE = 8.0  # seconds that a request waits for a database that somebody else has locked
T = TypeVar("T")
_REASONS = {
    403: "forged",
    404: "not-found",
    405: "not-found",
    413: "too-large",
    429: "too-fast",
    503: "failed",
}


def now_in_ms() -> int:
    """Read the server's clock in milliseconds."""
    return int(time.time() * 1000)


class Service:
    """The objects that all routes share."""

    def __init__(
        self, sessions: Sessions, screens: Screens, limits: Limits, origins: Origins,
        machines: Machines, ticks: Callable[[], float],
    ) -> None:  # fmt: skip
        self.sessions, self.screens, self.limits = sessions, screens, limits
        self.origins, self.machines = origins, machines
        self.choices = Rate(limits.choices_per_second, 1, ticks)
        self.joins = Rate(limits.joins_per_minute, 60, ticks)
        self.others = Rate(limits.requests_per_second, 1, ticks)
        self.readers = CapacityLimiter(2)  # threads that read long sessions
        self.misses = Rate(limits.joins_per_minute, 60, ticks)  # wrong links
        self.failures = Rate(limits.admin_failures_per_minute, 60, ticks)

    async def show(self, request: Request, screen: Screen) -> Response:
        """Show a screen; the last one with what programs made of the same exercises."""
        if screen.name == "done":
            results = await to_thread.run_sync(self.machines.results, screen)
            screen = replace(screen, context={**screen.context, "results": results})
        return self.reply(request, screen)

    def reply(self, request: Request, screen: Screen) -> Response:
        """Send a screen as the browser asked for it: as a page, or its main part as JSON."""
        context: dict[str, Any] = {"language": "en"} | dict(screen.context)
        if not wants_json(request):
            return HTMLResponse(self.screens.page(screen.name, **context), screen.status)
        form = screen.context.get("form", {})
        body = {
            "html": self.screens.main(screen.name, **context),
            "screen": screen.name,
            "exercise": form.get("exercise"),
            "step": form.get("step"),
            "slot": screen.context.get("slot"),
            "state": screen.context.get("state"),
        }
        return JSONResponse(body, screen.status)


def create_app(
    store: Store,
    *,
    screens: Screens = own_screens,
    clock: Callable[[], int] = now_in_ms,
    limits: Limits | None = None,
    public: str = "",
    machines: Machines | None = None,
    ticks: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """Make the app over a store; `public` is the address people see behind a proxy.

    `clock` is the time of day in milliseconds; `ticks`, in seconds, is never set, and limits rates.
    """
    limits, machines = limits or DEFAULT_LIMITS, machines or Machines()
    service = Service(Sessions(store, clock), screens, limits, Origins(public), machines, ticks)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        yield
        machines.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=life)
    app.state.service = service
    _add_participants(app)
    _add_researcher(app)
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _bad_form)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_middleware(
        Guard, body_bytes=limits.body_bytes, origins=service.origins, refuse=_refused,
        secure=public.startswith("https://"), fail=_failed, allows=_allowed,
    )  # fmt: skip
    return app


# ---------------------------------------------------------------- requests and sessions


def service_of(request: Request) -> Service:
    """Return the objects that all routes share."""
    service: Service = request.app.state.service
    return service


def address(request: Request) -> str:
    """Return where a request comes from: counted in memory, never kept.

    An IPv6 address stands for its network of 64 bits, which one household or machine has.
    """
    host = request.client.host if request.client else ""
    return ":".join(host.split(":")[:4]) if host.count(":") > 3 else host


def wants_json(request: Request) -> bool:
    """Return whether a script asks, which will put the answer into the page."""
    return "application/json" in request.headers.get("accept", "")


def session_of(request: Request, token: str) -> str:
    """Return the session's token, if the form belongs to it and requests are not too many."""
    cookie = request.cookies.get(COOKIE, "")
    if not cookie or len(cookie) > LONGEST:
        raise HTTPException(403, "no-session")
    if not same(token, form_token(cookie)):
        raise HTTPException(403)
    if not service_of(request).choices.allows(hashed(cookie)):
        raise HTTPException(429)
    return cookie


async def _done(request: Request, sent: forms.OfSession, act: Act) -> Response:
    """Do something in a session, and answer as the browser asked."""
    return await _shown(request, session_of(request, sent.token), act)


async def _shown(request: Request, session: str, act: Act | None = None) -> Response:
    service = service_of(request)
    json = wants_json(request)
    screen = await _turn(service, session, lambda: service.sessions.take(session, act, json))
    if screen is None:
        return RedirectResponse("/", 303)
    return await service.show(request, screen)


def _allowed(request: Request) -> bool:
    """Return whether a request is let in: of a session that is going on, or one of not too many."""
    if request.url.path.startswith("/static/"):
        return True
    service, cookie = service_of(request), request.cookies.get(COOKIE, "")
    if 0 < len(cookie) <= LONGEST and hashed(cookie) in service.sessions.memory:
        return True
    return service.others.allows(address(request))


async def _turn(service: Service, token: str, act: Callable[[], T]) -> T:
    """Act in a session; one that is not remembered, and may be long, is read in a thread first."""
    sessions = service.sessions
    if hashed(token) not in sessions.memory:
        try:
            await to_thread.run_sync(sessions.warm, token, limiter=service.readers)
        except DatabaseError as error:
            if not locked(error):
                raise  # else it is read when it acts
    return await patiently(act)


async def patiently(act: Callable[[], T]) -> T:
    """Act on the database; while somebody else has locked it, only this request waits."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except DatabaseError as error:
            if not locked(error):
                raise
            if time.monotonic() > until:
                raise HTTPException(503) from None
        await sleep(0.01 + 0.04 * random())


def number(text: str) -> float | None:
    """Parse a number that a browser measured; None if it is none, or absurd."""
    try:
        value = float(text[:32])
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


# ---------------------------------------------------------------- the participants' routes


def _add_participants(app: FastAPI) -> None:
    @app.get("/")
    async def here(request: Request) -> Response:
        """Show the present screen of the cookie's session."""
        service, cookie = service_of(request), request.cookies.get(COOKIE, "")
        screen: Screen | None = NO_SESSION
        if cookie and len(cookie) <= LONGEST:
            if not service.choices.allows(hashed(cookie)):
                raise HTTPException(429)
            screen = await _turn(service, cookie, lambda: service.sessions.take(cookie))
        assert screen is not None
        return await service.show(request, screen)

    @app.get("/j/{invite}")
    async def link(request: Request, invite: str) -> Response:
        """Show what is behind a link; this starts nothing."""
        service = service_of(request)
        screen = await patiently(
            lambda: service.sessions.look(invite[:LONGEST], request.query_params)
        )
        if screen.status != 200 and not service.misses.allows(address(request)):
            raise HTTPException(429)  # guessing is counted; a right link is never locked out
        return service.reply(request, screen)

    @app.post("/join")
    async def join(request: Request, sent: Annotated[forms.Join, Form()]) -> Response:
        """Begin, or go on; the link's secret leaves the address bar."""
        service = service_of(request)
        kind = await patiently(lambda: service.sessions.kind(sent.invite))
        rate = service.misses if kind == "none" else service.joins
        if not rate.allows(hashed(sent.invite) if kind == "own" else address(request)):
            raise HTTPException(429)
        about = device(sent.viewport, sent.pointer, request.headers.get("user-agent", ""))
        cookie = request.cookies.get(COOKIE, "")[:LONGEST]
        joined = await patiently(lambda: service.sessions.join(sent, about, cookie))
        if joined.screen is not None:
            return service.reply(request, joined.screen)
        reply = RedirectResponse("/", 303)
        reply.set_cookie(COOKIE, joined.token, httponly=True, secure=True, samesite="lax")
        return reply

    @app.post("/consent")
    async def consent(request: Request, sent: Annotated[forms.Consent, Form()]) -> Response:
        """Agree to take part."""
        given = sent.given.items()
        about = {k.removeprefix("about_"): v for k, v in given if k.startswith("about_")}
        agreed = sent.accept == "yes"
        return await _done(request, sent, lambda live: live.consent(sent.place, agreed, about))

    @app.post("/next")
    async def next_(request: Request, sent: Annotated[forms.OfPlace, Form()]) -> Response:
        """Go on from instructions or a pause."""
        return await _done(request, sent, lambda live: live.next(sent.place))

    @app.post("/check")
    async def check(request: Request, sent: Annotated[forms.Answers, Form()]) -> Response:
        """Answer the questions on the instructions."""
        return await _done(request, sent, lambda live: live.check(sent.place, sent.given))

    @app.post("/answers")
    async def answers(request: Request, sent: Annotated[forms.Answers, Form()]) -> Response:
        """Answer a page of the researcher's questions."""
        return await _done(request, sent, lambda live: live.answer(sent.place, sent.given))

    @app.post("/choice")
    async def choice(request: Request, sent: Annotated[forms.Choice, Form()]) -> Response:
        """Make a move in an exercise."""
        selected = {"first": sent.first, "changes": int(number(sent.changes) or 0)}
        how = (number(sent.rt_ms), sent.input, number(sent.client_ts))
        move = (sent.exercise, sent.step, sent.choice)
        return await _done(request, sent, lambda live: live.choose(*move, *how, selected))

    @app.post("/partner")
    async def partner(request: Request, sent: Annotated[forms.Partner, Form()]) -> Response:
        """Decide what to do without another participant to play with."""
        return await _done(request, sent, lambda live: decide(live, sent.place, sent.answer))

    @app.post("/language")
    async def language(request: Request, sent: Annotated[forms.Language, Form()]) -> Response:
        """Read on in another language, behind a link or in a session."""
        if sent.invite:
            given = ("language", "external_id", "signature")
            query = urlencode({name: getattr(sent, name) for name in given})
            return RedirectResponse(f"/j/{sent.invite}?{query}", 303)
        return await _done(request, sent, lambda live: live.language(sent.language))

    @app.post("/withdraw")
    async def withdraw(request: Request, sent: Annotated[forms.OfSession, Form()]) -> Response:
        """Stop, and delete all that was recorded."""
        service, session = service_of(request), session_of(request, sent.token)
        await patiently(lambda: service.sessions.withdraw(session))
        return await _shown(request, session)

    @app.post("/note")
    async def note(request: Request, sent: Annotated[forms.Note, Form()]) -> Response:
        """Keep that the page lost the focus, was hidden, or had something pasted into it."""
        service, session = service_of(request), session_of(request, sent.token)
        await patiently(lambda: service.sessions.note(session, sent.kind, number(sent.ms)))
        return Response(status_code=204)


# ---------------------------------------------------------------- errors


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = error.detail if error.detail in ("no-session", "token") else None
    reason = known or _REASONS.get(error.status_code, "bad-form")
    reply = service_of(request).reply(request, refused(reason, error.status_code))
    reply.headers.update(error.headers or {})
    return reply


def _bad_form(request: Request, _error: Exception) -> Response:
    return service_of(request).reply(request, refused("bad-form", 422))


def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=204)  # whoever closed the page does not read this


def _failed(request: Request, error: Exception) -> Response:
    logging.getLogger("allminds.web").error("a request failed: %s", _where(error))
    reply = service_of(request).reply(request, refused("failed", 500))
    reply.headers["Connection"] = "close"  # as the server will; whoever did not know would fail too
    return reply


def _where(error: BaseException | None) -> str:
    """Say what failed and where, without the values: they may be a panel's id, or a label."""
    said = []
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)[-6:]
        lines = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(frames))
        said.append(f"{type(error).__name__} at {lines}")
        error = error.__cause__ or error.__context__
    return "; from ".join(said)
