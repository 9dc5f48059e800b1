"""The page on validity opens with P3's finding, in the figures that the authors' rows give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from allminds.papers.insa_cabrera_2011_figures import read as rows_frame
from allminds.runs.imports import import_results, read_results
from allminds.statistics.comparison import compare, repeated_measures

PAGE = (Path(__file__).parents[2] / "docs" / "validity.md").read_text(encoding="utf-8")


def bare(number, digits):
    """As the page writes it: without the zero before the point."""
    return f"{number:.{digits}f}".replace("0.", ".", 1)


def test_the_means_and_the_analysis_are_those_of_the_rows(reference):
    frame = rows_frame(reference / "lambda_2011_rows.csv")
    means = frame.groupby("subject")["score"].mean()
    opening = PAGE.partition("\n- **")[0]
    assert bare(means["people"], 4) in opening
    assert bare(means["q-learning"], 4) in opening
    effect = repeated_measures(frame, "test", ["subject", "cells"]).effects[0]
    assert f"F(1, 19) = {effect.f:.4f}, p = {bare(effect.p, 4)}" in opening


@pytest.mark.parametrize("word", ["IQ of", "intelligent than", "guaranteed to"])
def test_it_promises_nothing(word):
    assert word not in PAGE


def test_undecided_is_said_with_its_interval(reference, tmp_path):
    rows = reference / "lambda_2011_rows.csv"
    kept = import_results(rows, tmp_path / "p3", "lambda-2011")
    frame = read_results(kept)
    (found,) = compare(frame, np.random.default_rng(1), unit="test").differences
    assert found.verdict == "undecided"
    low, high = found.interval90
    assert bare(found.mean, 3) in PAGE
    assert f"[{bare(low, 3)}, {bare(high, 3)}]" in PAGE
