"""The first page: how the user's minds did, between whom they stand, where they break.

The figures are those of `statistics.answer`, which the terminal prints too. Without a mind of the
user's the page is about the best fair mind of each test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from allminds.inference.verdict import odds_explained
from allminds.report.charts import plots
from allminds.report.data import TestData
from allminds.report.sections.profile import CEILING, FLOOR, MIND, OWN, Dot, axis, domain, strip
from allminds.report.words import brief, listed
from allminds.statistics.answer import Answer, MindAnswer, OnTest, Outcome, answer
from allminds.statistics.answer_words import between, error_rates, sentences

MOST_CURVES = 4  # plots of falls
MOST_COLUMNS = 24  # tests of one matrix; more of them make another
WORDY = 0.28  # the share of a bar from which on its word has room
WHOM: tuple[tuple[Literal["floor", "best", "median"], str], ...] = (
    ("floor", "the floor"), ("best", "the best fair mind"), ("median", "the median fair mind")
)  # fmt: skip
ORDER: tuple[Outcome, ...] = ("better", "equivalent", "undecided", "worse")


def section(tests: Sequence[TestData]) -> dict[str, Any] | None:
    """Collect the answer; None if there is no mind to answer about."""
    found = answer([data.measured() for data in tests])
    if not any(mind.tests for mind in found.minds):
        return None
    data = {one.label: one for one in tests}
    short = short_labels(tests)
    names = called([mind.mind for mind in found.minds if mind.mind])
    rows = _comparisons(found, data)
    return {
        "found": found,
        "several": len(tests) > 1,
        "names": names,
        "minds": [
            {"name": mind.mind, "said": _by_topic(found, mind), "bars": _bars(mind, found)}
            for mind in found.minds
        ],
        "between": between(found),
        "rates": error_rates(found),
        "profile": _profile(found, data, short, names),
        "rows": rows,
        "odds": odds_explained(row["found"] for row in rows),
        "figures": [_figure(on, data[on.test.label]) for on in _fallen(found)[:MOST_CURVES]],
    }


def title(tests: Sequence[TestData], on: str) -> str | None:
    """Name the user's minds in a title; None if there are none."""
    names = list(dict.fromkeys(mind for data in tests for mind in data.yours))
    if not names:
        return None
    shown = names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more of your minds"]
    return f"How {listed(shown)} did on {on}"


def called(names: Sequence[str]) -> dict[str, str]:
    """Shorten the names of the user's minds to what follows the file, if that tells them apart."""
    short = {name: name.rpartition(":")[2] or name for name in names if "(" not in name}
    alone = list(short.values())
    return {name: short[name] if alone.count(short.get(name, "")) == 1 else name for name in names}


def short_labels(tests: Sequence[TestData]) -> dict[str, str]:
    """Leave opponents out of the labels of tests, as far as they stay apart."""
    short = {data.label: data.label.partition(" against ")[0] for data in tests}
    all_short = list(short.values())
    return {label: text if all_short.count(text) == 1 else label for label, text in short.items()}


def _by_topic(found: Answer, mind: MindAnswer) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {
        topic: [] for topic in ("did", "place", "rivals", "breaks", "surer")
    }
    for sentence in sentences(found, mind):
        said[sentence.topic].append(sentence.text)
    return said


def _bars(mind: MindAnswer, found: Answer) -> list[dict[str, Any]]:
    """Count outcomes by whom they are against, for bars; none where there is one test only."""
    if len(mind.tests) < 2:
        return []
    bars = []
    for whom, words in WHOM:
        tests = mind.outcomes(whom)
        counts = {outcome: len(tests[outcome]) for outcome in ORDER}
        whole = sum(counts.values())
        parts = [(one, n, n >= WORDY * whole) for one, n in counts.items() if n]
        next_best = whom == "best" and not found.yours
        if whole:
            bars.append({"whom": "the next best one" if next_best else words, "parts": parts})
    return bars


# ---------------------------------------------------------------- test by test


def _profile(
    found: Answer, data: dict[str, TestData], short: dict[str, str], names: dict[str, str]
) -> dict[str, Any]:
    """Draw every test as a strip from floor to ceiling, with the minds of the answer on it."""
    on: dict[str, list[OnTest]] = {label: [] for label in data}
    for mind in found.minds:
        for one in mind.tests:
            on[one.test.label].append(one)
    taken = {label: own for label, own in on.items() if own}
    order = {mind.mind or "": n for n, mind in enumerate(found.minds)}
    dots = {(one.test.label, one.mind): _dots(one, order) for own in taken.values() for one in own}
    near = [dot for of in dots.values() for dot in of if dot.kind == OWN or dot.best]
    ends = domain(near)
    return {
        "axis": axis(ends),
        "rows": [
            {
                "data": data[label],
                "label": short[label],
                "minds": [
                    {"on": one, "name": names.get(one.mind, one.mind),
                     "strip": strip(dots[label, one.mind], ends) if dots[label, one.mind] else ""}
                    for one in own
                ],
                "best": own[0].best,
            }
            for label, own in taken.items()
        ],
        "shapes": [(names.get(mind.mind or "", ""), n) for n, mind in enumerate(found.minds)],
    }  # fmt: skip


def _dots(on: OnTest, order: dict[str, int]) -> list[Dot]:
    """Place all minds of a test that have a place, the one of the answer with its interval."""
    made = []
    if on.row["normalised"] is None:
        return []
    for mind, row in on.test.rows.items():
        if row["normalised"] is None:
            continue
        low, high = row["normalised_ci95"] or (row["normalised"],) * 2
        kind = {"floor": FLOOR, "ceiling": CEILING}.get(row["end"] or "", MIND)
        role = {on.best: ", the best fair mind", on.median: ", the median fair mind"}
        place = f"{row['normalised']:.2f}".replace("-", "−")
        words = f"{mind}{role.get(mind, '')}: {place}"
        made.append(Dot(
            row["normalised"], low, high, OWN if mind == on.mind else kind, words,
            order.get(mind, 0), mind == on.best, mind in on.test.clairvoyant,
        ))  # fmt: skip
    return made


# ---------------------------------------------------------------- comparisons and falls


def _comparisons(found: Answer, data: dict[str, TestData]) -> list[dict[str, Any]]:
    """List all comparisons; two minds of the user's are compared once."""
    rows = [row for mind in found.minds for on in mind.tests for row in _compared(on, data)]
    kept = {
        (row["data"].label, frozenset((row["mind"], row["rival"]))): row for row in reversed(rows)
    }
    return list(kept.values())[::-1]


def _compared(on: OnTest, data: dict[str, TestData]) -> list[dict[str, Any]]:
    """List the comparisons of a mind on a test: the floor, then the fair minds, best first."""
    names = [*([on.floor] if on.floor else []), *on.rivals]
    return [
        {
            "data": data[on.test.label], "mind": on.mind, "rival": rival,
            "end": on.test.rows[rival]["end"], "found": on.differences[rival],
            "outcome": on.outcome(rival), "best": rival == on.best,
        }
        for rival in dict.fromkeys(names)
        if rival in on.differences
    ]  # fmt: skip


def _fallen(found: Answer) -> list[OnTest]:
    """List the tests on which a score falls with complexity, each once, the steepest first."""
    fallen = [on for mind in found.minds for on in mind.tests if on.falls]
    ordered = sorted(fallen, key=lambda on: -on.fall.drop if on.fall else 0.0)
    return list({on.test.label: on for on in reversed(ordered)}.values())[::-1]


def _figure(on: OnTest, data: TestData) -> dict[str, Any]:
    """Draw the curve of a mind beside floor, ceiling and the best fair mind."""
    shown = {on.mind, *data.yours, on.best, on.floor}
    shown |= {mind for mind, row in on.test.rows.items() if row["end"] == "ceiling"}
    points = [point for point in data.points if point.mind in shown]
    return {
        "data": data,
        "panels": plots.score_panels(data, {mind for mind in shown if mind}, (on.mind,)),
        "points": points,
        "caption": f"{data.label}: score against complexity {data.column}, with 95 % intervals.",
    }


# ---------------------------------------------------------------- the matrix


def matrices(tests: Sequence[TestData]) -> list[dict[str, Any]]:
    """Build the tables minds × tests, some columns each; none for a single test.

    A cell has the place between floor (0) and ceiling (1), or the score where there is no scale.
    """
    if len(tests) < 2:
        return []
    short = short_labels(tests)
    yours = list(dict.fromkeys(mind for data in tests for mind in data.yours))
    names = called(yours)
    made = []
    for first in range(0, len(tests), MOST_COLUMNS):
        lot = tests[first : first + MOST_COLUMNS]
        places: dict[str, dict[int, dict[str, Any]]] = {}
        for n, data in enumerate(lot):
            for row in data.summary["results"]:
                if row["score"] is not None:
                    places.setdefault(row["mind"], {})[n] = _cell(row)
        order = sorted(places, key=lambda mind: _in_order(mind, places[mind], yours))
        made.append({
            "columns": [{"label": short[data.label], "data": data} for data in lot],
            "rows": [
                {"mind": mind, "name": names.get(mind, mind), "yours": mind in yours,
                 "cells": [places[mind].get(n) for n in range(len(lot))]}
                for mind in order
            ],
        })  # fmt: skip
    return made


def _in_order(mind: str, cells: dict[int, Any], yours: Sequence[str]) -> tuple[Any, ...]:
    """Order minds: the user's first, then those of many tests, then by their first test."""
    mine = yours.index(mind) if mind in yours else len(yours)
    several = len(cells) if len(cells) > 1 else 0
    return mine, -several, min(cells), -(cells[min(cells)]["value"])


def _cell(row: dict[str, Any]) -> dict[str, Any]:
    """Write a place to two decimals with its colour, or a score without one."""
    place = row["normalised"]
    value = row["score"] if place is None else place
    return {
        "value": value,
        "text": brief(value),
        "end": row["end"],
        "shade": None if place is None else shade(place),
        "title": "score" if place is None else "place",
    }


def shade(place: float) -> tuple[str, str]:
    """Choose ground and ink: white at the floor, blue up to the ceiling, orange below the floor.

    Both hues keep apart for all common kinds of colour blindness, and in grey the depth remains.
    """
    low, high = (255, 255, 255), ((0, 78, 140) if place >= 0 else (200, 95, 0))
    depth = min(abs(place), 1.0) ** 0.8
    ground = [round(a + (b - a) * depth) for a, b in zip(low, high, strict=True)]
    parts = [c / 255 for c in ground]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    dark_ink = (light + 0.05) / 0.05 > 1.05 / (light + 0.05)  # the greater contrast, by WCAG
    return "#{:02x}{:02x}{:02x}".format(*ground), "#000" if dark_ink else "#fff"
