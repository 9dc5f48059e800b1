"""Values and pages as text: fields of NamedTuples and dataclasses, and blocks of a page.

A block is a paragraph, a table, code or a picture, written as text, Markdown or HTML. In a
paragraph, a string, code stands between backquotes.
"""

from __future__ import annotations

import dataclasses
import html
import inspect
import re
import textwrap
import typing
from collections.abc import Sequence
from typing import Any, NamedTuple

LONGEST = 150  # letters of a sample


def field_names(kind: type) -> Sequence[str]:
    """Return the names of the fields of a NamedTuple or a dataclass, else none."""
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind)]
    return getattr(kind, "_fields", ()) if issubclass(kind, tuple) else ()


def type_of(of: Any, name: str) -> str:
    """Write a type as its annotation has it."""
    found = getattr(of, "__annotations__", {}).get(name, "")
    found = getattr(found, "__forward_arg__", found)
    return found if isinstance(found, str) else inspect.formatannotation(found)


def classes_of(kind: Any, found: dict[type, None] | None = None) -> list[type]:
    """List the NamedTuples and dataclasses that a type is made of, itself first."""
    found = {} if found is None else found
    if isinstance(kind, type) and field_names(kind):
        if kind in found:
            return list(found)
        found[kind] = None
        try:
            hints = typing.get_type_hints(kind)
        except Exception:  # names that only a type checker knows
            hints = {}
        for hint in hints.values():
            classes_of(hint, found)
    for part in typing.get_args(kind):
        classes_of(part, found)
    return list(found)


def instance_of(value: Any, kind: type) -> Any:
    """Find the first value of a class within another value, or None."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str):
        return None
    parts = [getattr(value, name) for name in field_names(type(value))] or (
        value if isinstance(value, (tuple, list)) else ()
    )
    return next(
        (one for one in (instance_of(part, kind) for part in parts) if one is not None), None
    )


def first_words(thing: Any) -> str:
    """Return what stands first in a docstring, up to a full stop or an empty line."""
    text = inspect.getdoc(thing) or ""
    if text.startswith(f"{getattr(thing, '__name__', '')}("):  # made by NamedTuple or dataclass
        return ""
    return " ".join(text.partition("\n\n")[0].split()).replace("`", "")


def sample_of(value: Any) -> str:
    """Write a value in Python, floats rounded, cut where it gets long."""
    text = _written(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _written(value: Any) -> str:
    if isinstance(value, float):
        return repr(round(value, 3) + 0.0)
    names = field_names(type(value))
    if names:
        inside = ", ".join(f"{name}={_written(getattr(value, name))}" for name in names)
        return f"{type(value).__name__}({inside})"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(_written, value)) + "," * (len(value) == 1)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside.rstrip(',')}]"
    return " ".join(repr(value).split())


# ---------------------------------------------------------------- blocks of a page


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
