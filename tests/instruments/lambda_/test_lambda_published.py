"""The authors' own exercises under our rules."""

from __future__ import annotations

from allminds.instruments.lambda_.rows import read_rows
from allminds.instruments.lambda_.world import Space, check_pattern, travel


class Lot:
    """A lot that falls as one likes."""

    def __init__(self, falls):
        self.falls = falls

    def below_at(self, n, j):
        return self.falls


def possible(space, pattern, rewards):
    """Whether some start, some path and some lots bring just these rewards."""
    cells = range(space.cells)
    states = {(g, e, m) for g in cells for e in cells for m in cells if g != e}
    for step, reward in enumerate(rewards):
        action = int(pattern[step % len(pattern)])
        after = {
            (g, e): {travel(space, action, g, e, Lot(falls)) for falls in (0, 1)}
            for g, e, _ in states
        }
        states = {
            (g, e, to)
            for good, evil, mind in states
            for g, e in after[good, evil]
            for to in space.reachable(mind)
            if (to == g) - (to == e) == reward
        }
        if not states:
            return False
    return True


def exercises(reference):
    for row in read_rows(reference / "lambda_2011_rows.csv"):
        yield Space(row.space), "".join(map(str, row.pattern)), row


def test_every_reward_sequence_of_the_authors_is_possible(reference):
    found = [possible(space, pattern, row.rewards) for space, pattern, row in exercises(reference)]
    assert len(found) == 280
    assert all(found)


def test_the_search_can_tell_what_is_impossible(reference):
    """With signs exchanged at every other step most sequences cannot be."""
    found = [
        possible(space, pattern, [r * (-1) ** n for n, r in enumerate(row.rewards)])
        for space, pattern, row in exercises(reference)
    ]
    assert sum(found) < 100


def test_their_spaces_and_patterns_are_of_our_class(reference):
    for space, pattern, row in exercises(reference):
        check_pattern(pattern, space)
        assert space.cells == row.cells
        assert space.actions == row.actions
        assert row.steps == 10 * (row.cells - 1)
