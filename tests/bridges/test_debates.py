"""Groups of language models through the real HTTP path: what they hear, say and cost."""

from __future__ import annotations

import pytest
from scripted_server import Books, Server, says

from allminds.bridges import providers
from allminds.core.spending import spending
from allminds.core.transcripts import by_member
from allminds.runs.plan import Plan
from allminds.runs.replay import replayed
from allminds.runs.run import How, Resolved, count_calls, run

pytest.importorskip("openai")
pytest.importorskip("inspect_ai")
ONE = f"llm({Server.name})"
DEBATE = f"debate({ONE}*3,1)"


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Forget models of earlier servers, and wait shortly for providers at fault."""
    providers.model_named.cache_clear()
    monkeypatch.setattr(providers, "WAITS", (0.01,) * 4)
    monkeypatch.setattr(providers.Call, "down", set())


def plan(mind, episodes=2):
    return Plan.model_validate(
        {"tests": [{"instrument": "c-test", "minds": [mind], "episodes": episodes}]}
    )


def member(request):
    """Read off the rules which member is asked."""
    return int(request.messages[0]["content"].partition("You are member ")[2][0])


def script(request):
    """Let members 1 and 2 answer b and c; member 3 says a, and b after it heard the others."""
    if len(request.messages) > 1:
        return says("I was convinced.\nANSWER: b")
    return says(f"I am {member(request)}.\nANSWER: {' bca'[member(request)]}")


def test_a_debate_over_http_tells_each_what_the_others_said_and_books_each_ones_cost(tmp_path):
    with Server(by=script) as server, spending(price="1/2"):
        folder = run(plan(DEBATE), tmp_path / "run", How(jobs=1))
    assert len(server.asked) == 2 * 3 * 2, "two exercises, three members, before and after"
    first = [one for one in server.asked if len(one.messages) == 1]
    assert all("gives one answer together. Each member answers, then hears" in one.text
               for one in first)  # fmt: skip
    heard = next(one for one in server.asked if len(one.messages) > 1 and member(one) == 3)
    assert "Member 1 answers b and says “I am 1. ANSWER: b”" in heard.text
    assert "Member 2 answers c" in heard.text
    assert "Member 3" not in heard.text
    record = replayed(folder, 1, DEBATE, 0)
    assert record.record.actions[0][0] == 1, "b"
    spent = by_member(folder.transcript(0, 0, DEBATE) + folder.transcript(0, 1, DEBATE))
    assert sorted(spent) == [(0, "1"), (0, "2"), (0, "3")]
    for (_, number), cost in spent.items():
        books = Books.of([one for one in server.asked if member(one) == int(number)])
        assert (cost["calls"], cost["input_tokens"], cost["output_tokens"]) == (
            books.calls, books.tokens_in, books.tokens_out,
        )  # fmt: skip
        assert cost["cost"] == pytest.approx((books.tokens_in + 2 * books.tokens_out) / 1e6)
    rows = folder.records()
    assert rows["calls"].tolist() == [6, 6]
    assert f"member 3, {Server.name} was asked" in record.as_text()


def test_samples_of_one_model_are_asked_apart_and_replayed_in_their_order(tmp_path):
    letters = iter("abcbbabcbb")
    with Server(by=lambda request: says(f"ANSWER: {next(letters)}")) as server:
        name = f"samples({ONE},5)"
        folder = run(plan(name, 1), tmp_path / "run", How(jobs=1))
    assert len(server.asked) == 5
    assert all("member" not in one.text for one in server.asked), "told nothing of the others"
    shown = replayed(folder, 0, name, 0)  # no server is there any more
    answers = [one.answer for one in shown.record.messages if one.kind == "answers"]
    assert sorted(answers) == [0, 1, 1, 1, 2]
    assert shown.record.actions[0][0] == 1
    kept = {one.member: one.reply[-1] for one in shown.transcript}
    assert [" abcdef".index(kept[str(n)]) - 1 for n in range(1, 6)] == answers


def test_a_reply_that_cannot_be_read_abstains(tmp_path):
    def one_is_lost(request):
        return says("I do not know." if member(request) == 2 else "ANSWER: d")

    with Server(by=one_is_lost):
        folder = run(plan(DEBATE, 1), tmp_path / "run", How(jobs=1))
    assert folder.records()["status"].tolist() == ["ok"]
    said = folder.messages(0, 0, DEBATE)
    assert {one.sender for one in said if one.kind == "abstains"} == {"2"}


def test_a_dry_run_counts_the_calls_of_all_members_and_what_they_hear():
    def counted(mind):
        with spending(dry=True) as ledger:
            count_calls(Resolved.of(plan(mind)), How())
        return ledger

    assert counted(DEBATE).calls == 12
    assert counted(f"samples({ONE},5)").calls == 10
