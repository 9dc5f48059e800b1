"""The files that the lines of benchmarks/nasty.py name: good ones, broken ones, and no files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

FILES = {
    "mine.py": "class Mine:\n    def act(self, seen, random):\n        return 0\n",
    "bad.py": "class Mine(:\n", "quit.py": "import sys\nsys.exit(3)\n",
    "raise.py": "raise ValueError(chr(27))\n", "nul.py": "x = 1\0\n", "blank": "", "empty.csv": "",
    "wrong.py": (
        "number = 5\nclass Wrong:\n    def __init__(self, a, b, c):\n        pass\n"
        "def loud(seen):\n    raise ValueError('\\x1b[2Jgone\\x07')\n"
        "def quits(seen):\n    raise SystemExit(5)\n"
        "def deep(seen):\n    return deep(seen)\n"
        "def huge(seen):\n    return 10 ** 30\n"
        "def nan(seen):\n    return float('nan')\n"
        "def none(seen):\n    return None\n"
    ),
    "good.csv": "exercise,mind,score,level\n" + "".join(
        f"{n},{who},{(n * 7 + k) % 10 / 10},{n % 3}\n"
        for n in range(30) for k, who in enumerate("abc")),
    "head.csv": "exercise,mind,score\n", "texts.csv": "exercise,mind,score\n1,a,good\n2,b,bad\n",
    "nan.csv": "exercise,mind,score\n1,a,nan\n1,b,inf\n2,a,-inf\n2,b,\n",
    "huge.csv": f"exercise,mind,score\n{'9' * 400},a,{'9' * 400}\n1,b,1e400\n1,a,1e308\n2,b,-1e308",
    "twice.csv": "exercise,mind,score,score\n1,a,0,1\n1,a,0,1\n",
    "wide.csv": ",".join(f"c{n}" for n in range(5000)) + "\n" + ",".join("1" * 5000) + "\n",
    "nul.csv": "exercise,mind,score\n1,\0,0\n1,b,1\n",
    "quotes.csv": 'exercise,mind,score\n1,"a,0\n',
    "formula.csv": "exercise,mind,score\n=1+2,=cmd|'/c calc'!A0,0.5\n1,@SUM(A1),0.25\n",
    "good.jsonl": '{"subject_id": "a", "responses": {"x": 1, "y": 0}}\n',
    "broken.jsonl": '{"subject_id": [' * 5000, "broken.parquet": "PAR1xxxxPAR1",
    "broken.eval": "PK\3\4x",
    "bomb.toml": '[[tests]]\ninstrument = "lambda-star"\nminds = ["{a}{b}{c}{d}{e}{f}"]\n'
    "[tests.words]\n"
    + "".join(f"{x} = {[str(n) for n in range(200)]}\n" for x in "abcdef"),
    "big.toml": '[[tests]]\ninstrument = "lambda-star"\nminds = ["random"]\n[tests.factors]\n'
    + "".join(f"f{k} = [" + f"{{s{k} = 5}}, " * 100 + "]\n" for k in range(6)),
    "deep.toml": f"x = {'[' * 5000}{']' * 5000}\n", "number.toml": f"seed = {'9' * 5000}\n",
    "types.toml": "tests = 5\nseed = 'x'\n", "none.toml": "tests = []\n",
    "nan.toml": "time_limit = nan\n"
    '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\n',
    "many.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\n' * 20_000,
    "names.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["{}", "{x.__class__}", "{x!r}"]\n'
    '[tests.words]\nx = ["a"]\n', "bell.toml": "title = \"\\u001b]0;x\\u0007\"\n[tests]\n",
    "twice.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode", "mode"]\n',
    "long.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\nepisodes = 1000000000000\n',
    "plan.toml": 'seed = 3\n[[tests]]\ninstrument = "lambda-star"\n'
    'minds = ["random", "local-search"]\n'
    "episodes = 22\n[tests.settings]\nrows = 5\ncols = 5\niterations = 5\n",
}  # fmt: skip


def write_files(where: Path) -> None:
    """Write the files that the lines name: good ones, broken ones, and no files at all."""
    for name, text in FILES.items():
        (where / name).write_text(text, encoding="utf-8")
    rng = random.Random(1)
    for name in ("binary", "broken.db"):
        (where / name).write_bytes(rng.randbytes(5000))
    (where / "broken.db").write_bytes(b"SQLite format 3\0" + rng.randbytes(5000))
    (where / "utf16.csv").write_bytes(FILES["good.csv"].encode("utf-16"))
    (where / "folder").mkdir()
    (where / "empty").mkdir()
    (where / "loop").symlink_to("loop")
    for name in ("fifo", "fifo.py", "fifo.csv"):
        os.mkfifo(where / name)
    (where / "locked").mkdir(mode=0)
    (where / "locked.py").write_text("x = 1\n")
    (where / "locked.py").chmod(0)

    def allminds(*words: str) -> str:
        command = [sys.executable, "-m", "allminds", *words]
        return subprocess.run(command, cwd=where, check=True, capture_output=True, text=True).stdout

    study = allminds("study", "new", "--write-plan").replace("moving-between-cells", "cells")
    (where / "study.toml").write_text(study, encoding="utf-8")
    allminds("study", "new", "study.toml", "--out", "study.db")
    allminds("run", "plan.toml", "--out", "run", "--jobs", "1")
    _break_runs(where)


def _break_runs(where: Path) -> None:
    """Copy the run, and break every copy in another way."""
    for name in ("plan", "empty", "parts", "sums", "json", "other"):
        shutil.copytree(where / "run", where / f"run-{name}")
    plan = where / "run" / "plan.json"
    (where / "run-plan" / "plan.json").write_bytes(plan.read_bytes()[:100])
    (where / "run-empty" / "plan.json").write_text("")
    for part in (where / "run-parts" / "records").iterdir():
        part.write_bytes(part.read_bytes()[:-50])
    (where / "run-sums" / "SHA256SUMS").write_text("\0" * 100)
    (where / "run-json" / "plan.json").write_text("[" * 20_000)
    (where / "run-other" / "summary.json").write_text(json.dumps({"tests": 5}))
