"""The law of Λ*'s patterns and local search, written again from docs/lambda-star.md alone.

An independent program: it imports nothing of allminds and has random numbers of its own. Run as
``python tests/instruments/lambda_star/pattern_law.py`` it prints the score of local search on 5x5
for the law of the docs, for all distinct segments of the draws, and for draws as they come.
"""

from __future__ import annotations

import numpy as np

SIDE, STEPS = 5, 50
MOVES = np.array([(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1)])


def closed_walks(rng, count):
    """L ~ U{1..25} king moves, uniform among the walks that return to their start."""
    ways = np.zeros((STEPS // 2 + 1, SIDE, SIDE))  # walks of l moves from a displacement to 0
    ways[0, 0, 0] = 1
    for l in range(STEPS // 2):
        ways[l + 1] = sum(np.roll(ways[l], move, (0, 1)) for move in MOVES)
    lengths = rng.integers(1, STEPS // 2 + 1, count)
    at = np.zeros((count, 2), int)
    taken = np.full((count, STEPS // 2), -1)
    for l in range(STEPS // 2):
        going = np.flatnonzero(l < lengths)
        to = (at[going, None] + MOVES) % SIDE
        weights = ways[(lengths[going] - l - 1)[:, None], to[..., 0], to[..., 1]]
        reached = np.cumsum(weights, axis=1)
        draw = rng.random(len(going)) * reached[:, -1]
        move = (draw[:, None] >= reached).sum(axis=1)
        taken[going, l] = move
        at[going] = to[np.arange(len(going)), move]
    assert not at.any()
    return [tuple(row[:length].tolist()) for row, length in zip(taken, lengths, strict=True)]


def cut(segment):
    """Cut a segment to the shortest one that gives the same pattern."""
    sizes = [n for n in range(1, len(segment) + 1) if len(segment) % n == 0]
    return next(segment[:n] for n in sizes if segment[:n] * (len(segment) // n) == segment)


def complexity(segment):
    """Count the phrases of Lempel and Ziv (1976) in the cells visited, an unfinished one too."""
    cells = np.cumsum(MOVES[np.resize(segment, STEPS)], axis=0) % SIDE
    text = "".join(chr(65 + SIDE * row + col) for row, col in cells.tolist())
    phrases = begun = 0
    while begun < STEPS:
        size = 1
        while begun + size <= STEPS and text[begun : begun + size] in text[: begun + size - 1]:
            size += 1
        phrases, begun = phrases + 1, begun + size
    return phrases


def shelves(segments, most):
    """By K, the first segments in the order of draws, at most so many."""
    found: dict[int, list] = {}
    of = {segment: complexity(segment) for segment in dict.fromkeys(segments)}
    for segment in segments:
        shelf = found.setdefault(of[segment], [])
        if len(shelf) < most:
            shelf.append(segment)
    return found


def distinct(rng, draws):
    """The distinct segments of so many draws, in order."""
    return list(dict.fromkeys(map(cut, closed_walks(rng, draws))))


def local_search(rng, shelf, episodes):
    """Mean rewards of local search, and the number of Good's segment in each episode."""
    good_of = rng.integers(0, len(shelf), episodes)
    evil_of = (good_of + rng.integers(1, len(shelf), episodes)) % len(shelf)  # another one
    moves = MOVES[np.array([np.resize(segment, STEPS) for segment in shelf])]
    cells = np.array([divmod(cell, SIDE) for cell in range(SIDE * SIDE)])
    first = rng.integers(0, SIDE * SIDE, episodes)
    other = (first + rng.integers(1, SIDE * SIDE, episodes)) % (SIDE * SIDE)
    good, evil = cells[first], cells[other]
    mind = cells[rng.integers(0, SIDE * SIDE, episodes)]
    total = np.zeros(episodes)

    def reward(at, good, evil):
        def gain(of):
            apart = np.abs(at - of)
            far = np.minimum(apart, SIDE - apart).max(axis=-1)
            return np.where(far < 2, 1 / (far + 1), 0.0)

        return gain(good) - gain(evil)

    for step in range(STEPS):
        round_about = (mind[:, None] + MOVES) % SIDE
        seen = reward(round_about, good[:, None], evil[:, None])
        best = (seen + 1e-6 * rng.random(seen.shape)).argmax(axis=1)
        mind = round_about[np.arange(episodes), best]
        to_good = (good + moves[good_of, step]) % SIDE
        to_evil = (evil + moves[evil_of, step]) % SIDE
        clash = (to_good == to_evil).all(axis=1)
        good_there, evil_there = ((to == was).all(axis=1) for to, was in
                                  ((to_good, good), (to_evil, evil)))  # fmt: skip
        good_moves = good_there | (~evil_there & (rng.random(episodes) < 0.5))
        good, evil = (
            np.where((clash & ~good_moves)[:, None], good, to_good),
            np.where((clash & good_moves)[:, None], evil, to_evil),
        )
        total += reward(mind, good, evil)
    return total / STEPS, good_of


def print_scores(what, rng, law):
    """Print the mean over K = 2..23, and that at K = 5; at K = 2 both stand still."""
    scores = [local_search(rng, [(4,), (4,)], 10_000)[0]]
    scores += [local_search(rng, law[k], 10_000)[0] for k in range(3, 24)]
    error = np.sqrt(sum(of.var() / len(of) for of in scores)) / len(scores)
    mean = np.mean([of.mean() for of in scores])
    print(f"{what}: {mean:.4f} ± {error:.4f}, at K = 5 {scores[3].mean():.3f}")


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    drawn = list(map(cut, closed_walks(rng, 600_000)))
    different = list(dict.fromkeys(drawn))
    print_scores("up to 1,000 distinct segments", rng, shelves(different, 1_000))
    print_scores("all distinct segments", rng, shelves(different, 600_000))
    print_scores("draws as they come", rng, shelves(drawn, 600_000))
