"""Scores of a mind on many exercises, as a frame, for the papers that simulate."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 1024


@lru_cache(maxsize=64)
def scores(
    instrument: str, mind: str, exercises: int, settings: tuple[tuple[str, str], ...] = (),
    seed: int = 1,
) -> pd.DataFrame:  # fmt: skip
    """A row for each exercise: its number, the score (a mean over slots) and its complexities."""
    import pandas as pd

    from allminds import registry
    from allminds.core.blocks import Block
    from allminds.core.watch import Watch
    from allminds.episode import form

    tool = registry.make_instrument(instrument, dict(settings))
    watch = Watch(10.0)
    way = form(tool, registry.line_up(mind, tool), watch)
    with watch.running():
        blocks = [
            way.play(seed, low, min(low + BLOCK, exercises), 0)
            for low in range(0, exercises, BLOCK)
        ]
    found = Block.join(blocks)
    columns = {"exercise": range(exercises), "score": found.score.mean(axis=1)}
    return pd.DataFrame(columns | dict(found.complexity))
