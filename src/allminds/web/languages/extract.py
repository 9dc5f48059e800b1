"""Collect what there is to translate: ``python -m allminds.web.languages.extract``.

Writes ``messages.pot`` and brings every catalogue beside it up to date: new texts come in without
a translation, those that are gone go.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from allminds.web.languages import FOLDER

PEOPLE = FOLDER.parent
HEAD = """msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""
METHODS = [
    ("screens/*.html.j2", "jinja2.ext:babel_extract"),
    ("questions.py", "python"),
    ("screens/__init__.py", "python"),
]


def messages() -> Any:
    """Collect all texts of the screens and the questions, as Babel's catalogue."""
    from babel.messages.catalog import Catalog
    from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir

    found = Catalog(project="allminds", charset="utf-8", fuzzy=False)
    options = {"screens/*.html.j2": {"trimmed": "true", "silent": "false"}}
    keywords = {**DEFAULT_KEYWORDS, "N_": None}
    for name, _, text, comments, _context in sorted(
        extract_from_dir(PEOPLE, METHODS, options, keywords), key=lambda row: row[:2]
    ):
        found.add(text, None, [(name, 0)], auto_comments=comments)
    return found


def write(folder: Path = FOLDER) -> None:
    """Write the template of all catalogues, and update the catalogues themselves."""
    from babel.messages.pofile import read_po, write_po

    current = messages()
    with (folder / "messages.pot").open("wb") as file:
        write_po(file, current, sort_by_file=True, width=100, omit_header=True)
    for path in sorted(folder.glob("*.po")):
        with path.open("rb") as file:
            catalogue = read_po(file, locale=path.stem.replace("-", "_"))
        catalogue.update(current, no_fuzzy_matching=True)
        head = HEAD.format(language=path.stem, plurals=catalogue.plural_forms)
        body = io.BytesIO()
        write_po(
            body, catalogue, sort_by_file=True, width=100, ignore_obsolete=True, omit_header=True
        )
        path.write_bytes(head.encode() + body.getvalue())


if __name__ == "__main__":
    write()
