"""People as a random factor: the crossed model against lme4, and its edges.

Its error rates are held by the gate of `calibration`.

The figures of R are from R 4.2.2, lme4 1.1-31, lmerTest 3.1-3, on data/crossed.csv (sets a to d)
and on the authors' rows of Insa-Cabrera et al. (2011):

    ctl <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10))
    d$person[d$person == ""] <- "none"; d$isp <- as.numeric(d$who != "program")
    d$who <- factor(d$who, levels = c("program", "people"))                            # a, d
    lmer(score ~ who + (0 + isp | person) + (1 | item), d, control = ctl)              # a, d
    d$who <- factor(d$who, levels = c("alone", "aided"))                               # b
    lmer(score ~ who + (1 | person) + (1 | item), d, control = ctl)                    # b
    lmer(score ~ who + (1 | person) + (1 | item) + (1 | who:item), d, control = ctl)   # b3
    f <- aggregate(score ~ item, d[d$who == "program", ], mean)                        # a
    p <- d[d$who == "people", ]; p$d <- p$score - f$score[match(p$item, f$item)]       # a
    lmer(d ~ 1 + (1 | person) + (1 | item), p, control = ctl)                          # differences
    glmer(score ~ who + (0 + isp | person) + (1 | item), d, binomial, nAGQ = 1, control =   # c
      glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(rhoend = 1e-8)))

(With its default tolPwrss of 1e-7 glmer stops short: a deviance of 141.25790 for 141.25768.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from allminds.core.errors import Error
from allminds.runs.formats import formats
from allminds.statistics.comparison import crossed, logistic, mixed_model
from allminds.statistics.comparison.mixed import LinearMixed

RNG = np.random.default_rng
DATA = Path(__file__).parent / "data"


def facts(name):
    frame = pd.read_csv(DATA / "crossed.csv", keep_default_na=False)
    return frame[frame["set"] == name]


def codes(values):
    found, _ = pd.factorize(pd.Series(values).replace("", None))
    return found.astype(np.intp)


def fit(frame, first, *factors):
    design = np.column_stack([np.ones(len(frame)), frame["who"] == first]).astype(float)
    return LinearMixed(frame["score"].to_numpy(float), design, [codes(one) for one in factors])


def table(people, program, who=("people", "program")):
    """People's scores [person, item] and a program's [item] as columns."""
    rows = [(v, who[0], f"p{p}", i) for p, own in enumerate(people) for i, v in enumerate(own)]
    rows += [(v, who[1], None, i) for i, v in enumerate(program)]
    return [list(column) for column in zip(*rows, strict=True)]


def against(people, program, low=0.0, high=1.0):
    return crossed(*table(people, program), "people", "program", low, high)


# ---------------------------------------------------------------- against R


@pytest.mark.parametrize(
    ("name", "first", "effects", "components"),
    [
        (
            "a",
            "people",
            [(0.54623601568, 0.10295905592, 12.28147), (0.08449240429, 0.07499779194, 17.34626)],
            (0.01057429795, 0.06957247530, 0.04223389985),
        ),
        (  # people at the edge: isSingular(m) is TRUE
            "d",
            "people",
            [(0.69670, 0.10647578967, 12.49485), (-0.16665, 0.05232343385, 39.0)],
            (0.0, 0.09146900403, 0.02190193384),
        ),
        (
            "b",
            "aided",
            [(0.5935356439, 0.09356460429, 13.22753), (0.1657369562, 0.08595117403, 7.969082)],
            (0.01514383171, 0.04027587788, 0.02347270237),
        ),
    ],
)
def test_effects_errors_and_degrees_of_freedom_are_those_of_lmertest(
    name, first, effects, components
):
    frame = facts(name)
    found = fit(frame, first, frame["person"], frame["item"])
    for place, (estimate, stderr, df) in enumerate(effects):
        one = found.contrast(np.eye(2)[place])
        assert one.estimate == pytest.approx(estimate, abs=1e-7)
        assert one.stderr == pytest.approx(stderr, rel=1e-5)
        assert one.df == pytest.approx(df, rel=1e-4)
    assert (*found.components, found.residual) == pytest.approx(components, rel=1e-5, abs=1e-9)


def test_two_groups_of_people_are_compared_by_the_model_with_items_of_each_group():
    frame = facts("b")
    found = crossed(
        frame["score"], frame["who"], frame["person"], frame["item"], "aided", "alone", -1, 2
    )
    [model] = [one for one in found.spreads if one.over == "both"]
    assert found.estimate == pytest.approx(0.1658234776, abs=1e-6)
    assert model.stderr == pytest.approx(0.09434566927, rel=1e-5)
    assert model.df == pytest.approx(9.353862113, rel=1e-4)
    expected = (0.015932246417, 0.038618784686, 0.005357897708, 0.020610449431)
    parts = (found.person, found.item, found.who_item, found.residual)
    assert parts == pytest.approx(expected, rel=1e-4)
    assert found.people == (5, 5)
    assert found.items == 8


def test_people_against_a_program_by_differences_on_the_same_item():
    frame = facts("a")
    columns = [frame[name] for name in ("score", "who", "person", "item")]
    found = crossed(*columns, "people", "program", -1, 2)
    [model] = [one for one in found.spreads if one.over == "both"]
    program = frame[frame["who"] == "program"].groupby("item")["score"].mean()
    own = frame[frame["who"] == "people"]
    cells = own.groupby(["person", "item"])["score"].mean().reset_index()
    d = (cells["score"] - cells["item"].map(program)).to_numpy(float)
    fitted = LinearMixed(d, np.ones((len(d), 1)), [codes(cells["person"]), codes(cells["item"])])
    lmer = fitted.contrast([1.0])
    assert lmer.estimate == pytest.approx(0.06626780613, abs=1e-6)
    assert lmer.stderr == pytest.approx(0.08254564265, rel=1e-5)
    assert lmer.df == pytest.approx(9.849148998, rel=1e-4)
    # Some cells are missing. lmer weighs cells by their variance; ours is the mean that is printed.
    assert found.estimate == pytest.approx(d.mean())
    assert model.stderr == pytest.approx(lmer.stderr, rel=0.02)
    turned = crossed(*columns, "program", "people", -1, 2)
    assert turned.estimate == -found.estimate
    assert turned.interval == pytest.approx((-found.interval[1], -found.interval[0]))
    assert (turned.p, turned.people) == (found.p, found.people[::-1])


def test_of_balanced_rows_the_plain_mean_has_the_error_and_the_df_of_lmer():
    rng = RNG(21)
    person, item = np.repeat(np.arange(6), 9), np.tile(np.arange(9), 6)
    y = rng.normal(size=6)[person] + rng.normal(size=9)[item] + rng.normal(size=54)
    fitted = LinearMixed(y, np.ones((54, 1)), [person, item])
    plain, lmer = fitted.weighted(y, np.full(54, 1 / 54)), fitted.contrast([1.0])
    for name in ("estimate", "stderr", "df"):
        assert getattr(plain, name) == pytest.approx(getattr(lmer, name), rel=1e-6)


def test_weights_of_items_are_those_of_the_score_and_cost_certainty():
    rng = RNG(22)
    scores, k = rng.random((6, 10)), np.repeat([7.0, 15.0], 5)
    columns = table(scores, [0.5] * 10)
    plain = crossed(*columns, "people", "program", 0, 1)
    r = crossed(*columns, "people", "program", 0, 1, stratum=np.tile(k, 7), weighted=True)
    assert plain.estimate == pytest.approx(scores.mean() - 0.5)
    assert r.estimate == pytest.approx((scores.mean(axis=0) * k).sum() / k.sum() - 0.5)
    alike = crossed(*columns, "people", "program", 0, 1, stratum=np.full(70, 7.0), weighted=True)
    assert alike.interval == pytest.approx(plain.interval)


def test_logistic_model_is_that_of_glmer():
    frame = facts("c")
    found = logistic(
        frame["score"], frame["who"], frame["person"], frame["item"], "people", "program"
    )
    assert found.estimate == pytest.approx(0.80615947, abs=1e-5)
    assert found.stderr == pytest.approx(0.57038551, rel=1e-4)
    assert found.person == pytest.approx(0.28403193, rel=1e-4)
    assert found.item == pytest.approx(1.20012924, rel=1e-4)
    assert found.interval[0] < 0 < found.interval[1]
    assert found.p == pytest.approx(2 * stats.norm.sf(0.80615947 / 0.57038551), rel=1e-3)


@pytest.mark.parametrize("people_only", [False, True])
def test_the_authors_rows(reference, people_only):
    """lmer(score ~ kind * K + (1 | person) + (1 | exercise)); people only: (0 + isp | person)."""
    frame = formats()["lambda-2011"](reference / "lambda_2011_rows.csv")
    expected = [
        (0.23692346937, 0.028587945271, 41.16004),
        (0.02158248299, 0.034081096042, 18.66371),
        (-0.01994704953, 0.005773620556, 223.10407),
        (-0.01210015860, 0.006540929221, 133.51349),
    ]
    if people_only:
        frame["person"] = frame["person"].where(frame["kind"] == "person")
        expected = [
            (0.23692346937, 0.032519421669, 22.07656),
            (0.02158248299, 0.035171851482, 27.68510),
            (-0.02067242965, 0.005772276801, 239.78987),
            (-0.01161605046, 0.006508653403, 134.39892),
        ]
    found = mixed_model(frame, "K_prefix")
    for term, (estimate, stderr, df) in zip(found.terms, expected, strict=True):
        assert term.estimate == pytest.approx(estimate, abs=1e-6)
        assert term.stderr == pytest.approx(stderr, rel=1e-5)
        assert term.df == pytest.approx(df, rel=1e-4)
    likelihood = -(137.1842494 if people_only else 139.2489365) / 2
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-6)


def test_people_on_items_of_their_own_are_the_published_analysis_of_variance(reference):
    """Twenty people, seven exercises each: t² over people is the published F(1, 19) = 0.4605."""
    frame = formats()["lambda-2011"](reference / "lambda_2011_rows.csv")
    person = frame["person"].where(frame["kind"] == "person")
    found = crossed(
        frame["score"], frame["mind"], person, frame["exercise"], "people", "q-learning", -1, 1
    )
    spreads = {one.over: one for one in found.spreads}
    assert found.estimate == pytest.approx(-0.02158248299, abs=1e-9)
    # lmer(d ~ 1 + (1 | person)): 0.03180324898 with df 19
    assert spreads["both"].stderr == pytest.approx(0.03180324898, rel=1e-6)
    assert spreads["both"].df == pytest.approx(19, rel=1e-4)
    assert (found.estimate / spreads["people"].stderr) ** 2 == pytest.approx(0.4605, abs=5e-5)
    assert found.people == (20, 0)
    assert found.items == 140
    assert found.interval90 == pytest.approx((-0.0766, 0.0334), abs=5e-4)


def test_the_fit_is_quick_and_the_search_finds_the_best_ratios():
    rng = RNG(3)
    rows = 2000
    person, item = rng.integers(0, 100, rows), rng.integers(0, 40, rows)
    y = rng.normal(0, 0.3, 100)[person] + rng.normal(0, 0.1, 40)[item] + rng.normal(0, 0.5, rows)
    found = LinearMixed(y, np.ones((rows, 1)), [person, item])
    least = found.deviance(found.theta)
    around = np.array([(a, b) for a in np.linspace(0, 2, 21) for b in np.linspace(0, 2, 21)])
    assert all(found.deviance(theta) >= least for theta in around)


# ---------------------------------------------------------------- edges


def test_one_person_always_right_and_one_always_wrong_say_nothing():
    for program in ([0.5] * 20, [0, 1] * 10):
        found = against([[1] * 20, [0] * 20], program)
        assert found.estimate == pytest.approx(0)
        assert found.interval[1] - found.interval[0] > 1.5
        assert found.p > 0.5
        assert found.p_exact == 1


def test_one_person_or_one_item_is_no_sample():
    rng = RNG(1)
    one = against(rng.random((1, 20)), rng.random(20))
    assert one.interval is None
    assert one.p is None
    assert "One person is not a sample of people" in one.trouble[0]
    item = against(rng.random((9, 1)), rng.random(1))
    assert item.interval is None
    assert "One item is not a sample of items" in item.trouble[0]


def test_all_right_is_not_certain():
    """What is said of P people who are all right is Clopper and Pearson's bound for P of P."""
    for people, high in ((2, 0.16), (5, 0.5), (20, 0.84)):
        found = against([[1] * 30] * people, [0] * 30)
        assert found.estimate == 1
        assert found.interval[1] == 1
        assert found.interval[0] < high
    some = against([[1] * 30] * 20, [0, 1] * 15)
    assert some.interval[0] > 0  # twenty people and thirty items are enough for that
    alone = crossed(*table([[1] * 30] * 20, [0] * 30), "people", "program")
    assert alone.interval is None
    assert "Without the lowest and highest score" in alone.trouble[-1]


def test_everybody_the_same_is_no_difference_that_is_known():
    found = against([[1] * 20] * 10, [1] * 20)
    assert found.estimate == 0
    assert found.interval[0] < -0.2
    assert found.p == 1


def test_degrees_of_freedom_follow_the_number_of_people():
    rng = RNG(4)
    for people in (3, 6, 12):
        y = 0.5 + rng.normal(0, 0.3, (people, 1)) + rng.normal(0, 0.05, (people, 50))
        found = crossed(*table(y, [0.5] * 50), "people", "program")
        assert found.df == pytest.approx(people - 1, rel=0.1)


def test_people_who_do_not_differ_by_chance_do_not_narrow_the_interval():
    rng = RNG(5)
    y = rng.normal(0.5, 0.3, (3, 20))
    y -= y.mean(axis=1, keepdims=True) - 0.5 - np.array([[-0.02], [0.0], [0.02]])
    found = crossed(*table(y, [0.5] * 20), "people", "program")
    assert found.person == 0
    over = {one.over: one for one in found.spreads}
    reach = stats.t.ppf(0.975, 2) * over["people"].stderr
    assert found.interval[1] - found.estimate >= reach - 1e-12
    assert any("between people is estimated at 0" in one for one in found.trouble)


def test_individuals_and_programs_are_compared_on_items_only():
    rng = RNG(6)
    a, b = rng.random(15), rng.random(15)
    rows = [
        *zip(a, ["a"] * 15, range(15), strict=True),
        *zip(b, ["b"] * 15, range(15), strict=True),
    ]
    score, who, item = zip(*rows, strict=True)
    found = crossed(score, who, None, item, "a", "b", 0, 1)
    expected = stats.ttest_rel(a, b)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.df == pytest.approx(14)
    assert found.people == (0, 0)


def test_repeats_of_a_program_and_of_a_person_are_no_further_items_or_people():
    rng = RNG(7)
    people, program = rng.random((5, 10)), rng.random(10)
    once = against(people, program)
    columns = table(people, program)
    twice = crossed(*[2 * column for column in columns], "people", "program", 0, 1)
    assert twice.interval == pytest.approx(once.interval)
    assert twice.rows == once.rows


def test_levels_without_items_are_compared_over_people():
    a, b = RNG(8).normal(5, 2, 6), RNG(9).normal(4, 0.5, 9)
    who, person = ["people"] * 6 + ["program"] * 9, [*"uvwxyz", *[None] * 9]
    found = crossed([*a, *b], who, person, None, "people", "program")
    assert found.p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_the_same_people_with_and_without_aid_are_paired():
    rng = RNG(10)
    own = rng.normal(0.5, 0.3, (6, 1))  # people differ much, and the aid helps all the same
    base, aided = own + rng.normal(0, 0.05, (6, 12)), own + 0.1 + rng.normal(0, 0.05, (6, 12))
    rows = [
        (y[p, i], who, p, i)
        for who, y in (("aided", aided), ("alone", base))
        for p in range(6)
        for i in range(12)
    ]
    found = crossed(*zip(*rows, strict=True), "aided", "alone")
    assert found.p < 0.001
    assert found.people == (6, 6)


def test_exact_p_of_few_people():
    rng = RNG(11)
    people = 0.9 + rng.normal(0, 0.02, (5, 20))
    found = against(people, [0.1] * 20)
    assert found.p < 0.001
    assert found.p_exact == pytest.approx(2 / 2**5)  # five people cannot say more


def test_a_few_items_far_from_all_others_are_not_trusted_to_have_shown_how_far():
    own = np.linspace(-0.02, 0.02, 10)[:, None]
    items = np.array([0.97, 0.98, 0.99, 0.97, 0.98, 0.99, 0.4])
    found = against(np.clip(items + own, 0, 1), [0.99] * 7)
    assert len(found.bets) == 1
    assert found.interval[0] < -0.4, "t alone says -.31"
    assert any("far from all others" in one for one in found.trouble)
    turned = crossed(*table(np.clip(items + own, 0, 1), [0.99] * 7), "program", "people", 0, 1)
    assert turned.interval == pytest.approx((-found.interval[1], -found.interval[0]))
    assert turned.at(0.9) == pytest.approx(turned.interval90)
    even = against(0.5 + own + np.linspace(-0.1, 0.1, 7), [0.5] * 7)
    assert even.bets == ()


def test_separation_is_said():
    score, who, person, item = table([[1] * 8] * 4, [0, 1] * 4)
    found = logistic(score, who, person, item, "people", "program")
    assert found.interval is None
    assert found.trouble == "Not estimable (separation): people is always right."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"first": "nobody"}, "nobody has no score"),
        ({"first": "program"}, "cannot be compared with itself"),
        ({"person": [None, *"abc"]}, "some scores of people have a person and some have none"),
        ({"item": [1, 2, 3]}, "4 scores, but 3 values of 'item'"),
    ],
)
def test_what_cannot_be_compared(change, said):
    given = {
        "score": [0, 1, 1, 0],
        "who": ["people", "people", "people", "program"],
        "person": ["a", "b", "c", None],
        "item": [1, 1, 1, 1],
        "first": "people",
        "second": "program",
    }
    with pytest.raises(Error, match=said):
        crossed(**given | change)
