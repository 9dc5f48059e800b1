"""SVG by hand: axes, lines, symbols and words, in as few bytes as possible.

A report has dozens of plots; this draws each in a millisecond, where a plotting library takes
half a second. Everything that is text is escaped here.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SIZE = 13  # of type
LETTER = 7.7  # mean width of a letter of that size, in the widest of common fonts
FONT = "Helvetica, Arial, sans-serif"
INK, SOFT, GRID = "#222", "#555", "#e4e4e4"
GROWN = 1.5  # times as large is a picture in a file of its own
TICKS = 6  # about so many on an axis


@dataclass(frozen=True)
class Box:
    """The plot inside its axes, and what its edges stand for."""

    left: float
    top: float
    width: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        """Convert a value to a coordinate, from left to right."""
        low, high = self.across
        return self.left + self.width * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Convert a value to a coordinate, from the bottom up."""
        low, high = self.up
        return self.top + self.height * (high - value) / (high - low)

    @property
    def bottom(self) -> float:
        """The lower edge of the box."""
        return self.top + self.height

    @property
    def right(self) -> float:
        """The right edge of the box."""
        return self.left + self.width


def picture(width: float, height: float, parts: Iterable[str]) -> str:
    """Wrap parts into an SVG picture that shrinks and grows with the page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'font-family="{FONT}" font-size="{SIZE}" fill="{INK}">' + "".join(parts) + "</svg>"
    )


def on_white(svg: str) -> str:
    """Give a picture a size and a white ground, as a file of its own needs."""
    found = re.match(r'<svg [^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    assert found is not None
    width, height = (float(side) for side in found.groups())
    size = f'<svg width="{_n(GROWN * width)}" height="{_n(GROWN * height)}" '
    head, tail = svg.split(">", 1)
    ground = f'<path d="M0 0H{_n(width)}V{_n(height)}H0Z" fill="#fff"/>'
    return f"{head.replace('<svg ', size, 1)}>{ground}{tail}"


def titled(drawn: str, words: str) -> str:
    """Give a part of a picture the words that are shown when it is pointed at."""
    return f"<g><title>{html.escape(words)}</title>{drawn}</g>"


def text(
    x: float, y: float, words: str, anchor: str = "start", colour: str = "", turned: float = 0.0,
    bold: bool = False,
) -> str:  # fmt: skip
    """Write words at a place, centred on it from top to bottom; `turned` is in degrees."""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    fill = f' fill="{colour}"' if colour else ""
    turn = f' transform="rotate({turned:g} {_n(x)} {_n(y)})"' if turned else ""
    said, heavy = html.escape(words), ' font-weight="bold"' if bold else ""
    place = f'x="{_n(x)}" y="{_n(y + 0.35 * SIZE)}"'
    return f"<text {place}{where}{fill}{turn}{heavy}>{said}</text>"


def bar(left: float, top: float, right: float, bottom: float, colour: str) -> str:
    """Fill a rectangle with a colour."""
    path = f"M{_n(left)} {_n(top)}H{_n(right)}V{_n(bottom)}H{_n(left)}Z"
    return f'<path d="{path}" fill="{colour}"/>'


def line(
    places: Iterable[tuple[float, float]],
    colour: str,
    width: float = 1.0,
    dash: Sequence[float] = (),
    opacity: float = 1.0,
) -> str:
    """Draw a line through some places."""
    path = "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
    return _stroke(f"M{path}", colour, width, dash, opacity)


def rules(
    ends: Iterable[tuple[float, float, float, float]],
    colour: str,
    width: float = 1.0,
    opacity: float = 1.0,
    dash: Sequence[float] = (),
) -> str:
    """Draw straight lines from (x, y) to (x, y), all alike."""
    path = "".join(f"M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}" for a, b, c, d in ends)
    return _stroke(path, colour, width, dash, opacity) if path else ""


def symbols(
    shape: str, places: Iterable[tuple[float, float]], colour: str, size: float = 3.0
) -> str:
    """Draw one symbol at many places."""
    path = "".join(outline(shape, x, y, size) for x, y in places)
    if not path:
        return ""
    if shape == "cross":
        return _stroke(path, colour, 1.6, (), 1.0)
    return f'<path d="{path}" fill="{colour}"/>'


def hollow(shape: str, x: float, y: float, colour: str, size: float) -> str:
    """Draw the outline of a symbol, white inside."""
    path = outline(shape, x, y, size)
    return f'<path d="{path}" fill="#fff" stroke="{colour}" stroke-width="1.6"/>'


def spots(places: Iterable[tuple[float, float, str]], colour: str, size: float = 3.0) -> str:
    """Draw a dot at each (x, y, words); the words show when it is pointed at."""
    made = "".join(
        f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{size:g}"><title>{html.escape(words)}</title>'
        "</circle>"
        for x, y, words in places
    )
    return f'<g fill="{colour}" fill-opacity=".5">{made}</g>' if made else ""


# ---------------------------------------------------------------- axes


def ticks(low: float, high: float, about: int = TICKS) -> list[float]:
    """Choose about so many round numbers from low to high."""
    step = _round_step((high - low) / about)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def labels(values: Sequence[float]) -> list[str]:
    """Write ticks as text, all with as many decimals as the finest needs."""
    step = min((b - a for a, b in itertools.pairwise(values)), default=1.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    whole = all(abs(v - round(v, decimals)) < 1e-9 for v in values)
    made = [f"{v:,.{decimals}f}" if whole else f"{v:g}" for v in values]
    return ["0" if float(m.replace(",", "")) == 0 else m.replace("-", "−") for m in made]


def y_axis(box: Box, title: str) -> str:
    """Draw grid, figures, and the title flat above the axis."""
    found = ticks(*box.up)
    parts = [rules(((box.left, box.y(v), box.right, box.y(v)) for v in found), GRID)]
    parts += [
        text(box.left - 6, box.y(v), words, "end")
        for v, words in zip(found, labels(found), strict=True)
    ]
    parts.append(text(2, box.top - 14, title))
    return "".join(parts)


def x_axis(
    box: Box,
    title: str,
    at: Sequence[float] = (),
    lines: Sequence[Sequence[str]] = (),
) -> str:
    """Draw the horizontal axis; `at` says where the ticks are, and `lines` their texts."""
    found = list(at) or ticks(*box.across)
    named = [tuple(one) for one in lines] or [(words,) for words in labels(found)]
    parts = [rules([(box.left, box.bottom, box.right, box.bottom)], SOFT)]
    parts.append(rules(((box.x(v), box.bottom, box.x(v), box.bottom + 4) for v in found), SOFT))
    reached = -math.inf
    for value, words in zip(found, named, strict=True):
        half = LETTER * max(map(len, words)) / 2
        if box.x(value) - half < reached and not lines:
            continue
        reached = box.x(value) + half + 4
        parts += [
            text(box.x(value), box.bottom + 13 + 15 * n, word, "middle")
            for n, word in enumerate(words)
        ]
    deepest = max(map(len, named), default=1)
    parts.append(text((box.left + box.right) / 2, box.bottom + 17 + 15 * deepest, title, "middle"))
    return "".join(parts)


def depth(lines: Sequence[Sequence[str]] = ()) -> float:
    """Compute the room that a horizontal axis takes below its box."""
    return 28 + 15 * max(map(len, lines), default=1)


def y_room(domain: tuple[float, float]) -> float:
    """Compute the room that a vertical axis takes beside its box."""
    return 12 + LETTER * max(map(len, labels(ticks(*domain))), default=1)


# ---------------------------------------------------------------- helpers


def _n(value: float) -> str:
    """Write a coordinate to a tenth of a unit, which is less than an eye sees."""
    short = f"{value:.1f}"
    return short.removesuffix(".0")


def _stroke(path: str, colour: str, width: float, dash: Sequence[float], opacity: float) -> str:
    dashes = f' stroke-dasharray="{" ".join(f"{d:g}" for d in dash)}"' if dash else ""
    faint = f' opacity="{opacity:g}"' if opacity < 1 else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashes}{faint}/>'
    )


def outline(shape: str, x: float, y: float, r: float) -> str:
    """Build the outline of a symbol around a place."""
    at = f"M{_n(x - r)} {_n(y)}"
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "diamond": [(0, -1.4 * r), (1.4 * r, 0), (0, 1.4 * r), (-1.4 * r, 0)],
        "triangle-up": [(0, -1.2 * r), (1.2 * r, r), (-1.2 * r, r)],
        "triangle-down": [(0, 1.2 * r), (1.2 * r, -r), (-1.2 * r, -r)],
        "triangle-right": [(1.2 * r, 0), (-r, 1.2 * r), (-r, -1.2 * r)],
        "triangle-left": [(-1.2 * r, 0), (r, 1.2 * r), (r, -1.2 * r)],
    }
    if shape == "circle":
        return f"{at}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0Z"
    if shape == "cross":
        ends = ((-r, -r, r, r), (-r, r, r, -r))
        return "".join(f"M{_n(x + a)} {_n(y + b)}L{_n(x + c)} {_n(y + d)}" for a, b, c, d in ends)
    return "M" + "L".join(f"{_n(x + a)} {_n(y + b)}" for a, b in corners[shape]) + "Z"


def _round_step(least: float) -> float:
    """Round up to the first of 1, 2, 5, 10, 20, 50, … (or .1, .2, .5, …)."""
    scale = 10.0 ** math.floor(math.log10(least))
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= least * (1 - 1e-9))
