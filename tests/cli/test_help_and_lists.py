"""What a newcomer asks first: help with its defaults, lists, and what a shell completes."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from commands import allminds

sys.path.append(str(Path(__file__).parents[2] / "docs"))

import make_cli

COMMANDS = dict(make_cli._commands(make_cli.app))


@pytest.mark.parametrize("path", COMMANDS)
def test_help_says_every_default(path):
    callback = COMMANDS[path].callback
    hints = typing.get_type_hints(callback, include_extras=True)
    for name, one in inspect.signature(callback).parameters.items():
        _, info = typing.get_args(hints[name])
        known = one.default is one.empty or one.default not in (None, "", (), [])
        said = isinstance(info.show_default, str) or "by default" in (info.help or "").lower()
        assert known or said, name


def test_help_is_grouped_by_what_one_wants():
    shown = allminds("--help").stdout
    panels = re.split(r"╭─ ", shown)[1:]
    model = next(part for part in panels if "accuracy model" in part.partition("\n")[0])
    for verb in ("predict", "vote", "crossing", "select"):
        assert re.search(rf"│ {verb} ", model), verb
    assert "list" in next(part for part in panels if part.startswith("Find out"))


def test_minds_of_an_instrument_stand_in_groups_a_line_each():
    shown = allminds("list", "minds", "--instrument", "lambda-star").stdout
    lines = [line for line in shown.splitlines() if line.startswith("  ")]
    names = [line.split()[0] for line in lines]
    assert len(set(names)) == len(names) > 15
    assert [line for line in shown.splitlines() if line and not line.startswith(" ")] == [
        "single minds", "minds that are told the future", "groups, as tree(random*3)",
        "minds for every instrument",
    ]  # fmt: skip
    assert re.search(r"optimum \(ceiling\) ", shown)
    assert shown.index("local-search") < shown.index("tree ") < shown.index("program")


def test_no_mind_is_listed_twice_for_the_same_instruments():
    shown = allminds("list", "minds").stdout
    heading, seen = "", set()
    for line in shown.splitlines():
        if line.startswith("  "):
            assert (heading, line.split()[0]) not in seen
            seen.add((heading, line.split()[0]))
        elif line:
            heading = line
    assert sum(name == "random" for _, name in seen) == 1
    assert ("every instrument", "random") in seen


@pytest.mark.parametrize("words", [["list"], ["list", "minds"], ["list", "papers"]])
@pytest.mark.parametrize("width", [80, 120])
def test_a_line_fits_the_terminal(words, width):
    done = allminds(*words, COLUMNS=str(width), FORCE_COLOR="1", TERM="dumb")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    lines = [line for line in plain.splitlines() if line.startswith("  ") or words[-1] != "minds"]
    assert max(map(len, lines)) <= width
    assert any(line.endswith("…") for line in lines)


def test_a_list_of_what_is_not_there_is_one_line():
    assert "did you mean 'lambda'" in allminds("list", "minds", "--instrument", "lamda").stderr
    assert allminds("list", "papers", "--instrument", "lambda").returncode == 2


# ---------------------------------------------------------------- completion


def completed(line: str, shell: str = "bash") -> list[str]:
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "zsh":
        asked = {"_TYPER_COMPLETE_ARGS": line}
    command = [str(Path(sys.executable).parent / "allminds")]
    done = subprocess.run(
        command, env=os.environ | asked | {"_ALLMINDS_COMPLETE": f"complete_{shell}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_a_shell_completes_verbs_instruments_minds_and_settings():
    assert completed("allminds eva") == ["evaluate"]
    assert {"lambda", "lambda-star"} <= set(completed("allminds evaluate lam"))
    assert completed("allminds evaluate c-test -m mo") == ["mode"]
    assert completed("allminds evaluate lambda-star --set r") == ["rows=10", "range=1"]
    assert {"form=published", "form=generated"} <= set(completed("allminds evaluate c-test --set "))
    assert completed("allminds list minds --instrument stag") == ["stag-hunt"]
    assert "hilton" in completed("allminds reproduce hi")
    assert completed("allminds evaluate no-such-test --set r") == []


def test_zsh_gets_the_same_in_its_own_form():
    assert '(("form=generated"))' in " ".join(
        completed("allminds evaluate c-test --set form=g", "zsh")
    )


def test_minds_of_a_run_are_completed_from_its_plan(tmp_path):
    (tmp_path / "plan.json").write_text('{"plan": {"tests": [{"minds": ["mine.py:Bold"]}]}}')
    assert completed(f"allminds compare {tmp_path} --baseline mi") == ["mine.py:Bold"]


def test_completing_an_instrument_imports_none():
    code = (
        "import sys; from allminds.cli.app import complete_instrument as c; c('l'); "
        "print([m for m in sys.modules if m.startswith('allminds.instruments')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TYPED = {
    "lambda-star -m local": "local-search",
    "c-test --set form=": "published generated fresh",
    "c-test --set form=g": "generated",
    "c-test --set form=generated -m mo": "mode",
    "lambda-star --set r": "rows=10 range=1",
}


@pytest.mark.parametrize("line", TYPED)
def test_completion_in_a_real_bash(line):
    """The script that --show-completion prints, loaded and called as bash does it.

    Bash ends a word at = and :, so that form=g is three words for it; only the last is replaced.
    """
    words = re.findall(r"[=:]|[^ =:]+", f"allminds evaluate {line}")
    binary = str(Path(sys.executable).parent)
    script = f"""
    export PATH={binary}:$PATH
    source <(allminds --show-completion bash)
    COMP_WORDS=({" ".join(words)}) COMP_CWORD={len(words) - 1}
    _allminds_completion allminds
    echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == TYPED[line], done.stderr
