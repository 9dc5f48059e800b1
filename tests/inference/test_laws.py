"""The laws in plain Python agree with scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from allminds.inference import laws

freedoms = st.floats(1, 50_000)


@given(freedoms, st.floats(-40, 40))
def test_student_cdf(freedom, t):
    assert laws.student_cdf(freedom, t) == pytest.approx(
        special.stdtr(freedom, t), rel=1e-11, abs=1e-300
    )


@given(freedoms, st.floats(1e-9, 1 - 1e-9))
def test_student_quantile(freedom, p):
    """Near 1/2 the quantile is a difference of nearly equal numbers, in scipy as here."""
    found = laws.student_quantile(freedom, p)
    assert found == pytest.approx(special.stdtrit(freedom, p), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("freedom", [7, 21, 977.3, 19_999])
def test_the_quantile_of_an_interval_has_13_digits(freedom):
    for p in (0.9, 0.95, 0.975, 0.995):
        assert laws.student_quantile(freedom, p) == pytest.approx(
            special.stdtrit(freedom, p), rel=1e-13
        )


@given(st.floats(-37, 37), st.floats(1e-12, 1 - 1e-12))
def test_the_normal_law(z, p):
    assert laws.normal_cdf(z) == pytest.approx(special.ndtr(z), rel=1e-12, abs=1e-310)
    assert laws.normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-11, abs=1e-12)


def test_ends():
    assert laws.student_cdf(5, math.inf) == 1
    assert laws.student_cdf(5, -math.inf) == 0
    assert laws.student_cdf(5, 0.0) == 0.5
    assert math.isnan(laws.student_cdf(5, math.nan))
    assert laws.student_quantile(5, 0.5) == 0
    assert laws.student_quantile(5, 1.0) == math.inf
    assert laws.student_quantile(5, 0.0) == -math.inf
    assert laws.student_quantile(math.inf, 0.975) == pytest.approx(1.959963984540054)
    assert laws.normal_quantile(0.0) == -math.inf
