"""Protocols for every instrument: what they decide, who fails, and the same bits everywhere."""

from __future__ import annotations

import pytest

from allminds import Error, MindBase, Plan, RunFolder, Test, evaluate, registry, run
from allminds.check import check_mind
from allminds.core.messages import topology
from allminds.episode import play, play_on
from allminds.runs.run import How

NAMES = {
    "vote": "vote(random*3)",
    "plurality": "plurality(random*3)",
    "weighted-vote": "weighted-vote(random*3,p=0.4/0.5/0.6)",
    "ranked-vote": "ranked-vote(random*3,rule=copeland)",
    "samples": "samples(random,3)",
    "debate": "debate(conformist(random)*3,2,hears=ring)",
    "judge": "judge(random*2,conformist(random))",
    "relay": "relay(random,conformist(random)*2)",
    "dictator": "dictator(random*2)",
    "route": "route(random,random,at=8)",
}


def tool_of(name="matching-pennies", **settings):
    return registry.make_instrument(name, settings)


def record_of(who, name="c-test", index=0, **settings):
    tool = tool_of(name, **settings)
    return play(tool.exercise(1, index), registry.line_up(who, tool))


class Says(MindBase):
    """Answers one thing, in a subclass another."""

    answer = 0

    def act(self, observation, random):
        return self.answer


class One(Says):
    answer = 1


class Two(Says):
    answer = 2


class Breaks(Says):
    def act(self, observation, random):
        raise ValueError("broken")


class Nonsense(Says):
    answer = "x"


class Ranks(Says):
    def rank(self, observation, random):
        return list(range(26))[::-1]


def subject(tool, name, *makers, **keywords):
    """Make a group of these classes."""
    members = tuple(registry.subject(maker, tool) for maker in makers)
    maker = registry.minds(tool.name)[name]
    return registry._subject_of(name, maker, (members,), keywords, members)


def outcome(name, *makers, **keywords):
    """Play one question of 26 letters; return the answer, the status and the messages."""
    tool = tool_of("c-test")
    record = play(
        tool.exercise(1, 0), registry.line_up(subject(tool, name, *makers, **keywords), tool)
    )
    return (record.actions[0][0] if record.actions else None), record.status[0], record.messages


# ---------------------------------------------------------------- what they decide


def test_each_protocol_decides_as_it_says():
    assert outcome("vote", One, One, Two)[0] == 1
    assert outcome("vote", One, Two)[0] == -1, "the test has an action for no answer"
    assert outcome("plurality", Two, Two, One, Says)[0] == 2
    assert outcome("weighted-vote", One, Two, Two, p="0.9/0.1/0.1")[0] == 1
    assert outcome("dictator", Two, One, One)[0] == 2
    assert outcome("ranked-vote", Ranks, Ranks, One)[0] == 25
    assert outcome("samples", Two, n="5")[0] == 2
    assert len([one for one in outcome("samples", Two, n="5")[2] if one.kind == "answers"]) == 5


def test_without_an_action_for_no_answer_an_even_vote_is_one_of_the_answers_by_lot():
    tool = tool_of("matching-pennies", steps=40)
    who = subject(tool, "vote", Says, One)
    record = play(tool.exercise(1, 0), registry.line_up([who, "heads"], tool))
    assert {made[0] for made in record.actions} == {0, 1}


def test_a_debate_of_minds_that_cannot_hear_is_a_plurality():
    one = [record_of("plurality(random*3)", index=i).actions for i in range(20)]
    two = [record_of("debate(random*3,rounds=3)", index=i).actions for i in range(20)]
    assert one == two


def test_conformists_that_hear_all_agree_after_a_round():
    for i in range(20):
        said = record_of("debate(conformist(mode)*2,conformist(random),1)", index=i).messages
        last = [one.answer for one in said if one.kind == "answers" and one.round == 2]
        assert len(set(last)) == 1


def test_muting_a_sender_changes_what_is_heard_and_no_random_word():
    whole = record_of("debate(conformist(mode)*2,conformist(random),1)")
    mute = record_of("debate(conformist(mode)*2,conformist(random),1,mute=3)")

    def opinions(record):
        return [one.answer for one in record.messages if "." in one.sender]

    assert opinions(whole) == opinions(mute)
    assert {one.sender for one in whole.messages if one.kind == "says"} == {"1", "2", "3"}
    assert {one.sender for one in mute.messages if one.kind == "says"} == {"1", "2"}


def test_dropping_a_member_leaves_the_others_as_they_were():
    for i in range(10):
        whole = record_of("plurality(random*4)", index=i).messages
        left = record_of("plurality(random*4,drop=2)", index=i).messages
        assert left == tuple(one for one in whole if one.sender != "2")


def test_a_judge_and_a_relay_hear_before_they_answer():
    said = record_of("judge(mode,mode,conformist(random))").messages
    mode = next(one.answer for one in said if one.sender == "1")
    assert [one.answer for one in said if one.sender == "3"] == [mode]
    relayed = record_of("relay(mode,conformist(mode),conformist(random),heard=all)").messages
    assert [one.answer for one in relayed if one.sender == "3"] == [mode]
    assert [one.hearers for one in relayed if one.kind == "says"] == [(2, 3), (3,)]


def test_a_route_gives_each_exercise_to_the_member_for_its_complexity():
    tool = tool_of("c-test", form="generated")
    who = subject(tool, "route", One, Two, at="10", by="k")
    assert str(who.traits) == "is told the complexity"
    for exercise, record in play_on(tool, registry.line_up(who, tool), 1, 0, 30):
        assert record.actions[0][0] == (2 if exercise.environment.complexity["k"] >= 10 else 1)


def test_a_committee_is_told_no_more_than_its_members_may_know():
    told = {}

    class Nosy(Says):
        def begin(self, task):
            told[len(told)] = task.complexity, task.secret, task.protocol

    outcome("route", Nosy, Two, at="1000")
    outcome("plurality", Nosy, Two)
    assert told[0][:2] == told[1][:2] == (None, None)
    assert told[1][2].startswith("You are member 1 of a group of 2 that gives one answer together")


# ---------------------------------------------------------------- learning and practice


class Learns(Says):
    """Answers 1 and counts what it is taught."""

    answer, lessons = 1, []

    def learn(self, reward, observation, done):
        self.lessons.append(reward)


def test_only_members_whose_answer_was_the_groups_learn():
    Learns.lessons.clear()
    outcome("dictator", Two, Learns)
    assert not Learns.lessons
    outcome("dictator", One, Learns)
    assert len(Learns.lessons) == 1


def test_learners_that_practise_can_be_members():
    tool = tool_of("lambda-star", rows=5, cols=5, iterations=10)
    found = registry.subject("plurality(q-learning(sessions=5)*3)", tool)
    assert found.traits.practice == 5
    record = play(tool.exercise(1, 0), registry.line_up(found, tool))
    assert record.status == ("ok",)
    with pytest.raises(Error, match="must practise equally often"):
        registry.subject("plurality(q-learning(sessions=5),q-learning(sessions=6))", tool)


# ---------------------------------------------------------------- members that fail


@pytest.mark.parametrize("maker", [Breaks, Nonsense])
def test_a_member_that_fails_abstains_or_fails_the_group_as_the_protocol_says(maker):
    answer, status, said = outcome("debate", One, maker, One)
    assert (answer, status) == (1, "ok")
    assert [one.sender for one in said if one.kind == "abstains"] == ["2"]
    assert outcome("vote", One, maker, One)[:2] == (
        None,
        "error" if maker is Breaks else "malformed",
    )
    assert outcome("vote", One, maker, One, fails="abstain")[:2] == (1, "ok")
    assert outcome("debate", One, maker, One, fails="group")[1] != "ok"


def test_a_group_of_which_no_member_answers_fails():
    tool = tool_of("matching-pennies")
    who = subject(tool, "debate", Breaks, Breaks)
    record = play(tool.exercise(1, 0), registry.line_up([who, "heads"], tool))
    assert record.status[0] == "refused"
    assert record.reason == "no member of the group gave an answer"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plurality", "plurality has no members; name them in brackets"),
        ("plurality(mode,drop=1)", "drop leaves no member"),
        ("plurality(mode,drop=2)", "drop must be members from 1 to 1"),
        ("plurality(mode,fails=never)", "fails must be abstain or group, not 'never'"),
        ("debate(mode,rounds=0)", "rounds must be 1 to 100, not 0"),
        ("debate(mode,rounds=x)", "rounds must be a whole number"),
        ("debate(mode,size=-1)", "size must be 0 to 100,000 characters"),
        ("debate(mode,hears=cube)", "hears is all, ring, star, tree or a mapping"),
        ("judge(mode,mode)", "judge: mode cannot hear what others answer"),
        ("judge(conformist(mode))", "judge has one member"),
        ("relay(mode,mode)", "relay: mode cannot hear"),
        ("relay(mode,heard=some)", "heard must be last or all"),
        ("samples(mode,pattern)", "samples repeats one mind; plurality asks several"),
        ("samples(mode,pattern,5)", "samples repeats one mind, not 2"),
        ("samples(mode,5000)", "n must be 1 to 1000"),
        ("samples(mode,5,6)", "6 is neither a member nor a parameter"),
        ("route(mode,pattern)", "at must be 1 ascending numbers"),
        ("route(mode,pattern,at=x)", "at must be 1 ascending numbers"),
        ("route(mode,mode,mode,at=3/2)", "at must be 2 ascending numbers"),
        ("ranked-vote(mode,rule=boda)", "there is no rule 'boda'"),
        ("ranked-vote(mode,ties=none)", "ties must be coin or fail"),
        ("conformist(mode,mode)", "conformist has one member"),
        ("talk(mode,mode)", "has 2 members for 1 slots"),
    ],
)
def test_a_group_that_cannot_be_is_one_sentence(name, said):
    with pytest.raises(Error) as caught:
        registry.line_up(name, tool_of("c-test"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_route_by_a_measure_that_there_is_not_is_one_sentence():
    with pytest.raises(Error, match="c-test has no measure of complexity 'q'; it has k"):
        record_of("route(mode,mode,at=3,by=q)")


# ---------------------------------------------------------------- everywhere, and the same bits


@pytest.mark.parametrize("protocol", NAMES)
@pytest.mark.parametrize("name", ["c-test", "lambda", "prisoners-dilemma", "landscape"])
def test_every_protocol_keeps_the_contract_on_questions_worlds_and_games(protocol, name):
    settings = {"landscape": {"iterations": 6}, "prisoners-dilemma": {"steps": 4}}.get(name, {})
    if (protocol, name) in (("route", "prisoners-dilemma"), ("dictator", "landscape")):
        return  # it measures no complexity; it has a dictator of its own
    check_mind(NAMES[protocol], name, settings)


@pytest.mark.slow
def test_every_protocol_has_the_same_bits_on_one_job_two_and_dask(tmp_path):
    pytest.importorskip("distributed")
    minds = [*NAMES.values()]
    team = Test(instrument="prisoners-dilemma", minds=["talk(conformist(random)*2)"], episodes=40)
    plan = Plan(tests=[Test(instrument="c-test", minds=minds, episodes=60), team], traces=60)
    ways = {"one": How(jobs=1), "two": How(jobs=2), "dask": How(jobs=2, engine="dask")}
    found = {name: run(plan, tmp_path / name, how) for name, how in ways.items()}
    whole = found["one"].records()
    for name in ("two", "dask"):
        assert found[name].records().equals(whole)
        for mind in minds:
            assert found[name].messages(0, 7, mind) == found["one"].messages(0, 7, mind)
    assert len(found["one"].messages(1, 3, "talk(conformist(random)*2)")) > 2


def test_messages_are_in_the_run_only_where_there_are_any(tmp_path):
    def made(mind):
        plan = Plan(tests=[Test(instrument="c-test", minds=[mind], episodes=4)])
        return run(plan, tmp_path / mind[:4], How(jobs=1))

    assert not (made("mode").path / "messages").exists()
    folder = RunFolder.open(made("debate(mode,conformist(random),1)").path)
    kept = folder.messages(0, 2, "debate(mode,conformist(random),1)")
    tool = folder.tool(0)
    line_up = registry.line_up("debate(mode,conformist(random),1)", tool)
    assert tuple(kept) == play(tool.exercise(folder.plan.seed, 2), line_up).messages


def test_replays_and_cause_cards_show_what_was_said(tmp_path):
    from allminds.report.causes import find_causes
    from allminds.report.sections.causes import as_text
    from allminds.runs.replay import replayed

    mind = "debate(mode,conformist(random),1)"
    plan = Plan(tests=[Test(instrument="c-test", minds=[mind, "pattern"], episodes=12)])
    folder = run(plan, tmp_path / "run", How(jobs=1))
    shown = replayed(folder, 2, mind, 0)
    assert "Member 1 answers" in shown.as_text()
    assert "(heard by 2)" in shown.as_text()
    assert shown.as_json()["messages"][0]["sender"] == "1"
    (card, *_) = find_causes([folder], [mind], "pattern")
    assert f"In {mind}: Member 1 answers" in " ".join(as_text(card).split())


def test_groups_are_in_the_table_beside_their_members():
    found = evaluate("c-test", ["mode", NAMES["samples"]], episodes=5, ends=False)
    assert {row["mind"] for row in found["results"]} >= {"mode", "samples(random,3)"}


def test_every_named_topology_can_be_played():
    for hears in ("all", "ring", "star", "tree", "1:2/2:1+3"):
        record = record_of(f"debate(conformist(random)*4,2,hears={hears})")
        heard = topology(hears, 4)
        for one in (one for one in record.messages if one.kind == "says"):
            assert one.hearers == tuple(m for m, of in heard.items() if int(one.sender) in of)
