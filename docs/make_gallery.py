"""Make the gallery: its pictures in docs/images, and docs/gallery.md around them.

``python docs/make_gallery.py`` runs every command that the page shows, in a temporary folder;
``--report`` also gives the built-in battery to an example mind and takes a picture of the report in
a Chromium; its words are kept in the file as text, which a test compares with the present report.
The screens that people see are made by docs/make_screens.py, the sheet of matrices by
docs/matrices_sheet.py.
"""

from __future__ import annotations

import html
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
PAGE = DOCS / "gallery.md"


class Picture(NamedTuple):
    """What a command draws, and what is to be seen in it."""

    name: str
    title: str
    said: str
    command: str  # draws PICTURE
    before: str = ""  # a command that makes what it reads

    @property
    def file(self) -> str:
        """Within docs/images."""
        return f"gallery-{self.name}.svg"

    @property
    def shown(self) -> str:
        """What a reader would type."""
        lines = [self.before, self.command.replace("PICTURE", f"{self.name}.svg")]
        return "\n".join(_broken(line) for line in lines if line)


PLOTS = (
    Picture(
        "scores", "Scores",
        "Scores with 95 % intervals, floor and ceiling always among them.",
        "allminds evaluate lambda-star -m local-search -m q-learning -m sarsa "
        "--episodes 1100 --plot PICTURE",
    ),
    Picture(
        "groups", "Groups",
        "Five minds under four protocols, and alone.",
        "allminds evaluate lambda-star --set agents=5 -m local-search -m auction -m stigmergy "
        "-m dictator -m majority --episodes 1100 --plot PICTURE",
    ),
    Picture(
        "differences", "Differences",
        "Every pair on common exercises; the band is the margin within which a difference does "
        "not matter.",
        "allminds compare runs/letters --plot PICTURE",
        "allminds run letters.toml --out runs/letters",
    ),
    Picture(
        "testbed", "Is a game a useful test?",
        "The properties of the iterated prisoner's dilemma with four minds in it, exactly.",
        "allminds testbed prisoners-dilemma --set steps=5 "
        "--minds cooperate,defect,random,tit-for-tat --plot PICTURE",
    ),
    Picture(
        "prediction", "Prediction",
        "Eq. 1: accuracy against difficulty, for two to five options.",
        "allminds predict --ability 11.28 --difficulty 1..30 --options 2..5 --plot PICTURE",
    ),
    Picture(
        "crossing", "Where a group stops being better",
        "One mind, and a majority of three such minds: they cross where each is right half of "
        "the time.",
        "allminds crossing 12 12,12,12 --options 3 --plot PICTURE",
    ),
    Picture(
        "vote", "A vote as members join",
        "Seven members of accuracy .6, if they err independently.",
        "allminds vote 0.6 0.6 0.6 0.6 0.6 0.6 0.6 --plot PICTURE",
    ),
    Picture(
        "selection", "The cheapest sufficient mind",
        "Candidates, the one chosen, and the accuracy wanted on each of two tasks.",
        "allminds select --mind a=12:1 --mind b=20:3 --task 5 --task 8 --threshold 0.7 "
        "--plot PICTURE",
    ),
    Picture(
        "complexity", "Complexity as a sequence grows",
        "Lempel-Ziv phrases of a sequence of five symbols four times: no more once it repeats.",
        "allminds complexity 73498734987349873498 --measure lz76 --plot PICTURE",
    ),
    Picture(
        "series", "How many letters make a question certain",
        "By complexity, for series made by `allminds make series`.",
        "allminds make series --k 7..12 --count 300 --out series --plot PICTURE",
    ),
)  # fmt: skip
PLAN = """\
seed = 7

[[tests]]
instrument = "c-test"
minds = ["random", "mode", "min-distance", "pattern(y=2)", "pattern(y=4)", "levin-search"]
episodes = 20
"""
SCREENS = (
    ("people-consent", "Consent"),
    ("people-instructions", "Instructions, with what counts"),
    ("people-check", "Questions on the instructions, with why an answer was wrong"),
    ("people-lambda", "Λ: which symbol is good for you?"),
    ("people-lambda-star", "Λ*: nine cells of a torus"),
    ("people-c-test", "A letter series"),
    ("people-matrices", "A matrix"),
    ("people-dilemma", "The prisoner's dilemma, with another person"),
    ("people-room", "Waiting for another player"),
    ("people-between", "A pause"),
    ("people-offline", "The connection is lost; nothing else is"),
    ("people-done", "The debrief, with floor, ceiling and a program"),
    ("people-monitor", "The researcher's page"),
    ("people-lambda-phone", "Λ on a phone"),
    ("people-c-test-phone", "A letter series on a phone"),
    ("people-noughts-phone", "Noughts and crosses on a phone"),
    ("people-pennies-phone", "Matching pennies on a phone"),
)


def _broken(command: str, width: int = 84) -> str:
    """A command in lines that fit, each but the first beginning with an option."""
    first, *options = re.split(" (?=-)", command)
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) < width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"    {option}")
    return " \\\n".join(lines)


def page() -> str:
    """The text of the gallery."""
    lines = [
        "# Gallery", "",
        "Pictures that the commands draw, each with its command. This page and its plots are made "
        "by `python docs/make_gallery.py`.", "",
        "## The report of a run", "",
        f"```sh\nallminds run --mind {OWN}\n```", "",
        "![The report about a mind of the user's in the built-in battery](images/report.png)", "",
    ]  # fmt: skip
    for one in PLOTS:
        lines += [f"## {one.title}", "", one.said, "", f"```sh\n{one.shown}\n```", ""]
        lines += [f"![{one.title}](images/{one.file})", ""]
        if "letters.toml" in one.before:
            lines += [f'```toml title="letters.toml"\n{PLAN}```', ""]
    lines += ["## Matrices", "", "Every rule on every attribute that can carry it "]
    lines[-1] += "(`python docs/matrices_sheet.py`); [matrices](matrices.md) says what is drawn."
    lines += ["", "![Matrices](images/matrices.png)", "", "## What people see", ""]
    lines += ["From the running app, by `python docs/make_screens.py`. [People](people.md)", ""]
    for name, said in SCREENS:
        lines += [f"**{said}**", "", f"![{said}](images/{name}.png)", ""]
    return "\n".join(lines)


def draw(one: Picture, folder: Path) -> None:
    """Run what a picture takes."""
    for command in (one.before, one.command.replace("PICTURE", str(IMAGES / one.file))):
        if command:
            words = f"{Path(sys.executable).parent}/{command}"
            subprocess.run(words, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)


OWN = "my.py:Careful"  # of examples/plain_mind.py


def report_of_own(folder: Path, *more: str) -> str:
    """Give the battery to the example mind, and return the report."""
    example = Path(__file__).parents[1] / "examples" / "plain_mind.py"
    (folder / "my.py").write_text(example.read_text("utf-8"), encoding="utf-8")
    allminds = str(Path(sys.executable).parent / "allminds")
    command = [allminds, "run", "--mind", OWN, "--out", "run", *more]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return (folder / "run" / "report.html").read_text(encoding="utf-8")


def said_first(page: str) -> str:
    """The text of the first page of a report, without its plots."""
    found = []
    for name in ("answer", "profile"):
        part = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
        assert part is not None
        found.append(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", part[0], flags=re.DOTALL))
    return " ".join(html.unescape(" ".join(found)).split())


def with_text(png: bytes, text: str) -> bytes:
    """Add a text to a PNG, as a chunk of its own before the last."""
    body = b"iTXtDescription\0\0\0\0\0" + text.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:-12] + chunk + png[-12:]


def text_in(png: bytes) -> str:
    """The text that `with_text` added."""
    head = b"iTXtDescription\0\0\0\0\0"
    at = png.index(head)
    (size,) = struct.unpack(">I", png[at - 4 : at])
    return png[at + len(head) : at + 4 + size].decode()


def report_picture(folder: Path) -> None:
    """The top of the report about a mind of the user's in the battery, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    page = report_of_own(folder)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1000, "height": 1150})
        tab.goto((folder / "run" / "report.html").as_uri())
        (IMAGES / "report.png").write_bytes(with_text(tab.screenshot(), said_first(page)))
        browser.close()


def main() -> None:
    """Everything, or what was named."""
    PAGE.write_text(page(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "letters.toml").write_text(PLAN, encoding="utf-8")
        for one in PLOTS:
            draw(one, folder)
        if "--report" in sys.argv[1:]:
            report_picture(folder)


if __name__ == "__main__":
    main()
