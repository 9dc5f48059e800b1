"""What members of a group of language models add: left out one by one, the price asked first."""

from __future__ import annotations

import json

import pytest
from commands import allminds
from scripted_server import Server, says

from allminds.bridges import providers

pytest.importorskip("openai")
pytest.importorskip("inspect_ai")
ONE = f"llm({Server.name})"
WORDS = ("worth", "c-test", "-m", f"plurality({ONE}*3)", "--episodes", "2", "--price", "1/2")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Forget models of earlier servers."""
    providers.model_named.cache_clear()
    monkeypatch.setattr(providers, "WAITS", (0.01,) * 4)
    monkeypatch.setattr(providers.Call, "down", set())


def test_without_yes_the_price_is_said_and_no_model_is_asked():
    with Server() as server:
        found = allminds(*WORDS)
        dry = json.loads(allminds(*WORDS, "--dry-run", "--json").stdout)["llm"]
    assert server.asked == []
    assert found.returncode == 2
    assert "would be asked 18 times" in found.stderr
    assert "about $" in found.stderr
    assert "--yes" in found.stderr
    assert dry["calls"] == 18


def test_with_yes_each_member_is_left_out_once():
    with Server(by=lambda _: says("ANSWER: b")) as server:
        found = json.loads(allminds(*WORDS, "--yes", "--json").stdout)
    assert len(server.asked) == 2 * (3 + 3 * 2), "the group, and three groups of two"
    group = found["groups"][0]
    assert group["how"] == "left out"
    assert group["chance"] is None
    assert [row["verdict"] for row in group["members"]] == ["nothing"] * 3
    assert found["llm"]["calls"] == 18


def test_a_group_costs_the_tokens_of_all_its_members():
    words = ("worth", "c-test", "-m", f"samples({ONE},3)", "--against", ONE, "--episodes", "2")
    with Server(by=lambda _: says("ANSWER: b")) as server:
        refused = allminds(*words, "--cost", "tokens")
        assert (refused.returncode, server.asked) == (2, [])
        found = json.loads(allminds(*words, "--cost", "tokens", "--yes", "--json").stdout)
    one, three = found["entries"]
    assert three["group"]
    assert three["cost"] == pytest.approx(3 * one["cost"])
    assert one["cost"] > 0
