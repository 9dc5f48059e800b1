"""How a model is asked, over a real connection: bad replies, settings, history, ways to answer.

The provider is a scripted server on loopback, which records what reached it.
"""

from __future__ import annotations

import json

import pytest
from plainly import evaluate
from scripted_server import Server, calls, says

from allminds import registry
from allminds.bridges import providers
from allminds.bridges.conversation import EXAMPLES, Conversation
from allminds.bridges.manner import Manner
from allminds.bridges.replies import read_reply
from allminds.contracts import Failure, Task
from allminds.core.errors import Error
from allminds.core.line_up import parse
from allminds.core.seeding import Random
from allminds.core.spending import spending
from allminds.episode import Episode, play
from allminds.runs.plan import Plan
from allminds.runs.run import How, run

pytest.importorskip("openai")
pytest.importorskip("inspect_ai")
ONE = How(jobs=1, connections=1)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Forget models of earlier servers, and wait shortly for providers at fault."""
    providers.model_named.cache_clear()
    monkeypatch.setattr(providers, "WAITS", (0.01,) * 4)
    monkeypatch.setattr(providers.Call, "down", set())


def llm(**more):
    return f"llm({','.join([Server.name, *(f'{key}={value}' for key, value in more.items())])})"


def plan(mind, instrument="lambda-star", episodes=1, **settings):
    test = {"instrument": instrument, "minds": [mind], "episodes": episodes, "settings": settings}
    return Plan.model_validate({"tests": [test]})


def given(server, mind, instrument="lambda-star", episodes=1, **settings):
    """Evaluate a mind behind a server: its row, and the messages of every request."""
    providers.model_named.cache_clear()
    with server as asked:
        found = evaluate(instrument, [mind], episodes=episodes, settings=settings, how=ONE)
    return found["results"][0], [request.messages for request in asked.asked]


# ---------------------------------------------------------------- replies that cannot be read


def test_a_bad_reply_is_asked_for_once_more_with_the_reason():
    row, sent = given(Server(says("b or c"), says("ANSWER: b")), llm(), "c-test")
    assert row["failed"] == 0
    assert [one["role"] for one in sent[1]] == ["user", "assistant", "user"]
    assert sent[1][1]["content"] == "b or c"
    assert "could not be read: 'b or c' is not one of" in sent[1][2]["content"]
    assert "ANSWER: <" in sent[1][2]["content"]


def test_a_question_without_an_answer_fails_after_the_second_reply():
    row, sent = given(Server(says("b or c")), llm(), "c-test", 2)
    assert (row["failures"], len(sent)) == ({"malformed": 2}, 4)


def test_in_a_world_a_default_action_is_taken_and_counted(tmp_path):
    def reply(request):
        last = request.messages[-1]["content"]
        lost = "Step 3 of" in last or "Answer once more" in last
        return says("I wonder." if lost else "ANSWER: 6")

    with Server(by=reply), spending() as ledger:
        folder = run(plan(llm(), iterations=6), tmp_path / "run", ONE)
    tool = folder.tool(0)
    moves = iter([6, 6, 5, 6, 6, 6])
    ours = play(tool.exercise(1, 0), registry.line_up(lambda seen: next(moves), tool))
    (row,) = folder.records().to_dict("records")
    assert (row["status"], row["score"]) == ("ok", ours.score[0])
    assert [row[name] for name in ("calls", "read", "read_strictly", "unread", "defaults")] == [
        7, 5, 5, 2, 1
    ]  # fmt: skip
    assert folder.summary()["tests"][0]["results"][0]["defaults"] == 1
    assert "2 replies could not be read; at 1 steps a default action was taken" in str(ledger)
    after = folder.transcript(0, 0, llm())[4]
    assert "Your last reply could not be read, so this was done for you: 5 stay." in after.asked


def test_three_bad_replies_in_a_hundred_lose_no_exercise():
    def reply(request):
        return says("hm" if request.number % 33 == 7 else "ANSWER: 3")

    row, sent = given(Server(by=reply), llm(), episodes=3, iterations=20)
    assert (row["failed"], len(sent)) == (0, 62)


def test_a_model_that_never_answers_fails_after_three_steps():
    row, sent = given(Server(says("I cannot.")), llm(), iterations=20)
    assert (row["failures"], len(sent)) == ({"refused": 1}, 6)


def test_a_default_that_is_drawn_is_the_same_whenever_it_is_drawn(tmp_path):
    def reply(request):
        return says("ANSWER: cooperate" if "Step 1 of" in request.text else "?")

    folders = []
    for connections in (1, 4):
        providers.model_named.cache_clear()
        with Server(by=reply):
            made = plan(f"{llm()},tit-for-tat", "prisoners-dilemma", 6, steps=5)
            how = How(jobs=1, connections=connections)
            folders.append(run(made, tmp_path / str(connections), how).records())
    assert folders[0].equals(folders[1])
    assert folders[0]["defaults"].sum() == 6 * 4


@pytest.mark.parametrize("name", registry.instruments())
def test_every_default_action_is_an_action(name):
    tool = registry.make_instrument(name)
    default = tool.presentation.default_action
    spaces = tool.exercise(1, 0).environment.actions
    assert default is None or all(space.contains(default) for space in spaces)


# ---------------------------------------------------------------- settings


def test_generation_settings_reach_the_provider():
    how = {"effort": "high", "temperature": 0, "max_tokens": 77, "seed": 5, "top_p": 0.5}
    with Server(says("ANSWER: b")) as server:
        evaluate("c-test", [llm(system='"Be brief, and (if you can) right."', **how)], episodes=1)
    body = server.asked[0].body
    assert body["reasoning_effort"] == "high"
    assert (body["temperature"], body["seed"], body["top_p"]) == (0, 5, 0.5)
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert body["messages"][0] == {"role": "system", "content": "Be brief, and (if you can) right."}


def test_low_and_high_effort_are_two_minds():
    def by_effort(request):
        return says(f"ANSWER: {'b' if request.body['reasoning_effort'] == 'low' else 'none'}")

    minds = [llm(effort="low"), llm(effort="high")]
    with Server(by=by_effort):
        found = evaluate("c-test", minds, episodes=4)
    assert [row["mind"] for row in found["results"][:2]] != [minds[0]] * 2
    assert {row["mind"] for row in found["results"]} >= set(minds)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("effort=huge", "effort=huge is not known"),
        ("temperature=hot", "temperature must be a number, not 'hot'"),
        ("temperature=-1", "temperature must be 0 or more"),
        ("max_tokens=0", "max_tokens must be 1 or more"),
        ("history=last(0)", "history is full, last\\(n\\), summary"),
        ("history=some", "history is full, last\\(n\\), summary"),
        ("answer=song", "there is no answer=song; choose text, schema, tool"),
        ("few_shot=2", "the same for every seed"),
    ],
)
def test_settings_that_cannot_be_are_one_sentence(how, said):
    with Server(says("ANSWER: b")), pytest.raises(Error, match=said):
        registry.subject(f"llm({Server.name},{how})", registry.make_instrument("c-test"))


def test_names_may_have_brackets_and_quotes_in_values():
    text = 'llm(a/b,history=last(5),system="Hm, (yes)=no.")*2'
    name = parse(text)
    assert str(name) == text
    assert dict(name.keywords) == {"history": "last(5)", "system": '"Hm, (yes)=no."'}


def test_examples_are_solved_and_none_is_what_is_tested():
    sent = given(Server(says("ANSWER: b")), llm(few_shot=3), "c-test", 4, form="generated")[1]
    tool = registry.make_instrument("c-test", {"form": "generated"})
    for number, messages in enumerate(sent):
        assert [one["role"] for one in messages] == ["user", "assistant"] * 3 + ["user"]
        asked = [one["content"].splitlines()[-1] for one in messages[::2]]
        assert len(set(asked)) == 4
        assert asked[-1] == " ".join(Episode(tool.exercise(1, number)).waiting[0].shown)
        for place, reply in enumerate(messages[1::2]):
            item = tool.presentation.item(tool.exercise(EXAMPLES, place))
            assert reply["content"] == f"ANSWER: {item['answer']}"


def test_an_example_that_shows_what_is_tested_is_left_out():
    tool = registry.make_instrument("c-test", {"form": "generated"})
    episode = Episode(tool.exercise(EXAMPLES, 1))
    talk = Conversation(tool, Manner(few_shot=3))
    talk.begin(episode.task(0))
    talk.see(episode.waiting[0])
    shown = tool.presentation.words(episode.waiting[0])
    texts = [one.text.splitlines()[-1] for one in talk.question().said if one.role == "user"]
    assert texts.count(shown) == 1
    assert texts[-1] == shown


def test_worlds_have_no_solved_examples():
    with pytest.raises(Error, match="few_shot is for tests of questions"):
        Conversation(registry.make_instrument("lambda-star"), Manner(few_shot=1))


# ---------------------------------------------------------------- history


def steps_in(messages):
    """The numbers of the steps that are in a request."""
    text = "\n".join(str(one["content"]) for one in messages if one["role"] != "assistant")
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith("Step ")]


def test_a_step_is_numbered_and_history_is_full_by_default():
    sent = given(Server(says("ANSWER: 3")), llm(), iterations=4)[1]
    assert [steps_in(one) for one in sent] == [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]
    assert "Step 4 of 4." in sent[3][-1]["content"]


def test_the_last_steps_are_sent_with_the_rules_and_what_was_left_out_is_recorded(tmp_path):
    mind = llm(history="last(2)")
    with Server(says("ANSWER: 3")) as server:
        folder = run(plan(mind, iterations=5), tmp_path / "run", ONE)
    sent = [request.messages for request in server.asked]
    assert [steps_in(one) for one in sent] == [[1], [1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]
    assert all(one[0]["content"].startswith("You are on a grid") for one in sent)
    assert "[2 earlier steps are left out here.]" in sent[4][0]["content"]
    assert [one.left_out for one in folder.transcript(0, 0, mind)] == [0, 0, 0, 1, 2]


def test_a_summary_of_the_models_own_replaces_what_came_before():
    def reply(request):
        asked = request.messages[-1]["content"]
        return says("Good walks in a square." if "all that you want to remember" in asked else "6")

    sent = given(Server(by=reply), llm(history="summary(2)"), iterations=5)[1]
    assert [steps_in(one) for one in sent] == [[1], [1, 2], [1, 2], [3], [3, 4], [3, 4], [5]]
    assert sent[-1][1]["content"] == "Good walks in a square."
    assert sent[-1][0]["content"].startswith("You are on a grid")


# ---------------------------------------------------------------- ways to answer


def test_an_answer_may_be_an_object_that_the_provider_is_told_the_form_of():
    reply = says(json.dumps({"thoughts": "b or c", "answer": "b"}))
    with Server(reply) as server, spending() as ledger:
        found = evaluate("c-test", [llm(answer="schema")], episodes=2, how=ONE)
    assert found["results"][0]["failed"] == 0
    assert (ledger.read, ledger.read_strictly) == (2, 2)
    schema = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["thoughts", "answer"]
    assert "ANSWER:" not in server.asked[0].text


def test_an_answer_may_be_a_call_whose_result_is_what_is_seen_next():
    with Server(calls("act", action="6")) as server, spending() as ledger:
        mind = llm(answer="tool")
        found = evaluate("lambda-star", [mind], episodes=1, settings={"iterations": 3}, how=ONE)
    assert found["results"][0]["failed"] == 0
    assert ledger.read_strictly == 3
    (offered,) = server.asked[0].body["tools"]
    assert offered["function"]["name"] == "act"
    roles = [one["role"] for one in server.asked[2].messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    assert "Step 3 of 3." in server.asked[2].messages[-1]["content"]


def test_calls_that_say_different_things_are_no_answer():
    row = given(Server(says("ANSWER: b or c"), calls("act", action="b")), llm(answer="tool"),
                "c-test")[0]  # fmt: skip
    assert row["failed"] == 0
    row = given(Server(calls("act", move="b", other="c")), llm(answer="tool"), "c-test")[0]
    assert row["failures"] == {"malformed": 1}


# ---------------------------------------------------------------- in a group


def test_a_member_of_a_group_is_told_how_it_decides_and_may_abstain():
    tool = registry.make_instrument("lambda-star")
    episode = Episode(tool.exercise(1, 0))
    plain, talk = episode.task(0), Conversation(tool)
    told = {one: getattr(plain, one) for one in Task.__dataclass_fields__}
    talk.begin(Task(**told | {"protocol": "Your moves are votes.", "abstains": True}))
    seen = episode.waiting[0]
    talk.see(seen)
    assert "Your moves are votes." in talk.question().said[0].text
    bad = read_reply(tool, "hm", seen)
    assert talk.hear(bad, seen, Random(0)) is None
    assert isinstance(talk.hear(bad, seen, Random(0)), Failure)
    assert talk.counts()["defaults"] == 1
