"""Games in normal form between minds that are finite machines, compiled: whole episodes inside.

The plain twin is `episode.play` with the minds themselves; all results are the same bits.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allminds.core.compiled import below, inlined, kernel, unit, word
from allminds.exact import BY_LOT

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@inlined
def chosen(node, key, step, certain, cumulative):  # type: ignore[no-untyped-def]
    """Return the action of a mind at a node of its machine."""
    action = certain[node]
    if action >= 0:
        return action
    bits = word(key, np.uint64(step), np.uint64(0))
    if action == BY_LOT:
        return np.int32(below(bits, np.uint64(cumulative.shape[1])))
    place = unit(bits)
    action = np.int32(0)
    while place >= cumulative[node, action]:
        action += np.int32(1)
    return action


@kernel
def play(
    keys: NDArray[np.uint64],  # [slot, exercise]
    start: Ints,  # [slot]: the node that each machine begins at
    certain: Ints,  # [node]: an action, DRAWN or BY_LOT
    cumulative: Floats,  # [node, action]: summed chances, infinite from the last likely action on
    following: Ints,  # [node, joint action]
    high: Floats,  # [joint action, slot]: pay-offs on a lattice on which sums are exact
    low: Floats,  # [joint action, slot]: what that leaves of them, on another such lattice
    steps: int,
    joints: Ints,  # out [exercise, step] of the first exercises: joint actions
    score: Floats,  # out [exercise, slot]
    learning: Floats,  # out [exercise, slot]; left alone if there is one step
    curve: Floats,  # out [step], added to
) -> None:
    """Play every exercise to its end.

    Sums of `high` and of `low` are exact, so that their one addition rounds as `math.fsum` does.
    """
    slots, actions, half = len(start), cumulative.shape[1], steps // 2
    nodes = np.empty(slots, np.int32)
    sums = np.empty((3, slots, 2))  # all steps, first half, last half; of high and of low
    for exercise in range(keys.shape[1]):
        nodes[:] = start
        sums[:] = 0.0
        for step in range(steps):
            joint = 0
            for slot in range(slots):
                action = chosen(nodes[slot], keys[slot, exercise], step, certain, cumulative)
                joint = joint * actions + action
            if exercise < len(joints):
                joints[exercise, step] = joint
            for slot in range(slots):
                nodes[slot] = following[nodes[slot], joint]
                curve[step] += high[joint, slot]
                for row in range(3):
                    if row == 0 or (step < half if row == 1 else step >= steps - half):
                        sums[row, slot, 0] += high[joint, slot]
                        sums[row, slot, 1] += low[joint, slot]
        for slot in range(slots):
            score[exercise, slot] = (sums[0, slot, 0] + sums[0, slot, 1]) / steps
            if half:
                last = (sums[2, slot, 0] + sums[2, slot, 1]) / half
                learning[exercise, slot] = last - (sums[1, slot, 0] + sums[1, slot, 1]) / half
