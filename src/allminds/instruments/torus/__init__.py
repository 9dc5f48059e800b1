"""Λ* (Lambda Star): Good and Evil travel on a torus in patterns of measured complexity (P4).

Read in this order: `grid` (cells and moves), `patterns` (how Good and Evil move), `environment`
(one exercise, the specification), `minds`, `collectives` (groups), `instrument` (settings,
exercises by complexity). `catalogue` keeps segments by K; `fast`, `walks`, `lockstep` and
`kernels` are the quick forms of the same.
"""

from allminds.instruments.torus import collectives, minds
from allminds.instruments.torus.environment import Foresight, View
from allminds.instruments.torus.grid import ACTIONS, Torus
from allminds.instruments.torus.instrument import LambdaStar

__all__ = ["ACTIONS", "Foresight", "LambdaStar", "Torus", "View", "collectives", "minds"]
