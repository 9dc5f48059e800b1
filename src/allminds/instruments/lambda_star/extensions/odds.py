"""What random minds can expect: exact for coordination and coverage, else estimated by play.

The minds start in different cells, each set of cells as likely as any other, and then move on their
own. So what is expected of them together is what is expected of as many cells drawn without
replacement, each with what is expected of a walk from it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.watch import Watch
from allminds.episode import form
from allminds.instruments.lambda_star.grid import MOVES, Torus

Field = NDArray[np.float64]
SEED = 0xC0FFEE  # of the exercises that an estimate is made of


@lru_cache(maxsize=32)
def coordination_chance(torus: Torus, steps: int, agents: int, needed: int) -> float:
    """Compute the expected reward of random minds when Good pays only `needed` at once.

    Good would give what Evil takes; what is missing is what Good withholds from too few.
    """
    gain = gains(torus)
    near, worth = walked(gain > 0, steps), walked(gain, steps)
    withheld = _worth_of_few(near, worth, agents, needed)
    return 0.0 - float(withheld.mean()) / agents


@lru_cache(maxsize=32)
def coverage_chance(torus: Torus, steps: int, agents: int, reach: int) -> float:
    """Compute the expected share of cells seen by random minds, over the steps."""
    away = ~_square(torus, reach)  # where a mind does not see the cell 1
    unseen, found = away.astype(float), []
    for _ in range(steps):
        unseen = away * _mixed(unseen)
        found.append(unseen.reshape(-1))
    return 1 - float(_all_of(np.stack(found), agents).mean())


def played_chance(tool: Instrument, exercises: int) -> float:
    """Estimate the chance level: the mean score of random minds on exercises of its own seed."""
    way = form(tool, registry.line_up("random", tool), Watch())
    return float(way.play(SEED, 0, exercises, 0).score.mean())


def gains(torus: Torus) -> Field:
    """Compute what Good in cell 1 gives in every cell."""
    worth = [torus.worth(cell, 1) for cell in range(1, torus.cells + 1)]
    return np.array(worth).reshape(torus.rows, torus.cols)


def walked(values: NDArray[np.generic], steps: int) -> Field:
    """Compute the expected value of the cell after 1, 2, … random moves: [step, cell]."""
    field, found = values.astype(float), []
    for _ in range(steps):
        field = _mixed(field)
        found.append(field.reshape(-1))
    return np.stack(found)


def _mixed(field: Field) -> Field:
    """Average over the nine cells that a move leads to."""
    return np.mean([np.roll(field, move, (0, 1)) for move in MOVES], axis=0)  # type: ignore[no-any-return]


def _square(torus: Torus, reach: int) -> NDArray[np.bool_]:
    """Mark the cells from which cell 1 is seen."""
    seen = np.zeros(torus.cells, bool)
    seen[np.array(torus.around(1, reach)) - 1] = True
    return seen.reshape(torus.rows, torus.cols)


def _all_of(chances: Field, draws: int) -> Field:
    """Compute the chance that all of some cells drawn without replacement meet a condition: [step].

    `chances` is [step, cell]. The cells are gone through one by one: of i cells, each is among j
    drawn ones with chance j/i.
    """
    steps, cells = chances.shape
    table = np.zeros((steps, draws + 1))
    table[:, 0] = 1.0
    for i in range(1, cells + 1):
        drawn = np.arange(1, draws + 1) / i
        table[:, 1:] = (1 - drawn) * table[:, 1:] + drawn * chances[:, i - 1, None] * table[:, :-1]
    found: Field = table[:, draws]
    return found


def _one_more(table: Field, hit: Field) -> Field:
    """Update the chances of so many near ones for one mind more."""
    after = (1 - hit) * table
    after[..., 1:] += hit * table[..., :-1]
    return after


def _worth_of_few(near: Field, worth: Field, agents: int, needed: int) -> Field:
    """Compute what Good would give while fewer than `needed` minds are near it: [step].

    As `_all_of`, by how many of the drawn cells are near; beside it a table in which one of the
    near ones is weighed by what Good gives it.
    """
    steps, cells = near.shape
    plain = np.zeros((steps, agents + 1, needed))
    plain[:, 0, 0] = 1.0
    weighed = np.zeros_like(plain)
    for i in range(1, cells + 1):
        hit, gain = near[:, i - 1, None, None], worth[:, i - 1, None, None]
        drawn = np.arange(1, agents + 1)[None, :, None] / i
        more = _one_more(weighed[:, :-1], hit)
        more[..., 1:] += gain * plain[:, :-1, :-1]
        weighed[:, 1:] = (1 - drawn) * weighed[:, 1:] + drawn * more
        plain[:, 1:] = (1 - drawn) * plain[:, 1:] + drawn * _one_more(plain[:, :-1], hit)
    found: Field = weighed[:, agents].sum(axis=1)
    return found
