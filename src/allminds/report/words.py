"""Figures and names as the report writes them, used as filters of its templates."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from typing import Any

from allminds.inference import Difference
from allminds.inference.words import NONE, interval, number
from allminds.registry import first_line

__all__ = [
    "NONE", "brief", "count", "decided", "drawn", "first_line", "interval", "listed", "number",
    "on_tests", "p_value", "percent", "percents", "pre", "wraps",
]  # fmt: skip

MOST_NAMED = 4  # instruments in a title; more are counted


def decided(found: Difference) -> str:
    """Write a difference's interval; an end that only rounds to 0 keeps its sign."""
    low, high = found.interval or (0.0, 0.0)
    text = interval(found.interval)
    if high < 0 and number(high) == "0.000":
        return text.replace(" 0.000]", " −0.000]")
    if low > 0 and number(low) == "0.000":
        return text.replace("[0.000", "[+0.000")
    return text


def brief(value: float) -> str:
    """Write a number for a narrow cell: two decimals, without the 0 before the point.

    From 10 on there is one decimal, from 100 on none.
    """
    text = f"{value:.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f}"
    if float(text) in (0.0, 1.0):
        return ".00" if float(text) == 0 else "1"
    sign, size = "−" * (value < 0), text.lstrip("-")
    return sign + (size[1:] if size.startswith("0.") else size)


def percent(share: float) -> str:
    """Write a share in per cent, with one decimal."""
    return NONE if math.isnan(share) else f"{100 * share:.1f}"


def percents(ends: Sequence[float]) -> str:
    """Write [low, high] in per cent."""
    return NONE if math.isnan(ends[0]) else f"[{percent(ends[0])}, {percent(ends[1])}]"


def p_value(value: float | None) -> str:
    """Write a p-value with four decimals, as `compare` prints it."""
    if value is None:
        return NONE
    return "<.0001" if value < 0.0001 else f"{value:.4f}".lstrip("0") if value < 1 else "1"


def count(value: int, what: str = "") -> str:
    """Write a whole number with its thousands apart, and what is counted: 1 mind, 2 minds."""
    return f"{value:,}" + (f" {what}" + ("s" if value != 1 else "") if what else "")


def listed(names: Sequence[str]) -> str:
    """Join names as in: one, two and three."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def on_tests(taken: Sequence[str], given: int) -> str:
    """Name the instruments of the tests that minds took, or count them; `given` are in the run."""
    names = list(dict.fromkeys(taken))
    share = f"{len(taken)} of {count(given, 'test')}"
    if len(names) > MOST_NAMED:
        return share if len(taken) < given else count(len(names), "instrument")
    if not names:
        return share
    return listed(names) + (f" ({share})" if len(taken) < given else "")


def wraps(name: str) -> Any:
    """Write a name as HTML that breaks after brackets, commas and colons, not within a word."""
    from markupsafe import Markup

    pieces = re.findall(r"[^(,*/:]+[(,*/:]*|[(,*/:]+", name)
    if len(pieces) < 2 or max(map(len, pieces)) > 32:
        return name
    return Markup("<wbr>").join(Markup("<span>{}</span>").format(piece) for piece in pieces)


def drawn(svg: str) -> Any:
    """Mark a plot as HTML that needs no escaping."""
    from markupsafe import Markup

    return Markup(svg)


def pre(text: str) -> Any:
    """Escape the text of an element, but keep quotes, of which a plan has many."""
    from markupsafe import Markup

    return Markup(html.escape(text, quote=False))
