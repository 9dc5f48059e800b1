"""Good inputs, small ones, from which the fuzzer starts."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from allminds.runs.plan import built_in, plan_text
from allminds.web.checking import example

NAMES = (
    "random", "local-search", "expert(intercept=false)", "q-learning(sessions=3,alpha=0.5)",
    "stigmergy(local-search*3,expert(intercept=false))", "tit-for-tat, defect*3", "vote(random*3)",
    "weighted-vote(mode,pattern,p=0.4/0.5)", "llm(openai/gpt-4o,form=text)", "file.py:MyMind",
    "json:loads", "no.such.module:Mind", "program(true,seconds=2)", "policy(model.zip)",
    "auction(tree(random*2),q-learning)", "oracle", "oneshot(7)", "a*100000",
)  # fmt: skip
NAME_WORDS = (
    "(", ")", ",", "=", "*", "*2", "*0", "random", "vote", "tree", "expert", "q-learning", "alpha=",
    "sessions=", "human", "llm(", "program(", "policy(", ".py:", ":", "auction(", "seconds=nan",
)  # fmt: skip
INSTRUMENTS = ("lambda-star", "lambda", "c-test", "matrices", "prisoners-dilemma", "commons")
SETTINGS = (
    "lambda-star rows=5 cols=6 iterations=8 agents=2", "lambda form=general cells=3 steps=4",
    "c-test form=generated k=7..9 options=5", "matrices rules=2 candidates=4 kinds=progression",
    "prisoners-dilemma steps=5", "commons steps=3", "lambda-staircase time=24 steps=8 cells=4",
    "matching-pennies steps=3", "noughts-and-crosses", "pettingzoo:classic/tictactoe_v3",
)  # fmt: skip
READINGS = (
    "numbers 5", "numbers 5..25", "numbers 1,2,3.5", "ends 2..10", "whole_numbers 7..9",
    "settings_of rows=10", "budget_of rel=0.95", "budget_of generalisability=0.9",
)  # fmt: skip
LINES = (
    '{"action": 3}', '{"answer": "up"}', '{"refuse": "I will not"}', '{"answer": "c"}',
    '{"action": [1, 2]}', '{"action": null, "answer": "1"}', '"up"', "3",
)  # fmt: skip
CSV = (
    "exercise,mind,score\na,x,1\nb,x,0.5\na,y,-1\n",
    "exercise,mind,score,status,slot,repeat,k\nc-test@2/4172dcb1/1/0,x,1,ok,0,0,7\n"
    "c-test@2/4172dcb1/1/1,x,,refused,0,0,9\n",
    'exercise,mind,score,seed,index,steps,learning,colour\n"a, b",é,0,3,4,5,0.1,red\n',
)
PY_IRT = (
    '{"subject_id": "a", "responses": {"q1": 1, "q2": 0}}\n{"subject_id": "b", "responses": '
    '{"q1": 0}}\n',
)
CLI = (
    "list minds", "list", "list instruments --json", "--version", "--help", "vote 0.55 0.55 0.63",
    "vote 0.4 0.5 --rule plurality --json", "crossing 12 12,12,12 --options 3",
    "predict --ability 11.28 --difficulty 5..25 --options 2..10",
    "predict --ability 11 --difficulty 5 --options 2 --json",
    "select --mind a=12:1 --mind b=20:3 --task 5 --task 8 --threshold 0.7",
    "complexity 7,3,4,9,8,7,3,4,9,8 --measure lz76", "complexity abcabc",
    "evaluate lambda-star -m random --set rows=3 --set cols=3 --set iterations=4 -n 4 --jobs 1",
    "evaluate prisoners-dilemma -m tit-for-tat -n 3 --json --jobs 1",
    "import good.csv --out imported", "import good.jsonl --out imported --format py-irt",
    "export good.csv out.parquet", "export good.csv out.jsonl", "compare good.csv",
    "compare good.csv --by k --json", "study new study.toml --out new.db", "study new --write-plan",
    "study invite study.db --count 2 --json", "study invite study.db --label p1",
    "study export study.db --out people", "study withdraw study.db --label k7wmzq2p",
    "plan-size good.csv --interval .2", "replay run --exercise 0 --mind random",
    "testbed prisoners-dilemma --set steps=2 --minds cooperate,defect --episodes 4",
    "run --resume run", "run no-such-plan.toml",
)  # fmt: skip


def plans() -> list[str]:
    """The built-in plans, and one of every kind of line."""
    small = (
        'seed = 3\ntraces = 5\ntime_limit = 2.5\n[[tests]]\ninstrument = "lambda-star"\n'
        'minds = ["{who}({member}*{agents})", "random"]\nepisodes = 4\n[tests.settings]\nrows = 3\n'
        "cols = 3\n[tests.factors]\nsize = [{agents = 2}, {agents = 3}]\n[tests.words]\n"
        'who = ["auction", "tree"]\nmember = ["random"]\n'
    )
    game = (
        '[[tests]]\ninstrument = "commons"\nminds = ["random", "random, random"]\n'
        'against = "random*3"\nepisodes = 2\n'
    )
    return [*(small, game) * 8, *(plan_text(name) for name in built_in())]


def studies() -> list[str]:
    """The example without its comments, and a short game."""
    kept = [line.split("  #")[0].rstrip() for line in example().splitlines()]
    game = (
        'slug = "game"\ntitle = {en = "Game"}\nlanguages = ["en"]\nparticipants = 4\n'
        'retention = 2030-01-01\nopens = 2027-01-15T08:00:00Z\nconsent = {version = "1", '
        'text = {en = "Agree?"}}\n[[tests]]\ninstrument = "prisoners-dilemma"\nexercises = 2\n'
        'opponent = "tit-for-tat"\nsettings = {steps = 3}\npractice = 0\nminds = ["random"]\n'
    )
    return ["\n".join(line for line in kept if line and line[0] != "#") + "\n", game, game]


def log() -> dict[str, Any]:
    """A log of Inspect's, as short as it reads one: a sample that was played, one that broke."""
    about = {
        "exercise": "c-test@2/4172dcb1/1/0", "instrument": "c-test", "version": 2,
        "settings": {"form": "generated"}, "seed": 1, "index": 0, "items": "fresh", "form": "text",
        "against": "", "complexity": {"k": 7.0, "letters": 5.0},
    }  # fmt: skip
    record = {
        "minds": ["llm(mockllm/model)"], "team": [0], "score": [0.0], "learning": [None],
        "status": ["ok"], "reason": "", "steps": 1, "actions": [{"0": 0}],
    }  # fmt: skip
    usage = {"mockllm/model": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
    score = {"value": {"score": 0.0}, "answer": "ANSWER: a", "metadata": record}
    output = {"model": "mockllm/model", "choices": [], "completion": ""}
    sample = {
        "id": 0, "epoch": 1, "input": "?", "target": "h", "messages": [], "output": output,
        "scores": {"weighted_record": score}, "metadata": about, "model_usage": usage,
    }  # fmt: skip
    error = {"message": "it broke", "traceback": "", "traceback_ansi": ""}
    broken = sample | {"id": 1, "scores": {}, "error": error, "metadata": about | {"index": 1}}
    made = {
        "created": "2026-01-01T00:00:00+00:00", "task": "allminds/c_test", "task_id": "t",
        "eval_id": "e", "run_id": "r", "task_version": 1, "dataset": {"samples": 2},
        "model": "mockllm/model", "config": {}, "packages": {"allminds": "0.1.0"},
    }  # fmt: skip
    return {"version": 2, "status": "success", "eval": made, "samples": [sample, broken]}


def zipped(told: Any) -> bytes:
    """A log as Inspect's .eval file has it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        whole = told if isinstance(told, dict) else {"header": told}
        samples = whole.get("samples")
        header = {key: value for key, value in whole.items() if key != "samples"}
        file.writestr("header.json", json.dumps(header))
        for n, sample in enumerate(samples if isinstance(samples, list) else []):
            file.writestr(f"samples/{n}_epoch_1.json", json.dumps(sample))
    return out.getvalue()
