"""The commands: allminds serve, allminds study new, invite, simulate, export, withdraw."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from studio import study

from allminds.cli import main
from allminds.core.errors import Error
from allminds.web.serve import check_address


@pytest.fixture
def allminds(capsys, monkeypatch):
    """Run a command in this process: what it prints, or what it complains of."""

    def run(*words: object, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["allminds", *map(str, words)])
        ended = 0
        try:
            main()
        except SystemExit as end:
            ended = end.code
        printed = capsys.readouterr()
        assert ended == code, printed
        return printed.out if code == 0 else printed.err

    return run


SMALL = """
slug = "small"
title = {en = "Small"}
languages = ["en"]
participants = 4
retention = 2030-01-01
consent = {version = "1", text = {en = "Agree?"}}
[[tests]]
instrument = "lambda"
exercises = 2
practice = 0
settings = {form = "general", cells = 3, steps = 3}
"""


@pytest.fixture
def plan(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def serving(database: Path, port: int, *words: object):
    """A server of its own process while this lasts; what it said when it began to listen."""
    command = [sys.executable, "-m", "allminds", "serve", database, "--port", port, *words]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline()
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)


@pytest.mark.slow
def test_from_the_plan_to_the_comparison(allminds, plan, tmp_path):
    database = tmp_path / "small.db"
    made = json.loads(allminds("study", "new", plan, "--out", database, "--json"))
    assert len(made["token"]) >= 43
    assert "is there already" in allminds("study", "new", plan, "--out", database, code=2)
    links = allminds("study", "invite", database, "--count", "2", "--url", "https://x.example")
    lines = [line.split(",") for line in links.splitlines()]
    assert [link.startswith("https://x.example/j/") for _, link in lines] == [True, True]
    out = tmp_path / "people"
    said = allminds("study", "simulate", plan, "--mind", "q-learning", "--participants", "3",
                    "--out", out)  # fmt: skip
    assert "3 machines took 'small' to the end" in said
    assert "3 of 3; those of the first are the same as in the runner" in said
    assert "people are compared as one sample" in allminds("compare", out, code=2)
    compared = json.loads(allminds("compare", out, "--unit", "exercise", "--json"))
    assert "person/machine-0" in json.dumps(compared)
    empty = allminds("study", "export", database, "--out", tmp_path / "empty")
    assert "0 choices" in empty
    gone = allminds("study", "withdraw", database, "--label", lines[0][0])
    assert gone == "deleted the data of 1 person in 'small'\n"


@pytest.mark.slow
def test_serving_really_serves_and_stops(allminds, plan, tmp_path):
    database = tmp_path / "small.db"
    token = json.loads(allminds("study", "new", plan, "--out", database, "--json"))["token"]
    port = free_port()
    with serving(database, port) as said:
        assert f"http://127.0.0.1:{port}/admin" in said
        address = f"http://127.0.0.1:{port}"
        reply = httpx.get(f"{address}/admin", headers={"authorization": f"Bearer {token}"})
        assert reply.status_code == 200
        assert re.search("<main", reply.text)
        assert httpx.get(f"{address}/static/people.js").status_code == 200


def test_a_port_that_is_taken_and_a_certificate_that_is_none_are_said(allminds, plan, tmp_path):
    database = tmp_path / "small.db"
    allminds("study", "new", plan, "--out", database)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "try another --port" in allminds("serve", database, "--port", port, code=2)
    pem = tmp_path / "no.pem"
    pem.write_text("no certificate")
    said = allminds("serve", database, "--tls-cert", pem, "--tls-key", pem, code=2)
    assert "do not hold a certificate" in said


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_serving_with_tls(allminds, plan, tmp_path):
    database, cert, key = (tmp_path / name for name in ("small.db", "cert.pem", "key.pem"))
    allminds("study", "new", plan, "--out", database)
    link = allminds("study", "invite", database, "--count", 1).strip().rpartition("/j/")[2]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    port = free_port()
    address = f"https://localhost:{port}"
    words = ["--tls-cert", cert, "--tls-key", key, "--url", address]
    with serving(database, port, *words) as said:
        assert said.startswith(f"serving at {address}")
        trusted = ssl.create_default_context(cafile=cert)
        with httpx.Client(base_url=address, verify=trusted) as client:
            page = client.get(f"/j/{link}")
            assert page.headers["strict-transport-security"] == "max-age=31536000"
            joined = client.post("/join", data={"invite": link}, headers={"origin": address})
            assert joined.status_code == 303
            assert joined.headers["set-cookie"].startswith("__Host-allminds=")
            assert 'data-screen="consent"' in client.get("/").text  # the cookie came back by itself
            foreign = {"origin": "https://elsewhere.example"}
            assert client.post("/join", data={"invite": link}, headers=foreign).status_code == 403


@pytest.mark.parametrize(
    ("host", "url", "said"),
    [
        ("0.0.0.0", "", "cookie would not hold: give --tls-cert and --tls-key, or stay"),
        ("study.example.org", "https://study.example.org", "without TLS"),
        ("127.0.0.1", "http://study.example.org", "write it as https"),
        ("127.0.0.1", "https://study.example.org/path", "write it as https"),
    ],
)  # fmt: skip
def test_serving_beyond_this_machine_needs_tls(host, url, said):
    with pytest.raises(Error, match=said):
        check_address(host, url, None, None)


def test_serving_on_this_machine_needs_nothing(tmp_path):
    check_address("127.0.0.1", "", None, None)
    check_address("127.0.0.1", "https://study.example.org", None, None, ["127.0.0.1"])
    with pytest.raises(Error, match=r"--proxy 127\.0\.0\.1"):
        check_address("127.0.0.1", "https://study.example.org", None, None)
    with pytest.raises(Error, match="'nginx' is not an address"):
        check_address("127.0.0.1", "https://study.example.org", None, None, ["nginx"])
    with pytest.raises(Error, match="both"):
        check_address("0.0.0.0", "", tmp_path / "cert", None)
    with pytest.raises(Error, match="there is no file"):
        check_address("0.0.0.0", "", tmp_path / "cert", tmp_path / "key")
    (tmp_path / "cert").touch()
    (tmp_path / "key").touch()
    with pytest.raises(Error, match="say how people reach this server"):
        check_address("0.0.0.0", "", tmp_path / "cert", tmp_path / "key")
    check_address("0.0.0.0", "https://x.example", tmp_path / "cert", tmp_path / "key")


def test_the_limits_of_several_studies_are_the_widest():
    from allminds.web.serve import widest

    slow, fast = study(limits={"choices_per_second": 1}), study(limits={"joins_per_minute": 99})
    found = widest([slow.limits, fast.limits])
    assert (found.choices_per_second, found.joins_per_minute) == (10, 99)


def test_data_that_should_be_gone_are_named():
    from datetime import date

    from allminds.web.serve import overdue

    made = study(retention="2027-05-01")
    assert overdue([made], date(2027, 5, 1)) == []
    (sentence,) = overdue([made], date(2027, 5, 2))
    assert "'short' were to be deleted by 2027-05-01" in sentence


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["study", "new"], "name the study and its database"),
        (["study", "new", "none.toml", "--out", "x.db"], "--write-plan"),
        (["study", "invite", "none.db", "--count", "1"], "there is no database none.db"),
        (["study", "simulate", "none.toml"], "cannot read the study"),
        (["study", "invite", "none.db", "--count", "1", "--url", "ftp://x"], "write it as https"),
        (["serve", "none.db"], "there is no database none.db"),
        (["serve", "none.db", "--host", "0.0.0.0"], "without TLS"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(words, said, allminds):
    printed = allminds(*words, code=2)
    assert said in printed
    assert printed.count("\n") == 1
