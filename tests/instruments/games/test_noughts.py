"""Noughts and crosses, to the end of every game."""

from __future__ import annotations

import pytest

from allminds import registry
from allminds.episode import Episode, play
from allminds.exact import outcome
from allminds.instruments.games.boards import EMPTY, Board, Minimax, winner


@pytest.fixture
def tool():
    return registry.make_instrument("noughts-and-crosses")


@pytest.mark.parametrize("slot", [0, 1])
def test_minimax_never_loses_whatever_the_other_does(slot):
    mind = Minimax()
    mind.first, mind.n = 0, 9

    def worst(board: Board) -> tuple[float, int]:
        """The least that minimax gets from here, and how many games were tried."""
        if board.over:
            return board.rewards()[slot], 1
        moves = board.legal
        if board.turn == slot:
            moves = (mind.policy(board).index(1.0),)
        below = [worst(board.played(move)) for move in moves]
        return min(value for value, _ in below), sum(games for _, games in below)

    least, games = worst(Board(EMPTY * 9, 0))
    assert least == 0
    assert games > 50


def test_perfect_play_is_a_draw_and_lots_favour_the_crosses(tool):
    assert outcome(tool, ["minimax", "minimax"]).rewards == (0, 0)
    assert outcome(tool, ["random", "random"]).rewards[0] == pytest.approx(187 / 630)


def test_the_best_response_does_no_worse_than_minimax(tool):
    for other in ("random", "minimax"):
        best = outcome(tool, [f"best-response({other})", other]).rewards[0]
        safe = outcome(tool, ["minimax", other]).rewards[0]
        assert best >= safe - 1e-12
    assert outcome(tool, ["minimax", "random"]).rewards[0] == pytest.approx(191 / 192)


def test_a_best_response_to_somebody_else_goes_on_legally(tool):
    line_up = registry.line_up("best-response(minimax), random", tool)
    statuses = {play(tool.exercise(3, i), line_up).status for i in range(30)}
    assert statuses == {("ok", "ok")}


def test_there_are_255168_games():
    def games(board: Board) -> int:
        return 1 if board.over else sum(games(board.played(cell)) for cell in board.legal)

    first = Board(EMPTY * 9, 0)
    assert (
        games(first.played(0)) * 4 + games(first.played(1)) * 4 + games(first.played(4)) == 255168
    )


def test_a_taken_cell_is_a_malformed_answer(tool):
    episode = Episode(tool.exercise(1, 0))
    episode.play({0: 4})
    assert set(episode.waiting) == {1}
    assert episode.waiting[1].legal == (0, 1, 2, 3, 5, 6, 7, 8)
    episode.play({1: 4})
    assert episode.record.status == ("void", "malformed")
    free = "0 a1, 1 a2, 2 a3, 3 b1, 5 b3, 6 c1, 7 c2, 8 c3"
    assert episode.record.reason == f"4 is not legal now; legal are {free}"


def test_the_score_is_the_total_so_a_slow_win_is_worth_a_quick_one(tool):
    for moves in ((0, 3, 1, 4, 2), (0, 3, 1, 4, 8, 6, 2)):
        episode = Episode(tool.exercise(1, 0))
        for step, cell in enumerate(moves):
            episode.play({step % 2: cell})
        assert episode.record.score == (1.0, -1.0)


def test_all_eight_lines_win():
    won = {
        cells
        for n in range(512)
        if bin(n).count("1") == 3
        for cells in ["".join("x" if n >> k & 1 else "." for k in range(9))]
        if winner(cells)
    }
    assert len(won) == 8
