"""The factors of a crossed design: how much the score depends on each of them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allminds.inference import plain_interval
from allminds.report.charts import drawing
from allminds.report.charts.drawing import CEILING, FLOOR, STYLES, Mark, Style
from allminds.report.data import TestData
from allminds.report.sources import Floats
from allminds.runs.designs import Design
from allminds.statistics.comparison.effects import Share, variance_shares

SMALL = 0.005  # an interaction with a smaller share is folded away
LINES = (*STYLES, CEILING, FLOOR)  # no more in a panel
WIDEST_TICK = 12  # letters in one line below an axis


@dataclass(frozen=True)
class Crossed:
    """A design with its scores: [level of factor 1, level of factor 2, …, exercise]."""

    levels: dict[str, list[str]]  # factors with more than one level
    lines: str  # the factor whose levels are the lines of the plots
    scores: Floats
    alone: dict[str, dict[str, float]]  # word -> level -> score of the mind of that name alone


@dataclass(frozen=True)
class Mean:
    """The mean of one level over everything else, by level of the lines unless it is these."""

    factor: str
    level: str
    line: str
    mean: float
    interval: tuple[float, float] | None


# ---------------------------------------------------------------- scores of the cells


def crossed(design: Design, tests: Sequence[TestData]) -> Crossed | None:
    """Collect the scores of a design of two factors or more, if it has all combinations once."""
    words = design.words or {"mind": tests[design.cells[0]].minds}
    levels = design.levels | words
    if not design.full or len([name for name in levels if len(levels[name]) > 1]) < 2:
        return None
    shape = [len(found) for found in levels.values()]
    scores = np.full((*shape, tests[design.cells[0]].test.exercises), np.nan)
    for number in design.cells:
        data = tests[number]
        place = {m: at for m in data.minds if (at := _place(data, m, levels)) is not None}
        if len(set(place.values())) != len(place):  # two minds of the same words
            return None
        if len(place) != math.prod(map(len, words.values())):
            return None
        every = tuple(range(data.tool.slots))
        for (mind, _), values in data.exercise_means([(m, every) for m in place]).items():
            scores[place[mind]] = values
    several = {name: found for name, found in levels.items() if len(found) > 1}
    lines = max(words, key=lambda name: len(words[name]))
    kept = tuple(slice(None) if len(found) > 1 else 0 for found in levels.values())
    return Crossed(several, lines, scores[kept], _alone(design, tests))


def _place(data: TestData, mind: str, levels: dict[str, list[str]]) -> tuple[int, ...] | None:
    """Locate a mind's scores in the array; return None if it lacks one of the words."""
    own = data.test.levels | (data.words[mind] or {"mind": mind})
    if any(name not in own or own[name] not in levels[name] for name in levels):
        return None
    return tuple(found.index(own[name]) for name, found in levels.items())


def _alone(design: Design, tests: Sequence[TestData]) -> dict[str, dict[str, float]]:
    """Average over all cells the scores of minds whose name is a single word."""
    found: dict[str, dict[str, list[float]]] = {}
    for number in design.cells if len(design.words) > 1 else ():
        for row in tests[number].summary["results"]:
            words = tests[number].words[row["mind"]]
            if len(words) == 1 and row["score"] is not None:
                ((word, level),) = words.items()
                found.setdefault(word, {}).setdefault(level, []).append(row["score"])
    return {
        word: {level: float(np.mean(scores)) for level, scores in of.items()}
        for word, of in found.items()
    }


# ---------------------------------------------------------------- means and intervals


def means(found: Crossed) -> list[Mean]:
    """Compute the means that the plots show; a failed exercise counts as its cell's mean."""
    names = list(found.levels)
    filled = np.where(
        np.isnan(found.scores), np.nanmean(found.scores, axis=-1, keepdims=True), found.scores
    )
    made = []
    for name in names:
        kept = [name] if name == found.lines else [name, found.lines]
        kept = [other for other in kept if other in names]
        others = tuple(n for n, other in enumerate(names) if other not in kept)
        left = [other for other in names if other in kept]
        values = np.moveaxis(filled.mean(axis=others), left.index(name), 0)
        for place in itertools.product(*(range(len(found.levels[other])) for other in kept)):
            line = found.levels[found.lines][place[-1]] if found.lines in kept else ""
            mean, interval = _estimate(values[place])
            made.append(Mean(name, found.levels[name][place[0]], line, mean, interval))
    return made


def _estimate(values: Floats) -> tuple[float, tuple[float, float] | None]:
    """Compute the mean over exercises with its t interval."""
    mean, count = float(values.mean()), len(values)
    stderr = float(values.std(ddof=1) / math.sqrt(count)) if count > 1 else 0.0
    return mean, plain_interval(mean, stderr, count)


# ---------------------------------------------------------------- the plots


def panels(found: Crossed, shown: Sequence[Mean]) -> list[dict[str, Any]]:
    """Draw one panel for each factor, on one scale; the factor of the lines has rows of dots."""
    marks = [_mark(mean, 0) for mean in shown]
    domain = drawing.y_domain(marks)
    names = found.levels.get(found.lines, [""])
    lots = [dict(zip(lot, LINES, strict=False)) for lot in drawing.evenly(names, len(LINES))]
    made = []
    for name, levels in found.levels.items():
        own = [mean for mean in shown if mean.factor == name]
        if name == found.lines:
            svgs = [_dots(name, own, lots, domain)]
        else:
            marks = [_mark(mean, levels.index(mean.level)) for mean in own]
            svgs = _lines(found, name, marks, lots, domain)
        made.append({"factor": name, "panels": svgs})
    return made


def _mark(mean: Mean, x: float) -> Mark:
    low, high = mean.interval or (mean.mean, mean.mean)
    return Mark(mean.line, x, mean.mean, low, high)


def _lines(
    found: Crossed, name: str, marks: Sequence[Mark], lots: Sequence[dict[str, Style]],
    domain: tuple[float, float],
) -> list[str]:  # fmt: skip
    levels, alone = found.levels[name], found.alone.get(name, {})
    ticks = [
        _tick(level) + ((f"alone {alone[level]:.2f}",) if level in alone else ())
        for level in levels
    ]
    labels = drawing.short_names([line for lot in lots for line in lot])
    return drawing.panels(
        marks, lots, labels,
        (name, (-0.35, len(levels) - 0.65)), ("mean score, with 95 % intervals", domain),
        tuple(range(len(levels))), tuple(ticks),
    )  # fmt: skip


def _tick(level: str) -> tuple[str, ...]:
    """Break a level's name into lines that fit below the axis: brackets go lower."""
    if len(level) <= WIDEST_TICK:
        return (level,)
    return tuple(re.findall(r"^[^(]+|\(.*$", level)) or (level,)


def _dots(
    name: str,
    own: Sequence[Mean],
    lots: Sequence[dict[str, Style]],
    domain: tuple[float, float],
) -> str:
    """Draw the levels of the factor of the lines, best first, each in the style of its line."""
    styles = {line: style for lot in lots for line, style in lot.items()}
    marks = sorted((_mark(mean, 0) for mean in own), key=lambda mark: -mark.y)
    return drawing.dots(marks, styles, (name, "mean score, with 95 % intervals"), domain)


# ---------------------------------------------------------------- the section


def section(design: Design, tests: Sequence[TestData], drawn: bool) -> dict[str, Any] | None:
    """Collect what the page shows about the factors of a crossed design.

    If it is `drawn` already, score against size, only the shares are added.
    """
    found = crossed(design, tests)
    if found is None or len(found.levels) < 2:
        return None
    empty = int(np.isnan(found.scores).all(axis=-1).sum())
    names = list(found.levels)
    made: dict[str, Any] = {
        "tool": tests[design.cells[0]].tool.name,
        "names": names,
        "levels": found.levels,
        "lines": found.lines,
        "cells": int(np.prod(found.scores.shape[:-1])),
        "exercises": found.scores.shape[-1],
        "empty": empty,
    }
    if empty:
        return made
    shown = means(found)
    effects = variance_shares(found.scores, names)
    pictures = [] if drawn and len(names) == 2 else panels(found, shown)
    return made | _effects(effects) | {"panels": pictures, "means": shown}


def _effects(effects: Sequence[Share]) -> dict[str, Any]:
    """Build the rows of the table, small ones apart, and the rest; empty if chance is unknown."""
    if not effects:
        return {"effects": [], "small": [], "small_share": 0.0, "rest": None}
    small = [e for e in effects[:-1] if len(e.factors) > 1 and e.share < SMALL]
    return {
        "effects": [effect for effect in effects[:-1] if effect not in small],
        "small": small,
        "small_share": sum(effect.share for effect in small),
        "rest": effects[-1],
    }
