"""Paragraphs, tables, code and pictures, written as text, as Markdown or as HTML.

A paragraph is a string in which code stands between backquotes.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple


class Listing(NamedTuple):
    """A table; columns whose numbers are in `code` are Python."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    code: tuple[int, ...] = (0,)


class Code(NamedTuple):
    """Lines that are shown as they are."""

    text: str
    language: str = "text"


class Picture(NamedTuple):
    """A drawing: text in a terminal, SVG on a page."""

    text: str
    svg: str


Block = str | Listing | Code | Picture


def as_text(block: Block, width: int) -> str:
    """Write a block for a terminal of so many columns."""
    if isinstance(block, str):
        return textwrap.fill(block.replace("`", ""), width, break_on_hyphens=False)
    if isinstance(block, Listing):
        return _table_text(block, width)
    return textwrap.indent(block.text, "    ")


def _table_text(table: Listing, width: int) -> str:
    """Set a table in columns, each as wide as it needs, the widest ones cut to fit."""
    rows = [tuple(cell.replace("`", "") for cell in row) for row in (table.head, *table.rows)]
    columns = [column for column in range(len(table.head)) if any(row[column] for row in rows[1:])]
    needed = {c: max(len(row[c]) for row in rows) for c in columns}
    room = width - 2 - 2 * (len(columns) - 1)
    while sum(needed.values()) > room and max(needed.values()) > 8:
        widest = max(needed, key=lambda c: needed[c])
        needed[widest] -= 1
    lines = []
    for row in rows:
        cells = {
            c: textwrap.wrap(row[c], needed[c], break_on_hyphens=False) or [""] for c in columns
        }
        for n in range(max(map(len, cells.values()))):
            parts = [(cells[c][n] if n < len(cells[c]) else "").ljust(needed[c]) for c in columns]
            lines.append(("  " + "  ".join(parts)).rstrip())
    return "\n".join(lines)


def as_markdown(block: Block) -> str:
    """Write a block as Markdown; a picture is the SVG itself."""
    if isinstance(block, str):
        return _escaped(block)
    if isinstance(block, Listing):
        head = f"| {' | '.join(block.head)} |\n|{' --- |' * len(block.head)}"
        return "\n".join([head, *(_row(row, block.code) for row in block.rows)])
    if isinstance(block, Code):
        return f"```{block.language}\n{block.text}\n```"
    return f"<figure>{block.svg.replace(chr(10), '')}</figure>"


def _row(row: Sequence[str], code: Sequence[int]) -> str:
    cells = [f"`{cell}`" if n in code and cell else _escaped(cell) for n, cell in enumerate(row)]
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Escape what Markdown would read as its own, except code between backquotes."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_<>\[\]|$])", r"\\\1", part)
        for part in parts
    )


def as_html(block: Block) -> str:
    """Write a block as HTML."""
    if isinstance(block, str):
        return f"<p>{_coded(block)}</p>"
    if isinstance(block, Code):
        return f"<pre>{html.escape(block.text)}</pre>"
    if isinstance(block, Picture):
        return f"<figure>{block.svg}</figure>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in block.head)
    rows = [
        "".join(
            f"<td><code>{html.escape(cell)}</code></td>"
            if n in block.code
            else f"<td>{_coded(cell)}</td>"
            for n, cell in enumerate(row)
        )
        for row in block.rows
    ]
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _coded(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
