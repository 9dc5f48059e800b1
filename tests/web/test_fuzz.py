"""The API from its own schema: whatever is sent, the server answers and keeps nothing wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from studio import CLIENT, Clock, Person, Server, make, study

from allminds.web.tables import EventRow, SessionRow

TEXT = st.text(st.characters(codec="utf-8"), max_size=80)
ODD = st.sampled_from(["", "0", "-1", "1e309", "NaN", "9" * 40, "\x00", "é", "=1+1", "yes", "None"])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    clock = Clock()
    where = str(tmp_path_factory.mktemp("fuzz") / "study.db")
    _, links = make(where, study(), 2, clock)
    made = Server(where, clock)
    made.limits = study().limits
    made.start()
    made.links = links
    yield made
    made.stop()


@pytest.fixture(scope="module")
def somebody(server):
    person = Person(server)
    person.join(server.links[0])
    person.begin()
    return person


def fields_of(operation: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of a route's form, by the schema that the app itself gives."""
    content = operation.get("requestBody", {}).get("content", {})
    for kind in content.values():
        reference = kind["schema"].get("$ref", "").rpartition("/")[2]
        return schema["components"]["schemas"][reference]["properties"]
    return {}


def value_for(field: dict[str, Any]) -> st.SearchStrategy[str]:
    if field.get("type") == "integer":
        low, high = field.get("minimum", 0), field.get("maximum", 9)
        return st.integers(low - 2, high + 2).map(str) | ODD
    return TEXT | ODD


@st.composite
def requests(draw: Any, schema: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    path = draw(st.sampled_from(sorted(schema["paths"])))
    method = draw(st.sampled_from(sorted(schema["paths"][path])))
    fields = fields_of(schema["paths"][path][method], schema)
    data = {name: draw(value_for(field)) for name, field in fields.items() if draw(st.booleans())}
    if draw(st.booleans()):
        data |= {"place": str(draw(st.integers(0, 6)))} if "place" in fields else {}
        data |= {"exercise": "0", "step": "0"} if "exercise" in fields else {}
    if draw(st.booleans()):
        data[draw(TEXT)] = draw(TEXT)
    return (
        path.replace("{invite}", draw(st.sampled_from(["x", "%00", "..%2f", "a" * 300]))),
        method,
        data,
    )


def test_the_schema_names_every_route(server):
    paths = set(server.app.openapi()["paths"])
    assert paths == {
        "/", "/j/{invite}", "/join", "/consent", "/check", "/next", "/choice", "/note", "/language",
        "/withdraw", "/partner", "/answers", "/admin", "/admin/export.csv", "/admin/export.jsonl",
    }  # fmt: skip


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data(), known=st.booleans())
def test_whatever_is_sent_the_server_answers(server, somebody, data, known):
    """No request breaks it, and none that is not a choice on the screen is kept as one."""
    path, method, fields = data.draw(requests(server.app.openapi()))
    if known and path != "/withdraw":
        fields |= {"token": somebody.form["token"]}
    headers = {"cookie": somebody.cookie, "accept": "application/json"}
    reply = CLIENT.request(method.upper(), server.address + path, data=fields, headers=headers)
    assert reply.status_code < 500, (path, fields, reply.text)
    if reply.status_code >= 400:
        assert reply.json()["screen"] in ("error", "closed", "withdrawn")
    with server.store.reading() as db:
        choices = db.scalars(select(EventRow).where(EventRow.kind == "choice")).all()
        assert {session.status for session in db.scalars(select(SessionRow))} <= {"running"}
    for choice in choices:
        assert choice.exercise_idx == 0
        assert choice.choice in ("1", "2", "3")
