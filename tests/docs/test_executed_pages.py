"""What the pages tell a reader to do is done, and gives what they show."""

from __future__ import annotations

from pathlib import Path

import pytest
from executed_pages import agrees, blocks, run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "../README.md",
    "tutorial.md",
    "python.md",
    "planning.md",
    "disguises.md",
    *sorted(
        str(page.relative_to(DOCS))
        for page in DOCS.glob("howto/*.md")
        if page.stem != "test-a-language-model"  # needs models: tests/bridges
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page, tmp_path):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert blocks(text), "there is nothing to run"
    wrong = run(text, tmp_path)
    assert not wrong, f"{page}, {wrong[0]}"


def test_dots_stand_for_anything_and_white_space_for_any_other():
    assert agrees("a  b\n...\nd", "a b\nc\nd\n")
    assert agrees("...", "")
    assert agrees("report: .../report.html", "report: runs/1/report.html")
    assert not agrees("a ... d", "a b c")
    assert not agrees("a.c", "abc")


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```console\n$ echo a; echo b\na\n...\n```\n", 0),
        ("```console\n$ echo a\nb\n```\n", 1),
        ("```console\n$ echo a \\\n    b\na b\n```\n", 0),
        ("```console\n$ exit 3\n```\n", 1),
        ("```console\n$ echo 'allminds: no'; exit 2\nallminds: no\n```\n", 0),
        ('```python title="m/a.py"\nx = 4\n```\n```console\n$ cat m/a.py\nx = 4\n```\n', 0),
        ("```python\nx = 4\nprint(x)\n```\n\n```python\nprint(x + 1)\n```\n```text\n5\n```\n", 0),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", 1),
        ("```python\nprint(1)\n```\nand somewhere else\n```text\n2\n```\n", 0),
        ("```sh\nexit 1\n```\n", 0),
    ],
)
def test_a_page_is_run_and_compared(page, wrong, tmp_path):
    assert len(run(page, tmp_path)) == wrong
