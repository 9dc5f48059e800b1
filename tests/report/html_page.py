"""A page taken apart, for tests to look at."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """The tables of a page by class, as rows of text; its tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.source, self.text = text, ""
        self.cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "table":
            self.table = self.tables.setdefault(dict(attrs)["class"], [])
            self.table.append([])
        elif tag == "tr":
            self.table[-1].append([])
        elif tag in ("td", "th"):
            self.table[-1][-1].append("")
            self.cell = True
        elif tag == "small":
            self.cell = False

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = False

    def handle_data(self, text):
        self.text += text
        if self.cell:
            self.table[-1][-1][-1] += text
