"""Λ* (Lambda Star): Good and Evil travel on a torus in patterns of measured complexity.

After Chmait et al. (2016). Read in this order: `grid` (cells and moves), `patterns` (how Good and
Evil move, and the catalogue of segments by K), `world` (one exercise, the specification), `minds`,
`learners` (those that can carry what they learnt), `groups`, `instrument` (settings, exercises by
complexity). `fast` has the quick forms of the same, `extensions` three further instruments.
"""

from allminds.instruments.lambda_star import groups as collectives
from allminds.instruments.lambda_star import learners, minds
from allminds.instruments.lambda_star.grid import ACTIONS, Torus
from allminds.instruments.lambda_star.instrument import LambdaStar
from allminds.instruments.lambda_star.world import Foresight, View

MINDS = {  # by name, for other instruments in which they see and do the same
    "local-search": minds.LocalSearch,
    "expert": minds.Expert,
    "optimum": minds.Optimum,
    "q-learning": minds.QLearning,
    "sarsa": minds.Sarsa,
    "stigmergy": collectives.Stigmergy,
    "shared-q-learning": collectives.SharedQLearning,
    "shared-sarsa": collectives.SharedSarsa,
    "crowd": collectives.Crowd,
    "auction": collectives.Auction,
    "dictator": collectives.Dictator,
    "tree": collectives.Tree,
    "imitation": collectives.Imitation,
    "majority": collectives.Majority,
    "weighted-majority": collectives.WeightedMajority,
}

__all__ = [
    "ACTIONS",
    "MINDS",
    "Foresight",
    "LambdaStar",
    "Torus",
    "View",
    "collectives",
    "learners",
    "minds",
]
