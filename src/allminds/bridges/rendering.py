"""The current state of an exercise, as text (`ansi`) or as pixels (`rgb_array`)."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Instrument
from allminds.core.errors import Error
from allminds.episode import Episode

MODES = ("ansi", "rgb_array")

Pixels = NDArray[np.uint8]  # [row, column, red green blue]


def rendered(tool: Instrument, episode: Episode, mode: str | None) -> str | Pixels | None:
    """Render an exercise in a mode; return None if no mode is set."""
    if mode is None:
        return None
    if mode not in MODES:
        raise Error(f"{tool.name} cannot be rendered as '{mode}'; choose {' or '.join(MODES)}")
    here = episode.environment, episode.state
    shown = tool.presentation
    return shown.text(*here) if mode == "ansi" else pixels(shown.picture(*here))


def pixels(svg: str) -> Pixels:
    """Convert an SVG picture to pixels."""
    try:
        import vl_convert
        from PIL import Image
    except ImportError:
        raise Error(
            "pictures need Pillow and vl-convert-python, of which one is not installed: "
            "pip install 'allminds[rl]'"
        ) from None
    with Image.open(io.BytesIO(vl_convert.svg_to_png(svg))) as image:
        return np.array(image.convert("RGB"))
