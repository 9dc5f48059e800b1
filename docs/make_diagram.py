"""Draw docs/images/flow.svg: the flow from a plan to a report, and the folders under it.

``python docs/make_diagram.py`` writes it; a test compares it with what is there. The folders are
the layers of `[tool.importlinter]` in pyproject.toml, so that the drawing is what a test holds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
PAGE = DOCS / "images" / "flow.svg"
WIDTH, STAGE, GAP, ROW = 380, 56, 26, 28

# stage, what it is, the folders where it is made
STAGES = (
    ("plan", "instruments, settings, minds, seed", "runs/  registry.py"),
    ("exercises", "from (seed, number), then played", "instruments/  episode.py"),
    ("records", "a row for every exercise and slot", "core/  runs/"),
    ("estimates", "scores, intervals, verdicts", "inference/  statistics/"),
    ("report", "page, terminal, notebook", "report/  terminal/  evaluate.py"),
)
FILES = {
    "check", "contracts", "course", "description", "disguise", "episode", "evaluate", "exact", "facts",
    "presentation", "registry", "results", "until",
}  # fmt: skip
PURPOSES = {
    "cli": "the commands",
    "evaluate": "the public API",
    "results": "scores, and what is made of them",
    "terminal": "tables and progress",
    "papers": "five papers, computed again",
    "web": "studies with people",
    "report": "the HTML page of a run",
    "runs": "plans, engines, run folders",
    "bridges": "libraries, language models",
    "statistics": "comparison, accuracy, planning",
    "instruments": "the tests and their minds",
    "voting": "chances that a vote is right",
    "complexity": "measures of strings",
    "description": "what a mind sees, in words",
    "facts": "what a mind sees, as data",
    "check": "conformance",
    "exact": "outcomes without sampling",
    "episode": "one exercise being played",
    "contracts": "what minds and tests are",
    "course": "exercises in a stated order",
    "disguise": "the same exercises shown otherwise",
    "until": "tests that end when the ability is known",
    "presentation": "how a test is shown",
    "registry": "names of minds and tests",
    "inference": "intervals and verdicts",
    "core": "errors, names, randomness",
}
LIGHT = {
    "ground": "fill: #fff", "box": "fill: #eef3f8; stroke: #33608a",
    "room": "fill: #f4f4f2; stroke: #8a8a86", "name": "fill: #16324c", "said": "fill: #222",
    "soft": "fill: #555", "way": "stroke: #33608a", "tip": "fill: #33608a",
}  # fmt: skip
DARK = {
    "ground": "fill: #1b1d21", "box": "fill: #22303e; stroke: #7fb0da",
    "room": "fill: #26282c; stroke: #77797d", "name": "fill: #cfe4f6", "said": "fill: #eee",
    "soft": "fill: #b9bbbf", "way": "stroke: #7fb0da", "tip": "fill: #7fb0da",
}  # fmt: skip


def _style() -> str:
    """The colours, for a light and for a dark screen."""
    light, dark = (
        " ".join(f".{name} {{ {look}; }}" for name, look in of.items()) for of in (LIGHT, DARK)
    )
    fixed = ".name { font-weight: bold; } .way { fill: none; }"
    return f"{light} {fixed} @media (prefers-color-scheme: dark) {{ {dark} }}"


def page() -> str:
    """The drawing as SVG."""
    layers = _layers()
    flow = 30 + len(STAGES) * STAGE + (len(STAGES) - 1) * GAP
    height = flow + 62 + ROW * sum(map(len, layers)) + 4
    parts = [f'<rect class="ground" width="{WIDTH}" height="{height}"/>', *_flow()]
    parts += [
        _text(10, flow + 26, "Folders: each imports only from", "name"),
        _text(10, flow + 43, "those below it.", "name"),
        *_rooms(layers, flow + 56),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="From a plan to a report, and the folders" font-size="13" '
        f'font-family="Helvetica, Arial, sans-serif"><style>{_style()}</style>'
        + "".join(parts)
        + "</svg>\n"
    )


def _flow() -> Iterator[str]:
    yield _text(10, 18, "From a plan to a report", "name")
    for number, (name, said, folders) in enumerate(STAGES):
        top = 30 + number * (STAGE + GAP)
        yield (f'<rect class="box" x="10" y="{top}" width="{WIDTH - 20}" height="{STAGE}" rx="6"/>')
        yield _text(20, top + 18, name, "name")
        yield _text(110, top + 18, said, "said")
        yield _text(110, top + 40, folders, "soft")
        if number + 1 < len(STAGES):
            below = top + STAGE
            yield f'<path class="way" stroke-width="2" d="M55 {below}V{below + GAP - 7}"/>'
            yield f'<path class="tip" d="M49 {below + GAP - 9}H61L55 {below + GAP}Z"/>'


def _layers() -> list[list[str]]:
    """The layers from the top, each a list of folders and files."""
    given = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = given["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    named = [[part.strip() for part in layer.split(":")] for layer in layers]
    return [layer for layer in named if layer != ["__main__"]]


def _rooms(layers: list[list[str]], top: float) -> Iterator[str]:
    for layer in layers:
        height = ROW * len(layer) - 5
        yield (
            f'<rect class="room" x="10" y="{top:g}" width="{WIDTH - 20}" height="{height}" rx="3"/>'
        )
        for place, name in enumerate(layer):
            y = top + 16 + ROW * place
            yield _text(20, y, f"{name}.py" if name in FILES else f"{name}/", "name")
            yield _text(150, y, PURPOSES[name], "said")
        top += ROW * len(layer)


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
