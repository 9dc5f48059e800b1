"""The languages of the screens: English in the templates, others as catalogues beside this file.

To add one, write ``<code>.po`` (any gettext editor can; ``messages.pot`` is what there is to
translate) and it is there; direction, name and number format come from Babel. Letters of the
C-test are part of the test and stay as they are.
"""

from __future__ import annotations

import gettext
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from allminds.core.errors import Error, nearest

FOLDER = Path(__file__).parent
ENGLISH = "en"
Direction = Literal["ltr", "rtl"]


@dataclass(frozen=True)
class Language:
    """One language: its name in itself, its direction, and its texts."""

    code: str
    name: str
    direction: Direction
    locale: Any  # Babel's, for numbers
    texts: gettext.NullTranslations


def known() -> dict[str, Language]:
    """List all languages by code, English first."""
    return {**_shipped(), **_registered}


def language(code: str) -> Language:
    """Return a language by its code; es-MX is es where there is no catalogue of its own."""
    there = known()
    code = code if code in there else code.partition("-")[0]
    if code not in there:
        raise Error(f"there is no language '{code}'; {nearest(code, there)}")
    return there[code]


def direction(code: str) -> Direction:
    """Return which way a language is written."""
    return language(code).direction


def register(new: Language) -> None:
    """Add a language from elsewhere."""
    _registered[new.code] = new


_registered: dict[str, Language] = {}


@cache
def _shipped() -> dict[str, Language]:
    found = {ENGLISH: _made(ENGLISH, gettext.NullTranslations())}
    for path in sorted(FOLDER.glob("*.po")):
        found[path.stem] = _made(path.stem, read(path))
    return found


def _made(code: str, texts: gettext.NullTranslations) -> Language:
    from babel import Locale

    locale = Locale.parse(code, sep="-")
    name = str(locale.get_display_name()).capitalize()
    way: Direction = "rtl" if locale.text_direction == "rtl" else "ltr"
    return Language(code, name, way, locale, texts)


def read(path: Path) -> gettext.NullTranslations:
    """Read the texts of a catalogue."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem.replace("-", "_"))
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
