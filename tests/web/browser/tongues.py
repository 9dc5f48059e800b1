"""Two languages that nobody speaks: longer than any, and right to left."""

from __future__ import annotations

import gettext
import re

from babel import Locale

from allminds.web import languages

LONG, ARABIC = "xa", "ar"
_KEPT = re.compile(r"(%\(\w+\)[sd]|<[^>]+>)")
_ACCENTS = str.maketrans("aeiouAEIOUncy", "áéîöûÁÉÎÖÛñçý")
_LETTERS = "ابتثجحخدذرزسشصضطظعغفقكلمنه"


class Made(gettext.NullTranslations):
    """Texts made from the English ones, letter by letter; places and tags are kept."""

    def gettext(self, message: str) -> str:
        """One text."""
        return "".join(
            part if _KEPT.fullmatch(part) else self.turned(part) for part in _KEPT.split(message)
        )

    def ngettext(self, one: str, many: str, n: int) -> str:
        """One text, by number."""
        return self.gettext(one if n == 1 else many)

    def turned(self, text: str) -> str:
        """What becomes of a piece of text."""
        raise NotImplementedError


class Longer(Made):
    """Accents everywhere, and two fifths longer, as German is."""

    def turned(self, text: str) -> str:
        """Every fifth letter twice more."""
        return re.sub(r"(\w{4}\w)", r"\1\1"[:2] + "w", text).translate(_ACCENTS) + "~" * (
            len(text) // 6
        )


class Arabic(Made):
    """Arabic letters, without sense."""

    def turned(self, text: str) -> str:
        """Letter by letter."""
        return "".join(
            _LETTERS[ord(c.lower()) - 97] if c.isascii() and c.isalpha() else c for c in text
        )


def register() -> None:
    """Make both known."""
    for code, locale, texts in ((LONG, "en", Longer()), (ARABIC, "ar", Arabic())):
        found = Locale.parse(locale)
        languages.register(languages.Language(code, code, found.text_direction, found, texts))
