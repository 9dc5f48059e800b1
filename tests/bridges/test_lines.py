"""Minds in other languages: programs that speak JSON lines, well and badly."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from plainly import evaluate

from allminds import registry
from allminds.bridges.lines import Process, Program, plain
from allminds.check import check_mind
from allminds.contracts import Discrete, MindBase
from allminds.core.errors import Error
from allminds.core.watch import Failed
from allminds.episode import play
from allminds.runs.run import How

EXAMPLE = Path(__file__).parents[2] / "examples" / "mind.js"
SMALL = {"rows": 5, "cols": 6, "iterations": 8}
HEAD = "import json, sys, time\nfor line in sys.stdin:\n    told = json.loads(line)\n"


@pytest.fixture
def program(tmp_path):
    """The name of a mind that is a small Python program: what it does on `act`."""

    def named(*lines: str, head: str = HEAD, **keywords: object) -> str:
        file = tmp_path / f"p{len(list(tmp_path.iterdir()))}.py"
        body = "    if told['type'] == 'act':\n" + "".join(f"        {one}\n" for one in lines)
        file.write_text(head + body)
        more = "".join(f",{key}={value}" for key, value in keywords.items())
        return f"program({sys.executable},{file}{more})"

    return named


def says(text: str) -> str:
    return f"print({text!r}, flush=True)"


def played(who: str, instrument: str = "lambda-star", settings=None, index: int = 0):
    tool = registry.make_instrument(instrument, SMALL if settings is None else settings)
    return play(tool.exercise(1, index), registry.line_up(who, tool))


class Greedy(MindBase):
    """The example in Python."""

    def act(self, observation, random):
        best = max(observation.rewards)
        return observation.rewards.index(best) + 1 if best > 0 else 5


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_example_in_javascript_is_the_same_mind_as_in_python():
    tool = registry.make_instrument("lambda-star", SMALL)
    for i in range(3):
        theirs = play(tool.exercise(1, i), registry.line_up(f"program(node,{EXAMPLE})", tool))
        ours = play(tool.exercise(1, i), registry.line_up(Greedy, tool))
        assert (theirs.actions, theirs.score) == (ours.actions, ours.score)
        assert theirs.status == ("ok",)


def test_a_program_that_draws_from_what_it_is_given_keeps_the_contract(program):
    who = program(
        "legal = told['legal']",
        "pick = legal[int(told['random'] * len(legal))]",
        "print(json.dumps({'action': pick}), flush=True)",
    )
    check_mind(who, "lambda-star", SMALL | {"agents": 2})
    check_mind(who, "noughts-and-crosses")


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_any_language_will_do(tmp_path):
    script = tmp_path / "mind.pl"
    script.write_text(
        '$| = 1;\nwhile (<>) { print "{\\"answer\\": \\"stay\\"}\\n" if /"type": "act"/ }\n'
    )
    record = played(f"program(perl,{script},seconds=5)")
    assert {action[0] for action in record.actions} == {5}


def test_answers_may_be_words_and_refusals(program):
    assert played(program(says('{"answer": "up"}'))).actions[0] == {0: 2}
    words = played(program(says('{"answer": "upwards"}')))
    assert (words.status, words.score) == (("malformed",), (-1.0,))
    no = played(program(says('{"refuse": "I would rather not"}')))
    assert (no.status, no.reason) == (("refused",), "I would rather not")


@pytest.mark.parametrize(
    "line", ["nonsense", "[1]", "{}", '{"action": 3, "answer": "up"}', '{"answer": 3}', "", "null"]
)
def test_nonsense_is_malformed(program, line):
    record = played(program(says(line)))
    assert record.status == ("malformed",)
    assert "is awaited" in record.reason


def test_an_action_that_there_is_not_is_malformed(program):
    assert played(program(says('{"action": 12}'))).status == ("malformed",)
    assert played(program(says('{"action": "3"}'))).status == ("malformed",)


def test_bytes_that_are_no_text_and_endless_lines_are_malformed(program):
    raw = "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()"
    assert played(program(raw)).status == ("malformed",)
    endless = program("while True: sys.stdout.write('x' * 65536)")
    record = played(endless)
    assert record.status == ("malformed",)
    assert "without a new line" in record.reason


def test_one_that_hangs_fails_by_its_own_limit_and_not_by_that_of_other_minds(program):
    record = played(program("time.sleep(60)", seconds=0.3))
    assert (record.status, record.reason) == (("timeout",), "gave no answer within 0.3 s")
    found = evaluate(
        "lambda-star", [program("time.sleep(60)", seconds=0.9)], settings=SMALL, episodes=2,
        time_limit=0.01, how=How(jobs=1),
    )["results"][0]  # fmt: skip
    assert found["failures"] == {"timeout": 2}
    assert found["reason"] == "gave no answer within 0.9 s"


def test_one_that_does_not_read_is_not_waited_for(tmp_path):
    deaf = Process([sys.executable, "-c", "import time; time.sleep(60)"], 0.3)
    with pytest.raises(Failed) as caught:
        deaf.send("x" * (1 << 20))
    assert caught.value.failure.status == "timeout"


def test_one_that_dies_says_its_last_words(program):
    record = played(program("raise ValueError('no more')"))
    assert record.status == ("error",)
    assert record.reason == "ended with exit code 1: ValueError: no more"
    named = "sys.exit('Error: no such module\\n    at somewhere\\n\\nRuntime v2')"
    assert played(program(named)).reason == "ended with exit code 1: Error: no such module"
    at_once = played(program(head="raise SystemExit(7)\n"))
    assert at_once.status == ("error",)
    assert "exit code 7" in at_once.reason or "expected" in at_once.reason


def test_the_run_goes_on_after_a_failure(program):
    who = program(
        "rewards = told['observation']['rewards']",
        "if rewards[0] > 0: sys.exit(3)",
        "print(json.dumps({'action': 5}), flush=True)",
    )
    how = How(jobs=1)
    found = evaluate("lambda-star", [who], settings=SMALL, episodes=6, how=how)["results"][0]
    assert found["episodes"] == 6
    assert 0 < found["failed"] < 6
    assert found["failures"] == {"error": found["failed"]}


def gone(pid: int) -> bool:
    for _ in range(1200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_nothing_is_left_running(program, tmp_path):
    note = tmp_path / "pids"
    child = "import subprocess; subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL)"
    write = f"open({str(note)!r}, 'a').write(f'{{os.getpid()}} {{kid.pid}}\\n')"
    head = f"import os\n{child.replace('subprocess.Popen', 'kid = subprocess.Popen')}\n{write}\n"
    for last in (says('{"action": 5}'), "time.sleep(60)", says("nonsense")):
        played(program(last, head=head + HEAD, seconds=5))  # Python starts in this time
    pids = [int(word) for word in note.read_text().split()]
    assert len(pids) == 6
    assert all(gone(pid) for pid in pids)


def test_bad_names_are_found_at_once():
    tool = registry.make_instrument("lambda-star", SMALL)
    with pytest.raises(Error, match="name the program"):
        registry.subject("program", tool)
    with pytest.raises(Error, match="there is no program 'no-such-thing'"):
        registry.subject("program(no-such-thing)", tool)
    with pytest.raises(Error, match="above 0"):
        registry.subject(f"program({sys.executable},seconds=0)", tool)


def test_a_program_is_told_what_a_mind_may_know(program, tmp_path):
    told = tmp_path / "told"
    who = program(
        says('{"answer": "cooperate"}'),
        head=HEAD + f"    open({str(told)!r}, 'a').write(line)\n",
    )
    record = played(f"{who},defect", "prisoners-dilemma", {"steps": 2})
    assert record.status == ("ok", "ok")
    first, *rest = [json.loads(line) for line in told.read_text().splitlines()]
    assert first["type"] == "begin"
    assert (first["slot"], first["slots"], first["team"], first["steps"]) == (0, 2, [0], 2)
    assert first["actions"] == {"n": 2, "start": 0, "labels": ["cooperate", "defect"]}
    assert [one["type"] for one in rest] == ["act", "learn", "act", "learn"]
    assert [one["reward"] for one in rest if one["type"] == "learn"] == [-1.0, -1.0]
    assert [one["done"] for one in rest if one["type"] == "learn"] == [False, True]
    assert rest[0]["legal"] == [0, 1]
    assert 0 <= rest[0]["random"] < 1


def test_everything_that_is_seen_is_json():
    for name in registry.instruments():
        tool = registry.make_instrument(name)
        environment = tool.exercise(1, 0).environment
        state = environment.reset(_first(tool))
        for slot in environment.awaited(state):
            json.dumps(plain(environment.observe(state, slot)), allow_nan=False)
        json.dumps(plain(environment.facts))
    assert plain(Discrete(2)) == {"n": 2, "start": 0, "labels": []}


def _first(tool):
    from allminds.episode import Episode

    return Episode(tool.exercise(1, 0)).random


def test_a_mind_made_in_python_is_the_same(program):
    tool = registry.make_instrument("lambda-star", SMALL)
    script = program(says('{"action": 5}')).removeprefix("program(").removesuffix(")").split(",")
    mind = Program(tool, *script)
    assert mind.command == tuple(script)
