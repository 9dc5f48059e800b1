"""The researcher's pages: reading only, with the token that `allminds study new` printed.

Programs send it as ``Authorization: Bearer …``; a browser asks for it, with any user name. There
is no cookie, and nothing can be changed here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from sqlalchemy import select
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from allminds.web.export import Lines, choices_csv, events_jsonl
from allminds.web.monitor import monitor
from allminds.web.security import hashed, same
from allminds.web.store_tables import StudyRow

if TYPE_CHECKING:
    from allminds.web.app import House

_ASK = {"WWW-Authenticate": 'Basic realm="allminds", charset="UTF-8"'}


def add_routes(app: FastAPI) -> None:
    """GET /admin and its exports."""

    @app.get("/admin")
    def page(request: Request) -> Response:
        """Who is where."""
        house, study = _admitted(request)
        with house.desk.store.reading() as db:
            screen = monitor(db, study, house.desk.faces)
        return house.reply(request, screen)

    @app.get("/admin/export.csv")
    def csv(request: Request, external: bool = False) -> Response:
        """Every choice, one row each."""
        house, study = _admitted(request)
        lines = _streamed(house, study, external, choices_csv)
        return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=_file("csv"))

    @app.get("/admin/export.jsonl")
    def jsonl(request: Request, external: bool = False) -> Response:
        """Everything that happened, one line each."""
        house, study = _admitted(request)
        lines = _streamed(house, study, external, events_jsonl)
        kind = "application/jsonl; charset=utf-8"
        return StreamingResponse(lines, media_type=kind, headers=_file("jsonl"))


def _streamed(house: House, study: StudyRow, external: bool, lines: Lines) -> Iterator[str]:
    with house.desk.store.reading() as db:
        yield from lines(db, study, house.desk.faces, external)


def _file(ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="export.{ending}"'}


def _admitted(request: Request) -> tuple[House, StudyRow]:
    """The study whose token was sent; wrong ones are counted by address."""
    house: House = request.app.state.house
    where = request.client.host if request.client else ""
    if not house.failures.allows(where, take=0):
        raise HTTPException(429)
    digest = hashed(_token(request.headers.get("authorization", "")))
    with house.desk.store.reading() as db:
        study = db.scalar(select(StudyRow).where(StudyRow.admin_hash == digest))
        db.expunge_all()
    if study is None or not same(digest, study.admin_hash):
        house.failures.allows(where)
        raise HTTPException(401, "token", _ASK)
    return house, study


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
