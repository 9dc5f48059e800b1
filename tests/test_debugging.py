"""When a mind fails: where in the user's own code it did, and what would have been right."""

from __future__ import annotations

import json
import linecache
import os
import sys
import time

import numpy as np
import pytest
from commands import allminds, started
from plainly import evaluate

from allminds import registry
from allminds.contracts import Discrete, Failure, MindBase
from allminds.core import user_code
from allminds.core.errors import Error
from allminds.core.line_up import LineUp
from allminds.core.watch import Failed, Watch, away, malformed
from allminds.episode import Episode, play
from allminds.runs.engine import Sitting
from allminds.runs.run import How

SMALL = {"rows": 5, "cols": 5, "iterations": 5}
MINDS = """
import sys

import numpy as np

from allminds import BatchMind, MindBase


def best(rewards):
    return {}[len(rewards)]


def deep(rewards):
    return best(rewards)


class Raises:
    def act(self, observation, random):
        return deep(observation.rewards)


class Silent(Exception):
    def __str__(self):
        raise SystemExit(3)


class CannotSay:
    def act(self, observation, random):
        raise Silent


class Leaves:
    def act(self, observation, random):
        sys.exit("bye")


class Endless:
    def act(self, observation, random):
        return self.act(observation, random)


class Several:
    def act(self, observation, random):
        raise ExceptionGroup("two", [ValueError("one\\ntwo"), KeyError(2)])


class Begins(MindBase):
    def begin(self, task):
        task.nothing

    def act(self, observation, random):
        return 5


class Learns(MindBase):
    def act(self, observation, random):
        return 5

    def learn(self, reward, observation, done):
        1 / 0


class Batched(BatchMind):
    def act_many(self, observations, words):
        return np.stack([1, 2], axis=7)


class Followed:
    def act(self, observation, random):
        try:
            best(observation.rewards)
        except KeyError as error:
            raise ValueError("no best") from error


class Unmade:
    def __init__(self):
        raise ValueError("never")

    def act(self, observation, random):
        return 5


class Numbered:
    made = 0

    def __init__(self):
        Numbered.made += 1
        self.number = Numbered.made

    def act(self, observation, random):
        return 5 if self.number > 4 else 0


class Late(Numbered):
    def __init__(self):
        super().__init__()
        if self.number > 6:
            raise ValueError("too many of me")


unnamed = lambda observation: observation.nothing  # noqa: E731
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a file of minds, each of which fails in its own way."""
    (tmp_path / "broken.py").write_text(MINDS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reason(mind, instrument="lambda-star", settings=SMALL, episodes=3, **how):
    made = How(jobs=how.pop("jobs", 1), **how)
    (row,) = evaluate(instrument, [mind], settings=settings, episodes=episodes, how=made)["results"]
    assert row["failed"] == episodes
    return row["reason"]


# ---------------------------------------------------------------- where it failed


@pytest.mark.parametrize(
    ("mind", "said"),
    [
        (
            "Raises",
            "KeyError: 9 at broken.py:10, in best: return {}[len(rewards)]; from broken.py:14, "
            "in deep: return best(rewards); from broken.py:19, in act: return "
            "deep(observation.rewards)",
        ),
        ("CannotSay", "Silent: <Silent> at broken.py:29, in act: raise Silent"),
        ("Leaves", 'SystemExit: bye at broken.py:34, in act: sys.exit("bye")'),
        (
            "Endless",
            "RecursionError: maximum recursion depth exceeded at broken.py:39, in act: "
            "return self.act(observation, random)",
        ),
        (
            "Several",
            "ExceptionGroup: two (2 sub-exceptions), first ValueError: one two at broken.py:44, "
            'in act: raise ExceptionGroup("two", [ValueError("one\\ntwo"), KeyError(2)])',
        ),
        ("Learns", "ZeroDivisionError: division by zero at broken.py:60, in learn: 1 / 0"),
        ("Followed", 'ValueError: no best at broken.py:73, in act: raise ValueError("no best")'),
    ],
)
def test_a_reason_is_one_line_with_the_users_frames(folder, mind, said):
    found = reason(f"broken.py:{mind}")
    assert found.startswith(said)
    assert "\n" not in found
    assert "allminds" not in found


def test_begin_and_act_many_and_a_lambda(folder):
    assert "at broken.py:49, in begin: task.nothing" in reason("broken.py:Begins")
    batched = reason("broken.py:Batched")
    assert batched.endswith("at broken.py:65, in act_many: return np.stack([1, 2], axis=7)")
    found = reason("broken.py:unnamed")
    assert "at broken.py:102, in <lambda>: unnamed = lambda observation" in found


def test_the_lock_step_and_the_plain_loop_give_the_same_reason(folder):
    tool = registry.make_instrument("lambda-star", SMALL)
    line_up = registry.line_up("broken.py:Raises", tool)
    assert play(tool.exercise(1, 0), line_up).reason == reason("broken.py:Raises")


def test_members_of_groups_and_votes_show_their_own_frames(folder):
    group = "auction(broken.py:Raises,local-search)"
    found = reason(group, settings=SMALL | {"agents": 2})
    assert found.startswith("KeyError: 9 at broken.py:10, in best")
    vote = reason("vote(mode,broken.py:Raises)", "c-test", {})
    assert "'Item' object has no attribute 'rewards' at broken.py:19, in act" in vote


def test_a_member_of_a_vote_whose_answer_is_none_fails_it(folder):
    (folder / "half.py").write_text("def half(item):\n    return 2.5\n")
    found = reason("vote(mode,half.py:half)", "c-test", {})
    assert found.startswith("2.5 is not one of the actions 0..25")


def test_a_mind_that_cannot_be_made_says_where(folder):
    with pytest.raises(Error, match=r"cannot make .*never at broken.py:78, in __init__: raise"):
        reason("broken.py:Unmade")


def test_a_mind_that_fails_only_later_is_no_crash(folder):
    from importlib import import_module

    sys.path.insert(0, str(folder))
    try:
        late = import_module("broken").Late
        tool = registry.make_instrument("lambda-star", SMALL)
        line_up = LineUp.alone(registry.subject(late, tool), 1)
        sitting = Sitting("lambda-star", tuple(SMALL.items()), (late,), 1)
        sitting.__dict__["line_ups"] = [line_up]
        from allminds.runs.engine import play as task

        (block,) = task(sitting, 0, 0, 9).blocks
        assert any("too many of me at broken.py:" in said for said in block.reasons.values())
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("broken", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def act(self:\n    pass\n", r"SyntaxError: '\(' was never closed at file.py:1: def act"),
        ("x = 1\nimport nothing_there\n", "No module named 'nothing_there'"),
        ("y = {}\ny['a']\n", r"KeyError: 'a' at file.py:2, in <module>: y\['a'\]"),
        ("import sys\nsys.exit()\n", r"SystemExit at file.py:2, in <module>: sys.exit\(\)"),
    ],
)
def test_a_file_that_cannot_be_imported_says_where(folder, text, said):
    (folder / "file.py").write_text(text)
    with pytest.raises(Error, match=said):
        registry.subject("file.py:act", registry.make_instrument("lambda-star"))
    sys.modules.pop("file", None)


CELL = "class Mine:\n    def act(self, observation, random):\n        return observation.nothing\n"


@pytest.mark.parametrize("name", ["<ipython-input-3-1a2b>", "/tmp/ipykernel_77/1234.py"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_class_of_a_notebook_shows_its_source(monkeypatch, name, jobs):
    """A cell is no file, and another process has not seen it: its source travels."""
    monkeypatch.setitem(
        linecache.cache, name, (len(CELL), None, CELL.splitlines(keepends=True), name)
    )
    cell = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), cell)
    monkeypatch.setattr(Sitting, "chunk", lambda self: 20)
    found = reason(cell["Mine"], episodes=100, jobs=jobs)
    assert found == (
        "AttributeError: 'View' object has no attribute 'nothing' at notebook cell:3, in act: "
        "return observation.nothing"
    )


def test_a_file_that_another_machine_has_not(folder):
    """What is sent to a cluster has the source of every mind of the user's."""
    from allminds.runs.dask import packed

    sitting = Sitting("lambda-star", tuple(SMALL.items()), ("broken.py:Raises",), 1)
    assert packed(sitting)
    ((file, text),) = sitting.bare(every=True).sources
    assert (os.path.basename(file), text) == ("broken.py", MINDS)
    assert sitting.bare().sources == ()
    user_code.remember_sources({"/nowhere/my.py": "one\ntwo\n"})
    assert linecache.getline("/nowhere/my.py", 2) == "two\n"
    linecache.cache.pop("/nowhere/my.py")


def test_installed_code_is_left_out_unless_there_is_no_other():
    with pytest.raises(ValueError, match="Expecting") as raised:
        json.loads("{")
    error = raised.value
    assert [os.path.basename(frame.file) for frame in user_code.frames_of(error)] == [
        "test_debugging.py"
    ]
    error.__traceback__ = error.__traceback__.tb_next
    found = {os.path.basename(frame.file) for frame in user_code.frames_of(error)}
    assert found == {"__init__.py", "decoder.py"}


# ---------------------------------------------------------------- stopping at it


def test_strict_stops_with_the_frames_innermost_last(folder):
    for jobs in (1, 2):
        with pytest.raises(Error) as raised:
            reason("broken.py:Followed", episodes=50, jobs=jobs, strict=True)
        assert str(raised.value) == (
            "broken.py:Followed failed exercise 0 of lambda-star: ValueError: no best"
        )
        assert raised.value.detail.split("\n") == [
            "  broken.py:73, in act",
            '    raise ValueError("no best") from error',
            "which followed from KeyError: 9",
            "  broken.py:71, in act",
            "    best(observation.rewards)",
            "  broken.py:10, in best",
            "    return {}[len(rewards)]",
        ]


FEW = ("--episodes", "4", "--jobs", "1")


def test_the_command_line_stops_with_the_frames_and_exit_code_2(folder):
    done = started(
        "evaluate", "lambda-star", "-m", "broken.py:Endless", *FEW, "--strict", cwd=folder
    )
    assert done.returncode == 2
    first, place, source = done.stderr.splitlines()
    assert first.startswith("allminds: broken.py:Endless failed exercise 0 of lambda-star: Recurs")
    assert place.startswith("  broken.py:39, in act (")
    assert source == "    return self.act(observation, random)"


def test_who_fails_everything_ends_with_exit_code_1_after_the_table(folder):
    words = ("lambda-star", "-m", "broken.py:Raises", "-m", "local-search", *FEW)
    done = allminds("evaluate", *words, cwd=folder)
    assert done.returncode == 1
    assert "broken.py:Raises failed 4 of 4 exercises (4 error), which count" in " ".join(
        done.stdout.split()
    )
    assert done.stderr == (
        "allminds: broken.py:Raises failed all 4 exercises of lambda-star; "
        "--strict stops at the first and shows where\n"
    )
    done = allminds("evaluate", *words, "--json", cwd=folder)
    assert done.returncode == 1
    rows = {row["mind"]: row for row in json.loads(done.stdout)["results"]}
    assert rows["broken.py:Raises"]["failures"] == {"error": 4}
    assert rows["broken.py:Raises"]["reason"].startswith("KeyError: 9 at broken.py:10, in best")
    assert rows["local-search"]["reason"] is None


def test_who_fails_some_ends_with_exit_code_0(folder):
    (folder / "some.py").write_text(
        "def some(observation, random):\n    return 0 if random.below(99) == 0 else 5\n"
    )
    words = ("lambda-star", "-m", "some.py:some", "--episodes", "60", "--jobs", "1", "--json")
    done = allminds("evaluate", *words, cwd=folder)
    rows = {row["mind"]: row for row in json.loads(done.stdout)["results"]}
    assert 0 < rows["some.py:some"]["failed"] < 60
    assert done.returncode == 0


def test_a_run_in_which_a_mind_fails_everything_ends_with_exit_code_1(folder):
    (folder / "plan.toml").write_text(
        '[[tests]]\ninstrument = "lambda-star"\nminds = ["broken.py:Raises", "random"]\n'
        "episodes = 4\nsettings = {rows = 5, cols = 5, iterations = 5}\n"
    )
    done = allminds("run", "plan.toml", "--out", "out", "--jobs", "1", cwd=folder)
    assert done.returncode == 1
    assert "report: out/report.html" in done.stdout
    assert "failed all 4 exercises of lambda-star" in done.stderr
    again = allminds("run", "--resume", "out", "--jobs", "1", cwd=folder)
    assert again.returncode == 1


def test_check_mind_says_where(folder):
    from allminds.check import check_mind

    with pytest.raises(Error, match=r"fails exercise 0: .*at broken.py:10, in best"):
        check_mind("broken.py:Raises", "lambda-star")


# ---------------------------------------------------------------- what would be right

MOVE = Discrete(9, start=1, labels=("up-left", "up", "up-right", *"stuvwx"))
PLAIN = Discrete(9, start=1)
DILEMMA = Discrete(2, labels=("cooperate", "defect"))


@pytest.mark.parametrize(
    ("action", "space", "said"),
    [
        (0, MOVE, "0 is not one of the actions 1..9"),
        (10, PLAIN, "10 is not one of the actions 1..9"),
        (np.int64(12), PLAIN, "np.int64(12) is not one of the actions 1..9"),
        (2, DILEMMA, "2 is not one of the actions 0 cooperate, 1 defect"),
        (
            "coperate",
            DILEMMA,
            "'coperate' is not one of the actions 0 cooperate, 1 defect; return an int, not a str",
        ),
        (
            "defect",
            DILEMMA,
            "'defect' is not one of the actions 0 cooperate, 1 defect; return the int 1",
        ),
        ("3", PLAIN, "'3' is not one of the actions 1..9; return the int 3, not a str"),
        (3.0, PLAIN, "3.0 is not one of the actions 1..9; return the int 3, not a float"),
        (3.5, PLAIN, "3.5 is not one of the actions 1..9; return an int, not a float"),
        (float("nan"), PLAIN, "nan is not one of the actions 1..9; return an int, not a float"),
        (
            np.float64(3),
            PLAIN,
            "np.float64(3.0) is not one of the actions 1..9; return the int 3, not a float64",
        ),
        (True, PLAIN, "True is not one of the actions 1..9; return an int, not a bool"),
        ([3], PLAIN, "[3] is not one of the actions 1..9; return an int, not a list"),
        (
            np.array([1, 2]),
            PLAIN,
            "array([1, 2]) is not one of the actions 1..9; return an int, not a ndarray",
        ),
        (
            None,
            PLAIN,
            "None is not one of the actions 1..9; return an int (did act end without return?)",
        ),
        (1, Discrete(1), "1 is not one of the actions 0"),
    ],
)
def test_a_malformed_action_names_what_is_allowed(action, space, said):
    assert malformed(action, space) == Failure("malformed", said)


def test_an_action_that_is_not_legal_now_names_those_that_are():
    space = Discrete(9, labels=tuple("abcdefghi"))
    said = malformed(4, space, (1, 2, np.int64(8))).reason
    assert said == "4 is not legal now; legal are 1 b, 2 c, 8 i"
    assert malformed(9, PLAIN, (1,)).reason == "9 is not legal now; legal are 1"
    assert malformed(0, PLAIN, (1,)).reason == "0 is not one of the actions 1..9"
    long = malformed(0, Discrete(500), range(1, 500)).reason
    assert long.endswith("29, 30, …")


def test_a_space_of_somebody_elses_need_only_contain():
    class Even:
        def contains(self, action):
            return action % 2 == 0

    assert malformed(3, Even()).reason == "3 is not one of the actions"


def test_a_taken_cell_names_the_free_ones():
    tool = registry.make_instrument("noughts-and-crosses")
    episode = Episode(tool.exercise(1, 0))
    for cell in (0, 1, 4, 8, 3):
        episode.play(dict.fromkeys(episode.waiting, cell))
    episode.play(dict.fromkeys(episode.waiting, 4))
    assert episode.record.reason == "4 is not legal now; legal are 2 a3, 5 b3, 6 c1, 7 c2"


# ---------------------------------------------------------------- line-ups


def test_a_line_up_that_is_too_long_is_one_sentence(tmp_path):
    done = allminds(
        "evaluate", "prisoners-dilemma", "-m", "tit-for-tat,defect,random", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (
        2,
        "allminds: a line-up of 3 is too long for an environment of 2 slots: tit-for-tat, defect, "
        "random\n",
    )


def test_a_group_that_reaches_over_the_last_slot_is_too_long():
    tool = registry.make_instrument("team-lambda-star")
    with pytest.raises(Error, match="a line-up of 5 is too long for an environment of 4 slots"):
        registry.line_up("random, random, random, stigmergy(local-search*2)", tool)


def test_the_line_ups_of_all_built_in_plans_fit():
    from allminds.runs.plan import built_in, read_plan
    from allminds.runs.run import Resolved

    for name in built_in():
        Resolved.of(read_plan(name))


# ---------------------------------------------------------------- time


def timed(act, seconds, instrument="matrices"):
    tool, watch = registry.make_instrument(instrument), Watch(seconds)
    line_up = LineUp.alone(registry.subject(act, tool), tool.slots)
    with watch.running():
        return play(tool.exercise(1, 0), line_up, watch)


def test_who_waits_for_the_machine_is_not_blamed():
    """Three times the limit by the clock, and no processor time: as on a machine that is busy."""

    def waits(observation):
        time.sleep(1.5)
        return 0

    assert timed(waits, 0.5).status == ("ok",)


def test_who_computes_beyond_the_limit_is_broken_off():
    def computes(observation):
        while True:
            pass

    start = time.thread_time()
    record = timed(computes, 0.2)
    assert record.status == ("timeout",)
    assert record.reason == "gave no answer within 0.2 s of processor time"
    assert 0.2 <= time.thread_time() - start < 0.6


def test_who_sleeps_for_ever_is_found_by_the_clock():
    start = time.monotonic()
    record = timed(lambda observation: time.sleep(60), 0.05)
    assert record.reason == "gave no answer within 0.5 s by the clock"
    assert 0.5 <= time.monotonic() - start < 30


def test_waiting_for_a_provider_is_no_time_of_the_minds():
    def asks(observation):
        with away():
            time.sleep(2.5)  # more than it has by the clock, ten times its limit
        return 0

    assert timed(asks, 0.2).status == ("ok",)


def test_built_in_minds_have_no_limit(monkeypatch):
    from allminds.instruments.chance import RandomMind

    def slow(self, observation, random):
        until = time.thread_time() + 0.5
        while time.thread_time() < until:
            pass
        return 0

    monkeypatch.setattr(RandomMind, "act", slow)
    assert timed("random", 0.05).status == ("ok",)
    assert timed(RandomMind(), 0.05).status == ("ok",)

    class Mine(MindBase):
        act = slow

    assert timed(Mine, 0.05).status == ("timeout",)


def test_who_is_built_in(folder):
    tool = registry.make_instrument("c-test")
    found = {
        name: registry.subject(name, tool).built_in
        for name in ("mode", "vote(mode,pattern)", "vote(mode,broken.py:Raises)")
    }
    assert list(found.values()) == [True, True, False]
    assert not registry.subject(lambda item: 0, tool).built_in


def test_a_table_with_a_time_out_says_that_it_may_not_repeat():
    from allminds.terminal import tables

    def hangs(observation):
        while True:
            pass

    found = evaluate("matrices", [hangs, "random"], episodes=2, time_limit=0.05, how=How(jobs=1))
    assert "this table may not repeat to the bit" in " ".join(tables.text_of(found).split())
    assert "this table may not repeat to the bit" in tables.html_of(found)
    found = evaluate("matrices", [lambda seen: "x"], episodes=2, how=How(jobs=1))
    assert "may not repeat" not in tables.text_of(found)


def test_a_provider_that_never_replies_is_a_time_out():
    pytest.importorskip("inspect_ai")
    import asyncio

    from inspect_ai.model import GenerateConfig

    from allminds.bridges.providers import Call, Sent
    from allminds.core.spending import Guess, Ledger

    ledger = Ledger()
    booking = ledger.book(Guess(10, 20, 10, 20))
    sent = Sent([], GenerateConfig(), [])

    class Silent:
        async def generate(self, *_asked, **_how):
            await asyncio.sleep(60)

    with pytest.raises(Failed) as raised:
        Call(Silent(), sent, 0.05, ledger, booking).result()
    assert raised.value.failure == Failure("timeout", "the provider gave no reply within 0.05 s")
    assert (ledger.unconfirmed, ledger.unconfirmed_tokens) == (1, (10, 20)), "it may be billed"

    class Broken:
        async def generate(self, *_asked, **_how):
            raise ValueError("of the provider's")

    with pytest.raises(ValueError, match="of the provider's"):
        Call(Broken(), sent, 5, ledger, booking).result()
