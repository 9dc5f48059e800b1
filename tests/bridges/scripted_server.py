"""An OpenAI-compatible server on loopback that answers by a script and keeps books of its own.

    with Server(says("ANSWER: b")) as server:          # one reply for all
    with Server(fault(429, after=1), says("b")) as …   # one after the other; the last one stays
    with Server(by=lambda request: says("b")) as …     # whatever the request calls for

`server.name` is the model as Inspect knows it (``openai-api/scripted/model``); entering the server
sets the two variables of the environment that Inspect reads, and leaving it puts them back. What
was asked is in `server.asked`, in order of arrival, and `server.books` sums the tokens that a
provider would bill: of every reply that was produced, also those that were cut off or came too
late. Tokens are counted by `tokens`: one for every four characters, and `PICTURE` for an image.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PICTURE = 765  # tokens of an image, as a provider that cuts it into four tiles counts them
FRAME = 4  # tokens of every message, besides its text
VARIABLES = ("SCRIPTED_API_KEY", "SCRIPTED_BASE_URL")


# ---------------------------------------------------------------- what it sends


@dataclass(frozen=True)
class Reply:
    """What the server sends for one request."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # before it is sent
    reasoning: int = 0  # tokens that the model thought, beside its text
    tool: tuple[str, Mapping[str, Any]] | None = None  # a call of a tool: its name, its arguments
    broken: bool = False  # send half a JSON document
    cut: bool = False  # end the connection in the middle of the reply
    tokens_out: int | None = None  # by default as `tokens` counts the text
    finish: str = "stop"
    cached: int = 0  # tokens of the conversation that the provider had in its cache
    uncounted: bool = False  # say nothing of tokens


def says(text: str, **more: Any) -> Reply:
    """Reply with a text."""
    return Reply(text, **more)


def fault(status: int, after: float | None = None) -> Reply:
    """Refuse with an HTTP status; `after` is the header Retry-After, in seconds."""
    return Reply(status=status, headers={} if after is None else {"Retry-After": f"{after:g}"})


def slow(reply: Reply, seconds: float) -> Reply:
    """Send a reply after some time."""
    return replace(reply, seconds=seconds)


def cut(reply: Reply) -> Reply:
    """Produce a reply, and end the connection before all of it is sent."""
    return replace(reply, cut=True)


def broken(reply: Reply) -> Reply:
    """Produce a reply, and send half of it as if it were all."""
    return replace(reply, broken=True)


def reasons(text: str, thought: int) -> Reply:
    """Reply with a text after `thought` tokens of reasoning."""
    return Reply(text, reasoning=thought)


def calls(name: str, **arguments: Any) -> Reply:
    """Reply with a call of a tool."""
    return Reply(tool=(name, arguments), finish="tool_calls")


def tokens(messages: Sequence[Mapping[str, Any]] | str) -> int:
    """Count the tokens of a text or of messages, as this server does."""
    if isinstance(messages, str):
        return -(-len(messages) // 4)
    return sum(FRAME + sum(map(_part, _parts(message))) for message in messages)


def _parts(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content") or ""
    return [content] if isinstance(content, str) else list(content)


def _part(part: Any) -> int:
    if isinstance(part, str):
        return tokens(part)
    return tokens(part["text"]) if part["type"] == "text" else PICTURE


# ---------------------------------------------------------------- what it was asked


@dataclass
class Request:
    """One request, and what became of it."""

    number: int  # 0, 1, … in order of arrival
    body: dict[str, Any]
    reply: Reply | None = None
    sent: bool = False  # all of the reply was written to the connection

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, oldest message first."""
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """The text of the last message."""
        parts = _parts(self.messages[-1])
        return "\n".join(part if isinstance(part, str) else part.get("text", "") for part in parts)

    @property
    def billed(self) -> bool:
        """True if a model was at work for it."""
        return self.reply is not None and self.reply.status == 200

    @property
    def tokens_in(self) -> int:
        """The tokens of the conversation, with those of tools and of the form of the reply."""
        more = [self.body[name] for name in ("tools", "response_format") if name in self.body]
        return tokens(self.messages) + sum(tokens(json.dumps(one)) for one in more)

    @property
    def tokens_out(self) -> int:
        """The tokens of the reply, with those of reasoning."""
        assert self.reply is not None
        given = self.reply.tokens_out
        return (tokens(self.reply.text) if given is None else given) + self.reply.reasoning


@dataclass(frozen=True)
class Books:
    """What a provider would bill."""

    calls: int
    tokens_in: int
    tokens_out: int
    reasoning: int

    @classmethod
    def of(cls, asked: Sequence[Request]) -> Books:
        """Sum the requests that a model was at work for."""
        billed = [one for one in asked if one.billed]
        return cls(
            len(billed),
            sum(one.tokens_in for one in billed),
            sum(one.tokens_out for one in billed),
            sum(one.reply.reasoning for one in billed if one.reply),
        )


# ---------------------------------------------------------------- the server


class Server:
    """The server, open as long as the context lasts."""

    name = "openai-api/scripted/model"

    def __init__(self, *script: Reply, by: Callable[[Request], Reply] | None = None) -> None:
        self._script, self._by = list(script) or [says("ANSWER: a")], by
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.connections: set[socket.socket] = set()
        self.asked: list[Request] = []
        self.open = self.peak = 0  # requests being answered: now, and at most so far

    @property
    def books(self) -> Books:
        """The server's own count of all that it produced."""
        return Books.of(self.asked)

    @property
    def delivered(self) -> Books:
        """The same of the replies that were sent whole."""
        return Books.of([one for one in self.asked if one.sent])

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Inspect finds the server, for another process."""
        port = self._http.server_address[1]
        return dict(zip(VARIABLES, ("none", f"http://127.0.0.1:{port}/v1"), strict=True))

    def __enter__(self) -> Server:
        self._http = _Listening(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self._before = {name: os.environ.get(name) for name in VARIABLES}
        os.environ.update(self.environment)
        return self

    def __exit__(self, *_error: object) -> None:
        for name, value in self._before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        self._over.set()  # those that are slow need not be waited for
        self._http.shutdown()
        for connection in list(self.connections):  # that a client keeps for its next request
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    # ------------------------------------------------------------ one request

    def begin(self, body: dict[str, Any]) -> tuple[Request, Reply]:
        """Note a request, choose its reply, and take the time that this takes."""
        with self._lock:
            request = Request(len(self.asked), body)
            self.asked.append(request)
            self.open += 1
            self.peak = max(self.peak, self.open)
            place = min(request.number, len(self._script) - 1)
        reply = self._by(request) if self._by is not None else self._script[place]
        if reply.seconds:
            self._over.wait(reply.seconds)
        request.reply = reply
        return request, reply

    def end(self, request: Request, sent: bool) -> None:
        """Note that a request is over."""
        with self._lock:
            request.sent = sent
            self.open -= 1


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_where: Any) -> None:
        """Keep quiet about clients that went away: some tests kill them."""


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            server.connections.add(self.connection)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request, reply = server.begin(body)
            sent = False
            try:
                sent = self._send(reply, document(request, reply).encode())
            except OSError:  # the client is gone
                self.close_connection = True
            finally:
                server.end(request, sent)

        def _send(self, reply: Reply, content: bytes) -> bool:
            """Send a reply; return whether all of it left, as far as a server can know."""
            half = len(content) // 2
            content = content[:half] if reply.broken else content
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:half] if reply.cut else content)
            self.wfile.flush()
            if reply.cut:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            return not (reply.cut or reply.broken)

        def log_message(self, *_words: Any) -> None:
            """Say nothing: the books are in `Server.asked`."""

    return Handler


def document(request: Request, reply: Reply) -> str:
    """Write the body of a reply as OpenAI's protocol has it."""
    if reply.status != 200:
        told = {"message": f"scripted {reply.status}", "type": "scripted", "code": None}
        return json.dumps({"error": told})
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool is not None:
        name, arguments = reply.tool
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    given, made = request.tokens_in, request.tokens_out
    usage: dict[str, Any] = {
        "prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made
    }  # fmt: skip
    if reply.reasoning:
        usage["completion_tokens_details"] = {"reasoning_tokens": reply.reasoning}
    if reply.cached:
        usage["prompt_tokens_details"] = {"cached_tokens": reply.cached}
    told = {} if reply.uncounted else {"usage": usage}
    return json.dumps({
        "id": f"reply-{request.number}", "object": "chat.completion", "created": int(time.time()),
        "model": request.body.get("model", "model"), **told,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    })  # fmt: skip
