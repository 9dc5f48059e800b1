"""The web app: one small function a route, over the desk.

A choice is answered by a redirect where there is no JavaScript, and with ``Accept:
application/json`` by the next screen's ``<main>``. Nothing is ever sent that a participant may not
know, since screens are made from what the instrument shows a mind.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from allminds.people import app_admin
from allminds.people.debrief import Machines
from allminds.people.security import (
    COOKIE,
    Guard,
    Origins,
    Rate,
    announced,
    form_token,
    same,
)
from allminds.people.sessions import Faces, Render, Screen
from allminds.people.sessions_desk import NO_SESSION, Desk, device
from allminds.people.sessions_pair import decide
from allminds.people.sessions_screens import refused
from allminds.people.sessions_visit import Act
from allminds.people.store import Store
from allminds.people.study import DEFAULT_LIMITS, Limits

STATIC = Path(__file__).with_name("static")
_MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)
_REASONS = {403: "forged", 404: "not-found", 405: "not-found", 413: "too-large", 429: "too-fast"}

Short = Annotated[str, Form(max_length=128)]
Place = Annotated[int, Form(ge=0, le=1_000_000)]
Token = Annotated[str, Form(max_length=128)]


def now_in_ms() -> int:
    """The server's clock."""
    return int(time.time() * 1000)


class House:
    """What all routes share."""

    def __init__(
        self, desk: Desk, render: Render, limits: Limits, origins: Origins, machines: Machines
    ) -> None:
        self.desk, self.render, self.origins, self.machines = desk, render, origins, machines
        self.limits = limits

        def seconds() -> float:
            return desk.clock() / 1000

        self.choices = Rate(limits.choices_per_second, 1, seconds)
        self.joins = Rate(limits.joins_per_minute, 60, seconds)
        self.failures = Rate(limits.admin_failures_per_minute, 60, seconds)

    def page(self, screen: Screen) -> str:
        """A screen as HTML; the last one with what programs made of the same exercises."""
        context: dict[str, Any] = dict(screen.context)
        language = context.pop("language", "en")
        if screen.name == "done":
            context["results"] = self.machines.results(screen)
        return self.render(screen.name, language, **context)

    def reply(self, request: Request, screen: Screen) -> Response:
        """A screen as the browser asked for it: as a page, or its main part as JSON."""
        page = self.page(screen)
        if not wants_json(request):
            return HTMLResponse(page, screen.status)
        found = _MAIN.search(page)
        form = screen.context.get("form", {})
        body = {
            "html": found.group() if found else page,
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
    render: Render | None = None,
    faces: Faces | None = None,
    clock: Callable[[], int] = now_in_ms,
    limits: Limits | None = None,
    public: str = "",
    machines: Machines | None = None,
) -> FastAPI:
    """The app over a store; `public` is the address that people see, if a proxy is in front."""
    if render is None or faces is None:
        from allminds.people.faces import face
        from allminds.people.screens import render as rendered

        render, faces = render or rendered, faces or face
    limits, machines = limits or DEFAULT_LIMITS, machines or Machines()
    house = House(Desk(store, faces, clock), render, limits, Origins(public), machines)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        yield
        machines.close()

    app = FastAPI(
        openapi_url=None, docs_url=None, redoc_url=None, lifespan=life,
        dependencies=[Depends(_guarded)],
    )  # fmt: skip
    app.state.house = house
    _add_routes(app)
    app_admin.add_routes(app)
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _bad_form)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _failed)
    app.add_middleware(Guard, body_bytes=limits.body_bytes, secure=public.startswith("https://"))
    return app


# ---------------------------------------------------------------- who asks, and how


def house_of(request: Request) -> House:
    """What all routes share."""
    house: House = request.app.state.house
    return house


def address(request: Request) -> str:
    """Where a request comes from: counted in memory, never kept."""
    return request.client.host if request.client else ""


def wants_json(request: Request) -> bool:
    """Whether a script asks, that will put the answer into the page."""
    return "application/json" in request.headers.get("accept", "")


def _guarded(request: Request) -> None:
    """Before anything else: is it for us, is it from our own page, is it too long."""
    house = house_of(request)
    if not house.origins.knows(request.headers.get("host", "")):
        raise HTTPException(404)
    if announced(request.headers) > house.limits.body_bytes:
        raise HTTPException(413)
    if request.method == "POST" and house.origins.refuses(request.headers):
        raise HTTPException(403)


def _session(request: Request, token: Token = "") -> str:
    """The session's token, if the form is of that session and not too many came."""
    cookie = request.cookies.get(COOKIE, "")
    if not cookie:
        raise HTTPException(403, "no-session")
    if not same(token, form_token(cookie)):
        raise HTTPException(403)
    if not house_of(request).choices.allows(cookie):
        raise HTTPException(429)
    return cookie


async def _fields(request: Request) -> dict[str, str]:
    """All that a form holds: for those whose questions a study chooses."""
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str)}


HouseOf = Annotated[House, Depends(house_of)]
SessionOf = Annotated[str, Depends(_session)]
Fields = Annotated[dict[str, str], Depends(_fields)]


def _done(request: Request, house: House, session: str, act: Act) -> Response:
    """Do something in a session, and answer as the browser asked."""
    shown = wants_json(request)
    screen = house.desk.take(session, act, show=shown)
    if screen is None:
        return RedirectResponse("/", 303)
    return house.reply(request, screen)


def number(text: str) -> float | None:
    """A number that a browser measured; what is none, or absurd, is left out."""
    try:
        value = float(text[:32])
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


# ---------------------------------------------------------------- routes


def _add_routes(app: FastAPI) -> None:
    @app.get("/")
    def here(request: Request, house: HouseOf) -> Response:
        """The present screen of the cookie's session."""
        cookie = request.cookies.get(COOKIE, "")
        screen = house.desk.take(cookie) if cookie else NO_SESSION
        assert screen is not None
        return house.reply(request, screen)

    @app.get("/j/{invite}")
    def link(request: Request, house: HouseOf, invite: str) -> Response:
        """What is behind a link; it starts nothing."""
        if not house.joins.allows(address(request), take=0):
            raise HTTPException(429)
        screen = house.desk.look(invite[:200], request.query_params)
        if screen.status != 200:
            house.joins.allows(address(request))  # guessing is counted, looking is not
        return house.reply(request, screen)

    @app.post("/join")
    def join(
        request: Request, house: HouseOf, invite: Annotated[str, Form(max_length=200)],
        external_id: Short = "", language: Short = "", viewport: Short = "", pointer: Short = "",
    ) -> Response:  # fmt: skip
        """Begin, or go on; the link's secret leaves the address bar."""
        if not house.joins.allows(address(request)):
            raise HTTPException(429)
        about = device(viewport, pointer, request.headers.get("user-agent", ""))
        cookie = request.cookies.get(COOKIE, "")
        welcome = house.desk.join(invite, external_id, language, about, cookie)
        if welcome.screen is not None:
            return house.reply(request, welcome.screen)
        reply = RedirectResponse("/", 303)
        reply.set_cookie(COOKIE, welcome.token, httponly=True, secure=True, samesite="lax")
        return reply

    @app.post("/consent")
    def consent(
        request: Request, house: HouseOf, session: SessionOf, fields: Fields, place: Place,
        accept: Short = "",
    ) -> Response:  # fmt: skip
        """Agree to take part."""
        about = {k.removeprefix("about_"): v for k, v in fields.items() if k.startswith("about_")}
        act: Act = lambda visit: visit.consent(place, accept == "yes", about)  # noqa: E731
        return _done(request, house, session, act)

    @app.post("/next")
    def next_(request: Request, house: HouseOf, session: SessionOf, place: Place) -> Response:
        """Go on from instructions or a pause."""
        return _done(request, house, session, lambda visit: visit.next(place))

    @app.post("/check")
    def check(
        request: Request, house: HouseOf, session: SessionOf, fields: Fields, place: Place
    ) -> Response:
        """Answer the questions on the instructions."""
        return _done(request, house, session, lambda visit: visit.check(place, fields))

    @app.post("/choice")
    def choice(
        request: Request, house: HouseOf, session: SessionOf, exercise: Place, step: Place,
        choice: Annotated[str, Form(max_length=64)], rt_ms: Short = "",
        input: Annotated[str, Form(max_length=32)] = "", client_ts: Short = "",
    ) -> Response:  # fmt: skip
        """Make a move."""
        took, at = number(rt_ms), number(client_ts)
        act: Act = lambda visit: visit.choose(exercise, step, choice, took, input, at)  # noqa: E731
        return _done(request, house, session, act)

    @app.post("/partner")
    def partner(
        request: Request, house: HouseOf, session: SessionOf, place: Place, answer: Short = ""
    ) -> Response:
        """Decide what to do without somebody to play with."""
        return _done(request, house, session, lambda visit: decide(visit, place, answer))

    @app.post("/language")
    def language(
        request: Request, house: HouseOf, language: Annotated[str, Form(max_length=16)],
        invite: Annotated[str, Form(max_length=200, pattern="^[A-Za-z0-9_-]*$")] = "",
        external_id: Short = "", token: Token = "",
    ) -> Response:  # fmt: skip
        """Read on in another language, behind a link or in a session."""
        if invite:
            query = urlencode({"language": language, "external_id": external_id})
            return RedirectResponse(f"/j/{invite}?{query}", 303)
        session = _session(request, token)
        return _done(request, house, session, lambda visit: visit.language(language))

    @app.post("/withdraw")
    def withdraw(request: Request, house: HouseOf, session: SessionOf) -> Response:
        """Stop, and delete all that was recorded."""
        house.desk.withdraw(session)
        return _done(request, house, session, lambda _visit: None)

    @app.post("/note")
    def note(
        house: HouseOf, session: SessionOf, kind: Annotated[str, Form(max_length=32)],
        ms: Short = "",
    ) -> Response:  # fmt: skip
        """Keep that the page lost the focus, was hidden, or had something pasted into it."""
        house.desk.note(session, kind, number(ms))
        return Response(status_code=204)


# ---------------------------------------------------------------- when something is wrong


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = error.detail if error.detail in ("no-session", "token") else None
    reason = known or _REASONS.get(error.status_code, "bad-form")
    reply = house_of(request).reply(request, refused(reason, error.status_code))
    reply.headers.update(error.headers or {})
    return reply


def _bad_form(request: Request, _error: Exception) -> Response:
    return house_of(request).reply(request, refused("bad-form", 422))


def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=204)  # whoever closed the page does not read this


def _failed(request: Request, error: Exception) -> Response:
    logging.getLogger("allminds.people").error("a request failed", exc_info=error)
    return house_of(request).reply(request, refused("failed", 500))
