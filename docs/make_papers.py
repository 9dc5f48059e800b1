"""Write docs/papers.md: what `allminds reproduce` makes anew, and what the papers get wrong.

``python docs/make_papers.py`` writes it; a test compares it with what is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from allminds.papers import PAPERS, paper

PAGE = Path(__file__).parent / "papers.md"
HEAD = """\
# The papers, made anew

```sh
allminds reproduce                           # everything, on one page: papers.html
allminds reproduce hilton chmait-2016        # some papers
allminds reproduce chmait-2017:figure-5      # one figure
allminds reproduce insa-cabrera-2011 --rows FILE  # with the authors' own rows, where you have them
```

The page has every figure and table with the data behind it, every number that the papers print
beside ours with a tolerance and whether they agree, and the errata. It takes about two minutes, and
is one file that loads nothing from elsewhere. **[The page of this version](reproduced.html)** was
made when this site was built.

This page, with the errata, is written by `python docs/make_papers.py`.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join("\n".join(_section(name)) for name in PAPERS)


def _section(name: str) -> Iterator[str]:
    about = paper(name)
    yield f"\n## {about.cited}\n"
    yield f"{about.citation}.\n"
    yield f"{about.what} `allminds reproduce {name}` makes:\n"
    yield ", ".join(f"`{part}`" for part in about.parts) + ".\n"
    if about.not_made:
        missing = (f"{place.replace('-', ' ')} ({why})" for place, why in about.not_made.items())
        yield f"Not made: {'; '.join(missing)}.\n"
    yield "| where | printed | what is known | how this is seen |"
    yield "| --- | --- | --- | --- |"
    for one in about.errata:
        cells = (one.where, one.printed, one.known, one.shown)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
