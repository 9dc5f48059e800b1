"""Every screen that a participant sees, made on the server from the templates beside this file.

`sessions` says what each of them is given. Nothing is drawn by script or inline style, no text
stands inside a picture, and every form works without JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from allminds.web import languages
from allminds.web.contexts import ScreenName
from allminds.web.faces import N_, questions

if TYPE_CHECKING:
    from gettext import NullTranslations

    from jinja2 import Environment
    from markupsafe import Markup

# Said in every language of a study, before one is chosen.
JOINING = {
    "invitation": N_(
        "You are invited to do some short exercises. Nothing starts until you press the button, "
        "and you are asked whether you agree first."
    ),
    "begin": N_("Begin"),
}
# How many exercises are shown as dots, a dot each.
DOTS = 12


def main(name: str, language: str, **context: Any) -> str:
    """Render the ``<main>`` of a page: all that differs from screen to screen."""
    values = _values(name, language, context)
    return _environment(language).get_template(f"{name}.html.j2").render(values)


def page(name: str, language: str, **context: Any) -> str:
    """Render a whole page."""
    from markupsafe import Markup

    values = _values(name, language, context)
    values["main"] = Markup(main(name, language, **context))  # safe: its own template escapes
    return _environment(language).get_template("page.html.j2").render(values)


def _values(name: str, language: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what templates are given."""
    if name not in get_args(ScreenName):
        raise KeyError(f"there is no screen '{name}'")
    values = {**context, "screen": name, "language": language}
    values["dir"] = languages.direction(language)
    values |= JOINING
    values.setdefault("waiting", name == "waiting")
    return values


@cache
def _environment(language: str) -> Environment:
    """Load the templates in one language."""
    from babel.dates import format_date
    from babel.numbers import format_decimal
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    spoken = languages.language(language)
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(spoken.texts, newstyle=True)  # type: ignore[attr-defined]
    made.globals["_"] = _speaking(spoken.texts)
    made.filters["number"] = lambda value: format_decimal(value, "0.00;−0.00", spoken.locale)
    made.filters["signed"] = lambda value: format_decimal(value, "+0.##;−0.##", spoken.locale)
    made.filters["amount"] = lambda value: (
        format_decimal(value, "+0.##;−0.##", spoken.locale) if value else "0"
    )
    made.filters["day"] = lambda iso: format_date(
        date.fromisoformat(iso[:10]), "long", spoken.locale
    )
    made.filters["whole"] = lru_cache(1 << 12)(partial(format_decimal, locale=spoken.locale))
    made.globals |= {"comprehension": questions, "spoken": languages.language, "dots": DOTS}
    made.globals |= _macros(made, "forms")
    made.globals |= {
        name: lru_cache(1 << 10)(macro) for name, macro in _macros(made, "signs").items()
    }
    return made


def _macros(made: Environment, name: str) -> dict[str, Any]:
    """Collect the macros of a template, which all others may use.

    What they draw depends on nothing but what they are given, so those of signs, which are many on
    a screen and few in all, are drawn once.
    """
    from jinja2.runtime import Macro

    module = vars(made.get_template(f"{name}.html.j2").module)
    return {name: macro for name, macro in module.items() if isinstance(macro, Macro)}


def _speaking(texts: NullTranslations) -> Callable[..., Markup]:
    """Make ``_`` for the templates: as Jinja's own, but a text is looked up only once.

    A screen has some fifty texts, and is made anew at every move.
    """
    from markupsafe import Markup

    @cache
    def said(text: str) -> Markup:
        return Markup(texts.gettext(text))

    @cache
    def plain(text: str) -> Markup:
        return said(text) % {}

    def speak(text: str, **values: Any) -> Markup:
        return said(text) % values if values else plain(text)

    return speak
