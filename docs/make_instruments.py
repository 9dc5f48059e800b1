"""Write docs/instruments: what a mind sees in each instrument, as ``allminds show`` prints it.

``python docs/make_instruments.py`` writes a page for each built-in instrument, and their list.
"""

from __future__ import annotations

from pathlib import Path

from allminds import describe, registry

FOLDER = Path(__file__).parent / "instruments"
BACKGROUND = {  # the page on what is computed and why, by the beginning of an instrument's name
    "lambda-star-": "extensions.md",
    "lambda-star": "lambda-star.md",
    "lambda": "lambda.md",
    "c-test": "c-test.md",
    "matrices": "matrices.md",
    "landscape": "landscape.md",
    "": "social.md",
}
HEAD = """\
# What a mind sees, test by test

Each page says what a mind is shown in one test, what it can do, what it gets, when it is called,
which settings and minds there are, and draws one exercise. It ends with the smallest mind that
plays the test. `allminds show NAME` prints the same, also for an instrument of yours
(`allminds show mine.py:NextSymbol`) and with other settings (`--set agents=3`); in Python it is
`am.describe(NAME)`.

Classes of observations are imported from the folder of their instrument, such as
`from allminds.instruments.games import Board`; every page has the line. They are typed, so that an
editor and a type checker know the fields. These pages are written by
`python docs/make_instruments.py`.

| test | what it is | background |
| --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """All pages, by the names of their files."""
    made = {f"{name}.md": _page(name) for name in _built_in()}
    rows = [
        f"| [`{name}`]({name}.md) | {registry.first_line(cls)} | {_link(name)} |"
        for name, cls in _built_in().items()
    ]
    return {"index.md": HEAD + "\n".join(rows).replace("*", r"\*") + "\n"} | made


def _built_in() -> dict[str, type]:
    """The instruments that come with allminds."""
    found = registry.instruments()
    return {name: cls for name, cls in found.items() if cls.__module__.startswith("allminds.")}


def _page(name: str) -> str:
    title, _, rest = describe(name).as_markdown().partition("\n\n")
    said = f"`allminds show {name}` prints this page. What is computed, and why: {_link(name)}."
    return f"{title}\n\n{said}\n\n{rest}"


def _link(name: str) -> str:
    page = next(page for start, page in BACKGROUND.items() if name.startswith(start))
    title = (FOLDER.parent / page).read_text(encoding="utf-8").partition("\n")[0]
    return f"[{title.removeprefix('# ').partition(':')[0]}](../{page})"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
