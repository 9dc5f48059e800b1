"""One page with all that was asked for: numbers, errata and figures of each paper."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from allminds import report
from allminds.papers import paper
from allminds.report.files import write_whole
from allminds.report.page import templates


def write_page(
    chosen: Mapping[str, Sequence[str]],
    out: Path,
    rows: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> list[dict[str, Any]]:
    """Compute the papers and parts asked for, write them as one file, and give them back."""
    found = []
    total = sum(1 + len(parts) for parts in chosen.values())
    done = 0
    for name, parts in chosen.items():
        one = paper(name, rows)
        whole = set(parts) == set(one.parts)
        progress("papers", done, total)
        claims = one.claims() if whole else ()
        done += 1
        made = []
        for part in parts:
            progress("papers", done, total)
            made.append((part, one.parts[part]()))
            done += 1
        shown = {"name": name, "what": one.what, "citation": one.citation, "claims": claims}
        found.append(shown | {"errata": one.errata if whole else (), "parts": made})
    progress("papers", total, total)
    environment = templates(Path(__file__).parent, Path(report.__file__).parent)
    environment.filters["figure"] = figure
    text = environment.get_template("papers.html.j2").render(
        papers=found, version=importlib.metadata.version("allminds")
    )
    write_whole(out, text.encode("utf-8"))
    return found


def figure(value: Any) -> str:
    """A number to four places with a real minus sign; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if math.isnan(value):
        return "none"
    text = f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return text.replace("-", "−", 1) if text.startswith("-") else text
