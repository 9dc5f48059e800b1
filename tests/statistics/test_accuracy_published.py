"""The published C-test: nine simple minds and P0's ω, and what 48 students say of Eq. 1.

Items, complexities k and hit rates: J. Hernández-Orallo, "Beyond the Turing Test", Journal of
Logic, Language and Information 9 (2000), and the C-test reports before it (1998). The students
chose among five options, -1/4 for a wrong one, so that blanks were possible and rates fall below
1/5; the chance level is therefore a parameter here, 1/26 where nothing else is said.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from allminds.statistics.accuracy import Counts, compare, fit_curve, omega, prediction, scores

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "ctest_items.csv"
INDUCTION = """ababab a 7 .875; acbdce d 10 .333; aczbya x 10 .396; aazzyy x 7 .833;
aazcyex g 12 .292; aaabbbc c 8 .854; azbdcegf h 13 .417; adgj m 9 .708; cabdbccecd d 14 .104;
aaaabbbbc c 9 .854; aacyawy u 12 .188; abdeg h 10 .875; aabbzabb y 11 .292; zayxxuw r 14 .000;
zaxava t 11 .354; abazaayza x 10 .167; aaazbby c 12 .292; aadazca y 13 .146; azbzzyby y 12 .125;
bazbayba x 11 .375"""
ABDUCTION = """hgf_dcba e 7 .917; a_bbccd a 7 .938; a_azaya a 8 .354; aa_yyawwy c 13 .146;
_bzayzxy a 8 .542; aa_zzayyz b 9 .354; ax_vwtu y 10 .438; ayw_wuwus y 13 .188; abcf_hk g 12 .625;
acb_dceeedf d 11 .083; ad_zcbyba c 13 .083; ab_bcacdb z 13 .083; aa_cyex z 12 .208;
_abyzabxyzabwxyz z 12 .312; zz_zyyxyx y 10 .188"""
ITEMS = [
    (series, answer, int(k), float(rate))
    for series, answer, k, rate in (
        item.split() for item in (INDUCTION + ";" + ABDUCTION).replace("\n", " ").split(";")
    )
]
K = np.array([k for _, _, k, _ in ITEMS], dtype=float)
RATE = np.array([rate for *_, rate in ITEMS])
STUDENTS = 48


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference table is not beside the project")
def test_the_items_copied_here_are_those_of_the_reference_table():
    with REFERENCE.open() as file:
        rows = [
            (row["series"], row["answer"], int(row["k"]), float(row["students_hit_rate"]))
            for row in csv.DictReader(file)
        ]
    assert rows == ITEMS


def number(letter):
    return ord(letter) - ord("a")


def distances(series, y=1):
    return [(number(b) - number(a)) % 26 for a, b in zip(series, series[y:], strict=False)]


def plus(letter, distance):
    return chr((number(letter) + distance) % 26 + ord("a"))


def by_frequency(values, choose):
    """The value of least or most occurrences, the first on ties."""
    counted = Counter(values)
    return choose(values, key=lambda value: counted[value])


def pattern(series, y):
    """P0's pseudo-algorithm for the y-th pattern agent."""
    found = distances(series, y)
    if not found:
        return ""  # y goes up to one less than the letters shown: it has no answer here
    unique = list(dict.fromkeys(found))
    starts = [i for i in range(len(found)) if found[i : i + len(unique)] == unique]
    if len(starts) > 1:
        part = found[starts[0] : starts[1]]
    else:
        part = [found[-2]] if len(found) > 1 else found
    index = len(found) - len(part) * len(starts)
    following = part[index] if 0 <= index < len(part) else part[0]
    return plus(series[len(series) - y], following)


MINDS = {
    "mode": lambda s: by_frequency(s, max),
    "min-repetition": lambda s: by_frequency(s, min),
    "min-distance": lambda s: plus(s[-1], by_frequency(distances(s), min)),
    "max-distance": lambda s: plus(s[-1], by_frequency(distances(s), max)),
    **{f"pattern {y}": lambda s, y=y: pattern(s, y) for y in (1, 2, 3, 4)},
}


def nine_minds():
    """Hits of the nine minds on the 20 induction items; a random one hits 1/26 on average."""
    hits = [
        [mind(series) == answer for series, answer, _, _ in ITEMS[:20]] for mind in MINDS.values()
    ]
    return Counts.of(K[:20], [np.full(20, 1 / 26), *hits], options=26)


def test_the_paper_s_omega_on_these_items_is_36():
    counts = nine_minds()
    published = [1 / 26, 0.033, 0.112, 0.312, 0.228, 0.442, 0.535, 0.563, 0.637]
    assert scores(counts) == pytest.approx(published, abs=0.0006)
    found = omega(counts)
    assert found.omega == pytest.approx(36.4, abs=0.05)
    assert not found.discriminative.all()  # condition (i) cannot hold for all minds at once
    assert found.discriminative.any()


def students(chance=1 / 26):
    return Counts.of(K, np.round(RATE * STUDENTS), STUDENTS, chance=chance)


def test_eq_1_is_far_too_flat_for_people():
    """Fitted on k <= 10 it predicts .48 for k >= 11, where .23 was observed."""
    easy, hard = students().items(K <= 10), students().items(K > 10)
    foreseen = fit_curve(easy, "E1").accuracy(hard.difficulty).mean()
    assert foreseen == pytest.approx(0.48, abs=0.005)
    assert hard.hits.sum() / hard.trials.sum() == pytest.approx(0.23, abs=0.005)


def test_people_want_a_steepness_near_three_and_a_half():
    found = fit_curve(students(), "E2")
    assert found.beta == pytest.approx(3.54, abs=0.01)
    assert found.abilities[0] == pytest.approx(10.55, abs=0.01)
    assert fit_curve(students(chance=0), "E2").beta == pytest.approx(3.38, abs=0.01)
    assert fit_curve(students(chance=0.2), "E2").beta == pytest.approx(4.80, abs=0.01)


def held_out(found, scheme):
    return {row.curve: row for row in found.rows if row.scheme == scheme}


@pytest.mark.parametrize("chance", [0, 1 / 26, 0.2])
def test_e2_foresees_items_left_out_and_eq_1_does_not(chance):
    found = compare(students(chance))
    items = held_out(found, "items")
    assert found.winner() == "E2"
    assert items["E1"].behind > 75
    assert items["constant"].behind > items["E1"].behind
    assert items["logistic"].behind < 1 < items["logistic"].behind_stderr  # as good as a tie


def test_beyond_the_levels_seen_e2_is_better_than_eq_1_but_a_logistic_is_best():
    found = compare(students())
    assert found.upper_from == 11
    upper = held_out(found, "upper")
    assert upper["E1"].predicted == pytest.approx(0.48, abs=0.005)
    assert upper["E1"].observed == pytest.approx(0.23, abs=0.005)
    assert upper["E2"].predicted == pytest.approx(0.13, abs=0.005)
    assert upper["E2"].behind < upper["E1"].behind - 90
    assert found.winner("upper") == "logistic"


def test_predictions_for_people_show_the_winner_with_eq_1_beside_it():
    counts = students()
    found = compare(counts)
    here = prediction(counts, 12, comparison=found)
    assert here.predicted.curve == "E2"
    assert here.e1.curve == "E1"
    observed = RATE[K == 12].mean()
    assert here.predicted.interval[0] < observed < here.predicted.interval[1]
    easy = prediction(counts, 7, comparison=found)
    assert easy.e1.interval[1] < 0.6 < 0.85 < RATE[K == 7].mean()  # the misfit of Eq. 1
