"""The length of a text once compressed by zlib: K_approx of the environment class Λ (P3 §5)."""

from __future__ import annotations

import functools
import warnings
import zlib

PATTERN = "20122220022222200222222002"  # P3's example and its published length
LENGTH = 19


def zlib_length(text: str | bytes, level: int = 6) -> int:
    """K_approx: the bytes of the text after zlib, by default at the level of the paper's 19."""
    _warn_once()
    return _length(text, level)


@functools.cache
def checks_out() -> bool:
    """Does this build of zlib give the published 19? Others, such as zlib-ng, may not."""
    return _length(PATTERN, 6) == LENGTH


def _length(text: str | bytes, level: int) -> int:
    return len(zlib.compress(text.encode() if isinstance(text, str) else text, level))


@functools.cache
def _warn_once() -> None:
    if not checks_out():
        warnings.warn(
            f"zlib {zlib.ZLIB_RUNTIME_VERSION} gives {_length(PATTERN, 6)} bytes, not {LENGTH}, "
            "for the example of the Λ paper: lengths will differ from published ones",
            stacklevel=3,
        )
