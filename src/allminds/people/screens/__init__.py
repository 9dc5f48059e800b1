"""Every screen that a person sees, made on the server from the templates beside this file.

`sessions` says what each of them is given. Nothing is drawn by script or inline style, no text
stands inside a picture, and every form works without JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from allminds.people import languages
from allminds.people.faces.questions import N_, questions
from allminds.people.sessions import ScreenName

if TYPE_CHECKING:
    from jinja2 import Environment

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


def render(name: str, language: str, **context: Any) -> str:
    """A whole page; its ``<main>`` is all that differs from screen to screen."""
    from markupsafe import Markup

    values = _values(name, language, context)
    templates = _environment(language)
    main = templates.get_template(f"{name}.html.j2").render(values)
    page = templates.get_template("page.html.j2")
    return page.render(values | {"main": Markup(main)})  # safe: its own template escapes


def _values(name: str, language: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """What templates are given."""
    if name not in get_args(ScreenName):
        raise KeyError(f"there is no screen '{name}'")
    values = {**context, "screen": name, "language": language}
    values["dir"] = languages.direction(language)
    values |= JOINING
    values.setdefault("waiting", name == "waiting")
    return values


@cache
def _environment(language: str) -> Environment:
    """The templates in one language."""
    from babel.dates import format_date
    from babel.numbers import format_decimal
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    spoken = languages.language(language)
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(spoken.texts, newstyle=True)  # type: ignore[attr-defined]
    made.filters["number"] = lambda value: format_decimal(value, "0.00;−0.00", spoken.locale)
    made.filters["signed"] = lambda value: format_decimal(value, "+0.##;−0.##", spoken.locale)
    made.filters["amount"] = lambda value: (
        format_decimal(value, "+0.##;−0.##", spoken.locale) if value else "0"
    )
    made.filters["day"] = lambda iso: format_date(
        date.fromisoformat(iso[:10]), "long", spoken.locale
    )
    made.filters["whole"] = lambda value: format_decimal(value, locale=spoken.locale)
    made.globals |= {"comprehension": questions, "spoken": languages.language, "dots": DOTS}
    return made
