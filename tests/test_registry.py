"""Names of minds and instruments, and how users bring their own."""

from __future__ import annotations

import sys
import textwrap

import pytest

from allminds import registry
from allminds.core.errors import Error


@pytest.fixture
def tool():
    return registry.make_instrument("lambda-star", {"rows": 5, "cols": 5, "k": "any"})


def test_parameters_reach_the_mind_with_their_types(tool):
    mind = registry.subject("q-learning(alpha=0.1, sessions=7)", tool).make()
    assert (mind.alpha, mind.sessions) == (0.1, 7)
    assert registry.subject("expert(intercept=FALSE)", tool).make().intercept is False


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lokal-search", "did you mean 'local-search'"),
        ("q-learning(alpha=0)", r"alpha must be in \(0, 1\], not 0"),
        ("q-learning(alpha=1.5)", r"alpha must be in \(0, 1\]"),
        ("q-learning(alpha=lots)", "alpha must be a number, not 'lots'"),
        ("q-learning(sessions=1.5)", "sessions must be a whole number"),
        ("expert(intercept=maybe)", "intercept must be true or false"),
        ("q-learning(alfa=1)", "did you mean 'alpha'"),
        ("random(3)", "cannot make random"),
        ("local-search*3", "only the members of a group"),
        ("nowhere.at.all:Mind", "No module named 'nowhere'"),
        ("nowhere.py:Mind", "there is no file nowhere.py"),
        ("json:nothing", "'json' has no 'nothing'"),
        ("json:JSONDecoder", "no method 'act'"),
        ("json:__name__", "neither a class nor a function"),
    ],
)
def test_a_wrong_name_is_one_sentence_with_a_way_out(tool, name, said):
    with pytest.raises(Error, match=said):
        registry.line_up(name, tool)


def test_a_mind_from_a_file_and_one_that_breaks_on_import(tool, tmp_path):
    good = tmp_path / "good.py"
    good.write_text("def stay(observation):\n    return 5\n")
    assert registry.subject(f"{good}:stay", tool).make().act(None, None) == 5
    bad = tmp_path / "bad.py"
    bad.write_text("1 / 0\n")
    with pytest.raises(Error, match="ZeroDivisionError"):
        registry.subject(f"{bad}:stay", tool)


def test_an_object_is_copied_for_every_exercise(tool):
    class Counting:
        def __init__(self):
            self.count = 0

        def act(self, observation, random):
            self.count += 1
            return 5

    mine = Counting()
    subject = registry.subject(mine, tool)
    subject.make().act(None, None)
    assert mine.count == 0


def test_no_name_is_taken_twice():
    with pytest.raises(Error, match="registered twice"):
        registry.mind("local-search", "lambda-star")(lambda observation: 5)


def test_unknown_instruments_and_settings_have_a_hint():
    with pytest.raises(Error, match="did you mean 'lambda-star'"):
        registry.make_instrument("lambda-str")
    with pytest.raises(Error, match="did you mean 'rows'"):
        registry.make_instrument("lambda-star", {"row": 3})


def test_a_third_party_package_registers_by_entry_point(tmp_path):
    """A real installed distribution, seen by a fresh process through its metadata alone."""
    import subprocess

    (tmp_path / "thirdparty.py").write_text(
        textwrap.dedent("""
        from allminds import mind

        @mind("stays", instruments="lambda-star")
        def stays(observation):
            "Never moves."
            return 5
        """)
    )
    info = tmp_path / "thirdparty-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[allminds]\nthirdparty = thirdparty\n")
    out = subprocess.run(
        [sys.executable, "-m", "allminds", "list", "minds"],
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "stays" in out.stdout
    assert "Never moves." in out.stdout
