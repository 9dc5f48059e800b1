"""The scripted server of these tests: it says what its script says, and counts what it said."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

import pytest
from scripted_server import (
    Books,
    Server,
    broken,
    calls,
    cut,
    fault,
    reasons,
    says,
    slow,
    tokens,
)

ASKED = [{"role": "user", "content": "What comes next?"}]


def ask(server):
    """Ask the server as any client does: the body of the reply, parsed."""
    address = server.environment["SCRIPTED_BASE_URL"] + "/chat/completions"
    body = json.dumps({"model": "model", "messages": ASKED}).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body), timeout=60) as reply:
        return json.loads(reply.read())


def test_replies_come_in_the_order_of_the_script_and_the_last_one_stays():
    with Server(says("a"), says("b")) as server:
        said = [ask(server)["choices"][0]["message"]["content"] for _ in range(3)]
    assert said == ["a", "b", "b"]


def test_a_reply_may_depend_on_what_was_asked():
    with Server(by=lambda request: says(request.text.upper())) as server:
        assert ask(server)["choices"][0]["message"]["content"] == "WHAT COMES NEXT?"


def test_what_it_bills_is_what_it_says_in_its_replies():
    with Server(reasons("four", 30), calls("act", move=5)) as server:
        found = [ask(server) for _ in range(2)]
    assert found[0]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 30}
    assert json.loads(found[1]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    assert server.books == Books(2, 2 * tokens(ASKED), 31, 30)
    assert sum(one["usage"]["total_tokens"] for one in found) == 2 * tokens(ASKED) + 31


def test_faults_are_not_billed_and_what_did_not_arrive_is():
    with Server(fault(429, after=2), fault(401), cut(says("b")), broken(says("b"))) as server:
        for status in (429, 401):
            with pytest.raises(urllib.error.HTTPError) as found:
                ask(server)
            assert found.value.code == status
        with pytest.raises((HTTPException, OSError)):
            ask(server)
        with pytest.raises(json.JSONDecodeError):
            ask(server)
    assert (server.books.calls, server.delivered.calls) == (2, 0)


def test_the_peak_is_how_many_were_open_at_once():
    with Server(slow(says("b"), 0.5)) as server, ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: ask(server), range(5)))
    assert server.peak == 5
