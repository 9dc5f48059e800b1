"""SVG from plain text, and the sheet that pictures are drawn on."""

from __future__ import annotations

from html import escape

LETTER, LINE, EDGE = 9, 18, 12  # width of a letter, height of a line, margin


def text_svg(text: str) -> str:
    """Draw lines of text, every letter in a place of its own, whatever fonts there are."""
    lines = text.split("\n")
    width = max(len(line) for line in lines) * LETTER + 2 * EDGE
    parts = []
    for number, line in enumerate(lines):
        y = EDGE + LINE * number + 13
        for at, letter in enumerate(line):
            if letter != " ":
                x = EDGE + LETTER * (at + 0.5)
                parts.append(f'<text x="{x}" y="{y}" text-anchor="middle">{escape(letter)}</text>')
    style = f'<g font-size="14" font-family="DejaVu Sans Mono, monospace">{"".join(parts)}</g>'
    return sheet(width, len(lines) * LINE + 2 * EDGE, style)


def sheet(width: int, height: int, inside: str) -> str:
    """Return a white SVG of this size with something drawn on it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{inside}</svg>'
    )
