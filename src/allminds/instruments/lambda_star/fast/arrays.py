"""What quick forms on a torus share: ways as actions, rewards as records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from allminds.contracts import Record
from allminds.core.blocks import Block
from allminds.instruments.lambda_star.grid import Torus


def actions_of(torus: Torus, way: NDArray[np.int64]) -> list[int]:
    """Recover the actions of a way (cells from 0) if no two moves lead to the same cell."""
    return [torus.toward(here + 1, there + 1) for here, there in pairwise(way.tolist())]


def settled(
    first: int,
    complexity: Sequence[Mapping[str, float]],
    rewards: NDArray[np.float64],
    actions: NDArray[np.int16],
) -> Block:
    """Build the block of exercises first, first + 1, …, from rewards [exercise, step, slot].

    `actions`, of the same form, may be of fewer exercises: the traced ones. Scores are summed
    exactly, as in the plain loop.
    """
    steps = rewards.shape[1]
    records = []
    for n, columns in enumerate(complexity):
        each = rewards[n].T.tolist()
        made = actions[n].tolist() if n < len(actions) else []
        records.append(
            Record(
                exercise="",
                index=first + n,
                complexity=columns,
                steps=steps,
                score=tuple(math.fsum(of) / steps for of in each),
                learning=tuple(_learning(of) for of in each),
                status=tuple("ok" for _ in each),
                actions=tuple(dict(enumerate(step)) for step in made),
                rewards=tuple(zip(*each, strict=True)),
            )
        )
    return Block.of(records, steps, len(actions))


def _learning(rewards: list[float]) -> float | None:
    half = len(rewards) // 2
    return math.fsum(rewards[-half:]) / half - math.fsum(rewards[:half]) / half if half else None
