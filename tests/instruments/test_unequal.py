"""Slots that differ: rewards, moves and sight of their own in Λ*, Λ and the games of teams."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allminds import check_instrument, registry
from allminds.contracts import Discrete
from allminds.core.errors import Error
from allminds.core.seeding import Random
from allminds.core.watch import Watch
from allminds.episode import Episode, Plain, form, play
from allminds.instruments.lambda_ import unequal as cells
from allminds.instruments.lambda_.world import World as Cells
from allminds.instruments.lambda_star import unequal as torus
from allminds.instruments.lambda_star.grid import KING, Torus
from allminds.instruments.lambda_star.world import World as Plane
from allminds.instruments.unequal import PLAIN, Some

SMALL = {"rows": 5, "cols": 6, "iterations": 8, "k": "any"}
UNEQUAL = [  # a table of unequal worlds
    ("lambda-star", {"agents": 2, "weights": "1:-1,-1:1", **SMALL}),
    ("lambda-star", {"agents": 3, "range": "1,2,3", "moves": "king,rook,1379", **SMALL}),
    ("lambda-star", {"weights": "1:0", **SMALL}),
    ("lambda-star", {"agents": 2, "weights": "0.5:0.5,-0.75:-0.5", "moves": "bishop,4", **SMALL}),
    ("lambda", {"agents": 2, "weights": "1:-1,-0.5:0.5"}),
    ("lambda", {"agents": 2, "weights": "1:0,0.5:-1", "moves": "all,2"}),
    ("lambda", {"agents": 4, "teams": 2, "observation": "full,adjacent", "weights": "1:-1,1:0.5"}),
    ("lambda", {"agents": 2, "rewards": "trail", "weights": "1:-1,-1:1", "moves": "3,2"}),
    ("team-lambda-star", {"weights": "1:-1,-1:1", "range": "2,1", "moves": "rook,king", **SMALL}),
    ("team-lambda-star", {"weights": "1:-1,1:0,1:-1,0:-1", "shares": "own", **SMALL}),
    ("team-lambda", {"weights": "1:-1,1:0", "moves": "2,all"}),
]  # fmt: skip


def _made(name: str, given: dict[str, Any]) -> Any:
    return registry.make_instrument(name, given)


# ---------------------------------------------------------------- alike is plain, bit for bit


@settings(max_examples=25, deadline=None)
@given(
    agents=st.integers(1, 3), reach=st.integers(1, 2), side=st.integers(2, 6),
    seed=st.integers(0, 9), mind=st.sampled_from(["random", "local-search", "optimum", "expert"]),
    patterns=st.sampled_from(["cyclic", "drift"]),
)  # fmt: skip
def test_on_the_torus_slots_that_are_alike_are_plain_bit_for_bit(
    agents: int, reach: int, side: int, seed: int, mind: str, patterns: str
) -> None:
    given = {"rows": side, "cols": side, "iterations": 6, "k": "any", "agents": agents}
    plain = _made("lambda-star", given | {"range": reach, "patterns": patterns})
    words = {"range": [reach] * agents, "moves": ["king"] * agents, "weights": [[1, -1]] * agents}
    stated = _made("lambda-star", given | words | {"patterns": patterns})
    assert stated.settings == plain.settings
    assert stated.exercise(seed, 0) == replace(plain.exercise(seed, 0), tool=stated)
    exercise = plain.exercise(seed, 0)
    world = exercise.environment
    assert type(world) is Plane
    twin = torus.Unequal(**vars(world), own=(torus.Own(reach=reach),) * agents)
    line_up = registry.line_up(mind, plain)
    assert play(replace(exercise, environment=twin), line_up) == play(exercise, line_up)


@settings(max_examples=25, deadline=None)
@given(
    agents=st.integers(1, 3), sight=st.sampled_from(["full", "adjacent"]), i=st.integers(0, 6),
    rewards=st.sampled_from(["position", "trail"]), seed=st.integers(0, 9),
    mind=st.sampled_from(["random", "q-learning", "expert", "follower", "model-based"]),
)  # fmt: skip
def test_among_cells_slots_that_are_alike_are_plain_bit_for_bit(
    agents: int, sight: Any, i: int, rewards: str, seed: int, mind: str
) -> None:
    given = {"agents": agents, "rewards": rewards}
    plain = _made("lambda", given | {"observation": sight})
    words = {"observation": [sight] * agents, "moves": ["all"] * agents}
    stated = _made("lambda", given | words | {"weights": ",".join(["1:-1"] * agents)})
    assert stated.settings == plain.settings
    exercise = plain.exercise(seed, i)
    world = exercise.environment
    assert type(world) is Cells
    twin = cells.Unequal(**vars(world), own=(cells.Own(sight=sight),) * agents)
    line_up = registry.line_up(mind, plain)
    assert play(replace(exercise, environment=twin), line_up) == play(exercise, line_up)


@pytest.mark.parametrize(
    ("name", "hashed"),
    [("lambda", "b7bd0d4a"), ("lambda-star", "072dc408"), ("team-lambda", "d8f15bb3"),
     ("team-lambda-star", "1815b625")],
)  # fmt: skip
def test_ids_of_plain_exercises_are_what_they_were(name: str, hashed: str) -> None:
    assert registry.settings_hash(_made(name, {}).settings) == hashed


@pytest.mark.parametrize(("name", "given"), UNEQUAL)
def test_settings_survive_being_written_and_read(name: str, given: dict[str, Any]) -> None:
    tool = _made(name, given)
    again = _made(name, tool.settings.model_dump(mode="json"))
    assert again.settings == tool.settings
    assert again.exercise(1, 2).id == tool.exercise(1, 2).id != _made(name, {}).exercise(1, 2).id


# ---------------------------------------------------------------- the contract, chance, ceiling


@pytest.mark.parametrize(("name", "given"), UNEQUAL)
def test_unequal_worlds_keep_the_contract(name: str, given: dict[str, Any]) -> None:
    """Chance and ceiling are refused wrongly at most once in a thousand times each."""
    check_instrument(name, given, plays=70)


@pytest.mark.parametrize(("name", "given"), UNEQUAL)
def test_where_slots_differ_the_plain_loop_plays(name: str, given: dict[str, Any]) -> None:
    tool = _made(name, given)
    line_up = registry.line_up("random", tool)
    assert isinstance(form(tool, line_up, Watch()), Plain)


def test_random_expects_0_in_every_slot_where_weights_are_opposite() -> None:
    """Six slots, 350 exercises: |mean| < 4 standard errors fails by chance once in 2,600."""
    for name, chosen in (
        ("lambda-star", {"agents": 3, "weights": "1:-1,-1:1,0.5:-0.5", "moves": "king,rook,24",
                         "range": "1,2,1", **SMALL}),
        ("lambda", {"agents": 3, "weights": "1:-1,-1:1,0.5:-0.5", "moves": "all,2,1",
                    "form": "general"}),
    ):  # fmt: skip
        tool = _made(name, chosen)
        assert tool.chance == 0.0
        assert tool.slot_chances == (0.0, 0.0, 0.0)
        block = Plain(tool, registry.line_up("random", tool), Watch()).play(3, 0, 350, 0)
        error = block.score.std(axis=0, ddof=1) / 350**0.5
        assert (np.abs(block.score.mean(axis=0)) < 4 * error).all()


def test_the_chance_level_on_a_torus_is_that_of_all_starts() -> None:
    """Every start of the mind and of Good and Evil, and every sequence of its moves."""
    tool = _made("lambda-star", {"rows": 3, "cols": 3, "iterations": 2, "k": "any",
                                 "weights": "0.5:-0.25", "moves": "24"})  # fmt: skip
    world = tool.exercise(4, 0).environment
    pairs = [(good, evil) for good in range(1, 10) for evil in range(1, 10) if good != evil]
    paid = []
    for (good, evil), start in itertools.product(pairs, range(1, 10)):
        for moves in itertools.product((2, 4), repeat=2):
            state = world.reset(Random(0))._replace(good=good, evil=evil, minds=(start,))
            for step, move in enumerate(moves, 1):
                state, (reward,) = world.step(state, {0: move}, Random(0, step))
                paid.append(reward)
    assert float(np.mean(paid)) == pytest.approx(tool.chance, abs=1e-12)
    assert tool.chance == pytest.approx(0.25 * 5 / 9)


def test_the_chance_level_among_given_cells_is_that_of_all_starts() -> None:
    tool = _made("lambda", {"form": "given", "space": "12-|1-2--|1++2--", "pattern": "21",
                            "steps": 3, "weights": "1:-0.25", "moves": "2"})  # fmt: skip
    world = tool.exercise(0, 0).environment
    paid, lots = [], list(itertools.product(range(2), repeat=3))
    for good, evil, start in itertools.product(range(3), repeat=3):
        for moves in itertools.product(range(2), repeat=3):
            for lot in lots if good != evil else ():
                state = world.reset(Random(0))._replace(good=good, evil=evil, minds=(start,))
                for step, move in enumerate(moves):
                    state, (reward,) = world.step(state, {0: move}, _Lot(lot[step]))
                    paid.append(reward)
    assert float(np.mean(paid)) == pytest.approx(tool.chance, abs=1e-12)


class _Lot(Random):
    """Randomness whose every word is one lot."""

    __slots__ = ("lot",)

    def __init__(self, lot: int) -> None:
        super().__init__(0, 0)
        self.lot = lot

    def below_at(self, n: int, j: int) -> int:
        return self.lot


TINY = [
    ("lambda-star", {"rows": 3, "cols": 4, "iterations": 4, "k": "any", "agents": 2,
                     "weights": "-1:1,0.5:0.5", "moves": "1379,24", "range": "1,2"}),
    ("lambda", {"form": "general", "cells": 4, "actions": 4, "steps": 5, "agents": 2,
                "weights": "-1:1,0.5:-1", "moves": "2,3"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), TINY)
def test_the_optimum_is_the_best_of_all_ways_in_its_own_slot(
    name: str, given: dict[str, Any]
) -> None:
    tool = _made(name, given)
    for i in range(4):
        exercise = tool.exercise(5, i)
        record = play(exercise, registry.line_up("optimum", tool))
        for slot in range(tool.slots):
            assert record.score[slot] == pytest.approx(_best(exercise, slot), abs=1e-12)


def _best(exercise: Any, slot: int) -> float:
    """Try every sequence of a slot's own actions; the other slot takes its first."""
    spaces = exercise.environment.actions
    first = {n: space.allowed(None)[0] for n, space in enumerate(spaces)}
    best = -np.inf
    for ways in itertools.product(spaces[slot].allowed(None), repeat=exercise.environment.steps):
        episode = Episode(exercise)
        for action in ways:
            assert episode.play(first | {slot: action})
        assert episode.record is not None
        best = max(best, episode.record.score[slot] or 0.0)
    return best


# ---------------------------------------------------------------- what a slot sees and may do


def test_a_slot_sees_as_far_as_its_range_and_its_own_rewards() -> None:
    tool = _made("lambda-star", {"agents": 2, "range": "1,2", "weights": "1:-1,-0.5:1"})
    episode = Episode(tool.exercise(1, 0))
    for _ in range(10):
        near, far = episode.waiting[0], episode.waiting[1]
        assert (len(near.cells), len(far.cells)) == (9, 25)
        for view, (good, evil) in ((near, (1, -1)), (far, (-0.5, 1))):
            state = episode.state
            assert view.rewards == tuple(
                good * tool.torus.worth(cell, state.good)
                + evil * tool.torus.worth(cell, state.evil)
                for cell in view.cells
            )
        episode.play({0: 6, 1: 4})


def test_a_move_of_others_is_malformed_in_a_slot_without_it() -> None:
    tool = _made("lambda-star", {"agents": 2, "moves": "king,rook"})
    episode = Episode(tool.exercise(1, 0))
    assert episode.play({0: 1, 1: 2})
    assert not episode.play({0: 1, 1: 1})
    assert episode.record is not None
    assert episode.record.status == ("void", "malformed")
    assert "not one of the actions 2, 4, 5, 6, 8" in episode.record.reason


def test_a_slot_among_cells_has_the_first_of_the_actions_and_sees_what_they_reach() -> None:
    tool = _made("lambda", {"form": "general", "cells": 6, "actions": 5, "agents": 2,
                            "moves": "2,all", "observation": "adjacent,full"})  # fmt: skip
    episode = Episode(tool.exercise(2, 0))
    few, all_ = episode.waiting[0], episode.waiting[1]
    assert (len(few.reachable), len(all_.reachable)) == (2, 5)
    assert all(at in (-1, few.cell, *few.reachable) for at in (*few.symbols, *few.others))
    assert -1 not in all_.symbols
    assert episode.task(0).facts["actions"] == 5
    assert not episode.play({0: 2, 1: 2})


@pytest.mark.parametrize(("name", "given"), UNEQUAL)
def test_everybody_is_told_the_truth_about_the_own_slot(name: str, given: dict[str, Any]) -> None:
    tool = _made(name, given)
    episode = Episode(tool.exercise(1, 0))
    for slot in range(tool.slots):
        task = episode.task(slot)
        own = (getattr(tool, "alone", tool)).own[slot]
        told = tool.presentation.rules(task).text
        assert task.facts["weights"] == own.weights
        if own.weights != PLAIN and given.get("rewards") != "trail":
            for weight in own.weights:
                assert (f"{weight:+.3g}".replace("-", "−") if weight else " 0 ") in told
        space = task.actions
        assert isinstance(space, Discrete)
        if isinstance(own, torus.Own):
            assert task.facts["range"] == own.reach
            assert ("next to you," if own.reach == 1 else f"up to {own.reach} away") in told
            assert f"{space.listed(own.moves)}." in told
        else:
            assert task.facts["observation"] == own.sight
            assert ("You see only" in told) == (own.sight == "adjacent")
            assert (f"You have {space.n} action" in told) == (space.n < task.facts["actions"])


@pytest.mark.parametrize(("name", "given"), UNEQUAL)
def test_a_face_offers_the_slots_own_actions(name: str, given: dict[str, Any]) -> None:
    tool = _made(name, given)
    episode = Episode(tool.exercise(0, 0))
    for slot, seen in episode.waiting.items():
        face = tool.presentation.face(slot)
        chosen = [face.action(choice, seen) for choice in face.choices(seen)]
        space: Any = episode.environment.actions[slot]
        assert chosen == list(space.allowed(seen))


def test_training_libraries_get_the_spaces_of_each_slot() -> None:
    pytest.importorskip("pettingzoo")
    from allminds.bridges.pettingzoo import parallel_env

    env = parallel_env("lambda-star", agents=2, range="1,2", moves="king,rook")
    seen, infos = env.reset(seed=1)
    sizes = [env.observation_space(name).shape for name in env.possible_agents]
    assert sizes == [(18,), (50,)]
    assert all(env.observation_space(name).contains(seen[name]) for name in env.possible_agents)
    masks = [infos[name]["action_mask"].tolist() for name in env.possible_agents]
    assert masks == [[1] * 9, [0, 1, 0, 1, 1, 1, 0, 1, 0]]


def test_a_mind_alone_has_its_own_rewards_in_gymnasium() -> None:
    pytest.importorskip("gymnasium")
    from allminds.bridges.gymnasium import AllmindsEnv, AllmindsVectorEnv

    env = AllmindsEnv("lambda-star", weights="1:0", moves="24568")
    _, info = env.reset(seed=1)
    assert info["action_mask"].sum() == 5
    with pytest.raises(Error, match="no form of many copies"):
        AllmindsVectorEnv(4, "lambda-star", weights="1:0")


# ---------------------------------------------------------------- moves and minds


@pytest.mark.parametrize("moves", [KING, (2, 4, 5, 6, 8), (1, 3, 5, 7, 9), (2, 6), (4,)])
def test_toward_takes_a_shortest_way_of_the_moves_that_there_are(moves: tuple[int, ...]) -> None:
    plane = Torus(5, 6)
    for target in range(1, 31):
        far = {target: 0}  # moves to the target, by search from it
        while True:
            more = {
                cell: 1 + min(far.get(plane.moved(cell, m), 99) for m in moves)
                for cell in range(1, 31)
                if cell not in far and any(plane.moved(cell, m) in far for m in moves)
            }  # fmt: skip
            if not more:
                break
            far |= more
        for cell in set(far) - {target}:
            action = plane.toward(cell, target, moves)
            assert action in moves
            assert far[plane.moved(cell, action)] == far[cell] - 1


@pytest.mark.parametrize(
    "mind",
    ["local-search(slip=0.5)", "expert", "q-learning(sessions=2)", "sarsa(sessions=2)", "crowd",
     "stigmergy", "auction", "dictator", "tree", "imitation", "majority", "weighted-majority",
     "shared-q-learning(sessions=2)", "policy-gradient", "mc-aixi(simulations=3)", "optimum"],
)  # fmt: skip
def test_minds_and_groups_of_the_torus_keep_to_their_own_moves(mind: str) -> None:
    given = {
        "agents": 3,
        "range": "2,1,1",
        "moves": "king,rook,13",
        "weights": "1:-1,0:1,0.75:0.25",
    }
    tool = _made("lambda-star", given | SMALL)
    for i in range(3):
        assert play(tool.exercise(1, i), registry.line_up(mind, tool)).status == ("ok",) * 3


@pytest.mark.parametrize(
    "mind",
    ["follower", "expert", "q-learning", "sarsa", "q-lambda", "model-based", "policy-gradient",
     "mc-aixi(simulations=3)", "optimum"],
)  # fmt: skip
def test_minds_among_cells_keep_to_their_own_actions(mind: str) -> None:
    tool = _made("lambda", {"agents": 2, "moves": "2,3", "weights": "1:-1,-1:0.5",
                            "observation": "full,adjacent"})  # fmt: skip
    for i in range(7):
        assert play(tool.exercise(1, i), registry.line_up(mind, tool)).status == ("ok",) * 2


def test_minds_that_are_told_the_future_go_after_what_their_slot_prefers() -> None:
    for name in ("lambda-star", "lambda"):
        tool = _made(name, {"agents": 2, "weights": "1:-1,-1:1"})
        scores = [
            play(tool.exercise(1, i), registry.line_up("expert", tool)).score for i in range(9)
        ]
        assert min(np.mean(np.array(scores, float), axis=0)) > 0.2


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("lambda-star", {"weights": "2:-1"}, "between -1 and 1"),
        ("lambda-star", {"weights": "1"}, "GOOD:EVIL"),
        ("lambda-star", {"weights": "0:0"}, "reward nothing"),
        ("lambda-star", {"weights": "1:1"}, "more than 1"),
        ("lambda-star", {"weights": []}, "must not be empty"),
        ("lambda-star", {"moves": "queen"}, "king, rook, bishop"),
        ("lambda-star", {"moves": "55"}, "different digits"),
        ("lambda-star", {"range": "1,11", "agents": 2}, "1..10"),
        ("lambda-star", {"range": 0}, "1..10"),
        ("lambda-star", {"agents": 3, "moves": "king,rook"}, "has 2 values"),
        ("lambda-star-coverage", {"weights": "1:0"}, "has no setting 'weights'"),
        ("lambda", {"moves": "0"}, "neither all nor a number"),
        ("lambda", {"observation": "none"}, "neither full nor adjacent"),
        ("lambda", {"weights": "1:0", "rewards": "trail"}, "must be opposite"),
        ("team-lambda", {"agents": 6, "weights": "1:0,1:-1,0:1"}, "2 \\(one for each team\\) or 6"),
    ],
)
def test_wrong_settings_are_told_in_a_sentence(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(Error, match=said) as error:
        _made(name, given)
    assert "\n" not in str(error.value)


def test_there_is_no_fair_ceiling_for_other_rewards_or_actions() -> None:
    plain = {"form": "general", "cells": 2, "steps": 2}
    assert _made("lambda", plain).fair_ceiling().score is not None
    for more in ({"weights": "1:0"}, {"moves": "1"}):
        found = _made("lambda", plain | more).fair_ceiling()
        assert found.score is None
        assert "only" in found.reason


def test_a_space_of_some_actions_lists_and_contains_only_those() -> None:
    space = Some(9, 1, (), (2, 4))
    assert [n for n in range(12) if space.contains(n)] == [2, 4]
    assert space.listed() == space.span == "2, 4"
    assert not space.contains("2")
