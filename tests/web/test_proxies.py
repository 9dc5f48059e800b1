"""Servers in front: what they say of where people come from, by the very lines of the docs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from studio import make, study

from allminds.web.study import DEFAULT_LIMITS

PAGE = Path(__file__).parents[2] / "docs" / "people.md"
HOST = "study.example.org"


def lines(name: str) -> str:
    """The lines that the docs have for a server in front."""
    found = re.search(rf"```\S+ title=\"{name}\"\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found, f"docs/people.md has no lines for {name}"
    return found[1]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def process(*command: object, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen([str(word) for word in command], **more)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@contextlib.contextmanager
def served(tmp_path: Path, clock, *words: str) -> Iterator[int]:
    """A study on a server in a process of its own; what it logs is in a file."""
    where, port = tmp_path / "study.db", free_port()
    make(str(where), study(limits=DEFAULT_LIMITS.model_dump()), 1, clock)
    command = [sys.executable, "-m", "allminds", "serve", where, "--port", port, *words]
    with (
        (tmp_path / "log").open("wb") as log,
        process(*command, stdout=subprocess.PIPE, stderr=log) as one,
    ):
        assert one.stdout.readline().startswith(b"serving")
        yield port


def asked(port: int, source: str, forwarded: str = "") -> int:
    """The status of a wrong link, from an address of this machine's own."""
    headers = ({"host": HOST} if source != "127.0.0.1" else {}) | (
        {"x-forwarded-for": forwarded} if forwarded else {}
    )
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source)) as client:
        return client.get(f"http://127.0.0.1:{port}/j/wrong", headers=headers).status_code


def program(name: str) -> str:
    found = os.environ.get(f"ALLMINDS_{name.upper()}") or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed; ALLMINDS_{name.upper()} may name it")
    return found


@contextlib.contextmanager
def in_front(name: str, port: int, tmp_path: Path) -> Iterator[int]:
    own = free_port()
    text = lines(name).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    if name == "nginx":
        text = (
            f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}\n"
            "http { access_log off; "
            + "".join(
                f"{kind}_temp_path {tmp_path}/{kind}; "
                for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            + f"server {{ listen 127.0.0.1:{own};\n{text}\n}} }}"
        )
        words = ["-p", tmp_path, "-c", tmp_path / name]
    elif name == "caddy":
        text = "{\nadmin off\n}\n" + text.replace(HOST, f"http://{HOST}:{own}")
        words = ["run", "--adapter", "caddyfile", "--config", tmp_path / name]
    else:
        (tmp_path / "rules.yml").write_text(text.replace("websecure", "web"))
        text = (
            f"entryPoints:\n  web:\n    address: 127.0.0.1:{own}\n"
            f"providers:\n  file:\n    filename: {tmp_path}/rules.yml\n"
        )
        words = [f"--configFile={tmp_path / 'traefik.yml'}"]  # it reads a file by its ending
    (tmp_path / (name + ".yml" * (name == "traefik"))).write_text(text)
    home = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    with process(program(name), *words, env=home, stderr=subprocess.DEVNULL):
        for _ in range(1200):  # until it serves, and by its rules
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(
                    f"http://127.0.0.1:{own}/static/none", headers={"host": HOST}
                ).headers.get("content-security-policy"):
                    break
            time.sleep(0.05)
        yield own


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nginx", "caddy", "traefik"])
def test_the_lines_of_the_docs_tell_people_apart_and_believe_nobody(name, tmp_path, clock):
    """Made-up headers do not make one flooder many, and others are not held up by it."""
    program(name)
    words = ("--url", f"https://{HOST}", "--proxy", "127.0.0.1")
    with served(tmp_path, clock, *words) as port, in_front(name, port, tmp_path) as own:
        codes = [asked(own, "127.0.0.2", f"10.0.0.{n}, 10.1.0.{n}") for n in range(60)]
        assert codes[:20] == [404] * 20
        assert codes.count(429) > 20  # some come back while this takes its time
        assert asked(own, "127.0.0.3") == 404


@pytest.mark.slow
def test_only_a_stated_address_is_believed(tmp_path, clock):
    with served(tmp_path, clock) as port:
        codes = [asked(port, "127.0.0.1", f"10.0.0.{n}") for n in range(60)]
        assert codes.count(429) > 20


@pytest.mark.slow
def test_nobody_can_fill_the_log(tmp_path, clock):
    """What is no request, or asks for another protocol, is refused without a word."""
    upgrade = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n"
    with served(tmp_path, clock) as port:
        for sent in (b"nonsense\r\n\r\n", upgrade % b"websocket", upgrade % b"h2c"):
            with socket.create_connection(("127.0.0.1", port), 60) as one:
                one.sendall(sent)
                assert one.recv(100).startswith(b"HTTP/1.1 4")
        assert not (tmp_path / "log").read_bytes()
