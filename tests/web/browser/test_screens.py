"""Rules that every screen keeps, read off its HTML; and the catalogues."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import gallery
import pytest
import tongues
from babel.messages.pofile import read_po

from allminds.core.errors import Error
from allminds.web import languages
from allminds.web.languages import extract
from allminds.web.screens import page as html_of

SCREENS = {picture: (name, context) for picture, name, context in gallery.screens()}
VOID = {"input", "meta", "link", "path", "circle", "rect", "polygon", "ellipse", "br"}


class Reader(HTMLParser):
    """What a page is made of."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.drawn_words: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Elements are closed in their order."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Words, and whether they are in a picture."""
        if data.strip():
            (self.drawn_words if "svg" in self.open else self.words).append(data.strip())


@pytest.mark.parametrize("picture", SCREENS)
def test_rules_of_a_screen(picture: str) -> None:
    """No inline style or script, no text in a picture, labels, one heading, a language."""
    name, context = SCREENS[picture]
    page = Reader(html_of(name, "es", **context))
    names = [tag for tag, _ in page.tags]
    attributes = [a for _, a in page.tags]
    assert page.drawn_words == []
    assert not any("style" in a or any(key.startswith("on") for key in a) for a in attributes)
    assert [a["src"] for tag, a in page.tags if tag == "script"] == ["/static/people.js"]
    assert all(
        re.match(r"(/|#|https://example\.org/)", a.get("href") or a.get("action") or "/")
        for a in attributes
    )
    assert names.count("main") == names.count("h1") == 1
    assert dict(page.tags)["html"] == {"lang": "es", "dir": "ltr"}
    ids = [a["id"] for a in attributes if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, a in page.tags:
        if tag == "form":
            assert a["method"] == "post"


@pytest.mark.parametrize("picture", [name for name in SCREENS if name.startswith("exercise")])
def test_an_exercise_says_nothing_secret(picture: str) -> None:
    """No word for what people are to find out, in text, attributes or names of classes."""
    name, context = SCREENS[picture]
    html = html_of(name, "en", **context).lower()
    for word in ("good", "evil", "seed", "answer=", "correct", "pattern", "complexity", "lz76"):
        assert word not in html, word
    html = re.sub(r"no answer|give no answer", "", html)
    assert "answer" not in html.replace("noanswer", "")


def test_what_people_write_is_escaped() -> None:
    """A study's texts are text."""
    bad = '<script>alert("x")</script>'
    for name, context in SCREENS.values():
        more = {"title": bad, "contact": bad, "text": bad, "label": bad, "code": bad}
        assert bad not in html_of(name, "en", **context | more)


def test_scores_beyond_one_stay_on_their_bars() -> None:
    """A staircase has levels, not shares."""
    name, context = SCREENS["done"]
    minds = [{"mind": "expert", "role": "ceiling", "score": 40.0}]
    level = {"face": "lambda-staircase", "told": {"kind": "cells"}, "exercises": 9, "score": 14.0}
    level |= {"chance": 0.0, "ceiling": 1.0, "minds": minds, "other": ""}
    page = Reader(html_of(name, "en", **context | {"results": [level]}))
    widths = [float(a["width"] or 0) for tag, a in page.tags if tag == "rect"]
    assert widths == [70.0, 200.0]


def test_an_unknown_screen_or_language() -> None:
    """Is refused with what there is."""
    with pytest.raises(KeyError, match="there is no screen"):
        html_of("../page", "en")
    with pytest.raises(Error, match="there is no language 'de'"):
        html_of("withdrawn", "de", **gallery.COMMON)
    assert 'lang="es-MX"' in html_of("withdrawn", "es-MX", **gallery.COMMON)
    assert "Ha parado" in html_of("withdrawn", "es-MX", **gallery.COMMON)


# ---------------------------------------------------------------- languages


def test_spanish_is_whole() -> None:
    """Every text of the screens is in the catalogue, with the same places to fill, and no other."""
    current = {message.id for message in extract.messages() if message.id}
    with (languages.FOLDER / "es.po").open("rb") as file:
        catalogue = read_po(file, locale="es")
    there = {message.id: message.string for message in catalogue if message.id}
    assert set(there) == current
    for english, spanish in there.items():
        ours = (english,) if isinstance(english, str) else english
        theirs = (spanish,) if isinstance(spanish, str) else spanish
        assert all(theirs), english
        places = [set(re.findall(r"%\(\w+\)[sd]|</?b>", text)) for text in (ours[-1], theirs[-1])]
        assert places[0] == places[1], english


def test_the_template_of_catalogues_is_up_to_date(tmp_path: Path) -> None:
    """As ``python -m allminds.web.languages.extract`` writes it."""
    for file in languages.FOLDER.glob("*.po*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    extract.write(tmp_path)
    for file in languages.FOLDER.glob("*.po*"):
        assert (tmp_path / file.name).read_text() == file.read_text(), file.name


TRANSLATED = [name for name in SCREENS if not name.endswith("-plain")]  # others: its own words


@pytest.mark.parametrize("picture", TRANSLATED)
def test_no_text_is_left_untranslated(picture: str) -> None:
    """In a language of Arabic letters alone, Latin words are only those of the study."""
    tongues.register()
    name, context = SCREENS[picture]
    study = {"title": "", "contact": "", "text": "", "label": "", "code": "", "study": ""}
    study |= {"own": ""} if "own" in context else {}
    page = Reader(html_of(name, tongues.ARABIC, **context | study | {"languages": ["ar"]}))
    latin = [word for text in page.words for word in re.findall(r"[A-Za-z]{2,}", text)]
    told = {"Enter", "ar", "random", "learning", "optimum", "running", "es", "of"}
    assert set(latin) - told - ({"fast", "hidden"} if name == "monitor" else set()) == set()
    spoken = [a[key] for _, a in page.tags for key in ("aria-label", "data-status") if a.get(key)]
    assert not any(re.search(r"[A-Za-z]{2,}", text or "") for text in spoken)


def test_numbers_are_written_as_in_the_language() -> None:
    """0,24 in Spanish, and a proper minus sign."""
    name, context = SCREENS["done"]
    assert "0,24" in html_of(name, "es", **context)
    assert "−0.02" in html_of(name, "en", **context)
