"""Recall: how much of a score is lost by disguise.

A mind takes the same exercises plain and in several skins (`allminds.disguise`). Its recall is the
plain score minus the mean of those in disguise, paired exercise by exercise, in the figure that the
instrument's own rule makes of them. A mind that solves loses nothing; one that has met the plain
exercises, or their labels, does. What is lost also holds what an unfamiliar order of letters, or
another story, costs a mind that solves; so a difference shows that the look of the exercises
matters, and equivalence that it does not. Verdicts are those of `inference`, corrected over all
minds and instruments asked about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allminds.contracts import Instrument
from allminds.core.table import scored
from allminds.inference import MARGIN, Difference, Plays, Rule, corrected, difference, estimate
from allminds.statistics.comparison.table import plays_by_mind

if TYPE_CHECKING:
    import pandas as pd

WORN = " in disguise"  # after the name of a mind


@dataclass(frozen=True)
class Recall:
    """The plain score of a mind on a test, its score in disguise, and the difference."""

    instrument: str
    settings: Mapping[str, Any]
    mind: str
    skins: int
    plain: float | None
    disguised: float | None
    found: Difference

    def as_json(self) -> dict[str, Any]:
        """Return it as a row of a table."""
        low, high = self.found.interval or (None, None)
        return {
            "instrument": self.instrument, "settings": dict(self.settings), "mind": self.mind,
            "skins": self.skins, "plain": self.plain, "disguised": self.disguised,
            "recall": self.found.mean, "low": low, "high": high, "p_holm": self.found.p_holm,
            "units": self.found.units[0], "margin": self.found.margin,
            "verdict": self.found.verdict,
        }  # fmt: skip


def recall(
    tests: Sequence[tuple[Instrument, pd.DataFrame]], margin: float = MARGIN
) -> list[Recall]:
    """Measure recall in tests that were given plain and in disguise, with the records of each."""
    groups: dict[str, list[tuple[Instrument, pd.DataFrame]]] = {}
    for tool, frame in tests:
        groups.setdefault(f"{tool.name} {json.dumps(_plain(tool))}", []).append((tool, frame))
    found = [one for some in groups.values() for one in _of_test(some, margin)]
    both = zip(found, corrected([one.found for one in found]), strict=True)
    return [
        Recall(one.instrument, one.settings, one.mind, one.skins, one.plain, one.disguised, change)
        for one, change in both
    ]


def _plain(tool: Instrument) -> dict[str, Any]:
    """Return the settings of an instrument without its disguise."""
    given: dict[str, Any] = tool.settings.model_dump(mode="json")
    return {name: value for name, value in given.items() if name != "disguise"}


def _of_test(tests: Sequence[tuple[Instrument, pd.DataFrame]], margin: float) -> list[Recall]:
    """Compare the minds of one test, plain and in disguise."""
    bare = [(tool, frame) for tool, frame in tests if tool.skin is None]
    worn = [(tool.skin.n, frame) for tool, frame in tests if tool.skin is not None]
    if not bare or not worn:
        return []
    tool, rule = bare[0][0], bare[0][0].rule()
    plays = plays_by_mind(_joined([frame for _, frame in bare], worn), rule)
    skins = len({n for n, _ in worn})
    found = []
    for mind in plays:
        other = plays.get(mind + WORN)
        change = other and difference(plays[mind], other, rule, (mind, mind + WORN), margin)
        if other and change:
            scores = _score(plays[mind], rule), _score(other, rule)
            found.append(Recall(tool.name, _plain(tool), mind, skins, *scores, change))
    return found


def _score(plays: Plays, rule: Rule) -> float | None:
    return estimate(plays, rule).score


def _joined(bare: Sequence[pd.DataFrame], worn: Sequence[tuple[int, pd.DataFrame]]) -> pd.DataFrame:
    """Join records to one table: an exercise in disguise is a repeat of the plain one."""
    import pandas as pd

    plain = pd.concat([scored(frame).assign(repeat=0) for frame in bare], ignore_index=True)
    known = plain.drop_duplicates("index").set_index("index")
    parts = [plain]
    for n, frame in worn:
        rows = scored(frame)
        same = {name: rows["index"].map(known[name]) for name in ("exercise", "item", "cluster")}
        parts.append(rows.assign(**same, repeat=n, mind=rows["mind"].astype(str) + WORN))
    joined = pd.concat(parts, ignore_index=True)
    return joined[joined["exercise"].notna()].reset_index(drop=True)
