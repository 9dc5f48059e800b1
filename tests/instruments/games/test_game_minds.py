"""What the minds for games do, move by move, and what their sources say of them."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allminds import registry
from allminds.core.errors import Error
from allminds.episode import play
from allminds.exact import outcome
from allminds.instruments.games import strategies
from allminds.instruments.games.game import Round
from allminds.instruments.games.planners import maximin

C, D = 0, 1


def moves(mind: str, others: str, game: str = "prisoners-dilemma") -> str:
    """What a mind plays against a script."""
    tool = registry.make_instrument(game, {"steps": len(others)})
    names = {label[0].upper(): n for n, label in enumerate(tool.labels)}

    def script(observation):
        return names[others[observation.step]]

    record = play(tool.exercise(1, 0), registry.line_up([mind, script], tool))
    assert set(record.status) == {"ok"}, record.reason
    letters = {n: letter for letter, n in names.items()}
    return "".join(letters[actions[0]] for actions in record.actions)


@pytest.mark.parametrize(
    ("mind", "others", "played"),
    [
        ("cooperate", "CDCD", "CCCC"),
        ("defect", "CDCD", "DDDD"),
        ("always(defect)", "CDCD", "DDDD"),
        ("alternate", "CCCCC", "CDCDC"),
        ("tit-for-tat", "CDDCC", "CCDDC"),
        ("suspicious-tit-for-tat", "CDDCC", "DCDDC"),
        ("tit-for-two-tats", "CDDCDD", "CCCDCC"),
        ("two-tits-for-tat", "CDCCCDD", "CCDDCCD"),
        ("win-stay-lose-shift", "DDCCD", "CDCCC"),
        ("grim", "CDCCC", "CCDDD"),
        ("contrite-tit-for-tat", "CDDCC", "CCDDC"),
        ("gradual", "DCCCDCCCCCC", "CDCCCDDCCCC"),
        ("soft-majority", "DCDDC", "CDCDD"),
        ("tester", "CCCCCCC", "DCCDCDC"),
        ("tester", "CDDCC", "DCCDC"),
        ("prober", "CCCCC", "DCCDD"),
        ("prober", "CDCCD", "DCCCC"),
        ("adaptive-tit-for-tat", "DCCDD", "CDCCD"),
        ("adaptive", "CCCCCCCCCCCCC", "CCCCCCDDDDDDD"),
        ("adaptive", "CCCCCCDDDDDDD", "CCCCCCDDDDDCC"),
        ("fictitious-play", "CDCD", "CDDD"),
        ("best-reply", "CCCC", "CDDD"),
        ("best-response(tit-for-tat)", "CCCC", "CCCD"),
        ("best-response(cooperate)", "CCCC", "DDDD"),
        ("best-response(grim)", "CCCC", "CCCD"),
    ],
)
def test_a_strategy_answers_a_script_as_its_source_says(mind, others, played):
    assert moves(mind, others) == played


@pytest.mark.parametrize(
    ("mind", "others", "played"),
    [("best-reply", "RPSR", "RPSR"), ("fictitious-play", "RRPP", "RPPP")],
)
def test_minds_of_other_games(mind, others, played):
    """The best reply to R is P, to P is S, to S is R, and comes a round later."""
    answer = {"R": "P", "P": "S", "S": "R"}
    expected = "R" + "".join(answer[move] for move in others[:-1])
    assert moves(mind, others, "rock-paper-scissors") == (
        expected if mind == "best-reply" else played
    )


@pytest.mark.parametrize(
    ("mind", "chances"),
    [
        ("generous-tit-for-tat", (1, 1 / 3, 1, 1 / 3)),
        ("joss", (0.9, 0, 0.9, 0)),
        ("firm-but-fair", (1, 0, 1, 2 / 3)),
        ("extortion", (8 / 9, 1 / 2, 1 / 3, 0)),
        ("tit-for-tat(slip=0.1)", (0.9, 0.1, 0.9, 0.1)),
        ("random", (0.5, 0.5, 0.5, 0.5)),
    ],
)
def test_a_strategy_by_lot_gives_its_chances(mind, chances):
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 2})
    for n, chance in enumerate(chances):
        one = registry.subject(mind, tool).make()
        if hasattr(one, "begin"):
            from allminds.episode import Episode

            one.begin(Episode(tool.exercise(1, 0)).task(0))
        assert one.policy(Round(1, n // 2, (n % 2,)))[0] == pytest.approx(chance)


def test_generosity_is_the_most_that_defectors_cannot_exploit():
    temptation, reward, punishment, sucker = 5, 3, 1, 0
    assert strategies.GenerousTitForTat().generosity == pytest.approx(
        min(
            1 - (temptation - reward) / (reward - sucker),
            (reward - punishment) / (temptation - punishment),
        )
    )


@given(st.lists(st.floats(0.02, 0.98), min_size=4, max_size=4))
def test_extortion_gains_twice_what_the_other_does(other):
    """Against any memory-one strategy, in the long run: own - P = 2 (other's - P)."""
    own = strategies.Extortion.after
    mirrored = [other[n] for n in (0, 2, 1, 3)]  # as the other sees CC, CD, DC, DD
    chain = np.array(
        [
            [p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]
            for p, q in zip(own, mirrored, strict=True)
        ]
    )
    values, vectors = np.linalg.eig(chain.T)
    stable = np.real(vectors[:, np.argmin(abs(values - 1))])
    stable /= stable.sum()
    gain = stable @ np.array([3, 0, 5, 1]) - 1
    others = stable @ np.array([3, 5, 0, 1]) - 1
    assert gain == pytest.approx(2 * others, abs=1e-8)


def test_contrition_ends_the_feud_that_a_slip_begins():
    """After its own slip it bears the answer; tit for tat would strike back."""
    from allminds.contracts import Discrete, Task

    task = Task("prisoners-dilemma", 0, 2, (0,), Discrete(2), 4, {})
    contrite, plain = strategies.ContriteTitForTat(), strategies.TitForTat()
    for mind in (contrite, plain):
        mind.begin(task)
        mind.policy(Round(0, -1, ()))
        mind.policy(Round(1, D, (C,)))  # it meant to cooperate
    answer = Round(2, C, (D,))
    assert contrite.policy(answer)[C] == 1.0
    assert plain.policy(answer)[C] == 0.0


def test_two_contrite_minds_with_slips_do_better_than_two_tit_for_tats():
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 30})
    scores = {
        mind: outcome(tool, [f"{mind}(slip=0.05)"] * 2).rewards[0]
        for mind in ("contrite-tit-for-tat", "tit-for-tat")
    }
    assert scores["contrite-tit-for-tat"] > scores["tit-for-tat"] + 0.1


@given(st.sampled_from(["tit-for-tat", "joss", "grim", "random", "tester", "gradual"]))
def test_nobody_does_better_against_a_mind_than_the_best_response(other):
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 6})
    best = outcome(tool, [f"best-response({other})", other]).rewards[0]
    for mind in ("cooperate", "defect", "tit-for-tat", "random", "prober", "win-stay-lose-shift"):
        assert outcome(tool, [mind, other]).rewards[0] <= best + 1e-12


def test_a_best_response_to_several():
    tool = registry.make_instrument("public-goods", {"steps": 3})
    named = "best-response(conditional-cooperator,keep,give)"
    rewards = outcome(tool, [named, "conditional-cooperator", "keep", "give"]).rewards
    others = outcome(tool, ["keep", "conditional-cooperator", "keep", "give"]).rewards
    assert rewards[0] >= others[0]
    with pytest.raises(Error, match="name one mind for all others, or 3, not 2"):
        outcome(tool, ["best-response(keep,give)", "keep", "keep", "give"])


# ---------------------------------------------------------------- minimax mixtures


@pytest.mark.parametrize(
    ("game", "mixture"),
    [
        ("matching-pennies", (1 / 2, 1 / 2)),
        ("rock-paper-scissors", (1 / 3, 1 / 3, 1 / 3)),
        ("prisoners-dilemma", (0, 1)),
        ("stag-hunt", (0, 1)),
    ],
)
def test_minimax_mixes_as_von_neumann_says(game, mixture):
    tool = registry.make_instrument(game, {"steps": 1})
    found = outcome(tool, ["minimax", "random"])
    chances = np.zeros(len(mixture))
    for ((own, _),), chance in found.sequences.items():
        chances[own] += chance
    assert chances == pytest.approx(mixture)


@given(st.integers(0, 10_000))
def test_the_mixture_is_the_linear_programme_s(seed):
    from scipy.optimize import linprog

    rows = np.random.default_rng(seed).integers(-5, 6, (3, 3)) / 5
    mixture = np.array(maximin(tuple(map(tuple, rows.tolist()))))
    solved = linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([-rows.T, np.ones(3)]), b_ub=np.zeros(3),
        A_eq=[[1, 1, 1, 0]], b_eq=[1], bounds=[(0, 1)] * 3 + [(None, None)],
    )  # fmt: skip
    assert mixture.sum() == pytest.approx(1)
    assert (mixture @ rows).min() == pytest.approx(-solved.fun, abs=1e-6)


# ---------------------------------------------------------------- learners


def mean_score(line_up, game, episodes=30, **settings):
    tool = registry.make_instrument(game, settings)
    played = registry.line_up(line_up, tool)
    return np.mean([play(tool.exercise(4, i), played).score[0] for i in range(episodes)])


def test_q_learning_learns_to_exploit():
    assert mean_score("q-learning, cooperate", "prisoners-dilemma", 10) > 0.9
    assert mean_score("q-learning, heads", "matching-pennies", 10) > 0.9


def test_q_learning_learns_by_turns_though_rewards_come_at_the_other_s_move():
    """Against one that always takes the first free cell."""
    tool = registry.make_instrument("noughts-and-crosses")

    def first(observation):
        return observation.legal[0]

    line_up = registry.line_up(["random", first], tool)
    learner = registry.line_up(["q-learning(sessions=200)", first], tool)
    scores = {
        name: np.mean([play(tool.exercise(4, i), who).score[0] for i in range(15)])
        for name, who in (("lots", line_up), ("learner", learner))
    }
    assert scores["learner"] > max(scores["lots"] + 0.3, 0.8)


def test_learners_find_the_winning_side():
    """Exactly: the chance of heads grows against one that always shows heads."""
    tool = registry.make_instrument("matching-pennies", {"steps": 6})
    for mind in ("roth-erev", "regret-matching"):
        found = outcome(tool, [mind, "heads"])
        by_step = np.zeros(6)
        for sequence, chance in found.sequences.items():
            by_step += chance * np.array([own == 0 for own, _ in sequence])
        assert by_step[0] == pytest.approx(0.5)
        assert (np.diff(by_step) > -1e-12).all()
        assert by_step[-1] > 0.7


@pytest.mark.parametrize(
    ("name", "game", "said"),
    [
        ("q-learning(alpha=0)", "prisoners-dilemma", r"alpha must be in \(0, 1\]"),
        ("q-learning(sessions=-1)", "commons", "sessions must be in 0"),
        ("q-learning(gamma=2)", "commons", r"gamma must be in \[0, 1\]"),
        ("tit-for-tat(slip=2)", "stag-hunt", r"slip must be in \[0, 1\]"),
        ("generous-tit-for-tat(generosity=2)", "stag-hunt", r"generosity is in \[0, 1\]"),
        ("roth-erev(initial=0)", "stag-hunt", "initial must be above 0"),
        ("always(rook)", "rock-paper-scissors", "has no action 'rook'; did you mean 'rock'"),
        ("tit-for-tat", "public-goods", "a mind for prisoners-dilemma, stag-hunt"),
    ],
)
def test_wrong_parameters_are_one_sentence(name, game, said):
    tool = registry.make_instrument(game)
    with pytest.raises(Error, match=said):
        play(tool.exercise(1, 0), registry.line_up(name, tool))


# ---------------------------------------------------------------- a person


def test_a_person_is_asked_until_there_is_an_answer(monkeypatch, capsys):
    answers = iter(["what?", "Defect", "0"])
    monkeypatch.setattr(builtins, "input", lambda _: next(answers))
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 2})
    record = play(tool.exercise(1, 0), registry.line_up("human, tit-for-tat", tool))
    assert [actions[0] for actions in record.actions] == [D, C]
    told = capsys.readouterr().out
    assert "you are slot 0 of 2" in told
    assert "'what?' is not one of cooperate, defect" in told
    assert "In the last you chose defect, the others cooperate." in told
    assert "reward +1.00" in told


def test_a_person_who_names_a_taken_cell_is_asked_again(monkeypatch, capsys):
    answers = iter(["a1", "a1", "b2", "4", ""])
    monkeypatch.setattr(builtins, "input", lambda _: next(answers))
    tool = registry.make_instrument("noughts-and-crosses")
    record = play(tool.exercise(1, 0), registry.line_up("human, minimax", tool))
    assert record.status == ("refused", "void")
    told = capsys.readouterr().out
    assert "'a1' is not one of a2, a3" in told
    assert "'4' is not one of" in told


def test_an_empty_line_is_to_refuse(monkeypatch):
    monkeypatch.setattr(builtins, "input", lambda _: "")
    tool = registry.make_instrument("prisoners-dilemma", {"steps": 2})
    record = play(tool.exercise(1, 0), registry.line_up("human, tit-for-tat", tool))
    assert record.status == ("refused", "void")
