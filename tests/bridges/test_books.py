"""Books and records of models behind a real connection: faults, concurrency, kills, what is kept.

The provider is a scripted server on loopback, which keeps books of its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time

import pytest
from plainly import evaluate
from scripted_server import (
    Server,
    broken,
    calls,
    cut,
    fault,
    reasons,
    says,
    slow,
)

from allminds.bridges import providers
from allminds.core.errors import Error
from allminds.core.spending import spending
from allminds.core.transcripts import read_journal
from allminds.episode import Episode
from allminds.runs.plan import Plan
from allminds.runs.replay import replayed
from allminds.runs.run import How, resume, run
from allminds.runs.store import RunFolder

pytest.importorskip("openai")
pytest.importorskip("inspect_ai")
MIND = f"llm({Server.name})"


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Forget models of earlier servers, and wait shortly for providers at fault."""
    providers.model_named.cache_clear()
    monkeypatch.setattr(providers, "WAITS", (0.01,) * 4)
    monkeypatch.setattr(providers.Call, "down", set())


def plan(instrument="c-test", episodes=6, **settings):
    test = {"instrument": instrument, "minds": [MIND], "episodes": episodes, "settings": settings}
    return Plan.model_validate({"tests": [test]})


def by_item(request):
    """Answer in a way that depends on the conversation alone."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return says(f"I think so.\nANSWER: {letters[sum(map(ord, request.text)) % 26]}")


# ---------------------------------------------------------------- faults


def test_the_books_agree_with_the_providers_to_the_token():
    with Server(by=by_item) as server, spending(price="2/8") as ledger:
        evaluate("c-test", [MIND], episodes=12)
    books = server.books
    assert (ledger.calls, ledger.input_tokens) == (books.calls, books.tokens_in)
    assert ledger.output_tokens == books.tokens_out
    assert ledger.cost == pytest.approx((books.tokens_in * 2 + books.tokens_out * 8) / 1e6)


@pytest.mark.parametrize("cached", [1, 70, 5000])
def test_tokens_from_a_providers_cache_are_booked_as_tokens(cached):
    """Whether they are fewer or more than the provider says that the conversation has."""
    with Server(says("ANSWER: b", cached=cached)) as server, spending(price="2/8") as ledger:
        evaluate("c-test", [MIND], episodes=2)
    books = server.books
    assert (ledger.input_tokens, ledger.output_tokens) == (books.tokens_in, books.tokens_out)
    assert ledger.estimated == 0


def test_a_provider_that_counts_nothing_is_booked_by_estimate_and_its_money_runs_out():
    with Server(says("ANSWER: b", uncounted=True)) as server, spending() as ledger:
        evaluate("c-test", [MIND], episodes=3)
    assert ledger.estimated == ledger.calls == 3
    assert ledger.input_tokens == pytest.approx(server.books.tokens_in, rel=0.2)
    assert "the provider counted no tokens of 3: they are estimated" in str(ledger)
    with Server(says("ANSWER: b", uncounted=True)) as server:
        providers.model_named.cache_clear()
        with spending(most=1e-6, price="1/1"):
            evaluate("c-test", [MIND], episodes=3, how=How(jobs=1, connections=1))
    assert server.books.calls == 1


@pytest.mark.parametrize("script", [[fault(429)], [fault(429, after=0.01)], [fault(500)] * 3])
def test_faults_that_pass_are_asked_again_and_cost_nothing(script):
    with Server(*script, says("ANSWER: b")) as server, spending() as ledger:
        found = evaluate("c-test", [MIND], episodes=5, how=How(jobs=1, connections=1))
    assert found["results"][0]["missing"] == found["results"][0]["failed"] == 0
    assert (ledger.calls, ledger.unconfirmed) == (5, 0)
    assert ledger.input_tokens == server.books.tokens_in


def test_a_provider_that_says_when_is_waited_for(monkeypatch):
    monkeypatch.setattr(providers, "WAITS", (1000.0,))
    with Server(fault(429, after=0.05), says("ANSWER: b")):
        found = evaluate("c-test", [MIND], episodes=1)
    assert found["results"][0]["missing"] == 0


@pytest.mark.parametrize("spoilt", [cut, broken])
def test_a_reply_that_was_lost_on_its_way_is_booked_apart_and_asked_again(spoilt):
    script = [spoilt(says("ANSWER: b")), says("ANSWER: b")]
    with Server(*script) as server, spending(price="2/8") as ledger:
        found = evaluate("c-test", [MIND], episodes=3, how=How(jobs=1, connections=1))
    assert found["results"][0]["missing"] == 0
    assert server.books.calls == ledger.calls + ledger.unconfirmed == 4
    assert ledger.input_tokens == server.delivered.tokens_in
    assert ledger.unconfirmed_cost > 0
    assert "1 more calls had no reply and may be billed" in str(ledger)


def test_a_call_that_timed_out_is_booked_and_may_use_up_the_money():
    with Server(slow(says("ANSWER: b"), 30)), spending(most=1e-9, price="1/1") as ledger:
        mind = f"llm({Server.name},seconds=0.2)"
        found = evaluate("c-test", [mind], episodes=4, how=How(jobs=1, connections=1))
    assert (ledger.calls, ledger.unconfirmed) == (0, 1)
    assert found["results"][0]["failures"] == {"timeout": 1}
    assert found["results"][0]["missing"] == 3


@pytest.mark.parametrize("status", [401, 403])
def test_a_rejected_key_stops_the_run_and_what_was_paid_for_stays(status, tmp_path):
    whole = plan(episodes=9)
    with Server(*[says("ANSWER: b")] * 4, fault(status)) as server:
        with pytest.raises(Error, match=rf"cannot be asked \({status}\)"):
            run(whole, tmp_path / "run", How(jobs=1, connections=1))
        assert len(server.asked) == 5
    assert len(RunFolder.open(tmp_path / "run").parts()) == 4
    with Server(says("ANSWER: b")) as server:
        providers.model_named.cache_clear()
        folder = resume(tmp_path / "run")
    assert server.books.calls == 5
    assert folder.summary()["tests"][0]["results"][0]["missing"] == 0


def test_a_call_of_a_tool_that_nobody_offered_is_no_answer():
    with Server(calls("act", move=5)):
        found = evaluate("c-test", [MIND], episodes=1)
    assert found["results"][0]["failed"] == 1


# ---------------------------------------------------------------- before it is asked


@pytest.mark.parametrize(
    ("instrument", "how", "answer"),
    [
        ("lambda-star", "", "5"),
        ("lambda-star", ",history=last(5)", "5"),
        ("lambda-star", ",history=summary", "5"),
        ("lambda-star", ",history=last(5),answer=tool", "5"),
        ("c-test", "", "b"),
        ("c-test", ",few_shot=3,answer=schema", "b"),
        ("matrices", "", "A"),
    ],
)
def test_a_dry_run_is_within_a_fifth_of_the_truth(instrument, how, answer):
    """Replies of 300 tokens by the server's own count, which is not the one of the dry run."""
    last = f"\nANSWER: {answer}"
    long = says(("I think about it. " * 80)[: 1200 - len(last)] + last)
    form = {"form": "generated"} if "few_shot" in how else {}
    one = {"episodes": 2, "settings": form, "how": How(jobs=1)}
    mind = f"{MIND[:-1]}{how})"
    with spending(dry=True, price="2.5/10") as said:
        evaluate(instrument, [mind], **one)
    with Server(long) as server, spending(price="2.5/10") as paid:
        evaluate(instrument, [mind], **one)
    books = server.books
    assert (books.calls, books.tokens_out) == (said.calls, said.calls * 300)
    assert paid.input_tokens == books.tokens_in
    assert said.input_tokens == pytest.approx(books.tokens_in, rel=0.2)
    assert said.cost == pytest.approx(paid.cost, rel=0.2)
    assert said.most_cost >= paid.cost


# ---------------------------------------------------------------- side by side


def test_as_many_are_asked_at_once_as_there_are_connections():
    with Server(slow(says("ANSWER: b"), 0.5)) as server:
        evaluate("c-test", [MIND], episodes=20, how=How(jobs=1, connections=20))
    assert server.peak == 20


def test_never_more_are_asked_at_once_than_there_are_connections():
    with Server(slow(says("ANSWER: cooperate"), 0.05)) as server:
        evaluate("prisoners-dilemma", [f"{MIND},{MIND}"], episodes=6,
                 settings={"steps": 2}, how=How(jobs=1, connections=3))  # fmt: skip
    assert 2 <= server.peak <= 3


def test_players_who_move_at_the_same_time_are_asked_at_the_same_time():
    with Server(slow(says("ANSWER: cooperate"), 0.3)) as server:
        evaluate("prisoners-dilemma", [f"{MIND},{MIND}"], episodes=1,
                 settings={"steps": 3}, how=How(jobs=1, connections=1))  # fmt: skip
        assert server.peak == 1
    with Server(slow(says("ANSWER: cooperate"), 0.3)) as server:
        providers.model_named.cache_clear()
        evaluate("prisoners-dilemma", [f"{MIND},{MIND}"], episodes=1,
                 settings={"steps": 3}, how=How(jobs=1, connections=2))  # fmt: skip
    assert server.peak == 2


@pytest.mark.parametrize(
    ("instrument", "settings"),
    [("c-test", {}), ("lambda-star", {"iterations": 3}), ("prisoners-dilemma", {"steps": 3})],
)
def test_the_records_do_not_depend_on_how_many_are_asked_at_once(instrument, settings, tmp_path):
    def moves(request):
        turn = sum(map(ord, json.dumps(request.messages)))
        words = {"c-test": "abcdefg", "lambda-star": "123456789", "prisoners-dilemma": "01"}
        word = words[instrument][turn % len(words[instrument])]
        late = random.Random(turn).random() * 0.05
        if instrument == "prisoners-dilemma":
            word = ("cooperate", "defect")[int(word)]
        return slow(says(f"ANSWER: {word}"), late)

    folders = []
    for connections in (1, 12):
        providers.model_named.cache_clear()
        with Server(by=moves), spending(price="2/8"):
            how = How(jobs=1, connections=connections)
            folders.append(run(plan(instrument, 8, **settings), tmp_path / str(connections), how))
    one, twelve = folders
    assert one.records().equals(twelve.records())
    for path in one.parts():
        again = twelve.path / path.relative_to(one.path)
        assert path.read_bytes() == again.read_bytes()


# ---------------------------------------------------------------- what is kept


def test_tokens_and_cost_are_columns_and_words_are_kept(tmp_path):
    with Server(reasons("Hm.\nANSWER: b", 40)), spending(price="2/8"):
        folder = run(plan(episodes=3), tmp_path / "run")
    frame = folder.records()
    assert frame["calls"].tolist() == [1, 1, 1]
    assert frame["reasoning_tokens"].tolist() == [40, 40, 40]
    assert (frame["cost"] * 1e6).tolist() == pytest.approx(
        (frame["input_tokens"] * 2 + frame["output_tokens"] * 8).tolist()
    )
    (said,) = folder.transcript(0, 1, MIND)
    assert said.reply == "Hm.\nANSWER: b"
    shown = Episode(folder.tool(0).exercise(1, 1)).waiting[0].shown
    assert said.asked.endswith(" ".join(shown))
    assert "journal.jsonl" not in {path.name for path in (tmp_path / "run/transcripts").iterdir()}


def test_only_the_slots_of_models_have_tokens(tmp_path):
    test = {"instrument": "prisoners-dilemma", "minds": [f"{MIND},tit-for-tat"], "episodes": 2,
            "settings": {"steps": 2}}  # fmt: skip
    with Server(says("ANSWER: defect")):
        folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run")
    frame = folder.records()
    assert frame.groupby("slot")["calls"].sum().tolist() == [4, 0]
    assert frame.loc[frame["slot"] == 1, "input_tokens"].isna().all()


def test_a_run_without_models_has_no_transcripts_and_no_such_columns(tmp_path):
    test = {"instrument": "c-test", "minds": ["mode"], "episodes": 4}
    folder = run(Plan.model_validate({"tests": [test]}), tmp_path / "run")
    assert not (tmp_path / "run/transcripts").exists()
    assert "calls" not in folder.records()


def test_a_replay_asks_nobody_and_shows_the_words(tmp_path):
    with Server(by=lambda request: says("I go there.\nANSWER: 3")) as server:
        folder = run(plan("lambda-star", 2, iterations=3), tmp_path / "run")
        asked = len(server.asked)
        shown = replayed(folder, 1, None, 0)
        assert len(server.asked) == asked
    assert shown.as_text().count("I go there.") == 3
    assert len(shown.as_json()["transcript"]) == 3


def test_an_exercise_that_was_cut_in_the_middle_goes_on_from_its_last_reply(tmp_path):
    whole = plan("lambda-star", 1, iterations=5)
    with Server(*[says("ANSWER: 3")] * 3, fault(401)) as server:
        with pytest.raises(Error):
            run(whole, tmp_path / "run")
        assert server.books.calls == 3
    with Server(says("ANSWER: 3")) as server, spending() as ledger:
        providers.model_named.cache_clear()
        folder = resume(tmp_path / "run")
    assert (server.books.calls, ledger.stored) == (2, 3)
    with Server(says("ANSWER: 3")):
        providers.model_named.cache_clear()
        assert run(whole, tmp_path / "other").records().equals(folder.records())


# ---------------------------------------------------------------- killed


@pytest.mark.slow
def test_killed_at_20_moments_nothing_that_was_stored_is_asked_again(tmp_path):
    """SIGKILL at drawn moments; only what was on its way then may be asked twice."""

    def reply(request):
        turn = sum(map(ord, json.dumps(request.messages)))
        return slow(says(f"ANSWER: {1 + turn % 9}"), 0.15)

    out, draw = tmp_path / "run", random.Random(7)
    with Server(by=reply):
        undisturbed = run(plan("lambda-star", 16, iterations=5), tmp_path / "whole", How(jobs=1))
    providers.model_named.cache_clear()
    (tmp_path / "plan.toml").write_text(
        f'[[tests]]\ninstrument = "lambda-star"\nminds = ["{MIND}"]\nepisodes = 16\n'
        "settings = { iterations = 5 }\n"
    )
    stored = sent = 0
    with Server(by=reply) as server:
        for _ in range(20):
            known = (out / "plan.json").exists()
            words = ["--resume", out] if known else ["plan.toml", "--out", out]
            _killed(server, [*words, "--jobs", 1, "--max-connections", 2], tmp_path, draw)
            journal = read_journal(out / "transcripts/journal.jsonl", 0)
            places = [one.place for one in journal]
            assert len(set(places)) == len(places)  # nothing that was stored came twice
            lost = (server.delivered.calls - sent) - (len(places) - stored)
            assert 0 <= lost <= 2  # on their way at the kill
            stored, sent = len(places), server.delivered.calls
        assert 0 < stored < 16 * 5
        before = server.delivered.calls
        folder = resume(out, How(jobs=1))
    assert server.delivered.calls - before == 16 * 5 - stored
    assert folder.records().equals(undisturbed.records())
    assert (
        folder.summary()["tests"][0]["results"][0]["score"]
        == (undisturbed.summary()["tests"][0]["results"][0]["score"])
    )


def _killed(server, words, folder, draw):
    """Begin or resume a run in another process, and kill it a moment after some requests."""
    wanted = len(server.asked) + draw.randint(1, 2)
    child = subprocess.Popen(
        [sys.executable, "-c", "from allminds.cli import main; main()", "run", *map(str, words)],
        cwd=folder, env=os.environ | server.environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    patience = time.monotonic() + 120
    while child.poll() is None and len(server.asked) < wanted and time.monotonic() < patience:
        time.sleep(0.01)
    time.sleep(draw.random() * 0.3)
    child.kill()
    child.wait()
    while server.open and time.monotonic() < patience:  # what it sends now reaches nobody
        time.sleep(0.01)
